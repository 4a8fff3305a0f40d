-- fs: files and folders; what a hostile tree holds (links, FIFOs, read-only and deep folders) is handled, not followed.
local tap = require "tap"
local fs = require "apsis.fs"
local host = require "apsis.host"
local process = require "apsis.process"
local test, equal, raises = tap.test, tap.equal, tap.raises

local function refused(code, value, message, got)
  equal(value, nil)
  equal(got, code)
  tap.matches(message, "^" .. code .. ": ")
end

-- Runs body with a new folder's path, and removes it.
local function inside(body)
  return function()
    local dir = assert(fs.tempdir "apsis-test-fs-")
    local ok, message = xpcall(body, debug.traceback, dir)
    assert(fs.remove_tree(dir))
    equal(fs.stat(dir), nil)
    if not ok then error(message, 0) end
  end
end

local function descriptors()
  return #assert(fs.list "/proc/self/fd")
end

test("what is written is read back, byte by byte", inside(function(dir)
  local bytes = "a\0b\r\n\xFF" .. ("x"):rep(300000)
  equal(fs.write(dir .. "/f", bytes), true)
  equal(fs.read(dir .. "/f") == bytes, true)
  equal(fs.append(dir .. "/f", "tail"), true)
  equal(fs.read(dir .. "/f") == bytes .. "tail", true)
  equal(fs.write(dir .. "/f", ""), true)
  equal(fs.read(dir .. "/f"), "")
end))

test("read with a limit gives the beginning, and says when there is more", inside(function(dir)
  fs.write(dir .. "/f", "0123456789")
  local function all(...) return { n = select("#", ...), ... } end
  equal(all(fs.read(dir .. "/f", 4)), { n = 2, "0123", true })
  equal(all(fs.read(dir .. "/f", 10)), { n = 1, "0123456789" })
  equal(all(fs.read(dir .. "/f", 0)), { n = 2, "", true })
  equal(all(fs.read(dir .. "/f", math.maxinteger)), { n = 1, "0123456789" })
  raises("must not be negative", fs.read, dir .. "/f", -1)
end))

