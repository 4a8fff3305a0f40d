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
  "samples", "stage",
}

function journal.id(number)
  return ("c%04d"):format(number)
end

function journal.timestamp(seconds)
  return os.date("!%Y-%m-%dT%H:%M:%SZ", math.floor(seconds))
end

-- The line of an experiment, made of its fields in place: status by outcome.
function journal.line(line)
  line.status = status_of[line.outcome] or error("unknown outcome " .. tostring(line.outcome))
  if line.status ~= "discard" and line.status ~= "crash" then line.rollback_reason = nil
  elseif not line.rollback_reason or not line.rollback_reason:find("%S") then line.rollback_reason = line.outcome end
  line.parents = json.array(line.parents or {})
  return line
end

local Journal = {}
Journal.__index = Journal

local kinds = { primary_metric = "number", run = "number", tokens = "number", cost = "number", measurements = "number", answers = "number",
  trace = "table", tree = "string", acceptance = "table", gate = "table", fix_attempts = "number" }

local function check(line, path, number)
  local problem
  if type(line) ~= "table" then problem = "not a JSON object"
  elseif math.type(line.experiment) ~= "integer" then problem = "experiment: not an integer"
  elseif status_of[line.outcome] == nil then problem = "outcome: unknown " .. tostring(line.outcome)
  elseif line.candidate and line.candidate ~= journal.id(line.experiment) then problem = "candidate: not its experiment's"
  else
    for field, kind in pairs(kinds) do
      local value = line[field]
      if value ~= nil and type(value) ~= kind then problem = ("%s: not a %s"):format(field, kind) end
    end
  end
  if problem then return nil, ("%s:%d: %s"):format(path, number, problem) end
  return true
end

local remedy = "; the journal is the record of what was measured, so nothing is skipped: restore that line from a backup, "
  .. "or move it out of the file by hand, then run again"

-- open(path) -> journal, cut | nil, message, code. cut tells of a torn last line that was removed.
function journal.open(path)
  local file, cut, code = state.journal(path)
  if not file then return nil, cut, code end
  return setmetatable({ path = path, file = file, offsets = {} }, Journal), cut
end

-- The journal of a project that may be running: only read; a torn last line is passed over.
function journal.reader(path)
  return setmetatable({ path = path, offsets = {} }, Journal)
end

-- Calls visit(line) for every line in file order; fields: a set of those wanted. true | nil, message, "EJOURNAL".
function Journal:each(visit, fields)
  local decode = json.decode
  for text, number, offset in state.lines(self.path) do
    local line, message = decode(text, fields or true)
    local ok
    if line then ok, message = check(line, self.path, number)
    else message = ("%s:%d: %s"):format(self.path, number, message) end
    if not ok and not (line and not message) then return nil, message .. remedy, "EJOURNAL" end
    self.offsets[number] = offset
    local refused = visit(line, number)
    if refused then return nil, ("%s:%d: %s"):format(self.path, number, refused) .. remedy, "EJOURNAL" end
  end
  return true
end

-- The text of the line at an index, read again from the file; nil where there is none.
function Journal:text(index)
  local offset = self.offsets[index]
  if not offset then return nil end
  if not self.reader then self.reader = assert(io.open(self.path, "rb")) end
  self.reader:seek("set", offset)
  return self.reader:read("l")
end

-- The same, decoded.
function Journal:read(index)
  local text = self:text(index)
  return text and assert(json.decode(text, true))
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
  self.offsets[#self.offsets + 1] = offset
  return assert(json.decode(text, true))
end

function Journal:close()
  if self.reader then self.reader:close() end
  if self.file then self.file:close() end
end

journal.status_of = status_of
return journal
