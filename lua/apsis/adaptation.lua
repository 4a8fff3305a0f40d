-- adaptation: how hard to search on each island, and which island to go to next, by the improvements so far; after
-- AdaEvolve (github.com/skydiscover-ai/skydiscover). Scores are oriented: higher is better. Draws only from the stream
-- passed in. For strategies.
local direction = require "apsis.direction"

local adaptation = {}

local Adaptation = {}
Adaptation.__index = Adaptation

local FADE <const>, LEAST <const>, EXPLORE <const>, VISITS <const> = 0.9, 1e-8, 1.41, 3
local turned = direction.new {}

-- new(low, high): the bounds of the intensity.
function adaptation.new(low, high)
  return setmetatable({ low = low, high = high, islands = {}, best = nil }, Adaptation)
end

-- A new island; returns its number.
function Adaptation:add()
  self.islands[#self.islands + 1] = { signal = 0, best = nil, improved = 0, evaluated = 0, visits = 0, faded = 0,
    reward = 0 }
  return #self.islands
end

-- An improvement as a share of what it improves on, at most 1; 1 for the first.
local function share(score, before, base)
  return base and math.min((score - before) / (math.abs(base) + LEAST), 1) or 1
end

-- A better score raises an island's signal. Returns whether it is.
local function improve(island, score)
  if not turned:better(score, island.best) then return false end
  local step = share(score, island.best, island.best)
  island.signal, island.best = FADE * island.signal + (1 - FADE) * step ^ 2, score
  return true
end

-- A program of an island was measured.
function Adaptation:record(number, score)
  local island, before, reward = self.islands[number], self.islands[number].best, 0
  island.evaluated, island.visits, island.faded = island.evaluated + 1, island.visits + 1, FADE * island.faded + 1
  if improve(island, score) then
    island.improved = island.improved + 1
    reward = before and share(score, before, self.best) or 1
    self.best = turned:better_of(score, self.best)
  end
  island.reward = FADE * island.reward + reward
end

-- A program came to an island from elsewhere: it counts as no visit.
function Adaptation:receive(number, score)
  self.best = turned:better_of(score, self.best)
  improve(self.islands[number], score)
end

-- The share of explorations on an island: high where nothing improves.
function Adaptation:intensity(number)
  return self.low + (self.high - self.low) / (1 + math.sqrt(self.islands[number].signal + LEAST))
end

-- The share of all measured programs that improved on their island's best; 1 before the first.
function Adaptation:productivity()
  local improved, evaluated = 0, 0
  for _, island in ipairs(self.islands) do
    improved, evaluated = improved + island.improved, evaluated + island.evaluated
  end
  return evaluated == 0 and 1 or improved / evaluated
end

-- The next island, after that many iterations: one with fewer than three visits, else by UCB over fading rewards.
function Adaptation:choose(rng, iterations)
  local new, best, score = {}, 1, nil
  for number, island in ipairs(self.islands) do
    if island.visits < VISITS then new[#new + 1] = number end
  end
  if new[1] then return rng:choice(new) end
  for number, island in ipairs(self.islands) do
    local bound = island.reward / island.faded + EXPLORE * math.sqrt(math.log(iterations + 1) / island.visits)
    if not score or bound > score then best, score = number, bound end
  end
  return best
end

return adaptation
