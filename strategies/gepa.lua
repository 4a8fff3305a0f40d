-- gepa: candidates by items on a Pareto front, after GEPA (github.com/gepa-ai/gepa). A parent is drawn by the number of
-- items (test cases) on which nobody is better. A model is shown a few items, with what the parent reached there, and
-- asked to change one file; a child that is better in the sum of these items is kept. After a kept one, two lineages of
-- the front are merged: each file as it is where it changed since their common ancestor. If both changed the only file,
-- the provider is asked to cross the two. Without items the value counts as the only one.
local fronts = require "apsis.fronts"
local limits = require "apsis.options"
local merging = require "apsis.merging"
local messages = require "apsis.messages"
local minibatch = require "apsis.minibatch"
local suggest = require "apsis.suggest"

local gepa = {
  options = {
    minibatch = 3, -- how many items a model is shown, and a child is compared by
    merges = 5, -- how many merges may be kept
    overlap = 5, -- how many items two candidates must have in common to be merged
    patience = 0, -- 0: off; else the run ends after N experiments without a new best
  },
  fields = messages.fields, climbs = false, breaks_ties = false,
}
local none = {}

function gepa.check(options)
  local whole, least = { integer = true, least = 0 }, { integer = true, least = 1 }
  return limits.problem(options, { minibatch = least, overlap = least, merges = whole, patience = whole })
end

-- ---- state: a fold over the journal ----

function gepa.init(run)
  local memory = run.memory -- of the kept, by id: values by item, parents, which file has its turn next, from 0
  memory.fronts, memory.values, memory.parents, memory.turn = fronts.new(run.metric), {}, {}, {}
  memory.due, memory.merged, memory.found, memory.tried = 0, 0, false, {}
end

-- The values of a measured candidate by item; a fitness gives each item one score.
local function by_item(run, candidate)
  local values, name = {}, run.metric.name
  for item, found in pairs(candidate.items or none) do
    if type(found) == "table" then found = found[name] end
    values[item] = found
  end
  return next(values) and values or { [""] = candidate.value }
end

function gepa.learn(run, line)
  local memory, notes, parents, turn = run.memory, line.notes or none, line.parents or {}, 0
  if notes.turn and memory.turn[parents[1]] then memory.turn[parents[1]] = notes.turn end
  for _, mark in ipairs(notes.merge or none) do memory.tried[mark] = true end
  memory.found = line.kept and not notes.merge and line.outcome ~= "baseline"
  if not line.kept then return end
  if notes.merge then memory.due, memory.merged = memory.due - 1, memory.merged + 1
  elseif memory.found and memory.merged < run.options.merges then memory.due = memory.due + 1 end
  for _, id in ipairs(parents) do turn = math.max(turn, memory.turn[id] or 0) end
  memory.values[line.id], memory.parents[line.id], memory.turn[line.id] = by_item(run, line), parents, turn
  memory.fronts:add(line.id, memory.values[line.id])
end

-- ---- plan: a merge after a kept candidate, else a change that a model reflects on ----

local function texts_of(run, id)
  local texts = {}
  for _, file in ipairs(run.get(id):sources()) do texts[file.path] = file.text end
  return texts
end

local function merge(run)
  local memory = run.memory
  for _, proposal in ipairs(run.pending) do if (proposal.notes or none).merge then return nil end end
  if not memory.found or memory.due == 0 then return nil end
  local found = merging.propose { rng = run.rng, metric = run.metric, ids = memory.fronts:needed(),
    tried = memory.tried, parents = memory.parents, values = memory.values, overlap = run.options.overlap,
    mean = function(id) return memory.fronts:mean(id) end, texts = function(id) return texts_of(run, id) end }
  return found and { parents = { found.one, found.two }, operator = found.edits and "merge" or "crossover",
    edits = found.edits, title = ("merge of %s and %s"):format(found.one, found.two),
    notes = { merge = found.marks, items = found.items } }
end

-- The experiment's items: the next ones of which the parent has not reached the target with all.
local function share(run, values)
  local names, size = suggest.names(values), run.options.minibatch
  for number = run.experiment, run.experiment + #names // size do
    local items, open = minibatch.items(run.seed, number, names, size), false
    for _, item in ipairs(items) do open = open or not run.metric:reached(values[item]) end
    if open then return items end
  end
  return minibatch.items(run.seed, run.experiment, names, size)
end

function gepa.plan(run)
  local merged = merge(run)
  if merged then return merged end
  local memory = run.memory
  local ids, sizes = memory.fronts:needed()
  if not ids[1] then return { parents = { run.baseline } } end
  local parent = run.rng:choice(ids, sizes)
  local turn, paths = memory.turn[parent], suggest.names(texts_of(run, parent))
  for _, proposal in ipairs(run.pending) do turn = turn + (proposal.parents[1] == parent and 1 or 0) end
  return { parents = { parent }, operator = "exploitation", notes = { items = share(run, memory.values[parent]),
    file = paths[1] and paths[turn % #paths + 1], turn = paths[1] and (turn + 1) % #paths } }
end

-- ---- prompt and accept: the items of the plan ----

function gepa.prompt(run, made)
  local values, lines, shown = by_item(run, run.get(made.parents[1])), {}, {}
  for _, item in ipairs((made.notes or none).items or none) do
    if item ~= "" and values[item] and not shown[item] then
      lines[#lines + 1], shown[item] = ("- %s: %s=%.10g"):format(item, run.metric.name, values[item]), true
    end
  end
  local place = #lines > 0 and ("Reflect on what the parent did with these test cases (the artifacts below may show "
    .. "it), and why its result there is not better:\n\n%s"):format(table.concat(lines, "\n")) or ""
  local file = (made.notes or none).file
  if file then place = ("%s\n\nChange %s and no other file."):format(place, file) end
  return messages.write(run, made, { exploit = "yes", place = place })
end

-- The sum over items; nil if a value is missing.
local function total(values, items)
  local sum = 0
  for _, item in ipairs(items) do sum = values and values[item] and sum and sum + values[item] or nil end
  return sum
end

function gepa.accept(run, candidate)
  local values, notes, before = by_item(run, candidate), candidate.proposal.notes or none, nil
  local items = notes.items or suggest.names(values)
  local after = total(values, items)
  for _, id in ipairs(candidate.parents) do
    before = run.metric:better_of(before, total(by_item(run, run.get(id)), items))
  end
  local why = ("%s over %d items, %s before"):format(after or "no value", #items, before or "none")
  if candidate.confirmed == false and not run.metric:better(run.best.value, candidate.value) then -- it would lead
    return false, "not shown to be better than " .. run.best.id
  end
  if notes.merge then return after ~= nil and not run.metric:better(before, after), why end
  return run.metric:better(after, before), why
end

function gepa.halt(run)
  local patience = run.options.patience
  if patience > 0 and run.since_best >= patience then
    return ("no new best in %d experiments"):format(run.since_best)
  end
end

return gepa
