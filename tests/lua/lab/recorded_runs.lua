-- The replay of a recorded run: another strategy's decisions with proposals held fixed.
-- Every journal is recorded here, over the fake world, whose experiments overlap where there are workers.
local fs = require "apsis.fs"
local redecide = require "apsis.lab.redecide"
local journal = require "apsis.core.journal"
local json = require "apsis.json"
local loop = require "apsis.core.loop"
local recordings = require "apsis.core.recording"
local contract = require "fake"
local recorded = require "recorded"
local tap = require "tap"
local test, equal, matches = tap.test, tap.equal, tap.matches
local record, write, root = recorded.record, recorded.write, recorded.root

local still = { now = function() return 0 end, log = function() end, directions = function() return {} end }
for _, name in ipairs { "read", "sources", "diff", "artifacts" } do still[name] = function() return "" end end

-- What another strategy decides on a recording. spec.visit(line, at): called with each line that it comes to.
local function hold(dir, source, spec)
  local walk = assert(redecide.new(journal.reader(dir .. "/logs/results.jsonl")))
  spec = spec or {}
  local each = walk.journal.each
  function walk.journal.each(made, visit)
    return each(made, function(line, at)
      if spec.visit then spec.visit(line, at) end
      return visit(line, at)
    end)
  end
  local engine = loop.new { strategy = assert(contract.strategy(source, spec.options)),
    world = setmetatable({}, { __index = still }), journal = walk.journal, metric = spec.metric
    or { name = "score", direction = "higher" }, tie_breaker = "changed_loc", workers = spec.workers, seed = 1 }
  local result, message, code = recordings.in_task(function() return walk:run(engine) end)
  return result, message, code, engine
end

-- What came of each experiment differs: better, worse, nothing changed, no answer, a crash.
local mixed = {
  answers = function(slot)
    local number = slot.number
    if number % 7 == 0 then return { error = "no idea", tokens = 3, cost = 0.25 } end
    return { edits = { x = number % 5 == 0 and 0 or (number * 37) % 11 - 4 }, tokens = 10, cost = 0.5 }
  end,
  measure = function(x, _, _, record_)
    if record_.experiment % 11 == 10 then return { status = "crash", reason = "it broke" } end
    return { value = x }
  end,
}

local function delayed(milliseconds)
  local world = {}
  for key, value in pairs(mixed) do world[key] = value end
  function world.delay(slot) return (slot.number * 7 % 5) * milliseconds / 1000 end
  return world
end

local climb = "return { options = { patience = 1000 } }"

-- ---- another strategy, proposals held fixed ----

