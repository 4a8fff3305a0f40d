-- shinka: islands, parents by weight, novelty before evaluation, after ShinkaEvolve (github.com/SakanaAI/ShinkaEvolve).
-- A parent is drawn from an island's part of the archive by how much it is above the median, and by how few children it
-- has. An answer that is nearly a known program is not measured, but asked for again. With several models a bandit
-- chooses; now and then a model is asked for recommendations, and (option prompts) for better instructions.
local asking = require "apsis.asking"
local elites = require "apsis.elites"
local limits = require "apsis.options"
local messages = require "apsis.messages"
local model_bandit = require "apsis.model_bandit"
local near_duplicate = require "apsis.near_duplicate"
local prompt_pool = require "apsis.prompt_pool"
local selection = require "apsis.selection"
local text = require "apsis.text"
local tie_break = require "apsis.tie_break"

local shinka = {
  options = {
    islands = 2, -- how many populations
    archive_size = 40, -- how many may be parents
    diff = 0.6, full = 0.3, cross = 0.1, -- how often: a small change, a rewrite, a crossover with another version
    novelty = 0.99, -- the similarity from which an answer with the same constants is asked for again; 0: off
    recommendations = 10, -- programs between questions for recommendations; 0: none
    prompts = 0, -- programs between questions for better instructions; 0: none
    patience = 0, -- 0: off; else the run ends after N experiments without a new best
  },
  fields = messages.fields,
}
local none, kinds, TRIES <const> = {}, { "exploitation", "exploration", "crossover" }, 3

function shinka.check(options)
  local whole, share = { integer = true, least = 0 }, { least = 0, most = 1 }
  local wrong = limits.problem(options, { islands = { integer = true, least = 1, most = 60 }, diff = share,
    full = share, cross = share, novelty = share, archive_size = { integer = true, least = 1 }, recommendations = whole,
    prompts = whole, patience = whole })
  if wrong or options.diff + options.full > 0 then return wrong end
  return "options diff and full: one must be above 0"
end

-- ---- state: a fold over the journal ----

function shinka.init(run)
  local memory, options = run.memory, run.options
  memory.archive, memory.of, memory.known = elites.new(run.metric, options.archive_size), {}, {}
  memory.bandit, memory.pool = model_bandit.new(run.models), prompt_pool.new ""
  memory.asked = asking.new { ideas = options.recommendations, instructions = options.prompts }
  for island = 1, options.islands do memory.known[island] = {} end
end

-- A member of an island; the baseline is one of each.
local function enter(memory, line, island)
  memory.of[island .. line.id] = { id = line.id, value = line.value, island = island, children = 0 }
  memory.archive:add(memory.of[island .. line.id])
end

function shinka.learn(run, line)
  local memory, notes, value = run.memory, line.notes or none, line.value
  local island, kind, answer = notes.island or 1, asking.heard(memory.asked, line)
  if kind == "instructions" and answer then memory.pool:add(answer) end
  memory.bandit:ask(notes.model)
  if line.cost then memory.bandit:pay(notes.model, line.cost) end
  if notes.sketch then
    table.insert(memory.known[island], { id = line.id, sketch = notes.sketch, marks = notes.marks })
  end
  local parent = memory.of[island .. ((line.parents or none)[1] or "")]
  if value or line.outcome == "skipped_verification_crash" then -- evaluated
    if parent then parent.children = parent.children + 1 end
    memory.bandit:learn(notes.model, value and run.metric:gain(value, run.metric:better_of(parent, run.baseline)))
    asking.count(memory.asked)
  end
  if not value then return end
  memory.pool:credit(run.metric, value, notes.prompt)
  if line.outcome ~= "baseline" then return enter(memory, line, island) end
  for each = 1, run.options.islands do enter(memory, line, each) end
end

-- ---- plan ----

-- The best of an island and a random one of its archive, beside the parent.
local function inspirations(run, members, parent)
  local best, others = run.metric:best_of(members), {}
  for _, member in ipairs(members) do
    if member ~= parent and member ~= best then others[#others + 1] = member.id end
  end
  local list = { best ~= parent and best.id or nil }
  if others[1] then list[#list + 1] = run.rng:choice(others) end
  return list
end

local function draw(run)
  local memory, options, rng = run.memory, run.options, run.rng
  local settled, on = memory.archive:islands()
  if not settled[1] then return { parents = { run.baseline }, notes = { island = 1 } } end
  local island = rng:choice(settled)
  local members, ideas = on[island], memory.asked.ideas
  local parent = selection.pick(rng, members, selection.probabilities("weighted", members, run.metric))
  local seen, pool = inspirations(run, members, parent), memory.pool:pick(rng)
  local model = memory.bandit:pick(rng, run.pending)
  local kind = rng:choice(kinds, { options.diff, options.full, seen[1] and options.cross or 0 })
  return { parents = { parent.id, kind == "crossover" and table.remove(seen, 1) or nil }, inspirations = seen,
    model = model, operator = kind, answer = kind == "exploitation" and "diff" or "rewrite",
    notes = { island = island, model = model, prompt = pool.text ~= "" and pool.number or nil,
      idea = ideas[1] and kind ~= "crossover" and rng:choice(ideas) or nil } }
end

function shinka.plan(run)
  local memory = run.memory
  return asking.due(memory.asked, run, {
    ideas = "Which five changes should be tried next, given what worked and what did not? One line each, as a list.",
    instructions = ("These instructions guide a model that improves the program:\n\n%s\n\nWrite better ones, a few "
      .. "sentences, and nothing else."):format(memory.pool:pick(run.rng).text) }) or draw(run)
end

function shinka.prompt(run, made)
  local notes, guidance = made.notes or none, nil
  for _, one in ipairs(run.memory.pool.list) do if one.number == notes.prompt then guidance = one.text end end
  return messages.write(run, made, { [made.operator == "exploration" and "explore" or "exploit"] = "yes",
    untried = notes.idea and "- " .. notes.idea, guidance = guidance,
    again = notes.again and ("Your last answer was not used: %s."):format(notes.again) })
end

-- ---- select: novelty; accept: hill-climbing, and the marks by which a program is known again ----

function shinka.select(run, made, answers)
  local notes = made.notes or none
  local index, why, twin = near_duplicate.choose(run.get(made.parents[1]), answers,
    run.memory.known[notes.island or 1] or none, run.options.novelty)
  local tries = (notes.tries or 1) + 1
  if index or not twin or tries > TRIES then return index, why, twin and { duplicate_of = twin } end
  local again = draw(run)
  again.notes.tries, again.notes.again = tries, why
  return "resample", again
end

function shinka.accept(run, candidate)
  local program = near_duplicate.program(candidate:sources())
  local extra = { notes = { sketch = text.sketch(program), marks = near_duplicate.marks(program) } }
  if run.metric:better(candidate, run.best) then return true, nil, extra end
  local kept, why = tie_break.wins(run, candidate)
  return kept, why, extra
end

function shinka.halt(run)
  local patience = run.options.patience
  if patience > 0 and run.since_best >= patience then
    return ("no new best in %d experiments"):format(run.since_best)
  end
end

return shinka
