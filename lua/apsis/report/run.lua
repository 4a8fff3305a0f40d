-- run: the data of a run's page, from its journal's lines: columns by experiment, spending, lineage, grid, best. Plain
-- data; the same lines give the same data. Reads no file: the caller passes the lines, twice. The first time they are
-- folded (view/fold.lua); then it is known which ones the page shows, and these are taken the second time. So of a
-- journal of a million lines a few numbers each are held.
local cells = require "apsis.report.cells"
local direction = require "apsis.direction"
local folds = require "apsis.view.fold"
local headline = require "apsis.view.headline"
local healths = require "apsis.view.health"
local json = require "apsis.json"
local lineage = require "apsis.report.lineage"
local paths = require "apsis.view.path"
local ranking = require "apsis.view.ranking"

local run = {}

local Run = {}
Run.__index = Run

local BEST, REJECTED, TITLE, TITLES = 20, 10, 160, 3000
local MOST, MOST_KEPT = 20000, 5000 -- lines in the columns; kept ones among them if they are not all there
local STEPS = 60 -- to the best: the greatest
local NAMES, CRASHES = 8, 10 -- of the search's health

-- what is read of each line the first time
local fields = { parents = true }
for name in pairs(folds.fields) do fields[name] = true end

-- and the second time
local shown_fields = {}
for name in ([[experiment outcome candidate primary_metric best operator parents notes description
hypothesis]]):gmatch "%S+" do shown_fields[name] = true end

local was_kept = folds.was_kept

local function new(metric, history)
  return setmetatable({ metric = metric, history = history, count = 0, fold = folds.new(history),
    earlier = 0, -- columns of lines that are not compared
    lineage = lineage.new(function(number) return history:line_of(number) end), cells = cells.new(metric),
    columns = { number = {}, value = {}, outcome = {}, operator = {}, best = {}, parents = {} }, rows = {}, place = {},
    titles = {}, titled = 0 }, Run)
end

local function text_of(value, most)
  if type(value) ~= "string" then return nil end
  local from = utf8.len(value) and utf8.offset(value, most + 1)
  return from and value:sub(1, from - 1) .. "..." or value:sub(1, 4 * most)
end

local function numbers_of(parents)
  local list = {}
  for index, id in ipairs(parents or {}) do
    list[index] = math.tointeger(tonumber(tostring(id):match "^c(%d+)$")) or -1
  end
  return list
end

-- Whether a line can be compared with the best: those from the newest baseline that began anew on.
local function is_compared(self, at)
  return at >= self.history.began
end

-- ---- the first time ----

local function cell_of(line)
  if not ranking.is_whole(line) then return nil end
  local notes = type(line.notes) == "table" and line.notes or {}
  return { id = line.candidate, value = line.primary_metric, cell = notes.cell,
    features = type(notes.features) == "table" and notes.features or nil }
end

local function see(self, line)
  local at = self.count + 1
  self.count = at
  self.fold:add(line, at)
  self.lineage:add(line.candidate and line.experiment or nil, numbers_of(line.parents), was_kept(line))
  local cell = is_compared(self, at) and cell_of(line)
  if cell then self.cells:see(cell) end
end

-- ---- what is shown ----

