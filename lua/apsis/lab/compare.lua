-- compare: which of two strategies is better on a world, and whether it is: by the final best, and by the evaluations
-- to each of several targets. Values are paired by seed; a studentized interval, a rank test of the differences, and a
-- correction for all that were tested together. Prints "better" only if the interval, the test and their direction
-- agree. Called by measures.
local direction = require "apsis.direction"
local random = require "apsis.random"
local runtimes = require "apsis.lab.runtimes"
local stats = require "apsis.stats"
local steps = require "apsis.lab.steps"

local LEVEL, DRAWS = 0.05, 1000

local function finite(number)
  return direction.finite(number) and number or nil
end

-- The values of two entries at the seeds that both have, in pairs; those without a value are left out.
local function paired(first, second, reading)
  local other, xs, ys = {}, {}, {}
  for _, record in ipairs(second.records) do other[record.seed] = record end
  for _, record in ipairs(first.records) do
    local twin = other[record.seed]
    local x, y = finite(reading(record)), twin and finite(reading(twin))
    if x and y then xs[#xs + 1], ys[#ys + 1] = x, y end
  end
  return xs, ys
end

-- The final best; what is beyond the target counts as the target, since a run ends there.
local function best_of(group, record)
  local value, target = record.best, record.target
  return target and group.metric:reaches(value, target) and target or value
end

-- What is better by: the differences, positive where the first is better.
local function tested(comparison, differences)
  local test = stats.signed_rank(differences)
  comparison.pairs, comparison.p, comparison.plus, comparison.minus = #differences, test.p, test.plus, test.minus
end

local function spec_of(comparison, options)
  return { level = 1 - options.level, draws = options.draws, rng = random.stream(options.seed, comparison.world,
    comparison.a, comparison.b, comparison.measure, comparison.way) }
end

-- Of two whose runs are all copies one pair remains.
local function thinned(copies, xs, ys)
  if copies and xs[1] ~= ys[1] then return { xs[1] }, { ys[1] } end
  return xs, ys
end

local function range_of(list, least, most)
  for _, value in ipairs(list) do least, most = math.min(least, value), math.max(most, value) end
  return least, most
end

-- The interval as it is shown: a studentized one may leave what these values can be the mean of. The side that decides
-- stays: neither end crosses what is no difference.
local function bound(comparison, low, high, least, most)
  comparison.low, comparison.high = low and finite(math.max(low, least)), high and finite(math.min(high, most))
end

local function by_best(comparison, group, first, second, options)
  local function reading(record) return best_of(group, record) end
  local xs, ys = thinned(options.copies, paired(first, second, reading))
  local differences, sum = {}, 0
  for index, x in ipairs(xs) do
    differences[index] = group.metric:gain(x, ys[index])
    sum = sum + math.abs(differences[index])
  end
  tested(comparison, differences)
  if #differences == 0 or not finite(sum) then return comparison end
  comparison.difference = stats.mean(differences)
  local low, high = stats.mean_interval(differences, spec_of(comparison, options))
  bound(comparison, low, high, range_of(differences, 0, 0))
  return comparison
end

local function by_time(comparison, group, first, second, options)
  local budget, way = group.budget, { comparison.way }
  local function reading(record) return runtimes.hits(group, record, way)[1] or budget end
  local xs, ys = thinned(options.copies, paired(first, second, reading))
  xs, ys = stats.restricted(xs, budget), stats.restricted(ys, budget)
  local differences = {}
  for index, x in ipairs(xs) do differences[index] = ys[index] - x end
  tested(comparison, differences)
  local ratio, low, high = stats.ratio_interval(xs, ys, spec_of(comparison, options))
  comparison.ratio = ratio
  local x_least, x_most = range_of(xs, math.huge, -math.huge)
  local y_least, y_most = range_of(ys, math.huge, -math.huge)
  bound(comparison, low, high, math.min(1, x_least / y_most), math.max(1, x_most / y_least))
  return comparison
end

-- Whether the first is better, by an interval of the difference, or of the ratio of evaluations, and by the ranks.
local function verdict(comparison, level)
  local low, high, plus, minus = comparison.low, comparison.high, comparison.plus, comparison.minus
  local none = comparison.ratio and 1 or 0
  if low and high and comparison.p_holm < level then
    local above, below = low > none, high < none
    if comparison.ratio then above, below = below, above end
    if above and plus > minus then return "better" end
    if below and plus < minus then return "worse" end
  end
  return "no difference shown"
end

-- The comparisons of a pair, appended to the list.
local function append(list, group, first, second, options)
  local function new(measure, way)
    return { world = group.world, a = first.strategy, b = second.strategy, measure = measure, way = way }
  end
  list[#list + 1] = by_best(new "best", group, first, second, options)
  for _, way in ipairs(runtimes.ways) do
    list[#list + 1] = by_time(new("time", way), group, first, second, options)
  end
end

-- The comparisons of a world's pairs (of those with the first strategy only, if that is asked for).
local function append_all(list, group, options)
  local entries, copies = group.entries, {}
  for index, entry in ipairs(entries) do copies[index] = steps.are_copies(entry.records) end
  for i = 1, options.first_only and 1 or #entries do
    for j = i + 1, #entries do
      options.copies = copies[i] and copies[j]
      if runtimes.is_answered(entries[i]) and runtimes.is_answered(entries[j]) then
        append(list, group, entries[i], entries[j], options)
      end
    end
  end
end

-- compare(matrix, { seed, level, axis, budget, evaluations (see runtimes.groups), draws, first_only = true: only pairs
-- with the first strategy }) -> { world, a, b, measure ("best" or "time"), pairs (how many seeds both have), plus and
-- minus (the rank sums), p, p_holm (corrected over the whole list), verdict (a is "better" or "worse" than b, or "no
-- difference shown") }... Of best: difference (the mean; positive where a is better), low and high (its interval of 1 -
-- level). Of time: way (the share of the way from the baseline to the target), ratio (a's evaluations to get there over
-- b's; below 1 a is better), low and high (its interval). These are nil if there is no number for them. A run that did
-- not get there counts as the budget.
local function compare(matrix, options)
  local groups, list, ps = runtimes.groups(matrix, options), {}, {}
  options = { seed = options.seed or 0, level = options.level or LEVEL, draws = options.draws or DRAWS,
    first_only = options.first_only }
  for _, group in ipairs(groups) do append_all(list, group, options) end
  for index, comparison in ipairs(list) do ps[index] = comparison.p end
  for index, corrected in ipairs(stats.holm(ps)) do
    list[index].p_holm = corrected
    list[index].verdict = verdict(list[index], options.level)
  end
  return list
end

return compare
