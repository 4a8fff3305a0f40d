-- past: an engine put back to a moment of a recorded run, so that a strategy's hooks may be called as they were then.
-- What it was is what the journal reports: its lines are folded already, the rest is set here and taken back.
local direction = require "apsis.direction"

local past = {}

-- Calls body with experiments in flight: proposals by experiment. Returns what it returns.
function past.with_flying(engine, proposals, body)
  engine.slots, engine.busy = {}, 0
  for experiment, proposal in pairs(proposals) do
    engine.slots[experiment] = { number = experiment, proposal = proposal }
    engine.busy = engine.busy + 1
  end
  local result = table.pack(body())
  engine.slots, engine.busy = {}, 0
  return table.unpack(result, 1, result.n)
end

-- What else a plan may have seen: free workers, the budget and the user's directions, as they were then.
local function set_context(engine, context)
  local busy = engine.busy
  engine.workers = context.free and context.free + busy or engine.workers
  engine.budget:limit(context.limits or {})
  engine.elapsed_s = context.elapsed_s or 0
  engine.budget.reserved = context.reserved or { iterations = busy, measurements = busy }
  if context.free then -- what was reserved then is in `free` already
    function engine.may_start() return context.free end
  end
  engine.world.directions_seen = context.directions
end

-- Calls body(view) as at a plan = { number, planned (when), run, seed, context }, with proposals in flight. Returns
-- what it returns.
function past.at_plan(engine, plan, proposals, body)
  local history = engine.history
  local run, since_kept, since_best, totals = history.run, history.since_kept, history.since_best, history.run_totals
  if plan.run and run ~= plan.run then history:begin(plan.run) end
  engine.seed = plan.seed or engine.seed
  local result = table.pack(past.with_flying(engine, proposals, function()
    set_context(engine, plan.context)
    return body(engine:view(plan.number, plan.planned))
  end))
  engine.may_start = nil
  history.run, history.since_kept, history.since_best, history.run_totals = run, since_kept, since_best, totals
  return table.unpack(result, 1, result.n)
end

local no_lock = { lock = function() end, unlock = function() end }

-- From here on the engine only decides: on what was recorded, with verify(id, request) -> value for what accept asks to
-- measure. What was shown under noise is recorded, too, and is not worked out again.
function past.decide_only(engine, verify)
  if engine.judge then engine.objections = {} end
  engine.deciding, engine.judge = no_lock, nil
  engine.shown_metric = direction.judged(engine.metric, function() return engine.history.best end)
  function engine.world.verify(_, _, record, request)
    return { status = "ok", stage = request.stage or 1, value = verify(record.id, request) }
  end
end

return past
