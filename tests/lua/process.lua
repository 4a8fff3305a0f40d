-- apsis.process: results, options and their refusal, bounded output, enemies, and what is left behind (nothing).
local fs = require "apsis.fs"
local host = require "apsis.host"
local process = require "apsis.process"
local tap = require "tap"
local wait = require "apsis.wait"

-- Seconds that only this test's processes sleep, as text; kind: 1 to 9.
local function seconds(kind) return ("%d"):format(70000000 + host.pid * 10 + kind) end

local dir = os.tmpname()
os.remove(dir)
assert(os.execute("mkdir " .. dir))

local function read(path)
  local file <close> = assert(io.open(path, "rb"))
  return file:read("a")
end

local function shell(script, more)
  local spec = more or {}
  spec.shell = script
  return assert(process.run(spec))
end

-- Processes whose command line holds the marker. Death by signal comes a moment after the signal.
local function survivors(marker)
  local pattern = marker:gsub(".$", "[%0]") -- so that grep does not find itself
  local found
  for _ = 1, 200 do
    local pipe <close> = io.popen("grep -lz -- '" .. pattern .. "' /proc/[0-9]*/cmdline 2>/dev/null | wc -l")
    found = tonumber(pipe:read("a"))
    if found == 0 then return 0 end
    wait.sleep(0.01)
  end
  return found
end

-- popen itself may still hold its end of the pipe when ls looks: the least of some looks counts.
local function open_files()
  local least = math.huge
  for _ = 1, 10 do
    local pipe <close> = io.popen("ls /proc/$PPID/fd | wc -l")
    least = math.min(least, tonumber(pipe:read("a")))
  end
  return least
end

tap.test("an exit code, and what was written", function()
  local result = shell("echo out; echo err >&2; exit 3")
  tap.equal({ result.outcome, result.code, result.signal }, { "exit", 3 })
  tap.equal(result.stdout, { head = "out\n", bytes = 4 })
  tap.equal(result.stderr, { head = "err\n", bytes = 4 })
  assert(result.wall_s > 0 and result.max_rss_bytes > 0)
end)

tap.test("a byte that comes alone is not the end", function()
  tap.equal(shell("printf a; sleep 0.1; printf b; sleep 0.1; printf c").stdout.head, "abc")
end)

tap.test("a signal is no exit code", function()
  local result = shell("kill -SEGV $$")
  tap.equal({ result.outcome, result.code, result.signal, result.signal_name }, { "signal", nil, 11, "SIGSEGV" })
end)

tap.test("a timeout is one even when the command then exits with 0", function()
  local result = shell("trap 'exit 0' TERM; sleep 30 & wait", { timeout_s = 1 })
  tap.equal({ result.outcome, result.code }, { "timeout", nil })
  result = shell("trap '' TERM; sleep 30; sleep 30", { timeout_s = 1, grace_s = 0.1 })
  tap.equal({ result.outcome, result.signal_name }, { "timeout", "SIGKILL" })
end)

tap.test("the shortest timeout is one", function()
  tap.equal(shell("sleep 30", { timeout_s = 0.001, grace_s = 0.1 }).outcome, "timeout")
end)

tap.test("the program that confines commands ends with 2 where somebody starts it by hand", function()
  local cage = host.executable:match "^.*/" .. "cage"
  for _, plan in ipairs { "", "1 2", ("99 "):rep(40), ("-1 "):rep(40) } do
    tap.equal(process.run({ argv = { cage, plan, "a", "b" }, timeout_s = 20 }).code, 2)
  end
end)

tap.test("what fills either stream is read while the command runs", function()
  for name, to in pairs { stdout = "1", stderr = "2" } do
    local result = shell("head -c 300000 /dev/zero >&" .. to, { timeout_s = 60 })
    tap.equal({ result.outcome, result[name].bytes }, { "exit", 300000 })
  end
end)

tap.test("a command that crashes leaves no core file, whatever the caller's limit is", function()
  local script = [[io.write(require("apsis.process").run { shell = "ulimit -S -c" }.stdout.head)]]
  tap.equal(shell("ulimit -S -c unlimited; printf '%s' \"$SCRIPT\" | \"$APSIS\" exec /dev/stdin",
    { env = { SCRIPT = script, APSIS = host.executable, PATH = os.getenv "PATH" } }).stdout.head, "0\n")
end)

