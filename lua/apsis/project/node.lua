-- node: what a schema is made of: a kind, a doc, and what limits it. Called by schema and its parts.
local nodes = {}

function nodes.node(kind, doc, more)
  local made = more or {}
  made.kind, made.doc = kind, doc
  return made
end

-- A mapping of the fields given, { name, node } each, in order.
function nodes.map(doc, fields, more)
  local made = nodes.node("map", doc, more)
  made.fields = fields
  return made
end

function nodes.set(...)
  local made = {}
  for _, name in ipairs({ ... }) do made[name] = true end
  return made
end

return nodes
