-- packing: refs and objects packed by apsis.git in repositories of git's own making, checked by git: nothing is lost, nothing else is
-- touched, whoever is at work beside it and whenever it is killed.
local tap = require "tap"
local scratch = require "scratch"
local fs = require "apsis.fs"
local git = require "apsis.git"
local host = require "apsis.host"
local json = require "apsis.json"
local test, equal, matches = tap.test, tap.equal, tap.matches

local run = scratch.run

-- Thirty candidates, each from the one before, and what a user has beside them: a branch, a tag that is packed, one that is not.
local inside = scratch.with [[git init -q -b main repo; cd repo; mkdir d; echo 0 > value; echo c > d/c; git add .; git commit -qm first
  git tag -a v1 -m one; git pack-refs --all --prune; git tag -a v2 -m two; git branch mine
  for n in 0001 0002 0003 0004 0005 0006 0007 0008 0009 0010 0011 0012 0013 0014 0015 0016 0017 0018 0019 0020 \
      0021 0022 0023 0024 0025 0026 0027 0028 0029 0030; do
    echo $n > value; echo $n > d/c; git commit -qam $n; git update-ref refs/apsis/p/c$n HEAD
  done
  git reset -q --hard v1]]

local function all_refs(dir) return run(dir, "git for-each-ref --format='%(refname) %(objectname) %(*objectname)'") end

