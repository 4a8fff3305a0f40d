-- openevolve: evolution over islands with MAP-Elites grids, by two sources (option selection). playbook: four
-- operators by weight, with overrides after many rejections, after githubnext/autoloop's OpenEvolve strategy.
-- openevolve: parents as the Python project samples them (OpenEvolve 0.3), with migration around a ring. Every
-- candidate with a value enters the population, and so does one that was stopped at a stage, below those that got
-- further (direction's standing); kept means better than the best, as everywhere.
local archive = require "apsis.archive"
local direction = require "apsis.direction"
local families = require "apsis.families"
local features = require "apsis.features"
local knowledge = require "apsis.knowledge"
local limits = require "apsis.options"
local messages = require "apsis.messages"
local near_duplicate = require "apsis.near_duplicate"
local prompt = require "apsis.prompt"
local streak = require "apsis.streak"
local tie_break = require "apsis.tie_break"
local trajectory = require "apsis.trajectory"

local evolve = {
  options = {
    selection = "playbook", -- how parents are chosen: playbook or openevolve
    exploitation = 0.50, -- playbook: how often this operator is drawn: the best of an island are improved
    exploration = 0.30, crossover = 0.15, migration = 0.05, -- playbook: how often this operator is drawn
    exploration_ratio = 0.2, -- openevolve: how often a parent is any member of the island
    exploitation_ratio = 0.7, -- openevolve: how often it is of the elites; the rest by linear ranking
    migration_interval = 50, -- openevolve: generations between migrations
    migration_rate = 0.1, -- openevolve: the share of an island that migrates
    islands = 5, -- how many at the start
    max_islands = 10, -- how many at most: when stuck, the playbook adds one
    island_names = {}, -- families instead of numbers, each "NAME" or "NAME: what it is"
    population_size = 0, -- how many members; 0: 40 with selection playbook; with openevolve a fifth of the budget
    archive_size = 0, -- how many elites; 0: 10 with selection playbook; with openevolve a fiftieth of the budget
    features = { "complexity", "diversity" }, -- dimensions; also a metric's name, {name=, bins=}, {name=, values={...}}
    feature_bins = 10, -- the bins of each dimension
    top_programs = 3, diverse_programs = 2, -- how many of the best, and others, prompts show with the parent
    inspirations = 5, -- openevolve: how many inspirations it shows
    elite_selection_ratio = 0.1, -- openevolve: the share of the inspirations that are of the island's best
    near_duplicate = 0, -- the similarity from which a change with the same constants is not measured; 0: off
    knowledge = {}, -- ideas to try, one per line; also read from program.md's section of that name
    guidance_mutation = "", guidance_crossover = "", -- how to go about a change with one parent, and with two
    patience = 0, -- 0: off; else the run ends after N experiments without a new best
  },
}

evolve.fields = messages.fields -- the prompt hook fills them in

local operator_names = { "exploitation", "exploration", "crossover", "migration" }
local sizes = { playbook = { population = 40, elites = 10 }, openevolve = { population = 100, elites = 10 } }

-- ---- state: a fold over the journal ----

local share, whole, weight = { least = 0, most = 1 }, { integer = true, least = 0 }, { least = 0 }
local few = { integer = true, least = 1, most = 60 }

local rules = {
  selection = { one_of = { "playbook", "openevolve" } }, exploitation = weight, exploration = weight,
  crossover = weight, migration = weight, exploration_ratio = share, exploitation_ratio = share,
  migration_interval = { integer = true, least = 1 }, migration_rate = share, elite_selection_ratio = share,
  islands = few, max_islands = few, population_size = whole, archive_size = whole,
  feature_bins = { integer = true, least = 1 }, top_programs = whole, diverse_programs = whole, inspirations = whole,
  near_duplicate = share, knowledge = { names = true }, patience = whole,
}

local function new_population(options, metric)
  local size, names = sizes[options.selection], families.islands(options.island_names)
  return archive.new { metric = metric, features = features.list(options.features, options.feature_bins),
    islands = names[1] and names or options.islands, max_islands = names[1] and #names or options.max_islands,
    population_size = options.population_size > 0 and options.population_size or size.population,
    archive_size = options.archive_size > 0 and options.archive_size or size.elites }
end

-- What is wrong with the options; nil if nothing is.
function evolve.check(given)
  local wrong = limits.problem(given, rules)
  if wrong then return wrong end
  local names, problem = families.islands(given.island_names)
  if not names then return "option island_names " .. problem end
  if given.exploitation + given.exploration + given.crossover + given.migration == 0 then
    return "options exploitation, exploration, crossover, migration: one weight must be above 0"
  end
  if #given.island_names == 0 and given.max_islands < given.islands then
    return "option max_islands must not be below option islands"
  end
  if given.exploration_ratio + given.exploitation_ratio > 1 + 1e-9 then
    return "options exploration_ratio and exploitation_ratio: their sum must not be above 1"
  end
  if #given.features == 0 then return "option features must be a list of at least one" end
  local ok, message = pcall(new_population, given, direction.new {})
  return not ok and "option features: " .. message:gsub("^[^:]*:%d+: ", "") or nil
end

-- What a prompt shows: { top, diverse, total }; own: of the parent's island.
local function shown_by(options)
  if options.selection ~= "openevolve" then
    return { top = options.top_programs, diverse = options.diverse_programs, total = 0 }
  end
  local elites = options.inspirations * options.elite_selection_ratio // 1 | 0
  return { top = math.max(options.top_programs, elites), diverse = options.diverse_programs,
    total = options.inspirations, own = true }
end

function evolve.init(run)
  local options, memory = run.options, run.memory
  memory.features = features.list(options.features, options.feature_bins)
  memory.islands, memory.about = families.islands(options.island_names)
  memory.named = features.any(memory.features, "named") or #memory.islands > 0 -- a model is asked for names
  memory.measured = features.any(memory.features, "measured")
  memory.population, memory.shown, memory.weights = new_population(options, run.metric), shown_by(options), {}
  for index, name in ipairs(operator_names) do memory.weights[index] = options[name] end
  memory.streak, memory.sketches, memory.waiting = streak.new(), {}, {}
  memory.knowledge, memory.tried, memory.lessons, memory.foreclosed = knowledge.list(options.knowledge,
    run.project.program), {}, {}, {}
end

-- Adds a line's candidate to the population, with its computed features. Returns its island.
local function enter(run, memory, member, known)
  member.island, member.sketch = memory.population:home(member.island), known.sketch
  member.features = memory.named and features.valid(memory.features, known.features) or known.features
  memory.population:add(member)
  if run.options.near_duplicate > 0 and known.sketch then
    table.insert(memory.sketches, { id = member.id, sketch = known.sketch, marks = known.marks })
  end
  return member.island
end

local none = {}

function evolve.learn(run, line)
  local memory, notes = run.memory, line.notes or none
  streak.count(memory.streak, line)
  if #memory.knowledge > 0 then knowledge.mark(memory.knowledge, memory.tried, line) end
  local learned = line.learned
  if learned then knowledge.remember(memory.lessons, learned, 20) end
  if notes.foreclosed then knowledge.remember(memory.foreclosed, notes.foreclosed, 50) end
  local stopped = line.stopped
  if notes.sizes then memory.population:grow(notes.sizes, run.options) end
  if not line.value and not stopped or not line.commit then return end
  local member = { id = line.id, value = line.value, stopped = stopped, parents = line.parents or none,
    island = notes.island or 1, features = nil, sketch = nil }
  if not notes.features then -- the baseline and other strategies' lines have none yet
    memory.waiting[line.id] = member
    return
  end
  local parent = notes.parent and memory.waiting[notes.parent.id]
  if parent then
    enter(run, memory, parent, notes.parent)
    memory.waiting[notes.parent.id] = nil
  end
  local island = enter(run, memory, member, notes)
  if memory.shown.own then
    memory.population:grown(island, run.options.migration_interval, run.options.migration_rate)
  end
end

-- ---- plan: which parents, by which operator ----

-- An island as lines name it: by its name if it has one, else by number.
local function label(run, island)
  return run.memory.islands[island] or island
end

local function proposal(run, operator, island, parents, notes)
  notes = notes or {}
  notes.island = label(run, island)
  return { operator = operator, parents = parents, notes = notes, inspirations = nil }
end

local operators = {}

function operators.exploitation(run, population)
  local best = population:best()
  return proposal(run, "exploitation", best.island, { best.id })
end

-- The island with the fewest members, from its best or from scratch; `fresh`: an empty island.
function operators.exploration(run, population, fresh)
  local island = fresh or population:smallest_island()
  local best = population:island(island) and population:best(island)
  if best and run.rng:random() < 0.5 then return proposal(run, "exploration", island, { best.id }) end
  return proposal(run, "exploration", island, { run.baseline.id }, { scratch = true })
end

-- One of the top quarter, and one of another island and, if there is one, another cell.
function operators.crossover(run, population)
  local rng = run.rng
  local first = population:quartile(rng)
  for _, island in ipairs(rng:shuffle(population:settled())) do
    if island ~= first.island then
      local second = population:other_cell(rng, first, island) or population:best(island)
      if not archive.akin(first, second) then
        return proposal(run, "crossover", first.island, { first.id, second.id })
      end
    end
  end
end

-- A donor island's technique onto a recipient's candidate.
function operators.migration(run, population)
  local islands = population:settled()
  if #islands < 2 then return nil end
  run.rng:shuffle(islands)
  local recipient, donor = population:best(islands[1]), population:best(islands[2])
  if archive.akin(recipient, donor) then return nil end
  return proposal(run, "migration", islands[1], { recipient.id, donor.id }, { donor = label(run, islands[2]) })
end

-- An empty island with nothing on its way to it; while nothing has landed, another one after each 3 failures.
local function unused_island(run, population)
  local used, free = {}, {}
  for _, pending in ipairs(run.pending) do used[(pending.notes or none).island or false] = true end
  for island = 1, #population.names do
    if population:size(island) == 0 and not used[label(run, island)] then free[#free + 1] = island end
  end
  local failed = population:size() == 0 and run.memory.streak.length or 0
  return free[failed // 3 % math.max(1, #free) + 1]
end

-- The response to a streak of rejections, each once: 3; then 5, 10, 15 and so on.
local function override(run, population, at)
  local made
  if at == 3 then
    made = operators.exploration(run, population, unused_island(run, population))
  else
    local count = #population.names
    local room = count < population.max_islands and count + 1 or nil
    if not room or run.rng:random() < 0.5 then made = operators.migration(run, population) end
    made = made or operators.exploration(run, population, room or unused_island(run, population))
  end
  made.notes.override = { at = at, since = run.memory.streak.since }
  return made
end

local function plan_playbook(run, memory, population)
  local size = population:size()
  if size == 0 and run.best.id ~= run.baseline.id then -- another strategy began this journal
    return proposal(run, "exploration", unused_island(run, population) or 1, { run.best.id })
  end
  if size <= 1 then return operators.exploration(run, population, unused_island(run, population)) end
  local at = streak.due(memory.streak, run.pending, 3, 5)
  if at then return override(run, population, at) end
  local name = run.rng:choice(operator_names, memory.weights)
  return operators[name](run, population) or operators.exploitation(run, population)
end

-- OpenEvolve: islands in turn; a parent at random, among the elites, or by rank.
local function plan_openevolve(run, _, population)
  local options, rng = run.options, run.rng
  local island = (run.experiment - 1) % #population.names + 1
  if population:size(island) == 0 then -- every island begins with a copy of the first program
    return proposal(run, "exploration", island, { run.baseline.id })
  end
  local draw = rng:random()
  if draw < options.exploration_ratio then
    return proposal(run, "exploration", island, { population:random(rng, island).id })
  end
  if draw < options.exploration_ratio + options.exploitation_ratio then
    local elite = population:elite(rng, island) or population:best(island)
    return proposal(run, "exploitation", island, { elite.id })
  end
  return proposal(run, "weighted", island, { population:weighted(rng, island).id })
end

local plans = { playbook = plan_playbook, openevolve = plan_openevolve }

function evolve.plan(run)
  local memory = run.memory
  local population, wrong = memory.population, memory.measured and features.problem(memory.features,
    run.baseline.metrics)
  if wrong then error(wrong, 0) end
  local made = plans[run.options.selection](run, memory, population)
  if memory.shown.own then made.notes.sizes = population:sizes_for(run) end
  made.inspirations = population:shown(run.rng, made.parents, made.notes.island, memory.shown)
  return made
end

-- ---- prompt ----

local function listed(list)
  return #list > 0 and "- " .. table.concat(list, "\n- ") or ""
end

-- Untried ideas: pieces of domain knowledge, families without members.
local function untried(run)
  local memory = run.memory
  local list = knowledge.untried(memory.knowledge, memory.tried)
  for _, island in ipairs(memory.islands) do
    if memory.population:size(island) == 0 then
      list[#list + 1] = "the family " .. families.named(island, memory.about)
    end
  end
  return listed(list)
end

-- Operators that go to an island on purpose: there the plan counts, whatever a model says of its version.
local aimed = { exploration = true, migration = true }

local asked_too = [[


ASI learned= should be a heuristic that holds for the next version too, not a report on this one. If you are sure that
an avenue leads nowhere, close it: ASI foreclosed=what, and why.]]

function evolve.prompt(run, made)
  local memory, notes = run.memory, made.notes or {}
  local anew = notes.scratch and prompt.fits_answer(run, run.get(made.parents[1]))
  local fields = prompt.fields(run, made, anew and "rewrite" or nil)
  local template = #made.parents > 1 and (made.operator == "migration" and "migration" or "crossover") or "mutation"
  local kind = anew and "scratch" or made.operator == "exploration" and "explore" or "exploit"
  for _, name in ipairs { "scratch", "explore", "exploit" } do fields[name] = name == kind and "yes" or "" end
  fields.again = notes.again and ("Your last answer was not used: %s."):format(notes.again) or ""
  fields.stuck = notes.override
    and ("The last %d attempts were not kept: try something none of them tried."):format(memory.streak.length)
    or ""
  fields.place = families.place { notes = notes, names = memory.islands, about = memory.about,
    count = #memory.population.names, features = memory.features, aimed = aimed[made.operator] }
  fields.families = families.asked(aimed[made.operator] and {} or memory.islands, memory.features)
  fields.lessons = listed(memory.lessons)
  fields.guidance = template == "mutation" and run.options.guidance_mutation or run.options.guidance_crossover
  if fields.guidance ~= "" then -- it has been read
    fields.instructions = prompt.without(fields.instructions, "Evolution Strategy")
  end
  fields.foreclosed, fields.untried = listed(memory.foreclosed), untried(run)
  fields.answer = fields.answer .. asked_too
  return prompt.fitted(run, made, fields, function()
    return { { role = "system", content = prompt.render(run, "system", fields) },
      { role = "user", content = prompt.render(run, template, fields) } }
  end)
end

-- ---- select: the model's island and cell; novelty; the best of several ----

-- The notes from a model's answer, nil without any; false and why they are refused (see apsis.families).
local function placed(run, made, answer)
  local said = answer.notes
  if not said and not run.memory.named then return nil end
  local notes, refused = families.placed(said or none, run.memory, aimed[made.operator])
  if not notes then return false, refused end
  if said then notes.foreclosed, notes.knowledge = said.foreclosed, said.knowledge end
  return notes
end

-- The notes of an answer, nil without any; or false, the reason, and the id of a near duplicate.
local function looked_at(run, made, answer)
  local notes, refused = placed(run, made, answer)
  if notes == false then return false, refused end
  local known, limit = run.memory.sketches, run.options.near_duplicate
  local why, id = near_duplicate.refusal(run.get(made.parents[1]), answer.edits or none, known, limit)
  if why then return false, why, id end
  return notes
end

function evolve.select(run, made, answers)
  local found, why, retry, twin = {}, nil, nil, nil
  local index, details = trajectory.choose(answers, function(answer, at)
    local notes, refused, id = looked_at(run, made, answer)
    found[at], why, twin, retry = notes, why or refused, twin or id, retry or not id and answer.text and refused
    return refused
  end)
  if index then
    local notes = found[index] or answers[2] and {}
    if answers[2] then notes.trajectory = { answers = details } end
    return index, nil, notes and { notes = notes }
  end
  if retry and not twin and not (made.notes or none).again then return "resample", trajectory.again(made, retry) end
  return nil, why or (answers[1] or none).error, twin and { duplicate_of = twin }
end

-- ---- accept: computed features; hill-climbing decides ----

-- What is noted of every candidate that enters the population; and of its parent, if that has no features yet (the
-- baseline, another strategy's candidate).
local function noted(run, candidate)
  local memory, parent, marks = run.memory, candidate.parents[1], run.options.near_duplicate > 0
  local notes = features.noted(memory.features, candidate, memory.population, marks)
  notes.fitness, notes.cell = candidate.value, memory.population:cell_of(notes.features)
  if memory.waiting[parent] then
    notes.parent = features.noted(memory.features, run.get(parent), memory.population, marks)
    notes.parent.id = parent
  end
  return { notes = notes }
end

evolve.stopped = noted

function evolve.accept(run, candidate)
  local extra = noted(run, candidate)
  if run.metric:better(candidate, run.best) then return true, nil, extra end
  local kept, why = tie_break.wins(run, candidate)
  return kept, why, extra
end

function evolve.halt(run)
  local patience = run.options.patience
  if patience > 0 and run.since_best >= patience then
    return ("no new best in %d experiments"):format(run.since_best)
  end
end

return evolve
