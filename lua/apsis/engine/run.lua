-- run: what a hook is given. One view per experiment over the engine's state: read-only but for run.memory in init and learn.
-- A view knows which hook is running, so that run.rng is that hook's own stream (seed, experiment, hook).
local journal = require "apsis.engine.journal"
local random = require "apsis.random"
local sandbox = require "apsis.engine.sandbox"
local suggest = require "apsis.suggest"

local run = {}

local View = {}

-- Memory: reads go through; writes raise unless init or learn is running.
local function new_memory(engine)
  local store = {}
  return setmetatable({}, {
    __index = store,
    __newindex = function(_, key, value)
      if not engine.may_write then
        error("only init and learn may write run.memory: what plan must remember is read from run.pending", 2)
      end
      store[key] = value
    end,
    __pairs = function() return sandbox.sorted_pairs(store) end,
    __len = function() return #store end,
  })
end

local function history_face(engine)
  return setmetatable({}, {
    __index = function(_, index) return engine.history:at(index) end,
    __len = function() return engine.history.count end,
    __newindex = function() error("run.history is read-only", 2) end,
  })
end

local getters = {}

for _, name in ipairs { "best", "current", "baseline", "since_kept", "since_best" } do
  getters[name] = function(_, engine) return engine.history[name] end
end
for _, name in ipairs { "metric", "metrics", "tie_breaker", "project", "name", "seed" } do
  getters[name] = function(_, engine) return engine[name] end
end

function getters.experiment(view) return view.at.number end
function getters.now(view) return view.at.now end
function getters.free(_, engine) return engine:may_start() end
function getters.budget(_, engine) return engine.budget:table() end
function getters.directions(_, engine) return engine.world:directions() end
function getters.options(view, engine) return (rawget(view, "part") or engine.strategy).options end

-- The names of the provider's models, the manifest's order; a list of the caller's own.
function getters.models(_, engine)
  local names = engine.models.names
  return table.move(names, 1, #names, 1, {})
end

function getters.history(_, engine)
  engine.history_face = engine.history_face or history_face(engine)
  return engine.history_face
end

function getters.memory(view, engine)
  local owner = rawget(view, "part") or engine.strategy
  owner.memory = owner.memory or new_memory(engine)
  return owner.memory
end

function getters.pending(_, engine)
  local list = {}
  for _, number in ipairs(engine:in_flight()) do list[#list + 1] = engine.slots[number].proposal end
  return list
end

function getters.rng(view, engine)
  local at = view.at
  local part, key = rawget(view, "part"), at.hook
  if part then key = key .. ":" .. part.index end
  local streams = at.streams
  if not streams[key] then streams[key] = random.stream(engine.seed, at.number, key) end
  return streams[key]
end

-- Both run.get(id) and run:get(id) are accepted, as for recent and log.
local function method(body)
  return function(view, engine)
    return function(first, ...)
      if first == view then return body(engine, view, ...) end
      return body(engine, view, first, ...)
    end
  end
end

getters.get = method(function(engine, _, id) return engine.history:get(id) end)

-- The newest n records, newest first.
getters.recent = method(function(engine, _, count)
  local list, history = {}, engine.history
  for index = history.count, math.max(1, history.count - (count or 10) + 1), -1 do list[#list + 1] = history:at(index) end
  return list
end)

getters.log = method(function(engine, view, ...)
  local parts = table.pack(...)
  for index = 1, parts.n do parts[index] = tostring(parts[index]) end
  engine.world:log("info", ("experiment %d: %s"):format(view.at.number, table.concat(parts, " ")))
end)

-- The same run seen by a sub-strategy: its own options, memory and streams.
getters.sub = method(function(engine, view, part)
  return run.view(engine, view.at, part)
end)

function View.__index(view, key)
  local getter = getters[key]
  if getter then return getter(view, rawget(view, "engine")) end
  local names = {}
  for name in pairs(getters) do names[#names + 1] = name end
  table.sort(names)
  error(("a run has no field %q%s"):format(tostring(key), suggest.sentence(tostring(key), names)), 2)
end

function View.__newindex(_, key)
  error(("run.%s: a run is read-only; run.memory (in init and learn) is where a strategy remembers"):format(tostring(key)), 2)
end

-- at = { number, now, hook, streams }: shared by the views of one experiment.
function run.view(engine, at, part)
  return setmetatable({ engine = engine, at = at, part = part }, View)
end

function run.at(number, now)
  return { number = number, now = now, hook = "init", streams = {} }
end

run.id = journal.id
return run
