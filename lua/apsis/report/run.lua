-- run: the data of a run's page, from its journal's lines: columns by experiment, spending, lineage, grid, best. Plain
-- data; the same lines give the same data. Reads no file: the caller passes the lines, twice. The first time they are
-- counted and ranked; then it is known which ones the page shows, and these are taken the second time. So of a journal
-- of a million lines a few numbers each are held.
local cells = require "apsis.report.cells"
local direction = require "apsis.direction"
local json = require "apsis.json"
local lineage = require "apsis.report.lineage"
local path = require "apsis.report.path"

local run = {}

local Run = {}
Run.__index = Run

local BEST, REJECTED, SPEND_POINTS, TITLE, TITLES = 20, 10, 400, 160, 3000
local MOST, MOST_KEPT = 20000, 5000 -- lines in the columns; kept ones among them if they are not all there
local FAR, NEAR = 3, 1.5 -- times the middle half's width
local LITTLE = 0.6 -- a focus of a larger share is useless
-- measured completely, and valid
local whole = { baseline = true, kept = true, reverted_worse_metric = true, reverted_rejected = true }
-- what is read of each line the first time
local fields = { "experiment", "outcome", "candidate", "parents", "primary_metric", "operator", "improved", "tokens",
  "cost", "seconds", "acceptance", "notes", "strategy",
  "machines" }
for _, name in ipairs(fields) do fields[name] = true end

local function new(metric, history)
  return setmetatable({ metric = metric, history = history, count = 0, kept = 0, outcomes = {}, operators = {},
    index = {}, strategies = {}, tokens = 0, usd = 0, seconds = 0, queue_s = 0, run_s = 0,
    last = 0, judged = false, values = {},
    earlier = 0, -- columns of lines that are not compared
    lineage = lineage.new(function(number) return history:line_of(number) end),
    cells = cells.new(metric), ranked = { all = {}, kept = {}, rejected = {} },
    columns = { number = {}, value = {}, outcome = {}, operator = {}, best = {}, parents = {} }, rows = {}, place = {},
    titles = {}, titled = 0, spent = { x = {}, tokens = {}, usd = {}, minutes = {} } }, Run)
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

-- Whether a line has an operator that counts; -1 stands for none: that involves no new proposal.
local function operator_of(self, line)
  if type(line.operator) ~= "string" or line.outcome == "baseline" or not line.candidate then return -1 end
  return place_of(self, self.operators, line.operator)
end

local function was_kept(line)
  return line.outcome == "kept" or line.outcome == "baseline" and line.primary_metric ~= nil
end

local function notes_of(line)
  return type(line.notes) == "table" and line.notes or {}
end

-- The decision of acceptance under noise, or of the strategy's own hooks: "kept" or "rejected", and why; nil without
-- one.
local function verdict_of(line)
  local said = type(line.acceptance) == "table" and line.acceptance or {}
  if type(said.verdict) == "string" then return said.verdict, said.why end
  local judged = type(notes_of(line).acceptance) == "table"
  if not judged or not whole[line.outcome] or line.outcome == "baseline" then return nil end
  return line.outcome == "kept" and "kept" or "rejected"
end

-- ---- the first time ----

local function count_operator(self, line)
  local operator = self.operators[operator_of(self, line) + 1]
  if not operator then return end
  operator.count = operator.count + 1
  if line.outcome == "kept" then operator.kept = operator.kept + 1 end
  if line.outcome == "kept" and line.improved then operator.improved = operator.improved + 1 end
end

