-- state: what acceptance knows between candidates: the incumbent's level, the noise, and the spent share of the run's
-- error. Nine plain numbers, so that every journal line can store them. Only a baseline and a decision's verdict
-- change it. A part of apsis.acceptance.
local decisions = require "apsis.noise.decision"
local rules = require "apsis.noise.settings"
local spread = require "apsis.noise.spread"

local state = {}

local State = {}
State.__index = State

local WEIGHT = 8 -- the weight of a baseline when later measurements of the incumbent move its level
local fields = { "ref", "n", "last", "sum", "differences", "screened", "spent", "off", "off_sum" }

-- The public values: the level in the metric's orientation, the spread, the number of measurements behind the level,
-- and whether there has been a baseline.
local function show(self, data)
  self.data = data
  self.ready = data.ref ~= nil
  self.ref = data.ref and self.metric.sign * data.ref
  self.spread, self.n = spread.of(data), data.n
end

function state.new(settings, metric)
  if type(settings) ~= "table" or not settings.max_repeats then
    error("acceptance.new: settings are those of acceptance.settings", 3)
  end
  local self = setmetatable({ settings = settings, metric = metric }, State)
  show(self, { n = 0, sum = 0.0, differences = 0, screened = 0, spent = 0 })
  return self
end

function state.restore(settings, metric, saved)
  local self = state.new(settings, metric)
  local data = {}
  for _, field in ipairs(fields) do
    local value = saved[field]
    if value ~= nil and (type(value) ~= "number" or value - value ~= 0) then
      error(("acceptance.restore: %s is no finite number"):format(field), 3)
    end
    data[field] = value == nil and self.data[field] or value
  end
  show(self, data)
  return self
end

function State:save()
  local saved = {}
  for _, field in ipairs(fields) do saved[field] = self.data[field] end
  return saved
end

-- Takes the incumbent's measurements, in order. The run's spent error stays spent.
function State:baseline(values)
  local data, list = self:save(), {}
  for index = 1, #values do list[#list + 1] = decisions.oriented(self.metric, values[index] or nil) end
  if #list < rules.least_baseline then
    data.ref, data.n, data.last, data.sum, data.differences = nil, 0, nil, 0.0, 0
  else
    spread.first(data, list)
    data.ref, data.n, data.last = spread.location(list, spread.of(data)), WEIGHT, list[#list]
  end
  show(self, data)
  return self.ready
end

-- Without noise the incumbent's one value is its level.
function State:level(value)
  if self.spread == 0 then self.data.ref = decisions.oriented(self.metric, value) end
  show(self, self.data)
end

-- Goes back to what was saved before, also for the decisions that are under way.
function State:take_back(saved)
  for _, field in ipairs(fields) do self.data[field] = saved[field] end
  show(self, self.data)
end

-- A decision about one candidate. It works on a copy of the numbers, so an abandoned one changes nothing; beside: on
-- the numbers themselves, so that several may screen their candidates side by side. Only one at a time may confirm.
function State:judge(rng, beside)
  if not self.ready then error("acceptance: judge before there is a baseline", 2) end
  local data = beside and self.data or self:save()
  return decisions.new(self.settings, self.metric, data, rng, function(now) show(self, now) end)
end

return state
