-- lineage: places the tree of candidates: a row per line of descent, the best one's in the first; candidates without
-- descendants become marks beside their parent. The page draws. A candidate is a few numbers here, because a journal
-- may have a million. Called by run.
local lineage = {}

local Lineage = {}
Lineage.__index = Lineage

local MOST = 3000 -- candidates drawn as points

-- Of the line at a place of the journal (from 1): number[at] its experiment, false if it is no candidate; parent[at]
-- the place of its first parent, 0 without one; other[at] that of a second one, or a list of them; kept[at].
-- place(number): the place of an experiment's line, or nil.
function lineage.new(place)
  return setmetatable({ count = 0, total = 0, number = {}, parent = {}, other = {}, kept = {}, place = place }, Lineage)
end

-- The places of the parents that precede this line, without duplicates.
local function earlier_parents(self, numbers)
  local list = {}
  for _, number in ipairs(numbers) do
    local at = self.place(number)
    if at and at < self.count and self.number[at] then
      local known = false
      for _, other in ipairs(list) do known = known or other == at end
      if not known then list[#list + 1] = at end
    end
  end
  return list
end

-- Takes the next line of the journal: its experiment (nil if it is no candidate), its parents' and whether it was kept.
function Lineage:add(number, parents, kept)
  local at = self.count + 1
  self.count = at
  self.number[at], self.parent[at] = number or false, 0
  if not number then return end
  local list = earlier_parents(self, parents)
  self.parent[at], self.total = list[1] or 0, self.total + 1
  if list[2] then self.other[at] = list[3] and table.move(list, 2, #list, 1, {}) or list[2] end
  if kept then self.kept[at] = true end
end

-- How many descend from each by first parents, including itself.
local function families(self)
  local size, parents = {}, self.parent
  for at = 1, self.count do size[at] = 1 end
  for at = self.count, 1, -1 do
    local parent = parents[at]
    if parent > 0 then size[parent] = size[parent] + size[at] end
  end
  return size
end

local function ancestors(self, best)
  local line, at = {}, best or 0
  while at > 0 do
    line[at] = true
    at = self.parent[at]
  end
  return line
end

-- Those with more than `least` descendants, the roots, the best one's ancestors and, if wanted, the kept; and how many.
-- Stops at more than MOST, unless all are wanted.
local function drawn_of(self, size, line, least, kept_too, all)
  local drawn, count = {}, 0
  for at = 1, self.count do
    if self.number[at] and (size[at] > least or line[at] or self.parent[at] == 0 or kept_too and self.kept[at]) then
      drawn[at], count = true, count + 1
      if count > MOST and not all then break end
    end
  end
  return drawn, count
end

-- The candidates to draw; fewer if there are too many. Returns the set, how many descendants a drawn one has at least,
-- and whether it has all kept ones. If the roots and the best one's ancestors alone are too many: some of them.
local function choose(self, size, best)
  local line, least, kept_too = ancestors(self, best), 1, true
  local drawn, count = drawn_of(self, size, line, least, kept_too)
  while count > MOST and least <= self.count do
    if kept_too then kept_too = false else least = least * 2 end
    drawn, count = drawn_of(self, size, line, least, kept_too)
  end
  if count <= MOST then return drawn, least, kept_too, line end
  drawn, count = drawn_of(self, size, line, least, kept_too, true)
  local few, every, nth = {}, math.ceil(count / MOST), 0
  for at = 1, self.count do
    if drawn[at] then
      if nth % every == 0 or at == best then few[at] = true end
      nth = nth + 1
    end
  end
  return few, least, kept_too, line
end

-- The nearest drawn ancestor, maybe itself; 0 if there is none.
local function drawn_ancestor(self, drawn, at)
  while at > 0 and not drawn[at] do at = self.parent[at] end
  return at
end

-- The child that continues each line: the best one's ancestor, else the one with the largest family.
local function heirs(self, tree)
  local heir, size, line = {}, tree.size, tree.line
  for at = 1, self.count do
    local parent = tree.above[at]
    if parent and parent > 0 then
      local other = heir[parent]
      if not other or line[at] or not line[other] and size[at] > size[other] then heir[parent] = at end
    end
  end
  return heir
end

-- The last experiment of each line of descent, by its first candidate; and that candidate, for every drawn one.
local function extents(self, tree)
  local head, last, heir = {}, {}, tree.heir
  for at = 1, self.count do
    local of, parent = at, tree.above[at]
    if parent then head[at] = parent > 0 and heir[parent] == at and head[parent] or at
    else of = drawn_ancestor(self, tree.drawn, at) end
    local first = self.number[at] and head[of]
    if first then last[first] = math.max(last[first] or 0, self.number[at]) end
  end
  return head, last
end

-- A row per line of descent: the first one free from its parent to its end; the best one's is row 0.
local function rows_of(self, tree, main)
  local row, ends, count = {}, {}, 1
  for at = 1, self.count do
    if tree.drawn[at] and tree.head[at] == at then
      local parent, place = tree.above[at], 0
      local from = self.number[parent > 0 and parent or at]
      if at ~= main then
        place = 1
        while ends[place] and ends[place] >= from do place = place + 1 end
        ends[place] = tree.last[at]
      end
      row[at], count = place, math.max(count, place + 1)
    end
  end
  return row, count
end

-- The tree to draw, when all lines were added; best: the best one's experiment or nil. tree.drawn: the places of the
-- lines that are points.
function Lineage:tree(best)
  local tree = { size = families(self), above = {} }
  best = best and self.place(best)
  tree.drawn, tree.least, tree.kept_too, tree.line = choose(self, tree.size, best)
  for at = 1, self.count do
    if tree.drawn[at] then tree.above[at] = drawn_ancestor(self, tree.drawn, self.parent[at]) end
  end
  tree.heir = heirs(self, tree)
  tree.head, tree.last = extents(self, tree)
  tree.row, tree.rows = rows_of(self, tree, best and tree.head[best] or 1)
  tree.size = nil
  return tree
end

-- plot(tree, name): name(at): the name for the page of the line there, nil if the page does not have it (it has all
-- points). Returns columns, which are small for ten thousand candidates: of the points drawn point (their names), row,
-- parent (a point; -1 for none) and line (1: an ancestor of the best); more = { child, other parent }...; of the rest
-- mark (their names) and mark_of (the point they come from). Points and rows count from 0.
function Lineage:plot(tree, name)
  local plot = { total = self.total, rows = tree.rows, least = tree.least, kept_too = tree.kept_too, point = {},
    row = {}, parent = {}, line = {}, more = {}, mark = {}, mark_of = {} }
  local point_of, points, drawn = {}, 0, tree.drawn
  for at = 1, self.count do
    local named = self.number[at] and name(at)
    if drawn[at] then
      local first = tree.above[at]
      points, point_of[at] = points + 1, points
      plot.point[points], plot.row[points] = named, tree.row[tree.head[at]]
      plot.parent[points], plot.line[points] = first > 0 and point_of[first] or -1, tree.line[at] and 1 or 0
      local others = self.other[at]
      for _, parent in ipairs(type(others) == "table" and others or { others }) do
        local other = drawn_ancestor(self, drawn, parent)
        if other > 0 and other ~= first then table.insert(plot.more, { points - 1, point_of[other] }) end
      end
    elseif named then
      local first = drawn_ancestor(self, drawn, self.parent[at]) -- a root is drawn, and has none
      if first > 0 then
        table.insert(plot.mark, named)
        table.insert(plot.mark_of, point_of[first])
      end
    end
  end
  return plot
end

return lineage
