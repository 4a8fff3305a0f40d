-- edit: a model's answer as edits, or why not. Cases are tables; answers are written with @ for the signs' lines: see block().
local edit = require "apsis.edit"
local editline = require "apsis.edit.line"
local tap = require "tap"
local test, equal, matches = tap.test, tap.equal, tap.matches

local function block(search, replace, signs)
  signs = signs or 7
  return ("%s SEARCH\n%s%s\n%s%s REPLACE\n"):format(("<"):rep(signs), search, ("="):rep(signs), replace, (">"):rep(signs))
end

local function crlf(text) return (text:gsub("\n", "\r\n")) end

local abc = "one\ntwo\nthree\n"
local one = { ["a.lua"] = abc }
local two = { ["a.lua"] = abc, ["src/b.lua"] = "x\ny\nz\n" }
local change = block("two\n", "2\n")
local changed = { ["a.lua"] = "one\n2\nthree\n" }

-- Each: answer, files, edits.
local function accepts(cases)
  for name, case in pairs(cases) do
    local edits, message = edit.parse(case[1], case[2], case[4])
    equal(edits, case[3], name .. (message and " (" .. message .. ")" or ""))
  end
end

-- Each: answer, files, code, a pattern of the message, options.
local function refuses(cases)
  for name, case in pairs(cases) do
    local edits, message, code = edit.parse(case[1], case[2], case[5])
    equal(edits, nil, name)
    equal(code, case[3], name .. " (" .. tostring(message) .. ")")
    matches(message, case[4], name)
    equal(message:find("%c"), nil, name .. ": a message is one line")
  end
end

test("a block changes its file, wherever its path stands", function()
  local cases = {}
  for _, before in ipairs { "a.lua", "`a.lua`", "**a.lua**", "**`a.lua`**:", "**a.lua:**", "### a.lua", "## `a.lua`", "a.lua:", "./a.lua",
    "- a.lua", "1. `a.lua`:", "File: a.lua", "**File:** `a.lua`", "Path: `a.lua`", "# a.lua", "-- a.lua", "// a.lua", '"a.lua"',
    "a.lua (changed)", "  a.lua  ", "a.lua\n", "a.lua\n\n" } do
    cases["before: " .. before] = { "Here:\n" .. before .. "\n" .. change .. "Done.\n", two, changed }
    cases["before the fence: " .. before] = { before .. "\n```lua\n" .. change .. "```\nDone.\n", two, changed }
    cases["in the fence: " .. before] = { "```lua\n" .. before .. "\n" .. change .. "```\n", two, changed }
  end
  for _, info in ipairs { "lua a.lua", "a.lua", "lua:a.lua", 'lua title="a.lua"', "lua file=a.lua", "lua `a.lua`", " ./a.lua" } do
    cases["info: " .. info] = { "So:\n```" .. info .. "\n" .. change .. "```\n", two, changed }
  end
  cases["after SEARCH"] = { (change:gsub("SEARCH", "SEARCH a.lua")), two, changed }
  accepts(cases)
end)

test("a block without a path belongs to the only file, or to the only one that has its SEARCH", function()
  accepts {
    only = { change, one, changed },
    found = { "I change y:\n" .. block("y\n", "w\n"), two, { ["src/b.lua"] = "x\nw\nz\n" } },
    ["in prose, with a stop"] = { "In a.lua, the second line.\n" .. change, two, changed },
  }
  refuses {
    both = { block("y\n", "w\n"), { a = "y\n", b = "y\n" }, "EAMBIGUOUS", "in a and in b" },
    neither = { block("q\n", "w\n"), two, "ENOMATCH", "none of the files %(a.lua, src/b.lua%).*`q`" },
  }
end)

test("several blocks apply in order, to several files", function()
  accepts {
    ["one file"] = { "a.lua\n" .. change .. block("2\n", "22\n") .. "\n\n" .. block("three\n", ""), two, { ["a.lua"] = "one\n22\n" } },
    ["two files"] = { "a.lua\n" .. change .. "\nsrc/b.lua\n" .. block("x\n", "v\n"), two,
      { ["a.lua"] = "one\n2\nthree\n", ["src/b.lua"] = "v\ny\nz\n" } },
    ["one fence"] = { "a.lua\n```\n" .. change .. "# and\n" .. block("one\n", "1\n") .. "```\n", { ["a.lua"] = abc, b = abc },
      { ["a.lua"] = "1\n2\nthree\n" } },
    ["fence after fence, one path"] = { "a.lua\n```\n" .. change .. "```\n\n```\n" .. block("one\n", "1\n") .. "```\n",
      { ["a.lua"] = abc, b = abc }, { ["a.lua"] = "1\n2\nthree\n" } },
  }
  refuses { ["one that fails fails all"] = { change .. block("absent\n", "y\n"), one, "ENOMATCH", "line 6 of the answer: a.lua" } }
end)

