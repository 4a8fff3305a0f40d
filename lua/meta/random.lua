---@meta apsis.random
-- Keyed random streams: xoshiro256** (Blackman and Vigna, 2018) seeded by splitmix64 over an FNV-1a hash of the key.
-- The same key gives the same stream on every machine. In a strategy, run.rng is the stream of (seed, experiment,
-- hook).

local random = {}

---@class apsis.random.Stream
local stream = {}

--- The stream of a key of strings and integers. Each part is converted by tostring, so that 1 and "1" are one key and 1
--- and 1.0 are two; the key ends at the first nil. Raises if a part's __tostring returns no string.
---@param ... string|integer
---@return apsis.random.Stream
function random.stream(...) end

--- A float in [0, 1), 53 bits.
---@return number
function stream:random() end

--- An integer in [low, high]; bias at most (high - low) / 2^64. Raises unless both are integers and low <= high.
---@param low integer
---@param high integer
---@return integer
function stream:integer(low, high) end

--- A normal deviate, mean 0, standard deviation 1 (polar method).
---@return number
function stream:normal() end

--- One element of a non-empty list; with weights (same length, not negative, not all zero) in proportion to them.
--- Raises on an empty list, a weight that is not a number, or only zero weights.
---@generic T
---@param list T[]
---@param weights? number[]
---@return T
function stream:choice(list, weights) end

--- Shuffles a list in place (Fisher and Yates) and returns it.
---@generic T
---@param list T[]
---@return T[]
function stream:shuffle(list) end

return random
