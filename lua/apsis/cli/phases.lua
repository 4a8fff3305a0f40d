-- phases: `step --phase`: after each phase of an experiment, prints what it did and which files it wrote, and waits for
-- the user. Decides nothing. Called by common.
local fs = require "apsis.fs"
local host = require "apsis.host"
local show = require "apsis.cli.table"
local wait = require "apsis.wait"

local phases = {}

local TICK_S = 0.01 -- of the clock that file times are taken from, at most

local function count(number, noun)
  return ("%d %s%s"):format(number, noun, number == 1 and "" or "s")
end

local function context(session)
  local history = session.engine.history
  local best = history.best
  return ("%s in the journal, %s from you; best %s"):format(count(history.count, "line"),
    count(#session.world:directions(), "direction"), best and ("%s: %.10g"):format(best.id, best.value) or "none")
end

-- What a phase did, by its name.
local did = {}

function did.PLAN(slot)
  local proposal = slot.proposal
  return ("experiment %d: %s of %s"):format(slot.number, proposal.operator,
    table.concat(proposal.measure or proposal.parents, " and "))
end

function did.APPLY_CHANGE(slot, _, reason)
  local answer = slot.answer
  if not answer then return reason or "no answer" end
  local text = answer.hypothesis or answer.description or answer.plan or answer.text or "the provider answered"
  return text:match "[^\n]*" .. ((slot.tokens or 0) > 0 and (" (%.0f tokens)"):format(slot.tokens) or "")
end

function did.COMMIT(slot, _, reason)
  local change = slot.change
  if not change then return reason or "nothing was committed" end
  return ("%s, %s changed: git show %s"):format(change.subject, count(change.changed_lines, "line"),
    change.commit:sub(1, 10))
end

function did.VERIFY(slot, _, reason)
  local why = reason or (slot.measurement or {}).reason
  return slot.value and ("%s = %.10g"):format(slot.metric_name, slot.value) or why or "no value"
end

function did.DECIDE(_, outcome, reason)
  return outcome .. (reason and ": " .. reason or "")
end

-- The files of an experiment that were written since the last look; began: when the first one was.
local function new_files(seen, slot, began)
  local list = {}
  for _, name in ipairs(slot and fs.list(slot.dir) or {}) do
    local stat = fs.stat(slot.dir .. "/" .. name, { follow = false })
    local changed = stat and stat.ctime >= began and stat.ctime or nil
    if changed ~= seen[name] then list[#list + 1], seen[name] = name, changed end
  end
  table.sort(list)
  return #list > 0 and ("\n  %s: %s"):format(slot.dir:match "runs/[^/]+$", table.concat(list, ", ")) or ""
end

-- Waits for Enter; false if the user wants no more.
local function goes_on(following)
  while true do
    if host.isatty(0) then io.stderr:write(("  Enter: %s; q: stop > "):format(following)) end
    io.stderr:flush()
    local line = wait.input() and io.read "l"
    if not line or line:find "^%s*[qQ]" then return false end
    if not line:find "%S" then return true end
  end
end

-- Stops a session's experiment between its phases. Returns what shows the last one, once it is over.
function phases.install(session)
  local began, seen, last, over, logged = wait.time() - TICK_S, {}, "READ_CONTEXT", false, nil
  io.stdin:setvbuf "no" -- so that waiting sees what is still to be read
  local function shown(phase, text, slot)
    session.progress_line:clear()
    local what = show.wrap(("%-13s %s"):format(phase, show.line(text, 1000)), show.width(), "  ")
    print(what .. new_files(seen, slot, began))
    io.stdout:flush()
  end
  function session.world.between(slot, outcome, reason)
    if over or slot and slot.phase == "PLAN" then return end -- PLAN is entered with the plan made
    local following = slot and slot.phase or "PLAN"
    if slot and last == "READ_CONTEXT" then last = "PLAN" end -- it may have been planned before a stop
    shown(last, slot and did[last](slot, outcome, reason) or context(session), slot)
    if slot and outcome and last ~= "DECIDE" then shown("DECIDE", did.DECIDE(slot, outcome, reason), slot) end
    over, last, logged = following == "LOG", following, slot
    if goes_on(following) then return end
    session.world:fail(("stopped before %s%s"):format(following, slot
      and (": `apsis step` makes experiment %d again, from its plan"):format(slot.number) or ""), 130)
  end
  return function()
    if over then shown("LOG", ("line %d of logs/results.jsonl"):format(session.engine.history.count), logged) end
  end
end

return phases