test("markers of 5 to 9 signs, indented ones, and longer ones around text that has shorter", function()
  local cases = {}
  for signs = 5, 9 do cases[signs .. " signs"] = { block("two\n", "2\n", signs), one, changed } end
  cases["not all alike"] = { "<<<<<<< SEARCH\ntwo\n======\n2\n>>>>>>>> REPLACE\n", one, changed }
  cases["end shorter"] = { "<<<<<<< SEARCH\ntwo\n=======\n2\n>>>>>> REPLACE\n", one, changed }
  cases["end shorter, twice"] = { "<<<<<<< SEARCH\ntwo\n=======\n2\n>>>>>> REPLACE\n<<<<<<< SEARCH\none\n=======\n1\n>>>>>> REPLACE\n", one,
    { ["a.lua"] = "1\n2\nthree\n" } }
  cases["no blank"] = { "<<<<<<<SEARCH\ntwo\n=======\n2\n>>>>>>>REPLACE", one, changed }
  cases["blanks at their ends"] = { "<<<<<<< SEARCH  \ntwo\n======= \n2\n>>>>>>> REPLACE\t\n", one, changed }
  cases["longer around shorter"] = { block(block("a\n", "b\n"), "c\n", 9), { a = block("a\n", "b\n") .. "z\n" }, { a = "c\nz\n" } }
  cases["a heading's line in a longer block"] = { block("T\n=======\n", "U\n=======\n", 8), { a = "T\n=======\n" }, { a = "U\n=======\n" } }
  accepts(cases)
  refuses {
    ["two dividers"] = { block("T\n=======\n", "U\n"), { a = "T\n=======\n" }, "EMALFORMED",
      "two dividers, at lines 3 and 4.*longer markers" },
    ["4 signs"] = { block("two\n", "2\n", 4), one, "ENOEDIT", "no edit" },
  }
end)

test("an empty SEARCH makes a new file, and only where there is none", function()
  accepts {
    new = { "src/c.lua\n" .. block("", "new\n"), two, { ["src/c.lua"] = "new\n" } },
    ["then changed"] = { "c.lua\n" .. block("", "p\nq\n") .. block("q\n", "r\n"), two, { ["c.lua"] = "p\nr\n" } },
    ["an empty file"] = { block("", "new\n"), { a = "" }, { a = "new\n" } },
    ["allowed by writable"] = { "c.lua\n" .. block("", "p\n"), two, { ["c.lua"] = "p\n" },
      { writable = function(path) return path == "c.lua" end } },
  }
  refuses {
    exists = { "a.lua\n" .. block("", "x\n"), two, "EMALFORMED", "a.lua: an empty SEARCH is for new files" },
    ["exists, blank lines"] = { block("\n  \n", "x\n"), one, "EMALFORMED", "an empty SEARCH is for new files" },
    ["no path"] = { block("", "x\n"), two, "EPATH", "write its path" },
    ["not allowed"] = { "c.lua\n" .. block("", "p\n"), two, "EPATH", "c.lua: is no file that may be edited",
      { writable = function() return false end } },
    ["below a file"] = { "a.lua/c.lua\n" .. block("", "p\n"), two, "EPATH", "a.lua is a file" },
    ["a folder"] = { "`./src/`\n" .. block("", "p\n"), two, "EPATH", "src: is a folder" },
  }
end)

test("whole files in fences with a path replace and create", function()
  accepts {
    replaces = { "a.lua\n```lua\nnew\n```\n", two, { ["a.lua"] = "new\n" } },
    creates = { "### lib/c.lua\n```lua\nnew\n```\n", two, { ["lib/c.lua"] = "new\n" } },
    info = { "```lua a.lua\nnew\n```", two, { ["a.lua"] = "new\n" } },
    both = { "a.lua\n```\np\n```\nsrc/b.lua\n~~~\nq\n~~~\n", two, { ["a.lua"] = "p\n", ["src/b.lua"] = "q\n" } },
    ["beside a block of another file"] = { "a.lua\n" .. change .. "src/b.lua\n```lua\nq\n```\n", two,
      { ["a.lua"] = "one\n2\nthree\n", ["src/b.lua"] = "q\n" } },
    ["an empty new file"] = { "lib/__init__.py\n```python\n```\n", two, { ["lib/__init__.py"] = "" } },
    ["a longer fence"] = { "r.md\n````md\n```\nx\n```\n````\n", two, { ["r.md"] = "```\nx\n```\n" } },
    ["tildes"] = { "r.md\n~~~\n```\nx\n```\n~~~\n", two, { ["r.md"] = "```\nx\n```\n" } },
    ["a nested fence with an info"] = { "r.md\n```md\nA\n```lua\nx\n```\nB\n```\n", two, { ["r.md"] = "A\n```lua\nx\n```\nB\n" } },
    ["commands beside"] = { "a.lua\n```lua\nnew\n```\nRun it:\n```bash\nlua a.lua\n```\n", two, { ["a.lua"] = "new\n" } },
    ["commands under the path"] = { "a.lua:\n```bash\nlua a.lua\n```\n" .. change, one, changed },
    ["text that has markers, of a file that has them"] = { "a.md\n```md\nSee:\n" .. block("p\n", "q\n") .. "more\n```\n",
      { ["a.md"] = "See:\n" .. block("p\n", "q\n") }, { ["a.md"] = "See:\n" .. block("p\n", "q\n") .. "more\n" } },
  }
  refuses {
    ["a fence cut off"] = { "a.lua\n```lua\nnew\n", two, "EMALFORMED", "line 2 of the answer: a.lua: the fence is cut off" },
    ["an empty fence"] = { "a.lua\n```lua\n\n```\n", two, "EMALFORMED", "the fence is empty" },
    ["given twice"] = { "a.lua\n```\np\n```\na.lua\n```\nq\n```\n", two, "EAMBIGUOUS", "twice" },
    ["given whole and edited"] = { "a.lua\n```\np\n```\na.lua\n" .. block("p\n", "q\n"), two, "EAMBIGUOUS", "whole" },
    ["edited without a path and given whole"] = { change .. "\na.lua\n```\np\n```\n", one, "EAMBIGUOUS", "whole" },
    ["bare fences in markdown"] = { "r.md\n```md\nA\n```\nx\n```\nB\n```\n", two, "EMALFORMED", "may end here or beyond line 6.*longer" },
    ["a unified diff"] = { "a.lua\n```diff\n--- a/a.lua\n+++ b/a.lua\n@@ -1 +1 @@\n-one\n+1\n```\n", two, "EMALFORMED", "unified diff" },
    ["a unified diff beside a block"] = { "src/b.lua\n" .. block("x\n", "v\n") .. "a.lua\n```diff\n-one\n+1\n```\n", two, "EMALFORMED",
      "diff" },
    ["a unified diff in a lua fence"] = { "```lua\n--- a/a.lua\n+++ b/a.lua\n@@ -1 +1 @@\n-one\n+1\n```\n", one, "EMALFORMED",
      "unified diff" },
  }
end)

