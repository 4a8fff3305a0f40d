-- memory: a journal without a file, for worlds whose experiments cost microseconds. A column for each field, in which what is
-- usual is left out, so that a line costs what it holds; its record reads the columns when asked. Called by lab and benchmarks.
local candidates = require "apsis.core.candidate"
local history = require "apsis.core.history"
local journal = require "apsis.core.journal"
local proposals = require "apsis.core.proposal"

local memory = {}

local Memory = {}
Memory.__index = Memory

-- What a line that does not say otherwise has; one that has nothing there says false.
local usual = { operator = "exploitation", changed_lines = 1, measurements = 1, run = 1, tokens = 0, cost = 0, stage = 1 }

-- Fields that are the same in every line, or follow from others.
local implied = { candidate = true, status = true, strategy = true, direction = true, delta = true, improved = true, seed = true,
  timestamp = true, experiment = true, samples = true }

-- The outcomes of what never became a candidate.
local no_candidate = { skipped_no_change = true, skipped_duplicate = true, skipped_provider_failure = true, skipped_not_selected = true,
  measured = true, asked = true }

local derived = {}

function derived.id(record)
  if record.outcome == "measured" or record.outcome == "asked" then return nil end
  local id = journal.id(record.experiment)
  record.id = id
  return id
end

function derived.candidate(record) return record.id end

function derived.kept(record)
  return record.outcome == "kept" or record.outcome == "baseline"
end

function derived.commit(record)
  return not no_candidate[record.outcome] and record.id or nil
end

function derived.primary_metric(record) return record.value end

function derived.samples(record)
  return record.value and { record.value } or nil
end

function derived.secondary_metrics(record)
  return not no_candidate[record.outcome] and {} or nil
end

function derived.metrics(record, journalled)
  local metrics = {}
  for name, value in pairs(record.secondary_metrics or {}) do metrics[name] = value end
  if journalled.metric.name then metrics[journalled.metric.name] = record.value end
  return metrics
end

function derived.status(record)
  local status = journal.status_of[record.outcome]
  return type(status) == "string" and status or nil
end

function derived.rollback_reason(record)
  return derived.status(record) ~= "keep" and record.outcome or nil
end

-- What the best was worth after a line: the column has it where it changed. By bisection over where that was.
local function held_at(journalled, index)
  local at, low, high = journalled.best_at, 0, #journalled.best_at
  while low < high do
    local middle = (low + high + 1) // 2
    if at[middle] <= index then low = middle else high = middle - 1 end
  end
  return low > 0 and journalled.columns.best[at[low]] or nil
end

local function held_before(record, journalled)
  return held_at(journalled, record.index - 1)
end

function derived.best(record, journalled)
  return held_at(journalled, record.index)
end

function derived.delta(record, journalled)
  return journalled.metric:delta(record.value, held_before(record, journalled))
end

function derived.improved(record, journalled)
  return journalled.metric:better(record.value, held_before(record, journalled))
end

function derived.seconds(_, journalled) return journalled.seconds end
function derived.seen(record) return record.index - 1 end
function derived.strategy(_, journalled) return journalled.strategy end
function derived.direction(_, journalled) return journalled.metric.direction end
function derived.timestamp(record) return journal.timestamp(record.planned + record.seconds) end

local ABSENT = {}

-- The notes, of which every name has a column of its own.
function derived.notes(record, journalled)
  local notes, index, same = nil, record.index, journalled.same
  for name, list in next, journalled.note_columns do
    local value = list[index]
    if value ~= nil then
      notes = notes or {}
      notes[name] = value
    end
  end
  if notes and same and index >= journalled.same_since then
    if notes[same] == nil then notes[same] = record.value elseif notes[same] == ABSENT then notes[same] = nil end
  end
  return notes
end

