-- memory_store: where state files are kept (live/memory), on a branch that nobody checks out and in a folder: what is
-- read, what is
-- written and what is refused, with other writers at work, after kills, and in clones.
local tap = require "tap"
local scratch = require "scratch"
local fs = require "apsis.fs"
local git = require "apsis.git"
local host = require "apsis.host"
local memory = require "apsis.goals.branch.store"
local process = require "apsis.process"
local test, equal, matches, raises = tap.test, tap.equal, tap.matches, tap.raises

process.run { argv = { "true" } } -- what stays open for all commands is opened by the first

local SHORT = os.getenv "APSIS_SANITIZED" ~= nil
local REF = "refs/heads/memory/autoloop"

local run = scratch.run

local inside = scratch.with([[git init -q -b main repo; cd repo; git config user.name Us; git config user.email us@example.org
  echo one > a; git add .; git commit -qm first]], true)

local function open(repo, name, options)
  local spec = { name = name or "prog", kind = "branch", branch = "memory/autoloop" }
  for key, value in pairs(options or {}) do spec[key] = value end
  return assert(memory.open(repo, spec))
end

local function fixed(...)
  local values = table.pack(...)
  return function() return table.unpack(values, 1, values.n) end
end

local function refused(pattern, value, message, code)
  equal(value, nil)
  matches(message, pattern)
  equal(code, 3)
end

-- ---- the branch ----

test("without a branch there is nothing, and the first write makes it without a parent", inside(function(repo, dir)
  local store = open(repo)
  equal(store:read(), {})
  local seen
  equal(store:write(function(text, journal)
    seen = { text, journal }
    return "# prog\n", "{}\n", "prog: iteration 1 (c0001): kept"
  end), true)
  equal(seen, {})
  local at = run(dir, "git rev-parse memory/autoloop")
  equal(store:read(), { text = "# prog\n", journal = "{}\n", at = at })
  equal(run(dir, "git log --format='%s|%P|%an' memory/autoloop"), "prog: iteration 1 (c0001): kept||Us")
  equal(run(dir, "git ls-tree -r --name-only memory/autoloop"), "prog.jsonl\nprog.md")
  equal(run(dir, "git status --porcelain; git symbolic-ref --short HEAD; ls; git fsck --strict --no-dangling"),
    "main\na")
end))

test("a commit is the tip with those files changed and everything else as it was", inside(function(repo, dir)
  run(dir, [[git checkout -q --orphan memory/autoloop; git rm -qf a; mkdir d; echo x > d/x; echo other > other.md; echo old > prog.md
    ln -s d/x link; chmod +x other.md; git add .; git commit -qm theirs; git checkout -q main]])
  local store = open(repo)
  equal(store:write(fixed("new\n", nil, "prog: m")), true)
  equal(run(dir, "git diff --name-status memory/autoloop~1 memory/autoloop"), "M\tprog.md")
  equal(store:write(fixed("new\n", "{}\n", "prog: m")), true)
  equal(run(dir, "git diff --name-status memory/autoloop~1 memory/autoloop"), "A\tprog.jsonl")
  equal(store:write(fixed("newer\n", nil, "prog: m")), true)
  equal(store:read().journal, "{}\n", "a journal that is not given stays")
  equal(run(dir, "git rev-list --count memory/autoloop"), "4")
end))

test("what is there already makes no commit, and make may decline with its own message and code",
  inside(function(repo, dir)
  local store = open(repo)
  equal(store:write(fixed("a", "{}\n", "m")), true)
  local tip = run(dir, "git rev-parse memory/autoloop")
  equal(store:write(function(text, journal) return text, journal, "m" end), true)
  equal(store:write(function(text) return text end), true)
  local value, message, code = store:write(fixed(nil, "line 3: no", "ESTATE"))
  equal({ value, message, code }, { nil, "line 3: no", "ESTATE" })
  refused("no reason", store:write(fixed(nil, "no reason")))
  raises("of its own", store.write, store, function() error("of its own") end)
  equal(run(dir, "git rev-parse memory/autoloop"), tip)
end))

