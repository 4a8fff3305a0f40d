-- scope: which changes of a candidate may be committed, which are dropped silently, which are violations and why.
local tap = require "tap"
local scope = require "apsis.live.scope"

local rules = {
  { path = "packing.lua", mode = "writable" },
  { path = "src", mode = "writable" },
  { path = "lib/**", mode = "writable" },
  { path = "*.cfg", mode = "writable" },
  { path = "src/fixed.c", mode = "read_only" },
  { path = "src/secret/", mode = "hidden" },
  { path = "src/secret/also.c", mode = "writable" },
  { path = "out/**", mode = "generated" },
  { path = "runs/**", mode = "generated" },
  { path = "out/kept.txt", mode = "read_only" },
  { path = "evaluate.lua", mode = "hidden" },
}
local s = scope.new(rules)

local function change(path, more)
  local made = { path = path, kind = "modified", mode = "100644", size = 10 }
  for key, value in pairs(more or {}) do made[key] = value end
  return made
end

local function link(path, target)
  return change(path, { kind = "added", mode = "120000", target = target })
end

-- "keep", "drop", or the reason of the violation.
local function judged(one, options, with)
  local kept, violations = (with or s):judge({ one }, options)
  if #kept == 1 then
    if kept[1] ~= one then error("not the change as it came") end
    return "keep"
  end
  return violations[1] and violations[1].reason or "drop"
end

local function table_of(cases)
  for _, case in ipairs(cases) do
    local got = judged(case[1], case[3])
    if case[2] == "keep" or case[2] == "drop" then
      tap.equal(got, case[2], case[1].path)
    else
      tap.matches(got, case[2], case[1].path)
    end
  end
end

tap.test("a path's mode: exact, directory, dir/**, globs that cross '/'; hidden > read_only > generated > writable",
  function()
  for path, mode in pairs {
    ["packing.lua"] = "writable", ["packing.lua.bak"] = "read_only", ["src/a.c"] = "writable",
      ["src/deep/er/a.c"] = "writable",
    ["srcs/a.c"] = "read_only", ["src/fixed.c"] = "read_only", ["src/secret/a.c"] = "hidden",
    ["src/secret/also.c"] = "hidden", ["lib/a"] = "writable", ["lib/a/b"] = "writable", ["lib"] = "writable",
    ["libx/a"] = "read_only", ["x.cfg"] = "writable", ["deep/x.cfg"] = "writable", [".x.cfg"] = "writable",
    ["out/a"] = "generated", ["out/kept.txt"] = "read_only", ["evaluate.lua"] = "hidden", ["README.md"] = "read_only",
  } do
    tap.equal(s:mode(path), mode, path)
  end
  tap.equal({ s:mode("README.md") }, { "read_only", false })
  tap.equal({ s:mode("src/fixed.c") }, { "read_only", true })
end)

tap.test("'.' and '**' are everything; a name with brackets stands for itself too", function()
  tap.equal(scope.new({ { path = ".", mode = "writable" } }):mode("any/where"), "writable")
  tap.equal(scope.new({ { path = "./**", mode = "writable" } }):mode("top"), "writable")
  tap.equal(scope.new({ { path = "a[1].txt", mode = "writable" } }):mode("a[1].txt"), "writable")
  tap.equal(scope.new({ { path = "a[1].txt", mode = "writable" } }):mode("a1.txt"), "writable")
  tap.raises("no such mode", scope.new, { { path = "a", mode = "readonly" } })
end)

tap.test("hidden paths are found below the project's prefix, as they were given", function()
  local entries = {
    { path = "evaluate.lua" }, { path = "sub/evaluate.lua" }, { path = "sub/packing.lua" },
      { path = "sub/src/secret/x" },
    { path = "subx/evaluate.lua" },
  }
  tap.equal(s:hidden_paths(entries, "sub"), { "sub/evaluate.lua", "sub/src/secret/x" })
  tap.equal(s:hidden_paths(entries), { "evaluate.lua" })
  tap.equal(s:paths(entries, "writable", "sub/"), { "sub/packing.lua" })
end)

