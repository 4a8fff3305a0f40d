-- ref: names that are valid as one component of a git ref.
local ref = {}

local LONGEST = 100 -- bytes

function ref.fits(name)
  return #name <= LONGEST and name:find "^[A-Za-z0-9_][A-Za-z0-9._-]*$" ~= nil and not name:find("..", 1, true)
    and not name:find "%.lock$" and not name:find "%.$"
end

-- Trims what git refuses, or what would be ugly, at the end of a component.
local function without_end(text)
  local shorter = text:gsub("[.-]+$", ""):gsub("%.lock$", "")
  return shorter == text and text or without_end(shorter)
end

-- A valid name; a valid one stays as it is; "project" if nothing is left.
function ref.of(name)
  if ref.fits(name) then return name end
  local made = without_end(name:gsub("[^A-Za-z0-9._-]+", "-"):gsub("%.%.+", "."):gsub("^[.-]+", ""):sub(1, LONGEST))
  return made ~= "" and made or "project"
end

return ref
