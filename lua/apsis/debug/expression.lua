-- expression: a Lua expression at a step: it sees `run`, what the hook was given by its usual name, `returned`,
-- `memory`, the locals of the strategy's file, and what else a strategy sees. Runs under the guard, as hooks do.
local contract = require "apsis.core.strategy"
local guard = require "apsis.guard"
local sandbox = require "apsis.core.sandbox"
local steps = require "apsis.debug.step"
local suggest = require "apsis.suggest"
local wait = require "apsis.wait"

local expression = {}

local LOOK <const> = 100000 -- instructions, between two looks for Ctrl-C

-- A local of the strategy's file that one of its hooks uses, this step's first: true and its value.
local function local_of(step, wanted)
  local list = { step.body }
  for _, name in ipairs(contract.hooks) do list[#list + 1] = step.bodies[name] end
  for _, body in ipairs(list) do
    for index = 1, math.maxinteger do
      local name, value = debug.getupvalue(body, index)
      if not name then break end
      if name == wanted and name ~= "_ENV" then return true, value end
    end
  end
end

-- What an expression may name, at whatever step.
local named = { "run", "memory", "returned" }
local known = { run = true, memory = true, returned = true }
for _, arguments in pairs(steps.arguments) do
  for _, name in ipairs(arguments) do
    if not known[name] then named[#named + 1] = name end
    known[name] = true
  end
end

local function unknown(name)
  error(("%s is no name here%s; a local inside a hook is gone when the hook has ended: print it there"):format(name,
    suggest.sentence(name, named)), 0)
end

-- What a name is at a step.
local function value_of(step, globals, name)
  if name == "run" then return step.run end
  if name == "memory" then return step.run.memory end
  if name == "returned" then return step.returned and step.returned[1] end
  for index, argument in ipairs(steps.arguments[step.hook]) do
    if argument == name then return step.passed[index] end
  end
  local found, value = local_of(step, name)
  if found then return value end
  local value_there = globals[name]
  if value_there == nil and not known[name] then unknown(name) end
  return value_there
end

-- A function of a step that gives true and the values, or false and the message; nil, message: it is no expression.
function expression.new(text)
  local step
  local globals = sandbox.new(require)
  local env = setmetatable({}, { __index = function(_, name) return value_of(step, globals, name) end,
    __newindex = function(_, name) error(("an expression does not set %s"):format(name), 2) end })
  local chunk, message = load("return " .. text, "=" .. text, "t", env)
  if not chunk then return nil, (message:gsub("^.-:%d+: ", "", 1)) end
  return function(at)
    step = at
    local before = wait.interrupts()
    debug.sethook(function()
      if wait.interrupts() > before then error("ended by Ctrl-C", 0) end
    end, "", LOOK)
    local found = table.pack(guard.call(chunk))
    debug.sethook()
    if not found[1] then return false, (found[2]:gsub("\nstack traceback:.*$", ""):gsub("^[^\n]-:%d+: ", "", 1)) end
    return table.unpack(found, 1, found.n)
  end
end

return expression
