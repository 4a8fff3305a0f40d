-- budget: no limit is passed: what a proposal may take is reserved before it starts, and what was taken is never forgotten.
local budget = require "apsis.core.budget"
local fake = require "fake"
local tap = require "tap"
local test, equal, matches = tap.test, tap.equal, tap.matches

local function sum(lines, key)
  local total = 0
  for _, line in ipairs(lines) do total = total + (line[key] or 0) end
  return total
end

local function spread(slot) return { edits = { x = slot.number } } end

-- A world whose provider takes a given number of tokens (and a ten thousandth of it in dollars), slowly.
local function paid(tokens, estimate)
  return {
    estimate = estimate and function(_, proposal) return estimate(proposal) end or nil,
    delay = function() return 0.002 end,
    answers = function(slot)
      local answer, took = spread(slot), tokens(slot)
      answer.tokens, answer.cost = took, took / 10000
      return answer
    end,
  }
end

test("with four workers and exact estimates a cap of tokens is never passed, and is used as far as it goes", function()
  local world = paid(function() return 300 end, function() return 300, 0.03 end)
  local lines, ended = fake.run("return {}", { workers = 4, budget = { tokens = 2000 }, world = world })
  equal(sum(lines, "tokens"), 1800)
  matches(ended.reason, "^budget: 200 tokens left, the next proposal may take 300$")
end)

