-- mutate: this example's provider. apsis calls it once per experiment with the proposal and the parent's files; it
-- moves a few of the parent's circles and returns the new packing.lua. It measures nothing and keeps nothing: what the
-- change is worth is for evaluate.lua to say, and whether it stays is for the strategy. It costs some 5 ms; a language
-- model could stand here.
--
-- A change is a random kick, then a small step to better places for a circle and its neighbours. That step is a linear
-- programme: the largest sum of radii, where neither walls nor other circles are crossed and each moving centre stays
-- within `reach` of where it was. A distance between moving centres is replaced by its tangent, which is never more
-- than the true distance, so that the new circles are always valid.

local COUNT = 26
local NEIGHBOURS = 10 -- circles that may move together, at most
local SHRINK = 1e-12 -- taken off each radius, so that rounding never makes circles overlap
local NUMBER = "%s*(%-?[%d.]+[eE]?[+-]?%d*)%s*"
local CIRCLE = "{" .. NUMBER .. "," .. NUMBER .. "," .. NUMBER .. "}"

local function clamp(v)
  return math.max(0.001, math.min(0.999, v))
end

-- The centres in a packing.lua that is a literal list of circles; nil for any other program.
local function parse(text)
  local centres = {}
  for x, y in text:gmatch(CIRCLE) do
    x, y = tonumber(x), tonumber(y)
    if not x or not y then return nil end
    centres[#centres + 1] = { x = clamp(x), y = clamp(y) }
  end
  return #centres == COUNT and centres or nil
end

-- The same text with other circles in it; the comments around them stay.
local function rewrite(text, centres, radii)
  local i = 0
  return (text:gsub(CIRCLE, function()
    i = i + 1
    return ("{ %.17g, %.17g, %.17g }"):format(centres[i].x, centres[i].y, math.max(radii[i] - SHRINK, 0))
  end))
end

local function distance(a, b)
  return math.max(math.sqrt((a.x - b.x) ^ 2 + (a.y - b.y) ^ 2), 1e-12)
end

local function wall(c)
  return math.min(c.x, c.y, 1 - c.x, 1 - c.y)
end

-- One step of the simplex method: makes `column` a unit column with its 1 in `row`.
local function pivot(rows, objective, row, column)
  local scale, used = 1 / row[column], {}
  for c = 1, #row do
    if row[c] ~= 0 then
      row[c] = row[c] * scale
      used[#used + 1] = c
    end
  end
  row[column] = scale
  local function clear(other)
    local factor = other[column]
    if factor == 0 or other == row then return end
    other[column] = 0
    for _, c in ipairs(used) do other[c] = other[c] - factor * row[c] end
  end
  for _, other in ipairs(rows) do clear(other) end
  clear(objective)
end

-- The simplex method: variables >= 0 with the largest objective, where each row . variables <= the row's last number,
-- which is >= 0. basis[k] is the variable that row k gives the value of; variables above `count` are the rows' slacks.
local function maximise(rows, objective)
  local count = #objective - 1
  local basis, owner, values = {}, {}, {}
  for k = 1, #rows do basis[k] = count + k end
  for i = 1, count do owner[i], values[i] = i, 0 end
  for _ = 1, 500 do
    local column, most = nil, 1e-9
    for i = 1, count do
      if objective[i] > most then column, most = i, objective[i] end
    end
    if not column then break end
    local leaving, least = nil, math.huge
    for k, row in ipairs(rows) do
      local a = row[column]
      if a > 1e-9 and row[count + 1] / a < least then leaving, least = k, row[count + 1] / a end
    end
    if not leaving then break end
    pivot(rows, objective, rows[leaving], column)
    basis[leaving], owner[column] = owner[column], basis[leaving]
  end
  for k, variable in ipairs(basis) do
    if variable <= count then values[variable] = math.max(rows[k][count + 1], 0) end
  end
  return values
end

-- How far every moving centre may go without reaching a wall or another centre; at most `reach`.
local function safe_reach(centres, moving, reach)
  for _, i in ipairs(moving) do
    reach = math.min(reach, wall(centres[i]) / 2)
    for j = 1, COUNT do
      if j ~= i then reach = math.min(reach, distance(centres[i], centres[j]) / 2) end
    end
  end
  return reach
end

-- The linear programme's rows. Variable i is the radius of circle i; a moving circle also has at[i] and at[i] + 1, its
-- new x and y counted from the least it may become (its old one less `reach`).
local function build(centres, moving, at, reach)
  local width, rows = COUNT + 2 * #moving, {}
  local function row(bound, ...)
    local new, terms = {}, { ... }
    for c = 1, width do new[c] = 0 end
    for t = 1, #terms, 2 do new[terms[t]] = terms[t + 1] end
    new[width + 1] = bound
    rows[#rows + 1] = new
    return new
  end
  for i, c in ipairs(centres) do
    local x, y = at[i], at[i] and at[i] + 1
    if x then
      row(c.x - reach, i, 1, x, -1)
      row(c.y - reach, i, 1, y, -1)
      row(1 - c.x + reach, i, 1, x, 1)
      row(1 - c.y + reach, i, 1, y, 1)
      row(2 * reach, x, 1)
      row(2 * reach, y, 1)
    else
      row(wall(c), i, 1)
    end
    for j = i + 1, COUNT do
      local o = centres[j]
      local d = distance(c, o)
      local i_moves, j_moves = x and 1 or 0, at[j] and 1 or 0
      if d < wall(c) + wall(o) + 3 * reach * (i_moves + j_moves) then -- else the walls keep them apart
        local dx, dy = (c.x - o.x) / d, (c.y - o.y) / d
        local new = row(d + reach * (dx + dy) * (j_moves - i_moves), i, 1, j, 1)
        if x then new[x], new[y] = -dx, -dy end
        if at[j] then new[at[j]], new[at[j] + 1] = dx, dy end
      end
    end
  end
  return rows
end

-- Moves the named circles to better places near by. Returns the new centres and all radii.
local function improve(centres, moving, reach)
  local at, objective, moved = {}, {}, {}
  for m, i in ipairs(moving) do at[i] = COUNT + 2 * m - 1 end
  for c = 1, COUNT + 2 * #moving + 1 do objective[c] = c <= COUNT and 1 or 0 end
  reach = safe_reach(centres, moving, reach)
  local values = maximise(build(centres, moving, at, reach), objective)
  for i, c in ipairs(centres) do
    moved[i] = at[i] and { x = c.x - reach + values[at[i]], y = c.y - reach + values[at[i] + 1] } or c
  end
  return moved, values
end

-- The circle and those nearest to it, `count` in all.
local function neighbourhood(centres, circle, count)
  local order = {}
  for i = 1, COUNT do order[i] = { i = i, d = i == circle and 0 or distance(centres[i], centres[circle]) } end
  table.sort(order, function(a, b) return a.d < b.d or a.d == b.d and a.i < b.i end)
  local chosen = {}
  for n = 1, count do chosen[n] = order[n].i end
  return chosen
end

return function(proposal, workspace)
  local rng, text = workspace.rng, workspace:read("packing.lua")
  local centres = text and parse(text)
  if not centres then return nil, "packing.lua is not a literal list of " .. COUNT .. " circles" end

  local circle, count = rng:integer(1, COUNT), rng:integer(3, NEIGHBOURS)
  local reach, rounds, what = 10 ^ -(1 + 2 * rng:random()), 1, "settle"
  local kick = rng:random() * (proposal.operator == "exploration" and 0.5 or 1)
  if kick < 0.2 then
    centres[circle] = { x = clamp(rng:random()), y = clamp(rng:random()) }
    reach, rounds, what = 0.1, 3, "relocate" -- a new place needs room made around it
  elseif kick < 0.4 then
    local size, c = 0.1 * rng:random() ^ 2, centres[circle]
    centres[circle] = { x = clamp(c.x + size * rng:normal()), y = clamp(c.y + size * rng:normal()) }
    what = "nudge"
  end

  local change = ("%s circle %d with %d neighbours, reach %.2g"):format(what, circle, count - 1, reach)
  local radii
  for _ = 1, rounds do
    centres, radii = improve(centres, neighbourhood(centres, circle, count), reach)
    reach = reach * 0.6
  end
  return { ["packing.lua"] = rewrite(text, centres, radii) }, { hypothesis = change, description = change }
end
