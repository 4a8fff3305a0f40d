-- pi_finalize: what pi-autoresearch's tests of its finalize.sh ask for (1.6.2, tests/finalize_test.sh, in the order in
-- which it runs them): kept changes as independent branches. Here `apsis split` makes them, and `apsis apply` takes all.
local cases = require "cases"
local fs = require "apsis.fs"
local json = require "apsis.json"
local place = require "place"

local MANIFEST <const> = [[
version: 1
project: {name: test}
files:
  - {path: "file_*.txt", mode: writable}
  - {path: propose.lua, mode: read_only}
verification:
  commands: [{name: measure, run: sh evaluate.sh, timeout_sec: 10}]
metric: {name: score, direction: higher}
strategy: hillclimb
provider: {kind: lua, use: propose.lua}
]]

local EVALUATE <const> = [[echo "METRIC score=$(cat file_*.txt | awk '{ sum += $1 } END { print sum + 0 }')"]] .. "\n"

-- A project with a run, in folder `below` of its repository; edits: of each experiment { path = text }.
local function session(name, edits, more)
  more = more or {}
  local below = more.below and more.below .. "/" or ""
  local files = { [".gitignore"] = "logs/\nruns/\n.apsis/\n", [below .. "manifest.yaml"] = MANIFEST,
    [below .. "evaluate.sh"] = (more.evaluate or "") .. EVALUATE, [below .. "file_a.txt"] = "0\n",
    [below .. "file_b.txt"] = "0\n", [below .. "file_c.txt"] = "0\n" }
  local list = {}
  for index, made in ipairs(edits) do
    local parts = {}
    for path, text in pairs(made) do parts[#parts + 1] = ("[%q] = %q"):format(path, text) end
    list[index] = ("{ %s }"):format(table.concat(parts, ", "))
  end
  files[below .. "propose.lua"] = ("local all = { %s }\nreturn function(proposal)\n  local edits = all[proposal.experiment]\n"
    .. "  return edits, { hypothesis = 'Optimize ' .. next(edits) }\nend\n"):format(table.concat(list, ", "))
  local dir = place.new(name, files)
  local ran = place.sh(dir .. "/" .. below, "apsis baseline --repeats 1 && apsis run --quiet --iterations " .. #edits)
  assert(ran.code == 0, ran.err)
  return dir
end

local function lines(text)
  local list = {}
  for line in text:gmatch "[^\n]+" do list[#list + 1] = line end
  return list
end

local function git(dir, command) return (place.sh(dir, "git " .. command).out:gsub("\n$", "")) end

local function branches(dir) return lines(git(dir, "for-each-ref --format='%(refname:short)' refs/heads/apsis/test-split/")) end

-- The files that each branch changes, in the branches' order.
local function changed(dir)
  local list = {}
  for index, branch in ipairs(branches(dir)) do list[index] = lines(git(dir, ("diff --name-only %s~1 %s"):format(branch, branch))) end
  return list
end

local A <const>, B <const>, C <const> = { ["file_a.txt"] = "5\n" }, { ["file_b.txt"] = "6\n" }, { ["file_c.txt"] = "7\n" }

cases.cannot("there is no groups.json: the journal has the steps", {
  { "f1", "without arguments the usage is shown" }, { "f2", "a groups.json that is no JSON is refused" },
  { "f4", "a groups.json that is not there is refused" },
})

cases.one("f3", "a branch that exists is not overwritten, and nothing else is made", function()
  local dir = session("collision", { A, B })
  place.sh(dir, "git branch apsis/test-split/1-optimize-file-a-txt")
  local split = place.sh(dir, "apsis split")
  return { split.code, split.err:find("already", 1, true) ~= nil, #branches(dir) }
end, { 3, true, 1 })

cases.one("f5", "with a detached HEAD nothing is written to the user's tree", function()
  local dir = session("detached", { A })
  place.sh(dir, "git checkout -q --detach")
  local apply = place.sh(dir, "apsis apply")
  return { apply.code, apply.err:find("detached", 1, true) ~= nil, git(dir, "status --porcelain") }
end, { 3, true, "" })

cases.one("f6", "on the trunk", function()
  local dir = session("trunk", { A })
  return place.sh(dir, "apsis split").code == 0 and "done" or "refused"
end, "done", "refused")

cases.one("f7", "two groups: two branches from the merge base, a commit each, none has the other's change", function()
  local dir = session("two", { A, B })
  local split = place.sh(dir, "apsis split")
  local found = { split.code, branches(dir), changed(dir) }
  for index, branch in ipairs(found[2]) do
    found[3 + index] = { git(dir, "rev-list --count main.." .. branch), git(dir, "merge-base main " .. branch)
      == git(dir, "rev-parse main"), git(dir, "show " .. branch .. ":file_a.txt"), git(dir, "show " .. branch .. ":file_b.txt") }
  end
  return found
end, { 0, { "apsis/test-split/1-optimize-file-a-txt", "apsis/test-split/2-optimize-file-b-txt" },
  { { "file_a.txt" }, { "file_b.txt" } }, { "1", true, "5", "0" }, { "1", true, "0", "6" } })

cases.one("f8", "files of the session below a folder are in no branch", function()
  local dir = session("nested", { A }, { below = "libs/polaris" })
  local split = place.sh(dir .. "/libs/polaris", "apsis split")
  return { split.code, changed(dir), fs.stat(dir .. "/libs/polaris/logs/results.jsonl") ~= nil }
end, { 0, { { "libs/polaris/file_a.txt" } }, true })

cases.one("f9", "nor is the session's own folder, also where git does not ignore it", function()
  local dir = session("own_folder", { A })
  place.sh(dir, "echo > .gitignore && git commit -qam nothing-ignored && apsis run --quiet --iterations 0")
  local split = place.sh(dir, "apsis split && apsis apply")
  return { split.code, changed(dir), lines(git(dir, "diff --name-only HEAD~1 HEAD")) }
end, { 0, { { "file_a.txt" } }, { "file_a.txt" } })

cases.one("f10", "a result that does not hold: what became of the branches", function()
  local flag = place.base() .. "/now_it_fails"
  local dir = session("fails", { A, B }, { evaluate = "test ! -e " .. flag .. " || exit 1\n" })
  assert(fs.write(flag, ""))
  local split = place.sh(dir, "apsis split")
  assert(fs.remove(flag))
  return { split.code ~= 0, #branches(dir) > 0 and "left" or "none made", git(dir, "symbolic-ref --short HEAD") }
end, { true, "none made", "main" }, { true, "left", "main" })

-- The second branch cannot be written.
local function stopped(name)
  local dir = session(name, { A, B })
  place.sh(dir, "echo dirty >file_c.txt && mkdir -p .git/refs/heads/apsis/test-split && "
    .. "touch .git/refs/heads/apsis/test-split/2-optimize-file-b-txt.lock")
  return dir, place.sh(dir, "apsis split").code
end

cases.one("f11", "after a failure half-way, uncommitted changes are there", function()
  local dir, code = stopped "dirty_failure"
  return { code, git(dir, "symbolic-ref --short HEAD"), fs.read(dir .. "/file_c.txt"), git(dir, "stash list") }
end, { 3, "main", "dirty\n", "" })

cases.one("f12", "a group of which nothing is left has no branch", function()
  local dir = session("empty", { A, C, { ["file_b.txt"] = "9\n", ["file_c.txt"] = "0\n" } })
  local split = place.sh(dir, "apsis split")
  return { split.code, changed(dir) }
end, { 0, { { "file_a.txt" }, { "file_b.txt" } } })

cases.one("f13", "three groups: each has its own file, and together they are the result", function()
  local dir = session("three", { A, B, C })
  local split = place.sh(dir, "apsis split")
  local merged = place.sh(dir, "git checkout -q --detach && git merge -q --no-edit $(git for-each-ref --format='%(refname)' "
    .. "refs/heads/apsis/test-split/) >/dev/null && git diff --stat HEAD refs/apsis/test/c0003")
  return { split.code, changed(dir), merged.code, merged.out }
end, { 0, { { "file_a.txt" }, { "file_b.txt" }, { "file_c.txt" } }, 0, "" })

cases.one("f14", "journal, runs and program are in no branch", function()
  local dir = session("artifacts", { A, B })
  local split, found = place.sh(dir, "apsis split"), {}
  for _, branch in ipairs(branches(dir)) do
    found[#found + 1] = place.sh(dir, "git ls-tree -r --name-only " .. branch .. " | grep -E '^(logs|runs|.apsis)/'").out
  end
  return { split.code, found }
end, { 0, { "", "" } })

cases.one("f15", "two groups that share a file", function()
  local dir = session("overlap", { A, { ["file_a.txt"] = "9\n" } })
  local split = place.sh(dir, "apsis split")
  return { split.code == 0 and "done" or "refused", changed(dir) }
end, { "done", { { "file_a.txt" } } }, { "refused", {} })

cases.one("f16", "a failure half-way leaves no branch, and the user where he was", function()
  local dir, code = stopped "rollback"
  return { code, #branches(dir), git(dir, "symbolic-ref --short HEAD") }
end, { 3, 0, "main" })

cases.one("f17", "the report has title, branch and value, and is in no file", function()
  local dir = session("summary", { A })
  local split = place.sh(dir, "apsis split")
  return { split.out:find("Optimize file_a.txt", 1, true) ~= nil, split.out:find("apsis/test-split/1-optimize", 1, true) ~= nil,
    split.out:match "together +(%d+)", git(dir, "status --porcelain") }
end, { true, true, "5", "" })

cases.one("f18", "a dirty tree", function()
  local dir = session("dirty", { A })
  place.sh(dir, "echo new >untracked.txt && echo dirty >file_c.txt")
  local split = place.sh(dir, "apsis split")
  return { split.code, (split.out .. split.err):find "stash" and "stashed" or "as it was", fs.read(dir .. "/file_c.txt"),
    fs.read(dir .. "/untracked.txt") }
end, { 0, "as it was", "dirty\n", "new\n" }, { 0, "stashed", "dirty\n", "new\n" })

cases.one("f19", "one group has all changes", function()
  local dir = session("single", { { ["file_a.txt"] = "5\n", ["file_b.txt"] = "6\n" } })
  local split = place.sh(dir, "apsis split --json")
  return { split.code, #json.decode(split.out).parts, changed(dir) }
end, { 0, 1, { { "file_a.txt", "file_b.txt" } } })

cases.done "pi-finalize"
