-- elites: a bounded list of the best members of all islands: when it is full, the oldest of the worst gives way to a
-- newcomer that is no worse. Only the metric decides which is better. For strategies.
local elites = {}

local Elites = {}
Elites.__index = Elites

-- new(metric, size)
function elites.new(metric, size)
  return setmetatable({ metric = metric, size = size, list = {} }, Elites)
end

-- Adds a member { id, value, island, ... }.
function Elites:add(member)
  local list, worst = self.list, 1
  if #list < self.size then
    list[#list + 1] = member
    return
  end
  for place = 2, #list do
    if self.metric:better(list[worst], list[place]) then worst = place end
  end
  if not self.metric:better(list[worst], member) then
    table.remove(list, worst)
    list[#list + 1] = member
  end
end

-- The islands that have members, sorted, and the members of each, oldest first.
function Elites:islands()
  local settled, on = {}, {}
  for _, member in ipairs(self.list) do
    if not on[member.island] then settled[#settled + 1], on[member.island] = member.island, {} end
    table.insert(on[member.island], member)
  end
  table.sort(settled)
  return settled, on
end

return elites
