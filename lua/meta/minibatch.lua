---@meta apsis.minibatch
-- A few of many items for each experiment, each item once an epoch, as the epoch sampler of github.com/gepa-ai/gepa
-- takes them.

local minibatch = {}

--- The items of an experiment. Every epoch shuffles the names again, by a stream of the seed and the epoch; its last
--- share is filled up with its last names.
---@param seed integer
---@param number integer the experiment, from 1
---@param names string[]
---@param size integer how many
---@return string[]
function minibatch.items(seed, number, names, size) end

return minibatch
