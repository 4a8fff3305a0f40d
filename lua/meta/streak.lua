---@meta apsis.streak
-- How many candidates in a row were not kept, and which overrides a streak of them has had. A fold over lines.

local streak = {}

---@class apsis.streak.Streak
---@field length integer
---@field since integer the experiment of the last kept candidate; 0: none
---@field overridden table<integer, boolean>

---@return apsis.streak.Streak
function streak.new() end

--- Counts a line. Lines of a failed provider or strategy, measurements and questions neither end nor lengthen it. The
--- line's notes.override, { at, since }, marks the override as made.
---@param self apsis.streak.Streak
---@param line apsis.Candidate
function streak.count(self, line) end

--- The length at which an override is due: `first`, then `every` and its multiples. nil if none is, if this streak has
--- had it, or if one of the pending proposals is it.
---@param self apsis.streak.Streak
---@param pending apsis.Proposal[]
---@param first integer
---@param every integer
---@return integer?
function streak.due(self, pending, first, every) end

return streak
