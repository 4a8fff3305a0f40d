---@meta apsis.knowledge
-- What a person wrote down to be tried, and which pieces of it journal lines say were.

local knowledge = {}

--- The pieces given, and the bullets under a heading "Domain knowledge" of a program's text.
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

--- The pieces not marked, each with how a model says that it used it.
---@param list string[]
---@param tried table<integer, boolean>
---@return string[]
function knowledge.untried(list, tried) end

--- Puts what was said at the end of a list unless it is there; the oldest goes if there are more than `most`. "" and
--- what is no text are nothing said.
---@param list string[]
---@param said any
---@param most integer
function knowledge.remember(list, said, most) end

return knowledge
