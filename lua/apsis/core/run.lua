-- run: what a hook is given: read-only but for run.memory in init and learn. A view holds what is an experiment's own
-- (its number, the clock, the random streams, which hook is running); all else is read from the engine when asked for.
-- What a hook gets is the view's face, an empty table through which nothing can be written.
local legible = require "apsis.core.legible"
local random = require "apsis.random"
local sandbox = require "apsis.core.sandbox"
local suggest = require "apsis.suggest"

local run = {}

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

-- What is read from the history as it is now, and what is worked out when asked for.
local folded = { best = true, current = true, baseline = true, since_kept = true, since_best = true }
local getters = {}

function getters.free(_, engine) return engine:may_start() end

function getters.budget(_, engine) return engine.budget:table() end

function getters.directions(view, engine) return engine.world:directions(view.experiment) end

-- The names of the provider's models, the manifest's order; a list of the caller's own.
function getters.models(_, engine)
  local names = engine.models.names
  return table.move(names, 1, #names, 1, {})
end

function getters.history(_, engine)
  engine.history_face = engine.history_face or history_face(engine)
  return engine.history_face
end

function getters.front(_, engine)
  return engine.front and engine.front:records() or { engine.history.best }
end

function getters.pending(_, engine) return engine:pending() end

function getters.rng(view, engine)
  local part, key = view.part, view.hook
  if part then key = key .. ":" .. part.index end
  local streams = view.streams
  if not streams then
    streams = {}
    view.streams = streams
  end
  if not streams[key] then streams[key] = random.stream(engine.seed, view.experiment, key) end
  return streams[key]
end

-- Both run.get(id) and run:get(id) are accepted, as for recent and log.
local function method(body)
  return function(view, engine)
    return function(first, ...)
      if first == view.face then return body(engine, view, ...) end
      return body(engine, view, first, ...)
    end
  end
end

function getters.metric(_, engine) return engine.shown_metric or engine.metric end
function getters.metrics(_, engine) return engine.metrics end
function getters.tie_breaker(_, engine) return engine.tie_breaker end
function getters.project(_, engine) return engine.project end
function getters.name(_, engine) return engine.name end
function getters.seed(_, engine) return engine.seed end

getters.get = method(function(engine, _, id) return engine.history:get(id) end)

-- The experiments that began from a candidate.
getters.children = method(function(engine, _, id)
  if type(id) == "table" then id = id.id end
  if type(id) ~= "string" then error("run.children needs a candidate, or the id of one", 2) end
  return engine.history:children(id)
end)

-- The newest n records since what measures has changed, newest first.
getters.recent = method(function(engine, _, count)
  local list, history = {}, engine.history
  for index = history.count, math.max(1, history.renewed, history.count - (count or 10) + 1), -1 do
    list[#list + 1] = history:at(index)
  end
  return list
end)

getters.log = method(function(engine, view, ...)
  local parts = table.pack(...)
  for index = 1, parts.n do parts[index] = legible(parts[index]) end
  engine.world:log("info", ("experiment %d: %s"):format(view.experiment, table.concat(parts, " ")))
end)

getters.sub = method(function(engine, view, part) return run.sub(engine, view, part).face end)

local own = { experiment = true, now = true, options = true, memory = true }

local function unknown(key)
  local names = {}
  for _, fields in ipairs { folded, getters, own } do
    for name in pairs(fields) do names[#names + 1] = name end
  end
  table.sort(names)
  error(("a run has no field %q%s"):format(tostring(key), suggest.sentence(tostring(key), names)), 3)
end

-- How a view looks up what it lacks: one function for all views of an engine.
local function class_of(engine)
  local history = engine.history
  return { __index = function(view, key)
    if folded[key] then return history[key] end
    local getter = getters[key]
    if getter then return getter(view, engine) end
    unknown(key)
  end }
end

local function refuse(_, key)
  error(("run.%s: a run is read-only; run.memory (in init and learn) is where a strategy remembers"):format(
    tostring(key)), 2)
end

-- The view of an experiment; with a part: as that sub-strategy sees it.
function run.view(engine, number, now, part)
  engine.view_class = engine.view_class or class_of(engine)
  local owner = part or engine.strategy
  owner.memory = owner.memory or new_memory(engine)
  local view = setmetatable({ hook = "init", streams = false, part = part or false, experiment = number, now = now,
    options = owner.options, memory = owner.memory, face = nil }, engine.view_class)
  view.face = setmetatable({}, { __index = view, __newindex = refuse })
  return view
end

-- The same run seen by a sub-strategy: its own options and memory, its own streams beside those of the whole.
function run.sub(engine, view, part)
  local sub = run.view(engine, view.experiment, view.now, part)
  view.streams = view.streams or {}
  sub.hook, sub.streams = view.hook, view.streams
  return sub
end

return run
