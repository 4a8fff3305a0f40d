-- losses: what is lost without some parts of a candidate, from measurements that the caller makes. Without noise a
-- version is measured once. Under noise it is measured in several turns, each in random order among measurements of the
-- whole candidate, so that drift cancels; what is shown holds for all parts together, at 95 %. Called by shares.
local random = require "apsis.random"
local stats = require "apsis.stats"
local student = require "apsis.stats.student"

local losses = {}

losses.TURNS = 5 -- under noise, at least

local Losses = {}
Losses.__index = Losses

local CONTROLS <const> = 3 -- measurements of the candidate before anything is left out
local ERROR <const> = 0.05
local MOST_TURNS <const> = 20

-- A candidate's gain is divided on the scale on which its parts add up best.
losses.scales = {
  { name = "sum", of = function(value) return value end },
  { name = "ratio", positive = true, of = function(value) return math.log(value) end },
  { name = "rate", positive = true, of = function(value) return -1 / value end },
}

-- new{ metric, most, measure(sets, turn) -> { { value, reason }... } | nil (stop), kept(sets, turn) -> what an earlier
-- call measured, in that form | nil, seed }. A set is a sorted list of the parts that are left out.
function losses.new(spec)
  return setmetatable({ metric = spec.metric, most = spec.most, measure = spec.measure, kept = spec.kept,
    seed = spec.seed or 1, used = 0, found = {}, passing = {}, turns = 1, level = 1 - ERROR }, Losses)
end

local function key_of(set) return table.concat(set, " ") end

-- The measurements of some sets in one turn; nil if none are left or the user interrupted.
function Losses:turn(sets, turn)
  local answers = self.kept(sets, turn)
  if answers then return answers end
  if self.used + #sets > self.most then
    self.ended = "limit"
    return nil
  end
  self.used = self.used + #sets
  answers = self.measure(sets, turn)
  if not answers then self.ended = "interrupted" end
  return answers
end

-- Measures the candidate itself. Its values; nil and why it has none, or nil if it ended.
function Losses:control()
  local values = {}
  for turn = 1, CONTROLS do
    local answers = self:turn({ {} }, turn)
    if not answers then return nil end
    if not answers[1].value then return nil, answers[1].reason end
    values[turn] = answers[1].value
    if not self.metric:tied(values[turn], values[1]) then self.noisy = true end
  end
  self.value = values[1]
  return values
end

-- How many measurements of the candidate a turn has: about the root of the number of versions.
local function controls_for(count) return math.ceil(math.sqrt(count)) end

-- How many parts can be measured alone with half of what is left.
function Losses:room()
  local half = (self.most - self.used) // 2
  if not self.noisy then return half end
  local count = 1
  while (count + 2 + controls_for(count + 2)) * losses.TURNS <= half do count = count + 1 end
  return count
end

