-- room: the hooks of the sealed holdout: its key, files that no checkout has, what status shows, and a warning when a
-- run goes on after the score is known. Called through core/rooms.
local room = {}

function room.keys() return require("apsis.holdout.schema").keys end

function room.rules(draft) require("apsis.holdout.schema").check(draft) end

local function sealing(name)
  return function(world, given)
    return world.manifest.holdout ~= nil and require("apsis.holdout.score")[name](world, given)
  end
end

-- Methods of the world: whether a path is sealed; the paths of a commit, in the repository, that no checkout has until
-- the holdout is scored.
function room.world() return { is_sealed = sealing "is_sealed", withheld = sealing "withheld" } end

function room.measures(manifest)
  return manifest.holdout and { holdout = require("apsis.holdout.schema").measures(manifest.holdout) } or nil
end

function room.commands(manifest)
  local command = manifest.holdout and manifest.holdout.command
  return command and { { command = { run = command.run, cwd = "." }, key = "holdout.command" } } or {}
end

function room.before_run(session)
  require("apsis.holdout.score").sweep(session.home)
  local last = require("apsis.holdout.ledger").last(session.home)
  if last then
    session:say("the holdout was scored already: this run goes on knowing the result, so its holdout is contaminated "
      .. "(`apsis status` marks it)")
  end
end

function room.status(reader, facts)
  facts.holdout = require("apsis.holdout.ledger").facts(reader.home, reader.history)
end

-- An agent that drives is a provider, and learns no score.
function room.status_rows(_, facts, rows)
  local found = facts.holdout
  if not found or os.getenv "APSIS_DRIVEN" then return end
  local index = #rows
  for place, row in ipairs(rows) do if row[1] == "since kept" then index = place end end
  table.insert(rows, index, { "holdout", require("apsis.holdout.ledger").text(found) })
end

function room.report_fact(reader)
  local ledger = require "apsis.holdout.ledger"
  local found = ledger.facts(reader.home, reader.history)
  return found and ledger.fact(found)
end

return room
