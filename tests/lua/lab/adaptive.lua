-- adaptive: strategies/adaptive.lua over a world without git, and in the lab.
local contract = require "apsis.core.strategy"
local definition = require "apsis.lab.definition"
local direction = require "apsis.direction"
local fake = require "fake"
local tap = require "tap"
local trial = require "apsis.lab.trial"
local test, equal, matches = tap.test, tap.equal, tap.matches

local SOURCE = [[return require("apsis.strategy").extend("adaptive", {})]]
local plain = { exploration = 0.0, crossover = 0.0 }

-- A world in which each change adds 0.25, and only whole numbers count.
local function stairs(options, iterations)
  return fake.run(SOURCE, { options = options, budget = { iterations = iterations }, world = {
    answers = function() return { edits = { x = 0.25 }, tokens = 1, cost = 0 } end,
    measure = function(x) return { value = math.floor(x) } end } })
end

test("what ties with the best is the next parent, but is not kept", function()
  local lines, _, engine = stairs(plain, 8)
  local kept = {}
  for index = 2, #lines do
    equal(lines[index].parents[1], lines[index - 1].candidate)
    kept[index - 1] = lines[index].outcome == "kept"
  end
  equal(kept, { false, false, false, true, false, false, false, true })
  equal(engine.history.best.id, lines[9].candidate)
end)

test("a tie resets no patience", function()
  local _, ended = stairs({ exploration = 0.0, crossover = 0.0, patience = 3 }, 8)
  matches(ended.reason, "no new best in 3 experiments")
end)

-- The strategy with a run of its own: learn(line), plan(); best: the lines' best.
local function alone(options)
  local strategy = assert(contract.load { use = "adaptive", options = options or {} })
  local run = { memory = {}, options = strategy.options, metric = direction.new {}, best = nil,
    rng = require("apsis.random").stream(1) }
  strategy.hooks.init(run)
  local number = -1
  return run, function(value, more)
    number = number + 1
    local line = { id = ("c%04d"):format(number), value = value, outcome = number == 0 and "baseline" or "reverted",
      operator = "exploitation" }
    for key, given in pairs(more or {}) do line[key] = given end
    line.kept = line.outcome == "kept"
    if number == 0 or line.kept then run.best = line end
    strategy.hooks.learn(run, line)
    return line
  end, function() return strategy.hooks.plan(run) end
end

test("with acceptance under noise a tie means not shown: the best stays the parent", function()
  local run, learn = alone()
  local first = learn(1)
  learn(1, { acceptance = { verdict = "not shown" } })
  equal(run.memory.top.id, first.id)
  equal(learn(1).id, run.memory.top.id)
end)

test("a baseline that was measured again is not the next parent unless it is the best", function()
  local run, learn, plan = alone(plain)
  learn(1)
  local best = learn(5, { outcome = "kept" })
  learn(2)
  learn(1, { outcome = "baseline" })
  equal({ run.memory.top.id, plan().parents[1].id, run.memory.since }, { best.id, best.id, 1 })
end)

test("a candidate that crashed, was stopped or is worse is no parent", function()
  local run, learn = alone()
  local first = learn(1)
  learn(nil)
  learn(1, { stopped = { stage = 1, value = 1 } })
  learn(0.5)
  equal(run.memory.top.id, first.id)
end)

test("challengers begin when as many experiments found nothing as the best took, and at least `stuck`", function()
  for _, case in ipairs { { 5, 12 }, { 40, 40 } } do
    local _, learn, plan = alone { stuck = 12 }
    learn(0)
    for step = 1, case[1] - 1 do learn(step, { outcome = "kept" }) end
    local first
    for since = 1, 200 do
      learn(-since)
      if plan().notes and not first then first = since end
    end
    equal(first and first > case[2] and first < case[2] + 30, true, first)
  end
end)

test("a line of challengers goes on from its own best, then is given up; the other plans keep to the best", function()
  local run, learn, plan = alone { stuck = 1, grant = 4, exploration = 0.0, crossover = 0.0 }
  local best = learn(9)
  for value = 1, 3 do learn(-value) end
  local one = learn(2, { notes = { challenger = true } })
  local two = learn(3, { notes = { challenger = true } })
  local seen = {}
  for _ = 1, 100 do
    local made = plan()
    seen[made.parents[1].id .. (made.notes and " challenger" or "")] = true
  end
  equal(seen, { [best.id] = true, [two.id .. " challenger"] = true })
  local tie = learn(3, { notes = { challenger = true } })
  equal({ run.memory.line.id, one.value }, { tie.id, 2 })
  for _ = 1, 3 do learn(0, { notes = { challenger = true } }) end
  equal({ run.memory.line, run.memory.lines }, { nil, 1 })
end)

test("an operator that brings nothing is drawn less and less, one that does is not", function()
  local function drawn(operator)
    local _, learn, plan = alone { stuck = 1000 }
    learn(0)
    for step = 1, 300 do
      learn(-step, { operator = "exploration" })
      learn(step, { operator = operator, outcome = "kept" })
    end
    local count = 0
    for _ = 1, 1000 do count = count + (plan().operator == "exploration" and 1 or 0) end
    return count
  end
  equal(drawn "exploitation" < 15, true)
  equal(drawn "exploration" > 30, true)
end)

test("without operators but one it does what hillclimb does, where nothing ties", function()
  local curves = {}
  for index, use in ipairs { "adaptive", "hillclimb" } do
    curves[index] = assert(trial.run { strategy = { use = use, options = use == "adaptive" and { exploration = 0.0,
      crossover = 0.0, stuck = 1000000 } or { patience = 1000000 } }, definition = assert(definition.load "sphere:d=3"),
      seed = 3, evaluations = 200 }).curve
  end
  equal(curves[1], curves[2])
end)

test("other good candidates are shown in the prompt, one of each value", function()
  local prompts = {}
  local lines = fake.run(SOURCE, { options = { inspirations = 2 }, budget = { iterations = 6 }, world = {
    answers = function(slot, prompt)
      prompts[slot.number] = prompt
      return { edits = { x = 1 }, tokens = 1, cost = 0 }
    end } })
  equal(#lines, 7)
  equal(prompts[1]:find("Other good versions", 1, true), nil)
  matches(prompts[6], "## Other good versions\n\n### c%d+, kept at")
  equal(select(2, prompts[6]:gsub("\n### c%d+", "")), 2)
end)

test("options that make no sense are named", function()
  for _, case in ipairs { { { exploration = 0.7, crossover = 0.7 }, "must not be above 1" },
    { { stuck = 0 }, "option stuck must be 1 or more" }, { { crossover = -0.1 }, "option crossover must be 0 or more" } } do
    local strategy, message = contract.load { use = "adaptive", options = case[1] }
    equal(strategy, nil)
    matches(message, case[2])
  end
end)

tap.done()
