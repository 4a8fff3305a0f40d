-- lua_provider: what a provider in Lua may see of a project: never a hidden file, by whatever name it has of it.
local fs = require "apsis.fs"
local provider = require "apsis.live.provider.lua"
local scope = require "apsis.live.scope"
local tap = require "tap"
local test, equal, matches = tap.test, tap.equal, tap.matches

local texts = { ["value.txt"] = "1", ["secret/answer.txt"] = "42", ["evaluate.sh"] = "echo" }

-- A world of these files, and a provider of this source; what it proposes for experiment 1.
local function propose(source)
  local dir = assert(fs.tempdir "apsis-test-")
  assert(fs.write(dir .. "/propose.lua", source))
  local record = { id = "c0000", read = function(_, path) return texts[path] end }
  local world = { dir = dir, seed = 1, scope = scope.new { { path = "value.txt", mode = "writable" },
    { path = "secret/**", mode = "hidden" }, { path = "evaluate.sh", mode = "hidden" } } }
  function world.base() return record end
  function world.candidate() return record end
  function world.wanted() return 1 end
  function world.read(_, _, path) return texts[path] end
  function world.files_of() return { "evaluate.sh", "secret/answer.txt", "value.txt" } end
  local opened, message = provider.open(world, { use = "propose.lua" })
  assert(fs.remove_tree(dir))
  return assert(opened, message):propose({ number = 1, proposal = { parents = { "c0000" }, operator = "x" } })[1]
end

test("the workspace does not list hidden files", function()
  equal(propose("return function(_, space) return table.concat(space:list(), ' ') end").text, "value.txt")
end)

test("nor read them, and says so", function()
  local answer = propose [[return function(_, space)
    local text, why = space:read "secret/answer.txt"
    return tostring(text) .. " " .. tostring(why) .. " " .. tostring((space:read "evaluate.sh")) .. " " .. space:read "value.txt"
  end]]
  equal(answer.text, "nil secret/answer.txt is hidden nil 1")
end)

test("nor does a parent", function()
  local answer = propose [[return function(proposal)
    local parent = proposal.parents[1]
    local text, why = parent:read "secret/answer.txt"
    return tostring(text) .. " " .. tostring(why) .. " " .. parent:read "value.txt"
  end]]
  equal(answer.text, "nil secret/answer.txt is hidden 1")
end)

test("a provider that raises is an answer with an error", function()
  matches(propose("return function() error 'boom' end").error, "propose.lua: .*boom")
end)

tap.done()
