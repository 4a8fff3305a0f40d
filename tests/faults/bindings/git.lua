-- git: every function of apsis.git but those of a worktree, for allocations.c: `return run, prepare`.
local fs = require "apsis.fs"

local script = [[export HOME=%s GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=C GIT_COMMITTER_EMAIL=c@d
  git init -q -b main template && cd template && mkdir d && printf 'one\ntwo\nthree\n' > a && printf 'x' > d/c
  printf '*.o\n' > .gitignore
  git add . && git commit -qm first && git tag -a v1 -m v1 && git checkout -qb side && printf 'one\ntwo\nside\n' > a && git commit -qam side
  git checkout -q main && printf 'main\ntwo\nthree\n' > a && git commit -qam main
  git config user.name Me && git config user.email me@here
  printf y > d/new && touch .git/refs/heads/left.lock]]

local function prepare(dir)
  if not fs.stat(dir .. "/template") then
    assert(fs.mkdir(dir))
    assert(os.execute("cd " .. dir .. " && " .. script:format(dir)))
  end
  assert(fs.remove_tree(dir .. "/git"))
  assert(fs.copy_tree(dir .. "/template", dir .. "/git"))
end

local function need(value, message) return value or error(message or "nothing, and no message", 2) end

local function refused(wanted, value, message, code)
  if value ~= nil or code ~= wanted then error(tostring(message), 2) end
end

local function run(step, dir)
  local git = require "apsis.git"
  local repo
  step("open refuses", function() refused("ENOREPO", git.open "/") end)
  step("open", function() repo = need(git.open(dir .. "/git")) end)
  if not repo then return end
  step("info, resolve, commit_info, log", function()
    assert(need(repo:info()).branch == "main")
    local head = need(repo:resolve "HEAD")
    assert(need(repo:commit_info(head)).subject == "main" and need(repo:resolve "v1"))
    assert(#need(repo:log("HEAD", { path = "a" })) == 2 and #need(repo:log "HEAD") == 2)
    refused("ENOENT", repo:resolve "nope")
  end)
  step("reading", function()
    assert(need(repo:read("HEAD", "a")) == "main\ntwo\nthree\n")
    assert(#need(repo:entries "HEAD") == 3 and #need(repo:entries("HEAD", "d")) == 1)
    refused("ENOENT", repo:read("HEAD", "nope"))
    refused("EISDIR", repo:read("HEAD", "d"))
  end)
  step("the user's tree", function()
    local ignored, why = repo:is_ignored "x.o"
    if ignored ~= true then error(why or "not ignored", 0) end
    local tracked
    tracked, why = repo:is_tracked "d/c"
    if tracked ~= true then error(why or "not tracked", 0) end
    local paths, count = repo:dirty { untracked = true }
    need(paths, count)
    assert(count == 1)
    local where, message = repo:checked_out "main"
    if not where then error(message or "checked out nowhere", 0) end
  end)
  step("checkout", function()
    local tree = need(repo:edit_tree("HEAD", { a = "main\ntwo\nthree\n", e = "e" }))
    need(repo:checkout("HEAD", tree))
    need(repo:checkout(tree, "HEAD"))
    refused("ECONFLICT", repo:checkout(tree, need(repo:edit_tree("HEAD", { ["d/new"] = "other" }))))
  end)
  step("refs", function()
    local head = need(repo:resolve "HEAD")
    need(repo:set_ref("refs/x/one", head, false, "new"))
    need(repo:set_ref("refs/x/one", head, head, "same"))
    assert(need(repo:ref "refs/x/one") == head and #need(repo:refs "refs/x/") == 1 and need(repo:symbolic_ref "HEAD") == "refs/heads/main")
    need(repo:delete_ref "refs/x/one")
    refused("ENOENT", repo:ref "refs/x/one")
    need(repo:clear_locks("refs/heads", 0))
  end)
  step("writing", function()
    local tree = need(repo:edit_tree("HEAD", { ["a"] = "new\n", ["d/c"] = false, ["e/f/g"] = { bytes = "deep", mode = "100755" } }))
    local commit = need(repo:commit { tree = tree, parents = { "HEAD", "side" }, message = "made\n\nmore\n", ref = "refs/x/made" })
    assert(need(repo:commit_info(commit)).author_name == "Me")
    need(repo:commit { tree = tree, message = "m", author = { name = "N", email = "e@f", time = 5 }, time = 6 })
    refused("EPATH", repo:edit_tree("HEAD", { ["../x"] = "y" }))
  end)
  step("what differs", function()
    assert(need(repo:diff("main", "side")):find "+side" and need(repo:diff("main", "side", { context = 0, paths = { "a" } })))
    local changes, lines = repo:changes("main", "side")
    need(changes, lines)
    assert(#changes == 1 and lines == 4)
  end)
  step("histories", function()
    assert(need(repo:merge_base("main", "side")) == need(repo:resolve "v1^{commit}"))
    need(repo:descendant_of("main", "v1"))
    local ahead, behind = repo:ahead_behind("main", "side")
    need(ahead, behind)
    assert(ahead == 1 and behind == 1)
  end)
  step("merges", function()
    local tree, message = repo:merge("main", "side")
    if not tree then error(message, 0) end
    need(repo:revert("side", "side"))
    local other = need(repo:edit_tree("main", { a = "other\ntwo\nthree\n" }))
    local commit = need(repo:commit { tree = other, parents = { "v1" }, message = "c" })
    refused("ECONFLICT", repo:merge("main", commit))
  end)
  step("closed", function()
    repo:close()
    repo:close()
    git.open(dir .. "/git")
    collectgarbage()
  end)
end

return run, prepare
