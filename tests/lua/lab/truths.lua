-- The lab's worlds against what is known of them, each through the engine and a strategy's file. Seeds are fixed. A
-- tolerance is three standard errors of the runs there are, from a standard deviation that is known, or else measured
-- and written here. Each truth is tried with a strategy or a world that is wrong, too, and must not hold for it. Under
-- sanitizers there are fewer runs, and tolerances are wider accordingly.
local definition = require "apsis.lab.definition"
local tap = require "tap"
local trial = require "apsis.lab.trial"
local test, equal = tap.test, tap.equal

local sanitized = os.getenv "APSIS_SANITIZED" == "1"

local function runs_of(count)
  return sanitized and math.max(3, count // 20) or count
end

-- Runs one strategy's file on one world with seeds 1 to count.
local function campaign(count, world, file, options, evaluations)
  local records, loaded = {}, assert(definition.load(world))
  local use = file:find "%." and "../data/lab/" .. file or file
  for seed = 1, count do
    records[seed] = assert(trial.run { strategy = { use = use, options = options }, definition = loaded, seed = seed,
      evaluations = evaluations })
  end
  return records
end

local function mean_of(records, get)
  local sum = 0.0
  for _, record in ipairs(records) do sum = sum + get(record) end
  return sum / #records
end

local function hit(record) return assert(record.hit, "a run did not reach the target") end

local function solved(record) return record.hit and 1 or 0 end

-- The evaluation at which a run's best was first at least as good as a value (higher is better).
local function reached(value)
  return function(record)
    for _, step in ipairs(record.curve) do
      if step[2] >= value then return step[1] end
    end
    error("a run did not reach " .. value)
  end
end

-- Whether a mean over some runs lies within three standard errors of what is expected.
local function near(mean, expected, deviation, count)
  return math.abs(mean - expected) <= 3 * deviation / math.sqrt(count)
end

local function within(mean, expected, deviation, count, what)
  if near(mean, expected, deviation, count) then return end
  error(("%s: %.4g in the mean of %d runs, expected %.4g +- %.3g"):format(what, mean, count, expected,
    3 * deviation / math.sqrt(count)), 2)
end

local function outside(mean, expected, deviation, count, what)
  if sanitized or not near(mean, expected, deviation, count) then return end -- so few runs cannot tell
  error(("%s: %.4g in the mean of %d runs is within %.4g +- %.3g"):format(what, mean, count, expected,
    3 * deviation / math.sqrt(count)), 2)
end

-- e n ln n - 1.89 n = 1063 at n = 100; the standard deviation is near pi/sqrt(6) e n = 349 (the last bits' coupon
-- collector).
local onemax_mean <const>, onemax_deviation <const> = math.exp(1) * 100 * math.log(100) - 189, 349

test("onemax: the (1+1)-EA with rate 1/n needs e n ln n - 1.89 n evaluations", function()
  local count = runs_of(100)
  within(mean_of(campaign(count, "onemax:n=100", "ea.lua", {}, 10000), hit), onemax_mean, onemax_deviation, count,
    "rate 1/n")
end)

test("onemax: with rate 2/n, or 3/n by a proposal's note, it does not", function()
  local count = runs_of(45)
  outside(mean_of(campaign(count, "onemax:n=100,rate=2", "ea.lua", {}, 10000), hit), onemax_mean, onemax_deviation,
    count, "rate 2/n")
  outside(mean_of(campaign(runs_of(15), "onemax:n=100", "ea.lua", { step = 3.0 }, 10000), hit), onemax_mean,
    onemax_deviation, runs_of(15), "step 3")
end)

test("onemax: where one worse, or anything, is accepted no run gets there in three times as long", function()
  for _, rule in ipairs { "one_worse", "anything" } do
    equal(mean_of(campaign(runs_of(6), "onemax:n=100", "ea.lua", { rule = rule }, 3200), solved), 0.0, rule)
  end
end)

-- E = ((1 - p)^(1 - n) - (1 - p)) / (2 p^2) evaluations (Boettcher, Doerr and Neumann, 2010), 0.85 n^2 at n = 30 and p
-- = 1/n; one before, so long until half of the ones lead: a level is skipped with probability 1/2. The variance is, by
-- the same, 3/4 of the sum of the squared expected waiting times.
local function leading(n, p, levels)
  local mean, variance = 1.0, 0.0
  for level = 0, levels - 1 do
    local waiting = 1 / (p * (1 - p) ^ level)
    mean, variance = mean + waiting / 2, variance + 0.75 * waiting * waiting
  end
  return mean, math.sqrt(variance)
end

test("leadingones: the (1+1)-EA with rate 1/n needs 0.859 n^2 evaluations, and 0.324 n^2 for the first half", function()
  local count, n = runs_of(100), 30
  local records = campaign(count, "leadingones:n=30", "ea.lua", {}, 10000)
  local mean, deviation = leading(n, 1 / n, n)
  equal(math.abs(mean / (n * n) - 0.859) < 0.01, true, "the formula")
  within(mean_of(records, hit), mean, deviation, count, "all")
  mean, deviation = leading(n, 1 / n, n / 2)
  within(mean_of(records, reached(n / 2)), mean, deviation, count, "half")
end)

-- As a whole 2/n is only 6 % faster, since it is slower at the end: the first half tells them apart.
test("leadingones: with rate 2/n the first half takes two thirds of that", function()
  local count, n = runs_of(60), 30
  local records = campaign(count, "leadingones:n=30,rate=2", "ea.lua", {}, 10000)
  local mean, deviation = leading(n, 1 / n, n / 2)
  local measured = mean_of(records, reached(n / 2))
  outside(measured, mean, deviation, count, "half")
  mean, deviation = leading(n, 2 / n, n / 2)
  within(measured, mean, deviation, count, "half, by the formula for 2/n")
end)

test("leadingones: where one worse, or anything, is accepted it takes longer", function()
  local count = runs_of(6)
  local mean, deviation = leading(30, 1 / 30, 30)
  for _, rule in ipairs { "one_worse", "anything" } do
    local records = campaign(count, "leadingones:n=30", "ea.lua", { rule = rule }, 3200)
    local measured = mean_of(records, function(record) return record.hit or 3200 end)
    outside(measured, mean, deviation, count, rule)
    equal(measured > mean, true, rule)
  end
end)

-- How much the logarithm of the distance fell an evaluation, times d, from evaluation `from` on.
local function slope(from, evaluations, d)
  return function(record)
    local start
    for _, step in ipairs(record.curve) do
      if step[1] <= from then start = step[2] end
    end
    return d * math.log(start / record.best) / (2 * (evaluations - from))
  end
end

-- The rate at which the one-fifth rule lets the logarithm of the distance fall is known as about 0.2/d: 0.2025/d at
-- best as d grows (Rechenberg, 1973), 0.2345/d at best at d = 10 (integrated over one step). With the factor 1.5 an
-- independent program of 500 runs measured 0.159/d, with a standard deviation of 0.0137 from run to run, over
-- evaluations 200 to 800.
local rate_mean <const>, rate_deviation <const> = 0.1593, 0.0137
local best_rate <const> = 0.2345

test("sphere: with the one-fifth rule the logarithm of the distance falls linearly, by about 0.2/d an evaluation",
  function()
  local count, world = runs_of(40), "sphere:d=10,precision=0"
  local records = campaign(count, world, "one_fifth.lua", {}, 800)
  local rate = mean_of(records, slope(200, 800, 10))
  within(rate, rate_mean, rate_deviation, count, "from 200 to 800")
  equal(rate < best_rate, true, "no faster than can be")
  within(mean_of(records, slope(500, 800, 10)), rate, rate_deviation * 2 ^ 0.5, count, "the second half as fast as all")
end)

test("sphere: with a fixed step, where anything is accepted, or by the fifth root, it does not fall at that rate",
  function()
  local count, world = runs_of(8), "sphere:d=10,precision=0"
  outside(mean_of(campaign(count, world, "ea.lua", {}, 800), slope(200, 800, 10)), rate_mean, rate_deviation, count,
    "fixed step")
  outside(mean_of(campaign(count, world, "one_fifth.lua", { rule = "anything" }, 800), slope(200, 800, 10)), rate_mean,
    rate_deviation, count, "anything")
  outside(mean_of(campaign(count, world, "one_fifth.lua", { factor = 5.0 }, 800), slope(200, 800, 10)), rate_mean,
    rate_deviation, count, "factor 5")
end)

test("nk: with k = 0 hill-climbing always finds the one peak; with k = 8 it seldom finds the highest", function()
  local count = runs_of(30)
  equal(mean_of(campaign(count, "nk:n=20,k=0", "hillclimb", { patience = 10000 }, 1500), solved), 1.0)
  local rate = mean_of(campaign(count, "nk:n=12,k=8", "hillclimb", { patience = 10000 }, 400), solved)
  equal(rate < (sanitized and 1 or 0.5), true, "k = 8: " .. rate)
end)

-- Of 100 programs drawn at random from 625 one is right with probability 1 - (624/625)^100 = 14.8 %; OpenEvolve's
-- example measured 16 of 100.
local random_rate <const> = 1 - (624 / 625) ^ 100

local function share_deviation(share) return math.sqrt(share * (1 - share)) end

test("kmodule: 100 programs drawn at random solve it in 15 % of runs (the example: 16 of 100)", function()
  local count = runs_of(200)
  local records = campaign(count, "kmodule", "ea.lua", { operator = "restart", rule = "better" }, 101)
  within(mean_of(records, solved), random_rate, share_deviation(random_rate), count, "at random")
end)

-- Each of the four levels is left where one of the modules that are wrong there has its right option among the half
-- that the model thinks of. 100 evaluations are as good as no limit: 0.3 % less.
local refined_rate <const> = 15 / 16 * 7 / 8 * 3 / 4 * 1 / 2

test("kmodule: refining the best program solves it in 31 % of runs, in 100 evaluations (the example: 1 of 3)",
  function()
  local count = runs_of(200)
  local records = campaign(count, "kmodule", "hillclimb", { patience = 1000 }, 101)
  within(mean_of(records, solved), refined_rate, share_deviation(refined_rate), count, "refining")
end)

test("kmodule: a model without blind spots, or a walk that accepts anything, is not in 31 % of runs", function()
  local count = runs_of(60)
  local records = campaign(count, "kmodule:ideas=4", "hillclimb", { patience = 1000 }, 101)
  outside(mean_of(records, solved), refined_rate, share_deviation(refined_rate), count, "no blind spots")
  records = campaign(count, "kmodule", "ea.lua", { rule = "anything" }, 101)
  outside(mean_of(records, solved), refined_rate, share_deviation(refined_rate), count, "a walk")
end)

-- The settings of the example's config.yaml.
local example = { selection = "openevolve", exploration_ratio = 0.6, exploitation_ratio = 0.25, islands = 5,
  migration_interval = 3, migration_rate = 0.3, population_size = 25 }

test("kmodule: a population solves it in most runs of 100 evaluations (the example: 3 of 3)", function()
  local count = runs_of(60)
  local playbook = mean_of(campaign(count, "kmodule", "openevolve", {}, 101), solved)
  equal(playbook >= (sanitized and 0.3 or 0.85), true, "playbook: " .. playbook)
  local islands = mean_of(campaign(count, "kmodule", "openevolve", example, 101), solved)
  equal(islands >= (sanitized and 0.3 or 0.75), true, "the example's settings: " .. islands)
end)

-- With success p and no decay, gain g, loss l and crash c, refining the best from 0 rises by p (1 - c) g an evaluation;
-- the variance of one step of an exponential gain is 2 p' g^2 - (p' g)^2 with p' = p (1 - c).
test("proposer: refining the best gains success * (1 - crash) * gain an evaluation, and crashes as often as configured",
  function()
  local count, steps = runs_of(40), 400
  local p = 0.25 * 0.9
  local world = "proposer:success=0.25,decay=1,gain=2,crash=0.1,goal=1e9"
  local records = campaign(count, world, "hillclimb", { patience = 1000 }, steps + 1)
  local best = mean_of(records, function(record) return record.best end)
  within(best, steps * p * 2, math.sqrt(steps * (8 * p - 4 * p * p)), count, "the best")
  local crashes = mean_of(records, function(record)
    return (steps - record.outcomes.kept - (record.outcomes.reverted_worse_metric or 0)) / steps
  end)
  within(crashes, 0.1, share_deviation(0.1) / math.sqrt(steps), count, "crashes")
end)

