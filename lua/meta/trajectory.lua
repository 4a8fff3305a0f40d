---@meta apsis.trajectory
-- Best of K: which of several answers to one proposal to evaluate, decided before any evaluation. After SRLM
-- (arXiv:2603.15653): groups answers by intent, and of the remaining ones takes the one whose stated confidence times
-- its length is closest to 0. The engine's default select does this if K is above 1; a strategy with its own select
-- calls choose. Costs and limits: lua/apsis/lab/best_of_k.md. (apsis's own rules: a missing confidence makes length
-- decide for all, two answers are never filtered, and the guard of the budget.)

local trajectory = {}

--- The defaults of the manifest and of callers: { enabled, k_candidates, complexity_gate, margin }.
---@type table
trajectory.defaults = {}

--- The extra request in a prompt for one of several answers: a line {"confidence": N} for each step. It is in
--- prompt.default and in the field `answer` of prompt.fields, and is added to a strategy's own prompt if that is one
--- text; to its own list of messages a strategy must add it itself.
---@type string
trajectory.request = ""

---@class apsis.trajectory.Entry one answer of a pool
--- 0 to 100 for each step, clamped to 1..100; if absent, empty, or with a value that is no number: missing.
---@field confidences? number[]
---@field tokens number how long the answer itself is; 0: it is empty
---@field intent? string|false the goal of its steps; false or nil: not known, equal to no other
---@field error? any why there is no answer, or it may not be taken

---@class apsis.trajectory.Detail what is known of one answer of a pool
---@field vc? number nil if a confidence is missing
---@field length? number tokens
---@field score? number vc times length; nil if vc is
---@field lost? string why it lost; nil of the one that is taken

--- Verbalised confidence: the sum of ln(c / 100) over the steps, each c clamped to 1..100: 0 is certain, lower is
--- less so. nil if there is no list, it is empty, or one of it is no number.
---@param confidences? number[]
---@return number?
function trajectory.vc(confidences) end

--- vc times tokens; the greater (the closer to 0) the better. nil if vc is.
---@param confidences? number[]
---@param tokens number
---@return number?
function trajectory.score(confidences, tokens) end

--- For each intent whether its answer stays: if more than half of three or more are the same, only these; else all.
--- Also returns the size of the majority, nil if there is none.
---@param intents (string|false)[] false: not known
---@return boolean[]
---@return integer? count
function trajectory.consistent(intents) end

--- The index of the answer to take, and the data of each. Drops failed and empty ones first, then those without the
--- intent of the strict majority; then takes the highest score, or the shortest if one of the remaining lacks a
--- confidence. Ties: the shorter, then the first. nil if all failed or are empty. Raises for an empty pool and for
--- tokens that are no number.
---@param pool apsis.trajectory.Entry[]
---@return integer?
---@return apsis.trajectory.Detail[]
function trajectory.select(pool) end

--- The same for answers as select hooks get them. Confidences are those of `steps`; the length is `output_tokens`,
--- else the sum of the steps' tokens, else `tokens`, else a guess of four bytes per token of the text, or of the
--- files if there is no text. An answer without a change is empty; one with a forbidden change has failed. A single
--- answer is not scored. If none remains, takes the first that is at least an answer, so that its line reports it.
---@param answers apsis.Answer[]
--- `refuse`: why an answer without an error is not allowed; nil: it is.
---@param refuse? fun(answer: table, index: integer): string?
---@return integer?
---@return apsis.trajectory.Detail[]
function trajectory.choose(answers, refuse) end

--- How many answers to request: k if k x cost <= remaining x (1 - margin), else 1 if cost <= remaining, else 0. With
--- nothing remaining 0, whatever the cost. margin: default 0.2, so that answers longer than the last ones stay within
--- the budget.
---@param spec { k: integer, cost: number, remaining: number, margin?: number }
---@return integer
function trajectory.budget(spec) end

--- k if gate (default complex and epic) names the complexity, else 1.
---@param spec { complexity: string, k: integer, gate?: string[] }
---@return integer
function trajectory.gate(spec) end

--- The intent of an answer, for comparing by ==: for each changed file the path and the resulting text without
--- trailing blanks, blank lines and lines with only a line comment (by the path's ending: `--` in Lua, `#` in Python,
--- `//` in C; comments after code, /* */ and indentation stay); then each of `tool_calls` {name, arguments} with
--- sorted keys. An answer with neither: its `tree`, else its text. `intent`, a text, replaces all that. nil if
--- nothing is known, or an edit is neither text nor a removal.
---@param answer apsis.Answer
---@return string?
function trajectory.intent(answer) end

--- The steps that a text gives as {"confidence": 80}, one for each such object, outside SEARCH/REPLACE blocks and
--- fences with anything else. A confidence that is not a number is a step without one. nil if there is none.
---@param text string
---@return { confidence: number? }[]?
function trajectory.steps(text) end

--- The same proposal with the reason why its answer was refused, in notes.again: what select returns with "resample".
---@param proposal apsis.Proposal
---@param refused string
---@return apsis.Proposal
function trajectory.again(proposal, refused) end

return trajectory
