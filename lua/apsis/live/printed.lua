-- printed: finds a number by name in JSON that a command printed among other output. The last object with the name at
-- its top level counts; else the name must occur once, at any depth. Called by extract.
local direction = require "apsis.direction"
local json = require "apsis.json"

local printed = {}

local LARGEST, MOST = 4194304, 2000 -- bytes read from the end of an output, and objects in them

-- The decoded objects in a text, in order; invalid ones are skipped.
local function objects(text)
  local list, at, tries = {}, 1, 0
  while tries < MOST do
    local from = text:find("{", at, true)
    if not from then break end
    tries = tries + 1
    local whole = text:match("^%b{}", from)
    local value = whole and json.decode(whole)
    if type(value) == "table" then list[#list + 1] = value end
    if not whole then break end -- nothing after it is closed either
    at = type(value) == "table" and from + #whole or from + 1
  end
  return list
end

-- The number at a name, or at a.b: b in a; else nil.
local function at_name(value, name)
  if direction.finite(value[name]) then return value[name] end
  local inside = value
  for part in name:gmatch("[^.]+") do
    inside = type(inside) == "table" and inside[part] or nil
  end
  return direction.finite(inside) and inside or nil
end

-- Adds the numbers at a name anywhere in a value.
local function gather(value, name, found)
  for key, item in pairs(value) do
    if key == name and direction.finite(item) then found[#found + 1] = item
    elseif type(item) == "table" then gather(item, name, found) end
  end
end

-- The number; or nil, and true if the name occurs in several places and never at the top level.
function printed.number(text, name)
  local whole = json.decode(text)
  local list = type(whole) == "table" and #whole == 0 and { whole } or objects(text:sub(-LARGEST))
  for index = #list, 1, -1 do
    local number = at_name(list[index], name)
    if number then return number end
  end
  local found = {}
  for _, value in ipairs(list) do gather(value, name, found) end
  if #found == 1 then return found[1] end
  return nil, #found > 1
end

return printed
