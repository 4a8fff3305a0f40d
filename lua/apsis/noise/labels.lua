-- confirm: the second part of a decision, by blinded labels. A fair coin decides whether to measure the candidate or
-- the incumbent, and capital is bet on which of them a value came from. If there is no difference, the coin is
-- independent of the value and of the past, so the capital is a martingale whatever the noise, and reaches 1/a with a
-- chance of at most a (Ville, 1939). This is exact only if the bet is made before anything learns from the value, and
-- bets rise with the value. A part of apsis.acceptance, called by decision.
local spread = require "apsis.noise.spread"

local confirm = {}

local EFFECTS = { 0.75, 1, 1.5, 2, 3 } -- the improvements to bet on, in spreads, a fifth of the capital each
local FLOOR = 0.02 -- a bet never stakes all
local PRIOR = 4 -- the weight of a bettor's initial level
local LEAST = 4 -- measurements of a kept candidate from which its own level is known

-- The confirmations that keep nothing spend the run's 1 - confidence: the k-th of them gets 6/(pi k)^2 of it, which
-- adds up to all. One that keeps its candidate returns its level to the next. So the chance of any false keep in a
-- run is at most the total: up to the first, every candidate without an effect had its own level.
function confirm.level(settings, data)
  return (1 - settings.confidence) * 6 / (math.pi * (data.spent + 1)) ^ 2
end

function confirm.new(settings, data)
  local part = {
    level = confirm.level(settings, data), size = spread.of(data), weight = PRIOR, capital = 1.0, stakes = {},
    levels = {}, candidate = {}, best = {},
  }
  for index = 1, #EFFECTS do part.stakes[index], part.levels[index] = 1 / #EFFECTS, data.ref end
  return part
end

-- One bettor's probability that a value at z spreads from the incumbent's level is the candidate's.
local function chance(z, effect)
  return FLOOR + (1 - 2 * FLOOR) / (1 + math.exp(-effect * spread.clip(z - effect / 2, 2)))
end

local function bet(part, memory, labelled, value)
  local size, capital = part.size, 0.0
  part.weight = part.weight + 1
  local share = size / math.min(part.weight, memory)
  for index, effect in ipairs(EFFECTS) do
    local level = part.levels[index]
    local p = chance((value - level) / size, effect)
    part.stakes[index] = part.stakes[index] * 2 * (labelled and p or 1 - p)
    capital = capital + part.stakes[index]
    local expected = labelled and level + effect * size or level
    part.levels[index] = level + share * spread.clip((value - expected) / size, 2)
  end
  part.capital = capital
end

-- Which arm is measured next.
function confirm.draw(rng)
  return rng:random() < 0.5 and "candidate" or "best"
end

-- Capital that once sufficed decides and is not bet again: further measurements only find the level of a candidate
-- that the coin chose too seldom.
local function won(part)
  return part.capital >= 1 / part.level
end

-- Takes a value of an arm; returns the next step: "candidate", "best", "keep" or "reject". handicap: the least
-- improvement.
function confirm.feed(part, settings, rng, arm, value, handicap)
  local labelled, list = arm == "candidate", part[arm]
  list[#list + 1] = value
  if not won(part) then bet(part, settings.memory, labelled, labelled and value - handicap or value) end
  if won(part) then return #part.candidate >= LEAST and "keep" or "candidate" end
  if part.capital <= settings.futility or #list >= settings.max_repeats then return "reject" end
  return confirm.draw(rng)
end

return confirm