-- Prepares for that many parts: under noise, how many turns half of what is left allows.
function Losses:prepare(count)
  self.level = 1 - ERROR / math.max(count, 1)
  if not self.noisy then return end
  local each = count + 1 + controls_for(count + 1)
  self.turns = math.max(losses.TURNS, math.min(MOST_TURNS, (self.most - self.used) // 2 // each))
end

-- The candidate's measurements shuffled among the versions'.
local function shuffled(self, sets, turn)
  local list = table.move(sets, 1, #sets, 1, {})
  for _ = 1, controls_for(#sets) do list[#list + 1] = {} end
  local rng = random.stream(self.seed, "explain", turn, #list)
  for index = #list, 2, -1 do
    local other = rng:integer(1, index)
    list[index], list[other] = list[other], list[index]
  end
  return list
end

local function mean_of(list)
  local sum = 0.0
  for _, value in ipairs(list) do sum = sum + value end
  return #list > 0 and sum / #list or nil
end

-- One turn under noise; which of the sets have not failed. nil if it ended.
local function noisy_turn(self, sets, turn)
  local list = shuffled(self, sets, turn)
  local answers = self:turn(list, turn)
  if not answers then return nil end
  local controls, left = {}, {}
  for index, answer in ipairs(answers) do
    if #list[index] == 0 then controls[#controls + 1] = answer.value end
  end
  local control = mean_of(controls)
  for index, answer in ipairs(answers) do
    local found = self.found[key_of(list[index])]
    if found and not answer.value then
      found.failed, found.reason = true, answer.reason
    elseif found then
      left[#left + 1] = list[index]
      if control then
        table.insert(found.values, answer.value)
        table.insert(found.controls, control)
      end
    end
  end
  return left
end

local function exact(self, set)
  local answers = self:turn({ set }, 1)
  if not answers then return nil end
  local answer = answers[1]
  self.found[key_of(set)] = { values = { answer.value }, controls = { self.value }, failed = not answer.value,
    reason = answer.reason }
  return true
end

-- Whether one more set can be asked for.
function Losses:affords_one()
  return self.used + (self.noisy and self.turns * (1 + controls_for(1)) or 1) <= self.most
end

-- Measures each set that was not measured before; all of them can then be asked for with `of`. turns: how many under
-- noise. false if it ended.
function Losses:ask(sets, turns)
  local new = {}
  for _, set in ipairs(sets) do
    local key = key_of(set)
    if not self.found[key] and #set > 0 then
      new[#new + 1] = set
      if self.noisy then self.found[key] = { values = {}, controls = {} }
      elseif not exact(self, set) then return false end
    end
  end
  if not self.noisy or #new == 0 then return true end
  local left = new
  for turn = 1, turns or self.turns do
    if #left == 0 then return true end
    left = noisy_turn(self, left, turn)
    if not left then
      for _, set in ipairs(new) do self.found[key_of(set)] = nil end
      return false
    end
  end
  return true
end

-- Whether a set's version has a value: one measurement, if it was not measured before. nil if it ended.
function Losses:passes(set)
  local key = key_of(set)
  local found = self.found[key]
  if found then return not found.failed end
  if self.passing[key] == nil then
    if not self.noisy then return self:ask { set } and not self.found[key].failed end
    local answers = self:turn({ set }, 1)
    if not answers then return nil end
    self.passing[key] = answers[1].value ~= nil
  end
  return self.passing[key]
end

-- The loss without a set that was asked for, on a scale: { gain (what is lost), low, high, half (of the interval) };
-- nil if it failed.
function Losses:of(set, scale)
  if #set == 0 then return { gain = 0, low = 0, high = 0, half = 0 } end
  local found, sign = self.found[key_of(set)], self.metric.sign
  if not found or found.failed then return nil end
  local of, differences, count = (scale or losses.scales[1]).of, {}, #found.values
  for turn, value in ipairs(found.values) do differences[turn] = sign * (of(found.controls[turn]) - of(value)) end
  local gain = stats.mean(differences)
  local half = count > 1 and student.two_sided(self.level, count - 1) * stats.sd(differences) / math.sqrt(count) or 0.0
  return { gain = gain, low = gain - half, high = gain + half, half = half, value = mean_of(found.values) }
end

-- The candidate's own value, under noise the mean of all turns of a set.
function Losses:own(set)
  return self.noisy and mean_of(self.found[key_of(set)].controls) or self.value
end

-- Whether leaving a set out has an effect: for worse, better, or it fails.
function Losses:matters(set)
  local found = self.found[key_of(set)]
  if not found then return false end
  if found.failed then return true end
  if not self.noisy then return not self.metric:tied(found.values[1], self.value) end
  local loss = self:of(set)
  return loss.low > 0 or loss.high < 0
end

-- Measures a set without noise once more, with other seeds. Whether it is the same; nil if it ended. If not, there is
-- noise.
function Losses:repeats(set)
  local found = self.found[key_of(set)]
  local answers = self:turn({ set }, 2)
  if not answers then return nil end
  local value = answers[1].value
  local same = value == found.values[1] or value and found.values[1] and self.metric:tied(value, found.values[1])
  if not same then self.noisy, self.found = true, {} end
  return same and true or false
end

-- The scales that all values so far are on.
function Losses:usable()
  local list = {}
  for _, scale in ipairs(losses.scales) do
    local usable = true
    for _, found in pairs(scale.positive and self.found or {}) do
      for index, value in ipairs(found.values) do usable = usable and value > 0 and found.controls[index] > 0 end
    end
    if usable then list[#list + 1] = scale end
  end
  return list
end

return losses