test("with 8 workers results come back in another order than they were asked for, the same one each time", function()
  local function run(workers, world)
    return assert(trial.run { strategy = { use = "../data/lab/order.lua" }, definition = assert(definition.load(world)),
      seed = 5, evaluations = 1000, workers = workers })
  end
  local sorted = {}
  for number = 1, 30 do sorted[number] = number end
  sorted = "in the order " .. table.concat(sorted, " ")
  local alone, eight = run(1, "onemax:n=100"), run(8, "onemax:n=100,spread=0.5")
  equal(alone.reason:find(sorted, 1, true) ~= nil, true, "one worker: " .. alone.reason)
  equal(eight.reason:find(sorted, 1, true), nil, "eight workers")
  equal(run(8, "onemax:n=100,spread=0.5"), eight)
  equal(eight.seconds < alone.seconds / 4, true, "eight take less time than one")
end)

test("a strategy with noise on the world is told values that are not true, and the record says what was", function()
  for _, record in ipairs(campaign(runs_of(20), "onemax:n=50,noise_sd=3", "hillclimb", { patience = 1000 }, 200)) do
    equal(record.observed ~= record.best, true)
    equal(math.type(record.false_keeps), "integer")
  end
end)

-- The README's example, as a user would take it from there.
test("the README's world of one's own runs, is solved, and is the same for the same seed", function()
  local file = assert(io.open "../../lua/apsis/lab/README.md")
  local text = assert(file:read("a"):match "```lua\n(.-)```")
  file:close()
  local path = os.tmpname()
  local copy = assert(io.open(path .. ".lua", "w"))
  copy:write(text)
  copy:close()
  local ok, first = pcall(campaign, 3, path .. ".lua:n=16,width=2", "ea.lua", {}, 2000)
  local _, again = pcall(campaign, 3, path .. ".lua:n=16,width=2", "ea.lua", {}, 2000)
  os.remove(path)
  os.remove(path .. ".lua")
  equal(ok, true, tostring(first))
  equal(mean_of(first, solved), 1.0)
  equal(again, first)
end)

tap.done()
