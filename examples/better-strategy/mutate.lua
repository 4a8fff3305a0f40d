-- mutate: this example's provider. It returns policy.lua with one or two other settings; it does not know the worlds.
-- A language model could take its place, and change more than numbers.
local LIMITS <const> = { ties = 1, explore = 0.5, back = 0.5, kept = 10 }
local NAMES <const> = { "ties", "explore", "back", "kept" }

return function(_, workspace)
  local text, rng, changes = workspace:read "policy.lua", workspace.rng, {}
  for _ = 1, rng:integer(1, 2) do
    local name = rng:choice(NAMES)
    local value = name == "kept" and rng:integer(1, LIMITS.kept) or rng:integer(0, 20) / 20 * LIMITS[name]
    text = text:gsub("(\n  " .. name .. " = )[%d.]+", ("%%1%g"):format(value))
    changes[#changes + 1] = ("%s = %g"):format(name, value)
  end
  local change = table.concat(changes, ", ")
  return { ["policy.lua"] = text }, { hypothesis = change, description = change }
end
