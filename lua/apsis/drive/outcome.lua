-- outcome: what became of a request: its journal line, or why there is none; how it is printed; and its exit code.
-- Called by the commands.
local fs = require "apsis.fs"
local held = require "apsis.live.held"
local inboxes = require "apsis.drive.inbox"
local json = require "apsis.json"
local lock = require "apsis.live.lock"
local note = require "apsis.live.note"
local reader = require "apsis.live.reader"
local show = require "apsis.cli.table"

local outcome = {}

-- Exit codes beside the usual ones.
outcome.codes = { kept = 0, rejected = 1, refused = 2, pending = 6, over = 7 }

local nexts = {
  kept = "go on from it: `apsis next`, or change more and submit again",
  rejected = "change something else and submit again, or ask `apsis next`",
  pending = "wait again",
  given = "change the files in its directory, and submit that: `apsis submit DIR`",
  refused = "fix what the reason names and submit again; without --id it counts as a new experiment",
  held = "a person decides; ask for that, and wait again later, or go on with something else",
  over = "a person can begin another run: `apsis run`, or `apsis submit --new-run`",
}

-- The line of an experiment | nil, message, code. The project is folded again, for a run may have gone on.
local function line_of(home, dir, experiment)
  local self, message, code = reader.open(dir)
  if not self then return nil, message, code end
  local index = self.history:line_of(experiment)
  if not index then return nil end
  local record = self.history:at(index)
  return { state = record.kept and "kept" or "rejected", record = record, reader = self, home = home,
    text = self.session.journal:text(index) }
end

-- What a request of `apsis next` got: { state = given, over or pending }.
function outcome.of_next(home, _, id)
  local closed = inboxes.new(home):closed(id)
  if not closed then return { state = "pending", id = id, home = home } end
  return { state = closed.experiment and "given" or "over", experiment = closed.experiment, reason = closed.over,
    id = id }
end

-- What became of a request, by its id, s0001, or the candidate's that `apsis next` gave, c0007: { state = kept,
-- rejected, refused, over or pending; unanswered: it was not submitted yet; held: what a person is to answer } | nil,
-- message, code.
function outcome.of(home, dir, id)
  local box = inboxes.new(home)
  local number = math.tointeger(tonumber(id:match "^c(%d+)$"))
  local waits = box:read(id) ~= nil -- asked first: what is closed in between is in both places for a moment
  local closed = not number and box:closed(id)
  if closed and not closed.experiment then
    return { state = closed.over and "over" or "refused", reason = closed.over or closed.refused, id = id }
  end
  number = number or closed and closed.experiment
  if number then
    local found, message, code = line_of(home, dir, number)
    if found then found.id = id end
    if found or message then return found, message, code end
  end
  local one = held.of(home, number or id)
  if one then return { state = "pending", id = id, home = home, held = one } end
  if waits then return { state = "pending", id = id, home = home } end
  local plan = number and fs.read(("%s/runs/%04d/proposal.json"):format(home, number))
  if plan then
    local given = type((json.decode(plan, true) or {}).offered) == "table" and not box:answers(number)
    return { state = "pending", id = id, home = home, unanswered = given }
  end
  return nil, ("%s is not known here: `apsis submit` prints an id, and `apsis log` has the candidates"):format(
    show.line(id, 40)), 2
end

-- "better by 15", "worse by 3", "equal": against the best of its time.
local function standing(record)
  local mark = show.mark(record)
  return mark ~= "" and (", %s%s the best so far"):format(show.delta(record.delta), mark == "" and "" or ": " .. mark
    .. (mark == "equal" and " to" or " than")) or ""
end

local function text_of(found)
  local record = found.record
  if found.state == "refused" then return ("%s was not tried: %s"):format(found.id, found.reason) end
  if found.state == "over" then
    return ("%s was not tried: the loop is over: %s"):format(found.id, found.reason)
  end
  if found.held then
    return ("%s was measured, and would be kept: %s"):format(found.held.line.candidate, found.held.text)
  end
  if found.state == "pending" then
    local pid = lock.holder(found.home)
    if found.unanswered then return found.id .. " was given out, and is not submitted yet" end
    local where = pid and ("process %d is working on it"):format(pid) or "nobody works on it"
    return ("%s is not done yet (%s, %s)"):format(found.id, note.read(found.home).status or "waiting", where)
  end
  local unit = found.reader.manifest.metric.unit
  local value = record.value and (": %s = %s%s (%s)"):format(record.measured_by.name, show.number(record.value, unit),
    standing(record), record.measured_by:words()) or ""
  local why = record.rollback_reason and "\nreason: " .. show.reason(record.rollback_reason, found.home) or ""
  return ("%s %s%s%s"):format(record.id, record.outcome, value, why)
end

-- Prints what became of a request; its exit code.
function outcome.print(found, as_json)
  local following = nexts[found.held and "held" or found.unanswered and "given" or found.state]
  if as_json then
    print(json.encode { id = found.id, result = found.state, reason = found.reason, text = text_of(found),
      held = found.held and true or nil, unanswered = found.unanswered or nil, next = following,
      line = found.text and json.decode(found.text) or nil,
      altered = found.reader and found.reader.altered or nil })
  else
    print(show.wrap(text_of(found), show.width(), "  "))
    print(show.wrap("next: " .. following, show.width(), "  "))
  end
  return outcome.codes[found.state]
end

return outcome
