-- lab_measures: rows, comparisons and series out of trials' records that are made up here, so that the truth about them
-- is known.
local json = require "apsis.json"
local measures = require "apsis.lab.measures"
local random = require "apsis.random"
local tap = require "tap"
local test, equal = tap.test, tap.equal

local function record(seed, fields)
  local made = { seed = seed, direction = "higher", metric = "score", experiments = 9, evaluations = 10, baseline = 0.0,
    best = 1.0, curve = { { 1, 0.0 }, { 5, 1.0 } }, kept = 1, measured = 9, outcomes = { kept = 1 }, operators = {},
    seconds = 60.0, tokens = 0, cost = 0.0 }
  for key, value in pairs(fields or {}) do made[key] = value end
  return made
end

local function entry(strategy, world, records)
  return { strategy = strategy, world = world, records = records }
end

local function row(records, evaluations)
  return measures.rows({ entry("a", "w", records) }, { evaluations = evaluations or 10 })[1]
end

-- Encoding raises where there is a NaN or an infinity, and a hole in a list is lost.
local function plain(data)
  equal(json.decode(json.encode(data)), data)
end

-- Runs of a strategy on a world: best is a normal deviate of the seed's own, plus what the strategy has more.
local function noisy(strategy, world, direction, more, seeds)
  local records = {}
  for seed = 1, seeds do
    local best = random.stream(world, seed):normal() + 0.3 * random.stream(strategy, world, seed):normal() + more
    records[seed] = record(seed, { direction = direction, best = best, curve = { { 1, best - 1 }, { 5, best } } })
  end
  return entry(strategy, world, records)
end

