-- tasks: coroutines over apsis.wait: N experiments in flight in one Lua state. A task yields a handle (a process, a
-- timer) and goes on when it is done, or parks until another task wakes it. Mutexes keep hooks one at a time, first
-- come first served. Knows nothing of experiments.
local guard = require "apsis.guard"
local wait = require "apsis.wait"

local tasks = {}

local Scheduler = {}
Scheduler.__index = Scheduler

local PARK = setmetatable({}, { __tostring = function() return "parked" end })

function tasks.new()
  return setmetatable({ ready = {}, first = 1, last = 0, waiting = {}, count = 0 }, Scheduler)
end

local function push(self, co, ...)
  self.last = self.last + 1
  self.ready[self.last] = table.pack(co, ...)
end

-- Runs body(...) as a task.
function Scheduler:spawn(body, ...)
  self.count = self.count + 1
  push(self, coroutine.create(body), ...)
end

-- In a task that never waits: gives way once in `every` calls, so that what else waits goes on and an interrupt is
-- seen.
function Scheduler:breathe(every)
  self.breaths = (self.breaths or 0) + 1
  if self.breaths % every > 0 then return end
  push(self, coroutine.running())
  coroutine.yield(PARK)
end

-- In a task: gives way until wake(token) is called; returns what wake passes.
function Scheduler:park(token)
  token.parked = coroutine.running()
  return coroutine.yield(PARK)
end

function Scheduler:wake(token, ...)
  local co = token.parked
  if co then
    token.parked = nil
    push(self, co, ...)
  end
end

local current -- the scheduler whose task runs

local function step(self, entry)
  local co = entry[1]
  wait.task(co)
  current = self
  local ok, handle = guard.resume(table.unpack(entry, 1, entry.n))
  current = nil
  wait.task(nil)
  if not ok then
    if type(handle) == "table" then error(handle) end
    error(debug.traceback(co, tostring(handle)), 0)
  elseif coroutine.status(co) == "dead" then
    self.count = self.count - 1
  elseif handle ~= PARK then
    self.waiting[#self.waiting + 1] = { co, handle }
  end
end

local function poll(self, timeout_s)
  local again_s = self.before_wait and self.before_wait() -- asks to be called again so soon
  if again_s and not timeout_s then timeout_s = again_s end
  local handles = {}
  for index, entry in ipairs(self.waiting) do handles[index] = entry[2] end
  local done, interrupts = wait.any(handles, timeout_s)
  if not done then error({ fatal = true, message = interrupts, code = 3 }) end
  for position = #done, 1, -1 do
    local entry = table.remove(self.waiting, done[position])
    push(self, entry[1])
  end
  return interrupts
end

-- Runs until no task is left or interrupted(count) returns true.
function Scheduler:run(interrupted)
  local polled = 0
  while self.count > 0 do
    if self.first <= self.last then
      local entry = self.ready[self.first]
      self.ready[self.first] = nil
      self.first = self.first + 1
      step(self, entry)
      polled = polled + 1
    end
    local idle = self.first > self.last
    if self.count > 0 and (idle or polled >= 64) then
      polled = 0
      if idle and #self.waiting == 0 then
        if not (self.advance and self.advance()) then error("every task is parked: nothing can wake them", 0) end
      elseif interrupted(poll(self, not idle and 0 or nil)) then return false end
    end
  end
  return true
end

-- Ends every process that a task still waits for, at once, and the task: what it has to close is closed.
function Scheduler:abandon()
  for _, entry in ipairs(self.waiting) do entry[2]:close() end
  for _, entry in ipairs(self.waiting) do coroutine.close(entry[1]) end
  for index = self.first, self.last do coroutine.close(self.ready[index][1]) end
  self.waiting, self.ready, self.first, self.last, self.count = {}, {}, 1, 0, 0
end

-- Runs a body beside the task that asks; true. nil if there is no scheduler.
function tasks.beside(body)
  if not current then return nil end
  current:spawn(body)
  return true
end

-- Runs every body to its end and returns their results in order: in a task side by side, anywhere else one after
-- another.
function tasks.together(bodies)
  local results, left, token, self = {}, #bodies, {}, current
  if left < 2 or not self or wait.task() ~= coroutine.running() then
    for index, body in ipairs(bodies) do results[index] = body() end
    return results
  end
  for index, body in ipairs(bodies) do
    self:spawn(function()
      results[index] = body()
      left = left - 1
      if left == 0 then self:wake(token) end
    end)
  end
  self:park(token)
  return results
end

local Mutex = {}
Mutex.__index = Mutex

function Scheduler:mutex()
  return setmetatable({ scheduler = self, queue = {}, held = false }, Mutex)
end

function Mutex:lock()
  if not self.held then
    self.held = true
    return
  end
  local token = {}
  self.queue[#self.queue + 1] = token
  self.scheduler:park(token)
end

function Mutex:unlock()
  if self.queue[1] then self.scheduler:wake(table.remove(self.queue, 1)) -- the lock passes on, held
  else self.held = false end
end

return tasks
