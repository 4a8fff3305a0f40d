-- amend: changes a goal's state file when a turn left no journal line: nothing was measured, an early error, a merge
-- conflict. Needs no open session. Called by tick.
local clock = require "apsis.core.clock"
local direction = require "apsis.direction"
local fs = require "apsis.fs"
local journal = require "apsis.core.journal"
local upkeep = require "apsis.goals.upkeep"
local statefile = require "apsis.goals.statefile.document"

local amend = {}

-- The journal's newest line, for a notification that has no line itself.
local function newest_line(manifest)
  return (fs.read(manifest.home .. "/logs/results.jsonl") or ""):match("([^\n]+)\n?$")
end

-- change(doc, now) returns the events to report. true | nil, message, code.
local function write(repo, manifest, log, change)
  local held, message, code = upkeep.store(repo, manifest, log)
  if not held then return nil, message, code end
  local name, events = manifest.program_name, nil
  local ok
  ok, message, code = held:write(function(text, lines)
    local doc = upkeep.document(text, manifest)
    local now = journal.timestamp(clock.time())
    doc:set("Last Run", now)
    events = change(doc, now) or {}
    local fits, why, with = upkeep.fit(doc, manifest)
    if not fits then return nil, why, with end
    return doc:text(), lines, name .. ": a turn without an experiment"
  end)
  if not ok then return nil, message, code end
  local teller = upkeep.notify(manifest, log, function() return manifest.home .. "/logs" end,
    function() return newest_line(manifest) end)
  for _, event in ipairs(events) do
    log("warn", ("%s %s: %s"):format(name, event.kind, event.reason))
    if teller then teller:tell(event.kind, event.record, { reason = event.reason }) end
  end
  return true
end

-- A turn that failed before any measurement. Three in a row pause the goal.
function amend.failed(repo, manifest, log, reason)
  return write(repo, manifest, log, function(doc, now)
    local record = { outcome = "skipped_verification_crash", status = "crash", rollback_reason = reason,
      timestamp = now }
    return doc:absorb({ record }, { metric = direction.new(manifest.metric), target = manifest.metric.target,
      branch = manifest.branch, previous = function() end, lines = doc:fields().journal_lines or 0 })
  end)
end

function amend.pause(repo, manifest, log, reason)
  return write(repo, manifest, log, function(doc, now)
    local said = doc:fields()
    if said.paused and not statefile.is_own_pause(said.pause_reason) then return {} end -- a person's pause stays theirs
    doc:set("Paused", "true")
    doc:set("Pause Reason", reason)
    return { { kind = "paused", reason = reason, record = { program = manifest.program_name, timestamp = now } } }
  end)
end

-- Records that the goal had its turn: it is due again by its schedule.
function amend.turn(repo, manifest, log)
  return write(repo, manifest, log, function() end)
end

return amend
