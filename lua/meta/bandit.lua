---@meta apsis.bandit
-- Which of several named arms (models, operators) to pull next. Pure: draws only from the stream passed in.

local bandit = {}

--- The ways to choose: "fixed", "weighted", "ucb".
---@type string[]
bandit.choices = {}

---@class apsis.bandit.Spec
---@field names string[] at least one, each once
---@field weights? number[] as many, above 0; default 1 each
---@field choice? "fixed"|"weighted"|"ucb" default "weighted"
---@field costs? table<string, number> the cost of a pull of an arm, if known beforehand

---@class apsis.Bandit
local arms = {}

--- `fixed` takes the first; `weighted` draws by weight; `ucb` takes the arm with the highest (mean + sqrt(2 ln N /
--- n)) / sqrt(cost / mean cost over the arms), where n of all N pulls are the arm's: UCB1 (Auer, Cesa-Bianchi,
--- Fischer: Finite-time Analysis of the Multiarmed Bandit Problem, Machine Learning 47, 2002), divided by the root of
--- the relative mean cost if it is known. Raises for an unknown key or choice, an empty list, a duplicate name or a
--- weight that is not above 0.
---@param spec apsis.bandit.Spec
---@return apsis.Bandit
function bandit.new(spec) end

--- The next arm. With `ucb` untried ones come first, by falling weight; a pull in flight counts as a pull that yields
--- the arm's mean reward (of an arm without any: the mean over all, or 0.5), so that parallel pulls spread.
---@param rng apsis.random.Stream only `weighted` draws from it, once
---@param pending? table<string, integer> pulls in flight, by name
---@return string name
function arms:choose(rng, pending) end

--- Records the result of a pull. Raises for an unknown arm, and for a reward that is not a number in [0, 1].
---@param name string
---@param reward number? nil: the pull failed; counts as 0
---@param cost? number 0 or nil: not known
function arms:learn(name, reward, cost) end

return bandit
