---@meta apsis.template
-- Texts with places to fill in: `{{name}}` stands for a field, `{{#name}} ... {{/name}}` is left out where the field is
-- "". What is filled in is not read again.

local template = {}

--- The text with its fields filled in; nil and "WHERE:LINE: what is wrong" for a field there is not, or a section left
--- open.
---@param text string
---@param fields table<string, string>
---@param where? string names the template in messages
---@return string?
---@return string? message
function template.render(text, fields, where) end

--- The fields a text names, each with the line of its first place; nil and "WHERE:LINE: what is wrong" where a section
--- is not closed, or where it names a field that is not among `names` (nil: any may be).
---@param text string
---@param names? string[]
---@param where? string names the template in messages
---@return table<string, integer>?
---@return string? message
function template.check(text, names, where) end

return template
