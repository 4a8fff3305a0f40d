-- room: what the importers add: `apsis init` names the one for a project of another tool; the key evaluator.
local fs = require "apsis.fs"

local room = {}

local function any(dir, pattern)
  for _, name in ipairs(fs.list(dir) or {}) do
    if name:find(pattern) then return true end
  end
  return false
end

-- The message for a directory that another tool's project is in, or nil.
function room.other_project(dir)
  local kind = any(dir, "^autoresearch%.jsonl$") and "autoresearch"
    or any(dir, "^evaluator%.py$") and any(dir, "^initial_program%.") and "openevolve"
  local tools = { autoresearch = "pi-autoresearch", openevolve = "OpenEvolve" }
  return kind and ("this is a project of %s: `apsis import %s %s` makes a project of apsis from it; nothing was "
    .. "written. To write a new manifest here, name --measure"):format(tools[kind], kind, dir)
end

function room.keys() return require("apsis.import.schema").keys end

function room.rules(draft) require("apsis.import.schema").check(draft) end

return room
