---@meta apsis.selection
-- How probable each candidate is as a parent. s is the score, oriented by the metric so that higher is better (lower is
-- the mirror image); c the number of children. Who has no finite value has probability 0, unless nobody has one: then
-- they are all alike. Probabilities add up to 1; an empty list has none.
--
-- | rule | weight | from |
-- | score_prop | sigmoid(10 (s - m)), m the mean of the 3 best | HyperAgents |
-- | score_child_prop | sigmoid(10 (s - m)) exp(-(c/8)^3) | HyperAgents, its default |
-- | proportional | s | the hyperagents plugin |
-- | proportional_child | s / (1 + c) | the hyperagents plugin |
-- | weighted | sigmoid(10 (s - median) / max(MAD, 1e-6)) / (1 + c) | ShinkaEvolve, its default, lambda 10 |
-- | power_law | rank^-alpha, the best of rank 1; equals share what their ranks have | ShinkaEvolve |
-- | best | 1 for the best, of equals the last | |
-- | latest | 1 for the last | |
-- | random | 1 | |
--
-- proportional and proportional_child need weights that are not negative. Where a score is negative, all are moved by
-- the same: s - min + (max - min) / n, so that the worst keeps a share, and neither scale nor place of the scores
-- matters. All zero or all equal: all alike.

local selection = {}

--- The names of the rules, sorted.
---@type string[]
selection.rules = {}

--- The probabilities of members in their order. Raises for an unknown rule or option.
---@param rule string
---@param members { value: number?, children: integer? }[] | { scores: number[], children: integer[]? }
---@param metric apsis.direction.Metric
---@param options? { alpha: number? } alpha of power_law, default 1
---@return number[]
function selection.probabilities(rule, members, metric, options) end

--- One of a list by its probabilities; nil for an empty list. Raises if the lists differ in length.
---@generic T
---@param rng apsis.random.Stream
---@param list T[]
---@param probabilities number[]
---@return T?
function selection.pick(rng, list, probabilities) end

return selection
