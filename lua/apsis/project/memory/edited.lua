-- edited: whether people changed something between two texts of a state file, or only apsis did. Of the table the control rows count as far
-- as apsis could not have written them itself; of lessons and directions the items that are not marked as apsis's; the history is
-- apsis's; everything else is people's. Changes nothing. Called by memory.lua.
local absorb = require "apsis.project.memory.absorb"
local lists = require "apsis.project.memory.lists"
local rows = require "apsis.project.memory.rows"
local sections = require "apsis.project.memory.sections"
local texts = require "apsis.project.memory.texts"

local edited = {}

-- ---- text ----

-- Which lines lie in a section that apsis writes too: its key, by line.
local function keys_of(doc)
  local keys = {}
  for _, key in ipairs { "machine", "lessons", "directions", "history" } do
    local section = sections.find(doc, key)
    for at = section and section.at or 1, section and section.last or 0 do keys[at] = section.at == at and "heading" or key end
  end
  return keys
end

-- The rows of the table that apsis knows, and its head.
local function own_rows(doc)
  local own = {}
  for _, row in ipairs((rows.all(doc))) do
    if rows.is_known(row.name) or row.name == "field" or row.name:find "^[- ]+$" then own[row.at] = true end
  end
  return own
end

-- What people wrote, line by line.
local function words(doc)
  local keys, own, kept = keys_of(doc), own_rows(doc), {}
  for at, line in ipairs(doc.lines) do
    local key = keys[at]
    local apsis = key == "heading" or key == "history" or key == "machine" and own[at]
      or (key == "lessons" or key == "directions") and lists.marked(line)
    if not apsis and not sections.is_blank(line) and not sections.is_rule(line) and not sections.is_placeholder(line) then
      kept[#kept + 1] = texts.trim(line)
    end
  end
  return table.concat(kept, "\n")
end

-- ---- control rows ----

-- How many turns the later one has taken in that the earlier has not.
local function turns(before, after)
  local lines = (after.journal_lines or 0) - (before.journal_lines or 0)
  return math.max(after.iteration_count - before.iteration_count, lines, 0)
end

-- Whether so many new statuses make the later list of the earlier one, of which the oldest go.
local function follows(before, after, most)
  for new = 0, math.min(most, #after) do
    local kept, same = #after - new, true
    for index = 1, kept do
      if after[index] ~= before[#before - kept + index] then same = false end
    end
    if same and (kept == #before or #after >= absorb.recent) then return true end
  end
  return false
end

-- Pauses that apsis makes have its own reasons, and end with what is accepted.
local function pause(before, after, new)
  if before.paused == after.paused and before.pause_reason == after.pause_reason then return false end
  if before.paused and not absorb.is_own(before.pause_reason) then return true end
  if after.paused then return not absorb.is_own(after.pause_reason) end
  return new == 0 or after.pause_reason ~= nil or after.recent_statuses[#after.recent_statuses] ~= "accepted"
end

local function completion(before, after)
  if before.completed == after.completed and before.completed_reason == after.completed_reason then return false end
  local own = "^target metric .* reached with value "
  if after.completed then return not (after.completed_reason or ""):find(own) end
  return before.target_metric == after.target_metric or after.completed_reason ~= nil
end

local function control(before, after)
  local new = turns(before, after)
  return pause(before, after, new) or completion(before, after) or before.pr ~= after.pr or before.issue ~= after.issue
    or not follows(before.recent_statuses, after.recent_statuses, new)
    or new == 0 and before.consecutive_errors ~= after.consecutive_errors
end

-- Whether people changed something from one document to another.
function edited.between(before, after)
  return control(before:fields(), after:fields()) or words(before) ~= words(after)
end

return edited
