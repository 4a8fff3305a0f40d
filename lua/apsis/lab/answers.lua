-- answers: a recorded run's answers to proposals: puts itself into the lab's world, so that experiments end as the
-- journal reports, in the order of its lines, each plan seeing as many of them as the recorded one had. Ends the run
-- where the recording has no answer. Reads the journal and, where a strategy asks for a candidate's files, git; writes
-- nothing. Called by worlds/replay.
local fs = require "apsis.fs"
local git = require "apsis.git"
local journal = require "apsis.core.journal"
local json = require "apsis.json"
local recordings = require "apsis.core.recording"
local stats = require "apsis.stats"

local answers = {}

-- What the run was measured by, beside name and direction: as its first baseline noted it; empty if that is gone.
local function configured(dir)
  local noted = json.decode(fs.read(dir .. "/runs/0000_baseline/env.json") or "null")
  local configuration = type(noted) == "table" and noted.configuration
  return type(configuration) == "table" and configuration or {}
end

local function number(value)
  return type(value) == "number" and value or nil
end

-- open(dir) -> { lines = { [experiment] = line }, at = { [experiment] = its place }, seen = { [experiment] = lines
-- folded by its plan }, baseline, last, workers, direction, metric, target, measure_by, dir } | nil, message. workers:
-- how many the run had, as far as its plans say.
function answers.open(dir)
  local path = dir .. "/logs/results.jsonl"
  if not fs.stat(path) then
    return nil, ("option dir: no journal at %s: dir is the project of a recorded run"):format(path)
  end
  local self = { lines = {}, at = {}, seen = {}, last = 0, workers = 1, dir = dir, gated = false, answered = false }
  local ok, message = journal.reader(path):each(function(line, at)
    local experiment = line.experiment
    self.lines[experiment], self.at[experiment], self.seen[experiment] = line, at, line.seen
    self.last, self.gated = math.max(self.last, experiment), self.gated or line.gate ~= nil
    self.answered = self.answered or line.approval ~= nil
    self.workers = math.max(self.workers, type(line.context) == "table" and math.tointeger(line.context.free) or 1)
  end)
  if not ok then return nil, message end
  local first, configuration = self.lines[0], configured(dir)
  if not first or first.outcome ~= "baseline" or not first.primary_metric then
    return nil, ("option dir: the first baseline in %s has no measurement: give the project of another run"):format(
      path)
  end
  local metric = type(configuration.metric) == "table" and configuration.metric or {}
  self.baseline, self.direction, self.metric = first, first.direction, first.metric or metric.name
  self.target = number(metric.target)
  self.measure_by = { tie_breaker = metric.tie_breaker, metrics = configuration.metrics,
    epsilon = number(metric.epsilon), min_pass = number(metric.min_pass), max_pass = number(metric.max_pass),
    pareto = type(metric.pareto) == "table" and metric.pareto or nil }
  return self
end

-- ---- the answers ----

local measured = { kept = true, reverted_worse_metric = true, reverted_rejected = true,
  reverted_threshold_failure = true, reverted_stage_failure = true, reverted_gate_failure = true,
  reverted_not_approved = true,
  skipped_verification_crash = true, skipped_executor_failure = true }

-- What may be why a run does not go as recorded: another number of workers. "" where it is the same.
local function hint(world)
  local workers = world.recorded.workers
  if world.workers == workers then return "" end
  return ("; it was recorded with %d worker%s: --workers %d"):format(workers, workers == 1 and "" or "s", workers)
end

-- Why the recording has no answer to a slot's proposal; nil if it has.
local function refusal(recorded, slot)
  local experiment = slot.number
  local line = recorded.lines[experiment]
  if not line then return ("the recording ends after experiment %d"):format(recorded.last) end
  local before = ("the recording cannot be followed from experiment %d on: "):format(experiment)
  if line.outcome == "baseline" then return before .. "the project was measured again there" end
  if line.outcome == "skipped_strategy_error" and not (line.proposal and line.primary_metric) then
    return before .. "an error in the strategy is recorded there"
  end
  local plan = line.plan or line.proposal
  if not recordings.same(slot.proposal, plan) then return recordings.no_answer(experiment, slot.proposal, plan) end
end

