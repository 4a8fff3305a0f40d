---@meta apsis.model_bandit
-- Which model to ask next, by how much its answers improved on their parents, and by what they cost: the asymmetric UCB
-- of ShinkaEvolve (Lange et al., ShinkaEvolve: Towards Open-Ended and Sample-Efficient Program Evolution, 2025) with
-- its defaults: a reward exp(gain) - 1 that fades by 0.95 with each result, an exploration of 0.2 for those that are
-- not the best, and half of the score for being cheap.

local model_bandit = {}

---@class apsis.ModelBandit
local arms = {}

--- A bandit over models.
---@param names string[]
---@return apsis.ModelBandit
function model_bandit.new(names) end

--- A question was sent to a model. Nothing for an unknown one, as in the other methods.
---@param name string?
function arms:ask(name) end

--- What an answer cost.
---@param name string?
---@param cost number
function arms:pay(name, cost) end

--- The result of an answer: how much it improved on the better of its parent and the baseline.
---@param name string?
---@param gain number? nil: it could not be measured
function arms:learn(name, gain) end

--- The probability of each model, in the order of the names.
---@param pending apsis.Proposal[] those in flight, which count as asked
---@return number[]
function arms:probabilities(pending) end

--- A model by these probabilities; nil if there are fewer than two.
---@param rng apsis.random.Stream
---@param pending apsis.Proposal[]
---@return string?
function arms:pick(rng, pending) end

return model_bandit
