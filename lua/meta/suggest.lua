---@meta apsis.suggest
-- The nearest known name to a mistyped one (edit distance with transpositions), for error messages.

local suggest = {}

--- The nearest of `known`, or nil.
---@param name string
---@param known string[]
---@return string?
function suggest.nearest(name, known) end

--- `; did you mean "x"?`, or "".
---@param name string
---@param known string[]
---@return string
function suggest.sentence(name, known) end

--- The keys of a map, sorted.
---@param map table<string, any>
---@return string[]
function suggest.names(map) end

return suggest
