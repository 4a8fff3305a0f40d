---@meta apsis.populations
-- The bounded populations of islands, and how a parent is drawn from one, as AdaEvolve does without its archives.

local populations = {}

---@class apsis.Populations
---@field islands table[][] the members { id, value } of each island
local held = {}

--- No island yet.
---@param metric apsis.direction.Metric
---@param size integer how many members an island keeps
---@return apsis.Populations
function populations.new(metric, size) end

--- Adds an empty island.
---@return integer number
function held:add() end

--- A member enters an island, which keeps the best.
---@param number integer
---@param member { id: string, value: number }
---@return boolean entered false if it is there already
function held:enter(number, member) end

--- The best members of all islands, each once, best first.
---@param count integer
---@param except? string an id to leave out
---@return table[]
function held:best(count, except) end

--- The best member of each island.
---@return table[]
function held:leaders() end

--- A parent, and how it was drawn: "exploration" (with a probability of the intensity): any member; "exploitation" (7
--- of 10 others): one of the best quarter; "balanced": in proportion to its value, at least 0.001, which suits metrics
--- where higher is better and values are positive: else it is any member.
---@param rng apsis.random.Stream
---@param number integer the island
---@param intensity number
---@return table member
---@return string mode
function held:draw(rng, number, intensity) end

return populations
