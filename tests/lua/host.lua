-- host and guard: apsis's own files, the environment, how the program ends on an error, and the limits of a hook.
local fs = require "apsis.fs"
local guard = require "apsis.guard"
local host = require "apsis.host"
local process = require "apsis.process"
local tap = require "tap"
local test, equal, matches, raises = tap.test, tap.equal, tap.matches, tap.raises

local dir = assert(fs.tempdir "apsis-test-host-")

local function with_home(home, body)
  local before = os.getenv "APSIS_HOME"
  host.setenv("APSIS_HOME", home)
  local ok, message = pcall(body)
  host.setenv("APSIS_HOME", before)
  if not ok then error(message, 0) end
end

test("apsis's own files are those in the program, or those below APSIS_HOME", function()
  local name = "lua/apsis/core/rooms.lua"
  local inside, where
  with_home(nil, function() inside, where = host.read(name) end)
  equal({ inside:match "^%-%- rooms: ", where }, { "-- rooms: ", name })
  assert(fs.mkdir(dir .. "/lua/apsis/core"))
  local large = "\0" .. ("x"):rep(100000)
  assert(fs.write(dir .. "/" .. name, large))
  with_home(dir, function()
    local bytes, path = host.read(name)
    equal({ bytes == large, path }, { true, dir .. "/" .. name })
    equal(select(2, host.read "lua/apsis/core/run.lua"), "lua/apsis/core/run.lua")
    equal({ host.read "none" }, {})
    equal(select(2, host.read "lua/apsis/core/run.lua"), "lua/apsis/core/run.lua")
  end)
  with_home("", function() equal(select(2, host.read(name)), name) end)
  with_home(nil, function() equal({ host.read "lua/apsis/core/rooms.lu" }, {}) end)
end)

test("a module of apsis names its file and line, from the program or from below APSIS_HOME", function()
  local name, line = "lua/apsis/core/legible.lua", 3
  local function where()
    package.loaded["apsis.core.legible"] = nil
    local loaded = require "apsis.core.legible"
    local info = debug.getinfo(type(loaded) == "table" and loaded.here or loaded, "S")
    return info.source, info.linedefined
  end
  with_home(nil, function()
    local source, defined = where()
    local text = host.read(name)
    for _ = 2, defined do text = text:gsub("^[^\n]*\n", "", 1) end
    equal({ source, text:match "^[^\n]*function" ~= nil }, { "@" .. name, true })
  end)
  assert(fs.write(dir .. "/" .. name, "\n\nreturn { here = function() end }\n"))
  with_home(dir, function() equal({ where() }, { "@" .. dir .. "/" .. name, line }) end)
  package.loaded["apsis.core.legible"] = nil
end)

