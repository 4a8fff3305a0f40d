-- room: the hooks of reflection: the key `reflect`, and the question after each decision.
local nodes = require "apsis.project.node"

local room = {}

function room.keys()
  return { { "reflect", nodes.node("boolean",
    "ask the provider what it learned, once each result is known (one more request per experiment)",
    { default = false }), after = "provider" } }
end

-- spec.reflect is the manifest's.
function room.engine(engine, spec)
  if spec.reflect then engine.afterthought = require("apsis.reflect.reflection").reflect end
end

return room
