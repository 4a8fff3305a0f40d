-- room: what resets add to the rest: no run begins while one is half done. Called through core/rooms.
local room = {}

function room.before_journal(session)
  local wrong = require("apsis.reset.shelf").unfinished(session.home)
  if wrong then return false, wrong, 3 end
end

return room
