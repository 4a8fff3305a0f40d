---@meta apsis.archive
-- A bounded population on islands, each a grid of cells by features: MAP-Elites (Mouret and Clune, 2015) on islands
-- (Tanese, 1989), as OpenEvolve and AlphaEvolve use it. Every candidate enters. Above population_size the worst
-- member of the most crowded cell is evicted (of equal members the oldest, of equally crowded cells the one that has
-- been so for longest), but never the best of a cell or one of the archive_size best (the elites): if all are
-- protected, the population stays above its bound until one is not. A value that is nil, NaN or infinite is none:
-- worse than any value in either direction, never best, never elite, in no cell's score. Of equal values the most
-- recent is the better. epsilon is ignored.
--
-- Made for run.memory: call add, migrate and new_island in `learn`; everything else only reads. Draws use the stream
-- passed in, and the state depends only on the additions and migrations, so a fold rebuilds the same archive. An
-- addition and a draw cost O(log n).

local archive = {}

---@class apsis.archive.Options
---@field metric apsis.direction.Metric
---How many, or their names; default 1. Islands without a name are called "1", "2" and so on.
---@field islands? integer|string[]
---@field population_size? integer default 1000
---@field archive_size? integer how many elites; default 100
---@field features? apsis.archive.grid.Feature[] default none: one cell
---@field max_islands? integer default the number of islands; at most 60

--- A table that belongs to the archive afterwards: do not change its value and features.
---@class apsis.archive.Member
---@field id any its own, as a candidate's: "c0042"
---@field value? number
---Where it was stopped or would have been (a candidate's `stopped`): then it ranks as direction's standing has it.
---@field stopped? { stage: integer, value: number }
---@field island? integer|string index or name; needed if there is more than one island
--- A missing or infinite feature has no bin: such a member fills no cell.
---@field features? table<string, number|string>
---@field sketch? string of text.sketch: for `diversity`

---@class apsis.archive.Statistics
---@field cells integer
---@field num_elites integer
---@field coverage number
---@field qd_score number
---@field norm_qd_score number
---@field obj_max number?
---@field obj_mean number?
---@field size integer members there, with a value or without
---@field best apsis.archive.Member?

---@class apsis.archive.Archive
---@field names string[] of the islands
---@field population_size integer
---@field archive_size integer
---@field max_islands integer
local held = {}

--- Raises for an unknown option or an invalid value.
---@param options apsis.archive.Options
---@return apsis.archive.Archive
function archive.new(options) end

---@class apsis.archive.Sizes
---@field population_size integer
---@field archive_size integer

--- The sizes for a run, for the notes of a proposal: nil if the lines already have them. A size is the run's option of
--- that name; if that is 0, it follows the budget: an elite for each 50 experiments of it (iterations or measurements,
--- whichever are fewer; of the experiments so far, if they are more), 10 to 100 of them, and ten times as many members.
--- Without such a budget 100 and 1,000, OpenEvolve's defaults, which are for longer runs. Logs them. For `plan`.
---@param run apsis.Run
---@return apsis.archive.Sizes?
function held:sizes_for(run) end

--- For `learn`: raises the sizes that the options leave at 0 to those of a line's notes.
---@param sizes apsis.archive.Sizes
---@param options table
function held:grow(sizes, options) end

--- Adds a member, whatever its value. Returns the evicted one (maybe itself) or nil; if earlier protected ones can go
--- too, more are evicted: see `evicted`. nil, message, code if its island or a feature's value is unknown (EISLAND,
--- EFEATURE); the archive is unchanged then. Raises if the id is nil or in the archive. A numeric feature outside its
--- range widens the range, by a quarter more than needed, and all members are filed again.
---@param member apsis.archive.Member
---@return apsis.archive.Member? evicted
---@return string? message
---@return string? code
function held:add(member) end

--- Whether `add` would accept it: checks a model's island and features before the evaluation.
---@param member { island?: integer|string, features?: table }
---@return true|nil
---@return string? message
---@return string? code "EISLAND" or "EFEATURE"
function held:check(member) end

--- Copies the top share of every island, as it was before, to both its neighbours in the ring: at least one of an
--- island with a value, none at rate 0. A copy is a place on one more island, not another member: it counts once in
--- the population, and is made once. OpenEvolve's migration, without its repeated copies.
---@param rate number 0 to 1
---@return { member: apsis.archive.Member, from: integer, to: integer }[]
function held:migrate(rate) end

--- Counts a newcomer of an island, and migrates once an island has had `interval` more than at the last migration. Call
--- it in `learn` after add.
---@param island integer
---@param interval integer
---@param rate number
function held:grown(island, interval, rate) end

--- The index of the island that a line names: by index or name; a new number makes a new island, if there may be more;
--- else the smallest one.
---@param where integer|string
---@return integer
function held:home(where) end

--- Adds an empty island. nil, message, "EISLAND" if there are max_islands or the name is taken.
---@param name? string
---@return integer? index
---@return string? message
---@return string? code
function held:new_island(name) end

--- The index of an island given by index or name; the only one's for nil. nil, message, "EISLAND" if there is none.
---@param where integer|string|nil
---@return integer? index
---@return string? message
---@return string? code
function held:island(where) end

---@return { index: integer, name: string, size: integer, best: apsis.archive.Member? }[]
function held:islands() end

