-- rooms: what feature rooms add is found by their files, and their hooks are called in order; and shipped, which lists files.
local fs = require "apsis.fs"
local host = require "apsis.host"
local shipped = require "apsis.core.shipped"
local tap = require "tap"
local test, equal = tap.test, tap.equal

-- A new instance of core/rooms.lua over a tree with these files.
local function rooms_of(files, modules)
  local kept = { shipped = package.loaded["apsis.core.shipped"], rooms = package.loaded["apsis.core.rooms"] }
  package.loaded["apsis.core.shipped"] = { list = function() return files end }
  package.loaded["apsis.core.rooms"] = nil
  for name, module in pairs(modules) do package.loaded[name] = module end
  local rooms = require "apsis.core.rooms"
  package.loaded["apsis.core.shipped"], package.loaded["apsis.core.rooms"] = kept.shipped, kept.rooms
  return rooms
end

test("rooms are found by their files, and their hooks are called in order", function()
  local called = {}
  local function hook(name, ...)
    local results = table.pack(...)
    return function(...)
      called[#called + 1] = { name, ... }
      return table.unpack(results, 1, results.n)
    end
  end
  local rooms = rooms_of({ "lua/apsis/xa/commands/go.lua", "lua/apsis/xa/commands/deeper/no.lua", "lua/apsis/xa/room.lua",
    "lua/apsis/xb/room.lua", "lua/apsis/xb/commands/stop.lua", "lua/apsis/xb/other/it.lua", "lua/apsis/xc/deeper/room.lua",
    "lua/apsis/xd/room.lua", "lua/apsis/xe.lua" }, {
    ["apsis.xa.room"] = { both = hook("a", nil, "x"), own = hook "own" }, ["apsis.xb.room"] = { both = hook("b", 1, nil, nil) },
    ["apsis.xd.room"] = { both = hook("d", 2) } })
  equal(rooms.commands(), { go = "apsis.xa.commands.go", stop = "apsis.xb.commands.stop" })
  equal(rooms.modules "other", { it = "apsis.xb.other.it" })
  equal({ rooms.has "both", rooms.has "own", rooms.has "none" }, { true, true, false })
  equal(table.pack(rooms.first("both", 5, nil, 7)), { 1, nil, nil, n = 3 })
  equal(called, { { "a", 5, nil, 7 }, { "b", 5, nil, 7 } })
  equal({ rooms.first "own", rooms.first "none" }, {})
  called = {}
  rooms.call("both", 9)
  equal(called, { { "a", 9 }, { "b", 9 }, { "d", 9 } })
  local count = 0
  for index in rooms.each "both" do count = index end
  equal(count, 3)
end)

test("the files below APSIS_HOME are shipped beside those in the program, however deep; those with a dot are no folders", function()
  local home, inside = assert(fs.tempdir "apsis-test-shipped-"), shipped.list "strategies/"
  for _, name in ipairs { "hillclimb.lua", "mine.lua", "deep/er/one.lua", "other.d/none.lua" } do
    assert(fs.mkdir(home .. "/strategies/" .. (name:match "^(.*)/" or "")))
    assert(fs.write(home .. "/strategies/" .. name, ""))
  end
  local before, expected = os.getenv "APSIS_HOME", table.move(inside, 1, #inside, 1, {})
  for _, name in ipairs { "mine.lua", "deep/er/one.lua", "other.d" } do expected[#expected + 1] = "strategies/" .. name end
  table.sort(expected)
  host.setenv("APSIS_HOME", home)
  local listed = shipped.list "strategies/"
  host.setenv("APSIS_HOME", "")
  local empty = shipped.list "strategies/"
  host.setenv("APSIS_HOME", before)
  equal({ listed, empty }, { expected, inside })
  assert(fs.remove_tree(home))
end)

tap.done()
