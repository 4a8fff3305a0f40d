-- pareto: dominance, hypervolume and crowding by their definitions; and the contract with a front in place of one best, over the fake
-- world: what is kept, what run.front, run.best, since_best and run.metric mean, with several workers, limits, and after a restart.
local direction = require "apsis.direction"
local fake = require "fake"
local numbers = require "apsis.pareto"
local random = require "apsis.random"
local tap = require "tap"
local test, equal = tap.test, tap.equal

local function metric(name, toward, epsilon) return direction.new { name = name, direction = toward, epsilon = epsilon } end

local both = { metric("a", "lower"), metric("b", "higher") }

local function at(a, b, c) return { metrics = { a = a, b = b, c = c } } end

test("one dominates another if it is as good in each metric and better in one, whichever way each goes", function()
  equal(numbers.dominates(both, at(1, 5), at(2, 4)), true)
  equal(numbers.dominates(both, at(1, 5), at(1, 4)), true)
  equal(numbers.dominates(both, at(1, 5), at(1, 5)), false)
  equal(numbers.dominates(both, at(1, 3), at(2, 4)), false)
  equal(numbers.dominates(both, at(0 / 0, 9), at(2, 4)), false)
  equal(numbers.dominates(both, at(1, nil), at(2, 4)), false)
  equal(numbers.ahead({ metric("a", "lower", 2), metric("b", "higher") }, at(1, 4), at(2, 4)), false) -- within epsilon
  local list = { at(1, 1), at(2, 3), at(2, 2), at(3, 3), at(0, nil) }
  equal(numbers.front(both, list), { list[1], list[2] })
end)

-- The volume by counting the cells of a grid of whole numbers.
local function counted(points, size)
  local sum = 0
  for x = 0, size - 1 do
    for y = 0, size - 1 do
      for z = 0, size - 1 do
        local inside = false
        for _, point in ipairs(points) do
          local m = point.metrics
          inside = inside or size - m.a > x and m.b > y and size - m.c > z
        end
        sum = sum + (inside and 1 or 0)
      end
    end
  end
  return sum
end

test("the hypervolume is what lies between the candidates and the reference", function()
  equal(numbers.hypervolume(both, { at(1, 3), at(2, 5) }, { a = 4, b = 1 }), 3 * 2 + 2 * 2)
  equal(numbers.hypervolume(both, {}, { a = 4, b = 1 }), 0)
  equal(numbers.hypervolume(both, { at(4, 9), at(9, 9), at(1, 1), at(1, nil) }, { a = 4, b = 1 }), 0) -- none beyond it
  local rng, three = random.stream(1, 1, "points"), { metric("a", "lower"), metric("b", "higher"), metric("c", "lower") }
  for _ = 1, 50 do
    local points = {}
    for index = 1, rng:integer(1, 6) do points[index] = at(rng:integer(0, 6), rng:integer(0, 6), rng:integer(0, 6)) end
    equal(numbers.hypervolume(three, points, { a = 6, b = 0, c = 6 }), counted(points, 6))
  end
end)

test("the ends of a front are infinitely far apart, and a gap counts by its share of each range", function()
  equal(numbers.crowding(both, { at(0, 0), at(1, 1), at(3, 3), at(4, 4) }), { math.huge, 3 / 4 * 2, 3 / 4 * 2, math.huge })
  equal(numbers.crowding(both, { at(1, 1) }), { math.huge })
  equal(numbers.crowding(both, {}), {})
end)

-- ---- the contract ----

local PARTS = { { name = "a", direction = "lower" }, { name = "b", direction = "lower" } }

