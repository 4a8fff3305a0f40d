-- archive: a bounded population on islands, each a grid of cells by features (MAP-Elites: Mouret and Clune, 2015;
-- islands: Tanese, 1989). Every candidate enters; above the bound the worst of the most crowded cell is evicted,
-- never the best of a cell, never an elite. Only the metric decides which value is better, and where a candidate stands
-- that was stopped at a stage (Metric:standing); the population orders scores that the metric has oriented. Depends
-- only on its additions, migrations and the streams passed in, so folding a journal builds the same archive. For
-- strategies.
local direction = require "apsis.direction"
local draw = require "apsis.archive.draw"
local grid = require "apsis.archive.grid"
local migration = require "apsis.archive.migration"
local population = require "apsis.archive.population"
local quality = require "apsis.archive.quality"
local text = require "apsis.text"

local archive = {}

local Archive = {}
Archive.__index = Archive

local REFERENCES = 20 -- sketches that a new one is compared with
local MOST_ISLANDS = 60
local kind = math.type

local function integer(options, key, default, least)
  local value = options[key]
  if value == nil then value = default end
  if kind(value) ~= "integer" or value < least then
    error(("archive.new: %s is a whole number from %d"):format(key, least), 4)
  end
  return value
end

local known = { metric = true, islands = true, population_size = true, archive_size = true, features = true,
  max_islands = true }

local function check_options(options)
  for key in pairs(options) do
    if not known[key] then
      error(("archive.new: no option %q; there are %s"):format(tostring(key),
        "archive_size, features, islands, max_islands, metric, population_size"), 3)
    end
  end
  if type(options.metric) ~= "table" or not options.metric.gain then
    error("archive.new: metric is a metric of apsis.direction", 3)
  end
end

local function fill(self, options)
  self.population_size = integer(options, "population_size", 1000, 1)
  self.archive_size = integer(options, "archive_size", 100, 1)
  self.population = population.new(self.population_size, self.archive_size)
  local islands = options.islands or 1
  local names = type(islands) == "table" and islands or {}
  local count = type(islands) == "table" and #islands or integer(options, "islands", 1, 1)
  self.max_islands = integer(options, "max_islands", math.max(count, 1), 1)
  if count < 1 or count > self.max_islands or self.max_islands > MOST_ISLANDS then
    error(("archive.new: 1 to %d islands, and no more than max_islands"):format(MOST_ISLANDS), 3)
  end
  for index = 1, count do assert(self:new_island(names[index])) end
end

function archive.new(options)
  check_options(options)
  local self = setmetatable({
    metric = options.metric, sign = options.metric:gain(1.0, 0.0), grid = grid.new(options.features),
    names = {}, index = {}, references = {}, generations = {}, migrated_at = 0,
    place_of = {}, -- by id: a member's slot, or the negative index of an evicted one
    gone = 0, gone_value = {}, gone_place = {},
  }, Archive)
  fill(self, options)
  return self
end

local SMALLEST, LARGEST, SHARE = 10, 100, 50 -- elites; experiments for each

local function elites_for(run)
  local most, budget = math.huge, run.budget
  for _, which in ipairs { "iterations", "measurements" } do
    most = math.min(most, budget[which] and budget[which].limit or most)
  end
  return math.floor(math.min(LARGEST, math.max(SMALLEST, most / SHARE, run.experiment / SHARE)))
end

function Archive:sizes_for(run)
  local largest = self.archive_size >= LARGEST and self.population_size >= 10 * LARGEST
  if self.sized and largest then return nil end
  local options, elites = run.options, elites_for(run)
  local sizes = { archive_size = options.archive_size > 0 and options.archive_size or elites,
    population_size = options.population_size > 0 and options.population_size or 10 * elites }
  if self.sized and sizes.archive_size <= self.archive_size and sizes.population_size <= self.population_size then
    return nil
  end
  run.log(("a population of %d with %d elites (options population_size and archive_size; 0: by the budget)"):format(
    sizes.population_size, sizes.archive_size))
  return sizes
end

function Archive:grow(sizes, options)
  self.sized = true
  for _, key in ipairs { "population_size", "archive_size" } do
    if options[key] == 0 then self[key] = math.max(self[key], sizes[key]) end
  end
  self.population.bound, self.population.elites = self.population_size, self.archive_size
end

local function is_parent(member, child)
  for _, id in ipairs(child.parents) do if id == member.id then return true end end
  return false
end

-- Whether one of two members is the other or its parent, so that a crossover would combine nothing.
function archive.akin(first, second)
  return first.id == second.id or is_parent(first, second) or is_parent(second, first)
end

-- ---- islands ----

