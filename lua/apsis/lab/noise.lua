-- noise: what is added to a measurement. new(kind, sd, rng) -> function(truth, index, candidate) -> value, where index
-- counts the measurements of a run, and candidate is the number of what is measured. Each kind has mean 0 and standard
-- deviation sd (t2 has none), and all are in the metric's units, so that a positive deviate is a higher number, better
-- or not. Never judges a kind's name: definition.load does.
local noise = {}

local exp, sqrt = math.exp, math.sqrt

noise.names = { "none", "gaussian", "student-t", "lognormal", "lognormal-low", "drift", "trend", "rounded", "flaky",
  "rare", "quantised", "ar1", "spikes", "by-candidate", "cold", "t2", "bimodal",
  "telegraph" }

local kinds = {}

function kinds.none()
  return function(truth) return truth end
end

function kinds.gaussian(sd, rng)
  return function(truth) return truth + sd * rng:normal() end
end

-- Student's t with 3 degrees of freedom, whose own variance is 3: heavy tails on both sides.
kinds["student-t"] = function(sd, rng)
  return function(truth)
    local z, a, b, c = rng:normal(), rng:normal(), rng:normal(), rng:normal()
    return truth + sd * z / sqrt(a * a + b * b + c * c)
  end
end

local lognormal_mean, lognormal_sd = exp(0.5), sqrt((exp(1) - 1) * exp(1))

-- exp of a standard normal, less its mean: skewed to the higher side (skewness 6.2), never below -0.76 sd.
function kinds.lognormal(sd, rng)
  return function(truth) return truth + sd * (exp(rng:normal()) - lognormal_mean) / lognormal_sd end
end

-- The same to the lower side.
kinds["lognormal-low"] = function(sd, rng)
  return kinds.lognormal(-sd, rng)
end

noise.drift_step, noise.trend_step = 0.1, 0.003

-- Gaussian, on a level that walks at random: a step of a tenth of sd after each measurement, so that the level is sd
-- away, as a standard deviation, after 100 measurements, 3.2 sd after 1,000.
function kinds.drift(sd, rng)
  local level, step = 0.0, sd * noise.drift_step
  return function(truth)
    local value = truth + level + sd * rng:normal()
    level = level + step * rng:normal()
    return value
  end
end

-- Gaussian, on a level that rises steadily: 3 sd in 1,000 measurements.
function kinds.trend(sd, rng)
  return function(truth, index)
    return truth + sd * (noise.trend_step * index + rng:normal())
  end
end

-- Rounded so that 87 % of the values are the same, as a score of a few points is; the others are one step off.
function kinds.rounded(sd, rng)
  local step = sd / sqrt(0.13)
  return function(truth)
    local roll = rng:random()
    return roll < 0.065 and truth + step or roll < 0.13 and truth - step or truth
  end
end

-- The same value but for a share of lucky ones.
local function lucky(share)
  return function(sd, rng)
    local step = sd / sqrt(share * (1 - share))
    return function(truth) return truth + (rng:random() < share and step or 0) - share * step end
  end
end

kinds.flaky, kinds.rare = lucky(0.1), lucky(0.02)

-- Gaussian, and then rounded to whole multiples of sd, as by a coarse clock.
function kinds.quantised(sd, rng)
  return function(truth) return sd * ((truth / sd + rng:normal() + 0.5) // 1) end
end

-- Gaussian, but 0.9 of a deviation is there again at the next measurement: an autoregression of the first order.
function kinds.ar1(sd, rng)
  local deviation
  return function(truth)
    local fresh = rng:normal()
    deviation = deviation and 0.9 * deviation + sqrt(1 - 0.9 * 0.9) * fresh or fresh
    return truth + sd * deviation
  end
end

-- Gaussian with half the deviation; 2 % of the values lie 6 sd above or below that.
function kinds.spikes(sd, rng)
  local size = sd * sqrt(0.75 / 0.02)
  return function(truth)
    local value, roll = truth + 0.5 * sd * rng:normal(), rng:random()
    return roll < 0.01 and value + size or roll < 0.02 and value - size or value
  end
end

-- Gaussian, with a deviation of each candidate's own: lognormal, a third of sd for one in 30, twice sd for one in 30.
kinds["by-candidate"] = function(sd, rng)
  local factors = {}
  return function(truth, index, candidate)
    local factor, own = exp(0.5 * rng:normal() - 0.25), candidate or index
    factors[own] = factors[own] or factor
    return truth + sd * factors[own] * rng:normal()
  end
end

-- Gaussian; the first measurement of each candidate is 2 sd higher, so that the mean is 0 from the second one on.
function kinds.cold(sd, rng)
  local warm = {}
  return function(truth, index, candidate)
    local own = candidate or index
    local cold = not warm[own] and 2 or 0
    warm[own] = true
    return truth + sd * (cold + rng:normal())
  end
end

-- Student's t with 2 degrees of freedom, times sd: its variance is infinite.
function kinds.t2(sd, rng)
  return function(truth)
    local z, a, b = rng:normal(), rng:normal(), rng:normal()
    return truth + sd * z / sqrt((a * a + b * b) / 2)
  end
end

local HUMP <const> = 0.3 -- the deviation around each of two levels, which are as far from 0 as makes sd in all

local function around(level, sd, rng)
  return sd * (level * sqrt(1 - HUMP * HUMP) + HUMP * rng:normal())
end

-- Two levels; each measurement is on either.
function kinds.bimodal(sd, rng)
  return function(truth) return truth + around(rng:random() < 0.5 and 1 or -1, sd, rng) end
end

-- Two levels; the next measurement is on the other in one of 20 cases.
function kinds.telegraph(sd, rng)
  local level = rng:random() < 0.5 and 1 or -1
  return function(truth)
    if rng:random() < 0.05 then level = -level end
    return truth + around(level, sd, rng)
  end
end

-- Whether a name is a kind's.
function noise.has(kind)
  return kinds[kind] ~= nil
end

function noise.new(kind, sd, rng)
  return kinds[kind](sd, rng)
end

return noise