test("a second run begins anew: what halted the first does not halt it", function()
  local source = "return { options = { patience = 2 } }"
  local world = { answers = function(slot) return { edits = { x = -slot.number } } end }
  local _, _, first = contract.run(source, { world = world })
  local x = {}
  for index, line in ipairs { 0, -1, -2 } do x[("c%04d"):format(index - 1)] = line end
  local dir = record(source, { world = world, texts = first.journal.texts, x = x, run = 2 })
  equal(#assert(hold(dir, source)).halts, 0)
end)

-- Measures the newest best and the candidate before it keeps anything; now and then measures old ones, and asks.
local careful = [[return {
  plan = function(run)
    if run.experiment % 6 == 4 and #run.pending == 0 then return { measure = { run.best.id, "c0000" }, repeats = 2 } end
    if run.experiment % 6 == 5 and #run.pending == 0 then return { ask = "what next" } end
    return { parents = { run.best } }
  end,
  accept = function(run, candidate)
    if #candidate.samples < 3 then return "measure", { ids = { candidate.id, run.best.id } } end
    return run.metric:better(candidate, run.best)
  end }]]

local function noisy()
  local drawn = 0
  return { answers = function(slot) return { edits = { x = slot.number % 3 - 0.9 } } end,
    measure = function(x)
      drawn = drawn + 1
      return { value = x + (drawn * 29 % 13) / 13 }
    end }
end

local groups = [[return {
  plan = function(run)
    if run.free < 3 then return nil end
    return { { parents = { run.best } }, { parents = { run.best } },
      { parents = { run.baseline }, operator = "exploration" } }
  end,
  accept = function(run, candidate)
    return run.metric:best_of(candidate.siblings).id == candidate.id and run.metric:better(candidate, run.best)
  end }]]

test("groups are decided together as they were", function()
  local world = { answers = function(slot) return { edits = { x = (slot.number * 5) % 7 + slot.number / 100 } } end,
    delay = function(slot) return (4 - slot.number % 3) / 1000 end }
  local dir = record(groups, { workers = 3, budget = { iterations = 12 }, world = world })
  local result = assert(hold(dir, groups, { workers = 3 }))
  equal(result.decisions.differing, {})
  equal(result.agrees, true)
end)

local function kept_of(lines)
  local kept = 0
  for _, line in ipairs(lines) do kept = kept + (line.outcome == "kept" and 1 or 0) end
  return kept
end

for _, workers in ipairs { 1, 4 } do
  local dir, lines = record(climb, { workers = workers, budget = { iterations = 30 }, world = delayed(2) })

  test(("the recorded strategy agrees with itself in everything: %d at once"):format(workers), function()
    local result = assert(hold(dir, climb, { workers = workers }))
    equal(result.agrees, true)
    equal(result.plans, { compared = 30, differ_otherwise = 0, otherwise = {} })
    equal({ result.decisions.kept, result.decisions.recorded_kept }, { kept_of(lines), kept_of(lines) })
    equal(result.best, result.recorded_best)
  end)

  test(("one that never keeps differs wherever one was kept, and its best is the baseline: %d at once"):format(workers),
    function()
    local result = assert(hold(dir, "return { accept = function() return false, 'never' end, halt = function() end }"))
    equal(result.decisions.kept, 0)
    equal(#result.decisions.differing, kept_of(lines))
    local first = result.decisions.differing[1]
    equal({ first.recorded, first.outcome, first.reason }, { "kept", "reverted_rejected", "never" })
    equal(result.best, { candidate = "c0000", value = 0 })
    equal(result.agrees, false)
  end)

  test(("patience halts where the last kept one is so far back, and says what that saves: %d at once"):format(workers),
    function()
    local result = assert(hold(dir, "return { options = { patience = 2 } }", { workers = workers }))
    local halt = result.halts[1]
    matches(halt.reason, "no improvement in %d experiments")
    local saved, tokens, better = 0, 0, nil
    for _, line in ipairs(lines) do
      if line.experiment >= halt.experiment then
        saved, tokens = saved + 1, tokens + line.tokens
        if line.outcome == "kept" then better = line end
      end
    end
    equal({ halt.saves.experiments, halt.saves.tokens }, { saved, tokens })
    equal(halt.missed, { candidate = better.candidate, value = better.primary_metric })
    equal(result.agrees, false)
  end)
end

-- Every second proposal notes a step, every third has a second answer; what else it says depends on `variant`.
local function noting(variant)
  return ([[return { options = { patience = 1000 }, plan = function(run)
    local number, variant = run.experiment, %d
    return { parents = { run.best }, notes = number %% 2 == 0 and { step = variant } or {},
      k = number %% 3 == 0 and 1 + variant or nil,
      inspirations = number > 1 and { variant == 3 and run.baseline or run.best } or nil,
      model = number == 5 and "model" .. variant or nil } end }]]):format(variant)
end

test("plans that say the same in every key agree, an empty table being as none", function()
  local dir = record(noting(1), { budget = { iterations = 12 }, world = mixed })
  local result = assert(hold(dir, noting(1)))
  equal({ result.agrees, result.plans }, { true, { compared = 12, differ_otherwise = 0, otherwise = {} } })
end)

test("plans that differ in notes, k, model or inspirations alone are counted, by key, and not everything agrees",
  function()
  local dir, lines = record(noting(1), { budget = { iterations = 12 }, world = mixed })
  local result = assert(hold(dir, noting(2)))
  equal(result.plans, { compared = 12, differ_otherwise = 9, otherwise = { notes = 6, k = 4, model = 1 } })
  equal({ result.agrees, #result.decisions.differing, #result.halts }, { false, 0, 0 })
  local others = 0
  for index = 3, #lines do others = others + (lines[index].proposal.inspirations[1] ~= "c0000" and 1 or 0) end
  equal({ assert(hold(dir, noting(3))).plans.otherwise.inspirations, others > 0 }, { others, true })
  equal(assert(hold(dir, climb)).plans.otherwise, { notes = 6, k = 4, model = 1, inspirations = 11 })
end)

test("and only until the first that asks for something else", function()
  local dir = record(noting(1), { budget = { iterations = 12 }, world = mixed })
  local plans = assert(hold(dir, (noting(2):gsub("parents = { run.best }",
    "parents = { number < 5 and run.best or run.baseline }")))).plans
  equal({ plans.differs ~= nil, plans.otherwise.notes, plans.differ_otherwise }, { true, 2, 3 })
end)

test("a reason is what accept gave: where it gave none there is none, and learn still has the engine's", function()
  local dir = record(climb, { budget = { iterations = 6 }, world = mixed })
  local result, _, _, engine = hold(dir, "return { accept = function() return false end, halt = function() end }")
  local first = result.decisions.differing[1]
  equal({ first.outcome, first.reason }, { "reverted_rejected" })
  matches(engine.history:at(first.experiment + 1).rollback_reason, "the strategy rejected it")
end)

test("halt is asked with what its plan had folded, what was in flight and the free workers as recorded", function()
  local source = [[return {
    plan = function(run) return { parents = { run.best } } end,
    halt = function(run)
      local list = {}
      for index, proposal in ipairs(run.pending) do list[index] = proposal.experiment end
      run.log(("%d: %d lines, %s in flight, %d free"):format(run.experiment, #run.history, table.concat(list, " "),
        run.free))
    end }]]
  local function said(logged)
    local list = {}
    for _, text in ipairs(logged) do
      if text:find("lines, ") then list[#list + 1] = text end
    end
    return list
  end
  local _, _, engine = contract.run(source, { workers = 3, budget = { iterations = 12 }, world = delayed(2) })
  local expected = said(engine.world.logged)
  local logged = {}
  still.log = function(_, _, text) logged[#logged + 1] = text end
  assert(hold(write(engine.journal.texts), source, { workers = 3 }))
  still.log = function() end
  equal(table.move(said(logged), 1, 12, 1, {}), table.move(expected, 1, 12, 1, {}))
end)

test("its own decisions are what run.best, run.current, since_kept and learn say", function()
  local dir, lines = record(climb, { budget = { iterations = 12 }, world = mixed })
  local source = [[return {
    init = function(run) run.memory.seen, run.memory.kept = 0, 0 end,
    learn = function(run, line)
      run.memory.seen = run.memory.seen + 1
      if line.kept then run.memory.kept = run.memory.kept + 1 end
    end,
    halt = function(run)
      if run.experiment ~= 12 then return nil end
      return ("%d learnt, %d kept, current %s, %d since"):format(run.memory.seen, run.memory.kept, run.current.id,
        run.since_kept)
    end,
    accept = function(run, candidate) return candidate.experiment == 2 end }]]
  local result = assert(hold(dir, source))
  equal(lines[3].outcome == "kept" or lines[3].outcome == "reverted_worse_metric", true)
  equal(result.halts[1].reason, "12 learnt, 2 kept, current c0002, 8 since")
end)

test("its plans are compared until the first that differs", function()
  local dir = record(climb, { budget = { iterations = 8 }, world = mixed })
  local source = [[return { plan = function(run)
    if run.experiment == 6 then return { parents = { run.baseline }, operator = "exploration" } end
    assert(run.experiment < 6)
    return { parents = { run.best } }
  end }]]
  local differs = assert(hold(dir, source)).plans.differs
  equal({ differs.experiment, recordings.words(differs.planned) }, { 6, "exploration of c0000" })
  equal(differs.recorded.operator, "exploitation")
  equal(assert(hold(dir, "return { plan = function() end }")).plans.differs.planned, nil)
  local operator = "return { plan = function(run) return { parents = { run.best }, operator = 'exploration' } end }"
  equal(assert(hold(dir, operator)).plans.differs.experiment, 1)
end)

test("what accept asks to measure again is answered from the recording; a strategy that asks as recorded agrees",
  function()
  local dir, lines = record(careful, { budget = { iterations = 14 }, world = noisy() })
  local result, _, _, engine = hold(dir, careful)
  equal({ result.agrees, result.decisions.unanswered }, { true, 0 })
  for index, line in ipairs(lines) do
    equal(engine.history:at(index).samples, line.all, "samples of line " .. index)
    equal(engine.history:at(index).measurements, line.measurements, "measurements of line " .. index)
  end
  equal(engine.history.best.value, result.recorded_best.value)
end)

test("what the recording does not have is counted, and the recorded decision stands there", function()
  local dir = record(climb, { budget = { iterations = 10 }, world = mixed })
  local source = [[return { accept = function(run, candidate)
    if run.metric:better(candidate, run.best) and #candidate.samples < 2 then
      return "measure", { ids = { candidate.id } }
    end
    return run.metric:better(candidate, run.best)
  end }]]
  local result = assert(hold(dir, source))
  equal({ result.decisions.unanswered, #result.decisions.differing }, { result.decisions.recorded_kept, 0 })
  equal(result.agrees, false)
end)

test("samples that did not suffice for one question are there for the next", function()
  local dir = record(careful, { budget = { iterations = 3 }, world = noisy() })
  local source = [[return { accept = function(run, candidate)
    if candidate.experiment == 1 then return "measure", { ids = { "c0001" }, repeats = 50 } end
    if candidate.experiment == 2 and #candidate.samples < 2 then return "measure", { ids = { "c0001", "c0002" } } end
    return true
  end }]]
  equal(assert(hold(dir, source)).decisions.unanswered, 1)
end)

test("without asking, a candidate has the samples it had before the recorded accept asked for more", function()
  local dir, lines = record(careful, { budget = { iterations = 8 }, world = noisy() })
  local result, _, _, engine = hold(dir, "return { accept = function() return true end }")
  local at = 2
  equal(#lines[at].samples, 3)
  equal(#engine.history:at(at).samples, 1)
  equal(engine.history:at(at).trace, nil)
  equal(result.decisions.rejected, 0)
end)

test("lower is better: what is better, the best and what is missed follow the metric's direction", function()
  local metric = { name = "score", direction = "lower" }
  local dir, lines = record(climb, { metric = metric, budget = { iterations = 20 }, world = mixed })
  local result = assert(hold(dir, climb, { metric = metric }))
  equal(result.agrees, true)
  local lowest = math.huge
  for _, line in ipairs(lines) do lowest = math.min(lowest, line.primary_metric or lowest) end
  equal(result.best.value, lowest)
  local early = assert(hold(dir, "return { halt = function(run) if run.experiment == 3 then return 'early' end end }",
    { metric = metric }))
  equal(early.halts[1].missed.value, lowest)
end)

test("an error in a hook ends it, with the experiment, the hook and a traceback", function()
  local dir = record(climb, { budget = { iterations = 6 }, world = mixed })
  for _, hook in ipairs { "accept", "halt", "plan", "learn", "init" } do
    local result, message, code = hold(dir,
      ("return { %s = function() local none = nil; return none.field end }"):format(hook))
    equal({ result, code }, { nil, "ESTRATEGY" }, hook)
    matches(message, "hook " .. hook, hook)
    matches(message, "attempt to index a nil value", hook)
    matches(message, "stack traceback", hook)
    equal(message:find("[C]", 1, true), nil, hook)
  end
  matches(select(2, hold(dir, "return { halt = function() return 3 end }")), "experiment 1: .*hook halt returned 3")
  matches(select(2, hold(dir, "return { accept = function() return 3 end }")),
    "experiment %d: .*hook accept returned 3")
end)

test("a line that it looks at again is as it was decided, however far back", function()
  for _, of in ipairs { { climb, "return { accept = function(run, candidate) return run.experiment % 3 == 0, 'third' end }" },
    { careful, climb }, { climb, climb } } do
    local dir, lines = record(of[1], { budget = { iterations = 40 }, world = of[1] == careful and noisy() or mixed })
    local came = {}
    local _, message, _, engine = hold(dir, of[2], { visit = function(line, at)
      came[at] = json.encode(line, { sorted = true })
    end })
    equal({ message, #came }, { nil, #lines })
    for at in ipairs(came) do
      equal(json.encode(engine.history.source:read(at), { sorted = true }), came[at])
    end
    equal(engine.history.source:read(#lines + 1), nil)
  end
end)

test("lines without a decision are learnt as they are", function()
  local dir, lines = record(climb, { budget = { iterations = 22 }, world = mixed })
  local _, _, _, engine = hold(dir, "return { accept = function() return false end }")
  local others = 0
  for index, line in ipairs(lines) do
    if line.outcome:find("^skipped") then
      others = others + 1
      equal(engine.history:at(index).outcome, line.outcome)
      equal(engine.history:at(index).rollback_reason, line.rollback_reason)
    end
  end
  equal(others > 3, true)
end)

fs.remove_tree(root)
tap.done()
