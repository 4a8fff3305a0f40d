-- room: what scoring by domains adds to apsis, as hooks (lua/apsis/core/README.md lists them).
local room = {}

function room.keys(parts) return { { "fitness", require("apsis.fitness.schema").node(parts), after = "verification" } } end

function room.early_rules(draft) require("apsis.fitness.schema").variants(draft) end

function room.rules(draft, checks) require("apsis.fitness.schema").check(draft, checks) end

return room
