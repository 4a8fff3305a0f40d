---@meta apsis.prompt_pool
-- A pool of at most ten instructions for a model, each with how good the programs are that came of it (the share of all
-- programs that they are better than). UCB with an exploration of 1, and one in ten at random: ShinkaEvolve's evolution
-- of prompts, with its defaults.

local prompt_pool = {}

---@class apsis.PromptPool
local pool = {}

--- A pool with one text.
---@param text string may be ""
---@return apsis.PromptPool
function prompt_pool.new(text) end

--- Adds a text. If there are ten, the worst with three programs or more goes; the oldest, if none has three.
---@param text string
function pool:add(text) end

--- A program's value. The text that it came of gets the share of all programs so far that it is better than.
---@param metric apsis.direction.Metric
---@param value number
---@param number integer? the text's; nothing if it is gone
function pool:credit(metric, value, number) end

--- Which text to use next. Draws nothing if there is only one.
---@param rng apsis.random.Stream
---@return {text: string, number: integer}
function pool:pick(rng) end

return prompt_pool
