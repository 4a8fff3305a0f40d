-- mutate: this example's provider. apsis calls it once per experiment with the proposal and the parents' files. It
-- moves a few of the parent's circles, or combines the circles of two parents (proposal.operator decides), and
-- returns the new packing.lua. evaluate.lua measures the result; the strategy decides whether to keep it. A call
-- takes 5 to 40 ms; a language model could take its place.
--
-- A change is a random kick, then a small step to better places for a circle and its neighbours. That step is a
-- linear programme: maximise the sum of radii, without crossing walls or other circles; each moving centre stays
-- within `reach` of its old place. The tangent of a distance replaces the distance between moving centres. It is
-- never larger than the true distance, so the new circles are always valid.

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

-- The simplex method: variables >= 0 that maximise the objective, with each row . variables <= the row's last number,
-- which is >= 0. basis[k] is the variable whose value row k gives; variables above `count` are the rows' slacks.
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

-- Lets `rounds` neighbourhoods settle, around the given circles in turn, by ever smaller steps.
local function settle(centres, circles, rounds, reach)
  local radii
  for round = 1, rounds do
    local circle = circles[(round - 1) % #circles + 1]
    centres, radii = improve(centres, neighbourhood(centres, circle, NEIGHBOURS), reach)
    reach = reach * 0.8
  end
  return centres, radii
end

-- Shifted rows of nearly equal numbers of circles: a packing that is independent of its parent.
local function rows_from_scratch(rng)
  local rows, centres = rng:integer(4, 6), {}
  for row = 1, rows do
    local first, last = (row - 1) * COUNT // rows, row * COUNT // rows - 1
    for i = first, last do
      local x = (i - first + 0.5 + 0.25 * (-1) ^ row * rng:random()) / (last - first + 1)
      centres[#centres + 1] = { x = clamp(x), y = clamp((row - 0.5 + 0.1 * rng:normal()) / rows) }
    end
  end
  return centres
end

-- Cuts both packings with one straight line and joins one side of each, filling up or thinning out at the cut. Also
-- returns the circles nearest to the cut.
local function across_a_cut(ours, theirs, rng)
  local angle, offset = 2 * math.pi * rng:random(), 0.3 * (rng:random() - 0.5)
  local function side(c) return (c.x - 0.5) * math.cos(angle) + (c.y - 0.5) * math.sin(angle) - offset end
  local all, centres, at_cut = {}, {}, {}
  for i = 1, COUNT do -- distance to the cut, positive on its own side
    all[#all + 1] = { c = ours[i], depth = -side(ours[i]), order = i }
    all[#all + 1] = { c = theirs[i], depth = side(theirs[i]), order = COUNT + i }
  end
  table.sort(all, function(a, b) return a.depth > b.depth or a.depth == b.depth and a.order < b.order end)
  for i = 1, COUNT do centres[i] = all[i].c end
  for i = COUNT, COUNT - 5, -1 do at_cut[#at_cut + 1] = i end
  return centres, at_cut
end

-- Replaces some neighbouring circles of the other packing for our nearest ones.
local function graft(ours, theirs, rng)
  local circle, count = rng:integer(1, COUNT), rng:integer(4, NEIGHBOURS)
  local order, centres, grafted = {}, {}, {}
  for i, c in ipairs(ours) do order[i] = { c = c, d = distance(c, theirs[circle]), i = i } end
  table.sort(order, function(a, b) return a.d < b.d or a.d == b.d and a.i < b.i end)
  for n, i in ipairs(neighbourhood(theirs, circle, count)) do centres[n], grafted[n] = theirs[i], n end
  for n = count + 1, COUNT do centres[n] = order[n].c end
  return centres, grafted
end

-- A small change of one packing: the new centres and radii, and what was done.
local function step(centres, rng, likely)
  local circle, count = rng:integer(1, COUNT), rng:integer(3, NEIGHBOURS)
  local reach, rounds, what = 10 ^ -(1 + 2 * rng:random()), 1, "settle"
  local kick = rng:random() * likely
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
  return centres, radii, change
end

-- The new centres and radii, and what was done, for an operator; `other`: the second parent's centres, if it has one.
local function change(operator, centres, other, rng)
  local near
  if operator == "crossover" and other then
    centres, near = across_a_cut(centres, other, rng)
    local moved, radii = settle(centres, near, 3, 0.05)
    return moved, radii, "both parents, joined at a cut"
  elseif operator == "migration" and other then
    centres, near = graft(centres, other, rng)
    local moved, radii = settle(centres, near, 2, 0.05)
    return moved, radii, ("%d circles of the second parent"):format(#near)
  elseif operator == "exploration" and rng:random() < 0.2 then
    local all = rng:shuffle(neighbourhood(centres, 1, COUNT))
    local moved, radii = settle(rows_from_scratch(rng), all, 1, 0.05)
    return moved, radii, "rows from scratch"
  end
  return step(centres, rng, operator == "exploration" and 0.5 or 1)
end

return function(proposal, workspace)
  local text, second = workspace:read("packing.lua"), proposal.parents[2]
  local centres = text and parse(text)
  if not centres then return nil, "packing.lua is not a literal list of " .. COUNT .. " circles" end
  local other = second and parse(second:read("packing.lua") or "")
  local radii, summary
  centres, radii, summary = change(proposal.operator, centres, other, workspace.rng)
  return { ["packing.lua"] = rewrite(text, centres, radii) }, { hypothesis = summary, description = summary }
end
