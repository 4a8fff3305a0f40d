-- worktree: every function of apsis.worktree, for allocations.c: `return run, prepare`.
local fs = require "apsis.fs"
local here = debug.getinfo(1, "S").source:match "^@(.*)/[^/]*$"
local _, prepare_git = assert(loadfile(here .. "/git.lua"))()

local function prepare(dir)
  prepare_git(dir)
  assert(fs.remove_tree(dir .. "/space"))
  assert(fs.mkdir(dir .. "/space/stray/deep"))
  assert(fs.write(dir .. "/space/stray/deep/file", "x"))
end

local function need(value, message) return value or error(message or "nothing, and no message", 2) end

local function run(step, dir)
  local git, worktree = require "apsis.git", require "apsis.worktree"
  local repo, space
  step("open", function()
    repo = need(git.open(dir .. "/git"))
    space = need(worktree.open(repo, dir .. "/space"))
  end)
  if not space then return end
  local function out() return need(space:checkout "main") end
  step("checkout", function()
    assert(out().written == 3 and need(space:tree()))
    need(space:checkout("side", { hide = { "d" } }))
    assert(not fs.stat(dir .. "/space/d"))
  end)
  step("a checkout that is refused, and then is not", function()
    local done, message, code = space:checkout "nope"
    if done or code ~= "ENOENT" then error(message, 0) end
    out()
  end)
  local function alter()
    out()
    need(fs.write(dir .. "/space/a", "changed\n"))
    need(fs.mkdir(dir .. "/space/more/deep"))
    for index = 1, 9 do need(fs.write(("%s/space/more/deep/file%d"):format(dir, index), ("z"):rep(index))) end
    need(fs.symlink("a", dir .. "/space/link"))
    need(fs.remove(dir .. "/space/d/c"))
    return need(space:changes())
  end
  step("changes", function()
    out()
    assert(#need(space:changes()) == 0)
    local changes = alter()
    assert(#changes == 12, #changes)
  end)
  step("write_tree", function()
    local tree = need(space:write_tree(alter()))
    assert(#need(repo:entries(tree)) == 12)
    assert(need(space:write_tree()) == tree)
  end)
  step("a folder moved away and back", function()
    out()
    need(space:watch())
    need(fs.rename(dir .. "/space/d", dir .. "/space/moved"))
    need(fs.rename(dir .. "/space/moved", dir .. "/space/d"))
    local changes = need(space:changes { touched = true })
    assert(#changes == 1 and changes[1].kind == "touched", #changes)
  end)
  step("everything back", function()
    out()
    assert(#need(space:changes()) == 0)
  end)
  step("closed", function()
    space:close()
    space:close()
    worktree.open(repo, dir .. "/space")
    repo:close()
    collectgarbage()
  end)
end

return run, prepare
