-- openevolve: evolution over islands with MAP-Elites grids, by two sources (option selection). playbook: four operators by
-- weight, with overrides when nothing is kept for long, after githubnext/autoloop's OpenEvolve strategy. openevolve: parents
-- as the Python project samples them (OpenEvolve 0.3), with migration around a ring. Every measured candidate enters the
-- population, kept or not; kept means what it means anywhere: better than the best.
local archive = require "apsis.archive"
local direction = require "apsis.direction"
local families = require "apsis.families"
local knowledge = require "apsis.knowledge"
local limits = require "apsis.options"
local prompt = require "apsis.prompt"
local suggest = require "apsis.suggest"
local text = require "apsis.text"

local evolve = {
  options = {
    selection = "playbook", -- or openevolve
    exploitation = 0.50, exploration = 0.30, crossover = 0.15, migration = 0.05, -- playbook: the weights of its operators
    exploration_ratio = 0.2, exploitation_ratio = 0.7, -- openevolve: how parents are drawn; the rest by linear ranking
    migration_interval = 50, migration_rate = 0.1, -- openevolve: generations between migrations, the share that migrates
    islands = 5, max_islands = 10, island_names = {}, -- names: families that the model chooses from
    population_size = 0, archive_size = 0, -- 0: as the source says, 40 and 10 or 1000 and 100
    features = { "complexity", "diversity" }, feature_bins = 10, -- also a metric's name, or {name=, bins=}, {name=, values={...}}
    top_programs = 3, diverse_programs = 2, -- what prompts show beside the parent
    inspirations = 5, elite_selection_ratio = 0.1, -- openevolve: so many are shown, a share of them the island's best
    near_duplicate = 0, -- 0: off; else the similarity (0 to 1) from which a change is skipped before it is measured
    knowledge = {}, -- domain knowledge to be tried, each in a line; program.md's section of that name is read too
    patience = 0, -- 0: off; else so many experiments without a new best end the run
  },
}

-- What the templates may name beside prompt.field_names; the prompt hook fills them in.
evolve.fields = { "explore", "exploit", "scratch", "stuck", "again", "families", "lessons", "foreclosed", "untried" }

local operator_names = { "exploitation", "exploration", "crossover", "migration" }
local computed = { complexity = true, diversity = true }
local sizes = { playbook = { population = 40, elites = 10 }, openevolve = { population = 1000, elites = 100 } }

-- ---- what is known: a fold over the journal ----

local share, whole, weight = { least = 0, most = 1 }, { integer = true, least = 0 }, { least = 0 }
local few = { integer = true, least = 1, most = 60 }

local rules = {
  selection = { one_of = { "playbook", "openevolve" } }, exploitation = weight, exploration = weight, crossover = weight,
  migration = weight, exploration_ratio = share, exploitation_ratio = share, migration_interval = { integer = true, least = 1 },
  migration_rate = share, elite_selection_ratio = share, islands = few, max_islands = few, island_names = { names = true },
  population_size = whole, archive_size = whole, feature_bins = { integer = true, least = 1 }, top_programs = whole,
  diverse_programs = whole, inspirations = whole, near_duplicate = share, knowledge = { names = true }, patience = whole,
}

-- The features of the grid, each { name, bins } or { name, values }; archive.new says what is wrong with them.
local function features_of(options)
  local list = {}
  for index, given in ipairs(options.features) do
    local feature = {}
    for key, value in pairs(type(given) == "table" and given or { name = given }) do feature[key] = value end
    if not feature.values then feature.bins = feature.bins or options.feature_bins end
    list[index] = feature
  end
  return list
end

local function new_population(options, metric)
  local size, named = sizes[options.selection], #options.island_names > 0
  return archive.new { metric = metric, features = features_of(options),
    islands = named and options.island_names or options.islands,
    max_islands = named and #options.island_names or options.max_islands,
    population_size = options.population_size > 0 and options.population_size or size.population,
    archive_size = options.archive_size > 0 and options.archive_size or size.elites }
end

