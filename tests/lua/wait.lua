-- apsis.wait: handles together, timers, trapped signals, and who yields and who blocks.
local fs = require "apsis.fs"
local host = require "apsis.host"
local process = require "apsis.process"
local tap = require "tap"
local wait = require "apsis.wait"

local own_pid = io.open("/proc/self/stat"):read("a"):match("^%d+")

-- popen, because a command of process.run cannot see this process, and os.execute ignores SIGINT.
local function signal(name)
  assert(io.popen("kill -" .. name .. " " .. own_pid):close())
end

tap.test("any returns the indexes of the handles that are done", function()
  local slow, quick <close> = assert(process.start { shell = "sleep 30" }), assert(process.start { shell = "exit 0" })
  tap.equal(wait.any({ slow, quick }), { 2 })
  tap.equal(slow:result(), nil)
  tap.equal(quick:result().code, 0)
  slow:close()
  tap.equal(wait.any { slow, quick }, { 1, 2 }, "a closed handle is done")
end)

tap.test("any returns an empty list when the timeout has passed", function()
  local handle <close> = assert(process.start { shell = "sleep 30" })
  tap.equal(wait.any({ handle }, 0), {})
  local before = wait.now()
  tap.equal(wait.any({ handle }, 0.01), {})
  assert(wait.now() - before >= 0.01)
  tap.equal(wait.any({}, 0), {})
end)

tap.test("any refuses what is not waitable, and a wait that nothing would end", function()
  tap.raises("handle 1 is not waitable %(a table%)", wait.any, { {} })
  tap.raises("handle 1 is not waitable", wait.any, { io.stdout })
  tap.raises("nothing would end this wait", wait.any, {})
  tap.raises("must not be negative", wait.any, {}, -1)
  tap.raises("must not be negative", wait.sleep, 0 / 0)
end)

tap.test("any lets every handle move, so that none blocks on a full pipe", function()
  local handles = {}
  for i = 1, 32 do handles[i] = assert(process.start { shell = "head -c 1000000 /dev/zero; exit " .. i }) end
  local running = { table.unpack(handles) }
  while #running > 0 do
    local done = wait.any(running)
    for i = #done, 1, -1 do table.remove(running, done[i]) end
  end
  for i, handle in ipairs(handles) do
    tap.equal(handle:result().code, i)
    tap.equal(handle:result().stdout.bytes, 1000000)
    handle:close()
  end
end)

tap.test("timers are handles, and done in order", function()
  local late, soon = wait.timer(60), wait.timer(0.001)
  tap.equal(wait.any { late, soon }, { 2 })
  late:close()
  tap.equal(wait.any { late }, { 1 })
  tap.equal(wait.any({ wait.timer(1e300) }, 0), {})
end)

-- In a process of its own, which a timeout can end.
tap.test("a timer whose time comes while the wait begins ends it", function()
  local script = [[
local wait = require "apsis.wait"
for turn = 1, 20000 do
  wait.sleep(turn % 30 * 1e-7)
  wait.any { wait.timer(turn % 30 * 1e-7) }
end]]
  local path = os.tmpname()
  local file <close> = assert(io.open(path, "w"))
  file:write(script):flush()
  local result = process.run { argv = { host.executable, "exec", path }, timeout_s = 60, grace_s = 0 }
  os.remove(path)
  tap.equal({ result.outcome, result.code, result.stderr.head }, { "exit", 0, "" })
end)

tap.test("clocks go forward and tell the year", function()
  local before = wait.now()
  assert(wait.sleep(0.002) == true and wait.now() - before >= 0.002)
  local earliest, now = os.time(), wait.time()
  assert(earliest - 1 <= now and now <= os.time() + 1)
end)

tap.test("the current task yields its handle and is given the result", function()
  local co = coroutine.create(function()
    local result = assert(process.run { shell = "exit 7" })
    assert(wait.sleep(0.001))
    local handle <close> = assert(process.start { shell = "exit 8" })
    return result.code, handle:wait().code
  end)
  local yields, results = 0, nil
  repeat
    wait.task(co)
    local returned = table.pack(coroutine.resume(co))
    wait.task(nil)
    assert(returned[1], returned[2])
    if coroutine.status(co) == "suspended" then
      yields = yields + 1
      if yields ~= 2 then wait.any { returned[2] } end -- once it is resumed too soon, and yields again
    else
      results = { returned[2], returned[3] }
    end
  until results
  tap.equal(results, { 7, 8 })
  assert(yields >= 3)
end)

