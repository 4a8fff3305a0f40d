-- experiment: one turn of the loop in its details: what select, prompt, stage and accept may return, what is merged of measurements,
-- how it ends, and in which words. The rules in general: contract.lua.
local fake = require "fake"
local tap = require "tap"
local test, equal, matches = tap.test, tap.equal, tap.matches

-- The line of experiment 1 under a strategy (its body), and the engine.
local function one(body, spec)
  spec = spec or {}
  spec.budget = spec.budget or { iterations = 1 }
  local lines, ended, engine = fake.run("return {" .. body .. "}", spec)
  return lines[2], engine, ended, lines
end

local function ends(body, outcome, reason, spec)
  local line = one(body, spec)
  equal({ line.outcome, ((line.rollback_reason or ""):gsub("^/[^ ]*%.lua: ", "")) }, { outcome, reason }, body)
  return line
end

local function answers(...)
  local list = { ... }
  return { answers = function(_, _, index) return list[index] end }
end

local function measured(...)
  local list, at = { ... }, 0
  return { stage_list = { 1, 2, 5 }, measure = function()
    at = at + 1
    return list[at]
  end }
end

local two = "plan = function(run) return { parents = { run.best }, k = 2 } end, "

test("select that takes none: why, and what counts as the provider's failure", function()
  local failed, fine = { error = "first" }, { edits = { x = 1 } }
  for _, case in ipairs {
    { "return nil", "skipped_provider_failure", "first", failed, { error = "second" } },
    { "return nil", "skipped_not_selected", "first", failed, fine },
    { "return nil", "skipped_not_selected", "the provider gave no answer", fine, failed },
    { "return nil, 'mine'", "skipped_not_selected", "mine", failed, fine },
    { "return nil, nil, { duplicate_of = 'c0000' }", "skipped_duplicate", "nearly the same as c0000", fine, fine },
    { "return nil, 'alike', { duplicate_of = 'c0000' }", "skipped_duplicate", "alike", fine, fine },
    { "return nil, { duplicate_of = 'c0000' }", "skipped_duplicate", "nearly the same as c0000", fine, fine },
    { "return 3", "skipped_strategy_error", "hook select returned 3, which is no answer's index", fine, fine },
    { "return 1", "skipped_provider_failure", "first", failed, fine },
  } do
    ends(two .. "select = function() " .. case[1] .. " end", case[2], case[3], { world = answers(case[4], case[5]) })
  end
  local line = ends("select = function() return 1, { learned = 'l', notes = { a = 1 } } end", "kept", "")
  equal({ line.learned, line.notes }, { "l", { a = 1 } })
  line = ends("select = function() return 1, 'why', { learned = 'l' } end", "kept", "")
  equal(line.learned, "l")
  ends("", "skipped_provider_failure", "exit 3", { world = answers { error = "exit 3" } })
  ends("", "skipped_provider_failure", "the provider gave no answer", { world = { propose = function() return {} end } })
end)

test("a prompt is a text or messages, asked for when the world wants it, or when the provider does", function()
  local seen
  local world = { answers = function(slot, prompt)
    seen = { prompt, slot.ask_prompt and slot.ask_prompt() }
    return { edits = { x = 1 } }
  end }
  one("prompt = function(run, proposal) return 'try ' .. proposal.operator end", { world = world })
  equal(seen, { "try exploitation", "try exploitation" })
  one("prompt = function() return { { role = 'user', content = 'c' } } end", { world = world })
  equal(seen[1], { { role = "user", content = "c" } })
  world.wants_prompt = false
  one("prompt = function() return 'on demand' end", { world = world })
  equal(seen, { [2] = "on demand" })
  one("", { world = world })
  equal(seen, {})
  ends("prompt = function() return 5 end", "skipped_strategy_error",
    "hook prompt returned number, not a string or a list of messages", { world = world })
end)

