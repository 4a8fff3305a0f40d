-- A trial's record where something goes wrong: what a world or a strategy does that it should not is counted, or told
-- with its reason, and is never taken for a hard problem.
local definition = require "apsis.lab.definition"
local tap = require "tap"
local trial = require "apsis.lab.trial"
local test, equal, matches = tap.test, tap.equal, tap.matches

local function file(text)
  local path = os.tmpname()
  os.remove(path)
  path = path .. ".lua"
  local handle = assert(io.open(path, "w"))
  handle:write(text)
  handle:close()
  return path
end

-- A world's file with some of its functions, as texts, in the place of plain ones.
local function world(parts)
  local source = "%s return { options = { x = 1 }, %s init = %s, baseline = %s, propose = %s, evaluate = %s }"
  local path = file(source:format(
    parts.first or "", parts.more or "", parts.init or "function() end", parts.baseline or "function() return 0 end",
    parts.propose or "function(_, _, parents) return parents[1] + 1 end",
    parts.evaluate or "function(_, genome) return genome end"))
  local loaded, message = definition.load(path)
  os.remove(path)
  return loaded, message
end

local endless = "halt = function() end"

local function run(loaded, source, more)
  more = type(more) == "table" and more or { workers = more }
  local path = source and file("return { " .. source .. " }")
  local ok, record, message = pcall(trial.run, { strategy = path and { use = path } or { use = "hillclimb" },
    definition = loaded, seed = 1, evaluations = more.evaluations or 31, workers = more.workers, limits = more.limits })
  if path then os.remove(path) end
  if not ok then return nil, record end
  return record, message
end

local function told(parts, source)
  local record, message = run(assert(world(parts)), source)
  equal(record, nil)
  return message
end

-- ---- what would not be the same again ----

test("a world that asks for chance or time other than its own is told so, wherever it does", function()
  for call, instead in pairs { ["math.random()"] = "use lab.rng", ["math.randomseed(1)"] = "use lab.rng",
    ["os.time()"] = "lab.rng", ["os.clock()"] = "lab.rng", ["os.date()"] = "lab.rng",
    ["_G.math.random()"] = "use lab.rng" } do
    local name = call:match "(%a+%.%a+)%("
    for _, where in ipairs { "init", "baseline", "propose", "evaluate" } do
      local message = told { [where] = "function() local drawn = " .. call .. " return drawn end" }
      matches(message, "%.lua:1: " .. name:gsub("%.", "%%.")
        .. " is not for worlds: it would make the run impossible to repeat", where)
      matches(message, instead, where)
    end
    matches(select(2, world { first = "local chance = " .. call }), "is not for worlds")
  end
end)