test("a line that stands for what an answer leaves out is never taken for it", function()
  local long = ("a line\n"):rep(10000)
  for _, line in ipairs { "# ... (51362 more bytes) ...", "# ... (rest of the file unchanged) ...", "    # ... existing code ...",
    "// ... rest of the code ...", "/* ... remaining functions ... */", "-- \u{2026} unchanged \u{2026}", "; ... other code ...",
    "% ... same as before ...", "<!-- ... omitted ... -->", "# The rest of the file is unchanged.", "# [rest of the code stays the same]",
    "(51362 more bytes)", "# (11320 more bytes)", "# (25,362 more bytes)", "# (rest of the code)", "# [unchanged]",
    "# rest remains the same", "# --- snip ---", "# <unchanged helpers>", "# remaining helper functions here", "# etc.", "..." } do
    local wrong = { "def evolved(): return 2\n" .. line .. "\n", "a.py\n" .. block("a line\nb\n", "c\n" .. line .. "\n") }
    for index, answer in ipairs { "a.py\n```python\n" .. wrong[1] .. "```\n", "```python\n" .. wrong[1] .. "```\n", wrong[2] } do
      refuses { [line .. " " .. index] = { answer, { ["a.py"] = long .. "b\n" }, "EPART",
        "a.py: .* stands for text that the answer leaves out" } }
    end
    accepts { ["the file's own: " .. line] = { "a.py\n```python\n" .. wrong[1] .. "```\n", { ["a.py"] = line .. "\n" },
      { ["a.py"] = wrong[1] } } }
  end
  for _, line in ipairs { "# ...", "    ...", "...  # and the rest", "# remaining budget", "# place the rest",
    "# interest rates rise...", "# the existing rows come first",
    'print("... rest unchanged ...")', "# restart, then wait ...", "x = 1  # ... unchanged ..." } do
    accepts { [line] = { "a.py\n```python\n" .. line .. "\n```\n", { ["a.py"] = long }, { ["a.py"] = line .. "\n" } } }
  end
end)

test("one fence without a path is the whole of the only file", function()
  accepts {
    only = { "Here it is:\n\n```lua\nnew\n```\nEnjoy.\n", one, { ["a.lua"] = "new\n" } },
    ["commands beside"] = { "```lua\nnew\n```\nRun:\n```sh\nlua a.lua\n```\n", one, { ["a.lua"] = "new\n" } },
    ["with blocks it is prose"] = { "As it is:\n```lua\none\n```\nbecomes\n" .. change, one, changed },
  }
  refuses {
    ["options.whole"] = { "```lua\nnew\n```\n", one, "ENOEDIT", "code fence at line 1", { whole = false } },
    ["two files"] = { "```lua\nnew\n```\n", two, "ENOEDIT", "no path.*a.lua, src/b.lua" },
    ["two fences"] = { "```lua\np\n```\nor\n```lua\nq\n```\n", one, "EAMBIGUOUS", "second code fence" },
    ["only commands"] = { "Try:\n```bash\nrm -rf .\n```\n", one, "ENOEDIT", "no edit" },
    ["another language"] = { "```python\nx = 1\n```\n", one, "ENOEDIT", "no edit" },
    ["cut off"] = { "```lua\np\n", one, "EMALFORMED", "cut off" },
  }
end)

test("CRLF diffs are recognised", function()
  accepts {
    ["CRLF answer, LF file"] = { crlf("a.lua\n```lua\n" .. change .. "```\n"), two, changed },
    ["LF answer, CRLF file"] = { change, { ["a.lua"] = crlf(abc) }, { ["a.lua"] = crlf "one\n2\nthree\n" } },
    ["both"] = { crlf(change), { ["a.lua"] = crlf(abc) }, { ["a.lua"] = crlf "one\n2\nthree\n" } },
    ["more lines than before"] = { block("two\n", "2\n2.5\n"), { ["a.lua"] = crlf(abc) }, { ["a.lua"] = crlf "one\n2\n2.5\nthree\n" } },
    ["whole file"] = { "```lua\np\nq\n```\n", { ["a.lua"] = crlf(abc) }, { ["a.lua"] = "p\r\nq\r\n" } },
    ["whole file, CRLF answer"] = { crlf "```lua\np\nq\n```\n", one, { ["a.lua"] = "p\nq\n" } },
    ["mixed ends stay"] = { block("b\n", "B\n"), { f = "a\r\nb\nc\r\n" }, { f = "a\r\nB\nc\r\n" } },
    ["new file"] = { crlf("c.lua\n" .. block("", "p\nq\n")), two, { ["c.lua"] = "p\nq\n" } },
  }
end)