test("files of /proc, whose size says 0, are read whole", function()
  assert(#assert(fs.read "/proc/self/maps") > 100)
end)

test("reading what is no file is refused, and a FIFO does not block", inside(function(dir)
  refused("ENOENT", fs.read(dir .. "/none"))
  refused("EISDIR", fs.read(dir))
  os.execute("mkfifo " .. dir .. "/fifo")
  refused("EINVAL", fs.read(dir .. "/fifo"))
  refused("ENXIO", fs.write(dir .. "/fifo", "x"))
  refused("EINVAL", fs.read "/dev/zero")
  refused("ENOSPC", fs.write("/dev/full", "x"))
end))

test("mkdir makes the parents, and is content with a directory that exists", inside(function(dir)
  equal(fs.mkdir(dir .. "/a/b//c/"), true)
  equal(fs.mkdir(dir .. "/a/b/c"), true)
  equal(fs.stat(dir .. "/a/b/c").type, "directory")
  fs.write(dir .. "/f", "")
  refused("EEXIST", fs.mkdir(dir .. "/f"))
  refused("ENOTDIR", fs.mkdir(dir .. "/f/g"))
  refused("ENOENT", fs.mkdir "")
  equal(fs.mkdir "/", true)
  local script = dir .. "/relative.lua"
  fs.write(script, "assert(require('apsis.fs').mkdir 'd/e/f')")
  equal(assert(process.run { argv = { host.executable, "exec", script }, cwd = dir }).code, 0)
  equal(fs.stat(dir .. "/d/e/f").type, "directory")
  -- where a parent is refused, that is the reason, and not that it is missing then
  local value, message, code = fs.mkdir "/sys/apsis-nope/below"
  equal(value, nil)
  if code == "ENOENT" then error(message) end
end))

test("list gives the names in byte order, hidden and non-UTF-8 ones too", inside(function(dir)
  for _, name in ipairs { "b", "a", ".hidden", "\xFFx", "A b", "é" } do fs.write(dir .. "/" .. name, "") end
  equal(fs.list(dir), { ".hidden", "A b", "a", "b", "é", "\xFFx" })
  fs.mkdir(dir .. "/empty")
  equal(fs.list(dir .. "/empty"), {})
  refused("ENOENT", fs.list(dir .. "/none"))
  refused("ENOTDIR", fs.list(dir .. "/a"))
end))

test("stat follows links unless told not to", inside(function(dir)
  fs.write(dir .. "/f", "12345")
  fs.chmod(dir .. "/f", 416)
  assert(fs.symlink("f", dir .. "/link"))
  assert(fs.symlink("nowhere", dir .. "/broken"))
  local stat = fs.stat(dir .. "/link")
  equal({ stat.type, stat.size, stat.mode }, { "file", 5, 416 })
  assert(stat.mtime > 1.7e9 and stat.ino > 0 and math.type(stat.uid) == "integer")
  equal(fs.stat(dir .. "/link", { follow = false }).type, "link")
  equal(fs.stat("/dev/null").type, "other")
  refused("ENOENT", fs.stat(dir .. "/broken"))
  raises("unknown option 'folow' %(known: follow%)", fs.stat, dir, { folow = true })
  raises("must be a boolean", fs.stat, dir, { follow = 1 })
end))

test("symlink replaces in one step only when asked", inside(function(dir)
  equal(fs.symlink("one", dir .. "/l"), true)
  refused("EEXIST", fs.symlink("two", dir .. "/l"))
  equal(fs.symlink("two", dir .. "/l", { replace = true }), true)
  equal(fs.readlink(dir .. "/l"), "two")
  fs.mkdir(dir .. "/d")
  refused("EISDIR", fs.symlink("x", dir .. "/d", { replace = true }))
  refused("ENOENT", fs.symlink("x", dir .. "/none/l", { replace = true }))
  equal(fs.list(dir), { "d", "l" })
  refused("EINVAL", fs.readlink(dir .. "/d"))
end))

test("rename, remove, realpath, chdir and cwd", inside(function(dir)
  local before, real = fs.cwd(), assert(fs.realpath(dir))
  fs.write(dir .. "/a", "1")
  equal(fs.rename(dir .. "/a", dir .. "/b"), true)
  refused("ENOENT", fs.rename(dir .. "/a", dir .. "/b"))
  equal(fs.remove(dir .. "/b"), true)
  refused("ENOENT", fs.remove(dir .. "/b"))
  refused("EISDIR", fs.remove(dir))
  refused("ENOENT", fs.realpath(dir .. "/none/x"))
  equal(fs.symlink(".", dir .. "/link"), true)
  equal(fs.realpath(dir .. "/link/.."), assert(fs.realpath(dir .. "/..")))
  equal(fs.realpath(dir .. "/link/link"), real)
  equal(fs.chdir(dir), true)
  equal(fs.cwd(), real)
  equal(fs.realpath("link"), real)
  equal(fs.chdir(before), true)
  refused("ENOENT", fs.chdir(dir .. "/none"))
end))

test("remove_tree removes links, not what they point to", inside(function(dir)
  fs.mkdir(dir .. "/keep/in")
  fs.write(dir .. "/keep/in/f", "1")
  fs.mkdir(dir .. "/tree")
  fs.symlink(dir .. "/keep", dir .. "/tree/link")
  fs.symlink(dir .. "/keep", dir .. "/link")
  os.execute("chmod 755 " .. dir)
  equal(fs.remove_tree(dir .. "/tree"), true)
  equal(fs.remove_tree(dir .. "/link/"), true)
  equal({ fs.list(dir), fs.stat(dir).mode }, { { "keep" }, 493 }) -- what it is in stays as it was
  equal(fs.read(dir .. "/keep/in/f"), "1")
end))

test("remove_tree is content when nothing is there, and refuses . and ..", inside(function(dir)
  equal(fs.remove_tree(dir .. "/none"), true)
  fs.write(dir .. "/f", "")
  equal(fs.remove_tree(dir .. "/f/below"), true)
  refused("EINVAL", fs.remove_tree(dir .. "/."))
  refused("EINVAL", fs.remove_tree(dir .. "/f/.."))
  refused("EINVAL", fs.remove_tree "/")
  refused("EINVAL", fs.remove_tree "")
  equal(fs.list(dir), { "f" })
  equal(fs.remove_tree(dir .. "/f"), true)
end))

test("remove_tree manages a very deep tree, wide folders and special files", inside(function(dir)
  local before = descriptors()
  local home, name = fs.cwd(), ("d"):rep(100)
  fs.chdir(dir)
  for _ = 1, 400 do -- a path of 40,000 bytes
    assert(fs.mkdir(name))
    assert(fs.write("f", "x"))
    assert(fs.chdir(name))
  end
  fs.chdir(home)
  for i = 1, 500 do fs.mkdir(dir .. "/wide/" .. i .. "/x") end
  os.execute("mkfifo " .. dir .. "/wide/fifo")
  equal(fs.remove_tree(dir .. "/" .. name), true)
  equal(fs.remove_tree(dir .. "/wide"), true)
  equal(fs.list(dir), { "f" })
  equal(descriptors(), before)
end))

test("copy_tree copies regular files and their modes, and counts what it leaves out", inside(function(dir)
  local from, to = dir .. "/from", dir .. "/to/there"
  fs.mkdir(from .. "/a/b")
  fs.write(from .. "/a/b/f", "12345")
  fs.write(from .. "/g\xFF", "123")
  fs.chmod(from .. "/g\xFF", 448)
  fs.symlink("/etc", from .. "/link")
  os.execute("mkfifo " .. from .. "/fifo")
  local before = descriptors()
  equal(fs.copy_tree(from, to), { files = 2, bytes = 8, skipped = 2 })
  equal(fs.read(to .. "/a/b/f"), "12345")
  equal(fs.stat(to .. "/g\xFF").mode, 448)
  equal(fs.list(to), { "a", "g\xFF" })
  refused("ENOENT", fs.copy_tree(dir .. "/none", to))
  assert(select(3, fs.copy_tree(from, "/sys/apsis-nope/to")) ~= "ENOENT", "the reason is that of making the folder")
  equal(descriptors(), before)
end))

test("copy_tree stays within its limits, and out of its own target", inside(function(dir)
  fs.mkdir(dir .. "/from")
  for i = 1, 5 do fs.write(dir .. "/from/" .. i, "12345") end
  equal(fs.copy_tree(dir .. "/from", dir .. "/a", { max_files = 3 }), { files = 3, bytes = 15, skipped = 2 })
  equal(fs.copy_tree(dir .. "/from", dir .. "/b", { max_bytes = 12 }), { files = 2, bytes = 10, skipped = 3 })
  equal(fs.copy_tree(dir .. "/from", dir .. "/c", { max_bytes = 10 }), { files = 2, bytes = 10, skipped = 3 })
  equal(fs.copy_tree(dir .. "/from", dir .. "/d", { max_files = 0 }), { files = 0, bytes = 0, skipped = 5 })
  fs.mkdir(dir .. "/empty")
  fs.write(dir .. "/empty/f", "")
  equal(fs.copy_tree(dir .. "/empty", dir .. "/e", { max_bytes = 0 }), { files = 1, bytes = 0, skipped = 0 })
  equal(fs.copy_tree(dir .. "/from", dir .. "/e", { max_bytes = 0 }), { files = 0, bytes = 0, skipped = 5 })
  equal(fs.copy_tree(dir .. "/from", dir .. "/from/in"), { files = 5, bytes = 25, skipped = 1 })
  raises("unknown option 'max' ", fs.copy_tree, dir, dir .. "/c", { max = 1 })
  raises("must be an integer from 0", fs.copy_tree, dir, dir .. "/c", { max_files = -1 })
end))

test("globs: dir/** is everything below dir, * crosses / and matches leading dots", function()
  local cases = {
    { "dir/**", "dir/a", true }, { "dir/**", "dir/a/b", true }, { "dir/**", "dirx", false },
    { "dir/**", "dirx/a", false },
    { "dir/**", "dir", true }, { "dir/**", "x/dir/a", false }, { "[a]/**", "[a]/b", true },
    { "*/data/**", "x/data/f", true },
    { "*.lua", "a.lua", true }, { "*.lua", "a/b.lua", true }, { "*.lua", ".lua", true }, { "*", ".hidden/x", true },
    { "a?b", "a/b", true }, { "[ab].c", "b.c", true }, { "[!ab].c", "b.c", false }, { "a", "a/b", false },
    { "src/*.c", "src/x/y.c", true }, { "", "", true }, { "", "a", false }, { "a.lua", "aXlua", false },
  }
  for _, case in ipairs(cases) do equal(fs.glob_match(case[1], case[2]), case[3], case[1] .. " on " .. case[2]) end
end)

test("tempdir is new, private and under TMPDIR; free_bytes is a count", function()
  local a, b = assert(fs.tempdir "x-"), assert(fs.tempdir())
  assert(a ~= b and a:find "/x%-" and fs.stat(a).mode == 448)
  fs.remove_tree(a)
  fs.remove_tree(b)
  raises("#1 to '[^']*' %(a prefix cannot contain '/'%)", fs.tempdir, "../x")
  raises("#2 to '[^']*' %(max_bytes must not be negative%)", fs.read, "x", -1)
  for _, mode in ipairs { -1, 4096 } do
    raises("#2 to '[^']*' %(mode must be within 0 and 4095 %(octal 7777%)%)", fs.chmod, "/nowhere-at-all", mode)
  end
  for _, mode in ipairs { 0, 4095 } do refused("ENOENT", fs.chmod("/nowhere-at-all", mode)) end
  assert(math.type(fs.free_bytes "/") == "integer" and fs.free_bytes "/" > 0)
  refused("ENOENT", fs.free_bytes "/nowhere-at-all")
end)

test("temporary folders are where TMPDIR is, or in /tmp; where none can be made, the reason names it", inside(function(dir)
  local before = os.getenv "TMPDIR"
  host.setenv("TMPDIR", dir)
  equal(assert(fs.tempdir "p-"):sub(1, #dir + 3), dir .. "/p-")
  refused("ENAMETOOLONG", fs.tempdir(("x"):rep(5000)))
  host.setenv("TMPDIR", dir .. "/none")
  local _, message = fs.tempdir()
  tap.matches(message, "^ENOENT: " .. dir:gsub("%p", "%%%0") .. "/none")
  host.setenv("TMPDIR", "")
  local made = assert(fs.tempdir())
  tap.matches(made, "^/tmp/apsis%-......$")
  fs.remove_tree(made)
  host.setenv("TMPDIR", before)
end))

test("a path with a NUL byte raises", function()
  local names = { "read", "mkdir", "remove", "remove_tree", "list", "stat", "readlink", "realpath", "chdir" }
  for _, name in ipairs(names) do
    raises("NUL byte", fs[name], "a\0b")
  end
  raises("NUL byte", fs.write, "a\0b", "")
  raises("NUL byte", fs.symlink, "a\0b", "x")
end)

tap.done()
