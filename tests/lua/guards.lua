-- guards: metrics that an improvement may not spoil: the pure judgement, with noise and without, what the manifest says, and the loop.
local direction = require "apsis.direction"
local fake = require "fake"
local guard = require "apsis.acceptance.guard"
local guards = require "apsis.engine.guards"
local random = require "apsis.random"
local tap = require "tap"

local lower = direction.new { name = "ms", direction = "lower" }
local higher = direction.new { name = "rate", direction = "higher" }
local RUNS = os.getenv "APSIS_SANITIZED" and 60 or 600

local function judge(candidate, best, more)
  local spec = { metric = lower, share = 0.05, candidate = candidate, best = best, confidence = 0.95 }
  for key, value in pairs(more or {}) do spec[key] = value end
  local verdict, seen = guard.judge(spec)
  return verdict, seen, spec
end

tap.test("a limit is a percentage or a number above 0, and nothing else", function()
  tap.equal(guard.limit "5%", { share = 0.05 })
  tap.equal(guard.limit " 2.5 % ", { share = 0.025 })
  tap.equal(guard.limit(3), { amount = 3 })
  for _, wrong in ipairs { 0, -1, math.huge, 0 / 0, "5", "%", ".%", "-5%", "0%", "5%%", "1e3%", true, {} } do
    tap.equal(guard.limit(wrong), nil, tostring(wrong))
  end
end)

tap.test("single values are compared directly, the limit itself being allowed", function()
  tap.equal(judge({ 105 }, { 100 }), "holds")
  tap.equal(judge({ 105.01 }, { 100 }), "spoilt")
  tap.equal(judge({ 90 }, { 100 }), "holds")
  tap.equal(judge({ 95 }, { 100 }, { metric = higher }), "holds")
  tap.equal(judge({ 94.9 }, { 100 }, { metric = higher }), "spoilt")
  tap.equal(judge({ 1.1 }, { 1 }, { share = false, amount = 0.1 }), "holds") -- 1.1 - 1 is more than 0.1 in doubles
  tap.equal(judge({ 1.11 }, { 1 }, { share = false, amount = 0.1 }), "spoilt")
end)

tap.test("a percentage is of the reference's size, below zero too, and of 0 nothing is allowed", function()
  tap.equal(judge({ -95.1 }, { -100 }), "holds")
  tap.equal(judge({ -94.9 }, { -100 }), "spoilt")
  tap.equal(judge({ -105 }, { -100 }, { metric = higher }), "holds")
  tap.equal(judge({ -105.1 }, { -100 }, { metric = higher }), "spoilt")
  tap.equal(judge({ 0 }, { 0 }), "holds")
  local verdict, seen, spec = judge({ 0.1 }, { 0 })
  tap.equal(verdict, "spoilt")
  tap.matches(guard.words(seen, spec, "c0004"), "^0%.1 worse than c0004, at most 5 %% allowed %(of 0: write a number%)$")
end)

tap.test("what is worse by no more than the metric's epsilon holds", function()
  local coarse = direction.new { name = "ms", direction = "lower", epsilon = 8 }
  tap.equal(judge({ 108 }, { 100 }, { metric = coarse }), "holds")
  tap.equal(judge({ 108.1 }, { 100 }, { metric = coarse }), "spoilt")
  tap.equal(judge({ 107 }, { 100 }, { metric = coarse, share = false, amount = 1 }), "holds")
end)

tap.test("arms without a spread are compared directly, however few", function()
  tap.equal(judge({ 104, 104, 104 }, { 100 }), "holds")
  tap.equal(judge({ 106 }, { 100, 100 }), "spoilt")
end)

tap.test("a single value of a noisy metric, or of an arm beside one with a spread, is not enough", function()
  tap.equal(judge({ 105 }, { 100 }, { noisy = true }), "more")
  tap.equal(judge({ 200 }, { 100 }, { noisy = true }), "more")
  tap.equal(judge({ 100 }, { 99, 101, 100 }), "more")
end)

