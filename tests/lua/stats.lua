-- stats: quantiles, running times, intervals, rank tests. Reference numbers are those of SciPy 1.10.1 with NumPy 1.24.2 unless a test
-- names another source; resamples were drawn there by the same plain generator as here.
local normal = require "apsis.stats.normal"
local random = require "apsis.random"
local stats = require "apsis.stats"
local tap = require "tap"
local test, equal, raises = tap.test, tap.equal, tap.raises

local function close(got, expected, what, tolerance)
  local apart = math.abs(got - expected)
  if not (apart <= (tolerance or 1e-12) * math.max(1e-300, math.abs(expected))) then
    error(("%s: got %.17g, expected %.17g"):format(what or "value", got, expected), 2)
  end
end

local function between(got, low, high, what)
  if not (got >= low and got <= high) then error(("%s: %g is not from %g to %g"):format(what, got, low, high), 2) end
end

local few = { 3.1, 1.0, 4.7, 1.5, 9.2, 2.6, 5.3 }
-- Darwin's maize, crossed less self-fertilised plants in eighths of an inch (Fisher, "The Design of Experiments", 1935).
local maize = { 49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48 }

local function repetitions(count)
  return os.getenv "APSIS_SANITIZED" and count // 8 or count
end

test("quantiles are those of type 7, and the list stays as it was", function()
  local shares = { 0, 0.1, 0.25, 1 / 3, 0.5, 0.75, 0.95, 1 }
  local expected = { 1.0, 1.3, 2.05, 2.6, 3.1, 5.0, 8.03, 9.2 }
  for index, share in ipairs(shares) do close(stats.quantile(few, share), expected[index], "quantile " .. share) end
  close(stats.iqr(few), 2.95, "iqr")
  equal(few, { 3.1, 1.0, 4.7, 1.5, 9.2, 2.6, 5.3 })
end)

test("a quantile of one value is that value, of none nil; a share beyond 0 to 1 is a mistake", function()
  equal(stats.quantile({ 7 }, 0.25), 7)
  equal(stats.quantile({}, 0.5), nil)
  equal(stats.iqr {}, nil)
  equal(stats.iqr { 7 }, 0)
  raises("from 0 to 1", stats.quantile, { 1 }, 1.5)
  raises("from 0 to 1", stats.quantile, { 1 }, 0 / 0)
end)

test("quantiles of equal values are those values, and huge ones stay numbers", function()
  local list = { 0.1, 0.1, 0.1, 0.1 }
  for share = 0, 10 do equal(stats.quantile(list, share / 10), 0.1) end
  equal(stats.quantile({ -1.5e308, 1.5e308 }, 0.5), 0.0)
  equal(stats.quantile({ math.huge, math.huge }, 0.5), math.huge)
end)

test("an ecdf climbs at each value by its share, and runs that never came keep it below 1", function()
  equal(stats.ecdf { 3, 1, 3, 2 }, { x = { 1, 2, 3 }, y = { 0.25, 0.5, 1.0 } })
  equal(stats.ecdf({ 30, 10 }, 4), { x = { 10, 30 }, y = { 0.25, 0.5 } })
  equal(stats.ecdf({}, 4), { x = {}, y = {} })
  raises("of 2 values is not of 1", stats.ecdf, { 1, 2 }, 1)
end)

test("ert divides what all runs spent by the successes", function()
  equal(stats.ert({ 100, 200 }, { 100, 200 }), 150.0)
  equal(stats.ert({ 100, nil, 300 }, { 100, 1000, 300 }), 700.0) -- (100 + 1000 + 300) / 2
  equal(stats.ert({ false, 50, false }, { 400, 60, 400 }), 850.0) -- what was spent after the hit does not count
  equal(stats.ert({ nil, nil }, { 400, 400 }), math.huge)
  equal(stats.ert({}, {}), nil)
end)

test("an interval of the ERT is of resampled runs, and has no upper end where many resamples have no hit", function()
  local hits, spent, none = {}, {}, {}
  for run = 1, 30 do hits[run], spent[run], none[run] = 100 + run, 200, false end
  local low, high = stats.ert_interval(hits, spent, { rng = random.stream "ert" })
  between(low, 110, 115.5, "low") -- a mean of 115.5 with a standard error of 1.58
  between(high, 115.5, 121, "high")
  low, high = stats.ert_interval({ 10, false, false, false }, { 10, 50, 50, 50 }, { rng = random.stream "ert" })
  between(low, 20, 160, "low")
  equal(high, math.huge)
  equal({ stats.ert_interval(none, spent, { rng = random.stream "ert" }) }, { math.huge, math.huge })
  equal({ stats.ert_interval({}, {}, { rng = random.stream "ert" }) }, {})
end)