test("what answers took is added up, and the world hears of it if it is more", function()
  local told = {}
  local world = answers({ edits = { x = 1 }, tokens = 3, cost = 0.25 }, { edits = { x = 2 }, tokens = 4, cost = 0.5 })
  function world.spent(_, slot) told[#told + 1] = { slot.tokens, slot.cost, slot.answered } end
  local line = one(two, { world = world })
  equal({ line.tokens, line.cost, line.answers, told }, { 7, 0.75, 2, { { 7, 0.75, 2 } } })
  told = {}
  world.answers = function() return { edits = { x = 1 } } end
  line = one("", { world = world })
  equal({ line.tokens, line.cost, line.answers, told }, { nil, nil, nil, {} }) -- nobody reported it: unknown, not 0
  world.answers = function() return { edits = { x = 1 }, tokens = 0, cost = 0 } end
  line = one("", { world = world })
  equal({ line.tokens, line.cost, told }, { 0, 0, {} })
  world.answers = function() return { edits = { x = 1 }, cost = 0 } end
  one("", { world = world })
  equal(told, {})
  world.answers = function() return { edits = { x = 1 }, cost = 0.5 } end
  one("", { world = world })
  equal(told, { { nil, 0.5, 1 } })
  line = one("plan = function(run) return { parents = { run.best }, edits = { x = 2 } } end")
  equal({ line.tokens, line.cost, line.answers }, {})
end)

test("a proposal that is asked for again keeps its model, and the first one stands in the line", function()
  local line = one([[select = function(run, proposal)
    if proposal.title then return 1 end
    return "resample", { parents = { run.best }, title = "again" } end]],
    { models = { { name = "m" }, { name = "n" } }, model_choice = "fixed" })
  equal({ line.proposal.title, line.proposal.model, line.plan, line.answers },
    { "again", "m", { parents = { "c0000" }, operator = "exploitation", model = "m" }, 2 })
  ends("select = function() return 'resample', 5 end", "skipped_strategy_error", "resample: a proposal must be a table, not number")
end)

test("of a measurement finite values count: the median of its samples, and secondary metrics beside the primary one", function()
  local base = { value = 1 }
  local line, engine = one("", { world = measured(base, base, base, { value = 2, samples = { 2, 4, 9 },
    metrics = { ms = 5, wrong = 0 / 0, far = math.huge }, items = { a = { score = 1 } } }, { value = 4, samples = { 4 }, metrics = { kb = 6 } },
    { value = 7, samples = { 8, 7 } }) })
  equal({ line.primary_metric, line.samples, line.secondary_metrics, line.items, line.stage, line.measurements },
    { 7.5, { 8, 7 }, { ms = 5, kb = 6 }, { a = { score = 1 } }, 5, 3 })
  equal(engine.history.best.id, "c0001")
  line = one("", { world = measured(base, base, base, { value = 2, samples = { 2 } }, { value = 0 / 0 }, { value = -math.huge }) })
  equal({ line.primary_metric, line.samples }, { 2, { 2 } })
  line = one("", { world = measured(base, base, base, { value = 3, samples = { 5 } }, {}, {}) })
  equal({ line.primary_metric, line.samples }, { 5, { 5 } })
end)

test("what could not be measured where verifications run has no value, is nobody's fault, and can be tried again", function()
  local base, lost = { value = 1 }, { status = "unmeasured", reason = "no node" }
  local line, engine = one("", { budget = { iterations = 2 }, world = measured(base, base, base, { value = 5 }, lost, { value = 5 },
    { value = 5 }, { value = 5 }) })
  equal({ line.outcome, line.status, line.rollback_reason, line.primary_metric }, { "skipped_executor_failure", "crash", "no node" })
  equal(engine.history.newest.outcome, "kept") -- the same tree
  local lines, ended = fake.run("return { options = { patience = 1 } }", { budget = { iterations = 50 }, strategy = "x",
    world = { measure = function(_, _, slot) return slot.baseline and { value = 1 } or lost end } })
  equal(lines[3].outcome, "skipped_executor_failure") -- patience counts none
  equal({ #lines, ended.code }, { 4, 3 })
  matches(ended.message, "^stopping: nothing could be measured in 3 consecutive experiments; fix that, then `apsis run` resumes: no node")
end)

test("a verification that ends without a value has failed, and one that crashed is no measurement", function()
  local base = { value = 1 }
  ends("", "skipped_verification_crash", "no metric score", { world = measured(base, base, base, {}, {}, {}) })
  ends("", "skipped_verification_crash", "it is not there", { world = measured(base, base, base, {}, {}, { missing = "it is not there" }) })
  local line = ends("", "skipped_verification_crash", "boom",
    { world = measured(base, base, base, { value = 5 }, { status = "crash", reason = "boom" }) })
  equal({ line.primary_metric, line.samples, line.measurements, line.stage }, { nil, nil, 2, 2 })
  line = ends("", "skipped_verification_crash", "late", { world = measured(base, base, base, { status = "timeout", reason = "late" }) })
  equal(line.measurements, 1)
end)

test("the stage hook: what it may return, and the error if it returns something else", function()
  local function stage(body) return "stage = function(run, candidate, stage) " .. body .. " end" end
  local world = { stage_list = { 1, 2 } }
  local spec = { world = world }
  ends(stage "return false", "reverted_stage_failure", "stopped after stage 1", spec)
  local line = ends(stage "return false, 'why', { learned = 'l' }", "reverted_stage_failure", "why", spec)
  equal({ line.learned, line.secondary_metrics, line.primary_metric }, { "l", { score = 1 } })
  line = ends(stage "return false, { learned = 'l' }", "reverted_stage_failure", "stopped after stage 1", spec)
  equal(line.learned, "l")
  ends(stage "return 5", "skipped_strategy_error", "hook stage returned 5", spec)
  ends(stage "return { repeats = 0 }", "skipped_strategy_error", "hook stage: repeats must be a whole number, 1 or more", spec)
  equal(ends(stage "return nil", "kept", "", spec).stage, 2)
  equal(ends(stage "candidate.value = 99 return true", "kept", "", spec).primary_metric, 1)
  line = ends(stage "return { stage = 1 }", "skipped_strategy_error", "hook stage asked for 1,000 more stages", spec)
  equal(line.measurements, 1000)
end)

test("a threshold judges whole stages only", function()
  local body = "stage = function(run, candidate, stage) if run.options.asked then return true end return %s end, options = { asked = false }"
  for request, outcome in pairs { ["{ stage = 2, items = { 'a' } }"] = "skipped_strategy_error",
    ["{ stage = 2, split = 'test' }"] = "skipped_strategy_error", ["{ stage = 2 }"] = "reverted_stage_failure" } do
    equal(one(body:format(request), { world = { stage_list = { 1, 2 } }, thresholds = { [2] = 5 } }).outcome, outcome, request)
  end
  ends("", "reverted_stage_failure", "stage 1: no metric score, so that its threshold 5 is not reached",
    { world = measured({ value = 1 }, { value = 1 }, { value = 1 }, {}), thresholds = { 5 } })
end)

test("accept: what it may return, and what it may have measured", function()
  local function accept(body) return "accept = function(run, candidate) " .. body .. " end" end
  ends(accept "return true, { learned = 'l' }", "kept", "")
  equal(one(accept "return true, { learned = 'l' }").learned, "l")
  equal(one(accept "return true, 'why', { learned = 'l' }").notes, { kept_because = "why" })
  ends(accept "return nil", "reverted_rejected", "the strategy rejected it although it is better than the best")
  ends(accept "return false, 'mine'", "reverted_rejected", "mine")
  ends(accept "return 5", "skipped_strategy_error",
    'hook accept returned 5: expected true or false and a reason, or "measure" and a table')
  for request, problem in pairs { ["nil"] = 'accept returned "measure" without { ids = {...} }',
    ["{ ids = {} }"] = 'accept returned "measure" without { ids = {...} }',
    ["{ ids = 'c0000' }"] = 'accept returned "measure" without { ids = {...} }',
    ["{ ids = { 'c0000' }, repeats = 0 }"] = 'accept returned "measure": repeats must be a whole number, 1 or more',
    ["{ ids = { 'c0099' } }"] = "measure: no candidate c0099" } do
    ends(accept("return 'measure', " .. request), "skipped_strategy_error", problem)
  end
  ends(accept "return 'measure', { ids = { 'c0000' } }", "skipped_strategy_error", 'hook accept asked to "measure" 1,000 times')
  local short = "budget: 2 measurements are asked for, 1 are left"
  ends(accept "return 'measure', { ids = { 'c0000' }, repeats = 2 }", "reverted_rejected", short, { budget = { measurements = 2 } })
  ends(accept "return 'measure', { ids = { 'c0000', 'c0001' } }", "reverted_rejected", short, { budget = { measurements = 2 } })
  local requests = {}
  local line = one(accept [[if #candidate.samples > 1 then return true end
    return "measure", { ids = { "c0000", candidate.id }, stage = 3, items = { "a" }, split = "s" }]],
    { world = { measure = function(x, request)
      requests[#requests + 1] = request
      return { value = x + #requests }
    end } })
  equal({ line.trace, line.samples, line.primary_metric }, { { { id = "c0000", value = 3 }, { id = "c0001", value = 5 } }, { 3, 5 }, 4 })
  equal(requests[4], { repeats = 1, stage = 3, items = { "a" }, split = "s" })
end)

test("accept has each candidate measured at the stage of its own value", function()
  local seen = {}
  local lines = select(4, one([[stage = function(run) if run.experiment == 1 then return false, "enough" end end,
    accept = function(run, candidate)
      if #candidate.samples > 1 then return true end
      return "measure", { ids = { "c0000", "c0001", candidate.id } } end]],
    { budget = { iterations = 2 }, world = { stage_list = { 1, 2, 5 },
      answers = function(slot) return { edits = { x = slot.number } } end, measure = function(x, request, _, record)
      if request.usual then seen[#seen + 1] = record.id .. " " .. request.stage end
      return { value = x }
    end } }))
  equal({ lines[3].outcome, fake.column(lines, "stage") }, { "kept", { 5, 1, 5 } })
  equal(seen, { "c0000 5", "c0001 1", "c0002 5" })
end)

test("each hook draws from a stream of its own, learn and init too", function()
  local source = [[return {
    init = function(run) run.memory.drawn = { run.rng:random() } end,
    accept = function(run) return run.rng:random() < 2 end,
    learn = function(run) table.insert(run.memory.drawn, run.rng:random()) end,
    plan = function(run) return { parents = { run.baseline }, notes = { drawn = table.concat(run.memory.drawn, " ") } } end }]]
  local lines, _, engine = fake.run(source, { budget = { iterations = 2 } })
  local function first(number, hook) return ("%.14g"):format(require("apsis.random").stream(engine.seed, number, hook):random()) end
  equal(lines[3].notes.drawn, table.concat({ first(0, "init"), first(0, "learn"), first(1, "learn") }, " "))
end)

test("a candidate in accept has what its line will have, and what it is changed to is not journalled", function()
  local line = one([[accept = function(run, candidate)
      local c, kinds = candidate, {}
      for _, name in ipairs { "id", "candidate", "commit", "tree", "operator", "changed_lines", "primary_metric" } do
        kinds[#kinds + 1] = name .. " " .. tostring(c[name])
      end
      for _, name in ipairs { "samples", "metrics", "secondary_metrics", "parents" } do
        local list = {}
        for key, value in pairs(c[name]) do list[#list + 1] = key .. "=" .. value end
        table.sort(list)
        kinds[#kinds + 1] = name .. " " .. table.concat(list, ",")
      end
      kinds[#kinds + 1] = tostring(c.proposal.operator) .. " " .. #c.trace .. " " .. tostring(next(c.notes))
      c.samples[1], c.metrics.ms, c.secondary_metrics.ms = 99, 99, 99
      return false, table.concat(kinds, "; ")
    end]], { world = measured({ value = 1 }, { value = 1 }, { value = 1 },
      { value = 2, samples = { 2, 2 }, metrics = { ms = 5 } }, { value = 2 }, { value = 2 }) })
  equal(line.rollback_reason, "id c0001; candidate c0001; commit " .. ("0"):rep(39) .. "1; tree x=1; operator exploitation; "
    .. "changed_lines 1; primary_metric 2; samples 1=2,2=2; metrics ms=5,score=2; secondary_metrics ms=5; parents 1=c0000; "
    .. "exploitation 0 nil")
  equal({ line.samples, line.secondary_metrics }, { { 2, 2 }, { ms = 5 } })
end)

test("what hooks and providers give for the line is checked, with the file's name", function()
  for body, problem in pairs {
    ["accept = function() return true, 5 end"] = "a reason must be a string, not a number",
    ["accept = function() return true, nil, 5 end"] = "what a hook returns last must be a table, not a number",
    ["accept = function() return true, nil, { learned = 5 } end"] = "learned must be a string, not a number",
    ["accept = function() return true, nil, { model = 5 } end"] = "model must be a string, not a number",
    ["accept = function() return true, nil, { notes = 5 } end"] = "notes must be a table",
    ["select = function() return 1, nil, { hypothesis = {} } end"] = "hypothesis must be a string, not a table",
  } do
    ends(body, "skipped_strategy_error", problem)
  end
  matches(one("accept = function() return true, nil, { notes = { print } } end").rollback_reason, "%.lua: notes: .*function")
  ends("", "skipped_strategy_error", "description must be a string, not a number", { world = answers { edits = { x = 1 }, description = 5 } })
end)

test("a question that nobody answers is the provider's failure, and an answer stands in the line", function()
  local plan = "plan = function(run) if run.experiment == 1 then return { ask = 'why' } end end"
  ends(plan, "skipped_provider_failure", "busy", { world = { ask = function() return { error = "busy", tokens = 2 } end } })
  local line = one(plan, { world = { ask = function(_, _, question) return { text = question .. "?", tokens = 2, cost = 0.5 } end } })
  equal({ line.answer, line.tokens, line.cost, line.candidate, line.primary_metric }, { "why?", 2, 0.5 })
end)

test("a trade names each metric that got worse, and only those", function()
  local world = { measure = function(x) return { value = x, metrics = { ms = 1 + x, kb = 2 - x, same = 3, rate = x, [x > 0 and "new" or "old"] = 1 } } end }
  local metrics = { ms = { direction = "lower" }, kb = { direction = "higher" }, same = { direction = "lower" },
    rate = { direction = "higher" }, new = { direction = "lower" }, old = { direction = "lower" } }
  equal(one("", { world = world, metrics = metrics }).learned,
    "trade: kb went from 2 to 1; ms went from 1 to 2, worse, for the gain in score")
  equal(one("accept = function() return false end", { world = world, metrics = metrics }).learned, nil)
end)

test("what select says of an answer, in each of its texts, comes before what the answer says", function()
  local source = [[return { select = function(run, proposal, answers) return 1, nil,
    { hypothesis = "h2", description = "d2", learned = "l2", next_action_hint = "n2" } end }]]
  local function line(given)
    return fake.run(given, { budget = { iterations = 1 }, world = { answers = function()
      return { edits = { x = 1 }, hypothesis = "h", description = "d", learned = "l", next_action_hint = "n" }
    end } })[2]
  end
  local function texts(made) return { made.hypothesis, made.description, made.learned, made.next_action_hint } end
  equal(texts(line(source)), { "h2", "d2", "l2", "n2" })
  equal(texts(line "return {}"), { "h", "d", "l", "n" })
end)

test("an afterthought is added to what was learned, and its notes come over those of the hooks", function()
  local engine = fake.engine("return { accept = function() return true, nil, { learned = 'a', next_action_hint = 'b', notes = { x = 1, y = 1 } } end }",
    { budget = { iterations = 3 } })
  local said = { { learned = "l", next_action_hint = "n", notes = { y = 2, z = 3 } }, {}, nil }
  function engine.afterthought(_, slot, outcome, reason) return said[slot.number], equal({ outcome, reason }, { "kept" }) end
  assert(engine:run { run_number = 1 })
  local first, second = engine.journal:read(2), engine.journal:read(3)
  equal({ first.learned, first.next_action_hint, first.notes }, { "a; l", "n", { x = 1, y = 2, z = 3 } })
  equal({ second.learned, second.next_action_hint, second.notes }, { "a", "b", { x = 1, y = 1 } })
end)

test("the last word ends a decision, confirms it, or has it made again", function()
  local said
  local spec = { world = { last_word = function() return function() return said end end } }
  said = { outcome = "reverted_gate_failure", reason = "red" }
  equal(ends("accept = function() return true, nil, { learned = 'l' } end", "reverted_gate_failure", "red", spec).learned, "l")
  said = { outcome = "kept", reason = "green" }
  equal(ends("accept = function() return true, 'mine' end", "kept", "", spec).notes, { kept_because = "mine" })
  local asked = 0
  spec.world.last_word = function() return function()
    asked = asked + 1
    return asked == 3 and { outcome = "kept" } or nil
  end end
  ends("", "kept", "", spec)
  equal(asked, 3)
  ends("accept = function() return false end", "reverted_rejected", "the strategy rejected it although it is better than the best", spec)
  equal(asked, 3)
end)

test("the same failure in a row ends the run, with the exit code, the remedy and the first line of the reason", function()
  local fails = { answers = function() return { error = "down\nand more" } end, asks_others = true }
  local _, _, ended, lines = one("", { world = fails, budget = { iterations = 9 } })
  equal({ #lines, ended.code, ended.message }, { 4, 4, "stopping: the provider failed in 3 consecutive experiments; "
    .. "when it works again, `apsis run` resumes: down" })
  local prose = { answers = function() return { error = "no edit", text = "prose" } end, asks_others = true }
  _, _, ended, lines = one("", { world = prose, budget = { iterations = 29 } })
  equal({ #lines, ended.code, ended.message }, { 21, 4, "stopping: the model answered without a usable edit in 20 "
    .. "consecutive experiments; `apsis show ID --prompt` has what it was asked: no edit" })
  _, _, ended, lines = one("", { world = fails, budget = { iterations = 9 }, models = { { name = "a" }, { name = "b" } } })
  equal({ #lines, ended.code }, { 7, 4 })
  fails.asks_others = nil
  _, _, ended, lines = one("", { world = fails, budget = { iterations = 9 } })
  equal({ #lines, ended.code }, { 10 })
  _, _, ended, lines = one("accept = function() error('boom', 0) end", { world = { in_a_row = 1 }, budget = { iterations = 9 } })
  equal({ #lines, ended.code, (ended.message:gsub("/[^ ]*%.lua", "FILE")) },
    { 2, 2, "stopping: the strategy failed; fix it and run `apsis run` to resume: FILE: hook accept: boom" })
  local both = { answers = function(slot) return { error = "down", edits = slot.number % 2 == 0 and { x = 1 } or nil } end, asks_others = true }
  function both.propose(_, slot) return slot.number % 3 == 0 and { { edits = { x = 1 } } } or { { error = "down" } } end
  _, _, ended, lines = one("", { world = both, budget = { iterations = 9 } })
  equal({ #lines, ended.code }, { 10 })
end)

test("a world or a journal that is broken ends the run before the next line", function()
  for _, part in ipairs { "world", "journal" } do
    local engine = fake.engine("return {}")
    engine[part].broken = { fatal = true, message = part, code = 5 }
    equal({ engine:run { run_number = 1 } }, { nil, part, 5 })
    equal(engine.history.count, 1)
  end
  local engine = fake.engine "return {}"
  engine.journal.append = function() return nil, "j:7: wrong", "EIO" end
  equal({ engine:run { run_number = 1 } }, { nil, "the journal cannot be written, so the run stops: j:7: wrong", 3 })
  engine = fake.engine "return {}"
  engine.journal.append = function() error("a mistake", 0) end
  matches(select(2, pcall(engine.run, engine, { run_number = 1 })), "^a mistake\nstack traceback:")
end)

test("a learn that fails ends a fold and a run", function()
  local ok, message = pcall(fake.engine, "return { learn = function() error('boom', 0) end }")
  equal(ok, false)
  matches(message, ": hook learn: boom")
  local source = "return { learn = function(run) if run.experiment == 1 then error('boom', 0) end end }"
  local _, ended, engine = fake.run(source)
  equal(ended.code, 2)
  matches(ended.message, "^/.*%.lua: hook learn: boom")
  local again = fake.engine("return {}", { texts = engine.journal.texts })
  again.strategy = fake.strategy(source)
  again.history = require("apsis.core.history").new(again.metric, again.journal)
  local folded, why, code = again:fold()
  equal({ folded, code }, { nil, "ESTRATEGY" })
  matches(why, ": hook learn: boom")
  again.journal.each = function() error("a mistake", 0) end
  equal({ pcall(again.fold, again) }, { false, "a mistake" })
end)

test("init sees the beginning of time, learn the moment when its experiment was planned, live and when it is folded again", function()
  local _, engine = one [[init = function(run) run.memory.seen = run.experiment .. "@" .. run.now end,
    learn = function(run, record)
      run.memory.seen = run.memory.seen .. " " .. record.experiment .. "=" .. run.experiment .. "@" .. run.now
    end]]
  local live = "0@0 0=0@1000 1=1@1001"
  equal(engine.strategy.memory.seen, live)
  engine.history = require("apsis.core.history").new(engine.metric, engine.journal)
  assert(engine:fold())
  equal(engine.strategy.memory.seen, live)
end)

test("a line has the time when it was written, and how long its experiment took", function()
  local engine = fake.engine("return {}", { budget = { iterations = 1 } })
  engine.world.clock = 100000
  engine.world.measure = function(x)
    engine.world.clock = engine.world.clock + 7
    return { value = x }
  end
  assert(engine:run { run_number = 1 })
  local record = engine.journal:read(2)
  equal({ record.seconds, record.timestamp }, { 8, "1970-01-02T03:46:48Z" })
end)

test("a clock that is set back while an experiment runs changes no duration", function()
  local steady = 50
  local engine = fake.engine("return {}", { budget = { iterations = 1 }, world = { steady = function() return steady end,
    measure = function(x)
      steady = steady + 3
      return { value = x }
    end } })
  local measure = engine.world.measure
  engine.world.measure = function(x)
    engine.world.clock = engine.world.clock - 86400
    return measure(x)
  end
  assert(engine:run { run_number = 1 })
  local record = engine.journal:read(2)
  equal({ record.seconds, record.timestamp }, { 3, "1969-12-31T00:16:42Z" })
end)

test("the world hears of each phase, the baseline's too", function()
  local heard = {}
  one("accept = function() return false end", { world = { phase = function(_, slot, outcome)
    table.insert(heard, ("%d %s %s"):format(slot.number, slot.phase, outcome or "-"))
  end } })
  equal(heard, { "0 VERIFY -", "0 LOG -", "1 PLAN -", "1 APPLY_CHANGE -", "1 COMMIT -", "1 VERIFY -", "1 DECIDE -",
    "1 LOG reverted_rejected" })
end)

test("numbers begin where they may, and what is measured of a baseline is its line", function()
  local engine = fake.engine("return {}", { budget = { iterations = 2 }, world = { stage_list = { 1, 2 }, measure = function(x, request)
    return { value = x + request.stage, metrics = { first = request.first and 1 or 0 } }
  end } })
  local first = engine.journal:read(1)
  equal({ first.experiment, first.primary_metric, first.measurements, first.secondary_metrics, first.run, first.seen, first.metric,
    first.direction, first.operator, first.seed, first.candidate }, { 0, 2, 2, { first = 0 }, 0, 0, "score", "higher", "baseline", 1, "c0000" })
  assert(engine:run { run_number = 3, numbering = 5 })
  equal({ engine.journal:read(2).experiment, engine.journal:read(3).experiment, engine.journal:read(2).run }, { 5, 6, 3 })
  local outcome = assert(engine:baseline(4, { numbering = 3 }))
  equal({ outcome.record.experiment, outcome.values, outcome.measurement.stage }, { 7, { 2 }, 2 })
  equal(assert(engine:baseline(4, { numbering = 20 })).record.experiment, 20)
  engine.world.measure = function() return { status = "crash", reason = "broken", value = 5 } end
  outcome = assert(engine:baseline(4))
  equal({ outcome.record.value, outcome.record.samples, outcome.record.status, outcome.record.rollback_reason, outcome.values,
    outcome.record.measurements }, { nil, nil, "crash", "broken", {}, 1 })
  engine.world.measure = function() return { missing = "no metric" } end
  outcome = assert(engine:baseline(4))
  equal({ outcome.record.status, outcome.record.rollback_reason }, { "crash", "no metric" })
end)

test("an engine that is given little has one worker and the first seed, and a line that lacks a time was planned at 0", function()
  local loop, listed, seen = require "apsis.core.loop", require "apsis.core.listed", {}
  local strategy = assert(fake.strategy "return { learn = function(run, line) run.memory.now = run.now end }")
  local journal = listed.new()
  local engine = loop.new { strategy = strategy, world = {}, journal = journal, metric = { name = "score" } }
  equal({ engine.workers, engine.seed, engine.busy, engine.elapsed_s, engine.thresholds, engine.objections, engine.streak.length,
    engine.metric_names, engine:free(), engine:may_start(), engine:pending(), engine:in_flight() }, { 1, 1, 0, 0, {}, {}, 0, {}, 1, 1, {}, {} })
  journal:append { experiment = 0, outcome = "baseline", primary_metric = 1, timestamp = "x" }
  assert(engine:fold(function(record) seen[#seen + 1] = record.experiment end))
  equal({ strategy.memory.now, seen }, { 0, { 0 } })
  strategy.memory = nil
  journal.lines[1].planned = 5
  engine = loop.new { strategy = strategy, world = {}, journal = journal, metric = { name = "score" } }
  assert(engine:fold())
  equal(strategy.memory.now, 5)
end)

test("run: what it has, newest first, and what it has not", function()
  local spec = { budget = { iterations = 13 }, world = { notes = { "a", "b" } }, models = { { name = "m" } }, seed = 9 }
  local line, engine = one([[plan = function(run)
    if run.experiment < 13 then return {} end
    local ids = {}
    for index, record in ipairs(run.recent()) do ids[index] = record.id end
    run.log("a", 1, nil)
    run:log("b")
    local ok, message = pcall(function() return run.bset end)
    local refused = select(2, pcall(function() run.best = 1 end))
    local history = select(2, pcall(function() run.history[1] = 1 end))
    return { notes = { ids = ids, three = #run.recent(3), all = #run:recent(99), none = #run.recent(0), free = run.free,
      directions = run.directions, seed = run.seed, name = run.name, unknown = message, refused = refused, history = history,
      project = run.project.name, experiment = run.experiment, tie = run.tie_breaker, metric = run.metric.name } }
  end]], spec)
  equal(line.outcome, "kept")
  local notes = engine.journal:read(14).notes
  equal({ notes.ids[1], notes.ids[10], #notes.ids, notes.three, notes.all, notes.none, notes.free, notes.directions, notes.seed, notes.name },
    { "c0012", "c0003", 10, 3, 13, 0, 1, { "a", "b" }, 9, "fake" })
  equal({ notes.project, notes.experiment, notes.tie, notes.metric }, { "fake", 13, "changed_loc", "score" })
  matches(notes.unknown, '^/[^ ]*%.lua:%d+: a run has no field "bset"; did you mean "best"%?$')
  matches(notes.refused, "^/[^ ]*%.lua:%d+: run.best: a run is read%-only; run.memory %(in init and learn%) is where a strategy remembers$")
  matches(notes.history, "^/[^ ]*%.lua:%d+: run.history is read%-only$")
  equal(engine.world.logged, { "experiment 13: a 1 nil", "experiment 13: b" })
end)

test("memory is read like a table, in order, and written by init and learn only", function()
  local line = one [[init = function(run) run.memory.b, run.memory.a, run.memory[1] = 2, 1, "x" end,
    plan = function(run)
      local seen = { #run.memory }
      for key, value in pairs(run.memory) do seen[#seen + 1] = tostring(key) .. value end
      return { notes = { seen = seen, refused = select(2, pcall(function() run.memory.c = 1 end)) } }
    end]]
  equal(line.notes.seen, { 1, "1x", "a1", "b2" })
  matches(line.notes.refused, "^/[^ ]*%.lua:%d+: only init and learn may write run.memory: what plan must remember is read from run.pending$")
end)

test("streams are an experiment's, a hook's and a part's own", function()
  local line = one [[plan = function(run) return { notes = { a = run.rng:integer(1, 1000000000), b = run.rng:integer(1, 1000000000) } } end,
    select = function(run) return 1, nil, { notes = { c = run.rng:integer(1, 1000000000) } } end]]
  local random = require "apsis.random"
  local plan, chosen = random.stream(1, 1, "plan"), random.stream(1, 1, "select")
  equal(line.notes, { a = plan:integer(1, 1000000000), b = plan:integer(1, 1000000000), c = chosen:integer(1, 1000000000) })
end)

tap.done()
