-- archive/ranking: slots in order: the higher score first, of equal scores the higher second score (which few have, and
-- none without one has such a score), then the higher order. All three are in the caller's arrays by slot and may not
-- change while a slot is in. A sorted array in blocks of at most LIMIT: to insert, remove or find takes a binary search
-- and a short move. Used by archive/population.
local ranking = {}

local Ranking = {}
Ranking.__index = Ranking

local LIMIT = 128
local insert, remove = table.insert, table.remove

function ranking.new(score, second, order)
  return setmetatable({ score = score, second = second, order = order, count = 0, blocks = { {} }, sizes = { 0 } },
    Ranking)
end

-- Whether a slot comes before another, or is it.
local function leads(self, slot, other)
  local its, own = self.score[other], self.score[slot]
  if its == own then its, own = self.second[other] or 0, self.second[slot] or 0 end
  return its < own or its == own and self.order[other] <= self.order[slot]
end

-- The position of a slot that has a second score; as locate.
local function locate_second(self, slot)
  local blocks, at = self.blocks, 1
  local high = #blocks
  while at < high do
    local middle = at + high + 1 >> 1
    local first = blocks[middle][1]
    if first ~= slot and leads(self, slot, first) then high = middle - 1 else at = middle end
  end
  local block, low = blocks[at], 1
  high = self.sizes[at] + 1
  while low < high do
    local middle = low + high >> 1
    if leads(self, slot, block[middle]) then high = middle else low = middle + 1 end
  end
  return at, low, block
end

-- The position of a slot, or where it would be inserted: the index of its block, the index within, and the block.
local function locate(self, slot)
  if self.second[slot] then return locate_second(self, slot) end -- only such have equal scores with such
  local scores, orders, blocks = self.score, self.order, self.blocks
  local score, order, at, high = scores[slot], orders[slot], 1, #blocks
  while at < high do -- find the last block whose first is not after the slot, or the first block
    local middle = at + high + 1 >> 1
    local first = blocks[middle][1]
    local its = scores[first]
    if its < score or its == score and orders[first] < order then high = middle - 1 else at = middle end
  end
  local block, low = blocks[at], 1
  high = self.sizes[at] + 1
  while low < high do
    local middle = low + high >> 1
    local other = block[middle]
    local its = scores[other]
    if its < score or its == score and orders[other] <= order then high = middle else low = middle + 1 end
  end
  return at, low, block
end

-- A block that has grown too large gives its second half to a new one.
local function split(self, at, block, size)
  local half = size // 2
  insert(self.blocks, at + 1, table.move(block, half + 1, size, 1, {}))
  insert(self.sizes, at + 1, size - half)
  for last = size, half + 1, -1 do block[last] = nil end
  self.sizes[at] = half
end

function Ranking:insert(slot)
  local at, index, block = locate(self, slot)
  local sizes = self.sizes
  local size = sizes[at] + 1
  insert(block, index, slot)
  sizes[at], self.count = size, self.count + 1
  if size > LIMIT then split(self, at, block, size) end
end

function Ranking:remove(slot)
  local at, index, block = locate(self, slot)
  local sizes = self.sizes
  local size = sizes[at] - 1
  remove(block, index)
  sizes[at], self.count = size, self.count - 1
  if size == 0 and sizes[2] then
    remove(self.blocks, at)
    remove(sizes, at)
  end
end

-- Whether a slot comes before another.
function Ranking:precedes(slot, other)
  return slot ~= other and leads(self, slot, other)
end

-- The n-th slot; nil if there are fewer.
function Ranking:at(index)
  local sizes, left = self.sizes, self.count - index -- left: how many come after it
  if index < 1 or left < 0 then return nil end
  if index <= left then
    local at, size = 1, sizes[1]
    while index > size do index, at, size = index - size, at + 1, sizes[at + 1] end
    return self.blocks[at][index]
  end
  local at = #sizes
  local size = sizes[at]
  while left >= size do left, at, size = left - size, at - 1, sizes[at - 1] end
  return self.blocks[at][size - left]
end

-- How many come before a slot, which need not be in.
function Ranking:ahead_of(slot)
  local at, index = locate(self, slot)
  for before = 1, at - 1 do index = index + self.sizes[before] end
  return index - 1
end

-- The first `count` slots, or their entries in `values`; all if there are fewer.
function Ranking:first(count, values)
  local list, at, index = {}, 1, 0
  local block = self.blocks[1]
  for found = 1, math.min(count, self.count) do
    index = index + 1
    if not block[index] then at, index, block = at + 1, 1, self.blocks[at + 1] end
    list[found] = values and values[block[index]] or block[index]
  end
  return list
end

return ranking
