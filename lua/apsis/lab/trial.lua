-- trial: one strategy on one world with one seed, through the engine, to its end: what happened, as plain data. Called by the
-- campaign, in whatever process it runs.
local contract = require "apsis.engine.strategy"
local journal = require "apsis.engine.journal"
local loop = require "apsis.engine.loop"
local worlds = require "apsis.lab.world"

local trial = {}

-- run{ strategy = {use=, options=, dir=}, definition, seed, evaluations, workers, limits } -> record | nil, message. The record:
-- { seed, direction, target, reason, experiments, evaluations, hit (the evaluation at which the best was truly as good as the
-- target, nil where it never was), baseline, best (its true value), observed, curve = { {evaluation, true value of the best}... },
-- kept, measured, false_keeps (nil without noise), outcomes, operators = { NAME = {count, improved} }, seconds, tokens, cost }
function trial.run(spec)
  local strategy, message = contract.load(spec.strategy)
  if not strategy then return nil, message end
  local definition, workers = spec.definition, spec.workers or 1
  local world = worlds.new(definition, spec.seed, workers)
  local module, noisy = definition.module, definition.options.noise ~= "none"
  local limits = { measurements = spec.evaluations - 1, iterations = spec.evaluations - 1 }
  for kind, limit in pairs(spec.limits or {}) do limits[kind] = limit end
  local engine = loop.new { strategy = strategy, world = world, journal = journal.memory(),
    metric = { name = module.metric or definition.name, direction = module.direction, target = not noisy and world.lab.target or nil },
    seed = spec.seed, name = definition.name, workers = workers, budget = limits,
    project = { name = definition.name, provider = "lab", files = { writable = { "genome" } } } }
  world.history = engine.history
  local record = { seed = spec.seed, direction = engine.metric.direction, target = world.lab.target, curve = {}, operators = {} }
  function world.progress(_, _, line, led)
    if not led then return end
    local truth = world:truth(engine.history.best)
    record.curve[#record.curve + 1] = { world.evaluations, truth }
    if not record.hit and record.target and engine.metric:reaches(truth, record.target) then record.hit = world.evaluations end
    return line
  end
  assert(engine:fold())
  assert(engine:baseline(0))
  local ended
  ended, message = engine:run { run_number = 1 }
  if not ended then return nil, message end
  local history = engine.history
  record.reason, record.experiments, record.evaluations = ended.reason, history.count - 1, world.evaluations
  record.baseline, record.best, record.observed = world:truth(history.baseline), world:truth(history.best), history.best.value
  record.outcomes, record.kept = history.outcomes, history.outcomes.kept or 0
  record.seconds, record.tokens, record.cost = world.clock, history.totals.tokens, history.totals.usd
  return record
end

return trial
