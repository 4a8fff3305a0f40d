-- document: a goal's state file: a Markdown text that people read and edit, and that apsis updates from the journal.
-- Unchanged lines keep every byte. Pure text: no files, git or clock. The other files of this folder are its parts.
local absorb = require "apsis.goals.statefile.absorb"
local check = require "apsis.goals.statefile.check"
local compact = require "apsis.goals.statefile.compact"
local direction = require "apsis.direction"
local entries = require "apsis.goals.statefile.entries"
local fields = require "apsis.goals.statefile.fields"
local lists = require "apsis.goals.statefile.lists"
local merge = require "apsis.goals.statefile.merge"
local rows = require "apsis.goals.statefile.rows"
local sections = require "apsis.goals.statefile.sections"
local steering = require "apsis.goals.statefile.steering"
local template = require "apsis.goals.statefile.template"
local texts = require "apsis.goals.statefile.texts"

local document = {}

local Doc = {}
Doc.__index = Doc

-- Parses a state file's text; name: the program's.
function document.parse(text, name)
  local doc = setmetatable({ name = name, lines = sections.split(text), eol = text:match("\r?\n") or "\n" }, Doc)
  doc:fields()
  return doc
end

-- A new document; spec: name, branch, goal, metric (its name), direction, target.
function document.new(spec)
  local parsed, message = direction.parse(spec.direction)
  if not parsed then error(message, 2) end
  return document.parse(template.text { name = spec.name, branch = spec.branch, goal = spec.goal, metric = spec.metric,
    direction = parsed, target = spec.target }, spec.name)
end

-- Whether apsis wrote a pause's reason, so that an accepted experiment ends the pause.
document.is_own_pause = absorb.is_own

-- Joins two texts that both continue base (nil: none): people's edits from both, measurements from theirs; and a list
-- of warnings for conflicts. names: what the warnings call the sides (default: "here" and "at origin").
function document.join(base, ours, theirs, names)
  return merge.texts(document.parse, base, ours, theirs, names)
end

function Doc:text()
  return table.concat(self.lines)
end

function Doc:size()
  local size = 0
  for _, line in ipairs(self.lines) do size = size + #line end
  return size
end

-- The values of the Machine State table; resets doc.warnings.
function Doc:fields()
  local read
  read, self.warnings = fields.read(self)
  return read
end

-- Sets a row's value; nil empties it.
function Doc:set(row, text)
  rows.set(self, row, text)
end

-- Sets a row unless it has a value and that means the same.
function Doc:ensure(row, text, same)
  if not same or not rows.value(self, row) then rows.set(self, row, text) end
end

-- A row's text without marks; nil if the row is missing or empty.
function Doc:value(row)
  return rows.value(self, row)
end

-- Adds a person's item to the section of that key (priorities, lessons, foreclosed, directions); false if it has it
-- already.
function Doc:add(key, text)
  return lists.add(self, key, { { text = text, whole = true } })
end

-- What people ask for: a list of texts for a provider.
function Doc:steering()
  return steering.of(self)
end

-- Takes in journal records in order; returns a list of { kind = "paused", reason, record }.
function Doc:absorb(records, context)
  return absorb.records(self, records, context)
end

local REACHED = "target metric %s reached with value %s (%s)"

-- Marks the goal as completed: the target is met.
function Doc:complete(metric, best, target)
  self:set("Completed", "true")
  self:set("Completed Reason", REACHED:format(texts.brief(target), texts.brief(best), metric:words()))
end

-- Classifies a completion's reason: "this": apsis's, for this target of the metric; "another": apsis's, for another
-- target or direction; nil: a person's.
function document.met(reason, metric, target)
  local met, words = (reason or ""):match("^target metric (%S+) reached with value %S+ ?%(?([^)]*)")
  if not met then return nil end
  return target and met == texts.brief(target) and (words == "" or words == metric:words()) and "this" or "another"
end

-- The last journal line that has an entry, 0 if none has; line_of(id) returns a candidate's line.
function Doc:furthest(line_of)
  local furthest = 0
  for _, item in ipairs((entries.items(self))) do
    if item.candidate then furthest = math.max(furthest, line_of(item.candidate) or 0) end
  end
  return furthest
end

-- Puts back what contradicts journal or program; returns a text for each.
function Doc:check(truth)
  return check.against(self, truth)
end

-- true; nil and a message if the text cannot be made to fit.
function Doc:compact(limit_bytes)
  return compact.to(self, limit_bytes)
end

-- ---- for the parts ----

-- A message's place; the caller names the file.
function Doc:place(at)
  return at and "line " .. at or "the state file"
end

function Doc:scan()
  if not self.scanned then self.scanned = sections.scan(self.lines) end
  return self.scanned
end

-- Replaces a line by one that is neither a heading nor a fence.
function Doc:replace(at, line)
  self.lines[at], self.rows = line, nil
end

-- Replaces lines first to last by a list of lines, and adds line ends that are missing.
function Doc:splice(first, last, made)
  local lines = self.lines
  local before = lines[first - 1]
  if before and #made > 0 and not before:find "\n$" then lines[first - 1] = before .. self.eol end
  local count, old = #made, #lines
  table.move(lines, last + 1, old, first + count)
  for index = old - (last - first + 1) + count + 1, old do lines[index] = nil end
  for index = 1, count do
    local line = made[index]
    lines[first + index - 1] = line:find "\n$" and line or line .. self.eol
  end
  self.scanned, self.rows = nil, nil
end

-- Drops lines that were made empty.
function Doc:drop_empty()
  local kept = {}
  for _, line in ipairs(self.lines) do
    if line ~= "" then kept[#kept + 1] = line end
  end
  self.lines, self.scanned, self.rows = kept, nil, nil
end

return document
