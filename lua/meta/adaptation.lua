---@meta apsis.adaptation
-- How hard to search on each island, and which island to go to next: the rules of AdaEvolve (AdaEvolve: Adaptive
-- LLM-Driven Zeroth-Order Optimization, arXiv:2602.20133). An island's signal G fades by 0.9 and rises by 0.1 times the
-- square of each improvement, as a share of the island's best; its intensity is low + (high - low) / (1 + sqrt(G)).
-- Rewards are shares of the best of all islands, and fade, too. Scores are oriented: higher is better.

local adaptation = {}

---@class apsis.Adaptation
local islands = {}

--- No island yet.
---@param low number the least intensity
---@param high number the highest
---@return apsis.Adaptation
function adaptation.new(low, high) end

--- A new island.
---@return integer number
function islands:add() end

--- A program of an island was measured.
---@param number integer
---@param score number
function islands:record(number, score) end

--- A program came to an island from elsewhere: its signal counts, its visit does not.
---@param number integer
---@param score number
function islands:receive(number, score) end

--- The share of explorations on an island.
---@param number integer
---@return number
function islands:intensity(number) end

--- The share of measured programs that improved on their island's best; 1 before the first.
---@return number
function islands:productivity() end

--- The island to go to: one of those with fewer than three visits; else the one with the highest mean reward and
--- 1.41 sqrt(ln(iterations + 1) / visits).
---@param rng apsis.random.Stream
---@param iterations integer
---@return integer number
function islands:choose(rng, iterations) end

return adaptation
