-- archive/population: the members of each island and cell, the best of each, and whom to evict. A member has a slot,
-- a small number that is reused after eviction; arrays by slot describe it. A place is one cell of one island. Island
-- 0 is all members. Draws nothing and reads no clock. Used by archive.
local ranking = require "apsis.archive.ranking"

local population = {}

local NONE = -math.huge
local insert, remove = table.insert, table.remove

local Population = {}
Population.__index = Population

-- `bound`: the most members; `elites`: how many of the best are never evicted.
function population.new(bound, elites)
  local score, second, order = {}, {}, {}
  return setmetatable({
    bound = bound, elites = elites, added = 0, slots = 0, free = {},
    -- by slot; score: higher is better, -inf is none; second: decides among equal scores; order: of addition; home: the
    -- island where it was added
    member = {}, score = score, second = second, order = order, key = {}, home = {}, places = {},
    -- by island: its slots, best first; its places by key; its places with a score, in order of filling
    islands = 0, rankings = { [0] = ranking.new(score, second, order) }, cells = {}, filled = {},
    scored = { [0] = 0 }, -- by island: how many have a score
    -- by the size of a place: a ring of those places; the largest size
    levels = {}, most = 0,
  }, Population)
end

-- Adds an island and returns its number.
function Population:island()
  local number = self.islands + 1
  self.islands, self.rankings[number] = number, ranking.new(self.score, self.second, self.order)
  self.cells[number], self.filled[number], self.scored[number] = {}, {}, 0
  return number
end

-- ---- places ----

local function new_ring(levels, level)
  for more = #levels + 1, level do
    levels[more] = {}
    local ring = levels[more]
    ring.before, ring.after = ring, ring
  end
  return levels[level]
end

-- Moves a place to the end of the ring of its level, its number of members: the first of a ring has been so crowded
-- for longest. A place with only its best is in no ring: nobody may be evicted there.
local function move_place(self, place)
  local before, after, level = place.before, place.after, place.ranking.count
  before.after, after.before = after, before
  if level == 0 or level == 1 and place.scored == 1 then
    place.before, place.after = place, place
    return
  end
  local ring = self.levels[level] or new_ring(self.levels, level)
  local last = ring.before
  place.before, place.after, last.after, ring.before = last, ring, place, place
  if level > self.most then self.most = level end
end

local function new_place(self, island, key)
  local place = { island = island, key = key, scored = 0, ranking = ranking.new(self.score, self.second, self.order),
    before = nil, after = nil }
  place.before, place.after, self.cells[island][key] = place, place, place
  return place
end

-- Puts a slot on an island and into its cell there; returns that place.
local function enter(self, slot, island)
  local key = self.key[slot]
  local place = self.cells[island][key] or new_place(self, island, key)
  self.rankings[island]:insert(slot)
  place.ranking:insert(slot)
  if self.score[slot] > NONE then
    place.scored, self.scored[island] = place.scored + 1, self.scored[island] + 1
    if place.scored == 1 then insert(self.filled[island], place) end
  end
  move_place(self, place)
  return place
end

Population.enter = enter

local function leave(self, slot, place)
  local island = place.island
  self.rankings[island]:remove(slot)
  place.ranking:remove(slot)
  if self.score[slot] > NONE then
    place.scored, self.scored[island] = place.scored - 1, self.scored[island] - 1
    if place.scored == 0 then
      local filled, index = self.filled[island], 1
      while filled[index] ~= place do index = index + 1 end
      remove(filled, index)
    end
  end
  move_place(self, place)
end

-- ---- coming and going ----

-- Adds a member; score nil is none. Returns its slot.
function Population:add(member, island, score, second, key)
  local slot, added = remove(self.free), self.added + 1
  if not slot then
    slot = self.slots + 1
    self.slots = slot
  end
  self.member[slot], self.score[slot], self.second[slot], self.order[slot] = member, score or NONE, second, added
  self.key[slot], self.home[slot], self.added = key, island, added
  self.rankings[0]:insert(slot)
  if score then self.scored[0] = self.scored[0] + 1 end
  self.places[slot] = { enter(self, slot, island) }
  return slot
end