-- What is wrong with the options, for whoever set them; nil where nothing is.
function evolve.check(given)
  local wrong = limits.problem(given, rules)
  if wrong then return wrong end
  if given.exploitation + given.exploration + given.crossover + given.migration == 0 then
    return "options exploitation, exploration, crossover, migration: one weight must be above 0"
  end
  if #given.island_names == 0 and given.max_islands < given.islands then return "option max_islands must not be below option islands" end
  if given.exploration_ratio + given.exploitation_ratio > 1 + 1e-9 then
    return "options exploration_ratio and exploitation_ratio: their sum must not be above 1"
  end
  if #given.features == 0 then return "option features must be a list of at least one" end
  local ok, message = pcall(new_population, given, direction.new {})
  return not ok and "option features: " .. message:gsub("^[^:]*:%d+: ", "") or nil
end

function evolve.init(run)
  local options, memory = run.options, run.memory
  memory.features, memory.population = features_of(options), new_population(options, run.metric)
  memory.streak, memory.since, memory.overridden = 0, 0, {}
  memory.generations, memory.migrated_at, memory.sketches, memory.waiting = {}, 0, {}, {}
  memory.knowledge, memory.tried, memory.lessons, memory.foreclosed = knowledge.list(options.knowledge, run.project.program), {}, {}, {}
end

