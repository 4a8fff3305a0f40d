-- noise: what is added to a measurement. new(kind, sd, rng) -> function(truth, index) -> value; index counts measurements.
local noise = {}

local kinds = {}

function kinds.none()
  return function(truth) return truth end
end

function kinds.gaussian(sd, rng)
  return function(truth) return truth + sd * rng:normal() end
end

noise.names = { "none", "gaussian", "student-t", "lognormal", "drift" }

function noise.new(kind, sd, rng)
  local make = kinds[kind]
  if not make then error(("noise must be one of %s, not %s"):format(table.concat(noise.names, ", "), kind), 0) end
  return make(sd, rng)
end

return noise