-- Adds an empty island; nil, message, "EISLAND" if there are max_islands or the name is taken.
function Archive:new_island(name)
  local count = #self.names
  if count >= self.max_islands then return nil, ("EISLAND: there are %d islands already"):format(count), "EISLAND" end
  name = name or tostring(count + 1)
  if type(name) ~= "string" or self.index[name] then
    return nil, ("EISLAND: an island's name must be a unique string, not %q"):format(tostring(name)), "EISLAND"
  end
  local index = self.population:island()
  self.names[index], self.index[name], self.index[index] = name, index, index
  return index
end

-- The index of an island given by index or name; of the only one if none is given. nil, message, "EISLAND" if there is
-- none.
function Archive:island(where)
  local index
  if where ~= nil then index = self.index[where] elseif #self.names == 1 then index = 1 end
  if index then return index end
  return nil, ("EISLAND: no island %q; there are %s"):format(tostring(where), table.concat(self.names, ", ")), "EISLAND"
end

-- The population's number of an island, or of everyone.
local function number_of(self, where)
  if where == nil then return 0 end
  return self.index[where] or error(("no island %q in this archive"):format(tostring(where)), 3)
end

function Archive:islands()
  local list = {}
  for index, name in ipairs(self.names) do
    list[index] = { index = index, name = name, size = self:size(index), best = self:best(index) }
  end
  return list
end

-- The island with the fewest members; of equals the first.
function Archive:smallest_island()
  local smallest = 1
  for index = 2, #self.names do
    if self:size(index) < self:size(smallest) then smallest = index end
  end
  return smallest
end

-- The index of an island in a line; a new number makes a new island, any other name means the smallest one.
function Archive:home(where)
  return self.index[where] or kind(where) == "integer" and self:new_island() or self:smallest_island()
end

