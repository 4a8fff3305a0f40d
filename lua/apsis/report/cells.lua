-- cells: a run's MAP-Elites grid, for a picture: which cells of the first two features are occupied, and each one's
-- best. From the lines' notes: features, or the cell's label. Called by run.
local grid = require "apsis.archive.grid"

local cells = {}

local BINS, MOST_NAMES = 10, 20

local function note_names(list, names, seen)
  for name in pairs(list) do
    if type(name) == "string" and not seen[name] then
      seen[name] = true
      names[#names + 1] = name
    end
  end
end

local function by_number(a, b)
  local x, y = tonumber(a), tonumber(b)
  if x and y and x ~= y then return x < y end
  return a < b
end

-- The features of all candidates in order, and their types: numbers, or a few names.
local function features_of(candidates)
  local names, seen, values = {}, {}, {}
  for _, candidate in ipairs(candidates) do note_names(candidate.features or {}, names, seen) end
  table.sort(names)
  for _, name in ipairs(names) do
    local known, list = {}, {}
    for _, candidate in ipairs(candidates) do
      local value = candidate.features and candidate.features[name]
      if type(value) == "string" and not known[value] then
        known[value] = true
        list[#list + 1] = value
      end
    end
    table.sort(list, by_number)
    values[name] = #list > 0 and list or nil
  end
  return names, values
end

-- A label's parts as features, if a strategy notes only the cell.
local function from_labels(candidates)
  local list = {}
  for index, candidate in ipairs(candidates) do
    local features
    if type(candidate.cell) == "string" or type(candidate.cell) == "number" then
      features = {}
      local place = 0
      for part in tostring(candidate.cell):gmatch("[^/]+") do
        place = place + 1
        features[("part %d of the cell's name"):format(place)] = part
      end
    end
    list[index] = { features = features, value = candidate.value, id = candidate.id }
  end
  return list
end

local function axis_of(name, values, made)
  if values then return { name = name, values = values, bins = #values } end
  return { name = name, low = made.low, high = made.high, bins = made.bins }
end

-- The features that the axes can show.
local function placed(axes, values, features)
  local found = {}
  for _, name in ipairs(axes) do
    local value = features[name]
    if values[name] and type(value) == "string" or not values[name] and type(value) == "number" then
      found[name] = value
    end
  end
  return found
end

local function occupy(made, axes, list, metric, values)
  local occupied, order = {}, {}
  for _, candidate in ipairs(list) do
    local key = candidate.features and made:find(placed(axes, values, candidate.features))
    if key and made:inside(key) then
      local cell = occupied[key]
      if not cell then
        cell = { x = key % (made.axes[1].bins + 1), y = #axes > 1 and key // made.axes[2].stride or 1, count = 0 }
        occupied[key] = cell
        order[#order + 1] = cell
      end
      cell.count = cell.count + 1
      if metric:better(candidate.value, cell) then cell.value, cell.id = candidate.value, candidate.id end
    end
  end
  return order
end

-- A cell's shade: 1 is best, falling by rank, because one bad value would make all others look alike.
local function shade(metric, order)
  metric:sort(order)
  for rank, cell in ipairs(order) do cell.shade = #order > 1 and 1 - (rank - 1) / (#order - 1) or 1 end
end

-- picture(metric, candidates): candidates with value, { id, value, features | nil, cell | nil } -> { axes = one or two
-- of { name, bins, low, high | values }, cells = { x, y, value, id, count, shade }..., of, other = names of further
-- features } | nil.
function cells.picture(metric, candidates)
  local list = candidates
  local names, values = features_of(list)
  if #names == 0 then
    list = from_labels(candidates)
    names, values = features_of(list)
  end
  local axes, specs, other = {}, {}, {}
  for _, name in ipairs(names) do
    local small = not values[name] or #values[name] <= MOST_NAMES
    if #axes < 2 and name ~= "" and small then
      axes[#axes + 1] = name
      specs[#axes] = { name = name, values = values[name], bins = not values[name] and BINS or nil }
    else
      other[#other + 1] = name
    end
  end
  if #axes == 0 then return nil end
  local made = grid.new(specs)
  for _, candidate in ipairs(list) do made:widen(placed(axes, values, candidate.features or {})) end
  local order = occupy(made, axes, list, metric, values)
  if #order == 0 then return nil end
  shade(metric, order)
  local picture = { axes = {}, cells = order, of = made.cells, other = other }
  for index, name in ipairs(axes) do picture.axes[index] = axis_of(name, values[name], made.axes[index]) end
  return picture
end

return cells
