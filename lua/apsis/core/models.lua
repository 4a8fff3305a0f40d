-- models: which model a proposal asks: what the journal reports of each (a candidate's gain over its first parent,
-- failures, cost) folded into a bandit, and a proposal's model filled in if the strategy left it open. The same journal
-- and seed give the same choice. Knows no provider. Called by loop, planner and recording.
local bandit = require "apsis.bandit"
local random = require "apsis.random"

local models = {}

local Models = {}
Models.__index = Models

-- What a fold reads of a line if the choice learns, beside what it needs itself.
models.fields = { "model", "parents", "proposal" }

local FLOOR = 1e-12 -- of the scale, if most gains are 0

-- new(list of {name, weight}, choice, metric). metric: direction's, of the run.
function models.new(list, choice, metric)
  local names, weights = {}, {}
  for index, model in ipairs(list or {}) do names[index], weights[index] = model.name, model.weight or 1 end
  local given = { names = names, weights = weights, choice = choice }
  return setmetatable({ names = names, metric = metric, learns = choice == "ucb" and #names > 1, low = {}, high = {},
    given = given, arms = #names > 0 and bandit.new(given) or nil }, Models)
end

-- A binary heap as a list of numbers: sign 1 has the smallest on top, -1 the largest.
local function push(heap, value, sign)
  local at = #heap + 1
  heap[at] = value
  while at > 1 and sign * (heap[at] - heap[at // 2]) < 0 do
    heap[at], heap[at // 2] = heap[at // 2], heap[at]
    at = at // 2
  end
end

local function pop(heap, sign)
  local top, at = heap[1], 1
  heap[1] = heap[#heap]
  heap[#heap] = nil
  while true do
    local least = at
    for child = 2 * at, 2 * at + 1 do
      if heap[child] and sign * (heap[child] - heap[least]) < 0 then least = child end
    end
    if least == at then return top end
    heap[at], heap[least] = heap[least], heap[at]
    at = least
  end
end

-- The median of all the sizes of gains so far, this one among them: the lower half on one heap, the upper on the other.
local function scale_with(self, size)
  push(self.low, size, -1)
  push(self.high, pop(self.low, -1), 1)
  if #self.high > #self.low then push(self.low, pop(self.high, 1), -1) end
  local median = #self.low > #self.high and self.low[1] or (self.low[1] + self.high[1]) / 2
  return math.max(median, FLOOR)
end

-- The reward of a measured candidate: 1/2 if it is as good as its parent, near 1 or 0 if it gains or loses more than
-- gains usually are. A parent without a value is as good.
local function reward_of(self, value, before)
  local gain = self.metric:gain(value, before) or 0
  return 1 / (1 + math.exp(-gain / scale_with(self, math.abs(gain))))
end

local says_nothing = { baseline = true, measured = true, asked = true, skipped_strategy_error = true }

-- Folds in a line that history has just added. If one model was asked and another one answered, the first has failed.
function Models:learn(line, history)
  if not self.learns then return end
  if line.outcome == "baseline" and history.renewed == history.count then
    self.low, self.high, self.arms = {}, {}, bandit.new(self.given)
  end
  if says_nothing[line.outcome] then return end
  local proposal = rawget(line, "proposal")
  if proposal and proposal.edits then return end -- no model was asked
  local asked, answered = proposal and proposal.model, rawget(line, "model")
  local known = self.arms.by_name
  if known[answered] and known[asked] and asked ~= answered then self.arms:learn(asked, nil) end
  local name = known[answered] and answered or asked
  if not known[name] then return end
  local value, reward = rawget(line, "primary_metric"), nil
  if value and line.outcome ~= "skipped_verification_crash" then
    reward = reward_of(self, value, history:value_of((rawget(line, "parents") or {})[1]))
  end
  self.arms:learn(name, reward, rawget(line, "cost"))
end

-- Names a model in each proposal of a plan that asks a provider and names none. slots: what is in flight.
function Models:fill(proposals, seed, number, slots)
  if not self.arms then return end
  local pending = {}
  local function count(proposal)
    local name = proposal.model
    if name then pending[name] = (pending[name] or 0) + 1 end
  end
  for _, slot in pairs(slots) do count(slot.proposal) end
  for index, proposal in ipairs(proposals) do
    if not proposal.model and not proposal.edits and not proposal.measure then
      proposal.model = self.arms:choose(random.stream(seed, number + index - 1, "model"), pending)
    end
    count(proposal)
  end
end

return models
