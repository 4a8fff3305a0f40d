-- sync: a program's branch against the default branch (live/sync): which branch is the default one, autoloop's four
-- cases, what
-- origin has, conflicts of every kind, and that git agrees with what was merged.
local tap = require "tap"
local scratch = require "scratch"
local fs = require "apsis.fs"
local git = require "apsis.git"
local host = require "apsis.host"
local process = require "apsis.process"
local sync = require "apsis.goals.branch.sync"
local test, equal, matches = tap.test, tap.equal, tap.matches

process.run { argv = { "true" } } -- what stays open for all commands is opened by the first

local SHORT = os.getenv "APSIS_SANITIZED" ~= nil
local REF = "refs/heads/autoloop/prog"

local run = scratch.run

local inside = scratch.with([[git init -q -b main repo; cd repo; git config user.name Us; git config user.email us@example.org
  seq 1 30 > a; seq 50 90 > z; git add .; git commit -qm first]], true)

local function id(dir, rev) return run(dir, "git rev-parse " .. (rev or "HEAD")) end

-- What run gives, and what it said.
local function synchronise(repo, default)
  local words = {}
  local result, message, code,
    files = sync.run(repo, { branch = "autoloop/prog", default = default or assert(sync.default_branch(repo)),
    log = function(level, text) words[#words + 1] = level .. ": " .. text end })
  return result, message or words, code, files
end

-- A commit, made in a worktree beside the repository, so that the branch is checked out nowhere.
local function commit_on(dir, branch, script)
  run(dir, ([[test -d ../work || git worktree add -q --detach ../work; cd ../work; git checkout -q --detach %s; %s; git add -A
    git commit -qm 'on %s'; git update-ref refs/heads/%s HEAD]]):format(branch, script, branch, branch))
end

-- ---- the default branch ----

test("the default branch is the configured one, here or at origin, else an error that says so",
  inside(function(repo, dir)
  run(dir, "git branch dev; git update-ref refs/remotes/origin/far HEAD")
  equal(sync.default_branch(repo, "dev"), { name = "dev", commit = id(dir) })
  equal(sync.default_branch(repo, "far"), { name = "far", commit = id(dir) })
  local value, message, code = sync.default_branch(repo, "nope")
  equal({ value, code }, { nil, 3 })
  matches(message, "^default_branch: there is no branch nope and no origin/nope")
end))

test("else origin's HEAD, then main, then master, then the branch that is checked out", inside(function(repo, dir)
  local commit = id(dir)
  local function name() return assert(sync.default_branch(repo)).name end
  run(dir, "git checkout -q -b dev; git branch master")
  equal(name(), "main")
  run(dir, "git update-ref refs/remotes/origin/trunk HEAD; git symbolic-ref refs/remotes/origin/HEAD "
    .. "refs/remotes/origin/trunk")
  equal(sync.default_branch(repo), { name = "trunk", commit = commit })
  run(dir, "git symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/gone")
  equal(name(), "main", "origin's HEAD names a branch that is not there")
  run(dir, "git branch -D -q main")
  equal(name(), "master")
  run(dir, "git branch -D -q master")
  equal(name(), "dev")
  run(dir, "git checkout -q --detach")
  local value, message, code = sync.default_branch(repo)
  equal({ value, code }, { nil, 3 })
  matches(message, "default_branch: NAME")
end))

test("of main and origin/main the newer counts; where they have diverged the local one, with a word",
  inside(function(repo, dir)
  local words = {}
  local function commit() return assert(sync.default_branch(repo, nil,
    function(_, text) words[#words + 1] = text end)).commit end
  local first = id(dir)
  run(dir, "git update-ref refs/remotes/origin/main HEAD; echo 1 > n; git add n; git commit -qm second")
  equal(commit(), id(dir))
  run(dir, "git update-ref refs/remotes/origin/main HEAD; git update-ref refs/heads/main " .. first)
  equal(commit(), id(dir, "origin/main"))
  equal(words, {})
  run(dir, "git reset -q --hard; echo 2 > n; git add n; git commit -qm other")
  equal(commit(), id(dir, "main"))
  equal(#words, 1)
  matches(words[1], "main and origin/main have diverged %(by 1 and 1 .*the local one counts")
  run(dir, "git branch -D -q x 2>/dev/null || true; git checkout -q -b x; git branch -D -q main")
  equal(sync.default_branch(repo), { name = "main", commit = id(dir, "origin/main") })
end))

-- ---- the four cases ----

test("no branch: nothing is written, and the tip is the default branch's", inside(function(repo, dir)
  equal(synchronise(repo), { case = "created", tip = id(dir) })
  equal(repo:refs("refs/heads/"), { { name = "refs/heads/main", id = id(dir) } })
end))

test("level, behind, ahead and both: same, moved, ahead, merged", inside(function(repo, dir)
  run(dir, "git branch autoloop/prog")
  local first = id(dir)
  equal(synchronise(repo), { case = "same", tip = first, before = first })
  commit_on(dir, "main", "echo 1 > m")
  run(dir, "git reset -q --hard")
  equal(synchronise(repo), { case = "moved", tip = id(dir, "main"), before = first })
  equal(repo:ref(REF), id(dir, "main"))
  commit_on(dir, "autoloop/prog", "echo 1 > p")
  local tip = repo:ref(REF)
  equal(synchronise(repo), { case = "ahead", tip = tip, before = tip })
  commit_on(dir, "main", "echo 2 > m")
  run(dir, "git reset -q --hard")
  local result = synchronise(repo)
  equal({ result.case, result.before, result.tip }, { "merged", tip, repo:ref(REF) })
  equal(run(dir, "git log -1 --format='%s|%P|%an' autoloop/prog"),
    ("Merge main into autoloop/prog|%s %s|Us"):format(tip, id(dir, "main")))
  equal(run(dir, "git show autoloop/prog:m autoloop/prog:p"), "2\n1")
  equal(synchronise(repo).case, "ahead")
  equal(run(dir, "git status --porcelain; git symbolic-ref --short HEAD; git fsck --strict --no-dangling"), "main")
end))

test("the same two commits give the same merge, whenever and wherever it is made", inside(function(repo, dir)
  run(dir, "git branch autoloop/prog")
  commit_on(dir, "main", "echo 1 > m; export GIT_COMMITTER_DATE='1700000000 +0000'")
  commit_on(dir, "autoloop/prog", "echo 1 > p; export GIT_COMMITTER_DATE='1600000000 +0000'")
  local before = repo:ref(REF)
  local first = assert(synchronise(repo)).tip
  equal(repo:commit_info(first).time, 1700000000, "the later of both")
  run(dir, "git update-ref " .. REF .. " " .. before)
  local script = [[local sync = require "apsis.goals.branch.sync"
    local repo = assert(require "apsis.git".open(arg[1]))
    print(assert(sync.run(repo, { branch = "autoloop/prog", default = assert(sync.default_branch(repo)) })).tip)]]
  local result = assert(process.run { argv = { host.executable, "exec", "/dev/stdin", dir }, stdin_text = script,
    timeout_s = 60, env = { APSIS_NOW = "2031-01-01T00:00:00Z" } })
  equal({ result.code, result.stdout.head }, { 0, first .. "\n" }, result.stderr.head)
end))

test("clocks that disagree do not make a branch that is only behind or ahead look like both", inside(function(repo, dir)
  -- Commits with times at random, some of them merges; pairs of them are compared with git's own answer.
  local state, out = 7, {}
  local function draw(n)
    state = (state * 1103515245 + 12345) % 2147483648
    return state // 65536 % n
  end
  for i = 1, 30 do
    local text = ("commit refs/heads/c%d\nmark :%d\ncommitter A <a@b> %d +0000\ndata 1\nx\n"):format(i, i,
      1700000000 + draw(30000))
    if i > 1 then
      local one = math.max(1, i - 1 - draw(5))
      local two = math.max(1, i - 1 - draw(5))
      text = text .. ("from :%d\n"):format(one) .. (two ~= one and ("merge :%d\n"):format(two) or "")
    end
    out[#out + 1] = text .. "\n"
  end
  assert(fs.write(dir .. "/stream", table.concat(out)))
  run(dir, "git fast-import --quiet < stream; rm stream")
  local list = run(dir, [[for i in $(seq 1 ]] .. (SHORT and 8 or 2) .. [[ 30); do for j in $(seq 1 7 30); do
    if test $(git rev-parse c$i) = $(git rev-parse c$j); then echo $i $j same
    elif git merge-base --is-ancestor c$i c$j; then echo $i $j moved
    elif git merge-base --is-ancestor c$j c$i; then echo $i $j ahead
    else echo $i $j merged; fi; done; done]])
  local seen = {}
  for i, j, case in list:gmatch("(%d+) (%d+) (%l+)") do
    seen[case] = true
    assert(repo:set_ref(REF, "c" .. i))
    local result = assert(synchronise(repo, { name = "c" .. j, commit = repo:resolve("c" .. j) }))
    equal(result.case, case, i .. " against " .. j)
  end
  equal(seen, SHORT and seen or { same = true, moved = true, ahead = true, merged = true })
end))

test("someone who moves the branch meanwhile is heeded", inside(function(repo, dir)
  run(dir, "git branch autoloop/prog")
  local first = id(dir)
  commit_on(dir, "main", "echo 1 > m")
  commit_on(dir, "autoloop/prog", "echo 1 > p")
  local other = repo:ref(REF)
  assert(repo:set_ref(REF, first))
  local moved = 0
  local sly = setmetatable({ set_ref = function(_, name, new, ...)
    moved = moved + 1
    if moved == 1 then assert(repo:set_ref(REF, other)) end
    return repo:set_ref(name, new, ...)
  end }, { __index = function(_, key) return function(_, ...) return repo[key](repo, ...) end end })
  local result = assert(synchronise(sly))
  equal({ moved, result.case, result.before }, { 2, "merged", other })
  sly.set_ref = function() return nil, "EMOVED: moved", "EMOVED" end
  commit_on(dir, "main", "echo 2 > m")
  local value, message, code = synchronise(sly)
  equal({ value, code }, { nil, 3 })
  matches(message, "20 times")
end))

test("a branch that is checked out is left, with a word", inside(function(repo, dir)
  run(dir, "git branch autoloop/prog")
  commit_on(dir, "main", "echo 1 > m")
  run(dir, "git worktree add -q ../tree autoloop/prog")
  local tip = repo:ref(REF)
  local result, words = synchronise(repo)
  equal(result, { case = "left", tip = tip, before = tip })
  matches(words[1], "^warn: branch autoloop/prog is left as it is: it is checked out in /.*/tree$")
  equal(repo:ref(REF), tip)
  run(dir, "git worktree remove ../tree")
  equal(synchronise(repo).case, "moved")
  run(dir, "git update-ref -d " .. REF .. "; git symbolic-ref HEAD " .. REF)
  local value, message, code = synchronise(repo)
  equal({ value, code }, { nil, 3 })
  matches(message, "checked out in .*no commit yet")
end))

test("a branch that cannot be made is known before anything is done", inside(function(repo, dir)
  run(dir, "git branch autoloop")
  local value, message, code = synchronise(repo)
  equal({ value, code }, { nil, 3 })
  matches(message, "a branch autoloop/prog cannot exist beside autoloop: rename")
end))

-- ---- origin ----

test("where the branch is only at origin it is made from there, then the four cases", inside(function(repo, dir)
  run(dir, "git branch autoloop/prog")
  commit_on(dir, "autoloop/prog", "echo 1 > p")
  local theirs = repo:ref(REF)
  local function only_at_origin()
    run(dir, ("git update-ref refs/remotes/origin/autoloop/prog %s; git update-ref -d %s"):format(theirs, REF))
  end
  only_at_origin()
  equal(synchronise(repo), { case = "ahead", tip = theirs })
  equal(repo:ref(REF), theirs)
  only_at_origin()
  commit_on(dir, "main", "echo 1 > m")
  local result = synchronise(repo)
  equal({ result.case, result.before, result.tip, repo:commit_info(REF).parents[1] },
    { "merged", nil, repo:ref(REF), theirs })
  only_at_origin()
  commit_on(dir, "main", "echo 2 > p")
  local value, _, code, files = synchronise(repo)
  equal({ value, code, files }, { nil, "ECONFLICT", { "p" } })
  equal(repo:ref(REF), nil, "nothing is written")
end))

test("a branch behind origin's is moved there first; one that diverged from it counts as it is, with a word",
  inside(function(repo, dir)
  run(dir, "git branch autoloop/prog")
  local first = id(dir)
  commit_on(dir, "autoloop/prog", "echo 1 > p")
  local theirs = repo:ref(REF)
  run(dir, ("git update-ref refs/remotes/origin/autoloop/prog %s; git update-ref %s %s"):format(theirs, REF, first))
  local result, words = synchronise(repo)
  equal({ result, words }, { { case = "ahead", tip = theirs, before = first }, {} })
  commit_on(dir, "autoloop/prog", "echo 2 > p")
  local mine = repo:ref(REF)
  equal(synchronise(repo), { case = "ahead", tip = mine, before = mine })
  assert(repo:set_ref(REF, first))
  commit_on(dir, "autoloop/prog", "echo 3 > q")
  mine = repo:ref(REF)
  result, words = synchronise(repo)
  equal(result, { case = "ahead", tip = mine, before = mine })
  matches(words[1], "^warn: autoloop/prog and origin/autoloop/prog have diverged.*git branch %-f autoloop/prog "
    .. "origin/autoloop/prog$")
  equal(repo:ref("refs/remotes/origin/autoloop/prog"), theirs)
end))

test("in a shallow clone what can be decided is decided; otherwise the message names what to fetch",
  inside(function(_, dir, around)
  run(dir, "git branch autoloop/prog")
  commit_on(dir, "autoloop/prog", "echo 1 > p")
  local function clone(depth)
    run(around, ("rm -rf clone; git clone -q --no-single-branch --depth %d file://%s clone; cd clone; git config "
      .. "user.name U"):format(depth, dir))
    return assert(git.open(around .. "/clone"))
  end
  do
    local repo <close> = clone(2)
    equal(synchronise(repo).case, "ahead")
  end
  commit_on(dir, "main", "echo 1 > m")
  for _ = 1, 3 do commit_on(dir, "autoloop/prog", "echo x >> q") end
  do
    local repo <close> = clone(1)
    local value, message, code = synchronise(repo)
    equal({ value, code }, { nil, 3 })
    matches(message, "git fetch %-%-unshallow origin")
    equal(repo:ref(REF), nil)
    run(around .. "/clone", "git fetch -q --unshallow origin")
  end
  local repo <close> = assert(git.open(around .. "/clone"))
  equal(synchronise(repo).case, "merged")
end))

-- ---- conflicts ----

local SUBMODULE = "git update-index --add --cacheinfo 160000,%s,sub"
local KINDS = { -- what both sides do, and the paths in conflict
  { "a line", "sed -i s/^7$/ours/ a", "sed -i s/^7$/theirs/ a", { "a" } },
  { "several files, sorted", "echo 1 > y; echo 1 > b", "echo 2 > y; echo 2 > b", { "b", "y" } },
  { "changed and deleted", "echo x >> a", "rm a", { "a" } },
  { "a file and a directory", "rm a; mkdir a; echo 1 > a/b", "echo x >> a", { "a" } },
  { "a link and a change", "rm a; ln -s z a", "echo x >> a", { "a" } },
  { "bytes", "printf 'a\\0b' > b", "printf 'a\\0c' > b", { "b" } },
  { "one file renamed twice", "git mv a b", "git mv a c", { "a", "b", "c" } },
  { "two files renamed to one", "git mv a q", "git mv z q", { "a", "q", "z" } },
  { "renamed and deleted", "git mv a b", "rm a", { "a", "b" } },
  { "renamed and replaced by a link", "git mv a b", "rm a; ln -s z a", { "a" } },
  { "the same new file in two modes", "echo 1 > n; chmod +x n", "echo 1 > n", { "n" } },
  { "a new file in a folder that was moved", "git mv d e", "echo new > d/new", { "d/new" } },
  { "a file moved into a folder that was moved", "git mv a d/a", "git mv d e", { "d/a" } },
}

test("every kind of conflict is named, and nothing is written", inside(function(repo, dir)
  run(dir, "mkdir d; seq 100 130 > d/one; seq 200 240 > d/two; git add d; git commit -qm d")
  local first = id(dir)
  for i, kind in ipairs(KINDS) do
    if not SHORT or i % 4 == 3 then
      for _, swapped in ipairs((SHORT or i < 10) and { false } or { false, true }) do
        run(dir, "git update-ref refs/heads/main " .. first .. "; git update-ref " .. REF .. " " .. first)
        commit_on(dir, "autoloop/prog", kind[swapped and 3 or 2])
        commit_on(dir, "main", kind[swapped and 2 or 3])
        local tip = repo:ref(REF)
        local value, message, code, files = synchronise(repo)
        equal({ value, code, files }, { nil, "ECONFLICT", kind[4] }, kind[1])
        matches(message, "main does not merge into autoloop/prog: both sides change "
          .. table.concat(kind[4], ", "):gsub("%p", "%%%0") .. "; merge by hand: git switch autoloop/prog && "
          .. "git merge main", kind[1])
        equal(repo:ref(REF), tip, kind[1])
      end
    end
  end
end))

test("submodules that went different ways are a conflict; that went the same way are none", inside(function(repo, dir)
  local function make(branch, commit)
    run(dir, ("git read-tree main; %s; git update-ref refs/heads/%s $(git commit-tree $(git write-tree) -p main -m "
      .. "'for %s'); git read-tree main"):format(SUBMODULE:format(commit:rep(40)), branch, branch))
  end
  make("main", "1")
  make("autoloop/prog", "2")
  make("main", "3")
  local value, _, code, files = synchronise(repo)
  equal({ value, code, files }, { nil, "ECONFLICT", { "sub" } })
  make("autoloop/prog", "2")
  make("main", "2")
  equal(synchronise(repo).case, "merged")
  equal(repo:entries(REF, "sub"), { { path = "sub", mode = "160000", id = ("2"):rep(40) } })
end))

test("what git merges is merged, to the same tree", inside(function(repo, dir)
  local first = id(dir)
  for _, sides in ipairs {
    { "chmod +x a", "echo x >> a" }, { "git mv a b", "sed -i s/^7$/theirs/ a" }, { "echo 1 > n", "echo 1 > n" },
    { "rm a", "rm a; echo z > y" },
    { "mkdir d; git mv a d/a", "echo 1 > d2" }, { "sed -i s/^3$/ours/ a", "sed -i s/^27$/theirs/ a" },
      { "rm a; ln -s z a", "echo x >> z" },
  } do
    run(dir, "git update-ref refs/heads/main " .. first .. "; git update-ref " .. REF .. " " .. first)
    commit_on(dir, "autoloop/prog", sides[1])
    commit_on(dir, "main", sides[2])
    local tip = repo:ref(REF)
    local what = sides[1] .. " and " .. sides[2]
    equal(assert(synchronise(repo)).case, "merged", what)
    local expected = run(dir, ("cd ../work; git checkout -q --detach %s; git merge -q -m m main >/dev/null; git "
      .. "rev-parse HEAD^{tree}"):format(tip))
    equal(repo:commit_info(REF).tree, expected, what)
  end
end))

test("histories that share nothing are not merged", inside(function(repo, dir)
  run(dir, "git update-ref " .. REF .. " $(git commit-tree main^{tree} -m root)")
  local value, message, code = synchronise(repo)
  equal({ value, code }, { nil, 3 })
  matches(message, "autoloop/prog and main: their histories have nothing in common")
end))

test("a kill at any moment leaves the branch where it was or where it shall be", inside(function(repo, dir)
  run(dir, "git branch autoloop/prog")
  commit_on(dir, "main", "echo 1 > m")
  commit_on(dir, "autoloop/prog", "echo 1 > p")
  local before = repo:ref(REF)
  local after = assert(synchronise(repo)).tip
  local script = [[local sync = require "apsis.goals.branch.sync"
    local repo = assert(require "apsis.git".open(arg[1]))
    while true do
      sync.run(repo, { branch = "autoloop/prog", default = assert(sync.default_branch(repo)) })
      repo:set_ref("refs/heads/autoloop/prog", arg[2])
    end]]
  for round = 1, SHORT and 1 or 4 do
    local result = assert(process.run { argv = { host.executable, "exec", "/dev/stdin", dir, before },
      stdin_text = script, timeout_s = 0.1 + 0.03 * round + (SHORT and 2 or 0), grace_s = 0 })
    equal(result.outcome, "timeout", result.stderr.head)
    local tip = repo:ref(REF)
    equal(tip == before or tip == after, true)
    equal(assert(synchronise(repo)).tip, after)
  end
  run(dir, "git fsck --strict --no-dangling")
end))

tap.done()