tap.test("writable paths may be changed, created and deleted; others not; generated ones are dropped", function()
  table_of {
    { change "packing.lua", "keep" },
    { change("src/new.c", { kind = "added" }), "keep" },
    { change("src/old.c", { kind = "deleted", mode = nil, size = nil }), "keep" },
    { change("src/old.c", { kind = "mode", mode = "100755" }), "keep" },
    { change "src/fixed.c", "^src/fixed.c was changed; it is read_only$" },
    { change("src/fixed.c", { kind = "mode", mode = "100755" }), "given another mode; it is read_only" },
    { change("src/fixed.c", { kind = "deleted" }), "was deleted; it is read_only" },
    { change("README.md", { kind = "added" }), "^README.md was created; no rule of the manifest's files names it" },
    { change("evaluate.lua", { kind = "added", hidden = true }), "^evaluate.lua was created; it is hidden$" },
    { change("src/secret/also.c"), "it is hidden" },
    { change("src/made.c", { kind = "added", hidden = true }), "it is hidden" },
    { change("out/a.o", { kind = "added" }), "drop" },
    { change("out/pipe", { kind = "added", mode = "other" }), "drop" },
    { change "out/kept.txt", "read_only" },
  }
end)

tap.test("the project's own files are never writable, whatever a glob says", function()
  local all = scope.new({ { path = "**", mode = "writable" } })
  for _, path in ipairs { "manifest.yaml", "program.md", "logs/results.jsonl", "runs/0001/x", ".apsis/lock" } do
    tap.matches(judged(change(path), {}, all), "was changed; ", path)
  end
  tap.equal(judged(change "sub/program.md", {}, all), "keep")
  tap.equal(judged(change "program.md", {},
    scope.new({ { path = "**", mode = "writable" } }, { program = "goal.md" })), "keep")
  tap.matches(judged(change "goal.md", {},
    scope.new({ { path = "**", mode = "writable" } }, { program = "./goal.md" })), "never")
  tap.matches(judged(change "manifest.yaml", {}, scope.new({ { path = "**", mode = "generated" } })), "never")
  tap.equal(judged(change("runs/latest/results.json", { kind = "added" })), "drop")
  tap.matches(judged(change("logs/x", { kind = "added" })), "apsis's own")
end)

tap.test("whatever git itself reads is a violation at any depth, in any case", function()
  local all = scope.new({ { path = "**", mode = "writable" } })
  for _, path in ipairs { ".git", ".gitattributes", "src/.gitmodules", "a/b/.gitignore", ".git/config",
    "x/.GIT/hooks/a", "git~1" } do
    local reason = judged(change(path, { kind = "added" }), { ignored = function() return true end }, all)
    tap.matches(reason, "may not touch %.git", path)
  end
  tap.equal(judged(change "digit.txt", {}, all), "keep")
  tap.equal(judged(change(".git", { kind = "added", mode = "other" }), { own_git = true }), "drop")
  tap.matches(judged(change("src/.git", { kind = "added", mode = "other" }), { own_git = true }), "may not touch")
  tap.equal(judged(change(".git", { kind = "added", mode = "other" }), { own_git = true, prefix = "sub" }), "drop")
end)

tap.test("symlinks may point inside the tree only", function()
  table_of {
    { link("src/l", "a.c"), "keep" },
    { link("src/l", "../lib/b"), "keep" },
    { link("src/l", "../../x"), "^src/l is a symlink out of the tree %(to %.%./%.%./x%)$" },
    { link("src/l", "/etc/passwd"), "out of the tree" },
    { link("src/deep/l", "../../../x"), "out of the tree" },
    { link("src/deep/l", "./.././../README.md"), "keep" },
    { link("src/l", "deep/../../../x"), "%.%." },
    { link("src/l", "d/../x"), "'%.%.' after a name" },
    { link("src/l", "../.git/config"), "git's own files" },
    { link("src/l", ""), "cannot be read" },
    { link("src/l", nil), "cannot be read" },
  }
end)

tap.test("a link in a project below the root may reach the repository, not beyond it", function()
  tap.equal(judged(link("sub/src/l", "../../shared/a"), { prefix = "sub" }), "keep")
  tap.matches(judged(link("sub/src/l", "../../../a"), { prefix = "sub" }), "out of the tree")
end)

tap.test("pipes, devices, submodules and files that are too large are violations", function()
  table_of {
    { change("src/fifo", { kind = "added", mode = "other" }), "is not a file" },
    { change("src/sub", { kind = "added", mode = "160000" }), "is not a file" },
    { change("src/typed", { kind = "type", mode = "other" }), "is not a file" },
    { change("src/big", { size = 100 * 1024 * 1024 }), "keep" },
    { change("src/big", { size = 100 * 1024 * 1024 + 1 }), "has 100%.0 MB, above max_file_mb: 100" },
    { change("src/big", { size = 2 * 1024 * 1024 }), "above max_file_mb: 1%.5", { max_file_mb = 1.5 } },
  }
end)

