-- ranking: the best candidates of a run, by what they count for now. If acceptance under noise judges, those that it
-- rejected have a list of their own: the luckiest of many is measured at a better value than the best.
local ranking = {}

local Ranking = {}
Ranking.__index = Ranking

local SOME <const>, HELD <const> = 2000, 500 -- candidates of a list before and after it is cut

-- measured completely, and valid
local whole = { baseline = true, kept = true, reverted_worse_metric = true, reverted_rejected = true }

function ranking.new(history)
  local function list() return { has = {} } end
  return setmetatable({ history = history, all = list(), kept = list(), rejected = list() }, Ranking)
end

-- Whether a line's candidate is in a list: a record or a line.
function ranking.is_whole(line) return whole[line.outcome] and line.candidate ~= nil and line.primary_metric ~= nil end

-- Sorted by what the entries count for now; later lines may have added samples.
local function sort(self, list)
  for _, entry in ipairs(list) do entry.value = self.history:new_value_of(entry.id) or entry.value end
  return self.history.metric:sort(list)
end

-- What is no better than the last one that a cut left is not added.
local function put(self, list, line, at)
  if list.has[at] then return end
  local value = self.history:new_value_of(line.candidate) or line.primary_metric
  local above = self.history.metric:gain(value, list.floor)
  if above and above <= 0 then return end
  list.has[at] = true
  list[#list + 1] = { value = value, at = at, id = line.candidate }
  if #list < SOME then return end
  sort(self, list)
  for place = HELD + 1, #list do list.has[list[place].at], list[place] = nil, nil end
  list.floor = list[HELD].value
end

-- Adds a line's candidate; at: its place in the journal.
function Ranking:add(line, at)
  if not ranking.is_whole(line) then return end
  put(self, self.all, line, at)
  put(self, (line.outcome == "kept" or line.outcome == "baseline") and self.kept or self.rejected, line, at)
end

-- Later samples of a candidate may bring it back into a list that was cut.
function Ranking:again(id)
  local record = self.history:get(id)
  local at = record and self.history:line_of(record.experiment)
  if at and at >= self.history.began then self:add(record, at) end
end

-- The best's entry of a list; of one that was cut, made again.
local function entry_of_best(self, list, best)
  for _, entry in ipairs(list) do
    if entry.id == best.id then return entry end
  end
  local at = best.value and best.experiment and self.history:line_of(best.experiment)
  return at and at >= self.history.began and { value = best.value, at = at, id = best.id } or nil
end

-- The first of a list ("all", "kept", "rejected"): { value, at, id }... The best comes first: many may be tied with it,
-- and an earlier one may have been measured at a better value.
function Ranking:first(name, most)
  local list, best = sort(self, self[name]), self.history.best
  local shown, led = {}, best and name ~= "rejected" and entry_of_best(self, list, best) or nil
  shown[1] = led
  for _, entry in ipairs(list) do
    if #shown == most then break end
    if entry ~= led then shown[#shown + 1] = entry end
  end
  return shown
end

return ranking
