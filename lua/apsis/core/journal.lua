-- journal: the fields and outcomes of a line, the file it is appended to, and the fold over it. The fsynced append is the
-- commit point of an experiment; everything else on disk can be rebuilt from here. Knows no git and no process.
local json = require "apsis.json"
local state = require "apsis.state"

local journal = {}

local status_of = {
  baseline = "keep", kept = "keep",
  reverted_worse_metric = "discard", reverted_threshold_failure = "discard", reverted_scope_violation = "discard",
  reverted_stage_failure = "discard", reverted_rejected = "discard",
  reverted_gate_failure = "discard", skipped_no_change = "discard",
  skipped_duplicate = "discard", skipped_not_selected = "discard",
  skipped_provider_failure = "crash", skipped_verification_crash = "crash", skipped_strategy_error = "crash",
  measured = json.null, asked = json.null,
}

-- What a fold needs of a line when no hook learns; the rest is read when someone asks for it.
journal.folded = { experiment = true, outcome = true, primary_metric = true, run = true, tokens = true,
  cost = true, measurements = true, tree = true, trace = true, answers = true, acceptance = true }

journal.other = {}
for key in ([[candidate commit changed_lines parents status strategy operator secondary_metrics samples items stage direction
  delta improved best hypothesis description learned rollback_reason next_action_hint proposal
  model seconds seen planned seed group context plan answer metric timestamp notes
  gate fix_attempts]])
  :gmatch("%a[%a_]*") do journal.other[key] = true end

-- Fields that every line has, null where there is nothing to say.
local always = {
  "candidate", "commit", "operator", "primary_metric", "secondary_metrics", "delta", "improved", "best", "changed_lines",
  "hypothesis", "description", "learned", "rollback_reason", "next_action_hint", "proposal", "model", "tokens", "cost",
  "samples", "stage", "status",
}

function journal.id(number)
  return ("c%04d"):format(number)
end

function journal.timestamp(seconds)
  return os.date("!%Y-%m-%dT%H:%M:%SZ", math.floor(seconds))
end

-- The line of an experiment, made of its fields in place: status by outcome.
function journal.line(line)
  local status = status_of[line.outcome] or error("unknown outcome " .. tostring(line.outcome))
  line.status = status ~= json.null and status or nil
  if status ~= "discard" and status ~= "crash" then line.rollback_reason = nil
  elseif not line.rollback_reason or not line.rollback_reason:find("%S") then line.rollback_reason = line.outcome end
  line.parents = json.array(line.parents or {})
  return line
end

local Journal = {}
Journal.__index = Journal

local kinds = { primary_metric = "number", run = "number", tokens = "number", cost = "number", measurements = "number", answers = "number",
  trace = "table", tree = "string", acceptance = "table", gate = "table", fix_attempts = "number", samples = "table", parents = "table",
  secondary_metrics = "table" }

-- What each item of a list must be.
local items = {
  trace = function(item)
    return type(item) == "table" and type(item.id) == "string" and (item.value == nil or type(item.value) == "number")
  end,
  samples = function(item) return type(item) == "number" end,
  parents = function(item) return type(item) == "string" end,
}

local function is_list_of(list, fits)
  for key, item in pairs(list) do
    if math.type(key) ~= "integer" or not fits(item) then return false end
  end
  return true
end

local FURTHEST = 1e15 -- experiments; beyond, no next one could be counted

-- What is wrong with a line; nil where nothing is.
local function problem_of(line)
  if type(line) ~= "table" then return "not a JSON object" end
  local number = line.experiment
  if math.type(number) ~= "integer" or number < 0 or number > FURTHEST then return "experiment: not an integer from 0 to 10^15" end
  if status_of[line.outcome] == nil then return "outcome: unknown " .. tostring(line.outcome) end
  if line.candidate and line.candidate ~= journal.id(number) then return "candidate: not its experiment's" end
  for field, kind in pairs(kinds) do
    local value = line[field]
    if value ~= nil and type(value) ~= kind then return ("%s: not a %s"):format(field, kind) end
    if value ~= nil and items[field] and not is_list_of(value, items[field]) then return field .. ": not the list it is to be" end
  end
  local said = line.acceptance
  if said and said.gain ~= nil and type(said.gain) ~= "table" then return "acceptance.gain: not a table" end
