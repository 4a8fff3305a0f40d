-- log_graph: `log --graph`: candidates and their parents as text, newest first: one row per candidate, a lane per
-- parent still to come, `*` for kept ones and `o` for others; after `<`, parents without a lane. From the journal only.
local show = require "apsis.cli.table"

local graph = {}

local LANES, LEAST_LANES = 20, 4 -- hundreds of parents may wait: more lanes than that show nothing
local TEXT = 62 -- least columns of a terminal for the text up to the value

-- "island 3", "island sparse" from a strategy's notes, or nil. The name may come from a model.
local function island_of(line)
  local island = type(line.notes) == "table" and line.notes.island
  if type(island) ~= "string" and type(island) ~= "number" then return nil end
  return "island " .. show.line(math.tointeger(island) or island, 20)
end

-- The fields to draw; dir is the project's. If plan failed, the line has no operator.
function graph.node(line, dir)
  local mark = show.mark(line)
  local text = { line.candidate, line.outcome }
  if line.operator then text[#text + 1] = show.line(line.operator, 30) end
  text[#text + 1] = island_of(line)
  text[#text + 1] = line.primary_metric and ("%.7g"):format(line.primary_metric) or "-"
  if line.delta then text[#text + 1] = ("(%s%s)"):format(show.delta(line.delta), mark ~= "" and ", " .. mark or "") end
  text[#text + 1] = show.what(line, dir)
  return { id = line.candidate, parents = line.parents or {}, text = table.concat(text, " "),
    kept = line.outcome == "kept" or line.outcome == "baseline" }
end

local function lane_of(lanes, id)
  for index, waiting in ipairs(lanes) do
    if waiting == id then return index end
  end
end

-- The first free lane. Lanes keep their place, so that a vertical line is always the same candidate's.
local function free_lane(lanes)
  return lane_of(lanes, false) or #lanes + 1
end

-- One row: a bar per lane in use, `own` at lane at, and a line from there to each lane of ends.
local function row(lanes, at, own, ends)
  local low, high = at, at
  for index in pairs(ends) do low, high = math.min(low, index), math.max(high, index) end
  local cells = {}
  for index = 1, math.max(#lanes, high) do
    local within = index > low and index < high
    local cell = index == at and own or ends[index] or (lanes[index] and "|") or (within and "-" or " ")
    cells[index] = cell .. ((index >= low and index < high) and "-" or " ")
  end
  return table.concat(cells)
end

-- The parents among the drawn candidates, each once.
local function drawn_parents(node, known)
  local list, seen = {}, {}
  for _, id in ipairs(node.parents) do
    if known(id) and not seen[id] then
      seen[id] = true
      list[#list + 1] = id
    end
  end
  return list
end

-- The node's text: its id first, its undrawn parents last.
local function text_of(node, named)
  if #named == 0 then return node.text end
  return node.id .. " <" .. table.concat(named, ",") .. node.text:sub(#node.id + 1)
end

-- Draws one candidate and updates the lanes. A lane beyond the limit is only for this candidate.
local function place(lanes, node, known, limit)
  local at = lane_of(lanes, node.id) or free_lane(lanes)
  local before, ends, own_parent, named = table.move(lanes, 1, #lanes, 1, {}), {}, nil, {}
  lanes[at] = node.id -- no parent may take it
  for _, id in ipairs(drawn_parents(node, known)) do
    local lane = lane_of(lanes, id)
    if lane then
      ends[lane] = "+"
    elseif not own_parent and at <= limit then
      own_parent = id
    elseif free_lane(lanes) <= limit then
      lane = free_lane(lanes)
      lanes[lane], ends[lane] = id, "."
    else
      named[#named + 1] = id
    end
  end
  local drawn = row(before, at, node.kept and "*" or "o", ends) .. " " .. text_of(node, named)
  lanes[at] = own_parent or false
  while lanes[#lanes] == false do lanes[#lanes] = nil end
  return drawn
end

-- draw(known, width) -> place(node) -> the node's line; nodes come newest first. known(id): whether a parent is among
-- them; width: the terminal's columns, nil for a file or a pipe.
function graph.draw(known, width)
  local lanes = {}
  local limit = width and math.min(math.max((width - TEXT) // 2, LEAST_LANES), LANES) or LANES
  return function(node) return place(lanes, node, known, limit) end
end

return graph