test("blanks at the ends of lines, and no newline at the end of the file, do not matter; indentation does", function()
  accepts {
    ["blanks in the file"] = { block("two\nthree\n", "2\nthree\n"), { f = "one\ntwo  \nthree\t\nfour\n" },
      { f = "one\n2\nthree\t\nfour\n" } },
    ["blanks in SEARCH"] = { block("two   \n", "2\n"), { f = abc }, { f = "one\n2\nthree\n" } },
    ["a blank line's blanks"] = { block("one\n\ntwo\n", "1\n\ntwo\n"), { f = "one\n    \ntwo\n" }, { f = "1\n    \ntwo\n" } },
    ["exact first"] = { block("two\n", "2\n"), { f = "two \ntwo\n" }, { f = "two \n2\n" } },
    ["no newline at the end"] = { block("three\n", "3\n"), { f = "one\nthree" }, { f = "one\n3" } },
    ["added after it"] = { block("three\n", "three\n4\n"), { f = "one\nthree" }, { f = "one\nthree\n4" } },
    ["the end deleted"] = { block("three\n", ""), { f = "one\nthree" }, { f = "one" } },
    ["all deleted"] = { block("three\n", ""), { f = "three" }, { f = "" } },
    ["whole file"] = { "```\np\n```\n", { f = "one" }, { f = "p" } },
    ["REPLACE's own blanks stay"] = { block("two\n", "2  \n"), { f = abc }, { f = "one\n2  \nthree\n" } },
    ["magic characters"] = { block("f(%d+) [x]*\n", "%1 %%\n"), { f = "f(%d+) [x]*\n" }, { f = "%1 %%\n" } },
    ["NUL and bytes that are no text"] = { block("a\0b\n", "\255\n"), { f = "a\0b\n" }, { f = "\255\n" } },
  }
  refuses {
    indentation = { block("  two\n", "2\n"), one, "ENOMATCH", "indentation differs at line 2, `two`, where SEARCH has `  two`" },
    ["part of a line"] = { block("tw\n", "2\n"), one, "ENOMATCH", "nearest is line 2, `two`" },
  }
end)

test("a diff whose SEARCH does not match is a failed proposal", function()
  local edits, message, code = edit.parse("a.lua\n" .. block("one\ntwo\nfour\n", "1\n"), two)
  equal(edits, nil)
  equal(code, "ENOMATCH")
  equal(message, "line 2 of the answer: a.lua: SEARCH is not in the file: its first 2 line(s) end at line 2, but then line 3 is "
    .. "`three` where "
    .. "SEARCH has `four`; copy the lines exactly")
  refuses {
    ["at its end"] = { block("three\nfour\n", "1\n"), one, "ENOMATCH", "the file ends there where SEARCH has `four`" },
    ["nothing alike"] = { block("local zebra = 1\n", "1\n"), { f = "()\n" }, "ENOMATCH",
      "nothing is like its first line, `local zebra = 1`" },
    ["an empty file"] = { block("x\n", "1\n"), { f = "" }, "ENOMATCH", "not in the file" },
    ["twice applied"] = { change .. change, one, "ENOMATCH", "line 6 of the answer" },
  }
end)

test("a SEARCH that is there more than once is refused, with its lines", function()
  refuses {
    twice = { block("x\n", "y\n"), { f = "x\na\nx\n" }, "EAMBIGUOUS", "2 times, at lines 1, 3" },
    overlapping = { block("x\nx\n", "y\n"), { f = "x\nx\nx\n" }, "EAMBIGUOUS", "2 times, at lines 1, 2" },
    often = { block("x\n", "y\n"), { f = ("x\n"):rep(50) }, "EAMBIGUOUS", "50 times, at lines 1, 2, 3, 4, 5, %.%.%.:" },
    ["without blanks"] = { block("x\n", "y\n"), { f = "x \nx\t\n" }, "EAMBIGUOUS", "at lines 1, 2" },
  }
end)

test("refusal prose never becomes a program", function()
  refuses {
    refusal = { "I'm sorry, but I can't help with that.", one, "ENOEDIT",
      "the answer has no edit.*begins `I'm sorry, but I can't help with that%.`" },
    ["in several lines"] = { "\n\nThe program is optimal.\nNothing to do.\n", one, "ENOEDIT", "`The program is optimal%.`" },
    empty = { "", one, "ENOEDIT", "it is empty" },
    blank = { " \n\t\n", one, "ENOEDIT", "it is empty" },
    html = { "<html><body>502 Bad Gateway</body></html>", one, "ENOEDIT", "502" },
    ["the markers named in prose"] = { "I would use <<<<<<< SEARCH and >>>>>>> REPLACE blocks, but cannot.\n", one, "ENOEDIT", "no edit" },
    code = { "one\n2\nthree\n", one, "ENOEDIT", "no edit" },
    ["with a prose fence, two files"] = { "I cannot.\n```\nsorry\n```\n", two, "ENOEDIT", "no path" },
    ["a diff without a fence"] = { "--- a/a.lua\n+++ b/a.lua\n@@ -1 +1 @@\n-one\n+1\n", one, "ENOEDIT", "no edit" },
    ["thoughts only"] = { "<think>\n" .. change .. "</think>\nI cannot.\n", one, "ENOEDIT", "I cannot" },
    ["thoughts without an end"] = { "<think>\n" .. change, one, "EMALFORMED", "cut off" },
    ["thoughts of the other name without an end"] = { "<thinking>\n" .. change, one, "EMALFORMED", "ends inside its <thinking>" },
  }
  for text, said in pairs { ["<think>\na\n</think>\n\nThe step is larger.\n"] = "The step is larger.\n", ["a\n</think>\nb\n"] = "b\n",
    ["</think>\nb"] = "b", [" <think>a</think> <thinking>b</thinking>\nc"] = "c", ["a\n</thinking>\nb"] = "b", ["a\n</think>"] = "",
    ["no end: <think>\na"] = "no end: <think>\na", ["<think>\na"] = "<think>\na", ['split("</think>")\n'] = 'split("</think>")\n',
    ["a\n<think>\nb\n</think>\n"] = "a\n<think>\nb\n</think>\n", [""] = "" } do
    equal(edit.without_thoughts(text), said, text)
  end
  accepts {
    ["after two thoughts"] = { "<think>\na</think>\n<thinking>" .. block("one\n", "draft\n") .. "</thinking>\n" .. change, one, changed },
    ["after thoughts"] = { "<think>\n" .. block("one\n", "draft\n") .. "</think>\n" .. change, one, changed },
    ["after thoughts whose beginning the server left out"] = { "hm\n" .. block("one\n", "draft\n") .. "</think>\n\n" .. change, one,
      changed },
  }
end)

