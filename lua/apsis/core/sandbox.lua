-- sandbox: the globals a strategy file sees. The same Lua, less what would make a run impossible to do again: pairs
-- visits keys in sorted order, and math.random, os.time and os.clock raise. Coroutines are watched by the guard.
local guard = require "apsis.guard"

local sandbox = {}

local function sorted_pairs(t)
  local meta = getmetatable(t)
  if meta and meta.__pairs then return meta.__pairs(t) end
  local numbers, strings = {}, {}
  for key in next, t do
    local kind = type(key)
    if kind == "number" then numbers[#numbers + 1] = key
    elseif kind == "string" then strings[#strings + 1] = key
    else error(("pairs in a strategy visits keys in sorted order; a %s key has none"):format(kind), 2) end
  end
  table.sort(numbers)
  table.sort(strings)
  table.move(strings, 1, #strings, #numbers + 1, numbers)
  local index = 0
  return function()
    local key, value
    repeat -- keys removed while visiting are passed over
      index = index + 1
      key = numbers[index]
      value = key ~= nil and rawget(t, key) or nil
      if key ~= nil and value == nil and rawget(t, key) == false then value = false end
    until key == nil or value ~= nil
    return key, value
  end, t, nil
end

-- What replaces a function that would make a run impossible to repeat; whose: "strategies" or "worlds".
function sandbox.refused(whose, name, instead)
  return function() error(("%s is not for %s: it would make the run impossible to repeat; use %s"):format(name, whose,
    instead), 2) end
end

local function refused(name, instead)
  return sandbox.refused("strategies", name, instead)
end

local function copy(from)
  local to = {}
  for key, value in next, from do to[key] = value end
  return to
end
sandbox.copy = copy

local function watched_coroutines()
  local watched, depth = copy(coroutine), 0
  local function leave(outer, ...)
    depth = depth - 1
    guard.leave(outer)
    return ...
  end
  function watched.yield(...)
    if depth == 0 then error("a hook may wait for a handle, but not yield anything else", 2) end
    return coroutine.yield(...)
  end
  function watched.resume(co, ...)
    depth = depth + 1
    return leave(guard.enter(co), coroutine.resume(co, ...))
  end
  function watched.wrap(body)
    local co = coroutine.create(body)
    local function finish(ok, ...)
      if not ok then error((...), 0) end
      return ...
    end
    return function(...) return finish(watched.resume(co, ...)) end
  end
  return watched
end

-- While a reason is set, the primitives that wait or touch the world raise it (learn may not use them).
local forbidden

function sandbox.forbid(reason)
  forbidden = reason
end

local touching = { ["apsis.process"] = true, ["apsis.git"] = true, ["apsis.wait"] = true, ["apsis.http"] = true,
  ["apsis.fs"] = true, ["apsis.server"] = true, ["apsis.standby"] = true, ["apsis.state"] = true,
  ["apsis.terminal"] = true }

-- A module as a strategy sees it: those that touch the world ask first whether they may.
function sandbox.module(name, module)
  if not touching[name] or type(module) ~= "table" then return module end
  return setmetatable({}, { __index = function(_, key)
    local value = module[key]
    if type(value) ~= "function" then return value end
    return function(...)
      if forbidden then error(forbidden, 2) end
      return value(...)
    end
  end })
end

-- A finalizer runs at a moment that no run repeats, and neither the guard nor Ctrl-C can stop it.
local function without_finalizers(t, meta)
  if type(meta) == "table" and rawget(meta, "__gc") ~= nil then
    error("__gc is not for strategies: it would run at a different moment in each run", 2)
  end
  return setmetatable(t, meta)
end

-- stdout is the command's result; what a hook prints goes to stderr.
function sandbox.print(...)
  local parts = table.pack(...)
  for index = 1, parts.n do parts[index] = tostring(parts[index]) end
  local text = table.concat(parts, "\t") .. "\n"
  io.stderr:write(text)
  if sandbox.heard then sandbox.heard(text) end -- who else wants to know, a function
end

-- A fresh environment; require_module is the strategy's own require.
function sandbox.new(require_module)
  local env = copy(_G)
  env._G = env
  env.print = sandbox.print
  env.pairs = sorted_pairs
  env.require, env.setmetatable = require_module, without_finalizers
  function env.load(chunk, name, mode, own) return load(chunk, name, mode, own or env) end
  function env.loadfile(name, mode, own) return loadfile(name, mode, own or env) end
  function env.dofile(name) return assert(env.loadfile(name))() end
  for _, name in ipairs { "math", "string", "table", "utf8" } do env[name] = copy(_G[name]) end
  env.math.random = refused("math.random", "run.rng")
  env.math.randomseed = refused("math.randomseed", "run.rng")
  env.os = { getenv = os.getenv, date = refused("os.date", "run.now"), time = refused("os.time", "run.now"),
    clock = refused("os.clock", "run.now"), tmpname = os.tmpname, remove = os.remove, rename = os.rename }
  env.coroutine = watched_coroutines()
  env.debug = { traceback = debug.traceback }
  env.collectgarbage = function(what) return what == "count" and 0 or collectgarbage() end
  return env
end

sandbox.sorted_pairs = sorted_pairs
return sandbox
