-- openevolve_yaml: what PyYAML reads in a config.yaml and YAML 1.2 does not: merge keys (<<), yes, no, on and off as
-- booleans, 1_000 as a number; and ${NAME} in an address. Changes decoded values, reads no file.
local yaml = require "apsis.yaml"

local old = {}

local booleans = { yes = true, on = true, no = false, off = false }

-- The value as in YAML 1.1 if the key is of that kind; else unchanged.
function old.value(kind, value)
  if type(value) ~= "string" then return value end
  if kind == "boolean" then
    local known = booleans[value:lower()]
    if known ~= nil then return known end
  elseif (kind == "integer" or kind == "number") and value:find("^[-+]?%d[%d_]*%.?[%d_]*$") then
    return tonumber((value:gsub("[_+]", ""))) or value
  end
  return value
end

local function is_mapping(value)
  return type(value) == "table" and #value == 0
end

-- The mappings to merge, the first wins; nil if the value is neither a mapping nor a list of them.
local function sources_of(value)
  if is_mapping(value) then return { value } end
  if type(value) ~= "table" then return nil end
  for _, item in ipairs(value) do
    if not is_mapping(item) then return nil end
  end
  return value
end

local function merge(into, from, lines)
  local own, theirs = lines[into], lines[from]
  for _, key in ipairs(theirs and theirs.order or {}) do
    if into[key] == nil then
      into[key] = from[key]
      if own then
        own.keys[key] = theirs.keys[key]
        own.order[#own.order + 1] = key
      end
    end
  end
end

-- Applies the merge keys in a decoded value, in place: own keys win, then earlier sources. Any other `<<` stays, as an
-- unknown key.
function old.merge(value, lines)
  if type(value) ~= "table" or value == yaml.null then return end
  for _, item in pairs(value) do old.merge(item, lines) end
  local sources = value["<<"] ~= nil and sources_of(value["<<"])
  if not sources then return end
  value["<<"] = nil
  local order = lines[value] and lines[value].order or {}
  for index = #order, 1, -1 do
    if order[index] == "<<" then table.remove(order, index) end
  end
  for _, source in ipairs(sources) do merge(value, source, lines) end
end

-- The text with ${NAME} replaced from the environment, and the first name that is not set (nil: none).
function old.interpolate(text)
  local missing
  local made = text:gsub("%${([%w_]+)}", function(name)
    local value = os.getenv(name)
    if not value or value == "" then missing = missing or name end
    return value
  end)
  return made, missing
end

return old
