-- model_bandit: which model to ask next, by how much its answers improved on their parents and what they cost: the
-- asymmetric UCB of ShinkaEvolve (github.com/SakanaAI/ShinkaEvolve), whose rewards are exponential gains that fade.
-- Draws only from the stream passed in. For strategies.
local stats = require "apsis.stats"

local model_bandit = {}

local Bandit = {}
Bandit.__index = Bandit

local exp, log, sqrt, inf = math.exp, math.log, math.sqrt, math.huge
local LEAST <const>, FADE <const>, EXPLORE <const> = 1e-7, 0.95, 1.0
local EPSILON <const>, FRUGAL <const>, COST_BOUND <const> = 0.2, 0.5, 0.1

-- log(1 + x) and exp(x) - 1 where x is small (Kahan).
local function log1p(x)
  local u = 1 + x
  return u == 1 and x or log(u) * x / (u - 1)
end

local function expm1(x)
  local u = exp(x)
  if u == 1 or u == 0 then return u == 1 and x or -1 end
  return (u - 1) * x / log(u)
end

local function log_add(a, b)
  local most, least = math.max(a, b), math.min(a, b)
  return least == -inf and most or most + log1p(exp(least - most))
end

function model_bandit.new(names)
  local self = setmetatable({ arms = {}, by_name = {}, most = -inf, cheapest = inf, dearest = -inf }, Bandit)
  for place, name in ipairs(names) do
    local arm = { name = name, asked = 0, done = 0, sum = -inf, weight = 0, cost = 0, costs = 0 }
    self.arms[place], self.by_name[name] = arm, arm
  end
  return self
end

-- The logarithm of a mean reward.
local function mean(arm)
  return arm.sum - log(math.max(arm.weight, LEAST))
end

-- What a logarithm fades to: log(exp(x) - 1) of a reward that shrinks, as the original has it.
local function faded(x)
  local rest = x > 0 and x + log(1 - FADE + exp(-x)) or log1p((1 - FADE) * exp(x))
  return x + log(FADE) - rest
end

-- A question was sent to a model; nothing for one that is not known.
function Bandit:ask(name)
  local arm = self.by_name[name]
  if arm then arm.asked = arm.asked + 1 end
end

-- What an answer cost.
function Bandit:pay(name, cost)
  local arm = self.by_name[name]
  if not arm then return end
  arm.cost, arm.costs = arm.cost + cost, arm.costs + 1
  self.cheapest, self.dearest = math.min(self.cheapest, cost), math.max(self.dearest, cost)
end

-- How much an answer improved on the better of its parent and the baseline (0: not at all); nil: it failed.
function Bandit:learn(name, gain)
  local arm = self.by_name[name]
  if not arm then return end
  local better = math.max(gain or 0, 0)
  local reward = better > 50 and better or log(expm1(better))
  arm.weight, arm.done, arm.sum = arm.weight + 1, arm.done + 1, log_add(arm.sum, reward)
  if gain then self.most = math.max(self.most, reward) end
  local best = -inf
  for _, one in ipairs(self.arms) do
    one.weight, one.sum = one.weight * FADE, faded(one.sum)
    best = math.max(best, mean(one))
  end
  if self.most > -inf then self.most = math.max(faded(self.most), best) end
end

-- How cheap each arm is: 1 is the cheapest, by a lower bound of its cost; nil if no cost is known.
local function cheapness(self, bound)
  if self.dearest < self.cheapest then return nil end
  local known, costs, cheap, most = {}, {}, {}, 0
  for place, arm in ipairs(self.arms) do
    costs[place] = arm.cost / math.max(arm.costs, 1)
    if arm.costs > 0 then known[#known + 1] = costs[place] end
  end
  local middle = math.max(stats.median(known), LEAST)
  for place, arm in ipairs(self.arms) do
    local slack = COST_BOUND * (self.dearest - self.cheapest) * sqrt(bound / math.max(arm.costs, 1))
    cheap[place] = middle / math.max(costs[place] - slack, LEAST)
    most = math.max(most, cheap[place])
  end
  for place in ipairs(cheap) do cheap[place] = cheap[place] / math.max(most, 1e-9) end
  return cheap
end

-- All alike where chosen(place) is true, with a share for the others.
local function spread(count, chosen, share)
  local wins, chances = 0, {}
  for place = 1, count do wins = wins + (chosen(place) and 1 or 0) end
  for place = 1, count do
    chances[place] = wins == count and 1 / count or chosen(place) and (1 - share) / wins or share / (count - wins)
  end
  return chances
end

-- The probability of each model, in the order of the names. pending: the proposals in flight.
function Bandit:probabilities(pending)
  local counts, total, unseen, scores, best, waiting = {}, 0, false, {}, -inf, {}
  for _, proposal in ipairs(pending) do
    if proposal.model then waiting[proposal.model] = (waiting[proposal.model] or 0) + 1 end
  end
  for place, arm in ipairs(self.arms) do
    counts[place] = math.max(arm.asked + (waiting[arm.name] or 0), arm.done)
    total, unseen = total + counts[place], unseen or counts[place] == 0
  end
  if unseen then return spread(#self.arms, function(place) return counts[place] == 0 end, 0) end
  local bound = 2 * log(math.max(total, 2))
  local cheap, top = cheapness(self, bound), self.most > -inf and self.most or 0
  for place, arm in ipairs(self.arms) do
    local score = exp(mean(arm) - top) + EXPLORE * sqrt(bound / counts[place])
    scores[place] = cheap and (1 - FRUGAL) * score + FRUGAL * cheap[place] or score
    best = math.max(best, scores[place])
  end
  return spread(#self.arms, function(place) return scores[place] == best end, EPSILON)
end

-- A model; nil if there are fewer than two.
function Bandit:pick(rng, pending)
  if not self.arms[2] then return nil end
  return rng:choice(self.arms, self:probabilities(pending)).name
end

return model_bandit
