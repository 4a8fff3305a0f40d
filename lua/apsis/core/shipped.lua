-- shipped: the names of apsis's own files: those in the program and those of the tree that APSIS_HOME names, which may
-- have more. Called by rooms and by those that list strategies, templates, worlds and manual pages.
local fs = require "apsis.fs"
local host = require "apsis.host"

local shipped = {}

local function add_folder(home, folder, found)
  for _, name in ipairs(fs.list(home .. "/" .. folder) or {}) do
    local path = folder .. name
    if name:find(".", 1, true) then found[path] = true else add_folder(home, path .. "/", found) end
  end
end

-- The names below a folder ("strategies/"), sorted.
function shipped.list(folder)
  local home, found, names = os.getenv "APSIS_HOME", {}, {}
  for _, path in ipairs(host.list(folder)) do found[path] = true end
  if home and home ~= "" then add_folder(home, folder, found) end
  for path in pairs(found) do names[#names + 1] = path end
  table.sort(names)
  return names
end

return shipped
