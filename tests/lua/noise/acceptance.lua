-- acceptance: candidates under noise: what is measured, what is kept, and that the error of a run is bounded exactly. The simulations
-- have fixed seeds; tests/bench/noise.lua prints all of the table.
package.path = "../bench/?.lua;" .. package.path -- tests run in tests/lua
local acceptance = require "apsis.acceptance"
local confirm = require "apsis.noise.labels"
local direction = require "apsis.direction"
local fake = require "fake"
local json = require "apsis.json"
local noisy = require "noisy"
local random = require "apsis.random"
local in_words = require("apsis.noise.gain").text
local student = require "apsis.stats.student"
local tap = require "tap"
local test, equal, matches, raises = tap.test, tap.equal, tap.matches, tap.raises

local higher, lower = direction.new { direction = "higher" }, direction.new { direction = "lower" }
local default = acceptance.settings()
local sanitized = os.getenv "APSIS_SANITIZED"

local function close(got, expected, tolerance, what)
  if not (math.abs(got - expected) <= tolerance) then
    error(("%s: got %.17g, expected %.17g"):format(what or "value", got, expected), 2)
  end
end

local function between(got, low, high, what)
  if not (got >= low and got <= high) then error(("%s: %g is not from %g to %g"):format(what or "value", got, low, high), 2) end
end

-- A state after a gaussian baseline around `level`, of sd 1.
local function ready(settings, metric, level)
  local rng, values = random.stream(7, "baseline"), {}
  for index = 1, settings.baseline do values[index] = (level or 0) + rng:normal() end
  local state = acceptance.new(settings, metric or higher)
  equal(state:baseline(values), true)
  return state
end

-- A state of which level and spread are known exactly.
local function exact(spent, metric, settings)
  return acceptance.restore(settings or default, metric or higher,
    { ref = 0.0, n = 8, last = 0.0, sum = 100 / 0.88622692545275801, differences = 100, screened = 0, spent = spent or 0 })
end

