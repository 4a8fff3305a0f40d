-- confirm: acceptance under noise within the loop: what is measured again, what is kept and may lead, what stands in the journal and
-- is known again after a crash, and the gain measured again at the end.
local fake = require "fake"
local host = require "apsis.host"
local json = require "apsis.json"
local random = require "apsis.random"
local tap = require "tap"
local test, equal, matches = tap.test, tap.equal, tap.matches

local function ok(holds, what)
  equal(holds and true or false, true, what)
end

local plain = "return { halt = function() end }"

-- Experiment n changes x by steps[n] (else by a trifle); each measurement is x and noise of this sd, drawn anew.
local function noisy(steps, sd, seed)
  local rng, count = random.stream(seed or 1, "test noise"), { n = 0 }
  return { answers = function(slot) return { edits = { x = steps[slot.number] or 1e-9 * slot.number } } end,
    measure = function(x)
      count.n = count.n + 1
      return { value = x + sd * rng:normal(), metrics = {} }
    end }, count
end

local function spec(steps, sd, more)
  local world, count = noisy(steps, sd, more and more.noise_seed)
  local made = { budget = { iterations = 8 }, world = world, acceptance = { preset = "default" }, count = count }
  for key, value in pairs(more or {}) do made[key] = value end
  return made
end

local function by_outcome(lines, outcome)
  local list = {}
  for _, line in ipairs(lines) do
    if line.outcome == outcome then list[#list + 1] = line end
  end
  return list
end

test("the baseline is measured 20 times, and its line says what is known of the noise", function()
  local lines = fake.run(plain, spec({}, 1, { budget = { iterations = 1 } }))
  equal(#lines[1].samples, 20)
  equal(lines[1].measurements, 20)
  ok(lines[1].acceptance.state.differences == 19, "19 differences of 20 measurements")
end)

test("what a decision may cost is held against what is left with its own reservation", function()
  local cost = 0.1
  local world = noisy({ 6 }, 1)
  local measure = world.measure
  function world.measure(x, ...)
    local slot = select(2, ...)
    slot.machines = { usd = (slot.machines and slot.machines.usd or 0) + (slot.baseline and 30 or 1) * cost }
    return measure(x, ...)
  end
  local lines = fake.run(plain, { budget = { iterations = 1, usd = 3.05 }, world = world, acceptance = { preset = "default" } })
  equal(lines[2].outcome, "kept", lines[2].rollback_reason)
end)

test("large improvements are kept by a confirmation, no-ops are not, and each says why", function()
  local lines = fake.run(plain, spec({ [3] = 6, [6] = 6 }, 1))
  for number, line in ipairs(lines) do
    local real = number == 4 or number == 7
    if number > 1 and number < 10 then
      equal(line.outcome, real and "kept" or "reverted_worse_metric", "experiment " .. number - 1)
      equal(line.acceptance.verdict, real and "kept" or "rejected")
    end
  end
  matches(lines[4].notes.kept_because, "capital [%d.]+ of [%d.]+ needed")
  matches(lines[2].rollback_reason, "rejected after %d+ measurement")
  equal(#lines[4].samples > 1 and #lines[4].trace >= #lines[4].samples, true, "its samples are those of the confirmation")
  equal(lines[4].measurements, #lines[4].trace + 1)
end)

test("acceptance that begins in the middle of a journal leaves the best where it was until one is shown to be better", function()
  for seed = 1, 5 do
    local given = spec({}, 1, { texts = {}, x = {}, noise_seed = seed, budget = { iterations = 30 } })
    given.acceptance = nil
    local _, _, before = fake.run(plain, given)
    local best = before.history.best.id
    ok(before.history.best.value > 1, "a lucky one")
    local lines, _, engine = fake.run(plain, spec({ [35] = 9 }, 1, { texts = given.texts, x = given.x, run = 2,
      noise_seed = seed + 50, budget = { iterations = 6 } }))
    for _, line in ipairs(by_outcome(lines, "kept")) do
      ok(line.experiment <= 30 or line.experiment == 35, "only the real one is kept")
    end
    equal(engine.history.best.id, "c0035")
    local folded = fake.engine(plain, spec({}, 1, { texts = given.texts, x = given.x }))
    equal(folded.history.best.id, "c0035")
    table.remove(given.texts)
    for index = #given.texts, 32, -1 do
      if lines[index].experiment >= 35 then table.remove(given.texts, index) end
    end
    local until_then = fake.engine(plain, spec({}, 1, { texts = given.texts, x = given.x }))
    equal(until_then.history.best.id, best, "before it, the one of the run without acceptance")
  end
end)

test("a metric without noise costs one measurement a candidate and five for one that is kept, which are those of a run "
  .. "without acceptance", function()
  local steps = { 1, -1.5, 1.25, 0.5, -2, 1.125, -0.25, 1 }
  local with, without = spec(steps, 0), spec(steps, 0)
  without.acceptance = nil
  local lines, others = fake.run(plain, with), fake.run(plain, without)
  local last = table.remove(lines)
  equal(fake.column(lines, "outcome"), fake.column(others, "outcome"))
  equal(lines[1].measurements, 5, "the baseline: five equal ones are enough")
  for index = 2, #lines do
    local kept = lines[index].outcome == "kept"
    equal(lines[index].measurements, kept and 5 or 1)
    equal((lines[index].acceptance or {}).verdict, kept and "kept" or nil)
  end
  equal({ last.operator, last.measurements, last.acceptance.gain.exact, last.acceptance.gain.gain, last.acceptance.gain.high },
    { "final", 2, true, 4.875, 4.875 }, "at the end both are the same again")
end)

test("a baseline that the manifest wants measured so often is, equal or not", function()
  local given = spec({}, 0, { budget = { iterations = 1 } })
  given.acceptance.baseline = 12
  equal(fake.run(plain, given)[1].measurements, 12)
end)

-- Runs with such a step in experiment 2, and with these values in place of the measurements of these numbers.
local function odd_run(step, odd)
  local given, count = spec({ [2] = step }, 0, { texts = {}, x = {} }), 0
  given.world.measure = function(x)
    count = count + 1
    return { value = odd[count] or x, metrics = {} }
  end
  local lines, _, engine = fake.run(plain, given)
  return lines, engine, given
end

test("one lucky value of a metric whose baseline did not vary is not kept, and what is better is", function()
  local lines = odd_run(60, { [6] = 50 }) -- of experiment 1
  equal({ lines[2].outcome, lines[2].acceptance.state.sum > 0 }, { "reverted_worse_metric", true })
  equal({ lines[3].outcome, lines[3].measurements > 5 }, { "kept", true }, "under noise, it takes a confirmation")
end)

test("a metric that varies after all is found at the end, and its noise is measured before the next decision", function()
  local lines, engine, given = odd_run(0.5, { [6] = 50, [7] = 50, [9] = 50 }) -- experiment 1 is lucky three times
  equal({ lines[2].outcome, lines[2].primary_metric }, { "kept", 50 })
  local last = lines[#lines]
  equal({ last.operator, last.acceptance.gain, last.acceptance.state.ref }, { "final", nil, nil })
  matches(table.concat(engine.world.logged, "\n"), "score is not the same when it is measured again")
  local again = fake.run(plain, spec({ [10] = 9 }, 1, { texts = given.texts, x = given.x, run = 2, budget = { iterations = 1 } }))
  ok(again[#again].measurements > 20 or again[#again - 1].measurements > 20, "its noise is measured before it judges again")
end)

test("a baseline measured again while another is the best: what is spent stays spent, and the best's level is measured anew", function()
  local given = spec({ [2] = 9 }, 1, { texts = {}, x = {}, budget = { iterations = 2 } })
  fake.run(plain, given)
  local more = spec({}, 1, { texts = given.texts, x = given.x })
  local engine = fake.engine(plain, more)
  engine.judge.state.data.spent = 3
  assert(engine:baseline(1))
  equal({ engine.judge.state.ready, engine.judge.state.data.spent }, { false, 3 })
  local lines = fake.run(plain, spec({ [5] = 9, [6] = 9 }, 1, { texts = given.texts, x = given.x, run = 2, budget = { iterations = 3 } }))
  local first = lines[#lines - 3]
  equal(#first.trace >= 20, true, "the best's level")
  local kept = 0
  for index = #lines - 4, #lines do kept = kept + (lines[index].outcome == "kept" and 1 or 0) end
  equal(kept, 2, "and large improvements are found again")
end)

test("a baseline measured again on a faster machine does not take the place of what was shown to be better", function()
  local given = spec({ [1] = 9 }, 1, { texts = {}, x = {}, budget = { iterations = 1 } })
  fake.run(plain, given)
  local more = spec({}, 1, { texts = given.texts, x = given.x })
  local measure = more.world.measure
  more.world.measure = function(x, ...)
    local measured = measure(x, ...)
    measured.value = measured.value + 50
    return measured
  end
  local engine = fake.engine(plain, more)
  assert(engine:baseline(1))
  equal({ engine.history.best.id, engine.history.baseline.id, engine.history.baseline.value > 40 }, { "c0001", "c0003", true })
end)

test("of several baselines of one tree the newest is the best, and nothing is compared at the end", function()
  local given = spec({}, 1, { texts = {}, x = {}, budget = { iterations = 2 } })
  local engine = fake.engine(plain, given)
  for run = 1, 3 do
    assert(engine:baseline(run))
    equal(engine.history.best.id, engine.history.newest_baseline.id)
  end
  local lines = fake.run(plain, spec({}, 1, { texts = given.texts, x = given.x, run = 4, budget = { iterations = 2 } }))
  equal(#by_outcome(lines, "measured"), 0)
end)

test("a tree that was rejected for want of evidence may be proposed once more, and no third time", function()
  local given = spec({}, 1, { budget = { iterations = 4 } })
  given.world.answers = function() return { edits = { x = 1e-6 } } end
  local lines = fake.run("return { halt = function() end, plan = function(run) return { parents = { run.baseline } } end }", given)
  equal(fake.column(lines, "outcome"), { "baseline", "reverted_worse_metric", "reverted_worse_metric", "skipped_duplicate",
    "skipped_duplicate" })
end)

test("a target is reached by the level of the best, not by the values that it was kept for", function()
  local given = spec({ [1] = 6 }, 1, { metric = { name = "score", direction = "higher", target = 6.6 }, budget = { iterations = 3 } })
  local lines, ended, engine = fake.run(plain, given)
  equal(lines[2].outcome, "kept")
  equal((ended.reason:find "target" ~= nil), engine.judge:level() >= 6.6)
end)

test("a confirmation that the budget cuts off has spent its level", function()
  for limit = 24, 34 do
    local given = spec({ 9 }, 1, { budget = { measurements = limit, iterations = 1 }, noise_seed = 5 })
    given.acceptance.final = 0
    local lines = fake.run(plain, given)
    local line = lines[2]
    if (line.acceptance.why or ""):find "budget" then
      local promoted = #line.trace > 4
      ok(not promoted or line.acceptance.state.spent == 1, "limit " .. limit)
    end
  end
  local given = spec({ 9 }, 1, { budget = { measurements = 6, iterations = 1 } })
  given.acceptance.final = 0
  local line = fake.run(plain, given)[2]
  equal({ line.outcome, line.acceptance.state.spent }, { "reverted_worse_metric", 1 })
  matches(line.rollback_reason, "budget: 1 measurement is asked for, 0 are left")
end)

test("a strategy that keeps for reasons of its own may, but what is not shown to be better does not lead", function()
  local keeps = [[return { halt = function() end, accept = function(run, candidate)
    return true, tostring(candidate.confirmed) .. " " .. tostring(run.metric:better(candidate, run.best)) .. " "
      .. tostring(run.metric:tied(candidate, run.best))
  end }]]
  local lines, _, engine = fake.run(keeps, spec({ [4] = 7 }, 1, { budget = { iterations = 6 } }))
  equal(#by_outcome(lines, "kept"), 6)
  equal(engine.history.best.id, "c0004")
  equal(engine.history.current.id, "c0006")
  equal(lines[5].notes.kept_because, "true true false")
  equal(lines[4].notes.kept_because, "false false false")
end)

test("hyperagents keeps all for its archive, and its best is what was shown to be better", function()
  local lines, _, engine = fake.run(assert(host.read "strategies/hyperagents.lua"),
    spec({ [4] = 7 }, 1, { budget = { iterations = 12 } }))
  equal(#by_outcome(lines, "kept"), 12)
  local shown = {}
  for _, line in ipairs(lines) do
    if line.acceptance.verdict == "kept" then shown[#shown + 1] = line.candidate end
  end
  equal(shown, { "c0004" })
  equal({ engine.history.best.id, engine.history.current.id }, { "c0004", "c0012" })
end)

test("a strategy that refuses what was shown to be better is obeyed", function()
  local lines = fake.run("return { halt = function() end, accept = function() return false, 'too long' end }",
    spec({ [2] = 7 }, 1, { budget = { iterations = 2 } }))
  equal({ lines[3].outcome, lines[3].rollback_reason, lines[3].acceptance.verdict }, { "reverted_rejected", "too long", "kept" })
  local before, after = lines[2].acceptance.state, lines[3].acceptance.state
  equal({ after.ref, after.n }, { before.ref, before.n }) -- it is not the one that the next are compared with
end)

test("at the end the best and the original are measured in 20 pairs, and the gain has an interval", function()
  local lines, ended, engine = fake.run(plain, spec({ [3] = 6 }, 1))
  local last = lines[#lines]
  equal({ last.outcome, last.operator, last.measurements, #last.trace }, { "measured", "final", 40, 40 })
  local gain = last.acceptance.gain
  equal({ gain.candidate, gain.original, gain.pairs }, { "c0003", "c0000", 20 })
  ok(gain.low < 6 and 6 < gain.high and gain.high - gain.low < 3, "the truth is within it: " .. json.encode(gain))
  equal(engine.history.gain.gain, gain.gain)
  matches(ended.reason, "budget: iterations used up")
  local orders = {}
  for index = 1, 40, 2 do
    orders[last.trace[index].id] = true
    ok(last.trace[index].id ~= last.trace[index + 1].id, "each pair has both")
  end
  ok(orders.c0000 and orders.c0003, "either comes first at times")
end)

test("without an improvement there is nothing to compare at the end; nor twice the same", function()
  local lines = fake.run(plain, spec({}, 1))
  equal(#by_outcome(lines, "measured"), 0)
  local given = spec({ [3] = 6 }, 1, { texts = {}, x = {} })
  fake.run(plain, given)
  local again = fake.run(plain, spec({}, 1, { texts = given.texts, run = 2, x = given.x }))
  equal(#by_outcome(again, "measured"), 1)
end)

test("the final comparison is within the budget of measurements", function()
  for limit = 30, 130, 10 do
    local lines = fake.run(plain, spec({ [1] = 9 }, 1, { budget = { measurements = limit }, noise_seed = limit }))
    local spent = 0
    for index = 2, #lines do spent = spent + lines[index].measurements end
    ok(spent <= limit, ("%d of %d"):format(spent, limit))
    if #by_outcome(lines, "kept") > 0 then
      local pairs_done = by_outcome(lines, "measured")[1].acceptance.gain.pairs
      ok(pairs_done >= math.min(20, limit // 10) and pairs_done <= 20, pairs_done .. " pairs of " .. limit)
    end
  end
end)

test("what is known of the noise is the journal's: cut anywhere and folded, the run goes on as it would have", function()
  local given = spec({ [2] = 6, [5] = 6 }, 1, { texts = {}, x = {}, budget = { iterations = 7 } })
  local _, _, whole = fake.run(plain, given)
  for count = 1, #given.texts do
    local texts = table.move(given.texts, 1, count, 1, {})
    local engine = fake.engine(plain, spec({}, 1, { texts = texts }))
    local line = json.decode(texts[count], true)
    equal(engine.judge.state:save(), line.acceptance.state, "after line " .. count)
    if count == #given.texts then
      equal(engine.history.best.id, whole.history.best.id)
      equal(engine.history.gain, whole.history.gain)
    end
  end
end)

test("a journal of before, whose baseline was measured once: the noise is measured at the first candidate", function()
  local given = spec({}, 1, { texts = {}, x = {}, budget = { iterations = 1 } })
  given.acceptance = nil
  fake.run(plain, given)
  equal(#json.decode(given.texts[1]).samples, 1)
  local lines = fake.run(plain, spec({ [2] = 8 }, 1, { texts = given.texts, x = given.x, budget = { iterations = 2 }, run = 2 }))
  equal(lines[3].outcome, "kept")
  local of_best = 0
  for _, entry in ipairs(lines[3].trace) do of_best = of_best + (entry.id == "c0000" and 1 or 0) end
  ok(of_best >= 19, of_best .. " measurements of the best")
end)

test("a candidate or a best that crashes while it is confirmed is not kept", function()
  for _, which in ipairs { 8, 0 } do
    local given = spec({ 8 }, 1, { budget = { iterations = 1 } })
    local measure, count = given.world.measure, 0
    given.world.measure = function(x, ...)
      count = count + 1
      if count > 24 and (x > 4) == (which > 0) then return { status = "crash", reason = "no luck" } end
      return measure(x, ...)
    end
    local lines = fake.run(plain, given)
    equal({ lines[2].outcome, lines[2].acceptance.verdict }, { "reverted_worse_metric", "rejected" })
  end
end)

test("with several workers each candidate is judged against the best of its turn", function()
  local given = spec({ [2] = 6, [3] = 6, [4] = 6 }, 1, { workers = 4, budget = { iterations = 12 } })
  local lines, _, engine = fake.run([[return { halt = function() end,
    plan = function(run) return { parents = { run.baseline } } end }]], given)
  equal(#by_outcome(lines, "kept") >= 1 and #by_outcome(lines, "kept") <= 2, true, "equal ones do not follow one another")
  ok(engine.history.best.value > 4, "a real one leads")
end)

-- Four workers whose measurements take a moment. check(slot, record, flying) is called during each of a candidate that
-- has a value already; flying: how many such there are now, by phase.
local function beside(steps, more, check)
  local given = spec(steps, 1, more)
  local measure, flying = given.world.measure, { VERIFY = 0, DECIDE = 0 }
  given.workers = 4
  function given.world.delay(slot)
    if slot.value and slot.acceptance == nil and slot.number > 0 then flying[slot.phase] = flying[slot.phase] + 1 end
    return slot.number > 0 and 0.002 or nil
  end
  function given.world.measure(x, _, slot, record)
    if slot.value and slot.acceptance == nil and slot.number > 0 then
      check(slot, record, flying)
      flying[slot.phase] = flying[slot.phase] - 1
    end
    return measure(x)
  end
  return given
end

test("with several workers candidates are screened side by side, and confirmed one at a time against the best", function()
  local screens, most, engine, wrong = 0, 0, nil, nil
  local given = beside({ [3] = 6, [9] = 6 }, { budget = { iterations = 16 } }, function(slot, record, flying)
    screens, most = math.max(screens, flying.VERIFY), math.max(most, flying.DECIDE)
    if flying.DECIDE == 0 or slot.phase ~= "DECIDE" or record.id == slot.candidate.id then return end
    if record.id ~= engine.history.best.id then wrong = slot.number end
  end)
  given.acceptance.final = 0
  engine = fake.engine(plain, given)
  assert(engine:run { run_number = 1 })
  equal({ screens >= 2, most, wrong }, { true, 1, nil })
  equal(engine.history.best.value > 4, true)
  equal(engine.judge.state:save().screened >= 16, true, "every screen counts")
  local folded = fake.engine(plain, { texts = engine.journal.texts, acceptance = given.acceptance })
  equal(folded.judge.state:save(), engine.judge.state:save(), "what a fold knows")
end)

test("with several workers no more is measured than the budget has", function()
  for limit = 21, 45, 3 do
    local given = beside({ [2] = 6 }, { budget = { measurements = limit, iterations = 40 } }, function() end)
    given.acceptance.final = 0
    local sum = 0
    for index, line in ipairs((fake.run(plain, given))) do sum = sum + (index > 1 and line.measurements or 0) end
    equal(sum <= limit, true, ("%d of %d"):format(sum, limit))
  end
end)

tap.done()
