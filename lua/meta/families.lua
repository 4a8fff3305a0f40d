---@meta apsis.families
-- Islands and features that have names, of which a model says where its version belongs, in `ASI name=NAME` lines.

local families = {}

---@param names string[]
---@param wanted any
---@return boolean
function families.has(names, wanted) end

--- What is asked of a model; "" if nothing has names.
---@param island_names string[]
---@param features {name: string, values: string[]?}[]
---@return string
function families.asked(island_names, features) end

--- What an answer answer (its notes), as { island, named }; nil and why it is refused. An island may be left out, a
--- feature with names may not.
---@param answer table<string, any>
---@param island_names string[]
---@param features {name: string, values: string[]?}[]
---@return {island: string?, named: table<string, string>?}?
---@return string? refused
function families.placed(answer, island_names, features) end

return families
