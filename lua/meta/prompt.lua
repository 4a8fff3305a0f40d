---@meta apsis.prompt
-- The text a provider is asked with. Pure functions of `run`; a strategy's prompt hook may call default and add to it, or put
-- together its own from the parts.

local prompt = {}

--- The whole default prompt for a proposal: project, program.md, metric and direction in words, files by mode (hidden ones
--- named as off limits), the user's directions, lineage and diff of the parent, recent outcomes with reasons, budget, and
--- what is asked.
---@param run apsis.Run
---@param proposal apsis.Proposal
---@return string
function prompt.default(run, proposal) end

--- One line: name, direction in words, best, baseline, target.
---@param run apsis.Run
---@return string
function prompt.metric(run) end

--- The project's paths by mode. project: run.project.
---@param project table
---@return string
function prompt.files(project) end

--- The newest outcomes with their reasons, newest first; count defaults to 10.
---@param run apsis.Run
---@param count? integer
---@return string
function prompt.recent(run, count) end

--- The candidates that led to a record, newest first; count defaults to 10.
---@param run apsis.Run
---@param record apsis.Candidate
---@param count? integer
---@return string
function prompt.lineage(run, record, count) end

--- What is left of each limited budget.
---@param run apsis.Run
---@return string
function prompt.budget(run) end

return prompt
