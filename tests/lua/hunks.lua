-- hunks: patches taken apart, and hunks applied and taken back, in texts of every line end; against patches that git itself made.
local fs = require "apsis.fs"
local git = require "apsis.git"
local hunks = require "apsis.hunks"
local random = require "apsis.random"
local tap = require "tap"
local test, equal, matches, raises = tap.test, tap.equal, tap.matches, tap.raises

local SANITIZED = os.getenv "APSIS_SANITIZED"

local function patch_of(head, ...)
  return table.concat({ "diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n" .. head, ... }, "\n") .. "\n"
end

test("a file's names, modes and kind are read from its head", function()
  local files = assert(hunks.parse(table.concat({
    "diff --git a/gone b/gone", "deleted file mode 100755", "index 1..0",
    'diff --git "a/t\\tab\\303\\251\\"q" "b/t\\tab\\303\\251\\"q"', "old mode 100644", "new mode 100755",
    "diff --git a/old name b/new name", "similarity index 100%", "rename from old name", "rename to new name",
    "diff --git a/picture b/picture", "new file mode 100644", "index 0..1", "Binary files /dev/null and b/picture differ",
    "diff --git a/a b/b c b/a b/b c", "new file mode 120000", "index 0..1", "--- /dev/null", "+++ b/a b/b c", "@@ -0,0 +1 @@ main()", "+x",
    "\\ No newline at end of file" }, "\n") .. "\n"))
  local seen = {}
  for index, file in ipairs(files) do
    seen[index] = { file.status, file.path, file.old_path or "-", file.old_mode or "-", file.mode or "-", file.binary, #file.hunks }
  end
  equal(seen, {
    { "deleted", "gone", "-", "100755", "-", false, 0 },
    { "modified", 't\tab\195\169"q', "-", "100644", "100755", false, 0 },
    { "renamed", "new name", "old name", "-", "-", false, 0 },
    { "added", "picture", "-", "-", "100644", true, 0 },
    { "added", "a b/b c", "-", "-", "120000", false, 1 },
  })
  local hunk = files[5].hunks[1]
  equal({ hunk.new, hunk.old, hunk.section, hunk.added, hunk.deleted }, { { "x" }, {}, "main()", 1, 0 })
  equal(files[5].head .. hunk.text, "diff --git a/a b/b c b/a b/b c\nnew file mode 120000\nindex 0..1\n--- /dev/null\n+++ b/a b/b c\n"
    .. "@@ -0,0 +1 @@ main()\n+x\n\\ No newline at end of file\n")
  equal(hunks.parse "", {})
end)

test("lines that look like the head of a file or of a hunk are lines where a hunk has them", function()
  local files = assert(hunks.parse(patch_of("@@ -1,3 +1,3 @@", "--- a/x", "+++ b/x", " diff --git a/x b/x", " @@ -1 +1 @@")))
  equal(#files, 1)
  equal(files[1].hunks[1].old, { "-- a/x\n", "diff --git a/x b/x\n", "@@ -1 +1 @@\n" })
  equal(files[1].path, "f")
end)

test("what is no patch, or is cut off, is refused with its line", function()
  local cases = {
    ["prose"] = { "hello\n", "^line 1: not the beginning" },
    ["a hunk too short"] = { patch_of("@@ -1,3 +1,3 @@", " a", "-b", "+c"), "a hunk ends before its last line" },
    ["a hunk with another's lines"] = { patch_of("@@ -1,2 +1 @@", " a", " b"), "more lines than it says" },
    ["a head that is none"] = { patch_of("@@ nonsense @@", " a"), "no hunk's head" },
    ["a head of no line"] = { patch_of("@@ -99999999999999999999 +1 @@", "-a", "+b"), "^line %d+: no line of a text: 9+$" },
    ["a line end that is missing twice"] = { patch_of("@@ -1,2 +1 @@", "-a", "\\ No newline", "\\ No newline", "-b", "+c"),
      "a hunk ends before" },
    ["a line of nothing"] = { patch_of("@@ -1 +0,0 @@", "-", "\\ No newline"), "an empty line without a line end" },
    ["a line after the last"] = { patch_of("@@ -1,2 +1 @@", "-a", "\\ No newline", "-b", "+c"), "a line follows one that has no line end" },
    ["text after a hunk"] = { patch_of("@@ -1 +1 @@", "-a", "+b", "rubbish"), "^line %d+: not the beginning" },
    ["no name"] = { "diff --git a/x b/y\nindex 1..2\n", "without a name" },
    ["quotes that do not end"] = { 'diff --git "a/x\nindex 1..2\n', "without a name" },
  }
  for name, case in pairs(cases) do
    local files, message, code = hunks.parse(case[1])
    equal(files, nil, name)
    equal(code, "EMALFORMED", name)
    matches(message, case[2], name)
  end
  raises("must be a string", hunks.parse, 1)
end)

test("hunks that begin at one line are applied in any order", function()
  local hunk = assert(hunks.parse(patch_of("@@ -1,0 +2 @@", "+b", "@@ -2 +2,0 @@", "-c", "@@ -3,0 +4 @@", "+e")))[1].hunks
  for _, list in ipairs { hunk, { hunk[2], hunk[3], hunk[1] }, { hunk[3], hunk[2], hunk[1] } } do
    equal(hunks.apply("a\nc\nd\n", list), "a\nb\nd\ne\n")
    equal(hunks.revert("a\nb\nd\ne\n", list), "a\nc\nd\n")
  end
end)

test("a hunk is applied and taken back at its lines alone: what else stands there is refused", function()
  local hunk = assert(hunks.parse(patch_of("@@ -2 +2 @@", "-b", "+B")))[1].hunks
  equal(hunks.apply("a\nb\nc\n", hunk), "a\nB\nc\n")
  equal(hunks.revert("a\nB\nc\n", hunk), "a\nb\nc\n")
  for _, text in ipairs { "a\nx\nb\n", "b\n", "", "a\nb\r\nc\n", "a\nb" } do
    local made, message, code = hunks.apply(text, hunk)
    equal({ made, code }, { nil, "ENOMATCH" }, text)
    matches(message, "^line 2: ", text)
  end
  local _, _, code = hunks.apply("a\nb\nc\n", { hunk[1], hunk[1] })
  equal(code, "ENOMATCH", "twice the same")
  local far = assert(hunks.parse(patch_of("@@ -9,0 +10 @@", "+z")))[1].hunks
  equal(select(3, hunks.apply("a\n", far)), "ENOMATCH")
end)

test("hunks without lines on a side stand after the line they name", function()
  local added = assert(hunks.parse(patch_of("@@ -1,0 +2,2 @@", "+x", "+y")))[1].hunks
  equal(hunks.apply("a\nb\n", added), "a\nx\ny\nb\n")
  equal(hunks.revert("a\nx\ny\nb\n", added), "a\nb\n")
  local first = assert(hunks.parse(patch_of("@@ -0,0 +1 @@", "+x")))[1].hunks
  equal(hunks.apply("", first), "x\n")
  equal(hunks.revert("x\n", first), "")
end)

local ENDS = { "\n", "\r\n" }

-- A text of short lines, many alike, perhaps without a line end at its end.
local function random_text(rng)
  local lines = {}
  for index = 1, rng:integer(0, 40) do lines[index] = ("%d"):format(rng:integer(1, 30)) .. ENDS[rng:integer(1, 2)] end
  local text = table.concat(lines)
  return rng:integer(1, 3) == 1 and text:gsub("\r?\n$", "") or text
end

local function changed(rng, text)
  local lines = {}
  for line in text:gmatch "[^\n]*\n?" do
    local die = rng:integer(1, 12)
    if die == 1 then lines[#lines + 1] = "new\n" .. line elseif die == 2 then lines[#lines + 1] = line:gsub("%d+", "changed")
    elseif die > 3 then lines[#lines + 1] = line end
  end
  local made = table.concat(lines)
  return rng:integer(1, 4) == 1 and made:gsub("\n$", "") or made
end

test("of git's own patch any hunks can be taken back, and what stays is as if the others had been applied", function()
  local dir = assert(fs.tempdir "apsis-test-hunks-")
  assert(os.execute(("cd '%s' && git init -q . && git -c user.name=t -c user.email=t@l commit -q --allow-empty -m s"):format(dir)))
  local repo <close> = assert(git.open(dir))
  local rng = random.stream(1, "hunks")
  local several = 0
  for _ = 1, SANITIZED and 20 or 200 do
    local old = random_text(rng)
    local new = changed(rng, old)
    local a, b = assert(repo:edit_tree("HEAD", { f = old })), assert(repo:edit_tree("HEAD", { f = new }))
    local files = assert(hunks.parse(assert(repo:diff(a, b, { context = rng:integer(0, 3) }))))
    local all = files[1] and files[1].hunks or {}
    equal(hunks.apply(old, all), new)
    equal(hunks.revert(new, all), old)
    local kept, gone = {}, {}
    for _, hunk in ipairs(all) do table.insert(rng:integer(1, 2) == 1 and kept or gone, 1, hunk) end
    equal(assert(hunks.revert(new, gone)), assert(hunks.apply(old, kept)))
    if #kept > 0 and #gone > 0 then several = several + 1 end
  end
  assert(several > 5, "patches of several hunks")
  assert(fs.remove_tree(dir))
end)

tap.done()
