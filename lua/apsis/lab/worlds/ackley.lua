-- ackley: nearly flat far out, with small regular ripples, and a deep hole; least 0 at the origin (Ackley, 1987). Sums
-- are taken so that the optimum is 0 exactly.
local reals = require "apsis.lab.reals"

local cos, exp, turn = math.cos, math.exp, 2 * math.pi

return reals.world { low = -32.768, high = 32.768, step = 3.0, precision = 7.0,
  description = "Ackley's function: ripples around a deep hole; least 0 at the origin",
  value = function(point, d)
    local squares, cosines = 0.0, 0.0
    for index = 1, d do
      local x = point[index]
      squares, cosines = squares + x * x, cosines + cos(turn * x)
    end
    return 20.0 * (1 - exp(-0.2 * (squares / d) ^ 0.5)) + (exp(1) - exp(cosines / d))
  end }
