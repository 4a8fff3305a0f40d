---@meta apsis.families
-- Islands and features with names; a model chooses among them in `ASI name=NAME` lines.

local families = {}

--- The names of islands and, by name, what each is, from an option: "NAME", "NAME: what it is" or { NAME =
--- what it is }. nil and what is wrong.
---@param given (string|table<string, string>)[]
---@return string[]?
---@return table<string, string>|string
function families.islands(given) end

--- A name with what is known about it: "greedy (takes the best step)".
---@param name string
---@param about table<string, string>
---@return string
function families.named(name, about) end

---@param names string[]
---@param wanted any
---@return boolean
function families.has(names, wanted) end

--- The request to a model; "" if nothing has names.
---@param island_names string[]
---@param features {name: string, values: string[]?}[]
---@return string
function families.asked(island_names, features) end

--- { island, said_island, named } from an answer's notes, in small or large letters; nil and why it is refused. An
--- answer may leave out its island and features: it has no place by a feature that it leaves out. An island may be
--- said by its number: its own ("greedy: island 0"),
--- else its place in the list.
---@param answer table<string, any>
---@param given {islands: string[], about: table<string, string>, features: {name: string, values: string[]?}[]}
---@param aimed? boolean the plan has chosen the island: what the answer says is noted as said_island, and never refused
---@return {island: string?, said_island: string?, named: table<string, string>?}?
---@return string? refused
function families.placed(answer, given, aimed) end

--- Where the version that is asked for goes and where its parents live, for a model: lines of text. "" with a single
--- island.
---@param given { notes: table, names: string[], about: table<string, string>, count: integer,
--- features: apsis.features.Feature[], aimed: boolean? } notes: the proposal's; names: of the islands, empty if they
--- have numbers; aimed: the version must be of that family
---@return string
function families.place(given) end

return families
