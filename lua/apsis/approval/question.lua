-- question: what a person needs to know of a candidate that waits for approval: value, gain, and what it changes.
local clock = require "apsis.core.clock"
local direction = require "apsis.direction"
local hold = require "apsis.core.hold"
local json = require "apsis.json"
local show = require "apsis.cli.table"

local question = {}

-- Files, and lines added and deleted, against the parent; nil if git cannot tell.
local function stat_of(repo, parent, commit)
  local changes = parent and repo:changes(parent, commit)
  if not changes then return nil end
  local stat = { files = #changes, added = 0, deleted = 0 }
  for _, change in ipairs(changes) do
    stat.added, stat.deleted = stat.added + change.added, stat.deleted + change.deleted
  end
  return stat
end

-- What is known of those that wait (live/held.lua), as JSON has it. repo: for what they change; nil: without that.
function question.facts(reader, list, repo)
  local facts, history = {}, reader.history
  for index, one in ipairs(list) do
    local fields, best = one.line, history.best
    local parent, overtaken = history:get((fields.parents or {})[1]), hold.overtaken(history, one)
    if overtaken then best = nil end
    facts[index] = { candidate = fields.candidate, value = fields.primary_metric or json.null,
      delta = best and reader.metric:delta(fields.primary_metric, history.bar) or json.null, overtaken = overtaken,
      best = best and best.id or json.null,
      share = best and direction.percent_text(fields.primary_metric, history.bar) or json.null,
      since = clock.iso(one.since), parent = parent and parent.id or json.null, commit = fields.commit,
      parent_commit = parent and parent.commit or json.null, title = fields.hypothesis or fields.description,
      reason = (fields.notes or {}).kept_because, changes = repo and stat_of(repo, parent and parent.commit,
        fields.commit) or nil }
  end
  return json.array(facts)
end

local function given(value) return value ~= json.null and value or nil end

-- "2 files, +12 -4"
local function changes_text(stat)
  return stat and ("%d file%s, +%d -%d"):format(stat.files, stat.files == 1 and "" or "s", stat.added, stat.deleted)
end

-- Prints what is known of one; at: the project's directory for a command.
function question.print(reader, fact, at)
  local unit = reader.manifest.metric.unit
  local delta = given(fact.delta)
  show.facts {
    { "candidate", ("%s, since %s"):format(fact.candidate, fact.since) },
    { "value", given(fact.value) and ("%s = %s (%s)"):format(reader.metric.name, show.number(fact.value, unit),
      reader.metric:words()) },
    { "gain", delta and ("%s against the best, %s%s"):format(given(fact.share) or direction.delta_text(delta),
      fact.best, reader.metric:better(fact.value, reader.history.bar) and "" or ": no longer better") },
    { "not kept", fact.overtaken },
    { "change", fact.title and show.line(fact.title, 200) },
    { "because", fact.reason and show.line(fact.reason, 200) },
    { "files", changes_text(fact.changes) },
  }
  if given(fact.parent_commit) then
    print(("  look:    apsis diff %s%s"):format(fact.candidate, at))
  end
  print(("  approve: apsis approve %s%s"):format(fact.candidate, at))
  print(("  reject:  apsis approve %s --reject%s"):format(fact.candidate, at))
end

return question
