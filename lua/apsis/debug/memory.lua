-- memory: what a strategy remembers as a flat map from a path to a text, so that two moments can be compared. Changes
-- nothing.
local legible = require "apsis.core.legible"
local sandbox = require "apsis.core.sandbox"

local memory = {}

local MOST <const> = 20000 -- values; of a larger memory the rest is not compared

local function step(path, key)
  if type(key) == "string" and key:find "^[%a_][%w_]*$" then return path == "" and key or path .. "." .. key end
  local kind = type(key)
  return ("%s[%s]"):format(path, kind == "string" and ("%q"):format(key):gsub("\\\n", "\\n")
    or (kind == "number" or kind == "boolean") and tostring(key) or kind)
end

-- Whether a table is a candidate or a line, which one text shows.
local function is_record(value)
  return getmetatable(value) ~= nil and rawget(value, "experiment") ~= nil
end

local function text_of(value)
  if type(value) == "string" then return (("%q"):format(value):gsub("\\\n", "\\n")) end
  return legible(value)
end

local function add(into, path, value, above)
  if into.count >= MOST then return end
  if type(value) ~= "table" or is_record(value) or above[value] then
    into.count, into.texts[path] = into.count + 1, above[value] and "a table above" or text_of(value)
    return
  end
  above[value] = true
  local empty = true
  for key, element in next, value do
    empty = false
    add(into, step(path, key), element, above)
  end
  above[value] = nil
  into.texts[path] = empty and "{}" or "{...}"
end

-- The memory of a strategy, or of a part of one: { [path] = text }.
function memory.picture(owner)
  local into = { texts = {}, count = 0 }
  local meta = getmetatable(owner.memory)
  -- Not by pairs, which raises on keys without an order.
  for key, value in next, meta and meta.__index or owner.memory or {} do add(into, step("", key), value, {}) end
  return into.texts
end

local function is_table(text) return text == "{...}" or text == "{}" end

-- Whether the values within a table show what has changed of it.
local function is_shown_within(text, other)
  return is_table(text) and is_table(other) or text == "{...}" and other == nil
end

-- What differs between two pictures, in order: { { path, before, after }... }; nil: not there.
function memory.changes(before, after)
  local list = {}
  for path, text in sandbox.sorted_pairs(before) do
    local now = after[path]
    if now ~= text and not is_shown_within(text, now) then
      list[#list + 1] = { path = path, before = text, after = now }
    end
  end
  for path, text in sandbox.sorted_pairs(after) do
    if before[path] == nil and not is_shown_within(text) then list[#list + 1] = { path = path, after = text } end
  end
  table.sort(list, function(a, b) return a.path < b.path end)
  return list
end

return memory
