-- rosenbrock: a curved valley whose floor is easy to find and hard to follow; least 0 where every coordinate is 1
-- (Rosenbrock, 1960, in the chained form for any d). From d = 4 there is a second, local optimum near (-1, 1, ..., 1).
local reals = require "apsis.lab.reals"

return reals.world { low = -2.048, high = 2.048, step = 0.03, precision = 8.0, least_d = 2,
  description = "Rosenbrock's valley; least 0 where every coordinate is 1",
  value = function(point, d)
    local sum = 0.0
    for index = 1, d - 1 do
      local x = point[index]
      local off, short = point[index + 1] - x * x, 1.0 - x
      sum = sum + (100.0 * off * off + short * short)
    end
    return sum
  end }
