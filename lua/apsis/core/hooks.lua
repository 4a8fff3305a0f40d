-- hooks: calls a strategy's hook under the guard, in the caller's task, so that it may wait and cannot run away. A hook
-- that fails is a result: false and the traceback. Called by the rest of core.
local guard = require "apsis.guard"
local run = require "apsis.core.run"
local sandbox = require "apsis.core.sandbox"

local hooks = {}

local guarded = guard.call

-- Frames that no strategy's author wrote or calls: apsis's own, and how errors are raised.
local own = { "^%s*%(%.%.%.tail calls%.%.%.%)$", "%[C%]: in function 'error'$", "%[C%]: in function 'assert'$",
  "%[C%]: in function 'apsis%.guard%.", "%[C%]: in function 'x?pcall'$", "%[C%]: in %?$", "apsis/%l+/[%l_/]+%.lua:",
  "apsis/prompt%.lua:" }

local function is_own(frame)
  for _, pattern in ipairs(own) do
    if frame:find(pattern) then return true end
  end
end

-- A message with a traceback, without those frames.
local function for_author(text)
  local message, frames = text:match("^(.-)\nstack traceback:\n(.*)$")
  if not message then return text end
  local kept = {}
  for frame in frames:gmatch("[^\n]+") do
    if not is_own(frame) then kept[#kept + 1] = frame end
  end
  if #kept == 0 or not message:find ":%d+: " then return message end -- error(message, 0): for users
  return message .. "\nstack traceback:\n" .. table.concat(kept, "\n")
end

local function for_caller(ok, ...)
  if ok then return true, ... end
  return false, for_author(...)
end

-- Runs body(...) guarded: true and its results, or false and the message with a traceback.
function hooks.guarded(body, ...)
  return for_caller(guarded(body, ...))
end

local function called(engine, name, ok, ...)
  if ok then return true, ... end
  return false, ("%s: hook %s: %s"):format(engine.strategy.where, name, for_author(...))
end

-- call(engine, view, name, ...): true and the hook's results, or false and the traceback.
function hooks.call(engine, view, name, ...)
  view.hook = name
  return called(engine, name, guarded(engine.strategy.hooks[name], view.face, ...))
end

local function part_call(engine, view, name, body, ...)
  view.hook = name
  engine.may_write = true
  sandbox.forbid(name == "learn" and "learn may not wait, read clocks, or touch git, processes or the network" or nil)
  local ok, message = guarded(body, view.face, ...)
  sandbox.forbid(nil)
  engine.may_write = false
  if not ok then
    return nil, ("%s: hook %s: %s"):format(engine.strategy.where, name, for_author(message)), "ESTRATEGY"
  end
  return true
end

-- init or learn, of the sub-strategies first: the two that may write run.memory. learn may not wait.
function hooks.remember(engine, view, name, ...)
  for _, part in ipairs(engine.strategy.subs) do
    local body = part.hooks[name]
    if body then
      local ok, message, code = part_call(engine, run.sub(engine, view, part), name, body, ...)
      if not ok then return nil, message, code end
    end
  end
  local body = engine.strategy.hooks[name]
  if not body then return true end
  return part_call(engine, view, name, body, ...)
end

return hooks