end

local remedy = "; the journal is the record of what was measured, so nothing is skipped: restore that line from a backup, "
  .. "or move it out of the file by hand, then run again"

-- The line of a text | nil, message.
local function decoded(self, text, number, fields)
  local line, message = json.decode(text, fields)
  local problem = line == nil and message or problem_of(line)
  if problem then return nil, ("%s:%d: %s%s"):format(self.path, number, problem, remedy) end
  return line
end

-- open(path) -> journal, cut | nil, message, code. cut tells of a torn last line that was removed.
function journal.open(path)
  local file, cut, code = state.journal(path)
  if not file then return nil, cut, code end
  return setmetatable({ path = path, file = file, marks = {}, count = 0 }, Journal), cut
end

-- The journal of a project that may be running: only read; a torn last line is passed over.
function journal.reader(path)
  return setmetatable({ path = path, marks = {}, count = 0 }, Journal)
end

local STRIDE = 16 -- of so many lines one has its place remembered: of the others it is found from there

-- Notes where the line at an index begins; lines are noted in order.
local function mark(self, index, offset)
  if index % STRIDE == 1 then self.marks[index // STRIDE + 1] = offset end
  self.count = math.max(self.count, index)
end

-- Calls visit(line, number) for every line in file order; fields: a set of those wanted. true | nil, message, "EJOURNAL" or the
-- system's code. What visit returns is why the line is refused (and true where that names a line itself).
function Journal:each(visit, fields)
  local following, unread, code, lines = state.lines(self.path)
  if not following then return nil, unread, code end
  local _ <close> = lines
  while true do
    local read, text, number, offset = pcall(following)
    if not read then return nil, ("%s: %s"):format(self.path, text), "EIO" end
    if not text then return true end
    local line, message = decoded(self, text, number, fields or true)
    if not line then return nil, message, "EJOURNAL" end
    mark(self, number, offset)
    local refused, named = visit(line, number)
    if refused then return nil, named and refused or ("%s:%d: %s%s"):format(self.path, number, refused, remedy), "EJOURNAL" end
  end
end

-- Who reads may be a hook; after this no line is written all the same.
local function fail(self, message)
  self.broken = { fatal = true, message = message, code = 3 }
  error(self.broken, 0)
end

-- The text of the line at an index, read again from the file; nil where there is none.
function Journal:text(index)
  if index < 1 or index > self.count then return nil end
  local reader = self.reader
  if not reader then
    local opened, refused = io.open(self.path, "rb")
    reader = opened or fail(self, refused)
    self.reader = reader
  end
  reader:seek("set", self.marks[(index - 1) // STRIDE + 1])
  for _ = 1, (index - 1) % STRIDE do reader:read "l" end
  local text, message = reader:read "l"
  return text or fail(self, ("%s: a line that was there cannot be read: %s"):format(self.path, message or "it is gone"))
end

-- The same, decoded; nil, message, code where what a fold left out of the line is not as it must be.
function Journal:read(index)
  local text = self:text(index)
  if not text then return nil end
  local line, message = decoded(self, text, index, true)
  if not line then return nil, message, "EJOURNAL" end
  return line
end

-- Appends and fsyncs. Returns the line as a reader of the file would see it, or nil, message, code.
function Journal:append(line)
  for _, key in ipairs(always) do
    if line[key] == nil then line[key] = json.null end
  end
  local text = json.encode(line)
  local offset = self.file:size()
  local ok, message, code = self.file:append(text)
  if not ok then return nil, message, code end
  mark(self, self.count + 1, offset)
  return assert(json.decode(text, true))
end

function Journal:close()
  if self.reader then self.reader:close() end
  if self.file then self.file:close() end
end

journal.status_of = status_of
return journal
