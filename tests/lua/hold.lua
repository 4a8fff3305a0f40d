-- hold: what would be kept waits for an answer from outside the loop, here of a stand-in; the live one is in the room approval.
local direction = require "apsis.direction"
local fake = require "fake"
local holds = require "apsis.core.hold"
local json = require "apsis.json"
local recordings = require "apsis.core.recording"
local tap = require "tap"
local wait = require "apsis.wait"
local test, equal, matches = tap.test, tap.equal, tap.matches

local CLIMB = "return { halt = function() end }"

local function keep(text)
  return { outcome = "kept", text = text or "yes", noted = { answer = "keep", by = "person", asked = 1, answered = 2 } }
end

local function reject(text)
  return { outcome = "reverted_not_approved", reason = text or "no", text = text or "no",
    noted = { answer = "reject", by = "person", asked = 1, answered = 2 } }
end

-- A hold that asks about those of `asked` (nil: all). next is given the engine and the slots that wait, by number, and returns a number
-- and its answer.
local function hold_of(asked, next_answer)
  local hold = { pauses = 0 }
  function hold.asks(_, slot) return (not asked or asked[slot.number]) and "waits" or nil end
  function hold.next(_, engine)
    local waiting, any = {}, false
    for number, slot in pairs(engine.slots) do
      if slot.held and not slot.held.answer then waiting[number], any = slot, true end
    end
    if not any then return nil end
    local number, answer = next_answer(engine, waiting)
    if type(number) == "string" then return { stop = number } end
    return number and { slot = waiting[number], answer = answer } or nil
  end
  function hold.pause(_, engine)
    hold.pauses = hold.pauses + 1
    wait.sleep(0.001)
    return engine
  end
  return hold
end

-- Experiment n steps steps[n] higher (else n).
local function world_of(steps, more)
  local world = { answers = function(slot) return { edits = { x = steps and steps[slot.number] or slot.number },
    tokens = 10, hypothesis = "more", learned = "that" } end }
  for key, value in pairs(more or {}) do world[key] = value end
  return world
end

local function run(hold, more)
  local spec = { hold = hold, world = world_of(), budget = { iterations = 3 } }
  for key, value in pairs(more or {}) do spec[key] = value end
  return fake.run(CLIMB, spec)
end

local function nobody() end

test("what waits is neither parent nor best, has no line, and others go on", function()
  local lines, ended, engine = run(hold_of({ true }, nobody))
  equal(fake.column(lines, "experiment"), { 0, 2, 3 })
  equal(fake.column(lines, "parents"), { {}, { "c0000" }, { "c0002" } })
  equal({ engine.history.best.id, engine.slots[1].phase, engine.busy }, { "c0003", "HELD", 0 })
  matches(ended.reason, "iterations used up")
end)

