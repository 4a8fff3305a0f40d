-- health: how the search goes, as a fold over journal lines: which operators, models and islands propose what is kept,
-- early and late; what was tried twice; why experiments fail; where the time goes. What it holds stays small, whatever
-- a journal names.
local series = require "apsis.view.series"

local health = {}

local Health = {}
Health.__index = Health

local PARTS <const> = 16 -- most parts of the run that the shares are of
local NAMES <const>, CRASHES <const> = 40, 200 -- different ones that are counted; the others together
local OTHERS <const> = "(others)"
local SIGNATURE <const> = 200 -- bytes

local none = {}
local kinds = { "operator", "model", "island" }
health.kinds = kinds

-- How experiments fail that were never measured completely, or that the gate refused.
local failures = { skipped_verification_crash = true, skipped_provider_failure = true, skipped_executor_failure = true,
  skipped_strategy_error = true, reverted_gate_failure = true, reverted_stage_failure = true }

local function join(one, other)
  for key, counts in pairs(other) do
    local own = one[key] or { 0, 0 }
    one[key] = own
    own[1], own[2] = own[1] + counts[1], own[2] + counts[2]
  end
  return one
end

function health.new()
  local self = setmetatable({ parts = series.new(PARTS, join), known = { failure = {} }, names = {}, failures = {},
    failed = 0, duplicates = 0, unchanged = 0, candidates = 0, phases = {}, waiting_s = 0 }, Health)
  for _, kind in ipairs(kinds) do self.names[kind], self.known[kind] = {}, {} end
  return self
end

-- What is known of a name: { name, count, kept }.
local function entry_of(self, kind, name)
  local list, known = self.names[kind], self.known[kind]
  if not known[name] and #list >= NAMES then name = OTHERS end
  local entry = known[name]
  if not entry then
    entry = { name = name, count = 0, kept = 0 }
    known[name], list[#list + 1] = entry, entry
  end
  return entry
end

local function name_of(line, kind)
  local notes = line.notes
  local value = line[kind]
  if kind == "island" then value = type(notes) == "table" and notes.island or nil end
  if math.type(value) == "float" then value = math.tointeger(value) or value end
  return (type(value) == "string" or type(value) == "number") and tostring(value) or nil
end

local function number(word, gap) return word ~= "exit" and word ~= "signal" and word .. gap .. "N" or nil end

-- Why an experiment failed, in a line; numbers, which differ from one to the next, are N.
local function signature_of(line)
  local text = type(line.rollback_reason) == "string" and line.rollback_reason:match "[^\r\n]+" or line.outcome
  return (text:sub(1, SIGNATURE):gsub("%f[%w]c%d%d%d%d+%f[%W]", "cN"):gsub("(%a*)([^%w]?)%f[%w]%d[%d.]*", number))
end

local function note_failure(self, line)
  local signature, known = signature_of(line), self.known.failure
  if not known[signature] and #self.failures >= CRASHES then signature = OTHERS end
  local entry = known[signature]
  if not entry then
    entry = { signature = signature, outcome = line.outcome, count = 0, first = line.experiment }
    known[signature], self.failures[#self.failures + 1] = entry, entry
  end
  entry.count, entry.last, self.failed = entry.count + 1, line.experiment, self.failed + 1
end

local function note_time(self, line)
  for phase, seconds in pairs(type(line.phases) == "table" and line.phases or none) do
    if type(seconds) == "number" then self.phases[phase] = (self.phases[phase] or 0) + seconds end
  end
  self.waiting_s = self.waiting_s + (type(line.machines) == "table" and line.machines.queue_s or 0)
end

function Health:add(line)
  local outcome = line.outcome
  note_time(self, line)
  if failures[outcome] then note_failure(self, line) end
  if not line.candidate or outcome == "baseline" then return end
  local kept, part = outcome == "kept" and 1 or 0, self.parts:next()
  self.candidates = self.candidates + 1
  if outcome == "skipped_duplicate" then self.duplicates = self.duplicates + 1 end
  if outcome == "skipped_no_change" then self.unchanged = self.unchanged + 1 end
  for _, kind in ipairs(kinds) do
    local name = name_of(line, kind)
    local entry = name and entry_of(self, kind, name)
    if entry then
      local counts = part[entry] or { 0, 0 }
      counts[1], counts[2], part[entry] = counts[1] + 1, counts[2] + kept, counts
      entry.count, entry.kept = entry.count + 1, entry.kept + kept
    end
  end
end

local function most_first(a, b)
  if a.count ~= b.count then return a.count > b.count end
  return (a.name or a.signature) < (b.name or b.signature)
end

-- The names of a kind, most candidates first: { name, count, kept, parts = { { count, kept } for each part of the run,
-- oldest first } }...
function Health:shares(kind, most)
  local list = table.move(self.names[kind], 1, #self.names[kind], 1, {})
  table.sort(list, most_first)
  local shown = {}
  for index = 1, math.min(most, #list) do
    local entry, parts = list[index], {}
    for place, point in ipairs(self.parts.points) do parts[place] = point[entry] or { 0, 0 } end
    shown[index] = { name = entry.name, count = entry.count, kept = entry.kept, parts = parts }
  end
  return shown, #list
end

-- The failures, most frequent first: { signature, outcome, count, first, last (experiments) }...; how many there are.
function Health:crashes(most)
  local list = table.move(self.failures, 1, #self.failures, 1, {})
  table.sort(list, most_first)
  return table.move(list, 1, math.min(most, #list), 1, {}), #list
end

return health
