-- words: the facts of a loop (live/standing.lua) in words, for every face that shows them.
local direction = require "apsis.direction"
local json = require "apsis.json"
local progress = require "apsis.cli.progress"
local show = require "apsis.cli.table"
local wait = require "apsis.wait"

local words = {}

-- What the loop does; at: the project's directory for a command.
function words.loop(facts, at)
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

function words.outcomes(outcomes)
  local parts = {}
  for _, name in ipairs(show.sorted(outcomes)) do parts[#parts + 1] = ("%s %d"):format(name, outcomes[name]) end
  return #parts > 0 and table.concat(parts, ", ") or nil
end

-- What each experiment in flight does, and, if it is measured elsewhere, where and for how long: a line each. alive:
-- the loop runs, and knows it.
function words.flight(slots, alive)
  local lines = {}
  for index, slot in ipairs(slots) do
    local doing, place = progress.words(show.line(slot.phase), slot.where and show.line(slot.where, 60))
    local since = slot.where and slot.since and " for " .. progress.clock(math.max(0, wait.time() - slot.since))
    if slot.where and not alive then since = " when apsis last looked" end
    lines[index] = ("experiment %s: %s%s%s (%s)"):format(slot.experiment, doing, place and " " .. place or "",
      since or "", show.line(slot.operator, 20))
  end
  return #lines > 0 and table.concat(lines, "\n") or nil
end

local amount = direction.amount

-- What is left of a limit: first what a run that went on had in flight, which is done again, and then the rest.
local function left_text(view, before)
  local again = math.max(0, before - view.spent - view.reserved)
  return ("%s%s left%s"):format(view.reserved > 0 and amount(view.reserved) .. " reserved, " or "",
    amount(view.left - again), again > 0 and (", and %s to be done again"):format(amount(again)) or "")
end

local function limit_text(kind, view, run)
  if view.spent == json.null then return ("unknown of %s %s"):format(amount(view.limit), kind) end
  local before, since, in_all = view.before or 0, "", ""
  if before > 0 then
    since, in_all = (" since run %d went on"):format(run), (", %s in all"):format(amount(view.spent))
  end
  return ("%s of %s %s%s (%s)%s"):format(amount(math.max(0, view.spent - before)), amount(view.limit - before),
    kind, since, left_text(view, before), in_all)
end

function words.budget(spent, run)
  local parts = {}
  for _, kind in ipairs(show.sorted(spent)) do parts[#parts + 1] = limit_text(kind, spent[kind], run) end
  return #parts > 0 and table.concat(parts, ", ") or nil
end

function words.experiments(count)
  return count == 1 and "1 experiment" or ("%d experiments"):format(count)
end

function words.candidate(what, unit)
  if what == json.null then return "none" end
  return ("%s = %s"):format(what.candidate, what.value ~= json.null and show.number(what.value, unit) or "no value")
end

-- What answers took: nothing is shown before there are some.
function words.taken(facts, sum, form)
  if facts.experiments == 0 or sum == 0 then return nil end
  return sum == json.null and "unknown (the provider does not report it)" or form:format(sum)
end

-- The best, and what it gained over the baseline; self: a reader.
function words.best(self, facts)
  local best, baseline, unit = self.history.best, self.history.baseline, self.manifest.metric.unit
  local gained = self.metric:delta(best, baseline)
  return words.candidate(facts.best, unit) .. (gained and gained ~= 0 and facts.gain == json.null and ", "
    .. self.metric:gained_text(best, baseline, unit) or "")
end

return words
