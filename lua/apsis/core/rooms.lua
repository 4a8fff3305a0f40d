-- rooms: finds what a feature room adds. A room is a folder lua/apsis/ROOM; its commands are the files
-- ROOM/commands/NAME.lua, and ROOM/room.lua returns its hooks, functions by name. The core and the command line ask for
-- hooks by name and never name a room, so that a room can be removed whole. lua/apsis/core/DETAILS.md lists the hooks.
local shipped = require "apsis.core.shipped"

local rooms = {}

local listed

local function files()
  listed = listed or shipped.list "lua/apsis/"
  return listed
end

-- The modules in a folder of that name in any room, by name: of "commands" { run = "apsis.cli.commands.run", ... }.
-- So a command, a provider kind, an executor or a world of the lab is one file, and no list names it.
function rooms.modules(folder)
  local modules, pattern = {}, ("^lua/apsis/([%%w_]+)/%s/([%%w_]+)%%.lua$"):format(folder)
  for _, path in ipairs(files()) do
    local room, name = path:match(pattern)
    if room then modules[name] = ("apsis.%s.%s.%s"):format(room, folder, name) end
  end
  return modules
end

-- The module of each command, by the command's name.
function rooms.commands() return rooms.modules "commands" end

local registered -- { { name, hooks } ... } in the order of the rooms' names, read at first use

local function all()
  if registered then return registered end
  registered = {}
  for _, path in ipairs(files()) do
    local room = path:match "^lua/apsis/([%w_]+)/room%.lua$"
    if room then registered[#registered + 1] = require("apsis." .. room .. ".room") end
  end
  return registered
end

-- Every room's function for a hook, in the order of the rooms' names: for _, build in rooms.each "engine" do ... end.
function rooms.each(hook)
  local found = {}
  for _, room in ipairs(all()) do found[#found + 1] = room[hook] end
  return ipairs(found)
end

-- Whether a room has a function for a hook.
function rooms.has(hook)
  for _, room in ipairs(all()) do
    if room[hook] then return true end
  end
  return false
end

-- Calls every room's function for a hook. Stops at the first that returns a first value that is not nil, and returns
-- what it returned.
function rooms.first(hook, ...)
  for _, answer in rooms.each(hook) do
    local given = table.pack(answer(...))
    if given[1] ~= nil then return table.unpack(given, 1, given.n) end
  end
end

-- Calls every room's function for a hook.
function rooms.call(hook, ...)
  for _, visit in rooms.each(hook) do visit(...) end
end

return rooms