local function split(text)
  local list = {}
  for word in text:gmatch "%S+" do list[#list + 1] = word end
  return list
end

-- A proposal that says nothing but what its line says too: which of the notes are its own, the column `noted` says.
function derived.proposal(record, journalled)
  local index, columns = record.index, journalled.columns
  local noted, shown = columns.noted and columns.noted[index], columns.inspirations and columns.inspirations[index]
  local made = { parents = record.parents, operator = record.operator, inspirations = shown and split(shown) or nil }
  if noted == nil and index >= journalled.noted_since and record.notes then noted = journalled.noted end
  for _, name in ipairs(noted and split(noted) or {}) do
    made.notes = made.notes or {}
    made.notes[name] = record.notes[name]
  end
  return made
end

local function forgotten(index)
  return ("line %d of the history is not kept: leave --no-history out for a strategy that looks so far back"):format(index)
end

-- How a record finds what it does not hold itself: in its column, by working it out, or as it usually is.
local function class_of(self)
  local columns, methods = self.columns, history.record_methods
  return { __index = function(record, key)
    local column, value = columns[key], nil
    if column then value = column[record.index] end
    if value == nil then
      if self.forgets and columns.outcome[record.index] == nil then error(forgotten(record.index), 2) end
      local getter = derived[key]
      if getter then return getter(record, self) end
      value = usual[key]
      if value == nil then return methods[key] end
    end
    if key == "parents" and type(value) == "string" then return { value } end
    return value or nil
  end }
end

memory.WINDOW = 4096 -- so many of the newest lines stay where a journal forgets

-- new{ metric = direction's, strategy = name, forgets = true for one that lets go of old lines but those that took the lead }
function memory.new(spec)
  local self = setmetatable({ metric = spec.metric, strategy = spec.strategy, count = 0, columnar = true, best_at = {},
    note_columns = {}, noted_since = math.huge,
    forgets = spec.forgets and memory.WINDOW or nil, leads = {},
    columns = { outcome = {}, value = {}, best = {}, parents = {}, operator = {}, planned = {}, seconds = {}, experiment = {} } }, Memory)
  self.class, self.values = class_of(self), self.columns.value
  return self
end

local function column(self, key)
  local list = self.columns[key]
  if not list then
    list = {}
    self.columns[key] = list
  end
  return list
end

-- Whether a line stays: one that took the lead, or the current one.
function Memory:holds(index)
  return self.leads[index] or self.columns.outcome[index] == nil
end

local function forget(self, index)
  if self:holds(index) then return end
  for _, list in next, self.columns do list[index] = nil end
end

-- The seconds of most lines of a world are the same: the first line's are left out wherever they come again.
local function put_seconds(self, index, seconds)
  self.seconds = self.seconds or seconds
  if seconds ~= self.seconds then self.columns.seconds[index] = seconds end
end

-- Keeps what a line says; record: the candidate that it is about, which becomes its record.
function Memory:append(line, record)
  local index, columns, parents = self.count + 1, self.columns, line.parents
  self.count = index
  columns.outcome[index], columns.value[index] = line.outcome, line.primary_metric or false
  if line.best ~= self.held then
    self.held, columns.best[index], self.best_at[#self.best_at + 1] = line.best, line.best or false, index
  end
  columns.planned[index] = line.planned
  put_seconds(self, index, line.seconds)
  columns.parents[index] = parents and (parents[2] == nil and parents[1] or parents)
  if line.operator ~= "exploitation" then columns.operator[index] = line.operator or false end
  if line.experiment ~= index - 1 then columns.experiment[index] = line.experiment end
  if not line.plain then self:rest(line, index) end
  if self.forgets then forget(self, index - memory.WINDOW) end
  if not record then
    record = {}
    column(self, "commit")[index] = false
  end
  setmetatable(record, self.class)
  record.experiment, record.outcome, record.value = line.experiment, line.outcome, line.primary_metric
  record.index = index
  return record
end

-- The same of one of the short way, of which nothing was said: slot has when it was planned, and of what.
function Memory:plain(index, outcome, slot, now)
  local columns, proposal, planned, parent = self.columns, slot.proposal, slot.now, slot.parent
  local parents, operator = parent and parent.id, proposal.operator
  if not parent then
    parents = proposal.parents
    if parents[2] == nil then parents = parents[1] end
  end
  self.count = index
  columns.outcome[index], columns.value[index], columns.parents[index] = outcome, slot.value, parents
  columns.planned[index] = planned
  now = now - planned
  if now ~= self.seconds then put_seconds(self, index, now) end
  if operator ~= "exploitation" then columns.operator[index] = operator end
  if self.forgets then forget(self, index - memory.WINDOW) end
  local record = setmetatable(slot.candidate, self.class)
  record.outcome, record.index = outcome, index
  return record
end

-- The columns of the notes are among the others, under names that no field has.
local function note_column(self, name)
  local list = self.note_columns[name]
  if not list then
    list = {}
    self.note_columns[name], self.columns["notes." .. name] = list, list
  end
  return list
end

-- A note that says the line's value again, as a fitness does, is left out.
local function put_notes(self, index, notes, line_value)
  local same, stands, known = self.same, 0, self.note_columns
  for name, value in next, notes do
    if not known[name] and (type(name) ~= "string" or name:find "%s") then
      column(self, "notes")[index] = notes -- as they are
      return
    end
    if value == line_value and not same then
      same, self.same, self.same_since = name, name, index
    end
    if value ~= line_value or name ~= same then
      local list = known[name] or note_column(self, name)
      list[index] = value
      stands = stands + 1
    end
  end
  if same and (notes[same] == nil or stands == 0) then note_column(self, same)[index] = notes[same] or ABSENT end
end

-- The names of a proposal's notes where the line's notes have them all; nil where they say something else.
local function names_of(given, notes)
  local first, names = next(given), nil
  for name, value in next, given do
    if notes[name] ~= value then return nil end
    if name ~= first then
      names = names or { first }
      names[#names + 1] = name
    end
  end
  if not names then return first end
  table.sort(names)
  return table.concat(names, " ")
end

-- Which notes are a proposal's own is the same in most lines: the first answer is left out wherever it comes again.
local function put_noted(self, index, noted)
  if noted and not self.noted then self.noted, self.noted_since = noted, index end
  if noted ~= self.noted and self.noted then column(self, "noted")[index] = noted end
end

local told_by_line = { parents = true, operator = true, experiment = true, notes = true, inspirations = true }

-- What a proposal says beside parents and operator: whole, where the line does not say the same.
local function put_proposal(self, index, proposal, notes)
  local given, noted = proposal.notes, nil
  if given then noted = names_of(given, notes) end
  local whole = given and not noted or self.columns.notes and self.columns.notes[index]
  for key in next, proposal do whole = whole or not told_by_line[key] end
  if whole then
    column(self, "proposal")[index] = proposals.brief(proposal)
    return
  end
  put_noted(self, index, noted or false)
  if proposal.inspirations then column(self, "inspirations")[index] = table.concat(proposal.inspirations, " ") end
end

local said_keys = { "hypothesis", "description", "learned", "next_action_hint", "model" }

local function put_said(self, index, source)
  for place = 1, #said_keys do
    local key = said_keys[place]
    if source[key] then column(self, key)[index] = source[key] end
  end
end

-- The same with what was said, and what the best is worth from here on. Returns its record.
function Memory:put(slot, outcome, why, extra, now, best)
  local index, proposal = self.count + 1, slot.proposal
  local record = self:plain(index, outcome, slot, now)
  if best ~= self.held then
    self.held, self.columns.best[index], self.best_at[#self.best_at + 1] = best, best, index
  end
  local notes = candidates.notes(slot, extra)
  if outcome == "kept" and why then
    notes = notes or {}
    notes.kept_because = why
  end
  if notes then
    put_notes(self, index, notes, slot.value)
    rawset(record, "notes", notes) -- learn reads them next
  end
  if not slot.parent then put_proposal(self, index, proposal, notes) elseif notes then put_noted(self, index, false) end
  if proposal.title then column(self, "hypothesis")[index] = proposal.title end
  if slot.extra then put_said(self, index, slot.extra) end
  if extra then put_said(self, index, extra) end
  if why and outcome ~= "kept" then column(self, "rollback_reason")[index] = why end
  return record
end

local kept = { outcome = true, primary_metric = true, best = true, planned = true, seconds = true, parents = true, operator = true }

-- What else a line says, and what it has not of what is usual.
function Memory:rest(line, index)
  for key, value in next, line do
    if value ~= usual[key] and not kept[key] and not implied[key]
      and not (key == "secondary_metrics" and not next(value)) and not (key == "seen" and value == index - 1)
      and key ~= "commit" then column(self, key)[index] = value end
  end
  for key in next, usual do
    if line[key] == nil and key ~= "operator" then column(self, key)[index] = false end
  end
  if line.samples and #line.samples > 1 then column(self, "samples")[index] = line.samples end
end

-- The record of a line; nil and why where it is forgotten.
function Memory:read(index)
  local columns = self.columns
  if not columns.outcome[index] then
    return nil, forgotten(index)
  end
  return setmetatable({ experiment = columns.experiment[index] or index - 1, outcome = columns.outcome[index],
    value = columns.value[index] or nil, index = index, retained = nil }, self.class)
end

function Memory:each(visit)
  for index = 1, self.count do
    local refused = visit(self:read(index), index)
    if refused then return nil, refused, "EJOURNAL" end
  end
  return true
end

function Memory.close() end

return memory
