-- status: adds a goal's state, schedule, target and initial value to `apsis status`. Read-only.
local clock = require "apsis.core.clock"
local display = require("apsis.project.manifest").display
local due = require "apsis.goals.due"
local fs = require "apsis.fs"
local intake = require "apsis.goals.intake"
local json = require "apsis.json"
local show = require "apsis.cli.table"
local survey = require "apsis.goals.survey"

local status = {}

-- The program and the verdict of `apsis schedule`; nil and why not.
local function judged(self)
  local place, message = survey.open(self.dir)
  if not place then return nil, message end
  local program = place:find(self.manifest.program_name)
  place:close()
  if not program then return nil, "`apsis schedule` does not list it" end
  return program, due.judge(program, clock.time())
end

-- Adds `goal` to the facts.
function status.facts(self, facts)
  local program, verdict = judged(self)
  local initial, known = intake.initial(self.history), program and verdict or {}
  facts.goal = {
    name = self.manifest.program_name, state = known.state or "unknown",
    reason = known.detail or known.reason or not program and verdict or json.null,
    next_due = known.next_due and clock.iso(known.next_due) or json.null, schedule = self.manifest.schedule
      or json.null,
    target = self.manifest.metric.target or json.null, initial = initial and initial.value or json.null,
    errors = program and program.fields and program.fields.consecutive_errors or 0,
  }
end

-- "due now", "not due, next 2026-11-22 17:00Z", "paused: waiting for review".
local function goal_text(goal)
  local text = goal.state
  if text == "due" then text = "due now"
  elseif text == "not due" then text = "not due, next " .. goal.next_due:gsub("T", " "):gsub(":%d%dZ$", "Z")
  elseif goal.reason ~= json.null then
    local reason = show.line(goal.reason, 400)
    text = reason:find(text, 1, true) == 1 and reason or text .. ": " .. reason
  end
  if goal.errors > 0 and (goal.state == "due" or goal.state == "not due") then
    text = text .. (goal.errors == 1 and "; the last turn was an error" or ("; %d errors in a row"):format(goal.errors))
  end
  return text
end

-- Whether the last run ended as ticks usually do, or for a reason that the goal's row already shows.
local function as_ticks_end(facts)
  if facts.status == "not started" then return true end
  local reason = facts.reason ~= json.null and facts.reason or ""
  return facts.status == "finished" and (reason:find "^budget: iterations" or reason:find "^paused"
    or reason:find "^completed" or reason:find "^target") ~= nil
end

-- The index of a row by its label.
local function find(rows, label)
  for index, row in ipairs(rows) do
    if row[1] == label then return index end
  end
end

-- Inserts the goal's rows; drops the loop and budget rows if they only show a tick's own limit. Returns the next
-- command while nothing is measured.
function status.rows(self, facts, rows)
  local goal = facts.goal
  local initial = intake.initial(self.history)
  local gained = self.metric:delta(self.history.best, initial)
  if as_ticks_end(facts) then rows[find(rows, "loop")][2] = nil end
  if not facts.running then rows[find(rows, "budget")][2] = nil end
  table.insert(rows, find(rows, "baseline"),
    { "initial", initial and ("%s = %s%s"):format(initial.id, show.number(initial.value), gained and gained ~= 0
    and ("; the best is %s from it"):format(show.delta(gained)) or "") })
  local first = { { "goal", goal_text(goal) }, { "schedule", goal.schedule ~= json.null and goal.schedule
    or "none: due at every tick" }, { "target", goal.target ~= json.null and show.number(goal.target) or nil } }
  for index, row in ipairs(first) do table.insert(rows, 1 + index, row) end
  local here = fs.realpath(self.dir) == fs.cwd()
  return ("apsis tick --program %s%s"):format(goal.name, here and "" or " -C" .. show.at(display(self.dir)))
end

return status
