-- search: finds which parts of a change matter. `smallest`: the smallest list that still holds, element by element,
-- then by halves (delta debugging: Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input, 2002).
-- `run`: the parts whose removal fixes what they broke, within a number of measurements: each part first, then all
-- helpful ones together, then by halves. The caller measures. Called by the rooms compare and deliver.
local search = {}

local SPARED = 2 -- measurements left for the steps after the single parts

local Search = {}
Search.__index = Search

local function all_of(count)
  local list = {}
  for index = 1, count do list[index] = index end
  return list
end

-- The result without a set, measured once; nil if no measurement is left or the user interrupted.
function Search:ask(set)
  local sorted = table.move(set, 1, #set, 1, {})
  table.sort(sorted)
  local key = table.concat(sorted, " ")
  local known = self.known[key]
  if known then return known end
  if self.used >= self.most then
    self.ended = "limit"
    return nil
  end
  local answer, free = self.measure(sorted)
  if not answer then
    self.ended = "interrupted"
    return nil
  end
  if not free then self.used = self.used + 1 end
  self.known[key] = answer
  return answer
end

-- Whether removing a set fixes all; false also if it cannot be measured.
function Search:restores(set)
  local answer = self:ask(set)
  return answer ~= nil and answer.all
end

-- Tries each part: those that fix all, and those that help. nil if it ended early.
local function alone(self, count)
  local whole, helping = {}, {}
  for index = 1, count do
    local answer = self:ask { index }
    if not answer then break end
    if answer.all then whole[#whole + 1] = index elseif answer.count > 0 then helping[#helping + 1] = index end
  end
  return whole, helping
end

-- The list in n runs of nearly equal length.
function search.runs_of(list, n)
  local runs, at = {}, 1
  for index = 1, n do
    local stop = #list * index // n
    runs[index] = table.move(list, at, stop, 1, {})
    at = stop + 1
  end
  return runs
end

local function complement(list, run)
  local out, left = {}, {}
  for _, index in ipairs(run) do out[index] = true end
  for _, index in ipairs(list) do
    if not out[index] then left[#left + 1] = index end
  end
  return left
end

-- Shrinks a list that holds by halves, until every element is needed.
local function by_halves(list, holds, ended)
  local function first_of(lists)
    for _, one in ipairs(lists) do
      if #one > 0 and holds(one) then return one end
      if ended() then return nil end
    end
  end
  local n = 2
  while #list > 1 and not ended() do
    local runs = search.runs_of(list, n)
    local smaller, of = first_of(runs), 2
    if not smaller and n > 2 and not ended() then
      local rests = {}
      for index, run in ipairs(runs) do rests[index] = complement(list, run) end
      smaller, of = first_of(rests), n - 1
    end
    if smaller then list, n = smaller, math.min(math.max(of, 2), math.max(#smaller, 2))
    elseif n >= #list then break
    else n = math.min(2 * n, #list) end
  end
  return list
end

-- The needed elements one by one: each is the last of the shortest run from the start that holds, with those found
-- before. Few questions if few of many are needed.
local function by_runs(list, holds, ended)
  local needed, stop = {}, #list
  local function with(count)
    local some = table.move(needed, 1, #needed, 1, {})
    return table.move(list, 1, count, #some + 1, some)
  end
  while stop > 0 and not (#needed > 0 and holds(needed)) do
    local low, high = 1, stop
    while low < high and not ended() do
      local middle = (low + high) // 2
      if holds(with(middle)) then high = middle elseif not ended() then low = middle + 1 end
    end
    if ended() then return with(high) end
    needed[#needed + 1], stop = list[high], high - 1
  end
  return needed
end

-- smallest(list, holds, ended) -> the list, which holds, without what it can do without; ended(): no more can be asked.
-- In its order.
function search.smallest(list, holds, ended)
  local place = {}
  for index, one in ipairs(list) do place[one] = index end
  list = by_runs(list, holds, ended)
  table.sort(list, function(a, b) return place[a] < place[b] end)
  return by_halves(list, holds, ended)
end

-- companions(nearest, all, holds, ended) -> what must go with a part that fails alone: one of the nearest, else the
-- fewest of all. holds(list): whether it works with these; all of them are known to work.
function search.companions(nearest, all, holds, ended)
  for _, one in ipairs(nearest) do
    if ended() then return nil end
    if holds { one } then return { one } end
  end
  return search.smallest(all, holds, ended)
end

-- Shrinks a set that fixes all until every part is needed or the measurements end.
function Search:reduce(set)
  return search.smallest(set, function(part) return self:restores(part) end, function() return self.ended end)
end

-- run { count, most, measure = function(set) -> { all, count, ... } | nil (stop), free } -> { found = set | nil, others
-- = other single parts that fix all, minimal, ended = "limit" | "interrupted" | nil, used }. free: the answer cost no
-- measurement.
function search.run(spec)
  local self = setmetatable({ most = spec.most, measure = spec.measure, used = 0, known = {} }, Search)
  local function result(found, minimal, others)
    return { found = found, minimal = minimal or false, others = others or {}, ended = self.ended, used = self.used }
  end
  if spec.count == 0 then return result(nil) end
  if spec.count + SPARED <= spec.most or spec.count == 1 then
    local whole, helping = alone(self, spec.count)
    if #whole > 0 then return result({ whole[1] }, true, table.move(whole, 2, #whole, 1, {})) end
    if not self.ended and #helping > 1 and #helping < spec.count and self:restores(helping) then
      local reduced = self:reduce(helping)
      return result(reduced, not self.ended)
    end
  end
  local everything = all_of(spec.count)
  if self.ended or not self:restores(everything) then return result(nil) end
  local reduced = self:reduce(everything)
  return result(reduced, not self.ended)
end

return search