test("what is said of an answer without a path asks for no form that the prompt did not ask for", function()
  for _, answer in ipairs { "```\nnew\n```\n", "```diff\n-one\n+1\n```\n", "```lua\na\n```\n```lua\nb\n```\n" } do
    local _, message = edit.parse(answer, two)
    equal(message:find("SEARCH", 1, true), nil, message)
  end
end)

test("an answer cut off anywhere is refused or complete, never half a block", function()
  local answer = "a.lua\n```lua\n" .. change .. block("three\n", "3\nlong\n") .. "```\n"
  local first, second = edit.parse("a.lua\n" .. change, two), edit.parse(answer, two)
  for length = 1, #answer do
    local edits = edit.parse(answer:sub(1, length), two)
    if edits then
      local expected = edits["a.lua"] == second["a.lua"] and second or first
      equal(edits, expected, "cut at " .. length)
    end
  end
  refuses {
    ["before the divider"] = { "<<<<<<< SEARCH\ntwo\n", one, "EMALFORMED", "line 1 of the answer is cut off: no >>>>>>> REPLACE line" },
    ["before the end"] = { "\n<<<<<<< SEARCH\ntwo\n=======\n2\n", one, "EMALFORMED", "line 2 of the answer is cut off" },
    ["the next begins"] = { "<<<<<<< SEARCH\ntwo\n=======\n2\n" .. change, one, "EMALFORMED", "line 1 of the answer is cut off" },
    ["no divider"] = { "<<<<<<< SEARCH\ntwo\n>>>>>>> REPLACE\n", one, "EMALFORMED", "no ======= line" },
    ["no SEARCH"] = { "two\n=======\n2\n>>>>>>> REPLACE\n", one, "EMALFORMED", "line 4 of the answer has REPLACE without a SEARCH" },
  }
end)

test("paths that leave the project, or are no file that may be edited, are refused", function()
  local cases = {}
  for _, path in ipairs { "/etc/passwd", "../a.lua", "src/../../a.lua", "src/../a.lua", "c.lua", "b.lua", "src/a.lua", "A.lua",
    "manifest.yaml" } do
    cases["block: " .. path] = { path .. "\n" .. change, two, "EPATH", ": " .. path:gsub("%p", "%%%0") .. ": .*" }
  end
  for _, path in ipairs { "/etc/passwd", "../a.lua", "/a.lua", "x/../a.lua" } do
    cases["whole: " .. path] = { path .. "\n```\nx\n```\n", two, "EPATH", (path:gsub("%p", "%%%0")) }
    cases["empty SEARCH: " .. path] = { path .. "\n" .. block("", "x\n"), two, "EPATH", (path:gsub("%p", "%%%0")) }
  end
  cases.near = { "src/bb.lua\n" .. block("x\n", "v\n"), two, "EPATH", 'did you mean "src/b.lua"%?; those are: a.lua, src/b.lua' }
  cases["no files at all"] = { "a.lua\n" .. change, {}, "EPATH", "those are: none" }
  refuses(cases)
  accepts { ["blanks in a known path"] = { "### my file.txt\n```\nx\n```\n", { ["my file.txt"] = "y\n", b = "" },
    { ["my file.txt"] = "x\n" } } }
end)

test("edits that change nothing are ENOCHANGE", function()
  refuses {
    block = { block("two\n", "two\n"), one, "ENOCHANGE", "changes nothing" },
    whole = { "```lua\n" .. abc .. "```\n", one, "ENOCHANGE", "changes nothing" },
    ["there and back"] = { change .. block("2\n", "two\n"), one, "ENOCHANGE", "changes nothing" },
    ["whole, no newline at the end"] = { "```\none\n```\n", { f = "one" }, "ENOCHANGE", "changes nothing" },
    ["whole, CRLF"] = { "```\n" .. abc .. "```\n", { f = crlf(abc) }, "ENOCHANGE", "changes nothing" },
  }
  accepts { ["one of two"] = { "a.lua\n" .. change .. "src/b.lua\n" .. block("x\n", "x\n"), two, changed } }
end)

local region = "-- head\n-- EVOLVE-BLOCK-START\nlocal x = 1\n-- EVOLVE-BLOCK-END\nreturn x\n"

test("a change outside an EVOLVE-BLOCK region is refused, inside it is taken", function()
  local files = { ["a.lua"] = region }
  accepts {
    block = { block("local x = 1\n", "local x = 2\nlocal y\n"), files, { ["a.lua"] = (region:gsub("= 1", "= 2\nlocal y")) } },
    whole = { "```lua\n" .. region:gsub("= 1", "= 3") .. "```\n", files, { ["a.lua"] = (region:gsub("= 1", "= 3")) } },
    emptied = { block("local x = 1\n", ""), files, { ["a.lua"] = (region:gsub("local x = 1\n", "")) } },
    ["a new file has none"] = { "c.lua\n" .. block("", region), files, { ["c.lua"] = region } },
  }
  refuses {
    outside = { block("return x\n", "return 9\n"), files, "EREGION", "a.lua: line 5, `return x`, became `return 9`; only what is between" },
    marker = { block("-- EVOLVE-BLOCK-END\n", ""), files, "EREGION", "line 4.*stay as they are" },
    ["the inside alone as a whole file"] = { "```lua\nlocal x = 7\n```\n", files, "EREGION",
      "line 1, `%-%- head`.*give a whole file with the rest as it is" },
  }
end)