-- Feeds what `value(arm, index)` gives until there is a verdict. The decision, and the arms in order.
local function run_to_end(decision, value)
  local arms = {}
  while decision.next do
    arms[#arms + 1] = decision.next
    decision:feed(value(decision.next, #arms))
  end
  return decision, arms
end

-- Brings a decision to its confirmation, by a candidate that looks much better and a best that stays where it was.
local function promoted(state, rng)
  local decision = state:judge(rng or random.stream(1, "coin"))
  while not decision.promoted do decision:feed(decision.next == "candidate" and 5.0 or 0.0) end
  return decision
end

test("settings are a preset's but for what is given", function()
  equal(default, { preset = "default", confidence = 0.95, baseline = 20, final = 20, max_repeats = 32, reject = 0.8, memory = 8,
    refresh = 3,
    n_screen = 16, futility = 0.05 })
  local own = acceptance.settings { preset = "sensitive", final = 0, memory = 5 }
  equal({ own.max_repeats, own.reject, own.memory, own.final, own.futility }, { 64, 1.7, 5, 0, 0.03 })
end)

test("settings that are wrong are refused with their key", function()
  local function refused(given, key, pattern)
    local settings, message, which = acceptance.settings(given)
    equal({ settings, which }, { nil, key })
    matches(message, pattern)
  end
  refused({ preset = "bold" }, "preset", 'default or sensitive, not "bold"')
  refused({ max_repeat = 3 }, "max_repeat", 'did you mean "max_repeats"')
  refused({ confidence = 1 }, "confidence", "0.9999 or less, not 1")
  refused({ confidence = 0 / 0 }, "confidence", "0.5 or more")
  refused({ baseline = 4 }, "baseline", "5 or more")
  refused({ baseline = 20.5 }, "baseline", "a whole number, not 20.5")
  refused({ reject = 0 }, "reject", "above 0")
  refused({ futility = "x" }, "futility", "a number, not x")
  refused({ final = false }, "final", "whole number, not false")
end)

test("without a spread one measurement rejects, and a better one counts if both are the same twice more", function()
  local state = acceptance.new(default, direction.new { direction = "lower", epsilon = 0.5 })
  state:baseline { 10, 10, 10, 10, 10 }
  equal({ state.ready, state.spread, state.ref }, { true, 0.0, 10.0 })
  local reference, twice = 10, { "candidate", "candidate", "best", "candidate", "best" }
  for _, case in ipairs { { 9.5, "rejected" }, { 12, "rejected" }, { 10, "rejected" }, { 9.4, "kept" }, { 9.4, "rejected" },
    { -3, "kept" } } do
    local decision, arms = run_to_end(state:judge(random.stream(1)), function(arm) return arm == "best" and reference or case[1] end)
    local kept = case[2] == "kept"
    equal({ decision.verdict, arms, decision.promoted }, { case[2], kept and twice or { "candidate" }, false }, tostring(case[1]))
    if kept then
      reference = case[1]
      equal(decision.candidate_samples, { reference, reference, reference })
    end
  end
  equal({ state.ref, state.spread }, { -3.0, 0.0 })
end)

test("a lucky value of a metric that seldom varies is measured again, and the metric has noise from then on", function()
  for _, odd in ipairs { 1, 2, 3, 4, 5 } do -- the measurement that is lucky: the candidate's first, or one of the checks
    local state = acceptance.new(default, higher)
    state:baseline { 10, 10, 10, 10, 10 }
    local count = 0
    local decision = run_to_end(state:judge(random.stream(1)), function(arm)
      count = count + 1
      if odd == 1 then return count == 1 and 11 or 10 end
      return (count == odd and 1 or 0) + (arm == "candidate" and 10.5 or 10)
    end)
    equal({ state.spread > 0, decision.measured > 5 or decision.verdict == "rejected" }, { true, true }, "measurement " .. odd)
    if odd == 1 then equal(decision.verdict, "rejected") end
    if decision.verdict == "kept" then matches(decision.why, "capital") end
  end
end)

test("lower is better is the mirror of higher is better", function()
  for seed = 1, 20 do
    local stories = {}
    for _, metric in ipairs { higher, lower } do
      local sign, rng, values = metric == higher and 1 or -1, random.stream(seed, "mirror"), {}
      local state = acceptance.new(default, metric)
      for index = 1, 20 do values[index] = sign * rng:normal() end
      state:baseline(values)
      local decision, arms = run_to_end(state:judge(random.stream(seed)), function(arm)
        return sign * (rng:normal() + (arm == "candidate" and 2 or 0))
      end)
      stories[#stories + 1] = { decision.verdict, arms, decision.why, sign * state.ref, state.spread, state:save() }
    end
    equal(stories[1], stories[2])
  end
end)

test("a candidate that is no better on sight costs one measurement, and the best is looked at every third", function()
  local state = exact()
  local _, first = run_to_end(state:judge(random.stream(1)), function() return -1.0 end)
  local _, second = run_to_end(state:judge(random.stream(2)), function() return -1.0 end)
  local third, arms = run_to_end(state:judge(random.stream(3)), function(arm) return arm == "best" and 1.6 or -1.0 end)
  equal({ first, second, arms }, { { "candidate" }, { "candidate" }, { "candidate", "best" } })
  matches(third.why, "^rejected after 1 measurement: no sign of an improvement %(evidence %-2%.%d%d, limit %-0.80%)$")
  close(state.ref, state.spread * 1.6 / state.spread / 8, 0.01, "a ninth measurement counts as one of memory") -- memory 8
end)

test("what the screen measured is thrown away", function()
  local state = exact()
  local decision = promoted(state)
  equal({ decision.confirm.capital, decision.candidate_samples, decision.best_samples, decision.measured },
    { 1.0, {}, {}, 4 })
  for _, level in ipairs(decision.confirm.levels) do equal(level, decision.data.ref) end
  decision = run_to_end(decision, function(arm) return arm == "candidate" and 5.0 or 0.0 end)
  equal(#decision.candidate_samples + #decision.best_samples, decision.measured - 4)
  equal(decision.verdict, "kept")
end)

test("before a candidate goes on the best is measured twice, and what only looked good beside an old level does not", function()
  local state = exact()
  local decision = state:judge(random.stream(1))
  local arms = {}
  for _, value in ipairs { 5.0, 5.0, 4.9, 5.1 } do
    arms[#arms + 1] = decision.next
    decision:feed(value)
  end
  equal(arms, { "candidate", "candidate", "best", "best" })
  equal({ decision.promoted, decision.next }, { true, decision.next })
  state = exact() -- the same where evidence was just enough
  decision = state:judge(random.stream(1))
  for _, value in ipairs { 2.3, 2.25, 3.0, 3.0 } do decision:feed(value) end
  equal({ decision.promoted, decision.next }, { false, "candidate" })
end)

test("the capital is a martingale: its mean over all coins is 1, whatever was measured", function()
  local settings = acceptance.settings { preset = "sensitive" }
  local length = sanitized and 6 or 10
  for seed = 1, 6 do
    local rng, values, sum = random.stream(seed, "any"), {}, 0.0
    for index = 1, length do values[index] = ({ rng:normal(), math.exp(3 * rng:normal()), index, -1e6, 0.0, 2.0 })[seed] end
    for labels = 0, 2 ^ length - 1 do
      local part = confirm.new(settings, exact().data)
      for index, value in ipairs(values) do
        confirm.feed(part, settings, rng, labels >> (index - 1) & 1 == 1 and "candidate" or "best", value, 0)
      end
      sum = sum + part.capital
    end
    close(sum / 2 ^ length, 1, 1e-12, "mean capital of seed " .. seed)
  end
end)

test("the coin is fair, and blind to what was measured", function()
  local rng, heads, count = random.stream(3, "coin"), 0, 40000
  for _ = 1, count do heads = heads + (confirm.draw(rng) == "candidate" and 1 or 0) end
  between(heads / count, 0.49, 0.51, "share of candidates") -- 4 standard errors
  for seed = 1, 30 do
    local noise = random.stream(seed, "noise")
    local _, one = run_to_end(promoted(exact(), random.stream(seed, "c")), function() return noise:normal() end)
    local _, other = run_to_end(promoted(exact(), random.stream(seed, "c")), function() return math.exp(noise:normal()) end)
    for index = 1, math.min(#one, #other) do equal(one[index], other[index]) end
  end
end)

test("kept only where the capital is 1 / level, at once", function()
  for seed = 1, sanitized and 10 or 60 do
    local noise, state = random.stream(seed, "n"), exact()
    local decision = promoted(state, random.stream(seed, "c"))
    local part, most = decision.confirm, 0.0
    while decision.next do
      if most < 1 / part.level and decision.next then equal(decision.verdict, nil) end
      decision:feed(noise:normal() + (decision.next == "candidate" and 1.5 or 0))
      most = math.max(most, part.capital)
    end
    equal(decision.verdict == "kept", most >= 1 / part.level)
    if decision.verdict == "kept" then between(#decision.candidate_samples, 4, default.max_repeats + 3) end
  end
end)

test("a candidate that the coin never chose is measured before it is kept, and its own level taken", function()
  local tails = { random = function() return 0.9 end }
  local decision, arms = run_to_end(promoted(exact(), tails), function(arm) return arm == "best" and -4.0 or 3.0 end)
  equal({ decision.verdict, #decision.candidate_samples, arms[1], arms[#arms] }, { "kept", 4, "best", "candidate" })
  local before = #decision.best_samples
  decision = run_to_end(promoted(exact(), tails), function(arm) return arm == "best" and -4.0 or -9.0 end)
  equal({ decision.verdict, #decision.best_samples }, { "kept", before }) -- it was decided when the capital sufficed
end)

test("the next best's level is that of its confirmation, less what ending in its favour adds, and its noise goes on from there", function()
  local state = exact()
  local decision = promoted(state)
  local size, count = decision.confirm.size, 0
  decision = run_to_end(decision, function(arm)
    count = count + (arm == "candidate" and 1 or 0)
    return arm == "candidate" and 5.0 or 0.25
  end)
  equal({ decision.verdict, #decision.candidate_samples, state.n, state:save().last }, { "kept", count, count, 5.0 })
  close(state.ref, 5 - size / count, 1e-9)
  local lost = run_to_end(promoted(exact()), function(arm) return arm == "candidate" and -2.0 or 0.25 end)
  equal(lost.data.last, 0.25)
end)

test("a screen that comes to nothing either way ends", function()
  local state = exact()
  local undecided = 4 / math.sqrt(default.max_repeats) -- half the improvement that it looks for
  local decision, arms = run_to_end(state:judge(random.stream(1)), function(arm) return arm == "candidate" and undecided or 0.0 end)
  matches(decision.why, "^rejected after 16 measurements, the most for a screen: no clear sign of an improvement %(evidence ")
  equal({ #arms, decision.promoted, state:save().screened }, { 16 + 16 // 3, false, 16 })
end)

test("the levels of all confirmations that keep nothing add up to what a run may spend", function()
  close(confirm.level(default, { spent = 0 }), 0.05 * 6 / math.pi ^ 2, 1e-15)
  close(confirm.level(default, { spent = 1 }), 0.05 * 6 / math.pi ^ 2 / 4, 1e-15)
  close(confirm.level(acceptance.settings { confidence = 0.8 }, { spent = 2 }), 0.2 * 6 / math.pi ^ 2 / 9, 1e-15)
  local sum = 0.0
  for spent = 0, 100000 do sum = sum + confirm.level(default, { spent = spent }) end
  between(sum, 0.04999, 0.05, "all levels")
end)

test("a confirmation that keeps gives its level back; one that does not has spent it; a screen spends nothing", function()
  local state = exact()
  run_to_end(state:judge(random.stream(1)), function() return -3.0 end)
  equal(state:save().spent, 0)
  local kept = run_to_end(promoted(state), function(arm) return arm == "candidate" and 5.0 or 0.0 end)
  equal({ kept.verdict, state:save().spent }, { "kept", 0 })
  state = exact()
  local lost = run_to_end(promoted(state), function(arm) return arm == "candidate" and -2.0 or 2.0 end)
  equal({ lost.verdict, state:save().spent }, { "rejected", 1 })
  matches(lost.why, "^not confirmed by %d+ measurements of it and %d+ of the best: no sign of an improvement "
    .. "%(capital [%d.e-]+, limit 0.05%)$")
  close(promoted(state).confirm.level, 0.05 * 6 / math.pi ^ 2 / 4, 1e-15, "the next level")
end)

test("a confirmation ends when either arm has been measured as often as it may", function()
  local settings = acceptance.settings { max_repeats = 8, futility = 1e-9 }
  local decision = run_to_end(promoted(exact(0, higher, settings)), function() return 0.6 end)
  equal(decision.verdict, "rejected")
  equal(math.max(#decision.candidate_samples, #decision.best_samples), 8)
  matches(decision.why, "no measurements left %(capital [%d.e-]+ of 32.9 needed%)$")
end)

test("a failure rejects, of either arm and wherever it comes, and so does what is not finite", function()
  for _, failure in ipairs { 1, 2, 3, 4 } do
    local value = ({ nil, 0 / 0, math.huge, -math.huge })[failure]
    local decision = exact():judge(random.stream(1))
    decision:feed(value)
    equal(decision.verdict, "rejected")
    matches(decision.why, "measurement 1, of the candidate, gave no finite value")
    decision = promoted(exact())
    local who = decision.next
    decision:feed(value)
    equal({ decision.verdict, decision.next }, { "rejected", nil })
    matches(decision.why, who == "best" and "of the best" or "of the candidate")
  end
  raises("decided already", function()
    local decision = exact():judge(random.stream(1))
    decision:feed(nil)
    decision:feed(1)
  end)
  raises("a number or nil, not a string", function() exact():judge(random.stream(1)):feed "3" end)
end)

test("a decision that is abandoned has changed nothing", function()
  local state = exact()
  local before = state:save()
  local decision = promoted(state)
  for _ = 1, 3 do decision:feed(0.5) end
  equal(decision.verdict, nil)
  equal(state:save(), before)
end)

test("what is saved goes through JSON and decides the same", function()
  local rng = random.stream(1, "json")
  local state = ready(default)
  for turn = 1, 40 do
    local again = acceptance.restore(default, higher, assert(json.decode(json.encode(state:save()))))
    equal({ again.ref, again.spread, again.n, again.ready }, { state.ref, state.spread, state.n, true })
    local values, effect = {}, turn % 4 == 0 and 2 or 0
    local one = run_to_end(state:judge(random.stream(turn)), function(arm, index)
      values[index] = rng:normal() + (arm == "candidate" and effect or 0)
      return values[index]
    end)
    local two = run_to_end(again:judge(random.stream(turn)), function(_, index) return values[index] end)
    equal({ one.verdict, one.why, one.measured }, { two.verdict, two.why, two.measured })
    equal(state:save(), again:save())
  end
  local fields = 0
  for _ in pairs(state:save()) do fields = fields + 1 end
  equal(fields, 7)
  raises("spent is no finite number", acceptance.restore, default, higher, { spent = "3" })
  raises("sum is no finite number", acceptance.restore, default, higher, { sum = 0 / 0 })
  raises("those of acceptance.settings", acceptance.new, {}, higher)
end)

test("a baseline needs five finite measurements", function()
  local state = acceptance.new(default, higher)
  raises("before there is a baseline", state.judge, state, random.stream(1))
  equal(state:baseline { 1, 2, false, 0 / 0, 3, math.huge, 4 }, false)
  equal({ state.ready, state.ref, state.spread }, { false, nil, 0.0 })
  equal(acceptance.restore(default, higher, state:save()).ready, false)
  equal(state:baseline { 1, 2, false, 3, 4, 5 }, true)
  close(state.spread, math.sqrt(math.pi) / 2, 1e-12)
  equal(state.ref, 3.0)
end)

test("a baseline that moved once has a spread", function()
  local state, values = acceptance.new(default, higher), {}
  for index = 1, 20 do values[index] = index == 9 and 1 or 0 end
  state:baseline(values)
  close(state.spread, math.sqrt(math.pi) / 2 * 2 / 19, 1e-12)
  local function first_is_better(arm, index) return arm == "candidate" and index == 1 and 1 or 0 end
  equal(run_to_end(state:judge(random.stream(1)), first_is_better).verdict, "rejected")
end)

test("a baseline's level is not moved by an outlier, nor its spread by a slow trend", function()
  local state, values = acceptance.new(default, higher), {}
  for index = 1, 20 do values[index] = 5 + (index % 2 == 0 and 0.1 or -0.1) end
  values[7] = 1000
  state:baseline(values)
  between(state.ref, 4.9, 5.2, "level") -- the mean would be 54.7
  between(state.spread, 0.15, 0.4, "spread") -- without it: 0.18
  for index = 1, 20 do values[index] = index / 10 + (index % 2 == 0 and 0.5 or -0.5) end
  state:baseline(values)
  between(state.spread, 0.8, 1.0, "spread") -- the standard deviation is 0.78 of which 0.59 is the trend
end)

test("an epsilon is what a candidate must be better by", function()
  local settings, kept = acceptance.settings { preset = "sensitive" }, {}
  for _, epsilon in ipairs { 0, 1.5, 3 } do
    local metric, count = direction.new { direction = "higher", epsilon = epsilon }, 0
    for seed = 1, 20 do
      local rng = random.stream(seed, "eps")
      local decision = run_to_end(exact(0, metric, settings):judge(random.stream(seed)), function(arm)
        return rng:normal() + (arm == "candidate" and 3 or 0)
      end)
      count = count + (decision.verdict == "kept" and 1 or 0)
    end
    kept[#kept + 1] = count
  end
  equal(kept[1], 20)
  between(kept[2], 15, 20)
  equal(kept[3], 0)
end)

test("an epsilon shifts what a candidate is measured at, in the screen and in the bets", function()
  local shifted = direction.new { direction = "higher", epsilon = 1.25 }
  for _, value in ipairs { -1.0, 0.5, 2.0, 9.0 } do
    local one, other = exact():judge(random.stream(1)), exact(0, shifted):judge(random.stream(1))
    one:feed(value)
    other:feed(value + 1.25)
    equal({ one.verdict, one.next, one.screen.evidence }, { other.verdict, other.next, other.screen.evidence })
    for _, arm in ipairs { "candidate", "best" } do
      local part, again = confirm.new(default, exact().data), confirm.new(default, exact().data)
      confirm.feed(part, default, random.stream(1), arm, value, 0)
      confirm.feed(again, default, random.stream(1), arm, value + (arm == "candidate" and 1.25 or 0), 1.25)
      equal(part.capital, again.capital)
    end
  end
end)

test("whatever numbers come, a decision ends in time and what is saved is finite", function()
  local nasty = { 0, -0.0, 5e-324, -5e-324, 1e-300, 1, -1, 1e16, 1e300, -1e300, 1.7e308, -1.7e308, math.maxinteger, math.mininteger }
  for seed = 1, sanitized and 40 or 300 do
    local rng, values = random.stream(seed, "nasty"), {}
    local settings = acceptance.settings { preset = seed % 2 == 0 and "default" or "sensitive", max_repeats = 8 + seed % 9 }
    local state, few = acceptance.new(settings, seed % 3 == 0 and higher or lower), rng:integer(2, #nasty)
    for index = 1, 12 do values[index] = nasty[rng:integer(1, few)] end
    equal(state:baseline(values), true)
    for turn = 1, 5 do
      local decision = run_to_end(state:judge(random.stream(seed, turn)), function(arm)
        return nasty[rng:integer(1, arm == "best" and few or #nasty)]
      end)
      between(decision.measured, 1, 2 * settings.n_screen + 2 + 2 * settings.max_repeats + 4, "measured")
      for key, value in pairs(state:save()) do equal(value - value, 0 * value, key) end
      between(state.spread, 0, math.huge)
    end
  end
end)

-- How many of so many runs of a hundred candidates without an effect keep any, and what a candidate costs.
local function nulls(settings, kind, runs, length)
  local spoilt, measured = 0, 0
  for seed = 1, runs do
    local found = noisy.run(settings, kind, seed, noisy.effects(0, 0, seed), length)
    spoilt = spoilt + (found.kept_null > 0 and 1 or 0)
    measured = measured + found.measured_null / found.null
  end
  return spoilt, measured / runs
end

test("no effect: hardly a run of a hundred candidates keeps one, at less than 4 measurements each", function()
  local runs = sanitized and 12 or 150
  for _, kind in ipairs { "gaussian", "student-t", "lognormal", "rising" } do
    local spoilt, measured = nulls(default, kind, runs, 320)
    between(spoilt, 0, math.max(2, runs // 20), kind .. ": runs with a false keep")
    between(measured, 1.5, sanitized and 6 or 4, kind .. ": measured a candidate")
  end
end)

test("a metric of few values is no exception", function()
  local runs, spoilt = sanitized and 10 or 100, 0
  for seed = 1, runs do
    local rng, state = random.stream(seed, "few"), acceptance.new(default, higher)
    local function draw() return rng:random() < 0.15 and 1 or 0 end -- now and then a test passes by luck
    local values, any = {}, false
    for index = 1, 20 do values[index] = draw() end
    state:baseline(values)
    for turn = 1, state.spread > 0 and 100 or 0 do
      any = any or noisy.decide(state, random.stream(seed, turn), draw, 0, 0).verdict == "kept"
    end
    spoilt = spoilt + (any and 1 or 0)
  end
  between(spoilt, 0, math.max(1, runs // 20), "runs with a false keep")
end)

test("2 standard deviations are kept in 80 of 100 cases at most 24 measurements, and the gain is told truly", function()
  local runs, kept, measured, gained, truth = sanitized and 20 or 120, 0, 0, 0.0, 0.0
  for seed = 1, runs do
    local found = noisy.run(default, "gaussian", seed, noisy.one(2, seed), 320)
    kept, measured = kept + found.kept_real, measured + found.measured_real
    if found.truth > 0 then gained, truth = gained + found.gain.gain, truth + found.truth end
  end
  between(kept / runs, 0.8, 1, "kept")
  between(measured / runs, 5, 24, "measured")
  between(gained / truth, 0.9, 1.1, "reported over true gain") -- a standard error of 0.015; 0.04 with few runs
end)

test("what is worse is not kept, and what is much worse is not measured twice", function()
  local rng, coins, kept, measured = random.stream(5, "worse"), random.stream(5, "coins"), 0, 0
  local state = ready(default)
  for turn = 1, sanitized and 40 or 400 do
    local decision = noisy.decide(state, coins, function() return rng:normal() end, 0, turn % 2 == 0 and -0.5 or -5)
    kept = kept + (decision.verdict == "kept" and 1 or 0)
    if turn % 2 == 1 then measured = math.max(measured, decision.measured) end
  end
  equal(kept, 0)
  between(measured, 1, 2, "measurements of what is much worse")
end)

test("power: the same seed says the same, more is found of what is larger, and nothing of what is nothing", function()
  local spec = { effects = { 0, 1, 3 }, trials = sanitized and 40 or 200, seed = 4 }
  local found = acceptance.power(default, spec)
  equal(found, acceptance.power(default, spec))
  equal(found[1].kept <= 0.05 and found[1].kept < found[2].kept and found[2].kept < found[3].kept, true)
  between(found[1].measurements, 1, 4)
  equal(#acceptance.power(default, { trials = 2 }), 6)
  raises("whole number from 1", acceptance.power, default, { trials = 0 })
end)

-- Student's t, two-sided 95 %, from the tables (Fisher and Yates); Darwin's maize: Fisher, "The Design of Experiments", 1935.
test("a gain has the interval of Student's t", function()
  for freedom, expected in pairs { [1] = 12.7062, [2] = 4.30265, [4] = 2.77645, [9] = 2.26216, [19] = 2.09302, [120] = 1.97993 } do
    close(student.two_sided(0.95, freedom), expected, 1e-5 * expected, "t of " .. freedom)
  end
  close(student.two_sided(0.999, 10), 4.58689, 1e-4)
  local crossed, selfed = {}, {}
  for index, difference in ipairs { 49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48 } do
    crossed[index], selfed[index] = 100 + difference, 100
  end
  local gain = acceptance.gain(crossed, selfed)
  close(gain.gain, 20.9333, 1e-4)
  close(gain.low, 0.03, 0.01)
  close(gain.high, 41.84, 0.01)
  close(gain.relative, 0.209333, 1e-6)
  local worse = acceptance.gain(crossed, selfed, lower, 0.99)
  close(worse.gain, -20.9333, 1e-4)
  close(worse.low, -20.9333 - 2.97684 * 20.9045 / 2.14479, 0.01)
  equal(worse.pairs, 15)
end)

test("a gain leaves out pairs that have no two values, and has no interval of one", function()
  equal(acceptance.gain({ 2, false, 4, math.huge, 9 }, { 1, 1, 3, 1, 0 / 0 }),
    { gain = 1.0, low = 1.0, high = 1.0, pairs = 2, relative = 0.5 })
  equal(acceptance.gain({ 2 }, { 0 }), { gain = 2.0, pairs = 1 })
  equal(acceptance.gain({ -2 }, { -4 }), { gain = 2.0, pairs = 1 }, "no share of what is not positive")
  equal(acceptance.gain({ false }, { 3 }), { pairs = 0 })
  raises("2 values of the best, 1 of the original", acceptance.gain, { 1, 2 }, { 1 })
end)

test("the gain of a run in words has its share, as everywhere", function()
  local found = { gain = 653, low = 653, high = 653, relative = 0.653, pairs = 1, exact = true, candidate = "c0013",
    original = "c0000" }
  equal(in_words(found), "653 (65 %), c0013 against c0000, both the same when measured again")
  found.exact, found.relative = nil, 4.2
  equal(in_words(found):match "%(.-%)", "(420 %)", "no 4.2e+02 %")
end)

test("in the order of a comparison each pair has both, and either comes first as often", function()
  local order, first = acceptance.order(2000, random.stream(1, "order")), 0
  equal(#order, 4000)
  for index = 1, #order, 2 do
    equal(order[index] ~= order[index + 1], true)
    if order[index] == "best" then first = first + 1 end
  end
  between(first, 900, 1100)
  equal(acceptance.order(0, random.stream(1)), {})
end)

local strategy = [[
local acceptance = require "apsis.acceptance"
return {
  init = function(run) acceptance.init(run, { baseline = 12 }) end,
  learn = acceptance.learn,
  accept = acceptance.accept,
}]]

-- A project whose score is x and gaussian noise; every fourth change improves it by `effect`.
local function noisy_world(effect)
  local rng = random.stream(9, "world")
  return { answers = function(slot) return { edits = { x = slot.number % 4 == 0 and effect or slot.number * 1e-9 } } end,
    measure = function(x) return { value = x + rng:normal() } end }
end

test("three lines of a strategy accept under noise, and a fold of the journal knows what was known", function()
  local lines, _, engine = fake.run(strategy, { budget = { iterations = 24 }, world = noisy_world(4) })
  local kept = {}
  for index = 2, #lines do
    local notes = lines[index].notes
    if lines[index].outcome == "kept" then kept[#kept + 1] = index - 1 end
    equal(notes and notes.acceptance and notes.acceptance.n ~= nil, true, "notes of line " .. index)
  end
  equal(kept, { 4, 8, 12, 16, 20, 24 })
  equal(#(lines[2].trace or {}) >= 12, true) -- the baseline had one measurement: the best was measured first
  local again = fake.engine(strategy, { texts = engine.journal.texts, world = noisy_world(4) })
  equal(again.history.best.id, "c0024")
end)

test("the hooks decide as a decision that is fed at once", function()
  local state = ready(default)
  local run = { metric = higher, seed = 5, best = { id = "c0000" }, memory = {} }
  acceptance.init(run)
  acceptance.learn(run, { notes = { acceptance = state:save() } })
  for experiment = 1, 30 do
    local noise, trace = random.stream(experiment, "h"), {}
    local function measure(arm) return noise:normal() + (arm == "candidate" and experiment % 3 or 0) end
    local value = measure "candidate"
    local candidate = { id = "c0009", experiment = experiment, value = value + 100, samples = { value }, trace = trace }
    local verdict, why, extra = acceptance.accept(run, candidate)
    while verdict == "measure" do
      local id = why.ids[1]
      trace[#trace + 1] = { id = id, value = measure(id == "c0009" and "candidate" or "best") }
      verdict, why, extra = acceptance.accept(run, candidate)
    end
    local direct, again = state:judge(random.stream(5, experiment, "acceptance")), random.stream(experiment, "h")
    while direct.next do direct:feed(again:normal() + (direct.next == "candidate" and experiment % 3 or 0)) end
    equal({ verdict, why, #trace + 1 }, { direct.verdict == "kept", direct.why, direct.measured })
    equal(extra.notes.acceptance, state:save())
    acceptance.learn(run, { outcome = "kept", notes = extra.notes })
  end
  raises("init%(run%) comes first", acceptance.accept, { memory = {}, metric = higher }, {})
  raises("preset must be", acceptance.init, { memory = {}, metric = higher }, { preset = "x" })
end)

test("a best that cannot be measured is no ground to keep anything", function()
  local run = { metric = higher, seed = 5, best = { id = "c0000" }, memory = {} }
  acceptance.init(run, { baseline = 5 })
  acceptance.learn(run, { outcome = "baseline", samples = { 1.0 } })
  local candidate = { id = "c0001", experiment = 1, value = 9.0, trace = {} }
  local verdict, request = acceptance.accept(run, candidate)
  equal({ verdict, request }, { "measure", { ids = { "c0000" }, repeats = 5 } })
  for index = 1, 5 do candidate.trace[index] = { id = "c0000" } end
  local keep, why = acceptance.accept(run, candidate)
  equal(keep, false)
  matches(why, "could not be measured often enough")
end)

test("the best's own measurements, made first, are its baseline and nothing else", function()
  local run = { metric = higher, seed = 5, best = { id = "c0000" }, memory = {} }
  acceptance.init(run, { baseline = 6 })
  acceptance.learn(run, { outcome = "baseline", id = "c0000", samples = { 5 }, measurements = 1 })
  local state = acceptance.new(acceptance.settings { baseline = 6 }, higher)
  local candidate, values = { id = "c0001", experiment = 1, value = -9.0, trace = {} }, { 5, 7, 6, 5.5, 6.5, 5.8 }
  for index, value in ipairs(values) do candidate.trace[index] = { id = "c0000", value = value } end
  state:baseline(values)
  local direct = state:judge(random.stream(5, 1, "acceptance"))
  direct:feed(-9.0)
  local keep, why, extra = acceptance.accept(run, candidate)
  equal({ keep, why, extra.notes.acceptance }, { false, direct.why, state:save() })
  candidate.value = 7.9
  local verdict, request = acceptance.accept(run, candidate)
  equal({ verdict, request }, { "measure", { ids = { "c0001" } } })
end)

test("a level that has stepped is found again within a few measurements of the incumbent; a lucky one or two change little", function()
  local metric = direction.new { direction = "higher" }
  for _, step in ipairs { -8, 30 } do
    local state = acceptance.new(acceptance.settings {}, metric)
    local rng = random.stream(7, "step", step)
    local function draw(level) return level + rng:normal() end
    local values = {}
    for index = 1, 20 do values[index] = draw(0) end
    state:baseline(values)
    for candidate = 1, 14 do -- none has an effect; all are measured after the step
      local decision = state:judge(random.stream(candidate, "coin"))
      while decision.next do decision:feed(draw(step)) end
    end
    equal(math.abs(state.ref - step) < 1.5, true, ("level %.2f after a step of %d"):format(state.ref, step))
  end
end)

tap.done()
