-- better: exits 0 where the first number is lower than the second, by what direction says of them. For examples.t.
local metric = require "apsis.direction".new { name = "value", direction = "lower" }
os.exit(metric:better(tonumber(arg[1]), tonumber(arg[2])) and 0 or 1)
