-- lane: the short way through an experiment, for worlds that answer at once: one experiment at a time, no task, no phases, and no
-- line put into words. Hooks, contract and what is kept are the loop's; whatever turns out unusual (a group, edits, measurements,
-- a resample, an error) goes on in the loop from where it stands. Why there are two ways: what makes a task and a line of an
-- experiment costs several times what such an experiment may. The tests run both and compare. Called by loop.
local candidates = require "apsis.core.candidate"
local guard = require "apsis.guard"
local hooks = require "apsis.core.hooks"
local line = require "apsis.core.line"
local proposals = require "apsis.core.proposal"

local lane = {}

local call, new_candidate = guard.call, candidates.new

-- Whether an engine's experiments may take it.
function lane.open_to(engine)
  local strategy, limits, metric = engine.strategy, engine.budget.limits, engine.metric
  return engine.world.quick and engine.plain_line and engine.workers == 1 and engine.run_number == 1
    and not (engine.confirm or engine.guards)
    and not (engine.trajectory or strategy.own.stage or engine.models.arms or limits.minutes or engine.budget.estimates or metric.min_pass
      or metric.max_pass or next(engine.thresholds) or engine.metric_names[1] or engine.history.displaced)
end

-- What the lane works with: the one slot of its experiments, and what it has added up.
function lane.new(engine)
  local strategy = engine.strategy
  return { plain = true, change = engine.world.made, answer = engine.world.plain, metric_name = engine.metric.name, worse = 0,
    rejected = 0, operators = {}, number = 0, proposal = nil, value = nil, candidate = nil, now = 0, parent = nil,
    shown = { parents = {}, operator = nil, experiment = 0 }, view = nil, stage = 1, extra = nil, answers = { engine.world.plain },
    selects = strategy.own.select, accept = strategy.hooks.accept,
    talks = (strategy.hooks.learn or strategy.subs[1]) ~= nil }
end

-- How many experiments may be done before the budget must be asked again.
function lane.stretch(engine, most)
  local held = engine.budget
  held.alone = 0
  return math.min(held:left "iterations", held:left "measurements", most)
end

-- Takes what plan gave into the slot: the proposal for the world, false where the loop must look at it. slot.parent: set where it
-- says nothing but an operator and one well-known parent, so that there is nothing to check.
local function take_proposal(engine, slot, given, number)
  local history = engine.history
  slot.number = number
  if type(given) == "table" and not getmetatable(given) then
    local parents, operator = given.parents, given.operator
    if type(parents) == "table" and (slot.operators[operator] or type(operator) == "string")
      and not next(given, next(given, next(given))) then
      local parent = parents[1]
      if parent and parents[2] == nil and parents[3] == nil
        and (parent == history.best or parent == history.current or parent == history.baseline) then
        local shown = slot.shown -- as any world sees a proposal: the same table again, filled anew
        slot.parent, slot.proposal = parent, given
        shown.parents[1], shown.operator, shown.experiment = parent.id, operator, number
        return shown
      end
    end
  end
  local checked = proposals.check(given, history)
  if not checked or checked.edits or checked.measure or checked.ask or checked.k then return false end
  checked.experiment, slot.proposal, slot.parent = number, checked, nil
  return checked
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
    if count > 0 then engine.world:tally(operator, count) end
    slot.operators[operator] = 0
  end
end

-- Puts down one that was kept, or of which something was said. Returns whether the run goes on the short way.
local function put_down(engine, slot, outcome, why, extra)
  local history, fields, view = engine.history, engine.plain_line, slot.view
  lane.count(engine)
  fields.experiment, fields.outcome, fields.primary_metric = slot.number, outcome, slot.value
  local record = engine.journal:put(slot, outcome, why, extra, engine.world.clock, outcome == "kept" and
    engine.metric:better_of(history.held, slot.value) or history.held)
  local _, led = history:add(fields, record)
  engine.lone = nil
  show(view.fields, history)
  engine.world:publish(slot, record, led)
  if slot.talks then
    local ok, message = hooks.remember(engine, view, "learn", record)
    if not ok then error({ fatal = true, message = message, code = 2 }, 0) end
  end
  return not (led and engine.metric:reached(history.best))
end

