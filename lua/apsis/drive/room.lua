-- room: the hooks of driving: a run takes what was submitted, too; and `apsis init --agent`.
local room = {}

-- session.driven: a driving agent started the run.
function room.before_run(session)
  session.engine.intake = require("apsis.drive.intake").new(session, session.driven)
end

function room.init_options(parser) require("apsis.drive.setup").options(parser) end

function room.init(args) return require("apsis.drive.setup").init(args) end

return room
