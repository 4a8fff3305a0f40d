---@meta apsis.stats
-- Small statistics over lists of numbers. Which value is better is direction's business, not this module's.

local stats = {}

--- nil for an empty list.
---@param list number[]
---@return number?
function stats.mean(list) end

--- The middle value, or the mean of the two middle ones; nil for an empty list. The list is not changed.
---@param list number[]
---@return number?
function stats.median(list) end

--- nil for an empty list.
---@param list number[]
---@return number?
function stats.min(list) end

--- nil for an empty list.
---@param list number[]
---@return number?
function stats.max(list) end

--- 0 for an empty list.
---@param list number[]
---@return number
function stats.sum(list) end

--- Sample standard deviation (n - 1); nil below two values.
---@param list number[]
---@return number?
function stats.sd(list) end

return stats