test("the names of the embedded files are listed by how they begin, in order", function()
  local names = host.list "lua/apsis/core/r"
  equal(names, { "lua/apsis/core/record.lua", "lua/apsis/core/recording.lua", "lua/apsis/core/rooms.lua", "lua/apsis/core/run.lua" })
  equal({ host.list "nothing/", #host.list "" > 200 }, { {}, true })
end)

test("the environment is changed for commands that are started later", function()
  equal(select("#", host.setenv("XA_TEST", "a")), 0)
  equal({ os.getenv "XA_TEST", process.run { shell = "echo $XA_TEST" }.stdout.head }, { "a", "a\n" })
  host.setenv("XA_TEST", "b")
  equal(os.getenv "XA_TEST", "b")
  host.setenv("XA_TEST")
  equal(os.getenv "XA_TEST", nil)
  raises("^setenv A=B: Invalid argument$", host.setenv, "A=B", "x")
end)

test("the program knows itself; a file is no terminal", function()
  matches(host.version, "^%d+%.%d+%.%d+$")
  equal({ host.pid, host.executable }, { tonumber(io.open("/proc/self/stat"):read "n"), fs.readlink "/proc/self/exe" })
  equal(host.uid, fs.stat("/proc/self").uid)
  equal({ host.isatty(99), host.columns(99) }, { false })
end)

test("a terminal's width and height are those that it has; without a width there is none", function()
  local master <close> = assert(io.open("/dev/ptmx", "r+"))
  local fd
  for _, name in ipairs(assert(fs.list "/proc/self/fd")) do
    if (fs.readlink("/proc/self/fd/" .. name) or ""):find "ptmx" then fd = tonumber(name) end
  end
  for _, size in ipairs { { 100, 30 }, { 1, 7 }, { 300, 0 } } do
    assert(os.execute(("stty cols %d rows %d <&%d"):format(size[1], size[2], fd)))
    equal({ host.isatty(fd), host.columns(fd) }, { true, size[1], size[2] })
  end
  assert(os.execute(("stty cols 0 rows 30 <&%d"):format(fd)))
  equal({ host.isatty(fd), host.columns(fd) }, { true })
  equal(io.type(master), "file")
end)

test("started by a loader, as in a bundle, the program is what stands above the loader's folder", function()
  if os.getenv "APSIS_SANITIZED" or os.getenv "VALGRIND" then return end
  local loader
  for line in io.lines "/proc/self/maps" do loader = loader or line:match "/%S*/ld%-[^/%s]+$" end
  local script = dir .. "/where.lua"
  assert(fs.write(script, [[local host = require "apsis.host" print(host.executable, host.libraries)]]))
  local folder = loader:match "^(.*)/"
  local result = process.run { argv = { loader, host.executable, "exec", script } }
  equal(result.stdout.head, ("%s/apsis\t%s\n"):format(folder:match "^(.*)/", folder))
  equal(process.run({ argv = { host.executable, "exec", script } }).stdout.head, host.executable .. "\tnil\n")
end)

-- What the program prints and how it ends if its command line is this.
local function ended(source)
  assert(fs.mkdir(dir .. "/home/lua/apsis/cli"))
  assert(fs.write(dir .. "/home/lua/apsis/cli/main.lua", "return function(argv) " .. source .. " end"))
  local result = assert(process.run { argv = { host.executable, "a", "b" }, env = { APSIS_HOME = dir .. "/home" }, timeout_s = 60 })
  return { result.code, result.stdout.head, result.stderr.head }
end

test("an error that ends the program is its message and its code; anything else has a traceback", function()
  equal(ended "error({ fatal = true, message = 'm', code = 7 })", { 7, "", "apsis: m\n" })
  equal(ended "error({ fatal = true, code = 3 })", { 3, "", "apsis: stopped, without a message\n" })
  equal(ended "io.write(#argv, argv[1], argv[2]) return 5", { 5, "2ab", "" })
  equal(ended "return", { 0, "", "" })
  equal(ended "setmetatable({}, { __gc = function() print 'collected' end }) return 4", { 4, "collected\n", "" })
  for source, message in pairs { ["error 'boom'"] = "main.lua:1: boom", ["error({ message = 'm' })"] = "table: ",
    ["return 1 + nil"] = "main.lua:1: " } do
    local result = ended(source)
    equal(result[1], 1, source)
    matches(result[3], "^apsis: .*" .. message .. ".*\nstack traceback:\n", source)
  end
  matches(ended "return return"[3], "main.lua:1: ")
end)

test("without any descriptor for standard input the program does nothing, and ends with 3", function()
  local script = ('exec <&-; ulimit -n 3; exec "%s" --version'):format(host.executable)
  if os.getenv "APSIS_SANITIZED" then return end -- a sanitizer needs descriptors itself
  local result = assert(process.run { shell = script, timeout_s = 60 })
  equal({ result.code, result.stdout.head, result.stderr.head },
    { 3, "", "apsis: /dev/null: Too many open files\n" })
end)

test("a module that apsis has comes before the user's own of the name", function()
  local found = package.searchers[2]
  local loader, where = found "apsis.core.kind"
  equal({ type(loader), where }, { "function", "lua/apsis/core/kind.lua" })
  equal(found "apsis.core.none", "no file 'lua/apsis/core/none.lua' in apsis")
  equal(#package.searchers, 5)
end)

test("limits within their range are taken, others are refused", function()
  for _, limits in ipairs { { cpu_s = 0.1 }, { cpu_s = 999999 }, { memory_mb = 1 }, { memory_mb = 999999 }, {} } do guard.limits(limits) end
  for _, limits in ipairs { { cpu_s = 0.09 }, { cpu_s = 1e6 }, { memory_mb = 0.99 }, { memory_mb = 1e6 }, { cpu_s = 0 / 0 } } do
    raises("#1 to '[^']*' %(limits out of range%)", guard.limits, limits)
  end
  raises("table expected", guard.limits)
  guard.limits {}
end)

test("a guarded call gives what its body gives, or its error with a traceback", function()
  equal(table.pack(guard.call(function(...) return ..., nil end, 1, nil)), { true, 1, nil, n = 3 })
  equal(table.pack(guard.call(select, "#")), { true, 0, n = 2 })
  local ok, message, more = guard.call(function() error "boom" end)
  equal({ ok, more }, { false })
  matches(message, "^host.lua:%d+: boom\nstack traceback:\n")
  matches(select(2, guard.call(error, { 1 })), "^error object: table: .*\nstack traceback:")
  matches(select(2, guard.call(error)), "^error object: nil\nstack traceback:")
  local outer, inner, why = guard.call(function() return guard.call(error, "inner", 0) end)
  equal({ outer, inner }, { true, false })
  matches(why, "^inner\nstack traceback:")
  raises("#1 to '[^']*' %(value expected", guard.call)
end)

test("what a body gave back counts no more", function()
  guard.limits { memory_mb = 64 }
  equal(guard.call(function()
    for index = 1, 500 do local _ = ("x"):rep(1 << 20) .. index end
  end), true)
  guard.limits {}
end)

test("memory beyond the limit stops the body, not what comes after it", function()
  guard.limits { memory_mb = 8 }
  local ok, message = guard.call(function() return ("x"):rep(9 << 20) end)
  equal({ ok, message }, { false, "stopped: over its limit of 8 MB of memory" })
  ok = guard.call(function() return #("x"):rep(2 << 20) end)
  equal(ok, true)
  equal(#("x"):rep(20 << 20), 20 << 20)
  guard.limits {}
end)

test("processor time beyond the limit stops the body, at the place where it is", function()
  guard.limits { cpu_s = 0.1 }
  local ok, message = guard.call(function() while true do end end)
  equal(ok, false)
  matches(message, "^host.lua:%d+: stopped: over its limit of 0.1 s of CPU\nstack traceback:")
  equal(guard.call(function() return 1 end), true)
  equal(select("#", guard.limits {}), 0)
end)

test("the limit of processor time is for all parts of a body that waits, before and after", function()
  guard.limits { cpu_s = 0.4 }
  local function wait_and(body) -- in a task: what the last resume gives
    local co = coroutine.create(function() return guard.call(body) end)
    local ok, stopped, message
    repeat ok, stopped, message = guard.resume(co) until coroutine.status(co) == "dead"
    return ok, stopped, message
  end
  for _, body in ipairs {
    function() coroutine.yield() while true do end end,
    function()
      while true do
        for _ = 1, 10000 do end
        coroutine.yield()
      end
    end,
  } do
    local ok, stopped, message = wait_and(body)
    equal({ ok, stopped }, { true, false })
    matches(message, "^host.lua:%d+: stopped: over its limit of 0.4 s of CPU")
  end
  guard.limits {}
end)

test("a task is resumed as a coroutine is", function()
  local co = coroutine.create(function(a, b)
    local c, d = coroutine.yield(a, b, nil)
    error({ c, d })
  end)
  equal(table.pack(guard.resume(co, 1, 2)), { true, 1, 2, nil, n = 4 })
  equal(table.pack(guard.resume(co, 3, nil)), { false, { 3, nil }, n = 2 })
  equal({ (guard.resume(co)) }, { false })
  equal(table.pack(guard.resume(coroutine.create(function() return guard.call(coroutine.yield, 5) end))), { true, 5, n = 2 })
  local many = table.pack(guard.resume(coroutine.create(function() return table.unpack({}, 1, 100000) end)))
  equal({ many.n, many[1], many[2] }, { 100001, true })
  raises("#1 to '[^']*' %(a coroutine expected", guard.resume, 5)
  local full = coroutine.create(function(...) return coroutine.yield(), ... end)
  equal((guard.resume(full, table.unpack({}, 1, 600000))), true)
  raises("#2 to '[^']*' %(too many arguments", function() guard.resume(full, table.unpack({}, 1, 600000)) end)
  equal({ guard.enter(co), guard.leave(nil) }, {})
end)

assert(fs.remove_tree(dir))
tap.done()
