-- trajectory: best of K: what an answer sets out to do, what it says of how sure it is, which of several is taken and why the others
-- are not; and in the loop how many are asked for, what the budget makes of that, and what the line says.
local fake = require "fake"
local json = require "apsis.json"
local proposals = require "apsis.core.proposal"
local random = require "apsis.random"
local tap = require "tap"
local trajectory = require "apsis.trajectory"
local test, equal, matches = tap.test, tap.equal, tap.matches

local function lost(details)
  local list = {}
  for index, detail in ipairs(details) do list[index] = detail.lost or "taken" end
  return list
end

-- ---- numbers ----

test("a confidence that is missing, no number or NaN makes none of the list", function()
  equal({ trajectory.vc {}, trajectory.vc(nil), trajectory.vc { 90, "80" }, trajectory.vc { 0 / 0 }, trajectory.vc { false, 90 } }, {})
  equal(trajectory.vc { 1e300 }, 0.0)
  equal(trajectory.vc { -5 }, trajectory.vc { 1 })
  equal(trajectory.score({}, 10), nil)
end)

test("two alike of three are a majority, two of four are not, and what is not known is like nothing", function()
  local function stays(...) return (trajectory.consistent { ... }) end
  equal(stays("a", "b", "b"), { false, true, true })
  equal(stays("a", "a", "b", "b"), { true, true, true, true })
  equal(stays("a", "a", "b", "c"), { true, true, true, true })
  equal(stays("a", "a"), { true, true })
  equal(stays(false, false, false), { true, true, true })
  equal(stays(false, "a", "a"), { false, true, true })
  equal(stays(), {})
  equal(select(2, trajectory.consistent { "a", "b", "b" }), 2)
end)

test("the guard: what is left of nothing is nothing, whatever it costs; one needs no margin; dollars need not add up exactly", function()
  local function fits(k, cost, remaining, margin)
    return trajectory.budget { k = k, cost = cost, remaining = remaining, margin = margin }
  end
  equal({ fits(3, 0, 0), fits(3, 0, 1), fits(3, 0, -1), fits(3, 1, math.huge), fits(3, math.huge, 5) }, { 0, 3, 0, 3, 0 })
  equal({ fits(2, 5, 5), fits(2, 2, 5), fits(2, 2.0001, 5), fits(2, 2.5, 5, 0) }, { 1, 2, 1, 2 })
  equal(fits(3, 0.1, 0.1 + 0.1 + 0.1 - 1e-16, 0), 3)
end)

-- ---- which one ----

test("each that lost says why: it failed, is empty, of another intent, of a lower score, longer, or later", function()
  local index, details = trajectory.select {
    { error = "HTTP 500\nand more", tokens = 0 }, { confidences = { 99 }, tokens = 0, intent = "a" },
    { confidences = { 100 }, tokens = 5, intent = "b" }, { confidences = { 50 }, tokens = 10, intent = "a" },
    { confidences = { 90 }, tokens = 10, intent = "a" }, { confidences = { 90 }, tokens = 10, intent = "a" } }
  equal(index, 5)
  equal(lost(details), { "failed: HTTP 500 and more", "empty: it holds nothing", "of another intent than the majority (3 of 4)",
    "score -6.931 against -1.054", "taken", "equal, and later" })
  local certain
  certain, details = trajectory.select { { confidences = { 100 }, tokens = 20 }, { confidences = { 100 }, tokens = 10 } }
  equal({ certain, details[1].lost }, { 2, "an equal score, and longer: 20 tokens against 10" })
end)

test("the majority is of those that are left: two that failed alike are none", function()
  local failed = { error = "no", tokens = 5, intent = "x" }
  local index = trajectory.select { failed, failed, failed, { confidences = { 10 }, tokens = 5, intent = "a" },
    { confidences = { 90 }, tokens = 5, intent = "b" } }
  equal(index, 5)
end)

