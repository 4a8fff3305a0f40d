-- git: what a call must be given, argument by argument and key by key, and in which words another is refused; the small print of what
-- it returns. What the calls do: git.lua.
local fs = require "apsis.fs"
local git = require "apsis.git"
local scratch = require "scratch"
local tap = require "tap"
local test, equal, matches, raises = tap.test, tap.equal, tap.matches, tap.raises

local run = scratch.run
local inside = scratch.with([[git init -q -b main repo; cd repo; mkdir d; printf 'one\ntwo\n' > a; printf '#!/bin/sh\n' > b.sh
  chmod +x b.sh; printf c > d/c; git add .; git commit -qm 'first

body']], true)

-- Each method with arguments that it takes: t is a text, o options, which may be left out.
local calls = {
  info = {}, renew = {}, resolve = { "HEAD" }, commit_info = { "HEAD" }, log = { "HEAD", {} }, is_ignored = { "a" }, is_tracked = { "a" },
  dirty = { {} }, ref = { "refs/heads/main" }, symbolic_ref = { "HEAD" }, refs = { "refs/heads/" },
  set_ref = { "refs/apsis/x", "HEAD", "HEAD^{commit}", "why" }, delete_ref = { "refs/heads/none" }, clear_locks = { "refs/apsis", 5 },
  checked_out = { "main" }, read = { "HEAD", "a" }, entries = { "HEAD", "d" }, commit = { { tree = "HEAD", message = "m" } },
  edit_tree = { "HEAD", {} }, diff = { "HEAD", "HEAD", {} }, changes = { "HEAD", "HEAD" }, merge_base = { "HEAD", "HEAD" },
  checkout = { "HEAD", "HEAD", { dry_run = true } },
  descendant_of = { "HEAD", "HEAD" }, ahead_behind = { "HEAD", "HEAD" }, merge = { "HEAD", "HEAD" }, revert = { "HEAD", "HEAD" },
}

test("each argument of each method has one type, and texts no NUL byte; messages count from the repository on", inside(function(repo)
  local methods = {}
  for name in pairs(getmetatable(repo).__index) do methods[#methods + 1] = name end
  for _, name in ipairs(methods) do equal(name == "close" or calls[name] ~= nil, true, name .. " is tested here") end
  for name, given in pairs(calls) do
    raises("#1 to '[^']*' %(apsis.repo expected", repo[name], {}, table.unpack(given))
    for place, value in ipairs(given) do
      local arguments = table.move(given, 1, #given, 1, {})
      local function refused(wrong, why)
        arguments[place] = wrong
        raises(("#%d to '[^']*' %%(%s"):format(place + 1, why), repo[name], repo, table.unpack(arguments))
      end
      refused(print, type(value) .. " expected, got function")
      if type(value) == "string" then refused("x\0y", "has a NUL byte") end
      if name ~= "edit_tree" and not ((name == "log" or name == "dirty" or name == "diff" or name == "checkout") and type(value) == "table")
        and not (name == "set_ref" and place > 2) and not (place == 2 and (name == "entries" or name == "clear_locks")) then
        refused(nil, type(value) .. " expected, got n")
      end
    end
  end
  raises("#1 to '[^']*' %(has a NUL byte", git.open, "a\0b")
  raises("#1 to '[^']*' %(string expected", git.open, {})
end))

test("what may be left out may", inside(function(repo, dir)
  equal(#repo:log("HEAD"), 1)
  equal({ repo:dirty() }, { {}, 0 })
  equal({ #repo:log("HEAD", nil), #repo:log("HEAD", nil, 5), #repo:log("HEAD", {}, 5) }, { 1, 1, 1 })
  equal({ repo:dirty(nil) }, { {}, 0 })
  equal({ repo:dirty(nil, 5) }, { {}, 0 })
  equal(repo:diff("HEAD", "HEAD", nil, 5), repo:diff("HEAD", "HEAD"))
  equal(repo:checkout("HEAD", "HEAD", nil, 5), repo:checkout("HEAD", "HEAD"))
  equal(#repo:entries("HEAD"), 3)
  equal({ repo:clear_locks "refs/apsis" }, { 0, 0 })
  for _, prefix in ipairs { "refs/a", "refs/a/", "refs/a//", "packed-refs" } do equal({ repo:clear_locks(prefix) }, { 0, 0 }, prefix) end
  for _, prefix in ipairs { "refs/", "refs", "ref", "heads/a", "packed-ref", "", "refs/../a" } do
    equal(select(3, repo:clear_locks(prefix)) ~= nil, true, prefix)
  end
  equal(repo:set_ref("refs/apsis/x", "HEAD"), true)
  equal(run(dir, "git rev-parse refs/apsis/x HEAD | uniq | wc -l"), "1")
  equal(repo:diff("HEAD", "HEAD"), "")
end))

test("options: keys, types and limits", inside(function(repo)
  for _, case in ipairs {
    { "log", { "HEAD", { limit = 1 } }, '^unknown option "limit" %(allowed: max, path, since_rev%)' },
    { "log", { "HEAD", { 1 } }, '^unknown option "number"' },
    { "log", { "HEAD", { max = "many" } }, "^max must be an integer" }, { "log", { "HEAD", { max = 1.5 } }, "^max must be an integer" },
    { "log", { "HEAD", { max = -1 } }, "#3 to '[^']*' %(max is negative" },
    { "log", { "HEAD", { path = 1 } }, "^path must be a string, not number" },
    { "log", { "HEAD", { path = "a\0" } }, "^path has a NUL byte" },
    { "log", { "HEAD", { since_rev = {} } }, "^since_rev must be a string, not table" },
    { "checkout", { "HEAD", "HEAD", { force = true } }, '^unknown option "force" %(allowed: dry_run%)' },
    { "dirty", { { all = true } }, '^unknown option "all" %(allowed: untracked%)' },
    { "diff", { "HEAD", "HEAD", { lines = 1 } }, '^unknown option "lines" %(allowed: context, paths%)' },
    { "diff", { "HEAD", "HEAD", { context = -1 } }, "#4 to '[^']*' %(context must be between 0 and 1000000" },
    { "diff", { "HEAD", "HEAD", { context = 1000001 } }, "#4 to '[^']*' %(context must be between 0 and 1000000" },
    { "diff", { "HEAD", "HEAD", { paths = "a" } }, "^paths must be a list of strings" },
    { "diff", { "HEAD", "HEAD", { paths = { "a", 5 } } }, "^a path must be a string, not number" },
    { "clear_locks", { "refs/apsis", -1 }, "#3 to '[^']*' %(an age in seconds, from 0 to 1000000" },
    { "clear_locks", { "refs/apsis", 1000001 }, "#3 to '[^']*' %(an age in seconds, from 0 to 1000000" },
    { "commit", { { tree = "HEAD", message = "m", parent = 1 } },
      '^unknown option "parent" %(allowed: tree, parents, message, ref, author, time%)' },
    { "commit", { { message = "m" } }, "^tree is missing" },
    { "commit", { { tree = 1, message = "m" } }, "^tree must be a string, not number" },
    { "commit", { { tree = "HEAD" } }, "^message must be a string" },
    { "commit", { { tree = "HEAD", message = "m", ref = 1 } }, "^ref must be a string" },
    { "commit", { { tree = "HEAD", message = "m", time = "x" } }, "^time must be an integer" },
    { "commit", { { tree = "HEAD", message = "m", parents = "HEAD" } }, "^parents must be a list of revisions" },
    { "commit", { { tree = "HEAD", message = "m", parents = { "HEAD", {} } } }, "^a parent must be a string, not table" },
    { "commit", { { tree = "HEAD", message = "m", author = "A" } }, "^author must be a table {name, email, time}" },
    { "commit", { { tree = "HEAD", message = "m", author = { mail = "" } } }, '^unknown option "mail" %(allowed: name, email, time%)' },
    { "commit", { { tree = "HEAD", message = "m", author = { name = 1 } } }, "^name must be a string" },
    { "commit", { { tree = "HEAD", message = "m", author = { email = 1 } } }, "^email must be a string" },
    { "commit", { { tree = "HEAD", message = "m", author = { time = {} } } }, "^time must be an integer" },
    { "edit_tree", { "HEAD", { "x" } }, "^the keys of edits must be paths, not number" },
    { "edit_tree", { "HEAD", { a = true } }, "^the edit of a must be a string, false or a table" },
    { "edit_tree", { "HEAD", { a = 5 } }, "^the edit of a must be a string, false or a table" },
    { "edit_tree", { "HEAD", { a = {} } }, "^the edit of a must have bytes %(a string%) or id" },
    { "edit_tree", { "HEAD", { a = { bytes = "", id = ("0"):rep(40) } } }, "^the edit of a must have bytes %(a string%) or id" },
    { "edit_tree", { "HEAD", { a = { byte = "" } } }, '^unknown option "byte" %(allowed: bytes, mode, id%)' },
    { "edit_tree", { "HEAD", { a = { id = ("0"):rep(39) } } }, "^the edit of a: id must be 40 hex digits" },
    { "edit_tree", { "HEAD", { a = { id = ("g"):rep(40) } } }, "^the edit of a: id must be 40 hex digits" },
    { "edit_tree", { "HEAD", { a = { bytes = "", mode = "160000" } } }, "^the edit of a: a submodule has an id, not bytes" },
    { "edit_tree", { "HEAD", { a = { bytes = "", mode = "100600" } } },
      '^mode must be "100644", "100755", "120000" or "160000", not "100600"' },
    { "edit_tree", { "HEAD", { a = { bytes = "", mode = "0100644" } } }, '^mode must be .* not "0100644"' },
    { "edit_tree", { "HEAD", { a = { bytes = "", mode = 644 } } }, "^mode must be a string, not number" },
  } do
    raises(case[3], repo[case[1]], repo, table.unpack(case[2]))
  end
  for _, context in ipairs { 0, 1000000 } do equal(repo:diff("HEAD", "HEAD", { context = context }), "") end
  for _, age in ipairs { 0, 1000000 } do equal(repo:clear_locks("refs/apsis", age), 0) end
  equal(repo:diff("HEAD", repo:edit_tree(nil, {}), { paths = {} }), "")
end))

test("each revision of a call must be there", inside(function(repo)
  local none = ("1"):rep(40)
  local function gone(name, ...)
    local value, message, code = repo[name](repo, ...)
    equal({ value, code }, { nil, code == "EGIT" and "EGIT" or "ENOENT" }, name)
    matches(message, "revision", name)
  end
  for _, name in ipairs { "resolve", "commit_info", "log", "entries" } do gone(name, none) end
  gone("read", none, "a")
  for _, name in ipairs { "diff", "changes", "merge_base", "descendant_of", "ahead_behind", "merge", "revert" } do
    gone(name, none, "HEAD")
    gone(name, "HEAD", none)
  end
  gone("log", "HEAD", { since_rev = none })
  gone("set_ref", "refs/apsis/x", none)
  gone("set_ref", "refs/apsis/x", "HEAD", none)
  gone("edit_tree", none, {})
  gone("commit", { tree = none, message = "m" })
  gone("commit", { tree = "HEAD", message = "m", parents = { "HEAD", none } })
end))

test("an author, a time and parents are as given; the subject is the first line", inside(function(repo, dir)
  local id = assert(repo:commit { tree = "HEAD", message = "one\ntwo", parents = { "HEAD", "HEAD" }, time = 1000000000,
    author = { name = "N", email = "e@x" }, ref = "refs/apsis/run/c1" })
  equal(run(dir, "git log -1 --format='%an|%ae|%at|%ct|%s|%P' " .. id):gsub(run(dir, "git rev-parse HEAD"), "P"),
    "N|e@x|1000000000|1000000000|one two|P P")
  local info = repo:commit_info(id)
  equal({ info.id, info.subject, info.message, info.time, #info.parents, info.tree, info.author_email },
    { id, "one", "one\ntwo", 1000000000, 2, repo:resolve "HEAD^{tree}", "e@x" })
  equal(repo:ref "refs/apsis/run/c1", id)
  local alone = assert(repo:commit { tree = "HEAD", message = "m" })
  equal({ repo:commit_info(alone).parents, math.abs(repo:commit_info(alone).time - os.time()) < 1000 }, { {}, true })
end))

test("modes: kept, given, or that of a file", inside(function(repo, dir)
  local tree = assert(repo:edit_tree("HEAD", { ["b.sh"] = "x", new = "y", ["d/c"] = { bytes = "z", mode = "100755" },
    a = { bytes = "b.sh", mode = "120000" }, sub = { id = repo:resolve "HEAD", mode = "160000" }, same = { id = repo:resolve "HEAD:a" } }))
  equal(run(dir, "git ls-tree -r --format='%(objectmode) %(path)' " .. tree),
    "120000 a\n100755 b.sh\n100755 d/c\n100644 new\n100644 same\n160000 sub")
  equal({ select(2, repo:read(tree, "a")), select(2, repo:read(tree, "b.sh")), select(2, repo:read(tree, "new")) },
    { "120000", "100755", "100644" })
end))

test("no path has a part that some file system takes for git's own folder", inside(function(repo)
  for part, own in pairs { [".git"] = true, [".GIT"] = true, [".gIt"] = true, ["git~1"] = true, ["GIT~1"] = true, [".git."] = true,
    [".git "] = true, [".git. . "] = true, ["a\\.git"] = true, [".git\\x"] = true, ["a\\git~1"] = true, ["a\\git"] = false,
    ["git~1."] = true, [".g\u{200C}it"] = true, ["git~2"] = false, [".gitignore"] = false,
    ["x.git"] = false, [".gi"] = false, ["git"] = false, ["agit~1"] = false, ["git~11"] = false, ["..."] = false } do
    for _, path in ipairs { part, "d/" .. part, part .. "/x", "d/" .. part .. "/x" } do
      local tree, message, code = repo:edit_tree("HEAD", { [path] = "x" })
      equal({ tree ~= nil, code }, { not own, own and "EPATH" or nil }, path .. (message or ""))
    end
  end
end))

test("characters that macOS drops make no other name of git's own folder; those beside them do", inside(function(repo)
  for _, range in ipairs { { 0x200C, 0x200F }, { 0x202A, 0x202E }, { 0x206A, 0x206F }, { 0xFEFF, 0xFEFF } } do
    for point = range[1] - 1, range[2] + 1 do
      local own = point >= range[1] and point <= range[2]
      for _, name in ipairs { ".git" .. utf8.char(point), utf8.char(point) .. ".git", ".g" .. utf8.char(point) .. "it" } do
        equal(select(3, repo:edit_tree("HEAD", { [name] = "x" })), own and "EPATH" or nil, ("%04x"):format(point))
      end
    end
  end
  for name, own in pairs { [".git:a"] = true, ["git~1:a:$b"] = true, [".gitx:a"] = false } do
    equal(select(3, repo:edit_tree("HEAD", { [name] = "x" })), own and "EPATH" or nil, name)
  end
end))

test("a repository without a commit has no head and tracks nothing", inside(function(_, _, parent)
  run(parent, "git init -q -b main empty")
  local repo <close> = assert(git.open(parent .. "/empty"))
  local info = repo:info()
  equal({ info.head, info.branch, info.detached, info.bare, repo:is_tracked "a" }, { nil, "main", false, false, false })
  equal(info.gitdir, assert(fs.realpath(parent)) .. "/empty/.git")
  equal(repo:refs "refs/", {})
end))

test("a renewed repository sees what git packed meanwhile", inside(function(repo, dir)
  run(dir, "git commit -q --allow-empty -m second; git gc -q --prune=now")
  equal(repo:renew(), true)
  equal(repo:resolve "HEAD", run(dir, "git rev-parse HEAD"))
  equal(#repo:log "HEAD", 2)
end))

tap.done()
