-- due: decides which program's turn it is, from its state file's fields and its journal's newest time, in autoloop's
-- terms. Reads no file and no clock. Called by schedule and tick.
local clock = require "apsis.core.clock"
local nearest = require "apsis.project.nearest"
local schedule = require "apsis.goals.schedule"

local due = {}

local DAY = 86400
local PLATEAU = 5 -- rejections in a row
local TARGET_REACHED = "target metric reached"

-- When a program last ran: by its state file, which a person may edit, else by its journal. nil (never) if the file has
-- taken in lines but its Last Run is empty: a person cleared it. Also a warning if the text is not a time.
local function last_run_of(program)
  local fields = program.fields
  if not fields then return program.last_line end
  local text = fields.last_run
  if not text then
    if fields.journal_lines then return nil end
    return program.last_line
  end
  local seconds, message = clock.parse(text)
  if seconds then return seconds end
  local instead = program.last_line and "the journal's newest line counts: " .. clock.iso(program.last_line)
    or "the goal counts as never run"
  return program.last_line, ("Last Run: %s; until then %s"):format(message, instead)
end

local function has_plateau(statuses)
  if not statuses or #statuses < PLATEAU then return false end
  for index = #statuses - PLATEAU + 1, #statuses do
    if statuses[index] ~= "rejected" then return false end
  end
  return true
end

-- The reason that a person or the engine gave, in autoloop's form; for a reached target autoloop's own words, and the
-- numbers separately.
local function completed(fields)
  local reason = fields.completed_reason
  if not reason then return "completed: no reason given" end
  if reason:find "^[Tt]arget metric" then return "completed: " .. TARGET_REACHED, reason end
  return "completed: " .. reason
end

local function paused(program)
  local fields = program.fields or {}
  if fields.paused then return "paused: " .. (fields.pause_reason or "no reason given") end
  return program.held and "paused: " .. program.held:gsub("^paused ", "") or nil
end

-- The first reason not to run, in autoloop's order: state, reason, detail; nil if only the schedule decides.
local function standstill(program)
  local fields = program.fields or {}
  if program.status ~= "ready" then return program.status, program.reason or program.status end
  if fields.completed then return "completed", completed(fields) end
  local reason = paused(program)
  if reason then return "paused", reason end
  if has_plateau(fields.recent_statuses) then
    return "plateau", ("plateau: %d consecutive rejections"):format(PLATEAU)
  end
end

-- A warning if Last Run is in the future (a wrong clock or year), which would delay the program for long.
local function in_future(program, last, now)
  if not program.schedule or not last or last <= now + DAY then return nil end
  return ("Last Run: %s is in the future, and the schedule counts from it; correct it in the state file, or write "
    .. "%s for never"):format(clock.iso(last), "\u{2014}")
end

-- Whether a program is due at `now`; if not, why.
function due.judge(program, now)
  local last, warning = last_run_of(program)
  warning = warning or in_future(program, last, now)
  local verdict = { name = program.name, due = false, last_run = last, warning = warning }
  verdict.state, verdict.reason, verdict.detail = standstill(program)
  if verdict.state then return verdict end
  verdict.next_due = last and (program.schedule and schedule.next(program.schedule, last) or last)
  if program.schedule and last and verdict.next_due > now then
    verdict.state, verdict.reason = "not due", "not due yet"
    return verdict
  end
  verdict.state, verdict.due = "due", true
  verdict.overdue_s = last and math.max(0, now - verdict.next_due)
  return verdict
end

-- Sorts programs that never ran first, then the most overdue.
local function before(a, b)
  if not a.last_run or not b.last_run then
    if a.last_run or b.last_run then return a.last_run == nil end
    return a.name < b.name
  end
  if a.overdue_s ~= b.overdue_s then return a.overdue_s > b.overdue_s end
  if a.last_run ~= b.last_run then return a.last_run < b.last_run end
  return a.name < b.name
end

-- The verdict on the program that --program names; nil and a message if it does not exist or cannot run.
local function asked_for(verdicts, name)
  local names = {}
  for index, verdict in ipairs(verdicts) do
    names[index] = verdict.name
    if verdict.name == name and (verdict.state == "unconfigured" or verdict.state == "invalid") then
      return nil, ("--program: %s is %s: %s"):format(name, verdict.state, verdict.reason)
    end
    if verdict.name == name then return verdict end
  end
  if #names == 0 then return nil, ("--program: no program %s: there are none here"):format(nearest.show(name)) end
  table.sort(names)
  local meant = nearest.hint(name, names)
  return nil, ("--program: no program %s%s programs: %s"):format(nearest.show(name), meant ~= "" and meant or ";",
    table.concat(names, ", "))
end

-- Files a program that is not selected: deferred, skipped with a reason, or not written yet.
local function put(result, verdict)
  if verdict.state == "unconfigured" then
    table.insert(result.unconfigured, verdict.name)
  elseif not verdict.due then
    table.insert(result.skipped, { name = verdict.name, reason = verdict.reason, next_due = verdict.next_due })
  elseif not result.selected then
    result.selected = verdict
  else
    table.insert(result.deferred, verdict.name)
  end
end

-- Selects the program of this tick and lists the others. `forced` names one that runs whatever its schedule and pauses
-- are.
function due.select(verdicts, forced)
  local result = { deferred = {}, skipped = {}, unconfigured = {} }
  if forced then
    local chosen, message = asked_for(verdicts, forced)
    if not chosen then return nil, message, 2 end
    result.selected = chosen
  end
  local waiting, others = {}, {}
  for _, verdict in ipairs(verdicts) do
    if verdict ~= result.selected then table.insert(verdict.due and waiting or others, verdict) end
  end
  table.sort(waiting, before)
  table.sort(others, function(a, b) return a.name < b.name end)
  for _, verdict in ipairs(waiting) do put(result, verdict) end
  for _, verdict in ipairs(others) do put(result, verdict) end
  return result
end

return due
