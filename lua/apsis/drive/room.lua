-- room: the hooks of driving: a run takes what was submitted, too; and `apsis init --agent`.
local room = {}

-- session.driven: a driving agent started the run; such a run keeps its budget until it is over.
function room.before_run(session)
  session.engine.intake = require("apsis.drive.intake").new(session, session.driven)
end

-- What waits in the inbox, if anything does.
local function waiting(reader)
  local ids = {}
  for index, request in ipairs(require("apsis.drive.inbox").new(reader.home):waiting()) do ids[index] = request.id end
  return ids[1] and ids
end

function room.status(reader, facts) facts.submitted = waiting(reader) end

function room.status_rows(_, facts, rows)
  local ids = facts.submitted
  if ids then table.insert(rows, 3, { "submitted", table.concat(ids, ", ") .. " (waiting)" }) end
end

function room.init_options(parser) require("apsis.drive.setup").options(parser) end

function room.init(args) return require("apsis.drive.setup").init(args) end

return room
