-- trial: one strategy on one world with one seed, through the engine, to its end: what happened, as plain data. Called by the
-- campaign, in whatever process it runs.
local contract = require "apsis.engine.strategy"
local direction = require "apsis.direction"
local loop = require "apsis.engine.loop"
local memory = require "apsis.engine.memory"
local worlds = require "apsis.lab.world"

local trial = {}

local POINTS = 50 -- how often the islands and cells are counted in a run

-- Counts of where candidates went, for strategies that say so in their notes.
local function count_place(self, notes)
  local island, cell = notes.island, notes.cell
  if island ~= nil then
    local name = tostring(island)
    if not self.sizes[name] then self.names[#self.names + 1] = name end
    self.sizes[name] = (self.sizes[name] or 0) + 1
  end
  local key = type(cell) == "table" and table.concat(cell, ",") or cell
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
  if noisy and before and not engine.metric:better(truth, before[2]) then record.false_keeps = record.false_keeps + 1 end
  curve[#curve + 1] = { world.evaluations, truth }
  if not record.hit and record.target and engine.metric:reaches(truth, record.target) then record.hit = world.evaluations end
end

-- Has the world count each line.
local function observe(record, world, engine, noisy, evaluations)
  local operators = record.operators
  local places = { sizes = {}, names = {}, cells = {}, occupied = 0, every = math.max(1, evaluations // POINTS), next_point = 0 }
  function world.tally(_, operator, count)
    local counts = operators[operator]
    if not counts then
      counts = { count = 0, kept = 0, improved = 0 }
      operators[operator] = counts
    end
    counts.count = counts.count + count
    return counts
  end
  function world.publish(_, slot, line, led)
    local outcome = line.outcome
    if outcome ~= "baseline" then
      local counts = world:tally(slot.proposal.operator, 1)
      if outcome == "kept" then
        counts.kept = counts.kept + 1
        if led then counts.improved = counts.improved + 1 end
      end
    end
    engine.elapsed_s = world.clock
    if slot.proposal.notes then
      count_place(places, line.notes)
      note_places(places, record, world.evaluations)
    end
    if led then note_best(record, world, engine, noisy) end
  end
end

local function new_engine(spec, strategy, world, noisy)
  local definition, module = spec.definition, spec.definition.module
  local limits = { measurements = spec.evaluations - 1, iterations = spec.evaluations - 1 } -- the baseline is the first
  for kind, limit in pairs(spec.limits or {}) do limits[kind] = limit end
  local by = world.lab.measure_by or {} -- what a recorded run was measured by
  local metric = { name = module.metric or definition.name, direction = module.direction, target = not noisy and world.lab.target or nil,
    epsilon = by.epsilon, min_pass = by.min_pass, max_pass = by.max_pass }
  local engine = loop.new { strategy = strategy, world = world, metric = metric, seed = spec.seed, name = definition.name,
    journal = memory.new { metric = direction.new(metric), strategy = strategy.name, forgets = spec.history == false },
    workers = spec.workers or 1, budget = limits, metrics = by.metrics, tie_breaker = by.tie_breaker,
    project = { name = definition.name, provider = "lab", files = { writable = { "genome" } } } }
  world.engine = engine
  return engine
end

-- run{ strategy = {use=, options=, dir=}, definition, seed, evaluations, workers, limits, history } -> record | nil, message.
-- The record: { seed, direction, metric, target, reason, experiments, evaluations, hit (the evaluation at which the best was truly as
-- good as the target, nil where it never was), baseline, best (its true value), observed, curve = { {evaluation, true value of the
-- best}... }, kept, measured, false_keeps (nil without noise: new bests that were truly no better than the one before), outcomes,
-- operators = { NAME = {count, kept, improved} }, islands, cells, seconds, tokens, cost }
function trial.run(spec)
  local strategy, message = contract.load(spec.strategy)
  if not strategy then return nil, message end
  local definition, noisy = spec.definition, spec.definition.options.noise ~= "none"
  local world = worlds.new(definition, spec.seed, { workers = spec.workers, timed = (spec.limits or {}).minutes ~= nil,
    history = spec.history })
  local engine = new_engine(spec, strategy, world, noisy)
  local record = { seed = spec.seed, direction = engine.metric.direction, metric = engine.metric.name, target = world.lab.target,
    curve = {}, operators = {}, false_keeps = noisy and 0 or nil }
  observe(record, world, engine, noisy, spec.evaluations)
  local ended
  ended, message = engine:fold()
  if ended then ended, message = engine:baseline(0) end
  if ended then ended, message = engine:run { run_number = 1 } end
  if not ended and world.ended then ended = { reason = world.ended } end -- a world that has no answer any more
  if not ended then return nil, message end
  local history = engine.history
  record.reason, record.experiments, record.evaluations = ended.reason, history.count - 1, world.evaluations
  record.baseline = history.baseline and world:truth(history.baseline)
  record.best, record.observed = history.best and world:truth(history.best), history.best and history.best.value
  record.outcomes, record.kept, record.measured = history.outcomes, history.outcomes.kept or 0, history.outcomes.measured or 0
  record.seconds, record.tokens, record.cost = world.clock, history.totals.tokens, history.totals.usd
  record.interrupted = ended.interrupted
  return record
end

return trial
