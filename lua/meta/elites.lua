---@meta apsis.elites
-- A bounded list of the best members of all islands.

local elites = {}

---@class apsis.Elites
---@field list table[] the members, oldest first
local held = {}

--- An empty list.
---@param metric apsis.direction.Metric
---@param size integer how many it holds
---@return apsis.Elites
function elites.new(metric, size) end

--- Adds a member. If the list is full, the oldest of the worst gives way to one that is no worse; another is not added.
---@param member { id: string, value: number, island: integer }
function held:add(member) end

--- The islands that have members, sorted, and the members of each, oldest first.
---@return integer[] islands
---@return table<integer, table[]> members by island
function held:islands() end

return elites