tap.test("with noise the upper bound must be within the limit, and the lower one beyond it", function()
  local best = { 99, 101, 100, 98, 102, 100, 99, 101 }
  local function shifted(by)
    local list = {}
    for index, value in ipairs(best) do list[index] = value + by end
    return list
  end
  tap.equal(judge(shifted(0), best), "holds")
  tap.equal(judge(shifted(3.5), best), "holds")
  tap.equal(judge(shifted(4.5), best), "more")
  tap.equal(judge(shifted(5.5), best), "more")
  tap.equal(judge(shifted(6.5), best), "spoilt")
  local verdict, seen, spec = judge(shifted(12), best)
  tap.equal(verdict, "spoilt")
  tap.matches(guard.words(seen, spec, "c0004"), "^12 %% worse than c0004 %[10%.%d..13%.%d %%%], at most 5 %% allowed$")
end)

tap.test("Welch's interval is the textbook's", function()
  -- means 5 and 2, variances 2.5 and 1 of 5 and 3 measurements: t(0.95, 5 degrees) = 2.0150, se = sqrt(0.5 + 1/3)
  local _, seen = judge({ 3, 4, 5, 6, 7 }, { 1, 2, 3 }, { share = false, amount = 10 })
  local half = 2.0150483727 * math.sqrt(0.5 + 1 / 3)
  tap.equal(math.abs(seen.low - (3 - half)) < 1e-6 and math.abs(seen.high - (3 + half)) < 1e-6, true)
end)

tap.test("a percentage counts that the reference is known no better than the candidate", function()
  local best, own = { 80, 120, 100, 90, 110 }, { 80, 120, 100, 90, 110 }
  local _, narrow = judge(own, best, { share = false, amount = 50 })
  local _, wide = judge(own, best, { share = 0.5 })
  tap.equal(wide.limit, 50)
  tap.equal(wide.high > narrow.high, true)
end)

tap.test("what is not clear at the last look is spoilt, and said so", function()
  local own, best = { 95, 110, 103, 107 }, { 96, 108, 100, 99 }
  tap.equal(judge(own, best), "more")
  local verdict, seen, spec = judge(own, best, { last = true })
  tap.equal(verdict, "spoilt")
  tap.matches(guard.words(seen, spec, "c0004"),
    "^2%.98 %% worse than c0004 %[.*%], not shown to be at most 5 %% worse by 4 %+ 4 measurements$")
end)

tap.test("looks double until there is no more", function()
  tap.equal({ guard.looks(32, 32), guard.looks(14, 32), guard.looks(1, 32), guard.looks(40, 32) }, { 1, 3, 6, 1 })
end)

tap.test("values whose squares are no numbers end in no verdict that lets one pass", function()
  tap.equal((judge({ 1e200, 2e200 }, { 1, 2 }, { last = true })), "spoilt")
  tap.equal((judge({ 1e308, -1e308 }, { 1e308, -1e308 }, { last = true })), "spoilt")
  local verdict, seen, spec = judge({ 1e308, 1e308 }, { 1, 2 })
  tap.equal(verdict, "spoilt")
  tap.matches(guard.words(seen, spec, "c0004"), "^inf %% worse than c0004")
end)

-- An engine as guards see it.
local function engine_of(spec)
  local best = { id = "c0004", metrics = spec.best or { ms = 100 } }
  local baseline = spec.baseline or { id = "c0000", metrics = { ms = 100 } }
  return { metrics = { ms = lower }, history = { best = best, baseline = baseline },
    confirm = spec.confirm and { settings = { confidence = 0.95, max_repeats = spec.confirm } } }
end

local function slot_of(ms) return { number = 5, candidate = { metrics = { ms = ms } } } end

local function arms_of(candidate, best)
  local arms = { candidate = {}, best = {} }
  for index, value in ipairs(candidate) do arms.candidate[index] = { ms = value } end
  for index, value in ipairs(best) do arms.best[index] = { ms = value } end
  return arms
end

local five = { { metric = "ms", max_regression = "5%" } }

tap.test("without acceptance one measurement each decides", function()
  local judged = guards.new(engine_of {}, five)
  tap.equal(judged:judge(slot_of(104), arms_of({ 104 }, { 100 })), true)
  local holds, reason = judged:judge(slot_of(112), arms_of({ 112 }, { 100 }))
  tap.equal({ holds, reason }, { false, "guard ms: 12 % worse than c0004, at most 5 % allowed" })
  tap.equal(judged:judge(slot_of(112), { candidate = {}, best = {} }), false)
end)

