-- manifest: the page of manifest.yaml's keys, from the schema.
local page = require "apsis.manual.page"
local schema = require "apsis.project.schema"
local shape = require "apsis.project.shape"

-- A key's meaning, what it takes, and its default.
local function about(node)
  local parts = { node.doc .. "." }
  if not node.fields then parts[#parts + 1] = ("Takes %s."):format(shape.expects(node) or node.kind) end
  if node.default ~= nil and type(node.default) ~= "table" and node.default ~= "" then
    parts[#parts + 1] = ("Default: %s."):format(tostring(node.default))
  end
  if node.required then parts[#parts + 1] = "Required." end
  return table.concat(parts, " ")
end

-- A key, and those below it; NAME[] is each element of a list or mapping.
local function add(terms, name, node)
  terms[#terms + 1] = { name, about(node) }
  local below = node.fields and node or node.item
  for _, field in ipairs(below and below.fields or {}) do
    add(terms, name .. (below ~= node and "[]." or ".") .. field[1], field[2])
  end
  return terms
end

return function()
  local self = page.new("apsis-manifest", 5, "the keys of manifest.yaml", "")
  self:text("A project is a directory with a manifest.yaml inside a git repository. NAME[] below is each element of a "
    .. "list or mapping. `apsis help manifest.KEY` explains one key, `apsis init --schema` prints the JSON Schema for "
    .. "editors, and `apsis setup` checks a manifest.")
  for _, field in ipairs(schema.manifest.fields) do
    self:heading(field[1]):terms(add({}, field[1], field[2]))
  end
  local everywhere = {}
  for index, field in ipairs(schema.user.fields) do everywhere[index] = "`" .. field[1] .. "`" end
  self:heading "The user's own file":text("$XDG_CONFIG_HOME/apsis/config.yaml (default: ~/.config) holds what you want "
    .. "in all projects. It may have " .. table.concat(everywhere, ", ") .. ". The manifest has precedence, and the "
    .. "command line over both.")
  return self
end
