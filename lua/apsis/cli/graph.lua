-- graph: the lineage of candidates as text, newest first: one row per candidate, a lane for each parent still to come,
-- `*` for kept ones and `o` for others; after `<`, parents for whom there was no lane left. From the journal alone.
-- Called by log.
local show = require "apsis.cli.table"

local graph = {}

local LANES, LEAST_LANES = 20, 4 -- hundreds of parents may wait in a long lineage: more lanes than that show nothing
local TEXT = 62 -- columns of a terminal that are left for text: up to the value, at least

-- "island 3", "island sparse" for what a strategy noted; nil where it noted none. A name may be a model's word.
local function island_of(line)
  local island = type(line.notes) == "table" and line.notes.island
  if type(island) ~= "string" and type(island) ~= "number" then return nil end
  return "island " .. show.line(math.tointeger(island) or island, 20)
end

-- What is needed of a line; dir is the project's. A strategy that failed in plan leaves a line without an operator.
function graph.node(metric, line, dir)
  local mark = show.mark(metric, line)
  local text = { line.candidate, line.outcome }
  if line.operator then text[#text + 1] = show.line(line.operator, 30) end
  text[#text + 1] = island_of(line)
  text[#text + 1] = line.primary_metric and ("%.7g"):format(line.primary_metric) or "-"
  if line.delta then text[#text + 1] = ("(%s%s)"):format(show.delta(line.delta), mark ~= "" and ", " .. mark or "") end
  text[#text + 1] = show.what(line, dir)
  return { id = line.candidate, parents = line.parents or {}, kept = line.outcome == "kept"
    or line.outcome == "baseline",
    text = table.concat(text, " ") }
end

local function lane_of(lanes, id)
  for index, waiting in ipairs(lanes) do
    if waiting == id then return index end
  end
end

-- The first lane that nobody waits in. Lanes keep their place, so that a line down is always the same candidate's.
local function free_lane(lanes)
  return lane_of(lanes, false) or #lanes + 1
end

-- One row: a bar per lane in use, `own` at lane at, and a line from there to each lane of ends (drawn as it says).
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
    if known[id] and not seen[id] then
      seen[id] = true
      list[#list + 1] = id
    end
  end
  return list
end

-- The node's text, which begins with its id, and after that the parents that are not drawn.
local function text_of(node, named)
  if #named == 0 then return node.text end
  return node.id .. " <" .. table.concat(named, ",") .. node.text:sub(#node.id + 1)
end

-- Draws one candidate and changes lanes to what is awaited after it. A lane beyond the limit is for a candidate alone.
local function place(lanes, node, known, lines, limit)
  local at = lane_of(lanes, node.id) or free_lane(lanes)
  local before, ends, own_parent, named = table.move(lanes, 1, #lanes, 1, {}), {}, nil, {}
  lanes[at] = node.id -- so that no parent takes it
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
  lines[#lines + 1] = row(before, at, node.kept and "*" or "o", ends) .. " " .. text_of(node, named)
  lanes[at] = own_parent or false
  while lanes[#lanes] == false do lanes[#lanes] = nil end
end

-- The lines of text for nodes, which are in journal order; width: the terminal's columns, nil for a file or a pipe.
function graph.draw(nodes, width)
  local known, lanes, lines = {}, {}, {}
  local limit = width and math.min(math.max((width - TEXT) // 2, LEAST_LANES), LANES) or LANES
  for _, node in ipairs(nodes) do known[node.id] = true end
  for index = #nodes, 1, -1 do place(lanes, nodes[index], known, lines, limit) end
  return lines
end

return graph
