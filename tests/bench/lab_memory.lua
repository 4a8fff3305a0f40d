-- lab_memory: what the lab keeps for an experiment. `apsis exec tests/bench/lab_memory.lua STRATEGY FEW MANY [flat]` prints the bytes
-- by which a run of MANY experiments holds more than one of FEW, for each experiment more: after two full collections, with the
-- engine still in hand. Counts just above a power of two show arrays at their largest. flat: with --no-history. The world is free.
local free = require "free"
local loop = require "apsis.core.loop"

local strategy, few, many, flat = arg[1] or "hillclimb", tonumber(arg[2] or 65600), tonumber(arg[3] or 131200), arg[4] == "flat"
local engine
local new = loop.new
function loop.new(spec)
  engine = new(spec)
  return engine
end

-- Bytes in use when a run of so many experiments is over. Collected twice: what a finalizer held is free only after the second.
-- The engine of the run before is gone by then, whoever keeps the latest.
local function held(experiments)
  local record = free.run(strategy, experiments, { history = not flat })
  assert(engine.history.count == experiments + 1 and record.experiments == experiments, "not all are in the history")
  collectgarbage()
  collectgarbage()
  return collectgarbage "count" * 1024
end

local nothing, less, more = held(100), held(few), held(many)
assert(held(100) - nothing < (more - nothing) / 4, "an engine is left") -- the table of strings shrinks step by step
print(("%.3f"):format((more - less) / (many - few)))
