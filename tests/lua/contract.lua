-- The strategy contract: every hook and every rule of it, each by a small strategy that uses it, over a world without git.
local fake = require "fake"
local tap = require "tap"
local wait = require "apsis.wait"
local test, equal, matches = tap.test, tap.equal, tap.matches

test("an empty strategy climbs: it keeps what is better and stops when the budget is used", function()
  local lines, ended = fake.run("return {}", { budget = { iterations = 3 } })
  equal(fake.column(lines, "outcome"), { "baseline", "kept", "kept", "kept" })
  equal(fake.column(lines, "primary_metric"), { 0, 1, 2, 3 })
  matches(ended.reason, "budget: iterations used up %(3 in this run%)")
end)

test("lower is better works with the same strategy", function()
  local world = { answers = function(slot) return { edits = { x = slot.number % 2 == 0 and 1 or -1 } } end }
  local lines = fake.run("return {}", { budget = { iterations = 4 }, metric = { name = "score", direction = "lower" }, world = world })
  equal(fake.column(lines, "outcome"), { "baseline", "kept", "skipped_duplicate", "kept", "skipped_duplicate" })
end)

test("patience halts, and since_kept counts lines of the current run only", function()
  local source = "return { options = { patience = 2 } }"
  local world = { answers = function(slot) return { edits = { x = -slot.number } } end }
  local lines, ended = fake.run(source, { world = world })
  equal(#lines, 3)
  matches(ended.reason, "no improvement in 2 experiments")
  local again = fake.run(source, { world = world, run = 2, texts = nil })
  equal(#again, 3)
end)

test("the target ends the run, in the metric's direction", function()
  local lines, ended = fake.run("return {}", { metric = { name = "score", direction = "higher", target = 2 } })
  equal(#lines, 3)
  matches(ended.reason, "target reached: 2")
end)

test("a strategy climbs unless it says otherwise; who extends one with another accept says it anew", function()
  for source, expected in pairs {
    ["return {}"] = true, ["return { climbs = false }"] = false,
    ['return require("apsis.strategy").extend("hyperagents", {})'] = false,
    ['return require("apsis.strategy").extend("hyperagents", { accept = function() return true end })'] = true,
  } do equal(assert(fake.strategy(source)).climbs, expected, source) end
  matches(select(2, fake.strategy('return { climbs = 1 }')), "climbs must be true or false, not number")
end)

test("an unknown hook is refused at load, naming the file and the nearest hook", function()
  local strategy, message = fake.strategy("return { acept = function() end }")
  equal(strategy, nil)
  matches(message, 'unknown hook "acept"; did you mean "accept"%?; hooks: init, plan')
end)

test("a syntax error, a wrong type and a file that returns nothing are refused at load", function()
  matches(select(2, fake.strategy("return {")), "lua:1:")
  matches(select(2, fake.strategy("return { plan = 3 }")), 'hook "plan" must be a function')
  matches(select(2, fake.strategy("local x = 1")), "returns a table of hooks, not nil")
end)

test("options are those the strategy declares, of the declared type", function()
  matches(select(2, fake.strategy("return { options = { size = 3 } }", { sise = 4 })), 'unknown option "sise"; did you mean "size"')
  matches(select(2, fake.strategy("return { options = { size = 3 } }", { size = "x" })), "option size must be a number")
  equal(fake.strategy("return { options = { size = 3 } }", { size = 4 }).options.size, 4)
end)

test("plan that returns nil waits until something finishes, and ends the run when nothing is in flight", function()
  local source = [[
    return { plan = function(run)
      if run.experiment > 2 then return nil end
      return { parents = { run.best } }
    end }]]
  local lines, ended = fake.run(source, {})
  equal(#lines, 3)
  matches(ended.reason, "plans nothing more")
end)

test("a group is accepted together, in order, with siblings, when all are measured", function()
  local source = [[
    return {
      plan = function(run)
        if run.free < 3 then return nil end
        local group = {}
        for i = 1, 3 do group[i] = { parents = { run.best }, notes = { place = i } } end
        return group
      end,
      accept = function(run, candidate)
        local best = run.metric:best_of(candidate.siblings)
        return best.id == candidate.id, "of " .. #candidate.siblings
      end,
    }]]
  local world = { answers = function(slot) return { edits = { x = slot.number } } end,
    delay = function(slot) return (4 - slot.number) * 0.01 end }
  local lines = fake.run(source, { workers = 3, budget = { iterations = 3 }, world = world })
  equal(fake.column(lines, "experiment"), { 0, 1, 2, 3 })
  equal(fake.column(lines, "outcome"), { "baseline", "reverted_rejected", "reverted_rejected", "kept" })
  equal(lines[4].notes.kept_because, "of 3")
  equal(lines[2].rollback_reason, "of 3")
end)

test("a group of two that a kill cut off is accepted together when it is done again", function()
  local source = [[
    return {
      plan = function() return nil end,
      accept = function(run, candidate)
        return run.metric:best_of(candidate.siblings).id == candidate.id, "of " .. #candidate.siblings
      end,
    }]]
  local unfinished = {}
  for number = 1, 2 do
    unfinished[number] = { number = number, seen = 1, now = 5, group = { first = 1, size = 2 },
      proposal = { parents = { "c0000" }, edits = { x = 40 + number } } }
  end
  local lines = fake.run(source, { workers = 2, budget = { iterations = 2 }, unfinished = unfinished })
  equal(fake.column(lines, "outcome"), { "baseline", "reverted_rejected", "kept" })
  equal({ lines[2].rollback_reason, lines[3].notes.kept_because }, { "of 2", "of 2" })
end)

test("what another strategy planned before a kill is not done again; a plan of no known one is", function()
  local unfinished = {}
  for number, name in ipairs { "other", false } do
    unfinished[number] = { number = number, seen = 1, now = 5, strategy = name or nil,
      proposal = { parents = { "c0000" }, edits = { x = 40 + number } } }
  end
  local lines = fake.run("return { plan = function() return nil end }",
    { budget = { iterations = 2 }, unfinished = unfinished })
  equal(fake.column(lines, "outcome"), { "baseline", "skipped_not_selected", "kept" })
  matches(lines[2].rollback_reason, "^planned by other, and this run's strategy is ")
end)

test("a group larger than the free workers is a strategy error", function()
  local lines = fake.run([[return { plan = function(run) return { { parents = { run.best } }, { parents = { run.best } } } end }]], {})
  equal(lines[2].outcome, "skipped_strategy_error")
  matches(lines[2].rollback_reason, "group of 2 with run.free 1")
end)

test("a group of one is a proposal like any other, also if others took the budget while plan ran", function()
  local engine = fake.engine("return { plan = function(run) return { { parents = { run.best } } } end }", { budget = { iterations = 1 } })
  function engine.may_start() return 0 end
  assert(engine:run { run_number = 1 })
  equal(engine.history.newest.outcome, "kept")
end)

test("proposals bounds how many wait for the provider, and run.free; the others are measured meanwhile", function()
  local asking, most_asking, measuring, most_measuring, frees = 0, 0, 0, 0, {}
  local world = {
    answers = function(slot)
      asking = asking + 1
      most_asking = math.max(most_asking, asking)
      wait.sleep(0.002)
      asking = asking - 1
      return { edits = { x = slot.number } }
    end,
    measure = function(x)
      measuring = measuring + 1
      most_measuring = math.max(most_measuring, measuring)
      local waited = 0
      while x > 0 and most_measuring < 6 and waited < 5000 do
        wait.sleep(0.001)
        waited = waited + 1
      end
      measuring = measuring - 1
      return { value = x }
    end,
    context = function(_, engine) frees[engine:may_start()] = true end,
  }
  local lines = fake.run("return {}", { workers = 6, proposals = 2, budget = { iterations = 12 }, world = world })
  equal({ #lines, most_asking, most_measuring, frees[1], frees[2], frees[3] }, { 13, 2, 6, true, true, nil })
  lines = fake.run([[return { plan = function(run) return { { parents = { run.best } }, { parents = { run.best } } } end }]],
    { workers = 6, proposals = 1, budget = { iterations = 4 } })
  matches(lines[2].rollback_reason, "group of 2 with run.free 1")
end)

test("measure verifies old candidates again; the samples are theirs, and their value is the median", function()
  local source = [[
    return {
      plan = function(run)
        if run.experiment == 1 then return { parents = { run.best } } end
        if run.experiment == 2 then return { measure = { "c0000", "c0001" }, repeats = 2 } end
        return nil
      end,
    }]]
  local tries = 0
  local world = { measure = function(x)
    tries = tries + 1
    return { value = x + (tries > 2 and 10 or 0) }
  end }
  local lines, _, engine = fake.run(source, { world = world })
  equal(fake.column(lines, "outcome"), { "baseline", "kept", "measured" })
  equal(lines[3].status, nil)
  equal(#lines[3].trace, 4)
  equal(lines[3].candidate, nil)
  equal(engine.history:get("c0001").samples, { 1, 11, 11 })
  equal(engine.history:get("c0001").value, 11)
  equal(engine.history.best.value, 11)
end)

test("ask puts the answer into the line and counts as no rejection", function()
  local source = [[
    return { plan = function(run)
      if run.experiment == 1 then return { ask = { { role = "user", content = "why" } } } end
    end }]]
  local lines, _, engine = fake.run(source, {})
  equal(lines[2].outcome, "asked")
  equal(lines[2].answer, "you asked why")
  equal(engine.history.since_kept, 0)
end)

test("edits need no provider", function()
  local world = { answers = function() error("the provider was asked") end }
  local lines = fake.run("return { plan = function(run) return { parents = { run.best }, edits = { x = 5 } } end }",
    { budget = { iterations = 1 }, world = world })
  equal(lines[2].primary_metric, 5)
end)

test("select chooses one of K answers, or none with a reason", function()
  local source = [[
    return {
      plan = function(run) return { parents = { run.best }, k = 3 } end,
      select = function(run, proposal, answers)
        if run.experiment == 2 then return nil, "nothing worth it" end
        return 3, { learned = "the third", notes = { answers = #answers } }
      end,
    }]]
  local world = { answers = function(_, _, index) return { edits = { x = index } } end }
  local lines = fake.run(source, { budget = { iterations = 2 }, world = world })
  equal(lines[2].primary_metric, 3)
  equal(lines[2].learned, "the third")
  equal(lines[2].notes.answers, 3)
  equal(lines[3].outcome, "skipped_not_selected")
  equal(lines[3].rollback_reason, "nothing worth it")
end)

test("select may ask to resample with a new proposal, at most three times", function()
  local source = [[
    return { select = function(run, proposal, answers)
      if proposal.title == "third" then return 1 end
      return "resample", { parents = { run.best }, title = proposal.title == "second" and "third" or "second" }
    end }]]
  local lines = fake.run(source, { budget = { iterations = 1 } })
  equal(lines[2].outcome, "kept")
  equal(lines[2].proposal.title, "third")
  local asked = 0
  local function answers()
    asked = asked + 1
    return { edits = { x = 1 } }
  end
  local endless = fake.run('return { select = function(run) return "resample", { parents = { run.best } } end }',
    { budget = { iterations = 1 }, world = { answers = answers } })
  equal({ endless[2].outcome, asked }, { "skipped_not_selected", 4 })
  matches(endless[2].rollback_reason, "more than 3 times")
end)

test("a provider that fails is a skipped experiment with its reason", function()
  local lines = fake.run("return {}", { budget = { iterations = 1 }, world = { answers = function() return { error = "exit 3" } end } })
  equal(lines[2].outcome, "skipped_provider_failure")
  equal(lines[2].status, "crash")
  equal(lines[2].rollback_reason, "exit 3")
end)

test("stage may stop a candidate, and may ask for another measurement", function()
  local source = [[
    return { stage = function(run, candidate, stage)
      if stage == 1 and candidate.value < 2 then return false, "below 2" end
      if stage == 1 then return { stage = 7, items = { "a", "b" }, split = "test" } end
      return true
    end }]]
  local asked
  local world = { answers = function(slot) return { edits = { x = slot.number } } end,
    measure = function(x, request)
      if request.stage == 7 then asked = request end
      return { value = x }
    end }
  local lines = fake.run(source, { budget = { iterations = 2 }, world = world })
  equal(fake.column(lines, "outcome"), { "baseline", "reverted_stage_failure", "kept" })
  equal(lines[2].rollback_reason, "below 2")
  equal(asked.items, { "a", "b" })
  equal(lines[3].stage, 7)
end)

test("accept may measure again, interleaved; the fold sees every sample in trace", function()
  local source = [[
    return { accept = function(run, candidate)
      if #candidate.samples < 3 then return "measure", { ids = { candidate.id, run.best.id }, repeats = 2 } end
      return run.metric:better(candidate, run.best)
    end }]]
  local lines, _, engine = fake.run(source, { budget = { iterations = 1 } })
  equal(lines[2].outcome, "kept")
  equal(#lines[2].trace, 4)
  equal(lines[2].trace[2].id, "c0000")
  equal(#engine.history:get("c0000").samples, 3)
end)

test("init and learn write memory; every line is learned in file order; plan may not write", function()
  local source = [[
    return {
      init = function(run) run.memory.seen = {} end,
      learn = function(run, line)
        run.memory.seen[#run.memory.seen + 1] = line.outcome
        run.memory.last = line.value
      end,
      plan = function(run)
        if run.experiment == 1 then assert(#run.memory.seen == 1 and run.memory.seen[1] == "baseline") end
        if run.experiment == 3 then run.memory.spoiled = true end
        return { parents = { run.best } }
      end,
    }]]
  local lines, _, engine = fake.run(source, { budget = { iterations = 3 } })
  equal(fake.column(lines, "outcome"), { "baseline", "kept", "kept", "skipped_strategy_error" })
  matches(lines[4].rollback_reason, "only init and learn may write run.memory")
  equal(#engine.strategy.memory.seen, 4)
end)

test("learn may not wait nor touch processes", function()
  local source = [[
    local process = require "apsis.process"
    return { learn = function() process.run { shell = "true" } end }]]
  tap.raises("learn may not wait", fake.engine, source, {})
end)

test("a fold rebuilds the same memory as the run that wrote the journal", function()
  local source = [[
    return {
      init = function(run) run.memory.sum = 0 end,
      learn = function(run, line) run.memory.sum = run.memory.sum + (line.value or 100) * line.experiment end,
    }]]
  local _, _, engine = fake.run(source, { budget = { iterations = 5 } })
  local again = fake.engine(source, { texts = engine.journal.texts })
  equal(again.strategy.memory.sum, engine.strategy.memory.sum)
end)

test("the same seed and journal give the same decisions, another seed others", function()
  local source = [[
    return { plan = function(run) return { parents = { run.best }, edits = { x = run.rng:integer(1, 1000000) } } end,
      accept = function(run) return run.rng:random() < 0.5 end }]]
  local first, second = fake.run(source, {}), fake.run(source, {})
  equal(fake.column(first, "primary_metric"), fake.column(second, "primary_metric"))
  equal(fake.column(first, "outcome"), fake.column(second, "outcome"))
  local other = fake.run(source, { seed = 2 })
  tap.equal(other[2].primary_metric == first[2].primary_metric, false)
end)

test("a run that is cut and goes on decides as the uncut one did", function()
  local source = [[
    return { plan = function(run) return { parents = { run.current }, edits = { x = run.rng:normal() } } end,
      accept = function(run) return run.rng:random() < 0.5 end }]]
  local whole = fake.run(source, { budget = { iterations = 8 } })
  local _, _, engine = fake.run(source, { budget = { iterations = 3 } })
  local rest = fake.run(source, { budget = { iterations = 8 }, texts = engine.journal.texts, x = engine.world.x })
  equal(fake.column(rest, "primary_metric"), fake.column(whole, "primary_metric"))
  equal(fake.column(rest, "outcome"), fake.column(whole, "outcome"))
end)

test("a proposal in flight at a crash is done again as it was, under its number", function()
  local lines = fake.run("return { plan = function() error('planned anew') end }", { budget = { iterations = 1 },
    unfinished = { { number = 1, seen = 1, now = 5, proposal = { parents = { "c0000" }, edits = { x = 42 }, operator = "saved" } } } })
  equal(lines[2].primary_metric, 42)
  equal(lines[2].operator, "saved")
  equal(lines[2].experiment, 1)
end)

test("a strategy has no finalizers, and what it loads has the strategy's globals", function()
  local source = [[
    return { plan = function()
      assert(setmetatable({}, { __index = { a = 1 } }).a == 1)
      assert(not pcall(load "return math.random()") and not pcall(load "setmetatable({}, { __gc = print })"))
      setmetatable({}, { __gc = function() while true do end end })
    end }]]
  local lines = fake.run(source, {})
  equal(lines[2].outcome, "skipped_strategy_error")
  matches(lines[2].rollback_reason, "__gc is not for strategies")
end)

test("what a hook must not do is refused with its own file and line", function()
  for body, message in pairs {
    ["run.memory.x = 1"] = "only init and learn may write run.memory: what plan must remember is read from run.pending",
    ["run.history[1] = 2"] = "run.history is read-only",
    ["run:children(5)"] = "run.children needs a candidate, or the id of one",
    ["return run.nonsense"] = 'a run has no field "nonsense"',
    ["return run.options.none"] = 'the strategy declares no option "none"',
    ["for k in pairs { [print] = 1 } do return k end"] = "pairs in a strategy visits keys in sorted order; a function key has none",
    ["for k in pairs { [{}] = 1 } do return k end"] = "pairs in a strategy visits keys in sorted order; a table key has none",
    ["setmetatable({}, { __gc = print })"] = "__gc is not for strategies: it would run at a different moment in each run",
    ["coroutine.yield(1)"] = "a hook may wait for a handle, but not yield anything else",
    ["os.time()"] = "os.time is not for strategies: it would make the run impossible to repeat; use run.now",
    ["error 'mine'"] = "mine", ["error('mine', 0)"] = "mine",
  } do
    local line = fake.run("return { plan = function(run)\n" .. body .. "\nend }", { budget = { iterations = 1 } })[2]
    local first = line.rollback_reason:match "^[^\n]*"
    equal(line.outcome, "skipped_strategy_error", body)
    local place, rest = first:match "^(.*%.lua): hook plan: (.*)$"
    equal(rest, (body:find "0%)$" and "" or place .. ":2: ") .. message, body)
  end
end)

test("pairs in a strategy visits keys in sorted order; math.random and os.time raise", function()
  local source = [[
    local function keys(t) local list = {} for key in pairs(t) do list[#list + 1] = key end return table.concat(list, " ") end
    return { plan = function(run)
      assert(keys { zebra = 1, ant = 2, [3] = 1, [1] = 1, cow = 3 } == "1 3 ant cow zebra")
      assert(not pcall(math.random) and not pcall(os.time) and not pcall(os.clock))
      assert(not pcall(keys, { [{}] = 1 }))
      return { parents = { run.best } }
    end }]]
  equal(fake.run(source, { budget = { iterations = 1 } })[2].outcome, "kept")
end)

test("a strategy may require the library and files beside it, not the machinery", function()
  matches(select(2, fake.strategy('require "apsis.core.loop"; return {}')), "not those in its folders")
  equal(type(fake.strategy('local stats = require "apsis.stats"; assert(stats.mean { 1, 3 } == 2); return {}')), "table")
end)

test("of a module that is not there, the message names the file that apsis lacks", function()
  matches(select(2, pcall(require, "apsis.nothing")), "no file 'lua/apsis/nothing.lua' in apsis")
end)

test("a hook that raises costs one experiment; three in a row end the run with exit 2", function()
  local lines, ended = fake.run("return { accept = function() error('boom') end }", { budget = { iterations = 2 } })
  equal(fake.column(lines, "outcome"), { "baseline", "skipped_strategy_error", "skipped_strategy_error" })
  matches(lines[2].rollback_reason, "hook accept: .*boom")
  matches(lines[2].rollback_reason, "stack traceback")
  matches(ended.reason, "budget")
  local _, stopped = fake.run("return { plan = function() error('boom') end }", {})
  equal(stopped.code, 2)
  matches(stopped.message, "hook plan: .*boom")
  equal(stopped.message:find("stack traceback", 1, true), nil)
  for _, hook in ipairs { "prompt", "select", "accept" } do -- as in plan
    local tried
    tried, stopped = fake.run(("return { %s = function() error('boom') end }"):format(hook), {})
    equal({ #tried, stopped.code }, { 4, 2 }, hook)
    matches(stopped.message, "^stopping: the strategy failed in 3 consecutive experiments.*hook " .. hook .. ": .*boom")
  end
  local few = "return { accept = function(run) if run.experiment % 3 > 0 then error('boom') end return true end }"
  equal(#fake.run(few, { budget = { iterations = 9 } }), 10, "two in a row do not")
end)

test("a traceback has the frames of the strategy's file, not those of apsis", function()
  local source = "local function inner(run)\n  return run.best.nothing.x\nend\n"
    .. "return { accept = function(run)\n  return (inner(run))\nend }"
  local reason = fake.run(source, { budget = { iterations = 1 } })[2].rollback_reason
  matches(reason, ":2: attempt to index a nil value.*stack traceback:.*:2: in .*inner.*:5: in ")
  equal(reason:find("apsis/core/", 1, true) or reason:find("tail calls", 1, true), nil, reason)
end)

test("a wrong return is a strategy error that says what was expected", function()
  matches(fake.run("return { accept = function() return 'yes' end }", { budget = { iterations = 1 } })[2].rollback_reason,
    "accept returned yes: expected true or false")
  matches(fake.run("return { plan = function(run) return { parent = { run.best } } end }", {})[2].rollback_reason,
    'unknown key "parent" in a proposal; did you mean "parents"')
  matches(fake.run("return { plan = function(run) return { parents = { 'c9999' } } end }", {})[2].rollback_reason,
    "parents%[1%] is no candidate: c9999")
  for key, part in pairs { ["split = 'test'"] = "split goes with measure", ["repeats = 3"] = "repeats goes with measure",
    ["items = { 'a' }"] = "items goes with measure", ["stage = 2"] = "stage goes with measure",
    ["edits = { x = 1 }, measure = { run.best }"] = "measure and edits: a proposal has one of them" } do
    local source = ("return { plan = function(run) return { %s } end }"):format(key)
    matches(fake.run(source, {})[2].rollback_reason, part)
  end
  matches(fake.run("return { select = function() return 7 end }", { budget = { iterations = 1 } })[2].rollback_reason,
    "select returned 7")
end)

test("an endless loop is stopped by the guard, even behind pcall and in a coroutine of its own", function()
  local guard = require "apsis.guard"
  guard.limits { cpu_s = 0.2 }
  for _, body in ipairs { "while true do end", "while true do pcall(function() while true do end end) end",
    "coroutine.wrap(function() while true do end end)()", "while true do pcall(coroutine.wrap(function() while true do end end)) end" } do
    local lines = fake.run(("return { accept = function() %s end }"):format(body), { budget = { iterations = 1 } })
    equal(lines[2].outcome, "skipped_strategy_error")
    matches(lines[2].rollback_reason, "over its limit of 0.2 s of CPU", body)
    equal(lines[2].rollback_reason:find("hooks.lua", 1, true), nil, body)
  end
  guard.limits {}
end)

test("unbounded memory is stopped by the guard, and the run goes on", function()
  local guard = require "apsis.guard"
  guard.limits { memory_mb = 32 }
  local source = [[
    return { accept = function(run)
      if run.experiment > 1 then return true end
      local t = {}
      for i = 1, math.huge do t[i] = ("x"):rep(1000) .. i end
    end }]]
  local lines = fake.run(source, { budget = { iterations = 2 } })
  guard.limits {}
  equal(fake.column(lines, "outcome"), { "baseline", "skipped_strategy_error", "kept" })
  matches(lines[2].rollback_reason, "over its limit of 32 MB of memory")
end)

test("extend overrides hooks of a base and merges options", function()
  local source = [[
    local strategy = require "apsis.strategy"
    return strategy.extend("hillclimb", { options = { patience = 1, extra = 2 }, accept = function() return false, "never" end })]]
  local lines, ended, engine = fake.run(source, {})
  equal(lines[2].rollback_reason, "never")
  matches(ended.reason, "no improvement in 1 experiments")
  equal(engine.strategy.options.extra, 2)
end)

test("use makes a sub-strategy with its own options, memory and streams, which is shown every line", function()
  local source = [[
    local strategy = require "apsis.strategy"
    local counter = { options = { step = 1 },
      init = function(run) run.memory.lines = 0 end,
      learn = function(run) run.memory.lines = run.memory.lines + run.options.step end,
      plan = function(run) return { parents = { run.best }, notes = { lines = run.memory.lines, draw = run.rng:random() } } end }
    local a, b = strategy.use(counter), strategy.use(counter, { step = 10 })
    return { init = function(run) run.memory.own = true end,
      plan = function(run) return (run.experiment % 2 == 1 and a or b).plan(run) end }]]
  local lines, _, engine = fake.run(source, { budget = { iterations = 4 } })
  equal(lines[2].notes.lines, 1)
  equal(lines[3].notes.lines, 20)
  equal(lines[4].notes.lines, 3)
  equal(engine.strategy.memory.own, true)
  equal(engine.strategy.memory.lines, nil)
end)

test("hooks that wait let other experiments go on; accepts do not overlap", function()
  local source = [[
    local wait = require "apsis.wait"
    local inside = 0
    return {
      plan = function(run) return { parents = { run.baseline }, edits = { x = run.experiment } } end,
      accept = function(run)
        inside = inside + 1
        assert(inside == 1, "two accepts at once")
        wait.sleep(0.01)
        inside = inside - 1
        return true
      end,
    }]]
  local world = { delay = function() return 0.02 end }
  local lines = fake.run(source, { workers = 4, budget = { iterations = 8 }, world = world })
  equal(#lines, 9)
  for index = 2, 9 do equal(lines[index].outcome, "kept") end
end)

test("an experiment tells the world its phases, each when it begins", function()
  local phases = {}
  local world = { phase = function(_, slot)
    phases[slot.number] = (phases[slot.number] and phases[slot.number] .. " " or "") .. slot.phase
  end }
  fake.run([[return { plan = function(run)
    return ({ { parents = { run.best } }, { ask = "a question" }, { measure = { "c0000" } } })[run.experiment]
  end }]], { world = world })
  equal({ phases[1], phases[2], phases[3] }, { "PLAN APPLY_CHANGE COMMIT VERIFY DECIDE LOG", "PLAN APPLY_CHANGE LOG",
    "PLAN VERIFY LOG" })
end)

-- A strategy whose hooks wait, and raise if another has begun meanwhile; groups: it plans two at a time if it may;
-- measures: accept has each candidate measured again.
local function alone(groups, measures)
  return ([[
    local wait = require "apsis.wait"
    local inside
    local function alone(name, result)
      return function(run, candidate)
        assert(inside == nil, name .. " began within " .. tostring(inside))
        inside = name
        wait.sleep(0.01)
        inside = nil
        if result then return result(run, candidate) end
      end
    end
    local function proposal(run, more) return { parents = { run.baseline }, edits = { x = 2 * run.experiment + more } } end
    return {
      halt = alone("halt"),
      plan = alone("plan", function(run)
        return %s and run.free > 1 and { proposal(run, 0), proposal(run, 1) } or proposal(run, 0)
      end),
      accept = alone("accept", function(_, candidate)
        if %s and #candidate.samples < 2 then return "measure", { ids = { candidate.id } } end
        return true
      end),
    }]]):format(groups, measures)
end

test("halt, plan and accept never overlap, though each of them waits", function()
  local world = { delay = function() return 0.005 end }
  for _, how in ipairs { { false, false }, { true, false }, { false, true }, { true, true } } do
    local lines = fake.run(alone(how[1], how[2]), { workers = 4, budget = { iterations = 8 }, world = world })
    equal(fake.column(lines, "rollback_reason"), { "-", "-", "-", "-", "-", "-", "-", "-", "-" })
    equal(#lines, 9)
  end
end)

test("what an accept writes into a candidate is gone when it is asked again", function()
  local lines = fake.run([[
    local value
    return { accept = function(run, candidate)
      if not value then
        value, candidate.value, candidate.experiment = candidate.value, 999, 7
        return "measure", { ids = { "c0000" } }
      end
      return candidate.value == value and candidate.experiment == 1, "it was changed"
    end }]], { budget = { iterations = 1 } })
  equal({ lines[2].outcome, lines[2].rollback_reason }, { "kept" })
end)

test("while an accept measures, no other accept begins", function()
  local source = [[
    local deciding
    return {
      plan = function(run) return { parents = { run.baseline }, edits = { x = run.experiment } } end,
      accept = function(run, candidate)
        assert(deciding == nil or deciding == run.experiment, "two accepts at once")
        deciding = run.experiment
        if #candidate.samples < 2 then return "measure", { ids = { candidate.id } } end
        deciding = nil
        return true
      end,
    }]]
  local world = { delay = function() return 0.02 end }
  local lines = fake.run(source, { workers = 3, budget = { iterations = 6 }, world = world })
  equal(fake.column(lines, "outcome"), { "baseline", "kept", "kept", "kept", "kept", "kept", "kept" })
end)

test("while an accept measures, plan runs on the state before it", function()
  local source = [[
    return {
      plan = function(run) return { parents = { run.baseline }, edits = { x = run.experiment }, notes = { seen = #run.history } } end,
      accept = function(run, candidate)
        if run.experiment == 1 and #candidate.samples < 2 then return "measure", { ids = { candidate.id } } end
        return true
      end,
    }]]
  local world = { delay = function(slot) return slot.number == 2 and 0.2 or 0.03 end }
  local lines = fake.run(source, { workers = 2, budget = { iterations = 3 }, world = world })
  equal(#lines, 4)
end)

test("what is in flight when halt speaks finishes and is journalled", function()
  local source = [[
    return { plan = function(run) return { parents = { run.baseline }, edits = { x = run.experiment } } end,
      halt = function(run) if run.experiment > 3 then return "enough" end end }]]
  local lines, ended = fake.run(source, { workers = 3, world = { delay = function() return 0.01 end } })
  equal(#lines, 4)
  equal(ended.reason, "enough")
end)

test("run.pending shows what is in flight, with its experiment", function()
  local source = [[
    return { plan = function(run)
      local list = {}
      for i, proposal in ipairs(run.pending) do list[i] = proposal.experiment end
      return { parents = { run.baseline }, edits = { x = run.experiment }, notes = { pending = table.concat(list, " ") } }
    end }]]
  local lines = fake.run(source, { workers = 3, budget = { iterations = 3 }, world = { delay = function() return 0.01 end } })
  local pending = {}
  for _, line in ipairs(lines) do pending[line.experiment] = line.notes and line.notes.pending end
  equal({ pending[1], pending[2], pending[3] }, { "", "1", "1 2" })
end)

test("thresholds come before accept", function()
  local lines = fake.run("return { accept = function() return true end }",
    { budget = { iterations = 1 }, metric = { name = "score", direction = "higher", max_pass = 0.5 } })
  equal(lines[2].outcome, "reverted_threshold_failure")
  matches(lines[2].rollback_reason, "above max_pass 0.5")
end)

test("a kept tie becomes best and retains the better of both values", function()
  local world = { measure = function(x) return { value = x == 0 and 10 or 9.6 } end,
    answers = function() return { edits = { x = 1 }, lines = 0 } end }
  local _, _, engine = fake.run("return { accept = function() return true end }",
    { budget = { iterations = 1 }, metric = { name = "score", direction = "higher", epsilon = 0.5 }, world = world })
  equal(engine.history.best.id, "c0001")
  equal(engine.history.best.value, 9.6)
  equal(engine.history.best.retained, 10)
end)

test("a trade is named: a secondary metric with a direction that got worse on a kept candidate", function()
  local world = { measure = function(x) return { value = x, metrics = { latency = 5 + x } } end }
  local lines = fake.run("return {}", { budget = { iterations = 1 }, metrics = { latency = { direction = "lower" } }, world = world })
  matches(lines[2].learned, "trade: latency went from 5 to 6, worse, for the gain in score")
end)

-- What the user would have lost: what the provider, or the strategy, learned from the change.
test("a trade is added to what was learned, and replaces nothing", function()
  local world = { measure = function(x) return { value = x, metrics = { latency = 5 + x } } end,
    answers = function() return { edits = { x = 1 }, learned = "caching helps" } end }
  local setup = { budget = { iterations = 1 }, metrics = { latency = { direction = "lower" } }, world = world }
  equal(fake.run("return {}", setup)[2].learned,
    "caching helps; trade: latency went from 5 to 6, worse, for the gain in score")
  equal(fake.run("return { accept = function() return true, nil, { learned = 'I know' } end }", setup)[2].learned,
    "I know; trade: latency went from 5 to 6, worse, for the gain in score")
end)

test("run is read-only, and history is read by index, id and newest first", function()
  local source = [[
    return { plan = function(run)
      assert(not pcall(function() run.best = 3 end) and not pcall(function() run.history[1] = 3 end))
      assert(run.history[1].id == "c0000" and run.get("c0000").value == 0 and run:get("c0000").value == 0)
      assert(run.recent(1)[1].experiment == #run.history - 1)
      return { parents = { run.best } }
    end }]]
  equal(fake.column(fake.run(source, { budget = { iterations = 2 } }), "outcome"), { "baseline", "kept", "kept" })
end)

test("the journal that cannot be written ends the run with exit 3", function()
  local engine = fake.engine("return {}", {})
  engine.journal.fail = "ENOSPC: no space"
  local ended, message, code = engine:run { run_number = 1 }
  equal(ended, nil)
  matches(message, "journal cannot be written.*ENOSPC")
  equal(code, 3)
end)

test("repeats of a measure are that many verifications, each a sample", function()
  local verified = 0
  local world = { measure = function(x, request)
    verified = verified + (request.repeats or 1)
    return { value = x }
  end }
  local lines = fake.run([[return { plan = function(run)
    if run.experiment == 1 then return { measure = { run.best }, repeats = 3 } end end }]], { world = world })
  equal(verified, 4)
  equal(#lines[2].trace, 3)
  equal(lines[2].measurements, 3)
end)

test("samples of a candidate's own accept are counted once in the fold", function()
  local values, at = { 5, 10, 20, 10 }, 0
  local world = { measure = function()
    at = at + 1
    return { value = values[at] }
  end }
  local source = [[return {
    plan = function(run)
      if run.experiment == 1 then return { parents = { run.best } } end
      if run.experiment == 2 then return { measure = { "c0001" } } end
    end,
    accept = function(run, c)
      if #c.samples < 2 then return "measure", { ids = { c.id } } end
      return true
    end }]]
  local _, _, engine = fake.run(source, { world = world })
  equal(engine.history:get("c0001").samples, { 10, 20, 10 })
  equal(engine.history.best.value, 10)
  equal(fake.engine(source, { texts = engine.journal.texts, world = world }).history.best.value, 10)
end)

test("what a hook does to a candidate or to the best is not journalled", function()
  local lines = fake.run([[return {
    plan = function(run) run.best.value = 9999 return { parents = { run.best } } end,
    accept = function(run, c) c.value, c.primary_metric, c.samples = 1e9, 1e9, { 1 } return true end }]], { budget = { iterations = 2 } })
  equal(fake.column(lines, "primary_metric"), { 0, 1, 2 })
  equal(fake.column(lines, "best"), { 0, 1, 2 })
  equal(lines[2].samples, { 1 })
  equal(lines[3].delta, 1)
end)

test("when new samples put another candidate in the lead, the world is told", function()
  local values, at = { 5, 100, 1, 1 }, 0
  local world = { measure = function()
    at = at + 1
    return { value = values[at] }
  end }
  local _, _, engine = fake.run([[return { plan = function(run)
    if run.experiment == 1 then return { parents = { run.best } } end
    if run.experiment < 4 then return { measure = { "c0001" } } end end }]], { world = world })
  equal(engine.history.best.id, "c0000")
  equal(engine.world.published[4], { nil, true })
end)

test("a hook that yields what is no handle is a strategy error", function()
  for _, hook in ipairs { "plan", "halt", "accept", "select", "stage" } do
    local lines = fake.run(("return { %s = function() coroutine.yield('x') end }"):format(hook), { budget = { iterations = 1 } })
    equal(lines[2].outcome, "skipped_strategy_error", hook)
    matches(lines[2].rollback_reason, "may wait for a handle")
  end
end)

test("an answer with an error that select chose all the same is the provider's failure", function()
  local world = { answers = function() return { error = "boom" } end }
  local lines = fake.run("return { select = function() return 1 end }", { budget = { iterations = 1 }, world = world })
  equal({ lines[2].outcome, lines[2].rollback_reason }, { "skipped_provider_failure", "boom" })
end)

test("run.free and groups stay within what is left of the budget", function()
  local source = [[return { plan = function(run)
    local group = {}
    for i = 1, run.free do group[i] = { parents = { run.baseline }, edits = { x = run.experiment + i } } end
    return group
  end }]]
  local lines = fake.run(source, { workers = 4, budget = { iterations = 6 } })
  equal(#lines, 7)
  local measured, ended = fake.run("return { plan = function(run) return { measure = { run.best }, repeats = 10 } end }",
    { budget = { measurements = 5 } })
  equal(#measured, 1)
  matches(ended.reason, "10 measurements are asked for, 5 are left")
end)

test("a saved proposal that cannot be done again is journalled under its number, and the run goes on", function()
  local lines = fake.run("return {}", { budget = { iterations = 2 }, unfinished = { { number = 1, seen = 1, now = 5,
    proposal = { parents = { "c0777" }, operator = "saved" } } } })
  equal(fake.column(lines, "outcome"), { "baseline", "skipped_strategy_error", "kept" })
  matches(lines[2].rollback_reason, "cannot be done again")
end)

test("a baseline of another tree begins anew; one of the same tree does not", function()
  local _, _, engine = fake.run("return {}", { budget = { iterations = 2 } })
  equal(engine.history.best.id, "c0002")
  assert(engine:baseline(1))
  equal(engine.history.best.id, "c0002")
  local texts = engine.journal.texts
  texts[#texts + 1] = (texts[1]:gsub('"experiment":0', '"experiment":9'):gsub("c0000", "c0009"):gsub('"tree":"[^"]*"', '"tree":"new"'))
  equal(fake.engine("return {}", { texts = texts }).history.best.id, "c0009")
end)

test("a line whose fields have wrong types is refused", function()
  local journal, fs = require "apsis.core.journal", require "apsis.fs"
  local dir = fs.tempdir()
  for _, field in ipairs { '"primary_metric":"abc"', '"tokens":"x"', '"trace":5', '"run":"z"', '"candidate":"c0007"' } do
    fs.write(dir .. "/j", ('{"experiment":1,"outcome":"kept",%s}\n'):format(field))
    local ok, message = journal.reader(dir .. "/j"):each(function() end)
    equal(ok, nil, field)
    matches(message, "j:1: " .. field:match('"([%w_]+)"') .. ": not")
  end
  fs.remove_tree(dir)
end)

for _, name in ipairs { "hillclimb", "random_walk", "annealing", "adaptive" } do
  test(name .. " runs, higher and lower", function()
    for _, way in ipairs { "higher", "lower" } do
      local world = { answers = function(slot) return { edits = { x = slot.number % 3 - 1.5 } } end }
      local lines = fake.run(('return require("apsis.strategy").extend(%q, {})'):format(name),
        { metric = { name = "score", direction = way }, world = world, budget = { iterations = 6 } })
      equal(#lines, 7)
      for _, line in ipairs(lines) do equal(line.outcome ~= "skipped_strategy_error", true, line.rollback_reason) end
    end
  end)
end

test("a metric that is called with a dot says so, at the strategy's line", function()
  for call, name in pairs { ["better(candidate, run.best)"] = "better", ["gain(candidate.value, 1)"] = "gain", ["tied(candidate)"] = "tied",
    ["sort(run.recent(2))"] = "sort", ["best_of({ candidate })"] = "best_of" } do
    local source = "return { accept = function(run, candidate)\n  return run.metric." .. call .. " and true\nend }"
    local reason = fake.run(source, { budget = { iterations = 1 } })[2].rollback_reason
    matches(reason, "%.lua:2: " .. name .. " was called with a dot: write run%.metric:" .. name .. "%(", call)
  end
end)

test("run.log works in every hook, with a dot and a colon, and prints tables and candidates", function()
  local logged = {}
  local world = { log = function(_, _, text) logged[#logged + 1] = text end }
  fake.run([[
    local function log(name, result)
      return function(run, ...)
        run.log(name)
        if result then return result(run, ...) end
      end
    end
    return { init = log "init", learn = log "learn", plan = log("plan", function(run) return { parents = { run.best } } end),
      prompt = log("prompt", function() return "text" end), select = log("select", function() return 1 end),
      stage = log("stage", function() return true end), accept = log("accept", function(run, candidate)
        run.memory.best = nil
      end), halt = log "halt" }]], { budget = { iterations = 1 }, world = world })
  equal(logged, { "experiment 0: init", "experiment 0: learn", "experiment 1: halt", "experiment 1: plan", "experiment 1: prompt",
    "experiment 1: select", "experiment 1: stage", "experiment 1: accept", "experiment 1: learn" })
  logged = {}
  fake.run([[return { init = function(run) run.memory.tries = { c0001 = 2, c0000 = 1 } end, accept = function(run, candidate)
    local loop = { 1 }
    loop.me = loop
    run.log("seen", { 1, 2.5, "three" }, { b = true, a = { "x y" }, [10] = 1 }, {}, nil, run.memory)
    run:log(candidate, run.best, { run.baseline, 1 / 0 }, loop, { f = print }, { { { { { 1 } } } } })
    run.log { ["two words"] = ("long "):rep(1000) }
  end }]], { budget = { iterations = 1 }, world = world })
  equal(logged[1], 'experiment 1: seen { 1, 2.5, "three" } { [10] = 1, a = { "x y" }, b = true } {} nil '
    .. '{ tries = { c0000 = 1, c0001 = 2 } }')
  equal(logged[2], "experiment 1: c0001 (1) c0000 (0) { c0000 (0), inf } { 1, me = {...} } { f = function } { { { { {...} } } } }")
  matches(logged[3], '^experiment 1: { %["two words"%] = "long long')
  equal({ #logged[3] < 530, logged[3]:sub(-3) }, { true, "..." })
end)

test("run.children(id) are the experiments that began from a candidate, in order, with their outcomes", function()
  local source = [[
    local function words(list)
      local parts = {}
      for i, child in ipairs(list) do parts[i] = child.id .. " " .. child.outcome end
      return table.concat(parts, ", ")
    end
    return {
      plan = function(run)
        local n = run.experiment
        if n == 5 then return { measure = { "c0000" } } end
        return { parents = n == 4 and { "c0000", "c0001" } or n > 1 and n < 4 and { "c0000" } or { run.best } , operator = "x",
          notes = { before = words(run.children "c0000") } }
      end,
      learn = function(run, line) run.memory[line.id or "none"] = words(run:children "c0000") end,
      accept = function(run, candidate) return run.metric:better(candidate, run.best), words(run.children(run.best)) end,
    }]]
  local world = { answers = function(slot)
    if slot.number == 3 then return { error = "down" } end
    return { edits = { x = ({ 5, 1, 0, 2, 0, 9 })[slot.number] } }
  end }
  local lines, _, engine = fake.run(source, { budget = { iterations = 5 }, world = world })
  equal(fake.column(lines, "outcome"), { "baseline", "kept", "reverted_worse_metric", "skipped_provider_failure",
    "reverted_worse_metric", "measured", "kept" })
  equal(lines[2].notes.before, "")
  equal(lines[3].rollback_reason, "reverted_worse_metric")
  equal(lines[7].notes.before, "c0001 kept, c0002 reverted_worse_metric, c0003 skipped_provider_failure, c0004 reverted_worse_metric")
  equal(lines[7].notes.kept_because, "c0004 reverted_worse_metric")
  equal(engine.strategy.memory.c0003, "c0001 kept, c0002 reverted_worse_metric, c0003 skipped_provider_failure")
  equal(#engine.history:children "c0099", 0)
  local again = fake.engine(source, { texts = engine.journal.texts })
  equal(again.strategy.memory.c0006, engine.strategy.memory.c0006)
  tap.raises("run.children needs a candidate", again:view(7, 0).face.children, nil)
end)

test("candidate.siblings holds the candidate itself, the same table", function()
  local lines = fake.run([[return { plan = function(run) return { { parents = { run.best } }, { parents = { run.best } } } end,
    accept = function(_, candidate)
      local me, others = 0, 0
      for _, sibling in ipairs(candidate.siblings) do
        if sibling == candidate then me = me + 1 else others = others + 1 end
      end
      return true, me .. " and " .. others
    end }]], { workers = 2, budget = { iterations = 2 }, world = { answers = function(slot) return { edits = { x = slot.number } } end } })
  equal({ lines[2].notes.kept_because, lines[3].notes.kept_because }, { "1 and 1", "1 and 1" })
end)

test("a proposal says how a model is to answer, in one of three words", function()
  local lines = fake.run([[return { plan = function() return { answer = "whole" } end }]], { budget = { iterations = 1 } })
  matches(lines[2].rollback_reason, 'proposal.answer must be diff, rewrite or either, not "whole"')
  lines = fake.run([[return { plan = function() return { answer = "rewrite" } end }]], { budget = { iterations = 1 } })
  equal(lines[2].proposal.answer, "rewrite")
end)

tap.done()
