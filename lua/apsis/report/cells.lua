-- cells: a run's MAP-Elites grid, for a picture: which cells of the first two features are occupied, and each one's
-- best. From the lines' notes: features, or the cell's label. It is shown every candidate twice: `see` finds the axes,
-- `place` fills the cells. Called by run.
local grid = require "apsis.archive.grid"

local cells = {}

local Cells = {}
Cells.__index = Cells

local BINS, MOST_NAMES = 10, 20

-- own: what is known of each feature; labelled: of each part of the cells' labels. By name: { range (a grid of that
-- feature alone), values (its texts, no more than show whether they are few), known }.
function cells.new(metric)
  return setmetatable({ metric = metric, own = {}, labelled = {} }, Cells)
end

-- A label's parts as features, if a strategy notes only the cell.
local function of_label(cell)
  if type(cell) ~= "string" and type(cell) ~= "number" then return nil end
  local features, place = {}, 0
  for part in tostring(cell):gmatch("[^/]+") do
    place = place + 1
    features[("part %d of the cell's name"):format(place)] = part
  end
  return features
end

local function note(known, features)
  for name, value in pairs(features or {}) do
    if type(name) == "string" then
      local one = known[name] or { known = {}, values = {} }
      known[name] = one
      if type(value) == "string" and not one.known[value] and #one.values <= MOST_NAMES then
        one.known[value] = true
        one.values[#one.values + 1] = value
      elseif type(value) == "number" and name ~= "" then
        one.range = one.range or grid.new { { name = name, bins = BINS } }
        one.range:widen { [name] = value }
      end
    end
  end
end

-- A candidate with a value: { id, value, features | nil, cell | nil }.
function Cells:see(candidate)
  note(self.own, candidate.features)
  note(self.labelled, of_label(candidate.cell))
end

local function by_number(a, b)
  local x, y = tonumber(a), tonumber(b)
  if x and y and x ~= y then return x < y end
  return a < b
end

local function sorted_names(known)
  local names = {}
  for name in pairs(known) do names[#names + 1] = name end
  table.sort(names)
  return names
end

-- The axes, when all candidates were seen: one or two features of numbers or of a few texts. Whether there are any.
function Cells:begin()
  self.by_label = next(self.own) == nil
  local known, specs = self.by_label and self.labelled or self.own, {}
  self.other, self.occupied, self.order = {}, {}, {}
  for _, name in ipairs(sorted_names(known)) do
    local one = known[name]
    local texts = #one.values > 0 and one.values or nil
    if #specs < 2 and name ~= "" and (not texts or #texts <= MOST_NAMES) then
      if texts then table.sort(texts, by_number) end
      specs[#specs + 1] = { name = name, values = texts, bins = not texts and BINS or nil }
    else
      self.other[#self.other + 1] = name
    end
  end
  self.made = grid.new(specs)
  for _, axis in ipairs(self.made.axes) do
    local range = not axis.values and known[axis.name].range
    local found = range and range.axes[1] or {}
    axis.low, axis.high, axis.scale = found.low, found.high, found.scale
  end
  return #specs > 0
end

-- The features that the axes can show.
local function placed(axes, features)
  local found = {}
  for _, axis in ipairs(axes) do
    local value = features[axis.name]
    if type(value) == (axis.values and "string" or "number") then found[axis.name] = value end
  end
  return found
end

-- The same candidates again.
function Cells:place(candidate)
  local features, made = candidate.features, self.made
  if self.by_label then features = of_label(candidate.cell) end
  local key = features and made:find(placed(made.axes, features))
  if not key or not made:inside(key) then return end
  local cell = self.occupied[key]
  if not cell then
    cell = { x = key % (made.axes[1].bins + 1), y = #made.axes > 1 and key // made.axes[2].stride or 1, count = 0 }
    self.occupied[key] = cell
    self.order[#self.order + 1] = cell
  end
  cell.count = cell.count + 1
  if self.metric:better(candidate.value, cell) then cell.value, cell.id = candidate.value, candidate.id end
end

-- A cell's shade: 1 is best, falling by rank, because one bad value would make all others look alike.
local function shade(metric, order)
  metric:sort(order)
  for rank, cell in ipairs(order) do cell.shade = #order > 1 and 1 - (rank - 1) / (#order - 1) or 1 end
end

-- { axes = one or two of { name, bins, low, high | values }, cells = { x, y, value, id, count, shade }..., of, other =
-- names of further features } | nil.
function Cells:picture()
  local order = self.order
  if #order == 0 then return nil end
  shade(self.metric, order)
  local picture = { axes = {}, cells = order, of = self.made.cells, other = self.other }
  for index, axis in ipairs(self.made.axes) do
    picture.axes[index] = axis.values and { name = axis.name, values = axis.values, bins = #axis.values }
      or { name = axis.name, low = axis.low, high = axis.high, bins = axis.bins }
  end
  return picture
end

return cells
