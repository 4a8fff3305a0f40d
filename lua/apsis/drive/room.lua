-- room: the hooks of driving: a run takes what was submitted, too.
local room = {}

-- session.driven: a driving agent started the run.
function room.before_run(session)
  session.engine.intake = require("apsis.drive.intake").new(session, session.driven)
end

return room
