-- watch: a strategy whose hooks are watched while it runs: what they change that they must not, which globals they use,
-- and what accept answers. Decides nothing; check makes faults of it.
local contract = require "apsis.core.strategy"
local state = require "apsis.lab.check.state"

local watch = {}

local Watched = {}
Watched.__index = Watched

-- The table behind run.memory.
local function store_of(memory)
  return memory and getmetatable(memory).__index or {}
end

-- What a hook other than init must leave as it is; first: what it gets beside the run.
local function picture(self, hook, first)
  local into, engine = {}, self.engine
  local strategy, history = engine.strategy, engine.history
  if hook ~= "learn" then
    state.of_table(into, "run.memory", store_of(strategy.memory))
    for _, part in ipairs(strategy.subs) do
      state.of_table(into, ("run.memory of %s"):format(part.name), store_of(part.memory))
    end
  end
  state.of_table(into, "run.options", strategy.options)
  if hook == "learn" then state.of_table(into, "candidate", first) end
  state.of_table(into, "run.best", history.best or {})
  if history.current ~= history.best then state.of_table(into, "run.current", history.current or {}) end
  return into
end

-- Notes something once; level: of the function that did it.
local function note(self, kind, name, level)
  local key = kind .. " " .. tostring(name)
  if self.noted[key] then return end
  local at = level and debug.getinfo(level, "Sl")
  local found = { kind = kind, name = tostring(name), hook = self.inside, line = at and at.currentline or nil,
    source = at and at.source or nil }
  self.noted[key], self.noted[#self.noted + 1] = found, found
end

local function watch_globals(self, env)
  setmetatable(env, {
    __newindex = function(globals, name, value)
      note(self, "writes", name, 3)
      rawset(globals, name, value)
    end,
    __index = function(_, name)
      if self.inside then note(self, "reads", name, 3) end
    end,
  })
end

local function note_accept(self, candidate, answers)
  local accepts, keep = self.accepts, answers[1]
  accepts.calls = accepts.calls + 1
  if answers.n == 0 then accepts.silent = accepts.silent + 1 end
  if keep == "measure" then return end
  local better = self.engine.metric:better(candidate, self.engine.history.best)
  local name = (better and "better" or "worse") .. (keep and "_kept" or "_refused")
  accepts[name] = accepts[name] + 1
end

-- After a hook: what it has changed. While it waited others may have learned, and what they change is not its doing.
local function after(self, name, before, count, first, answers)
  self.inside = nil
  if name == "accept" then note_accept(self, first, answers) end
  if before and count == self.engine.history.count then
    local changed = state.difference(before, picture(self, name, first))
    if changed then
      self.inside = name
      note(self, "changes", changed)
      self.inside = nil
    end
  end
  return table.unpack(answers, 1, answers.n)
end

local function watched_hook(self, name, body)
  return function(run, first, ...)
    local before = name ~= "init" and picture(self, name, first) or nil
    local count = self.engine.history.count
    self.inside = name
    return after(self, name, before, count, first, table.pack(body(run, first, ...)))
  end
end

-- load(spec) -> watched { strategy, noted = { {kind = "writes", "reads" or "changes", name, hook, line, source}... },
-- accepts = { calls, silent (without a value), better_kept, better_refused, worse_kept, worse_refused }, state (as it
-- was loaded) } | nil, message, noted. watched.engine must be set before a hook is called.
function watch.load(spec)
  local self = setmetatable({ noted = {}, accepts = { calls = 0, silent = 0, better_kept = 0, better_refused = 0,
    worse_kept = 0, worse_refused = 0 } }, Watched)
  local strategy, message = contract.load { use = spec.use, options = spec.options, dir = spec.dir,
    prepare = function(env) watch_globals(self, env) end }
  if not strategy then return nil, message, self.noted end
  self.strategy, self.hooks, self.state = strategy, strategy.hooks, state.of_strategy(strategy)
  local hooks = setmetatable({}, { __index = strategy.hooks })
  for _, name in ipairs(contract.hooks) do
    if strategy.own[name] then hooks[name] = watched_hook(self, name, strategy.own[name]) end
  end
  strategy.hooks = hooks
  return self
end

-- The strategy as it is after a run, with what its file keeps, but without memory: for a fold from the start.
function Watched:used()
  local strategy = self.strategy
  strategy.hooks, strategy.memory = self.hooks, nil
  for _, part in ipairs(strategy.subs) do part.memory = nil end
  return strategy
end

return watch
