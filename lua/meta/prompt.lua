---@meta apsis.prompt
-- The text for a provider. Pure functions of `run`; a strategy's prompt hook may call default and add to it, or
-- combine the parts itself.

local prompt = {}

--- The whole default prompt for a proposal, worded for a provider that has the files or (run.project.reads_answers)
--- for one that only answers: project, program.md, metric and direction in words, files by mode (hidden ones named as
--- off limits), the user's directions, lineage and diff of the parent, recent outcomes with reasons, budget, and the
--- task.
---@param run apsis.Run
---@param proposal apsis.Proposal
---@return string
function prompt.default(run, proposal) end

---@class apsis.Repair
---@field candidate apsis.Candidate
---@field attempt integer
---@field attempts integer
---@field command any
---@field output string
---@field ended string how the command ended, in words

--- The prompt to repair a candidate on which the project's gate fails (the manifest's `gate`): the project, its
--- files, the change's diff (its first 12 kB), the gate's command and the end of its output (24 kB), and the task:
--- the smallest change that makes it pass without spoiling the metric.
---@param run apsis.Run
---@param repair apsis.Repair
---@return string
function prompt.repair(run, repair) end

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

--- The ancestors of a record, newest first; count defaults to 10.
---@param run apsis.Run
---@param record apsis.Candidate
---@param count? integer
---@return string
function prompt.lineage(run, record, count) end

--- What is left of each limited budget.
---@param run apsis.Run
---@return string
function prompt.budget(run) end

--- The writable files of a candidate, whole, each in a fence under its path.
---@param record apsis.Candidate
---@return string
function prompt.sources(record) end

--- Whether a model's answer has room for a candidate's writable files, whole (run.project.answer_bytes). If not, ask
--- for SEARCH/REPLACE blocks.
---@param run apsis.Run
---@param record apsis.Candidate
---@return boolean
function prompt.fits_answer(run, record) end

--- What a candidate's evaluation left behind, each in a fence under its name; at most 4 kB of each.
---@param record apsis.Candidate
---@return string
function prompt.artifacts(record) end

--- One line on a candidate: outcome, value, metrics, what it changed.
---@param run apsis.Run
---@param record apsis.Candidate
---@return string
function prompt.facts(run, record) end

--- Other candidates, each with its facts and (for a chat model) its sources or (for others) what it changed.
---@param run apsis.Run
---@param ids? string[]
---@return string
function prompt.programs(run, ids) end

--- The names of the fields below, in order. A strategy declares those it adds in its table's `fields`.
---@type string[]
prompt.field_names = {}

--- The fields of every template, as strings ("" if there is nothing to show):
---
---  - project, description, instructions: the project's name, its manifest's description, its program.md
---  - experiment: its number; operator: the proposal's
---  - metric: one line with name, direction, best, baseline and target; metric_name; direction: in words
---  - files: the project's paths by mode; directions: the user's notes; budget: what is left; recent: the newest
--- outcomes
---  - parent: its id; parent_facts: one line; parent_artifacts: files from its evaluation; parent_files: its writable
--- files (for a chat model; "" for a provider that has the files itself)
---  - other, other_facts, other_artifacts, other_files: the same for a second parent
---  - inspirations: other candidates, with facts and sources
---  - answer: how to answer; without it a chat model must guess
---
--- strategies/openevolve.lua adds, for the shipped templates: explore, exploit, scratch ("yes" or "", one of the
--- three), stuck (a sentence after many rejections), again (what was wrong with the last answer), place (the island
--- that the version goes to), families (names to choose from), lessons, foreclosed and untried (lists).
---@param run apsis.Run
---@param proposal apsis.Proposal
---@param form? "diff"|"rewrite"|"either" how to answer; default: the proposal's `answer` or prompt.answer
---@return table<string, string>
function prompt.fields(run, proposal, form) end

--- write(fields), a text or messages, within the manifest's prompt.max_kb: while it is longer, other programs are left
--- out (the last first), then of a second parent all but its change, then history. Raises if the rest is still longer:
--- the parent is never cut.
---@param run apsis.Run
---@param proposal apsis.Proposal
---@param fields table<string, string> of prompt.fields; changed
---@param write fun(fields: table<string, string>): string|table[]
---@return string|table[]
function prompt.fitted(run, proposal, fields, write) end

---@type number the default of prompt.max_kb
prompt.MAX_KB = 256

--- What is wrong with a prompt that has nothing but the parent left to show, and is longer than the limit, in bytes.
---@param bytes integer
---@param longest number
---@param parent string
---@return string
function prompt.too_long(bytes, longest, parent) end

--- A template filled in: the project's prompts/NAME.md, else the shipped one (system, mutation, crossover,
--- migration). Raises if there is none, or if it names a field that `fields` lacks, with the template's file and
--- line.
---@param run apsis.Run
---@param name string
---@param fields table<string, string>
---@return string
function prompt.render(run, name, fields) end

--- A program's text without its section of a heading (`## Heading ...`), up to the next one. heading: a Lua pattern.
---@param text string
---@param heading string
---@return string
function prompt.without(text, heading) end

return prompt