-- The indices of the islands with members.
function Archive:settled()
  local list = {}
  for index = 1, #self.names do
    if self:size(index) > 0 then list[#list + 1] = index end
  end
  return list
end

-- ---- coming and going ----

-- true, or nil, message and code if an island or a feature's value is not known.
function Archive:check(member)
  local index, message, code = self:island(member.island)
  if not index then return nil, message, code end
  return self.grid:check(member.features)
end

-- The key of a newcomer's cell; nil, message, code if a feature's value is unknown.
local function make_key(self, features)
  local ok, message, code = self.grid:check(features)
  if not ok then return nil, message, code end
  if self.grid:widen(features) then -- every key may have changed
    self.population:refile(function(member) return self.grid:find(member.features) or 0 end)
  end
  return self.grid:find(features)
end

-- The references are spread over the population, from its best to its worst: every second newcomer replaces one.
local function renew_references(self)
  local references, added = self.references, self.population.added
  if added % 2 == 1 and #references == REFERENCES then return end
  local members, ranked, count = self.population.member, self.population.rankings[0], self.population.scored[0]
  if count > REFERENCES then
    local turn = added // 2 % REFERENCES
    local sketch = members[ranked:at((2 * turn + 1) * count // (2 * REFERENCES) + 1)].sketch
    if sketch then references[turn < #references and turn + 1 or #references + 1] = sketch end
    return
  end
  for index = #references, 1, -1 do references[index] = nil end
  for at = 1, count do references[#references + 1] = members[ranked:at(at)].sketch end
end

-- Evicts one for a newcomer; more if earlier protected ones no longer are. Returns the first.
local function make_room(self)
  local held, first = self.population, nil
  for slot in held.evict, held do
    local member, count = held.member[slot], self.gone + 1
    self.place_of[member.id], self.gone = -count, count
    self.gone_value[count], self.gone_place[count] = member.value or false, held.key[slot] << 8 | held.home[slot]
    first = first or member
  end
  return first
end

-- Adds a member. Returns the evicted one or nil; nil, message, code if its island or a feature's value is unknown.
function Archive:add(member)
  local id, value, score, second = member.id, member.value, nil, nil
  local island, key = self.index[member.island], self.grid:find(member.features)
  if not island then
    local only, message, code = self:island(member.island)
    if not only then return nil, message, code end
    island = only
  end
  if id == nil or (self.place_of[id] or 0) > 0 then
    error(("a member needs a unique id, not %s"):format(tostring(id)), 2)
  end
  if not key then
    local made, message, code = make_key(self, member.features)
    if not made then return nil, message, code end
    key = made
  end
  if member.stopped then score, second = self.metric:standing(member)
  elseif kind(value) and value - value == 0 then
    score = self.sign * value
    if score < -1.7e308 then score = self.metric:standing(member) end -- beyond are the stages
  end
  self.place_of[id] = self.population:add(member, island, score, second, key)
  renew_references(self)
  return make_room(self)
end

Archive.migrate, Archive.grown = migration.migrate, migration.grown

-- ---- questions ----

function Archive:size(where)
  return self.population.rankings[self.index[where] or number_of(self, where)].count
end

-- The slot of a member; nil for one that is not there.
local function slot_of(self, id)
  local place = self.place_of[id]
  return place and place > 0 and place or nil
end

function Archive:get(id)
  return self.population.member[slot_of(self, id)]
end

-- The record of an evicted member: id, value, island, and its cell at that time.
function Archive:evicted(id)
  local at = -(self.place_of[id] or 0)
  if at <= 0 then return nil end
  local value, place = self.gone_value[at], self.gone_place[at]
  return { id = id, value = direction.finite(value) and value or nil, island = place & 255,
    cell = self.grid:label(place >> 8) }
end

-- The islands of a member, in order of index; nil for an unknown one.
function Archive:islands_of(id)
  local slot, list = slot_of(self, id), {}
  if not slot then return nil end
  for index, place in ipairs(self.population.places[slot]) do list[index] = place.island end
  return list
end

-- The cell of a member; nil for an unknown one.
function Archive:cell(id)
  local slot = slot_of(self, id)
  return slot and self.grid:label(self.population.key[slot])
end

-- The cell that a member with these features would get.
function Archive:cell_of(features)
  return self.grid:preview(features)
end

-- 1 less the mean similarity to the references; 0 if there are none.
function Archive:diversity(sketch)
  local similarity = text.mean_similarity(sketch, self.references)
  return similarity and 1 - similarity or 0
end

-- The first in an order that has all members with a value first.
function Archive:best(where)
  return self.population.member[self.population:best(self.index[where] or number_of(self, where))]
end

function Archive:best_value()
  local best = self:best()
  return best and best.value
end

function Archive:worst(where)
  local ranked = self.population.rankings[number_of(self, where)]
  return self.population.member[ranked:at(ranked.count)]
end

-- The best `count`, best first, of equals the most recent; only those with a value.
function Archive:top(count, where)
  return self.population:top(self.index[where] or number_of(self, where), count, self.population.member)
end

function Archive:elites()
  return self:top(self.archive_size)
end

-- ---- draws ----

-- The member at a share u, in [0, 1), of those that may be drawn on an island.
local function any(held, island, u)
  return draw.at_share(held, island, held:eligible(island), u)
end

function Archive:random(rng, where)
  return any(self.population, self.index[where] or number_of(self, where), rng:random())
end

-- One of the elites of an island; the best if there is none.
function Archive:elite(rng, where)
  local island, held = self.index[where] or number_of(self, where), self.population
  return draw.at_share(held, island, held:elites_on(island), rng:random()) or held.member[held:best(island)]
end

-- Linear ranking: the better of two draws has probability (2(n - rank) + 1) / n^2, which is linear in the rank.
function Archive:weighted(rng, where)
  local one, other = rng:random(), rng:random()
  return any(self.population, self.index[where] or number_of(self, where), one < other and one or other)
end

-- One of the top quarter.
function Archive:quartile(rng, where)
  local held, island = self.population, self.index[where] or number_of(self, where)
  local scored = held.scored[island]
  if scored > 0 then return held.member[held.rankings[island]:at(rng:integer(1, (scored + 3) // 4))] end
end

-- Up to `count` bests of different cells, not of the cell of `except`.
function Archive:diverse(count, rng, where, except)
  local held, island, avoid = self.population, self.index[where] or number_of(self, where), nil
  if except then
    local slot = slot_of(self, except.id)
    avoid = slot and held.key[slot] or self.grid:nearest(except.features or {})
  end
  return draw.diverse(held, rng, island, count, avoid)
end

-- The best of another cell than a member's.
function Archive:other_cell(rng, member, where)
  return self:diverse(1, rng, where, member)[1]
end

-- What is shown with one or two parents, as ids: the best, bests of other cells than the first parent's, and random
-- ones to fill up; no duplicates, no parent. shown: { top, diverse, total, own }. From all islands if the requested
-- one is empty.
function Archive:shown(rng, parents, where, shown)
  local island = self.index[where] or 0
  if island > 0 and self:size(island) == 0 then island = 0 end
  local beside = { slot_of(self, parents[1]), parents[2] and slot_of(self, parents[2]) }
  return draw.shown(self.population, rng, beside, shown.own and island or 0, island, shown)
end

-- ---- quality and diversity ----

function Archive:coverage(where)
  return self:statistics(where).coverage
end

function Archive:qd_score(where, offset)
  return self:statistics(where, offset).qd_score
end

function Archive:statistics(where, offset)
  local made = quality.statistics(self, number_of(self, where), offset or 0)
  made.size, made.best = self:size(where), self:best(where)
  return made
end

return archive
