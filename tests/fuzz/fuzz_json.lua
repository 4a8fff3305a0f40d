-- fuzz_json: whatever the bytes, decode answers or refuses, and strict_json says the same of them; what it answers is written as JSON
-- that reads back as the same text, and leaving out members is what it says.
local json = require "apsis.json"
local strict = require "strict_json"

debug.sethook() -- of apsis only C runs here

local function same(a, b)
  if type(a) ~= "table" or type(b) ~= "table" then
    return math.type(a) == math.type(b) and a == b and (a ~= 0 or 1 / a == 1 / b)
  end
  if getmetatable(a) ~= getmetatable(b) then return false end
  for key, item in pairs(a) do
    if not same(item, b[key]) then return false end
  end
  for key in pairs(b) do
    if a[key] == nil then return false end
  end
  return true
end

local is_array = getmetatable(json.array {})

-- Without the members that are null; of the outer object's, the wanted ones alone.
local function without(value, wanted)
  if type(value) ~= "table" then return value end
  local array = getmetatable(value) == is_array
  local copy = array and json.array {} or {}
  for key, item in pairs(value) do
    if array or item ~= json.null and (not wanted or wanted[key]) then copy[key] = without(item) end
  end
  return copy
end

return function(text)
  local value, message, code = json.decode(text)
  local accepted, other = strict(text)
  if value == nil then
    assert(code == "EJSON" and message:find "^EJSON: %d+:%d+: ")
    assert(not accepted, "strict_json accepts it")
    return
  end
  assert(accepted, "strict_json refuses it")
  assert(same(value, other), "strict_json reads another value")
  local once = json.encode(value)
  assert(json.encode(json.decode(once)) == once)
  assert(json.encode(json.decode(json.encode(value, { pretty = true }))) == once)
  local sorted = json.encode(value, { sorted = true })
  assert(json.encode(json.decode(sorted), { sorted = true }) == sorted and #sorted == #once)
  assert(same(json.decode(text, true), without(value)))
  local first = type(value) == "table" and getmetatable(value) ~= is_array and next(value)
  if first then
    local wanted = { [first] = true }
    assert(same(json.decode(text, wanted), without(value, wanted)))
  end
end
