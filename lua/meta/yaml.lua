---@meta apsis.yaml
-- apsis.yaml: reads YAML by the 1.2 core schema (https://yaml.org/spec/1.2.2/, chapter 10.3), with the line of
-- everything.

---@class apsis.yaml
---@field null userdata what null, ~ and an empty value become; the same as apsis.json's
local yaml = {}

---@class apsis.yaml.Lines
---@field at integer line where the table begins
---@field keys table<string|integer, integer> line of each key or item
---@field order string[] a mapping's keys as the file has them; empty for a sequence

---The value of a text's one document (an empty one is yaml.null). true|True|TRUE, false|...: booleans; 10, 010, 0o17,
---0x1f: integers (floats where they do not fit 64 bits); 1.5, .5, 1e3, .inf, .nan: floats; on, no, 1:30 and all that is
---quoted: strings. Keys are their text, always strings; `<<` is a key like any other. Sequences are marked as
---json.array does. Tags: !!str !!int !!float !!bool !!null !!seq !!map. Aliases are read as copies. Refused: duplicate
---keys, keys that are no scalars, other tags, a second document, more than 100,000 values (aliases counted in full) or
---100 levels, control characters, invalid UTF-8. Raises on an unknown option.
---@param text string
---@param options? {name?: string} name (default "yaml") stands in messages
---@return any value
---@return table<table, apsis.yaml.Lines>|string lines of each table in it; or the message "EYAML: NAME:LINE: ..."
---@return string? code "EYAML"
function yaml.decode(text, options) end

return yaml
