-- compare: which of two strategies is better on a world, and whether it is: differences paired by seed, an interval for
-- their mean, a rank test, and a correction for all that were tested together. Asks the metric which way is better;
-- prints "better" only if the interval, the test and their direction agree. Called by measures.
local direction = require "apsis.direction"
local random = require "apsis.random"
local stats = require "apsis.stats"
local steps = require "apsis.lab.steps"

local LEVEL = 0.05

local readings = {}

function readings.best(record) return record.best end

function readings.auc(record, limit) return steps.area(record, limit) end

-- The matrix's entries by world, in order; and of each world the metric and the evaluations its longest run spent.
local function by_world(matrix)
  local groups, found = {}, {}
  for _, entry in ipairs(matrix) do
    local group = found[entry.world]
    if not group then
      group = { world = entry.world, entries = {}, spent = 1 }
      found[entry.world], groups[#groups + 1] = group, group
    end
    group.entries[#group.entries + 1] = entry
    for _, record in ipairs(entry.records) do
      group.metric = group.metric or direction.new { direction = record.direction }
      group.spent = math.max(group.spent, record.evaluations)
    end
  end
  return groups
end

-- Seed by seed, how much better the first is; seeds that only one has run, or at which one has no value, are left out.
local function gains(group, first, second, reading, limit)
  local other, list = {}, {}
  for _, record in ipairs(second.records) do other[record.seed] = record end
  for _, record in ipairs(first.records) do
    local twin = other[record.seed]
    list[#list + 1] = twin and group.metric:gain(reading(record, limit), reading(twin, limit))
  end
  return list
end

local function finite(number)
  return direction.finite(number) and number or nil
end

local function compared(comparison, differences, options)
  local test = stats.signed_rank(differences)
  comparison.pairs, comparison.p, comparison.plus, comparison.minus = #differences, test.p, test.plus, test.minus
  local sizes = {}
  for index, difference in ipairs(differences) do sizes[index] = math.abs(difference) end
  if #differences == 0 or not finite(stats.sum(sizes)) then return comparison end
  comparison.difference = stats.mean(differences)
  comparison.low, comparison.high = stats.bootstrap(differences, { level = 1 - options.level, draws = options.draws,
    rng = random.stream(options.seed, comparison.world, comparison.a, comparison.b, comparison.measure) })
  return comparison
end

local function verdict(comparison, level)
  local low, high, plus, minus = comparison.low, comparison.high, comparison.plus, comparison.minus
  if low and comparison.p_holm < level then
    if low > 0 and plus > minus then return "better" end
    if high < 0 and plus < minus then return "worse" end
  end
  return "no difference shown"
end

-- The comparisons of a world's pairs (of those with the first strategy only, if that is asked for), appended to the
-- list.
local function append(list, group, options)
  local limit, entries = options.evaluations or group.spent, group.entries
  local copies = {}
  for index, entry in ipairs(entries) do copies[index] = steps.are_copies(entry.records) end
  for i = 1, options.first_only and 1 or #entries do
    for j = i + 1, #entries do
      for _, measure in ipairs { "best", "auc" } do
        local comparison = { world = group.world, a = entries[i].strategy, b = entries[j].strategy, measure = measure }
        local differences = gains(group, entries[i], entries[j], readings[measure], limit)
        if copies[i] and copies[j] and differences[1] ~= 0 then differences = { differences[1] } end
        list[#list + 1] = compared(comparison, differences, options)
      end
    end
  end
end

-- compare(matrix, { seed, level, evaluations, draws, first_only = true: only pairs with the first strategy }) ->
-- { world, a, b, measure ("best" or "auc"), pairs (how many seeds both have), difference (the mean; positive where a is
-- better), low and high (its interval of 1 - level; the three are nil if there is no number for them), plus and minus
-- (the rank sums), p, p_holm (corrected over the whole list), verdict (a is "better" or "worse" than b, or "no
-- difference shown") }... The auc is of `evaluations`, or of the longest run on the world.
local function compare(matrix, options)
  options = { seed = options.seed or 0, level = options.level or LEVEL, evaluations = options.evaluations,
    draws = options.draws, first_only = options.first_only }
  local list, ps = {}, {}
  for _, group in ipairs(by_world(matrix)) do append(list, group, options) end
  for index, comparison in ipairs(list) do ps[index] = comparison.p end
  for index, corrected in ipairs(stats.holm(ps)) do
    list[index].p_holm = corrected
    list[index].verdict = verdict(list[index], options.level)
  end
  return list
end

return compare
