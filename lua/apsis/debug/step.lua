-- step: one call of a hook, or one line of the journal: what the hook was given, what it returned, what it changed in
-- memory and what it printed, as plain data for JSON and as text for people.
local json = require "apsis.json"
local legible = require "apsis.core.legible"
local memory = require "apsis.debug.memory"
local proposals = require "apsis.core.proposal"
local show = require "apsis.cli.table"

local step = {}

-- What each hook is given beside `run`.
step.arguments = { init = {}, plan = {}, halt = {}, prompt = { "proposal" }, select = { "proposal", "answers" },
  stage = { "candidate", "stage" }, stopped = { "candidate" }, accept = { "candidate" }, learn = { "line" },
  line = { "line" } }

-- The fields of `run` that are shown; the rest is there for expressions. What is free and in flight a recording knows
-- only where something is planned or decided.
local shown <const> = { "best", "current", "since_kept", "since_best" }
local also <const> = { halt = { "free", "pending" }, plan = { "free", "pending" }, accept = { "pending" } }

-- What `p run` shows of a run, which has no keys of its own.
function step.run_fields(self)
  local fields = {}
  for _, name in ipairs { "experiment", "best", "current", "baseline", "since_kept", "since_best", "memory", "options",
    "pending" } do
    local ok, value = pcall(function() return self.run[name] end)
    fields[name] = ok and value or nil
  end
  return fields
end

-- A value on one line; a list of proposals in flight by their experiments.
local function text_of(value)
  local ok, text = pcall(legible, value)
  return ok and text or "not to be shown: " .. tostring(text)
end

local function field(run, name)
  local ok, value = pcall(function() return run[name] end)
  if not ok then return "not there: " .. tostring(value) end
  if name ~= "pending" then return value end
  local numbers = {}
  for index, proposal in ipairs(value) do numbers[index] = tostring(proposal.experiment) end
  return #numbers > 0 and table.concat(numbers, " ") or "nothing"
end

local function argument_text(name, value)
  if name == "line" then return ("%s: %s"):format(text_of(value), tostring(value.outcome)) end
  return text_of(value)
end

-- Notes in a step what its hook was given.
function step.note_given(self)
  local given = { run = {}, names = {}, arguments = {} }
  for _, names in ipairs { shown, also[self.hook] } do
    for _, name in ipairs(names) do
      given.run[name], given.names[#given.names + 1] = text_of(field(self.run, name)), name
    end
  end
  for index, name in ipairs(step.arguments[self.hook]) do
    given.arguments[index] = { name, argument_text(name, self.passed[index]) }
  end
  self.given = given
end

-- Notes what memory was before the hook.
function step.note_before(self)
  step.note_given(self)
  self.before = memory.picture(self.owner)
end

-- The same after the hook, with what it returned.
function step.note_after(self)
  if not self.given then step.note_given(self) end
  if self.before then self.changes = memory.changes(self.before, memory.picture(self.owner)) end
  local texts = {}
  for index = 1, self.returned and self.returned.n or 0 do texts[index] = text_of(self.returned[index]) end
  self.texts = texts
end

-- Why what plan returned is no proposal; nil if it is one.
function step.problem(self, history)
  local value = self.hook == "plan" and self.returned and self.returned[1]
  if not value then return nil end
  for _, one in ipairs(proposals.is_group(value) and value or { value }) do
    local ok, checked, wrong = pcall(proposals.check, one, history)
    if ok and not checked then return wrong end
  end
end

-- " (mine.lua:14)", where the hook is written.
local function place_of(self)
  local at = self.body and debug.getinfo(self.body, "S")
  return at and (" (%s:%d)"):format(at.source:match "[^@/]*$", at.linedefined) or ""
end

local function run_text(given)
  local parts = {}
  for index, name in ipairs(given.names) do parts[index] = ("%s %s"):format(name, given.run[name]) end
  return table.concat(parts, ", ")
end

local MOST_CHANGES <const>, WIDE <const> = 20, 300
local INDENT <const> = (" "):rep(12)

local function add_changes(rows, changes)
  if not changes then return end
  for index = 1, math.min(#changes, MOST_CHANGES) do
    local one = changes[index]
    rows[#rows + 1] = { index == 1 and "memory" or "", ("%s: %s -> %s"):format(one.path, show.cut(one.before or "nil",
      WIDE), show.cut(one.after or "nil", WIDE)) }
  end
  if #changes > MOST_CHANGES then rows[#rows + 1] = { "", ("and %d more"):format(#changes - MOST_CHANGES) } end
  if #changes == 0 then rows[#rows + 1] = { "memory", "unchanged" } end
end

local function rows_of(self)
  local rows = {}
  for _, one in ipairs(self.given.arguments) do rows[#rows + 1] = { one[1], one[2] } end
  rows[#rows + 1] = { "run", run_text(self.given) }
  if self.failed then rows[#rows + 1] = { "failed", self.failed }
  elseif self.hook ~= "line" then
    rows[#rows + 1] = { "returned", #self.texts > 0 and table.concat(self.texts, ", ") or "nothing" }
  end
  if self.wrong then rows[#rows + 1] = { "wrong", self.wrong } end
  if self.recorded then rows[#rows + 1] = { "recorded", self.recorded } end
  if self.hook == "init" or self.hook == "learn" or self.changes and #self.changes > 0 then
    add_changes(rows, self.changes)
  end
  if #self.printed > 0 then rows[#rows + 1] = { "printed", table.concat(self.printed):gsub("\n$", "") .. "" } end
  return rows
end

-- The step as lines for people; nothing in them controls a terminal.
function step.lines(self)
  local list = { show.escape(("step %d, experiment %d: %s%s%s"):format(self.number, self.experiment, self.hook,
    self.part and " of " .. self.part or "", place_of(self))) }
  for _, row in ipairs(rows_of(self)) do
    local label = ("  %-10s"):format(row[1])
    for text in (row[2] .. "\n"):gmatch "([^\n]*)\n" do
      list[#list + 1] = show.wrap(show.escape(label .. text), show.width(), INDENT)
      label = INDENT
    end
  end
  return list
end

-- The step as a line of JSON, with more fields if there are. What a hook returned is in words: it may hold what JSON
-- cannot.
function step.json(self, more)
  local given, changes = { run = self.given.run }, nil
  for _, one in ipairs(self.given.arguments) do given[one[1]] = one[2] end
  if self.changes then changes = json.array(self.changes) end
  local line = { step = self.number, experiment = self.experiment, hook = self.hook, part = self.part,
    given = given, returned = json.array(self.texts), failed = self.failed, wrong = self.wrong,
    recorded = self.recorded, memory = changes, printed = table.concat(self.printed) }
  for key, value in pairs(more or {}) do line[key] = value end
  return json.encode(line)
end

return step
