---@meta apsis.template
-- Texts with fields to fill in: `{{name}}` is a field, `{{#name}} ... {{/name}}` is left out if the field is "".
-- Filled-in text is never parsed again.

local template = {}

--- The text with its fields filled in; nil and "WHERE:LINE: what is wrong" for an unknown field, or an unclosed
--- section.
---@param text string
---@param fields table<string, string>
---@param where? string names the template in messages
---@return string?
---@return string? message
function template.render(text, fields, where) end

--- The fields of a text, each with the line of its first occurrence; nil and "WHERE:LINE: what is wrong" if a section
--- is not closed, or if a field is not among `names` (nil: any is allowed).
---@param text string
---@param names? string[]
---@param where? string names the template in messages
---@return table<string, integer>?
---@return string? message
function template.check(text, names, where) end

return template
