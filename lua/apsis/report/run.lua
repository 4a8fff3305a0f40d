-- run: the data of a run's page, from its journal's lines: columns by experiment, spending, lineage, grid, best. Plain
-- data; the same lines give the same data. Reads no file: the caller passes the lines.
local cells = require "apsis.report.cells"
local json = require "apsis.json"
local lineage = require "apsis.report.lineage"
local stats = require "apsis.stats"

local run = {}

local Run = {}
Run.__index = Run

local BEST, REJECTED, SPEND_POINTS, TITLE, TITLES = 20, 10, 400, 160, 3000
local FAR, NEAR = 3, 1.5 -- times the middle half's width
local LITTLE = 0.6 -- a focus of a larger share is useless
-- measured completely, and valid
local whole = { baseline = true, kept = true, reverted_worse_metric = true, reverted_rejected = true }

function run.new(metric)
  return setmetatable({ metric = metric, count = 0, candidates = {}, verdicts = {},
    strategies = {}, kept = 0, outcomes = {}, index = {},
    operators = {}, tokens = 0, usd = 0, seconds = 0,
    last = 0, columns = { number = {}, value = {}, outcome = {}, operator = {}, best = {}, parents = {} },
    spent = { x = {}, tokens = {}, usd = {}, minutes = {} } }, Run)
end

local function text_of(value, most)
  if type(value) ~= "string" then return nil end
  local from = utf8.len(value) and utf8.offset(value, most + 1)
  return from and value:sub(1, from - 1) .. "..." or value:sub(1, 4 * most)
end

