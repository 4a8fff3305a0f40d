-- control: the control rows of a state file that a person may set: their values, how they are written, and their side
-- effects. Reads no file. Called by steer.
local clock = require "apsis.core.clock"
local editline = require "apsis.edit.line"
local statefile = require "apsis.goals.statefile.document"
local nearest = require "apsis.project.nearest"

local steer_rows = {}

local truths = { ["true"] = "true", yes = "true", on = "true", ["false"] = "false", no = "false", off = "false" }

local function truth(text)
  return truths[text:lower()], "true or false"
end

-- One line that fits in a table cell.
local function words(text)
  return (text:gsub("[%c%s]+", " "):gsub("^ ", ""):gsub(" $", "")), "text"
end

local function count(text)
  local number = text == "" and 0 or text:find "^%d+$" and math.tointeger(tonumber(text))
  return number and ("%d"):format(number) or nil, "a whole number"
end

-- A number, "#42", or a link that ends in the number.
local function reference(text)
  local number = text:match "^#?(%d+)$" or text:match "^https?://%S+/(%d+)/?$"
  return text == "" and "" or number and "#" .. number or nil, "a number such as #42, or nothing"
end

local function time(text)
  local seconds = text ~= "" and clock.parse(text)
  local form = "a time such as 2026-11-22T10:00:00Z, or nothing: as if it had never run"
  return text == "" and "" or seconds and clock.iso(seconds) or nil, form
end

local known_statuses = { accepted = true, rejected = true, error = true, ["ci-fix-exhausted"] = true }

local function statuses(text)
  local list, form = {}, "of accepted, rejected, error and ci-fix-exhausted, with commas between them, or nothing"
  for word in text:gmatch "[^,%s]+" do
    if not known_statuses[word:lower()] then return nil, form end
    list[#list + 1] = word:lower()
  end
  return table.concat(list, ", "), form
end

-- Each row with convert(text) -> the cell, or nil and what is expected.
local settable = {
  { "Paused", truth }, { "Pause Reason", words }, { "Completed", truth }, { "Completed Reason", words },
    { "Recent Statuses", statuses },
  { "Consecutive Errors", count }, { "PR", reference }, { "Issue", reference }, { "Last Run", time },
}

local MEASURED, PROGRAM = "it comes from the journal, which would restore it",
  "it comes from the goal's own file: change it there"

-- Rows that a person cannot set, with the reason.
local kept = {
  { "Iteration Count", MEASURED }, { "Best Metric", MEASURED }, { "Initial Metric", MEASURED },
    { "Journal Lines", MEASURED },
  { "Target Metric", PROGRAM }, { "Metric Direction", PROGRAM }, { "Branch", "it is named after the goal" },
}

local function names_of(list)
  local names = {}
  for index, row in ipairs(list) do names[index] = row[1] end
  return names
end

steer_rows.names = names_of(settable)

local function bare(name)
  return (name:lower():gsub("[-_%s]+", " "):gsub("^ ", ""):gsub(" $", ""))
end

local function find(list, name)
  for _, row in ipairs(list) do
    if bare(row[1]) == bare(name) then return row end
  end
end

local function unknown(name)
  local row = find(kept, name)
  local hint = row and "" or nearest.hint(name, steer_rows.names)
  local why = row and ("%s cannot be set: %s"):format(row[1], row[2]) or "no row " .. nearest.show(name)
  return ("--set: %s%s rows that can be set: %s"):format(why, hint ~= "" and hint or ";",
    table.concat(steer_rows.names, ", "))
end

-- Parses "ROW=VALUE" texts into a list of { row, cell }; nil and a message.
function steer_rows.read(texts)
  local list = {}
  for _, text in ipairs(texts) do
    local name, value = text:match "^([^=]*)=(.*)$"
    name, value = name and editline.trim(name), value and editline.trim(value)
    if not name or name == "" then
      return nil, ("--set: %s is not ROW=VALUE, for instance Paused=true"):format(nearest.show(text))
    end
    local row = find(settable, name)
    if not row then return nil, unknown(name) end
    if not utf8.len(value) then return nil, ("--set: %s: %s is not UTF-8"):format(row[1], nearest.show(value)) end
    local cell, form = row[2](value)
    if not cell then return nil, ("--set: %s: %s is not %s"):format(row[1], nearest.show(value), form) end
    list[#list + 1] = { row[1], cell }
  end
  return list
end

local function clear(doc, name)
  if doc:value(name) then doc:set(name, nil) end
end

-- Clears a reason together with its row. One exception: apsis's own reason for the current target stays under
-- Completed=false, as a sign that the person knows that the target is met and wants more.
local function consequences(doc, name, cell, metric)
  local before = doc:fields()
  if name == "Paused" and (cell == "false" or not before.paused) then clear(doc, "Pause Reason") end
  if name == "Completed" and (cell == "true" and not before.completed
    or cell == "false" and statefile.met(before.completed_reason, metric, metric.target) ~= "this") then clear(doc,
    "Completed Reason") end
end

-- Writes the settings into the document. Reasons come last, so that the order of the options does not matter.
function steer_rows.apply(doc, settings, metric)
  for _, setting in ipairs(settings) do
    local name, cell = setting[1], setting[2]
    if (name == "Paused" or name == "Completed") and (doc:value(name) or "false"):lower() ~= cell then
      consequences(doc, name, cell, metric)
      doc:set(name, cell)
    end
  end
  for _, setting in ipairs(settings) do
    local name, cell = setting[1], setting[2]
    if name ~= "Paused" and name ~= "Completed" and (doc:value(name) or "") ~= cell then doc:set(name, cell) end
  end
end

-- Restores the rows of an edited document that people may not change; returns one text for each.
function steer_rows.put_back(before, after)
  local said = {}
  for _, row in ipairs(kept) do
    local name, was = row[1], before:value(row[1])
    if after:value(name) ~= was then
      said[#said + 1] = ("%s was put back to %s: %s"):format(name, was or "empty", row[2])
      after:set(name, was and name == "Branch" and "`" .. was .. "`" or was)
    end
  end
  return said
end

-- The control rows in which two documents differ: "Paused = true, Pause Reason = holidays".
function steer_rows.differences(before, after)
  local list = {}
  for _, name in ipairs(steer_rows.names) do
    local value = after:value(name)
    if value ~= before:value(name) then list[#list + 1] = ("%s = %s"):format(name, value or "nothing") end
  end
  return list
end

return steer_rows