test("what other machines cost counts in a cap of dollars, and is reserved while it is measured", function()
  local world = { answers = function(slot) return { edits = { x = 1 + slot.number }, cost = 0.25 } end,
    measure = function(x, _, slot)
      slot.machines = { queue_s = 1, run_s = 2, usd = (slot.machines and slot.machines.usd or 0) + 0.75 }
      return { value = x }
    end }
  local lines, ended = fake.run("return {}", { workers = 4, budget = { usd = 6 }, world = world })
  equal(#lines, 7) -- the baseline costs 0.75 before the run
  matches(ended.reason, "budget: usd used up %(6 in this run%)")
  local few, _, engine = fake.run("return {}", { workers = 4, budget = { usd = 1.4 }, world = world })
  equal({ #few, engine.history.totals.usd, engine.history.totals.machines }, { 2, 1.75, 1.5 })
end)

test("what a measurement on other machines may cost is the mean of those there, whatever was measured here before", function()
  local totals = { asked = 0, tokens = 0, usd = 6, machines = 6, measurements = 300, priced = 3 }
  local held = budget.new({ usd = 5 }, { run_totals = { usd = 0 }, totals = totals }, function() return 0 end)
  equal((held:refuses({}, { {}, {} })), nil)
  equal({ held:refuses({}, { {}, {}, {} }) }, { "budget: 5 usd left, the next proposals may take 6", true })
  equal(held:room(24), 2)
  totals.usd, totals.machines, totals.priced = 0.6, 0.6, 3
  held = budget.new({ usd = 0.3 }, { run_totals = { usd = 0 }, totals = totals }, function() return 0 end)
  equal({ held:refuses({}, { {}, {} }) }, { "budget: 0.3 usd left, the next proposals may take 0.4", true })
end)

test("an asking reserves what it needs beside what was taken, nothing else", function()
  local held = budget.new({ usd = 5, tokens = 100 }, { run_totals = { usd = 0 } }, function() return 0 end)
  local slot = { reserved = {} }
  held:hold_asking(slot, { usd = 0.5, tokens = 20 })
  equal({ held.reserved.usd, held.reserved.tokens }, { 0.5, 20 })
  slot.cost, slot.tokens = 0.25, 10
  held:hold_asking(slot)
  equal({ held.reserved.usd, held.reserved.tokens }, { 0.25, 10 })
end)

test("with four workers a cap of dollars is not passed by more than the estimates' error", function()
  local world = paid(function(slot) return 300 + slot.number % 3 * 10 end, function() return 300, 0.03 end)
  local lines, ended = fake.run("return {}", { workers = 4, budget = { usd = 0.5 }, world = world })
  local spent = sum(lines, "cost")
  equal(spent > 0.44 and spent <= 0.5 + 4 * 0.002, true, "spent " .. spent)
  matches(ended.reason, "^budget: [%d.e-]+ usd left, the next proposal may take 0.03$")
end)

test("an estimate that is too high holds back only until the answers are there", function()
  local world = paid(function() return 100 end, function() return 1000, 0.1 end)
  local lines, ended = fake.run("return {}", { workers = 4, budget = { tokens = 3000 }, world = world })
  equal(sum(lines, "tokens"), 2100) -- 900 left do not cover the next
  matches(ended.reason, "900 tokens left, the next proposal may take 1000")
end)

test("a world that cannot tell is estimated by the mean of what was taken", function()
  local world = paid(function() return 100 end)
  local lines, ended = fake.run("return {}", { budget = { tokens = 250 }, world = world })
  equal(sum(lines, "tokens"), 200)
  matches(ended.reason, "50 tokens left, the next proposal may take 100")
  local told = paid(function() return 100 end, function() return nil, 0.01 end)
  equal(sum((fake.run("return {}", { budget = { tokens = 250 }, world = told })), "tokens"), 200)
end)

test("the first proposal that costs more than there is never starts", function()
  local world = paid(function() error("asked all the same") end, function() return 3000 end)
  local lines, ended = fake.run("return {}", { budget = { tokens = 1200 }, world = world })
  equal(#lines, 1)
  equal(ended.reason, "budget: 1200 tokens left, the next proposal may take 3000")
end)

test("what the cap exactly covers starts, in dollars that do not add up exactly, too", function()
  local world = paid(function() return 1000 end, function() return 1000, 0.1 end)
  local lines, ended = fake.run("return {}", { budget = { usd = 1 }, world = world })
  equal(#lines, 11)
  matches(ended.reason, "budget: usd used up %(1 in this run%)")
end)

test("proposals that ask nobody start when no token is left to be reserved", function()
  local source = [[return { plan = function(run)
    if run.experiment > 3 then return nil end
    if run.experiment == 3 then return { measure = { "c0000" } } end
    return { parents = { run.baseline }, edits = { x = run.experiment } } end }]]
  local world = paid(function() error("asked") end, function() return 1e9, 1e9 end)
  local lines, ended = fake.run(source, { budget = { tokens = 10 }, world = world })
  equal(#lines, 4)
  matches(ended.reason, "plans nothing more")
end)

test("a group is covered as a whole, or waits and is not started in part", function()
  local source = [[return { plan = function(run)
    if run.free < 2 then return nil end
    return { { parents = { run.baseline } }, { parents = { run.baseline } } } end }]]
  local world = paid(function() return 100 end, function() return 100, 0.01 end)
  local lines, ended = fake.run(source, { workers = 2, budget = { tokens = 350 }, world = world })
  equal(#lines, 3)
  matches(ended.reason, "plans nothing more")
  local _, at_once = fake.run("return { plan = function(run) return { {}, {} } end }",
    { workers = 2, budget = { tokens = 150 }, world = world })
  matches(at_once.reason, "150 tokens left, the next proposals may take 200")
end)

test("run.free stays within the tokens left, and run.budget tells what is reserved", function()
  local source = [[return { plan = function(run)
    return { parents = { run.baseline }, notes = { free = run.free, reserved = run.budget.tokens.reserved,
      left = run.budget.tokens.left } } end }]]
  local world = paid(function() return 100 end, function() return 100, 0.01 end)
  world.delay = function(slot) return slot.number * 0.01 end
  local lines = fake.run(source, { workers = 4, budget = { tokens = 300 }, world = world })
  local notes = {}
  for _, line in ipairs(lines) do notes[line.experiment] = line.notes end
  equal(notes[1], { free = 4, reserved = 0, left = 300 })
  equal(notes[2], { free = 2, reserved = 100, left = 200 })
  equal(notes[3], { free = 1, reserved = 200, left = 100 })
  equal(#lines, 4)
end)

test("asking again is reserved like asking, and refused where it is not covered", function()
  local source = [[return { select = function(run, proposal)
    if proposal.title == "again" then return 1 end
    return "resample", { parents = { run.best }, title = "again" } end }]]
  local world = paid(function() return 100 end, function() return 100, 0.01 end)
  local lines = fake.run(source, { budget = { tokens = 350 }, world = world })
  equal(fake.column(lines, "outcome"), { "baseline", "kept", "skipped_not_selected" })
  equal(fake.column(lines, "tokens"), { "-", 200, 100 })
  equal(lines[3].rollback_reason, "budget: 50 tokens left, asking again may take 100")
end)

test("what was taken before a crash counts, and what is not covered any more is not asked again", function()
  local function again(tokens)
    return { { number = 1, seen = 1, now = 5, tokens = tokens, cost = 0.02, proposal = { parents = { "c0000" } } },
      { number = 2, seen = 1, now = 5, tokens = 200, proposal = { parents = { "c0000" } } } }
  end
  local world = paid(function() return 100 end, function() return 100, 0.01 end)
  local lines, ended = fake.run("return {}", { budget = { tokens = 600 }, world = world, unfinished = again(200) })
  equal(fake.column(lines, "tokens"), { "-", 300, 300 })
  equal(math.abs(lines[2].cost - 0.03) < 1e-12, true)
  matches(ended.reason, "budget: tokens used up")
  lines = fake.run("return {}", { budget = { tokens = 550 }, world = world, unfinished = again(300) })
  equal(fake.column(lines, "outcome"), { "baseline", "skipped_not_selected", "skipped_not_selected" })
  equal(lines[2].rollback_reason, "budget: 50 tokens left, doing it again may take 100")
  equal(fake.column(lines, "tokens"), { "-", 300, 200 })
end)

test("the world is told of what was paid before anything else is done", function()
  for tokens, expected in pairs { [100] = { { 1, 100 }, { 2, 100 } }, [1] = { { 1, 1 }, { 2, 1 } }, [0] = {} } do
    local told = {}
    local world = paid(function() return tokens end)
    function world.spent(_, slot) told[#told + 1] = { slot.number, slot.tokens } end
    fake.run("return {}", { budget = { iterations = 2 }, world = world })
    equal(told, expected)
  end
end)

-- A provider of single requests: each is covered first, is in the air for a while, and takes `took` tokens.
local function by_request(estimate, took, requests, told)
  return {
    estimate = function() return estimate, estimate / 10000 end,
    delay = function() return 0.002 end,
    spent = told,
    answers = function(slot)
      local answer = spread(slot)
      answer.tokens, answer.cost = 0, 0
      for _ = 1, requests do
        local ok, short = slot:afford(estimate, estimate / 10000)
        if not ok then
          answer.error = "cut off; " .. short
          return answer
        end
        slot:took(took - estimate, (took - estimate) / 10000)
        answer.tokens, answer.cost = answer.tokens + took, answer.cost + took / 10000
      end
      return answer
    end,
  }
end

test("each further request of an experiment must be covered, so that a cap is not passed by its retries", function()
  for _, workers in ipairs { 1, 4 } do
    for _, limits in ipairs { { tokens = 6100 }, { usd = 0.61 } } do
      local lines, ended = fake.run("return {}", { workers = workers, budget = limits, world = by_request(1000, 1000, 30) })
      local spent = sum(lines, "tokens")
      equal(spent > 5000 and spent <= 6100, true, "spent " .. spent)
      equal(lines[2].outcome, "skipped_provider_failure")
      matches(lines[#lines].rollback_reason, "^cut off; budget: [%d.e-]+ %a+ left, asking again may take [%d.e-]+$")
      matches(ended.reason, "^budget: [%d.e-]+ %a+ left, the next proposal may take")
    end
  end
end)

test("requests that take more than was estimated pass a cap by one request's error for each in flight", function()
  local lines = fake.run("return {}", { workers = 3, budget = { tokens = 6000 }, world = by_request(1000, 1500, 30) })
  local spent = sum(lines, "tokens")
  equal(spent <= 6000 + 3 * 500, true, "spent " .. spent)
end)

test("a request that took nothing is asked again within what was reserved for it", function()
  local lines = fake.run("return {}", { budget = { tokens = 1000, iterations = 1 }, world = by_request(1000, 0, 5) })
  equal(fake.column(lines, "outcome"), { "baseline", "kept" })
end)

test("what a request in the air may take is told to the world before it is sent, and what it took after it", function()
  local told = {}
  local world = by_request(1000, 300, 2, function(_, slot)
    told[#told + 1] = (slot.tokens or 0) + (slot.under_way and slot.under_way.tokens or 0)
  end)
  fake.run("return {}", { budget = { iterations = 1 }, world = world })
  equal(told, { 1000, 300, 1300, 600, 600 })
end)

test("a question counts like a proposal", function()
  local source = 'return { plan = function(run) return { ask = "why" } end }'
  local lines, ended = fake.run(source, { budget = { tokens = 7 }, world = { estimate = function() return 3, 0 end } })
  equal(fake.column(lines, "tokens"), { "-", 3, 3 })
  matches(ended.reason, "1 tokens left, the next proposal may take 3")
end)

test("nothing stays reserved when a run is over", function()
  local world = paid(function(slot) return slot.number * 7 end, function() return 50, 0.005 end)
  local _, _, engine = fake.run("return {}", { workers = 3, budget = { tokens = 400, usd = 9, iterations = 9 }, world = world })
  equal(engine.budget:reservations(), nil)
end)

test("a table of the limited kinds has limit, spent, reserved and left", function()
  local held = budget.new({ tokens = 100, minutes = 2 }, { run_totals = { tokens = 40 }, totals = { asked = 0 } }, function() return 30 end)
  held:reserve("tokens", 25)
  equal(held:table(), { tokens = { limit = 100, spent = 40, reserved = 25, left = 35 },
    minutes = { limit = 2, spent = 0.5, reserved = 0, left = 1.5 } })
  equal(held:reservations(), { tokens = 25 })
end)

test("what was paid stays in the state note until its experiment begins again, through a second crash, too", function()
  local fs, note = require "apsis.fs", require "apsis.live.note"
  local dir = fs.tempdir()
  fs.mkdir(dir .. "/logs")
  local world = { history = { last_experiment = 0 }, branch = {}, need = function(_, value) return assert(value) end }
  local first = note.new(dir, world)
  first:spent { number = 3, phase = "APPLY_CHANGE", proposal = { operator = "a" }, tokens = 500, cost = 0.25,
    under_way = { tokens = 20, cost = 0 } }
  local plans = { { number = 3, proposal = { operator = "a" } }, { number = 4, proposal = { operator = "b" } } }
  local second = note.new(dir, world)
  second:carry(note.read(dir), plans)
  equal({ plans[1].tokens, plans[1].cost, plans[2].tokens }, { 520, 0.25, nil })
  second:phase { number = 4, phase = "PLAN", proposal = { operator = "b" } } -- the one worker is busy with another
  local left = note.read(dir).slots
  equal({ #left, left[1].experiment, left[1].tokens, left[2].experiment, left[2].tokens }, { 2, 3, 520, 4, 0 })
  second:carry({ slots = { { experiment = 4, tokens = "many", cost = -1 }, 7 } }, { { number = 4, proposal = {} } })
  second:finished { number = 4 }
  second:phase { number = 3, phase = "PLAN", proposal = { operator = "a" }, tokens = 520 }
  second:finished { number = 3 }
  second:write()
  equal(note.read(dir).slots, {})
  fs.remove_tree(dir)
end)

test("what accept asks to be measured again is covered by the budget too, or not measured and not kept", function()
  local source = [[return { accept = function(run, candidate)
    if #candidate.samples < 3 then return "measure", { ids = { candidate.id, run.best.id } } end
    return run.metric:better(candidate, run.best)
  end, halt = function() end }]]
  for _, workers in ipairs { 1, 4 } do
    local lines, ended = fake.run(source, { workers = workers, budget = { measurements = 17 }, world = { answers = spread } })
    local spent = -1 -- the baseline is of another run
    for _, line in ipairs(lines) do spent = spent + (line.measurements or 0) end
    equal(spent > 10 and spent <= 17, true, ("%d with %d workers"):format(spent, workers))
    matches(ended.reason, "measurements used up")
    local refused = 0
    for _, line in ipairs(lines) do
      if (line.rollback_reason or ""):find "measurements are asked for" then
        refused = refused + 1
        equal(line.kept or false, false)
      end
    end
    equal(refused > 0, true)
  end
end)

test("needs: the world's word, or the mean of what was taken, for each answer; and whether that is known", function()
  local history = { run_totals = {}, totals = { asked = 0, tokens = 0, usd = 0 } }
  local held = budget.new({ tokens = 100 }, history, function() return 0 end)
  local function needs(proposal, tokens, usd)
    return table.pack(held:needs({ estimate = function() return tokens, usd end }, proposal))
  end
  equal(needs({}, 5, 0.5), { { tokens = 5, usd = 0.5 }, true, n = 2 })
  equal({ needs({}, 5, nil), needs({}, nil, 0.5), needs({ k = 3 }, nil, nil) }, { { { tokens = 5, usd = 0 }, false, n = 2 },
    { { tokens = 0, usd = 0.5 }, false, n = 2 }, { { tokens = 0, usd = 0 }, false, n = 2 } })
  history.totals = { asked = 1, tokens = 5, usd = 1 }
  equal({ needs({}, nil, nil) }, { { { tokens = 5, usd = 1 }, true, n = 2 } })
  history.totals = { asked = 4, tokens = 20, usd = 2 }
  equal({ needs({ k = 3 }, nil, nil), needs({}, nil, 0.1), held:needs({}, { k = 2 }) },
    { { { tokens = 15, usd = 1.5 }, true, n = 2 }, { { tokens = 5, usd = 0.1 }, true, n = 2 }, { tokens = 10, usd = 1 }, true })
  equal({ held:needs({}, { edits = {} }), held:needs({}, { measure = {} }), budget.new({ iterations = 1 }, history):needs({}, {}) }, {})
end)

test("what is left covers what is needed, to the last token, or the reason is the kind, what is left and what is needed", function()
  local history = { run_totals = { tokens = 40, usd = 0.5 }, totals = { asked = 0 } }
  local held = budget.new({ tokens = 100, usd = 1 }, history, function() return 0 end)
  for _, case in ipairs {
    { { { tokens = 60, usd = 0.5 } } }, { { { tokens = 61, usd = 0 } }, "budget: 60 tokens left, X may take 61" },
    { { { tokens = 0, usd = 0.6 } }, "budget: 0.5 usd left, X may take 0.6" }, { { false, false } }, { {} },
    { { { tokens = 30, usd = 0 }, false, { tokens = 31, usd = 0 } }, "budget: 60 tokens left, X may take 61" },
    { { { tokens = 60 + 1e-9 * 100, usd = 0 } } }, -- less than what dollars are exact to
  } do
    equal(held:short_of(case[1], "X"), case[2])
  end
  held:reserve("tokens", 60)
  equal({ held:left "tokens", held:left "usd", held:left "iterations", held:short_of({ { tokens = 0, usd = 0 } }, "X") },
    { 0, 0.5, math.huge, "budget: 0 tokens left" })
  equal({ held:used_up() }, {})
  history.run_totals.tokens = 100
  equal(held:used_up(), "budget: tokens used up (100 in this run)")
  held = budget.new({ iterations = 3, measurements = 2 }, { run_totals = { iterations = 1 }, totals = {} }, function() return 0 end)
  equal({ held:room(9), held:room(1), held:room(0), held:room(-1) }, { 2, 1, 0, 0 })
  held:reserve("iterations", 1)
  equal({ held:room(9), held:used_up() }, { 1 })
  held:reserve("iterations", 1)
  equal({ held:room(9), held:used_up() }, { 0, "budget: iterations used up (3 in this run)" })
  equal({ held:short_of_measurements(2), held:short_of_measurements(3), held:short_of_measurements(1) },
    { nil, "budget: 3 measurements are asked for, 2 are left" })
  held:reserve("measurements", 2)
  equal(held:short_of_measurements(1), "budget: 1 measurement is asked for, 0 are left")
end)

test("what a slot takes is held for it, in every kind that is limited, and in no other", function()
  local history = { run_totals = {}, totals = { asked = 0, tokens = 0, usd = 0, machines = 0 } }
  local function opened(limits, proposal)
    local slot = { reserved = {} }
    budget.new(limits, history, function() return 0 end):open({}, slot, { proposal = proposal })
    return slot.reserved
  end
  equal(opened({ iterations = 3 }, {}), { iterations = 1 })
  equal(opened({ tokens = 3 }, {}), { tokens = 0 })
  equal(opened({ iterations = 3 }, { measure = { "c1" } }), {})
  equal(opened({ iterations = 3 }, { ask = "why" }), {})
  equal(opened({ measurements = 9 }, { measure = { "c1", "c2" }, repeats = 3 }), { measurements = 6 })
  equal(opened({ measurements = 9 }, { measure = { "c1", "c2" } }), { measurements = 2 })
  equal(opened({ measurements = 9 }, { ask = "why" }), { measurements = 0 })
  equal(opened({ measurements = 9 }, {}), { measurements = 1 })
  history.totals.machines, history.totals.priced = 6, 3
  equal(opened({ iterations = 3 }, {}), { iterations = 1, machines = 2 })
end)

test("one more verification on other machines raises what is held to what they cost, and lowers nothing", function()
  local held = budget.new({ usd = 9 }, { run_totals = {}, totals = { asked = 0, tokens = 0, usd = 0, machines = 0 } },
    function() return 0 end)
  local slot = { reserved = { usd = 2 }, machines = { usd = 0.5 }, cost = 0.25 }
  held:measured(slot)
  equal(slot.reserved.usd, 2)
  slot.machines.usd = 3
  held:measured(slot)
  equal({ slot.reserved.usd, slot.measurements }, { 3.25, 2 })
  slot = { reserved = {}, machines = { usd = 0.5 } }
  held:measured(slot)
  equal(slot.reserved.usd, 0.5)
end)

test("what a slot held is given back once", function()
  local held = budget.new({ iterations = 3, tokens = 9 }, { run_totals = {}, totals = { asked = 0, tokens = 0, usd = 0, machines = 0 } },
    function() return 0 end)
  local slot, other = { reserved = {} }, { reserved = {} }
  held:open({ estimate = function() return 4, 0 end }, slot, { proposal = {} })
  held:open({ estimate = function() return 3, 0 end }, other, { proposal = {} })
  equal(held:reservations(), { iterations = 2, tokens = 7 })
  for _ = 1, 2 do
    held:release(slot, true)
    equal(held:reservations(), { iterations = 1, tokens = 3 })
  end
  held:release({}, true)
  held:carry(2, 0.5)
  equal(held:reservations(), { iterations = 1, tokens = 5, usd = 0.5 })
  held:release(other, false)
  equal(held:reservations(), { tokens = 2, usd = 0.5 })
end)

test("a request is covered by what is left and what its slot holds, or is refused with what it may take", function()
  local held = budget.new({ tokens = 100, usd = 1 }, { run_totals = { tokens = 40, usd = 0 }, totals = {} }, function() return 0 end)
  local slot, other = { reserved = {} }, { reserved = {} }
  equal({ held:afford({}, slot, 61, 0) }, { nil, "budget: 60 tokens left, asking may take 61" })
  equal(slot.under_way, nil)
  equal(held:afford({}, slot, 50, 0.25), true)
  equal({ slot.under_way, slot.reserved, held.reserved },
    { { tokens = 50, cost = 0.25 }, { tokens = 50, usd = 0.25 }, { tokens = 50, usd = 0.25 } })
  equal({ held:afford({}, slot, 11, 0) }, { nil, "budget: 10 tokens left, asking again may take 11" })
  equal({ held:afford({}, other, 11, 0) }, { nil, "budget: 10 tokens left, asking may take 11" })
  equal({ held:afford({}, { reserved = {}, tokens = 1 }, 11, 0) }, { nil, "budget: 9 tokens left, asking again may take 11" })
  equal({ held:afford({}, other, 0, 0.8) }, { nil, "budget: 0.75 usd left, asking may take 0.8" })
  held:account({}, slot, -20, -1)
  equal(slot.under_way, { tokens = 30, cost = 0 })
  equal(held:afford({}, slot, 20, 0), true)
  equal({ slot.under_way, slot.reserved.tokens }, { { tokens = 50, cost = 0 }, 50 })
end)

test("minutes asked for in a run that goes on are told beside all of its own", function()
  local elapsed_s = 60
  local held = budget.new({}, { run = 3, run_totals = {} }, function() return elapsed_s end)
  held:limit({ minutes = 15 }, { minutes = 10 })
  equal(held:used_up(), nil)
  elapsed_s = 900
  equal(held:used_up(), "budget: minutes used up (5 since run 3 went on, 15 in all)")
  held:limit { minutes = 15 }
  equal(held:used_up(), "budget: minutes used up (15 in this run)")
end)

test("amounts are written whole, or to four places, and never with an exponent", function()
  local direction = require "apsis.direction"
  local texts = {}
  for index, amount in ipairs { 1962000, 2e6, 0, 0.00004, 0.004, 0.1 + 0.2, 1.23456, 1e-17, 0.0999999, 1 / 0 } do
    texts[index] = direction.amount(amount)
  end
  equal(texts, { "1962000", "2000000", "0", "0.00004", "0.004", "0.3", "1.2346", "0", "0.1", "inf" })
  local shown = require("apsis.prompt").budget { budget = { tokens = { left = 1962000, limit = 2000000 }, usd = { left = 0,
    limit = 4e-5 } } }
  equal(shown, "- tokens: 1962000 of 2000000 left\n- usd: 0 of 0.00004 left")
end)

tap.done()
