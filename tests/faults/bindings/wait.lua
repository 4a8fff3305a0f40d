-- wait: every function of apsis.wait, for allocations.c: `return run, prepare`.
local function need(value, message) return value or error(message, 2) end

return function(step)
  local wait = require "apsis.wait"
  step("timers", function()
    local timers = {}
    for index = 1, 5 do timers[index] = wait.timer(index < 3 and 0 or 60) end
    local done, interrupts = wait.any(timers)
    need(done, interrupts)
    assert(#done == 2)
    assert(#need(wait.any({}, 0)) == 0)
    for _, timer in ipairs(timers) do timer:close() end
  end)
  step("sleep", function() need(wait.sleep(0)) end)
  step("in a task", function()
    local co = coroutine.create(function() return wait.sleep(0.001) end)
    wait.task(co)
    local ok, handle = coroutine.resume(co)
    wait.task(nil)
    need(ok, handle)
    if coroutine.status(co) == "suspended" then
      need(wait.any { handle })
      local went, slept = coroutine.resume(co, handle)
      assert(went and slept == true, slept)
    end
  end)
  step("clocks and signals", function()
    assert(wait.now() and wait.time() and wait.interrupts() == 0 and wait.task() == nil)
    need(wait.trap())
  end)
  step("raises", function()
    for _, call in ipairs { function() wait.any {} end, function() wait.any { 1 } end, function() wait.timer(-1) end } do
      local ok, message = pcall(call)
      assert(not ok)
      if message:find "memory" then error(message, 0) end
    end
  end)
end
