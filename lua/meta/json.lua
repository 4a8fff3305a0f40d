---@meta apsis.json
-- apsis.json: JSON, exactly (RFC 8259). Numbers and NUL survive exactly; invalid UTF-8 becomes U+FFFD.

---@class apsis.json
---@field null userdata the only value for null; prints as "null"; shared with apsis.yaml
local json = {}

---Parses a text. Integers that fit 64 bits become Lua integers, other numbers (and -0) floats; arrays are marked so
---that they stay arrays. Refuses duplicate keys, text after the value, malformed or infinite numbers, control
---characters in strings, comments, a byte order mark, more than 1000 levels.
---@param text string
---@param drop? boolean|table<string, true> true: drops members that are null; a table: also drops the members of the
--- outermost object that it does not name (checks only their syntax, not duplicate keys or infinite numbers)
---@return any value
---@return string? message "EJSON: LINE:COLUMN: ...", columns in bytes from 1
---@return string? code "EJSON"
function json.decode(text, drop) end

---The text of a value. A table with keys 1..n is an array, one with string keys an object, an empty one {}, unless
---json.array marked it. Floats have the shortest of 15 to 17 digits that reads back exactly, whole ones no point.
---Metamethods are ignored. Raises, naming the place ($.a[3].b), on NaN, infinities, functions and other types without a
---JSON form, cycles, mixed or other keys, gaps in an unmarked array, more than 1000 levels; and on an unknown option.
---@param value any
---@param options? {pretty?: boolean, sorted?: boolean} pretty (false): indented; sorted (true): keys in byte order
---@return string text
function json.encode(value, options) end

---Marks a table as an array, by its metatable, and returns it: an empty one becomes [], gaps become null. Raises if the
---table has another metatable.
---@param t? table default a new one
---@return table t
function json.array(t) end

return json