test("a confidence that is missing counts only in an answer that is still there", function()
  local sure, terse = { confidences = { 95 }, tokens = 90 }, { confidences = { 5 }, tokens = 80 }
  equal((trajectory.select { sure, terse, { tokens = 10, error = "failed" } }), 1)
  equal((trajectory.select { sure, terse, { tokens = 0 } }), 1)
  local index, details = trajectory.select { sure, terse, { tokens = 100 } }
  equal(index, 2)
  matches(details[1].lost, "^longer: 90 tokens against 80; answer 3 states no confidence, so only length decides$")
  equal((trajectory.select { { confidences = { 95 }, tokens = 90, intent = "a" }, { confidences = { 5 }, tokens = 80, intent = "a" },
    { tokens = 1, intent = "b" } }), 1)
end)

test("where all failed or are empty there is none; without any, or a length that is no number, it is the caller's mistake", function()
  local index, details = trajectory.select { { error = "a", tokens = 1 }, { tokens = 0 } }
  equal(index, nil)
  equal(#details, 2)
  tap.raises("the pool is empty", trajectory.select, {})
  tap.raises("pool%[1%].tokens must be a number", trajectory.select, { { confidences = { 5 } } })
  tap.raises("must be a number", trajectory.select, { { tokens = 0 / 0 } })
end)

test("the choice does not depend on the order, but where two are equal", function()
  local rng = random.stream("orders")
  for _ = 1, os.getenv "APSIS_SANITIZED" and 50 or 500 do
    local pool, stated = {}, rng:random() < 0.5
    for index = 1, rng:integer(2, 6) do
      pool[index] = { confidences = stated and { rng:integer(0, 100), rng:integer(0, 100) } or nil, tokens = rng:integer(0, 9) * 7,
        intent = rng:choice { "a", "b", "c" }, error = rng:random() < 0.1 and "failed" or nil }
    end
    local first = trajectory.select(pool)
    local taken = first and pool[first]
    rng:shuffle(pool)
    local again = trajectory.select(pool)
    equal({ taken and trajectory.score(taken.confidences, taken.tokens), taken and taken.tokens },
      { again and trajectory.score(pool[again].confidences, pool[again].tokens), again and pool[again].tokens })
  end
end)

-- ---- what answers say ----

local function same(one, other, what)
  equal(trajectory.intent(one) == trajectory.intent(other), true, what)
end

local function differ(one, other, what)
  equal(trajectory.intent(one) == trajectory.intent(other), false, what)
end

local function file(path, text) return { edits = { [path] = text } } end

test("an intent is what becomes of the files: not the words, blank lines, blanks at the end, line ends or lines of comment", function()
  same({ edits = { ["a.lua"] = "return 1\n" }, text = "I think" }, { edits = { ["a.lua"] = "return 1  \r\n\n" }, text = "Surely" },
    "blanks")
  same(file("a.lua", "-- why\nreturn 1"), file("a.lua", "return 1"), "a comment in Lua")
  same(file("a.py", "  # why\nx = 1"), file("a.py", "x = 1"), "a comment in Python")
  same(file("a.c", "// why\nint x;"), file("a.c", "int x;"), "a comment in C")
  differ(file("a.c", "#define x"), file("a.c", ""), "what is no comment in C")
  differ(file("a.sh", "#!/bin/sh\nls"), file("a.sh", "#!/bin/bash\nls"), "the interpreter's line")
  differ(file("notes.md", "# One"), file("notes.md", "# Two"), "a heading")
  differ(file("a.py", "if x:\n  y"), file("a.py", "if x:\ny"), "indentation")
  differ(file("a.lua", "return 1"), file("b.lua", "return 1"), "another path")
  differ(file("a.lua", false), file("a.lua", ""), "a removal")
  same({ edits = { a = "1", b = "2" } }, { edits = { b = "2", a = "1" } }, "any order")
end)

test("an intent is also the tools called, by name and arguments whatever the order of their keys", function()
  local function call(name, arguments) return { tool_calls = { { name = name, arguments = arguments } } } end
  same(call("edit", '{"path": "a", "line": 1}'), call("edit", { line = 1, path = "a" }))
  same(call("edit", '{"b": {"y": 1, "x": [1, 2]}}'), call("edit", '{"b": {"x": [1,2], "y": 1}}'))
  differ(call("edit", '{"path": "a"}'), call("edit", '{"path": "b"}'))
  differ(call("edit", "{}"), call("write", "{}"))
  differ(call("edit", '{"x": [1, 2]}'), call("edit", '{"x": [2, 1]}'))
  differ(call("edit", "not JSON"), call("edit", "other"))
  equal(trajectory.intent { tool_calls = { 5, {} } } ~= nil, true)
end)

test("without change or tools an intent is the tree or the words; of what is opaque or nothing it is not known", function()
  same({ text = "a  plan\n" }, { text = "a plan" })
  differ({ text = "a plan" }, { tree = "a plan" })
  equal({ trajectory.intent {}, trajectory.intent { text = "  " }, trajectory.intent { edits = { genome = { 1, 2 } } } }, {})
  equal(trajectory.intent { intent = "mine", edits = { a = "b" } }, "mine")
end)

test("confidences are read from an answer's prose, not from its code", function()
  local function read(text)
    local list = {}
    for index, step in ipairs(trajectory.steps(text) or {}) do list[index] = step.confidence or "none" end
    return list
  end
  equal(read 'First.\n{"confidence": 80}\nThen: {"step": 2, "confidence": 40.5} and {"confidence":7}', { 80, 40.5, 7 })
  equal(read 'a.json\n```json\n{"confidence": 3, "b": {}}\nx = 1\n```\n{"confidence": 9}', { 9 })
  equal(read '```json\n{"confidence": 60}\n{"confidence": 70}\n```', { 60, 70 })
  equal(read '```\n[\n {"confidence": 60},\n {"step": "b", "confidence": 61}\n]\n```', { 60, 61 })
  equal(read 'a\n<<<<<<< SEARCH\n{"confidence": 1}\n=======\n{"confidence": 2}\n>>>>>>> REPLACE\n{"confidence": 3}\r', { 3 })
  equal(read '{"confidence": "high"} {"confidence": null}', { "none", "none" })
  equal(read '{"confidence": N}', {})
  equal(read(trajectory.request), {})
  equal(trajectory.steps "nothing", nil)
  equal(trajectory.vc { trajectory.steps('{"confidence": 90} {"confidence": "high"}')[2].confidence }, nil)
end)

test("a length is what the provider counted for the answer; else its steps'; else what it took; else a guess", function()
  local function length(answer)
    local _, details = trajectory.choose { answer, { error = "no" } }
    return details[1].length
  end
  local edits = { a = "12345678" }
  equal(length { edits = edits, output_tokens = 5, tokens = 900, steps = { { tokens = 7 } } }, 5)
  equal(length { edits = edits, tokens = 900, steps = { { tokens = 7 }, { tokens = 8 } } }, 15)
  equal(length { edits = edits, tokens = 900, steps = { { tokens = 7 }, { confidence = 8 } } }, 900)
  equal(length { edits = edits, tokens = 0, text = ("x"):rep(9) }, 3)
  equal(length { edits = edits, tokens = 0, text = " " }, 2)
  equal(length { tree = "t", tokens = 0 }, 1)
  equal(length { edits = { genome = {} }, tokens = 0 }, 1)
end)

test("of one answer the first is taken as ever; of several that change nothing one is, so that the line says so", function()
  equal({ trajectory.choose { { edits = {} } } }, { 1, { {} } })
  equal((trajectory.choose { { edits = {}, text = "no" }, { edits = {}, text = "no" } }), 1)
  local index, details = trajectory.choose { { edits = {}, text = "long enough" }, { edits = { a = "b" } } }
  equal({ index, details[1].lost }, { 2, "empty: it holds nothing" })
  index, details = trajectory.choose { { error = "x" }, { violation = "it changed evaluate.sh" } }
  equal({ index, lost(details) }, { 2, { "failed: x", "taken" } })
  equal({ trajectory.choose {} }, { nil, {} })
end)

test("what a strategy refuses is never taken, though it be the only one", function()
  local index, details = trajectory.choose({ { edits = { a = "1" } }, { edits = { a = "22222" } } },
    function(_, at) return at == 1 and "an old idea" or nil end)
  equal({ index, details[1].lost }, { 2, "failed: an old idea" })
  index = trajectory.choose({ { edits = { a = "1" } }, { error = "x" } }, function() return "never" end)
  equal(index, nil)
  equal((trajectory.choose({ { edits = { a = "1" } } }, function() return "never" end)), nil)
end)

test("answers of any shape are judged without an error", function()
  local odd = { edits = { a = { bytes = "x" } }, steps = "none", tokens = "many", tool_calls = 5, text = 7 }
  local index = trajectory.choose { odd, { edits = { a = "b" }, steps = { 5, {}, { confidence = "x" } }, tokens = 0 / 0 }, {} }
  equal(math.type(index), "integer")
end)

-- ---- in the loop ----

local climb = "return { options = { patience = 100 } }"

-- Answers of a world: each adds `step`, states `confidence`, and has so many tokens.
local function world_of(list, more)
  local world = more or {}
  function world.answers(_, prompt, index)
    world.prompts = world.prompts or {}
    table.insert(world.prompts, prompt)
    local one = list[(index - 1) % #list + 1]
    return { edits = one.step and { x = one.step } or nil, error = one.error, output_tokens = one.tokens or 10, tokens = one.tokens or 10,
      cost = 0.5, steps = one.confidence and { { confidence = one.confidence } } or nil, text = "" }
  end
  return world
end

local function run(settings, list, more)
  local spec = { budget = { iterations = 2 }, trajectory = settings, world = world_of(list, (more or {}).world) }
  for key, value in pairs(more or {}) do spec[key] = key == "world" and spec.world or value end
  local lines, ended, engine = fake.run(spec.source or climb, spec)
  return lines, ended, engine
end

local function prompts_of(settings, source)
  local world = world_of { { step = 1 } }
  fake.run(source or climb, { world = world, budget = { iterations = 1 }, trajectory = settings })
  return world.prompts
end

local three = { { step = 1, confidence = 20 }, { step = 5, confidence = 90 }, { step = 3, confidence = 50 } }
local on = { enabled = true, k_candidates = 3, complexity = "complex" }

test("one answer is no best of K: the line says nothing of it", function()
  local line = run({ enabled = true, k_candidates = 1, complexity = "complex" }, three)[2]
  equal({ line.primary_metric, (line.notes or {}).trajectory, line.proposal.k, line.proposal.trajectory }, { 1 })
end)

test("the default select takes the best of K, and the line says what became of each", function()
  local lines = run(on, three)
  equal(fake.column(lines, "primary_metric"), { 0, 5, 10 })
  local said = lines[2].notes.trajectory
  equal({ said.k, said.asked, said.why }, { 3, 3 })
  equal(lost(said.answers), { "score -16.09 against -1.054", "taken", "score -6.931 against -1.054" })
  equal({ lines[2].answers, lines[2].tokens, lines[2].cost }, { 3, 30, 1.5 })
  equal(lines[2].proposal.k, nil) -- as the strategy planned it
end)

test("best of K is off where the manifest does not say otherwise, and a proposal's k needs no manifest", function()
  equal(fake.column(run(nil, three), "primary_metric"), { 0, 1, 2 })
  equal(fake.column(run({ enabled = false, k_candidates = 3, complexity = "epic" }, three), "primary_metric"), { 0, 1, 2 })
  local lines = run(nil, three, { source = "return { plan = function(run) return { parents = { run.best }, k = 2 } end }" })
  equal(fake.column(lines, "primary_metric"), { 0, 5, 10 })
  equal({ lines[2].proposal.k, lines[2].notes.trajectory.k }, { 2, 2 })
end)

test("K answers that just leave the margin of the tokens are asked for; of one token less, one is", function()
  for tokens, k in pairs { [250] = 2, [249] = 1 } do
    local world = { estimate = function() return 100, 0 end }
    local lines = run({ enabled = true, k_candidates = 2, complexity = "epic" }, three,
      { world = world, budget = { tokens = tokens } })
    equal(lines[2].notes.trajectory.k, k, tokens)
  end
end)

test("an experiment of one answer says nothing of it", function()
  local lines = run(nil, three)
  equal({ lines[2].notes, lines[2].answers }, {})
end)

test("complexity: the proposal's, else the manifest's, else simple; what is not in the gate asks for one, and says why", function()
  local said = 'return { plan = function(run) return { parents = { run.best }, complexity = run.experiment == 1 and "simple" or nil } end }'
  local lines = run(on, three, { source = said })
  local first = lines[2].notes.trajectory
  equal({ first.k, first.asked, first.why, first.answers }, { 1, 3, "simple is not in complexity_gate (complex, epic)" })
  equal(lines[3].notes.trajectory.k, 3)
  lines = run({ enabled = true, k_candidates = 3, complexity_gate = { "simple" } }, three)
  equal(lines[2].notes.trajectory.k, 3)
  lines = run({ enabled = true, k_candidates = 3, complexity = "epic", complexity_gate = { "medium" } }, three)
  equal(lines[2].notes.trajectory.why, "epic is not in complexity_gate (medium)")
end)

test("that nobody says how complex proposals are is told, once", function()
  local _, _, engine = run({ enabled = true, k_candidates = 3 }, three)
  local told = 0
  for _, text in ipairs(engine.world.logged) do
    if text == "warn" or text:find "trajectory is enabled, but one answer is asked for" then told = told + 1 end
  end
  equal(told, 1)
end)

test("raise_after: without a new best for so long, any proposal is complex enough; with one it is simple again", function()
  local list = { { step = -1, confidence = 99 }, { step = 7, confidence = 1 } }
  local world = world_of(list)
  local plain = world.answers
  function world.answers(slot, prompt, index) -- alone it is worse each time anew; of two the second is taken
    local answer = plain(slot, prompt, index)
    answer.steps = { { confidence = index == 1 and 1 or 99 } }
    if (slot.proposal.k or 1) == 1 then answer.edits.x = -slot.number end
    return answer
  end
  local lines = fake.run(climb, { world = world, budget = { iterations = 5 }, trajectory = { enabled = true, k_candidates = 2,
    raise_after = 2 } })
  local asked = {}
  for index = 2, #lines do asked[index - 1] = lines[index].notes.trajectory.k end
  equal(asked, { 1, 1, 2, 1, 1 })
  equal(fake.column(lines, "outcome")[4], "kept")
end)

test("K answers are asked for only where what is left less the margin covers them; else one; none where nothing is left", function()
  local estimate = function(_, proposal) return 10 * (proposal.k or 1), 0 end
  local lines, ended = run(on, three, { budget = { tokens = 100 }, world = { estimate = estimate } })
  local asked = {}
  for index = 2, #lines do asked[index - 1] = lines[index].notes.trajectory.k end
  equal(asked, { 3, 3, 3, 1 }) -- 30 of 100, of 70 and of 40 (less 20 %: 32); of 10 one is left
  matches(ended.reason, "tokens used up")
  equal(lines[5].notes.trajectory.why, "3 answers at 10 tokens each are more than 80 % of the 10 left")
  lines, ended = run(on, three, { budget = { usd = 4 }, world = { estimate = function(_, p) return 0, 0.5 * (p.k or 1) end } })
  asked = {}
  for index = 2, #lines do asked[index - 1] = lines[index].notes.trajectory.k end
  equal(asked, { 3, 3, 1, 1 })
  matches(ended.reason, "usd used up")
end)

test("the guard holds for a strategy's own k too, and no setting turns it off", function()
  local own = "return { plan = function(run) return { parents = { run.best }, k = 3 } end }"
  for _, settings in ipairs { false, { enabled = false, margin = 0.2 }, { enabled = true, k_candidates = 9, complexity = "epic" } } do
    local lines = run(settings or nil, three, { source = own, budget = { tokens = 35 },
      world = { estimate = function(_, proposal) return 10 * (proposal.k or 1), 0 end } })
    local said = lines[2].notes.trajectory
    equal({ said.k, said.asked, lines[2].proposal.k }, { 1, 3, 3 })
  end
end)

test("where nobody can tell what an answer takes one is asked for first, if the budget is limited; then its mean counts", function()
  local lines = run(on, three, { budget = { tokens = 100 } })
  local asked = {}
  for index = 2, #lines do asked[index - 1] = lines[index].notes.trajectory.k end
  equal(asked, { 1, 3, 3, 1, 1, 1 }) -- each takes 10: of 90 and of 60, then of 30
  matches(lines[2].notes.trajectory.why, "is not known yet")
  equal(run(on, three)[2].notes.trajectory.k, 3)
end)

test("what is reserved for others of a group counts: together they stay within what is left", function()
  local group = [[return { plan = function(run)
      return run.free > 1 and { { parents = { run.best } }, { parents = { run.best } } } or nil
    end }]]
  local lines = run(on, three, { source = group, workers = 2, budget = { tokens = 60, iterations = 2 },
    world = { estimate = function(_, proposal) return 10 * (proposal.k or 1), 0 end } })
  equal({ lines[2].notes.trajectory.k, lines[3].notes.trajectory.k }, { 3, 1 }) -- 30 of 48; but not of the other 30 less 20 %
end)

test("what is reserved for K answers is K times what one takes", function()
  local held = require("apsis.core.budget").new({ tokens = 100 }, { run_totals = {}, totals = { asked = 2, tokens = 20, usd = 3 } })
  equal(held:needs({}, { k = 3 }), { tokens = 30, usd = 4.5 })
end)

test("the prompt asks for confidences where several answers are asked for, and only there", function()
  local asked = prompts_of(on)
  equal(#asked, 3)
  matches(asked[1], '{"confidence": N}')
  equal(select(2, asked[1]:gsub('{"confidence"', "")), 1)
  equal(prompts_of(nil)[1]:find "confidence", nil)
  equal(prompts_of(on, 'return { prompt = function() return "mine" end }')[1], "mine\n\n" .. trajectory.request .. "\n")
  equal(prompts_of(on, 'return { prompt = function() return { "mine" } end }')[1], { "mine" }) -- messages stay as they are
  local parts = [[local prompt = require "apsis.prompt"
    return { prompt = function(run, proposal) return { prompt.fields(run, proposal).answer } end }]]
  matches(prompts_of(on, parts)[1][1], '{"confidence": N}')
  equal(prompts_of(nil, parts)[1][1]:find "confidence", nil)
end)

test("a strategy with its own select is told of all, and the line says that it was its choice", function()
  local own = "return { select = function(run, proposal, answers) return proposal.k, nil, { notes = { mine = #answers } } end }"
  local lines = run(on, { { step = 1, confidence = 99 }, { error = "HTTP 500" }, { step = 3, confidence = 1 } }, { source = own })
  equal(lines[2].primary_metric, 3)
  equal(lines[2].notes.mine, 3)
  equal(lost(lines[2].notes.trajectory.answers), { "the strategy chose answer 3", "failed: HTTP 500", "taken" })
end)

test("one that calls choose keeps what it says of each", function()
  local own = [[local trajectory = require "apsis.trajectory"
    return { select = function(_, _, answers)
      local index, details = trajectory.choose(answers, function(answer) return answer.edits.x == 5 and "too large" or nil end)
      return index, nil, { notes = { trajectory = { answers = details } } }
    end }]]
  local lines = run(on, three, { source = own })
  equal(lines[2].primary_metric, 3)
  equal(lines[2].notes.trajectory.answers[2].lost, "failed: too large")
  equal(lines[2].notes.trajectory.asked, 3)
end)

test("notes of a select that are no table are still its error", function()
  local lines = run(on, three, { source = "return { select = function() return 1, nil, { notes = 5 } end }" })
  equal(lines[2].outcome, "skipped_strategy_error")
  matches(lines[2].rollback_reason, "notes must be a table")
end)

test("where all K failed the experiment has, with the first one's reason", function()
  local lines = run(on, { { error = "HTTP 500" }, { error = "HTTP 400" } })
  equal({ lines[2].outcome, lines[2].rollback_reason }, { "skipped_provider_failure", "HTTP 500" })
  equal(lost(lines[2].notes.trajectory.answers), { "failed: HTTP 500", "failed: HTTP 400", "failed: HTTP 500" })
end)

test("a proposal that is asked for again is gated again", function()
  local own = [[return { select = function(run, proposal, answers)
      if #answers == 3 then return "resample", { parents = proposal.parents, complexity = "simple", title = "again" } end
      return 1
    end }]]
  local lines = run(on, three, { source = own, budget = { iterations = 1 } })
  equal({ lines[2].notes.trajectory.k, lines[2].answers, lines[2].plan.k, lines[2].proposal.k }, { 1, 4 })
  equal(lines[2].proposal.title, "again")
end)

test("a question, edits and measurements ask for one answer or none", function()
  local own = [[return { plan = function(run)
      if run.experiment == 1 then return { ask = "what?" } end
      return { parents = { run.best }, edits = { x = 1 } }
    end }]]
  local lines = run(on, three, { source = own, budget = { iterations = 1 } })
  equal({ lines[2].notes, lines[3].notes, lines[3].outcome }, { nil, nil, "kept" })
end)

test("done again after a crash, a proposal is gated anew, with what is left then; its line is as the strategy planned it", function()
  local saved = { parents = { "c0000" }, operator = "exploitation", k = 3, trajectory = { asked = 3 }, experiment = 1 }
  saved = assert(json.decode(json.encode(saved), true))
  local unfinished = { { number = 1, seen = 1, now = 1000, proposal = saved, tokens = 30, cost = 0 } }
  local world = { estimate = function(_, proposal) return 10 * (proposal.k or 1), 0 end }
  local lines = run(on, three, { budget = { iterations = 1, tokens = 60 }, unfinished = unfinished, world = world })
  equal({ lines[2].notes.trajectory.k, lines[2].proposal.k, lines[2].tokens }, { 1, nil, 40 })
end)

test("a prompt for several answers asks for confidences once, at its end; messages and prompts for one stay", function()
  local best_of = require "apsis.core.best_of"
  local request = "\n\n" .. trajectory.request .. "\n"
  for _, case in ipairs { { "do", 2, "do" .. request }, { "do", 1, "do" }, { "do", nil, "do" }, { '"confidence"', 2, '"confidence"' },
    { 'a "confidence" b', 3, 'a "confidence" b' } } do
    equal(best_of.prompt(case[1], { k = case[2] }), case[3])
  end
  local messages = { { role = "user" } }
  equal(best_of.prompt(messages, { k = 2 }) == messages, true)
end)

test("of one answer it is that, or its error; of none there is nothing", function()
  local best_of = require "apsis.core.best_of"
  equal({ best_of.select { { edits = {} } } }, { 1 })
  equal({ best_of.select { { error = "e" } } }, { nil, "e" })
  equal({ best_of.select {} }, {})
  local proposal = { k = 3, trajectory = { own = 2 } }
  best_of.undo(proposal)
  equal(proposal, { k = 2 })
  best_of.undo(proposal)
  equal(proposal, { k = 2 })
end)

test("what the journal keeps of a proposal is what was planned", function()
  local proposal = { parents = { "c0000" }, operator = "a", k = 2, trajectory = { asked = 3, own = 3, why = "x" } }
  equal(proposals.brief(proposal), { parents = { "c0000" }, operator = "a", k = 3 })
  equal(proposals.brief { parents = {}, k = 3, trajectory = { asked = 3 } }, { parents = {} })
end)

test("sub-strategies have the same select by default", function()
  local own = [[local strategy = require "apsis.strategy"
    local sub = strategy.use("hillclimb")
    return { select = function(run, proposal, answers) return sub.select(run, proposal, answers) end }]]
  local lines = run(on, three, { source = own })
  equal(lines[2].primary_metric, 5)
  equal(lost(lines[2].notes.trajectory.answers)[2], "taken")
end)

-- ---- the manifest ----

test("the manifest's defaults are the library's", function()
  local key = require "apsis.project.trajectory"
  local given = {}
  for _, field in ipairs(key.node.fields) do given[field[1]] = field[2].default end
  local draft = { value = { trajectory = given }, stands = function() return false end,
    refused = function() return false end }
  key.check(draft)
  equal(given, trajectory.defaults)
end)

tap.done()
