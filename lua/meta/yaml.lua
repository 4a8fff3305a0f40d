---@meta apsis.yaml
-- apsis.yaml: reads YAML by the 1.2 core schema (https://yaml.org/spec/1.2.2/, chapter 10.3), with the line of
-- every key and item.

---@class apsis.yaml
---@field null userdata the value of null, ~ and an empty value; shared with apsis.json
local yaml = {}

---@class apsis.yaml.Lines
---@field at integer line where the table begins
---@field keys table<string|integer, integer> line of each key or item
---@field order string[] a mapping's keys in file order; empty for a sequence

---The value of the text's only document (an empty one is yaml.null). true|True|TRUE, false|...: booleans; 10, 010,
---0o17, 0x1f: integers (floats if they do not fit 64 bits); 1.5, .5, 1e3, .inf, .nan: floats; on, no, 1:30 and
---everything quoted: strings. Keys are always strings; `<<` is a key like any other. Sequences are marked as json.array
---does. Tags: !!str !!int !!float !!bool !!null !!seq !!map. Aliases are read as copies. Refuses duplicate keys, keys
---that are not scalars, other tags, a second document, more than 100,000 values (aliases counted in full) or 100
---levels, control characters, invalid UTF-8. Skips a byte order mark at the start. Raises on an unknown option.
---@param text string
---@param options? {name?: string} name (default "yaml") for messages
---@return any value
---@return table<table, apsis.yaml.Lines>|string the lines of each table in the value; or the message "EYAML: NAME:LINE:
---...", with NAME:LINE:COLUMN: if the text is no YAML
---@return string? code "EYAML"
function yaml.decode(text, options) end

return yaml