--- The index of the island with the fewest members; of equals the first.
---@return integer
function held:smallest_island() end

--- The indices of the islands with members, in order.
---@return integer[]
function held:settled() end

-- Below, `where` is an island's index or name, or nil for all islands; an unknown one raises.

--- The number of members.
---@param where? integer|string
---@return integer
function held:size(where) end

--- A member by id; nil if it is unknown or evicted.
---@param id any
---@return apsis.archive.Member?
function held:get(id) end

--- The record of an evicted member; nil for any other id. `cell` is its cell at that time.
---@param id any
---@return { id: any, value: number?, island: integer, cell: string }?
function held:evicted(id) end

--- The indices of a member's islands; nil for an unknown one.
---@param id any
---@return integer[]?
function held:islands_of(id) end

--- The cell of a member, as "3/greedy": one bin or value for each feature, "-" for a missing one. nil for an unknown
--- member.
---@param id any
---@return string?
function held:cell(id) end

--- The cell of features by the current ranges; values outside belong to the outermost bin.
---@param features table<string, number|string>
---@return string
function held:cell_of(features) end

--- 1 less the mean similarity of a sketch to (at most) 20 of the population, spread from its best to its worst and
--- renewed with every second addition; 0 if there are none. Compares only with members that have a sketch and a
--- value.
---@param sketch string of text.sketch
---@return number
function held:diversity(sketch) end

--- The best; of equals the most recent. nil if nobody has a value.
---@param where? integer|string
---@return apsis.archive.Member?
function held:best(where) end

--- Its value, in the metric's orientation.
---@return number?
function held:best_value() end

--- The worst: the oldest without a value, else the worst value, of equals the oldest.
---@param where? integer|string
---@return apsis.archive.Member?
function held:worst(where) end

--- Up to `count` with a value, best first.
---@param count integer
---@param where? integer|string
---@return apsis.archive.Member[]
function held:top(count, where) end

--- The elites, best first.
---@return apsis.archive.Member[]
function held:elites() end

--- Any, with equal chances: one with a value, or, if nobody has one, without. nil if the island is empty.
---@param rng apsis.random.Stream
---@param where? integer|string
---@return apsis.archive.Member?
function held:random(rng, where) end

--- One of the island's elites; the best if there is none.
---@param rng apsis.random.Stream
---@param where? integer|string
---@return apsis.archive.Member?
function held:elite(rng, where) end

--- By linear ranking (Baker, 1985): of n, the one of rank r with probability (2 (n - r) + 1) / n^2. Only ranks count,
--- so negative values are fine. Implemented as the equivalent better of two draws (Goldberg and Deb, 1991).
---@param rng apsis.random.Stream
---@param where? integer|string
---@return apsis.archive.Member?
function held:weighted(rng, where) end

--- One of the top quarter of those with a value, rounded up.
---@param rng apsis.random.Stream
---@param where? integer|string
---@return apsis.archive.Member?
function held:quartile(rng, where) end

--- Up to `count` bests of different cells, with equal chances, none from the cell in which `except` is (or would be).
--- For all islands it sorts all filled cells.
---@param count integer
---@param rng apsis.random.Stream
---@param where? integer|string
---@param except? apsis.archive.Member
---@return apsis.archive.Member[]
function held:diverse(count, rng, where, except) end

--- The best of another cell than a member's; nil if there is none.
---@param rng apsis.random.Stream
---@param member apsis.archive.Member
---@param where? integer|string
---@return apsis.archive.Member?
function held:other_cell(rng, member, where) end

---@class apsis.archive.Shown
---@field top integer how many of the best
---@field diverse integer how many bests of other cells than the first parent's
--- The total: random ones fill it up, without duplicates.
---@field total integer
---@field own? boolean the best are of the island too, not of everyone

--- What a prompt shows with one or two parents (AlphaEvolve's and OpenEvolve's inspirations): ids without duplicates
--- or parents. The diverse and the random ones are from one island, or from all if it does not exist or is empty. nil
--- if there are none.
---@param rng apsis.random.Stream
---@param parents any[] one or two ids
---@param where? integer|string
---@param shown apsis.archive.Shown
---@return any[]?
function held:shown(rng, parents, where, shown) end

--- As in pyribs (ArchiveStats): `num_elites` cells have a best with a value, `coverage` is their share of all cells,
--- `qd_score` the sum of their objectives less the offset, `norm_qd_score` that by cells, `obj_max` and `obj_mean`
--- the greatest and the mean objective (nil without one). An objective is oriented so that higher is better: the
--- value's gain over 0, and over `offset`, which is a value of the metric. Over all islands a cell's best is the best
--- of any island.
---@param where? integer|string
---@param offset? number default 0
---@return apsis.archive.Statistics
function held:statistics(where, offset) end

--- statistics().coverage
---@param where? integer|string
---@return number
function held:coverage(where) end

--- statistics().qd_score
---@param where? integer|string
---@param offset? number
---@return number
function held:qd_score(where, offset) end

--- Whether two members are the same, or one is the other's parent, so that a crossover would combine nothing.
---@param first apsis.archive.Member with `parents`, a list of ids
---@param second apsis.archive.Member
---@return boolean
function archive.akin(first, second) end

return archive
