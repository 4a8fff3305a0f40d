-- fields: the Machine State table as typed values, with a warning for each invalid one. An invalid value counts as
-- absent, but an invalid Paused counts as paused. Changes nothing. Called by document.lua.
local direction = require "apsis.direction"
local rows = require "apsis.goals.statefile.rows"
local texts = require "apsis.goals.statefile.texts"

local fields = {}

local truths = { ["true"] = true, yes = true, on = true, ["1"] = true, x = true, ["[x]"] = true,
  ["false"] = false, no = false, off = false, ["0"] = false, ["[ ]"] = false }

local Reader = {}
Reader.__index = Reader

function Reader:warn(name, message, ...)
  local row = rows.find(self.doc, name)
  self.warnings[#self.warnings + 1] = ("%s: %s: %s"):format(self.doc:place(row and row.at), name, message:format(...))
end

function Reader:text(name)
  return rows.value(self.doc, name)
end

function Reader:number(name)
  local text = self:text(name)
  local number = text and texts.to_number(text)
  if text and not number then
    self:warn(name, '"%s" is not a number, so it counts as absent; write a number such as 0.95, or %s',
      texts.short(text, 60), rows.empty)
  end
  return number
end

-- Not negative; default where absent.
function Reader:count(name, default)
  local text = self:text(name)
  local number = text and texts.to_number(text)
  local whole = number and math.tointeger(number)
  if whole and whole >= 0 then return whole end
  if text then
    self:warn(name, '"%s" is not a count, so it counts as %s; write a whole number', texts.short(text, 60), default
      or "absent")
  end
  return default
end

function Reader:truth(name, default)
  local text = self:text(name)
  if not text then return false end
  local truth = truths[text:lower()]
  if truth ~= nil then return truth end
  self:warn(name, '"%s" is neither true nor false, so it counts as %s; write true or false', texts.short(text, 60),
    default)
  return default
end

-- The number of a pull request or an issue: "#42", "42", "[#42](...)", ".../pull/42".
function Reader:reference(name)
  local text = self:text(name)
  local digits = text and (text:match "#(%d+)" or text:match "^%d+$" or text:match "/(%d+)/?$")
  if text and not digits then
    self:warn(name, '"%s" has no number, so it counts as absent; write one such as #42, or %s', texts.short(text, 60),
      rows.empty)
  end
  return digits and math.tointeger(tonumber(digits)) or nil
end

function Reader:direction()
  local text = self:text "Metric Direction"
  local parsed = direction.parse(text)
  if parsed then return parsed end
  self:warn("Metric Direction", '"%s" is neither higher nor lower, so it counts as higher; write higher or lower',
    texts.short(text, 60))
  return "higher"
end

function Reader:statuses()
  local list = {}
  for word in (self:text "Recent Statuses" or ""):gmatch("[^,]+") do
    word = texts.trim((word:gsub("[`*]", ""))):lower()
    if word ~= "" then list[#list + 1] = word end
  end
  return list
end

local function warn_of_table(reader)
  local all, section = rows.all(reader.doc)
  if not section then
    reader.warnings[1] = ("%s: there is no Machine State section, so everything in it counts as absent; the next "
      .. "write adds one"):format(reader.doc:place())
  end
  for _, row in ipairs(all) do
    if row.again then
      reader.warnings[#reader.warnings + 1] = ("%s: %s: this row is there twice and the first one counts; "
        .. "remove this one"):format(reader.doc:place(row.at), row.name)
    end
  end
end

-- The typed fields and the list of warnings.
function fields.read(doc)
  local reader = setmetatable({ doc = doc, warnings = {} }, Reader)
  warn_of_table(reader)
  local branch = reader:text "Branch"
  local read = {
    last_run = reader:text "Last Run", iteration_count = reader:count("Iteration Count", 0),
    best_metric = reader:number "Best Metric", target_metric = reader:number "Target Metric",
    initial_metric = reader:number "Initial Metric", metric_direction = reader:direction(),
    branch = branch and (branch:match "^%[`?([^%]`]*)`?%]%(.*%)$" or branch), pr = reader:reference "PR",
    issue = reader:reference(rows.find(doc, "Issue") and "Issue" or "Steering Issue"),
    paused = reader:truth("Paused", true), completed = reader:truth("Completed", false),
    pause_reason = reader:text "Pause Reason", completed_reason = reader:text "Completed Reason",
    consecutive_errors = reader:count("Consecutive Errors", 0), recent_statuses = reader:statuses(),
    journal_lines = reader:count "Journal Lines",
  }
  return read, reader.warnings
end

return fields
