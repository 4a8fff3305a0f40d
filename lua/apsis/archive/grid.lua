-- archive/grid: the cell of a candidate's features (MAP-Elites: Mouret and Clune, 2015). A numeric feature is scaled
-- over the range seen so far, into bins; a named one has its values. Does not know the members: the caller files them
-- again when a range has grown. Used by archive.
local direction = require "apsis.direction"
local suggest = require "apsis.suggest"

local grid = {}

local Grid = {}
Grid.__index = Grid

local MARGIN = 0.25 -- extra growth of a range, so that a steady trend does not widen it every time
local kind = math.type
local LARGEST = 0x1.fffffffffffffp1023

local function axis(spec, known)
  if type(spec) ~= "table" or type(spec.name) ~= "string" or spec.name == "" then error("a feature needs a name", 4) end
  for key in pairs(spec) do
    if key ~= "name" and key ~= "bins" and key ~= "values" then
      error(("feature %s: no key %q; there are name, bins, values"):format(spec.name, tostring(key)), 4)
    end
  end
  if known[spec.name] then error(("feature %s is named twice"):format(spec.name), 4) end
  known[spec.name] = true
  local made = { name = spec.name, values = spec.values, bins = spec.bins or 10 }
  if spec.values then
    made.index = {}
    for index, value in ipairs(spec.values) do
      if type(value) ~= "string" or made.index[value] then
        error(("feature %s: values are different strings"):format(spec.name), 4)
      end
      made.index[value] = index
    end
    made.bins = #spec.values
  end
  if kind(made.bins) ~= "integer" or made.bins < 1 then
    error(("feature %s: bins is a whole number from 1"):format(spec.name), 4)
  end
  return made
end

-- The key of a cell is its bins in a mixed radix, 0 standing for a feature that is missing.
function grid.new(features)
  local labels = setmetatable({}, { __mode = "v" }) -- a cache, no state: strategies --check passes over weak tables
  local self = setmetatable({ axes = {}, cells = 1, span = 1, labels = labels }, Grid)
  local known = {}
  for index, spec in ipairs(features or {}) do
    local made = axis(spec, known)
    made.stride = self.span
    self.axes[index] = made
    self.cells, self.span = self.cells * made.bins, self.span * (made.bins + 1)
    if self.span > 2 ^ 31 then error("the features make more than 2^31 cells", 2) end
  end
  return self
end

-- Whether every named feature has one of its values; nil, message, "EFEATURE" if not.
function Grid:check(features)
  for _, made in ipairs(self.axes) do
    local value = features and features[made.name]
    if made.index and value ~= nil and not made.index[value] then
      return nil, ("EFEATURE: %s has no value %q; there are %s%s"):format(made.name, tostring(value),
        table.concat(made.values, ", "), suggest.sentence(tostring(value), made.values)), "EFEATURE"
    elseif not made.index and value ~= nil and type(value) ~= "number" then
      return nil, ("EFEATURE: %s is a number, not %q"):format(made.name, tostring(value)), "EFEATURE"
    end
  end
  return true
end

local function stretch(made, value)
  local low, high = made.low or value, made.high or value
  local more = MARGIN * (math.max(high, value) / 2 - math.min(low, value) / 2) * 2
  if value < low then
    low = math.max(value - more, -LARGEST)
  elseif value > high then
    high = math.min(value + more, LARGEST)
  end
  made.low, made.high = low, high
  made.scale = made.bins / (high - low)
  -- A range so wide or so narrow that its scale is no number has one bin.
  if not (made.scale > 0 and made.scale < math.huge) then made.scale = 0 end
end

-- Widens the ranges for these features. Returns whether one has grown, which invalidates earlier keys.
function Grid:widen(features)
  local grown = false
  for _, made in ipairs(self.axes) do
    local value = features and features[made.name]
    if not made.index and direction.finite(value) then
      value = value + 0.0 -- integers beyond 2^53 as bin_of sees them
      if not made.low or value < made.low or value > made.high then
        stretch(made, value)
        grown = true
      end
    end
  end
  return grown
end

-- The bin of a value, counted from 1; 0 if it is not finite, nil if the axis has none for it.
local function bin_of(made, value)
  if made.index then return made.index[value] end
  if not kind(value) then return nil end
  value = value + 0.0 -- integers beyond 2^53 as widen sees them
  if value - value ~= 0 then return 0 end
  local low, scale, bins = made.low, made.scale, made.bins
  if not low or value < low or value > made.high then return nil end
  if scale == 0 then return 1 end
  local bin = (value - low) * scale // 1 + 1 | 0
  return bin < bins and bin or bins
end

-- The key of the cell of features; a missing or infinite feature has no bin. nil if a range does not reach so far, or
-- a value is not one of the feature's.
function Grid:find(features)
  local axes, key = self.axes, 0
  for index = 1, features and #axes or 0 do
    local made = axes[index]
    local value = features[made.name]
    if value ~= nil then
      local bin = bin_of(made, value)
      if not bin then return nil end
      key = key + bin * made.stride
    end
  end
  return key
end

-- The label of the cell that features would get after their addition, with the ranges widened for them.
function Grid:preview(features)
  local key = self:find(features)
  if key then return self:label(key) end
  local seen = setmetatable({ axes = {}, labels = self.labels }, Grid)
  for index, made in ipairs(self.axes) do
    seen.axes[index] = setmetatable({ low = made.low, high = made.high, scale = made.scale }, { __index = made })
  end
  seen:widen(features)
  return seen:label(seen:find(features) or 0)
end

-- The same with the ranges as they are: values outside belong to the outermost bin.
function Grid:nearest(features)
  local inside = {}
  for _, made in ipairs(self.axes) do
    local value = features[made.name]
    if made.low and direction.finite(value) then value = math.max(made.low, math.min(made.high, value)) end
    if made.index or made.low then inside[made.name] = value end
  end
  return self:find(inside)
end

-- Whether a key is a cell's: no feature is missing.
function Grid:inside(key)
  for _, made in ipairs(self.axes) do
    if key // made.stride % (made.bins + 1) == 0 then return false end
  end
  return true
end

local function make_label(self, key)
  local parts = {}
  for index, made in ipairs(self.axes) do
    local bin = key // made.stride % (made.bins + 1)
    parts[index] = bin == 0 and "-" or made.values and made.values[bin] or tostring(bin)
  end
  return table.concat(parts, "/")
end

-- A key as people read it: "3/greedy", with "-" for a feature that is missing.
function Grid:label(key)
  local label = self.labels[key]
  if not label then
    label = make_label(self, key)
    self.labels[key] = label
  end
  return label
end

return grid
