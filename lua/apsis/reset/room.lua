-- room: what resets add to the rest: no run begins while one is half done; what was put away can be looked at. Called
-- through core/rooms.
local room = {}

function room.before_journal(session)
  local wrong = require("apsis.reset.shelf").unfinished(session.home)
  if wrong then return false, wrong, 3 end
end

-- The runs that were put away, oldest first: { name, root (has their logs/) } each.
function room.earlier_runs(home)
  local shelf, list = require "apsis.reset.shelf", {}
  for index, record in ipairs(shelf.list(home)) do
    list[index] = { name = record.stamp, root = home .. "/" .. shelf.folder(record.stamp) }
  end
  return list
end

return room