-- Ends the run at an experiment: what was in flight before finishes and nothing is planned any more; the experiment
-- that has no answer gets no line, and the call does not return.
local function finish(world, experiment, reason)
  if not world.ended then world.ended, world.ended_at = reason, experiment end
  world.engine.stopping = world.ended
  world.scheduler:park({})
end

-- The recorded line of a slot, when its turn has come. Does not return if there is none.
local function turn(world, slot)
  local recorded, experiment = world.recorded, slot.number
  local line = recorded.lines[experiment]
  if world.turned[experiment] then return line end
  local why = refusal(recorded, slot)
  if why and line then why = why .. hint(world) end
  if why or world.ended and experiment > world.ended_at then finish(world, experiment, why) end
  world.turned[experiment], world.newest = true, math.max(world.newest, experiment)
  local token = {}
  local at = line.approval and 0 or recorded.at[experiment] -- one that waited for a person was measured before
  world.events[#world.events + 1] = { at = at, due = world.clock + (line.seconds or 0), token = token }
  world.scheduler:park(token)
  return line
end

-- What measuring a line's candidate for the first time gave.
local function first_measurement(world, line)
  world.truths[line.experiment] = line.primary_metric
  local metrics = {}
  for name, value in pairs(line.secondary_metrics or {}) do metrics[name] = value end
  local result = { status = "ok", stage = line.stage or 1, metrics = metrics, items = line.items,
    reason = line.rollback_reason }
  if line.outcome == "skipped_verification_crash" then result.status = "crash"
  elseif line.outcome == "skipped_executor_failure" then result.status = "unmeasured"
  elseif line.outcome == "reverted_stage_failure" then result.status = "stopped"
  elseif line.primary_metric then
    result.samples = recordings.first_samples(line)
    result.value = stats.median(result.samples)
    metrics[world.recorded.metric or "value"] = result.value
  end
  return result
end

-- What measuring a candidate again gave in this experiment; does not come back where it was not.
local function next_sample(world, line, record, request)
  for index, entry in ipairs(line.trace or {}) do
    local key = line.experiment .. ":" .. index
    if entry.id == record.id and not entry.repaired and not world.given[key] then
      world.given[key] = true
      return { status = "ok", stage = request.stage or 1, value = entry.value, samples = { entry.value }, metrics = {} }
    end
  end
  finish(world, line.experiment,
    ("the recording cannot be followed from experiment %d on: this strategy asks to measure %s again%s"):format(
    line.experiment, record.id, hint(world)))
end

local methods = {}

function methods.propose(world, slot)
  local line = turn(world, slot)
  return { { edits = {}, tokens = line.tokens or 0, cost = line.cost or 0, hypothesis = line.hypothesis,
    description = line.description, model = line.model } }
end

function methods.ask(world, slot)
  local line = turn(world, slot)
  local failed = line.outcome ~= "asked" and line.rollback_reason or nil
  return { text = line.answer, error = failed, tokens = line.tokens or 0, cost = line.cost or 0 }
end

-- What a candidate that was repaired brings along: its version before is not judged here again, but what was measured
-- of others meanwhile counts.
local function bring_along(slot, line)
  slot.fix_attempts = line.fix_attempts
  for _, entry in ipairs(line.fix_attempts and line.trace or {}) do
    slot.trace = slot.trace or {}
    if entry.repaired then
      table.insert(slot.trace, { id = entry.id, value = entry.value, was = entry.was, repaired = true })
    end
  end
end

function methods.commit(world, slot)
  local line = turn(world, slot)
  if not measured[line.outcome] and not line.primary_metric then return nil, line.outcome, line.rollback_reason end
  bring_along(slot, line)
  return { commit = journal.id(slot.number), changed_lines = line.changed_lines }
end

function methods.commit_baseline(world, slot)
  local line = world.recorded.baseline
  return { commit = journal.id(slot.number), changed_lines = line.changed_lines or 0 }
end

function methods.verify(world, slot, record, request)
  local line = slot.number == 0 and world.recorded.baseline or turn(world, slot)
  world.evaluations = world.evaluations + 1
  if record.experiment == slot.number and not world.truths[slot.number] and not world.begun[slot.number] then
    world.begun[slot.number] = true
    return first_measurement(world, line)
  end
  return next_sample(world, line, record, request)
end

-- How the project's gate ended is recorded, not decided.
local function last_word(engine, slot)
  return function()
    local line = engine.world.recorded.lines[slot.number]
    slot.gate, slot.fix_attempts = line.gate, line.fix_attempts
    if line.outcome ~= "reverted_gate_failure" then return { outcome = "kept" } end
    return { outcome = line.outcome, reason = line.rollback_reason }
  end
end

-- The engine's hold: who waited for a person then waits now, until its line is the next.
local function hold_of(recorded)
  local hold = {}
  function hold.asks(_, slot) return recorded.lines[slot.number].approval and "waits" or nil end
  function hold.next(_, engine)
    for _, experiment in ipairs(engine:in_flight()) do
      local slot, line = engine.slots[experiment], recorded.lines[experiment]
      if slot.held and not slot.held.answer and recorded.at[experiment] <= engine.history.count + 1 then
        local kept = line.approval.answer == "keep"
        return { slot = slot, answer = { outcome = kept and "kept" or "reverted_not_approved", noted = line.approval,
          reason = not kept and line.rollback_reason or nil, text = "approved" } }
      end
    end
  end
  function hold.pause(_, engine)
    for _, experiment in ipairs(engine:in_flight()) do
      if engine.slots[experiment].held then finish(engine.world, experiment, "nothing else was recorded") end
    end
  end
  return hold
end

-- ---- order and time ----

-- Called when every experiment waits: those go on whose lines the next plan had seen, in the journal's order; at least
-- one.
function methods.advance(world)
  local events = world.events
  table.sort(events, function(a, b) return a.at < b.at end)
  if #events == 0 then
    if world.ended then error({ fatal = true, message = world.ended }, 0) end
    return false
  end
  local upto = math.max(events[1].at, world.recorded.seen[world.newest + 1] or 0)
  while events[1] and events[1].at <= upto do
    local event = table.remove(events, 1)
    world.clock = math.max(world.clock, event.due)
    world.scheduler:wake(event.token)
  end
  return true
end

-- A recorded run after another one starts over here too.
function methods.context(world, engine)
  if world.recorded.answered then engine.hold = engine.hold or hold_of(world.recorded) end
  local line = world.recorded.lines[world.newest + 1]
  if line and line.run and line.run ~= engine.run_number and #engine:in_flight() == 0 then
    engine.run_number = line.run
    engine.history:begin(line.run)
  end
end

-- ---- a candidate's files ----

-- The repository, the files that candidates changed, and the project's place in it; nil if there is no repository.
local function open_files(world)
  local files = world.files
  if files == nil then
    local recorded = world.recorded
    local repo = git.open(recorded.dir)
    local info = repo and repo:info()
    files = repo and { repo = repo, paths = {} } or false
    world.files = files
    local known, root = {}, info and info.workdir
    local place = root and fs.realpath(recorded.dir) or ""
    if files then
      files.prefix = root and place:sub(1, #root + 1) == root .. "/" and place:sub(#root + 2) .. "/" or ""
    end
    for _, line in pairs(files and recorded.lines or {}) do
      local changes = line.commit and line.commit ~= recorded.baseline.commit
        and repo:changes(recorded.baseline.commit, line.commit) or {}
      for _, change in ipairs(changes) do
        if not known[change.path] then files.paths[#files.paths + 1] = change.path end
        known[change.path] = true
      end
    end
    if files then table.sort(files.paths) end
  end
  return files or nil
end

local function commit_of(world, record)
  return world.recorded.lines[record.experiment].commit
end

function methods.read(world, record, path)
  local files = open_files(world)
  if not files then return nil end
  return (files.repo:read(commit_of(world, record), files.prefix .. (path or "")))
end

function methods.sources(world, record)
  local files, list = open_files(world), {}
  for _, path in ipairs(files and files.paths or {}) do
    local text = files.repo:read(commit_of(world, record), path)
    if text then list[#list + 1] = { path = path:sub(#files.prefix + 1), text = text } end
  end
  return list
end

-- Puts the recording into a world of the lab.
function answers.attach(world, recorded)
  world.recorded, world.newest, world.events = recorded, 0, {}
  world.turned, world.given, world.begun = {}, {}, {}
  for name, method in pairs(methods) do world[name] = method end
  if recorded.gated then world.last_word = last_word end
end

return answers
