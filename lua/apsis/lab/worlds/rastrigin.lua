-- rastrigin: a sphere with a cosine on every coordinate: about 11^d local optima in a regular lattice, the least of
-- them 0 at the origin (Rastrigin, 1974; for any d by Mühlenbein et al., 1991).
local reals = require "apsis.lab.reals"

local cos, turn = math.cos, 2 * math.pi

return reals.world { low = -5.12, high = 5.12, step = 1.0, precision = 60.0,
  description = "Rastrigin's function: about 11^d local optima; least 0 at the origin",
  value = function(point, d)
    local sum = 10.0 * d
    for index = 1, d do
      local x = point[index]
      sum = sum + (x * x - 10.0 * cos(turn * x))
    end
    return sum
  end }
