---@meta apsis.families
-- Islands and features with names; a model chooses among them in `ASI name=NAME` lines.

local families = {}

--- The names of islands and, by name, what each is, from an option: "NAME", "NAME: what it is" or { NAME = what it is }.
--- nil and what is wrong.
---@param given (string|table<string, string>)[]
---@return string[]?
---@return table<string, string>|string
function families.islands(given) end

--- A name with what is known about it: "greedy (takes the best step)".
---@param name string
---@param about table<string, string>
---@return string
function families.named(name, about) end

---@param names string[]
---@param wanted any
---@return boolean
function families.has(names, wanted) end

--- The request to a model; "" if nothing has names.
---@param island_names string[]
---@param features {name: string, values: string[]?}[]
---@return string
function families.asked(island_names, features) end

--- { island, named } from an answer's notes; nil and why it is refused. The island is optional, a feature with names
--- is not.
---@param answer table<string, any>
---@param island_names string[]
---@param features {name: string, values: string[]?}[]
---@return {island: string?, named: table<string, string>?}?
---@return string? refused
function families.placed(answer, island_names, features) end

return families