-- Who planned, in order of appearance.
local function note_strategy(self, line)
  local name = line.strategy
  if line.outcome == "baseline" or type(name) ~= "string" or self.index["strategy " .. name] then return end
  self.index["strategy " .. name] = true
  self.strategies[#self.strategies + 1] = name
end

-- Whether a line can be compared with the best: those from the newest baseline that began anew on.
local function is_compared(self, at)
  return at >= self.history.began
end

-- Adds a candidate to those of which the best are shown; sorted and cut now and then.
local function rank(self, list, most, entry)
  list[#list + 1] = entry
  if #list < 100 * most then return end
  self.metric:sort(list)
  table.move(list, #list + 1, #list + #list - most, most + 1)
end

-- A completely measured candidate counts for what later samples made of it. If acceptance under noise judges, the
-- rejected ones have a list of their own: the luckiest of many has a better value than the best.
local function rank_candidate(self, line, at)
  local value = whole[line.outcome] and (self.history:new_value_of(line.candidate) or line.primary_metric)
  if not value then return end
  local entry, ranked = { value = value, at = at }, self.ranked
  rank(self, ranked.all, BEST, entry)
  if not was_kept(line) then return rank(self, ranked.rejected, REJECTED, entry) end
  rank(self, ranked.kept, BEST, entry)
  if self.history.best and line.candidate == self.history.best.id then self.best = entry end
end

local function cell_of(line)
  if not line.primary_metric or not whole[line.outcome] then return nil end
  local notes = notes_of(line)
  return { id = line.candidate, value = line.primary_metric, cell = notes.cell,
    features = type(notes.features) == "table" and notes.features or nil }
end

local function see_candidate(self, line, at)
  local value, kept = line.primary_metric, was_kept(line)
  self.judged = self.judged or verdict_of(line) ~= nil
  if not is_compared(self, at) then return end
  if value then
    self.values[#self.values + 1] = value
    self.kept_low = kept and math.min(self.kept_low or value, value) or self.kept_low
    self.kept_high = kept and math.max(self.kept_high or value, value) or self.kept_high
  end
  rank_candidate(self, line, at)
  local cell = cell_of(line)
  if cell then self.cells:see(cell) end
end

local function see(self, line)
  local at = self.count + 1
  self.count = at
  local outcome = self.outcomes[place_of(self, self.outcomes, line.outcome) + 1]
  outcome.count = outcome.count + 1
  if line.outcome == "kept" then self.kept = self.kept + 1 end
  count_operator(self, line)
  note_strategy(self, line)
  self.lineage:add(line.candidate and line.experiment or nil, numbers_of(line.parents), was_kept(line))
  if line.candidate then see_candidate(self, line, at) end
end

-- ---- what is shown ----

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

-- The range of the value axis: all kept values, and others near their middle half, because one bad value would hide the
-- rest. And its focus.
local function axis(self, best)
  local numbers = self.values
  if #numbers == 0 then return nil end
  table.sort(numbers)
  local first, third = numbers[#numbers // 4 + 1], numbers[#numbers - #numbers // 4]
  local far = FAR * (third - first)
  local low, high = self.kept_low or first, self.kept_high or third
  for _, number in ipairs(numbers) do
    if number - first >= -far and number - third <= far then
      low, high = math.min(low, number), math.max(high, number)
    end
  end
  local whole_axis = { low = low, high = high }
  whole_axis.focus = focus(whole_axis, numbers, best)
  return whole_axis
end

local function first_of(list, most)
  return table.move(list, 1, math.min(most, #list), 1, {})
end

-- The candidates of the tables, best first: of all, or, if they are judged, of those kept, and the rejected. The best
-- comes first: many may be tied with it, and an earlier one may have been measured at a better value.
local function choose_rows(self)
  local ranked, best = self.ranked, self.best
  local top = self.metric:sort(self.judged and ranked.kept or ranked.all)
  for index = #top, 1, -1 do
    if top[index] == best then table.remove(top, index) end
  end
  if best then table.insert(top, 1, best) end
  self.top = first_of(top, BEST)
  self.rejected = self.judged and first_of(self.metric:sort(ranked.rejected), REJECTED) or {}
  for _, list in ipairs { self.top, self.rejected } do
    for _, entry in ipairs(list) do self.rows[entry.at] = entry end
  end
  self.path = path.of(self.metric, self.history)
  for _, step in ipairs(self.path and self.path.steps or {}) do
    self.rows[step.at] = self.rows[step.at] or { value = step.value, at = step.at }
  end
end

-- Every how many lines one is in the columns, of those that were kept and of the others.
local function choose_columns(self)
  local kept, few = self.kept, self.count <= MOST
  self.every_kept = few and 1 or math.max(1, math.ceil(kept / MOST_KEPT))
  self.every = few and 1 or math.ceil((self.count - kept) / (MOST - math.min(kept, MOST_KEPT)))
  self.nth, self.nth_kept = 0, 0
  local best = self.history.best
  self.tree = self.lineage:tree(best and numbers_of { best.id }[1])
end

-- ---- the second time ----

local function is_shown(self, line, at)
  local nth, every
  if line.outcome == "kept" then
    self.nth_kept, nth, every = self.nth_kept + 1, self.nth_kept, self.every_kept
  else
    self.nth, nth, every = self.nth + 1, self.nth, self.every
  end
  return nth % every == 0 or self.tree.drawn[at] or at == self.count
end

local function add_column(self, line, at)
  local columns, index = self.columns, #self.columns.number + 1
  self.place[at] = index - 1
  if not is_compared(self, at) then self.earlier = index end
  columns.number[index], columns.outcome[index] = line.experiment, place_of(self, self.outcomes, line.outcome)
  columns.value[index] = line.primary_metric or json.null
  columns.best[index] = type(line.best) == "number" and line.best or json.null
  columns.operator[index], columns.parents[index] = operator_of(self, line), numbers_of(line.parents)
  local title = line.candidate and was_kept(line) and text_of(line.description or line.hypothesis, TITLE)
  if title and self.titled < TITLES then
    self.titles[tostring(line.experiment)], self.titled = title, self.titled + 1
  end
end

local function add_spend(self, line, at)
  local machines = line.machines or {}
  self.tokens, self.usd = self.tokens + (line.tokens or 0), self.usd + (line.cost or 0) + (machines.usd or 0)
  self.queue_s, self.run_s = self.queue_s + (machines.queue_s or 0), self.run_s + (machines.run_s or 0)
  if type(line.seconds) == "number" then self.seconds = self.seconds + line.seconds end
  self.last = math.max(self.last, line.experiment) -- lines are in the order in which experiments ended
  if at % math.max(1, math.ceil(self.count / SPEND_POINTS)) ~= 0 and at ~= self.count then return end
  local spent, index = self.spent, #self.spent.x + 1
  spent.x[index], spent.tokens[index], spent.usd[index] = self.last, self.tokens, self.usd
  spent.minutes[index] = self.seconds / 60
end

-- Why a candidate was not kept, if there is more than the outcome's name.
local function reason_of(line)
  if line.outcome == "kept" or line.outcome == "baseline" then return nil end
  local _, why = verdict_of(line)
  local reason = type(why) == "string" and why or line.rollback_reason
  return reason ~= line.outcome and text_of(reason, TITLE) or nil
end

-- A row of the tables, of its line.
local function fill_row(entry, line)
  entry.row = { id = line.candidate, value = entry.value, outcome = line.outcome, why = reason_of(line),
    operator = text_of(line.operator, 40), parents = line.parents or {}, lines = line.changed_lines,
    title = text_of(line.description or line.hypothesis, TITLE) }
end

local function take(self, line, at)
  if at > self.count then return end -- a run may append meanwhile
  if is_shown(self, line, at) then add_column(self, line, at) end
  add_spend(self, line, at)
  if self.rows[at] then fill_row(self.rows[at], line) end
  local cell = self.has_cells and line.candidate and is_compared(self, at) and cell_of(line)
  if cell then self.cells:place(cell) end
end

local function rows_of(self, list, first)
  local rows = {}
  for index, entry in ipairs(list) do
    rows[index] = entry.row
    entry.row.gained = first and self.metric:delta(entry.value, first)
  end
  return rows
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

-- The steps to the best, with what each changed.
local function path_of(self)
  if not self.path then return nil end
  local list = {}
  for index, step in ipairs(self.path.steps) do
    local row = self.rows[step.at].row or {}
    list[index] = { id = step.id, value = step.value, gained = step.gained, start = step.start, share = step.share,
      title = row.title, lines = row.lines }
  end
  return { steps = json.array(list), left_out = self.path.left_out }
end

-- "8.2x faster than the baseline's 150 (-88 %), in 30 experiments"; nil if nothing was gained, or if it was measured
-- again, or chosen under noise.
local function headline(self, experiments, unit)
  local metric, history = self.metric, self.history
  if self.judged or history.gain or not history.baseline then return nil end
  if not metric:better(history.best, history.baseline) then return nil end
  return ("%s, in %d experiment%s"):format(metric:gained_text(history.best, history.baseline, unit), experiments,
    experiments == 1 and "" or "s")
end

-- How many of how many lines the page has, if not all.
local function thinned(self)
  local shown = #self.columns.number
  return shown < self.count and { shown = shown, of = self.count } or nil
end

local function page_data(self, facts)
  local metric, history = self.metric, self.history
  local best, first = brief(history.best), brief(history.baseline)
  local experiments = self.count - (history.outcomes.baseline or 0)
  return { headline = not facts.several and headline(self, experiments, facts.unit) or nil,
    path = not facts.several and path_of(self) or nil,
    project = facts.project, description = facts.description, status = facts.status, reason = facts.reason,
    altered = facts.altered, strategy = facts.strategy, strategies = json.array(self.strategies),
    began = history.began - 1, earlier = self.earlier, metric = metric.name, direction = metric.direction,
    words = metric:words(), target = metric.target,
    experiments = experiments, kept = self.kept, baseline = first,
    best = best, gained = best and first and metric:delta(best.value, first.value),
    share = best and first and direction.percent_text(best.value, first.value),
    doubt = best and first and metric:doubt_text(history.best, history.baseline),
    gain = gain_of(history.gain), judged = self.judged, thinned = thinned(self),
    columns = self.columns, titles = self.titles, axis = self.axis,
    operators = self.operators, outcomes = self.outcomes,
    totals = { tokens = self.tokens, usd = self.usd, minutes = self.seconds / 60, queued = self.queue_s / 60,
      measured = self.run_s / 60 }, spend = self.spent,
    lineage = self.lineage:plot(self.tree, function(at) return self.place[at] end),
    grid = self.has_cells and self.cells:picture() or nil, top = rows_of(self, self.top, first and first.value),
    rejected = rows_of(self, self.rejected) }
end

-- data(metric, history, walk, facts) -> the argument of page.run | nil, message, code. history: the folded one; walk(
-- visit, fields): calls visit(line, at) for every line in order, at counting from 1, and returns true, or nil, message,
-- code; facts: { project, description, status, reason, strategy, unit (of the metric), several (metrics),
-- altered (reader.lua) }.
function run.data(metric, history, walk, facts)
  local self = new(metric, history)
  local ok, message, code = walk(function(line) see(self, line) end, fields)
  if not ok then return nil, message, code end
  self.axis, self.values = axis(self, history.best and history.best.value), nil
  choose_rows(self)
  choose_columns(self)
  self.has_cells = self.cells:begin()
  ok, message, code = walk(function(line, at) take(self, line, at) end)
  if not ok then return nil, message, code end
  return page_data(self, facts)
end

return run
