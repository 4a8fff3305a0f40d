---@meta apsis.json
-- apsis.json: JSON, exactly (RFC 8259). Numbers come back as they were, NUL is kept, invalid UTF-8 becomes U+FFFD.

---@class apsis.json
---@field null userdata the one value that stands for null; prints as "null"; also apsis.yaml's
local json = {}

---The value a text says. Integers that fit 64 bits become Lua integers, other numbers (and -0) floats; arrays are
---marked so that they stay arrays. Refused: duplicate keys, text after the value, malformed or infinite numbers,
---control characters in strings, comments, a byte order mark, more than 1000 levels.
---@param text string
---@param drop? boolean|table<string, true> true: members that are null are left out; a table: so are all members of the
--- outermost object that it does not name (only their syntax is checked: not for keys that stand twice or infinite numbers)
---@return any value
---@return string? message "EJSON: LINE:COLUMN: ...", columns in bytes from 1
---@return string? code "EJSON"
function json.decode(text, drop) end

---The text of a value. A table with keys 1..n is an array, one with string keys an object, an empty one {}, unless
---json.array marked it. Floats are written in the shortest of 15 to 17 digits that comes back exactly, whole ones
---without a point. Metamethods are ignored. Raises, naming the place ($.a[3].b), on NaN, infinities, functions and the
---like, cycles, mixed or other keys, gaps in an array not marked, more than 1000 levels; and on an unknown option.
---@param value any
---@param options? {pretty?: boolean, sorted?: boolean} pretty (false): indented; sorted (true): keys in byte order
---@return string text
function json.encode(value, options) end

---Whether a value is a text, a boolean, a finite number, or a map with texts as keys of such, at most eight levels deep and
---without metatables: one that encode takes for sure. It takes others too; this is for asking cheaply first.
---@param value any
---@return boolean
function json.plain(value) end

---Marks a table as an array, by its metatable, and returns it: empty it is [], its gaps are null. Raises where the
---table has another metatable.
---@param t? table default a new one
---@return table t
function json.array(t) end

return json
