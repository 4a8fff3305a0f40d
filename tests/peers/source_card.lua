-- source_card: what apsis is to be made of.
local cases = require "cases"
local fs = require "apsis.fs"
local git = require "apsis.git"
local host = require "apsis.host"

assert(git.open "../.."):close() -- loads libgit2
local loaded = assert(fs.read "/proc/self/maps")

cases.one("190", "the runtime is C", function() return fs.stat "../../runtime/host/main.c" ~= nil end, true)
cases.one("191", "it runs Lua 5.4", function() return _VERSION end, "Lua 5.4")
cases.group("a library in the running program", function(name) return loaded:find("/" .. name, 1, true) ~= nil end, {
  { "192", "libyaml", true }, { "193", "libcjson", true }, { "194", "libgit2", true }, { "195", "libpcre2-8", true },
})

cases.one("196", "the top level", function()
  local missing = {}
  for _, name in ipairs { "Makefile", "runtime", "lua", "strategies", "examples", "tests", "README.md" } do
    if not fs.stat("../../" .. name) then missing[#missing + 1] = name end
  end
  return missing
end, {})

cases.group("a primitive for Lua", function(name) return type(require("apsis." .. name)) end, {
  { "197", "git", "table" }, { "197b", "process", "table" }, { "197c", "metric", "table" }, { "197d", "state", "table" },
})

cases.group("a strategy is shipped", function(name)
  for _, path in ipairs(host.list "strategies/") do if path == "strategies/" .. name .. ".lua" then return true end end
  return false
end, { { "198", "hillclimb", true }, { "198b", "openevolve", true } })

cases.held {
  { "199", "planning, acceptance and halting are a strategy's", "lua/contract.lua",
    "an empty strategy climbs: it keeps what is better and stops when the budget is used" },
  { "200", "whoever compares two values knows the direction", "../.ci/check", "only direction.lua compares two metric values" },
}

cases.done "card"