-- Each: what old is, and what of the answer's whole file is not as in it; both have "= 1" in their region.
local restored = {
  { "LF", region, crlf(region) },
  { "CRLF", crlf(region), region },
  { "no newline at the end", region:sub(1, -2), region .. "\n\n" },
  { "blank lines at the end", region .. "\n \n\n", region },
  { "blanks at the ends of lines", region:gsub("head", "head  "):gsub("START", "START\t"), region:gsub("return x", "return x ") },
  { "mixed line ends", region:gsub("head\n", "head\r\n"):gsub("END\n", "END\r\n") .. region, region .. region },
}

test("outside regions an answer's file gets the file's own blanks and line ends back", function()
  for _, case in ipairs(restored) do
    local old = case[2]
    local edits, message = edit.parse("a.lua\n```\n" .. case[3]:gsub("= 1", "= 7") .. "```\n", { ["a.lua"] = old, b = "" })
    equal(message, nil, case[1])
    equal(edit.outside(old, edits["a.lua"]), nil, case[1])
    equal(edits["a.lua"]:gsub("\r", ""), old:gsub("= 1", "= 7"):gsub("\r", ""), case[1])
    equal(select(3, edit.parse("```\n" .. case[3] .. "```\n", { ["a.lua"] = old })), "ENOCHANGE", case[1])
  end
  local files = { ["a.lua"] = region:gsub("return x", "return x  ") }
  refuses {
    ["a block that takes blanks there"] = { block("return x  \n", "return x\n"), files, "ENOCHANGE", "changes nothing" },
    ["indentation is no such blank"] = { "```\n" .. region:gsub("return", "  return") .. "```\n", files, "EREGION",
      "a.lua: line 5: only its blanks differ" },
    ["a blank line in between"] = { "```\n" .. region:gsub("head\n", "head\n\n") .. "```\n", files, "EREGION",
      "a.lua: line 2, .* became a blank line" },
    ["more than blanks, after blanks"] = { "```\n" .. region:gsub("return x", "return 9"):gsub("head", "head ") .. "```\n", files,
      "EREGION", "a.lua: line 5, `return x  `, became `return 9`" },
  }
  equal(edit.parse("```\n# EVOLVE-BLOCK-START\nx\n```\n", { a = "# EVOLVE-BLOCK-START" }), { a = "# EVOLVE-BLOCK-START\nx" })
end)

-- Each: what new is, old, new, the line of old where it differs (false: nowhere), a pattern of the message.
local regions = {
  { "no regions: anything goes", "a\n", "b\n", false },
  { "the same", region, region, false },
  { "inside", region, region:gsub("= 1", "= 2"), false },
  { "inside, line ends and blanks", region, region:gsub("= 1\n", "= 2  \r\n"), false },
  { "inside, in a file with CRLF", crlf(region), crlf(region):gsub("= 1\r", "= 2"), false },
  { "line ends", region, crlf(region), 1, "^line 1: only its line end differs %(CRLF instead of LF%); only what is between" },
  { "line ends back", crlf(region), region, 1, "^line 1: only its line end differs %(LF instead of CRLF%)" },
  { "one line end", region, region:gsub("x\n$", "x\r\n"), 5, "^line 5: only its line end differs" },
  { "a marker's line end", region, region:gsub("END\n", "END\r\n"), 4, "^line 4: only its line end differs.*stay as they are" },
  { "blanks at a line's end", region, region:gsub("head", "head  "), 1, "^line 1: only the blanks at its end differ; only what" },
  { "blanks at a marker's end", region, region:gsub("END", "END\t"), 4, "^line 4: only the blanks at its end differ" },
  { "blanks on a blank line", "\n" .. region, " \n" .. region, 1, "^line 1: only the blanks at its end differ" },
  { "blanks within a line", region, region:gsub("return x", "return  x"), 5, "^line 5: only its blanks differ" },
  { "a blank line at the end", region, region .. "\n", 6, "^a blank line was added at line 6" },
  { "a blank line at the end gone", region .. "\n", region, 6, "^line 6, a blank line, was removed" },
  { "no newline at the end", region, region:sub(1, -2), 5, "^line 5: only its line end differs %(none instead of LF%)" },
  { "a newline at the end", region:sub(1, -2), region, 5, "^line 5: only its line end differs %(LF instead of none%)" },
  { "no newline after the last END", region:gsub("return x\n", ""), region:gsub("\nreturn x\n", ""), 4, "^line 4: only its line end" },
  { "START without END or line end, filled", "a\n# EVOLVE-BLOCK-START", "a\n# EVOLVE-BLOCK-START\nb", false },
  { "before such a START", "a\n# EVOLVE-BLOCK-START", "a\r\n# EVOLVE-BLOCK-START\nb", 1 },
  { "a line that looks like what stands for a region", "0\n" .. region, "\n0\n" .. region, 1 },
  { "head changed", region, region:gsub("head", "hat"), 1 },
  { "head gone", region, region:gsub("^[^\n]*\n", ""), 1 },
  { "a line before", region, "x\n" .. region, 1 },
  { "a line after", region, region .. "x\n", 6 },
  { "a blank line in between", region, region:gsub("head\n", "head\n\n"), 2 },
  { "indentation", region, region:gsub("return", " return"), 5, "^line 5: only its blanks differ; only what" },
  { "start gone", region, region:gsub("[^\n]*START\n", ""), 2 },
  { "start changed", region, region:gsub("START", "START 2"), 2 },
  { "end gone", region, region:gsub("[^\n]*END\n", ""), 4 },
  { "end moved up: a line leaves the region", region, region:gsub("local x = 1\n(.-END\n)", "%1local x = 1\n"), 5 },
  { "all below moved into the region", region, region:gsub("%-%- EVOLVE%-BLOCK%-END\nreturn x\n", "return x\n-- EVOLVE-BLOCK-END\n"), 5 },
  { "a second start inside", region, region:gsub("local", "-- EVOLVE-BLOCK-START\nlocal"), 3 },
  { "a second region inside", region, region:gsub("local", "-- EVOLVE-BLOCK-END\nos.exit()\n-- EVOLVE-BLOCK-START\nlocal"), 5 },
  { "a second region after", region, region .. "-- EVOLVE-BLOCK-START\nx\n-- EVOLVE-BLOCK-END\n", 6 },
  { "all gone", region, "", 1 },
  { "two regions, the order kept", region .. region, (region .. region):gsub("= 1", "= 4"), false },
  { "between two regions", region .. region, (region .. region):gsub("return x\n%-%-", "return 1\n--"), 5 },
  { "START without END reaches to the end", "a\n# EVOLVE-BLOCK-START\nb\n", "a\n# EVOLVE-BLOCK-START\nc\nd\n", false },
  { "before a START without END", "a\n# EVOLVE-BLOCK-START\nb\n", "z\n# EVOLVE-BLOCK-START\nb\n", 1 },
  { "END put to a START without one", "a\n# EVOLVE-BLOCK-START\nb\n", "a\n# EVOLVE-BLOCK-START\nb\n# EVOLVE-BLOCK-END\nc\n", 4 },
  { "END without START is a line", "a\n# EVOLVE-BLOCK-END\n", "b\n", false },
  { "a line that names both is prose", "# from EVOLVE-BLOCK-START to EVOLVE-BLOCK-END\na\n", "b\n", false },
  { "any comment syntax", "/* EVOLVE-BLOCK-START */\na\n/* EVOLVE-BLOCK-END */\nb\n",
    "/* EVOLVE-BLOCK-START */\nc\n/* EVOLVE-BLOCK-END */\nb\n", false },
  { "any comment syntax, outside", "<!-- EVOLVE-BLOCK-START -->\n<!-- EVOLVE-BLOCK-END -->\nb\n",
    "<!-- EVOLVE-BLOCK-START -->\n<!-- EVOLVE-BLOCK-END -->\n", 3 },
  { "an empty region filled", "EVOLVE-BLOCK-START\nEVOLVE-BLOCK-END\n", "EVOLVE-BLOCK-START\nx\nEVOLVE-BLOCK-END\n", false },
}