test("an approved one becomes the best, with the answer in its line; a replay finds its plan where it was", function()
  local lines, _, engine = run(hold_of({ true }, function(on) return on.history.count == 2 and 1, keep "fine" end),
    { world = world_of { 9, 1, 1 } })
  equal(fake.column(lines, "experiment"), { 0, 2, 1, 3 }) -- c0002 is kept, then c0001 is answered, and decided again
  equal(fake.column(lines, "outcome"), { "baseline", "kept", "kept", "kept" })
  equal({ lines[3].approval.answer, lines[3].notes.kept_because, lines[3].best }, { "keep", "fine", 9 })
  equal({ lines[4].parents, engine.history.best.id }, { { "c0001" }, "c0003" })
  local memory, plans = engine.journal, {}
  local recording = recordings.read { read = function(_, index) return memory:read(index) end, each = function(_, visit)
    for index = 1, #lines do visit(memory:read(index), index) end
    return true
  end }
  for count = 1, #lines do
    for _, plan in ipairs(recording:folded(count)) do plans[#plans + 1] = { count, plan.number } end
  end
  equal(plans, { { 1, 1 }, { 1, 2 }, { 3, 3 } })
end)

test("a rejected one ends with the reason", function()
  local lines = run(hold_of({ true }, function() return 1, reject "too long" end), { budget = { iterations = 2 } })
  equal({ lines[2].experiment, lines[2].outcome, lines[2].rollback_reason, lines[2].status, lines[2].improved },
    { 1, "reverted_not_approved", "too long", "discard", true })
end)

test("if others were kept meanwhile an approved one is decided again", function()
  local lines, _, engine = run(hold_of({ true }, function(on) return on.history.count == 2 and 1, keep() end))
  equal({ lines[3].experiment, lines[3].outcome, engine.history.best.id }, { 1, "reverted_worse_metric", "c0003" })
  matches(lines[3].rollback_reason, "^1 is not better than the best, 2 .*; yes, and it was decided again as c0002 was kept")
  equal(lines[3].delta, -1)
end)

test("what is before a new baseline is not compared any more", function()
  local hold = hold_of({ true }, nobody)
  local engine = fake.engine(CLIMB, { hold = hold, world = world_of(), budget = { iterations = 1 } })
  assert(engine:run { run_number = 1 })
  assert(engine:baseline(1, { numbering = 2 }))
  hold.next = hold_of({}, function() return 1, keep() end).next
  assert(engine:run { run_number = 1, answers_only = true })
  local line = engine.journal:read(3)
  equal({ line.experiment, line.outcome }, { 1, "skipped_not_selected" })
  matches(line.rollback_reason, "new baseline %(c0002%) was measured while it waited")
end)

test("the same files are not measured while one waits", function()
  local lines = run(hold_of({ true }, nobody), { world = world_of { 1, 1, 1 } })
  equal(lines[2].outcome, "skipped_duplicate")
  matches(lines[2].rollback_reason, "c0001, which waited for approval")
end)

test("with nothing else to do the run waits for the answer; one that only takes what is handed in ends", function()
  local hold
  hold = hold_of(nil, function() return hold.pauses >= 3 and 1, keep() end)
  local once = "return { plan = function(run) if run.experiment == 1 then return {} end end, halt = function() end }"
  local lines, ended = fake.run(once, { hold = hold, world = world_of() })
  equal({ #lines, lines[2].outcome, hold.pauses, ended.reason }, { 2, "kept", 3, "the strategy plans nothing more" })
  local engine = fake.engine(once, { hold = hold_of(nil, nobody), world = world_of() })
  engine.intake = { only = true, given = { id = "s1", proposal = { parents = { "c0000" }, operator = "submitted" } } }
  function engine.intake.next(self)
    local given = self.given
    self.given = nil
    return given or false
  end
  function engine.intake.answers() return { { edits = { x = 1 } } } end
  equal({ engine:run({ run_number = 1 }).waiting, engine.slots[1].phase, engine.history.count }, { true, "HELD", 1 })
end)

test("one that has waited for too long may end the run, and goes on waiting", function()
  local lines, ended, engine = run(hold_of({ true }, function(on) return on.history.count == 2 and "c0001 waits" end))
  equal({ #lines, ended.reason, engine.slots[1].phase }, { 2, "c0001 waits", "HELD" })
end)

test("of several workers none waits", function()
  local answered = 0
  local lines = run(hold_of({ true, true }, function(on, waiting)
    if on.history.count < 3 then return nil end
    answered = answered + 1
    local number = waiting[1] and 1 or 2
    return number, number == 1 and keep() or reject()
  end), { workers = 3, budget = { iterations = 6 }, world = world_of({ 9, 8 }, { delay = function() return 0.002 end }) })
  local of = {}
  for _, line in ipairs(lines) do of[line.experiment] = line.outcome end
  equal({ #lines, of[1], of[2], answered }, { 7, "kept", "reverted_not_approved", 2 })
end)

-- What a process leaves of one that waits, as the world keeps it.
local function left(engine, number)
  local slot = engine.slots[number]
  return json.decode(json.encode { number = number, seen = slot.seen, now = slot.now, strategy = slot.strategy,
    context = slot.context, proposal = slot.proposal, held = slot.held })
end

for _, case in ipairs { { "the line is the same", 0 }, { "the decision is the same, made again", 1 } } do
  test("a later process knows what waits: " .. case[1], function()
    local texts = {}
    for index, restarts in ipairs { false, true } do
      local hold = hold_of({ true }, nobody)
      local spec = { hold = hold, world = world_of({ 9, 1 }, { reflects = nil }), budget = { iterations = 1 + case[2] } }
      local engine = fake.engine(CLIMB, spec)
      assert(engine:run { run_number = 1 })
      local plan = left(engine, 1)
      if restarts then
        spec.texts, spec.world.x = engine.journal.texts, engine.world.x
        local clock = engine.world.clock
        engine = fake.engine(CLIMB, spec)
        engine.world.clock = clock
      end
      engine.hold.next = hold_of({}, function() return 1, keep "yes" end).next
      assert(engine:run { run_number = 1, answers_only = true, unfinished = restarts and { plan } or nil })
      local line = engine.journal:read(engine.history.count)
      line.strategy, line.phases = nil, nil -- a temporary file's name; what came before is the earlier process's
      texts[index] = json.encode(line, { sorted = true })
      equal(engine.history.best.id, "c0001")
    end
    equal(texts[2], texts[1])
  end)
end

test("what it has taken counts to the budget of its own run, before and after", function()
  local hold = hold_of({ true }, nobody)
  local spec = { hold = hold, world = world_of(), budget = { iterations = 2, measurements = 5, tokens = 1000 } }
  local engine = fake.engine(CLIMB, spec)
  assert(engine:run { run_number = 1 })
  local plan = left(engine, 1)
  spec.texts, spec.world.x = engine.journal.texts, engine.world.x
  engine = fake.engine(CLIMB, spec)
  engine.hold.next = nobody
  assert(engine:run { run_number = 1, answers_only = true, unfinished = { plan } })
  local budget = engine.budget:table()
  equal({ budget.iterations.left, budget.measurements.left, budget.tokens.left }, { 0, 3, 980 })
  spec.texts = engine.journal.texts
  engine = fake.engine(CLIMB, spec)
  engine.hold.next = hold_of({}, function(on) return on.history.count == 3 and 1, reject() end).next
  assert(engine:run { run_number = 2, unfinished = { plan } })
  equal(fake.column({ engine.journal:read(3), engine.journal:read(4), engine.journal:read(5) }, "run"), { 2, 1, 2 })
  equal({ engine.history.run, engine.history.run_totals.iterations, engine.history.totals.iterations }, { 2, 2, 4 })
end)

test("what the judge showed is taken back while it waits, and given again when it is kept", function()
  local said = {}
  local judge = { hold_back = function() end, short_of_time = function() end, level = function() end, final = function() end,
    learn = function() end, folded = function() end }
  function judge.is_final() return false end
  function judge.judge(_, slot)
    slot.acceptance = { verdict = "kept", state = { ref = slot.number } }
    return true, "by the judge"
  end
  function judge.take_back(_, slot)
    said[#said + 1] = "take back " .. slot.number
    slot.acceptance.state = { ref = 0 }
  end
  function judge.answered(_, shown, kept)
    said[#said + 1] = ("answered %d %s"):format(shown.ref, kept)
    return { ref = 10 * shown.ref }
  end
  local engine = fake.engine(CLIMB, { hold = hold_of({ true }, function() return 1, keep() end), world = world_of(),
    budget = { iterations = 2 } })
  engine.judge, engine.shown_metric = judge, direction.judged(engine.metric, function() return engine.history.best end)
  assert(engine:run { run_number = 1 })
  equal(said, { "take back 1", "answered 1 true" })
  local line = engine.journal:read(2)
  equal({ line.acceptance.state.ref, line.notes.kept_because }, { 10, "by the judge; yes" })
end)

test("only another current candidate than the one it was compared with passes it by", function()
  local slot = { held = { current = "c0001" } }
  equal(holds.passed_by({ history = { current = { id = "c0001" } } }, slot), nil)
  equal(holds.passed_by({ history = { current = { id = "c0002" } } }, slot), "c0002")
end)

tap.done()
