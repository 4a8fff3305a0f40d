-- room: what the lab adds to the rest: `apsis replay` with another strategy. Called through core/rooms.
local room = {}

function room.replay(session, args, open_fold) return require("apsis.lab.redecide_shown").run(session, args,
  open_fold) end

return room
