-- printed: JSON that a command printed, as Python's json.dumps writes it too: NaN, the infinities and numbers too large
-- for a double are null. Finds a number by name among other output: the last object with the name at its top level
-- counts; else the name must occur once, at any depth. Called by extract and provider/command.
local direction = require "apsis.direction"
local editline = require "apsis.edit.line"
local json = require "apsis.json"

local printed = {}

local LARGEST, MOST = 4194304, 2000 -- bytes read from the end of an output, and objects in them

local QUOTE = 34
local not_finite = { NaN = true, Infinity = true, ["-Infinity"] = true }

-- The position of the quote that ends the string which begins at `from`; the text's end if there is none.
local function string_end(text, from)
  local at = from + 1
  while true do
    local stop = text:find('["\\]', at)
    if not stop then return #text end
    if text:byte(stop) == QUOTE then return stop end
    at = stop + 2
  end
end

-- A text with null in place of each number that is not finite.
local function with_nulls(text)
  local parts, at = {}, 1
  while true do
    local from, to = text:find('["%w-][%w.+-]*', at)
    if not from then break end
    if text:byte(from) == QUOTE then
      to = string_end(text, from)
      parts[#parts + 1] = text:sub(at, to)
    else
      local token = text:sub(from, to)
      local number = tonumber(token)
      local known = not not_finite[token] and not (number and not direction.finite(number))
      parts[#parts + 1] = text:sub(at, from - 1) .. (known and token or "null")
    end
    at = to + 1
  end
  return table.concat(parts) .. text:sub(at)
end

-- The value of a JSON text; nil and a message if it is none.
function printed.decode(text)
  local value, message = json.decode(text)
  if value == nil then value = json.decode(with_nulls(text)) end
  return value, value == nil and message or nil
end

-- What a JSON pointer (RFC 6901) names in a value.
function printed.pointer(value, path)
  if path == nil or path == "" then return value end
  for token in path:gmatch("/([^/]*)") do
    token = token:gsub("~1", "/"):gsub("~0", "~")
    if type(value) ~= "table" then return nil end
    local index = tonumber(token)
    local array = getmetatable(value) == getmetatable(json.array {})
    value = value[value[token] == nil and index and array and index + 1 or token]
  end
  return value
end

-- The decoded objects in a text, in order; invalid ones are skipped.
local function objects(text)
  local list, at, tries = {}, 1, 0
  while tries < MOST do
    local from = text:find("{", at, true)
    if not from then break end
    tries = tries + 1
    local whole = text:match("^%b{}", from)
    local value = whole and printed.decode(whole)
    if type(value) == "table" then list[#list + 1] = value end
    if not whole then break end -- nothing after it is closed either
    at = type(value) == "table" and from + #whole or from + 1
  end
  return list
end

-- A number, or false for null; nil for anything else.
local function number_or_null(value)
  if value == json.null then return false end
  return direction.finite(value) and value or nil
end

-- The number at a name, or at a.b: b in a; false if there is null; else nil.
local function at_name(value, name)
  local inside = value[name]
  if inside == nil then
    inside = value
    for part in name:gmatch("[^.]+") do
      if type(inside) == "table" then inside = inside[part] else inside = nil end
    end
  end
  return number_or_null(inside)
end

-- Adds the numbers and nulls at a name anywhere in a value, each with what it is in.
local function gather(value, name, found)
  for key, item in pairs(value) do
    local number = number_or_null(item)
    if key == name and number ~= nil then found[#found + 1] = { number, value }
    elseif type(item) == "table" then gather(item, name, found) end
  end
end

-- The number; false for a null that was printed last, whatever was printed before it; or nil, and true if the name
-- occurs in several places and never at the top level. Last: the object that has the number or the null.
function printed.number(text, name)
  local whole = printed.decode(text)
  local list = type(whole) == "table" and #whole == 0 and { whole } or objects(text:sub(-LARGEST))
  for index = #list, 1, -1 do
    local number = at_name(list[index], name)
    if number ~= nil then return number, nil, list[index] end
  end
  local found = {}
  for _, value in ipairs(list) do gather(value, name, found) end
  if #found == 1 then return found[1][1], nil, found[1][2] end
  return nil, #found > 1
end

local REASON_CHARACTERS = 300

-- Why an evaluator gives no number, by an object that it printed: one line; nil if it does not say.
function printed.reason(object)
  if type(object) ~= "table" then return nil end
  for _, key in ipairs { "rejected_reason", "reason", "error", "message" } do
    local text = object[key]
    if type(text) == "string" and text:find "%S" then
      text = editline.trim(text:gsub("[%c%s\127]+", " "):gsub("\xC2[\x80-\x9F]", "?"))
      if not utf8.len(text) then text = text:gsub("[\x80-\xFF]", "?") end
      return text:sub(1, (utf8.offset(text, REASON_CHARACTERS + 1) or 0) - 1)
    end
  end
end

return printed
