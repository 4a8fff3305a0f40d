---@meta apsis.fronts
-- For each item (a test case) the best value and the members that reach it: a Pareto front by items, as GEPA keeps it
-- (Agrawal et al., GEPA: Reflective Prompt Evolution Can Outperform Reinforcement Learning, 2025; the rules are those
-- of github.com/gepa-ai/gepa).

local fronts = {}

---@class apsis.Fronts
local held = {}

--- Fronts without a member. metric: compares the values.
---@param metric apsis.direction.Metric
---@return apsis.Fronts
function fronts.new(metric) end

--- Adds a member with its value of each item; it is on the front of each item for which nobody is better.
---@param id string
---@param values table<string, number>
function held:add(id, values) end

--- The mean of a member's values; nil for an unknown one.
---@param id string
---@return number?
function held:mean(id) end

--- The members that are needed to reach the best of every item, sorted by id, and on how many items' fronts each is.
--- From the worst mean on, a member is left out if on each of its fronts somebody else is left; of equal means the one
--- that is met first, going through the items in the order in which they came.
---@return string[] ids
---@return integer[] sizes
function held:needed() end

return fronts