test("restricted runtimes count a run that did not arrive as the budget", function()
  equal(stats.restricted({ 5, false, 30, 20 }, 20), { 5, 20, 20, 20 })
end)

test("aocc is the mean of the ECDF over the budget, by evaluations or by their logarithm", function()
  local hits, budget = { 1, 5, 10, 11, false }, 10
  local by_hand = 0
  for evaluation = 1, budget do
    local reached = 0
    for _, hit in ipairs(hits) do reached = reached + (hit and hit <= evaluation and 1 or 0) end
    by_hand = by_hand + reached / #hits / budget
  end
  close(stats.aocc(hits, { budget = budget }), by_hand, "by evaluations") -- (10 + 6 + 1) / 50
  close(stats.aocc(hits, { budget = budget }), 0.34, "by evaluations")
  close(stats.aocc(hits, { budget = budget, log = true }), (1 + (1 - math.log(5) / math.log(10))) / 5, "by logarithm")
  equal({ stats.aocc({ 1, 1 }, { budget = 9 }), stats.aocc({ false }, { budget = 9 }) }, { 1.0, 0.0 })
  equal(stats.aocc({}, { budget = 9 }), nil)
end)

test("aocc of many targets even in the logarithm is one minus the mean of the clipped logarithm of the precision",
  function()
  local precision, budget, hits, targets = { 50, 3, 3, 0.4, 0.02, 0.02 }, 6, {}, 4000 -- of the best so far, 100 to 0.01
  for index = 1, targets do
    local target = 10 ^ (2 - 4 * (index - 0.5) / targets)
    hits[index] = false
    for evaluation = budget, 1, -1 do
      if precision[evaluation] <= target then hits[index] = evaluation end
    end
  end
  local mean = 0
  for _, number in ipairs(precision) do mean = mean + (math.log(number, 10) + 2) / 4 / budget end
  close(stats.aocc(hits, { budget = budget }), 1 - mean, "aocc", 1e-3)
end)

-- Exponential lists of mean 1: BCa covers 91 % at n = 20.
test("the studentized interval covers the mean of a skewed list, and p agrees with it", function()
  local covered, agree, rounds = 0, 0, repetitions(400)
  for round = 1, rounds do
    local rng, list = random.stream("skewed", round), {}
    for index = 1, 20 do list[index] = -math.log(1 - rng:random()) - 1 end
    local low, high, p = stats.mean_interval(list, { rng = rng, draws = 400 })
    if low <= 0 and 0 <= high then covered = covered + 1 end
    if (p > 0.05) == (low <= 0 and 0 <= high) then agree = agree + 1 end
  end
  between(covered / rounds, 0.93, 0.97, "covered")
  equal(agree >= rounds - 2, true)
end)

test("equal elements are a point, huge ones stay numbers, and one is too few", function()
  local function of(list) return { stats.mean_interval(list, { rng = random.stream "x", draws = 99 }) } end
  equal(of { 2, 2, 2 }, { 2.0, 2.0, 0.02 })
  equal(of { 0, 0, 0 }, { 0.0, 0.0, 1.0 })
  equal(of { 5 }, {})
  local low, high = table.unpack(of { 1e308, -1e308, 1.1e308, -0.9e308, 0, 3e307, -3e307, 2e307 })
  equal(low < 0 and high > 0, true)
end)

test("the ratio of two means has an interval that pairs are resampled for", function()
  local xs, ys = {}, {}
  for index = 1, 30 do
    local rng = random.stream("ratio", index)
    ys[index] = 100 * math.exp(rng:normal())
    xs[index] = 0.8 * ys[index] * math.exp(0.1 * rng:normal()) -- much alike, pair by pair
  end
  local ratio, low, high, p = stats.ratio_interval(xs, ys, { rng = random.stream "r" })
  between(ratio, 0.76, 0.84, "ratio")
  between(low, 0.72, ratio, "low")
  between(high, ratio, 0.9, "high")
  between(p, 0, 0.001, "p")
  close(stats.ratio_interval({ 3 }, { 4 }, { rng = random.stream "r" }), 0.75, "one pair")
  equal(stats.ratio_interval({}, {}, { rng = random.stream "r" }), nil)
  equal({ stats.ratio_interval({ 3, 6 }, { 4, 8 }, { rng = random.stream "r", draws = 99 }) }, { 0.75, 0.75, 0.75, 0.02 })
end)