-- The greatest steps of the way to the best, in their order; how many are left out. nil if nothing was gained, or if
-- it began before the newest baseline that counts.
local function choose_steps(self)
  local way, base = paths.of(self.metric, self.history)
  if not way or #way == 0 or not way[1].share or not is_compared(self, self.history:line_of(base.experiment)) then
    return nil
  end
  local order, shown, left = table.move(way, 1, #way, 1, {}), {}, {}
  table.sort(order, function(a, b)
    if a.share ~= b.share then return a.share > b.share end
    return a.start < b.start
  end)
  for index = 1, math.min(STEPS, #order) do shown[order[index]] = true end
  for _, step in ipairs(way) do
    if shown[step] then
      step.at = self.history:line_of(step.record.experiment)
      left[#left + 1] = step
    end
  end
  return left, #way - #left
end

-- The candidates of the tables, best first: of all, or, if they are judged, of those kept, and the rejected; and the
-- steps to the best.
local function choose_rows(self)
  local ranked, judged = self.fold.ranking, self.fold.judged
  self.top = ranked:first(judged and "kept" or "all", BEST)
  self.rejected = judged and ranked:first("rejected", REJECTED) or {}
  self.steps, self.left_out = choose_steps(self)
  for _, list in ipairs { self.top, self.rejected, self.steps or {} } do
    for _, entry in ipairs(list) do self.rows[entry.at] = self.rows[entry.at] or entry end
  end
end

-- Every how many lines one is in the columns, of those that were kept and of the others.
local function choose_columns(self)
  local kept, few = self.history.outcomes.kept or 0, self.count <= MOST
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
  columns.number[index], columns.outcome[index] = line.experiment, self.fold:outcome_of(line)
  columns.value[index] = line.primary_metric or json.null
  columns.best[index] = type(line.best) == "number" and line.best or json.null
  columns.operator[index], columns.parents[index] = self.fold:operator_of(line), numbers_of(line.parents)
  local title = line.candidate and was_kept(line) and text_of(line.description or line.hypothesis, TITLE)
  if title and self.titled < TITLES then
    self.titles[tostring(line.experiment)], self.titled = title, self.titled + 1
  end
end

-- Why a candidate was not kept, if there is more than the outcome's name.
local function reason_of(line)
  if line.outcome == "kept" or line.outcome == "baseline" then return nil end
  local _, why = folds.verdict_of(line)
  local reason = type(why) == "string" and why or line.rollback_reason
  return reason ~= line.outcome and text_of(reason, TITLE) or nil
end

-- A row of the tables, of its record.
local function row_of(line)
  return { id = line.candidate, outcome = line.outcome, why = reason_of(line), operator = text_of(line.operator, 40),
    parents = line.parents or {}, lines = line.changed_lines, title = text_of(line.description or line.hypothesis,
      TITLE) }
end

local function take(self, line, at)
  if at > self.count then return end -- a run may append meanwhile
  if is_shown(self, line, at) then add_column(self, line, at) end
  local cell = self.has_cells and line.candidate and is_compared(self, at) and cell_of(line)
  if cell then self.cells:place(cell) end
end

local function rows_of(self, list, first)
  local rows = {}
  for index, entry in ipairs(list) do
    local row = {}
    for key, value in pairs(self.rows[entry.at]) do row[key] = value end
    row.value, row.gained = entry.value, first and self.metric:delta(entry.value, first)
    rows[index] = row
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
  if not self.steps then return nil end
  local list = {}
  for index, step in ipairs(self.steps) do
    local row = self.rows[step.at]
    list[index] = { id = step.id, value = step.value, gained = step.gained, start = step.start,
      share = step.share, title = row.title, lines = row.lines }
  end
  return { steps = json.array(list), left_out = self.left_out }
end

-- How the search went: who proposed what was kept, what failed, where the time went.
local function health_of(self)
  local health, shares = self.fold.health, {}
  for _, kind in ipairs(healths.kinds) do
    local list, count = health:shares(kind, NAMES)
    shares[#shares + 1] = { kind = kind, names = json.array(list), left_out = count - #list }
  end
  local crashes, several = health:crashes(CRASHES)
  return { shares = shares, candidates = health.candidates, duplicates = health.duplicates,
    unchanged = health.unchanged, failed = health.failed, crashes = json.array(crashes),
    crashes_left_out = several - #crashes, phases = next(health.phases) and health.phases or nil }
end

-- The columns of what was spent.
local function spend_of(self)
  local spend = { x = {}, tokens = {}, usd = {}, minutes = {} }
  for index, point in ipairs(self.fold.spend.points) do
    for kind, column in pairs(spend) do column[index] = point[kind] end
  end
  return spend
end

-- How many of how many lines the page has, if not all.
local function thinned(self)
  local shown = #self.columns.number
  return shown < self.count and { shown = shown, of = self.count } or nil
end

local function page_data(self, facts)
  local metric, history, fold = self.metric, self.history, self.fold
  local best, first = brief(history.best), brief(history.baseline)
  local experiments, spent = self.count - (history.outcomes.baseline or 0), fold.spent
  local axis = fold.curve:range()
  if axis then axis.focus = fold.curve:focus(best and best.value) end
  local gained = not (facts.several or fold.judged) and headline(metric, history, fold.since, facts.unit)
  return { headline = gained or nil, since = fold.since, unit = facts.unit,
    path = not facts.several and path_of(self) or nil,
    project = facts.project, description = facts.description, status = facts.status, reason = facts.reason,
    altered = facts.altered, strategy = facts.strategy, strategies = json.array(fold.strategies),
    began = history.began - 1, earlier = self.earlier, metric = metric.name, direction = metric.direction,
    words = metric:words(), target = metric.target, trust = facts.trust,
    experiments = experiments, kept = history.outcomes.kept or 0, baseline = first,
    best = best, gained = best and first and metric:delta(best.value, first.value),
    share = best and first and direction.percent_text(best.value, first.value),
    doubt = best and first and metric:doubt_text(history.best, history.baseline),
    gain = gain_of(history.gain), judged = fold.judged, thinned = thinned(self),
    columns = self.columns, titles = self.titles, axis = axis,
    operators = fold.operators, outcomes = fold.outcomes, health = health_of(self),
    totals = { tokens = spent.tokens, usd = spent.usd, minutes = spent.minutes, queued = spent.queued,
      measured = spent.measured }, spend = spend_of(self),
    lineage = self.lineage:plot(self.tree, function(at) return self.place[at] end),
    grid = self.has_cells and self.cells:picture() or nil, top = rows_of(self, self.top, first and first.value),
    rejected = rows_of(self, self.rejected) }
end

-- data(metric, history, walk, facts) -> the argument of page.run | nil, message, code. history: the folded one; walk(
-- visit, fields): calls visit(line, at) for every line in order, at counting from 1, and returns true, or nil, message,
-- code; facts: { project, description, status, reason, strategy, unit (of the metric), several (metrics),
-- trust (view/trust.lua), altered (reader.lua) }.
function run.data(metric, history, walk, facts)
  local self = new(metric, history)
  local ok, message, code = walk(function(line) see(self, line) end, fields)
  if not ok then return nil, message, code end
  choose_rows(self)
  choose_columns(self)
  self.has_cells = self.cells:begin()
  ok, message, code = walk(function(line, at) take(self, line, at) end, shown_fields)
  if not ok then return nil, message, code end
  for at in pairs(self.rows) do self.rows[at] = row_of(history:at(at)) end
  return page_data(self, facts)
end

return run
