---@meta apsis.features
-- What says where in an archive's grid a candidate belongs. A feature with `values` is one that a model names,
-- `complexity` is how many bytes the program has, `diversity` how unlike the archive's references it is, any other name
-- is the candidate's metric of that name.

local features = {}

---@class apsis.features.Feature
---@field name string
---@field bins? integer
---@field values? string[] the names a model chooses from

--- The list from an option: a name stands for { name = name }; `bins` is for those that say neither bins nor values.
--- What is wrong with one, archive.new says.
---@param given (string|apsis.features.Feature)[]
---@param bins integer
---@return apsis.features.Feature[]
function features.list(given, bins) end

--- What is wrong where one is neither computed nor named nor one of the metrics; nil if nothing is.
---@param list apsis.features.Feature[]
---@param metrics table<string, number>
---@return string?
function features.problem(list, metrics) end

--- Whether there is one of a kind.
---@param list apsis.features.Feature[]
---@param kind "computed"|"named"|"measured"
---@return boolean
function features.any(list, kind) end

--- A candidate's features by name, and the sketch of its program (all its files).
---@param list apsis.features.Feature[]
---@param candidate apsis.Candidate
---@param archive apsis.archive.Archive whose references `diversity` is over
---@param said? table<string, string> what a model named
---@return table<string, number|string>
---@return string sketch
function features.of(list, candidate, archive, said) end

--- The same without names that are not among a feature's values, as an older journal may have.
---@param list apsis.features.Feature[]
---@param found table<string, number|string>
---@return table<string, number|string>
function features.valid(list, found) end

--- The id of the program that edits to a parent make something most like, and the similarity (0 to 1); the parent is
--- one of them.
---@param sources {path: string, text: string}[] the parent's; edited in place
---@param parent string its id
---@param edits table<string, string|false> the new text of a file; false takes it away
---@param known {id: string, sketch: string}[]
---@return string id
---@return number similarity
function features.most_like(sources, parent, edits, known) end

return features
