-- strict_json: RFC 8259 once more, in plain Lua, as a second opinion on apsis.json. Slow and short: one pattern a token. Where the RFC
-- leaves a choice it is apsis's: no key twice, at most 1000 levels, U+FFFD for each byte that is no UTF-8 and for half of a surrogate
-- pair, no infinite number. read(text) -> true, value | false.
local json = require "apsis.json"

local DEEPEST = 1000
local escapes = { ['"'] = '"', ["\\"] = "\\", ["/"] = "/", b = "\b", f = "\f", n = "\n", r = "\r", t = "\t" }
local read

local function refuse() error(refuse, 0) end

local function skip(text, at)
  return text:find("[^ \t\r\n]", at) or #text + 1
end

local function mended(text)
  local parts, at = {}, 1
  while true do
    local _, bad = utf8.len(text, at)
    parts[#parts + 1] = text:sub(at, (bad or #text + 1) - 1)
    if not bad then return table.concat(parts) end
    parts[#parts + 1] = "\u{FFFD}"
    at = bad + 1
  end
end

local function escaped(text, at)
  local char = text:sub(at, at)
  if escapes[char] then return escapes[char], at + 1 end
  local unit = tonumber(text:match("^u(%x%x%x%x)", at) or refuse(), 16)
  local low = unit >= 0xD800 and unit < 0xDC00 and tonumber(text:match("^\\u(%x%x%x%x)", at + 5) or "0", 16)
  if low and low >= 0xDC00 and low < 0xE000 then return utf8.char(0x10000 + (unit - 0xD800) * 1024 + low - 0xDC00), at + 11 end
  return utf8.char((unit < 0xD800 or unit > 0xDFFF) and unit or 0xFFFD), at + 5
end

local function read_string(text, at)
  local parts = {}
  while true do
    local plain, stop = text:match('^([^"\\%z\1-\31]*)()', at)
    parts[#parts + 1] = mended(plain)
    local char = text:sub(stop, stop)
    if char == '"' then return table.concat(parts), stop + 1 end
    if char ~= "\\" then refuse() end
    parts[#parts + 1], at = escaped(text, stop + 1)
  end
end

local function read_number(text, at)
  local whole, stop = text:match("^(%-?%d+)()", at)
  if not whole or whole:find "^%-?0%d" then refuse() end
  local fraction, after = text:match("^(%.%d+)()", stop)
  local exponent, last = text:match("^([eE][+-]?%d+)()", after or stop)
  stop = last or after or stop
  if text:find("^[.eE]", stop) then refuse() end
  local value = tonumber(whole .. (fraction or "") .. (exponent or ""))
  if whole == "-0" and value == 0 then value = -0.0 end
  if value == math.huge or value == -math.huge then refuse() end
  return value, stop
end

local function read_array(text, at, depth)
  local list, count = json.array {}, 0
  at = skip(text, at)
  if text:sub(at, at) == "]" then return list, at + 1 end
  while true do
    count = count + 1
    list[count], at = read(text, at, depth)
    at = skip(text, at)
    local char = text:sub(at, at)
    if char == "]" then return list, at + 1 end
    if char ~= "," then refuse() end
    at = at + 1
  end
end

local function read_object(text, at, depth)
  local map = {}
  at = skip(text, at)
  if text:sub(at, at) == "}" then return map, at + 1 end
  while true do
    at = skip(text, at)
    if text:sub(at, at) ~= '"' then refuse() end
    local key
    key, at = read_string(text, at + 1)
    at = skip(text, at)
    if map[key] ~= nil or text:sub(at, at) ~= ":" then refuse() end
    map[key], at = read(text, at + 1, depth)
    at = skip(text, at)
    local char = text:sub(at, at)
    if char == "}" then return map, at + 1 end
    if char ~= "," then refuse() end
    at = at + 1
  end
end

function read(text, at, depth)
  at = skip(text, at)
  local char = text:sub(at, at)
  if char == '"' then return read_string(text, at + 1) end
  if char == "[" or char == "{" then
    if depth >= DEEPEST then refuse() end
    return (char == "[" and read_array or read_object)(text, at + 1, depth + 1)
  end
  if text:find("^true", at) then return true, at + 4 end
  if text:find("^false", at) then return false, at + 5 end
  if text:find("^null", at) then return json.null, at + 4 end
  return read_number(text, at)
end

return function(text)
  local ok, value, at = pcall(read, text, 1, 0)
  if not ok then
    if value ~= refuse then error(value, 0) end
    return false
  end
  if skip(text, at) <= #text then return false end
  return true, value
end
