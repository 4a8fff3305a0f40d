-- document: a goal's state file: one Markdown text that people read and edit, and that apsis brings up to date from the
-- journal. What nobody changed is written byte for byte as it was read. Pure text: reads and writes no file, knows no
-- git and no clock. The other files of this folder are its parts.
local absorb = require "apsis.goals.statefile.absorb"
local check = require "apsis.goals.statefile.check"
local compact = require "apsis.goals.statefile.compact"
local direction = require "apsis.direction"
local entries = require "apsis.goals.statefile.entries"
local fields = require "apsis.goals.statefile.fields"
local join = require "apsis.goals.statefile.join"
local lists = require "apsis.goals.statefile.lists"
local rows = require "apsis.goals.statefile.rows"
local sections = require "apsis.goals.statefile.sections"
local steering = require "apsis.goals.statefile.steering"
local template = require "apsis.goals.statefile.template"
local texts = require "apsis.goals.statefile.texts"

local document = {}

local Doc = {}
Doc.__index = Doc

-- A state file's text as a document; name: the program's.
function document.parse(text, name)
  local doc = setmetatable({ name = name, lines = sections.split(text), eol = text:match("\r?\n") or "\n" }, Doc)
  doc:fields()
  return doc
end

-- A new one; spec: name, branch, goal, metric (its name), direction.
function document.new(spec)
  local parsed, message = direction.parse(spec.direction)
  if not parsed then error(message, 2) end
  return document.parse(template.text { name = spec.name, branch = spec.branch, goal = spec.goal, metric = spec.metric, direction = parsed,
    target = spec.target }, spec.name)
end

-- Whether a pause's reason is one of apsis's own, so that an accepted experiment ends the pause.
document.is_own_pause = absorb.is_own

-- Two texts that both go on from base (nil: from nothing) as one: what people edit from both, what was measured from
-- theirs; and a list of warnings where both changed the same. names: what the sides are called in them (default: "here"
-- and "at origin").
function document.join(base, ours, theirs, names)
  return join.texts(document.parse, base, ours, theirs, names)
end

function Doc:text()
  return table.concat(self.lines)
end

function Doc:size()
  local size = 0
  for _, line in ipairs(self.lines) do size = size + #line end
  return size
end

-- The values of the Machine State table; doc.warnings are set anew.
function Doc:fields()
  local read
  read, self.warnings = fields.read(self)
  return read
end

-- Gives a row a value; nil writes that there is none.
function Doc:set(row, text)
  rows.set(self, row, text)
end

-- The same, unless the row is there, says something, and means the same.
function Doc:ensure(row, text, same)
  if not same or not rows.value(self, row) then rows.set(self, row, text) end
end

-- What a row says, as it stands there without marks; nil where it is absent or says nothing.
function Doc:value(row)
  return rows.value(self, row)
end

-- Adds a person's item to the section of that key (priorities, lessons, foreclosed, directions); false where it says
-- that already.
function Doc:add(key, text)
  return lists.add(self, key, { { text = text, whole = true } })
end

-- What people ask for, a list of texts for a provider.
function Doc:steering()
  return steering.of(self)
end

-- Takes in journal records in order: a list of { kind = "paused", reason, record }.
function Doc:absorb(records, context)
  return absorb.records(self, records, context)
end

local REACHED = "target metric %s reached with value %s (%s)"

-- The target is met.
function Doc:complete(metric, best, target)
  self:set("Completed", "true")
  self:set("Completed Reason", REACHED:format(texts.brief(target), texts.brief(best), metric:words()))
end

-- Of a completion's reason: "this" where it is apsis's own for this target of a metric, "another" where it is for
-- another one (or there is none now, or the other direction); nil where it is a person's.
function document.met(reason, metric, target)
  local met, words = (reason or ""):match("^target metric (%S+) reached with value %S+ ?%(?([^)]*)")
  if not met then return nil end
  return target and met == texts.brief(target) and (words == "" or words == metric:words()) and "this" or "another"
end

-- The furthest line of the journal that an entry tells of, 0 where none does; line_of(id) gives a candidate's.
function Doc:furthest(line_of)
  local furthest = 0
  for _, item in ipairs((entries.items(self))) do
    if item.candidate then furthest = math.max(furthest, line_of(item.candidate) or 0) end
  end
  return furthest
end

-- Puts back what contradicts journal or program: a list of what was refused.
function Doc:check(truth)
  return check.against(self, truth)
end

-- true; or nil and a message where it cannot be made to fit.
function Doc:compact(limit_bytes)
  return compact.to(self, limit_bytes)
end

-- ---- for the parts ----

-- Where a message points: the file is named by whoever shows it.
function Doc:place(at)
  return at and "line " .. at or "the state file"
end

function Doc:scan()
  if not self.scanned then self.scanned = sections.scan(self.lines) end
  return self.scanned
end

-- One line for another that is neither a heading nor a fence.
function Doc:replace(at, line)
  self.lines[at], self.rows = line, nil
end

-- Lines first to last give way to those of a list, which end as the file's lines do where they have no end of their
-- own.
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

-- Lines that were made empty go.
function Doc:drop_empty()
  local kept = {}
  for _, line in ipairs(self.lines) do
    if line ~= "" then kept[#kept + 1] = line end
  end
  self.lines, self.scanned, self.rows = kept, nil, nil
end

return document
