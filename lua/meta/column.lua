---@meta apsis.column
-- apsis.column: a growing row of 32-bit numbers by index, four bytes each, where a table takes sixteen: what the engine's history has to
-- know of every line of a long journal. Strategies read `run.history`.

local column = {}

---@class apsis.column.Column
local row = {}

--- An empty column. Garbage collection frees it.
---@return apsis.column.Column
function column.new() end

--- A text as a number for a column, never 0 (FNV-1a): what has the same number is very likely the same text.
---@param text string
---@return integer
function column.hash(text) end

--- Sets the number at an index; those between it and the last are not set. Raises on an index below 1 and where 32 bits do not hold value.
---@param index integer from 1
---@param value integer 0 is as if it was never set
function row:set(index, value) end

--- The number at an index; nil where none was set.
---@param index integer
---@return integer?
function row:get(index) end

--- The first index that holds value, by a scan (100,000 numbers: some 20 microseconds); nil where none does.
---@param value integer not 0
---@param after? integer only indices above this one (default 0)
---@return integer?
function row:find(value, after) end

--- The highest index that was set.
---@return integer
function row:count() end

function row:close() end

return column
