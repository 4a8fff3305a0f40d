-- scratch: a folder for a target's files, removed when its state is closed. scratch() -> path.
local fs = require "apsis.fs"

local kept = {}

return function()
  local dir = assert(fs.realpath(assert(fs.tempdir "apsis-fuzz-")))
  kept[#kept + 1] = setmetatable({}, { __gc = function() fs.remove_tree(dir) end })
  return dir
end
