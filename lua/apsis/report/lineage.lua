-- lineage: places the tree of candidates: a row per line of descent, the best one's in the first; candidates without
-- descendants become marks beside their parent. The page draws. Called by run.
local lineage = {}

local MOST = 3000 -- candidates drawn as points

-- The parents that precede the node, without duplicates.
local function earlier_parents(parents, index)
  local list, seen = {}, {}
  for _, parent in ipairs(parents) do
    if parent and parent < index and not seen[parent] then
      seen[parent] = true
      list[#list + 1] = parent
    end
  end
  return list
end

-- How many descend from each by first parents, including itself.
local function families(nodes)
  local size = {}
  for index = #nodes, 1, -1 do
    size[index] = (size[index] or 0) + 1
    local parent = nodes[index].parents[1]
    if parent then size[parent] = (size[parent] or 0) + size[index] end
  end
  return size
end

local function ancestors(nodes, best)
  local line, at = {}, best
  while at do
    line[at] = true
    at = nodes[at].parents[1]
  end
  return line
end

-- The nodes to draw: those with descendants, the roots, the kept and the best one's ancestors; fewer if there are too
-- many. Returns the set, how many descendants a drawn one has at least, and whether it has all kept ones.
local function choose(nodes, size, line)
  local least, kept_too = 1, true
  while true do
    local drawn, count = {}, 0
    for index, node in ipairs(nodes) do
      if size[index] > least or line[index] or #node.parents == 0 or kept_too and node.kept then
        drawn[index], count = true, count + 1
      end
    end
    if count <= MOST or least > #nodes then return drawn, least, kept_too end
    if kept_too then kept_too = false else least = least * 2 end
  end
end

-- The nearest drawn ancestor, maybe the node itself.
local function drawn_ancestor(nodes, drawn, index)
  while index and not drawn[index] do index = nodes[index].parents[1] end
  return index
end

-- The child that continues each line: the best one's ancestor, else the one with the largest family.
local function heirs(nodes, drawn, size, line)
  local heir = {}
  for index, node in ipairs(nodes) do
    local parent = node.parents[1]
    if drawn[index] and parent then
      local other = heir[parent]
      if not other or line[index] or not line[other] and size[index] > size[other] then heir[parent] = index end
    end
  end
  return heir
end

-- The last experiment of each line of descent, by its first node; and that node, for every drawn one.
local function extents(nodes, drawn, heir)
  local head, last = {}, {}
  for index, node in ipairs(nodes) do
    local parent = node.parents[1]
    local of = index
    if drawn[index] then
      head[index] = parent and heir[parent] == index and head[parent] or index
    else
      of = drawn_ancestor(nodes, drawn, index)
    end
    local first = of and head[of]
    if first then last[first] = math.max(last[first] or 0, node.number) end
  end
  return head, last
end

-- A row per line of descent: the first one free from its parent to its end; the best one's is row 0.
local function rows_of(nodes, drawn, head, last, main)
  local row, ends, count = {}, {}, 1
  for index, node in ipairs(nodes) do
    if drawn[index] and head[index] == index then
      local parent = node.parents[1]
      local from = parent and nodes[parent].number or node.number
      local place = 0
      if index ~= main then
        place = 1
        while ends[place] and ends[place] >= from do place = place + 1 end
        ends[place] = last[index]
      end
      row[index], count = place, math.max(count, place + 1)
    end
  end
  return row, count
end

local function prepared(candidates)
  local nodes, by_id = {}, {}
  for index, candidate in ipairs(candidates) do
    local parents = {}
    for place, id in ipairs(candidate.parents) do parents[place] = by_id[id] or false end
    nodes[index] = { number = candidate.number, at = candidate.at, kept = candidate.kept,
      parents = earlier_parents(parents, index) }
    by_id[candidate.id] = by_id[candidate.id] or index
  end
  return nodes, by_id
end

-- plot(candidates, best): candidates in journal order, { id, number, at (its name for the page), parents = ids, kept };
-- best an id or nil. Returns columns, which are small for ten thousand candidates: of the points drawn point (their
-- at), row, parent (a point; -1 for none) and line (1: an ancestor of the best); more = { child, other parent }...; of
-- the rest mark (their at) and mark_of (the point they come from). Points and rows count from 0.
function lineage.plot(candidates, best)
  local nodes, by_id = prepared(candidates)
  local size, line = families(nodes), ancestors(nodes, by_id[best])
  local drawn, least, kept_too = choose(nodes, size, line)
  local heir = heirs(nodes, drawn, size, line)
  local head, last = extents(nodes, drawn, heir)
  local main = by_id[best] and head[by_id[best]] or 1
  local row, rows = rows_of(nodes, drawn, head, last, main)
  local plot = { total = #nodes, rows = rows, least = least, kept_too = kept_too, point = {}, row = {}, parent = {},
    line = {}, more = {}, mark = {}, mark_of = {} }
  local point_of, points = {}, 0
  for index, node in ipairs(nodes) do
    local first = drawn_ancestor(nodes, drawn, node.parents[1]) -- a root is always drawn, and has none
    if drawn[index] then
      points, point_of[index] = points + 1, points
      plot.point[points], plot.row[points] = node.at, row[head[index]]
      plot.parent[points], plot.line[points] = first and point_of[first] or -1, line[index] and 1 or 0
      for place = 2, #node.parents do
        local other = drawn_ancestor(nodes, drawn, node.parents[place])
        if other and other ~= first then table.insert(plot.more, { points - 1, point_of[other] }) end
      end
    elseif first then
      table.insert(plot.mark, node.at)
      table.insert(plot.mark_of, point_of[first])
    end
  end
  return plot
end

return lineage
