-- hooks: calls a strategy's hook in a coroutine of its own under the guard, so that it may wait (the task yields for it) and
-- cannot run away. A hook that fails is a result: nil and the traceback. Called by loop, experiment and decide.
local guard = require "apsis.guard"
local sandbox = require "apsis.engine.sandbox"
local wait = require "apsis.wait"

local hooks = {}

-- Runs body(...) guarded. may_wait: in a task, what the hook waits for is awaited by the task.
local function call(may_wait, body, ...)
  local co = coroutine.create(body)
  local task = coroutine.running()
  local ticks, results = 0, table.pack(...)
  while true do
    wait.task(may_wait and co or nil)
    results = table.pack(guard.resume(co, ticks, table.unpack(results, 1, results.n)))
    wait.task(may_wait and task or nil)
    ticks = results[2]
    if results[1] == "done" then return true, table.unpack(results, 3, results.n) end
    if results[1] == "error" then return false, results[4] or results[3] end
    if not may_wait then return false, "a hook that may not wait yielded" end
    if type(results[3]) ~= "userdata" then return false, "a hook may wait for a handle, but not yield anything else" end
    results = table.pack(coroutine.yield(results[3]))
  end
end

hooks.guarded = call

-- call(engine, at, name, ...): true and the hook's results, or false and the traceback.
function hooks.call(engine, view, name, ...)
  local at = view.at
  local outer = at.hook
  at.hook = name
  local results = table.pack(call(true, engine.strategy.hooks[name], view, ...))
  at.hook = outer
  if not results[1] then
    return false, ("%s: hook %s: %s"):format(engine.strategy.where, name, results[2])
  end
  return table.unpack(results, 1, results.n)
end

local function part_call(engine, view, name, body, ...)
  view.at.hook = name
  engine.may_write = true
  sandbox.forbid(name == "learn" and "learn may not wait, read clocks, or touch git, processes or the network" or nil)
  local ok, message = call(false, body, view, ...)
  sandbox.forbid(nil)
  engine.may_write = false
  if not ok then return nil, ("%s: hook %s: %s"):format(engine.strategy.where, name, message), "ESTRATEGY" end
  return true
end

-- init or learn, of the sub-strategies first: the two that may write run.memory, and may not wait.
function hooks.remember(engine, view, name, ...)
  for _, part in ipairs(engine.strategy.subs) do
    local body = part.hooks[name]
    if body then
      local ok, message, code = part_call(engine, view.sub(part), name, body, ...)
      if not ok then return nil, message, code end
    end
  end
  local body = engine.strategy.hooks[name]
  if not body then return true end
  return part_call(engine, view, name, body, ...)
end

return hooks
