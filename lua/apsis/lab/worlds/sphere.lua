-- sphere: the sum of squares, the simplest landscape over real numbers: one optimum, 0 at the origin. Known: with a
-- step that follows the one-fifth success rule the (1+1)-ES converges linearly: the logarithm of the distance falls by
-- about 0.2/d an evaluation (Rechenberg, 1973; Beyer, The Theory of Evolution Strategies, 2001). With a fixed step it
-- stalls near the optimum.
local reals = require "apsis.lab.reals"

return reals.world { low = -5.0, high = 5.0, step = 0.1, precision = 0.1,
  description = "the sum of d squares; least 0 at the origin", value = function(point, d)
    local sum = 0.0
    for index = 1, d do sum = sum + point[index] * point[index] end
    return sum
  end }
