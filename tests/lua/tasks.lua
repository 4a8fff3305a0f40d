-- tasks: who goes on when: in order of their coming, while others wait; a lock passes on; and what ends all of them.
local tap = require "tap"
local tasks = require "apsis.core.tasks"
local wait = require "apsis.wait"
local test, equal = tap.test, tap.equal

local function never() return false end

-- Runs bodies as tasks until all have ended.
local function run(...)
  local scheduler = tasks.new()
  for _, body in ipairs { ... } do scheduler:spawn(body, scheduler) end
  return scheduler:run(never), scheduler
end

test("tasks begin in order, with what they were given, and give way where they breathe", function()
  local seen = {}
  local function body(name)
    return function(scheduler)
      for turn = 1, 3 do
        seen[#seen + 1] = name .. turn
        scheduler:breathe(2)
      end
    end
  end
  equal((run(body "a", body "b")), true)
  -- Every second breath of all gives way.
  equal(seen, { "a1", "a2", "b1", "b2", "a3", "b3" })
  equal((run()), true)
end)

test("who is parked goes on with what it is woken with; nobody is woken twice", function()
  local token, got = {}, nil
  equal((run(function(scheduler) got = table.pack(scheduler:park(token)) end, function(scheduler)
    scheduler:wake(token, 1, nil, 3)
    scheduler:wake(token, "again")
  end)), true)
  equal(got, { 1, nil, 3, n = 3 })
end)

test("a lock is passed on to who waits for it, first come first served, and is free in the end", function()
  local seen, lock = {}, nil
  local function body(name)
    return function(scheduler)
      lock = lock or scheduler:mutex()
      lock:lock()
      seen[#seen + 1] = name .. " in"
      scheduler:breathe(1)
      seen[#seen + 1] = name .. " out"
      lock:unlock()
    end
  end
  run(body "a", body "b", body "c")
  equal(seen, { "a in", "a out", "b in", "b out", "c in", "c out" })
  equal({ lock.held, #lock.queue }, { false, 0 })
  lock:lock()
  equal(lock.held, true)
end)

test("bodies together are side by side in a task, one after another elsewhere, and their results are in order", function()
  local seen = {}
  local function body(name, seconds)
    return function()
      seen[#seen + 1] = name
      wait.sleep(seconds)
      seen[#seen + 1] = name .. "!"
      return name
    end
  end
  equal(tasks.together { body("a", 0.002), body("b", 0) }, { "a", "b" })
  equal(seen, { "a", "a!", "b", "b!" })
  seen = {}
  local results
  run(function() results = tasks.together { body("a", 60e-3), body("b", 0) } end)
  equal({ results, seen }, { { "a", "b" }, { "a", "b", "b!", "a!" } })
  seen = {}
  run(function() results = tasks.together { body("a", 0) } end)
  equal({ results, seen }, { { "a" }, { "a", "a!" } })
  equal(tasks.together {}, {})
end)

test("a body beside a task runs with it; without one there is nobody to run it", function()
  local seen = {}
  equal(tasks.beside(error), nil)
  run(function()
    equal(tasks.beside(function() seen[#seen + 1] = "beside" end), true)
    seen[#seen + 1] = "asked"
  end)
  equal(seen, { "asked", "beside" })
  equal(tasks.beside(error), nil, "when all have ended")
end)

test("an error of a task ends the run: a table as it is, a text with the task's frames", function()
  local fatal = { fatal = true }
  local ok, raised = pcall(run, function() error(fatal) end)
  equal({ ok, raised == fatal }, { false, true })
  ok, raised = pcall(run, function() error "boom" end)
  equal(ok, false)
  tap.matches(raised, "^tasks.lua:%d+: boom\nstack traceback:\n.*tasks.lua:%d+: in ")
end)

test("tasks that are all parked are a mistake, unless simulated time passes", function()
  local scheduler, token, passed = tasks.new(), {}, 0
  scheduler:spawn(function() scheduler:park(token) end)
  local ok, raised = pcall(scheduler.run, scheduler, never)
  equal({ ok, raised }, { false, "every task is parked: nothing can wake them" })
  scheduler.advance = function()
    passed = passed + 1
    if passed == 3 then scheduler:wake(token) end
    return passed <= 3
  end
  equal({ scheduler:run(never), passed }, { true, 3 })
end)

test("a busy task does not keep others waiting, nor an interrupt", function()
  local scheduler, ended, asked = tasks.new(), nil, 0
  scheduler:spawn(function() ended = wait.sleep(0) end)
  scheduler:spawn(function()
    while not ended do scheduler:breathe(1) end
  end)
  equal(scheduler:run(never), true)
  scheduler:spawn(function()
    while true do scheduler:breathe(1) end
  end)
  equal(scheduler:run(function(count)
    asked = asked + 1
    equal(count, wait.interrupts())
    return asked == 2
  end), false)
end)

test("what was put off is done before all wait, and asks to be called again", function()
  local scheduler, calls = tasks.new(), 0
  scheduler.before_wait = function()
    calls = calls + 1
    return calls < 3 and 0 or nil
  end
  scheduler:spawn(function() wait.sleep(0.02) end)
  equal({ scheduler:run(never), calls }, { true, 3 })
end)

test("abandoned tasks are closed, with what they wait for, and nothing is left to run", function()
  local scheduler, timer, closed = tasks.new(), wait.timer(600), false
  scheduler.before_wait = function() return 0 end
  scheduler:spawn(function()
    local _ <close> = setmetatable({}, { __close = function() closed = true end })
    coroutine.yield(timer)
  end)
  scheduler:spawn(function() scheduler:breathe(1) end)
  equal(scheduler:run(function() return true end), false)
  scheduler:abandon()
  equal({ closed, (wait.any { timer }) }, { true, { 1 } })
  equal(scheduler:run(never), true)
  local again
  scheduler:spawn(function() again = true end)
  equal({ scheduler:run(never), again }, { true, true })
end)

test("so are those that could go on at once", function()
  local scheduler, closed = tasks.new(), 0
  for _ = 1, 2 do
    scheduler:spawn(function()
      local _ <close> = setmetatable({}, { __close = function() closed = closed + 1 end })
      while true do scheduler:breathe(1) end
    end)
  end
  equal(scheduler:run(function() return true end), false)
  scheduler:abandon()
  equal(closed, 2)
end)

test("a wait that fails ends the run with exit 3", function()
  local any = wait.any
  wait.any = function() return nil, "EIO: broken" end
  local ok, raised = pcall(run, function() wait.sleep(1) end)
  wait.any = any
  equal({ ok, raised }, { false, { fatal = true, message = "EIO: broken", code = 3 } })
end)

tap.done()
