-- cascade: stages with thresholds stop a candidate early, which is recorded and can never be best; and what is decided
-- before anything is evaluated: the same tree as one that was or is being measured.
local direction = require "apsis.direction"
local fake = require "fake"
local tap = require "tap"
local test, equal, matches = tap.test, tap.equal, tap.matches

-- Stage 1 measures x, stage 2 ten times as much.
local function staged(more)
  local made = { stage_list = { 1, 2 }, answers = function(slot) return { edits = { x = slot.number } } end,
    measure = function(x, request)
      return { value = x * (request.stage == 2 and 10 or 1), metrics = { seconds = 0.5 } }
    end }
  for key, value in pairs(more or {}) do made[key] = value end
  return made
end

local from_baseline = "return { plan = function(run) return { parents = { run.baseline } } end }"

test("a threshold is reached by what is equal or better, in the metric's direction", function()
  local higher, lower = direction.new { direction = "higher", epsilon = 0.5 }, direction.new { direction = "lower" }
  equal({ higher:reaches(1, 1), higher:reaches(1.1, 1), higher:reaches(0.9, 1), higher:reaches({ value = 2 }, 1) },
    { true, true, false, true })
  equal({ lower:reaches(1, 1), lower:reaches(0.9, 1), lower:reaches(1.1, 1) }, { true, true, false })
  equal({ higher:reaches(nil, 1), higher:reaches(0 / 0, 1), higher:reaches(math.huge, 1), higher:reaches({}, 1) },
    { false, false, false, false })
end)

test("a candidate below its stage's threshold is stopped, and recorded with what the stage measured", function()
  local lines, _, engine = fake.run(from_baseline, { budget = { iterations = 3 }, world = staged(), thresholds = { [1] = 2 } })
  equal(fake.column(lines, "outcome"), { "baseline", "reverted_stage_failure", "kept", "kept" })
  local stopped = lines[2]
  equal(stopped.rollback_reason, "stage 1: 1 does not reach its threshold 2 (higher is better)")
  equal({ stopped.stage, stopped.primary_metric, stopped.delta, stopped.improved, stopped.samples, stopped.measurements },
    { 1, nil, nil, false, nil, 1 })
  equal(stopped.secondary_metrics, { score = 1, seconds = 0.5 })
  equal(engine.history:get("c0001").metrics.score, 1)
  equal(engine.history:get("c0001").value, nil)
  equal(fake.column(lines, "primary_metric"), { 0, "-", 20, 30 })
end)

test("where lower is better a threshold is an upper one", function()
  local lines = fake.run(from_baseline, { budget = { iterations = 3 }, metric = { name = "score", direction = "lower" },
    world = staged { answers = function(slot) return { edits = { x = slot.number - 3.5 } } end }, thresholds = { [1] = -1.5 } })
  equal(fake.column(lines, "outcome"), { "baseline", "kept", "reverted_worse_metric", "reverted_stage_failure" })
  equal(lines[4].rollback_reason, "stage 1: -0.5 does not reach its threshold -1.5 (lower is better)")
end)

test("one that was stopped is never best, however good its stage was", function()
  local world = staged { measure = function(_, request) return { value = request.stage == 1 and 1000 or 1 } end }
  local lines, _, engine = fake.run("return { stage = function(run, c, stage) assert(c.value == 1000) return false, 'enough' end }",
    { budget = { iterations = 1 }, world = world })
  equal({ lines[2].outcome, lines[2].primary_metric, lines[2].secondary_metrics.score }, { "reverted_stage_failure", nil, 1000 })
  equal(engine.history.best.id, "c0000")
  equal(fake.engine("return {}", { texts = engine.journal.texts, world = world }).history.best.id, "c0000")
end)

test("a strategy is asked what it notes of one that its own stage hook, a threshold or a failure stopped", function()
  local source = [[return { plan = function(run) return { parents = { run.baseline } } end,
    stage = function(run, candidate, stage) if run.experiment == 1 then return false, "enough" end end,
    stopped = function(run, candidate) return { learned = "at " .. candidate.stopped.stage } end }]]
  local lines = fake.run(source, { budget = { iterations = 3 }, thresholds = { [1] = 2.5 }, world = staged {
    measure = function(x, request)
      if x == 3 and request.stage == 2 then return { status = "crash", reason = "it fell" } end
      return { value = x }
    end } })
  equal(fake.column(lines, "outcome"), { "baseline", "reverted_stage_failure", "reverted_stage_failure", "skipped_verification_crash" })
  equal(fake.column(lines, "learned"), { "-", "at 1", "at 1", "at 1" })
  equal(lines[3].rollback_reason, "stage 1: 2 does not reach its threshold 2.5 (higher is better)")
end)

