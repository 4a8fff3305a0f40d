-- models: which model a proposal asks, as the journal, the seed and what is in flight have it.
local direction = require "apsis.direction"
local fake = require "fake"
local models = require "apsis.core.models"
local random = require "apsis.random"
local tap = require "tap"
local test, equal = tap.test, tap.equal

local two = { { name = "good", weight = 1 }, { name = "bad", weight = 2 } }

-- A world in which the model `good` adds to the best and `bad` fails; both say what they cost.
local function world(more)
  local made = { answers = function(slot)
    if slot.proposal.model ~= "good" then return { error = "exit 3", tokens = 1, cost = 0.01 } end
    return { edits = { x = 1 + slot.number / 100 }, tokens = 1, cost = 0.01 }
  end }
  for key, value in pairs(more or {}) do made[key] = value end
  return made
end

local function models_of(lines)
  local list = {}
  for index = 2, #lines do list[lines[index].experiment] = lines[index].proposal.model or "-" end
  return list
end

local function counts_of(lines)
  local counts = {}
  for _, name in ipairs(models_of(lines)) do counts[name] = (counts[name] or 0) + 1 end
  return counts
end

test("without models no proposal is given one, and run.models is empty", function()
  local lines = fake.run("return { plan = function(run) return { notes = { models = #run.models } } end }", { budget = { iterations = 1 } })
  equal({ lines[2].proposal.model, lines[2].model, lines[2].notes.models }, { nil, nil, 0 })
end)

test("only ucb over several models learns", function()
  local function learns(list, choice) return models.new(list, choice, direction.new { name = "score" }).learns end
  equal({ learns(two, "ucb"), learns(two, "weighted"), learns({ two[1] }, "ucb"), learns(nil, "ucb") },
    { true, false, false, false })
end)

