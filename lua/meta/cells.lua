---@meta apsis.cells
-- apsis.cells: numbers into the bins of apsis.archive's grid, in C because it is done for every candidate. Strategies use apsis.archive.

local cells = {}

--- A function from features to the key of their cell: the sum of bin * stride, where a bin is counted from 1 and 0 stands for a feature
--- that is missing or not finite. It gives nil where a number is outside its axis's range, and where a value is not in its index. The
--- axes are read once. Raises where the list is none.
---@param axes {name: string, bins: integer, stride: integer, index: table<string, integer>?, low: number?, high: number?, scale: number?}[]
---@return fun(features: table<string, number|string>?): integer?
function cells.finder(axes) end

return cells
