---@meta apsis.messages
-- A question by the shipped templates, for strategies that have little to add to them.

local messages = {}

--- The fields of the shipped templates in addition to prompt.field_names. A strategy that uses `write` has them as its
--- `fields`.
---@type string[]
messages.fields = {}

--- The messages for a proposal, within the manifest's prompt.max_kb: the project's (or the shipped) templates system
--- and, with two parents, crossover, else mutation.
---@param run apsis.Run
---@param proposal apsis.Proposal
---@param extra table<string, string> texts for some of messages.fields; what is missing is left out
---@return {role: string, content: string}[]
function messages.write(run, proposal, extra) end

return messages
