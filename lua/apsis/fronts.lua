-- fronts: for each item (a test case) the best value and the members that reach it: a Pareto front by items, as GEPA
-- keeps it (Agrawal et al., 2025). Only the metric decides which value is better. Depends only on its additions, so
-- folding a journal builds the same fronts. For strategies.
local suggest = require "apsis.suggest"

local fronts = {}

local Fronts = {}
Fronts.__index = Fronts

-- new(metric): no member yet.
function fronts.new(metric)
  return setmetatable({ metric = metric, items = {}, best = {}, on = {}, means = {} }, Fronts)
end

-- Adds a member with its value of each item. Members of an item are in the order of their additions.
function Fronts:add(id, values)
  local sum, names = 0, suggest.names(values)
  for _, item in ipairs(names) do
    local value, on = values[item], self.on[item]
    sum = sum + value
    if not on then
      on, self.items[#self.items + 1] = {}, item
      self.on[item] = on
    end
    if self.metric:better(value, self.best[item]) then
      self.best[item], self.on[item] = value, { id }
    elseif self.metric:tied(value, self.best[item]) then
      on[#on + 1] = id
    end
  end
  self.means[id] = #names > 0 and sum / #names or nil
end

-- The mean of a member's values; nil without any.
function Fronts:mean(id)
  return self.means[id]
end

-- The members on a front, worst mean first, of equals the one first that is on the first item's front.
local function by_mean(self)
  local list, seen = {}, {}
  for _, item in ipairs(self.items) do
    for _, id in ipairs(self.on[item]) do
      if not seen[id] then table.insert(list, 1, { id = id, value = self.means[id] }) end
      seen[id] = true
    end
  end
  self.metric:sort(list) -- stable: of equals the last comes first, and the list is read from its end
  local turned = {}
  for index = #list, 1, -1 do turned[#turned + 1] = list[index].id end
  return turned
end

-- Who is needed to reach the best of every item: from the worst mean on, a member is left out if on each of its fronts
-- somebody else is left. Returns the ids, in the order of their names, and on how many fronts each is.
function Fronts:needed()
  local count, mine = {}, {} -- of an item: who is left; of a member: its items
  for _, item in ipairs(self.items) do
    count[item] = #self.on[item]
    for _, id in ipairs(self.on[item]) do
      mine[id] = mine[id] or {}
      table.insert(mine[id], item)
    end
  end
  local ids, sizes = {}, {}
  for _, id in ipairs(by_mean(self)) do
    local spare = true
    for _, item in ipairs(mine[id]) do spare = spare and count[item] > 1 end
    if spare then
      for _, item in ipairs(mine[id]) do count[item] = count[item] - 1 end
    else
      ids[#ids + 1] = id
    end
  end
  table.sort(ids)
  for index, id in ipairs(ids) do sizes[index] = #mine[id] end
  return ids, sizes
end

return fronts
