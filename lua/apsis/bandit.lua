-- bandit: which of several named arms (models, operators) to pull next: always the first, by weight, or by yield per
-- cost (UCB1). Pure: draws only from the stream passed in, and knows neither metrics nor models.
local bandit = {}

local Bandit = {}
Bandit.__index = Bandit

bandit.choices = { "fixed", "weighted", "ucb" }

local function finite(value)
  return type(value) == "number" and value - value == 0
end

local function check_choice(choice)
  for _, name in ipairs(bandit.choices) do
    if choice == name then return choice end
  end
  error(("bandit: choice %s is not one of %s"):format(tostring(choice), table.concat(bandit.choices, ", ")), 3)
end

-- The arms by falling weight (the first of equals first): the order in which untried ones are tried.
local function by_weight(arms)
  local sorted = table.move(arms, 1, #arms, 1, {})
  table.sort(sorted, function(a, b)
    if a.weight ~= b.weight then return a.weight > b.weight end
    return a.place < b.place
  end)
  return sorted
end

local keys = { names = true, weights = true, choice = true, costs = true }

-- new{ names, weights (1 each), choice ("weighted"), costs (the known cost of a pull, by name) }
function bandit.new(spec)
  for key in pairs(spec) do
    if not keys[key] then error(("bandit.new: unknown key %q"):format(tostring(key)), 2) end
  end
  local self = setmetatable({ choice = check_choice(spec.choice or "weighted"), arms = {}, by_name = {} }, Bandit)
  for place, name in ipairs(spec.names or {}) do
    local weight, cost = spec.weights and spec.weights[place] or 1, spec.costs and spec.costs[name]
    if type(name) ~= "string" then error(("bandit.new: names[%d] is no string"):format(place), 2) end
    if self.by_name[name] then error(("bandit.new: %q is named twice"):format(name), 2) end
    if not finite(weight) or weight <= 0 then error(("bandit.new: weights[%d] must be above 0"):format(place), 2) end
    local arm = { name = name, place = place, weight = weight, cost_before = finite(cost) and cost > 0 and cost or nil,
      pulls = 0, sum = 0, cost_sum = 0, cost_pulls = 0 }
    self.arms[place], self.by_name[name] = arm, arm
  end
  if #self.arms == 0 then error("bandit.new: names is empty", 2) end
  self.sorted = by_weight(self.arms)
  return self
end

local function cost_of(arm)
  if arm.cost_pulls > 0 then return arm.cost_sum / arm.cost_pulls end
  return arm.cost_before
end

-- The mean over the arms whose cost is known; nil if none is.
local function mean_cost(arms)
  local sum, count = 0, 0
  for _, arm in ipairs(arms) do
    local cost = cost_of(arm)
    if cost then sum, count = sum + cost, count + 1 end
  end
  return count > 0 and sum / count or nil
end

-- The mean reward of all pulls; 0.5 before the first.
local function mean_reward(arms)
  local sum, pulls = 0, 0
  for _, arm in ipairs(arms) do sum, pulls = sum + arm.sum, pulls + arm.pulls end
  return pulls > 0 and sum / pulls or 0.5
end

-- UCB1 (Auer, Cesa-Bianchi, Fischer 2002), its index divided by the root of the relative cost. A pull in flight
-- counts as one that yields the arm's mean. That only narrows its bound, so parallel pulls spread.
local function by_bound(self, pending)
  local total = 0
  for _, arm in ipairs(self.sorted) do
    local pulls = arm.pulls + (pending[arm.name] or 0)
    if pulls == 0 then return arm.name end
    total = total + pulls
  end
  local all_cost, all_reward = mean_cost(self.arms), mean_reward(self.arms)
  local best, best_index
  for _, arm in ipairs(self.sorted) do
    local pulls, cost = arm.pulls + (pending[arm.name] or 0), cost_of(arm)
    local mean = arm.pulls > 0 and arm.sum / arm.pulls or all_reward
    local index = mean + math.sqrt(2 * math.log(total) / pulls)
    if cost then index = index / (cost / all_cost) ^ 0.5 end
    if not best or index > best_index then best, best_index = arm, index end
  end
  return best.name
end

-- The next arm's name. pending: pulls in flight, by name.
function Bandit:choose(rng, pending)
  if self.choice == "fixed" or #self.arms == 1 then return self.arms[1].name end
  if self.choice == "ucb" then return by_bound(self, pending or {}) end
  local weights = {}
  for place, arm in ipairs(self.arms) do weights[place] = arm.weight end
  return rng:choice(self.arms, weights).name
end

-- Records a pull of an arm: a reward in [0, 1], or nil if it failed, which counts as 0; and its cost (0 or nil: not
-- known).
function Bandit:learn(name, reward, cost)
  local arm = self.by_name[name]
  if not arm then error(("bandit: no arm %q"):format(tostring(name)), 2) end
  reward = reward or 0
  if not finite(reward) or reward < 0 or reward > 1 then
    error(("bandit: a reward is a number from 0 to 1, not %s"):format(tostring(reward)), 2)
  end
  arm.pulls, arm.sum = arm.pulls + 1, arm.sum + reward
  if finite(cost) and cost > 0 then arm.cost_pulls, arm.cost_sum = arm.cost_pulls + 1, arm.cost_sum + cost end
end

return bandit