test("the commit's time is the clock's, which may be simulated", inside(function(repo, dir)
  local script = [[local repo = assert(require "apsis.git".open(arg[1]))
    assert(require "apsis.goals.branch.store".open(repo, { name = "p", kind = "branch" }):write(function() return "x", nil, "m" end))]]
  local result = assert(process.run { argv = { host.executable, "exec", "/dev/stdin", dir }, stdin_text = script,
    timeout_s = 60, env = { APSIS_NOW = "2030-05-06T07:08:09Z" } })
  equal(result.code, 0, result.stderr.head)
  equal(run(dir, "git log -1 --format=%ct memory/autoloop"), "1904281689")
  equal(open(repo, "p"):read().text, "x")
end))

test("someone who commits in between is read, not overwritten, and make is asked again", inside(function(repo, dir)
  local store, calls = open(repo), 0
  assert(store:write(fixed("1\n", nil, "m")))
  equal(store:write(function(text)
    calls = calls + 1
    if calls <= 2 then
      run(dir, ([[blob=$(printf 'theirs %d\n' | git hash-object -w --stdin)
        tree=$(printf '100644 blob %%s\tprog.md\n100644 blob %%s\tother.md\n' $blob $blob | git mktree)
        git update-ref %s $(git commit-tree $tree -p %s -m theirs)]]):format(calls, REF, REF))
    end
    return text .. "ours\n", nil, "prog: m"
  end), true)
  equal(calls, 3)
  equal(store:read().text, "theirs 2\nours\n")
  equal(repo:read(REF, "other.md"), "theirs 2\n")
  equal(run(dir, "git rev-list --count memory/autoloop"), "4")
end))

test("a branch that always moves is given up after twenty tries", inside(function(repo)
  local store, calls = open(repo), 0
  assert(store:write(fixed("1", nil, "m")))
  refused("20 times", store:write(function()
    calls = calls + 1
    assert(repo:commit { tree = REF .. "^{tree}", parents = { REF }, message = "theirs " .. calls, ref = REF })
    return "ours", nil, "m"
  end))
  equal(calls, 20)
end))

test("programs that write at once lose nothing of each other", inside(function(_, dir)
  local each = SHORT and 3 or 12
  local script = ([[local repo = assert(require "apsis.git".open(arg[1]))
    local store = assert(require "apsis.goals.branch.store".open(repo, { name = arg[2], kind = "branch" }))
    for i = 1, %d do
      local done, message = store:write(function(text) return (text or "") .. i .. "\n", nil, arg[2] .. ": " .. i end)
      assert(done, message)
    end]]):format(each)
  local children = {}
  for i, name in ipairs { "p", "q", "r" } do
    children[i] = assert(process.start { argv = { host.executable, "exec", "/dev/stdin", dir, name },
      stdin_text = script, timeout_s = 120 })
  end
  for _, child in ipairs(children) do
    local result = child:wait()
    equal(result.code, 0, result.stderr.head)
  end
  equal(run(dir, "git rev-list --count memory/autoloop; git rev-list --merges --count memory/autoloop"), 3 * each
    .. "\n0")
  for _, name in ipairs { "p", "q", "r" } do
    equal(run(dir, ("git show memory/autoloop:%s.md | wc -l"):format(name)), tostring(each))
  end
end))

