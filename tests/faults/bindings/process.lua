-- process: every function of apsis.process, for allocations.c: `return run, prepare`.
local fs = require "apsis.fs"

local function prepare(dir)
  assert(fs.remove_tree(dir .. "/process"))
  assert(fs.mkdir(dir .. "/process"))
end

local function need(value, message) return value or error(message, 2) end

local function run(step, dir)
  local metric = require "apsis.metric"
  local process = require "apsis.process"
  local wait = require "apsis.wait"
  local at = dir .. "/process"
  step("a command with everything", function()
    local scanner <close> = metric.scanner()
    local result = need(process.run { argv = { "sh", "-c", "cat; echo METRIC a=$A; echo err >&2; exit 3" }, cwd = at, env = { A = "1",
      HOME = false }, stdin_text = ("in\n"):rep(50), timeout_s = 20, grace_s = 0, limits = { cpu_s = 10, open_files = 64, file_mb = 5 },
      log = at .. "/log", stdout_file = at .. "/out", stderr_file = at .. "/err", head_bytes = 20, tail_bytes = 30, scanner = scanner })
    assert(result.code == 3)
    if result.log_error then error(result.log_error, 0) end
    local report = scanner:finish()
    assert(report.metrics.a == 1)
    if result.stdout.bytes > 50 then assert(result.stdout.bytes == 161) end
  end)
  step("what cannot be executed, and what is no folder", function()
    for _, spec in ipairs { { argv = { "./nope" } }, { argv = { "true" }, cwd = at .. "/nope" },
      { argv = { "true" }, stdin = at .. "/no" } } do
      local result, message, code = process.run(spec)
      assert(result == nil)
      if code ~= "ENOENT" then error(message, 0) end
    end
  end)
  step("started, waited for beside a timer, killed", function()
    local handle <close> = need(process.start { shell = "sleep 10", clean_env = true, env = { PATH = "/bin:/usr/bin" } })
    local timer = wait.timer(0)
    need(wait.any { handle, timer })
    assert(handle:pid() > 0 and handle:result() == nil)
    handle:kill(0)
    local result = need(handle:wait())
    assert(result.outcome == "killed" and need(handle:result()).outcome == "killed")
    handle:close()
    handle:close()
  end)
  step("left to the collector", function()
    process.start { shell = "sleep 10" }
    collectgarbage()
  end)
  step("raises", function()
    for _, spec in ipairs { {}, { argv = {} }, { shell = "x", nope = 1 }, { shell = "x", env = { A = {} } },
      { shell = "x", timeout_s = -1 } } do
      local ok, message = pcall(process.run, spec)
      assert(not ok)
      if message:find "memory" then error(message, 0) end
    end
  end)
end

return run, prepare
