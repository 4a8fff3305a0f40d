-- noisy: runs of candidates of known effect under known noise, as fast as Lua can, with apsis.acceptance and with strict
-- hill-climbing. No engine and no world: a measurement is the truth and a deviate. Higher is better, the noise has a standard
-- deviation of 1. Called by noise.lua here and by tests/lua/acceptance.lua.
local acceptance = require "apsis.acceptance"
local direction = require "apsis.direction"
local random = require "apsis.random"

local noisy = { names = { "gaussian", "student-t", "lognormal", "lognormal-low", "rising", "falling", "walk" } }

local metric = direction.new { direction = "higher" }
local mean, sd = math.exp(0.5), math.sqrt((math.exp(1) - 1) * math.exp(1))

-- kind(rng, length) -> function() -> deviate. length: of a run, about, in measurements; over it a trend makes 3.
local kinds = {}

function kinds.gaussian(rng)
  return function() return rng:normal() end
end

kinds["student-t"] = function(rng) -- 3 degrees of freedom
  return function()
    local z, a, b, c = rng:normal(), rng:normal(), rng:normal(), rng:normal()
    return z / math.sqrt(a * a + b * b + c * c)
  end
end

function kinds.lognormal(rng)
  return function() return (math.exp(rng:normal()) - mean) / sd end
end

kinds["lognormal-low"] = function(rng)
  return function() return (mean - math.exp(rng:normal())) / sd end
end

local function trend(slope)
  return function(rng, length)
    local level = 0.0
    return function()
      level = level + slope / length
      return level + rng:normal()
    end
  end
end

kinds.rising, kinds.falling = trend(3), trend(-3)

function kinds.walk(rng)
  local level = 0.0
  return function()
    level = level + 0.1 * rng:normal()
    return level + rng:normal()
  end
end

-- One decision, with `draw` for the noise and `truth` the best's own worth.
function noisy.decide(state, rng, draw, truth, effect)
  local decision = state:judge(rng)
  while decision.next do decision:feed(draw() + truth + (decision.next == "candidate" and effect or 0)) end
  return decision
end

local function add(found, name, number)
  found[name] = (found[name] or 0) + number
end

-- A run over the effects in turn, then the final comparison: what was kept, what was measured, what is reported as gained.
function noisy.run(settings, kind, seed, effects, length)
  local coins = random.stream(seed, "coins")
  local draw = kinds[kind](random.stream(seed, kind), length)
  local state, values, truth = acceptance.new(settings, metric), {}, 0.0
  local found = { kept_null = 0, kept_real = 0 }
  for index = 1, settings.baseline do values[index] = draw() end
  state:baseline(values)
  for _, effect in ipairs(effects) do
    local decision = noisy.decide(state, coins, draw, truth, effect)
    local kind_of, kept = effect > 0 and "real" or "null", decision.verdict == "kept" and 1 or 0
    add(found, kind_of, 1)
    add(found, "kept_" .. kind_of, kept)
    add(found, "measured_" .. kind_of, decision.measured)
    truth = truth + kept * effect
  end
  local arms = { best = {}, original = {} }
  for _, arm in ipairs(acceptance.order(settings.final, coins)) do
    table.insert(arms[arm], draw() + (arm == "best" and truth or 0))
  end
  found.truth, found.gain = truth, acceptance.gain(arms.best, arms.original, metric, settings.confidence)
  return found
end

-- The same by strict hill-climbing: one measurement each, kept where it beats the best so far, whose value is what is reported.
function noisy.climb(kind, seed, effects, length)
  local draw = kinds[kind](random.stream(seed, kind), length)
  local baseline, truth = draw(), 0.0
  local best, found = baseline, { kept_real = 0, kept_null = 0 }
  for _, effect in ipairs(effects) do
    local value = draw() + truth + effect
    if metric:better(value, best) then
      local keeps = effect > 0 and "kept_real" or "kept_null"
      best, truth, found[keeps] = value, truth + effect, found[keeps] + 1
    end
  end
  found.truth, found.reported = truth, metric:gain(best, baseline)
  return found
end

-- `real` of a hundred candidates have the effect, at places drawn anew for each seed; the others have none.
function noisy.effects(real, effect, seed)
  local list = {}
  for index = 1, 100 do list[index] = index <= real and effect or 0.0 end
  return random.stream(seed, "places"):shuffle(list)
end

-- One improvement after a number of candidates without any, that number drawn anew for each seed from 0 to 99.
function noisy.one(effect, seed)
  local list = {}
  for index = 1, random.stream(seed, "place"):integer(0, 99) do list[index] = 0.0 end
  list[#list + 1] = effect
  return list
end

return noisy
