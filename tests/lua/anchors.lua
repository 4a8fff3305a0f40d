-- anchors: older candidates held by anchor commits and packed, in repositories of git's making, checked by git: nothing
-- is lost, nothing else is touched, whoever works beside it and whenever it is killed.
local tap = require "tap"
local scratch = require "scratch"
local anchors = require "apsis.live.anchors"
local fs = require "apsis.fs"
local gclock = require "apsis.live.gclock"
local git = require "apsis.git"
local host = require "apsis.host"
local process = require "apsis.process"
local test, equal, matches, raises = tap.test, tap.equal, tap.matches, tap.raises

local run = scratch.run
assert(process.run { argv = { "true" } }) -- opens what stays open for all later commands
local AT = { refs = "refs/apsis/p/", anchors = "refs/apsis-anchors/p/" }
local EACH = 8 -- candidates of an anchor here

-- The baseline and thirty candidates, each from the one before; what a user has beside them: a branch, a tag that is
-- packed, one that is not, a note in the candidates' folder that is no candidate.
local SETUP = [[git init -q -b main repo; cd repo; mkdir d; echo 0 > value; echo c > d/c
  git add .; git commit -qm first
  git tag -a v1 -m one; git pack-refs --all --prune; git tag -a v2 -m two; git branch mine
  git update-ref refs/apsis/p/c0000 HEAD; git update-ref refs/apsis/p/tip HEAD
  for n in $(seq -w 1 30); do
    echo $n > value; echo $n > d/c; git commit -qam $n; git update-ref refs/apsis/p/c00$n HEAD
  done
  git reset -q --hard v1]]
local inside = scratch.with(SETUP, true)

local function refs(dir, where)
  return run(dir, "git for-each-ref --format='%(refname) %(objectname)' " .. (where or ""))
end

local function names(dir)
  return run(dir, "git for-each-ref --format='%(refname:lstrip=3)' refs/apsis/p | tr '\\n' ' '")
end

local function is_whole(dir) equal(run(dir, "git fsck --strict --no-dangling --no-progress"), "") end

local function loose_count(dir) return tonumber(run(dir, "git count-objects"):match "^%d+") end

-- One sweep of what is older than a number.
local function sweep(repo, dir, below, spared)
  local deletions = anchors.hold(repo, AT, below, spared or { c0000 = true }, EACH)
  anchors.prune(dir .. "/.git", deletions)
  return deletions
end

test("whole blocks below the number are anchored, in order; the baseline and the newer ones keep refs", inside(
  function(repo, dir)
    local others = refs(dir, "refs/heads refs/tags")
    local ids = run(dir, "git rev-parse " .. ("refs/apsis/p/c%04d "):rep(8):format(8, 9, 10, 11, 12, 13, 14, 15))
    sweep(repo, dir, 23)
    equal(names(dir), "c0000 " .. run(dir, "for n in $(seq 16 30); do printf 'c00%s ' $n; done") .. "tip ")
    equal(run(dir, "git for-each-ref --format='%(refname)' refs/apsis-anchors"),
      "refs/apsis-anchors/p/0000\nrefs/apsis-anchors/p/0001")
    equal(run(dir, "git rev-parse refs/apsis-anchors/p/0001^@"), ids)
    matches(run(dir, "git log -1 --format=%b refs/apsis-anchors/p/0001"),
      "^The parents, in order:\nc0008\nc0009\n.*\nc0015\n?$")
    equal(refs(dir, "refs/heads refs/tags"), others)
    is_whole(dir)
  end))

test("a candidate whose ref is gone is read as before, by a handle that was open too", inside(function(repo, dir)
  local id = run(dir, "git rev-parse refs/apsis/p/c0007")
  local text = repo:read(id, "value")
  sweep(repo, dir, 31)
  equal(repo:read(id, "value"), text)
  equal(repo:renew(), true)
  equal(repo:read(id, "value"), text)
  run(dir, "git reflog expire --expire=now --all; git gc -q --prune=now")
  equal(repo:read(id, "value"), text)
  equal(run(dir, "git show " .. id .. ":value"), "07")
end))

test("a second sweep of the same changes nothing", inside(function(repo, dir)
  sweep(repo, dir, 23)
  local before = refs(dir)
  equal(sweep(repo, dir, 23), "")
  equal(refs(dir), before)
end))