test("a writer that is killed leaves a whole commit or none, and the next one goes on", inside(function(repo, dir)
  local script = [[local repo = assert(require "apsis.git".open(arg[1]))
    local store = assert(require "apsis.goals.branch.store".open(repo, { name = "p", kind = "branch" }))
    while true do assert(store:write(function(text, journal) return (text or "") .. "x\n", (journal or "") .. "x\n", "m" end)) end]]
  for round = 1, SHORT and 1 or 4 do
    local result = assert(process.run { argv = { host.executable, "exec", "/dev/stdin", dir }, stdin_text = script,
      timeout_s = 0.15 + 0.03 * round + (SHORT and 2 or 0), grace_s = 0 })
    equal(result.outcome, "timeout", result.stderr.head)
    local now = open(repo, "p"):read()
    equal(now.text, now.journal, "both files of a commit belong together")
    assert(open(repo, "p"):write(function(text, journal) return (text or "") .. "x\n", (journal or "") .. "x\n",
      "m" end))
  end
  run(dir, "git fsck --strict --no-dangling; test $(git show memory/autoloop:p.md | wc -l) = $(git rev-list --count "
    .. "memory/autoloop)")
end))

test("a lock that a killed process left is removed", inside(function(repo, dir)
  local store = open(repo)
  assert(store:write(fixed("1", nil, "m")))
  run(dir, "touch -d '1 minute ago' .git/" .. REF .. ".lock")
  equal(store:write(fixed("2", nil, "m")), true)
  equal(store:read().text, "2")
end))

test("where the branch is checked out it is not written, and the message says where and what to do",
  inside(function(repo, dir, around)
  local store = open(repo)
  assert(store:write(fixed("1", nil, "m")))
  equal(store:ready(), true)
  run(dir, "git worktree add -q ../tree memory/autoloop")
  local _, message = store:ready()
  matches(message, "^memory/autoloop is checked out in " .. around:gsub("%p", "%%%0")
    .. "/tree, .*commit there and .*apsis steer prog.*memory: folder")
  refused("checked out", store:ready())
  local calls = 0
  refused("checked out", store:write(function() calls = calls + 1 return "2", nil, "m" end))
  equal(calls, 0)
  equal(store:read().text, "1", "reading is allowed")
  run(dir, message:match("`(git worktree remove [^`]*)`")) -- the remedies are commands that work
  equal(store:ready(), true)
  run(dir, "git checkout -q memory/autoloop")
  refused("checked out", store:ready())
  run(around, select(2, store:ready()):match("`(git %-C [^`]*)`"))
  equal(store:ready(), true)
  equal(run(dir, "git symbolic-ref --short HEAD"), "main")
end))

test("a branch whose name is another one's folder is refused with the remedy", inside(function(repo, dir)
  run(dir, "git branch memory")
  refused("beside memory: rename", open(repo):ready())
  refused("exist beside memory", open(repo):write(fixed("x", nil, "m")))
  run(dir, "git branch -m memory z; git branch memory/autoloop/x")
  refused("beside memory/autoloop/x", open(repo):ready())
  for _, bad in ipairs { "a b", "a..b", "", "x.lock", "a\0b", "/a", "a/", "a//b" } do
    local store, message, code = memory.open(repo, { name = "p", kind = "branch", branch = bad })
    equal({ store, code }, { nil, 3 }, bad)
    matches(message, "cannot be a branch's name")
  end
end))

