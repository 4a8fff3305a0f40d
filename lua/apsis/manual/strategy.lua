-- strategy: the page of the strategy contract, which lua/meta/run.lua writes down.
local contract = require "apsis.core.strategy"
local module = require "apsis.manual.module"

return function()
  local self = module("run", "apsis-strategy", 7, "")
  self.summary = "the Lua file that decides what to try, what to keep and when to stop"
  self.blocks[1] = { kind = "text", value = "A strategy is a Lua file that returns a table of hooks and options. For "
    .. "each hook it leaves out, hillclimb's is used. Its name or path stands in the manifest (`strategy:`) or after "
    .. "`--strategy`. "
    .. ("Shipped: %s. "):format(table.concat(contract.shipped(), ", "))
    .. "`apsis strategies NAME` prints one to copy, and `apsis init --strategy mine.lua` begins one with a test. For "
    .. "completion in an editor, the setting workspace.library of the Lua language server names the folder "
    .. "share/apsis/meta of the installation." }
  return self
end
