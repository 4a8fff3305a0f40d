---@meta apsis.crowd
-- apsis.crowd: the population under apsis.archive: who stands where, who is best, who must go. It knows numbers only. A slot is a small
-- number from 1 on, given away again after eviction; a score is oriented (higher is better), nil is none; a key stands for a cell; island
-- 0 is everyone. Of equal scores the most recent stands first; those without a score stand last. What it costs is O(log n). Raises where
-- a slot, an island or a score is none, and where memory is out. Strategies use apsis.archive.

---@class apsis.crowd
local crowd = {}

---@class apsis.crowd.Crowd
local held = {}

---@param population integer the bound
---@param elites integer how many of the best are never evicted
---@return apsis.crowd.Crowd
function crowd.new(population, elites) end

---Adds an island. nil, message, "EISLAND" where there are 62.
---@return integer? number
---@return string? message
---@return string? code
function held:island() end

---Takes one in.
---@param island integer
---@param score number?
---@param key integer
---@return integer slot
---@return integer excess how many there are above the bound
function held:add(island, score, key) end

---Above the bound: the worst of the most crowded place that is neither elite nor the best of a place goes. nil where nobody may go.
---@return integer? slot
---@return integer? island where it was added
---@return integer? key
function held:evict() end

---Puts one on one more island; false where it stands there.
---@param slot integer
---@param island integer
---@return boolean
function held:copy(slot, island) end

---Everybody is filed anew.
---@param keys integer[] by slot; of a free slot it does not matter
function held:refile(keys) end

---@param slot integer
---@return integer
function held:key(slot) end

---The islands on which one stands, in order.
---@param slot integer
---@return integer[]
function held:islands(slot) end

---@param island integer
---@return integer all
---@return integer scored
function held:count(island) end

---The best there; nil where nobody has a score.
---@param island integer
---@return integer? slot
function held:best(island) end

---The island where fewest are, of equals the first; nil where there is none.
---@return integer? island
function held:smallest() end

---The islands where somebody is, in order.
---@return integer[]
function held:settled() end

---The best of every cell that has one: slots and keys, in the order of the keys. Of everyone: of equal scores that of the first island.
---@param island integer
---@return integer[] slots
---@return integer[] keys
function held:bests(island) end

---members[slot] for up to `count` bests of different cells, drawn at random, none of the cell `avoid`.
---@generic T
---@param island integer
---@param rng apsis.random.Stream
---@param count integer
---@param avoid integer?
---@param members T[] by slot
---@return T[]
function held:diverse(island, rng, count, avoid, members) end

---members[slot].id of the best `top` of one island; of `diverse` bests of other cells than the first parent's of another; and of as many
---drawn from there as are then missing from `total`. None twice, neither of the parents. nil where there is nobody.
---@param best integer the island of the best
---@param island integer
---@param rng apsis.random.Stream
---@param top integer
---@param diverse integer
---@param total integer
---@param first integer? a parent's slot
---@param second integer?
---@param members {id: any}[] by slot
---@return any[]?
function held:shown(best, island, rng, top, diverse, total, first, second, members) end

---The one at a share u in [0, 1) of those with a score, or, where nobody has one, of all; nil where nobody is.
---@param island integer
---@param u number
---@return integer? slot
function held:any(island, u) end

---The one at a share u in [0, 1) of the elites that stand there; nil where none does.
---@param island integer
---@param u number
---@return integer? slot
function held:elite(island, u) end

---The n-th there; nil where there are fewer.
---@param island integer
---@param n integer
---@return integer? slot
function held:at(island, n) end

---members[slot] for the first with a score.
---@generic T
---@param island integer
---@param count integer
---@param members T[] by slot
---@return T[]
function held:top(island, count, members) end

---How many places of an island hold somebody with a score.
---@param island integer
---@return integer
function held:filled(island) end

---The best of the n-th of these places; nil where there are fewer.
---@param island integer
---@param n integer
---@return integer? slot
---@return integer? key
function held:best_at(island, n) end

---Frees it; it may be repeated. Collection does it too.
function held:close() end

return crowd
