-- overall: one verdict over all worlds of a campaign: how many evaluations a strategy needs of what another needs. Of
-- each world it takes the ratio of mean evaluations at several targets, and of these and of the worlds the geometric
-- mean. Worlds are resampled, and the seeds of each, so that the interval speaks of other worlds too. Called by the
-- command.
local random = require "apsis.random"
local runtimes = require "apsis.lab.runtimes"
local stats = require "apsis.stats"
local student = require "apsis.stats.student"
local studentized = require "apsis.stats.studentized"

local LEVEL, LEAST_WORLDS = 0.05, 5

-- Of each seed that all entries of a world have, and each way, the evaluations of every strategy: { [seed] = { [way] =
-- { [strategy] = evaluations } } }.
local function times_of(group)
  local by_seed, list, ways = {}, {}, runtimes.ways
  for place, entry in ipairs(group.entries) do
    for _, record in ipairs(entry.records) do
      local times = by_seed[record.seed] or {}
      by_seed[record.seed] = times
      local hits = stats.restricted(runtimes.hits(group, record, ways), group.budget)
      for way = 1, #ways do
        times[way] = times[way] or {}
        times[way][place] = hits[way]
      end
      if place == #group.entries and #times[1] == place then list[#list + 1] = times end
    end
  end
  return list
end

-- Each strategy's mean logarithm of its mean evaluations on a world, over the ways.
local function logs_of(times, strategies)
  local count, logs = #times, {}
  for place = 1, strategies do
    logs[place] = 0
    for way = 1, #runtimes.ways do
      local sum = 0
      for index = 1, count do sum = sum + times[index][way][place] end
      logs[place] = logs[place] + math.log(sum / count) / #runtimes.ways
    end
  end
  return logs
end

local function resampled_times(times, rng)
  local picks, count = {}, #times
  for index = 1, count do picks[index] = times[rng:integer(1, count)] end
  return picks
end

-- The mean over worlds of the difference of two strategies' logarithms, and its standard error.
local function estimate(worlds, a, b)
  local count, sum, squares = #worlds, 0, 0
  for _, logs in ipairs(worlds) do sum = sum + logs[a] - logs[b] end
  local mean = sum / count
  for _, logs in ipairs(worlds) do squares = squares + (logs[a] - logs[b] - mean) ^ 2 end
  return mean, squares > 1e-24 and math.sqrt(squares / (count - 1) / count) or 0
end