test("the normal distribution and its inverse are right in the middle and far out", function()
  local places = { -10, -3, -2.999, -1.96, 0, 0.5, 3, 6 }
  local shares = { 7.61985302416047e-24, 0.0013498980316300933, 0.0013543365337271057, 0.024997895148220435, 0.5,
    0.6914624612740131, 0.9986501019683699, 0.9999999990134123 }
  for index, x in ipairs(places) do close(normal.cdf(x), shares[index], "cdf " .. x) end
  for share, x in pairs { [1e-300] = -37.0470962993612, [1e-10] = -6.361340902404056, [0.025] = -1.9599639845400545,
    [0.3] = -0.5244005127080409, [0.975] = 1.959963984540054 } do
    close(normal.quantile(share), x, "quantile " .. share)
  end
  equal(math.abs(normal.quantile(0.5)) < 1e-15, true)
end)

test("the signed-rank test of Darwin's maize: W 24, p 0.0413", function()
  local found = stats.signed_rank(maize)
  equal({ found.minus, found.plus, found.n, found.zeros, found.exact }, { 24.0, 96.0, 15, 0, true })
  close(found.p, 0.041259765625)
end)

test("the signed-rank test is exact up to 50 differences", function()
  local list = {}
  for index = 0, 49 do
    local left = (index * index + index // 3) % 7
    list[index + 1] = (index + 1) * ((left == 0 or left >= 2 and left <= 4) and 1 or -1)
  end
  local found = stats.signed_rank(list)
  equal({ math.min(found.plus, found.minus), found.exact }, { 446.0, true })
  close(found.p, 0.064886242135481)
end)

test("ties and zeros are counted exactly too: every pattern of signs, of ranks by Pratt", function()
  local found = stats.signed_rank { 1, 1, -1, 2, 2, 2, -2, 3, 0, 0, 3, -4, 5, 5, 6, 1 }
  equal({ found.plus, found.minus, found.n, found.zeros }, { 107.0, 26.0, 14, 2 })
  equal(found.p, 0.0364990234375)
  -- R's data set sleep: one zero, nine of the same sign: 2 of 2^9 patterns
  found = stats.signed_rank { -1.2, -2.4, -1.3, -1.3, 0, -1.0, -1.8, -0.8, -4.6, -1.4 }
  equal({ found.plus, found.minus, found.p }, { 0.0, 54.0, 2 / 512 })
end)

test("many differences: normal approximation, corrected for ties, Pratt zeros and continuity", function()
  local list = {}
  for index = 0, 79 do list[index + 1] = ((index * 37) % 101 - 40) * (index % 5 > 0 and 1 or 0.5) end
  local found = stats.signed_rank(list)
  equal({ math.min(found.plus, found.minus), found.zeros, found.exact }, { 1091.0, 1, false })
  close(found.p, 0.011322364371425768)
  list = {}
  for index = 0, 89 do list[index + 1] = (index * 7) % 13 - 5 end
  found = stats.signed_rank(list)
  equal({ math.min(found.plus, found.minus), found.zeros }, { 1456.0, 7 })
  close(found.p, 0.019925708792793005)
end)

test("no difference, or none but zeros, is p = 1; turned signs are the same p; NaN is a mistake", function()
  for _, list in ipairs { {}, { 0 }, { 0, 0, 0, 0 }, { 5 }, { 1, -1 } } do equal(stats.signed_rank(list).p, 1.0) end
  local zeros = {}
  for index = 1, 200 do zeros[index] = 0.0 end
  equal(stats.signed_rank(zeros).p, 1.0)
  local turned = {}
  for index, difference in ipairs(maize) do turned[index] = -difference end
  equal(stats.signed_rank(turned).p, stats.signed_rank(maize).p)
  raises("difference 2 is not a number", stats.signed_rank, { 1, 0 / 0 })
  equal(stats.signed_rank({ math.huge, math.huge, 1, 2, 3, 4 }).p, 2 / 64)
end)

test("without a difference the signed-rank test finds one as often as its level says, with ties, zeros and many too", function()
  local rng = random.stream(4, "level")
  local function rate(count, round)
    local found, runs = 0, repetitions(2400)
    for _ = 1, runs do
      local list = {}
      for index = 1, count do list[index] = round and (2 * rng:normal() + 0.5) // 1 or rng:normal() end
      if stats.signed_rank(list).p < 0.05 then found = found + 1 end
    end
    return found / runs
  end
  local slack = os.getenv "APSIS_SANITIZED" and 0.03 or 0.0135 -- three standard deviations of a rate of 0.05 in so many runs
  between(rate(12, false), 0.048 - slack, 0.05 + slack, "12 differences")
  between(rate(14, true), 0.04 - slack, 0.05 + slack, "14 rounded differences")
  between(rate(60, false), 0.048 - slack, 0.05 + slack, "60 differences")
end)

test("Holm's correction steps down, never below one before, never above 1, in the order given", function()
  equal(stats.holm { 0.01, 0.04, 0.03, 0.005 }, { 0.03, 0.06, 0.06, 0.02 })
  equal(stats.holm { 0.5, 0.9 }, { 1, 1 })
  equal(stats.holm { 0.5, 0.5, 0.001 }, { 1, 1, 0.003 })
  equal(stats.holm { 0.2 }, { 0.2 })
  equal(stats.holm {}, {})
end)

-- A stream that SciPy can draw from as well: Park and Miller's generator, modulo the count.
local function plain()
  local state = 12345
  return { integer = function(_, low, high)
    state = state * 16807 % 2147483647
    return low + state % (high - low + 1)
  end }
end

test("the bootstrap's BCa intervals are SciPy's, resample for resample", function()
  local function check(list, spec, low, high)
    spec.rng = plain()
    local found_low, found_high = stats.bootstrap(list, spec)
    close(found_low, low, "low", 1e-9)
    close(found_high, high, "high", 1e-9)
  end
  check(maize, { draws = 1999 }, -3.03716112594635, 35.333333333333336)
  check(few, { draws = 500, level = 0.9 }, 2.558794347530733, 5.797818486640685)
  check({ 22.198, 2.718, 109.947, 4.482, 9897.129, 13.464, 200.337 }, { draws = 999 }, 38.58957142857143, 5700.468857142858)
  check(maize, { draws = 999, statistic = stats.median }, 8.0, 49.0)
end)

test("a bootstrap's interval is the same for the same stream, another for another, and 2000 draws at 95 % where nothing is said", function()
  local function of(key, level, draws) return { stats.bootstrap(maize, { rng = random.stream(1, key), level = level, draws = draws }) } end
  equal(of "a", of("a", 0.95, 2000))
  equal(of("a")[1] ~= of("b")[1], true)
end)

test("one element has no interval, equal elements a point, and a level of 1 is a mistake", function()
  local rng = random.stream(1)
  equal({ stats.bootstrap({ 3 }, { rng = rng }) }, {})
  equal({ stats.bootstrap({}, { rng = rng }) }, {})
  equal({ stats.bootstrap({ 0.1, 0.1, 0.1 }, { rng = {} }) }, { stats.mean { 0.1, 0.1, 0.1 }, stats.mean { 0.1, 0.1, 0.1 } })
  raises("level", stats.bootstrap, { 1, 2 }, { rng = rng, level = 1 })
  raises("draws", stats.bootstrap, { 1, 2 }, { rng = rng, draws = 0 })
  local low, high = stats.bootstrap({ 0, 0, 0, 0, 0, 0, 0, 0, 0, 1e6 }, { rng = rng }) -- one that outweighs all others
  equal(low == low and high == high and low >= 0 and high <= 1e6 and low < high, true)
end)

test("95 % intervals cover the true mean about 95 times in 100, of skewed differences somewhat less", function()
  local rng = random.stream(9, "coverage")
  local function coverage(draw, truth)
    local covered, runs = 0, repetitions(400)
    for _ = 1, runs do
      local list = {}
      for index = 1, 40 do list[index] = draw() end
      local low, high = stats.bootstrap(list, { rng = rng, draws = 500 })
      if low <= truth and truth <= high then covered = covered + 1 end
    end
    return covered / runs
  end
  local slack = os.getenv "APSIS_SANITIZED" and 0.09 or 0.033 -- three standard deviations of a rate of 0.95 in so many runs
  between(coverage(function() return rng:normal() + 3 end, 3), 0.94 - slack, 0.95 + slack, "normal")
  between(coverage(function() return -math.log(1 - rng:random()) end, 1), 0.93 - slack, 0.95 + slack, "exponential")
end)

tap.done()