local function remember_text(list, said, most)
  if type(said) ~= "string" or said == "" then return end
  for _, known in ipairs(list) do if known == said then return end end
  list[#list + 1] = said
  if #list > most then table.remove(list, 1) end
end

local no_fault = { skipped_provider_failure = true, skipped_strategy_error = true, measured = true, asked = true }

-- How many candidates in a row were not kept, and which overrides this streak has had.
local function count_streak(memory, line)
  if line.kept then
    memory.streak, memory.since, memory.overridden = 0, line.experiment, {}
  elseif not no_fault[line.outcome] then
    memory.streak = memory.streak + 1
  end
  local override = (line.notes or {}).override
  if override and override.since == memory.since then memory.overridden[override.at] = true end
end

-- The ring's turn: once an island has grown by migration_interval since the last time.
local function migrate(run, island)
  local memory, options = run.memory, run.options
  memory.generations[island] = (memory.generations[island] or 0) + 1
  if options.selection ~= "openevolve" or memory.generations[island] - memory.migrated_at < options.migration_interval then return end
  memory.population:migrate(options.migration_rate)
  memory.migrated_at = memory.generations[island]
end

-- The index of the island a line names; a number beyond the islands there are makes a new one.
local function island_of(population, named)
  local index = population:island(named)
  if index then return index end
  return math.type(named) == "integer" and population:new_island() or population:smallest_island()
end

-- Takes a member into the population with the features that were computed for it. Returns its island.
local function enter(run, member, known)
  local population, features = run.memory.population, {}
  for _, feature in ipairs(run.memory.features) do -- a name that is one no more is no feature
    local value = known.features[feature.name]
    features[feature.name] = (not feature.values or families.has(feature.values, value)) and value or nil
  end
  member.island, member.features, member.sketch = island_of(population, member.island), features, known.sketch
  population:add(member)
  if run.options.near_duplicate > 0 and known.sketch then table.insert(run.memory.sketches, { id = member.id, sketch = known.sketch }) end
  return member.island
end

function evolve.learn(run, line)
  local memory, notes = run.memory, line.notes or {}
  count_streak(memory, line)
  knowledge.mark(memory.knowledge, memory.tried, line)
  remember_text(memory.lessons, line.learned, 20)
  remember_text(memory.foreclosed, notes.foreclosed, 50)
  if not line.value or not line.commit then return end
  local member = { id = line.id, value = line.value, experiment = line.experiment, island = notes.island or 1 }
  if not notes.features then -- of the baseline and of other strategies' lines nothing was computed yet
    memory.waiting[line.id] = member
    return
  end
  local parent = notes.parent and memory.waiting[notes.parent.id]
  if parent then
    enter(run, parent, notes.parent)
    memory.waiting[notes.parent.id] = nil
  end
  migrate(run, enter(run, member, notes))
end

-- ---- plan: which parents, by which operator ----

-- An island as lines name it: by its name where it has one of its own, else by number.
local function label(run, island)
  return run.options.island_names[island] or island
end

local function proposal(run, operator, parents, island, more)
  local ids = {}
  for index, member in ipairs(parents) do ids[index] = member.id end
  local made = { operator = operator, parents = ids, notes = { island = label(run, island) } }
  for key, value in pairs(more or {}) do made.notes[key] = value end
  return made
end

-- The other programs a prompt shows: the best, and the best of other cells; never a parent. openevolve: of the parent's island,
-- and random ones of it to make up the number.
local function inspirations(run, made, rng)
  local population, options = run.memory.population, run.options
  local list, seen = {}, {}
  for _, id in ipairs(made.parents) do seen[id] = true end
  local function take(members)
    for _, member in ipairs(members) do
      if not seen[member.id] then
        seen[member.id] = true
        list[#list + 1] = member.id
      end
    end
  end
  local island = population:island(made.notes.island)
  if island and population:size(island) == 0 then island = nil end
  local own = options.selection == "openevolve"
  local top = own and math.max(options.top_programs, options.inspirations * options.elite_selection_ratio // 1 | 0) or options.top_programs
  take(population:top(top, own and island or nil))
  take(population:diverse(options.diverse_programs, rng, island, population:get(made.parents[1])))
  for _ = #list + 1, own and options.inspirations or 0 do take { population:random(rng, island) } end
  made.inspirations = #list > 0 and list or nil
  return made
end

local operators = {}

function operators.exploitation(run)
  local best = run.memory.population:best()
  return proposal(run, "exploitation", { best }, best.island)
end

-- The island with the fewest members, from its best or from scratch; `fresh`: an island that nothing lives on.
function operators.exploration(run, fresh)
  local population = run.memory.population
  local island = fresh or population:smallest_island()
  local best = population:island(island) and population:best(island)
  if best and run.rng:random() < 0.5 then return proposal(run, "exploration", { best }, island) end
  return proposal(run, "exploration", { { id = run.baseline.id } }, island, { scratch = true })
end

-- The islands that something lives on, as indices.
local function settled(population)
  local list = {}
  for _, island in ipairs(population:islands()) do
    if island.size > 0 then list[#list + 1] = island.index end
  end
  return list
end

-- Whether one of two members came out of the other, so that crossing them would bring nothing together.
local function akin(run, first, second)
  if first.id == second.id then return true end
  for _, pair in ipairs { { first, second }, { second, first } } do
    for _, id in ipairs(run.get(pair[1].id).parents) do
      if id == pair[2].id then return true end
    end
  end
  return false
end

-- One of the top quarter, and one of another island and, where there is one, another cell.
function operators.crossover(run)
  local population, rng = run.memory.population, run.rng
  local first = population:quartile(rng)
  for _, island in ipairs(rng:shuffle(settled(population))) do
    if island ~= first.island then
      local second = population:other_cell(rng, first, island) or population:best(island)
      if not akin(run, first, second) then return proposal(run, "crossover", { first, second }, first.island) end
    end
  end
end

-- A donor island's technique onto a recipient's candidate.
function operators.migration(run)
  local population, islands = run.memory.population, settled(run.memory.population)
  if #islands < 2 then return nil end
  run.rng:shuffle(islands)
  local recipient, donor = population:best(islands[1]), population:best(islands[2])
  if akin(run, recipient, donor) then return nil end
  return proposal(run, "migration", { recipient, donor }, islands[1], { donor = label(run, islands[2]) })
end

-- An island nothing lives on or is on its way to.
local function unused_island(run)
  local used = {}
  for _, pending in ipairs(run.pending) do used[(pending.notes or {}).island or false] = true end
  for _, island in ipairs(run.memory.population:islands()) do
    if island.size == 0 and not used[label(run, island.index)] then return island.index end
  end
end

-- What the streak of rejections calls for, each once: 3; then 5, 10, 15 and so on.
local function due(run)
  local memory = run.memory
  local at = memory.streak >= 5 and memory.streak // 5 * 5 or memory.streak >= 3 and 3
  if not at or memory.overridden[at] then return nil end
  for _, pending in ipairs(run.pending) do
    local override = (pending.notes or {}).override
    if override and override.since == memory.since and override.at == at then return nil end
  end
  return at
end

local function override(run, at)
  local population, made = run.memory.population, nil
  if at == 3 then
    made = operators.exploration(run, unused_island(run))
  else
    local count = #population:islands()
    local room = count < population.max_islands and count + 1 or nil
    if not room or run.rng:random() < 0.5 then made = operators.migration(run) end
    made = made or operators.exploration(run, room or unused_island(run))
  end
  made.notes.override = { at = at, since = run.memory.since }
  return made
end

local function plan_playbook(run)
  local population, options = run.memory.population, run.options
  if population:size() == 0 and run.best.id ~= run.baseline.id then -- a journal that another strategy began
    return proposal(run, "exploration", { run.best }, unused_island(run) or 1)
  end
  if population:size() <= 1 then return operators.exploration(run, unused_island(run)) end
  local at = due(run)
  if at then return override(run, at) end
  local weights = {}
  for index, name in ipairs(operator_names) do weights[index] = options[name] end
  local name = run.rng:choice(operator_names, weights)
  return operators[name](run) or operators.exploitation(run)
end

-- OpenEvolve: islands in turn; a parent at random, among the elites, or by rank.
local function plan_openevolve(run)
  local population, options, rng = run.memory.population, run.options, run.rng
  local island = (run.experiment - 1) % #population:islands() + 1
  if population:size(island) == 0 then -- every island begins with a copy of the first program
    return proposal(run, "exploration", { { id = run.baseline.id } }, island)
  end
  local draw = rng:random()
  if draw < options.exploration_ratio then return proposal(run, "exploration", { population:random(rng, island) }, island) end
  if draw < options.exploration_ratio + options.exploitation_ratio then
    return proposal(run, "exploitation", { population:elite(rng, island) or population:best(island) }, island)
  end
  return proposal(run, "weighted", { population:weighted(rng, island) }, island)
end

-- A feature that is neither computed nor a name must be a metric that the baseline has.
local function check_features(run)
  for _, feature in ipairs(run.memory.features) do
    local name, metrics = feature.name, run.baseline.metrics
    if not computed[name] and not feature.values and not metrics[name] then
      local names = { "complexity", "diversity" }
      for metric in pairs(metrics) do names[#names + 1] = metric end
      error(("option features: %q is no feature, and the baseline has no metric of that name%s; there are %s"):format(name,
        suggest.sentence(name, names), table.concat(names, ", ")), 0)
    end
  end
end

function evolve.plan(run)
  check_features(run)
  local made = run.options.selection == "openevolve" and plan_openevolve(run) or plan_playbook(run)
  return inspirations(run, made, run.rng)
end

-- ---- prompt ----

local function listed(list)
  return #list > 0 and "- " .. table.concat(list, "\n- ") or ""
end

-- What nobody has tried: pieces of domain knowledge, families nothing lives in.
local function untried(run)
  local memory = run.memory
  local list = knowledge.untried(memory.knowledge, memory.tried)
  for _, island in ipairs(run.options.island_names) do
    if memory.population:size(island) == 0 then list[#list + 1] = "the family " .. island end
  end
  return listed(list)
end

local asked_too = [[


ASI learned= should be a heuristic that holds for the next version too, not a report on this one. Where you are sure that an
avenue leads nowhere, close it: ASI foreclosed=what, and why.]]

function evolve.prompt(run, made)
  local fields, memory, notes = prompt.fields(run, made), run.memory, made.notes or {}
  local template = #made.parents > 1 and (made.operator == "migration" and "migration" or "crossover") or "mutation"
  local scratch = notes.scratch or false
  fields.scratch = scratch and "yes" or ""
  fields.explore = not scratch and made.operator == "exploration" and "yes" or ""
  fields.exploit = fields.scratch == "" and fields.explore == "" and "yes" or ""
  fields.again = notes.again and ("Your last answer was not used: %s."):format(notes.again) or ""
  fields.stuck = notes.override and ("The last %d attempts were not kept: try something none of them tried."):format(memory.streak) or ""
  fields.families, fields.lessons = families.asked(run.options.island_names, memory.features), listed(memory.lessons)
  fields.foreclosed, fields.untried = listed(memory.foreclosed), untried(run)
  fields.answer = fields.answer .. asked_too
  return { { role = "system", content = prompt.render(run, "system", fields) },
    { role = "user", content = prompt.render(run, template, fields) } }
end

-- ---- select: the model's word on island and cell; novelty ----

-- The notes that a model's words make; nil and why they are refused. What it does not name stays as it was planned.
local function placed(run, answer)
  local said = answer.notes or {}
  local notes, refused = families.placed(said, run.options.island_names, run.memory.features)
  if not notes then return nil, refused end
  notes.foreclosed, notes.knowledge = said.foreclosed, said.knowledge
  return notes
end

local function joined(sources)
  local parts = {}
  for index, file in ipairs(sources) do parts[index] = file.text end
  return table.concat(parts, "\n")
end

-- The measured candidate that an answer's program is most like, and how much; its parent among them.
local function most_like(run, made, answer)
  local sources = run.get(made.parents[1]):sources()
  local before = text.sketch(joined(sources))
  for _, file in ipairs(sources) do
    local new = (answer.edits or {})[file.path]
    if type(new) == "string" then file.text = new elseif new == false then file.text = "" end
  end
  local sketch = text.sketch(joined(sources))
  local most, id = text.similarity(sketch, before), made.parents[1]
  for _, known in ipairs(run.memory.sketches) do
    local similarity = text.similarity(sketch, known.sketch)
    if similarity > most then most, id = similarity, known.id end
  end
  return id, most
end

-- The same proposal with word of why its answer was refused: asked once more.
local function once_more(made, refused)
  local notes = { again = refused }
  for key, value in pairs(made.notes or {}) do notes[key] = value end
  return { operator = made.operator, parents = made.parents, inspirations = made.inspirations, model = made.model, notes = notes }
end

function evolve.select(run, made, answers)
  local why
  for index, answer in ipairs(answers) do
    local notes, refused
    if not answer.error then notes, refused = placed(run, answer) end
    if notes and run.options.near_duplicate > 0 then
      local id, similarity = most_like(run, made, answer)
      if id and similarity >= run.options.near_duplicate then
        return nil, ("nearly the same as %s (similarity %.2f)"):format(id, similarity), { duplicate_of = id }
      end
    end
    if notes then return index, nil, { notes = notes } end
    if refused and not (made.notes or {}).again and answer.text then return "resample", once_more(made, refused) end
    why = why or refused or answer.error
  end
  return nil, why
end

-- ---- accept: computed features; the decision is hill-climbing's ----

local function computed_of(run, candidate)
  local memory, found = run.memory, {}
  local notes = candidate.notes or {}
  local program = joined(candidate:sources())
  local sketch = text.sketch(program)
  for _, feature in ipairs(memory.features) do
    local name = feature.name
    if feature.values then found[name] = (notes.named or {})[name]
    elseif name == "complexity" then found[name] = #program
    elseif name == "diversity" then found[name] = memory.population:diversity(sketch)
    else found[name] = candidate.metrics[name] end
  end
  return found, sketch
end

-- The features of a parent for which none were computed yet: the baseline, or another strategy's candidate.
local function parent_features(run, candidate)
  local id = candidate.parents[1]
  if not run.memory.waiting[id] then return nil end
  local found, sketch = computed_of(run, run.get(id))
  return { id = id, features = found, sketch = sketch }
end

function evolve.accept(run, candidate)
  local found, sketch = computed_of(run, candidate)
  local extra = { notes = { features = found, sketch = sketch, fitness = candidate.value, cell = run.memory.population:cell_of(found),
    parent = parent_features(run, candidate) } }
  if run.metric:better(candidate, run.best) then return true, nil, extra end
  if run.metric:tied(candidate, run.best) and candidate.changed_lines < run.best.changed_lines then
    return true, "tied, with fewer changed lines", extra
  end
  return false, nil, extra
end

function evolve.halt(run)
  local patience = run.options.patience
  if patience > 0 and run.since_best >= patience then return ("no new best in %d experiments"):format(run.since_best) end
end

return evolve