tap.test("small regressions do not add up: the baseline as it is recorded is a limit too", function()
  local judged = guards.new(engine_of { best = { ms = 104 } }, five)
  local holds, reason = judged:judge(slot_of(108), arms_of({ 108 }, { 104 }))
  tap.equal(holds, false)
  tap.equal(reason, "guard ms: 8 % worse than the baseline c0000 was, at most 5 % allowed")
  tap.equal(judged:judge(slot_of(105), arms_of({ 105 }, { 104 })), true)
end)

tap.test("with acceptance a single value is measured again, unless the baseline's were all equal", function()
  local judged = guards.new(engine_of { confirm = 32 }, five)
  tap.equal(judged:judge(slot_of(100), arms_of({ 100 }, { 100 })), "more")
  local quiet = engine_of { confirm = 32, baseline = { id = "c0000", metrics = { ms = 100 }, notes = { noise = { ms = 0 } } } }
  tap.equal(guards.new(quiet, five):judge(slot_of(100), arms_of({ 100 }, { 100 })), true)
  quiet.history.baseline.notes.noise.ms = 2
  tap.equal(guards.new(quiet, five):judge(slot_of(100), arms_of({ 100 }, { 100 })), "more")
end)

tap.test("where the best is the baseline it was measured beside the candidate, and what is recorded of it does not count", function()
  local engine = engine_of {}
  engine.history.best = engine.history.baseline
  tap.equal(guards.new(engine, five):judge(slot_of(112), arms_of({ 112 }, { 110 })), true)
end)

tap.test("between two looks nothing is judged, whatever the values say", function()
  local judged = guards.new(engine_of { confirm = 32 }, five)
  local arms = arms_of({ 110, 111 }, { 100, 101 })
  tap.equal(judged:judge(slot_of(100), arms), "more")
  arms.candidate[3], arms.best[3] = { ms = 110.5 }, { ms = 100.5 }
  tap.equal(judged:judge(slot_of(100), arms), "more")
  tap.equal(guards.new(engine_of { confirm = 32 }, five):judge(slot_of(100), arms), false)
  arms.candidate[4], arms.best[4] = { ms = 110.5 }, { ms = 100.5 }
  tap.equal(judged:judge(slot_of(100), arms), false)
end)

tap.test("a candidate that lacks the metric, in one measurement even, is rejected; so is one with nothing to compare with", function()
  local judged = guards.new(engine_of { confirm = 32 }, five)
  local arms = arms_of({ 100, 100, 100 }, { 100, 100, 100 })
  arms.candidate[2] = {}
  local holds, reason = judged:judge(slot_of(100), arms)
  tap.equal({ holds, reason }, { false, "guard ms: missing in 1 of 3 measurements of the candidate" })
  arms.candidate[2] = { ms = 0 / 0 }
  tap.equal(judged:judge(slot_of(100), arms), false)
  holds, reason = guards.new(engine_of {}, five):judge(slot_of(nil), { candidate = {}, best = {} })
  tap.equal({ holds, reason }, { false, "guard ms: the candidate has no such metric" })
  holds, reason = guards.new(engine_of { best = {} }, five):judge(slot_of(3), { candidate = {}, best = {} })
  tap.equal({ holds, reason }, { false, "guard ms: c0004 has no such metric to compare with" })
end)

tap.test("a metric of another stage than the confirmation's is judged by what is recorded", function()
  local judged = guards.new(engine_of { confirm = 32 }, five)
  local arms = { candidate = { {}, {} }, best = { {}, {} } }
  tap.equal(judged:judge(slot_of(104), arms), true)
  tap.equal(judged:judge(slot_of(106), arms), false)
end)

