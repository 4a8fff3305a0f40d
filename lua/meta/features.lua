---@meta apsis.features
-- The place of a candidate in an archive's grid. The model names a feature with `values`; `complexity` is the size of
-- the program in bytes, `diversity` its distance from the archive's references; any other name is the candidate's
-- metric of that name.

local features = {}

---@class apsis.features.Feature
---@field name string
---@field bins? integer
---@field values? string[] the names a model chooses from

--- The list from an option: a name means { name = name }; `bins` applies to those with neither bins nor values.
--- archive.new checks the rest.
---@param given (string|apsis.features.Feature)[]
---@param bins integer
---@return apsis.features.Feature[]
function features.list(given, bins) end

--- What is wrong if one is neither computed nor named nor one of the metrics; nil if nothing is.
---@param list apsis.features.Feature[]
---@param metrics table<string, number>
---@return string?
function features.problem(list, metrics) end

--- Whether there is one of a kind.
---@param list apsis.features.Feature[]
---@param kind "computed"|"named"|"measured"
---@return boolean
function features.any(list, kind) end

--- As near_duplicate.most_like, where it stood before.
---@param sources {path: string, text: string}[]
---@param parent string
---@param edits table<string, string|false>
---@param known {id: string, sketch: string}[]
---@return string id
---@return number similarity
function features.most_like(sources, parent, edits, known) end

--- A candidate's features by name, and the sketch of its program (all its files).
---@param list apsis.features.Feature[]
---@param candidate apsis.Candidate
---@param archive apsis.archive.Archive whose references `diversity` is over
---@param named? table<string, string> the values that a model chose
---@return table<string, number|string>
---@return string sketch
---@return string program
function features.of(list, candidate, archive, named) end

--- The same without names that are not among a feature's values, as an older journal may have.
---@param list apsis.features.Feature[]
---@param found table<string, number|string>
---@return table<string, number|string>
function features.valid(list, found) end

--- What a line must keep of a candidate, for its notes. with_marks: what near duplicates are recognised by, too.
---@param list apsis.features.Feature[]
---@param candidate apsis.Candidate
---@param archive apsis.archive.Archive
---@param with_marks boolean
---@return { features: table<string, number|string>, sketch: string, marks: string? }
function features.noted(list, candidate, archive, with_marks) end

return features
