-- provider/lua: a Lua file of the project that returns function(proposal, workspace) -> edits. lua/script.lua calls it.
local nodes = require "apsis.project.node"

local kind = { place = 10, doc = "a Lua function", counts = true, shown_by = { "use" }, needs = { "use" },
  takes = {} }

kind.keys = {
  { "use", nodes.node("path", "lua: a file returning function(proposal, workspace) -> edits", {
    pattern = "%.lua$", pattern_text = "a path ending in .lua",
  }) },
}

function kind.open(world, spec) return require("apsis.live.provider.lua.script").open(world, spec) end

return kind