-- The values of experiment x are those of row x; x = 0 is the baseline.
local function engine_of(source, rows, more)
  local spec = { metric = { name = "hypervolume", direction = "higher", pareto = more and more.parts or PARTS,
      target = more and more.target },
    metrics = { a = { direction = "lower" }, b = { direction = "lower" } }, budget = { iterations = #rows },
    world = { answers = function(slot) return { edits = { x = slot.number - (slot.proposal.notes or { from = 0 }).from } } end,
      measure = function(x, _, _, record)
        local row = x == 0 and { 10, 10 } or rows[record.experiment]
        return { metrics = { a = row[1], b = row[2] } }
      end } }
  for key, value in pairs(more and more.spec or {}) do spec[key] = value end
  for key, value in pairs(more and more.world or {}) do spec.world[key] = value end
  return fake.engine(source, spec)
end

local FROM_BASELINE = [[plan = function(run) return { parents = { "c0000" } } end, halt = function() end]]

local function outcomes(engine)
  local list = {}
  for index = 2, engine.history.count do list[index - 1] = engine.history:at(index).outcome:gsub("reverted_", "") end
  return list
end

local function ids(records)
  local list = {}
  for index, record in ipairs(records) do list[index] = record.id end
  return list
end

test("what no member of the front equals or beats in every metric is kept; who is beaten leaves; the best is the newest", function()
  local engine = engine_of("return { " .. FROM_BASELINE .. " }",
    { { 8, 12 }, { 9, 12 }, { 12, 8 }, { 10, 10 }, { 7, 11 }, { 30, 1 } })
  assert(engine:run { run_number = 1 })
  equal(outcomes(engine), { "kept", "worse_metric", "kept", "worse_metric", "kept", "kept" })
  equal(ids(engine.front:records()), { "c0000", "c0003", "c0005", "c0006" }) -- c0001 left
  equal(engine.history.best.id, "c0006")
  equal(engine.history:at(3).rollback_reason, "c0001 is at least as good in each metric: a 8, b 12, against a 9, b 12")
  equal(engine.history:at(6).notes.kept_because, "joins the front; c0001 leaves it")
end)

test("the value is the front's hypervolume beyond twice the baseline; a member beyond the reference adds nothing, and is kept", function()
  local engine = engine_of("return { " .. FROM_BASELINE .. " }", { { 5, 10 }, { 30, 1 }, { 12, 18 } })
  assert(engine:run { run_number = 1 })
  local values = {}
  for index = 1, 4 do values[index] = engine.history:at(index).value end
  equal(values, { 100, 15 * 10, 150, 8 * 2 }) -- the last is kept out: its own
  equal(engine.history.best.id, "c0002")
  equal(engine.history.since_best, 1)
  equal(engine.history:at(3).improved, false)
end)

test("hooks see the front, and run.metric compares with the best by joining it", function()
  local engine = engine_of([[return { ]] .. FROM_BASELINE .. [[,
    accept = function(run, candidate)
      local names = {}
      for index, one in ipairs(run.front) do names[index] = one.id end
      return run.metric:better(candidate, run.best), nil, { notes = { front = table.concat(names, " "),
        tied = run.metric:tied(candidate, run.best), confirmed = candidate.confirmed, parts = run.metric.parts[2].name } }
    end }]], { { 10, 10 }, { 20, 9 }, { 11, 11 } })
  assert(engine:run { run_number = 1 })
  equal(outcomes(engine), { "worse_metric", "kept", "worse_metric" })
  equal(engine.history:at(2).notes, { front = "c0000", tied = false, confirmed = false, parts = "b" })
  equal(engine.history:at(3).notes.front, "c0000")
  equal(engine.history:at(4).notes.front, "c0000 c0002")
  equal(engine_of("return {}", {}, { parts = nil }).front ~= nil, true)
  local single = fake.engine("return { accept = function(run) return true, nil, { notes = { front = #run.front, id = run.front[1].id } } end }",
    { budget = { iterations = 2 } })
  assert(single:run { run_number = 1 })
  equal(single.history:at(3).notes, { front = 1, id = "c0001" })
end)

test("a candidate that was measured while the front moved is decided by the front of then, and replay's fold agrees", function()
  local engine = engine_of("return { " .. FROM_BASELINE .. " }", { { 8, 8 }, { 7, 7 } }, { spec = { workers = 2 },
    world = { delay = function(slot) return slot.number == 1 and 0.06 or 0.01 end } })
  assert(engine:run { run_number = 1 })
  local first, second = engine.history:at(2), engine.history:at(3)
  equal({ first.id, first.outcome, second.id, second.outcome }, { "c0002", "kept", "c0001", "reverted_worse_metric" })
  equal(second.value, 12 * 12)
  local again = engine_of("return { " .. FROM_BASELINE .. " }", {}, { spec = { texts = engine.journal.texts } })
  equal(ids(again.front:records()), { "c0002" })
  equal({ again.history.best.id, again.history.bar }, { "c0002", 13 * 13 })
end)

test("a value beyond a metric's limit is rejected as one metric's would be; a target ends the run", function()
  local engine = engine_of("return { " .. FROM_BASELINE .. " }", { { 2, 60 }, { 9, 9 } },
    { parts = { PARTS[1], { name = "b", direction = "lower", max_pass = 50 } } })
  assert(engine:run { run_number = 1 })
  equal(outcomes(engine), { "threshold_failure", "kept" })
  equal(engine.history:at(2).rollback_reason, "b: 60 is above max_pass 50")
  engine = engine_of("return { " .. FROM_BASELINE .. " }", { { 5, 5 }, { 4, 4 } }, { target = 200 })
  equal({ engine:run { run_number = 1 }.reason, engine.history.count }, { "target reached: 225 (higher is better, target 200)", 2 })
end)

test("nothing is measured again, whoever asks: the reason names what does it", function()
  for _, source in ipairs { 'accept = function() return "measure", { ids = { "c0000" } } end',
    'plan = function() return { measure = { "c0000" } } end' } do
    local engine = engine_of("return { halt = function() end, " .. source .. " }", { { 9, 9 } })
    assert(engine:run { run_number = 1 })
    local line = engine.history:at(2)
    equal({ line.outcome, line.rollback_reason:match "verification.repeats takes medians" },
      { "skipped_strategy_error", "verification.repeats takes medians" })
  end
end)

test("a model is shown the metrics, their directions and what is kept", function()
  local engine = engine_of([[return { ]] .. FROM_BASELINE .. [[, accept = function(run)
    return true, require("apsis.prompt").metric(run) end }]], { { 9, 9 } })
  assert(engine:run { run_number = 1 })
  equal(engine.history:at(2).notes.kept_because, "hypervolume, higher is better, of a (lower is better) and b (lower is "
    .. "better): a change is kept if no kept one is at least as good in each of them; best so far 100 (c0000); baseline 100")
end)

test("what lacks a metric, or has one that is not finite, has no value", function()
  local engine = engine_of("return { " .. FROM_BASELINE .. " }", { { 5 }, { 1 / 0, 3 }, { 9, 9 } })
  assert(engine:run { run_number = 1 })
  equal(outcomes(engine), { "skipped_verification_crash", "skipped_verification_crash", "kept" })
end)

test("a strategy may keep what does not join: it is no member, and the best stays", function()
  local engine = engine_of("return { " .. FROM_BASELINE .. ", accept = function() return true end }", { { 5, 5 }, { 9, 9 } })
  assert(engine:run { run_number = 1 })
  equal(outcomes(engine), { "kept", "kept" })
  equal({ engine.history.best.id, engine.history.current.id }, { "c0001", "c0002" })
  equal(ids(engine.front:records()), { "c0001" })
end)

test("whatever joins makes the hypervolume larger or leaves it; nothing on the front is beaten; each reason is true", function()
  local rng, rows = random.stream(7, 1, "rows"), {}
  for index = 1, 120 do rows[index] = { rng:integer(1, 40), rng:integer(1, 40) } end
  local engine = engine_of("return { " .. FROM_BASELINE .. " }", rows)
  assert(engine:run { run_number = 1 })
  local metrics, bar = engine.front.metrics, 0
  local all = { engine.history.baseline }
  for index = 2, engine.history.count do
    local record = engine.history:at(index)
    if record.outcome == "kept" then
      equal(record.value >= bar, true)
      bar = record.value
    end
    if record.value then all[#all + 1] = record end
  end
  equal(numbers.front(metrics, engine.front:records()), engine.front:records())
  equal(bar, numbers.hypervolume(metrics, all, { a = 20, b = 20 })) -- of all that was measured
end)

tap.done()
