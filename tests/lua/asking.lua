-- apsis.asking: when a model is asked for advice, what its answer becomes, and what a question that failed costs.
local asking = require "apsis.asking"
local tap = require "tap"
local test, equal = tap.test, tap.equal

local words = { ideas = "What next?", instructions = "How better?" }

local function run_with(models, pending)
  return { models = models, pending = pending or {}, project = { name = "p" }, recent = function() return {} end,
    metric = { name = "score", words = function() return "higher is better" end }, best = { id = "c0000", value = 1 },
    baseline = { id = "c0000", value = 1 } }
end

test("a question is due after so many programs, if there is a model to ask and none is in flight", function()
  local asked = asking.new { ideas = 2, instructions = 0 }
  local run = run_with { "m" }
  equal(asking.due(asked, run, words), nil)
  asking.count(asked)
  asking.count(asked)
  local proposal = asking.due(asked, run, words)
  equal(proposal.notes.ask, "ideas")
  tap.matches(proposal.ask[1].content, "What next%?")
  equal(asking.due(asked, run_with {}, words), nil)
  equal(asking.due(asked, run_with({ "m" }, { proposal }), words), nil)
end)

test("an answer's list becomes ideas; after a question that failed the next one is due as late", function()
  local asked = asking.new { ideas = 1 }
  asking.count(asked)
  equal({ asking.heard(asked, { notes = { island = 1 } }) }, {})
  asking.heard(asked, { notes = { ask = "ideas" }, answer = "Here:\n1. one\n - two \n* three\n10) ten\nfour" })
  equal(asked.ideas, { "one", "two ", "three", "ten" })
  equal(asking.due(asked, run_with { "m" }, words), nil)
  asking.count(asked)
  equal({ asking.heard(asked, { notes = { ask = "ideas" }, outcome = "skipped_provider_failure" }) }, { "ideas" })
  equal({ #asked.ideas, asking.due(asked, run_with { "m" }, words) }, { 4 })
end)

tap.done()