-- Plays a candidate whose metric is worse by `shift` sd to its verdict; how often it was kept, how much was measured at most.
local function play(shift, sd, runs)
  local kept, most = 0, 0
  for run = 1, runs do
    local rng = random.stream(7, "guards", shift, run)
    local judged = guards.new(engine_of { confirm = 32 }, five)
    local function draw(by) return { ms = 100 + by + sd * rng:normal() } end
    local arms = { candidate = {}, best = {} }
    for _ = 1, 12 do arms.candidate[#arms.candidate + 1], arms.best[#arms.best + 1] = draw(shift), draw(0) end
    local holds = judged:judge(slot_of(100), arms)
    while holds == "more" do
      arms.candidate[#arms.candidate + 1], arms.best[#arms.best + 1] = draw(shift), draw(0)
      holds = judged:judge(slot_of(100), arms)
    end
    kept, most = kept + (holds and 1 or 0), math.max(most, #arms.candidate)
  end
  return kept / runs, most
end

tap.test("with noise what is worse by the limit itself passes in at most one of 20, however often is looked, and what costs nothing does",
  function()
  local kept, most = play(5, 5, RUNS)
  tap.equal({ kept <= 0.05 + 2.3 * math.sqrt(0.05 * 0.95 / RUNS), most <= 32 }, { true, true }, ("%g, %d"):format(kept, most))
  local harmless = play(0, 5, RUNS)
  tap.equal(harmless > 0.9, true, tostring(harmless))
end)

tap.test("it does not go on for ever: the last look rejects and names the remedy", function()
  local judged = guards.new(engine_of { confirm = 8 }, five)
  local arms = arms_of({ 60, 150, 100, 90 }, { 100, 80, 120, 95 })
  tap.equal(judged:judge(slot_of(100), arms), "more")
  for _ = 1, 4 do
    arms.candidate[#arms.candidate + 1], arms.best[#arms.best + 1] = { ms = 60 + 80 * (#arms.best % 2) }, { ms = 100 }
  end
  local holds, reason = judged:judge(slot_of(100), arms)
  tap.equal(holds, false)
  tap.matches(reason, "^guard ms: .* not shown to be at most 5 %% worse by 8 %+ 8 measurements; allow more")
end)

-- In the loop: every step of x is better, and costs what `cost` says.
local function run(cost, more)
  local spec = { metrics = { ms = { direction = "lower" } }, budget = { iterations = 4 },
    world = { measure = function(x) return { value = x, metrics = { ms = cost(x) } } end } }
  for key, value in pairs(more or {}) do spec[key] = value end
  local engine = fake.engine("return {}", spec)
  engine.guards = guards.new(engine, five)
  assert(engine:run { run_number = 1 })
  local outcomes, reasons = {}, {}
  for index = 2, engine.history.count do
    local line = engine.journal:read(index)
    outcomes[#outcomes + 1], reasons[#reasons + 1] = line.outcome, line.rollback_reason or false
  end
  return outcomes, reasons
end

tap.test("in the loop an improvement that spoils a guard is reverted for it, and one that does not is kept", function()
  local outcomes = run(function(x) return 100 + x end)
  tap.equal(outcomes, { "kept", "kept", "kept", "kept" })
  local reasons
  outcomes, reasons = run(function(x) return 100 + 12 * x end)
  tap.equal(outcomes[1], "reverted_threshold_failure")
  tap.equal(reasons[1], "guard ms: 12 % worse than c0000, at most 5 % allowed")
  outcomes = run(function(x) return 100 + 3 * x end)
  tap.equal({ outcomes[1], outcomes[2] }, { "kept", "reverted_threshold_failure" })
end)

tap.test("what a guard rejected is not what the next candidate is compared with, though it was shown to be better", function()
  local rng = random.stream(3, "guards in the loop")
  local engine = fake.engine("return { halt = function() end }", { metrics = { ms = { direction = "lower" } }, budget = { iterations = 2 },
    acceptance = { preset = "default", final = 0 }, world = {
      answers = function(slot) return { edits = { x = slot.number == 1 and 10 or 6 } } end,
      measure = function(x) return { value = x + rng:normal(), metrics = { ms = (x == 10 and 200 or 100) + rng:normal() } } end } })
  engine.guards = guards.new(engine, five)
  assert(engine:run { run_number = 1 })
  local spoilt, line = engine.journal:read(2), engine.journal:read(3)
  tap.equal({ spoilt.outcome, spoilt.acceptance.verdict }, { "reverted_threshold_failure", "kept" })
  tap.matches(spoilt.rollback_reason, "^guard ms: .* worse than c0000 %[.*%], at most 5 %% allowed")
  tap.equal(spoilt.acceptance.state, engine.journal:read(1).acceptance.state)
  tap.equal(line.outcome, "kept")
end)

tap.done()