test("what is no state file is refused: a directory, a link, a submodule, not UTF-8, over 1 MB",
  inside(function(repo, dir)
  local store = open(repo)
  local function put(edits)
    local tree = assert(repo:edit_tree(nil, edits))
    assert(repo:commit { tree = tree, message = "m", ref = REF })
  end
  put { ["prog.md/x"] = "x" }
  refused("^memory/autoloop:prog.md is a directory", store:read())
  put { ["prog.md"] = { bytes = "a", mode = "120000" } }
  refused("is a symbolic link", store:read())
  put { ["prog.md"] = { id = run(dir, "git rev-parse HEAD"), mode = "160000" } }
  refused("is a submodule", store:read())
  put { ["prog.md"] = "fine\n\xff" }
  refused("prog.md is not UTF%-8 at byte 6", store:read())
  put { ["prog.md"] = ("x"):rep(1048577) }
  refused("larger than 1 MB", store:read())
  put { ["prog.md"] = ("x"):rep(1048576), ["prog.jsonl/x"] = "x" }
  refused("prog.jsonl is a directory", store:read())
  refused("prog.jsonl is a directory", store:write(fixed("x", nil, "m")))
  put { ["prog.md"] = { bytes = "x", mode = "100755" }, ["prog.jsonl"] = ("\xff"):rep(1048577) }
  equal(#store:read().journal, 1048577, "a journal may be long, and what it holds is not judged here")
  refused("not UTF%-8", store:write(fixed("\xff", nil, "m")))
  refused("larger than 1 MB", store:write(fixed(("x"):rep(1048577), nil, "m")))
  equal(store:read().text, "x")
end))

test("a damaged branch is an error, never an empty state", inside(function(repo, dir)
  assert(open(repo):write(fixed("x", nil, "m")))
  local blob = run(dir, "git rev-parse memory/autoloop:prog.md")
  local tree = run(dir, "git rev-parse memory/autoloop^{tree}")
  for _, id in ipairs { blob, tree } do
    local path = dir .. "/.git/objects/" .. id:sub(1, 2) .. "/" .. id:sub(3)
    assert(fs.rename(path, path .. ".away"))
    local again <close> = assert(git.open(dir))
    refused("memory/autoloop", open(again):read())
    local calls = 0
    refused("memory/autoloop", open(again):write(function() calls = calls + 1 return "y", nil, "m" end))
    equal(calls, 0)
    assert(fs.rename(path .. ".away", path))
  end
  assert(fs.write(dir .. "/.git/" .. REF, ""))
  local again <close> = assert(git.open(dir))
  refused("branch memory/autoloop", open(again):read())
end))

-- ---- clones ----

local function clone(around, options)
  run(around, "git clone -q " .. (options or "") .. " file://" .. around .. "/repo clone; cd clone; git config "
    .. "user.name U; git config user.email u@e")
  return around .. "/clone"
end

test("a fresh clone reads origin's, and its first write makes the local branch from it",
  inside(function(repo, _, around)
  assert(open(repo):write(fixed("1", "{}\n", "m")))
  for _, options in ipairs { "", "--depth 1 --no-single-branch" } do
    local dir = clone(around, options)
    local cloned <close> = assert(git.open(dir))
    local words = {}
    local store = open(cloned, "prog", { log = function(level, text) words[#words + 1] = level .. ": " .. text end })
    equal(store:read().text, "1")
    equal(store:write(function(text, journal) return text, journal end), true)
    equal(cloned:ref(REF), nil, "nothing to say, no branch")
    equal(store:write(function(text, journal) return text .. "2", journal, "m" end), true)
    equal(words, { "info: memory/autoloop continues from origin/memory/autoloop" })
    equal(run(dir, "git log --format=%P memory/autoloop -1"), run(dir, "git rev-parse origin/memory/autoloop"))
    equal(store:read().text, "12", "the local one is ahead, and counts")
    run(dir, "git push -q origin memory/autoloop:refs/heads/pushed; git push -q origin :pushed")
    assert(fs.remove_tree(dir))
  end
end))

test("origin's counts where it is newer", inside(function(repo, _, around)
  assert(open(repo):write(fixed("1", nil, "m")))
  local dir = clone(around)
  local cloned <close> = assert(git.open(dir))
  local store = open(cloned)
  run(dir, "git branch memory/autoloop origin/memory/autoloop")
  assert(open(repo):write(fixed("2", nil, "m")))
  run(dir, "git fetch -q")
  equal(store:read().text, "2")
  assert(store:write(function(text) return text .. "3", nil, "m" end))
  equal(run(dir, "git show memory/autoloop:prog.md; echo; git rev-list --count memory/autoloop"), "23\n3")
end))

test("a shallow clone whose tips share nothing that is there says what to fetch", inside(function(repo, _, around)
  for i = 1, 2 do assert(open(repo):write(fixed("" .. i, nil, "m"))) end
  local dir = clone(around, "--depth 1 --no-single-branch")
  run(dir, "git branch memory/autoloop origin/memory/autoloop")
  for i = 3, 5 do assert(open(repo):write(fixed("" .. i, nil, "m"))) end
  run(dir, "git fetch -q --depth 1")
  local cloned <close> = assert(git.open(dir))
  refused("shallow.*git fetch %-%-unshallow", open(cloned):read())
  run(dir, "git fetch -q --unshallow")
  local whole <close> = assert(git.open(dir))
  equal(open(whole):read().text, "5")
end))

test("lines that somebody else put on the branch meanwhile are never written over", inside(function(repo)
  local store = open(repo)
  assert(store:write(fixed("1\n", "{}\n{1}\n", "m")))
  refused("^prog.jsonl on the branch memory/autoloop differs from the local journal from line 2 on",
    store:write(fixed("2\n", "{}\n{2}\n{3}\n", "m")))
  equal(store:write(fixed("2\n", "{}\n", "m")), true)
  equal(store:read().journal, "{}\n{1}\n", "a beginning takes nothing away")
  equal(store:write(fixed("2\n", "{}\n{1}\n{2}\n", "m")), true)
end))

-- ---- the journal ----

test("the local journal is restored where it is missing or only a beginning, and kept where it is ahead",
  inside(function(repo, dir)
  local store = open(repo)
  local path = dir .. "/logs/deep/results.jsonl"
  equal(store:restore_journal(path), "same", "no branch, no journal")
  equal(fs.stat(path), nil)
  assert(store:write(fixed("t", nil, "m")))
  equal(store:restore_journal(path), "same", "a branch without it")
  local stored = '{"a":1}\n{"b":2}\n{"c":3}\n'
  assert(store:write(fixed("t", stored, "m")))
  equal(store:restore_journal(path), "restored")
  equal(fs.read(path), stored)
  local cases = {
    { "", "restored" }, { '{"a":1}\n', "restored" }, { '{"a":1}\n{"b":2}\n', "restored" },
      { '{"a":1}\n{"b', "restored" },
    { '{"a":1}\n{"other', "restored" }, { '{"a"', "restored" }, { '{"a":1}\n\0\0\0', "restored" },
    { stored, "same" }, { stored .. '{"torn', "same" }, { stored .. '{"d":4}\n', "ahead" },
      { stored .. '{"d":4}\n{"e', "ahead" },
  }
  for _, case in ipairs(cases) do
    assert(fs.write(path, case[1]))
    equal(store:restore_journal(path), case[2], case[1])
    equal(fs.read(path), case[2] == "restored" and stored or case[1], case[1])
  end
  equal(fs.list(dir .. "/logs/deep"), { "results.jsonl" })
end))

test("journals that differ are both left, and the message names files, line and remedy", inside(function(repo, dir)
  local store = open(repo)
  local path = dir .. "/results.jsonl"
  assert(store:write(fixed("t", '{"a":1}\n{"b":2}\n{"c":3}\n', "m")))
  for text, line in pairs { ['{"a":1}\n{"b":3}\n'] = 2, ['{"x":1}\n'] = 1,
    ['{"a":1}\n{"b":2}\n{"c":3} \n{"d":4}\n'] = 3, ['{"a":1}\n\n'] = 2 } do
    assert(fs.write(path, text))
    local value, message, code = store:restore_journal(path)
    equal({ value, code }, { nil, 3 }, text)
    matches(message, "results%.jsonl and prog%.jsonl on the branch memory/autoloop differ from line " .. line
      .. " on.*mv '")
    equal(fs.read(path), text)
  end
  -- the remedies are commands that work
  local _, message = store:restore_journal(path)
  run(dir, (message:match("to keep the local one: (.*)"):gsub("/tmp/memory", "../memory")))
  equal(store:restore_journal(path), "ahead")
  equal(store:read(), { text = "t", at = repo:ref(REF) })
  assert(store:write(fixed("t", "{}\n", "m")))
  _, message = store:restore_journal(path)
  run(dir, message:match("to keep the branch's: (mv [^;]*)"))
  equal(store:restore_journal(path), "restored")
  assert(fs.remove(path))
  assert(fs.mkdir(path))
  refused("is not a file", store:restore_journal(path))
end))

-- ---- a folder ----

test("a folder holds the state file alone, made where missing and replaced whole", inside(function(repo, dir)
  local folder = dir .. "/.autoloop/memory"
  local store = open(repo, "prog", { kind = "folder", folder = folder })
  equal(store:ready(), true)
  equal(store:read(), {})
  equal(store:write(fixed("1\n", "{}\n", "m")), true)
  equal(store:read(), { text = "1\n" })
  equal(fs.list(folder), { "prog.md" })
  equal(store:restore_journal(dir .. "/j"), "same")
  assert(fs.write(folder .. "/prog.md.tmp-1-2", "half"))
  assert(fs.write(folder .. "/other.md.tmp-1-2", "another program's"))
  local before = fs.stat(folder .. "/prog.md").ino
  equal(store:write(fixed("1\n")), true)
  equal(fs.stat(folder .. "/prog.md").ino, before, "the same text is not written")
  equal(store:write(fixed("2\n")), true)
  equal(fs.list(folder), { "other.md.tmp-1-2", "prog.md" })
  equal({ store:write(fixed(nil, "no", "ESTATE")) }, { nil, "no", "ESTATE" })
  equal(repo:refs("refs/heads/"), { { name = "refs/heads/main", id = repo:ref("refs/heads/main") } })
end))

test("what an editor saves while a state file is made is not lost", inside(function(repo, dir)
  local store, calls = open(repo, "prog", { kind = "folder", folder = dir .. "/m" }), 0
  equal(store:write(function(text)
    calls = calls + 1
    if calls <= 2 then
      assert(fs.mkdir(dir .. "/m")) assert(fs.write(dir .. "/m/prog.md", "edited " .. calls .. "\n"))
    end
    return (text or "") .. "ours\n"
  end), true)
  equal({ calls, store:read().text }, { 3, "edited 2\nours\n" })
  calls = 0
  refused("20 times", store:write(function(text)
    calls = calls + 1
    assert(fs.write(dir .. "/m/prog.md", "edited again " .. calls .. "\n"))
    return text .. "ours\n"
  end))
end))

test("in a folder too, what is no state file is refused", inside(function(repo, dir)
  local folder = dir .. "/m"
  local store = open(repo, "prog", { kind = "folder", folder = folder })
  assert(fs.mkdir(folder .. "/prog.md"))
  refused("prog.md is a directory", store:read())
  refused("prog.md is a directory", store:write(fixed("x")))
  assert(fs.remove_tree(folder .. "/prog.md"))
  assert(fs.write(dir .. "/secret", "secret"))
  assert(fs.symlink("../secret", folder .. "/prog.md"))
  refused("symbolic link", store:read())
  refused("symbolic link", store:write(fixed("x")))
  equal(fs.read(dir .. "/secret"), "secret")
  assert(fs.remove(folder .. "/prog.md"))
  run(dir, "mkfifo m/prog.md")
  refused("special file", store:read())
  assert(fs.remove(folder .. "/prog.md"))
  assert(fs.write(folder .. "/prog.md", "a\xff"))
  refused("m/prog.md is not UTF%-8 at byte 2", store:read())
  assert(fs.write(folder .. "/prog.md", ("x"):rep(1048577)))
  refused("larger than 1 MB", store:read())
  assert(fs.remove_tree(folder))
  assert(fs.write(folder, "a file"))
  refused("m is not a folder", store:ready())
  refused("m is not a folder", store:read())
  refused("m is not a folder", store:write(fixed("x")))
end))

test("a wrong specification raises", inside(function(repo)
  raises("kind must be", memory.open, repo, { name = "p", kind = "database" })
  raises("absolute", memory.open, repo, { name = "p", kind = "folder", folder = "m" })
  raises("file's name", memory.open, repo, { name = "a/b", kind = "branch" })
  raises("file's name", memory.open, repo, { kind = "branch" })
end))

tap.done()
