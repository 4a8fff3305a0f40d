-- guards: metrics that an improvement may not spoil: the pure judgement, with noise and without, what the manifest says, and the loop.
local direction = require "apsis.direction"
local fake = require "fake"
local guard = require "apsis.noise.guard"
local guards = require "apsis.noise.guards"
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

tap.test("equal values of a metric that is known to vary are not enough, until there is no more to measure", function()
  tap.equal(judge({ 100, 100, 100, 100 }, { 100, 100, 100, 100 }, { noisy = true, varies = true }), "more")
  tap.equal(judge({ 106, 106, 106, 106 }, { 100, 100, 100, 100 }, { noisy = true, varies = true }), "more")
  tap.equal(judge({ 100, 100 }, { 100, 100 }, { noisy = true, varies = true, last = true }), "holds")
  tap.equal(judge({ 106, 106 }, { 100, 100 }, { noisy = true, varies = true, last = true }), "spoilt")
end)

tap.test("the error of rejecting may be another than that of keeping, and the hopeless is rejected before the last look", function()
  local best, own = { 99, 101, 100, 98, 102, 100, 99, 101 }, { 105.5, 107.5, 106.5, 104.5, 108.5, 106.5, 105.5, 107.5 }
  tap.equal(judge(own, best, { confidence = 0.999999 }), "more")
  tap.equal(judge(own, best, { confidence = 0.999999, rejects = 0.05 }), "spoilt")
  local near = { 104.5, 106.5, 105.5, 103.5, 107.5, 105.5, 104.5, 106.5 }
  tap.equal(judge(near, best, { most = 1000 }), "more")
  local verdict, seen, spec = judge(near, best, { most = 10 })
  tap.equal({ verdict, seen.clear }, { "spoilt", false })
  tap.matches(guard.words(seen, spec, "c0004"), "not shown to be at most 5 %% worse by 8 %+ 8 measurements$")
end)

