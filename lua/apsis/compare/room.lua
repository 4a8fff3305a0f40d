-- room: what this room adds: `apsis show ID --against OTHER`. Called through core/rooms.
local room = {}

function room.options(command, parser)
  if command == "show" then require("apsis.compare.against").options(parser) end
end

function room.show(args)
  if not (args.against or args.bisect or args.most) then return nil end
  local against = require "apsis.compare.against"
  local ok, message, code = against.asked(args)
  if not ok then return false, message, code end
  return against.run
end

return room
