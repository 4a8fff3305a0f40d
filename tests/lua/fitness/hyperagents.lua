-- hyperagents: the open-ended archive of strategies/hyperagents.lua over a world without git; and the HyperAgents plugin's own
-- configuration read as a manifest's lower layer.
local config = require "apsis.project.config"
local fake = require "fake"
local fs = require "apsis.fs"
local hyperagents = require "apsis.fitness.hyperagents"
local json = require "apsis.json"
local random = require "apsis.random"
local tap = require "tap"

local test, equal, matches = tap.test, tap.equal, tap.matches

-- ---- the strategy ----

local SOURCE = [[return require("apsis.strategy").extend("hyperagents", {})]]

local function stepping(slot)
  return { edits = { x = random.stream(7, slot.number):random() - 0.5 }, tokens = 10, cost = 0 }
end

local function evolve(spec)
  spec.world = spec.world or {}
  spec.world.answers = spec.world.answers or stepping
  spec.budget = spec.budget or { iterations = 60 }
  return fake.run(SOURCE, spec)
end

local function outcomes(lines)
  local counts = {}
  for _, line in ipairs(lines) do counts[line.outcome] = (counts[line.outcome] or 0) + 1 end
  return counts
end

test("every candidate with a score is kept, and best is the engine's word", function()
  local lines, _, engine = evolve {}
  equal(outcomes(lines), { baseline = 1, kept = 60 })
  local most = lines[1].primary_metric
  for _, line in ipairs(lines) do most = math.max(most, line.primary_metric) end
  equal(engine.history.best.value, most)
end)

test("parents are drawn among all that were kept, not the best alone", function()
  local lines = evolve { options = { rule = "random" } }
  local parents, count = {}, 0
  for index = 2, #lines do
    if not parents[lines[index].parents[1]] then count = count + 1 end
    parents[lines[index].parents[1]] = true
  end
  equal(count > 10, true)
end)

test("a candidate without a score is no parent, but counts as its parent's child", function()
  local lines, _, engine = evolve { world = { measure = function(x, _, slot)
    if slot.number % 3 == 0 then return { status = "failed", reason = "review has no score" } end
    return { value = x }
  end } }
  equal(outcomes(lines), { baseline = 1, kept = 40, skipped_verification_crash = 20 })
  for _, line in ipairs(lines) do
    local parent = line.parents[1]
    equal(parent and tonumber(parent:sub(2)) ~= 0 and tonumber(parent:sub(2)) % 3 == 0 or false, false, line.candidate)
  end
  local sum = 0
  for _, children in ipairs(engine.strategy.memory.children) do sum = sum + children end
  equal(sum >= 59, true, "the last line is folded when something is planned after it: " .. sum)
end)

