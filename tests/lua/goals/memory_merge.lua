-- memory_merge: the branch of state files that grew here and at origin (live/memory_merge through live/memory): whose
-- file counts, what is
-- joined, what is refused and with which remedies, and what becomes of other writers.
local tap = require "tap"
local scratch = require "scratch"
local fs = require "apsis.fs"
local git = require "apsis.git"
local memory = require "apsis.goals.branch.store"
local process = require "apsis.process"
local test, equal, matches = tap.test, tap.equal, tap.matches

process.run { argv = { "true" } } -- what stays open for all commands is opened by the first

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

local function clone(around)
  run(around, "git clone -q file://" .. around .. "/repo clone; cd clone; git config user.name U; "
    .. "git config user.email u@e")
  return around .. "/clone"
end

-- A commit of a person or another clone, of some files and no others.
local function put(repo, edits)
  local tree = assert(repo:edit_tree(REF .. "^{tree}", edits))
  return assert(repo:commit { tree = tree, parents = { REF }, message = "by hand", ref = REF })
end

-- In a clone of a repository whose branch holds `base`: the branch there with `mine`, at origin with `theirs` (edits of
-- trees, by path).
-- body(the store, the clone's repository, its folder, what is logged, a function that gives origin more edits).
local function parted(base, mine, theirs, body, options)
  return inside(function(repo, _, around)
    assert(repo:commit { tree = assert(repo:edit_tree("main^{tree}", { a = false, ["keep/x"] = "x" })),
      message = "start", ref = REF })
    put(repo, base)
    local dir = clone(around)
    local cloned <close> = assert(git.open(dir))
    run(dir, "git branch memory/autoloop origin/memory/autoloop")
    put(cloned, mine)
    local function more(edits)
      put(repo, edits)
      run(dir, "git fetch -q")
    end
    more(theirs)
    local words = {}
    local spec = { log = function(level, text) words[#words + 1] = level .. ": " .. text end }
    for key, value in pairs(options or {}) do spec[key] = value end
    body(open(cloned, "prog", spec), cloned, dir, words, more)
  end)
end

-- Edits are lines with a !: those of here come after what is at origin.
local by_people = { join = function(base, mine, theirs)
  local warnings = mine:find "!" and theirs:find "!" and { "both", "twice" } or {}
  for line in mine:gmatch "[^\n]*!\n" do
    if not (theirs .. (base or "")):find(line, 1, true) then theirs = theirs .. line end
  end
  return theirs, warnings
end }

local function both(edits)
  edits["prog.md"], edits["prog.jsonl"] = edits["prog.md"] or "0\n", edits["prog.jsonl"] or "{}\n"
  return edits
end

test("a person's pushed edit and a local turn: the edit counts, the journal is the longer, and one commit joins both",
  parted(both {}, { ["prog.md"] = "1\n", ["prog.jsonl"] = "{}\n{1}\n", ["local.md"] = "l" },
  { ["prog.md"] = "0!\n", ["far.md"] = "f" }, function(store, cloned, dir, words)
    local mine, theirs = cloned:ref(REF), cloned:ref("refs/remotes/origin/memory/autoloop")
    local objects = run(dir, "git cat-file --batch-all-objects --batch-check")
    equal(store:read(), { text = "0!\n", journal = "{}\n{1}\n", at = mine })
    equal(store:restore_journal(dir .. "/j"), "restored")
    equal({ fs.read(dir .. "/j"), words }, { "{}\n{1}\n", {} })
    equal({ run(dir, "git cat-file --batch-all-objects --batch-check"), cloned:ref(REF) }, { objects, mine }, "reading writes nothing")
    local seen
    equal(store:write(function(...)
      seen = { ... }
      return (...) .. "1\n", nil, "prog: m"
    end), true)
    equal(seen, { "0!\n", "{}\n{1}\n", "1\n" }, "text, journal, and the text that gives way")
    equal(words, { "info: memory/autoloop: joined with origin's" })
    equal(run(dir, "git log -1 --format='%s|%P' memory/autoloop"), ("prog: m|%s %s"):format(mine, theirs))
    equal(run(dir, "git ls-tree -r --name-only memory/autoloop"), "far.md\nkeep/x\nlocal.md\nprog.jsonl\nprog.md")
    equal(store:read(), { text = "0!\n1\n", journal = "{}\n{1}\n", at = cloned:ref(REF) })
    run(dir, "git push -q origin memory/autoloop; git fsck --strict --no-dangling; test -z \"$(git status --porcelain "
      .. "| grep -v j)\"")
    equal(store:write(function(text, journal) return text, journal end), true)
    equal(#words, 1, "once")
  end, by_people))

test("nothing to change: the first write joins all the same, so that a push can follow; declined, it does not", parted(
  both {}, { ["prog.jsonl"] = "{}\n{1}\n" }, { ["prog.md"] = "0!\n" }, function(store, cloned, dir)
    local tip = cloned:ref(REF)
    refused("no", store:write(fixed(nil, "no")))
    equal(cloned:ref(REF), tip)
    equal(store:write(function(text, journal, other)
      equal(other, nil, "only one side changed it")
      return text, journal
    end), true)
    equal(run(dir, "git push -q origin memory/autoloop; git cat-file -p memory/autoloop:prog.md; "
      .. "git cat-file -p memory/autoloop:prog.jsonl"), "0!\n{}\n{1}")
  end))

-- base, mine and theirs of one file, and what counts; false: not there
local journals = {
  { "{}\n", "{}\n{1}\n", "{}\n{1}\n{2}\n", "{}\n{1}\n{2}\n" },
    { "{}\n", "{}\n{1}\n{2}\n", "{}\n{1}\n", "{}\n{1}\n{2}\n" },
  { "{}\n", "{}\n{1}\n", "{}\n{1}\n", "{}\n{1}\n" }, { false, "{}\n", "{}\n{1}\n", "{}\n{1}\n" },
  { "{}\n", "{}\n{1}\n", false, "{}\n{1}\n" }, { "{}\n", false, "{}\n{1}\n", "{}\n{1}\n" },
  { "{}\n", "{}\n{1}\n{to", "{}\n{1}\n{2}\n", "{}\n{1}\n{2}\n" },
  { "{}\n", "{}\n{1}\n{2}\n", "{}\n{1}\n{to", "{}\n{1}\n{2}\n" },
}
for index, case in ipairs(journals) do
  test("the longer of two journals counts, " .. index, parted(
    { ["prog.md"] = "0\n", ["prog.jsonl"] = case[1], ["o.md"] = "0", ["o.jsonl"] = case[1] },
    { ["prog.jsonl"] = case[2], ["o.jsonl"] = case[2], m = "m" }, { ["prog.jsonl"] = case[3], ["o.jsonl"] = case[3],
      t = "t" },
    function(store, cloned)
      equal(store:read().journal, case[4])
      equal(store:write(fixed("1\n", nil, "m")), true)
      equal(store:read().journal, case[4])
      equal(cloned:read(REF, "o.jsonl"), case[4], "and those of another program")
    end))
end

local texts = {
  { "edits at origin", "0\n", "1\n", "0!\n", "0!\n" }, { "edits here", "0\n", "0!\n", "1\n", "1\n0!\n" },
  { "edits at both", "0\n", "1!\n", "2!\n", "2!\n1!\n", warned = true },
    { "edits at neither", "0\n", "1\n", "2\n", "2\n" },
  { "made at both", false, "1!\n", "2\n", "2\n1!\n" }, { "removed here", "0\n", false, "1\n", "1\n" },
  { "removed at origin", "0\n", "1\n", false, "1\n" }, { "changed here alone", "0\n", "1\n", "0\n", "1\n" },
  { "removed at origin alone", "0\n", "0\n", false, nil }, { "as here", "0\n", "1\n2!\n", "1\n", "1\n2!\n" },
}
for _, case in ipairs(texts) do
  test("two texts are joined by who knows what they mean: " .. case[1], parted({ ["prog.md"] = case[2] },
    { ["prog.md"] = case[3], m = "m" }, { ["prog.md"] = case[4], t = "t" }, function(store, cloned, dir, words)
      equal(store:read().text, case[5])
      local mine, given = cloned:ref(REF), nil
      equal(store:write(function(text, _, other)
        given = other
        return text or "all\n", nil, "m"
      end), true)
      equal((cloned:read(REF, "prog.md")), case[5] or "all\n")
      local joined = case[3] and case[4] and case[2] ~= case[4]
      equal(given, joined and case[3] or nil, "what was here")
      equal(words[#words], "info: memory/autoloop: joined with origin's")
      equal(#words, case.warned and 2 or 1)
      if case.warned then
        equal(words[1], "warn: prog.md: both; twice; the text from here: git show " .. mine:sub(1, 12)
          .. ":prog.md")
        equal(run(dir, words[1]:match("git show .*")) .. "\n", case[3])
      end
      run(dir, "git push -q origin memory/autoloop")
    end, by_people))
end

test("an edit here that is not UTF-8 is refused, whatever origin's is", parted(
  both {}, { ["prog.md"] = "\xff!\n" }, { ["prog.md"] = "2\n" },
  function(store)
    refused("prog.md is not UTF%-8 at byte 3", store:read())
  end, by_people))

test("without anybody who knows what a text means origin's counts, and that is said", parted(
  both {}, { ["prog.md"] = "1\n" }, { ["prog.md"] = "2\n" },
  function(store, _, _, words)
    equal(store:write(function(text) return text, nil, "m" end), true)
    equal({ store:read().text, #words }, { "2\n", 2 })
  end))

test("what both changed alike is joined too", parted(both {}, { ["prog.md"] = "1\n", far = "f" },
  { ["prog.md"] = "1\n" }, function(store, _, dir)
    equal(store:write(function(text, journal) return text, journal, "m" end), true)
    run(dir, "git push -q origin memory/autoloop")
  end))

test("another program's text is joined, too, and is no reason to refuse this one's", parted(
  both { ["o.md"] = "0\n", ["o.jsonl"] = "{}\n", ["p.md"] = "0\n", ["q.md"] = "0\n", tool = "t" },
  { ["p.md"] = "1!\n", ["q.md"] = "1\n", ["q.jsonl"] = "{}\n", ["o.md"] = "1\n", ["o.jsonl"] = "{}\n{1}\n",
    ["prog.md"] = "1\n" },
  { ["p.md"] = "0!\n", ["p.jsonl"] = "{}\n", ["q.md"] = "0!\n", ["o.md"] = "0!\n", ["keep/x"] = false,
    tool = { bytes = "t", mode = "100755" } }, function(store, cloned)
    equal(store:read().text, "1\n")
    equal(store:write(fixed("2\n", nil, "m")), true)
    for path, bytes in pairs { ["o.md"] = "0!\n", ["o.jsonl"] = "{}\n{1}\n", ["prog.md"] = "2\n", ["p.md"] = "0!\n1!\n",
      ["q.md"] = "0!\n" } do
      equal((cloned:read(REF, path)), bytes, path)
    end
    equal(select(2, cloned:read(REF, "tool")), "100755")
    equal(cloned:entries(REF, "keep"), {}, "what one side removed is gone")
  end, by_people))

test("journals that went separate ways are refused with what each remedy loses; the remedies are commands that work",
  parted(both { ["o.md"] = "0\n", ["o.jsonl"] = "{}\n", ["p.md"] = "0\n", ["p.jsonl"] = "{}\n" },
  { ["prog.md"] = "1\n", ["prog.jsonl"] = "{}\n{1}\n{2}\n", ["o.md"] = "1\n", ["o.jsonl"] = "{}\n{1}\n", mine = "m" },
  { ["prog.md"] = "0!\n", ["prog.jsonl"] = "{}\n{3}\n", ["p.md"] = "1\n" }, function(store, cloned, dir, _, more)
    local function words(aside)
      return "^memory/autoloop and origin/memory/autoloop have diverged %(by 1 and 1 commits%): both change "
        .. "prog.jsonl from line 2 on; to take origin's, which loses this clone's mine, 1 line measured here "
        .. "%(o.jsonl from line 2 on%), 2 lines measured here %(prog.jsonl from line 2 on%) and the edits here "
        .. "in o.md, prog.md: git branch %-f memory/autoloop origin/memory/autoloop" .. aside
        .. "; to keep yours, which loses 1 line measured at origin %(prog.jsonl from line 2 on%) and the edits "
        .. "at origin in p.md, prog.md: git push %-%-force%-with%-lease origin memory/autoloop$"
    end
    refused(words "", store:read())
    local calls, mine = 0, cloned:ref(REF)
    refused(words "", store:write(function() calls = calls + 1 return "x", nil, "m" end))
    refused(words "", store:restore_journal(dir .. "/j"))
    equal({ calls, cloned:ref(REF), (fs.stat(dir .. "/j")) }, { 0, mine })
    local path = dir .. "/a journal"
    assert(fs.write(path, "{}\n{1}\n{2}\n"))
    local owner = open(cloned, "prog", { journal = path })
    refused(words(" && mv '.*/a journal' '.*/a journal.old'"), owner:restore_journal(path))
    local _, message = owner:read()
    run(dir, "git tag mine memory/autoloop; " .. message:match("git branch [^;]*"))
    equal(store:read().text, "0!\n")
    equal(owner:restore_journal(path), "restored", "once is enough")
    equal(fs.read(path), "{}\n{3}\n")
    run(dir, "git branch -f memory/autoloop mine; " .. message:match("git push .*"))
    equal(store:read().text, "1\n")
    more { ["prog.jsonl"] = "{}\n{1}\n{2}\n{4}\n" }
    equal(store:read().journal, "{}\n{1}\n{2}\n{4}\n")
  end))

test("what clashes elsewhere on the branch stops nobody else: a plain commit of its own files, and a word", parted(
  both { ["o.md"] = "0\n", ["o.jsonl"] = "{}\n", notes = "n", ["p.md"] = "0\n", ["p.jsonl"] = "{}\n" },
  { ["o.jsonl"] = "{}\n{1}\n", ["o.md"] = "1\n", notes = "n1", ["prog.md"] = "1!\n", ["p.md"] = "1!\n" },
  { ["o.jsonl"] = "{}\n{2}\n", ["o.md"] = "2\n", notes = "n2", ["prog.md"] = "2\n", ["prog.jsonl"] = "{}\n{3}\n",
    ["p.md"] = "2!\n", far = "f" },
  function(store, cloned, dir, words, more)
    local mine = cloned:ref(REF)
    equal(store:read(), { text = "2\n1!\n", journal = "{}\n{3}\n", at = mine })
    equal(words, {})
    equal(store:write(function(text) return text .. "3\n", nil, "prog: m" end), true)
    equal(run(dir, "git log -1 --format='%s|%P' memory/autoloop"), "prog: m|" .. mine)
    equal(run(dir, "git diff --name-only memory/autoloop~ memory/autoloop"), "prog.jsonl\nprog.md")
    equal({ #words, store:read().text }, { 1, "2\n1!\n" }, "counters are origin's, until the next turn")
    matches(words[1], "^warn: memory/autoloop: committed only here: .*%(by 1 and 1 commits%): both change "
      .. "notes, o.jsonl from line 2 on; .*git branch %-f .*git push %-%-force")
    equal(store:write(function(text, journal) return text .. "4\n", journal, "m" end), true)
    equal(#words, 1, "once")
    equal(store:read().journal, "{}\n{3}\n")
    local other = open(cloned, "o", by_people)
    refused("both change notes, o.jsonl from line 2 on; ", other:read())
    refused("both change notes, o.jsonl from line 2 on; ", other:write(fixed("x\n", nil, "m")))
    more { notes = "n1" }
    local third = {}
    equal(open(cloned, "prog", { join = by_people.join, log = function(_, text) third[#third + 1] = text end })
      :write(function(text) return text .. "5\n", nil, "m" end), true)
    equal(third, { "memory/autoloop: committed only here: o.jsonl from line 2 on keeps it apart from "
      .. "origin/memory/autoloop: `apsis schedule` shows how to resolve it" })
    more { ["o.jsonl"] = "{}\n{1}\n" }
    equal(store:write(function(text) return text, nil, "m" end), true)
    equal(words[#words], "info: memory/autoloop: joined with origin's")
    run(dir, "git push -q origin memory/autoloop; git fsck --strict --no-dangling")
    equal(run(dir, "git ls-tree -r --name-only memory/autoloop"),
      "far\nkeep/x\nnotes\no.jsonl\no.md\np.jsonl\np.md\nprog.jsonl\nprog.md")
  end, by_people))

test("a link that both changed is refused where it is this program's", parted(
  both { ["README.md"] = "r", same = "s", mode = "m" },
  { ["README.md"] = "r1", same = "s1", ["prog.md"] = { bytes = "notes", mode = "120000" } },
  { ["README.md"] = false, same = "s1", ["prog.md"] = "2\n", mode = { bytes = "m", mode = "100755" } },
  function(store, cloned)
    local lost = "both change README.md, prog.md; to take origin's, which loses this clone's README.md, "
      .. "this clone's prog.md: .*which loses "
      .. "origin's README.md, origin's mode, origin's prog.md: "
    refused(lost, store:read())
    refused("both change README.md", store:write(fixed("x", nil, "m")))
    equal(open(cloned, "o"):write(fixed("x", nil, "m")), true)
  end))

-- A clone whose branch began by itself, of some files, while origin's has prog.md and prog.jsonl.
local function began_apart(repo, around, edits)
  assert(open(repo):write(fixed("1\n", "{}\n", "m")))
  local dir = clone(around)
  local cloned = assert(git.open(dir))
  assert(cloned:commit { tree = cloned:edit_tree("HEAD", edits), message = "another", ref = REF })
  return cloned, dir
end

test("branches with no commit in common are joined: each file that only one side has is that side's", inside(function(repo, _, around)
  local cloned <close>, dir = began_apart(repo, around, { ["other.md"] = "2\n", ["other.jsonl"] = '{"a":1}\n' })
  local store = open(cloned, "other")
  local read = store:read()
  equal({ read.text, read.journal }, { "2\n", '{"a":1}\n' })
  equal(store:write(fixed("3\n", nil, "m")), true)
  equal(run(dir, "git ls-tree --name-only memory/autoloop; git push -q origin memory/autoloop"),
    "a\nother.jsonl\nother.md\nprog.jsonl\nprog.md")
  equal(cloned:read(REF, "prog.jsonl"), "{}\n")
end))

test("and refused where both have lines of one journal", inside(function(repo, _, around)
  local cloned <close> = began_apart(repo, around, { ["prog.jsonl"] = '{"b":1}\n' })
  refused("diverged %(by 1 and 1 .*both change prog.jsonl from line 1 on; .*which loses .*1 line measured here", open(cloned):read())
end))

test("joined twice, each in its own clone, they join again",
  parted(both {}, { ["prog.md"] = "1\n" }, { ["prog.md"] = "0!\n" }, function(store, cloned, dir, _, more)
    equal(store:write(function(text) return text .. "here\n", nil, "m" end), true)
    more { ["prog.md"] = "0!!\n" }
    equal(store:read().text, "0!!\n")
    equal(store:write(function(text) return text, nil, "m" end), true)
    equal(run(dir, "git rev-list --merges --count memory/autoloop; git push -q origin memory/autoloop"), "2")
    equal(cloned:ref(REF), cloned:ref("refs/remotes/origin/memory/autoloop"))
  end, by_people))

test("a writer that is overtaken while it joins joins what is there then", parted(
  both {}, { ["prog.md"] = "1\n" }, { ["prog.md"] = "0!\n" },
  function(store, cloned, _, words, more)
    local calls = 0
    equal(store:write(function(text)
      calls = calls + 1
      if calls == 1 then put(cloned, { mine = "more" }) end
      if calls == 2 then
        put(cloned, { mine = "still more" })
        more { ["prog.md"] = "0!!\n" }
      end
      return text .. calls .. "\n", nil, "m"
    end), true)
    equal({ calls, #words, store:read().text, (cloned:read(REF, "mine")) }, { 3, 1, "0!!\n3\n", "still more" })
  end, by_people))

tap.done()
