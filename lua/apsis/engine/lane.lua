-- lane: the short way through an experiment, for worlds that answer at once: no task, no phases, no line put into words, for a
-- proposal that names an operator and one well-known parent and nothing else, by a strategy without select, stage and learn.
-- Hooks, contract and what is kept are the loop's; whatever turns out not to be plain goes on in the loop from where it stands.
-- Why there are two ways: what makes a line and a task of an experiment costs several times what such an experiment may. The
-- tests run both side by side. Called by loop.
local candidates = require "apsis.engine.candidate"
local guard = require "apsis.guard"

local lane = {}

local call, new_candidate = guard.call, candidates.new

-- Whether an engine's experiments may take it.
function lane.open_to(engine)
  local strategy, limits, metric = engine.strategy, engine.budget.limits, engine.metric
  return engine.world.quick and engine.plain_line and engine.workers == 1 and engine.run_number == 1
    and not (strategy.own.select or strategy.own.stage or strategy.hooks.learn or strategy.subs[1] or engine.models.arms
      or limits.minutes or engine.budget.estimates or metric.min_pass or metric.max_pass or next(engine.thresholds)
      or engine.metric_names[1] or engine.history.displaced)
end

-- What the lane works with: the one slot of its experiments, and what it has added up.
function lane.new(engine)
  return { plain = true, change = engine.world.made, metric_name = engine.metric.name, worse = 0, rejected = 0, operators = {},
    number = 0, proposal = nil, value = nil, candidate = nil, spare = nil, now = 0, parent = nil, view = nil, stage = 1 }
end

-- How many experiments may be done before the budget must be asked again.
function lane.stretch(engine, most)
  local held = engine.budget
  return math.min(held:left "iterations", held:left "measurements", most)
end

-- The one parent of a proposal that says nothing but it and an operator; nil where more is to be checked.
local function plain_parent(given, history)
  if type(given) ~= "table" or getmetatable(given) then return nil end
  for key in next, given do
    if key ~= "parents" and key ~= "operator" then return nil end
  end
  local parents = given.parents
  if type(parents) ~= "table" or type(given.operator) ~= "string" then return nil end
  local parent = parents[1]
  if parents[2] == nil and parent and (parent == history.best or parent == history.current or parent == history.baseline) then
    return parent
  end
end

-- What hooks read of the history most, put where it is read without a call.
local function show(fields, history)
  fields.best, fields.current, fields.baseline = history.best, history.current, history.baseline
  fields.since_kept, fields.since_best = history.since_kept, history.since_best
end

local function hide(fields)
  fields.best, fields.current, fields.baseline, fields.since_kept, fields.since_best = nil, nil, nil, nil, nil
end

-- Counts the experiments that the lane has only added up since the last time.
function lane.count(engine)
  local slot, history = engine.lane_slot, engine.history
  if slot.worse + slot.rejected == 0 then return end
  history:count_plain("reverted_worse_metric", slot.worse)
  history:count_plain("reverted_rejected", slot.rejected)
  slot.worse, slot.rejected = 0, 0
  for operator, count in next, slot.operators do
    engine.world:tally(operator, count)
    slot.operators[operator] = nil
  end
end

-- The candidate as accept sees it: the same table again where the last one was not kept.
local function candidate_of(slot, number, given, value)
  local made = slot.spare or new_candidate(slot)
  slot.number, slot.proposal, slot.value, slot.candidate, slot.spare = number, given, value, made, made
  made.experiment, made.value, made.id = number, value, nil
  return made
end

-- Puts down one that was kept. Returns whether the run goes on the short way.
local function keep_it(engine, slot, fields, value)
  local history, line, made = engine.history, engine.plain_line, slot.candidate
  lane.count(engine)
  line.experiment, line.outcome, line.primary_metric, line.best = slot.number, "kept", value, engine.metric:better_of(history.held, value)
  line.parents, line.operator, line.planned, line.seconds = { slot.parent.id }, slot.proposal.operator, slot.now,
    engine.world:now() - slot.now
  local record = engine.journal:append(line, made)
  local _, led = history:add(line, record)
  engine.lone, slot.spare = nil, nil
  engine.world:publish(slot, record, led)
  show(fields, history)
  return not (led and engine.metric:reached(history.best))
end

-- Puts down one that was not kept.
local function pass_by(engine, slot, fields, value)
  local history, operator = engine.history, slot.proposal.operator
  local number, index, outcome = slot.number, history.count + 1, "reverted_worse_metric"
  if engine.metric:beats(value, history.held) then
    outcome, slot.rejected = "reverted_rejected", slot.rejected + 1
  else
    slot.worse = slot.worse + 1
  end
  engine.journal:plain(index, outcome, value, slot, engine.world:now())
  history.count, history.last_experiment = index, number
  fields.since_kept, fields.since_best = fields.since_kept + 1, fields.since_best + 1
  slot.operators[operator] = (slot.operators[operator] or 0) + 1
  engine.lone = nil
end

local function experiments(engine, view, most)
  local history, world, slot = engine.history, engine.world, engine.lane_slot
  local hooks, fields, face = engine.strategy.hooks, view.fields, view.face
  local halt, plan, accept = hooks.halt, hooks.plan, hooks.accept
  slot.view = view
  show(fields, history)
  for _ = 1, most do
    local number, now = history.last_experiment + 1, world:now()
    view.number, view.now, view.streams, view.hook, fields.experiment, fields.now = number, now, nil, "halt", number, now
    local ok, said = call(halt, face)
    if not ok or said then return "halt", ok, said end
    view.hook = "plan"
    ok, said = call(plan, face)
    local parent = ok and plain_parent(said, history)
    if not parent then return "plan", ok, said end
    local value = world:quick(number, said, parent.experiment)
    if not value then return "plan", ok, said end
    slot.now, slot.parent = now, parent
    local made, given, keep, why, extra = candidate_of(slot, number, said, value), said, nil, nil, nil
    engine.lone, view.hook = slot, "accept"
    ok, keep, why, extra = call(accept, face, made)
    made.value, made.samples, made.primary_metric = value, nil, nil
    if not ok or why ~= nil or extra ~= nil or keep and keep ~= true then
      engine.lone, slot.spare = nil, nil
      return "accept", ok, keep, why, extra, given, made
    end
    if not keep then
      pass_by(engine, slot, fields, value)
    elseif not keep_it(engine, slot, fields, value) then
      return nil
    end
  end
end

local function leave(engine, view, ...)
  hide(view.fields)
  lane.count(engine)
  return ...
end

-- Runs experiments until one is not plain, `most` are done, or the target is reached. Where one is not: what the loop goes on
-- with in its view: "halt" | "plan", ok, what that hook returned; "accept", ok, keep, why, extra, the proposal, the candidate.
function lane.run(engine, view, most)
  return leave(engine, view, experiments(engine, view, most))
end

return lane
