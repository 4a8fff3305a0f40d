-- populations: the bounded populations of islands, and how a parent is drawn from one; after the lists of AdaEvolve
-- (github.com/skydiscover-ai/skydiscover). Only the metric decides which member is better. Draws only from the stream
-- passed in. For strategies.
local selection = require "apsis.selection"

local populations = {}

local Populations = {}
Populations.__index = Populations

local LEAST <const> = 0.001 -- the least weight of a member

-- new(metric, size): how many members an island keeps.
function populations.new(metric, size)
  return setmetatable({ metric = metric, size = size, islands = {} }, Populations)
end

-- Adds an empty island; returns its number.
function Populations:add()
  self.islands[#self.islands + 1] = {}
  return #self.islands
end

-- A member enters an island, which keeps the best. false if it is there already.
function Populations:enter(number, member)
  local list = self.islands[number]
  for _, other in ipairs(list) do if other.id == member.id then return false end end
  list[#list + 1] = { id = member.id, value = member.value }
  if #list > self.size then self.metric:sort(list)[#list] = nil end
  return true
end

-- The best members of all islands, each once, without one.
function Populations:best(count, except)
  local list, seen = {}, { [except or false] = true }
  for _, members in ipairs(self.islands) do
    for _, member in ipairs(members) do
      if not seen[member.id] then list[#list + 1], seen[member.id] = member, true end
    end
  end
  return table.move(self.metric:sort(list), 1, math.min(count, #list), 1, {})
end

-- The best member of each island.
function Populations:leaders()
  local list = {}
  for number, members in ipairs(self.islands) do list[number] = self.metric:best_of(members) end
  return list
end

local draws = {}

function draws.exploration(_, rng, members)
  return rng:choice(members)
end

function draws.exploitation(self, rng, members)
  local sorted = self.metric:sort(table.move(members, 1, #members, 1, {}))
  return rng:choice(table.move(sorted, 1, math.max(1, #sorted // 4), 1, {}))
end

function draws.balanced(self, rng, members)
  local weights = {}
  for index, member in ipairs(members) do weights[index] = math.max(self.metric:gain(member, 0), LEAST) end
  return selection.pick(rng, members, weights)
end

-- A parent from an island, and how it was drawn: with a probability of the intensity any member (exploration), else in
-- 7 of 10 one of the best quarter (exploitation), else by value (balanced).
function Populations:draw(rng, number, intensity)
  local u = rng:random()
  local mode = u < intensity and "exploration" or u < intensity + (1 - intensity) * 0.7 and "exploitation" or "balanced"
  return draws[mode](self, rng, self.islands[number]), mode
end

return populations
