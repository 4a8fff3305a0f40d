-- beside: runs of projects side by side: what a campaign's page shows of trials, of what was recorded. Runs of one
-- strategy are taken as repetitions, and a metric as a world. No verdicts: budgets, seeds and machines may differ.
local direction = require "apsis.direction"
local history = require "apsis.core.history"
local journal = require "apsis.core.journal"
local json = require "apsis.json"
local measures = require "apsis.lab.measures"
local note = require "apsis.live.note"
local output = require "apsis.lab.output"
local reader = require "apsis.live.reader"
local rooms = require "apsis.core.rooms"
local standing = require "apsis.live.standing"
local trial = require "apsis.view.trial"

local beside = {}

local function words_of(status, reason)
  return type(reason) == "string" and reason ~= status and ("%s: %s"):format(status, reason) or status
end

-- Adds a run: { name, strategies, group, record, best (its id) }.
local function add(runs, name, group, folded, status)
  local record, message = trial.of(folded, status)
  if not record then return nil, message, 3 end
  local strategies = #record.strategies > 0 and table.concat(record.strategies, ", ") or "baseline only"
  runs[#runs + 1] = { name = name, strategies = strategies, group = group or strategies, record = record,
    best = folded.best and folded.best.id }
  return true
end

-- Adds the runs that a project has put away, oldest first.
local function add_earlier(runs, opened, group, each)
  for _, earlier in ipairs(rooms.first("earlier_runs", opened.home) or {}) do
    local lines = journal.reader(earlier.root .. "/logs/results.jsonl")
    local folded, last = history.new(opened.metric, lines, opened.manifest.own_branch), note.read(earlier.root)
    local label = ("%s, reset %s"):format(opened.manifest.project.name, earlier.name)
    local ok, message = folded:fold(lines)
    if ok and folded.count > 0 then
      ok, message = add(runs, label, each and label or group, folded, words_of("reset", last.reason))
    end
    if not ok then return nil, message end
  end
  return true
end

-- Adds a project's runs. source: { dir, group }; each: whether each run is a group of its own.
local function add_project(runs, source, each)
  local opened, message, code = reader.with_lines(source.dir)
  if not opened then return nil, message, code end
  local name, facts = opened.manifest.project.name, standing.now(opened)
  local ended, problem = add_earlier(runs, opened, source.group, each)
  if not ended then return nil, problem, 3 end
  return add(runs, name, each and name or source.group, opened.history, words_of(facts.status, facts.reason))
end

-- The campaign's matrix: an entry for each group on each metric, in the order of the runs.
local function matrix_of(runs)
  local matrix, entries, directions = {}, {}, {}
  for _, run in ipairs(runs) do
    local record = run.record
    local metric = record.metric
    directions[metric] = directions[metric] or record.direction
    run.world = record.direction == directions[metric] and metric or ("%s (%s)"):format(metric, record.direction)
    local key = run.world .. "\0" .. run.group
    if not entries[key] then
      entries[key] = { strategy = run.group, world = run.world, records = {} }
      matrix[#matrix + 1] = entries[key]
    end
    table.insert(entries[key].records, record)
  end
  return matrix
end

-- What counts as solved on each metric: the target of all its runs, or the best that any of them found. Returns the
-- metrics of the latter kind.
local function set_targets(runs)
  local worlds, found = {}, json.array()
  for _, run in ipairs(runs) do
    local world = worlds[run.world] or { target = run.record.target, runs = {} }
    worlds[run.world] = world
    world.target = world.target == run.record.target and world.target or nil
    world.runs[#world.runs + 1] = run.record
  end
  for name, world in pairs(worlds) do
    local metric, bests = direction.new { direction = world.runs[1].direction }, {}
    for index, record in ipairs(world.runs) do bests[index] = record.best or false end
    if not world.target then found[#found + 1] = name end
    local target = world.target or metric:better_of(metric:best_of(bests), nil)
    for _, record in ipairs(world.runs) do
      record.target, record.hit = target, nil
      for _, step in ipairs(target and record.curve or {}) do
        if not record.hit and metric:reaches(step[2], target) then record.hit = step[1] end
      end
    end
  end
  return found
end

-- The rows of the table of runs.
local function rows_of(runs)
  local rows = json.array()
  for index, run in ipairs(runs) do
    local record = run.record
    rows[index] = { name = run.name, strategies = run.strategies, group = run.group, world = run.world,
      seed = record.seed, id = run.best, best = record.best, baseline = record.baseline,
      experiments = record.experiments, kept = record.kept, evaluations = record.evaluations,
      status = record.reason, minutes = record.seconds / 60 }
  end
  return rows
end

-- of(sources, each) -> the argument of report's page.lab, with `runs` | nil, message, code. sources: { dir, group (a
-- name in place of the strategies') } each.
function beside.of(sources, each)
  local runs = {}
  for _, source in ipairs(sources) do
    local ok, message, code = add_project(runs, source, each)
    if not ok then return nil, message, code end
  end
  local matrix, plan = matrix_of(runs), { seeds = #runs, evaluations = 1, axis = "evaluations", grids = {},
    strategies = {} }
  local best_found, seen = set_targets(runs), {}
  for _, run in ipairs(runs) do
    plan.evaluations = math.max(plan.evaluations, run.record.evaluations)
    if not seen[run.group] then table.insert(plan.strategies, { label = run.group }) end
    seen[run.group] = true
  end
  local found = { matrix = matrix, seeds = #runs, comparisons = {}, overall = {}, rows = measures.rows(matrix, plan) }
  local data = output.page(plan, found)
  data.runs, data.best_found, data.ended, data.title = rows_of(runs), best_found, json.array(), "Runs side by side"
  return data
end

return beside
