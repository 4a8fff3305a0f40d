-- archive/migration: island migration: copies the best of every island to its neighbours in a ring. A strategy decides
-- when. Is Archive:migrate and Archive:grown.
local migration = {}

-- Puts a member, by its slot, on one more island; false if it is there.
local function copy(held, slot, island)
  local places = held.places[slot]
  for _, place in ipairs(places) do
    if place.island == island then return false end
  end
  places[#places + 1] = held:enter(slot, island)
  table.sort(places, function(a, b) return a.island < b.island end)
  return true
end

-- Copies the top share of every island, as it was before, to both its neighbours in the ring.
function migration.migrate(archive, rate)
  if type(rate) ~= "number" or not (rate >= 0 and rate <= 1) then error("migrate: rate is a share, 0 to 1", 2) end
  local list, count, tops, held = {}, #archive.names, {}, archive.population
  for from = 1, count do
    tops[from] = held:top(from, rate > 0 and math.max(1, held.scored[from] * rate // 1 | 0) or 0)
  end
  for from = 1, count do
    for _, to in ipairs { from % count + 1, (from - 2) % count + 1 } do
      for _, slot in ipairs(tops[from]) do
        if copy(held, slot, to) then list[#list + 1] = { member = held.member[slot], from = from, to = to } end
      end
    end
  end
  return list
end

-- Counts a newcomer of an island; migrates if the island has had `interval` more than at the last time.
function migration.grown(archive, island, interval, rate)
  local generation = (archive.generations[island] or 0) + 1
  archive.generations[island] = generation
  if generation - archive.migrated_at < interval then return end
  archive:migrate(rate)
  archive.migrated_at = generation
end

return migration
