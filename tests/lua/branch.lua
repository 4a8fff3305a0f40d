-- branch: the run's branch moves by compare-and-swap: what somebody else does with it between the look and the move is
-- left as it is.
local branch = require "apsis.live.branch"
local scratch = require "scratch"
local tap = require "tap"
local test, equal, matches = tap.test, tap.equal, tap.matches

local inside = scratch.with [[
  git init -q -b main repo; cd repo; echo 1 > value; git add .; git commit -qm start]]

-- The repository, but `before` is called just before a ref is set.
local function meddled(repo, before)
  return setmetatable({
    set_ref = function(_, ...)
      before()
      return repo:set_ref(...)
    end,
  }, { __index = function(_, name) return function(_, ...) return repo[name](repo, ...) end end })
end

local function candidate(repo, number)
  local tree = assert(repo:edit_tree("HEAD", { value = tostring(number) }))
  local commit = assert(repo:commit { tree = tree, parents = { "HEAD" }, message = "candidate", time = 1700000000 })
  return { id = ("c%04d"):format(number), commit = commit, tree = tree }
end

local function open(repo)
  local said = {}
  return branch.new(repo, "apsis/run", function(_, text) said[#said + 1] = text end, {}), said
end

test("it follows the best, and joins one that does not descend from it", inside(function(repo, dir)
  local run, said = open(repo)
  local first, second = candidate(repo, 1), candidate(repo, 2)
  equal(run:advance(first), true)
  equal(repo:ref "refs/heads/apsis/run", first.commit)
  equal(run:advance(second), true)
  equal(scratch.run(dir, "git show apsis/run:value; git log -1 --format=%P apsis/run"),
    "2" .. first.commit .. " " .. second.commit)
  equal(said, {})
end))

test("a branch that somebody makes meanwhile is left, and said", inside(function(repo, dir)
  local theirs = candidate(repo, 9)
  local run, said = open(meddled(repo, function() scratch.run(dir, "git branch apsis/run " .. theirs.commit) end))
  equal(run:advance(candidate(repo, 1)), false)
  equal(repo:ref "refs/heads/apsis/run", theirs.commit)
  matches(said[1], "branch apsis/run is left where it is")
  equal(run:advance(candidate(repo, 2)), false, "and so until the next start")
end))

test("a branch that somebody moves meanwhile is left, and said", inside(function(repo, dir)
  local theirs, move = candidate(repo, 9), false
  local run, said = open(meddled(repo, function()
    if move then scratch.run(dir, "git branch -f apsis/run " .. theirs.commit) end
  end))
  equal(run:advance(candidate(repo, 1)), true)
  move = true
  equal(run:advance(candidate(repo, 2)), false)
  equal(repo:ref "refs/heads/apsis/run", theirs.commit)
  matches(said[1], "branch apsis/run is left where it is")
end))

tap.done()
