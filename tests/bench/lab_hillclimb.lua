-- lab_hillclimb: what the engine costs an experiment, on a world that costs nothing. `apsis exec tests/bench/lab_hillclimb.lua N
-- [ROUNDS]` prints experiments a second of one core (processor time, the median of ROUNDS runs of N each, set-up and all).
-- It is the engine and the hooks of a live run.
local free = require "free"
local stats = require "apsis.stats"

local total, rounds = tonumber(arg[1] or 300000), tonumber(arg[2] or 5)
local rates = {}
for round = 1, rounds do
  collectgarbage()
  local began = os.clock()
  local record = free.run("hillclimb", total, { seed = round })
  rates[round] = record.experiments / (os.clock() - began)
end
print(("%.0f"):format(stats.median(rates)))
