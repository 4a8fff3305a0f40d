-- state: lock, journal, lines and replace as Lua sees them. What a crash or a full disk does is tests/c/test_state.c.
local tap = require "tap"
local process = require "apsis.process"
local state = require "apsis.state"
local fs = require "apsis.fs"
local json = require "apsis.json"
local test, equal, raises = tap.test, tap.equal, tap.raises

local function refused(code, value, message, got)
  equal(value, nil)
  equal(got, code)
  tap.matches(message, "^" .. code .. ": ")
end

local function descriptors()
  return #assert(fs.list "/proc/self/fd")
end

-- Runs body with a new folder's path, removes it, and fails where a descriptor stays open.
local function inside(body)
  return function()
    local dir, before = assert(fs.tempdir "apsis-test-state-"), descriptors()
    local ok, message = xpcall(body, debug.traceback, dir)
    assert(fs.remove_tree(dir))
    if not ok then error(message, 0) end
    collectgarbage()
    equal(descriptors(), before, "descriptors")
  end
end

test("a lock is exclusive until it is closed", inside(function(dir)
  local lock = assert(state.lock(dir .. "/lock"))
  refused("LOCKED", state.lock(dir .. "/lock"))
  tap.matches(select(2, state.lock(dir .. "/lock")), "^LOCKED: held by pid %d+ since %d+%-%d+%-%d+T[%d:]+Z")
  lock:close()
  lock:close()
  do
    local _ <close> = assert(state.lock(dir .. "/lock"))
    refused("LOCKED", state.lock(dir .. "/lock"))
  end
  assert(state.lock(dir .. "/lock")):close()
  refused("ENOENT", state.lock(dir .. "/none/lock"))
end))

test("a lock that nobody holds any more is collected", inside(function(dir)
  assert(state.lock(dir .. "/lock"))
  collectgarbage()
  assert(state.lock(dir .. "/lock")):close()
end))

assert(process.run { argv = { "true" } }) -- which keeps a descriptor, of the cage's program

test("no link is followed, neither a file's own nor its folder's", inside(function(dir)
  assert(fs.mkdir(dir .. "/folder"))
  assert(fs.write(dir .. "/folder/target", "precious\n"))
  assert(fs.symlink("folder/target", dir .. "/link"))
  assert(fs.symlink("nowhere", dir .. "/broken"))
  assert(fs.symlink("folder", dir .. "/linked"))
  for _, open in ipairs { state.lock, state.journal, state.lines } do
    refused("ELOOP", open(dir .. "/link"))
    refused("ELOOP", open(dir .. "/broken"))
    refused("ENOTDIR", open(dir .. "/linked/target"))
  end
  refused("ELOOP", fs.write(dir .. "/link", "x"))
  refused("ELOOP", fs.append(dir .. "/link", "x"))
  refused("ELOOP", process.run { argv = { "echo", "x" }, log = dir .. "/link" })
  refused("ELOOP", process.run { argv = { "echo", "x" }, stdout_file = dir .. "/link" })
  refused("ENOTDIR", fs.copy_tree(dir .. "/folder", dir .. "/linked"))
  equal(state.replace(dir .. "/link", "another"), true) -- takes the link's place
  equal(fs.read(dir .. "/folder/target"), "precious\n")
  equal(fs.list(dir), { "broken", "folder", "link", "linked" })
end))

test("the journal appends lines, and lines reads them", inside(function(dir)
  local path = dir .. "/j"
  local journal <close> = assert(state.journal(path))
  equal(journal:size(), 0)
  equal(journal:append "one", true)
  equal(journal:append "", true)
  equal(journal:append "\0\xFF", true)
  equal(journal:size(), 8)
  local seen = {}
  for line, number, offset in state.lines(path) do seen[number] = { line, offset } end
  equal(seen, { { "one", 0 }, { "", 4 }, { "\0\xFF", 5 } })
  local rest = {}
  for line, number, offset in state.lines(path, 4, 2) do rest[number] = { line, offset } end
  equal(rest, { [2] = { "", 4 }, [3] = { "\0\xFF", 5 } })
  equal(state.lines(path, 8, 4)(), nil)
  equal(state.lines(path, 800, 4)(), nil)
  raises("#2 to '[^']*' %(an offset is not negative%)", state.lines, path, -1)
  raises("#2 to '[^']*' %(a line cannot contain a newline%)", journal.append, journal, "a\nb")
  raises("string expected", journal.append, journal, {})
  journal:close()
  raises("closed", journal.append, journal, "x")
  raises("closed", journal.size, journal)
end))

