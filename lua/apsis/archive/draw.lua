-- archive/draw: random choices from a population. The results for a stream must never change: replay draws again.
local draw = {}

-- The member at a share u, in [0, 1), of the first `count` of an island; nil if there is none.
function draw.at_share(population, island, count, u)
  local index = u * count // 1 | 0
  if index >= count then index = count - 1 end
  return population.member[population.rankings[island]:at(index + 1)]
end

-- Different integers of 1 to total, in the order of their drawing: the first `count` of a shuffle by Fisher and Yates.
-- One number below 2^62 makes several draws.
function draw.sample(rng, total, count)
  local list, moved, number, dealt = {}, {}, 0, 0
  for done = 1, count do
    local left = total - done + 1
    if dealt == 0 then
      local span, most = 1, (1 << 62) // left
      while dealt <= count - done and span <= most do span, dealt = span * (left - dealt), dealt + 1 end
      number = rng:integer(0, span - 1)
    end
    local rest = number // left
    local place = number - rest * left + 1
    list[done] = moved[place] or place
    if done < count then moved[place] = moved[left] or left end
    number, dealt = rest, dealt - 1
  end
  return list
end

-- Bests of different cells, up to `count`, not of the cell `avoid` unless that is nil.
function draw.diverse(population, rng, island, count, avoid)
  local bests = island == 0 and population:bests(0)
  local from, found = bests or population.filled[island], 0
  if #from == 0 or count <= 0 then return {} end
  local list = draw.sample(rng, #from, math.min(count + 1, #from))
  for index = 1, #list do
    local one = from[list[index]]
    local slot = bests and one or one.ranking.blocks[1][1]
    list[index] = nil
    if population.key[slot] ~= avoid and found < count then
      found = found + 1
      list[found] = population.member[slot]
    end
  end
  return list
end

-- The ids shown with parents (slots): the best of the island `best`; bests of other cells than the first parent's of
-- another island; and random ones of that to fill up to `total`. No duplicates, no parent. nil if there are none.
function draw.shown(population, rng, parents, best, island, shown)
  local seen, list, avoid = {}, {}, parents[1] and population.key[parents[1]]
  local function show(member)
    if not member or seen[member] then return end
    seen[member] = true
    list[#list + 1] = member.id
  end
  for _, parent in pairs(parents) do seen[population.member[parent]] = true end
  for _, member in ipairs(population:top(best, shown.top, population.member)) do show(member) end
  for _, member in ipairs(draw.diverse(population, rng, island, shown.diverse, avoid)) do show(member) end
  local here = population:eligible(island)
  for _ = 1, shown.total - #list do show(draw.at_share(population, island, here, rng:random())) end
  return list[1] and list or nil
end

return draw
