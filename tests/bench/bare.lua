-- bare: hill-climbing on the free world as a loop of a few lines, with a record for each experiment and nothing else: what the lab's
-- rows are read beside. `apsis exec tests/bench/bare.lua N` prints experiments a second of processor time.
local total = tonumber(arg[1] or 1000000)

local function climb(count)
  local lines, best = {}, { experiment = 0, value = 1, id = "c0000" }
  for experiment = 1, count do
    local value = best.value * 16807 % 2147483647
    local line = { experiment = experiment, parents = { best.id }, operator = "exploitation", value = value, outcome = "reverted" }
    if value > best.value then
      line.outcome, line.id = "kept", ("c%04d"):format(experiment)
      best = line
    end
    lines[experiment] = line
  end
  return lines
end

local began = os.clock()
assert(#climb(total) == total)
print(("%.0f"):format(total / (os.clock() - began)))
