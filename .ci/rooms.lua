-- rooms: the tree as rooms and arrows. `apsis exec .ci/rooms.lua` prints every arrow that runs upward and every circle,
-- and exits 1 if there is one; `... picture` prints rooms, lines and arrows; `... dot c|lua` prints them for graphviz.
local fs = require "apsis.fs"

-- Rooms from the bottom up. A file may include or require its own room and the rooms of lower rows. FEATURES is the row
-- of all rooms of lua/apsis that are not named here.
local FEATURES = 7
local order = {
  c = { "base", "wait terminal standby codec metric random state git cage", "proc http server worktree", "host" },
  lua = { "library", "core", "project", "live", "view", "cli", "", "strategies" },
}
-- Doors: public names in the library that open a feature room.
local doors = { ["lua/apsis/acceptance.lua"] = true, ["lua/apsis/fitness.lua"] = true }

-- Folders that hold the parts of a library module.
local parts = { archive = true, edit = true, prompt = true, stats = true }

local function room_of(path)
  if path:find "^runtime/" then return path:match "^runtime/([^/]+)/" or "-" end
  if path:find "^strategies/" then return "strategies" end
  local room = path:match "^lua/apsis/([^/]+)/" or "library"
  return parts[room] and "library" or room
end

local function files(pattern)
  local list, pipe = {}, assert(io.popen("find " .. pattern .. " | LC_ALL=C sort"))
  for path in pipe:lines() do list[#list + 1] = path end
  pipe:close()
  return list
end

-- The files that a file names: includes in C, requires with a literal name in Lua.
local function named(path, text)
  local list = {}
  if path:find "%.[ch]$" then
    for header in text:gmatch '#%s*include%s*"([^"]+)"' do list[#list + 1] = "runtime/" .. header end
    return list
  end
  for module in text:gmatch 'require%s*%(?%s*"apsis%.([%w_.]+)"' do
    local file = "lua/apsis/" .. module:gsub("%.", "/") .. ".lua"
    if fs.stat(file) then list[#list + 1] = file end
  end
  return list
end

local function survey(kind)
  local house = { kind = kind, rooms = {}, arrows = {}, upward = {} }
  local level = kind == "lua" and setmetatable({}, { __index = function() return FEATURES end }) or {}
  for row, names in ipairs(order[kind]) do
    for name in names:gmatch "%S+" do level[name] = row end
  end
  local find = kind == "c" and "runtime -name '*.[ch]'" or "lua/apsis strategies -name '*.lua'"
  for _, path in ipairs(files(find)) do
    local text, from = assert(fs.read(path)), room_of(path)
    local room = house.rooms[from] or { files = 0, lines = 0 }
    house.rooms[from] = room
    room.files, room.lines = room.files + 1, room.lines + select(2, text:gsub("\n", "\n"))
    for _, other in ipairs(named(path, text)) do
      local to = room_of(other)
      if to ~= from and not doors[path] then
        local arrow = from .. " -> " .. to
        house.arrows[arrow] = (house.arrows[arrow] or 0) + 1
        if (level[to] or 99) >= (level[from] or 0) then house.upward[#house.upward + 1] = path .. " -> " .. other end
      end
    end
  end
  return house
end

local function sorted(map)
  local keys = {}
  for key in pairs(map) do keys[#keys + 1] = key end
  table.sort(keys)
  return keys
end

-- What a file names, by file. In C a header and its source are one: x.h is where others call x.c.
local function names_of(kind)
  local find = kind == "c" and "runtime -name '*.[ch]'" or "lua/apsis strategies -name '*.lua'"
  local list, names = files(find), {}
  local function unit(path) return kind == "c" and path:gsub("%.[ch]$", "") or path end
  for index, path in ipairs(list) do
    local of = unit(path)
    list[index], names[of] = of, names[of] or {}
    for _, other in ipairs(named(path, assert(fs.read(path)))) do table.insert(names[of], unit(other)) end
  end
  return list, names
end

-- Circles among files, each as the path that closes it.
local function circles(kind)
  local list, names = names_of(kind)
  local mark, found, trail = {}, {}, {}
  local function visit(of)
    if mark[of] == "done" or not names[of] then return end
    trail[#trail + 1] = of
    if mark[of] then
      found[#found + 1] = table.concat(trail, " -> ")
    else
      mark[of] = "open"
      for _, other in ipairs(names[of]) do
        if other ~= of then visit(other) end
      end
      mark[of] = "done"
    end
    trail[#trail] = nil
  end
  for _, of in ipairs(list) do visit(of) end
  return found
end

local function picture(house)
  local lines = 0
  for _, name in ipairs(sorted(house.rooms)) do
    local room = house.rooms[name]
    lines = lines + room.lines
    print(("%-12s %4d files %6d lines"):format(name, room.files, room.lines))
  end
  print(("%d rooms, %d arrows between them, %d upward, %d lines"):format(#sorted(house.rooms), #sorted(house.arrows),
    #house.upward, lines))
  for _, arrow in ipairs(sorted(house.arrows)) do print(("  %-28s %d"):format(arrow, house.arrows[arrow])) end
end

local function dot(house)
  print "digraph rooms { rankdir=BT; node [shape=box, fontname=Helvetica];"
  for _, name in ipairs(sorted(house.rooms)) do
    local room = house.rooms[name]
    print(('"%s" [label="%s\\n%d files, %d lines"];'):format(name, name, room.files, room.lines))
  end
  for _, arrow in ipairs(sorted(house.arrows)) do
    print(('"%s" -> "%s" [label="%d"];'):format(arrow:match "^(%S+)", arrow:match "(%S+)$", house.arrows[arrow]))
  end
  print "}"
end

local mode, which = ...
if mode == "dot" then
  dot(survey(which or "lua"))
  return
end
local wrong = 0
for _, kind in ipairs { "c", "lua" } do
  local house = survey(kind)
  if mode == "picture" then picture(house) end
  for _, arrow in ipairs(house.upward) do print(kind .. ": not below it: " .. arrow) end
  local closed = circles(kind)
  for _, circle in ipairs(closed) do print(kind .. ": circle: " .. circle) end
  wrong = wrong + #house.upward + #closed
end
if wrong > 0 and mode ~= "picture" then os.exit(1) end
