-- candidate: a version as hooks see it until its line is written: a small table over the engine's own slot, so that
-- what a hook does not ask for is not made. What a hook sets in a candidate is not journalled; what it changes within
-- candidate.proposal or candidate.parents is, as these are the slot's own tables.
local lines = require "apsis.core.line"
local records = require "apsis.core.record"
local slots = require "apsis.core.slot"

local candidate = {}

local getters = {}

function getters.id(self)
  local id = lines.id(self.experiment)
  self.id = id
  return id
end

function getters.candidate(self) return self.id end
function getters.primary_metric(self) return self.value end
function getters.parents(_, slot) return slot.proposal.parents end
function getters.operator(_, slot) return slot.proposal.operator end
function getters.proposal(_, slot) return slot.proposal end
function getters.tree(_, slot) return slot.change.tree end
function getters.changed_lines(_, slot) return slot.change.changed_lines end
function getters.commit(self, slot) return slot.change.commit or self.id end
function getters.notes(_, slot) return lines.notes(slot) or {} end

local function copy(map)
  local made = {}
  for key, value in pairs(map or {}) do made[key] = value end
  return made
end

function getters.samples(_, slot)
  return slot.samples and copy(slot.samples) or { slot.value }
end

-- What accept had measured so far.
function getters.trace(_, slot)
  local trace = {}
  for index, entry in ipairs(slot.trace or {}) do trace[index] = { id = entry.id, value = entry.value } end
  return trace
end

function getters.secondary_metrics(_, slot) return copy(slot.secondary) end

function getters.metrics(_, slot)
  local metrics = copy(slot.secondary)
  if slot.metric_name then metrics[slot.metric_name] = slot.value end
  return metrics
end

local methods = records.methods

-- The fields of a slot that a candidate shows as they are, by their names there: those that are shown in the line, and
-- its own.
local copied = setmetatable({}, { __index = function(_, key)
  local field, own = lines.by_name[key], slots.by_name[key]
  return field and field.shown and field.slot or own and own.shown and key
end })

-- How a slot's candidate finds what it does not hold: a class for each slot, so that hooks do not get hold of the slot.
local function class_of(slot)
  return { __index = function(self, key)
    local getter = getters[key]
    if getter then return getter(self, slot) end
    if copied[key] then return slot[copied[key]] end
    return methods[key]
  end }
end

-- The candidate of a slot whose change was committed. Its value is what was measured; nil until then.
function candidate.new(slot)
  return setmetatable({ experiment = slot.number, value = slot.value, retained = false, id = nil }, class_of(slot))
end

-- Gives back to a candidate what a hook may have changed.
function candidate.restore(slot)
  local made = slot.candidate
  made.experiment, made.value, made.retained = slot.number, slot.value, false
  made.samples, made.primary_metric = nil, nil
end

return candidate