tap.test("what is outside the project is a violation", function()
  local options = { prefix = "sub" }
  tap.equal(judged(change "sub/packing.lua", options), "keep")
  tap.matches(judged(change "packing.lua", options), "^packing.lua was changed; it is outside the project$")
  tap.matches(judged(change "subx/packing.lua", options), "outside the project")
  local _, violations = s:judge({ change "sub/README.md" }, options)
  tap.equal(violations[1].path, "README.md")
end)

tap.test("new ignored files that no rule names are dropped; named, changed or deleted ones are not", function()
  local asked = {}
  local options = { prefix = "sub", ignored = function(path)
    asked[#asked + 1] = path
    return path:find("__pycache__", 1, true) ~= nil
  end }
  tap.equal(judged(change("sub/x/__pycache__/a.pyc", { kind = "added" }), options), "drop")
  tap.equal(judged(change("__pycache__/a.pyc", { kind = "added" }), options), "drop")
  tap.equal(judged(change("sub/src/__pycache__/a.pyc", { kind = "added" }), options), "keep")
  tap.matches(judged(change("sub/__pycache__/a.pyc", { kind = "modified" }), options), "read_only")
  tap.matches(judged(change("sub/__pycache__/a.pyc", { kind = "deleted" }), options), "read_only")
  tap.equal(asked, { "sub/x/__pycache__/a.pyc", "__pycache__/a.pyc" })
end)

tap.test("a standing goal that may change everything may not change what defines the goals, nor what is kept of them", function()
  local all = scope.new({ { path = "**", mode = "writable" } }, { program = ".autoloop/programs/a.md", elsewhere = true })
  local function verdict(path)
    local kept, violations = all:judge({ change(path) }, {})
    return #kept == 1 and "keep" or violations[1].reason
  end
  for _, path in ipairs { ".autoloop/programs/a.md", ".autoloop/programs/b.md", ".autoloop/programs/b/program.md", ".autoloop/config.yaml",
    ".autoloop/programs/a/logs/results.jsonl", ".autoloop/programs/b/.apsis/lock", ".autoloop/memory/a.md" } do
    tap.matches(verdict(path), "never writable")
  end
  for _, path in ipairs { "logs/a", "runs/a", ".autoloop/programs/a/code/x.py", ".autoloop/strategies/x.md", "a/.autoloop/config.yaml" } do
    tap.equal(verdict(path), "keep")
  end
end)

tap.test("a path whose part is no name is never let through, whatever a rule says", function()
  local all = scope.new { { path = ".", mode = "writable" } }
  for _, path in ipairs { "../a", "a/../b", "a/..", "./a", "a//b", "a/", "/etc/passwd", "" } do
    local kept, violations = all:judge { change(path) }
    tap.equal(#kept, 0, path)
    tap.matches(violations[1].reason, "no path of a file inside the project")
  end
  tap.equal(#all:judge { change "..a/b../.c/..." }, 1)
end)

tap.test("names that are not plain text are shown escaped", function()
  local _, violations = s:judge({ change "a\nb", change "c\xff\27[2J", change "gr\u{FC}n" }, {})
  tap.equal(violations[1].path, "a\\nb")
  tap.equal(violations[2].path, "c\\xff\\x1b[2J")
  tap.equal(violations[3].path, "gr\u{FC}n")
  tap.matches(violations[1].reason, "^a\\nb was changed; ")
  tap.equal(violations[1].reason:find("%c"), nil)
end)

tap.test("all changes are judged, in their order; the summary names the first and counts the rest", function()
  local changes = { change "src/1.c", change "r1", change "src/2.c", change "r2", change "r3", change "r4",
    change "out/x" }
  local kept, violations = s:judge(changes)
  tap.equal({ #kept, kept[1].path, kept[2].path }, { 2, "src/1.c", "src/2.c" })
  tap.equal(#violations, 4)
  tap.matches(scope.summary(violations, 2), "^r1 was changed; .*%. r2 was changed; .*%. And 2 more$")
  tap.equal(scope.summary({}), "")
  tap.equal({ s:judge({}) }, { {}, {} })
end)

tap.done()
