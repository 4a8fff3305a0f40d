-- nearest: which allowed name the user meant, and a user's text made safe for a message. Used by every message about an
-- unknown key or value. apsis.suggest measures likeness.
local suggest = require "apsis.suggest"

local nearest = {}

local function bare(name)
  return (name:lower():gsub("[-_ ]", ""))
end

-- The allowed name most like `given`, or nil. One that begins with the other is likely: `timeout` for `timeout_sec`.
function nearest.name(given, allowed)
  if type(given) ~= "string" or #given > 60 then return nil end
  local text = bare(given)
  for _, name in ipairs(allowed) do
    local other = bare(name)
    local shorter = math.min(#text, #other)
    if shorter >= 3 and text:sub(1, shorter) == other:sub(1, shorter) then return name end
  end
  return suggest.nearest(given, allowed)
end

-- "; did you mean 'direction'?" or "".
function nearest.hint(given, allowed)
  local name = nearest.name(given, allowed)
  return name and ("; did you mean '%s'?"):format(name) or ""
end

-- Text for one line of a message: control characters and bytes that are not UTF-8 are escaped.
function nearest.escape(text)
  local escaped = text:gsub("%c", function(char)
    if char == "\n" then return "\\n" elseif char == "\t" then return "\\t" elseif char == "\r" then return "\\r" end
    return ("\\x%02x"):format(char:byte())
  end)
  if utf8.len(escaped) then return escaped end
  return (escaped:gsub("[\128-\255]", function(char) return ("\\x%02x"):format(char:byte()) end))
end

-- A value for a message: 'text', 12, true, a list, a mapping; long text is cut.
function nearest.show(value)
  if type(value) == "string" then
    local short = #value > 60 and value:sub(1, 57):gsub("[\194-\244][\128-\191]*$", "") .. "..." or value
    return "'" .. nearest.escape(short) .. "'"
  elseif type(value) == "table" then
    return #value > 0 and "a list" or next(value) == nil and "an empty list or mapping" or "a mapping"
  elseif type(value) == "number" or type(value) == "boolean" then
    return tostring(value)
  end
  return "null"
end

return nearest