-- The index (from 0) of a name in a list, added if it is new.
local function place_of(self, list, name)
  local key = (list == self.operators and "operator " or "outcome ") .. name
  if not self.index[key] then
    list[#list + 1] = { name = name, count = 0, kept = 0, improved = 0 }
    self.index[key] = #list
  end
  return self.index[key] - 1
end

local function numbers_of(parents)
  local list = {}
  for index, id in ipairs(parents or {}) do
    list[index] = math.tointeger(tonumber(tostring(id):match "^c(%d+)$")) or -1
  end
  return list
end

-- Outcomes that involve no new proposal.
local function count_operator(self, line)
  if type(line.operator) ~= "string" or line.outcome == "baseline" or not line.candidate then return -1 end
  local place = place_of(self, self.operators, line.operator)
  local operator = self.operators[place + 1]
  operator.count = operator.count + 1
  if line.outcome == "kept" then operator.kept = operator.kept + 1 end
  if line.outcome == "kept" and line.improved then operator.improved = operator.improved + 1 end
  return place
end

local function count_spend(self, line, at)
  self.tokens, self.usd = self.tokens + (line.tokens or 0), self.usd + (line.cost or 0)
  if type(line.seconds) == "number" then self.seconds = self.seconds + line.seconds end
  self.last = math.max(self.last, line.experiment) -- lines are in the order in which experiments ended
  local spent = self.spent
  spent.x[at], spent.tokens[at], spent.usd[at], spent.minutes[at] = self.last, self.tokens, self.usd, self.seconds / 60
end

-- The decision of acceptance under noise, or of the strategy's own hooks: "kept" or "rejected", and why; nil without
-- one.
local function verdict_of(line, notes)
  local said = type(line.acceptance) == "table" and line.acceptance or {}
  if type(said.verdict) == "string" then return said.verdict, said.why end
  if type(notes.acceptance) ~= "table" or not whole[line.outcome] or line.outcome == "baseline" then return nil end
  return line.outcome == "kept" and "kept" or "rejected"
end

-- Why a candidate was not kept, if there is more than the outcome's name.
local function reason_of(line, why)
  if line.outcome == "kept" or line.outcome == "baseline" then return nil end
  local reason = type(why) == "string" and why or line.rollback_reason
  return reason ~= line.outcome and text_of(reason, TITLE) or nil
end

-- Who planned, in order of appearance.
local function note_strategy(self, line)
  local name = line.strategy
  if line.outcome == "baseline" or type(name) ~= "string" or self.index["strategy " .. name] then return end
  self.index["strategy " .. name] = true
  self.strategies[#self.strategies + 1] = name
end

local function add_candidate(self, line)
  if not line.candidate then return end
  local notes = type(line.notes) == "table" and line.notes or {}
  local verdict, why = verdict_of(line, notes)
  self.verdicts[line.candidate] = verdict
  local features = type(notes.features) == "table" and notes.features or nil
  self.candidates[#self.candidates + 1] = { id = line.candidate, number = line.experiment, at = self.count - 1,
    parents = line.parents or {}, outcome = line.outcome, value = line.primary_metric, why = reason_of(line, why),
    kept = line.outcome == "kept" or line.outcome == "baseline" and line.primary_metric ~= nil,
    operator = line.operator, lines = line.changed_lines, delta = line.delta, features = features, cell = notes.cell,
    title = text_of(line.description or line.hypothesis, TITLE) }
end

-- Takes the next line of the journal.
function Run:add(line)
  local at, columns = self.count + 1, self.columns
  self.count = at
  local place = place_of(self, self.outcomes, line.outcome)
  self.outcomes[place + 1].count = self.outcomes[place + 1].count + 1
  columns.number[at], columns.outcome[at] = line.experiment, place
  columns.value[at] = line.primary_metric or json.null
  columns.best[at] = type(line.best) == "number" and line.best or json.null
  columns.operator[at], columns.parents[at] = count_operator(self, line), numbers_of(line.parents)
  if line.outcome == "kept" then self.kept = self.kept + 1 end
  count_spend(self, line, at)
  note_strategy(self, line)
  add_candidate(self, line)
end

-- The narrower range that a chart starts with: the middle half of the values, those near it, and the best; otherwise
-- the first steps up from a poor baseline would hide the rest. nil if that leaves out little.
local function focus(whole_axis, numbers, best)
  local first, third = numbers[#numbers // 4 + 1], numbers[#numbers - #numbers // 4]
  local near = NEAR * (third - first)
  local low, high = best or first, best or first
  for _, number in ipairs(numbers) do
    if number - first >= -near and number - third <= near then
      low, high = math.min(low, number), math.max(high, number)
    end
  end
  if near == 0 or high - low > LITTLE * (whole_axis.high - whole_axis.low) then return nil end
  return { low = low, high = high }
end

-- The candidates that can be compared with the best: those from the newest baseline that began anew on.
local function compared(self, history)
  local list, began = {}, history.began or 1
  for _, candidate in ipairs(self.candidates) do
    if candidate.at >= began - 1 then list[#list + 1] = candidate end
  end
  return list
end

-- The range of the value axis: all kept values, and others near their middle half, because one bad value would hide the
-- rest. And its focus.
local function axis(candidates, best)
  local numbers, kept = {}, {}
  for _, candidate in ipairs(candidates) do
    if candidate.value then
      numbers[#numbers + 1] = candidate.value
      if candidate.kept then kept[#kept + 1] = candidate.value end
    end
  end
  if #numbers == 0 then return nil end
  table.sort(numbers)
  local first, third = numbers[#numbers // 4 + 1], numbers[#numbers - #numbers // 4]
  local far = FAR * (third - first)
  local low, high = stats.min(kept) or first, stats.max(kept) or third
  for _, number in ipairs(numbers) do
    if number - first >= -far and number - third <= far then
      low, high = math.min(low, number), math.max(high, number)
    end
  end
  local whole_axis = { low = low, high = high }
  whole_axis.focus = focus(whole_axis, numbers, best)
  return whole_axis
end

local function last_of(list, points)
  local thin, step = {}, math.max(1, math.ceil(#list / points))
  for at = 1, #list, step do thin[#thin + 1] = list[math.min(at + step - 1, #list)] end
  return thin
end

local function spend(self)
  local list = {}
  for name, column in pairs(self.spent) do list[name] = last_of(column, SPEND_POINTS) end
  return list
end

-- The completely measured candidates, best first by what each counts for now. If acceptance under noise judged, a
-- second list has the rejected ones: the luckiest of many has a better value than the best.
local function ranked(self, history)
  local list, rejected, judged = {}, {}, next(self.verdicts) ~= nil
  for _, candidate in ipairs(compared(self, history)) do
    local value = whole[candidate.outcome] and (history:new_value_of(candidate.id) or candidate.value)
    if value then
      local into = judged and not candidate.kept and rejected or list
      into[#into + 1] = { value = value, of = candidate }
    end
  end
  self.metric:sort(list)
  self.metric:sort(rejected)
  return list, rejected
end

-- The best comes first: many may be tied with it, and an earlier one may have been measured at a better value.
local function put_first(list, best)
  if not best then return end
  for rank, entry in ipairs(list) do
    if entry.of.id == best.id then
      table.remove(list, rank)
      table.insert(list, 1, entry)
      return
    end
  end
end

local function rows_of(self, list, most, first)
  local rows = {}
  for rank = 1, math.min(most, #list) do
    local value, of = list[rank].value, list[rank].of
    rows[rank] = { id = of.id, value = value, gained = first and self.metric:delta(value, first), outcome = of.outcome,
      why = of.why, operator = text_of(of.operator, 40), parents = of.parents, lines = of.lines, title = of.title }
  end
  return rows
end

local function tables(self, history)
  local list, rejected = ranked(self, history)
  put_first(list, history.best)
  return rows_of(self, list, BEST, history.baseline and history.baseline.value), rows_of(self, rejected, REJECTED)
end

-- The gain of the best, measured again at the end, and of whom, because another may have been kept since; or nil.
local function gain_of(told)
  if type(told) ~= "table" or type(told.candidate) ~= "string" or type(told.original) ~= "string" then return nil end
  for _, name in ipairs { "gain", "low", "high" } do
    if type(told[name]) ~= "number" then return nil end
  end
  return { gain = told.gain, low = told.low, high = told.high, relative = told.relative, pairs = told.pairs,
    exact = told.exact == true or nil, candidate = told.candidate, original = told.original }
end

local function brief(record)
  return record and record.value and { id = record.id, value = record.value } or nil
end

local function titles(self)
  local map, count = {}, 0
  for _, candidate in ipairs(self.candidates) do
    if candidate.kept and candidate.title and count < TITLES then
      map[tostring(candidate.number)], count = candidate.title, count + 1
    end
  end
  return map
end

local function grid(self, history)
  local list = {}
  for _, candidate in ipairs(compared(self, history)) do
    if candidate.value and whole[candidate.outcome] then list[#list + 1] = candidate end
  end
  return cells.picture(self.metric, list)
end

-- data(history, facts) -> the argument of page.run; history: the folded one, facts: { project, description, status,
-- reason, strategy }.
function Run:data(history, facts)
  local metric, best, first = self.metric, brief(history.best), brief(history.baseline)
  local top, rejected = tables(self, history)
  return { project = facts.project, description = facts.description, status = facts.status, reason = facts.reason,
    strategy = facts.strategy, strategies = json.array(self.strategies), began = (history.began or 1) - 1,
    metric = metric.name, direction = metric.direction, words = metric:words(),
    target = metric.target,
    experiments = self.count - (history.outcomes.baseline or 0), kept = self.kept, baseline = first,
    best = best, gained = best and first and metric:delta(best.value, first.value),
    gain = gain_of(history.gain), judged = next(self.verdicts) ~= nil,
    columns = self.columns, titles = titles(self), axis = axis(compared(self, history), best and best.value),
    operators = self.operators, outcomes = self.outcomes,
    totals = { tokens = self.tokens, usd = self.usd, minutes = self.seconds / 60 }, spend = spend(self),
    lineage = lineage.plot(self.candidates, best and best.id), grid = grid(self, history),
    top = top, rejected = rejected }
end

return run