test("the rules of HyperAgents, its plugin and ShinkaEvolve may be chosen, and nothing else", function()
  for _, rule in ipairs { "score_prop", "score_child_prop", "proportional", "proportional_child", "weighted", "power_law" } do
    equal(#(evolve { options = { rule = rule }, budget = { iterations = 5 } }), 6, rule)
  end
  tap.raises("option rule must be .*did you mean \"weighted\"", evolve, { options = { rule = "weigthed" } })
  tap.raises("option alpha", evolve, { options = { alpha = -1.0 } })
end)

test("best draws the best alone; lower is better works too", function()
  for _, way in ipairs { "higher", "lower" } do
    local lines = evolve { options = { rule = "best" }, metric = { name = "score", direction = way } }
    local best, value = lines[1].candidate, lines[1].primary_metric
    for index = 2, #lines do
      equal(lines[index].parents, { best }, way)
      local mine = lines[index].primary_metric
      if way == "higher" and mine >= value or way == "lower" and mine <= value then best, value = lines[index].candidate, mine end
    end
  end
end)

test("score_child_prop, the default, leaves a parent that has had its children, however good it is", function()
  local lines = evolve { world = { measure = function(x) return { value = x == 0 and 1 or 0.2 } end }, budget = { iterations = 200 } }
  local children = 0
  for index = 2, #lines do
    if lines[index].parents[1] == "c0000" then children = children + 1 end
  end
  equal(children > 4 and children <= 20, true, children)
end)

test("children on their way count, so that workers at once do not all take one parent", function()
  local lines = evolve { workers = 4, options = { rule = "proportional_child" }, budget = { iterations = 40 },
    world = { delay = function() return 0.001 end, measure = function(x) return { value = 1 + x / 100 } end } }
  equal(outcomes(lines), { baseline = 1, kept = 40 })
end)

test("patience ends the run", function()
  local lines = evolve { options = { patience = 3 }, world = { measure = function(x) return { value = x == 0 and 1 or 0.5 } end } }
  equal(#lines, 4)
end)

-- ---- the plugin's configuration ----

local DATA = "../data/import/hyperagents/"

local function there() return true end

local function read(name) return hyperagents.plan(assert(fs.read(DATA .. name .. ".json")), there) end

local function keys_of(ignored)
  local keys = {}
  for index, one in ipairs(ignored) do keys[index] = one.key end
  return keys
end

test("a composite: domains, weights, commands, selection and budget are taken, the rest is listed with its reason", function()
  local value, ignored = read "composite"
  equal(value, {
    fitness = { domain = "composite", components = { { domain = "tests", weight = 0.5, run = "sh tests.sh" },
      { domain = "lint", weight = 0.2, run = "sh lint.sh", pattern = "^.+:\\d+:" }, { domain = "review", weight = 0.3 } } },
    strategy = { use = "hyperagents", options = { rule = "proportional_child" } }, budget = { iterations = 12, usd = 20.0 },
  })
  equal(keys_of(ignored), { "color", "score_key", "staged_eval" })
  for _, one in ipairs(ignored) do matches(one.reason, "%w+ %w+") end
end)

test("a registered domain: its scripts get the plugin's own arguments, its score key is known", function()
  local value, ignored = read "registered"
  local component = value.fitness
  equal({ component.domain, component.name, component.score_key, component.workers }, { "command", "my_domain", "accuracy", 2 })
  matches(component.harness.run, "^bash '.hyperagents/domains/my%-domain/harness.sh' %-%-task%-list .* %-%-num%-samples ")
  matches(component.report.run, "report.sh' %-%-output%-dir ")
  equal(value.strategy.options.rule, "proportional", "the plugin's default")
  equal(keys_of(ignored), { "domains.my-domain.can_ensemble", "domains.my-domain.eval_timeout", "domains.my-domain.splits",
    "domains.my-domain.staged_eval_fraction", "domains.my-domain.staged_eval_samples" })
end)

test("several domains are averaged, as the plugin does", function()
  for _, domain in ipairs { '["tests", "review"]', '"tests, review"' } do
    local value = hyperagents.plan(('{"domain": %s, "test_command": "t"}'):format(domain), there)
    equal(value.fitness, { domain = "composite", components = { { domain = "tests", run = "t", weight = 0.5 },
      { domain = "review", weight = 0.5 } } })
  end
  equal(hyperagents.plan('{"domain": ["review"]}', there).fitness, { domain = "review" })
end)

test("the plugin's rules by name mean the plugin's formulas", function()
  for method, rule in pairs { random = "random", latest = "latest", best = "best", score_prop = "proportional",
    score_child_prop = "proportional_child" } do
    equal(hyperagents.plan(('{"domain": "review", "selection_method": "%s"}'):format(method), there).strategy.options.rule, rule)
  end
end)

local wrong = {
  { "", "" }, { "[1]", "no JSON object" }, { "5", "no JSON object" }, { "{", "1:2" }, { "{}", "domain: is required" },
  { '{"domain": "review", "domain": "lint"}', "duplicate key" }, { '{"domain": 5}', "domain: is required" },
  { '{"domain": "tets"}', "no domain of the plugin.*did you mean 'tests'" }, { '{"domain": "custom"}', "is not under domains" },
  { '{"domain": "tests"}', "test_command: is required for the domain tests" },
  { '{"domain": "tests", "test_command": 5}', "must be a text" },
  { '{"domain": "composite"}', "components: must be a list" }, { '{"components": []}', "components: must be a list" },
  { '{"components": [5]}', "components%[1%]: must be" }, { '{"components": [{"weight": 1}]}', "components%[1%].domain: is required" },
  { '{"components": [{"domain": "review", "weight": 0}]}', "components%[1%].weight: must be a number above 0" },
  { '{"components": [{"domain": "composite"}]}', "no domain of the plugin" },
  { '{"domain": "review", "selection_method": "roulette"}', "selection_method: must be one of random, latest" },
  { '{"domain": "review", "max_generations": 2.5}', "max_generations: must be a whole number above 0" },
  { '{"domain": "review", "max_budget_usd": "20"}', "max_budget_usd: must be a number" },
  { '{"domain": "own", "domains": {"own": {"harness": "h.sh"}}}', "domains.own.reporter: is required" },
  { '{"domains": {"own": 5}}', "no domain of the plugin" },
}

for _, case in ipairs(wrong) do
  test("refused with what is wrong: " .. case[1]:sub(1, 70), function()
    local value, message = hyperagents.plan(case[1], there)
    equal(value, nil)
    matches(message, case[2])
  end)
end

test("a script that is not there is refused: every candidate would fail", function()
  local value, message = hyperagents.plan(assert(fs.read(DATA .. "registered.json")), function() return false end)
  equal(value, nil)
  matches(message, "domains.my%-domain.harness: there is no file '.hyperagents/domains/my%-domain/harness.sh'")
end)

test("odd values that no domain uses are listed, not stumbled over", function()
  local _, ignored = hyperagents.plan('{"domain": "review", "components": [5, {"x": 1}],'
    .. ' "domains": {"a": 1, "b": {"c": 2}}, "staged_eval": 7}', there)
  equal(keys_of(ignored), { "components", "components[2].x", "domains.b.c", "staged_eval" })
end)

-- ---- the layer ----

local scratch = assert(fs.tempdir "apsis-test-")
local folders = 0

-- A project with that manifest and that file of the plugin.
local function project(text, name)
  folders = folders + 1
  local dir = scratch .. "/" .. folders
  assert(fs.mkdir(dir .. "/.hyperagents"))
  assert(fs.write(dir .. "/manifest.yaml", text))
  assert(fs.write(dir .. "/.hyperagents/config.json", name:find("{", 1, true) and name or assert(fs.read(DATA .. name .. ".json"))))
  return config.load(dir)
end

local BARE = "version: 1\nfiles: [{path: a, mode: writable}]\n"

test("a manifest that does not say how it measures takes it from the plugin's file", function()
  local made, errors = project(BARE, "tests")
  if not made then error(table.concat(errors, "\n")) end
  equal({ made.fitness.domain, made.fitness.run, made.metric.name, made.strategy.use, made.strategy.options.rule },
    { "tests", "sh tests.sh", "tests", "hyperagents", "proportional" })
  matches(made.ignored[1], "%.hyperagents/config%.json: score_key is ignored: ")
end)

test("what the manifest says itself counts", function()
  local made = project(BARE .. "strategy: hillclimb\nbudget: {iterations: 3}\n",
    '{"domain": "tests", "test_command": "t", "max_generations": 9, "max_budget_usd": 2}')
  equal({ made.strategy.use, made.budget.iterations, made.budget.usd }, { "hillclimb", 3, 2 })
end)

test("a manifest with fitness or commands of its own leaves the plugin's file alone, even a broken one", function()
  equal(assert(project(BARE .. "fitness: {domain: tests, run: mine}\n", "{broken")).fitness.run, "mine")
  local made = assert(project(BARE .. "metric: {name: m}\nverification: {commands: [{run: mine}]}\n", "tests"))
  equal({ made.fitness == nil, made.ignored == nil }, { true, true })
end)

test("an error in the plugin's file is said once, with the file's name", function()
  local made, errors = project(BARE, '{"domain": "tests"}')
  equal(made, nil)
  equal(#errors, 1, json.encode(errors))
  matches(errors[1], "%.hyperagents/config%.json: test_command: is required")
end)

test("what the manifest must add is said too", function()
  local made, errors = project(BARE, '{"domain": "review"}')
  equal(made, nil)
  matches(table.concat(errors, "\n"), "config%.json:1: fitness.models: is required, as there is no chat provider")
end)

fs.remove_tree(scratch)
tap.done()
