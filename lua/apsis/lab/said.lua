-- said: checks the second values of a world's functions (tokens, metrics, items), so that an error names the world's
-- file and not a place in the engine. Called by world.
local direction = require "apsis.direction"
local kind = require "apsis.core.kind"

local said = {
  propose = { keys = { tokens = "number", output_tokens = "number", cost = "number", seconds = "number",
    error = "string", halt = "string" } },
  evaluate = { keys = { seconds = "number", reason = "string", metrics = { map = "number" },
    items = { map = { map = "number" } } } },
  thresholds = { list = "number" },
}

local function not_finite(value, path)
  if type(value) == "number" and not direction.finite(value) then return path .. ": not a finite number" end
  if type(value) ~= "table" then return nil end
  for name, inner in pairs(value) do
    local problem = not_finite(inner, path .. "." .. tostring(name))
    if problem then return problem end
  end
end

-- Raises what is wrong with a value of one of the kinds above; where: the world's file; path: what has it.
function said.check(value, name, where, path)
  if value == nil then return end
  local problem = kind.problem(value, said[name], path) or not_finite(value, path)
  if problem then error(("%s: %s"):format(where, problem), 0) end
end

return said
