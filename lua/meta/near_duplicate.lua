---@meta apsis.near_duplicate
-- Near-duplicate rejection, for a strategy's select.

local near_duplicate = {}

--- Why an edited parent is rejected: its similarity (0 to 1) to the most similar known program, or to the parent itself,
--- is at least the limit. nil if it is not, and for limit 0.
---@param parent apsis.Candidate
---@param edits table<string, string|false> the new text of a file; false takes it away
---@param known {id: string, sketch: string}[]
---@param limit number
---@return string? reason
---@return string? id of that program
function near_duplicate.refusal(parent, edits, known, limit) end

return near_duplicate
