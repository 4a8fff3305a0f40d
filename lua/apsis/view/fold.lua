-- fold: what the faces show of a run beside what its history knows (core/history.lua): the curve, the ranking, the
-- health of the search, who proposed and how it ended, what was spent. Each line of the journal is added once; the work
-- for one does not depend on how many there are.
local curves = require "apsis.view.curve"
local health = require "apsis.view.health"
local rankings = require "apsis.view.ranking"
local series = require "apsis.view.series"

local fold = {}

local Fold = {}
Fold.__index = Fold

local SPENDS <const> = 400 -- points of what was spent
local AT_A_TIME <const> = 500

-- what is read of each line
fold.fields = {}
for name in ([[experiment outcome candidate primary_metric best operator improved model tokens cost seconds machines
acceptance notes strategy trace rollback_reason phases]]):gmatch "%S+" do fold.fields[name] = true end

local none = {}

local function later(_, other) return other end

-- history: folded as far as the lines that are added, or further.
function fold.new(history)
  return setmetatable({ history = history, read_to = 0, since = 0, outcomes = {}, operators = {}, strategies = {},
    index = { outcome = {}, operator = {}, strategy = {} },
    curve = curves.new(), ranking = rankings.new(history), health = health.new(), judged = false,
    spend = series.new(SPENDS, later),
    spent = { x = 0, tokens = 0, usd = 0, s = 0, queue_s = 0, run_s = 0, minutes = 0, queued = 0, measured = 0 },
  }, Fold)
end

-- The index (from 0) of a name in a list, added if it is new.
local function place_of(self, list, kind, name)
  local index = self.index[kind]
  if not index[name] then
    list[#list + 1] = { name = name, count = 0, kept = 0, improved = 0 }
    index[name] = #list
  end
  return index[name] - 1
end

function Fold:outcome_of(line) return place_of(self, self.outcomes, "outcome", line.outcome) end

-- Whether a line has an operator that counts; -1 stands for none: that involves no new proposal.
function Fold:operator_of(line)
  if type(line.operator) ~= "string" or line.outcome == "baseline" or not line.candidate then return -1 end
  return place_of(self, self.operators, "operator", line.operator)
end

function fold.was_kept(line)
  return line.outcome == "kept" or line.outcome == "baseline" and line.primary_metric ~= nil
end

-- The decision of acceptance under noise, or of the strategy's own hooks: "kept" or "rejected", and why; nil without
-- one.
function fold.verdict_of(line)
  local shown = type(line.acceptance) == "table" and line.acceptance or {}
  if type(shown.verdict) == "string" then return shown.verdict, shown.why end
  local judged = type(line.notes) == "table" and type(line.notes.acceptance) == "table"
  if not judged or not rankings.is_whole(line) or line.outcome == "baseline" then return nil end
  return line.outcome == "kept" and "kept" or "rejected"
end

local function count_names(self, line)
  local outcome, operator = self.outcomes[self:outcome_of(line) + 1], self.operators[self:operator_of(line) + 1]
  outcome.count = outcome.count + 1
  if operator then
    local kept = line.outcome == "kept"
    operator.count, operator.kept = operator.count + 1, operator.kept + (kept and 1 or 0)
    operator.improved = operator.improved + (kept and line.improved and 1 or 0)
  end
  local name = line.strategy -- who planned, in order of appearance
  if line.outcome == "baseline" or type(name) ~= "string" or self.index.strategy[name] then return end
  self.index.strategy[name] = true
  self.strategies[#self.strategies + 1] = name
end

local function add_spend(self, line)
  local machines, spent = line.machines or none, self.spent
  spent.x = math.max(spent.x, line.experiment) -- lines are in the order in which experiments ended
  spent.tokens, spent.usd = spent.tokens + (line.tokens or 0), spent.usd + (line.cost or 0) + (machines.usd or 0)
  spent.s = spent.s + (type(line.seconds) == "number" and line.seconds or 0)
  spent.queue_s, spent.run_s = spent.queue_s + (machines.queue_s or 0), spent.run_s + (machines.run_s or 0)
  spent.minutes, spent.queued, spent.measured = spent.s / 60, spent.queue_s / 60, spent.run_s / 60
  local point = self.spend:next()
  for kind, sum in pairs(spent) do point[kind] = sum end
end

-- Adds the line at this place of the journal. Lines before the newest `baseline --again` are only counted: nothing is
-- compared with them.
function Fold:add(line, at)
  self.read_to = at
  count_names(self, line)
  add_spend(self, line)
  self.health:add(line)
  if line.candidate then self.judged = self.judged or fold.verdict_of(line) ~= nil end
  if at < self.history.began then return end
  if at == self.history.began then self.since = 0 end
  if line.outcome ~= "baseline" then self.since = self.since + 1 end
  self.curve:add(line.outcome, line.primary_metric, line.best)
  self.ranking:add(line, at)
  for _, entry in ipairs(line.trace or none) do self.ranking:again(entry.id) end
end

-- A coroutine that adds the lines of the folded journal that were not added yet, some at a time; it ends with nil, or
-- with why the journal cannot be read.
function Fold:reading()
  return coroutine.create(function()
    local some, last = 0, self.history.count
    local ok, message = self.history.source:each(function(line, index)
      if index > last then return end
      self:add(line, index)
      some = some + 1
      if some % AT_A_TIME == 0 then coroutine.yield(true) end
    end, fold.fields, self.read_to + 1)
    return not ok and message or nil
  end)
end

return fold
