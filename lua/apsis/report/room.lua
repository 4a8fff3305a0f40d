-- room: what reports add to the rest: pages of HTML. Called through core/rooms.
local room = {}

-- kind: "run" or "lab"; README.md has the shape of data.
function room.page(kind, data) return require("apsis.report.page")[kind](data) end

return room
