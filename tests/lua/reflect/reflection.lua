-- reflection: what a provider learned once it knows the result, in the line and in later prompts.
local fake = require "fake"
local tap = require "tap"
local test, equal, matches = tap.test, tap.equal, tap.matches

local plain = "return { halt = function() end }"

-- A run of steps[n] (else -1) whose provider says text of each result; the questions by experiment.
local function run(steps, text, more)
  local questions = {}
  local world = {
    answers = function(slot)
      return { edits = { x = steps[slot.number] or -1 }, hypothesis = "more is better", learned = "guessed before",
        tokens = 10, cost = 0.5 }
    end,
    reflects = function(slot, question)
      questions[slot.number] = question
      if type(text) == "table" then return text end
      return { text = text, tokens = 7, cost = 0.25 }
    end,
  }
  local spec = { world = world, reflect = true, budget = { iterations = 2 } }
  for key, value in pairs(more or {}) do spec[key] = value end
  local lines, ended, engine = fake.run(plain, spec)
  return lines, questions, ended, engine
end

test("the question shows hypothesis, outcome, value, the best before and the change", function()
  local _, questions = run({ 2 }, "ASI learned=x")
  matches(questions[1], "Hypothesis: more is better")
  matches(questions[1], "Result: kept: score = 2 %(higher is better%); the best before it is 0, and its parent 0")
  matches(questions[1], "a diff")
  matches(questions[2], "not kept %(reverted_worse_metric%): score = 1 .*the best before it is 2")
  matches(questions[2], "Why: 1 is not better than the best, 2")
end)

test("the line has both what was learned before and after, and what follows from it", function()
  local lines = run({ 2 }, "Thinking.\nASI learned=steps of 2 help\nASI hypothesis_held=yes\n"
    .. "ASI foreclosed=going down\nASI next_action_hint=try 4\nASI acceptance=mine")
  equal(lines[2].learned, "guessed before; steps of 2 help")
  equal(lines[2].next_action_hint, "try 4")
  equal(lines[2].notes.hypothesis_held, "yes")
  equal(lines[2].notes.foreclosed, "going down")
  equal(lines[2].notes.acceptance, nil, "no other note")
  equal(lines[2].outcome, "kept")
  equal(lines[2].tokens, 17, "what it took counts")
  equal(lines[2].cost, 0.75)
end)

test("a reflection that fails costs nothing but the reflection", function()
  local lines, _, ended, engine = run({ 2 }, { error = "down", tokens = 0, cost = 0 })
  equal(lines[2].outcome .. " " .. lines[2].learned, "kept guessed before")
  matches(ended.reason, "iterations used up")
  matches(table.concat(engine.world.logged, "\n"), "experiment 1: no reflection: down")
end)

test("nothing is asked about what was not measured", function()
  local lines, questions = run({ 0 }, "ASI learned=x", { budget = { iterations = 1 } })
  equal(lines[2].outcome, "skipped_no_change")
  equal(next(questions), nil)
end)

test("without the key nothing is asked", function()
  local lines, questions = run({ 2 }, "ASI learned=x", { reflect = false })
  equal(next(questions), nil)
  equal(lines[2].learned, "guessed before")
end)

test("with several workers other experiments are planned meanwhile, and every line is whole", function()
  local steps = {} -- so that no two candidates are the same
  for number = 1, 12 do steps[number] = math.sqrt(number) end
  local lines = run(steps, "ASI learned=x", { workers = 4, budget = { iterations = 12 } })
  equal(#lines, 13)
  for index = 2, 13 do equal(lines[index].learned, "guessed before; x", "line " .. index) end
end)

tap.done()
