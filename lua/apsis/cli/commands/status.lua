-- status: where the loop stands, from the journal, the state note and the lock. Writes nothing, so that it may be asked
-- at any time.
local budget = require "apsis.core.budget"
local common = require "apsis.cli.common"
local clock = require "apsis.core.clock"
local direction = require "apsis.direction"
local display = require("apsis.project.manifest").display
local due = require "apsis.goals.due"
local fs = require "apsis.fs"
local gain = require "apsis.noise.shown_gain"
local json = require "apsis.json"
local programs = require "apsis.goals.list"
local reader = require "apsis.live.reader"
local show = require "apsis.cli.table"

local status = { place = 70, summary = "where the loop stands", example = "apsis status --json" }

function status.options(parser)
  common.project_argument(parser)
  parser:flag("--json", "the same as JSON; best is {candidate, value, commit} or null, goal is a standing goal's {state, ...} or null")
end

local function brief(record)
  return record and { candidate = record.id, value = record.value or json.null, commit = record.commit } or json.null
end

-- What is reserved: of a running loop what it says; of one that was stopped in the middle, what its experiments in flight had
-- taken, which counts when they are done again.
local function reserve(held, last, running)
  local reserved = running and type(last.reserved) == "table" and last.reserved or {}
  for kind, amount in pairs(reserved) do
    if type(amount) == "number" then held:reserve(kind, amount) end
  end
  for _, slot in ipairs(not running and type(last.slots) == "table" and last.slots or {}) do
    if type(slot.tokens) == "number" then held:reserve("tokens", slot.tokens) end
    if type(slot.cost) == "number" then held:reserve("usd", slot.cost) end
  end
end

-- What the run has spent of what it may: of the newest run, whether it still goes on or not.
local function budget_of(self, running)
  local history, last = self.history, self.last
  local limits = type(last.limits) == "table" and next(last.limits) and last.limits or self.manifest.budget
  if last.run and last.run > history.run then history:begin(last.run) end
  local held = budget.new(limits, history, function() return last.elapsed_s or 0 end)
  reserve(held, last, running)
  return held:table()
end

-- One word for the loop, and what to say beside it.
local function state_of(self, pid)
  local last = self.last
  if pid then return fs.stat(self.home .. "/.apsis/pause") and "paused" or "running" end
  if last.status == "running" or last.status == "paused" then return "stopped in the middle" end
  return last.status or "not begun"
end

local function dirty_of(self)
  local repo <close> = self:repository()
  if not repo then return nil end
  local paths, count = repo:dirty()
  return count and count > 0 and { count = count, first = paths[1] } or nil
end

-- The first baseline that has a value: what a goal began from.
local function initial_of(history)
  for index = 1, history.count do
    local record = history:at(index)
    if record.outcome == "baseline" and record.value then return record end
  end
end

-- Of a standing goal, whether its turn has come, as `apsis schedule` judges it: program and verdict; nil and why not.
local function judged(self)
  local place, message = programs.open(self.dir)
  if not place then return nil, message end
  local program = place:find(self.manifest.program_name)
  place:close()
  if not program then return nil, "`apsis schedule` does not find it" end
  return program, due.judge(program, clock.time())
end

-- nil for an ordinary project.
local function goal_of(self)
  if not self.manifest.program_name then return nil end
  local program, verdict = judged(self)
  local initial, known = initial_of(self.history), program and verdict or {}
  return {
    name = self.manifest.program_name, state = known.state or "unknown",
    reason = known.detail or known.reason or not program and verdict or json.null,
    next_due = known.next_due and clock.iso(known.next_due) or json.null, schedule = self.manifest.schedule or json.null,
    target = self.manifest.metric.target or json.null, initial = initial and initial.value or json.null,
    errors = program and program.memory and program.memory.consecutive_errors or 0,
  }
end

local function gather(self)
  local history, last = self.history, self.last
  local pid, since = reader.holder(self.home)
  local spent = budget_of(self, pid ~= nil)
  return {
    project = self.manifest.project.name, directory = self.dir, metric = self.metric.name,
    direction = self.metric.direction,
    status = state_of(self, pid), running = pid ~= nil, pid = pid or json.null, since = since or json.null,
    paused = fs.stat(self.home .. "/.apsis/pause") ~= nil, run = last.run or history.run,
    reason = last.reason or json.null,
    in_flight = json.array(pid and type(last.slots) == "table" and last.slots or {}),
    experiments = history.count - (history.outcomes.baseline or 0),
    outcomes = history.outcomes, best = brief(history.best), baseline = brief(history.baseline),
    gain = history.gain or json.null,
    current = brief(history.current), since_kept = history.since_kept, since_best = history.since_best, budget = spent,
    tokens = history.totals.tokens, cost = history.totals.usd, near_misses = last.near_misses or json.null,
    goal = goal_of(self) or json.null,
    branch = self.branch, branch_left = last.branch_left or json.null, dirty = dirty_of(self) or json.null,
  }
end

local function loop_text(facts, at)
  if facts.pid ~= json.null then
    return ("%s (pid %d since %s)%s"):format(facts.status, facts.pid, facts.since,
      facts.paused and ("; `apsis resume%s` goes on"):format(at) or "")
  end
  local text = facts.status
  local reason = facts.reason ~= json.null and facts.reason ~= text and show.line(facts.reason, 200) or nil
  if text == "interrupted" or text == "stopped in the middle" then
    text = ("%s; `apsis run%s` goes on from there"):format(text, at)
  end
  return text .. (reason and ": " .. reason or "")
