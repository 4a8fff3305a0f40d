-- free: a world that costs nothing, so that what is left is the lab's own cost. A genome is an integer, the next of a
-- multiplicative congruential sequence after its parent, and is worth itself. Measures nothing. Called by lab_hillclimb and
-- lab_memory.
local definition = require "apsis.lab.definition"
local trial = require "apsis.lab.trial"

local free = {}

local module = { metric = "number", direction = "higher" }

function module.baseline() return 1 end
function module.propose(_, _, parents) return parents[1] * 16807 % 2147483647 end
function module.evaluate(_, genome) return genome end

local options = {}
for name, value in pairs(definition.common) do options[name] = value end
options.seconds, options.spread = 1.0, 0.0

-- What each strategy needs for not to stop before it is told to.
local endless = { hillclimb = { patience = math.maxinteger } }

-- The record of a trial of so many experiments with a shipped strategy. more: seed, history, options of the strategy.
function free.run(strategy, experiments, more)
  local record = assert(trial.run { seed = more.seed or 1, evaluations = experiments + 1, history = more.history,
    strategy = { use = strategy, options = more.options or endless[strategy] },
    definition = { label = "free", name = "free", where = "free", module = module, options = options } })
  assert(record.experiments == experiments, record.reason)
  return record
end

return free
