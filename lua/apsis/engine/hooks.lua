-- hooks: calls a strategy's hook in a coroutine of its own under the guard, so that it may wait (the task yields for it) and
-- cannot run away. A hook that fails is a result: nil and the traceback. Called by loop, experiment and decide.
local guard = require "apsis.guard"
local sandbox = require "apsis.engine.sandbox"
local wait = require "apsis.wait"

local hooks = {}

-- A coroutine that runs one hook after another: what it yields with this mark are a hook's results. idle: those free to run.
local DONE, idle = {}, {}
local serve

local function await(...)
  return serve(coroutine.yield(DONE, ...))
end

serve = function(body, ...)
  return await(body(...))
end

-- A traceback without the frames that no strategy's author wrote or calls: apsis's own, and how errors are raised.
local function for_author(text)
  local message, frames = text:match("^(.-)\nstack traceback:\n(.*)$")
  if not message then return text end
  local kept = {}
  for frame in frames:gmatch("[^\n]+") do
    local own = frame:find("apsis/engine/", 1, true) or frame:find("apsis/live/", 1, true) or frame:find("apsis/cli/", 1, true)
    local noise = frame:find("^%s*%(%.%.%.tail calls%.%.%.%)$") or frame:find("%[C%]: in function 'error'$")
      or frame:find("%[C%]: in function 'assert'$")
    if not own and not noise then kept[#kept + 1] = frame:gsub("in %a+ 'body'$", "in the hook") end
  end
  if #kept == 0 then return message end
  return message .. "\nstack traceback:\n" .. table.concat(kept, "\n")
end

local step

-- What resuming a hook gave: its end, or a handle that the task waits for before the hook goes on.
local function stepped(may_wait, co, task, how, ticks, first, ...)
  wait.task(may_wait and task or nil)
  if how == "error" then return false, for_author(... or first) end
  if first == DONE then
    idle[#idle + 1] = co
    return true, ...
  end
  if not may_wait then return false, "a hook that may not wait yielded" end
  if type(first) ~= "userdata" then return false, "a hook may wait for a handle, but not yield anything else" end
  return step(may_wait, co, task, ticks, coroutine.yield(first))
end

step = function(may_wait, co, task, ticks, ...)
  wait.task(may_wait and co or nil)
  return stepped(may_wait, co, task, guard.resume(co, ticks, ...))
end

-- Runs body(...) guarded. may_wait: in a task, what the hook waits for is awaited by the task.
local function call(may_wait, body, ...)
  local co = table.remove(idle) or coroutine.create(serve)
  return step(may_wait, co, coroutine.running(), 0, body, ...)
end

hooks.guarded = call

local function called(engine, at, name, outer, ok, ...)
  at.hook = outer
  if not ok then return false, ("%s: hook %s: %s"):format(engine.strategy.where, name, (...)) end
  return true, ...
end

-- call(engine, at, name, ...): true and the hook's results, or false and the traceback.
function hooks.call(engine, view, name, ...)
  local at = view.at
  local outer = at.hook
  at.hook = name
  return called(engine, at, name, outer, call(true, engine.strategy.hooks[name], view, ...))
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