-- What was drawn once serves every pair: { { logs of a world }... } for each draw.
local function resampled(worlds, strategies, options)
  local rng, draws = random.stream(options.seed, "overall"), {}
  for draw = 1, options.draws do
    draws[draw] = {}
    for place = 1, #worlds do
      draws[draw][place] = logs_of(resampled_times(worlds[rng:integer(1, #worlds)], rng), strategies)
    end
  end
  return draws
end

-- The worlds' logarithms without each seed in turn: { { logs of a world }... } for each seed.
local function without_each(worlds, strategies)
  local list = {}
  for left = 1, #worlds[1] do
    list[left] = {}
    for place, times in ipairs(worlds) do
      local others = {}
      for index, one in ipairs(times) do others[#others + 1] = index ~= left and one or nil end
      list[left][place] = logs_of(#others > 0 and others or times, strategies)
    end
  end
  return list
end

-- The standard error of a pair's mean that the seeds cause: the jackknife's; 0 of one seed.
local function seed_error(list, a, b)
  local means, count = {}, #list
  if count < 2 then return 0 end
  for index, observed in ipairs(list) do means[index] = estimate(observed, a, b) end
  return stats.sd(means) * (count - 1) / math.sqrt(count)
end

-- In how many worlds the first of a pair is shown to be faster, and slower: at some target, and at none the reverse.
local function counted(verdict, comparisons)
  local by_world = {}
  for _, one in ipairs(comparisons) do
    if one.measure == "time" and one.a == verdict.a and one.b == verdict.b then
      by_world[one.world] = by_world[one.world] or {}
      by_world[one.world][one.verdict] = true
    end
  end
  verdict.faster, verdict.slower = 0, 0
  for _, found in pairs(by_world) do
    if found.better and not found.worse then verdict.faster = verdict.faster + 1 end
    if found.worse and not found.better then verdict.slower = verdict.slower + 1 end
  end
end

local function add_verdicts(list, worlds)
  local ps = {}
  for index, one in ipairs(list) do ps[index] = one.p or 1 end
  for index, corrected in ipairs(stats.holm(ps)) do
    local one = list[index]
    one.p_holm, one.verdict = corrected, "no difference shown"
    if worlds >= LEAST_WORLDS and corrected < LEVEL and one.low and one.high then
      if one.high < 1 then one.verdict = "better" elseif one.low > 1 then one.verdict = "worse" end
    end
  end
end

local SEED_DRAWS = 1000

-- The ratio on each world, with the interval that its resampled seeds give: { ratio, low, high } for each of a list of
-- pairs of places.
local function on_world(times, strategies, pairs_of, rng)
  local draws, logs, list = {}, logs_of(times, strategies), {}
  for draw = 1, SEED_DRAWS do draws[draw] = logs_of(resampled_times(times, rng), strategies) end
  for index, pair in ipairs(pairs_of) do
    local differences = {}
    for draw, drawn in ipairs(draws) do differences[draw] = drawn[pair[1]] - drawn[pair[2]] end
    list[index] = { ratio = math.exp(logs[pair[1]] - logs[pair[2]]),
      low = math.exp(stats.quantile(differences, 0.025)), high = math.exp(stats.quantile(differences, 0.975)) }
  end
  return list
end

local overall = { least_worlds = LEAST_WORLDS }

-- scores(matrix, options as of runtimes.groups) -> for each world the strategies' mean logarithms of running times.
function overall.scores(matrix, options)
  local list = {}
  for index, group in ipairs(runtimes.groups(matrix, options)) do
    list[index] = logs_of(times_of(group), #group.entries)
  end
  return list
end

local function finite_exp(number)
  number = math.exp(number)
  return number < math.huge and number or nil
end

-- A verdict's interval and p, no narrower and no smaller than those of Student's t for an error of the mean.
local function widen(verdict, mean, error_of, freedom)
  if error_of == 0 then return end
  local half = student.two_sided(1 - LEVEL, freedom) * error_of
  verdict.low, verdict.high = math.min(verdict.low, mean - half), math.max(verdict.high, mean + half)
  verdict.p = math.max(verdict.p, 1 - student.within(math.abs(mean) / error_of, freedom))
end

-- The bootstrap's interval holds for skewed ratios, but is too short for a few worlds; the t interval of the worlds'
-- ratios holds for few whose spreads differ (Ibragimov and Mueller, 2010); that of the seeds holds where chance moves
-- all worlds the same way, as each seed gives them the same random numbers. The widest of the three counts.
local function pair_of(first, second, observed, draws, left_out)
  local mean, error_of = estimate(observed, first, second)
  local place, found = 0, { worlds = #observed, ratio = math.exp(mean) }
  found.low, found.high, found.p = studentized.of(mean, error_of, function()
    place = place + 1
    return estimate(draws[place], first, second)
  end, { draws = #draws, count = #observed })
  widen(found, mean, error_of, #observed - 1)
  widen(found, mean, seed_error(left_out, first, second), #left_out - 1)
  found.low, found.high = finite_exp(found.low), finite_exp(found.high)
  return found
end

-- verdicts(matrix, comparisons, { seed, axis, budget, evaluations, draws, first_only }) -> { a, b, worlds, ratio (a's
-- evaluations over b's), low and high (its interval), p, p_holm (corrected for the pairs), faster and slower (in how
-- many worlds a was shown to be), verdict (a is "better" or "worse" than b, or "no difference shown"), each =
-- { { world, ratio, low, high }... } }...; empty below two worlds.
function overall.verdicts(matrix, comparisons, options)
  local worlds, observed, list, strategies = {}, {}, {}, 0
  local groups = runtimes.groups(matrix, options)
  options = { seed = options.seed or 0, draws = options.draws or 2000, first_only = options.first_only }
  for index, group in ipairs(groups) do
    strategies = #group.entries
    worlds[index] = times_of(group)
    for _, entry in ipairs(group.entries) do
      if #worlds[index] == 0 or not runtimes.is_answered(entry) then return {} end
    end
    observed[index] = logs_of(worlds[index], strategies)
  end
  if #worlds < 2 or strategies < 2 then return {} end
  local draws, left_out = resampled(worlds, strategies, options), without_each(worlds, strategies)
  local entries, places = groups[1].entries, {}
  for i = 1, options.first_only and 1 or strategies do
    for j = i + 1, strategies do
      local one = pair_of(i, j, observed, draws, left_out)
      one.a, one.b = entries[i].strategy, entries[j].strategy
      counted(one, comparisons)
      one.each = {}
      list[#list + 1], places[#places + 1] = one, { i, j }
    end
  end
  for index, group in ipairs(groups) do
    local rng = random.stream(options.seed, "world", group.world)
    for place, found in ipairs(on_world(worlds[index], strategies, places, rng)) do
      found.world = group.world
      list[place].each[index] = found
    end
  end
  add_verdicts(list, #worlds)
  return list
end

return overall