test("opening cuts a torn last line, and says so", inside(function(dir)
  local path = dir .. "/j"
  fs.write(path, "one\ntwo\n" .. ("x"):rep(300))
  local journal <close>, torn = state.journal(path)
  equal(torn, { cut_bytes = 300, text = ("x"):rep(200) })
  equal(fs.read(path), "one\ntwo\n")
  journal:append "three"
  local _ <close>, nothing = state.journal(path)
  equal(nothing, nil)
  equal(fs.read(path), "one\ntwo\nthree\n")
  fs.append(path, "\0\0\0")
  equal(select(2, state.journal(path)), { cut_bytes = 3, text = "\0\0\0" })
  refused("ENOENT", state.journal(dir .. "/none/j"))
  refused("EISDIR", state.journal(dir))
end))

test("a device is no journal", function()
  refused("EINVAL", state.journal "/dev/full")
end)

test("lines leaves out a torn last line and closes when the loop is left", inside(function(dir)
  local path = dir .. "/f"
  fs.write(path, "1\n2\n3")
  local count = 0
  for _ in state.lines(path) do count = count + 1 end
  equal(count, 2)
  local before = descriptors()
  for line in state.lines(path) do
    if line == "1" then break end
  end
  equal(descriptors(), before)
  local next_line = state.lines(path)
  equal({ next_line() }, { "1", 1, 0 })
  equal({ next_line() }, { "2", 2, 2 })
  equal({ next_line() }, {})
  equal({ next_line() }, {})
  fs.write(path, "")
  equal(state.lines(path)(), nil)
  refused("ENOENT", state.lines(dir .. "/none"))
  refused("EISDIR", state.lines(dir))
end))

test("a journal of many lines folds with every line in place", inside(function(dir)
  local path, parts = dir .. "/j", {}
  for i = 1, 20000 do parts[i] = json.encode { experiment = i, text = ("x"):rep(i % 700) } end
  fs.write(path, table.concat(parts, "\n") .. "\n")
  local sum, at = 0, 0
  for line, number, offset in state.lines(path) do
    assert(offset == at)
    at = at + #line + 1
    local record = json.decode(line)
    assert(record.experiment == number)
    sum = sum + #record.text
  end
  local expected = 0
  for i = 1, 20000 do expected = expected + i % 700 end
  equal(sum, expected)
  equal(at, fs.stat(path).size)
end))

test("replace puts all of the new content in place, or leaves the old", inside(function(dir)
  local path = dir .. "/s"
  equal(state.replace(path, "one"), true)
  equal(state.replace(path, "two\0", { sync = true }), true)
  equal(fs.read(path), "two\0")
  fs.mkdir(dir .. "/d")
  refused("EISDIR", state.replace(dir .. "/d", "x"))
  refused("ENOENT", state.replace(dir .. "/none/s", "x"))
  equal(fs.list(dir), { "d", "s" })
  local home = fs.cwd()
  fs.chdir(dir)
  equal(state.replace("s", "three", { sync = true }), true)
  fs.chdir(home)
  equal(fs.read(path), "three")
end))

test("mistakes in the call raise", function()
  raises("unknown option 'snyc' %(known: sync%)", state.replace, "x", "y", { snyc = true })
  raises("must be a boolean", state.replace, "x", "y", { sync = 1 })
  raises("NUL byte", state.replace, "x\0", "y")
  raises("NUL byte", state.lock, "x\0")
  raises("NUL byte", state.journal, "x\0")
  raises("NUL byte", state.lines, "x\0")
end)

test("publish makes a file once: the first writer wins, and nothing is left of the others", inside(function(dir)
  equal(state.publish(dir .. "/p", "first\0"), true)
  refused("EEXIST", state.publish(dir .. "/p", "second"))
  assert(fs.symlink("nowhere", dir .. "/link"))
  refused("EEXIST", state.publish(dir .. "/link", "x"))
  refused("ENOENT", state.publish(dir .. "/none/p", "x"))
  equal(fs.read(dir .. "/p"), "first\0")
  equal(fs.list(dir), { "link", "p" })
  raises("NUL byte", state.publish, "x\0", "y")
end))

test("a digest depends on the length and on every byte, and stays what it was: projects have files of them", function()
  for text, digest in pairs { [""] = "0000000000000000", a = "b370252fd0238f68", [("x"):rep(31)] = "fbb2e6398c6a9d1d",
    [("x"):rep(32)] = "befb73f55b2ed4c3", [("0123456789"):rep(10)] = "41d0b515d4173da0",
    ["\xff\0\xfe" .. ("z"):rep(40)] = "af8e09a6443001ec" } do
    equal(state.digest(text), digest)
  end
  local text, seen = ("0"):rep(100), {}
  for at = 0, 100 do
    local digest = state.digest(text:sub(1, at) .. "1" .. text:sub(at + 2))
    equal(seen[digest], nil)
    seen[digest] = true
  end
end)

tap.done()
