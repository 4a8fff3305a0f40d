---@meta apsis.near_duplicate
-- Near-duplicate rejection, for a strategy's select.

local near_duplicate = {}

--- The text of a program of several files.
---@param sources {path: string, text: string}[]
---@return string
function near_duplicate.program(sources) end

--- The id of the program that an edited one is most like, and the similarity (0 to 1).
---@param sources {path: string, text: string}[] of the parent; they are changed
---@param parent string its id
---@param edits table<string, string|false> the new text of a file; false takes it away
---@param known {id: string, sketch: string}[]
---@return string id
---@return number similarity
function near_duplicate.most_like(sources, parent, edits, known) end

--- What a sketch does not see, of a program: 16 hexadecimal digits. Programs with the same have the same numbers, texts
--- in quotes, True and False, and operators, in the same order; blanks and names may differ.
---@param program string
---@return string
function near_duplicate.marks(program) end

--- Why an edited parent is rejected: of the known programs with the same marks, and the parent if it has them, the most
--- similar has at least the limit's similarity. nil if none has, for limit 0, and for an edit that is no text. Of
--- 1,000 random changes of one constant none is rejected at a limit of 0.99; by similarity alone 600 would be
--- (tests/lua/features.lua).
---@param parent apsis.Candidate
---@param edits table<string, string|table|false> the new text of a file; false takes it away
---@param known {id: string, sketch: string, marks: string}[] without marks it is passed over
---@param limit number
---@return string? reason
---@return string? id of that program
function near_duplicate.refusal(parent, edits, known, limit) end

--- Of the answers to a proposal the one to measure, if none of the known programs is nearly the same: trajectory.choose
--- among those that near_duplicate.refusal lets pass.
---@param parent apsis.Candidate
---@param answers apsis.Answer[]
---@param known { id: string, sketch: string, marks: string }[]
---@param limit number 0: none is refused
---@return integer? index
---@return string? why there is none
---@return string? twin the id of a near duplicate
function near_duplicate.choose(parent, answers, known, limit) end

return near_duplicate