local function lists(repo, below)
  local names, ids = {}, {}
  for _, ref in ipairs(assert(repo:loose_refs "refs/apsis/p/")) do
    if ref.name < "refs/apsis/p/" .. (below or "d") then names[#names + 1], ids[#ids + 1] = ref.name, ref.id end
  end
  return names, ids
end

local function loose_count(dir) return tonumber(run(dir, "git count-objects"):match "^%d+") end

local function is_whole(dir) equal(run(dir, "git fsck --strict --no-dangling --no-progress"), "") end

local function refused(code, value, message, got)
  equal(value, nil)
  equal(got, code)
  matches(message, "^" .. code .. ": ")
end

test("the refs that are named are packed, and no others; git finds each as it was", inside(function(repo, dir)
  local before, names = all_refs(dir), lists(repo, "c0021")
  equal(#names, 20)
  equal(repo:pack_refs(names), 20)
  equal(all_refs(dir), before)
  equal(run(dir, "ls .git/refs/apsis/p | wc -l"), "10")
  equal(run(dir, "ls .git/refs/heads .git/refs/tags"), ".git/refs/heads:\nmain\nmine\n\n.git/refs/tags:\nv2")
  matches(run(dir, "head -n 1 .git/packed-refs"), "peeled fully%-peeled sorted")
  equal(run(dir, "grep -c '^^' .git/packed-refs"), "1")
  equal(run(dir, "ls .git | grep -c 'packed-refs[.]' || true"), "0")
  equal(repo:pack_refs {}, 0)
  is_whole(dir)
end))

test("a packed ref is read, swapped, overwritten and deleted like any other", inside(function(repo, dir)
  repo:pack_refs((lists(repo)))
  local one, two = run(dir, "git rev-parse refs/apsis/p/c0001"), run(dir, "git rev-parse refs/apsis/p/c0002")
  equal({ repo:ref "refs/apsis/p/c0001", repo:ref "refs/apsis/p/c0030" }, { one, run(dir, "git rev-parse refs/apsis/p/c0030") })
  refused("ENOENT", repo:ref "refs/apsis/p/c0031")
  refused("ENOENT", repo:ref "refs/apsis/p/c000")
  refused("ENOENT", repo:ref "refs/apsis/p")
  equal(#repo:refs "refs/apsis/p/", 30)
  refused("EMOVED", repo:set_ref("refs/apsis/p/c0001", two, two))
  refused("EMOVED", repo:set_ref("refs/apsis/p/c0001", two, false))
  equal({ repo:set_ref("refs/apsis/p/c0001", two, one), run(dir, "git rev-parse refs/apsis/p/c0001") }, { true, two })
  equal({ repo:set_ref("refs/apsis/p/c0003", two), repo:ref "refs/apsis/p/c0003" }, { true, two })
  equal({ repo:delete_ref "refs/apsis/p/c0004", run(dir, "git rev-parse -q --verify refs/apsis/p/c0004 || true") }, { true, "" })
  equal(repo:pack_refs((lists(repo))), 2)
  equal({ repo:ref "refs/apsis/p/c0001", repo:ref "refs/apsis/p/c0003" }, { two, two })
  equal(run(dir, "git for-each-ref refs/apsis/p | wc -l"), "29")
end))

test("a branch that git has packed moves with its reflog, and only as expected", inside(function(repo, dir)
  run(dir, "git branch apsis/p v1^{}; git pack-refs --all --prune")
  local first, next_one = run(dir, "git rev-parse apsis/p"), run(dir, "git rev-parse refs/apsis/p/c0001")
  refused("EMOVED", repo:set_ref("refs/heads/apsis/p", next_one, next_one, "apsis: c0001"))
  assert(repo:set_ref("refs/heads/apsis/p", next_one, first, "apsis: c0001"))
  equal(run(dir, "git rev-parse apsis/p; git reflog -1 --format=%gs apsis/p"), next_one .. "\napsis: c0001")
  run(dir, "touch .git/refs/heads/apsis/p.lock")
  refused("ELOCKED", repo:set_ref("refs/heads/apsis/p", first, next_one, "back"))
end))

test("a candidate's folder comes back where git has removed it, unless a ref has its name", inside(function(repo, dir)
  run(dir, "git pack-refs --all --prune; git update-ref refs/apsis/q HEAD")
  equal(fs.stat(dir .. "/.git/refs/apsis/p"), nil)
  assert(repo:set_ref("refs/apsis/p/c0031", "HEAD"))
  equal(run(dir, "git rev-parse refs/apsis/p/c0031"), run(dir, "git rev-parse HEAD"))
  refused("EEXIST", repo:set_ref("refs/apsis/q/c0001", "HEAD"))
  run(dir, "git pack-refs --all --prune")
  refused("EEXIST", repo:set_ref("refs/apsis/q/c0001", "HEAD"))
  is_whole(dir)
end))

test("packed-refs without a header, or not sorted, is read right and becomes sorted", inside(function(repo, dir)
  local before = all_refs(dir)
  run(dir, "git pack-refs --all --prune; grep -v '^#' .git/packed-refs | grep -v '^^' | sort -r > x; mv x .git/packed-refs")
  equal(repo:ref "refs/apsis/p/c0007", run(dir, "git rev-parse refs/apsis/p/c0007"))
  refused("ENOENT", repo:ref "refs/apsis/p/c0099")
  run(dir, "git update-ref refs/apsis/p/c0031 HEAD")
  equal(repo:pack_refs { "refs/apsis/p/c0031" }, 1)
  run(dir, "git update-ref -d refs/apsis/p/c0031")
  equal(all_refs(dir), before)
  is_whole(dir)
end))

test("a tag, what has no file and what leads outside are not packed", inside(function(repo, dir)
  equal(repo:pack_refs { "refs/tags/v2", "refs/apsis/p/c0099" }, 0)
  refused("EPATH", repo:pack_refs { "../outside" })
  refused("EINVAL", repo:loose_refs "refs/apsis/p")
  equal(repo:loose_refs "refs/apsis/none/", {})
  matches(run(dir, "cat .git/refs/tags/v2"), "^%x+$")
end))

test("nothing is packed while git holds a lock; what a killed packing left is no lock", inside(function(repo, dir)
  local before, names = all_refs(dir), lists(repo)
  run(dir, "touch .git/packed-refs.lock")
  refused("ELOCKED", repo:pack_refs(names))
  equal(run(dir, "ls .git/refs/apsis/p | wc -l; rm .git/packed-refs.lock"), "30")
  run(dir, "echo half > .git/packed-refs.apsis; ln .git/packed-refs.apsis .git/packed-refs.lock")
  equal(repo:pack_refs {}, 0)
  equal(run(dir, "ls .git | grep -c 'packed-refs[.]' || true"), "0")
  run(dir, "touch .git/refs/apsis/p/c0005.lock")
  equal(repo:pack_refs(names), 30)
  equal(run(dir, "rm .git/refs/apsis/p/c0005.lock; ls .git/refs/apsis/p"), "c0005")
  equal(all_refs(dir), before)
end))

test("a second packer waits for nobody and touches nothing", inside(function(repo, dir)
  local names, ids = lists(repo)
  run(dir, "mkfifo ../gate; (flock .git/ sh -c 'echo > ../held; read line < ../gate' &) > /dev/null 2>&1; while [ ! -e ../held ]; do "
    .. "sleep 0.01; done")
  refused("ELOCKED", repo:pack_objects(ids))
  refused("ELOCKED", repo:pack_refs(names))
  run(dir, "echo > ../gate")
  equal(run(dir, "ls .git/refs/apsis/p | wc -l"), "30")
end))

test("what candidates are made of is packed, the rest stays; a handle that was open reads on", inside(function(repo, dir)
  run(dir, "echo mine > new; git add new; git stash -q; git hash-object -w --stdin < value > /dev/null")
  local _, ids = lists(repo)
  local before, text = loose_count(dir), repo:read(ids[9], "value")
  local done = assert(repo:pack_objects(ids))
  equal({ done.objects, done.removed }, { 120, 120 }) -- a commit, two trees and a blob each: both files of one have the same text
  equal(before - loose_count(dir), 120)
  equal(run(dir, "git count-objects -v | grep -E '^(packs|garbage|prune-packable)'"), "packs: 1\nprune-packable: 0\ngarbage: 0")
  equal(repo:read(ids[9], "value"), text)
  equal(repo:renew(), true)
  equal(repo:read(ids[9], "value"), text)
  equal(repo:pack_objects(ids), { objects = 0, removed = 0 })
  equal(fs.list(dir .. "/.git/objects/tmp_objdir-apsis"), nil)
  is_whole(dir)
end))

test("what is spared stays a file, with all that is in it", inside(function(repo, dir)
  local _, ids = lists(repo)
  local best = run(dir, "git rev-parse refs/apsis/p/c0030")
  equal(assert(repo:pack_objects(ids, { best })).objects, 116)
  run(dir, "test -f .git/objects/$(echo " .. best .. " | sed 's|^..|&/|')")
  is_whole(dir)
end))

test("packs are joined, but for those that are kept or gone", inside(function(repo, dir)
  local _, ids = lists(repo)
  local names = {}
  for number = 1, 3 do
    names[number] = assert(repo:pack_objects(table.move(ids, number * 10 - 9, number * 10, 1, {}))).name
  end
  run(dir, "touch .git/objects/pack/pack-" .. names[2] .. ".keep")
  equal(repo:join_packs { names[1], names[2], ("0"):rep(40) }, { objects = 0, removed = 0 })
  local joined = assert(repo:join_packs(names))
  equal({ joined.objects, joined.removed }, { 80, 2 })
  equal(run(dir, "ls .git/objects/pack/*.pack | wc -l"), "2")
  run(dir, "git multi-pack-index write")
  equal(repo:join_packs { names[2], joined.name }, { objects = 0, removed = 0 })
  is_whole(dir)
end))

test("objects of a repository with alternates are read, written and packed", inside(function(_, dir, parent)
  run(parent, "git clone -q --shared repo other; cd other; git fetch -q origin 'refs/apsis/*:refs/apsis/*'")
  local repo <close> = assert(git.open(parent .. "/other"))
  local tree = assert(repo:edit_tree("refs/apsis/p/c0030", { value = "other\n" }))
  local commit = assert(repo:commit { tree = tree, parents = { "refs/apsis/p/c0030" }, message = "m", ref = "refs/apsis/p/c0031" })
  equal(assert(repo:pack_objects { commit }).objects, 3)
  equal(repo:read(commit, "value"), "other\n")
  is_whole(parent .. "/other")
  is_whole(dir)
end))

-- One packing as a run does it, in a process of its own; killed after so many seconds.
local function serve(dir, kill_s)
  local request = json.encode { dir = dir, refs = "refs/apsis/p/", home = dir, below = 1000, least = 1, spared = json.array {} }
  local script = ('return require("apsis.live.packing").serve(%q)'):format(request)
  assert(fs.mkdir(dir .. "/.apsis"))
  assert(fs.write(dir .. "/.apsis/packing.lua", script))
  return run(dir, ("%s exec .apsis/packing.lua & pid=$!; %s wait $pid || echo $?"):format(scratch.quote(host.executable),
    kill_s and ("sleep %.4f; kill -9 $pid || true;"):format(kill_s) or ""))
end

test("killed at any moment, packing leaves every ref and object, and the next one ends it", inside(function(_, dir, parent)
  local before, killed = all_refs(dir), 0
  for turn = 1, 12 do
    run(parent, "rm -rf copy; cp -a repo copy")
    local copy = parent .. "/copy"
    killed = killed + (serve(copy, 0.004 * turn):find "137" and 1 or 0)
    run(copy, "find .git/refs/apsis -name '*.lock' -delete") -- as the start of a run does
    is_whole(copy)
    equal(all_refs(copy), before)
    equal(serve(copy), "")
    equal({ all_refs(copy), run(copy, "ls .git/refs/apsis/p; ls .git | grep 'packed-refs[.]' || true") }, { before, "" })
    is_whole(copy)
  end
  assert(killed > 0, "no packing was killed")
end))

test("packs of one size become one of the next", inside(function(_, dir)
  for number = 1, 8 do
    for each = 1, 4 do
      run(dir, ("git update-ref refs/apsis/p/c%04d $(git commit-tree -m %d.%d HEAD^{tree})"):format(100 + 10 * number + each, number, each))
    end
    equal(serve(dir), "")
  end
  local packs = json.decode(fs.read(dir .. "/.apsis/packs.json"))
  equal({ #packs, packs[1].size }, { 1, 1 })
  equal(run(dir, "ls .git/objects/pack/*.pack"), ".git/objects/pack/pack-" .. packs[1].name .. ".pack")
  is_whole(dir)
end))

tap.done()
