-- trial: one strategy on one world with one seed, through the engine, to its end: what happened, as plain data.
local contract = require "apsis.core.strategy"
local json = require "apsis.json"
local loop = require "apsis.core.loop"
local listed = require "apsis.core.listed"
local worlds = require "apsis.lab.world"

local trial = {}

local POINTS = 50 -- how often the islands and cells are counted in a run

-- Counts the islands and cells that strategies give in their notes.
local function count_place(self, notes)
  local island, cell = notes.island, notes.cell
  if type(island) == "string" or type(island) == "number" then
    local name = self.labels[island]
    if not name then
      name = tostring(island)
      self.labels[island], self.names[#self.names + 1] = name, not self.sizes[name] and name or nil
    end
    self.sizes[name] = (self.sizes[name] or 0) + 1
  end
  local key = type(cell) == "table" and json.encode(cell) or cell
  if key ~= nil and not self.cells[key] then
    self.cells[key], self.occupied = true, self.occupied + 1
  end
end

local function note_places(self, record, evaluation)
  if evaluation < self.next_point then return end
  self.next_point = evaluation + self.every
  if #self.names > 0 then
    local sizes = {}
    for _, name in ipairs(self.names) do sizes[name] = self.sizes[name] end
    record.islands = record.islands or {}
    table.insert(record.islands, { evaluation, sizes })
  end
  if self.occupied > 0 then
    record.cells = record.cells or {}
    table.insert(record.cells, { evaluation, self.occupied })
  end
end

-- The best changed: what it is truly worth, and whether the run's best was truly better before.
local function note_best(record, world, engine, noisy)
  local truth = world:truth(engine.history.best)
  local curve = record.curve
  local before = curve[#curve]
  if noisy and before and not engine.metric:better(truth, before[2]) then
    record.false_keeps = record.false_keeps + 1
  end
  curve[#curve + 1] = { world.evaluations, truth, world.clock, engine.history.totals.usd }
  if not record.hit and record.target and engine.metric:reaches(truth, record.target) then
    record.hit = world.evaluations
  end
end

-- What was judged under noise: candidates truly better than the best of the time, and the others.
local function note_judged(record, world, engine, line, best)
  local better = engine.metric:better(world:truth(line), world:truth(best))
  local noted = record.judged[better and "better" or "others"]
  noted.count, noted.measurements = noted.count + 1, noted.measurements + (line.measurements or 1)
  if line.acceptance.verdict == "kept" then noted.kept = noted.kept + 1 end
end

-- What is counted with its reason, and as what.
local failures = { skipped_provider_failure = "answer", skipped_verification_crash = "crash",
  skipped_not_selected = "not_selected", skipped_duplicate = "duplicate", skipped_no_change = "no_change",
  skipped_executor_failure = "executor" }
local reason_bytes <const> = 200

-- The first line, and no more of it than a record should hold; cut between letters.
local function shortened(reason)
  reason = tostring(reason):match "^[^\n]*"
  if #reason <= reason_bytes then return reason end
  local stop = reason_bytes
  while stop > 0 and reason:find("^[\x80-\xBF]", stop + 1) do stop = stop - 1 end
  return reason:sub(1, stop) .. "..."
end

-- A proposal without an answer, or a crash: how many there were, and the first one's reason.
local function note_failure(record, kind, reason)
  record.failures = record.failures or {}
  local noted = record.failures[kind]
  if not noted then
    noted = { count = 0, reason = shortened(reason) }
    record.failures[kind] = noted
  end
  noted.count = noted.count + 1
end

local of_two = { crossover = true, migration = true }

-- Operators that the world, which lists those it knows, cannot do: { known, names = { [operator] = the name
-- under which that is counted }, record }. A world without a list may know any.
local function new_misfits(record, module)
  local known
  for _, name in ipairs(module.operators or {}) do
    known = known or {}
    known[name] = true
  end
  return { known = known, names = {}, record = record }
end

-- Asked once for each operator.
local function look_at(misfits, operator)
  local known = misfits.known
  if not known then return end
  if not known[operator] then misfits.names[operator] = operator
  elseif of_two[operator] then misfits.names[operator] = operator .. " with one parent" end
end

local function note_misfit(misfits, name)
  local record = misfits.record
  record.unknown_operators = record.unknown_operators or {}
  record.unknown_operators[name] = (record.unknown_operators[name] or 0) + 1
end

-- Of an operator that may be one: whether this proposal is.
local function is_misfit(misfits, proposal)
  if proposal.edits or proposal.measure or proposal.ask then return false end
  return not misfits.known[proposal.operator] or not proposal.parents[2]
end

-- Has the world count each line.
local function observe(record, world, engine, noisy, evaluations)
  local operators, misfits = record.operators, new_misfits(record, world.module)
  local misnamed = misfits.names
  local places = { sizes = {}, labels = {}, names = {}, cells = {}, occupied = 0, every = math.max(1,
    evaluations // POINTS), next_point = 0 }
  local function counts_of(operator)
    local counts = operators[operator]
    if not counts then
      counts = { count = 0, kept = 0, improved = 0 }
      operators[operator] = counts
      look_at(misfits, operator)
    end
    counts.count = counts.count + 1
    return counts
  end
  local best
  function world.publish(_, slot, line, led)
    local outcome = line.outcome
    if outcome ~= "baseline" then
      local proposal = slot.proposal
      local operator = proposal.operator
      local counts = counts_of(operator)
      if outcome == "kept" then
        counts.kept = counts.kept + 1
        if led then counts.improved = counts.improved + 1 end
      elseif failures[outcome] then
        note_failure(record, failures[outcome], line.rollback_reason)
      end
      if misnamed[operator] and is_misfit(misfits, proposal) then note_misfit(misfits, misnamed[operator]) end
    end
    engine.elapsed_s = world.clock
    if slot.proposal.notes then
      count_place(places, line.notes)
      note_places(places, record, world.evaluations)
    end
    if noisy and line.acceptance and line.acceptance.verdict then note_judged(record, world, engine, line, best) end
    if led then
      best = line
      note_best(record, world, engine, noisy)
    end
  end
end

-- How many of the evaluations are the baseline's.
local function baseline_repeats(spec)
  return spec.acceptance and assert(require("apsis.acceptance").settings(spec.acceptance)).baseline or 1
end

local function new_engine(spec, strategy, world, noisy)
  local definition, module = spec.definition, spec.definition.module
  local limits = { measurements = math.max(1, spec.evaluations - baseline_repeats(spec)),
    iterations = spec.evaluations - 1 }
  for kind, limit in pairs(spec.limits or {}) do limits[kind] = limit end
  local by = world.lab.measure_by or {} -- what a recorded run was measured by
  local metric = { name = module.metric or definition.name, direction = module.direction, target = not noisy
    and world.lab.target or nil, epsilon = by.epsilon, min_pass = by.min_pass, max_pass = by.max_pass,
    pareto = module.pareto or by.pareto }
  local parts = {} -- each of several metrics can be compared alone
  for _, part in ipairs(metric.pareto or {}) do parts[part.name] = part end
  local engine = loop.new { strategy = strategy, world = world, metric = metric, seed = spec.seed,
    name = definition.name, journal = spec.journal or listed.new { forgets = spec.history == false },
    workers = world.workers, thresholds = world.lab.thresholds, budget = limits, acceptance = spec.acceptance,
    trajectory = spec.trajectory,
    metrics = by.metrics or parts, tie_breaker = by.tie_breaker,
    project = { name = definition.name, provider = "lab", files = { writable = { "genome" } } } }
  world.engine = engine
  return engine
end

-- open{ strategy = {use=, options=, dir=, prepare=} or loaded = a strategy, definition, seed, evaluations, workers,
-- limits, history, acceptance, trajectory, journal, logged = a list that gets the lines of run.log } -> an engine that
-- has folded nothing yet; nil, message.
function trial.open(spec)
  local strategy, message = spec.loaded, nil
  if not strategy then strategy, message = contract.load(spec.strategy) end
  if not strategy then return nil, message end
  local world = worlds.new(spec.definition, spec.seed, { workers = spec.workers,
    timed = (spec.limits or {}).minutes ~= nil, history = spec.history, logged = spec.logged })
  return new_engine(spec, strategy, world, spec.definition.options.noise ~= "none")
end

-- run(spec, engine) -> record | nil, message. spec: as of open; engine: if it is open already. The record: { seed,
-- direction, metric, target, reason, experiments, evaluations, hit (the evaluation at which the best was truly as good
-- as the target, nil if it never was), baseline, best (its true value), observed, curve = { {evaluation, true value of
-- the best, simulated seconds, cost}... }, kept, measured, false_keeps (nil without noise: how often a new best was
-- truly no better than the best before it; a candidate that was kept and did not become the best is not counted),
-- outcomes, operators = { NAME = {count, kept, improved} }, judged (with acceptance and noise: of candidates that truly
-- were better than the best, and of the others, how many there were, were kept, and what all of them took: { better =
-- {count, kept, measurements}, others }), gain (as confirmed at the end), islands, cells, seconds, tokens, cost,
-- failures (nil if there were none) = { answer = {count, reason = the first one's}, crash, not_selected, duplicate,
-- no_change, executor = the same }, unknown_operators (nil if there were none) = { [an operator that the world does not
-- know, or "crossover with one parent"] = how many proposals } }. unanswered (true: the run
-- ended as its world, a recorded run, had no answer any more). workers: if nil, the world's own number, mostly 1.
function trial.run(spec, engine)
  local message
  if not engine then engine, message = trial.open(spec) end
  if not engine then return nil, message end
  local definition, world = spec.definition, engine.world
  local noisy = definition.options.noise ~= "none"
  local record = { seed = spec.seed, direction = engine.metric.direction, metric = engine.metric.name,
    target = world.lab.target, curve = {}, operators = {}, false_keeps = noisy and 0 or nil }
  if noisy and spec.acceptance then
    record.judged = { better = { count = 0, kept = 0, measurements = 0 }, others = { count = 0, kept = 0,
      measurements = 0 } }
  end
  observe(record, world, engine, noisy, spec.evaluations)
  local ended
  ended, message = engine:fold()
  if ended then ended, message = engine:baseline(0) end
  if ended and not ended.record.value then
    return nil, ("%s: the baseline crashed: %s"):format(definition.name, ended.measurement.reason or "no value")
  end
  if ended then ended, message = engine:run { run_number = 1 } end
  if not ended and world.ended then ended = { reason = world.ended } end -- a world that has no answer any more
  if not ended then return nil, message end
  local history = engine.history
  record.reason, record.experiments, record.evaluations = ended.reason, history.count - 1, world.evaluations
  record.baseline = history.baseline and world:truth(history.baseline)
  record.best, record.observed = history.best and world:truth(history.best), history.best and history.best.value
  record.outcomes, record.kept, record.measured = history.outcomes, history.outcomes.kept or 0,
    history.outcomes.measured or 0
  record.seconds, record.tokens, record.cost = world.clock, history.totals.tokens, history.totals.usd
  record.observed_baseline = noisy and history.baseline and history.baseline.value or nil
  record.gain = history.gain
  record.interrupted, record.unanswered = ended.interrupted, world.ended and true or nil
  return record
end

return trial
