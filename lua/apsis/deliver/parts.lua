-- parts: a candidate's changes since the baseline, divided into parts that git can apply and merge independently. Steps
-- that changed the same place, or places close to each other, are one part. Writes objects only. Called by split.
local message = require "apsis.deliver.message"
local owners = require "apsis.deliver.owners"
local pieces = require "apsis.live.pieces"

local parts = {}

local Parts = {}
Parts.__index = Parts

local NEAR = 3 -- unchanged lines between two changes that git shows as one

local function disjoint(count)
  local root = {}
  for number = 1, count do root[number] = number end
  local function find(number)
    while root[number] ~= number do number = root[number] end
    return number
  end
  return find, function(a, b)
    a, b = find(a), find(b)
    root[math.max(a, b)] = math.min(a, b)
  end
end

-- Whether a piece is so close behind another of the same file that patches of both would overlap.
local function is_near(before, piece)
  local a, b = before and before.hunk, piece.hunk
  if not before or before.file ~= piece.file then return false end
  if not a or not b then return true end -- a new name or mode, and the text
  return b.old_start - (a.old_start + a.old_count) <= NEAR
end

-- Which step each piece is put with.
local function place(self, of, join)
  for number, piece in ipairs(self.pieces) do
    local list = of[number]
    for index = 2, #list do join(list[1], list[index]) end
    if is_near(self.pieces[number - 1], piece) then join(of[number - 1][1], list[1]) end
  end
  for _, group in ipairs(self.pieces.groups) do
    for index = 2, #group do join(of[group[1]][1], of[group[index]][1]) end
  end
end

-- The parts as lists of steps and of pieces' numbers, in the order of their first steps. A step of which nothing is
-- left is in none.
local function gather(self, of, find)
  local by_root = {}
  for number in ipairs(self.pieces) do
    local root = find(of[number][1])
    by_root[root] = by_root[root] or { steps = {}, pieces = {} }
    table.insert(by_root[root].pieces, number)
  end
  for index in ipairs(self.steps) do
    local root = find(index)
    local part = by_root[root]
    if part and #part.steps == 0 then self[#self + 1] = part end
    if part then table.insert(part.steps, index) end
  end
end

-- of(repo, base, record, steps, together) -> a list of parts { steps, pieces, tree, commit }; together: lists of steps'
-- numbers to keep in one part. None if nothing changed. nil, message if git cannot read it.
function parts.of(repo, base, record, steps, together)
  local self = setmetatable({ repo = repo, base = base, record = record, steps = steps }, Parts)
  local of, why
  self.pieces, why = pieces.of(repo, base.commit, record.commit)
  if not self.pieces then return nil, why end
  local find, join = disjoint(#steps)
  of, why = owners.of(repo, self.pieces, steps, join)
  if not of then return nil, why end
  place(self, of, join)
  for _, list in ipairs(together) do
    for index = 2, #list do join(list[1], list[index]) end
  end
  gather(self, of, find)
  local done
  done, why = self:settle()
  if not done then return nil, why end
  return self
end

-- A part's steps in order, as steps.of has them.
function Parts:steps_of(part)
  local list = {}
  for index, number in ipairs(part.steps) do list[index] = self.steps[number] end
  return list
end

-- What a part is about: the subject of its last step.
function Parts:title(part)
  return message.subject(self.repo, self.steps[part.steps[#part.steps]].record)
end

-- The paths of a part, sorted.
function Parts:paths(part)
  local seen, list = {}, {}
  for _, number in ipairs(part.pieces) do
    local path = self.pieces[number].path
    if not seen[path] then list[#list + 1] = path end
    seen[path] = true
  end
  table.sort(list)
  return list
end

-- The baseline's tree with the changes of some parts. tree | nil, message.
function Parts:tree_of(list)
  local mine, others = {}, {}
  for _, part in ipairs(list) do
    for _, number in ipairs(part.pieces) do mine[number] = true end
  end
  for number in ipairs(self.pieces) do
    if not mine[number] then others[#others + 1] = number end
  end
  return self.pieces:without(others)
end

-- A commit of a tree for merging and measuring, which no branch will hold. id | nil, message.
function Parts:commit_of(tree)
  return self.repo:commit { tree = tree, parents = { self.base.commit }, message = "a part\n" }
end

local function make(self, part)
  local why
  part.tree, why = self:tree_of { part }
  if part.tree then part.commit, why = self:commit_of(part.tree) end
  return part.commit ~= nil, why
end

-- Puts the later of two parts into the earlier one.
function Parts:join(a, b)
  local first, second = self[math.min(a, b)], table.remove(self, math.max(a, b))
  for _, name in ipairs { "steps", "pieces" } do
    table.move(second[name], 1, #second[name], #first[name] + 1, first[name])
    table.sort(first[name])
  end
  first.tree, first.commit, first.found = nil, nil, nil
end

-- The first part that does not merge with those before it, and the one before it that has a path in conflict. nil: all
-- merge, to `tree`; or nil, nil, message.
local function collision(self)
  local at, tree = self.base.commit, self.base.tree
  for index = 1, #self do
    local merged, why, code, paths = self.repo:merge(at, self[index].commit)
    if not merged and code ~= "ECONFLICT" then return nil, nil, why end
    if not merged then
      local bad = {}
      for _, path in ipairs(paths) do bad[path] = true end
      for before = index - 1, 1, -1 do
        for _, path in ipairs(self:paths(self[before])) do
          if bad[path] then return index, before end
        end
      end
      return index, index - 1
    end
    tree = merged
    at, why = self.repo:commit { tree = tree, parents = { at, self[index].commit }, message = "joined\n" }
    if not at then return nil, nil, why end
  end
  if tree ~= self.record.tree and #self > 1 then return #self, #self - 1 end
  return nil
end

-- Joins parts until git merges them, in their order, to the candidate's tree. true | nil, message.
function Parts:settle()
  while true do
    for _, part in ipairs(self) do
      local made, why = true, nil
      if not part.tree then made, why = make(self, part) end
      if not made then return nil, why end
    end
    local a, b, why = collision(self)
    if why then return nil, why end
    if not a then break end
    self:join(a, b)
  end
  if #self == 1 and self[1].tree ~= self.record.tree then return nil, "the parts are not the candidate's tree" end
  return true
end

return parts
