---@meta apsis.knowledge
-- A user's ideas to try, and which of them journal lines have used.

local knowledge = {}

--- The given pieces, and the bullets under a heading "Domain knowledge" of a program's text.
---@param given string[]
---@param program? string
---@return string[]
function knowledge.list(given, program) end

--- Marks in tried[index] the pieces a line used: by the numbers in notes.knowledge, or by their words in hypothesis or
--- description.
---@param list string[]
---@param tried table<integer, boolean>
---@param line apsis.Candidate
function knowledge.mark(list, tried, line) end

--- The unmarked pieces, each with how a model reports its use.
---@param list string[]
---@param tried table<integer, boolean>
---@return string[]
function knowledge.untried(list, tried) end

--- Appends a text to a list unless it is there; drops the oldest above `most`. Ignores "" and values that are not
--- text.
---@param list string[]
---@param text any
---@param most integer
function knowledge.remember(list, text, most) end

return knowledge
