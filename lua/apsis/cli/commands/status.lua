-- status: prints the state of the loop. Writes nothing, so it works at any time.
local common = require "apsis.cli.common"
local direction = require "apsis.direction"
local json = require "apsis.json"
local near_miss = require "apsis.live.near_miss"
local reader = require "apsis.live.reader"
local rooms = require "apsis.core.rooms"
local standing = require "apsis.live.standing"
local show = require "apsis.cli.table"
local wait = require "apsis.wait"

local status = { place = 70, summary = "the state of the loop", example = "apsis status --json" }

function status.options(parser)
  common.project_argument(parser)
  parser:flag("--json",
    "the same as JSON; best is {candidate, value, commit} or null, goal is a standing goal's {state, ...} or null")
end

local function loop_text(facts, at)
  if facts.pid ~= json.null then
    return ("%s (pid %d since %s)%s"):format(facts.status, facts.pid, facts.since,
      facts.paused and ("; `apsis resume%s` goes on"):format(at) or "")
  end
  local text = facts.status
  local reason = facts.reason ~= json.null and facts.reason ~= text and show.line(facts.reason, 200) or nil
  if text == "stopped" and reason then reason = reason:gsub("^stopping: ", "") end
  if text == "interrupted" or text == "stopped in the middle" then
    text = ("%s; `apsis run%s` goes on from there"):format(text, at)
  elseif text == "waiting" then
    text = "waiting for the next submission"
  end
  return text .. (reason and ": " .. reason or "")
end

local function outcomes_text(outcomes)
  local parts = {}
  for _, name in ipairs(show.sorted(outcomes)) do parts[#parts + 1] = ("%s %d"):format(name, outcomes[name]) end
  return #parts > 0 and table.concat(parts, ", ") or nil
end

-- Where an experiment is measured, if not here, and for how long.
local function where_text(slot)
  if not slot.where then return "" end
  local minutes = slot.since and (wait.time() - slot.since) // 60 or 0
  return (" %s%s"):format(show.line(slot.where, 60), minutes >= 1 and (" for %d min"):format(minutes) or "")
end

local function flight_text(slots)
  local parts = {}
  for index, slot in ipairs(slots) do
    parts[index] = ("%s %s%s (%s)"):format(slot.experiment, show.line(slot.phase), where_text(slot),
      show.line(slot.operator, 20))
  end
  return #parts > 0 and table.concat(parts, ", ") or nil
end

local amount = direction.amount

local function limit_text(kind, view, run)
  if view.spent == json.null then return ("unknown of %s %s"):format(amount(view.limit), kind) end
  local before, since, in_all = view.before or 0, "", ""
  if before > 0 then
    since, in_all = (" since run %d went on"):format(run), (", %s in all"):format(amount(view.spent))
  end
  local reserved = view.reserved > 0 and amount(view.reserved) .. " reserved, " or ""
  return ("%s of %s %s%s (%s%s left)%s"):format(amount(math.max(0, view.spent - before)), amount(view.limit - before),
    kind, since, reserved, amount(view.left), in_all)
end

local function budget_text(spent, run)
  local parts = {}
  for _, kind in ipairs(show.sorted(spent)) do parts[#parts + 1] = limit_text(kind, spent[kind], run) end
  return #parts > 0 and table.concat(parts, ", ") or nil
end

local function experiments_text(count)
  return count == 1 and "1 experiment" or ("%d experiments"):format(count)
end

local function candidate_text(what, unit)
  if what == json.null then return "none" end
  return ("%s = %s"):format(what.candidate, what.value ~= json.null and show.number(what.value, unit) or "no value")
end

-- What answers took: nothing is shown before there are some.
local function taken_text(facts, sum, form)
  if facts.experiments == 0 or sum == 0 then return nil end
  return sum == json.null and "unknown (the provider does not report it)" or form:format(sum)
end

local function print_text(self, facts, at)
  local near, dirty, unit = facts.near_misses, facts.dirty, self.manifest.metric.unit
  local gained = self.metric:delta(self.history.best, self.history.baseline)
  local rows = {
    { "project", ("%s (%s, %s)"):format(facts.project, facts.metric, self.metric:words()) },
    { "loop", loop_text(facts, at) },
    { "in flight", flight_text(facts.in_flight) }, { "experiments", facts.experiments },
    { "outcomes", outcomes_text(facts.outcomes) },
    { "baseline", candidate_text(facts.baseline, unit) },
    { "best", candidate_text(facts.best, unit)
      .. (gained and gained ~= 0 and facts.gain == json.null and ", " .. self.metric:gained_text(self.history.best,
        self.history.baseline, unit) or "") },
    { "altered", facts.altered ~= json.null and facts.altered:match "^[^;]*" or nil },
    { "gained", facts.gain ~= json.null and show.gain(facts.gain, facts.best.candidate) or nil },
    { "since kept", facts.experiments > 0 and experiments_text(facts.since_kept) or nil },
    { "budget", budget_text(facts.budget, facts.run) },
    { "tokens", taken_text(facts, facts.tokens, "%d") }, { "cost", taken_text(facts, facts.cost, "%.4g USD") },
    { "near misses", near ~= json.null and ("experiment %s, %s"):format(near.experiment, near_miss.at(near, show.line))
      or nil },
    { "branch", facts.branch_left ~= json.null and ("%s is left behind: %s"):format(facts.branch,
      show.line(facts.branch_left, 200)) or nil },
    { "uncommitted", dirty ~= json.null and ("%d, for instance %s; candidates start from HEAD"):format(dirty.count,
      show.line(dirty.first)) or nil },
    { "paused", facts.paused and not facts.running and ("yes; `apsis resume%s` goes on"):format(at) or nil },
    { "note", self.remark },
  }
  local following = "apsis baseline" .. at
  for _, change in rooms.each "status_rows" do following = change(self, facts, rows) or following end
  show.facts(rows)
  local take = not facts.running and rooms.first("take", self.history, self.dir, at ~= "" and " -C" .. at or "")
  if facts.baseline == json.null then print("next: " .. following) elseif take then
    print(show.take(self.manifest, take))
  end
end

function status.run(args)
  local self, message, code = reader.open(args.dir)
  if not self then return code, message end
  local facts = standing.facts(self)
  if args.json then print(json.encode(facts)) else print_text(self, facts, show.at(args.dir)) end
  return 0
end

return status
