-- The shipped playbook (strategies/openevolve.lua) over a world without git: operators and overrides, parents, population,
-- the model's word on islands and cells, prompts; and what the Python project does wrong, each by name.
local contract = require "apsis.core.strategy"
local fake = require "fake"
local json = require "apsis.json"
local shared = require "apsis.prompt"
local random = require "apsis.random"
local tap = require "tap"
local test, equal, matches = tap.test, tap.equal, tap.matches

local SOURCE = [[return require("apsis.strategy").extend("openevolve", {})]]

-- A provider that rarely finds something better: `kept` of a hundred steps are up.
local function rarely(kept)
  return function(slot)
    local rng = random.stream(7, slot.number)
    local up = rng:random() < kept / 100
    return { edits = { x = (up and 1 or -1) * (0.5 + rng:random()) }, tokens = 10, cost = 0 }
  end
end

local function evolve(spec)
  spec.world = spec.world or {}
  spec.world.answers = spec.world.answers or rarely(20)
  return fake.run(spec.source or SOURCE, spec)
end

-- The lines of experiments, without the baseline.
local function experiments(lines)
  return table.move(lines, 2, #lines, 1, {})
end

-- ---- the playbook ----

test("the first proposals explore: the population is empty or has one member", function()
  local lines = evolve { budget = { iterations = 1 } }
  equal(lines[2].operator, "exploration")
end)

test("the operator weights hold where one in twenty is kept: overrides do not swallow them", function()
  local lines = experiments((evolve { budget = { iterations = 3000 }, world = { answers = rarely(5) } }))
  local counts, drawn, overridden = {}, 0, 0
  for index = 3, #lines do
    local line = lines[index]
    if line.notes.override then overridden = overridden + 1
    else
      drawn = drawn + 1
      counts[line.operator] = (counts[line.operator] or 0) + 1
    end
  end
  local function share(name) return (counts[name] or 0) / drawn end
  local function near(got, want) return math.abs(got - want) < 0.03 end
  equal(near(share "exploitation", 0.50), true, "exploitation " .. share "exploitation")
  equal(near(share "exploration", 0.30), true, "exploration " .. share "exploration")
  equal(near(share "crossover", 0.15), true, "crossover " .. share "crossover")
  equal(near(share "migration", 0.05), true, "migration " .. share "migration")
  equal(overridden > 0 and overridden / #lines < 0.35, true, "overridden " .. overridden / #lines)
end)

-- Overrides by streak: { [since] = { at... } }.
local function overrides_of(lines)
  local found, repeated = {}, 0
  for _, line in ipairs(lines) do
    local override = (line.notes or {}).override
    if override then
      local key = override.since .. ":" .. override.at
      if found[key] then repeated = repeated + 1 end
      found[key] = line
    end
  end
  return found, repeated
end

test("a streak of 3, 5, 10 and 15 rejections each overrides once", function()
  local lines = experiments((evolve { budget = { iterations = 18 }, world = { answers = rarely(0) } }))
  local found, repeated = overrides_of(lines)
  equal(repeated, 0)
  for _, at in ipairs { 3, 5, 10, 15 } do equal(found["0:" .. at] ~= nil, true, "override at " .. at) end
  equal(found["0:3"].operator, "exploration")
  equal(found["0:3"].experiment, 4)
end)

test("overrides in flight count: with eight workers none happens twice in a streak", function()
  local world = { answers = rarely(4), delay = function(slot) return slot.number % 5 / 2000 end }
  local lines = experiments((evolve { budget = { iterations = 300 }, workers = 8, world = world }))
  local found, repeated = overrides_of(lines)
  equal(next(found) ~= nil, true)
  equal(repeated, 0)
end)

test("at a streak of 3 the exploration goes to an island nothing lives on", function()
  local lines = experiments((evolve { budget = { iterations = 4 }, world = { answers = rarely(0) } }))
  local used = {}
  for index = 1, 3 do used[lines[index].notes.island] = true end
  equal(used[lines[4].notes.island], nil)
end)

test("at 5, 10 and 15 technique migrates or a new island is made, at most max_islands", function()
  local lines = experiments((evolve { budget = { iterations = 200 }, world = { answers = rarely(0) }, options = { islands = 2,
    max_islands = 4 } }))
  local highest, migrations = 0, 0
  for _, line in ipairs(lines) do
    highest = math.max(highest, line.notes.island)
    if line.notes.override and line.operator == "migration" then migrations = migrations + 1 end
  end
  equal(highest, 4)
  equal(migrations > 0, true)
end)

test("exploration goes to the island with the fewest members, about half of the time from scratch", function()
  local options = { exploitation = 0, exploration = 1, crossover = 0, migration = 0, islands = 3, max_islands = 3,
    population_size = 1000 }
  local lines = experiments((evolve { budget = { iterations = 300 }, options = options }))
  local sizes, scratch = { 1, 0, 0 }, 0 -- the baseline
  for index, line in ipairs(lines) do
    if index > 1 and not line.notes.override then equal(sizes[line.notes.island], math.min(table.unpack(sizes)), "experiment " .. index) end
    sizes[line.notes.island] = sizes[line.notes.island] + 1
    scratch = scratch + (line.notes.scratch and 1 or 0)
    if line.notes.scratch then equal(line.parents, { "c0000" }) end
  end
  equal(scratch > 100 and scratch < 200, true, "from scratch " .. scratch)
end)

test("failures that are no candidate's fault do not count as rejections", function()
  local world = { answers = function() return { error = "no answer" } end }
  local lines = experiments((evolve { budget = { iterations = 12 }, world = world }))
  for _, line in ipairs(lines) do equal(line.notes.override, nil) end
end)

-- circle packing in small: a first program of 0.364 under a threshold of 0.5, which few steps reach.
local function under_a_threshold(more)
  local world = { stage_list = { 1, 2 }, measure = function(x) return { value = 0.364 + x } end,
    answers = function(slot)
      local rng = random.stream(11, slot.number)
      return { edits = { x = (rng:random() - 0.4) * 0.1 } }
    end }
  local spec = { budget = { iterations = 200 }, thresholds = { [1] = 0.5 }, world = world, options = {} }
  for key, value in pairs(more or {}) do spec.options[key] = value end
  return evolve(spec)
end

test("stage thresholds do not empty the population: what was stopped is a parent, and the run climbs past them", function()
  for _, selection in ipairs { "playbook", "openevolve" } do
    local lines, _, engine = under_a_threshold { selection = selection }
    local stopped, parents = {}, 0
    for index = 2, #lines do
      local line = lines[index]
      if line.outcome == "reverted_stage_failure" then stopped[line.candidate] = line.notes.features ~= nil end
      if stopped[line.parents[1]] then parents = parents + 1 end
    end
    equal(next(stopped) ~= nil, true)
    equal(parents > 10, true, selection .. ": parents that were stopped " .. parents)
    equal(engine.history.best.value > 0.5, true, selection .. ": best " .. engine.history.best.value)
  end
end)

test("the best of the project is never one that was stopped, and the fold builds the same population", function()
  local lines, _, engine = under_a_threshold { exploitation = 1, exploration = 0, crossover = 0, migration = 0 }
  for _, line in ipairs(lines) do
    if line.outcome == "reverted_stage_failure" then equal({ line.primary_metric, line.improved }, { nil, false }) end
  end
  local again = fake.engine(SOURCE, { texts = engine.journal.texts, thresholds = { [1] = 0.5 }, world = engine.world,
    options = { exploitation = 1, exploration = 0, crossover = 0, migration = 0 } })
  local function population_of(one) return one:view(one.history:next_experiment(), 0).memory.population end
  equal(population_of(again):size(), population_of(engine):size())
  equal(population_of(again):best().id, population_of(engine):best().id)
end)

local function ties(tie_breaker)
  local world = { answers = function(slot) return { edits = { x = 1 }, lines = slot.number == 1 and 5 or slot.number == 2 and 3 or 4 } end,
    measure = function(x) return { value = x > 0 and 1 or 0 } end }
  local lines = evolve { budget = { iterations = 3 }, world = world, tie_breaker = tie_breaker, options = { exploitation = 1,
    exploration = 0, crossover = 0, migration = 0 } }
  return { lines[2].outcome, lines[3].outcome, lines[4].outcome }
end

test("a tie with fewer changed lines is kept, any other is not", function()
  equal(ties "changed_loc", { "kept", "kept", "reverted_worse_metric" })
end)

test("with tie_breaker none no tie is kept", function()
  equal(ties "none", { "kept", "reverted_worse_metric", "reverted_worse_metric" })
end)

test("exploitation starts from the best, and of equals from the most recent", function()
  local world = { answers = function(slot) return { edits = { x = slot.number <= 4 and slot.number or -slot.number } } end,
    measure = function(x) return { value = x > 0 and 10 or x } end }
  local options = { exploitation = 1, exploration = 0, crossover = 0, migration = 0 }
  local lines = experiments((evolve { budget = { iterations = 8 }, world = world, options = options }))
  local newest_ten
  for _, line in ipairs(lines) do
    if line.operator == "exploitation" and not line.notes.override then equal(line.parents, { newest_ten }) end
    if line.primary_metric == 10 then newest_ten = line.candidate end
  end
end)

test("crossover has two parents, of different islands; the second of another cell where there is one", function()
  local options = { exploitation = 0, exploration = 0.2, crossover = 0.8, migration = 0, feature_bins = 2, islands = 3, max_islands = 3 }
  local lines = evolve { budget = { iterations = 300 }, options = options }
  local island, crossed, firsts = {}, 0, {}
  for _, line in ipairs(lines) do island[line.candidate] = (line.notes or {}).island or 1 end
  for _, line in ipairs(lines) do
    if line.operator == "crossover" then
      crossed = crossed + 1
      equal(#line.parents, 2)
      equal(island[line.parents[1]] ~= island[line.parents[2]], true)
      equal(line.notes.island, island[line.parents[1]])
      firsts[line.parents[1]] = true
    end
  end
  equal(crossed > 100, true)
  -- The first is of the top quarter of what was there: many, not one, and none of the worst.
  local values, count = {}, 0
  for _, line in ipairs(lines) do values[line.candidate] = line.primary_metric end
  for _ in pairs(firsts) do count = count + 1 end
  equal(count > 10, true, "different first parents " .. count)
  for _, line in ipairs(lines) do
    if line.operator == "crossover" then
      local better = 0
      for _, other in ipairs(lines) do
        if other.experiment < line.experiment and other.primary_metric > values[line.parents[1]] then better = better + 1 end
      end
      equal(better <= 11, true, "better ones than the first parent: " .. better) -- a quarter of 40, and ties
    end
  end
end)

test("migration grafts a donor island's best onto the recipient's, where the child then lives", function()
  local options = { exploitation = 0, exploration = 0.2, crossover = 0, migration = 0.8 }
  local lines = evolve { budget = { iterations = 200 }, options = options }
  local island, migrated = {}, 0
  for _, line in ipairs(lines) do island[line.candidate] = (line.notes or {}).island or 1 end
  for _, line in ipairs(lines) do
    if line.operator == "migration" then
      migrated = migrated + 1
      equal(island[line.parents[1]], line.notes.island)
      equal(island[line.parents[2]], line.notes.donor)
      equal(line.notes.island ~= line.notes.donor, true)
    end
  end
  equal(migrated > 50, true)
end)

-- The population as the fold knows it after a run.
local function population_of(engine)
  return engine:view(engine.history:next_experiment(), 0).memory.population
end

test("every measured candidate enters the population, kept or not", function()
  local lines, _, engine = evolve { budget = { iterations = 30 } }
  local kept, entered = 0, 0
  for _, line in ipairs(lines) do
    kept = kept + (line.outcome == "kept" and 1 or 0)
    entered = entered + (line.primary_metric and population_of(engine):get(line.candidate) and 1 or 0)
  end
  equal(entered, 31)
  equal(kept < 20, true)
end)

test("the population stays at its cap, elites stay in it, and the evicted keep their metadata", function()
  local lines, _, engine = evolve { budget = { iterations = 200 }, options = { population_size = 20, archive_size = 5, feature_bins = 2,
    islands = 2, max_islands = 2 } }
  local population = population_of(engine)
  equal(population:size(), 20)
  local values = {}
  for _, line in ipairs(lines) do values[#values + 1] = line.primary_metric end
  table.sort(values, function(a, b) return a > b end)
  for place, member in ipairs(population:elites()) do equal(member.value, values[place]) end
  local gone = 0
  for _, line in ipairs(lines) do
    if not population:get(line.candidate) then
      gone = gone + 1
      equal(population:evicted(line.candidate).value, line.primary_metric)
    end
  end
  equal(gone, 181)
end)

test("the line carries operator, parents, island, cell and fitness", function()
  local line = evolve({ budget = { iterations = 3 } })[4]
  equal(type(line.operator), "string")
  equal(#line.parents >= 1, true)
  equal(type(line.notes.island), "number")
  equal(type(line.notes.cell), "string")
  equal(line.notes.fitness, line.primary_metric)
  equal(type(line.notes.features.complexity), "number")
  equal(type(line.notes.features.diversity), "number")
end)

test("a metric may be a feature", function()
  local world = { measure = function(x) return { value = x, metrics = { speed = x * 2 } } end }
  local line = evolve({ budget = { iterations = 2 }, world = world, options = { features = { "speed" } } })[2]
  equal(line.notes.features, { speed = line.primary_metric * 2 })
end)

test("the line's cell is where the archive files it, also where a range grows by it; the baseline enters with its first child", function()
  local world = { answers = function() return { edits = { x = 1 } } end,
    sources = function(self, record) return { { path = "x", text = ("x"):rep(50 * (self.x[record.id] + 1)) } } end }
  local lines, _, engine = evolve { budget = { iterations = 12 }, world = world, options = { features = { "complexity" } } }
  equal(lines[2].notes.parent.id, "c0000")
  equal(population_of(engine):get("c0000").features.complexity, 50)
  local newest
  for index = 2, #lines do
    if lines[index].primary_metric then
      newest = lines[index]
      matches(newest.notes.cell, "^%d+$")
    end
  end
  equal(newest.notes.cell, population_of(engine):cell(newest.candidate))
end)

test("a feature that is neither computed nor a metric of the baseline stops the run with its name", function()
  local lines = evolve { budget = { iterations = 5 }, options = { features = { "complxity" } } }
  equal(lines[2].outcome, "skipped_strategy_error")
  matches(lines[2].rollback_reason, '"complxity" is no feature, and the baseline has no metric of that name; did you mean "complexity"')
  equal(lines[2].rollback_reason:find("stack traceback", 1, true), nil) -- a mistake of who chose the option
end)

test("a journal that another strategy began is gone on from its best", function()
  local _, _, engine = fake.run("return {}", { budget = { iterations = 5 } })
  local lines = evolve { budget = { iterations = 10 }, texts = engine.journal.texts, x = engine.world.x, run = 2 }
  equal(lines[7].parents, { "c0005" })
end)

test("wrong options are refused by name when the run starts", function()
  local function refusal(options)
    local ok, message = pcall(fake.run, SOURCE, { options = options, budget = { iterations = 1 } })
    return not ok and tostring(message)
  end
  matches(refusal { selection = "playbok" }, "selection must be playbook or openevolve")
  matches(refusal { exploration = -1 }, "option exploration must be 0 or more, not %-1")
  matches(refusal { max_islands = 2 }, "max_islands must not be below option islands")
  matches(refusal { island_names = { "a", "a" } }, 'option island_names has "a" twice')
  matches(refusal { features = { { name = "f", valuse = { "a" } } } }, 'no key "valuse"')
  matches(refusal { near_duplicate = 7 }, "near_duplicate must be 1 or less, not 7")
  matches(refusal { exploitation = 0, exploration = 0, crossover = 0, migration = 0 }, "one weight must be above 0")
  matches(refusal { islands = 0 }, "option islands must be 1 or more")
  matches(refusal { features = { { bins = 3 } } }, "option features: a feature needs a name")
end)

local function prompts(spec)
  local seen = {}
  spec.world = spec.world or {}
  local answers = spec.world.answers or rarely(20)
  spec.world.wants_prompt = true
  spec.world.answers = function(slot, prompt, index)
    seen[#seen + 1] = prompt
    return answers(slot, prompt, index)
  end
  local lines, ended, engine = evolve(spec)
  return seen, experiments(lines), ended, engine
end

-- ---- families with names ----

local named = { island_names = { "greedy", "annealing" }, features = { "complexity", { name = "move", values = { "swap", "shift" } } } }

test("the model names the island and the cell of its candidate, and the line says both", function()
  local world = { answers = function() return { edits = { x = 1 }, notes = { island = "annealing", move = "shift" } } end }
  local line = evolve({ budget = { iterations = 40 }, world = world, options = named })
  for index = 2, #line do
    local one = line[index]
    local aimed = one.operator == "exploration" or one.operator == "migration"
    equal(one.notes.island, aimed and one.proposal.notes.island or "annealing", one.operator)
    equal(one.notes.said_island, aimed and "annealing" or nil)
  end
  line = line[2]
  equal(line.notes.features.move, "shift")
  matches(line.notes.cell, "shift")
end)

test("an island that is not named stays as planned; unknown names are refused before anything is measured", function()
  local measured = 0
  local function run(notes, options)
    local world = { answers = function() return { edits = { x = 1 }, notes = notes } end,
      measure = function(x) measured = measured + 1; return { value = x } end }
    return evolve({ budget = { iterations = 1 }, world = world, options = options or named })[2]
  end
  local planned = run({ move = "swap" })
  equal(planned.notes.island == "greedy" or planned.notes.island == "annealing", true)
  equal(planned.notes.island, planned.proposal.notes.island)
  measured = 0
  matches(run({ island = "greedy", move = "flip" }).rollback_reason, 'names the move "flip"; it must be one of swap, shift')
  equal(measured, 1) -- the baseline
end)

test("an answer that leaves out a name is measured, and has no place by that feature", function()
  local asked = 0
  local world = { answers = function()
    asked = asked + 1
    return { edits = { x = asked }, text = "x", notes = asked == 2 and { move = "swap" } or {} }
  end }
  local lines = evolve { budget = { iterations = 2 }, world = world, options = named }
  equal({ lines[2].outcome, lines[2].notes.named, lines[3].outcome, lines[3].notes.features.move }, { "kept", nil, "kept", "swap" })
end)

test("while nothing lands, every third failure in a row turns to the next family", function()
  local lines = experiments((evolve { budget = { iterations = 10 }, options = { island_names = { "a", "b", "c" } },
    world = { measure = function(x) return x == 0 and { value = 0 } or { status = "crash", reason = "no" } end } }))
  local islands = {}
  for index, line in ipairs(lines) do islands[index] = line.proposal.notes.island end
  equal(table.concat(islands), "aaabbbccca")
end)

test("an island may be said by its number, or in other letters; an unknown one costs no answer where the plan has chosen it", function()
  local function run(said, names)
    local world = { answers = function(slot)
      return { edits = { x = slot.number }, text = "x", notes = { island = said, move = "Swap" } }
    end }
    return experiments((evolve { budget = { iterations = 40 }, world = world, seed = 3,
      options = { island_names = names or named.island_names, features = named.features } }))
  end
  local numbers = { "greedy: island 0; takes the best step", "annealing: island 1" }
  for _, case in ipairs { { "1", "greedy" }, { "Annealing", "annealing" }, { "island 2", "annealing" }, { "1", "annealing", numbers },
    { "Island 0 - the first", "greedy", numbers } } do
    local free = 0
    for _, line in ipairs(run(case[1], case[3])) do
      local aimed = line.operator == "exploration" or line.operator == "migration"
      if line.candidate and line.notes.features then
        free = free + (aimed and 0 or 1)
        equal({ line.notes.features.move, line.notes.said_island or "", not aimed and line.notes.island or "" },
          { "swap", aimed and case[2] or "", not aimed and case[2] or "" }, case[1])
      end
    end
    equal(free > 0, true)
  end
  for index, line in ipairs(run "tabu") do
    if line.operator == "exploration" or line.operator == "migration" then
      equal({ line.outcome ~= "skipped_not_selected", line.notes.said_island, line.notes.island }, { true, "tabu",
        line.proposal.notes.island }, index)
    else
      equal(line.outcome, "skipped_not_selected")
      matches(line.rollback_reason, 'names the island "tabu"; it must be one of greedy, annealing')
    end
  end
end)

test("the prompt names the target family with what it is, donor and recipient, island and cell of what it shows", function()
  local options = { island_names = { "greedy: takes the best step", { annealing = "sometimes takes a worse one" }, "tabu" },
    exploitation = 0.3, exploration = 0.3, crossover = 0, migration = 0.4 }
  local seen, lines = prompts { budget = { iterations = 60 }, options = options }
  local about = { greedy = "greedy %(takes the best step%)", annealing = "annealing %(sometimes takes a worse one%)", tabu = "tabu" }
  local done, shown = {}, 0
  for index, line in ipairs(lines) do
    local text, planned = seen[index][2].content, line.proposal.notes
    done[line.operator] = true
    if line.operator == "exploration" then matches(text, "Your version goes to the family " .. about[planned.island])
    elseif line.operator == "exploitation" then matches(text, "The parent is of the family " .. about[planned.island])
    else matches(text, "The donor lives in the family " .. about[planned.donor] .. ", the recipient in the family "
      .. about[planned.island]) end
    if text:find("; came into island %l+, cell %d+/%d+") then shown = shown + 1 end
  end
  equal(done, { exploitation = true, exploration = true, migration = true })
  equal(shown > 40, true, "with island and cell: " .. shown)
  matches(seen[60][2].content, "against its parent c%d+")
end)

test("a new island is one of those that the prompt counts", function()
  local new = 0
  for _, list in pairs(prompts({ budget = { iterations = 60 }, world = { measure = function() return { value = 0 } end } })) do
    local island, count = list[2].content:match "Your version goes to island (%d+) of (%d+)"
    equal(tonumber(island) <= tonumber(count), true, island .. " of " .. count)
    new = math.max(new, tonumber(island))
  end
  equal(new > 5, true)
end)

test("islands without names are named by number, and one island not at all", function()
  local seen = prompts { budget = { iterations = 3 } }
  matches(seen[3][2].content, "Your version goes to island %d of 5; each is a population of its own")
  seen = prompts { budget = { iterations = 3 }, options = { islands = 1, max_islands = 1 } }
  equal(seen[3][2].content:find("Your version goes", 1, true), nil)
  local _, message = fake.strategy(SOURCE, { island_names = { "a: x", "a" } })
  matches(message, 'option island_names has "a" twice')
end)

test("the system message has the project's instructions, and says that a worse version may be a parent", function()
  local seen = prompts { budget = { iterations = 1 }, project = { name = "fake", files = {}, program = "Mind the gap." } }
  local system = seen[1][1]
  equal(system.role, "system")
  matches(system.content, "every version that could be measured stays in the\npopulation")
  equal(system.content:find("lost work", 1, true) or system.content:find("kept only if", 1, true), nil)
  matches(system.content, "Mind the gap%.")
  equal(seen[1][2].content:find("Mind the gap", 1, true), nil)
end)

test("of 500 plans those that draw have the weights' shares; overrides come on top", function()
  local lines = experiments((evolve { budget = { iterations = 500 }, world = { answers = rarely(5) } }))
  local all, drawn, draws = {}, {}, 0
  for _, line in ipairs(lines) do
    all[line.operator] = (all[line.operator] or 0) + 1
    if not line.notes.override then
      draws, drawn[line.operator] = draws + 1, (drawn[line.operator] or 0) + 1
    end
  end
  for name, weight in pairs { exploitation = 0.50, exploration = 0.30, crossover = 0.15, migration = 0.05 } do
    local share = drawn[name] / draws
    print(("# %s: %.0f %% of the draws, %.0f %% of all plans"):format(name, 100 * share, 100 * all[name] / #lines))
    equal(math.abs(share - weight) < 3 * math.sqrt(weight * (1 - weight) / draws), true, name .. " " .. share)
  end
end)

test("an answer with a name that is none is asked for once more, with the reason", function()
  local asked, texts = 0, {}
  local world = { answers = function(_, prompt)
    asked, texts[#texts + 1] = asked + 1, prompt[2].content
    return { edits = { x = 1 }, text = "x", notes = { move = asked == 2 and "swap" or "flip" } }
  end }
  local line = evolve({ budget = { iterations = 1 }, world = world, options = named })[2]
  equal({ asked, line.outcome, line.notes.features.move }, { 2, "kept", "swap" })
  matches(texts[2], 'Your last answer was not used: the answer names the move "flip"')
end)

-- ---- openevolve ----

test("openevolve: parents are drawn 0.2 at random, 0.7 from the elites, 0.1 by rank; islands take turns", function()
  local lines = experiments((evolve { budget = { iterations = 2000 }, options = { selection = "openevolve" } }))
  local counts = {}
  for index = 6, #lines do counts[lines[index].operator] = (counts[lines[index].operator] or 0) + 1 end
  local function near(name, want) return math.abs(counts[name] / (#lines - 5) - want) < 0.03 end
  equal({ near("exploration", 0.2), near("exploitation", 0.7), near("weighted", 0.1) }, { true, true, true })
  for index = 1, 20 do equal(lines[index].notes.island, (index - 1) % 5 + 1) end
end)

test("openevolve: after migration_interval generations of an island its best live on both neighbours of the ring too", function()
  local options = { selection = "openevolve", migration_interval = 10, migration_rate = 0.2 }
  local _, _, engine = evolve { budget = { iterations = 60 }, options = options }
  local population, sum = population_of(engine), 0
  for _, island in ipairs(population:islands()) do sum = sum + island.size end
  equal(sum > population:size(), true)
  equal(population:size(), 61)
  local _, _, never = evolve { budget = { iterations = 60 }, options = { selection = "openevolve", migration_interval = 1000 } }
  local alone = 0
  for _, island in ipairs(population_of(never):islands()) do alone = alone + island.size end
  equal(alone, population_of(never):size())
end)

-- The sizes of the archive after a run, and those that the lines' notes have, by experiment.
local function sizes_of(budget, options, journal)
  options.selection = "openevolve"
  local lines, _, engine = evolve { budget = budget, options = options, journal = journal }
  local noted = {}
  for _, line in ipairs(lines) do
    local sizes = line.notes and line.notes.sizes
    if sizes then noted[#noted + 1] = { line.experiment, sizes.population_size, sizes.archive_size } end
  end
  local population = population_of(engine)
  return { population.population_size, population.archive_size }, noted, engine
end

test("openevolve: sizes that are not set follow the budget, and the first line has them", function()
  local sizes, noted, engine = sizes_of({ iterations = 1000 }, { patience = 30 })
  equal({ sizes, noted }, { { 200, 20 }, { { 1, 200, 20 } } })
  matches(table.concat(engine.world.logged, "\n"), "a population of 200 with 20 elites")
  sizes, noted = sizes_of({ iterations = 3 }, {})
  equal({ sizes, noted }, { { 100, 10 }, { { 1, 100, 10 } } }, "a small budget")
  sizes = sizes_of({ iterations = 100000 }, { patience = 5 })
  equal(sizes, { 1000, 100 }, "a large one")
  sizes = sizes_of({ minutes = 60 }, { patience = 5 })
  equal(sizes, { 1000, 100 }, "without a number of experiments")
  sizes = sizes_of({ iterations = 5000, measurements = 1500 }, { patience = 5 })
  equal(sizes, { 300, 30 }, "the smaller limit")
end)

test("openevolve: a size that is set stays; the other follows the budget", function()
  local sizes, noted = sizes_of({ iterations = 1000 }, { patience = 5, archive_size = 7 })
  equal({ sizes, noted }, { { 200, 7 }, { { 1, 200, 7 } } })
  sizes, noted = sizes_of({ iterations = 1000 }, { patience = 5, archive_size = 7, population_size = 31 })
  equal({ sizes, noted }, { { 31, 7 }, { { 1, 31, 7 } } })
end)

test("openevolve: exploitation starts from an elite", function()
  local options = { selection = "openevolve", archive_size = 3, exploration_ratio = 0, exploitation_ratio = 1 }
  local lines = evolve { budget = { iterations = 200 }, options = options }
  local values = {}
  for _, line in ipairs(lines) do values[line.candidate] = line.primary_metric end
  for index = 60, #lines do -- one of the three best of all, or where none of these lives on the island, its best
    local better, on_island = 0, 0
    for before = 1, index - 1 do
      local other = lines[before]
      if other.primary_metric > values[lines[index].parents[1]] then
        better = better + 1
        on_island = on_island + ((other.notes or {}).island == lines[index].notes.island and 1 or 0)
      end
    end
    equal(better < 3 or on_island == 0, true, lines[index].candidate)
  end
end)

test("openevolve: prompts show the island's best, those of other cells, and random ones, none twice and never a parent", function()
  local lines = experiments((evolve { budget = { iterations = 200 }, options = { selection = "openevolve" } }))
  local most = 0
  for _, line in ipairs(lines) do
    local shown, seen = line.proposal.inspirations or {}, { [line.parents[1]] = true }
    for _, id in ipairs(shown) do
      equal(seen[id], nil)
      seen[id] = true
    end
    most = math.max(most, #shown)
  end
  equal(most, 5)
end)

test("openevolve: patience ends the run", function()
  local _, ended = evolve { budget = { iterations = 100 }, world = { answers = rarely(0) }, options = { patience = 7 } }
  matches(ended.reason, "no new best in 7 experiments")
end)

-- ---- prompts ----

test("the fields that the strategy declares are those its templates may name, no more and no less", function()
  local reason = evolve({ budget = { iterations = 1 }, world = { wants_prompt = true },
    project = { name = "fake", files = {}, prompts = { system = "{{}}{{nothing_such}}" } } })[2].rollback_reason
  local declared = table.move(shared.field_names, 1, #shared.field_names, 1, {})
  local own = contract.load({ use = "openevolve", options = {} }).own.fields
  table.move(own, 1, #own, #declared + 1, declared)
  table.sort(declared)
  matches(reason, "prompts/system%.md:1: no field {{nothing_such}}")
  equal(reason:match "fields: ([%w_, ]+)", table.concat(declared, ", "))
end)

test("the prompt has the direction in words, the parent's facts, and recent attempts with their true labels", function()
  local seen, lines = prompts { budget = { iterations = 6 }, world = { answers = rarely(0) }, metric = { name = "score",
    direction = "lower" } }
  matches(seen[1][1].content, "lower is better")
  local last = seen[6][2].content
  matches(last, "## The parent, " .. lines[6].parents[1])
  for index = 1, 5 do
    local label = ({ kept = "kept at", reverted_worse_metric = "rejected at",
      skipped_duplicate = "not measured: a duplicate" })[lines[index].outcome]
    matches(last, lines[index].candidate .. " " .. label)
  end
  matches(last, "why:")
end)

test("crossover and migration have templates of their own, with both parents", function()
  local options = { exploitation = 0, exploration = 0.2, crossover = 0.4, migration = 0.4 }
  local seen, lines = prompts { budget = { iterations = 40 }, options = options }
  local found = {}
  for index, line in ipairs(lines) do
    if line.parents[2] then
      found[line.operator] = true
      matches(seen[index][2].content, line.parents[1])
      matches(seen[index][2].content, line.operator == "migration" and "The donor, " .. line.parents[2] or "The other parent, "
        .. line.parents[2])
    end
  end
  equal(found, { crossover = true, migration = true })
end)

test("lessons and foreclosed avenues are kept and shown; what of the domain knowledge was not tried is said", function()
  local world = { answers = function(slot)
    return { edits = { x = -slot.number }, learned = "lesson " .. slot.number, notes = { foreclosed = "avenue " .. slot.number,
      knowledge = "1" } }
  end }
  local seen = prompts { budget = { iterations = 3 }, world = world, options = { knowledge = { "use symmetry", "sort first" } } }
  matches(seen[1][2].content, "use symmetry %(say `ASI knowledge=1`")
  local last = seen[3][2].content
  matches(last, "## Lessons so far\n\n%- lesson 1\n%- lesson 2")
  matches(last, "avenue 2")
  matches(last, "sort first")
  equal(last:find("use symmetry", 1, true), nil)
end)

test("domain knowledge is read from program.md too", function()
  local strategy = assert(contract.load { use = "openevolve" })
  local memory = {}
  strategy.hooks.init { options = strategy.options, memory = memory, metric = require("apsis.direction").new {},
    project = { program = "# P\n\nx\n\n## Domain knowledge\n\n- first idea\n- second\n\n## Other\n\n- no\n" } }
  equal(memory.knowledge, { "first idea", "second" })
end)

test("from scratch a model is asked for whole files, else as prompt.answer says; nothing contradicts the operator", function()
  for answer, word in pairs { diff = "SEARCH/REPLACE blocks", rewrite = "whole new text", either = "one of two forms" } do
    local seen, lines = prompts { budget = { iterations = 30 }, project = { name = "fake", files = { writable = { "x" } },
      reads_answers = true, answer = answer } }
    local scratch = 0
    for index, line in ipairs(lines) do
      local text = seen[index][2].content
      if line.notes.scratch then
        scratch = scratch + 1
        matches(text, "Begin again.*Answer with the whole new text of each file")
        equal(text:find("SEARCH", 1, true), nil)
      else matches(text, "Answer [a-z ]*" .. word) end
      equal(text:find("one focused change.*one focused change"), nil)
    end
    equal(scratch > 0, true)
  end
end)

test("a program too long for max_tokens is not asked for whole: from scratch becomes another way, in blocks", function()
  local seen, lines = prompts { budget = { iterations = 30 }, project = { name = "fake", files = { writable = { "x" } },
    reads_answers = true, answer_bytes = 12288 }, world = { sources = function()
    return { { path = "x", text = ("x = 1\n"):rep(2049) } }
  end } }
  local scratch = 0
  for index, line in ipairs(lines) do
    local text = seen[index][2].content
    matches(text, "Answer with one or more SEARCH/REPLACE blocks")
    if line.notes.scratch then
      scratch = scratch + 1
      matches(text, "Explore: change the parent.s approach")
    end
  end
  equal(scratch > 0, true)
end)

-- A program of 51,362 bytes with the function to change at byte 25,490; and what prompts show of it.
local function long_program(id)
  local function filler(bytes) return ("# a line that nobody needs\n"):rep(bytes // 27 + 1):sub(1, bytes - 1) .. "\n" end
  local middle = "def evolved():\n    return " .. id .. "\n"
  return filler(25489) .. middle .. filler(51362 - 25489 - #middle)
end

local function with_long_program(more)
  local spec = { budget = { iterations = 30 }, project = { name = "fake", files = { writable = { "p.py" } }, reads_answers = true },
    world = { sources = function(_, record) return { { path = "p.py", text = long_program(record.id) } } end } }
  for key, value in pairs(more or {}) do spec.project[key] = value end
  return prompts(spec)
end

test("the parent's program is shown whole, however long it is", function()
  equal(#long_program "c0000", 51362)
  equal(long_program("c0000"):find("def evolved", 1, true), 25490)
  local seen, lines = with_long_program()
  for index, line in ipairs(lines) do
    equal(seen[index][2].content:find(long_program(line.parents[1]), 1, true) ~= nil, true, "experiment " .. index)
  end
end)

test("a prompt over prompt.max_kb leaves out other programs, then the second parent's files, then history; the parent stays", function()
  local seen, lines = with_long_program { prompt_kb = 64 }
  local shown, full = 0, 0
  for index, line in ipairs(lines) do
    local text = seen[index][2].content
    equal(#text <= 64 * 1024, true)
    equal(text:find(long_program(line.parents[1]), 1, true) ~= nil, true, "experiment " .. index)
    if text:find("## Other versions", 1, true) then shown = shown + 1 end
    if line.parents[2] then
      full = full + 1
      matches(text, "```diff\na diff")
      matches(text, "## Recent attempts") -- of what is left that fits
      equal(text:find(long_program(line.parents[2]), 1, true), nil)
    end
  end
  equal({ shown > 0, full > 0 }, { true, true })
end)

test("a parent that does not fit is refused with the key to change, and is never cut", function()
  local _, lines = with_long_program { prompt_kb = 40 }
  matches(lines[1].rollback_reason, "the prompt has 5%d%d%d%d bytes with nothing but the parent c0000 in it, more than prompt.max_kb: 40")
  equal(lines[1].outcome, "skipped_strategy_error")
end)

-- ---- what the Python project does wrong ----

test("a crashed candidate never beats a negative score", function()
  local world = { answers = function(slot) return { edits = { x = slot.number } } end,
    measure = function(x, _, slot) return slot.number % 2 == 1 and { status = "crash", reason = "boom" } or { value = x - 1000 } end }
  local lines, _, engine = evolve { budget = { iterations = 20 }, world = world }
  local crashed = 0
  for _, line in ipairs(lines) do
    if line.outcome == "skipped_verification_crash" then
      crashed = crashed + 1
      equal(line.primary_metric, nil)
      equal(population_of(engine):get(line.candidate), nil)
    end
  end
  equal(crashed, 10)
  equal(engine.history.best.value < 0 and population_of(engine):best().value, engine.history.best.value)
end)

test("a value that is not a number never becomes best", function()
  local world = { measure = function(x, _, slot) return { value = slot.number == 3 and 0 / 0 or x } end }
  local _, ended, engine = evolve { budget = { iterations = 10 }, world = world }
  equal(ended.reason ~= nil, true)
  local value = population_of(engine):best().value
  equal(value == value, true)
end)

test("lower is better works everywhere: the mirror image makes the same decisions", function()
  local function run(direction, selection)
    local sign = direction == "higher" and 1 or -1
    local world = { measure = function(x) return { value = sign * x } end }
    local lines = evolve { budget = { iterations = 150 }, world = world, metric = { name = "score", direction = direction },
      options = { selection = selection } }
    local told = {}
    for index, line in ipairs(lines) do
      told[index] = { line.outcome, line.operator, line.parents, (line.notes or {}).island, (line.notes or {}).cell }
    end
    return told
  end
  equal(run("lower", "playbook"), run("higher", "playbook"))
  equal(run("lower", "openevolve"), run("higher", "openevolve"))
end)

test("novelty is decided before evaluation: an exact duplicate by its tree", function()
  local measured = 0
  local world = { answers = function(slot) return { edits = { x = slot.number % 2 == 1 and 1 or -1 } } end,
    measure = function(x) measured = measured + 1; return { value = x } end }
  local lines = fake.run("return { plan = function(run) return { parents = { run.baseline } } end }",
    { budget = { iterations = 4 }, world = world })
  equal(fake.column(lines, "outcome"), { "baseline", "kept", "reverted_worse_metric", "skipped_duplicate", "skipped_duplicate" })
  equal(measured, 3)
end)

test("novelty is decided before evaluation: a near duplicate by the option, which says whom it resembles", function()
  local long = ("local x = { a = 1, b = 2, c = 3 } -- words that stay as they are\n"):rep(20)
  local measured = 0
  local world = {
    answers = function(slot) return { edits = { x = 1, program = slot.number == 1 and "wholly = other" or long .. "yield 0" } } end,
    sources = function() return { { path = "program", text = long .. "return 0" } } end,
    measure = function(x) measured = measured + 1; return { value = x } end,
  }
  local lines = evolve { budget = { iterations = 3 }, world = world, options = { near_duplicate = 0.8 } }
  equal(lines[2].outcome, "kept")
  equal(lines[3].outcome, "skipped_duplicate")
  matches(lines[3].rollback_reason, "nearly the same as c000[01] %(similarity")
  equal(measured, 2)
end)

test("artifacts shown are the parent's own", function()
  local world = { artifacts = function(_, record) return { report = "report of " .. record.id } end }
  local seen, lines = prompts { budget = { iterations = 12 }, world = world }
  for index, line in ipairs(lines) do
    for id in seen[index][2].content:gmatch("report of (c%d+)") do
      equal(id == line.parents[1] or id == line.parents[2], true, id)
    end
    matches(seen[index][2].content, "report of " .. line.parents[1])
  end
end)

test("of a long artifact the beginning and the end are shown, where the error is", function()
  local report = "begins\n" .. ("é"):rep(4000) .. "\nZeroDivisionError: it ends"
  local world = { artifacts = function() return { report = report } end }
  local text = prompts({ budget = { iterations = 1 }, world = world })[1][2].content
  equal(utf8.len(text) ~= nil, true)
  text = text:gsub("[\195\169]+", "(accents)")
  matches(text, "report\n```\nbegins\n%(accents%)\n%(%d+ bytes left out%)\n%(accents%)\nZeroDivisionError: it ends\n```")
end)

test("a parent that was stopped, or failed at a later stage, is shown with the reason", function()
  local world = { stage_list = { 1, 2 }, answers = function(slot) return { edits = { x = slot.number } } end,
    measure = function(x, request)
      return request.stage == 2 and x > 0 and { status = "timeout", reason = "over its limit of 2 s" } or { value = x }
    end }
  local seen, lines = prompts { budget = { iterations = 20 }, world = world, options = { selection = "openevolve" } }
  local parents = 0
  for index, line in ipairs(lines) do
    local parent = seen[index][2].content:match "## The parent, c%d+\n\n([^\n]*)"
    if parent and line.parents[1] ~= "c0000" then
      parents = parents + 1
      matches(parent, "failed when measured.*; why: over its limit of 2 s")
    end
  end
  equal(parents > 0, true)
end)

local function told(lines)
  local list = {}
  for index, line in ipairs(lines) do
    list[index] = json.encode { line.experiment, line.outcome, line.parents, line.operator or "", line.primary_metric or json.null,
      line.notes or json.null }
  end
  return list
end

test("the same seed and the same answers give the same run; another seed another", function()
  for _, selection in ipairs { "playbook", "openevolve" } do
    local spec = { budget = { iterations = 80 }, options = { selection = selection } }
    local first = told((evolve(spec)))
    spec.world = nil
    equal(told((evolve(spec))), first)
    spec.world, spec.seed = nil, 2
    equal(json.encode(told((evolve(spec)))) == json.encode(first), false)
  end
end)

test("resume continues the random streams, and needs no checkpoint: the journal is one", function()
  for _, selection in ipairs { "playbook", "openevolve" } do
    local options = { selection = selection, migration_interval = 10 }
    local whole = told((evolve { budget = { iterations = 60 }, options = options }))
    local half, _, engine = evolve { budget = { iterations = 25 }, options = options }
    equal(#half, 26)
    local resumed = evolve { budget = { iterations = 60 }, options = options, texts = engine.journal.texts, x = engine.world.x }
    equal(told(resumed), whole)
  end
end)

tap.done()
