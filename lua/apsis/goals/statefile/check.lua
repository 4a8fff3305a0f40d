-- check: puts back edits of a state file that contradict the journal's measurements or the program's settings, and
-- reports each. Never looks at control rows. Called by document.lua.
local direction = require "apsis.direction"
local entries = require "apsis.goals.statefile.entries"
local members = require "apsis.goals.statefile.members"
local rows = require "apsis.goals.statefile.rows"
local texts = require "apsis.goals.statefile.texts"

local check = {}

local Checker = {}
Checker.__index = Checker

function Checker:say(at, message, ...)
  self.said[#self.said + 1] = ("%s: %s"):format(self.doc:place(at), message:format(...))
end

-- Whether a row's text is the value, to the digits written.
local function same(text, value)
  if not value then return text == nil end
  local number = text and texts.to_number(text)
  return number ~= nil and texts.number(number) == texts.number(value)
end

function Checker:measured(name, value)
  local text = rows.value(self.doc, name)
  if same(text, value) then return end
  local row = rows.find(self.doc, name)
  if text then
    self:say(row and row.at, "%s is %s, but the journal has %s: put back", name, texts.short(text, 60),
      texts.number(value) or "none")
  end
  self.doc:set(name, texts.number(value))
end

-- An entry's metric. Only ten digits are shown, so the shown texts are compared.
function Checker:entry(item, value)
  local text, at = entries.field(self.doc, item, "Metric")
  local shown = text and text:match("^[*`]*([^%s*`(]+)")
  local number = shown and texts.to_number(shown)
  if not number or texts.brief(number) == texts.brief(value) then return end
  self:say(at, "%s has Metric %s, but the journal has %s: put back", item.candidate, shown, texts.brief(value))
  local line = self.doc.lines[at]
  local from, to = line:find(shown, 1 + #line:match("^.-%*%*.-%*%*"), true)
  self.doc:replace(at, line:sub(1, from - 1) .. texts.brief(value) .. line:sub(to + 1))
end

-- An entry's status.
function Checker:outcome(item, record)
  local text, at = entries.field(self.doc, item, "Status")
  local right = entries.shown(record)
  if not text or text == right then return end
  self:say(at, "%s has Status %s, but the journal has %s: put back", item.candidate, texts.short(text, 60), right)
  local line = self.doc.lines[at]
  local from = #line:match("^.-%*%*[^*]+%*%*%s*:?%s*")
  self.doc:replace(at, line:sub(1, from) .. right .. texts.ending(line))
end

-- iterations: values or records by candidate id (a table or a function), or the number of iterations.
function Checker:history(iterations)
  if math.type(iterations) == "integer" then
    local counted = self.doc:fields().iteration_count
    if counted >= iterations then return end -- more: from before apsis
    return self:measured("Iteration Count", iterations)
  end
  local value_of = type(iterations) == "table" and function(id) return iterations[id] end or iterations
  for _, item in ipairs((entries.items(self.doc))) do
    local value = item.candidate and value_of(item.candidate)
    if type(value) == "table" then
      self:outcome(item, value)
      value = value.primary_metric
    end
    if direction.finite(value) then self:entry(item, value) end
  end
  self.doc.population = members.check(self.doc, value_of, function(at, message) self:say(at, "%s", message) end)
end

function Checker:program(truth)
  local now = self.doc:fields()
  local row = rows.find(self.doc, "Metric Direction")
  if now.metric_direction ~= truth.direction then
    self:say(row and row.at, "Metric Direction is %s, but the program has %s: corrected; change it in the program",
      rows.value(self.doc, "Metric Direction") or "empty (higher)", truth.direction)
    self.doc:set("Metric Direction", truth.direction)
  end
  local text = rows.value(self.doc, "Target Metric")
  if same(text, truth.target) then return end
  row = rows.find(self.doc, "Target Metric")
  self:say(row and row.at, "Target Metric is %s, but the program has %s: corrected; change it in the program",
    text and texts.short(text, 60) or "empty", texts.number(truth.target) or "none")
  self.doc:set("Target Metric", texts.number(truth.target))
end

-- Returns a text for each edit that was put back.
function check.against(doc, truth)
  local checker = setmetatable({ doc = doc, said = {} }, Checker)
  if doc:fields().journal_lines then
    checker:measured("Best Metric", truth.best)
    if truth.initial ~= nil or rows.value(doc, "Initial Metric") then
      checker:measured("Initial Metric", truth.initial)
    end
    for _, known in ipairs { truth.iterations or false, truth.count or false } do
      if known then checker:history(known) end
    end
  end
  if truth.direction then checker:program(truth) end
  return checker.said
end

return check
