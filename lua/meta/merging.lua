---@meta apsis.merging
-- What two lines of descent would make together, file by file, by their common ancestor: the merge of components of
-- github.com/gepa-ai/gepa. Texts are tables of path to text.

local merging = {}

--- The set of the ancestors of an id.
---@param parents table<string, string[]> the parents of each id that counts
---@param id string
---@param found? table<string, boolean> ids to leave out; added to
---@return table<string, boolean>
function merging.ancestors(parents, id, found) end

--- Whether a merge would combine something: a file that only one of the two changed. Of a single file: whether they
--- differ.
---@param base table<string, string> of the common ancestor
---@param one table<string, string>
---@param two table<string, string>
---@return boolean
function merging.worthwhile(base, one, two) end

--- The edits that turn `one` into the merge, and from whom each file is, by path, as a text of "1" and "2". A file that
--- one of them changed is from that one. nil if there is a single file, which both changed.
---@param base table<string, string>
---@param one table<string, string>
---@param two table<string, string>
---@param prefer fun(): 1|2 whose version, if both changed a file
---@return table<string, string|false>? edits
---@return string? from
function merging.edits(base, one, two, prefer) end

--- Some of the items that both have: a third of each kind, on which the one, the other, or neither is better, then any.
---@param rng apsis.random.Stream
---@param metric apsis.direction.Metric
---@param one table<string, number> values by item
---@param two table<string, number>
---@param count integer
---@return string[] items
---@return integer common how many both have
function merging.contested(rng, metric, one, two, count) end

---@class apsis.merging.Spec
---@field rng apsis.random.Stream
---@field metric apsis.direction.Metric
---@field ids string[] two of these are merged
---@field parents table<string, string[]> the parents of each id that counts
---@field values table<string, table<string, number>> of each id: values by item
---@field mean fun(id: string): number? what an id is worth
---@field texts fun(id: string): table<string, string> its files; asked once for each id
---@field tried table<string, boolean> marks of earlier merges
---@field overlap integer how many items both must have

--- A merge of two ids of which none descends from the other, by a common ancestor that is better than neither; nil if
--- 100 draws find none. `edits`: see merging.edits; `marks`: what to remember as tried; `items`: by which items (at
--- most 5) to compare it with its parents.
---@param spec apsis.merging.Spec
---@return {one: string, two: string, edits: table<string, string|false>?, marks: string[], items: string[]}?
function merging.propose(spec) end

return merging
