-- executors: where verifications may run, each a file ROOM/executor/NAME.lua: here.lua is this machine, `local` in the
-- manifest. live/executor/README.md has the contract. Called by schema and the live world.
local nodes = require "apsis.project.node"
local rooms = require "apsis.core.rooms"

local executors = {}

-- The modules by the manifest's names.
local function modules()
  local found = rooms.modules "executor"
  found["local"], found.here = found.here, nil
  return found
end

-- The executor of the manifest's execution.target.
function executors.of(target) return require(modules()[target]) end

-- The keys of `execution`: target, the common ones, and those of other executors.
function executors.fields(common)
  local names, reaches, fields, found = {}, {}, table.move(common, 1, #common, 1, {}), modules()
  for name in pairs(found) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    local module = name ~= "local" and require(found[name]) or {}
    table.move(module.keys or {}, 1, #(module.keys or {}), #fields + 1, fields)
    reaches[#reaches + 1] = module.reaches and ("%s: %s"):format(name, module.reaches)
  end
  local target = nodes.node("enum", #names == 1 and "this machine" or "where verifications run; local is this machine",
    { allowed = names, default = "local", forms = ("one of %s%s"):format(table.concat(names, ", "), #reaches > 0
      and (" (%s)"):format(table.concat(reaches, "; ")) or "") })
  table.insert(fields, 1, { "target", target })
  return fields
end

return executors
