-- pareto in the lab: a world with two metrics, whose front and hypervolume are known.
local definition = require "apsis.lab.definition"
local tap = require "tap"
local trial = require "apsis.lab.trial"
local test, equal = tap.test, tap.equal

local function run(strategy, n, seed)
  return assert(trial.run { strategy = { use = strategy, options = { patience = 100000 } },
    definition = assert(definition.load("lotz:n=" .. n)), seed = seed, evaluations = 4000 })
end

test("the whole front of lotz is found, and its hypervolume is the target", function()
  for seed = 1, 2 do
    local record = run("pareto", 6, seed)
    equal({ record.best, record.target, record.hit ~= nil }, { 28, 28, true })
  end
end)

test("a strategy that goes on from the front needs fewer evaluations than one that goes on from its newest member", function()
  local of_front, of_newest = 0, 0
  for seed = 1, 4 do
    of_front, of_newest = of_front + (run("pareto", 6, seed).hit or 4000), of_newest + (run("hillclimb", 6, seed).hit or 4000)
  end
  equal(of_front < of_newest, true, of_front .. " and " .. of_newest)
end)

test("noise is of one metric", function()
  local _, message = definition.load "lotz:noise=gaussian"
  equal(message, "world lotz: noise goes with one metric, and this world has 2")
end)

tap.done()
