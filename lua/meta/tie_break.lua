---@meta apsis.tie_break
-- The tie-break by changed lines, for a strategy's accept.

local tie_break = {}

--- Whether a candidate that ties with the best (`run.metric:tied`) is kept because it has fewer changed lines. Always
--- false unless the manifest's tie_breaker is changed_loc.
---@param run apsis.Run
---@param candidate apsis.Candidate
---@return boolean wins
---@return string? reason
function tie_break.wins(run, candidate) end

return tie_break
