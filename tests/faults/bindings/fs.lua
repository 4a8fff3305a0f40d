-- fs: every function of apsis.fs, for allocations.c: `return run, prepare`.
local fs = require "apsis.fs"

local function prepare(dir)
  assert(fs.remove_tree(dir .. "/fs"))
  assert(fs.mkdir(dir .. "/fs/tree/deep/er"))
  for index = 1, 20 do assert(fs.write(("%s/fs/tree/deep/file%d"):format(dir, index), ("x"):rep(index * 100))) end
  assert(fs.symlink("deep", dir .. "/fs/tree/link"))
end

-- Where the memory ran out it is said, not that there is nothing.
local function need(value, message) return value or error(message, 2) end

local function refused(wanted, value, message, code)
  if value ~= nil or code ~= wanted then error(tostring(message), 2) end
end

local function run(step, dir)
  local at = dir .. "/fs"
  step("read, write, append", function()
    need(fs.write(at .. "/a", "one"))
    need(fs.append(at .. "/a", "two"))
    assert(need(fs.read(at .. "/a")) == "onetwo" and need(fs.read(at .. "/a", 2)) == "on")
    assert(#need(fs.read(at .. "/tree/deep/file20")) == 2000)
    refused("ENOENT", fs.read(at .. "/nope"))
    refused("EISDIR", fs.read(at))
    need(fs.remove(at .. "/a"))
  end)
  step("folders", function()
    need(fs.mkdir(at .. "/new/and/newer"))
    assert(#need(fs.list(at .. "/tree/deep")) == 21)
    refused("ENOENT", fs.list(at .. "/nope"))
    need(fs.rename(at .. "/new", at .. "/old"))
    need(fs.remove_tree(at .. "/old"))
    need(fs.remove_tree(at .. "/old"))
  end)
  step("copy_tree", function()
    local copied = need(fs.copy_tree(at .. "/tree", at .. "/copy"))
    assert(copied.files == 20)
    assert(need(fs.copy_tree(at .. "/tree", at .. "/part", { max_files = 3, max_bytes = 1000 })).skipped > 0)
    need(fs.remove_tree(at .. "/copy"))
    need(fs.remove_tree(at .. "/part"))
  end)
  step("stat, links, names", function()
    assert(need(fs.stat(at .. "/tree/link")).type == "directory" and need(fs.stat(at .. "/tree/link", { follow = false })).type == "link")
    assert(need(fs.readlink(at .. "/tree/link")) == "deep" and need(fs.realpath(at .. "/tree/link")):find "deep$")
    need(fs.symlink("elsewhere", at .. "/tree/link2"))
    need(fs.symlink("there", at .. "/tree/link2", { replace = true }))
    need(fs.remove(at .. "/tree/link2"))
    need(fs.chmod(at .. "/tree/deep/file1", 384))
    assert(need(fs.cwd()) and need(fs.free_bytes(at)))
    need(fs.chdir(need(fs.cwd())))
    need(fs.remove_tree(need(fs.tempdir "faults-")))
    assert(fs.glob_match("a/**", "a/b"))
  end)
  step("raises", function()
    for _, call in ipairs { function() fs.read "a\0b" end, function() fs.stat(at, { nope = 1 }) end, function() fs.chmod(at, -1) end } do
      local ok, message = pcall(call)
      assert(not ok)
      if message:find "memory" then error(message, 0) end
    end
  end)
end

return run, prepare