test("outside says the first line that differs outside regions", function()
  for _, case in ipairs(regions) do
    local message, line = edit.outside(case[2], case[3])
    equal(line or false, case[4], case[1] .. (message and ": " .. message or ""))
    equal(message ~= nil, case[4] ~= false, case[1])
    if case[5] then matches(message, case[5], case[1]) end
  end
  equal(edit.has_regions(region), true)
  equal(edit.has_regions "# EVOLVE-BLOCK-END\n", false)
end)

test("apply takes changes one after the other, or says which does not fit", function()
  equal(edit.apply(abc, { { search = "two", replace = "2" }, { search = "2\nthree", replace = "" } }), "one\n")
  equal(edit.apply(abc, {}), abc)
  local text, message, code = edit.apply(abc, { { search = "two", replace = "2" }, { search = "two", replace = "" } })
  equal(text, nil)
  equal(code, "ENOMATCH")
  matches(message, "^change 2: SEARCH is not in the file")
  tap.raises("changes%[1%]%.search is empty", edit.apply, abc, { { search = "\n", replace = "x" } })
  tap.raises("changes%[1%] must have search and replace", edit.apply, abc, { { search = "x" } })
end)

test("a fence is longer than any in the text, and reads back as it was", function()
  for _, text in ipairs { "x\n", "```\nx\n```\n", "a ````` b\n", "~~~\n```lua\n", "x" } do
    local shown = edit.fence(text, "a.lua")
    local whole = text:sub(-1) == "\n" and text or text .. "\n"
    equal(edit.parse(shown .. "\n", { ["a.lua"] = "y\n", b = "" }), { ["a.lua"] = whole }, text)
  end
end)

test("the instructions are such that doing what they show is taken", function()
  local text = edit.instructions { "src/b.lua", "a.lua" }
  matches(text, "You may edit: src/b.lua, a.lua")
  local files = { ["src/b.lua"] = "the lines to change, exactly as they are in the file\n", ["a.lua"] = "x\n" }
  equal(edit.parse(text, files), { ["src/b.lua"] = "the lines that take their place\n" })
  matches(edit.instructions {}, "You may edit: none")
  local whole = edit.instructions({ "src/b.lua", "a.lua" }, "rewrite")
  equal(edit.parse(whole, files), { ["src/b.lua"] = "the whole file, from its first line to its last\n" })
  equal(whole:find("SEARCH", 1, true), nil)
  local either = edit.instructions({ "a%b.lua" }, "either")
  matches(either, "To rewrite a file, give its whole text")
  matches(either, "\na%%b.lua\n<<<<<<< SEARCH")
end)

test("wrong arguments raise", function()
  tap.raises("answer must be a string, not a nil", edit.parse, nil, {})
  tap.raises("files must be a table", edit.parse, "")
  tap.raises("files must be texts by path", edit.parse, "", { "x" })
  tap.raises('unknown option "hole"', edit.parse, "", {}, { hole = true })
end)

-- A generator of our own: the same numbers each time.
local seed = 12345
local function below(count)
  seed = (seed * 1103515245 + 12345) % 2147483648
  return seed // 65536 % count
end

