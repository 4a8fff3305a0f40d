-- archive/ranking: slots in order: the higher score first, of equal scores the higher order. Both stand in the caller's
-- arrays by slot and may not change while a slot is in. A sorted array in blocks of at most LIMIT: to insert, remove or
-- find takes a binary search and a short move. Used by archive/population.
local ranking = {}

local Ranking = {}
Ranking.__index = Ranking

local LIMIT = 64

-- count: how many slots; scored: how many with a score, which -inf is not.
function ranking.new(score, order)
  return setmetatable({ score = score, order = order, count = 0, scored = 0, blocks = { {} }, sizes = { 0 } }, Ranking)
end

-- Where a slot is, or would be inserted: the index of its block, and the index within.
local function locate(self, slot)
  local scores, orders, blocks, sizes = self.score, self.order, self.blocks, self.sizes
  local score, order, low, high = scores[slot], orders[slot], 1, #blocks
  while low < high do
    local middle = low + high >> 1
    local last = blocks[middle][sizes[middle]]
    local its = scores[last]
    if its < score or its == score and orders[last] <= order then high = middle else low = middle + 1 end
  end
  local at, block = low, blocks[low]
  low, high = 1, sizes[low] + 1
  while low < high do
    local middle = low + high >> 1
    local other = block[middle]
    local its = scores[other]
    if its < score or its == score and orders[other] <= order then high = middle else low = middle + 1 end
  end
  return at, low
end

function Ranking:insert(slot)
  local blocks, sizes, at, index = self.blocks, self.sizes, locate(self, slot)
  local block, size = blocks[at], sizes[at] + 1
  table.insert(block, index, slot)
  sizes[at] = size
  if size > LIMIT then
    local half = size // 2
    table.insert(blocks, at + 1, table.move(block, half + 1, size, 1, {}))
    table.insert(sizes, at + 1, size - half)
    for last = size, half + 1, -1 do block[last] = nil end
    sizes[at] = half
  end
  self.count = self.count + 1
  if self.score[slot] > -math.huge then self.scored = self.scored + 1 end
end

function Ranking:remove(slot)
  local at, index = locate(self, slot)
  local size = self.sizes[at] - 1
  table.remove(self.blocks[at], index)
  self.sizes[at] = size
  if size == 0 and self.blocks[2] then
    table.remove(self.blocks, at)
    table.remove(self.sizes, at)
  end
  self.count = self.count - 1
  if self.score[slot] > -math.huge then self.scored = self.scored - 1 end
end

-- The n-th slot; nil if there are fewer.
function Ranking:at(index)
  local sizes, left = self.sizes, self.count - index -- left: how many stand after it
  if index < 1 or left < 0 then return nil end
  if index <= left then
    local at = 1
    while index > sizes[at] do index, at = index - sizes[at], at + 1 end
    return self.blocks[at][index]
  end
  local at = #sizes
  while left >= sizes[at] do left, at = left - sizes[at], at - 1 end
  return self.blocks[at][sizes[at] - left]
end

-- How many stand before a slot, which need not be in.
function Ranking:ahead_of(slot)
  local at, index = locate(self, slot)
  for before = 1, at - 1 do index = index + self.sizes[before] end
  return index - 1
end

-- The first `count`, or all if there are fewer.
function Ranking:first(count)
  local list, found = {}, 0
  for _, block in ipairs(self.blocks) do
    for index = 1, #block do
      if found >= count then return list end
      found = found + 1
      list[found] = block[index]
    end
  end
  return list
end

return ranking
