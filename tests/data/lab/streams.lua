-- streams: a shipped world whose proposals are drawn from the stream that a proposal's notes name, so that one policy can
-- run twice on the same instance by different chances. Used by tests/bench/lab_verdicts.lua.
local random = require "apsis.random"

local streams = { options = { of = "onemax", n = 10, k = 2, rate = 1.0, neighbours = "ring" }, direction = "higher",
  metric = "value", description = "a shipped world with streams of proposals" }

local function world(lab) return require("apsis.lab.worlds." .. lab.options.of) end

function streams.init(lab) return world(lab).init(lab) end
function streams.baseline(lab) return world(lab).baseline(lab) end
function streams.evaluate(lab, genome) return world(lab).evaluate(lab, genome) end

function streams.propose(lab, proposal, parents)
  if not lab.drawn then lab.rng, lab.drawn = random.stream(lab.seed, "stream", proposal.notes.stream), true end
  return world(lab).propose(lab, proposal, parents)
end

return streams
