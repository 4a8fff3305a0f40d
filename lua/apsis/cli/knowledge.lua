-- knowledge: what a strategy knew at an experiment, as plain data and as text: best and tip, counters, experiments in
-- flight, and its memory. Called by the command replay.
local json = require "apsis.json"
local show = require "apsis.cli.table"

local knowledge = {}

local DEEP, WIDE = 12, 200

-- A value for JSON: what JSON cannot hold is replaced by its type; a cycle is marked.
local function plain(value, above, depth)
  local kind = type(value)
  if kind == "number" then return value - value == 0 and value or tostring(value) end
  if kind == "string" or kind == "boolean" then return value end
  if kind ~= "table" then return kind end
  if above[value] or depth > DEEP then return "a table above" end
  above[value] = true
  local copy, count = {}, 0
  for key, item in pairs(value) do
    copy[key] = plain(item, above, depth + 1)
    count = count + 1
  end
  above[value] = nil
  if count == #copy and count > 0 then return json.array(copy) end
  local named = {}
  for key, item in pairs(copy) do named[tostring(key)] = item end
  return named
end

local function brief(record)
  return record and { candidate = record.id, value = record.value } or json.null
end

-- The memory of a strategy or of a part of one.
local function memory_of(owner)
  local memory = {}
  for key, value in pairs(owner.memory or {}) do memory[key] = plain(value, {}, 1) end
  return memory
end

-- of(engine, experiment): within a recorded plan, { experiment, lines, best, current, since_kept, since_best, outcomes,
-- free, pending = { {experiment, operator, parents}... }, memory, parts (of sub-strategies, { NAME = memory }; or nil)
-- }.
function knowledge.of(engine, experiment)
  local history, pending = engine.history, json.array {}
  for index, number in ipairs(engine:in_flight()) do
    local proposal = engine.slots[number].proposal
    pending[index] = { experiment = number, operator = proposal.operator, parents = json.array(proposal.parents) }
  end
  local parts
  for _, part in ipairs(engine.strategy.subs) do
    parts = parts or {}
    parts[part.name] = memory_of(part)
  end
  local outcomes = {}
  for name, count in pairs(history.outcomes) do outcomes[name] = count end
  return { experiment = experiment, lines = history.count, outcomes = outcomes, best = brief(history.best),
    current = history.current and history.current.id or json.null, since_kept = history.since_kept,
    since_best = history.since_best,
    free = engine:may_start(), pending = pending, memory = memory_of(engine.strategy), parts = parts }
end

local function best_text(best)
  if best == json.null then return "none" end
  return ("%s %s"):format(best.candidate, show.number(best.value))
end

local function show_memory(title, memory)
  local facts = {}
  for _, name in ipairs(show.sorted(memory)) do
    facts[#facts + 1] = { "  " .. show.line(name), show.line(json.encode(memory[name]), WIDE) }
  end
  print(title .. (#facts > 0 and ":" or ": empty"))
  show.facts(facts)
end

-- Prints it: one fact per line, then the memory's fields.
function knowledge.show(known)
  local outcomes, pending = {}, {}
  for _, name in ipairs(show.sorted(known.outcomes)) do
    outcomes[#outcomes + 1] = ("%d %s"):format(known.outcomes[name], name)
  end
  for index, one in ipairs(known.pending) do
    pending[index] = ("%d (%s of %s)"):format(one.experiment, one.operator, table.concat(one.parents, " and "))
  end
  print(("before experiment %d, with %d lines folded"):format(known.experiment, known.lines))
  show.facts { { "best", best_text(known.best) }, { "current", known.current ~= json.null and known.current or "none" },
    { "since kept", known.since_kept }, { "since best", known.since_best },
    { "outcomes", table.concat(outcomes, ", ") },
    { "in flight", #pending > 0 and table.concat(pending, ", ") or "nothing" }, { "free", known.free } }
  show_memory("memory", known.memory)
  for _, name in ipairs(show.sorted(known.parts or {})) do
    show_memory("memory of " .. show.line(name), known.parts[name])
  end
end

return knowledge