-- Puts down one that was not kept and of which there is nothing to say.
local function pass_by(engine, slot, outcome)
  local history, fields, operator = engine.history, slot.view.fields, slot.proposal.operator
  local operators, index = slot.operators, history.count + 1
  if outcome == "reverted_rejected" then slot.rejected = slot.rejected + 1 else slot.worse = slot.worse + 1 end
  engine.journal:plain(index, outcome, slot, engine.world.clock)
  history.count, history.last_experiment = index, slot.number
  fields.since_kept, fields.since_best = fields.since_kept + 1, fields.since_best + 1
  operators[operator] = (operators[operator] or 0) + 1
  engine.lone = nil
  return true
end

-- The strategy's choice of the one answer; false and what the loop goes on with where it chose otherwise.
local function chosen(engine, slot)
  slot.view.hook = "select"
  local ok, choice, detail, extra = call(engine.strategy.hooks.select, slot.view.face, candidates.proposal(slot), slot.answers)
  local more = extra
  if type(detail) == "table" and extra == nil then more = detail end
  if ok and choice == 1 and (more == nil or type(more) == "table") then
    slot.extra = more
    return true
  end
  return false, { ok, choice, detail, extra }
end

-- What becomes of one of which accept said more than yes or no, or whose line somebody reads.
local function conclude(engine, slot, outcome, ok, keep, why, extra)
  local reason, more = why, extra
  if type(why) == "table" and extra == nil then reason, more = nil, why end
  if not ok or keep and keep ~= true or (reason or more or slot.extra) and line.cannot_hold(slot, reason, more) then
    return "accept", { ok, keep, why, extra }
  end
  return put_down(engine, slot, outcome, reason, more)
end

-- One experiment from its plan on: true to go on, false when the target is reached; or what the loop goes on with.
local function experiment(engine, slot, world, number, given)
  local proposal = take_proposal(engine, slot, given, number)
  if not proposal then return "plan" end
  local genome = world:answer(proposal, slot.parent)
  if genome == nil then return "plan" end
  engine.lone = slot
  if slot.selects then
    local ok, said = chosen(engine, slot)
    if not ok then return "select", said end
  end
  local value = world:measure(number, genome)
  if not value then return "select", slot.selects and { true, 1, nil, slot.extra } end -- the loop does not ask select again
  slot.value = value
  local view, made = slot.view, new_candidate(slot)
  slot.candidate = made
  view.hook = "accept"
  local ok, keep, why, extra = call(slot.accept, view.face, made)
  made.value, made.retained, made.experiment = value, false, number
  if slot.marked then candidates.clean(slot) end
  local outcome = keep and "kept" or engine.metric:beats(value, engine.history.held) and "reverted_rejected" or "reverted_worse_metric"
  if keep or not ok or why ~= nil or extra ~= nil or slot.talks or slot.extra or not slot.parent then
    return conclude(engine, slot, outcome, ok, keep, why, extra)
  end
  return pass_by(engine, slot, outcome)
end

local function experiments(engine, view, most)
  local history, world, slot = engine.history, engine.world, engine.lane_slot
  local halt, plan, fields, face = engine.strategy.hooks.halt, engine.strategy.hooks.plan, view.fields, view.face
  slot.view = view
  show(fields, history)
  for _ = 1, most do
    local number, now = history.last_experiment + 1, world.clock
    view.hook, fields.experiment, fields.now, slot.now = "halt", number, now, now
    if view.streams then view.streams = nil end
    if slot.extra then slot.extra = nil end
    local ok, said = call(halt, face)
    if not ok or said then return { from = "halt", ok = ok, said = said } end
    view.hook = "plan"
    ok, said = call(plan, face)
    if not ok or said == nil then return { from = "plan", ok = ok, said = said } end
    local went, answer = experiment(engine, slot, world, number, said)
    if not went then return nil end
    if went ~= true then
      engine.lone = nil
      return { from = "plan", ok = true, said = said, selected = went == "select" and answer or nil, extra = slot.extra,
        judged = went == "accept" and { candidate = slot.candidate, said = answer, extra = slot.extra } }
    end
  end
end

-- Runs experiments until one is unusual, `most` are done, or the target is reached. What the loop goes on with where one is
-- unusual: { from = the hook that was asked last, ok, said, now, view } and what select or accept said; else nil.
function lane.run(engine, view, most)
  local plan = experiments(engine, view, most)
  hide(view.fields)
  lane.count(engine)
  engine.budget.alone = 0
  if plan then plan.view, plan.now, plan.started = view, view.fields.now, view.fields.now end
  return plan
end

return lane
