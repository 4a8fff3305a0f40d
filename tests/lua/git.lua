-- git: the repository primitives against repositories made by git itself, and a working directory that a hostile program
-- has been in. Nothing of the user's configuration is used: HOME is a folder of the test's.
local tap = require "tap"
local scratch = require "scratch"
local git = require "apsis.git"
local worktree = require "apsis.worktree"
local fs = require "apsis.fs"
local test, equal, matches, raises = tap.test, tap.equal, tap.matches, tap.raises

local quote, run = scratch.quote, scratch.run

local function write(path, bytes)
  local file = assert(io.open(path, "wb"))
  file:write(bytes)
  file:close()
end

local function refused(code, value, message, got)
  equal(value, nil)
  equal(got, code)
  matches(message, "^" .. code .. ": ")
end

local setup <const> = [[git init -q -b main repo; cd repo; mkdir d; printf 'one\ntwo\nthree\n' > a; printf '#!/bin/sh\n' > b.sh
  chmod +x b.sh; printf c > d/c; git add .; git commit -qm 'first

body']]
local inside, alone = scratch.with(setup), scratch.with(setup, true)

local function head(dir, rev) return run(dir, "git rev-parse " .. (rev or "HEAD")) end

test("open discovers upward, and says so where there is no repository", inside(function(_, dir, parent)
  local found <close> = assert(git.open(dir .. "/d"))
  equal(found:info().workdir, assert(fs.realpath(dir)))
  refused("ENOREPO", git.open(parent))
  refused("ENOREPO", git.open(parent .. "/nowhere"))
  run(parent, "ln -s repo link")
  local linked <close> = assert(git.open(parent .. "/link"))
  equal(linked:info().workdir, assert(fs.realpath(dir)))
end))

test("info tells head, branch, and what kind of repository it is", inside(function(repo, dir, parent)
  local info = repo:info()
  equal({ info.head, info.branch, info.bare, info.detached, info.shallow, info.partial, info.sha },
    { head(dir), "main", false, false, false, false, "sha1" })
  run(dir, "git checkout -q --detach; git config remote.origin.promisor true; git config remote.origin.url x")
  local again <close> = assert(git.open(dir))
  info = again:info()
  equal({ info.branch, info.detached, info.partial }, { nil, true, true })
  run(parent, "git init -q --bare -b trunk bare; git clone -q --depth 1 file://" .. dir .. " shallow")
  local bare <close> = assert(git.open(parent .. "/bare"))
  info = bare:info()
  equal({ info.bare, info.workdir, info.head, info.branch }, { true, nil, nil, "trunk" })
  local shallow <close> = assert(git.open(parent .. "/shallow"))
  equal(shallow:info().shallow, true)
  equal(#shallow:log("HEAD"), 1)
end))

test("a partial clone opens, and is known as one", inside(function(_, dir)
  run(dir, "git config core.repositoryformatversion 1; git config extensions.partialclone origin")
  local repo <close> = assert(git.open(dir))
  equal(repo:info().partial, true)
end))

test("an object that is missing gets another error than a path that is not there", alone(function(repo, dir)
  local object = run(dir, "git rev-parse HEAD:a"):gsub("^(..)", "%1/")
  run(dir, "rm -f .git/objects/" .. object)
  refused("EGIT", repo:read("HEAD", "a"))
  refused("EGIT", repo:read(head(dir), "a"))
  local folder = run(dir, "git rev-parse HEAD:d"):gsub("^(..)", "%1/")
  run(dir, "rm -f .git/objects/" .. folder)
  refused("EGIT", repo:read("HEAD", "d/c"))
  refused("ENOENT", repo:read("HEAD", "nope"))
  refused("ENOENT", repo:read("nobranch", "a"))
  refused("EGIT", repo:read(("0"):rep(39) .. "1", "a"))
end))

test("a closed handle raises, closing twice does not", inside(function(repo)
  repo:close()
  repo:close()
  raises("closed", repo.info, repo)
end))

test("resolve, commit_info and log agree with git", inside(function(repo, dir)
  equal(repo:resolve("main"), head(dir))
  equal(repo:resolve("main^{tree}"), head(dir, "main^{tree}"))
  refused("ENOENT", repo:resolve("nope"))
  refused("ENOENT", repo:resolve(("0"):rep(39) .. "1"))
  run(dir, "git tag -a v1 -m v1; echo 4 >> a; git commit -qam second; echo x > d/c; git commit -qam third")
  equal(repo:resolve("v1"), head(dir, "HEAD~2"))
  local info = repo:commit_info("HEAD~2")
  equal({ info.subject, info.message, info.author_name, info.author_email, info.parents },
    { "first", "first\n\nbody\n", "A", "a@b", {} })
  equal(repo:commit_info("HEAD").parents, { head(dir, "HEAD~1") })
  local function subjects(...)
    local list = {}
    for i, commit in ipairs(assert(repo:log(...))) do list[i] = commit.subject end
    return list
  end
  equal(subjects("HEAD"), { "third", "second", "first" })
  equal(subjects("HEAD", { max = 2 }), { "third", "second" })
  equal(subjects("HEAD", { path = "a" }), { "second", "first" })
  equal(subjects("HEAD", { path = "d", max = 1 }), { "third" })
  equal(subjects("HEAD", { since_rev = "v1" }), { "third", "second" })
  equal(subjects("HEAD", { path = "nowhere" }), {})
  run(dir, "git rm -q a; git commit -qm fourth")
  equal(subjects("HEAD", { path = "a" }), { "fourth", "second", "first" }, "of a path that is gone")
  raises("unknown option \"limit\" %(allowed: max, path, since_rev%)", repo.log, repo, "HEAD", { limit = 1 })
end))

test("read gives bytes and mode; directories, submodules and missing paths are refused", inside(function(repo, dir)
  run(dir, [[ln -s a link; printf 'x\000y\377' > bin; git add .; git update-index --add --cacheinfo 160000,]] ..
    head(dir) .. [[,sub; git commit -qm more]])
  local bytes, mode = repo:read("HEAD", "bin")
  equal({ bytes, mode }, { "x\0y\255", "100644" })
  equal(select(2, repo:read("HEAD", "b.sh")), "100755")
  equal({ repo:read("HEAD", "link") }, { "a", "120000" })
  refused("EISDIR", repo:read("HEAD", "d"))
  refused("ESUBMODULE", repo:read("HEAD", "sub"))
  refused("ENOENT", repo:read("HEAD", "d/nope"))
  refused("EPATH", repo:read("HEAD", "../a"))
  equal({ repo:is_tracked("d/c"), repo:is_tracked("d"), repo:is_tracked("nope") }, { true, true, false })
end))

test("entries lists everything below a prefix, sorted by whole path", inside(function(repo, dir)
  run(dir, [[mkdir -p x/y; touch x/y/z x-a x0 "$(printf 'n\nl\377')"; git add .; git commit -qm more]])
  local paths = {}
  for i, entry in ipairs(repo:entries("HEAD")) do paths[i] = entry.path end
  local sorted = table.move(paths, 1, #paths, 1, {})
  table.sort(sorted)
  equal(paths, { "a", "b.sh", "d/c", "n\nl\255", "x-a", "x/y/z", "x0" })
  equal(sorted, paths)
  equal(repo:entries("HEAD", "x/")[1].path, "x/y/z")
  equal(repo:entries("HEAD", "b.sh"), { { path = "b.sh", mode = "100755", id = head(dir, "HEAD:b.sh") } })
  equal(repo:entries("HEAD", "nope"), {})
end))

test("dirty and is_ignored see the user's working tree", alone(function(repo, dir)
  equal({ repo:dirty() }, { {}, 0 })
  write(dir .. "/a", "changed")
  write(dir .. "/new", "n")
  write(dir .. "/.gitignore", "*.log\n")
  equal({ repo:dirty() }, { { "a" }, 1 })
  equal({ repo:dirty { untracked = true } }, { { ".gitignore", "a", "new" }, 3 })
  equal({ repo:is_ignored("x.log"), repo:is_ignored("d/y.log"), repo:is_ignored("a") }, { true, true, false })
  run(dir, "for i in $(seq 150); do touch f$i; done; git add .")
  local paths, count = repo:dirty()
  equal({ #paths, count }, { 100, 153 })
end))

test("a path of 1000 directories is written and listed; one more is refused, also where git has it", inside(function(repo, dir)
  local function path(depth) return ("d/"):rep(depth) .. "f" end
  local tree = assert(repo:edit_tree("HEAD", { [path(1000)] = "x" }))
  local listed = assert(repo:entries(tree))
  equal(listed[#listed].path, path(1000))
  refused("EPATH", repo:edit_tree("HEAD", { [path(1001)] = "x" }))
  local above = run(dir, "printf '040000 tree %s\td\n' " .. tree .. " | git mktree")
  refused("EPATH", repo:entries(above))
end))

test("an index that cannot be read is an error of dirty", inside(function(repo, dir)
  write(dir .. "/.git/index", "no index")
  local paths, message = repo:dirty()
  equal(paths, nil)
  matches(message, "index")
end))

test("checkout brings the user's tree and index to another tree, and writes nothing if a path differs", inside(function(repo, dir)
  local first = head(dir)
  run(dir, "printf new > a; git rm -q d/c; mkdir -p x/y; printf z > x/y/z; ln -s a l; chmod -x b.sh; git add .; git commit -qm second")
  local second = head(dir)
  run(dir, "git reset -q --hard " .. first .. "; printf untracked > mine")
  local index = fs.stat(dir .. "/.git/index")
  equal(repo:checkout(first, second, { dry_run = true }), true)
  equal(fs.stat(dir .. "/.git/index").ino, index.ino) -- not even written again
  equal(run(dir, "git status --porcelain"), "?? mine")
  equal(repo:checkout(first, second), true)
  equal(run(dir, "git diff --name-only " .. second .. "; git diff --cached --name-only " .. second), "")
  equal({ run(dir, "cat x/y/z; readlink l; test ! -e d || echo d; test -x b.sh || echo plain; cat mine"), head(dir) },
    { "za\nplain\nuntracked", first })
  equal(repo:checkout(second, first), true)
  equal(run(dir, "git status --porcelain; test ! -e x || echo x"), "?? mine")
  run(dir, "printf changed > a; mkdir x; printf mine > x/y; printf 'l\n' > .git/info/exclude; printf mine > l")
  local _, message, code, paths = repo:checkout(first, second)
  table.sort(paths)
  equal({ code, paths }, { "ECONFLICT", { "a", "l", "x/y/z" } })
  matches(message, "^ECONFLICT: ")
  equal(run(dir, "cat a x/y l; test -e d/c && git diff --cached --name-only"), "changedminemine") -- nothing was written
end))

test("checkout follows no link, keeps line endings as attributes have them, and stops at another git's lock", inside(function(repo, dir, parent)
  run(dir, "printf '*.txt text eol=crlf\n' > .gitattributes; git add .; git commit -qm attributes; mkdir ../outside")
  local first = head(dir)
  local tree = assert(repo:edit_tree("HEAD", { ["in/f"] = "x", ["new.txt"] = "one\n" }))
  run(dir, "ln -s ../outside in")
  equal(({ repo:checkout(first, tree) })[3], "ECONFLICT")
  equal(fs.stat(parent .. "/outside/f"), nil)
  run(dir, "rm in; touch .git/index.lock")
  refused("ELOCKED", repo:checkout(first, tree))
  run(dir, "rm .git/index.lock")
  equal(repo:checkout(first, tree), true)
  equal(run(dir, "od -c new.txt | head -1; git diff --name-only"), "0000000   o   n   e  \\r  \\n")
  run(parent, "git init -q --bare bare")
  local bare <close> = assert(git.open(parent .. "/bare"))
  refused("EBARE", bare:checkout(assert(bare:edit_tree(nil, {})), assert(bare:edit_tree(nil, {}))))
  raises("unknown option", function() repo:checkout(first, tree, { force = true }) end)
end))

test("set_ref is a compare-and-swap", inside(function(repo, dir)
  local first = head(dir)
  run(dir, "git commit -q --allow-empty -m second")
  local second = head(dir)
  local name = "refs/apsis/run/c0001"
  refused("ENOENT", repo:ref(name))
  equal(repo:set_ref(name, first, false), true)
  refused("EMOVED", repo:set_ref(name, second, false))
  refused("EMOVED", repo:set_ref(name, second, second))
  equal(repo:ref(name), first)
  equal(repo:set_ref(name, second, first, "moved"), true)
  equal(head(dir, name), second)
  equal(repo:set_ref(name, first), true)
  refused("EMOVED", repo:set_ref("refs/apsis/run/none", first, second))
  refused("EINVAL", repo:set_ref("HEAD", first))
  refused("EINVAL", repo:set_ref("refs/../x", first))
  equal(repo:delete_ref(name), true)
  refused("ENOENT", repo:delete_ref(name))
  refused("ENOENT", repo:ref(name))
end))

test("set_ref sees what git did meanwhile, packed or not", inside(function(repo, dir)
  local first = head(dir)
  repo:set_ref("refs/apsis/run/c1", first)
  run(dir, "git commit -q --allow-empty -m second; git update-ref refs/apsis/run/c1 HEAD; git pack-refs --all")
  equal(repo:ref("refs/apsis/run/c1"), head(dir))
  refused("EMOVED", repo:set_ref("refs/apsis/run/c1", first, first))
  repo:set_ref("refs/apsis/run/c0", first)
  repo:set_ref("refs/apsis/other", first)
  equal(repo:refs("refs/apsis/run/"),
    { { name = "refs/apsis/run/c0", id = first }, { name = "refs/apsis/run/c1", id = head(dir) } })
  equal(#repo:refs("refs/apsis/"), 3)
  equal(repo:refs("refs/none/"), {})
end))

test("what a pack has is written once more, as no pack is opened for it", alone(function(repo, dir)
  run(dir, "git gc -q")
  assert(repo:edit_tree("HEAD", { ["new"] = "one\ntwo\nthree\n" }))
  local id = run(dir, "git rev-parse HEAD:a")
  equal(fs.stat(dir .. "/.git/objects/" .. id:sub(1, 2) .. "/" .. id:sub(3)) ~= nil, true)
end))

test("a ref's lock file is respected, and cleared only when stale", inside(function(repo, dir)
  local first = head(dir)
  repo:set_ref("refs/apsis/run/c1", first)
  local lock = dir .. "/.git/refs/apsis/run/c1.lock"
  write(lock, "")
  refused("ELOCKED", repo:set_ref("refs/apsis/run/c1", first))
  equal(repo:clear_locks("refs/apsis/run"), 0)
  run(dir, "touch -d '1 minute ago' .git/refs/apsis/run/c1.lock .git/refs/heads/main.lock")
  equal(repo:clear_locks("refs/apsis/run"), 1)
  equal(repo:set_ref("refs/apsis/run/c1", first), true)
  equal(fs.stat(dir .. "/.git/refs/heads/main.lock") ~= nil, true)
  refused("EINVAL", repo:clear_locks("refs/../objects"))
  equal(repo:clear_locks("refs/none"), 0)
  write(lock, "")
  tap.equal({ repo:clear_locks("refs/apsis/run", 5) }, { 0, 1 })
  tap.equal({ repo:clear_locks("refs/apsis/run", 0) }, { 1, 0 })
  write(lock, "")
  run(dir, "touch -d '1 minute' .git/refs/apsis/run/c1.lock") -- from now: clocks are set
  tap.equal({ repo:clear_locks("refs/apsis/run/c1", 0) }, { 1, 0 })
  equal(repo:set_ref("refs/apsis/run/c1", first), true)
end))

test("refs that cannot be read are an error, not none", inside(function(repo, dir)
  write(dir .. "/.git/packed-refs", "garbage\n")
  local refs, message, code = repo:refs "refs/"
  equal({ refs, code }, { nil, "EGIT" })
  tap.matches(message, "^EGIT: refs: ")
end))

test("a lock that another git holds for a moment is waited for", inside(function(repo, dir)
  local first = head(dir)
  for _, lock in ipairs { "refs/apsis/run/c1.lock", "packed-refs.lock" } do
    assert(repo:set_ref("refs/apsis/run/c1", first))
    run(dir, "git pack-refs --all; mkdir -p .git/refs/apsis/run")
    run(dir, ("touch .git/%s; (sleep 0.1; rm .git/%s) >/dev/null 2>&1 &"):format(lock, lock))
    equal({ repo:delete_ref "refs/apsis/run/c1" }, { true }, lock)
  end
end))

test("old locks go in folders of any depth, not behind a link, and nothing else does", inside(function(repo, dir)
  local refs = dir .. "/.git/refs/apsis"
  run(dir, "mkdir -p .git/refs/apsis/a/b/c .git/refs/other; ln -s ../other .git/refs/apsis/link")
  local names = { "x.lock", "a/y.lock", "a/b/c/z.lock", "a/.lock", "a/lock", "a/b/x.lock.old", "link/theirs.lock" }
  for _, name in ipairs(names) do write(refs .. "/" .. name, "") end
  run(dir, "mkdir .git/refs/apsis/a/folder.lock; find .git/refs/apsis/ .git/refs/other/ -type f -exec touch -d '1 minute ago' {} +")
  write(refs .. "/a/new.lock", "")
  tap.equal({ repo:clear_locks("refs/apsis", 30) }, { 3, 1 })
  tap.equal({ repo:clear_locks("refs/apsis", 0) }, { 1, 0 })
  tap.equal({ fs.list(refs .. "/a"), fs.list(refs .. "/a/b"), fs.list(refs .. "/a/b/c"), fs.list(refs .. "/link") },
    { { ".lock", "b", "folder.lock", "lock" }, { "c", "x.lock.old" }, {}, { "theirs.lock" } })
end))

test("checked_out finds a branch in any worktree, and in a rebase", inside(function(repo, dir, parent)
  local real = assert(fs.realpath(parent))
  run(dir, "git branch other; git branch free; git worktree add -q ../linked other")
  equal(repo:checked_out("main"), real .. "/repo")
  equal(repo:checked_out("other"), real .. "/linked")
  equal(repo:checked_out("free"), nil)
  run(dir, "git checkout -q free; mkdir .git/rebase-merge; echo refs/heads/main > .git/rebase-merge/head-name")
  equal(repo:checked_out("main"), real .. "/repo")
  local linked <close> = assert(git.open(parent .. "/linked"))
  equal(linked:checked_out("free"), real .. "/repo")
end))

test("a linked worktree is where its gitdir points; without one, git's own folder for it is named", inside(function(repo, dir, parent)
  run(dir, "git branch other; git worktree add -q ../linked other")
  local place = assert(fs.realpath(parent)) .. "/repo/.git/worktrees/linked"
  for text, path in pairs { ["/some/where/.git\n"] = "/some/where", ["/some/where\n"] = "/some/where", ["/x.git\n"] = "/x.git",
    ["a/.git"] = "a", ["/.git\n"] = "/.git", [""] = place } do
    assert(fs.write(place .. "/gitdir", text))
    equal(repo:checked_out("other"), path, text)
  end
  assert(fs.remove(place .. "/gitdir"))
  equal(repo:checked_out("other"), place)
end))

test("commit writes parents, message, identity and ref, and git accepts it all", inside(function(_, dir)
  run(dir, "git config user.name 'Some One'; git config user.email some@one")
  local again <close> = assert(git.open(dir))
  local first = head(dir)
  local tree = assert(again:edit_tree("HEAD", { ["new/deep/file"] = "x\n" }))
  local id = assert(again:commit { tree = tree, parents = { first, "main" }, message = "subject\n\nbody", time = 1700000000,
    ref = "refs/apsis/run/c0001", author = { name = "W", email = "w@x", time = 1600000000 } })
  equal(head(dir, "refs/apsis/run/c0001"), id)
  local object = ".git/objects/" .. id:sub(1, 2) .. "/" .. id:sub(3)
  equal(run(dir, ("stat -c %%a %s 2>/dev/null || echo packed"):format(object)):gsub("packed", "444"), "444") -- a gc may pack it
  equal(run(dir, "git log -1 --format='%s|%an|%ae|%at|%cn|%ce|%ct|%p' " .. id),
    "subject|W|w@x|1600000000|Some One|some@one|1700000000|" .. first:sub(1, 7) .. " " .. first:sub(1, 7))
  equal(run(dir, "git fsck --strict 2>&1 | grep -v dangling || true"), "")
  equal(assert(again:commit { tree = tree, parents = { first, "main" }, message = "subject\n\nbody", time = 1700000000,
    author = { name = "W", email = "w@x", time = 1600000000 } }), id)
  refused("EINVAL", again:commit { tree = tree, message = "a\0b" })
  refused("ENOENT", again:commit { tree = ("1"):rep(40), message = "x" })
  raises("unknown option \"parent\"", again.commit, again, { tree = tree, message = "x", parent = first })
  raises("tree is missing", again.commit, again, { message = "x" })
end))

test("no ref names a commit that could not be written", inside(function(repo, dir)
  local spec = { tree = "HEAD", message = "lost", time = 1700000000 }
  local folder
  repeat -- until its folder has no other object
    spec.time = spec.time + 1
    folder = ".git/objects/" .. assert(repo:commit(spec)):sub(1, 2)
  until #fs.list(dir .. "/" .. folder) == 1
  spec.ref = "refs/apsis/run/c0001"
  run(dir, ("rm -r %s; touch %s"):format(folder, folder)) -- what takes the place of the folder keeps the object out
  local again <close> = assert(git.open(dir))
  local commit, message = again:commit(spec)
  equal(commit, nil)
  matches(message, "^EGIT: commit: ")
  equal(run(dir, "git for-each-ref refs/apsis"), "")
end))

test("edit_tree adds, changes and removes, with directories as needed", inside(function(repo, dir)
  local tree = assert(repo:edit_tree("HEAD", { a = "A", ["b.sh"] = "B", ["d/c"] = false, ["e/f/g"] = "deep",
    z = { bytes = "a", mode = "120000" } }))
  equal(run(dir, "git ls-tree -r --format='%(objectmode) %(path)' " .. tree), "100644 a\n100755 b.sh\n100644 e/f/g\n120000 z")
  equal(repo:read(tree, "e/f/g"), "deep")
  equal(repo:edit_tree("HEAD", {}), repo:resolve("HEAD^{tree}"))
  equal(repo:edit_tree("HEAD", { nope = false, ["no/such"] = false }), repo:resolve("HEAD^{tree}"))
  local id = repo:resolve("HEAD:a")
  equal(repo:resolve(assert(repo:edit_tree("HEAD", { ["copy"] = { id = id, mode = "100755" } })) .. ":copy"), id)
end))

test("edit_tree begins with nothing where no revision is given", inside(function(repo, dir)
  local tree = assert(repo:edit_tree(nil, { a = "A", ["d/c"] = "C" }))
  equal(run(dir, "git ls-tree -r --name-only " .. tree), "a\nd/c")
  equal(repo:edit_tree(nil, {}), "4b825dc642cb6eb9a060e54bf8d69288fbee4904")
  raises("string expected", repo.edit_tree, repo, 1 == 1, {})
end))

test("edit_tree turns a file into a directory and back in one call", inside(function(repo)
  local tree = assert(repo:edit_tree("HEAD", { a = false, ["a/b"] = "x", ["a-c"] = "y", ["d/c"] = false, d = "file" }))
  local paths = {}
  for i, entry in ipairs(repo:entries(tree)) do paths[i] = entry.path end
  equal(paths, { "a-c", "a/b", "b.sh", "d" })
end))

test("edit_tree refuses paths that escape, collide, or are git's own", inside(function(repo)
  for _, path in ipairs { "../x", "/x", "", "x//y", "x/", ".git/hooks/post-commit", "d/.GIT/x", "./x", "a/../b", "nul\0x" } do
    refused("EPATH", repo:edit_tree("HEAD", { [path] = "x" }))
  end
  refused("EPATH", repo:edit_tree("HEAD", { ["a/b"] = "through a file" }))
  refused("EPATH", repo:edit_tree("HEAD", { d = "over a directory" }))
  refused("EPATH", repo:edit_tree("HEAD", { d = false }))
  refused("EPATH", repo:edit_tree("HEAD", { p = "x", ["p/q"] = "y" }))
  raises("must be a string, false or a table", repo.edit_tree, repo, "HEAD", { a = true })
  raises("mode must be", repo.edit_tree, repo, "HEAD", { a = { bytes = "", mode = "100600" } })
end))

test("diff is what git shows, whatever the attributes in the working tree say", inside(function(repo, dir)
  write(dir .. "/.gitattributes", "* -diff\na merge=union\n")
  local tree = assert(repo:edit_tree("HEAD", { a = "one\n2\nthree\n", ["b.sh"] = { bytes = "#!/bin/sh\n", mode = "100644" },
    bin = "\0\1", ["d/c"] = false, ["d/renamed"] = "c" }))
  os.remove(dir .. "/.gitattributes")
  local expected = run(dir, "git -c core.abbrev=7 diff --no-color HEAD " .. tree)
  write(dir .. "/.gitattributes", "* -diff\na merge=union\n")
  equal(repo:diff("HEAD", tree), expected .. "\n")
  matches(repo:diff("HEAD", tree, { context = 0 }), "@@ %-2 %+2 @@ one\n%-two\n%+2\n")
  equal(repo:diff("HEAD", tree, { paths = { "nope" } }), "")
  matches(repo:diff("HEAD", tree, { paths = { "d" } }), "^diff %-%-git a/d/c")
  equal(repo:diff("HEAD", "HEAD"), "")
  local changes, lines = repo:changes("HEAD", tree)
  equal(lines, 3)
  equal(changes[1], { path = "a", status = "modified", mode = "100644", old_mode = "100644", id = repo:resolve(tree .. ":a"),
    added = 1, deleted = 1 })
  equal({ changes[2].path, changes[2].mode, changes[2].old_mode }, { "b.sh", "100644", "100755" })
  equal({ changes[3].path, changes[3].status, changes[3].added }, { "bin", "added", 0 })
  equal({ changes[4].path, changes[4].old_path, changes[4].status }, { "d/renamed", "d/c", "renamed" })
end))

test("a file become a symlink is a change of type", inside(function(repo)
  local tree = assert(repo:edit_tree("HEAD", { a = { bytes = "b.sh", mode = "120000" } }))
  local changes = repo:changes("HEAD", tree)
  equal({ #changes, changes[1].status, changes[1].mode }, { 1, "type", "120000" })
end))

-- Two commits on top of HEAD that edit it so.
local function fork(repo, ours, theirs)
  local function commit(edits)
    return assert(repo:commit { tree = assert(repo:edit_tree("HEAD", edits)), parents = { "HEAD" }, message = "m" })
  end
  return commit(ours), commit(theirs)
end

test("merge joins what does not collide and names what does; attributes do not count", inside(function(repo, dir)
  write(dir .. "/.gitattributes", "* merge=union\n")
  local ours, theirs = fork(repo, { a = "ONE\ntwo\nthree\n", ["new"] = "n" }, { a = "one\ntwo\nTHREE\n", ["d/c"] = false })
  local tree = assert(repo:merge(ours, theirs))
  equal(repo:read(tree, "a"), "ONE\ntwo\nTHREE\n")
  equal({ (repo:read(tree, "new")), (repo:read(tree, "d/c")) }, { "n", nil })
  equal(repo:merge_base(ours, theirs), repo:resolve("HEAD"))
  ours, theirs = fork(repo, { a = "ours", both = "1" }, { a = "theirs", both = "2" })
  local value, message, code, paths = repo:merge(ours, theirs)
  refused("ECONFLICT", value, message, code)
  equal(paths, { "a", "both" })
  ours, theirs = fork(repo, { a = false, here = "one\ntwo\nthree\n" }, { a = false, there = "one\ntwo\nthree\n" })
  equal(({ repo:merge(ours, theirs) })[4], { "a", "here", "there" }) -- one file, moved to two places
end))

test("descendant_of, and histories that share nothing", inside(function(repo)
  local ours, theirs = fork(repo, { x = "1" }, { y = "1" })
  equal(repo:descendant_of(ours, "HEAD"), true)
  equal(repo:descendant_of("HEAD", "HEAD"), true)
  equal(repo:descendant_of("HEAD", ours), false)
  equal(repo:descendant_of(ours, theirs), false)
  local orphan = assert(repo:commit { tree = "HEAD", message = "orphan" })
  refused("ENOENT", repo:merge_base(orphan, "HEAD"))
  equal(repo:descendant_of(orphan, "HEAD"), false)
end))

test("ahead_behind counts what each side has of its own", inside(function(repo)
  local ours, theirs = fork(repo, { x = "1" }, { y = "1" })
  local further = assert(repo:commit { tree = theirs .. "^{tree}", parents = { theirs }, message = "m" })
  equal({ repo:ahead_behind(ours, further) }, { 1, 2 })
  equal({ repo:ahead_behind("HEAD", further) }, { 0, 2 })
  equal({ repo:ahead_behind(further, "HEAD") }, { 2, 0 })
  equal({ repo:ahead_behind("HEAD", "HEAD") }, { 0, 0 })
  refused("ENOENT", repo:ahead_behind("HEAD", "nope"))
end))

test("symbolic_ref says what a ref points to, be it there or not", inside(function(repo, dir)
  run(dir, "git symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/gone")
  equal(repo:symbolic_ref("HEAD"), "refs/heads/main")
  equal(repo:symbolic_ref("refs/remotes/origin/HEAD"), "refs/remotes/origin/gone")
  equal({ repo:symbolic_ref("refs/heads/main") }, {})
  refused("ENOENT", repo:symbolic_ref("refs/heads/none"))
end))

test("revert undoes one commit on top of another tree", inside(function(repo)
  local change, other = fork(repo, { a = "one\nTWO\nthree\n" }, { a = "one\ntwo\nthree\n", keep = "k" })
  equal(repo:revert(change, change), repo:resolve("HEAD^{tree}"))
  equal(repo:revert(change, other), repo:resolve(other .. "^{tree}"))
  equal(#repo:entries(assert(repo:revert("HEAD", "HEAD"))), 0)
  local _, clash = fork(repo, {}, { a = "one\n2\nthree\n" })
  local value, message, code, paths = repo:revert(change, clash)
  refused("ECONFLICT", value, message, code)
  equal(paths, { "a" })
end))

test("a foreign owner is refused with the remedy", inside(function(_, dir)
  if run(dir, "id -u") ~= "0" then return end
  run(dir, "chown -R 12345 .")
  local value, message, code = git.open(dir)
  refused("EOWNER", value, message, code)
  matches(message, "safe.directory")
end))

---- the working directory ----

local function names(changes)
  local list = {}
  for i, change in ipairs(changes) do list[i] = change.kind .. " " .. change.path end
  return list
end

-- The tree that git itself makes of a directory.
local function tree_of(repo_dir, dir)
  return run(dir, "export GIT_DIR=" .. quote(repo_dir) .. "/.git GIT_INDEX_FILE=" .. quote(repo_dir) ..
    "/.git/x; rm -f $GIT_INDEX_FILE; git --work-tree=. add -A .; git write-tree")
end

local function with_worktree(body)
  return inside(function(repo, dir, parent)
    local wt <close> = assert(worktree.open(repo, parent .. "/wt"))
    body(wt, parent .. "/wt", repo, dir, parent)
  end)
end

test("checkout makes the directory exactly the tree", with_worktree(function(wt, at, repo, dir)
  equal(wt:tree(), nil)
  refused("ESTATE", wt:changes())
  refused("ESTATE", wt:write_tree())
  equal(wt:checkout("HEAD"), { written = 3, removed = 0 })
  equal(wt:tree(), repo:resolve("HEAD^{tree}"))
  equal(run(at, "stat -c '%a %n' a b.sh d d/c; ls -A"), "644 a\n755 b.sh\n755 d\n644 d/c\na\nb.sh\nd")
  equal(tree_of(dir, at), wt:tree())
  equal(wt:changes(), {})
  equal(wt:checkout("HEAD"), { written = 0, removed = 0 })
  equal(wt:write_tree(), wt:tree())
end))

test("checkout moves by difference and back", with_worktree(function(wt, at, repo, dir)
  local other = assert(repo:edit_tree("HEAD", { a = false, ["a/deep/x"] = "x", ["d/c"] = false, d = "file",
    s = { bytes = "a/deep", mode = "120000" } }))
  wt:checkout("HEAD")
  local inode = run(at, "stat -c %i b.sh")
  equal(wt:checkout(other), { written = 3, removed = 2 })
  equal(tree_of(dir, at), other)
  equal(wt:changes(), {})
  equal(wt:checkout("HEAD"), { written = 2, removed = 3 })
  equal(tree_of(dir, at), wt:tree())
  equal(run(at, "stat -c %i b.sh"), inode)
end))

test("changes tells additions, edits, deletions, types and modes; write_tree commits them",
  with_worktree(function(wt, at, repo, dir)
  wt:checkout("HEAD")
  run(at, "echo new > a; chmod -x b.sh; rm d/c; ln -s ../a d/c; mkdir -p p/q r; echo y > \"$(printf 'p/q/n\\nl\\377')\"")
  local changes = assert(wt:changes())
  equal(names(changes), { "modified a", "mode b.sh", "type d/c", "added p/q/n\nl\255" })
  equal(changes[1], { path = "a", kind = "modified", mode = "100644", old_mode = "100644", size = 4 })
  equal(changes[3], { path = "d/c", kind = "type", mode = "120000", old_mode = "100644", size = 4, target = "../a" })
  equal(changes[4].old_mode, nil)
  local expected = tree_of(dir, at)
  equal(wt:write_tree(), expected)
  equal(wt:write_tree(changes), expected)
  local one = assert(wt:write_tree { changes[1] })
  equal(#repo:changes("HEAD", one), 1)
  run(at, "rm -r p; rm a")
  equal(names(wt:changes())[1], "deleted a")
  equal(wt:write_tree(), tree_of(dir, at))
  wt:checkout("HEAD")
  equal(tree_of(dir, at), repo:resolve("HEAD^{tree}"))
end))

test("what a worktree is given is checked, and before a checkout there is nothing to compare", with_worktree(function(wt, at, repo)
  for _, method in ipairs { "changes", "write_tree" } do
    local value, message, code = wt[method](wt)
    equal({ value, code }, { nil, "ESTATE" })
    tap.matches(message, "nothing has been checked out here yet")
  end
  equal(wt:tree(), nil)
  raises("hide must be a list of paths", wt.checkout, wt, "HEAD", { hide = "a" })
  raises("a path to hide", wt.checkout, wt, "HEAD", { hide = { 5 } })
  raises("unknown option", wt.changes, wt, { touch = true })
  wt:checkout("HEAD")
  equal(wt:tree(), repo:resolve("HEAD^{tree}"))
  for _, wrong in ipairs { { 5, "change 1 is not a table" }, { { path = "a" }, "change 1 has no path or no kind" },
    { { kind = "added" }, "change 1 has no path or no kind" } } do
    raises(wrong[2], wt.write_tree, wt, { wrong[1] })
  end
  raises("table expected", wt.write_tree, wt, "a")
  equal(wt:write_tree {}, repo:resolve("HEAD^{tree}"))
  for index, case in ipairs { { nil, {} }, { { touched = false }, {} }, { { touched = true }, { "touched a" } }, { {}, {} } } do
    run(at, "touch -d 2001-01-0" .. index .. " a")
    equal(names(wt:changes(case[1])), case[2])
  end
end))

test("where no folder can be made a worktree cannot be opened", with_worktree(function(_, at, repo)
  run(at, "touch file; ln -s nowhere link")
  refused("ENOENT", worktree.open(repo, at .. "/none/wt"))
  for name, code in pairs { file = "ENOTDIR", link = "ENOENT" } do refused(code, worktree.open(repo, at .. "/" .. name)) end
end))

test("a worktree follows its repository when that is renewed", with_worktree(function(wt, at, repo, dir)
  wt:checkout("HEAD")
  write(at .. "/a", "other\n")
  local tree = assert(wt:write_tree())
  run(dir, "for try in $(seq 600); do git gc -q --prune=now 2>/dev/null && exit; sleep 0.1; done; exit 1") -- another runs
  equal(repo:renew(), true)
  equal(wt:checkout("HEAD"), { written = 1, removed = 0 })
  equal(repo:renew(), true)
  equal(wt:checkout("HEAD", { hide = { "d", "a" } }), { written = 0, removed = 2 })
  equal(#tree, 40)
end))

test("an edit that keeps size and mtime is seen, at once and later", with_worktree(function(wt, at)
  wt:checkout("HEAD")
  run(at, "touch -r a ../stamp; printf 'ONE\\ntwo\\nthree\\n' > a; touch -r ../stamp a")
  equal(names(wt:changes()), { "modified a" })
  wt:checkout("HEAD")
  write(at .. "/a", "one\ntwo\nTHREE\n")
  equal(names(wt:changes()), { "modified a" })
  write(at .. "/a", "one\ntwo\nthree\n")
  equal(wt:changes(), {})
end))

test("hidden paths are not on disk, stay in the tree, and are noticed when made again", with_worktree(function(wt, at, repo)
  wt:checkout("HEAD")
  equal(wt:checkout("HEAD", { hide = { "a", "d", "nope" } }), { written = 0, removed = 2 })
  equal(run(at, "ls -A"), "b.sh")
  equal(wt:changes(), {})
  equal(wt:write_tree(), repo:resolve("HEAD^{tree}"))
  write(at .. "/a", "cheat")
  local changes = wt:changes()
  equal({ names(changes), changes[1].hidden }, { { "added a" }, true })
  equal(wt:write_tree(), repo:resolve("HEAD^{tree}"))
  equal(wt:write_tree(changes), repo:resolve("HEAD^{tree}"))
  equal(wt:checkout("HEAD"), { written = 2, removed = 0 })
  equal(wt:changes(), {})
  raises("unknown option \"hidden\"", wt.checkout, wt, "HEAD", { hidden = {} })
end))

test("a new handle on an old directory compares contents, and cleans up", with_worktree(function(wt, at, repo)
  wt:checkout("HEAD")
  run(at, "echo junk > junk; printf 'one\\nTWO\\nthree\\n' > a; chmod 4755 b.sh; mkdir -p x/.git/y")
  wt:close()
  local again <close> = assert(worktree.open(repo, at))
  equal(again:checkout("HEAD"), { written = 2, removed = 2 })
  equal(run(at, "stat -c '%a' b.sh; cat a; ls -A"), "755\none\ntwo\nthree\na\nb.sh\nd")
end))

test("odd things on disk are reported, refused as content, and removed", with_worktree(function(wt, at)
  wt:checkout("HEAD")
  run(at, "mkfifo fifo; mkdir -p n/.git/objects; touch n/.git/HEAD; rm a; mkfifo a; echo 'gitdir: x' > d/.git")
  local changes = assert(wt:changes())
  equal(names(changes), { "type a", "added d/.git", "added fifo", "added n/.git" })
  for _, change in ipairs(changes) do equal(change.mode, "other") end
  refused("EPATH", wt:write_tree())
  refused("EPATH", wt:write_tree { changes[1] })
  refused("EPATH", wt:write_tree { { path = "../x", kind = "added" } })
  equal(wt:checkout("HEAD"), { written = 1, removed = 4 })
  equal(run(at, "ls -A; ls -A d"), "a\nb.sh\nd\nc")
end))

test("read-only and closed directories, and deep ones, are no obstacle", with_worktree(function(wt, at)
  wt:checkout("HEAD")
  run(at, "mkdir -p ro/sub; touch ro/sub/f; chmod 000 ro/sub; chmod 555 ro; chmod 000 d; chmod 000 a")
  equal(names(wt:changes()), { "added ro/sub/f" })
  run(at, "chmod 000 ro/sub; chmod 555 ro")
  assert(wt:checkout("HEAD"))
  equal(run(at, "ls -A; stat -c %a d a"), "a\nb.sh\nd\n755\n644")
  run(at, "i=0; while [ $i -lt 300 ]; do n=abcdefghijklmnopqrstuvwxyz; mkdir $n; cd -P $n; i=$((i+1)); done; touch end")
  local changes = assert(wt:changes())
  equal({ #changes, changes[1].path:sub(-4) }, { 1, "/end" })
  equal(wt:checkout("HEAD"), { written = 0, removed = 1 })
  equal(run(at, "ls -A"), "a\nb.sh\nd")
end))

test("links never lead out: neither when read nor when written or removed", with_worktree(function(wt, at, repo, _, parent)
  run(parent, "mkdir out; echo precious > out/c; echo precious > out/a")
  wt:checkout("HEAD")
  run(at, "rm -r d; ln -s ../out d; rm a; ln ../out/a a")
  equal(names(wt:changes()), { "modified a", "added d", "deleted d/c" })
  local tree = assert(wt:write_tree())
  equal({ repo:read(tree, "d") }, { "../out", "120000" })
  refused("ENOTDIR", wt:write_tree { { path = "d/c", kind = "modified" } })
  assert(wt:checkout("HEAD"))
  equal(run(parent, "cat out/c out/a; stat -c '%h %a' out/a"), "precious\nprecious\n1 644")
  equal(run(at, "cat a d/c"), "one\ntwo\nthree\nc")
end))

test("a hard link to outside with the right content is replaced before anyone writes through it",
  with_worktree(function(wt, at, _, _, parent)
  wt:checkout("HEAD")
  run(at, "cp a ../outside; rm a; ln ../outside a")
  equal(wt:changes(), {})
  assert(wt:checkout("HEAD"))
  equal(run(parent, "stat -c %h outside"), "1")
end))

test("submodules are empty directories, and their absence is no change", with_worktree(function(wt, at, repo)
  local tree = assert(repo:edit_tree("HEAD", { sub = { id = repo:resolve("HEAD"), mode = "160000" } }))
  assert(wt:checkout(tree))
  equal(run(at, "ls -A sub; stat -c %F sub"), "directory")
  equal(wt:changes(), {})
  run(at, "rmdir sub")
  equal({ wt:changes(), wt:write_tree() }, { {}, tree })
  write(at .. "/sub", "x")
  equal(names(wt:changes()), { "type sub" })
  assert(wt:checkout(tree))
  equal(run(at, "stat -c %F sub"), "directory")
end))

test("a large file goes both ways", with_worktree(function(wt, at, repo, dir)
  wt:checkout("HEAD")
  run(at, "head -c 9000000 /dev/urandom > big")
  local tree = assert(wt:write_tree())
  equal(tree, tree_of(dir, at))
  wt:checkout("HEAD")
  wt:checkout(tree)
  equal(tree_of(dir, at), tree)
  equal(wt:changes(), {})
end))

test("a file that the disk refuses fails the checkout, which can be done again", with_worktree(function(wt, at, repo)
  local bad = assert(repo:edit_tree("HEAD", { link = { bytes = "", mode = "120000" } }))
  wt:checkout("HEAD")
  refused("EPATH", wt:checkout(bad))
  refused("ESTATE", wt:changes())
  assert(wt:checkout("HEAD"))
  equal({ wt:changes(), run(at, "ls -A") }, { {}, "a\nb.sh\nd" })
  refused("ENOENT", wt:checkout("nope"))
end))

test("the repository may be closed before its worktree", with_worktree(function(wt, _, repo)
  wt:checkout("HEAD")
  repo:close()
  equal(wt:changes(), {})
  raises("closed", wt.checkout, wt, "HEAD")
end))

tap.done()