test("one whose evaluator rejects it is discarded with that reason, and no value of an earlier stage counts", function()
  local lines = fake.run(from_baseline, { budget = { iterations = 2 }, world = staged { measure = function(x, request)
    if request.stage == 2 and x == 2 then return { missing = "tests failed", rejected = true } end
    return { value = x }
  end } })
  equal(fake.column(lines, "outcome"), { "baseline", "kept", "reverted_stage_failure" })
  equal({ lines[3].status, lines[3].rollback_reason, lines[3].primary_metric, lines[3].secondary_metrics.score },
    { "discard", "tests failed", nil, 2 })
end)

test("one that was stopped, or that failed after a stage, keeps that stage and its value there; a baseline too", function()
  local world = staged { measure = function(x, request)
    if x == 3 and request.stage == 2 then return { status = "timeout", reason = "over its limit" } end
    if x == 4 then return { status = "crash", reason = "it broke" } end
    return { value = x * (request.stage == 2 and 10 or 1) }
  end }
  local lines, _, engine = fake.run(from_baseline, { budget = { iterations = 4 }, world = world, thresholds = { [1] = 2 } })
  equal(fake.column(lines, "outcome"), { "baseline", "reverted_stage_failure", "kept", "skipped_verification_crash",
    "skipped_verification_crash" })
  equal(fake.column(lines, "stopped"), { { stage = 1, value = 0 }, { stage = 1, value = 1 }, "-", { stage = 1, value = 3 }, "-" })
  equal({ engine.history:get("c0003").stopped, engine.history:get("c0003").value }, { { stage = 1, value = 3 } })
  equal(fake.engine("return {}", { texts = engine.journal.texts, world = world }).history:get("c0001").stopped,
    { stage = 1, value = 1 })
end)

test("the hook stopped is asked instead of accept, and what it notes is journalled", function()
  local source = [[return {
    plan = function(run) return { parents = { run.baseline } } end,
    stopped = function(run, candidate)
      return { notes = { at = candidate.stopped.value, value = candidate.value or "none" }, learned = "too low" } end,
    accept = function(run, candidate) return run.metric:better(candidate, run.best) end }]]
  local lines = fake.run(source, { budget = { iterations = 2 }, world = staged(), thresholds = { [1] = 2 } })
  equal({ lines[2].outcome, lines[2].notes, lines[2].learned }, { "reverted_stage_failure", { at = 1, value = "none" }, "too low" })
  equal({ lines[3].outcome, lines[3].notes }, { "kept" })
end)

test("candidates stand by how far they got, then by what was measured there, in the metric's direction", function()
  for toward, sign in pairs { higher = 1, lower = -1 } do
    local metric = direction.new { direction = toward }
    local order = { { value = sign * -1e300 }, { value = 9, stopped = { stage = 2, value = sign * 0.1 } },
      { stopped = { stage = 1, value = sign * 1e308 } }, { stopped = { stage = 1, value = sign * 0.45 } },
      { value = sign * 0.364, stopped = { stage = 1, value = sign * 0.364 } } }
    for index = 2, #order do
      local first, second = metric:standing(order[index - 1])
      local below, next_to = metric:standing(order[index])
      equal(first > below or first == below and second > next_to, true, toward .. " " .. index)
    end
    equal(metric:standing { metrics = {} }, nil)
  end
end)

test("a measurement that is complete at its first stage counts, is decided like any other, and says why it went no further", function()
  local world = staged { measure = function(_, request, slot)
    if request.stage == 1 and not slot.baseline then return { value = -1, complete = true, reason = "the first of ten" } end
    return { value = 1 }
  end }
  for source, expected in pairs {
    [from_baseline] = { "reverted_worse_metric", "the first of ten" },
    ["return { accept = function() return true end }"] = { "kept" },
  } do
    local lines = fake.run(source, { budget = { iterations = 1 }, world = world })
    equal({ lines[2].outcome, lines[2].rollback_reason, lines[2].primary_metric, lines[2].stage }, { expected[1], expected[2], -1, 1 })
  end
end)

