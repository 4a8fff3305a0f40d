-- run_cases: replays a file of cases: apsis exec tests/run_cases.lua KIND FILE. Each line is one case; kinds are metric_lines,
-- direction, decide, selection and fitness. Says every case that fails, and ends with `N passed, N failed`.
local direction = require "apsis.direction"
local fs = require "apsis.fs"
local json = require "apsis.json"
local metric = require "apsis.metric"

local kinds = {}

local function same(a, b)
  if type(a) ~= "table" or type(b) ~= "table" then return a == b end
  for key, value in pairs(a) do if not same(value, b[key]) then return false end end
  for key in pairs(b) do if a[key] == nil then return false end end
  return true
end

local function number_of(value)
  if value == "nan" then return 0 / 0 elseif value == "inf" then return math.huge end
  return value
end

function kinds.metric_lines(case)
  local report = metric.scan(case.text)
  local near = {}
  for index, miss in ipairs(report.near_misses) do near[index] = miss.line end
  if not same(report.metrics, case.metrics) then return false, "metrics " .. json.encode(report.metrics) end
  if not same(near, case.near_misses) then return false, "near misses " .. json.encode(json.array(near)) end
  if case.samples and not same(report.samples, case.samples) then return false, "samples " .. json.encode(report.samples) end
  return true
end

local operations = {}

function operations.parse(case)
  local parsed = direction.parse(case.given)
  if case.error then return parsed == nil, tostring(parsed) end
  return parsed == case.expect, tostring(parsed)
end

function operations.improves(case)
  local made = direction.new { direction = case.direction, epsilon = case.epsilon }
  local got = made:better(number_of(case.new), number_of(case.best))
  return got == case.expect, tostring(got)
end

function operations.reached(case)
  local got = direction.new { direction = case.direction, target = case.target }:reached(case.best)
  return got == case.expect, tostring(got)
end

function operations.delta(case)
  local got = direction.delta_text(direction.new { direction = case.direction }:delta(case.new, case.best))
  return got == case.text, got
end

function kinds.direction(case)
  local operation = operations[case.op]
  if not operation then return false, "no operation " .. tostring(case.op) end
  return operation(case)
end

-- A decision through the engine itself: a baseline with the best value, then one candidate with the new one.
function kinds.decide(case)
  local decide = require "apsis.core.decide"
  local history = require "apsis.core.history"
  local contract = require "apsis.core.strategy"
  local run = require "apsis.core.run"
  local made = direction.new { name = "m", direction = case.direction, epsilon = case.epsilon, min_pass = case.min_pass,
    max_pass = case.max_pass }
  local lines = {}
  local folded = history.new(made, { read = function(_, index) return lines[index] end })
  if case.best then
    lines[1] = { experiment = 0, candidate = "c0000", outcome = "baseline", primary_metric = case.best,
      changed_lines = case.best_changed_lines }
    assert(folded:add(lines[1]))
  end
  local engine = { strategy = assert(contract.load { use = "hillclimb" }), metric = made, history = folded, tie_breaker = "changed_loc",
    objections = {} }
  local slot = { view = run.view(engine, 1, 0), value = case.new }
  local candidate = { id = "c0001", value = case.new, changed_lines = case.changed_lines, samples = { case.new } }
  slot.candidate = candidate
  local outcome, reason = decide.candidate(engine, slot, candidate, { status = "ok" })
  if outcome ~= case.outcome then return false, ("%s (%s)"):format(outcome, reason or "") end
  if case.retained then
    assert(folded:add { experiment = 1, candidate = "c0001", outcome = outcome, primary_metric = case.new,
      changed_lines = case.changed_lines })
    return folded.best.retained == case.retained, "retained " .. tostring(folded.best.retained)
  end
  return true
end

function kinds.selection(case)
  local selection = require "apsis.selection"
  local made = direction.new { direction = case.direction }
  local got = selection.probabilities(case.rule, { scores = case.scores, children = case.children }, made, { alpha = case.alpha })
  for index, expected in ipairs(case.expect) do
    if not got[index] or math.abs(got[index] - expected) > 1e-6 then return false, json.encode(got) end
  end
  return #got == #case.expect, json.encode(got)
end

local marks = {}

function marks.tests(case, fitness) return fitness.tests(case.passed, case.total) end
function marks.lint(case, fitness) return fitness.reduction(case.current, case.baseline, case.op) end
marks.typecheck = marks.lint
function marks.benchmark(case, fitness) return fitness.benchmark(case.value, case.baseline, case.direction) end
function marks.composite(case, fitness) return fitness.composite(case.components) end
function marks.aggregate(case, fitness) return fitness.aggregate(case.scores) end
function marks.staged(case, fitness) return fitness.staged(case.raw, case.staged_samples, case.full_samples) end
function marks.staged_gate(case, fitness) return fitness.staged_gate(case.score) end
function marks.staged_size(case, fitness) return fitness.staged_size(case.items) end
function marks.normalize(case, fitness) return fitness.normalize(case) end
function marks.rubric(case, fitness) return fitness.rubric(case.dimensions) end

function kinds.fitness(case)
  if not marks[case.op] then return false, "no operation " .. tostring(case.op) end
  local got, warning = marks[case.op](case, require "apsis.fitness")
  if case.warn and not warning then return false, tostring(got) .. " without a warning" end
  if type(got) == "number" and type(case.expect) == "number" then return math.abs(got - case.expect) < 1e-6, tostring(got) end
  return got == case.expect, tostring(got)
end

local choices = {}

function choices.vc(case, trajectory) return trajectory.vc(case.confidences) end
function choices.score(case, trajectory) return trajectory.score(case.confidences, case.tokens) end
function choices.select(case, trajectory) return (trajectory.select(case.pool)) end
function choices.consistent(case, trajectory) return (trajectory.consistent(case.answers)) end
function choices.budget(case, trajectory) return trajectory.budget(case) end
function choices.gate(case, trajectory) return trajectory.gate(case) end

function kinds.trajectory(case)
  if not choices[case.op] then return false, "no operation " .. tostring(case.op) end
  local ok, got = pcall(choices[case.op], case, require "apsis.trajectory")
  if case.error then return not ok, ok and "no error" or "" end
  if not ok then return false, got end
  if case.tol then return type(got) == "number" and math.abs(got - case.expect) <= case.tol, tostring(got) end
  return json.encode(got) == json.encode(case.expect), json.encode(got)
end

local kind, path = ...
if not kinds[kind] or not path then
  io.stderr:write("usage: apsis exec tests/run_cases.lua metric_lines|direction|decide|selection|fitness|trajectory FILE\n")
  return 2
end
local passed, failed = 0, 0
for line in assert(fs.read(path)):gmatch("[^\n]+") do
  local ok, got = kinds[kind](assert(json.decode(line, true)))
  if ok then passed = passed + 1
  else
    failed = failed + 1
    print(("case %d: got %s: %s"):format(passed + failed, tostring(got), line:sub(1, 300)))
  end
end
print(("%d passed, %d failed"):format(passed, failed))
return failed == 0 and 0 or 1
