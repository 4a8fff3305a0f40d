-- A recorded run as a world of the lab: the recorded strategy gives its journal again, another as far as the recording
-- answers. Every journal is recorded here, over the fake world, whose experiments overlap where there are workers.
local definition = require "apsis.lab.definition"
local fs = require "apsis.fs"
local loop = require "apsis.core.loop"
local listed = require "apsis.core.listed"
local contract = require "fake"
local recorded = require "recorded"
local tap = require "tap"
local trial = require "apsis.lab.trial"
local worlds = require "apsis.lab.world"
local test, equal, matches = tap.test, tap.equal, tap.matches
local record, write, root = recorded.record, recorded.write, recorded.root

-- The lab's run of a strategy on a recording: the engine's lines and how it ended.
local function again(dir, source, spec)
  spec = spec or {}
  local strategy = assert(contract.strategy(source, spec.options))
  local world = worlds.new(assert(definition.load("replay:dir=" .. dir)), 1, { workers = spec.workers or 1 })
  local metric = { name = world.module.metric, direction = world.module.direction }
  local engine = loop.new { strategy = strategy, world = world, metric = metric, seed = 1, name = "again",
    workers = spec.workers or 1, journal = listed.new(), tie_breaker = "changed_loc",
    project = { name = "again", files = {} } }
  world.engine = engine
  assert(engine:fold())
  assert(engine:baseline(0))
  local ended, message = engine:run { run_number = 1 }
  local lines = {}
  for index = 1, engine.history.count do lines[index] = engine.history:at(index) end
  return lines, world.ended or ended and ended.reason or message, world
end

local function same_lines(got, expected)
  for _, key in ipairs { "experiment", "outcome", "value", "parents", "operator", "seen", "run" } do
    equal(contract.column(got, key), contract.column(expected, key), key)
  end
end

-- What came of each experiment differs: better, worse, nothing changed, no answer, a crash.
local mixed = {
  answers = function(slot)
    local number = slot.number
    if number % 7 == 0 then return { error = "no idea", tokens = 3, cost = 0.25 } end
    return { edits = { x = number % 5 == 0 and 0 or (number * 37) % 11 - 4 }, tokens = 10, cost = 0.5 }
  end,
  measure = function(x, _, _, record_)
    if record_.experiment % 11 == 10 then return { status = "crash", reason = "it broke" } end
    return { value = x }
  end,
}

local function delayed(milliseconds)
  local world = {}
  for key, value in pairs(mixed) do world[key] = value end
  function world.delay(slot) return (slot.number * 7 % 5) * milliseconds / 1000 end
  return world
end

local climb = "return { options = { patience = 1000 } }"