local function only(list, measure)
  local found = {}
  for _, comparison in ipairs(list) do
    if comparison.measure == measure then found[#found + 1] = comparison end
  end
  return found
end

test("a row has quartiles, success, ert with the runs that failed, and means", function()
  local found = row { record(1, { target = 3, best = 3, hit = 4, evaluations = 4, cost = 1, kept = 3,
    false_keeps = 1 }), record(2, { target = 3, best = 1, false_keeps = 2, tokens = 30 }),
    record(3, { target = 3, best = 3, hit = 8, evaluations = 8 }) }
  equal({ found.strategy, found.world, found.direction, found.metric, found.runs, found.target },
    { "a", "w", "higher", "score", 3, 3 })
  -- (4 + 10 + 8) / 2.
  equal({ found.successes, found.unsuccessful, found.success_rate, found.ert }, { 2, 1, 2 / 3, 11.0 })
  equal({ found.median, found.q1, found.q3, found.without_value }, { 3, 2.0, 3, 0 })
  equal({ found.evaluations, found.cost, found.tokens, found.seconds }, { 22 / 3, 1 / 3, 10.0, 60.0 })
  equal({ found.kept_ratio, found.kept, found.measured, found.false_keeps }, { 5 / 27, 5 / 3, 9.0, 1.5 })
  plain(found)
end)

test("where lower is better the quartiles are numeric all the same", function()
  local found = row { record(1, { direction = "lower", best = 5 }), record(2, { direction = "lower", best = 1 }) }
  equal({ found.direction, found.q1, found.median, found.q3 }, { "lower", 2.0, 3.0, 4.0 })
end)

test("without a target there is no success rate and no ert; where none reached it the rate is 0 and ert is still none",
  function()
  local found = row { record(1), record(2) }
  equal({ found.successes, found.unsuccessful }, { 0, 0 })
  equal({ found.target == nil, found.success_rate == nil, found.ert == nil }, { true, true, true })
  found = row { record(1, { target = 9 }), record(2, { target = 9 }) }
  equal({ found.target, found.successes, found.unsuccessful, found.success_rate, found.ert == nil },
    { 9, 0, 2, 0.0, true })
  found = row { record(1, { target = 9, hit = 1 }), record(2, { target = 8 }) } -- every instance has its own
  equal({ found.target == nil, found.successes, found.success_rate, found.ert }, { true, 1, 0.5, 11.0 })
end)

test("one run, a run without a value, and no run at all have rows that JSON can hold", function()
  local found = row { record(1, { best = 2 }) }
  equal({ found.median, found.q1, found.q3, found.runs }, { 2, 2, 2, 1 })
  local bare = record(2, { curve = {}, target = 3 })
  bare.best, bare.baseline = nil, nil
  found = row { bare }
  equal({ found.without_value, found.median == nil, found.auc == nil, found.successes, found.unsuccessful },
    { 1, true, true, 0, 1 })
  plain(found)
  found = row { bare, record(1, { best = 2 }) }
  equal({ found.without_value, found.median, found.runs, found.auc }, { 1, 2, 2, 0.6 })
  plain(row { record(1, { best = 0 / 0, cost = math.huge, curve = { { 1, -math.huge } } }) })
  plain(row { record(1, { best = 1.5e308, curve = { { 1, 1.5e308 } } }),
    record(2, { best = 1.5e308, curve = { { 1, 1.5e308 } } }) })
  equal(row({}).runs, 0)
  plain(row({}))
end)

test("auc is the mean best so far over all evaluations, a run that ended early keeping its last", function()
  equal(row({ record(1) }, 10).auc, 0.6) -- 0 at 1 to 4, 1 at 5 to 10
  equal(row({ record(1, { evaluations = 5 }) }, 20).auc, 0.8)
  equal(row({ record(1) }, 3).auc, 0.0) -- what comes later does not count
  equal(row({ record(1, { curve = { { 1, 4 } } }) }, 10).auc, 4.0)
  -- The last of those at one evaluation.
  equal(row({ record(1, { curve = { { 1, 0 }, { 5, 9 }, { 5, 1 } } }) }, 10).auc, 0.6)
  equal(row({ record(1, { curve = { { 3, 4 }, { 6, 5 } } }) }, 10).auc, 4.5) -- the first counts from the start
  -- The median run's.
  equal(row({ record(1), record(2, { curve = { { 1, 1 } } }), record(3, { curve = { { 1, 2 } } }) }, 10).auc, 1.0)
end)

test("the better strategy is told from the worse, whichever direction is better", function()
  for direction, better in pairs { higher = "good", lower = "poor" } do
    local matrix = { noisy("good", "w", direction, 0.5, 60), noisy("poor", "w", direction, 0, 60) }
    local list = measures.comparisons(matrix, { seed = 1, evaluations = 10 })
    local found = list[1]
    equal({ found.world, found.a, found.b, found.measure, found.pairs }, { "w", "good", "poor", "best", 60 })
    equal(found.verdict, better == "good" and "better" or "worse")
    equal(found.difference > 0, better == "good")
    equal(found.low < found.difference and found.difference < found.high, true)
    equal(math.abs(math.abs(found.difference) - 0.5) < 0.25, true)
    plain(list)
  end
end)

-- Many strategies that differ by chance alone.
local function chance()
  local matrix = {}
  for world = 1, 6 do
    for strategy = 1, 6 do matrix[#matrix + 1] = noisy("s" .. strategy, "w" .. world, "higher", 0, 30) end
  end
  return matrix
end

test("among many comparisons of equals some would pass alone, and none is called better: p is corrected for all",
  function()
  local list = measures.comparisons(chance(), { seed = 1, evaluations = 10, draws = 400 })
  equal(#list, 6 * 15 * 4)
  local alone = 0
  for _, comparison in ipairs(list) do
    local none = comparison.ratio and 1 or 0
    if comparison.p < 0.05 and (comparison.low > none or comparison.high < none) then alone = alone + 1 end
    equal(comparison.verdict, "no difference shown")
    equal(comparison.p_holm >= comparison.p, true)
  end
  equal(alone > 0, true, "there must be one that would pass alone, or this shows nothing")
end)

test("the correction counts every comparison of every world", function()
  local matrix = { noisy("a", "w", "higher", 0.4, 12), noisy("b", "w", "higher", 0, 12) }
  local small = only(measures.comparisons(matrix, { seed = 1, evaluations = 10 }), "best")[1]
  for world = 2, 9 do
    matrix[#matrix + 1] = noisy("a", "w" .. world, "higher", 0, 12)
    matrix[#matrix + 1] = noisy("b", "w" .. world, "higher", 0, 12)
  end
  local large = only(measures.comparisons(matrix, { seed = 1, evaluations = 10 }), "best")[1]
  equal({ small.p, small.low, small.high }, { large.p, large.low, large.high }) -- streams are each comparison's own
  equal(math.abs(small.p_holm - 4 * small.p) < 1e-12, true)
  equal(math.abs(large.p_holm - 36 * large.p) < 1e-12, true)
end)

test("the same matrix and seed make the same comparisons, another seed other intervals and the same tests", function()
  local matrix = { noisy("a", "w", "higher", 0.1, 20), noisy("b", "w", "higher", 0, 20) }
  local function of(seed) return measures.comparisons(matrix, { seed = seed, evaluations = 10 }) end
  equal(of(1), of(1))
  equal({ of(1)[1].low ~= of(2)[1].low, of(1)[1].p == of(2)[1].p }, { true, true })
  for index = 1, 2 do matrix[index + 2] = entry(matrix[index].strategy, "v", matrix[index].records) end
  local list = only(of(1), "best")
  -- Each draws its own resamples.
  equal({ list[1].difference == list[2].difference, list[1].low ~= list[2].low }, { true, true })
end)

test("pairs are those of the same seed, in whatever order the records are; what one lacks is left out", function()
  local first = { record(1, { best = 1 }), record(2, { best = 2 }), record(3, { best = 3 }), record(4, { best = 50 }) }
  local second = { record(5, { best = 70 }), record(3, { best = 1 }), record(2, { best = 1 }), record(1, { best = 1 }) }
  local bare = record(4)
  bare.best, bare.curve = nil, {}
  second[5] = bare
  local found = measures.comparisons({ entry("a", "w", first), entry("b", "w", second) }, { seed = 1 })[1]
  equal({ found.pairs, found.difference, found.plus, found.minus }, { 3, 1.0, 5.0, 0.0 })
end)

test("equal everywhere is p = 1 and no difference; one seed, or none in common, shows none either", function()
  local same = { record(1), record(2), record(3) }
  for _, found in ipairs(measures.comparisons({ entry("a", "w", same), entry("b", "w", same) }, { seed = 1 })) do
    local none = found.ratio and 1.0 or 0.0
    equal({ found.difference or found.ratio, found.low, found.high, found.p, found.p_holm }, { none, none, none, 1.0, 1.0 })
    equal(found.verdict, "no difference shown")
  end
  local found = measures.comparisons({ entry("a", "w", { record(1, { best = 9 }) }), entry("b", "w", { record(1) }) },
    { seed = 1 })[1]
  equal({ found.difference, found.low == nil, found.p, found.verdict }, { 8.0, true, 1.0, "no difference shown" })
  found = measures.comparisons({ entry("a", "w", { record(1) }), entry("b", "w", { record(2) }) }, { seed = 1 })
  equal({ found[1].pairs, found[1].difference == nil, found[1].p, found[1].verdict },
    { 0, true, 1.0, "no difference shown" })
  plain(found)
  plain(measures.comparisons({ entry("a", "w", {}), entry("b", "w", {}) }, { seed = 1 }))
  equal(measures.comparisons({ entry("a", "w", same), entry("b", "v", same) }, { seed = 1 }), {}) -- no world in common
  equal(measures.comparisons({}, {}), {})
end)

-- What the user would have lost: a true sentence. 20 replays of one recording were "better, p < 0.0001".
test("seeds that change nothing count as one: copies of a run show nothing", function()
  local first, second = {}, {}
  for seed = 1, 20 do
    first[seed] = record(seed, { best = 2.0, curve = { { 1, 0.0 }, { 5, 2.0 } } })
    second[seed] = record(seed, { best = 1.0 })
  end
  local shown = measures.comparisons({ entry("a", "w", first), entry("b", "w", second) }, { seed = 1, evaluations = 10 })[1]
  equal({ shown.pairs, shown.difference, shown.p, shown.verdict }, { 1, 1.0, 1.0, "no difference shown" })
  second[3] = record(3, { best = 1.25 })
  equal(measures.comparisons({ entry("a", "w", first), entry("b", "w", second) }, { seed = 1, evaluations = 10 })[1].verdict, "better")
end)

test("a mean that leans one way and ranks that lean the other are no verdict", function()
  local first, second = {}, {}
  for seed = 1, 60 do
    second[seed] = record(seed, { best = 0 })
    first[seed] = record(seed, { best = seed <= 8 and 500 + seed or -1 - seed / 100 })
  end
  local found = measures.comparisons({ entry("a", "w", first), entry("b", "w", second) }, { seed = 1 })[1]
  equal({ found.low > 0, found.plus < found.minus, found.verdict }, { true, true, "no difference shown" })
  equal(found.p_holm < 0.05, true, "the ranks alone would have said worse")
end)

test("ranks that say better of a mean whose interval has 0 in it are no verdict", function()
  for sign = -1, 1, 2 do
    local first, second = {}, {}
    for seed = 1, 60 do
      second[seed] = record(seed, { best = 0 })
      first[seed] = record(seed, { best = sign * (seed <= 3 and -20 or 1 + seed / 100) })
    end
    local found = measures.comparisons({ entry("a", "w", first), entry("b", "w", second) }, { seed = 1 })[1]
    equal({ found.low < 0, found.high > 0, found.p_holm < 0.05, found.verdict },
      { true, true, true, "no difference shown" })
  end
end)

test("differences too large for a number leave no interval, and no verdict", function()
  local first, second = {}, {}
  for seed = 1, 20 do
    first[seed], second[seed] = record(seed, { best = 1.7e308, curve = { { 1, 1.7e308 } } }),
      record(seed, { best = -1.7e308 })
  end
  local list = measures.comparisons({ entry("a", "w", first), entry("b", "w", second) }, { seed = 1 })
  equal({ list[1].difference == nil, list[1].verdict }, { true, "no difference shown" })
  plain(list)
end)

-- Runs that solve a world at 10 after this many evaluations, half of the way at half of them.
local function solving(strategy, world, evaluations, budget, best)
  local records = {}
  for seed, hit in ipairs(evaluations) do
    local solved = hit <= budget
    records[seed] = record(seed, { target = 10, hit = solved and hit or nil, evaluations = math.min(hit, budget),
      best = solved and (best or 10) or 5, curve = { { 1, 0.0 }, { hit // 2, 5 }, solved and { hit, best or 10 } or nil } })
  end
  return entry(strategy, world, records)
end

local function between(rng, low, high)
  local list = {}
  for seed = 1, 30 do list[seed] = rng:integer(low, high) end
  return list
end

test("evaluations to each target are compared as a ratio, runs that never came counting as the budget", function()
  local quick, slow = { 40, 60, 80, 300 }, { 80, 120, 160, 300 }
  local list = measures.comparisons({ solving("a", "w", quick, 200), solving("b", "w", slow, 200) },
    { seed = 1, evaluations = 200 })
  equal({ #list, list[2].measure, list[2].way, list[3].way, list[4].way }, { 4, "time", 0.5, 0.9, 1 })
  equal(math.abs(list[2].ratio - (20 + 30 + 40 + 150) / (40 + 60 + 80 + 150)) < 1e-12, true)
  equal(math.abs(list[4].ratio - (40 + 60 + 80 + 200) / (80 + 120 + 160 + 200)) < 1e-12, true)
  equal({ list[4].plus, list[4].minus }, { 9.0, 0.0 }) -- differences of 40, 60, 80 and, by Pratt, a zero of rank 1
  equal(list[4].verdict, "no difference shown") -- four seeds
  plain(list)
  for direction, sign in pairs { higher = 1, lower = -1 } do
    local matrix = { solving("a", "w", between(random.stream "a", 50, 90), 200),
      solving("b", "w", between(random.stream "b", 80, 150), 200) }
    for _, one in ipairs(matrix) do
      for _, run in ipairs(one.records) do
        run.direction, run.best, run.target = direction, sign * run.best, sign * run.target
        for _, step in ipairs(run.curve) do step[2] = sign * step[2] end
      end
    end
    for place, one in ipairs(measures.comparisons(matrix, { seed = 1, evaluations = 200 })) do
      equal(one.verdict, place == 1 and "no difference shown" or "better")
      if place > 1 then equal(one.low < one.ratio and one.ratio < one.high and one.high < 1, true) end
    end
    matrix[1], matrix[2] = matrix[2], matrix[1]
    equal(measures.comparisons(matrix, { seed = 1, evaluations = 200 })[3].verdict, "worse")
  end
end)

test("values beyond the target count as the target: overshoot is no gain", function()
  local rng, exact = random.stream "over", between(random.stream "x", 50, 90)
  local matrix = { solving("a", "w", exact, 200), solving("b", "w", exact, 200) }
  for _, run in ipairs(matrix[1].records) do
    run.best = 10 + rng:random()
    run.curve[3][2] = run.best
  end
  local found = measures.comparisons(matrix, { seed = 1, evaluations = 200 })[1]
  equal({ found.difference, found.p, found.verdict }, { 0.0, 1.0, "no difference shown" })
  for _, one in ipairs(matrix) do
    for _, run in ipairs(one.records) do run.target = nil end
  end
  equal(measures.comparisons(matrix, { seed = 1, evaluations = 200 })[1].verdict, "better")
end)

test("without a target the way leads to the best that any strategy found with that seed", function()
  local matrix = { entry("a", "w", { record(1, { best = 8, curve = { { 1, 0.0 }, { 3, 4 }, { 7, 8 } } }) }),
    entry("b", "w", { record(1, { best = 4, curve = { { 1, 0.0 }, { 2, 4 } } }) }) }
  local rows = measures.rows(matrix, { evaluations = 10 })
  local function reached(one) return { one.times[1].mean, one.times[2].mean, one.times[3].mean, one.times[3].reached } end
  equal(reached(rows[1]), { 3.0, 7.0, 7.0, 1 })
  equal(reached(rows[2]), { 2.0, 10.0, 10.0, 0 })
  equal({ rows[1].times[3].ert, rows[2].times[3].ert == nil, rows[2].ert == nil }, { 7.0, true, true })
  equal(rows[1].aocc < 0.6 and rows[1].aocc > rows[2].aocc, true)
  plain(rows)
end)

test("aocc is 1 for a run that starts at the target and 0 for one that never moves; the ERT has an interval", function()
  local rows = measures.rows({ entry("a", "w", { record(1, { target = 0, best = 0, hit = 1, curve = { { 1, 0.0 } } }) }),
    entry("b", "w", { record(1, { target = 0, baseline = -1, best = -1, curve = { { 1, -1 } } }) }) }, { evaluations = 10 })
  equal({ rows[1].aocc, rows[1].aocc_log, rows[1].ert_low, rows[1].ert_high }, { 1.0, 1.0, 1.0, 1.0 })
  local still = measures.rows({ entry("b", "w", { record(1, { target = 1, best = 0, curve = { { 1, 0.0 } } }) }) },
    { evaluations = 10 })[1]
  equal({ still.aocc, still.aocc_log, still.ert_low == nil }, { 0.0, 0.0, true })
end)

-- A matrix over worlds on which a needs `ratio` of b's evaluations, drawn from an exponential distribution; alike: a
-- seed has the same luck on each world.
local function over_worlds(count, ratio, name, alike)
  local matrix = {}
  for world = 1, count do
    for _, strategy in ipairs { "a", "b" } do
      local rng, list = random.stream(name, alike or world, strategy), {}
      for seed = 1, 20 do
        list[seed] = 4 + (-math.log(1 - rng:random()) * 100 * (strategy == "a" and ratio or 1)) // 1 | 0
      end
      matrix[#matrix + 1] = solving(strategy, "w" .. world, list, 2000)
    end
  end
  return matrix
end

local function over_all(matrix)
  local list = measures.comparisons(matrix, { seed = 1, evaluations = 2000, draws = 300 })
  return measures.overall(matrix, list, { seed = 1, evaluations = 2000, draws = 500 })[1], list
end

test("over all worlds there is one ratio with an interval, and in how many worlds it is shown", function()
  local found = over_all(over_worlds(8, 0.4, "x"))
  equal({ found.a, found.b, found.worlds, found.verdict, found.slower }, { "a", "b", 8, "better", 0 })
  equal(found.low < 0.4 and 0.4 < found.high and found.high < 0.7, true)
  equal(found.faster > 0, true)
  plain(found)
  equal(over_all(over_worlds(8, 2.5, "x")).verdict, "worse")
  equal(over_all(over_worlds(8, 1, "x")).verdict, "no difference shown")
  equal(over_all(over_worlds(4, 0.2, "x")).verdict, "no difference shown", "too few worlds for a verdict")
  equal(over_all(over_worlds(1, 0.2, "x")), nil)
  equal(measures.overall({}, {}, {}), {})
end)

test("what chance does to all worlds at once is seldom taken for a difference, though the worlds agree", function()
  local shown = 0
  for round = 1, 40 do
    local found = over_all(over_worlds(8, 1, "round" .. round, "alike"))
    if found.verdict ~= "no difference shown" then shown = shown + 1 end
  end
  equal(shown <= 4, true, shown) -- 5 % of 40 are 2; by the worlds alone it is 40
  equal(over_all(over_worlds(8, 0.2, "x", "alike")).verdict, "better")
end)

test("an interval holds nothing that the values cannot be the mean of", function()
  local first, second = {}, {}
  for seed = 1, 20 do
    first[seed], second[seed] = record(seed, { best = seed == 7 and 1 or seed == 9 and 3 or 0 }), record(seed, { best = 0 })
  end
  local found = measures.comparisons({ entry("a", "w", first), entry("b", "w", second) }, { seed = 1 })[1]
  equal({ found.difference, found.low, found.high }, { 0.2, 0, 3 })
end)

test("runs that ended as a recording had no answer any more are compared with none", function()
  local matrix = over_worlds(8, 0.2, "x")
  local _, before = over_all(matrix)
  matrix[1].records[3].unanswered = true
  local found, after = over_all(matrix)
  equal(found, nil)
  equal(#after, #before * 7 // 8)
  for _, one in ipairs(after) do equal(one.world ~= "w1", true) end
end)

test("over worlds that differ in who is faster nothing is shown, however sure each world is", function()
  local matrix = over_worlds(4, 0.3, "x")
  for _, one in ipairs(over_worlds(8, 3.3, "y")) do
    if tonumber(one.world:match "%d+") > 4 then matrix[#matrix + 1] = one end
  end
  local found = over_all(matrix)
  equal({ found.verdict, found.faster > 1, found.slower > 1 }, { "no difference shown", true, true })
end)

-- Differences of mean 0 that lean to one side: the ranks alone would call 12 % of them a difference of 5 % that there are.
test("skewed differences of mean zero seldom get a verdict", function()
  local shown, rounds = 0, os.getenv "APSIS_SANITIZED" and 40 or 400
  for round = 1, rounds do
    local rng, first, second = random.stream("skew", round), {}, {}
    for seed = 1, 20 do
      first[seed] = record(seed, { best = -math.log(1 - rng:random()) - 1 })
      second[seed] = record(seed, { best = 0 })
    end
    local matrix = { entry("a", "w", first), entry("b", "w", second) }
    local found = measures.comparisons(matrix, { seed = round, draws = 300 })[1]
    if found.p < 0.05 and found.low and found.high and (found.low > 0 or found.high < 0) then shown = shown + 1 end
  end
  equal(shown <= 0.07 * rounds, true, shown .. " of " .. rounds)
end)

test("curves are quartiles of the best so far on a grid even in the logarithm, from 1 to the last evaluation",
  function()
  local runs = entry("a", "w", { record(1), record(2, { curve = { { 1, 0 }, { 7, 4 } } }),
    record(3, { curve = { { 1, 0 } } }) })
  local found = measures.curves(runs, 10, 50)
  equal(found.x, { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 })
  equal(found.median, { 0, 0, 0, 0, 0, 0, 1, 1, 1, 1 })
  equal(found.q3, { 0, 0, 0, 0, 0.5, 0.5, 2.5, 2.5, 2.5, 2.5 })
  equal(found.q1, { 0, 0, 0, 0, 0, 0, 0.5, 0.5, 0.5, 0.5 })
  equal(measures.curves(runs, 1000, 4).x, { 1, 10, 100, 1000 })
  equal(measures.curves(runs, 1, 4).x, { 1 })
  local bare = record(1, { curve = {} })
  equal(measures.curves(entry("a", "w", { bare }), 10), { x = {}, median = {}, q1 = {}, q3 = {}, spent = 10 })
  equal(json.encode(measures.curves(entry("a", "w", { bare }), 10).x), "[]")
  equal(measures.curves(entry("a", "w", { bare, record(2) }), 10).median[10], 1)
  local broken = measures.curves(entry("a", "w", { record(1, { curve = { { 1, -math.huge }, { 2, 0 / 0 },
    { 4, 2 } } }) }), 10)
  equal(broken.median, { 2, 2, 2, 2, 2, 2, 2, 2, 2, 2 })
end)

test("the ecdf of runtimes counts the runs that never came, and spans all evaluations", function()
  local runs = entry("a", "w", { record(1, { target = 1, hit = 5 }), record(2, { target = 1 }),
    record(3, { target = 1, hit = 8 }), record(4, { target = 1, hit = 5 }) })
  equal(measures.ecdf(runs, 10), { x = { 1, 5, 8, 10 }, y = { 0, 0.5, 0.75, 0.75 } })
  equal(measures.ecdf(runs, 8), { x = { 1, 5, 8 }, y = { 0, 0.5, 0.75 } })
  equal(measures.ecdf(runs, 6), { x = { 1, 5, 6 }, y = { 0, 0.5, 0.5 } })
  equal(measures.ecdf(entry("a", "w", { record(1, { target = 1, hit = 1 }) }), 10), { x = { 1, 10 }, y = { 1, 1 } })
  equal(measures.ecdf(entry("a", "w", { record(1, { target = 1 }) }), 10), { x = { 1, 10 }, y = { 0, 0 } })
  equal(json.encode(measures.ecdf(entry("a", "w", { record(1) }), 10).x), "[]") -- no target
end)

test("operators are summed over the runs", function()
  local runs = entry("a", "w", { record(1, { operators = { crossover = { count = 3, kept = 1, improved = 1 } } }),
    record(2), record(3, { operators = { crossover = { count = 2, kept = 1 }, migration = { count = 1, kept = 0,
    improved = 0 } } }) })
  equal(measures.operators(runs), { crossover = { count = 5, kept = 2, improved = 1 },
    migration = { count = 1, kept = 0, improved = 0 } })
  equal(measures.operators(entry("a", "w", { record(1) })), {})
end)

-- Two runs of a strategy that is solved at the second evaluation, which took this long and cost this much, and a third
-- that is not solved.
local function costly(strategy, seconds, cost)
  local records = {}
  for seed = 1, 2 do
    records[seed] = record(seed, { target = 1, hit = 2, evaluations = 2, seconds = seconds * seed, cost = cost,
      curve = { { 1, 0.0, 60, 0.0 }, { 2, 1.0, seconds * seed, cost } } })
  end
  records[3] = record(3, { target = 1, best = 0.0, seconds = 1000, cost = 0.5, curve = { { 1, 0.0, 60, 0.0 } } })
  return entry(strategy, "w", records)
end

test("running times are counted in seconds or cost, if that is the axis", function()
  local matrix = { costly("a", 100, 0.125), costly("b", 200, 0.0625) }
  local found = measures.rows(matrix, { evaluations = 10, axis = "time" })
  equal({ found[1].ert, found[2].ert, found[1].times[2].ert }, { 650.0, 800.0, 650.0 })
  equal(found[1].times[3].mean, (100 + 200 + 1000) / 3)
  assert(math.abs(found[1].aocc - (0.9 + 0.8 + 0) / 3) < 1e-5)
  equal({ found[1].evaluations, found[1].auc }, { 14 / 3, 0.9 }) -- these are not
  found = measures.rows(matrix, { evaluations = 10, axis = "cost" })
  equal({ found[1].ert, found[2].ert }, { 0.375, 0.3125 })
  assert(math.abs(found[1].aocc - (0.75 + 0.75 + 0) / 3) < 1e-5)
  -- Half of the way is at the same evaluation for both, so only the axis tells them apart.
  local ratios = {}
  for _, axis in ipairs { "evaluations", "time", "cost" } do
    local options = { evaluations = 10, axis = axis, draws = 99 }
    ratios[axis] = ("%.9f"):format(only(measures.comparisons(matrix, options), "time")[1].ratio)
  end
  equal(ratios, { evaluations = "1.000000000", time = "0.812500000", cost = "1.200000000" })
  local options = { axis = "time", budget = 400 }
  equal(("%.9f"):format(only(measures.comparisons(matrix, options), "time")[1].ratio), "0.700000000")
end)

tap.done()