tap.test("all that comparisons with the original may err by, over any number of rejected ones and guards, is what a run may", function()
  local sum = 0.0
  for rejected = 0, 9999 do sum = sum + 3 * guard.error(0.95, rejected, 3) end
  tap.equal(sum <= 0.05 and sum > 0.0499, true, tostring(sum))
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
  if spec.first then best = baseline end
  return { metrics = { ms = lower, kb = lower }, history = { best = best, baseline = baseline },
    world = { stages = function() return { 1, 2, 3 } end },
    judge = spec.confirm and { settings = { confidence = 0.95, max_repeats = spec.confirm } } }
end

local function slot_of(ms) return { number = 5, stage = 2, candidate = { metrics = { ms = ms } } } end

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

-- Feeds what is asked for, the candidate and the original in turn from these values, until there is a verdict. It, why, how many pairs
-- were asked for, and the slot.
local function feed(judged, arms, own, original)
  local slot = slot_of(100)
  local holds, reason, beside = judged:judge(slot, arms)
  local count = 0
  while holds == "more" do
    count = count + 1
    table.insert(beside.arms.candidate, own and { ms = own[(count - 1) % #own + 1] } or {})
    table.insert(beside.arms.best, original and { ms = original[(count - 1) % #original + 1] } or {})
    holds, reason, beside = judged:judge(slot, arms)
  end
  return holds, reason, count, slot
end

local function around(center) return { center - 1, center + 1, center, center - 0.5, center + 0.5 } end

tap.test("where the best is another than the original, that one is measured anew beside the candidate", function()
  local judged = guards.new(engine_of { confirm = 32 }, five)
  local arms = arms_of(around(104), around(104))
  local holds, reason, beside = judged:judge(slot_of(104), arms)
  local count
  tap.equal({ holds, reason }, { "more", "guard ms: not compared with the original c0000 yet" })
  tap.equal({ beside.record.id, #beside.arms.candidate, #beside.arms.best, beside.stages }, { "c0000", 0, 0 })
  judged = guards.new(engine_of { confirm = 32 }, five)
  holds, reason, count = feed(judged, arms, around(112), around(100))
  tap.equal({ holds, count }, { false, 4 })
  tap.matches(reason, "^guard ms: 12 %% worse than the original c0000 %[.*%], at most 5 %% allowed$")
  holds, reason, count = feed(judged, arms, around(101), around(100))
  tap.equal({ holds, reason, count <= 8 }, { true, nil, true })
  holds = feed(judged, arms, around(112), around(110)) -- the machine has become slower since the baseline
  tap.equal(holds, true)
end)

tap.test("a comparison with the original that rejects has its part of the error, and the line and a fold know it", function()
  local judged = guards.new(engine_of { confirm = 32 }, five)
  local arms = arms_of(around(104), around(104))
  local slot = select(4, feed(judged, arms, around(112), around(100)))
  tap.equal({ judged.rejected, slot.acceptance.guards }, { 1, 1 })
  slot = select(4, feed(judged, arms, around(100), around(100)))
  tap.equal({ judged.rejected, slot.acceptance }, { 1 })
  local again = guards.new(engine_of { confirm = 32 }, five)
  again:learn { acceptance = { guards = 40 } }
  again:learn { acceptance = { state = {} } }
  again:learn {}
  tap.equal(again.rejected, 40)
  local _, _, few = feed(judged, arms, around(102.5), around(100))
  local _, _, many = feed(again, arms, around(102.5), around(100))
  tap.equal(few < many, true, ("%d, %d"):format(few, many))
end)

tap.test("so has one where the best is the original; what another best alone rejects has none", function()
  local judged = guards.new(engine_of { confirm = 32, first = true }, five)
  tap.equal({ (feed(judged, arms_of(around(112), around(100)))) }, { false })
  tap.equal(judged.rejected, 1)
  local other = guards.new(engine_of { confirm = 32 }, five)
  tap.equal({ (feed(other, arms_of(around(112), around(100)))) }, { false })
  tap.equal(other.rejected, 0)
  local same = engine_of { confirm = 32 } -- the baseline measured again has another number and the same tree
  same.history.best.tree, same.history.baseline.tree = "t", "t"
  tap.equal({ guards.new(same, five):judge(slot_of(100), arms_of(around(100), around(100))) }, { true })
end)

tap.test("what cannot be measured for it is not kept, with the reason, and has had its look", function()
  local judged, slot = guards.new(engine_of { confirm = 32 }, five), slot_of(100)
  local arms = arms_of(around(100), around(100))
  judged:judge(slot, arms)
  tap.equal(judged:give_up(slot, "budget: too small"), "guard ms: not compared with the original c0000 yet; budget: too small")
  tap.equal({ judged.rejected, slot.acceptance }, { 0 }) -- nothing of it was measured
  local _, _, beside = judged:judge(slot, arms)
  beside.arms.candidate[1], beside.arms.best[1] = { ms = 100 }, { ms = 100 }
  judged:judge(slot, arms)
  judged:give_up(slot, "budget: too small")
  tap.equal({ judged.rejected, slot.acceptance }, { 1, { guards = 1 } })
end)

tap.test("missing beside the original: of the candidate, or of the original in all of them", function()
  local judged = guards.new(engine_of { confirm = 32 }, five)
  local arms = arms_of(around(100), around(100))
  local holds, reason = feed(judged, arms, nil, around(100))
  tap.equal({ holds, reason }, { false, "guard ms: missing in 4 of 4 measurements of the candidate" })
  holds, reason = feed(judged, arms, around(100), nil)
  tap.equal({ holds, reason }, { false, "guard ms: c0000, measured again, has no such metric" })
end)

tap.test("several guards have their own part, and one without noise does not wait for the other", function()
  local two = { { metric = "kb", max_regression = "5%" }, { metric = "ms", max_regression = "5%" } }
  local baseline = { id = "c0000", metrics = { ms = 100, kb = 10 }, notes = { noise = { ms = 1, kb = 0 } } }
  local judged = guards.new(engine_of { confirm = 32, baseline = baseline, best = { ms = 100, kb = 10.4 } }, two)
  local arms = arms_of(around(100), around(100))
  for index = 1, 5 do arms.candidate[index].kb, arms.best[index].kb = 10.8, 10.4 end
  local holds, reason = judged:judge(slot_of(100), arms)
  tap.equal({ holds, reason }, { false, "guard kb: 8 % worse than the baseline c0000 was, at most 5 % allowed" })
  for index = 1, 5 do arms.candidate[index].kb = 10.45 end
  holds, reason = judged:judge(slot_of(100), arms)
  tap.equal({ holds, reason }, { "more", "guard ms: not compared with the original c0000 yet" })
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

tap.test("a metric of another stage than the confirmation's: the best's is what is recorded, the original is measured at all stages",
  function()
  local judged = guards.new(engine_of { confirm = 32 }, five)
  local arms = { candidate = { {}, {} }, best = { {}, {} } }
  local holds, _, beside = judged:judge(slot_of(104), arms)
  tap.equal({ holds, beside.stages, beside.record.id }, { "more", { 1, 2 }, "c0000" })
  tap.equal(guards.new(engine_of { confirm = 32 }, five):judge(slot_of(106), arms), false)
  local first = guards.new(engine_of { confirm = 32, first = true }, five)
  tap.equal(first:judge(slot_of(104), arms), "more")
  local quiet = { id = "c0000", metrics = { ms = 100 }, notes = { noise = { ms = 0 } } }
  tap.equal(guards.new(engine_of { confirm = 32, baseline = quiet }, five):judge(slot_of(104), arms), true)
end)

-- Plays a candidate whose metric is worse by `shift` sd to its verdict; how often it was kept, how much was measured at most.
local function play(shift, sd, runs)
  local kept, most = 0, 0
  for run = 1, runs do
    local rng = random.stream(7, "guards", shift, run)
    local judged = guards.new(engine_of { confirm = 32, first = true }, five)
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

-- A run of 60 candidates, each worse than the best by `step` and confirmed 12 times: how far it got, how many were kept, how many
-- measurements they took beyond.
local function climb(step, run, sd)
  local rng = random.stream(11, "guards in a run", step, run)
  local engine = engine_of { confirm = 32, first = true,
    baseline = { id = "c0000", metrics = { ms = 100 }, notes = { noise = { ms = sd } } } }
  local judged, truth, kept, measured = guards.new(engine, five), 100, 0, 0
  for number = 1, 60 do
    local own = truth + step
    local function draw(at) return { ms = at + sd * rng:normal() } end
    local slot, arms = { number = number, stage = 1, candidate = { metrics = draw(own) } }, { candidate = {}, best = {} }
    for _ = 1, 12 do arms.candidate[#arms.candidate + 1], arms.best[#arms.best + 1] = draw(own), draw(truth) end
    local holds, _, beside = judged:judge(slot, arms)
    while holds == "more" do
      measured = measured + 2
      table.insert(beside.arms.candidate, draw(own))
      table.insert(beside.arms.best, draw(beside.record.id == "c0000" and 100 or truth))
      holds, _, beside = judged:judge(slot, arms)
    end
    if holds then
      truth, kept = own, kept + 1
      engine.history.best = { id = ("c%04d"):format(number), metrics = { ms = own } }
    end
  end
  return truth, kept, measured
end

tap.test("small regressions do not add up: at most one run in 20 ends beyond the limit, whatever its candidates are worse by", function()
  for _, step in ipairs { 1, 2.6, 5.1 } do
    local runs, beyond, most = RUNS // 6, 0, 0
    for run = 1, runs do
      local truth, kept = climb(step, run, 2)
      if truth > 105 then beyond = beyond + 1 end
      most = math.max(most, kept)
    end
    tap.equal(beyond <= runs * 0.05 + 2.3 * math.sqrt(runs * 0.05 * 0.95), true, ("%d of %d at %g"):format(beyond, runs, step))
    tap.equal(most > 0 or step > 5, true, ("none kept at %g"):format(step)) -- what is within the limit is
  end
end)

tap.test("candidates whose guard does not change are kept, for a dozen measurements more", function()
  local runs, kept, measured = RUNS // 60, 0, 0
  for run = 1, runs do
    local _, count, more = climb(0, run, 2)
    kept, measured = kept + count, measured + more
  end
  local share, cost = kept / runs / 60, measured / runs / 60
  tap.equal({ share > 0.95, cost < 16 }, { true, true }, ("%g, %g"):format(share, cost))
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
  local spec = { metrics = { ms = { direction = "lower" } }, guards = five, budget = { iterations = 4 },
    world = { measure = function(x) return { value = x, metrics = { ms = cost(x) } } end } }
  for key, value in pairs(more or {}) do spec[key] = value end
  local engine = fake.engine("return {}", spec)
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
    guards = five, acceptance = { preset = "default", final = 0 }, world = {
      answers = function(slot) return { edits = { x = slot.number == 1 and 10 or 6 } } end,
      measure = function(x) return { value = x + rng:normal(), metrics = { ms = (x == 10 and 200 or 100) + rng:normal() } } end } })
  assert(engine:run { run_number = 1 })
  local spoilt, line = engine.journal:read(2), engine.journal:read(3)
  tap.equal({ spoilt.outcome, spoilt.acceptance.verdict }, { "reverted_threshold_failure", "kept" })
  tap.matches(spoilt.rollback_reason, "^guard ms: .* worse than c0000 %[.*%], at most 5 %% allowed")
  tap.equal(spoilt.acceptance.state, engine.journal:read(1).acceptance.state)
  tap.equal(line.outcome, "kept")
end)

-- An engine whose candidates are each better by 10 and cost cost[x / 10] ms, with noise in both.
local function noisy(cost, more)
  local rng = random.stream(5, "the original anew")
  local spec = { metrics = { ms = { direction = "lower" } }, budget = { iterations = 2 }, acceptance = { preset = "default", final = 0 },
    guards = five, world = { answers = function() return { edits = { x = 10 } } end,
      measure = function(x, request)
        local ms = (cost[x // 10] or 100) + rng:normal()
        return { value = x + rng:normal(), metrics = (not (more and more.at) or request.stage == more.at) and { ms = ms } or {} }
      end } }
  for key, value in pairs(more or {}) do spec[key] = value end
  if more and more.at then spec.world.stages = function() return { 1, 2 } end end
  return fake.engine("return { halt = function() end }", spec)
end

local function count(line, id)
  local found = 0
  for _, entry in ipairs(line.trace) do found = found + (entry.id == id and 1 or 0) end
  return found
end

tap.test("in the loop the original is measured anew before the second keep: in the trace, in the count, and known to a fold", function()
  local engine = noisy { 103, 106 }
  assert(engine:run { run_number = 1 })
  local first, second = engine.journal:read(2), engine.journal:read(3)
  tap.equal({ first.outcome, second.outcome }, { "kept", "reverted_threshold_failure" })
  tap.matches(second.rollback_reason, "^guard ms: .* worse than the original c0000 %[")
  tap.equal({ count(second, "c0000") >= 4, second.measurements }, { true, #second.trace + 1 })
  tap.equal({ second.acceptance.guards, engine.history.best.id }, { 1, "c0001" })
  local again = noisy({}, { texts = engine.journal.texts })
  tap.equal(again.judge.guards.rejected, 1)
  local kept = noisy { 101, 102 }
  assert(kept:run { run_number = 1 })
  local line = kept.journal:read(3)
  tap.equal({ line.outcome, count(line, "c0000") > 0 }, { "kept", true })
  tap.matches(line.notes.guards, "^guard ms: [%d.]+ %% worse than the original c0000 %[.*%], at most 5 %% allowed$")
  tap.equal(math.abs(line.secondary_metrics.ms - 102) < 0.8, true, tostring(line.secondary_metrics.ms)) -- of all its measurements
  tap.equal(math.abs(second.secondary_metrics.ms - 106) < 0.8, true, tostring(second.secondary_metrics.ms))
end)

tap.test("a budget that does not cover the original rejects, and says so", function()
  local free = noisy { 101, 102 }
  assert(free:run { run_number = 1 })
  local first, second = free.journal:read(2), free.journal:read(3)
  local before = first.measurements + second.measurements - 2 * count(second, "c0000")
  for more = 0, 2 do -- none of its pairs, a half, one
    local engine = noisy({ 101, 102 }, { budget = { iterations = 2, measurements = before + more } })
    assert(engine:run { run_number = 1 })
    local line = engine.journal:read(3)
    tap.equal(line.outcome, "reverted_threshold_failure")
    tap.matches(line.rollback_reason,
      "^guard ms: not compared with the original c0000 yet; budget: 2 measurements are asked for, [01] are left$")
    tap.equal({ line.measurements, count(line, "c0000"), (line.acceptance.guards or 0) },
      { second.measurements - 2 * count(second, "c0000") + 2 * (more // 2), more // 2, more // 2 })
  end
end)

tap.test("a guard's metric of an earlier stage: all stages are measured, and what the earlier ones gave is no sample", function()
  local engine = noisy({ 101, 102 }, { at = 1 })
  assert(engine:run { run_number = 1 })
  for index = 2, 3 do
    local line, early, late = engine.journal:read(index), 0, 0
    tap.equal({ line.outcome, line.measurements }, { "kept", #line.trace + 2 })
    for _, entry in ipairs(line.trace) do
      if entry.stage then
        early = early + 1
        tap.equal({ entry.stage, entry.value }, { 1 })
      elseif entry.id == "c0000" then late = late + 1 end
    end
    tap.equal({ early >= 8, late >= early // 2 }, { true, true })
  end
end)

tap.done()
