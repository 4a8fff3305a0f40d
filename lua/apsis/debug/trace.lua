-- trace: `--trace FILE` of run, replay and lab: each call of a hook as a line of JSON, what it was given and returned,
-- what init and learn changed in memory, what run.log and print wrote. The file is written as hooks end.
local fs = require "apsis.fs"
local host = require "apsis.host"
local json = require "apsis.json"
local memory = require "apsis.debug.memory"
local observe = require "apsis.debug.observe"
local sandbox = require "apsis.core.sandbox"
local steps = require "apsis.debug.step"

local trace = {}

local BUFFER <const> = 1 << 20 -- a line is one write, so that those of several processes do not mix
local VARIABLE <const> = "APSIS_TRACE" -- how the lab's worker processes know the file

local path -- of the file; nil: nothing is traced
local replaces -- it is emptied before its first line
local file -- once it is open

-- The steps in each task that have not ended, the innermost; hooks of several experiments may wait at once.
local open = setmetatable({}, { __mode = "k" })

local function give_up(message)
  io.stderr:write("apsis: --trace: cannot write ", path, ": ", tostring(message), "; the trace ends here\n")
  path = nil
end

local function empty()
  fs.write(path, "") -- if it cannot be, the first line has the message
  replaces = nil
end

local function write(self, step)
  if not path then return end
  steps.note_after(step)
  self.count = self.count + 1
  step.number = self.count
  local engine = self.engine
  local text = steps.json(step, { strategy = engine.strategy.name, project = engine.name, seed = engine.seed })
  local ok, message = true, nil
  if not file then
    file, message = io.open(path, "ab") -- a file of the user's: a link is followed
    ok = file and file:setvbuf("full", BUFFER)
  end
  if ok then ok, message = file:write(text, "\n") end
  if ok then ok, message = file:flush() end
  if not ok then give_up(message) end
end

local remembers <const> = { init = true, learn = true }

local function begin(strategy, owner, name, body, run, ...)
  local task = coroutine.running()
  local step = { hook = name, owner = owner, part = owner ~= strategy and owner.name or nil, body = body, run = run,
    experiment = run.experiment, passed = table.pack(...), printed = {}, outer = open[task], task = task }
  open[task] = step
  steps.note_given(step)
  if remembers[name] then step.before = memory.picture(owner) end
  return step
end

-- why: the error that ended the hook. A hook that is abandoned while it waits has neither returned nor failed.
local function finish(self, step, why)
  open[step.task] = step.outer
  step.failed = not step.returned and why and tostring(why) or nil
  if step.returned or step.failed then write(self, step) end
end

local function around(self, owner, name, hook, run, ...)
  local step <close> = setmetatable(begin(self.engine.strategy, owner, name, hook, run, ...),
    { __close = function(step, why) finish(self, step, why) end })
  step.returned = table.pack(hook(run, ...))
  return table.unpack(step.returned, 1, step.returned.n)
end

local function note(text)
  local step = open[coroutine.running()]
  if step then table.insert(step.printed, text) end
end

local function hear_log(world)
  local log = world.log
  function world.log(self, level, text)
    if level == "info" then note(text .. "\n") end
    return log(self, level, text)
  end
end

-- An engine that is made while a trace is written is traced.
function trace.engine(engine)
  path = path or os.getenv(VARIABLE)
  if not path then return end
  if replaces then empty() end
  sandbox.heard = note
  local self = { engine = engine, count = 0 }
  observe.hooks(engine.strategy, function(...) return around(self, ...) end)
  hear_log(engine.world)
end

-- Whether a file may be emptied: it is empty, or begins as a trace does.
local function is_ours(bytes)
  local first = json.decode(bytes:match "^[^\n]*", true)
  return bytes == "" or type(first) == "table" and first.hook ~= nil and first.given ~= nil
end

-- From here on engines are traced into a file, which is new, empty, or a trace that is replaced: true | nil, message.
function trace.to(name)
  local stat = fs.stat(name)
  if stat and stat.type == "file" then
    local bytes, refused = fs.read(name)
    if not bytes then return nil, refused end
    if not is_ours(bytes) then return nil, name .. ": this file is no trace; name a new one, or remove it first" end
  end
  local made, message = io.open(name, "ab")
  if not made then return nil, message end
  made:close()
  path, replaces = fs.realpath(name) or name, true
  return true
end

-- The same for processes that this one starts.
function trace.pass_on()
  empty()
  host.setenv(VARIABLE, path)
end

return trace
