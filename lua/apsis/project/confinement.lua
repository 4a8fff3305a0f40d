-- confinement: the part of the schema for commands on this machine: the sandbox, and what a provider, verifier or gate
-- may use beyond its workspace. Called by schema and standing.
local nodes = require "apsis.project.node"

local map, node = nodes.map, nodes.node

local confinement = {}

local function paths(doc)
  return { "allow", node("list", doc, { items = "paths", fill = true,
    item = node("string", "a path", { pattern = "^~?/[^*:]*[^*:/]/?:?r?[ow]?$",
      pattern_text = "a path that begins with / or ~/, without patterns; :rw or :ro may follow" }) }) }
end

-- how: the default access; a suffix after the colon changes it.
function confinement.allow(how)
  return paths("paths outside the workspace, such as ~/.cargo, that its commands are given " .. how)
end

function confinement.network(default)
  return { "network", node("boolean", default and "whether its commands have the network"
    or "whether its commands have the network "
    .. "(without, a loopback of their own)", { default = default }) }
end

confinement.pass_env = { "pass_env",
  node("list", "variables of your environment that its commands are given beside the harmless ones; "
  .. "a * at the end stands for any ending", { items = "names", fill = true, item = node("string", "a name", {
    pattern = "^[A-Za-z_][A-Za-z0-9_]*%*?$", pattern_text = "a variable's name, or its beginning and *" }) }) }

confinement.sandbox = map("confines commands: they may write only their workspace; your home and the "
  .. "project are not there", {
  { "mode", node("enum",
    "auto: the best that works here, and a warning where nothing does; required: nothing is run then", {
    allowed = { "auto", "required", "off" }, default = "auto" }) },
  paths "paths that all commands may read; PATH:rw: write, too",
}, { short = "mode", fill = true })

return confinement