end

local function outcomes_text(outcomes)
  local parts = {}
  for _, name in ipairs(show.sorted(outcomes)) do parts[#parts + 1] = ("%s %d"):format(name, outcomes[name]) end
  return #parts > 0 and table.concat(parts, ", ") or nil
end

local function flight_text(slots)
  local parts = {}
  for index, slot in ipairs(slots) do
    parts[index] = ("%s %s (%s)"):format(slot.experiment, show.line(slot.phase), show.line(slot.operator, 20))
  end
  return #parts > 0 and table.concat(parts, ", ") or nil
end

local function budget_text(spent)
  local parts, amount = {}, direction.amount
  for _, kind in ipairs(show.sorted(spent)) do
    local view = spent[kind]
    local reserved = view.reserved > 0 and amount(view.reserved) .. " reserved, " or ""
    parts[#parts + 1] = ("%s of %s %s (%s%s left)"):format(amount(view.spent), amount(view.limit), kind, reserved, amount(view.left))
  end
  return #parts > 0 and table.concat(parts, ", ") or nil
end

local function experiments_text(count)
  return count == 1 and "1 experiment" or ("%d experiments"):format(count)
end

local function candidate_text(what)
  if what == json.null then return "none" end
  return ("%s = %s"):format(what.candidate, what.value ~= json.null and show.number(what.value) or "no value")
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

-- Whether a goal's last tick ended as ticks do, or as the goal's own line says.
local function as_ticks_end(facts)
  if facts.status == "not begun" then return true end
  local reason = facts.reason ~= json.null and facts.reason or ""
  return facts.status == "finished" and (reason:find "^budget: iterations" or reason:find "^paused" or reason:find "^completed"
    or reason:find "^target") ~= nil
end

-- What a goal's status says beside a project's; without its loop and its budget, where they only tell of a tick's own limit.
local function goal_facts(self, facts, at)
  local goal = facts.goal
  if goal == json.null then return { loop = loop_text(facts, at), budget = budget_text(facts.budget) } end
  local initial = initial_of(self.history)
  local gained = self.metric:delta(self.history.best, initial)
  return {
    goal = goal_text(goal), schedule = goal.schedule ~= json.null and goal.schedule or "none: due at every tick",
    target = goal.target ~= json.null and show.number(goal.target) or nil,
    initial = initial and ("%s = %s%s"):format(initial.id, show.number(initial.value),
      gained and gained ~= 0 and ("; the best is %s from it"):format(show.delta(gained)) or ""),
    loop = not as_ticks_end(facts) and loop_text(facts, at) or nil, budget = facts.running and budget_text(facts.budget) or nil,
  }
end

local function next_text(self, facts, at)
  if facts.goal == json.null then return "next: apsis baseline" .. at end
  local here = fs.realpath(self.dir) == fs.cwd()
  return ("next: apsis tick --program %s%s"):format(facts.goal.name, here and "" or " -C" .. show.at(display(self.dir)))
end

local function print_text(self, facts, at)
  local near, dirty = facts.near_misses, facts.dirty
  local gained = self.metric:delta(self.history.best, self.history.baseline)
  local goal = goal_facts(self, facts, at)
  show.facts {
    { "project", ("%s (%s, %s)"):format(facts.project, facts.metric, self.metric:words()) },
    { "goal", goal.goal }, { "schedule", goal.schedule }, { "target", goal.target },
    { "loop", goal.loop },
    { "in flight", flight_text(facts.in_flight) }, { "experiments", facts.experiments },
    { "outcomes", outcomes_text(facts.outcomes) },
    { "initial", goal.initial },
    { "baseline", candidate_text(facts.baseline) },
    { "best", candidate_text(facts.best) .. (gained and gained ~= 0 and facts.gain == json.null and (", %s"):format(show.delta(gained))
      or "") },
    { "gained", facts.gain ~= json.null and gain.text(facts.gain, facts.best.candidate) or nil },
    { "since kept", facts.experiments > 0 and experiments_text(facts.since_kept) or nil },
    { "budget", goal.budget },
    { "tokens", facts.tokens > 0 and facts.tokens or nil },
    { "near misses", near ~= json.null and ("experiment %s, line %s: %q (%s)"):format(near.experiment, near.line or "?",
      show.line(near.text), show.line(near.reason)) or nil },
    { "branch", facts.branch_left ~= json.null and ("%s is left behind: %s"):format(facts.branch,
      show.line(facts.branch_left, 200)) or nil },
    { "uncommitted", dirty ~= json.null and ("%d, for instance %s; candidates start from HEAD"):format(dirty.count,
      show.line(dirty.first))
      or nil },
    { "paused", facts.paused and not facts.running and ("yes; `apsis resume%s` goes on"):format(at) or nil },
    { "note", self.remark },
  }
  if facts.baseline == json.null then print(next_text(self, facts, at)) end
end

function status.run(args)
  local self, message, code = reader.open(args.dir)
  if not self then return code, message end
  local facts = gather(self)
  if args.json then print(json.encode(facts)) else print_text(self, facts, show.at(args.dir)) end
  return 0
end

return status