test("one that is spared keeps its ref and is anchored all the same; later its ref goes without a new anchor", inside(
  function(repo, dir)
    sweep(repo, dir, 16, { c0000 = true, c0003 = true })
    equal(names(dir):match "^c0000 c0003 c0016 " ~= nil, true)
    local anchor = run(dir, "git rev-parse refs/apsis-anchors/p/0000")
    matches(run(dir, "git rev-list --parents -1 " .. anchor), run(dir, "git rev-parse refs/apsis/p/c0003"))
    sweep(repo, dir, 16)
    equal(names(dir):match "^c0000 c0016 " ~= nil, true)
    equal(run(dir, "git rev-parse refs/apsis-anchors/p/0000"), anchor)
  end))

test("a commit of two candidates is one parent, with both names", inside(function(repo, dir)
  run(dir, "git update-ref refs/apsis/p/c0005 refs/apsis/p/c0002")
  sweep(repo, dir, 8)
  equal(#repo:commit_info("refs/apsis-anchors/p/0000").parents, 7)
  matches(repo:commit_info("refs/apsis-anchors/p/0000").message, "\nc0002 c0005\n")
  is_whole(dir)
end))

test("refs that came back, or name other commits now, are anchored beside the former anchor", inside(function(repo, dir)
  local old = run(dir, "git rev-parse refs/apsis/p/c0004")
  sweep(repo, dir, 8)
  local anchor = run(dir, "git rev-parse refs/apsis-anchors/p/0000")
  run(dir, "git update-ref refs/apsis/p/c0003 $(git rev-parse refs/apsis/p/c0008~5); git update-ref refs/apsis/p/c0004 "
    .. "$(git commit-tree -m again HEAD^{tree})")
  local new = run(dir, "git rev-parse refs/apsis/p/c0004")
  sweep(repo, dir, 8)
  equal(repo:commit_info("refs/apsis-anchors/p/0000").parents, { anchor, new })
  equal(repo:descendant_of("refs/apsis-anchors/p/0000", old), true)
  matches(names(dir), "^c0000 c0008 ")
end))

test("numbers of five digits are in their order", inside(function(repo, dir)
  run(dir, [[for n in 9997 9998 9999 10000 10001; do
    git update-ref refs/apsis/p/c$n $(git commit-tree -m $n HEAD^{tree}); done]])
  anchors.hold(repo, AT, 20000, {}, 20000)
  matches(repo:commit_info("refs/apsis-anchors/p/0000").message, "\nc0030\nc9997\nc9998\nc9999\nc10000\nc10001\n$")
end))

test("refs that git has packed, as older versions left them, go the same way", inside(function(repo, dir)
  run(dir, "git pack-refs --all --prune")
  sweep(repo, dir, 31)
  equal({ names(dir), run(dir, "grep -c refs/apsis/p/ .git/packed-refs") },
    { "c0000 c0024 c0025 c0026 c0027 c0028 c0029 c0030 tip ", "9" })
  is_whole(dir)
end))

test("a ref that moved meanwhile is not deleted, nor any other then", inside(function(repo, dir)
  local deletions = anchors.hold(repo, AT, 8, {}, EACH)
  run(dir, "git update-ref refs/apsis/p/c0002 refs/apsis/p/c0030")
  local before = refs(dir)
  local ok, message = pcall(anchors.prune, dir .. "/.git", deletions)
  equal(ok, false)
  matches(message, "^git update%-ref: .*c0002.* but expected")
  equal(refs(dir), before)
end))

test("objects are packed, loose ones and those of many small packs", inside(function(repo, dir)
  run(dir, "echo mine > new; git add new; git stash -q; git stash drop -q")
  local before = loose_count(dir)
  sweep(repo, dir, 8)
  equal({ before > 100, loose_count(dir), run(dir, "ls .git/objects/pack/*.pack | wc -l") }, { true, 0, "1" })
  for block = 4, 12 do
    for number = block * 8, block * 8 + 7 do
      run(dir, ("git update-ref refs/apsis/p/c%04d $(git commit-tree -m %d HEAD^{tree})"):format(number, number))
    end
    sweep(repo, dir, block * 8 + 8)
  end
  local packs = tonumber(run(dir, "ls .git/objects/pack/*.pack | wc -l"))
  equal({ loose_count(dir), packs <= 4 }, { 0, true })
  is_whole(dir)
end))

test("no hook and no program of the configuration is run", inside(function(repo, dir)
  run(dir, [[mkdir -p hooks; for hook in reference-transaction pre-auto-gc post-rewrite post-update; do
      printf '#!/bin/sh\ntouch "%s/ran"\n' "$PWD" | tee .git/hooks/$hook > hooks/$hook; done
    chmod +x .git/hooks/* hooks/*
    printf '#!/bin/sh\ntouch "%s/ran"\n' "$PWD" > run.sh; chmod +x run.sh
    for key in core.pager core.editor core.fsmonitor core.sshCommand core.askPass credential.helper gpg.program \
      core.alternateRefsCommand uploadpack.packObjectsHook diff.external alias.repack alias.update-ref; do
      git config $key "$PWD/run.sh"
    done
    git config core.hooksPath "$PWD/hooks"; git config repack.writeBitmaps true]])
  sweep(repo, dir, 23)
  equal(names(dir):match "^c0000 c0016 " ~= nil, true)
  equal(fs.stat(dir .. "/ran"), nil)
end))

test("another repository in the environment is not touched", inside(function(repo, dir, parent)
  run(parent, "git clone -q --bare repo other")
  host.setenv("GIT_DIR", parent .. "/other")
  host.setenv("GIT_OBJECT_DIRECTORY", parent .. "/other/objects")
  local before = run(parent, "find other | sort")
  sweep(repo, dir, 23)
  host.setenv("GIT_DIR")
  host.setenv("GIT_OBJECT_DIRECTORY")
  equal({ loose_count(dir), run(parent, "find other | sort") }, { 0, before })
end))

test("a linked working tree and a repository with alternates are swept like any other", inside(function(_, dir, parent)
  run(dir, "git worktree add -q ../linked mine")
  local linked <close> = assert(git.open(parent .. "/linked"))
  anchors.prune(linked:info().gitdir, anchors.hold(linked, AT, 8, { c0000 = true }, EACH))
  equal(names(dir):match "^c0000 c0008 " ~= nil, true)
  run(parent, "git clone -q --shared repo other; cd other; git fetch -q origin 'refs/apsis/*:refs/apsis/*'")
  local other <close> = assert(git.open(parent .. "/other"))
  run(parent .. "/other", "git update-ref refs/apsis/p/c0015 $(git commit-tree -m new HEAD^{tree})")
  sweep(other, parent .. "/other", 16)
  equal(names(parent .. "/other"):match "^c0000 c0016 " ~= nil, true)
  is_whole(parent .. "/other")
end))

-- A sweep in a process of its own, killed after some seconds: what it printed, and 137 if it was killed. The git that it
-- had started has ended, too: the kernel ends it a moment later.
local function sweep_apart(dir, kill_s)
  local script = [[local anchors, git = require "apsis.live.anchors", require "apsis.git"
    local repo = assert(git.open ".")
    local at = { refs = "refs/apsis/p/", anchors = "refs/apsis-anchors/p/" }
    anchors.prune(%q, anchors.hold(repo, at, 31, { c0000 = true }, 8))]]
  assert(fs.write(dir .. "/.git/sweep.lua", script:format(dir .. "/.git")))
  local kill = ("sleep %.4f; kill -9 $pid || true;"):format(kill_s or 0)
  local gone = ("for i in $(seq 500); do grep -qs git-dir=%s/[.]git /proc/[0-9]*/cmdline || break; sleep 0.02; done")
    :format(dir)
  return run(dir, ("%s exec .git/sweep.lua & pid=$!; %s wait $pid || echo $?; %s"):format(
    scratch.quote(host.executable), kill_s and kill or "", gone))
end

test("killed at any moment, every candidate is reachable, and the next sweep that packs ends it", inside(function(_, dir, parent)
  local killed = 0
  local candidates = run(dir, "git rev-list --no-walk $(git for-each-ref --format='%(refname)' refs/apsis/p) | sort")
  for turn = 1, 8 do
    run(parent, "rm -rf copy; cp -a repo copy")
    local copy = parent .. "/copy"
    killed = killed + (sweep_apart(copy, 0.002 * 1.7 ^ turn):find "137" and 1 or 0)
    local reachable = run(copy, "git rev-list --glob='refs/apsis/p/*' --glob='refs/apsis-anchors/p/*' | sort")
    for id in candidates:gmatch "%x+" do assert(reachable:find(id, 1, true), "turn " .. turn .. ": lost " .. id) end
    is_whole(copy)
    local again <close> = assert(git.open(copy))
    again:clear_locks("refs/apsis/p", 0) -- as the start of a run does
    again:clear_locks("refs/apsis-anchors/p", 0)
    again:clear_locks("packed-refs", 0)
    equal(sweep_apart(copy), "")
    equal(names(copy), "c0000 c0024 c0025 c0026 c0027 c0028 c0029 c0030 tip ")
    equal(loose_count(copy), 0)
    equal(run(copy, "find .git/refs .git/packed-refs.lock -name '*.lock' 2> /dev/null || true"), "")
    is_whole(copy)
  end
  assert(killed > 0, "no sweep was killed")
end))

test("while git packs, a sweep changes nothing; while a sweep packs, git gc does not begin", inside(function(repo, dir)
  local before, lock, host_name = refs(dir, "refs/apsis/p refs/heads refs/tags"), dir .. "/.git/gc.pid", run(dir, "cat /proc/sys/kernel/hostname")
  local function sweeps_beside(holder, age_s)
    if holder then assert(fs.write(lock, holder)) end
    if age_s then run(dir, ("touch -d '%d seconds ago' .git/gc.pid"):format(age_s)) end
    return anchors.prune(dir .. "/.git", anchors.hold(repo, AT, 8, { c0000 = true }, EACH))
  end
  equal(sweeps_beside("1 " .. host_name), false)
  equal(sweeps_beside("999999999 another.host"), false)
  equal({ fs.read(lock), fs.stat(lock .. ".lock"), refs(dir, "refs/apsis/p refs/heads refs/tags") == before },
    { "999999999 another.host", nil, true })
  assert(fs.write(lock .. ".lock", "")) -- a git that is taking the lock
  equal(sweeps_beside("999999999 " .. host_name), false)
  run(dir, "touch -d '1 hour ago' .git/gc.pid.lock")
  equal(gclock.with(dir .. "/.git", function() end), true)
  assert(fs.write(lock .. ".lock", "1 " .. host_name)) -- one that runs takes the lock
  equal(gclock.with(dir .. "/.git", function() end), false)
  assert(fs.write(lock .. ".lock", "999999999 " .. host_name)) -- one was killed while it took the lock
  equal(gclock.with(dir .. "/.git", function()
    matches(run(dir, "git gc 2>&1 || true"), "gc is already running on machine '" .. host_name:gsub("%p", "%%%0") .. "' pid ")
  end), true)
  raises("^no space$", gclock.with, dir .. "/.git", function() error("no space", 0) end)
  equal(sweeps_beside("1 another.host", 13 * 3600), true)
  equal({ fs.stat(lock), fs.stat(lock .. ".lock"), names(dir):match "^c0000 c0008 " ~= nil }, { nil, nil, true })
end))

test("beside a loop of git gc, every ref names what is there", inside(function(_, dir)
  run(dir, [[(i=0; while [ ! -e ../stop ] && [ -d .git ] && [ $((i += 1)) -le 1000 ]; do git gc -q || true; done) > /dev/null 2>&1 &
    echo $! > ../pid]])
  local repo <close> = assert(git.open(dir))
  for number = 31, 63 do
    local id = run(dir, ("for i in $(seq 100); do git commit-tree -m %d HEAD^{tree} 2> /dev/null && break; done"):format(number))
    if repo:set_ref(("refs/apsis/p/c%04d"):format(number), id) and number % 8 == 7 then
      pcall(sweep, repo, dir, number - 8)
    end
  end
  run(dir, "touch ../stop; while kill -0 $(cat ../pid) 2> /dev/null; do sleep 0.05; done")
  is_whole(dir)
  pcall(repo.clear_locks, repo, "packed-refs", 0)
  sweep(repo, dir, 56)
  equal(tonumber(run(dir, "git for-each-ref refs/apsis/p | wc -l")) <= 10, true)
  is_whole(dir)
end))

tap.done()