tap.test("another coroutine, and a task that cannot yield, block", function()
  local other = coroutine.wrap(function() return process.run { shell = "exit 5" }.code end)
  tap.equal(other(), 5)
  local co = coroutine.create(function()
    local list = { 2, 1 }
    table.sort(list, function(a, b) return process.run { shell = "exit 6" }.code == 6 and a < b end)
    return list
  end)
  wait.task(co)
  local ok, list = coroutine.resume(co)
  wait.task(nil)
  assert(ok, list)
  tap.equal(list, { 1, 2 })
  tap.equal(wait.task(), nil)
  tap.raises("thread expected", wait.task, 1)
end)

tap.test("closing a suspended task kills what it runs", function()
  local co = coroutine.create(function() process.run { shell = "sleep 7031" } end)
  wait.task(co)
  local _, handle = coroutine.resume(co)
  wait.task(nil)
  assert(coroutine.close(co))
  tap.raises("closed", handle.pid, handle)
end)

tap.test("input reads a limited number of bytes", function()
  tap.raises("from 0 to 1048576 bytes", wait.input, -1)
  tap.raises("from 0 to 1048576 bytes", wait.input, 1048577)
end)

tap.test("input waits for bytes of standard input, and gives those that are there, or none at its end", function()
  local path = os.tmpname()
  local file <close> = assert(io.open(path, "w"))
  file:write([[local wait = require "apsis.wait"
    print(wait.input(), wait.input(2), wait.input(9), wait.input(1), wait.input(), #wait.input(9))]]):flush()
  local child = assert(process.run { argv = { host.executable, "exec", path }, stdin_text = "abcde", timeout_s = 20 })
  os.remove(path)
  tap.equal({ child.stdout.head, child.code }, { "true\tab\tcde\t\ttrue\t0\n", 0 })
end)

tap.test("input is a task's wait like another", function()
  local path = os.tmpname()
  local file <close> = assert(io.open(path, "w"))
  file:write([[local tasks, wait = require "apsis.core.tasks", require "apsis.wait"
    local scheduler, order = tasks.new(), {}
    scheduler:spawn(function() table.insert(order, (wait.input(9))) end)
    scheduler:spawn(function() wait.sleep(0.05) table.insert(order, "slept") end)
    scheduler:run(function() return false end)
    print(table.concat(order, " "))]]):flush()
  local pipe = assert(io.popen(("{ sleep 0.3; echo x; } | '%s' exec %s"):format(host.executable, path)))
  local text = pipe:read "a"
  pipe:close()
  os.remove(path)
  tap.equal(text, "slept x\n\n")
end)

-- The kernel refuses to poll more descriptors than a process may have; the script lowers that when they are open.
tap.test("a wait that the kernel refuses is an error", function()
  local scripts = {
    [ [[print(select(2, wait.any({ handle }, 60)))]] ] = "EINVAL: poll: Invalid argument\tEINVAL\n",
    [ [[print(pcall(handle.wait, handle))]] ] = "false\tEINVAL: poll: Invalid argument\n",
  }
  for body, output in pairs(scripts) do
    local path = os.tmpname()
    assert(fs.write(path, ([[
      local host, process, wait = require "apsis.host", require "apsis.process", require "apsis.wait"
      local handle = assert(process.start { shell = "sleep 60" })
      assert(os.execute(("prlimit --pid %%d --nofile=3:"):format(host.pid)))
      %s]]):format(body)))
    local env = { ASAN_OPTIONS = "detect_leaks=0" } -- what looks for leaks opens files
    local result = assert(process.run { argv = { host.executable, "exec", path }, env = env })
    tap.equal({ result.stdout.head, result.stderr.head, result.code }, { output, "", 0 })
    os.remove(path)
  end
end)

tap.test("trapped signals are counted, named, and end waits", function()
  assert(wait.trap() and wait.trap())
  local count = wait.interrupts()
  tap.equal(count, 0)
  signal "INT"
  local done, interrupts = wait.any({ wait.timer(60) })
  tap.equal(done, {})
  tap.equal(interrupts, 1)
  tap.equal({ wait.interrupts() }, { 1, "SIGINT" })
  tap.equal(wait.any({ wait.timer(0.001) }), { 1 }, "one signal ends one wait")
  signal "HUP"
  tap.equal({ wait.sleep(60) }, { nil, "EINTR: interrupted by SIGHUP", "EINTR" })
  local handle <close> = assert(process.start { shell = "sleep 30" })
  signal "TERM"
  tap.equal({ handle:wait() }, { nil, "EINTR: interrupted by SIGTERM", "EINTR" })
  tap.equal(handle:result(), nil, "it still runs")
  signal "TERM"
  tap.equal(select(3, process.run { shell = "sleep 30" }), "EINTR")
  tap.equal(process.run({ shell = "exit 9" }).code, 9)
end)

tap.done()
