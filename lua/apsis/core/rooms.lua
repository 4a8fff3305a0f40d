-- rooms: finds what a feature room adds. A room is a folder lua/apsis/ROOM; its commands are the files ROOM/commands/NAME.lua, and
-- ROOM/room.lua returns its hooks, functions by name. The core and the command line ask for hooks by name and never name a
-- room, so that a room can be removed whole. lua/apsis/core/README.md lists the hooks.
local host = require "apsis.host"

local rooms = {}

-- The module of each command, by the command's name: { run = "apsis.cli.commands.run", ... }.
function rooms.commands()
  local modules = {}
  for _, path in ipairs(host.list "lua/apsis/") do
    local room, name = path:match "^lua/apsis/([%w_]+)/commands/([%w_]+)%.lua$"
    if room then modules[name] = ("apsis.%s.commands.%s"):format(room, name) end
  end
  return modules
end

local registered -- { { name, hooks } ... } in the order of the rooms' names, read at first use

local function all()
  if registered then return registered end
  registered = {}
  for _, path in ipairs(host.list "lua/apsis/") do
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

-- Calls every room's function for a hook. Stops at the first that returns a first value that is not nil, and returns what it
-- returned.
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
