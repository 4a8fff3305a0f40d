---@meta apsis.options
-- The rules of a strategy's options, as data, for its check(options).

local options = {}

---@class apsis.options.Rule
---@field integer? boolean a whole number
---@field least? number
---@field most? number
---@field one_of? string[] one of these words
---@field names? boolean a list without holes of different texts, none empty

--- The first error ("option islands must be 1 or more, not 0"), by name in the order of names; nil if there is none.
---@param values table<string, any> the options; their types were checked against the declared defaults before
---@param rules table<string, apsis.options.Rule>
---@return string?
function options.problem(values, rules) end

return options