tap.test("a command is as nice as who runs it", function()
  local own = tonumber(shell("nice").stdout.head)
  local script = [[io.write(require("apsis.process").run { argv = { "nice" } }.stdout.head)]]
  local result = shell("printf '%s' \"$SCRIPT\" | nice -n 3 \"$APSIS\" exec /dev/stdin",
    { env = { SCRIPT = script, APSIS = host.executable, PATH = os.getenv "PATH" } })
  tap.equal(result.stdout.head, math.min(own + 3, 19) .. "\n")
end)

tap.test("what cannot be started is nil, message, code", function()
  local cases = {
    { { argv = { "nonesuch" }, env = { PATH = "/usr/bin:/bin" } }, "ENOENT", "^ENOENT: nonesuch: No such file" },
    { { argv = { "" } }, "ENOENT", "^ENOENT" },
    { { shell = "true", cwd = "/nonesuch" }, "ENOENT", "^ENOENT: cwd" },
    { { argv = { "/etc/passwd" } }, "EACCES", "^EACCES: /etc/passwd" },
    { { argv = { "true", ("x"):rep(200000) } }, "E2BIG", "^E2BIG: true" },
    { { shell = "true", stdin = "/nonesuch" }, "ENOENT", "/nonesuch" },
    { { shell = "true", log = "/nonesuch/log" }, "ENOENT", "/nonesuch/log" },
  }
  for _, case in ipairs(cases) do
    local result, message, code = process.run(case[1])
    tap.equal(result, nil)
    tap.equal(code, case[2])
    tap.matches(message, case[3])
  end
  local handle <close> = assert(process.start { argv = { "/nonesuch" } })
  tap.equal(select(3, handle:wait()), "ENOENT")
  tap.equal(select(3, handle:result()), "ENOENT")
end)

tap.test("a malformed spec raises, naming the key", function()
  local run = process.run
  tap.raises("unknown option 'timeout'; did you mean 'timeout_s'", run, { shell = "true", timeout = 1 })
  tap.raises("unknown limit 'memory'; did you mean 'memory_mb'", run, { shell = "true", limits = { memory = 1 } })
  tap.raises("unknown option 'zzzzzzzzzzzz'; allowed: argv", run, { shell = "true", zzzzzzzzzzzz = 1 })
  tap.raises("unknown option", run, { "true" })
  tap.raises("exactly one of argv and shell", run, {})
  tap.raises("exactly one of argv and shell", run, { argv = { "true" }, shell = "true" })
  tap.raises("argv is empty", run, { argv = {} })
  tap.raises("argv must be a string, not a table", run, { argv = { "true", {} } })
  tap.raises("zero byte", run, { argv = { "true", "a\0b" } })
  tap.raises("zero byte", run, { shell = "true\0" })
  tap.raises("timeout_s must be at least", run, { shell = "true", timeout_s = 0 / 0 })
  tap.raises("timeout_s must be a number", run, { shell = "true", timeout_s = "1" })
  tap.raises("cannot be a name", run, { shell = "true", env = { ["A=B"] = "c" } })
  tap.raises("must be a string, not a boolean", run, { shell = "true", env = { A = true } })
  tap.raises("names must be strings", run, { shell = "true", env = { "A=B" } })
  tap.raises("stdin_text", run, { shell = "true", stdin = "/dev/null", stdin_text = "x" })
  tap.raises("scanner", run, { shell = "true", scanner = io.stdout })
  tap.raises("table expected", run, "true")
end)

tap.test("arguments, environment, directory and input arrive as given", function()
  tap.equal(assert(process.run { argv = { "printf", "%s|", "", "\xff", "a b", 12 } }).stdout.head, "|\xff|a b|12|")
  tap.equal(shell("echo $A$HOME", { env = { A = "x", HOME = false } }).stdout.head, "x\n")
  tap.equal(assert(process.run { argv = { "env" }, clean_env = true, env = { A = 1, B = "" } }).stdout.bytes, 7)
  tap.equal(shell("pwd", { cwd = dir }).stdout.head, dir .. "\n")
  tap.equal(shell("cat", { stdin_text = "a\0b" }).stdout.head, "a\0b")
  tap.equal(shell("cat", { stdin_text = ("x"):rep(1000000) }).stdout.bytes, 1000000)
  tap.equal(shell("cat", { stdin_text = "" }).stdout.bytes, 0)
  tap.equal(shell("cat").stdout.bytes, 0)
end)

