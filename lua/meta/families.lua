---@meta apsis.families
-- Islands and features with names; a model chooses among them in `ASI name=NAME` lines.

local families = {}

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
