-- source_card: what apsis is to be made of.
local cases = require "cases"
local fs = require "apsis.fs"
local host = require "apsis.host"

-- Whether a file of the repository has these words.
local function has(given)
  local text = assert(fs.read("../../" .. given[1]))
  return text:find(given[2], 1, true) ~= nil
end

cases.group("the runtime is built with", has, {
  { "190", { "Makefile", "-std=c11" }, true, name = "C" }, { "191", { "Makefile", "lua5.4" }, true, name = "Lua 5.4" },
  { "192", { "Makefile", "yaml-0.1" }, true, name = "libyaml" }, { "193", { "Makefile", "libcjson" }, true, name = "cJSON" },
  { "194", { "Makefile", "libgit2" }, true, name = "libgit2" }, { "195", { "Makefile", "libpcre2-8" }, true, name = "PCRE2" },
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
