---@meta apsis.trajectory
-- Best of K: of several answers to one proposal, which to evaluate, before anything is evaluated. After SRLM
-- (arXiv:2603.15653): answers grouped by what they set out to do, and of those that are left the one whose stated
-- confidence times its length is nearest to nothing. The engine's default select does this where K is above 1; a
-- strategy with a select of its own calls choose. What it costs and when it does not help: lua/apsis/lab/best_of_k.md.
-- (That a missing confidence makes length decide for all, that two answers are never filtered, and the guard of the
-- budget are apsis's own rules.)

local trajectory = {}

--- What holds if neither the manifest nor a caller says otherwise: { enabled, k_candidates, complexity_gate, margin
--- }.
---@type table
trajectory.defaults = {}

--- What a prompt that asks for one of several answers asks for besides: a line {"confidence": N} for each step. It
--- is in prompt.default and in the field `answer` of prompt.fields, and is added to a prompt of a strategy's own
--- that is one text; to a list of messages of its own a strategy adds it itself.
---@type string
trajectory.request = ""

---@class apsis.trajectory.Entry one answer of a pool
---0 to 100 for each step, clamped to 1..100; absent, empty, or with one that is no number: missing.
---@field confidences? number[]
---@field tokens number how long the answer itself is; 0: it is empty
---@field intent? string|false what it sets out to do; false or nil: not known, which makes it nobody's like
---@field error? any why there is no answer, or it may not be taken

---@class apsis.trajectory.Detail what is known of one answer of a pool
---@field vc? number nil if a confidence is missing
---@field length? number tokens
---@field score? number vc times length; nil if vc is
---@field lost? string why it lost; nil of the one that is taken

--- Verbalised confidence: the sum of ln(c / 100) over the steps, each c clamped to 1..100: 0 is certain, the lower the
--- less. nil if there is no list, it is empty, or one of it is no number.
---@param confidences? number[]
---@return number?
function trajectory.vc(confidences) end

--- vc times tokens; the greater (the nearer to 0) the better. nil if vc is.
---@param confidences? number[]
---@param tokens number
---@return number?
function trajectory.score(confidences, tokens) end

--- For each intent whether its answer stays: where more than half of three or more are the same, only these; else all.
--- How many the majority has is returned too, nil if there is none.
---@param intents (string|false)[] false: not known
---@return boolean[]
---@return integer? count
function trajectory.consistent(intents) end

--- The index of the answer to take, and what is known of each. Failed and empty ones are dropped first, then those that
--- are not of the strict majority's intent; then the highest score is taken, or where of those left any lacks a
--- confidence the shortest. Ties: the shorter, then the first. nil if all failed or are empty. Raises for an empty
--- pool and for tokens that are no number.
---@param pool apsis.trajectory.Entry[]
---@return integer?
---@return apsis.trajectory.Detail[]
function trajectory.select(pool) end

--- The same for answers as select hooks get them. Confidences are those of `steps`; the length is `output_tokens`, else
--- what the steps' tokens add up to, else `tokens`, else a guess of a token for four bytes of the text, or of the files
--- where it says nothing. An answer without a change is empty; one that changes what it may not has failed. Of a single
--- answer nothing is worked out. If no answer stands the first that is at least one is taken, so that its line says
--- what it is.
---@param answers apsis.Answer[]
---`refuse`: why an answer without an error may not be taken; nil: it may.
---@param refuse? fun(answer: table, index: integer): string?
---@return integer?
---@return apsis.trajectory.Detail[]
function trajectory.choose(answers, refuse) end

--- How many answers to ask for: k where k x cost <= remaining x (1 - margin), else 1 where cost <= remaining, else 0.
--- With nothing remaining 0, whatever the cost. margin: default 0.2, so that answers longer than the last ones do not
--- pass the budget.
---@param spec { k: integer, cost: number, remaining: number, margin?: number }
---@return integer
function trajectory.budget(spec) end

--- k where gate (default complex and epic) names the complexity, else 1.
---@param spec { complexity: string, k: integer, gate?: string[] }
---@return integer
function trajectory.gate(spec) end

--- What an answer sets out to do, for comparing by ==: for each file that it changes the path and the resulting text
--- without blanks at the ends of lines, blank lines and lines that are only a comment to the line's end (by the path's
--- ending: `--` in Lua, `#` in Python, `//` in C; comments after code and /* */ stay, and so does indentation, which
--- may mean something); then each of `tool_calls` {name, arguments} with its arguments' keys in order. An answer with
--- neither: its `tree`, else its text. `intent`, a text, replaces all that. nil if nothing is known, or an edit is
--- neither text nor a removal.
---@param answer apsis.Answer
---@return string?
function trajectory.intent(answer) end

--- The steps that a text states as {"confidence": 80}, one for each such object, outside of SEARCH/REPLACE blocks and
--- of fences that hold anything else. A confidence that is not a number is a step without one. nil if it states
--- none.
---@param text string
---@return { confidence: number? }[]?
function trajectory.steps(text) end

return trajectory
