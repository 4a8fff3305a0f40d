-- legible: any value as one line of text for people, as run.log writes it: tables with their keys in order, a candidate
-- by its id and value. Knows no world and no journal.
local sandbox = require "apsis.core.sandbox"

local MOST_DEEP, MOST_BYTES <const> = 4, 500

local text_of

-- "c0012 (0.53)": a candidate or a line of the journal; nil for any other table.
local function candidate_text(value)
  if not getmetatable(value) or not rawget(value, "experiment") then return nil end
  if not value.id then return ("experiment %d (%s)"):format(value.experiment, value.outcome or "in flight") end
  return ("%s (%s)"):format(value.id, value.value and ("%.10g"):format(value.value) or "no value")
end

local function key_text(key)
  if type(key) == "string" and key:find "^[%a_][%w_]*$" then return key end
  return ("[%s]"):format(text_of(key, MOST_DEEP))
end

local function table_text(value, depth, outer)
  if depth > MOST_DEEP or outer[value] then return "{...}" end
  outer[value] = true
  local parts, listed = {}, 0
  pcall(function() -- a table with names only may refuse to be asked for 1
    for index, element in ipairs(value) do parts[index], listed = text_of(element, depth + 1, outer), index end
  end)
  local ok = pcall(function()
    for key, element in sandbox.sorted_pairs(value) do
      if not (math.type(key) == "integer" and key >= 1 and key <= listed) then
        parts[#parts + 1] = ("%s = %s"):format(key_text(key), text_of(element, depth + 1, outer))
      end
    end
  end)
  outer[value] = nil
  if not ok then return "{ keys that are neither numbers nor strings }" end
  return #parts == 0 and "{}" or "{ " .. table.concat(parts, ", ") .. " }"
end

function text_of(value, depth, outer)
  local kind = type(value)
  if kind == "string" then return depth > 1 and ("%q"):format(value):gsub("\\\n", "\\n") or value end
  if kind == "number" then return math.type(value) == "integer" and tostring(value) or ("%.10g"):format(value) end
  if kind == "table" then return candidate_text(value) or table_text(value, depth, outer) end
  return kind == "function" and kind or tostring(value)
end

-- A value on one line, cut when it is long. A text is as it is; within tables it is quoted.
return function(value)
  local text = text_of(value, 1, {})
  if type(value) ~= "table" or #text <= MOST_BYTES then return text end
  return text:sub(1, MOST_BYTES):gsub("[\x80-\xFF]+$", "") .. "..."
end
