-- process: what a command's table must be, key by key, in which words another is refused, and that each limit is what it was given.
local fs = require "apsis.fs"
local process = require "apsis.process"
local tap = require "tap"
local test, equal, raises = tap.test, tap.equal, tap.raises

local keys = { "argv", "shell", "cwd", "env", "clean_env", "stdin", "stdin_text", "timeout_s", "grace_s", "limits", "log", "stdout_file",
  "stderr_file", "log_limit_bytes", "head_bytes", "tail_bytes", "scanner", "cage", "record" }

local function out(spec)
  return assert(process.run(spec)).stdout.head
end

local function answer(key)
  for _, name in ipairs(keys) do
    if name:sub(1, #key) == key then return ("did you mean '%s'?"):format(name) end
  end
  return "allowed: " .. table.concat(keys, ", ")
end

test("a key that is none is answered with one that begins with it, or with all", function()
  local wrong = { "x", "commandline", "argvargv", "timeout_seconds", "logs_and_more", "sdin", "nevv", ("a"):rep(80), "" }
  for _, key in ipairs(keys) do
    for _, other in ipairs { key:sub(2), key .. "s", key:sub(1, 1) .. key:sub(3), "_" .. key, key:upper(), key:sub(1, -2) .. "xyz",
      key:reverse() } do wrong[#wrong + 1] = other end
  end
  local known = {}
  for _, key in ipairs(keys) do known[key] = true end
  for _, key in ipairs(wrong) do
    if not known[key] then
      local ok, message = pcall(process.run, { shell = "true", [key] = 1 })
      equal({ ok, message }, { false, ("unknown option '%s'; %s"):format(key, answer(key)) })
    end
  end
end)

test("what is given beside the table is left aside", function()
  equal(assert(process.run({ shell = "echo $A", env = { A = "x" } }, "more", {})).stdout.head, "x\n")
  local handle = assert(process.start({ argv = { "echo", "y" }, limits = { open_files = 50 } }, { shell = "false" }))
  equal(assert(handle:wait()).stdout.head, "y\n")
end)

test("each key has its type, and a value that is out of range is refused", function()
  local function refused(more, pattern)
    local spec = { shell = "true" }
    for key, value in pairs(more) do spec[key] = value or nil end
    raises("^" .. pattern, process.run, spec)
  end
  for _, key in ipairs { "cwd", "stdin", "log", "stdout_file", "stderr_file" } do
    refused({ [key] = {} }, key .. " must be a string, not a table")
    refused({ [key] = "a\0b" }, key .. " contains a zero byte")
  end
  for key, least in pairs { timeout_s = 0.001, grace_s = 0, log_limit_bytes = 0, head_bytes = 0, tail_bytes = 0 } do
    refused({ [key] = "1" }, key .. " must be a number, not a string")
    refused({ [key] = least - 0.0001 }, ("%s must be at least %s"):format(key, least))
    refused({ [key] = 0 / 0 }, ("%s must be at least %s"):format(key, least))
  end
  for _, case in ipairs {
    { { shell = {} }, "shell must be a string, not a table" }, { { shell = "a\0" }, "shell contains a zero byte" },
    { { argv = { "true" } }, "give exactly one of argv and shell" }, { { shell = false }, "give exactly one of argv and shell" },
    { { shell = false, argv = "true" }, "argv must be a list of strings, not a string" }, { { shell = false, argv = {} }, "argv is empty" },
    { { shell = false, argv = { "true", print } }, "argv must be a string, not a function" },
    { { shell = false, argv = { "a\0" } }, "argv contains a zero byte" },
    { { clean_env = 1 }, "clean_env must be a boolean" }, { { env = 5 }, "env must be a table of names and values, not a number" },
    { { env = { "x" } }, "env: names must be strings" }, { { env = { [""] = "x" } }, "env: '' cannot be a name" },
    { { env = { ["a=b"] = "x" } }, "env: 'a=b' cannot be a name" }, { { env = { ["a\0b"] = "x" } }, "env: 'a' cannot be a name" },
    { { env = { a = true } }, "env: a value %(false unsets%) must be a string, not a boolean" },
    { { env = { a = "x\0" } }, "env: a value %(false unsets%) contains a zero byte" },
    { { stdin_text = 5 }, "stdin_text must be a string, and not be given with stdin" },
    { { stdin_text = "x", stdin = "/dev/null" }, "stdin_text must be a string, and not be given with stdin" },
    { { limits = 5 }, "limits must be a table, not a number" }, { { limits = { cpu = 1 } }, "unknown limit 'cpu'; did you mean 'cpu_s'%?" },
    { { limits = { elephants = 1 } }, "unknown limit 'elephants'; allowed: cpu_s, memory_mb, file_mb, processes, open_files" },
    { { shell = "true", log_ = "x" }, "unknown option 'log_'; did you mean 'log_limit_bytes'%?" }, -- as begun, though log is nearer
    { { limits = { cpu_s = "1" } }, "cpu_s must be a number" }, { { limits = { open_files = -1 } }, "open_files must be at least 0" },
    { { cage = 5 }, "cage must be a table, not a number" }, { { cage = { paths = {} } }, "cage.mode must be watched, subreaper, namespaces, "
      .. "landlock or filtered, not %?" },
    { { cage = { mode = "open" } }, "cage.mode must be watched, subreaper, namespaces, landlock or filtered, not open" },
    { { cage = { mode = "watched", path = {} } }, "unknown key of cage 'path'; did you mean 'paths'%?" },
    { { cage = { mode = "watched", private_mb = 0.01 } }, "private_mb must be at least 0.1" },
    { { cage = { mode = "watched", disk_reserve_mb = -1 } }, "disk_reserve_mb must be at least 0" },
    { { cage = { mode = "watched", paths = { "w/tmp", "x/tmp" } } }, "cage.paths: 'x/tmp' is not p, h, r, w or l and an absolute path" },
    { { cage = { mode = "watched", paths = { "" } } }, "cage.paths: '' is not" },
    { { cage = { mode = "watched", paths = { "wtmp" } } }, "cage.paths: 'wtmp' is not" },
    { { cage = { mode = "watched", paths = { {} } } }, "cage.paths must be a string, not a table" },
    { { scanner = 5 }, "scanner must be an open scanner of apsis.metric" },
    { { scanner = io.stdout }, "scanner must be an open scanner of apsis.metric" },
  } do
    refused(case[1], case[2])
  end
  local closed = require("apsis.metric").scanner()
  closed:close()
  refused({ scanner = closed }, "scanner must be an open scanner of apsis.metric")
  raises("table expected, got string", process.run, "true")
  equal(assert(process.run { shell = "exit 4", timeout_s = 1e300, grace_s = 1e300, log_limit_bytes = 1e300, limits = { cpu_s = 1e300 },
    cage = { mode = "subreaper", private_mb = 1e300, disk_reserve_mb = 0 } }).code, 4)
end)

test("the environment is the caller's, with what was changed, or nothing but that", function()
  equal(out { argv = { "env" }, clean_env = true }, "")
  equal(out { argv = { "env" }, clean_env = true, env = { A = "", B = 5, C = false } }:gsub("A=\nB=5\n", "B=5\nA=\n"), "B=5\nA=\n")
  local own = out { argv = { "env" } }
  equal(out { argv = { "env" }, env = {} }, own)
  equal(out { argv = { "env" }, clean_env = false }, own)
  local without = out { argv = { "env" }, env = { PATH = false } }
  equal({ without:find("\nPATH=", 1, true) or without:find "^PATH=", #own - #without > 6 }, { nil, true })
  equal(out { shell = "echo $PATH$XA", env = { PATH = "p", XA = "q" } }, "pq\n")
end)

test("limits are those of the command", function()
  local function limits(given)
    local text = out { argv = { "cat", "/proc/self/limits" }, limits = given }
    return text:match "cpu time%s+(%w+)", text:match "address space%s+(%w+)", text:match "file size%s+(%w+)", text:match "open files%s+(%w+)"
  end
  local cpu, memory, file, open = limits { cpu_s = 1.5, memory_mb = 512, file_mb = 2, open_files = 33 }
  equal({ cpu, memory, file, open }, { "2", tostring(512 << 20), tostring(2 << 20), "33" })
  equal({ limits {} }, { limits(nil) })
end)

test("who takes the disk below its reserve is killed at once, without a signal to prepare for it", function()
  local dir = assert(fs.tempdir())
  for _, mode in ipairs { "watched", "subreaper" } do
    local result = assert(process.run { shell = "trap 'echo asked; exit' TERM; head -c 100000000 /dev/zero > much; sleep 30 & wait",
      cwd = dir, grace_s = 20, cage = { mode = mode, disk_reserve_mb = 1e9 } })
    equal({ result.outcome, result.excess, result.stdout.head }, { "killed", "disk", "" }, mode)
    fs.remove(dir .. "/much")
  end
  assert(fs.remove_tree(dir))
end)

test("input comes from a file, a text, or nowhere; output goes to files", function()
  local dir = assert(fs.tempdir())
  assert(fs.write(dir .. "/in", "from a file"))
  equal({ out { argv = { "cat" }, stdin = dir .. "/in" }, out { argv = { "cat" }, stdin_text = "a\0b" }, out { argv = { "cat" } } },
    { "from a file", "a\0b", "" })
  local result = assert(process.run { shell = "echo out; echo err >&2", stdout_file = dir .. "/out", stderr_file = dir .. "/err" })
  equal({ fs.read(dir .. "/out"), fs.read(dir .. "/err"), result.log }, { "out\n", "err\n" })
  assert(process.run { shell = "printf 0123456789; printf abcdefghij >&2", stdout_file = dir .. "/few", stderr_file = dir .. "/some",
    log_limit_bytes = 2, tail_bytes = 3 })
  equal({ fs.read(dir .. "/few"), fs.read(dir .. "/some") },
    { "01\n[apsis: 5 bytes left out here]\n789", "ab\n[apsis: 5 bytes left out here]\nhij" })
  equal(out { argv = { "pwd" }, cwd = dir }, assert(fs.realpath(dir)) .. "\n")
  assert(fs.remove_tree(dir))
end)

test("no more is kept of the output than head and tail hold", function()
  for head = 0, 5 do
    for tail = 0, 5 do
      local stream = assert(process.run { argv = { "printf", "01234567" }, head_bytes = head, tail_bytes = tail }).stdout
      local text = ("01234567"):sub(math.max(head + 1, 9 - tail))
      equal(stream, { head = ("01234567"):sub(1, head), tail = text, bytes = 8 }, head .. ", " .. tail)
    end
  end
  equal(assert(process.run { argv = { "printf", "01234567" }, head_bytes = 8, tail_bytes = 0 }).stdout, { head = "01234567", bytes = 8 })
end)

tap.done()
