---@meta apsis.asking
-- Asks a model for advice after every N programs: a question (a proposal with `ask`, outcome `asked`) whose
-- answer later prompts use. Changed in init and learn only.

local asking = {}

--- Nothing counted yet.
---@param intervals { ideas?: integer, instructions?: integer } after how many programs each is due; 0: never
---@return table asked with `ideas`, the list of the last answer
function asking.new(intervals) end

--- Counts a program that was measured, or crashed.
---@param asked table
function asking.count(asked) end

--- Reads a question's line: of `ideas`, each line of a list becomes one. The kind and the answer (nil if the question
--- failed); nil for another line.
---@param asked table
---@param line apsis.Candidate
---@return string? kind
---@return string? answer
function asking.heard(asked, line) end

--- The proposal that asks what is due: the project, the metric, the newest attempts, and the words of its kind. nil if
--- nothing is due, if a question is in flight, or if the provider has no models.
---@param asked table
---@param run apsis.Run
---@param words table<string, string> what to ask, by kind
---@return apsis.Proposal?
function asking.due(asked, run, words) end

return asking