test("what is in flight, and what the same plan asks before, is counted by model; who needs none gets none", function()
  local made, seen = models.new(two, "ucb", direction.new { name = "score" }), {}
  made.arms = { choose = function(_, _, pending)
    seen[#seen + 1] = { pending.good or 0, pending.bad or 0 }
    return "bad"
  end }
  local proposals = { {}, { model = "good" }, { edits = {} }, { measure = "c0001" }, {} }
  made:fill(proposals, 1, 7, { [5] = { proposal = { model = "good" } }, [6] = { proposal = { model = "good" } }, [4] = { proposal = {} } })
  equal(seen, { { 2, 0 }, { 3, 1 } })
  local named = {}
  for index, proposal in ipairs(proposals) do named[index] = proposal.model or "-" end
  equal(named, { "bad", "good", "-", "-", "bad" })
end)

test("fixed names the first, weighted names each by weight, and the line says which", function()
  local lines = fake.run("return {}", { models = two, model_choice = "fixed", world = world(), budget = { iterations = 4 } })
  equal(models_of(lines), { "good", "good", "good", "good" })
  equal(lines[2].model, "good")
  local counts = counts_of((fake.run("return {}", { models = two, world = world(), budget = { iterations = 300 } })))
  equal(counts.bad > 160 and counts.bad < 240, true, "bad was asked " .. counts.bad .. " times of 300")
end)

test("a model that the strategy names is left alone, and what asks nobody gets none", function()
  local source = [[return { plan = function(run)
    assert(#run.models == 2 and run.models[1] == "good")
    run.models[1] = "spoiled"
    if run.experiment == 1 then return { model = "bad" } end
    if run.experiment == 2 then return { edits = { x = 5 } } end
    if run.experiment == 3 then return { measure = { run.best } } end
    if run.experiment == 4 then return { ask = "why" } end
    if run.experiment == 5 then return { parents = { run.best } } end end }]]
  local lines = fake.run(source, { models = two, model_choice = "fixed", world = world() })
  equal(models_of(lines), { "bad", "-", "-", "good", "good" })
end)

test("ucb learns from failures and gains, and asks the better one more often", function()
  local counts = counts_of((fake.run("return {}", { models = two, model_choice = "ucb", world = world(), budget = { iterations = 60 } })))
  equal(counts.good > 40, true, "good was asked " .. counts.good .. " times of 60")
end)

test("a gain is rewarded by the median of the sizes of all gains so far", function()
  local made, rng = models.new(two, "ucb", direction.new { name = "score" }), random.stream "gains"
  local got, sizes = nil, {}
  made.arms.learn = function(_, name, reward) got = { name, reward } end
  for index = 1, 200 do
    local gain = index % 7 == 0 and sizes[1] or rng:integer(-50, 50) / 8
    table.insert(sizes, math.abs(gain))
    local sorted = table.move(sizes, 1, #sizes, 1, {})
    table.sort(sorted)
    local middle = #sorted // 2
    local median = #sorted % 2 == 1 and sorted[middle + 1] or (sorted[middle] + sorted[middle + 1]) / 2
    made:learn({ outcome = "kept", model = "good", primary_metric = 10 + gain, parents = { "c0000" }, proposal = { model = "good" } },
      { value_of = function() return 10 end })
    equal(got, { "good", 1 / (1 + math.exp(-gain / math.max(median, 1e-12))) }, index .. " gains")
  end
end)

test("ucb rewards what is better in the metric's direction", function()
  for way, better in pairs { higher = "up", lower = "down" } do
    local moves = { answers = function(slot)
      return { edits = { x = (slot.proposal.model == "up" and 1 or -1) * (1 + slot.number / 1000) } }
    end }
    local lines = fake.run("return { plan = function(run) return { parents = { run.baseline } } end }", { world = moves,
      models = { { name = "up" }, { name = "down" } }, model_choice = "ucb", metric = { name = "score", direction = way },
      budget = { iterations = 60 } })
    equal(counts_of(lines)[better] > 35, true, better .. " of 60 where better is " .. way .. ": " .. counts_of(lines)[better])
  end
end)

test("ucb asks the cheaper of two that yield the same more often", function()
  local same = { answers = function(slot)
    return { edits = { x = 1 + slot.number / 1e9 }, cost = slot.proposal.model == "dear" and 0.09 or 0.01 }
  end }
  local counts = counts_of((fake.run("return { plan = function(run) return { parents = { run.baseline } } end }", { world = same,
    models = { { name = "dear" }, { name = "cheap" } }, model_choice = "ucb", budget = { iterations = 60 } })))
  equal(counts.cheap > 35, true, "cheap was asked " .. counts.cheap .. " times of 60")
end)

test("parallel workers spread over the models, also within a group", function()
  local three = { { name = "a" }, { name = "b" }, { name = "c" } }
  local source = [[return { plan = function(run)
    local group = {}
    for i = 1, run.free do group[i] = { parents = { run.baseline } } end
    return group end }]]
  local lines = fake.run(source, { workers = 3, models = three, model_choice = "ucb", budget = { iterations = 3 },
    world = { answers = function(slot) return { edits = { x = slot.number } } end } })
  equal(models_of(lines), { "a", "b", "c" })
end)

test("a run that is cut and goes on chooses as the uncut one did", function()
  for _, choice in ipairs { "weighted", "ucb" } do
    local spec = { models = two, model_choice = choice, budget = { iterations = 24 }, world = world() }
    local whole = fake.run("return {}", spec)
    spec.budget = { iterations = 11 }
    local _, _, engine = fake.run("return {}", spec)
    spec.budget, spec.texts, spec.x = { iterations = 24 }, engine.journal.texts, engine.world.x
    equal(models_of((fake.run("return {}", spec))), models_of(whole), choice)
    equal(#models_of(whole), 24)
  end
end)

test("a model that failed where another answered is learned as failed", function()
  local fallback = { answers = function(slot)
    return { edits = { x = 1 + slot.number / 100 }, model = "steady" } -- whoever was asked first
  end }
  local lines = fake.run("return {}", { models = { { name = "broken" }, { name = "steady" } }, model_choice = "ucb", world = fallback,
    budget = { iterations = 60 } })
  equal(counts_of(lines).steady > 35, true, "steady was asked first " .. counts_of(lines).steady .. " times of 60")
  equal(lines[2].model, "steady")
end)

test("a model's name that the manifest does not have is credited to the one asked", function()
  local dated = { answers = function(slot) return { edits = { x = 1 + slot.number / 100 }, model = slot.proposal.model .. "-2026-01" } end }
  local lines = fake.run("return {}", { models = two, model_choice = "ucb", world = dated, budget = { iterations = 6 } })
  equal({ lines[2].model, lines[3].model }, { "bad-2026-01", "good-2026-01" })
end)

test("a strategy's error is no model's fault", function()
  local spec = { models = two, model_choice = "ucb", budget = { iterations = 2 },
    world = { answers = function(slot) return { edits = { x = slot.number } } end } }
  local _, _, engine = fake.run("return { accept = function() error 'boom' end }", spec)
  equal({ engine.models.arms.by_name.good.pulls, engine.models.arms.by_name.bad.pulls }, { 0, 0 })
end)

test("resampling keeps the model that was chosen", function()
  local source = [[return { select = function(run, proposal)
    if proposal.title == "again" then return 1 end
    return "resample", { parents = { run.best }, title = "again" } end }]]
  local lines = fake.run(source, { models = two, model_choice = "fixed", world = world(), budget = { iterations = 1 } })
  equal({ lines[2].proposal.title, lines[2].proposal.model, lines[2].plan.model }, { "again", "good", "good" })
end)

test("a gain counts by the median of all gains so far", function()
  local made = models.new({ { name = "a" }, { name = "b" } }, "ucb", direction.new { direction = "lower" })
  local learned, sizes, rng = nil, {}, random.stream "gains"
  made.arms = { by_name = { a = {}, b = {} }, learn = function(_, ...) learned = table.pack(...) end }
  local history = { value_of = function(_, id) return id == "c0001" and 10 or nil end, renewed = 0, count = 1 }
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
  made:learn({ outcome = "baseline" }, history)
  assert(made.low[1], "the same measure: nothing is forgotten")
  local arms = made.arms
  made:learn({ outcome = "baseline" }, { renewed = 7, count = 7 })
  equal({ #made.low, #made.high, made.arms == arms }, { 0, 0, false })
end)

tap.done()