-- Whether a slot with a score is the best of its cell on any island.
local function is_best(self, slot)
  local places = self.places[slot]
  for index = 1, #places do
    if places[index].ranking.blocks[1][1] == slot then return true end
  end
  return false
end

-- The first that is no elite; nil if everyone with a score is one.
local function first_other(self)
  return self.scored[0] > self.elites and self.rankings[0]:at(self.elites + 1) or nil
end

-- The worst of a place who may be evicted: no elite (ranked before `other`), and no best.
local function find_in(self, place, other)
  local score, ranked, everyone = self.score, place.ranking, self.rankings[0]
  local limit = other and score[other] or NONE
  for index = ranked.count, 1, -1 do
    local slot = ranked:at(index)
    local its = score[slot]
    if its == NONE then return slot end
    if its > limit or its == limit and everyone:precedes(slot, other) then return nil end
    if not is_best(self, slot) then return slot end
  end
end

local function find_victim(self)
  local levels, other = self.levels, first_other(self)
  local most = self.most
  while most > 0 and levels[most].after == levels[most] do most = most - 1 end
  self.most = most
  for level = most, 1, -1 do
    local ring = levels[level]
    local place = ring.after
    while place ~= ring do
      local slot = find_in(self, place, other)
      if slot then return slot end
      place = place.after
    end
  end
end

-- Above the bound, evicts the worst of the most crowded place that is neither an elite nor the best of a cell.
-- Returns its slot, whose arrays stay as they are until the next addition; nil if nobody may be evicted.
function Population:evict()
  local everyone = self.rankings[0]
  if everyone.count <= self.bound then return nil end
  local slot = find_victim(self)
  if not slot then return nil end
  local places = self.places[slot]
  for index = 1, #places do leave(self, slot, places[index]) end
  everyone:remove(slot)
  if self.score[slot] > NONE then self.scored[0] = self.scored[0] - 1 end
  insert(self.free, slot)
  return slot
end

-- Files everyone again, under find(member). The result depends only on the members.
function Population:refile(find)
  for _, slot in ipairs(self.rankings[0]:first(math.huge)) do
    self.key[slot], self.places[slot] = find(self.member[slot]), {}
  end
  self.levels, self.most = {}, 0
  for island = 1, self.islands do
    local slots = self.rankings[island]:first(math.huge)
    self.cells[island], self.filled[island], self.scored[island] = {}, {}, 0
    self.rankings[island] = ranking.new(self.score, self.second, self.order)
    for _, slot in ipairs(slots) do insert(self.places[slot], enter(self, slot, island)) end
  end
end

-- ---- questions ----

-- The best there; nil if nobody has a score.
function Population:best(island)
  return self.scored[island] > 0 and self.rankings[island].blocks[1][1] or nil
end

-- How many may be drawn: those with a score, or, if nobody has one, all.
function Population:eligible(island)
  local scored = self.scored[island]
  return scored > 0 and scored or self.rankings[island].count
end

-- How many of the island's members are elites; they come first.
function Population:elites_on(island)
  local other = first_other(self)
  return other and self.rankings[island]:ahead_of(other) or self.scored[island]
end

-- The entries of `values` for the first `count` with a score, best first.
function Population:top(island, count, values)
  return self.rankings[island]:first(math.min(count, self.scored[island]), values)
end

-- Whether a slot has a higher score than another, or an equal one and a higher second score.
function Population:exceeds(slot, other)
  local score, its = self.score[slot], self.score[other]
  return score > its or score == its and (self.second[slot] or 0) > (self.second[other] or 0)
end

-- The best of every cell that has one, in the order of the keys. Of everyone: of equal scores that of the first island.
function Population:bests(island)
  local list, best, score = {}, {}, self.score
  for number = island > 0 and island or 1, island > 0 and island or self.islands do
    for _, place in ipairs(self.filled[number]) do
      local slot, known = place.ranking.blocks[1][1], best[place.key]
      if not known then list[#list + 1] = place.key end
      if not known or score[slot] >= score[known] and self:exceeds(slot, known) then best[place.key] = slot end
    end
  end
  table.sort(list)
  for index, key in ipairs(list) do list[index] = best[key] end
  return list
end

return population