local bits = { "<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE", "```", "````", "~~~", "```lua a.lua", "a.lua", "two", "one", "\r", "\n",
  " ", "\0",
  "EVOLVE-BLOCK-START", "EVOLVE-BLOCK-END", "<think>", "</think>", "`", "**", "/", "..", "<<<<< SEARCH", "========", "%", "\255", "" }

local function mutated(text)
  for _ = 1, 1 + below(4) do
    local from = 1 + below(#text + 1)
    local to = from + below(12) - 1
    text = text:sub(1, from - 1) .. bits[1 + below(#bits)] .. text:sub(below(2) == 0 and from or to + 1)
  end
  return text
end

test("however an answer is mutated, parse neither raises nor answers without a code, and regions hold", function()
  local bases = { "a.lua\n```lua\n" .. block("local x = 1\n", "local x = 2\n") .. "```\n", "```lua a.lua\n" .. region:gsub("= 1",
    "= 3") .. "```\n",
    "`b.md`:\n````md\n```\nx\n```\n````\nThen\n" .. crlf(block("two\n", "2\n")), "c.lua\n" .. block("", "x\n") .. block("x\n", "y\n") }
  local files = { ["a.lua"] = region, ["b.md"] = abc }
  local taken = 0
  for round = 1, 20000 do
    local answer = mutated(bases[1 + round % #bases])
    local edits, message, code = edit.parse(answer, files)
    if edits then
      taken = taken + 1
      equal(edit.outside(region, edits["a.lua"] or region), nil, answer)
      for path in pairs(edits) do equal(path:find("^/") or ("/" .. path .. "/"):find("/../", 1, true), nil, answer) end
    else
      equal(type(message) == "string" and type(code) == "string", true, answer)
    end
  end
  equal(taken > 500, true, "some are taken: " .. taken)
end)

test("a file that was shown in part is not taken whole, only in blocks", function()
  local files, in_part = { ["a.lua"] = abc, ["b.lua"] = abc }, { in_part = { ["a.lua"] = true } }
  for _, answer in ipairs { "a.lua\n```lua\nnew\n```\n", "b.lua\n```\nnew\n```\na.lua\n```\nnew\n```\n" } do
    local edits, message, code = edit.parse(answer, files, in_part)
    equal({ edits == nil, code }, { true, "EPART" })
    matches(message, "a.lua: you were not shown the whole file, so it cannot be given whole")
  end
  equal(select(3, edit.parse("```lua\nnew\n```\n", { ["a.lua"] = abc }, in_part)), "EPART")
  equal(edit.parse("b.lua\n```\nnew\n```\n", files, in_part), { ["b.lua"] = "new\n" })
  equal(edit.parse("a.lua\n" .. block("two\n", "2\n"), files, in_part) ~= nil, true)
end)

test("where blocks were asked for, the lines of a fence that are less than half of the file are not the whole of it", function()
  local files, asked = { ["a.lua"] = ("line of text\n"):rep(100) }, { blocks = true }
  local edits, message, code = edit.parse("I change this:\n```lua\nanother\n```\n", files, asked)
  equal({ edits, code }, { nil, "EPART" })
  matches(message, "more than half of it: change only some lines, with SEARCH/REPLACE blocks")
  equal(select(3, edit.parse("a.lua\n```lua\nanother\n```\n", files, asked)), "EPART")
  local half = ("line of text\n"):rep(50)
  equal(edit.parse("```lua\n" .. half .. "more\n```\n", files, asked), { ["a.lua"] = half .. "more\n" })
  equal(edit.parse("```lua\nanother\n```\n", files), { ["a.lua"] = "another\n" })
  equal(edit.parse("```lua\nanother\n```\n", { ["a.lua"] = ("line\n"):rep(100) }, asked), { ["a.lua"] = "another\n" })
  equal(edit.parse("b.lua\n```lua\nanother\n```\n", files, asked), { ["b.lua"] = "another\n" })
end)

test("lines are split and joined as they were, and found in one another", function()
  for _, text in ipairs { "", "\n", "a", "a\n", "a\r\nb", "\r\n\r\n", "a\r", "\n\r\n", "a\r\r\n" } do
    equal(editline.join(editline.split(text)), text)
  end
  equal({ editline.find({ "a", "a", "b", "a", "a", "a" }, { "a", "a" }) }, { { 1, 4, 5 }, 2, 2 })
  equal({ editline.find({ "a", "b", "a", "b", "c" }, { "a", "b", "c" }) }, { { 3 }, 3, 5 })
  equal({ editline.find({ "x", "a", "b" }, { "a", "c" }) }, { {}, 1, 2 })
end)

-- Whatever is quadratic here would take hours (ten times as much takes seconds): that it ends is the test.
test("rubbish by the megabyte is refused without a blow-up", function()
  local size = 1000000
  for name, unit in pairs { spaces = " ", newlines = "\n", backticks = "`", fences = "```\n", opened = "```lua a.lua\n", signs = "<",
    openings = "<<<<<<< SEARCH\n", cycling = "<<<<< SEARCH\n<<<<<< SEARCH\n<<<<<<< SEARCH\n>>>>>> REPLACE\n", paths = "a.lua/",
      equals = "=======\n",
    stars = "**", thoughts = "<think", brackets = "(" } do
    local edits, _, code = edit.parse(unit:rep(size // #unit), { ["a.lua"] = abc })
    equal(edits, nil, name)
    equal(type(code), "string", name)
  end
  local lines = ("x\n"):rep(200000)
  equal(select(3, edit.parse(block(("x\n"):rep(100000) .. "y\n", ""), { f = lines })), "ENOMATCH")
  equal(select(3, edit.parse("a\n```\n" .. (" "):rep(size) .. "x", { f = lines, a = "" })), "EMALFORMED")
end)

tap.done()
