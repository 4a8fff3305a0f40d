-- adaevolve: islands that are searched as hard as they need it, after AdaEvolve (SkyDiscover:
-- github.com/skydiscover-ai/skydiscover). UCB over fading rewards chooses the island; the less it improved of late, the
-- more often any of its members is the parent. The best migrate around a ring; if few programs improve on any island,
-- there is a new one. If the run is stuck, a model is asked for other directions, and later prompts have them.
local adaptation = require "apsis.adaptation"
local asking = require "apsis.asking"
local limits = require "apsis.options"
local messages = require "apsis.messages"
local populations = require "apsis.populations"

local adaevolve = {
  options = {
    islands = 2, -- how many at the start
    max_islands = 5, -- how many at most
    population_size = 20, -- how many members an island keeps
    intensity_min = 0.15, -- the least share of explorations
    intensity_max = 0.5, -- the largest share of explorations
    migration_interval = 15, -- experiments between migrations; 0: none
    spawn_below = 0.015, -- a new island begins if a smaller share of all programs has improved
    spawn_cooldown = 30, -- experiments from one new island to the next; 0: none begins
    inspirations = 4, -- how many of the best prompts show
    window = 10, -- how many of the newest experiments decide whether the run is stuck
    stuck_below = 0.12, -- it is if a smaller share of them improved the best: a model is asked for directions; 0: never
    uses = 2, -- how many prompts have a direction
    patience = 0, -- 0: off; else the run ends after N experiments without a new best
  },
  fields = messages.fields,
}
local none, SEEDS <const> = {}, 5

function adaevolve.check(options)
  local whole, share, some = { integer = true, least = 0 }, { least = 0, most = 1 }, { integer = true, least = 1 }
  local wrong = limits.problem(options, { islands = some, max_islands = some, population_size = some, window = whole,
    intensity_min = share, intensity_max = share, migration_interval = whole, spawn_below = share, uses = some,
    spawn_cooldown = whole, inspirations = whole, stuck_below = share, patience = whole })
  if wrong or options.intensity_min <= options.intensity_max then return wrong end
  return "option intensity_min must not be above intensity_max"
end

-- ---- state: a fold over the journal ----

function adaevolve.init(run)
  local memory, options = run.memory, run.options
  memory.adapted = adaptation.new(options.intensity_min, options.intensity_max)
  memory.held, memory.improved, memory.uses, memory.spawned = populations.new(run.metric, options.population_size), {},
    {}, 0
  memory.asked = asking.new { ideas = options.window }
end

-- A member comes to an island from elsewhere.
local function receive(run, number, member)
  local memory = run.memory
  if memory.held:enter(number, member) then memory.adapted:receive(number, run.metric:gain(member, 0)) end
end

local function new_island(memory)
  memory.adapted:add()
  return memory.held:add()
end

-- After an experiment: a new island if few improve, and the best of each to the next, around a ring.
local function end_iteration(run, number)
  local memory, options = run.memory, run.options
  local count = #memory.held.islands
  if count < options.max_islands and options.spawn_cooldown > 0 and number - memory.spawned >= options.spawn_cooldown
    and memory.adapted:productivity() < options.spawn_below then
    local island = new_island(memory)
    memory.spawned, count = number, island
    for _, member in ipairs(memory.held:best(SEEDS)) do memory.held:enter(island, member) end
  end
  if options.migration_interval == 0 or number % options.migration_interval ~= 0 then return end
  for island, member in ipairs(memory.held:leaders()) do receive(run, island % count + 1, member) end
end

function adaevolve.learn(run, line)
  local memory, notes, value = run.memory, line.notes or none, line.value
  if asking.heard(memory.asked, line) then memory.uses = {} end
  if notes.idea then memory.uses[notes.idea] = (memory.uses[notes.idea] or 0) + 1 end
  if value and not memory.held.islands[1] then
    for _ = 1, run.options.islands do new_island(memory) end
    memory.held:enter(1, line)
    memory.adapted:record(1, run.metric:gain(value, 0))
    for number = 2, run.options.islands do receive(run, number, line) end
  elseif value then
    local island = memory.held.islands[notes.island] and notes.island or 1
    memory.held:enter(island, line)
    memory.adapted:record(island, run.metric:gain(value, 0))
    memory.improved[#memory.improved + 1] = line.kept and 1 or 0
    asking.count(memory.asked)
  end
  if memory.held.islands[1] and line.experiment > 0 then end_iteration(run, line.experiment) end
end

-- ---- plan ----

-- The first direction that has not been used often enough.
local function direction(run)
  local memory = run.memory
  for _, idea in ipairs(memory.asked.ideas) do
    local uses = memory.uses[idea] or 0
    for _, proposal in ipairs(run.pending) do uses = uses + ((proposal.notes or none).idea == idea and 1 or 0) end
    if uses < run.options.uses then return idea end
  end
end

local function stuck(run)
  local improved, window, sum = run.memory.improved, run.options.window, 0
  if window == 0 or #improved < window then return false end
  for index = #improved - window + 1, #improved do sum = sum + improved[index] end
  return sum / window < run.options.stuck_below
end

function adaevolve.plan(run)
  local memory, idea, ids = run.memory, direction(run), {}
  if not memory.held.islands[1] then return { parents = { run.baseline } } end
  local question = not idea and stuck(run) and asking.due(memory.asked, run, { ideas = "The run is stuck. Name three "
    .. "other directions, each a different way to solve the problem, not a detail. One line each, as a list." })
  if question then return question end
  local island = memory.adapted:choose(run.rng, run.experiment - 1)
  local parent, mode = memory.held:draw(run.rng, island, memory.adapted:intensity(island))
  for index, member in ipairs(memory.held:best(run.options.inspirations, parent.id)) do ids[index] = member.id end
  return { parents = { parent.id }, inspirations = ids, notes = { island = island, idea = idea, drawn = mode },
    operator = mode == "exploration" and mode or "exploitation" }
end

function adaevolve.prompt(run, made)
  local idea = (made.notes or none).idea
  return messages.write(run, made, { [made.operator == "exploration" and "explore" or "exploit"] = "yes",
    stuck = idea and ("Take this direction: %s"):format(idea) })
end

function adaevolve.halt(run)
  local patience = run.options.patience
  if patience > 0 and run.since_best >= patience then
    return ("no new best in %d experiments"):format(run.since_best)
  end
end

return adaevolve
