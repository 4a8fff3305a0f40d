-- trial: the run of a project as the lab has a trial's record (lab/trial.lua), so that what the lab knows of several
-- trials it knows of several runs: the best so far by evaluations, which are the measurements since the baseline that
-- counts. Figures of the whole run are the history's.
local folds = require "apsis.view.fold"

local trial = {}

local fields = { measurements = true, seed = true }
for name in pairs(folds.fields) do fields[name] = true end

-- How many measurements a line took; old journals do not say.
local function measurements(line) return line.measurements or line.primary_metric and 1 or 0 end

-- Adds a line of what counts to the staircase of the best.
local function climb(record, line)
  record.evaluations = record.evaluations + measurements(line)
  local last, best = record.curve[#record.curve], line.best
  if type(best) == "number" and not (last and last[2] == best) then
    record.curve[#record.curve + 1] = { math.max(1, record.evaluations), best }
  end
  record.seed = line.seed or record.seed
end

local function by_name(list)
  local map = {}
  for _, one in ipairs(list) do
    map[one.name] = { count = one.count, kept = one.kept, improved = one.improved }
  end
  return map
end

-- of(history, status) -> record, with `strategies`, the names of those that planned | nil, message if the journal
-- cannot be read. history: folded, with a line or more; status: in words.
function trial.of(history, status)
  local metric, fold, outcomes = history.metric, folds.new(history), history.outcomes
  local record = { seed = 1, curve = {}, evaluations = 0, direction = metric.direction, metric = metric.name,
    target = metric.target, reason = status, best = history.best and history.best.value,
    baseline = history.baseline and history.baseline.value, outcomes = outcomes, kept = outcomes.kept or 0,
    experiments = history.count - (outcomes.baseline or 0), measured = outcomes.measured or 0 }
  local ok, message = history.source:each(function(line, index)
    if index > history.count then return false end
    fold:add(line, index)
    if index >= history.began then climb(record, line) end
  end, fields)
  if not ok and fold.read_to < history.count then return nil, message end
  record.operators, record.strategies = by_name(fold.operators), fold.strategies
  record.seconds, record.tokens, record.cost = fold.spent.s, fold.spent.tokens, fold.spent.usd
  return record
end

return trial