test("the rest of math and os is there, the program's own stays as it was, and pairs has one order", function()
  local first = [[local order = {}
    for key in pairs { delta = 1, alpha = 1, [2] = 1, charlie = 1, [1] = 1, bravo = 1 } do order[#order + 1] = key end
    assert(table.concat(order, " ") == "1 2 alpha bravo charlie delta", table.concat(order, " "))
    assert(math.floor(1.5) == 1 and os.getenv "PATH" and require "apsis.random" and string.rep)]]
  assert(world { first = first })
  equal({ type(math.random(5)), type(os.time()), type(os.clock()) }, { "number", "number", "number" })
end)

-- ---- failures ----

test("proposals without an answer, and crashes, are counted with the first one's reason", function()
  local none = run(assert(world { propose = "function(_, _, parents) local child = parents[1] + 1 end" }), endless)
  equal(none.failures, { answer = { count = 30, reason = "the world has no answer" } })
  local crashes = run(assert(world { evaluate = [[function(_, genome)
    if genome > 0 then return nil, { reason = "division by zero\nsecond line" } end
    return genome
  end]] }), endless)
  equal({ crashes.failures, crashes.outcomes.skipped_verification_crash },
    { { crash = { count = 30, reason = "division by zero" } }, 30 })
  equal(run(assert(world {}), endless).failures, nil)
end)

test("both are counted apart, in a run with several workers too, and a long reason is cut between letters", function()
  local both = { propose = [[function(lab, _, parents)
      lab.count = (lab.count or 0) + 1
      if lab.count % 3 == 0 then return nil, { error = "no idea" } end
      return parents[1] + 1
    end]], evaluate = [[function(_, genome)
      if genome > 1 then return nil, { reason = "x" .. ("é"):rep(200) } end
      return genome
    end]] }
  for workers = 1, 3, 2 do
    local failures = run(assert(world(both)), endless, workers).failures
    equal(failures.answer, { count = 10, reason = "no idea" })
    equal(failures.crash.reason, "x" .. ("é"):rep(99) .. "...")
  end
end)

test("a baseline without a value ends the trial with its reason, before any plan", function()
  matches(told { evaluate = 'function() return nil, { reason = "division by zero" } end' },
    "^[^ ]*%.lua: the baseline crashed: division by zero$")
  matches(told { evaluate = "function() end" }, "%.lua: the baseline crashed: the evaluation crashed$")
  matches(told { baseline = "function() end" }, "^[^ ]*%.lua: baseline gave no genome")
end)

-- ---- reasons ----

test("a candidate that crashes when it is measured again keeps what it is worth", function()
  local path = file [[local seen = {}
    return { options = { x = 1 }, init = function() end, baseline = function() return 0 end,
    propose = function(_, _, parents) return parents[1] + 1 end, evaluate = function(_, genome)
      seen[genome] = (seen[genome] or 0) + 1
      return seen[genome] < 3 and genome or nil
    end }]]
  local loaded = assert(definition.load(path .. ":noise=gaussian"))
  os.remove(path)
  local record = assert(run(loaded, [[plan = function(run)
    if run.experiment % 2 == 0 then return { measure = { run.best.id } } end
    return { parents = { run.best } }
  end, halt = function() end]]))
  equal(record.failures.crash ~= nil, true)
  for _, point in ipairs(record.curve) do equal(math.type(point[2]), "integer") end
  equal(math.type(record.best), "integer")
end)

test("a line of the lab gives the same reasons as a live one", function()
  local source = [[learn = function(run, line)
      if line.experiment == 1 or line.experiment == 2 then
        assert(line.outcome == "reverted_worse_metric", line.outcome)
        local relation = line.experiment == 1 and "is tied with" or "is not better than"
        assert(line.rollback_reason == ("%g %s the best, 0 (higher is better)"):format(1 - line.experiment, relation),
          line.rollback_reason)
      end
      run.memory.lines = (run.memory.lines or 0) + 1
    end, accept = function(run, candidate)
      return run.metric:better(candidate, run.best)
    end, halt = function(run) if run.memory.lines == 3 then return "three lines" end end]]
  local record, message = run(assert(world { propose = "function(lab) lab.n = (lab.n or 0) + 1 return 1 - lab.n end" }),
    source)
  equal(message, nil)
  equal({ record.reason, record.outcomes.reverted_worse_metric }, { "three lines", 2 })
end)

-- ---- values ----

test("what evaluate gives is a finite number, or the trial is told of it: the first and any later one", function()
  local cases = { { "0/0", "%-?nan" }, { "1/0", "inf" }, { "-1/0", "%-inf" }, { "'7'", "7" }, { "{}", "a table" },
    { "true", "a boolean" }, { "false", "a boolean" }, { "print", "a function" } }
  for _, case in ipairs(cases) do
    local expected = "^[^ ]*%.lua: evaluate gave " .. case[2]
      .. ", not a finite number %(nil and {reason = %.%.%.} are a crash%)"
    matches(told { evaluate = "function() return " .. case[1] .. " end" }, expected)
    matches(told { evaluate = ("function(_, genome) if genome > 3 then return %s end return genome end"):format(
      case[1]) }, expected)
  end
  equal(run(assert(world { evaluate = "function(_, genome) return genome - 1e308 end" }), endless).experiments, 30)
end)

-- ---- operators ----

local odd = [[plan = function(run)
    local number = run.experiment
    local parents = number % 2 == 0 and number > 2 and { run.baseline, run.history[2] } or { run.best }
    local operators = { "restrat", "crossover", "exploration", "migration", "restart" }
    return { parents = parents, operator = operators[number % 5 + 1] }
  end, ]] .. endless

test("what a world says beside genome and value has its kind, and the message names the place", function()
  local propose = "function(_, _, parents) return parents[1] + 1, { %s } end"
  matches(told({ propose = propose:format 'tokens = "many"' }), "propose's second value%.tokens: not a number")
  matches(told({ propose = propose:format "cost = 0/0" }), "propose's second value%.cost: not a finite number")
  local evaluate = "function(_, genome) return genome, { %s } end"
  matches(told({ evaluate = evaluate:format "items = { a = 5 }" }), "evaluate's second value%.items%.a: not a mapping")
  matches(told({ evaluate = evaluate:format 'metrics = { a = "x" }' }), "evaluate's second value%.metrics%.a: not a number")
  matches(told({ init = 'function(lab) lab.thresholds = "x" end' }), "lab%.thresholds: not a list")
  matches(told({ init = 'function(lab) lab.thresholds = { "a" } end' }), "lab%.thresholds%[1%]: not a number")
end)

test("operators that a world does not know, and crossover and migration of one parent, are counted", function()
  for _, name in ipairs { "onemax", "sphere", "kmodule", "proposer:crash=0", "nk:n=8,k=2", "leadingones:n=9" } do
    for workers = 1, 3, 2 do
      local record = run(assert(definition.load(name)), odd, workers)
      equal(record.unknown_operators, { restrat = 6, ["crossover with one parent"] = 3,
        ["migration with one parent"] = 3 }, name)
    end
  end
  equal(run(assert(definition.load "onemax"), "learn = function() end, " .. odd).unknown_operators.restrat, 6)
end)

test("a shipped strategy asks for nothing that is not there; a world that does not say what it knows may know all",
  function()
  for _, name in ipairs { "hillclimb", "openevolve", "annealing", "random_walk", "adaptive" } do
    equal(assert(trial.run { strategy = { use = name }, definition = assert(definition.load "onemax:n=20"), seed = 1,
      evaluations = 60 }).unknown_operators, nil, name)
  end
  equal(run(assert(world {}), odd).unknown_operators, nil)
  equal(run(assert(world { more = "operators = { 'restrat', 'restart', 'exploration' }," }), odd).unknown_operators,
    { crossover = 6, migration = 6 })
  matches(select(2, world { more = "operators = { 3 }," }), "operators: entry 1 is a number, not an operator's name")
end)

test("proposals that bring their genome or measure again ask the world for no operator", function()
  local record = run(assert(definition.load "onemax:n=4"), [[plan = function(run)
    if run.experiment % 2 == 0 then return { measure = { run.best.id } } end
    return { parents = { run.best }, operator = "mine", edits = { genome = "0110" } }
  end, ]] .. endless)
  equal({ record.unknown_operators, record.operators.mine.count, record.experiments }, { nil, 15, 30 })
end)

-- ---- notes.step ----

test("a step that is none fails the proposal and says so, and the run goes on", function()
  local cases = { { "'a'", 'above 0, not "a"' }, { "-1", "above 0, not %-1" }, { "0", "above 0, not 0" },
    { "true", "above 0, not true" },
    { "false", "above 0, not false" }, { "{ 1 }", "above 0, not a table" },
      { "1e9", "at most 1000000, not 1000000000" } }
  for _, name in ipairs { "onemax", "sphere" } do
    for _, case in ipairs(cases) do
      local record = assert(run(assert(definition.load(name)), ([[plan = function(run)
        return { parents = { run.best }, notes = run.experiment %% 2 == 0 and { step = %s } or { step = 2 } }
      end, ]]):format(case[1]) .. endless))
      equal({ record.experiments, record.evaluations, record.failures.answer.count }, { 30, 16, 15 }, name .. case[1])
      matches(record.failures.answer.reason, "^notes.step must be .*" .. case[2], name .. case[1])
    end
    equal(run(assert(definition.load(name)),
      "plan = function(run) return { parents = { run.best }, notes = { step = 1e6 } } end, "
      .. endless).failures, nil)
  end
end)

test("a target that is no number, and a world that would end the program, are told", function()
  matches(told { init = "function(lab) lab.target = 'x' end" },
    "%.lua: init set lab.target to x, not to a finite number")
  matches(told { baseline = "function() os.exit(0) end" }, "%.lua:1: os.exit is not for worlds")
  matches(select(2, world { first = "os.exit(0)" }), "os.exit is not for worlds")
end)

-- ---- limits, time, edits, notes ----

local steady = "plan = function(run) return { parents = { run.best }, operator = 'exploitation' } end, "

test("tokens and dollars are never passed, with several workers neither: the world says what asking takes", function()
  for _, workers in ipairs { 1, 8 } do
    local spec = { tokens = { "onemax:n=60,tokens=10", 55, 50 }, usd = { "onemax:n=60,cost=0.1", 0.55, 0.5 } }
    for kind, case in pairs(spec) do
      local record = assert(run(assert(definition.load(case[1])), steady .. endless,
        { evaluations = 300, workers = workers,
        limits = { [kind] = case[2] } }))
      local spent = kind == "usd" and record.cost or record.tokens
      equal(math.abs(spent - case[3]) < 1e-9, true, ("%s %s with %d workers"):format(spent, kind, workers))
    end
  end
end)

test("the seconds that an answer took count, and none are negative", function()
  local function took(seconds)
    return run(assert(world { propose = ("function(_, _, parents) return parents[1], { seconds = %d } end"):format(
      seconds) }), steady .. endless, { evaluations = 5 }).seconds
  end
  equal(took(1000), 4060)
  equal(took(-5), 60)
end)

test("edits are taken as text where the world reads it, and refused where they are no genome", function()
  for genome, fine in pairs { ["1111"] = true, ["11111"] = false, ["11x1"] = false } do
    local record = run(assert(definition.load "onemax:n=4"), ([[plan = function(run)
      return { parents = { run.best }, edits = { genome = "%s" } } end, ]]):format(genome) .. endless)
    equal(record.hit ~= nil, fine, genome)
    equal(record.failures == nil, fine, genome)
  end
  equal(run(assert(definition.load "sphere"), [[plan = function(run)
    return { parents = { run.best }, edits = { genome = "1" } } end, ]] .. endless).evaluations, 1)
end)

test("whatever a line's notes name as its cell is counted", function()
  for _, cell in ipairs { "{ true, 'a' }", "{ {} }", "'x'", "3" } do
    local record = run(assert(definition.load "onemax:n=4"), ([[plan = function(run)
      return { parents = { run.best }, notes = { cell = %s } } end, ]]):format(cell) .. endless)
    equal(record.cells[1][2], 1, cell)
  end
end)

tap.done()
