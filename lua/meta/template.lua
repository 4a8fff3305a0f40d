---@meta apsis.template
-- Texts with places to fill in: `{{name}}` stands for a field, `{{#name}} ... {{/name}}` is left out where the field is "".
-- What is filled in is not read again.

local template = {}

--- The text with its fields filled in; nil and "WHERE:LINE: what is wrong" for a field there is not, or a section left open.
---@param text string
---@param fields table<string, string>
---@param where? string names the template in messages
---@return string?
---@return string? message
function template.render(text, fields, where) end

return template