test("of a group the sibling that was stopped has no value", function()
  local source = [[return {
    plan = function(run)
      if run.free < 2 then return nil end
      return { { parents = { run.baseline } }, { parents = { run.baseline } } } end,
    accept = function(run, candidate)
      local best = run.metric:best_of(candidate.siblings)
      return best.id == candidate.id, "best is " .. best.id end }]]
  local world = staged { measure = function(x, request) return { value = request.stage == 1 and (x == 1 and -5 or 7) or x } end }
  local lines = fake.run(source, { workers = 2, budget = { iterations = 2 }, world = world, thresholds = { [1] = 0 } })
  equal(fake.column(lines, "outcome"), { "baseline", "reverted_stage_failure", "kept" })
end)

test("a stage without the metric does not reach its threshold", function()
  local world = staged { measure = function(x, request)
    if request.stage == 1 and x > 0 then return { missing = "no METRIC score=NUMBER in the output" } end
    return { value = x }
  end }
  local lines = fake.run(from_baseline, { budget = { iterations = 1 }, world = world, thresholds = { [1] = -9 } })
  equal(lines[2].outcome, "reverted_stage_failure")
  equal(lines[2].rollback_reason, "stage 1: no METRIC score=NUMBER in the output, so that its threshold -9 is not reached")
end)

test("the stage hook is asked only where the threshold is reached, and not overruled by it", function()
  local source = [[return {
    plan = function(run) return { parents = { run.baseline } } end,
    stage = function(run, candidate, stage)
      assert(candidate.value >= 2, "asked all the same")
      return candidate.value ~= 2, "two is odd" end }]]
  local lines = fake.run(source, { budget = { iterations = 3 }, world = staged(), thresholds = { [1] = 2 } })
  equal(fake.column(lines, "outcome"), { "baseline", "reverted_stage_failure", "reverted_stage_failure", "kept" })
  equal(lines[3].rollback_reason, "two is odd")
end)

test("a threshold judges a stage, not the items or the split that a strategy asked for", function()
  local source = [[return { stage = function(run, candidate, stage)
    if #candidate.samples == 1 and candidate.value == 1 then return { stage = 1, items = { "hard" } } end
    return true end }]]
  local world = staged { measure = function(x, request) return { value = request.items and -5 or x } end }
  equal(fake.run(source, { budget = { iterations = 1 }, world = world, thresholds = { [1] = 0 } })[2].outcome ~= "reverted_stage_failure",
    true)
end)

test("the baseline goes on below a threshold, and says so", function()
  local _, _, engine = fake.run(from_baseline, { budget = { iterations = 1 }, world = staged(), thresholds = { [1] = 2 } })
  equal(engine.history.baseline.value, 0)
  matches(engine.world.logged[1], "the baseline itself would be stopped early: stage 1: 0 does not reach its threshold 2")
end)

test("the tree of one that was stopped is known: the same again is skipped", function()
  local world = staged { answers = function() return { edits = { x = 1 } } end }
  local lines, _, engine = fake.run(from_baseline, { budget = { iterations = 2 }, world = world, thresholds = { [1] = 2 } })
  equal(fake.column(lines, "outcome"), { "baseline", "reverted_stage_failure", "skipped_duplicate" })
  equal(lines[3].rollback_reason, "the same tree as c0001")
  equal(fake.engine("return {}", { texts = engine.journal.texts }).history:twin(lines[2].tree), "c0001")
end)

test("a tree that another worker is measuring is not measured twice", function()
  local verified = 0
  local world = { answers = function() return { edits = { x = 1 } } end, delay = function(slot) return slot.number > 0 and 0.02 or nil end,
    measure = function(x)
      verified = verified + 1
      return { value = x }
    end }
  local lines = fake.run(from_baseline, { workers = 2, budget = { iterations = 2 }, world = world })
  equal(verified, 2) -- the baseline and one of the two
  equal(fake.column(lines, "outcome"), { "baseline", "skipped_duplicate", "kept" })
  equal({ lines[2].experiment, lines[2].rollback_reason, lines[2].primary_metric },
    { 2, "the same tree as c0001, which was being measured", nil })
end)

test("of a group with one tree twice the first is measured", function()
  local source = [[return { plan = function(run)
    if run.free < 2 then return nil end
    return { { parents = { run.baseline } }, { parents = { run.baseline } } } end }]]
  local world = { answers = function() return { edits = { x = 1 } } end }
  local lines = fake.run(source, { workers = 2, budget = { iterations = 2 }, world = world })
  equal(fake.column(lines, "outcome"), { "baseline", "kept", "skipped_duplicate" })
end)

tap.done()
