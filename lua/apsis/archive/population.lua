-- archive/population: who stands on which island and in which cell, who is best there, and who must go. A member has a
-- slot, a small number that is given away again after eviction; what is known of it stands in arrays by slot. A place
-- is one cell of one island. Island 0 is everyone. Draws nothing and reads no clock, so the same calls give the same
-- answers. Used by archive.
local ranking = require "apsis.archive.ranking"

local population = {}

local Population = {}
Population.__index = Population

-- `bound`: how many may stay; `elites`: how many of the best are never evicted.
function population.new(bound, elites)
  local score, order = {}, {}
  return setmetatable({
    bound = bound, elites = elites, added = 0, slots = 0, free = {},
    -- by slot; score: higher is better, -inf is none; order: of addition; home: the island where it was added
    member = {}, score = score, order = order, key = {}, home = {}, places = {},
    -- by island: its slots, best first; its places by key; its places where somebody has a score, in order of filling
    islands = 0, rankings = { [0] = ranking.new(score, order) }, cells = {}, filled = {},
    -- by how many stand in a place: a ring of those places; the most that any may have
    levels = {}, most = 0,
  }, Population)
end

-- Adds an island and returns its number.
function Population:island()
  local number = self.islands + 1
  self.islands, self.rankings[number] = number, ranking.new(self.score, self.order)
  self.cells[number], self.filled[number] = {}, {}
  return number
end

-- ---- places ----

-- Moves a place to the end of the ring of its level, how many stand there: the first of a ring has been so crowded for
-- longest. A place that holds nobody but its best is in no ring: nobody may go from there.
local function move_place(self, place)
  place.before.after, place.after.before = place.after, place.before
  local ranked = place.ranking
  local level = ranked.count
  if level == 0 or level == 1 and ranked.scored == 1 then
    place.before, place.after = place, place
    return
  end
  for more = #self.levels + 1, level do
    local ring = {}
    ring.before, ring.after, self.levels[more] = ring, ring, ring
  end
  local ring = self.levels[level]
  local last = ring.before
  place.before, place.after, last.after, ring.before = last, ring, place, place
  if level > self.most then self.most = level end
end

-- Puts a slot into its cell on an island.
local function enter(self, slot, island)
  local key = self.key[slot]
  local place = self.cells[island][key]
  if not place then
    place = { island = island, key = key, ranking = ranking.new(self.score, self.order), before = nil, after = nil }
    place.before, place.after = place, place
    self.cells[island][key] = place
  end
  local ranked = place.ranking
  local scored = ranked.scored
  ranked:insert(slot)
  if scored == 0 and ranked.scored == 1 then table.insert(self.filled[island], place) end
  move_place(self, place)
  table.insert(self.places[slot], place)
end

local function leave(self, slot, place)
  local ranked = place.ranking
  local scored = ranked.scored
  ranked:remove(slot)
  if scored == 1 and ranked.scored == 0 then
    local filled, index = self.filled[place.island], 1
    while filled[index] ~= place do index = index + 1 end
    table.remove(filled, index)
  end
  move_place(self, place)
end

-- ---- coming and going ----

-- Takes a member in; score nil is none. Returns its slot.
function Population:add(member, island, score, key)
  local slot = table.remove(self.free)
  if not slot then
    slot = self.slots + 1
    self.slots = slot
  end
  self.added = self.added + 1
  self.member[slot], self.score[slot], self.order[slot] = member, score or -math.huge, self.added
  self.key[slot], self.home[slot], self.places[slot] = key, island, {}
  self.rankings[0]:insert(slot)
  self.rankings[island]:insert(slot)
  enter(self, slot, island)
  return slot
end

-- Puts a slot on one more island; false if it stands there.
function Population:copy(slot, island)
  local places = self.places[slot]
  for _, place in ipairs(places) do
    if place.island == island then return false end
  end
  self.rankings[island]:insert(slot)
  enter(self, slot, island)
  table.sort(places, function(a, b) return a.island < b.island end)
  return true
end

-- Whether a slot is the best of its cell on any island.
local function is_best(self, slot)
  if self.score[slot] == -math.huge then return false end
  for _, place in ipairs(self.places[slot]) do
    if place.ranking.blocks[1][1] == slot then return true end
  end
  return false
end

-- The worst of a place who may go. The elites are those with a score who stand before `after`; all, if that is nil.
local function find_in(self, place, after)
  local score, order = self.score, self.order
  for index = place.ranking.count, 1, -1 do
    local slot = place.ranking:at(index)
    local its, limit = score[slot], after and score[after] or -math.huge
    if its > limit or after and its == limit and order[slot] > order[after] then return nil end
    if not is_best(self, slot) then return slot end
  end
end

local function find_victim(self)
  local everyone, levels = self.rankings[0], self.levels
  local after = everyone.scored > self.elites and everyone:at(self.elites + 1) or nil
  while self.most > 0 and levels[self.most].after == levels[self.most] do self.most = self.most - 1 end
  for level = self.most, 1, -1 do
    local ring = levels[level]
    local place = ring.after
    while place ~= ring do
      local slot = find_in(self, place, after)
      if slot then return slot end
      place = place.after
    end
  end
end

-- Above the bound: the worst of the most crowded place that is neither an elite nor the best of a cell goes. Returns
-- its slot, whose arrays stay as they are until the next addition; nil if nobody may go.
function Population:evict()
  local everyone = self.rankings[0]
  if everyone.count <= self.bound then return nil end
  local slot = find_victim(self)
  if not slot then return nil end
  for _, place in ipairs(self.places[slot]) do
    leave(self, slot, place)
    self.rankings[place.island]:remove(slot)
  end
  everyone:remove(slot)
  table.insert(self.free, slot)
  return slot
end

-- Files everyone again, under find(member). What comes of it depends only on who is there.
function Population:refile(find)
  for _, slot in ipairs(self.rankings[0]:first(math.huge)) do
    self.key[slot], self.places[slot] = find(self.member[slot]), {}
  end
  self.levels, self.most = {}, 0
  for island = 1, self.islands do
    self.cells[island], self.filled[island] = {}, {}
    for _, slot in ipairs(self.rankings[island]:first(math.huge)) do enter(self, slot, island) end
  end
end

-- ---- questions ----

-- The best there; nil if nobody has a score.
function Population:best(island)
  local ranked = self.rankings[island]
  return ranked.scored > 0 and ranked.blocks[1][1] or nil
end

-- How many may be drawn there: those with a score, or, if nobody has one, all.
function Population:eligible(island)
  local ranked = self.rankings[island]
  return ranked.scored > 0 and ranked.scored or ranked.count
end

-- How many elites stand there: before all others.
function Population:elites_on(island)
  local everyone, ranked = self.rankings[0], self.rankings[island]
  if everyone.scored <= self.elites then return ranked.scored end
  return ranked:ahead_of(everyone:at(self.elites + 1))
end

-- The best of every cell that has one, in the order of the keys. Of everyone: of equal scores that of the first island.
function Population:bests(island)
  local list, best, score = {}, {}, self.score
  for number = island > 0 and island or 1, island > 0 and island or self.islands do
    for _, place in ipairs(self.filled[number]) do
      local slot, known = place.ranking.blocks[1][1], best[place.key]
      if not known then list[#list + 1] = place.key end
      if not known or score[slot] > score[known] then best[place.key] = slot end
    end
  end
  table.sort(list)
  for index, key in ipairs(list) do list[index] = best[key] end
  return list
end

return population
