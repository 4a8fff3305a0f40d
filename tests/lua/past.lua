-- past: an engine put back to a recorded moment, and afterwards as it was.
local direction = require "apsis.direction"
local past = require "apsis.core.past"
local tap = require "tap"
local test, equal = tap.test, tap.equal

local function engine_of()
  local engine = { workers = 3, seed = 1, slots = {}, busy = 0, world = {}, metric = direction.new {}, objections = { 1 }, judge = {},
    budget = { limit = function(self, limits) self.limits = limits end },
    history = { run = 1, since_kept = 5, since_best = 6, run_totals = "own", best = { id = "c0009" } } }
  function engine.history:begin(run) self.run, self.since_kept, self.since_best, self.run_totals = run, 0, 0, "new" end
  function engine.view(_, number, now) return { number, now } end
  return engine
end

test("what flew then flies while the body runs, and nothing after it", function()
  local engine = engine_of()
  local seen
  local results = table.pack(past.with_flying(engine, { [4] = "a", [7] = "b" }, function()
    seen = { engine.busy, engine.slots[4], engine.slots[7] }
    return 1, nil, 3, nil
  end))
  equal(seen, { 2, { number = 4, proposal = "a" }, { number = 7, proposal = "b" } })
  equal({ results, engine.busy, engine.slots }, { { 1, nil, 3, nil, n = 4 }, 0, {} })
end)

test("a plan sees the run, the seed and the context of then; afterwards all is as it was", function()
  local engine = engine_of()
  local context = { free = 2, directions = 1, limits = { tokens = 5 }, elapsed_s = 9, reserved = { tokens = 3 } }
  local seen
  local results = table.pack(past.at_plan(engine, { number = 8, planned = 77, run = 2, seed = 6, context = context }, { [4] = "a" },
    function(view)
      seen = { view, engine.history.run, engine.history.since_kept, engine.seed, engine.workers, engine.budget.limits,
        engine.budget.reserved, engine.elapsed_s, engine.may_start(), engine.world.directions_seen, engine.busy }
      return "x", nil
    end))
  equal(seen, { { 8, 77 }, 2, 0, 6, 3, { tokens = 5 }, { tokens = 3 }, 9, 2, 1, 1 })
  local history = engine.history
  equal({ results, history.run, history.since_kept, history.since_best, history.run_totals, engine.may_start },
    { { "x", nil, n = 2 }, 1, 5, 6, "own" })
  past.at_plan(engine, { number = 8, planned = 77, run = 1, context = {} }, { [4] = "a", [5] = "b" }, function()
    seen = { history.since_kept, engine.seed, engine.workers, engine.budget.limits, engine.budget.reserved, engine.elapsed_s,
      engine.may_start, engine.world.directions_seen }
  end)
  equal(seen, { 5, 6, 3, {}, { iterations = 2, measurements = 2 }, 0 })
end)

test("an engine that only decides has no judge and no lock, and measures what was recorded", function()
  local engine = engine_of()
  past.decide_only(engine, function(id, request) return id .. (request.stage or "-") end)
  equal({ engine.judge, engine.objections, engine.deciding:lock(), engine.deciding:unlock(), engine.shown_metric.leader().id },
    { nil, {}, nil, nil, "c0009" })
  equal(engine.world.verify(nil, nil, { id = "c1" }, {}), { status = "ok", stage = 1, value = "c1-" })
  equal(engine.world.verify(nil, nil, { id = "c1" }, { stage = 2 }), { status = "ok", stage = 2, value = "c12" })
  engine = engine_of()
  engine.judge = nil
  past.decide_only(engine, error)
  equal(engine.objections, { 1 })
end)

tap.done()
