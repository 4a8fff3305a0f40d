---@meta apsis.strategy
-- Building a strategy out of others. Both functions are for the top level of a strategy file and raise elsewhere.

local strategy = {}

--- A copy of a base strategy with some hooks overridden; options are merged. base: a shipped name, a path to a .lua
--- file, or a strategy's table. Raises if the base cannot be loaded, naming the file.
---@param base string|apsis.Strategy
---@param overrides apsis.Strategy
---@return apsis.Strategy
function strategy.extend(base, overrides) end

--- A sub-strategy with its own memory, options and random streams; it sees every journal line. Its hooks are called
--- with the run: `local climb = strategy.use("hillclimb", { patience = 5 })`, then `climb.plan(run)`.
---@param name string|apsis.Strategy
---@param options? table<string, any>
---@return apsis.Strategy
function strategy.use(name, options) end

--- For the engine: runs body with the loaders that extend and use need.
---@param loader table
---@param body function
---@param ... any
---@return any ...
function strategy.with_loader(loader, body, ...) end

return strategy