for _, workers in ipairs { 1, 4 } do
  test(("the recorded strategy gives its own journal again: %d at once"):format(workers), function()
    local dir, lines = record(climb, { workers = workers, budget = { iterations = 40 }, world = delayed(2) })
    local got, reason, world = again(dir, climb, { workers = workers })
    same_lines(got, lines)
    equal(reason, "the recording ends after experiment 40")
    equal(world:truth(got[#got]), lines[#lines].primary_metric)
    local tokens = 0
    for _, line in ipairs(lines) do tokens = tokens + (line.tokens or 0) end
    equal(world.engine.history.totals.tokens, tokens, "what it took")
  end)
end

local random = [[return {
  plan = function(run)
    local all = {}
    for index = 1, #run.history do
      if run.history[index].value then all[#all + 1] = run.history[index] end
    end
    return { parents = { run.rng:choice(all) }, operator = run.rng:random() < 0.5 and "exploration" or "exploitation" }
  end,
  halt = function(run) if run.experiment > 30 then return "enough" end end }]]

test("and so does a strategy whose plans depend on every line seen, where lower is better", function()
  local metric = { name = "score", direction = "lower" }
  local dir, lines = record(random, { workers = 3, metric = metric, budget = {}, world = delayed(1) })
  local got, reason = again(dir, random, { workers = 3 })
  same_lines(got, lines)
  equal(reason, "enough")
end)

test("lines that were logged together, before the next plan, are again", function()
  local batch = "return { plan = function(run) if #run.pending == 0 or run.experiment % 3 ~= 1 then "
    .. "return { parents = { run.recent(1)[1].id or run.best } } end end, accept = function() return true end }"
  local world = { answers = function(slot) return { edits = { x = slot.number } } end,
    delay = function() return 0.003 end }
  local dir, lines = record(batch, { workers = 3, budget = { iterations = 12 }, world = world })
  same_lines((again(dir, batch, { workers = 3 })), lines)
end)

local groups = [[return {
  plan = function(run)
    if run.free < 3 then return nil end
    return { { parents = { run.best } }, { parents = { run.best } },
      { parents = { run.baseline }, operator = "exploration" } }
  end,
  accept = function(run, candidate)
    return run.metric:best_of(candidate.siblings).id == candidate.id and run.metric:better(candidate, run.best)
  end }]]

test("groups are decided together again", function()
  local world = { answers = function(slot) return { edits = { x = (slot.number * 5) % 7 + slot.number / 100 } } end,
    delay = function(slot) return (4 - slot.number % 3) / 1000 end }
  local dir, lines = record(groups, { workers = 3, budget = { iterations = 12 }, world = world })
  same_lines((again(dir, groups, { workers = 3 })), lines)
end)

-- Measures the newest best and the candidate before it keeps anything; now and then measures old ones, and asks.
local careful = [[return {
  plan = function(run)
    if run.experiment % 6 == 4 and #run.pending == 0 then return { measure = { run.best.id, "c0000" }, repeats = 2 } end
    if run.experiment % 6 == 5 and #run.pending == 0 then return { ask = "what next" } end
    return { parents = { run.best } }
  end,
  accept = function(run, candidate)
    if #candidate.samples < 3 then return "measure", { ids = { candidate.id, run.best.id } } end
    return run.metric:better(candidate, run.best)
  end }]]

local function noisy()
  local drawn = 0
  return { answers = function(slot) return { edits = { x = slot.number % 3 - 0.9 } } end,
    measure = function(x)
      drawn = drawn + 1
      return { value = x + (drawn * 29 % 13) / 13 }
    end }
end

test("what was measured again, by a plan or by accept, is given again", function()
  local dir, lines = record(careful, { budget = { iterations = 14 }, world = noisy() })
  local got, reason = again(dir, careful)
  same_lines(got, lines)
  equal(contract.column(got, "answer"), contract.column(lines, "answer"))
  matches(reason, "the recording ends after")
  local known = {}
  for _, line in ipairs(lines) do known[line.outcome] = (known[line.outcome] or 0) + 1 end
  equal(known.measured > 0 and known.asked > 0 and known.kept > 0, true)
end)

test("a second run begins anew, as it was recorded", function()
  local source = "return { options = { patience = 2 } }"
  local world = { answers = function(slot) return { edits = { x = -slot.number } } end }
  local _, _, first = contract.run(source, { world = world })
  local x = {}
  for index, line in ipairs { 0, -1, -2 } do x[("c%04d"):format(index - 1)] = line end
  local dir, lines = record(source, { world = world, texts = first.journal.texts, x = x, run = 2 })
  equal(contract.column(lines, "run"), { 0, 1, 1, 2, 2 })
  same_lines((again(dir, source)), lines)
end)

test("from the first other proposal on the recording does not answer: the run ends, what was in flight has its line",
  function()
  local dir, lines = record(climb, { workers = 3, budget = { iterations = 20 }, world = delayed(2) })
  local other = [[return { plan = function(run)
    if run.experiment == 8 then return { parents = { run.baseline }, operator = "exploration" } end
    return { parents = { run.best } }
  end }]]
  local got, reason = again(dir, other, { workers = 3 })
  equal(reason, ("the recording cannot be followed from experiment 8 on: this strategy would have planned "
    .. "exploration of c0000, recorded is exploitation of %s"):format(lines[9].experiment == 8 and lines[9].parents[1]
      or reason:match("recorded is exploitation of (c%d+)$")))
  equal(#got, 8)
  local numbers = contract.column(got, "experiment")
  table.sort(numbers)
  equal(numbers, { 0, 1, 2, 3, 4, 5, 6, 7 })
end)

test("what was planned after it in the same moment has none", function()
  local dir = record(climb, { workers = 3, budget = { iterations = 9 }, world = delayed(1) })
  local other = [[return { plan = function(run)
    return { parents = { run.best }, operator = run.experiment == 1 and "exploration" or nil }
  end }]]
  local got, reason = again(dir, other, { workers = 3 })
  equal(#got, 1)
  matches(reason, "would have planned exploration of c0000, recorded is exploitation of c0000")
end)

test("the order is the journal's, whatever the recorded seconds say", function()
  local _, _, engine = contract.run(random, { workers = 3, budget = {}, world = delayed(1) })
  local texts, lines = {}, {}
  for index, text in ipairs(engine.journal.texts) do
    texts[index] = text:gsub('"seconds":[^,}]+', '"seconds":' .. (index * 31 % 17))
    lines[index] = engine.history:at(index)
  end
  same_lines((again(write(texts), random, { workers = 3 })), lines)
end)

test("a trial's record says why it ended and holds what happened until then", function()
  local dir, lines = record(climb, { budget = { iterations = 9 }, world = mixed })
  local path = root .. "/other.lua"
  assert(fs.write(path, "return { plan = function(run)"
    .. " return { parents = { run.experiment < 5 and run.best or run.baseline } } end }"))
  local done = assert(trial.run { strategy = { use = path }, definition = assert(definition.load("replay:dir=" .. dir)),
    seed = 1, evaluations = 100 })
  equal(done.reason, "the recording cannot be followed from experiment 5 on: this strategy would have planned "
    .. "exploitation of c0000, recorded is exploitation of " .. lines[6].parents[1])
  equal({ done.experiments, done.baseline, done.best }, { 4, 0, lines[5].best })
  equal(done.outcomes.skipped_provider_failure, nil)
end)

test("a definition has the recorded direction and metric", function()
  local dir = record(climb, { metric = { name = "score", direction = "lower" }, budget = { iterations = 2 } })
  local loaded = assert(definition.load("replay:dir=" .. dir))
  equal({ loaded.module.direction, loaded.module.metric }, { "lower", "score" })
end)

test("a recording that cannot be a world is refused, and says why", function()
  matches(select(2, definition.load("replay:dir=/nowhere/at/all")), "no journal at /nowhere/at/all/logs/results.jsonl")
  matches(select(2, definition.load("replay:dir="
    .. write { '{"experiment":0,"outcome":"baseline","primary_metric":null}' })),
    "the first baseline in .*results.jsonl has no measurement: give the project of another run")
  matches(select(2, definition.load("replay:dir=" .. write { "{" })), "results.jsonl:1:")
  local dir = record(climb, { budget = { iterations = 2 } })
  matches(select(2, definition.load("replay:dir=" .. dir .. ",noise=gaussian")), "no other can be put on it")
end)

-- ---- workers ----

local function trial_of(dir, source, workers)
  local path = root .. "/strategy.lua"
  assert(fs.write(path, source))
  return assert(trial.run { strategy = { use = path }, definition = assert(definition.load("replay:dir=" .. dir)),
    seed = 1, evaluations = 100, workers = workers })
end

test("a trial has as many workers as were recorded where none are asked for", function()
  for workers = 1, 4 do
    local dir, lines = record(climb, { workers = workers, budget = { iterations = 20 }, world = delayed(2) })
    local done = trial_of(dir, climb)
    equal({ done.reason, done.experiments, done.best }, { "the recording ends after experiment 20", 20,
      lines[#lines].best })
    equal(trial_of(dir, climb, workers).reason, done.reason)
  end
end)

test("another number of workers is named as the reason if the recording cannot be followed, not if it ends", function()
  local dir = record(climb, { workers = 4, budget = { iterations = 20 }, world = delayed(2) })
  matches(trial_of(dir, climb, 1).reason, "^the recording cannot be followed from experiment %d+ on: this strategy "
    .. "would have planned .*; it was recorded with 4 workers: %-%-workers 4$")
  local other = "return { plan = function(run) return { parents = { run.baseline }, operator = 'exploration' } end }"
  equal(trial_of(dir, other).reason:find("workers", 1, true), nil)
  local alone = record(climb, { budget = { iterations = 20 }, world = delayed(2) })
  matches(trial_of(alone, climb, 3).reason, "; it was recorded with 1 worker: %-%-workers 1$")
  local flat = "return { plan = function(run) return { parents = { run.baseline } } end, halt = function() end }"
  equal(trial_of((record(flat, { budget = { iterations = 9 }, world = mixed })), flat, 3).reason,
    "the recording ends after experiment 9")
end)

fs.remove_tree(root)
tap.done()
