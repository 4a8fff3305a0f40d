-- intake: what is handed in to the engine instead of what plan returns, and what a plan for somebody else is put aside for. By a stand-in
-- for the intake; the live one is in the room drive.
local fake = require "fake"
local recordings = require "apsis.core.recording"
local tap = require "tap"
local test, equal, matches = tap.test, tap.equal, tap.matches

-- steps: what `next` gives, in turn; a function is called with the engine. answers: by the id of a request.
local function intake_of(steps, answers)
  local intake = { only = true, refused = {}, offered = {}, pauses = 0 }
  function intake.next(_, engine)
    local step = table.remove(steps, 1)
    if type(step) == "function" then step = step(engine) end
    if step == nil then return false end
    return step or nil
  end
  function intake.answers(_, slot)
    return answers[slot.proposal.handed or "c" .. slot.number]
  end
  function intake.offer(_, _, slot) table.insert(intake.offered, slot.number) end
  function intake.refuse(_, reason) table.insert(intake.refused, reason) end
  function intake.pause() intake.pauses = intake.pauses + 1 end
  return intake
end

local function handed(id, parents) return { id = id, proposal = { parents = parents or { "c0000" }, operator = "submitted" } } end

-- Runs an engine of this strategy with an intake. The engine, and how the run ended.
local function run(strategy, steps, answers, more)
  local engine = fake.engine(strategy, more)
  engine.intake = intake_of(steps, answers)
  return engine, assert(engine:run { run_number = 1 })
end

local quiet = "return { plan = function() error 'plan was asked' end, halt = function() end }"

test("what is handed in is tried without plan, and the run waits afterwards", function()
  local engine, ended = run(quiet, { handed "s1", handed "s2" },
    { s1 = { { edits = { x = 2 } } }, s2 = { { edits = { x = -1 }, hypothesis = "less" } } })
  equal({ ended.waiting, ended.reason }, { true, nil })
  local first, second = engine.history:at(2), engine.history:at(3)
  equal({ first.outcome, first.operator, first.proposal.handed }, { "kept", "submitted", "s1" })
  equal({ second.outcome, second.hypothesis, second.tokens }, { "reverted_worse_metric", "less", nil })
end)

test("select chooses among what was handed in, and may not ask again", function()
  local engine = run("return { select = function(run, proposal, answers) return 'resample', {} end }", { handed "s1" },
    { s1 = { { edits = { x = 2 } } } })
  equal(engine.history.newest.outcome, "skipped_not_selected")
  matches(engine.history.newest.rollback_reason, "this one was handed in")
end)

test("halt and the budget end it before anything is taken", function()
  local engine, ended = run("return { halt = function() return 'enough' end }", { handed "s1" }, {})
  equal({ ended.reason, engine.history.count }, { "enough", 1 })
  engine, ended = run(quiet, { handed "s1", handed "s2" }, { s1 = { { edits = { x = 2 } } } }, { budget = { iterations = 1 } })
  equal(engine.history.count, 2)
  matches(ended.reason, "iterations used up")
end)

test("tokens and dollars that asking takes are not reserved", function()
  local engine = run(quiet, { handed "s1" }, { s1 = { { edits = { x = 2 } } } }, { budget = { usd = 0.1 } })
  equal(engine.history.newest.outcome, "kept")
end)

test("a parent that is none is no proposal", function()
  local engine = run(quiet, { handed("s1", { "c0099" }) }, {})
  equal(engine.history.newest.outcome, "skipped_not_selected")
  matches(engine.history.newest.rollback_reason, "c0099")
end)

test("a plan for somebody else keeps its number, and no worker, until it is answered", function()
  local strategy = "return { plan = function(run) return { operator = 'planned', notes = { pending = #run.pending } } end }"
  local engine = run(strategy, { { id = "n1", offer = { a = 1 } }, handed "s1",
    function(engine)
      equal({ engine.busy, engine.slots[1].offered.a, engine.slots[1].phase }, { 0, 1, "PLAN" })
      return { slot = engine.slots[1] }
    end }, { s1 = { { edits = { x = 1 } } }, c1 = { { edits = { x = 5 } } } })
  equal({ engine.intake.offered, engine.busy }, { { 1 }, 0 })
  local line, planned = engine.history:at(2), engine.history:at(3)
  equal({ line.experiment, line.outcome }, { 2, "kept" })
  equal({ planned.experiment, planned.outcome, planned.operator }, { 1, "kept", "planned" })
  equal(planned.seen, 1)
end)

test("a replay finds the plan again, and does not plan what was handed in", function()
  local engine = run("return { plan = function(run) return { operator = 'planned' } end }", { handed "s1",
    { id = "n1", offer = {} }, function(engine) return { slot = engine.slots[2] } end },
    { s1 = { { edits = { x = 1 } } }, c2 = { { edits = { x = 5 } } } })
  local memory, journal, plans = engine.journal, {}, {}
  function journal.read(_, index) return memory:read(index) end
  function journal.each(_, visit)
    for index = 1, engine.history.count do visit(memory:read(index), index) end
    return true
  end
  local recording = recordings.read(journal)
  for count = 1, engine.history.count do
    for _, plan in ipairs(recording:folded(count)) do plans[#plans + 1] = { plan.number, plan.handed } end
  end
  equal(plans, { { 1, true }, { 2, false } })
end)

test("an offer that nobody answers ends with its reason, or with the run", function()
  local strategy = "return { plan = function() return {} end }"
  local function ended(engine) return { slot = engine.slots[1], ended = { outcome = "skipped_not_selected", reason = "too late" } } end
  local engine = run(strategy, { { id = "n1", offer = {} }, ended }, {})
  equal({ engine.history.newest.outcome, engine.history.newest.rollback_reason }, { "skipped_not_selected", "too late" })
  local waits = run(strategy, { { id = "n1", offer = {} } }, {})
  equal({ waits.history.count, waits.slots[1] ~= nil }, { 1, true }) -- still in flight
  local over = fake.engine("return { plan = function() return {} end, halt = function(run) return run.memory.over end }")
  over.intake = intake_of({ { id = "n1", offer = {} }, false }, {})
  over.intake.only = nil
  over.budget:limit { iterations = 1 }
  assert(over:run { run_number = 1 })
  equal({ over.history.count, over.busy }, { 2, 0 })
  matches(over.history.newest.rollback_reason, "the run ended before it was submitted: budget: iterations used up")
end)

test("a halt while something is put aside refuses what else is handed in, and waits for the answer", function()
  local engine, ended = run("return { plan = function() return {} end }", { { id = "n1", offer = {} }, handed "s1",
    function(engine) return { slot = engine.slots[1] } end }, { c1 = { { edits = { x = 5 } } } }, { budget = { iterations = 1 } })
  matches(engine.intake.refused[1], "iterations used up")
  equal({ engine.history.newest.outcome, ended.waiting }, { "kept", true })
end)

test("what needs no answer is done at once, and a plan of nothing ends the run", function()
  local engine, ended = run("return { plan = function(run) if run.experiment == 1 then return { measure = { run.best } } end end }",
    { { id = "n1", offer = {} }, { id = "n1", offer = {} } }, {})
  equal({ engine.history.newest.outcome, ended.reason }, { "measured", "the strategy plans nothing more" })
end)

tap.done()
