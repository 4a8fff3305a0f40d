-- past: an engine put back to a recorded moment, and afterwards as it was; the rooms' hooks in order; and a choice among models that
-- goes by the median of gains.
local direction = require "apsis.direction"
local models = require "apsis.core.models"
local past = require "apsis.core.past"
local random = require "apsis.random"
local tap = require "tap"
local test, equal = tap.test, tap.equal

local function engine_of()
  local engine = { workers = 3, seed = 1, slots = {}, flying = 0, world = {}, metric = direction.new {}, objections = { 1 }, judge = {},
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
    seen = { engine.flying, engine.slots[4], engine.slots[7] }
    return 1, nil, 3, nil
  end))
  equal(seen, { 2, { number = 4, proposal = "a" }, { number = 7, proposal = "b" } })
  equal({ results, engine.flying, engine.slots }, { { 1, nil, 3, nil, n = 4 }, 0, {} })
end)

test("a plan sees the run, the seed and the context of then; afterwards all is as it was", function()
  local engine = engine_of()
  local context = { free = 2, directions = 1, limits = { tokens = 5 }, elapsed_s = 9, reserved = { tokens = 3 } }
  local seen
  local results = table.pack(past.at_plan(engine, { number = 8, planned = 77, run = 2, seed = 6, context = context }, { [4] = "a" },
    function(view)
      seen = { view, engine.history.run, engine.history.since_kept, engine.seed, engine.workers, engine.budget.limits,
        engine.budget.reserved, engine.elapsed_s, engine.may_start(), engine.world.directions_seen, engine.flying }
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

test("a gain counts by the median of all gains so far", function()
  local made = models.new({ { name = "a" }, { name = "b" } }, "ucb", direction.new { direction = "lower" })
  local learned, sizes, rng = nil, {}, random.stream "gains"
  made.arms = { by_name = { a = {}, b = {} }, learn = function(_, ...) learned = table.pack(...) end }
  local history = { value_of = function(_, id) return id == "c0001" and 10 or nil end }
  for turn = 1, 60 do
    local value = rng:integer(0, 40)
    sizes[turn] = math.abs(10 - value)
    made:learn({ outcome = "kept", model = "a", primary_metric = value, parents = { "c0001" }, cost = turn }, history)
    local sorted = table.move(sizes, 1, turn, 1, {})
    table.sort(sorted)
    local median = (sorted[(turn + 1) // 2] + sorted[turn // 2 + 1]) / 2
    equal({ learned[1], learned[3] }, { "a", turn })
    assert(math.abs(learned[2] - 1 / (1 + math.exp(-(10 - value) / math.max(median, 1e-12)))) < 1e-12, turn)
  end
  made:learn({ outcome = "kept", model = "b", primary_metric = 3, parents = { "c0002" } }, history)
  equal({ learned[1], learned[2] }, { "b", 0.5 })
  made:learn({ outcome = "kept", model = "b", primary_metric = 3 }, history)
  equal({ learned[1], learned[2] }, { "b", 0.5 })
  for _, line in ipairs {
    { outcome = "baseline", model = "a" }, { outcome = "measured", model = "a" }, { outcome = "asked", model = "a" },
    { outcome = "skipped_strategy_error", model = "a" }, { outcome = "kept", model = "a", proposal = { edits = {} } },
    { outcome = "kept", model = "other" }, { outcome = "kept" },
  } do
    learned = nil
    made:learn(line, history)
    equal(learned, nil, line.outcome)
  end
  for _, line in ipairs {
    { outcome = "skipped_provider_failure", proposal = { model = "b" } },
    { outcome = "skipped_verification_crash", model = "b", primary_metric = 3, parents = { "c0001" } },
    { outcome = "reverted_scope_violation", model = "other", proposal = { model = "b" } },
  } do
    made:learn(line, history)
    equal(learned, { "b", nil, nil, n = 3 }, line.outcome)
  end
  local all = {}
  made.arms.learn = function(_, name, reward) all[#all + 1] = { name, reward } end
  made:learn({ outcome = "kept", model = "a", proposal = { model = "b" }, primary_metric = 3 }, history)
  equal(all, { { "b" }, { "a", 0.5 } })
end)

-- A new instance of core/rooms.lua over a tree with these files.
local function rooms_of(files, modules)
  local kept = { shipped = package.loaded["apsis.core.shipped"], rooms = package.loaded["apsis.core.rooms"] }
  package.loaded["apsis.core.shipped"] = { list = function() return files end }
  package.loaded["apsis.core.rooms"] = nil
  for name, module in pairs(modules) do package.loaded[name] = module end
  local rooms = require "apsis.core.rooms"
  package.loaded["apsis.core.shipped"], package.loaded["apsis.core.rooms"] = kept.shipped, kept.rooms
  return rooms
end

test("rooms are found by their files, and their hooks are called in order", function()
  local called = {}
  local function hook(name, ...)
    local results = table.pack(...)
    return function(...)
      called[#called + 1] = { name, ... }
      return table.unpack(results, 1, results.n)
    end
  end
  local rooms = rooms_of({ "lua/apsis/xa/commands/go.lua", "lua/apsis/xa/commands/deeper/no.lua", "lua/apsis/xa/room.lua",
    "lua/apsis/xb/room.lua", "lua/apsis/xb/commands/stop.lua", "lua/apsis/xb/other/it.lua", "lua/apsis/xc/deeper/room.lua",
    "lua/apsis/xd/room.lua", "lua/apsis/xe.lua" }, {
    ["apsis.xa.room"] = { both = hook("a", nil, "x"), own = hook "own" }, ["apsis.xb.room"] = { both = hook("b", 1, nil, nil) },
    ["apsis.xd.room"] = { both = hook("d", 2) } })
  equal(rooms.commands(), { go = "apsis.xa.commands.go", stop = "apsis.xb.commands.stop" })
  equal(rooms.modules "other", { it = "apsis.xb.other.it" })
  equal({ rooms.has "both", rooms.has "own", rooms.has "none" }, { true, true, false })
  equal(table.pack(rooms.first("both", 5, nil, 7)), { 1, nil, nil, n = 3 })
  equal(called, { { "a", 5, nil, 7 }, { "b", 5, nil, 7 } })
  equal({ rooms.first "own", rooms.first "none" }, {})
  called = {}
  rooms.call("both", 9)
  equal(called, { { "a", 9 }, { "b", 9 }, { "d", 9 } })
  local count = 0
  for index in rooms.each "both" do count = index end
  equal(count, 3)
end)

tap.done()