tap.test("head and tail are bounded, and together all when they can be", function()
  local result = shell("seq 1 20000", { head_bytes = 100, tail_bytes = 50 })
  tap.equal({ #result.stdout.head, #result.stdout.tail, result.stdout.bytes }, { 100, 50, 108894 })
  tap.matches(result.stdout.tail, "\n20000\n$")
  result = shell("printf 0123456789", { head_bytes = 4, tail_bytes = 6 })
  tap.equal(result.stdout, { head = "0123", tail = "456789", bytes = 10 })
  result = shell("printf 0123456789", { head_bytes = 10, tail_bytes = 6 })
  tap.equal(result.stdout, { head = "0123456789", bytes = 10 })
end)

tap.test("logs are appended to, separately and together", function()
  local log = dir .. "/log"
  for _ = 1, 2 do
    local files = { log = log, stdout_file = dir .. "/out", stderr_file = dir .. "/err" }
    local result = shell("echo out; sleep 0.01; echo err >&2", files)
    tap.equal(result.log, log)
  end
  tap.equal(read(log), "out\nerr\nout\nerr\n")
  tap.equal(read(dir .. "/out"), "out\nout\n")
  tap.equal(read(dir .. "/err"), "err\nerr\n")
end)

tap.test("a log stops at its limit, and says what it left out", function()
  shell("seq 1 1000", { stdout_file = dir .. "/limited", log_limit_bytes = 10, tail_bytes = 5 })
  tap.equal(read(dir .. "/limited"), "1\n2\n3\n4\n5\n\n[apsis: 3878 bytes left out here]\n1000\n")
end)

tap.test("a full disk is in the result, and does not stop the command", function()
  local result = shell("head -c 1000000 /dev/zero", { log = "/dev/full" })
  tap.equal({ result.code, result.stdout.bytes }, { 0, 1000000 })
  tap.matches(result.log_error, "^ENOSPC: write /dev/full")
end)

tap.test("half a gigabyte passes in bounded memory", function()
  local before = tonumber(read("/proc/self/status"):match("VmRSS:%s*(%d+)"))
  local result = shell("head -c 500000000 /dev/zero", { log = dir .. "/zeros", log_limit_bytes = 1000 })
  tap.equal(result.stdout.bytes, 500000000)
  local after = tonumber(read("/proc/self/status"):match("VmHWM:%s*(%d+)"))
  assert(after < before + 32 * 1024, "grew to " .. after .. " kB")
end)

tap.test("limits hold", function()
  tap.equal(shell("while :; do :; done", { limits = { cpu_s = 1 }, timeout_s = 60 }).signal_name, "SIGXCPU")
  assert(shell("dd if=/dev/zero of=/dev/null bs=200M count=1", { limits = { memory_mb = 100 } }).code ~= 0)
  tap.equal(shell("ulimit -n", { limits = { open_files = 20 } }).stdout.head, "20\n")
  assert(shell("head -c 3000000 /dev/zero > big", { cwd = dir, limits = { file_mb = 1 } }).code ~= 0)
  tap.equal(#read(dir .. "/big"), 1048576)
end)

tap.test("nothing that a command starts survives it", function()
  for _, script in ipairs { "(setsid sleep N &)", "setsid sh -c 'sleep N & setsid sleep N &' & sleep 0.02",
    "(trap '' TERM; sleep N) &" } do
    tap.equal(shell(script:gsub("N", seconds(1)), { timeout_s = 60 }).outcome, "exit")
    tap.equal(survivors(seconds(1)), 0, script)
  end
end)

tap.test("what could not be started leaves no descriptor", function()
  local before = #assert(fs.list "/proc/self/fd")
  for _ = 1, 20 do
    tap.equal(process.run { shell = "true", log = dir .. "/begun", stdout_file = dir .. "/none/out" }, nil)
  end
  tap.equal(#assert(fs.list "/proc/self/fd"), before)
end)

tap.test("kill asks it to end and gives it time; without any it is not asked", function()
  local marked = dir .. "/trapped"
  for _, case in ipairs { { "", 0 }, { "asked\n", 20 }, { "asked\n", nil } } do
    local output, grace = case[1], case[2]
    local handle <close> = assert(process.start { shell = ("trap 'echo asked; exit' TERM; : >%s; sleep %s & wait")
      :format(marked, seconds(2)) })
    while not fs.stat(marked) and not handle:result() do wait.any({ handle }, 0.005) end
    tap.equal(select("#", handle:kill(grace)), 0)
    tap.equal(handle:wait().stdout.head, output)
    assert(fs.remove(marked))
  end
end)

tap.test("kill ends it, close ends it, and collection ends it", function()
  local handle <close> = assert(process.start { shell = ("trap '' TERM; sleep N; sleep N"):gsub("N", seconds(2)) })
  handle:kill(0.05)
  tap.equal(handle:wait().outcome, "killed")
  handle:kill()
  tap.equal(handle:wait().outcome, "killed", "a second wait")
  local other = assert(process.start { shell = "sleep " .. seconds(2) })
  other:close()
  other:close()
  tap.raises("closed", other.wait, other)
  assert(process.start { shell = "sleep " .. seconds(2) })
  collectgarbage()
  tap.equal(survivors(seconds(2)), 0)
end)

local function running(marker)
  local count = 0
  for _, pid in ipairs(fs.list "/proc") do
    if (fs.read("/proc/" .. pid .. "/cmdline") or ""):find(marker, 1, true) then count = count + 1 end
  end
  return count
end

for _, mode in ipairs { "namespaces", "subreaper" } do
  tap.test("a killed supervisor: the result comes when nothing of the command is left (" .. mode .. ")", function()
    host.setenv("APSIS_CAGE", mode)
    local script = ("trap '' TERM; for i in $(seq 50); do setsid sleep N & done; echo there; wait"):gsub("N", seconds(3))
    local handle <close> = assert(process.start { shell = script })
    while running("sleep\000" .. seconds(3)) < 50 do wait.any({ handle }, 0.01) end
    os.execute("kill -KILL " .. handle:pid())
    local result = handle:wait()
    tap.equal(running("sleep\000" .. seconds(3)), 0)
    tap.equal({ result.outcome, result.signal_name, result.stdout.head }, { "signal", "SIGKILL", "there\n" })
    host.setenv("APSIS_CAGE")
  end)
end

tap.test("sweep ends what an earlier process left in a folder's workspaces, and nothing else", function()
  local function start(place, time) -- orphans: nobody is there to look after them
    assert(os.execute(("APSIS_WORKSPACE=%s setsid sleep %s & :"):format(place, time)))
  end
  local pool = dir .. "/pool"
  start(pool .. "/verify-1", "60." .. seconds(4))
  start(pool .. "/provide-1", "60." .. seconds(4))
  start(pool .. "-other/verify-1", "60." .. seconds(5))
  start(pool, "60." .. seconds(5))
  local owned <close> = assert(process.start { argv = { "sleep", "60." .. seconds(6) }, env = { APSIS_WORKSPACE = pool .. "/verify-2" } })
  wait.sleep(0.1)
  tap.equal(process.sweep(pool), 2)
  tap.equal(os.execute("sleep 0.1; pgrep -fx 'sleep 60." .. seconds(4) .. "' >/dev/null"), nil)
  tap.equal(process.sweep(pool), 0)
  tap.equal(os.execute("pgrep -fx 'sleep 60." .. seconds(6) .. "' >/dev/null"), true)
  tap.equal(process.sweep(dir), 2)
  owned:kill()
  owned:wait()
end)

tap.test("a thousand runs leave no descriptor and no child", function()
  shell("true")
  local before = open_files()
  for i = 1, 300 do
    shell("true", { log = dir .. "/many" })
    process.run { argv = { "nonesuch" } }
    if i % 3 == 0 then process.run { shell = "true", log = "/nonesuch/log" } end
  end
  collectgarbage()
  tap.equal(open_files(), before)
  tap.equal(read("/proc/self/task/" .. read("/proc/self/stat"):match("^%d+") .. "/children"), "")
end)

tap.test("the private folders of a command hold 64 MiB if no size is given", function()
  local spec = { shell = "head -c 100000000 /dev/zero 2>/dev/null >/tmp/much; wc -c </tmp/much",
    cage = { mode = "namespaces", paths = { "p/tmp" } } }
  local result = process.run(spec)
  if not result or result.code ~= 0 then return end -- no user namespaces here
  local size = tonumber(result.stdout.head)
  tap.equal(size > 60 << 20 and size <= 64 << 20, true, result.stdout.head)
end)

tap.test("64 at once", function()
  local handles = {}
  for i = 1, 64 do handles[i] = assert(process.start { shell = "sleep 0.2; exit " .. i }) end
  for i, handle in ipairs(handles) do
    tap.equal(handle:wait().code, i)
    handle:close()
  end
end)

for _, mode in ipairs { "watched", "subreaper" } do
  tap.test("a record has the end of a command, whose output are files of its own, " .. mode, function()
    local names = { record = dir .. "/end-" .. mode, stdout_file = dir .. "/out-" .. mode, stderr_file = dir .. "/err-" .. mode }
    local function run(text)
      return assert(process.run { shell = text, record = names.record, stdout_file = names.stdout_file,
        stderr_file = names.stderr_file, cage = { mode = mode } })
    end
    tap.equal(assert(process.run { shell = "sleep " .. seconds(4), timeout_s = 0.2, record = names.record, cage = { mode = mode },
      stdout_file = names.stdout_file, stderr_file = names.stderr_file }).outcome, "timeout")
    fs.write(names.record, "asked\n")
    local result = run "echo said; echo wrong >&2; ls -l /proc/self/fd | grep -c end-; exit 3"
    tap.equal({ result.outcome, result.code, result.stdout.bytes }, { "exit", 3, 0 })
    run "kill -9 $$"
    tap.equal({ read(names.stdout_file), read(names.stderr_file) }, { "said\n0\n", "wrong\n" })
    tap.equal({ read(names.record):match "^(asked)\nexit 3 0 0 %d+ .*\nsignal 9 0 0 %d+ [^\n]*\n$" }, { "asked" })
    tap.raises("record needs stdout_file and stderr_file", process.run, { shell = "true", record = names.record })
  end)
end

tap.test("a record that cannot be opened is an error that names it", function()
  local _, message, code = process.run { shell = "true", record = dir .. "/none/end", stdout_file = dir .. "/out",
    stderr_file = dir .. "/err" }
  tap.equal({ message, code }, { ("ENOENT: open %s/none/end: No such file or directory"):format(dir), "ENOENT" })
end)

tap.test("a recorded command's output that cannot be written is an error of the log, also in the record", function()
  local record = dir .. "/end-full"
  local result = assert(process.run { shell = "echo lost", record = record, stdout_file = "/dev/full",
    stderr_file = dir .. "/err-full" })
  tap.equal({ result.outcome, result.code, result.log_error:match "^ENOSPC: the output of %S+:" ~= nil }, { "exit", 0, true })
  tap.equal(read(record):match "^exit 0 0 28 " ~= nil, true)
end)

tap.test("of a recorded command's output the beginning and the end are kept", function()
  local limit <const>, tail <const> = 1000, 262144
  for _, size in ipairs { 0, limit, limit + 1, limit + tail - 1, limit + tail, limit + tail + 1, limit + 2 * tail + 77 } do
    local bytes = {}
    for at = 1, size do bytes[at] = string.char(33 + (at * 7 + at // 93) % 90) end
    local text, out = table.concat(bytes), dir .. "/kept-" .. size
    assert(process.run { argv = { "cat" }, stdin_text = text, stdout_file = out, stderr_file = out .. "-err", record = out .. "-end",
      log_limit_bytes = limit })
    local lost = size - limit - tail
    tap.equal(read(out) == (lost <= 0 and text or text:sub(1, limit) .. ("\n[apsis: %d bytes left out here]\n"):format(lost)
      .. text:sub(-tail)), true, size)
  end
end)

assert(os.execute("rm -r " .. dir))
tap.done()
