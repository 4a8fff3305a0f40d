-- archive/draw: random choices from a population. What a stream gives may never change: a run is replayed by drawing
-- again. Used by archive.
local draw = {}

-- The slot at a share u, in [0, 1), of the first `count` of an island; nil if there is none.
function draw.at_share(population, island, count, u)
  return population.rankings[island]:at(math.min(u * count // 1 | 0, count - 1) + 1)
end

-- Different integers of 1 to total, in the order of their drawing: the first `count` of a shuffle by Fisher and Yates.
-- One number below 2^62 makes several draws.
function draw.sample(rng, total, count)
  local list, moved, number, dealt = {}, {}, 0, 0
  for done = 0, count - 1 do
    local left = total - done
    if dealt == 0 then
      local span = 1
      while dealt < count - done and span <= (1 << 62) // left do
        span, dealt = span * (left - dealt), dealt + 1
      end
      number = rng:integer(0, span - 1)
    end
    local place = number % left + 1
    number, dealt = number // left, dealt - 1
    list[done + 1] = moved[place] or place
    moved[place] = moved[left] or left
  end
  return list
end

-- Bests of different cells, up to `count`, none of the cell `avoid` unless that is nil.
function draw.diverse(population, rng, island, count, avoid)
  local bests = island == 0 and population:bests(0)
  local from = bests or population.filled[island]
  local total, found = #from, {}
  if total == 0 or count <= 0 then return found end
  for _, at in ipairs(draw.sample(rng, total, math.min(count + 1, total))) do
    local slot = bests and from[at] or from[at].ranking.blocks[1][1]
    if population.key[slot] ~= avoid and #found < count then found[#found + 1] = slot end
  end
  return found
end

-- The ids of what is shown beside parents, which are slots: the best of the island `best`; bests of other cells than
-- the first parent's of another island; and random ones of that for as many as are missing from `total`. None twice, no
-- parent. nil if there are none.
function draw.shown(population, rng, parents, best, island, shown)
  local seen, list, top, member = {}, {}, population.rankings[best], population.member
  local function show(slot)
    if not slot or seen[slot] then return end
    seen[slot] = true
    list[#list + 1] = member[slot].id
  end
  for _, parent in pairs(parents) do seen[parent] = true end
  for _, slot in ipairs(top:first(math.min(shown.top, top.scored))) do show(slot) end
  local avoid = parents[1] and population.key[parents[1]]
  for _, slot in ipairs(draw.diverse(population, rng, island, shown.diverse, avoid)) do show(slot) end
  local here = population:eligible(island)
  for _ = 1, shown.total - #list do show(draw.at_share(population, island, here, rng:random())) end
  return list[1] and list or nil
end

return draw
