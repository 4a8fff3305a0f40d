-- fitness.parse: the outputs of test runners. tests/data/fitness has outputs as the runners write them; here is what they mean, and what
-- is refused: half an output is never a score.
local fitness = require "apsis.fitness"
local fs = require "apsis.fs"
local tap = require "tap"
local test, equal, matches, raises = tap.test, tap.equal, tap.matches, tap.raises

local SANITIZED = os.getenv "APSIS_SANITIZED" ~= nil

local function sample(name)
  return assert(fs.read("../data/fitness/" .. name))
end

local function refuses(pattern, format, text)
  local result, message = fitness.parse(format, text)
  if result then error(("%s gives %d of %d"):format(format, result.passed, result.total), 2) end
  matches(message, pattern)
end

local function parsed(format, text)
  local result, message = fitness.parse(format, text)
  if not result then error(message, 2) end
  return result
end

-- "passed failed skipped", and the ids, a failing one's with a minus before it.
local function brief(result)
  local list = {}
  for index, item in ipairs(result.items) do list[index] = (item.passed and "" or "-") .. item.id end
  return ("%d %d %d"):format(result.passed, result.failed, result.skipped), list
end

local function message_of(result, id)
  for _, item in ipairs(result.items) do
    if item.id == id then return item.message end
  end
end

-- Each sample: its format, its counts, its items.
local samples = {
  ["tap13.txt"] = { "tap", "2 2 2", { "adds", "-subtracts # twice", "fixed", "-outer" } },
  ["junit.xml"] = { "junit", "3 2 2", { "shop.PriceTest.total", "-shop.PriceTest.discount <10 & more!!", "-shop.PriceTest.tax",
    'shop.PriceTest.say "hi"', "shop.CartTest.add" } },
  ["pytest_verbose.txt"] = { "pytest", "8 5 2", { "test_shop.py::test_total", "-test_shop.py::test_discount",
    "test_shop.py::test_parse[a b]", "test_shop.py::test_parse[x::y]", "test_shop.py::test_parse[[z] PASSED]",
    "-test_shop.py::test_parse[d - e]", "test_shop.py::test_surprise", "-test_shop.py::test_strict", "-test_shop.py::test_teardown",
    "-test_shop.py::test_setup", "test_shop.py::test_warns", "test_shop.py::TestCart::test_add" } },
  ["pytest_quiet.txt"] = { "pytest", "3 1 1", { "-test_a.py::test_two" } },
  ["pytest_xdist.txt"] = { "pytest", "2 1 0", { "test_a.py::test_one", "-test_a.py::test_two", "test_b.py::test_three" } },
  ["go_verbose.txt"] = { "go", "4 2 1", { "example.com/shop.TestAdd", "-example.com/shop.TestTable",
    "example.com/shop.TestTable/empty", "-example.com/shop.TestTable/one_two", "example.com/shop.TestPrint",
    "example.com/shop/cart.TestAdd" } },
  ["go_json.txt"] = { "go", "1 2 1", { "example.com/shop.TestAdd", "-example.com/shop.TestTable",
    "-example.com/shop.TestTable/one_two" } },
  ["cargo_all.txt"] = { "cargo", "5 2 2", { "tests::it_works", "-tests::fails", "tests::panics", "tests::prints",
    "-tests::panics_wrong", "it_works", "src/lib.rs - add (line 1)" } },
  ["cargo_first.txt"] = { "cargo", "3 2 2", { "tests::it_works", "-tests::fails", "tests::panics", "-tests::panics_wrong",
    "tests::prints" } },
  ["node_tap.txt"] = { "node", "6 5 3", { "adds", "-fails # hard", "suite > one", "-suite > two", "suite > inner > one",
    "-suite > inner > cancelled", "parent > child ok", "-parent > child bad", "-parent", "adds#2", "all good > x" } },
  ["node_spec.txt"] = { "node", "6 5 3", { "adds", "-fails # hard", "suite > one", "-suite > two", "suite > inner > one",
    "-suite > inner > cancelled", "parent > child ok", "-parent > child bad", "adds#2", "all good > x" } },
  ["maven_modules.txt"] = { "maven", "9 2 3", { "-org.example.PriceTest", "org.example.CartTest", "org.example.LinkTest" } },
}

local names = {}
for name in pairs(samples) do names[#names + 1] = name end
table.sort(names)

for _, name in ipairs(names) do
  local format, counts, ids = table.unpack(samples[name])
  test(("%s: counts and items are those of the runner, with LF and CRLF, by name and found out"):format(name), function()
    local text = sample(name)
    for _, given in ipairs { text, (text:gsub("\n", "\r\n")) } do
      for _, asked in ipairs { format, "auto" } do
        local result = parsed(asked, given)
        local got, list = brief(result)
        equal(got, counts, asked)
        equal(list, ids, asked)
        equal({ result.format, result.total }, { format, result.passed + result.failed })
      end
    end
  end)
end

-- What whole parts at the beginning of a sample say: between packages or binaries nothing shows that more was to come.
local parts = { ["cargo_all.txt"] = { ["3 2 2"] = true, ["4 2 2"] = true }, ["go_verbose.txt"] = { ["3 2 1"] = true } }

test("a sample cut off anywhere but between its parts is refused, or what is missing came after the counts", function()
  for _, name in ipairs(names) do
    local format, counts = table.unpack(samples[name])
    local text = sample(name)
    local step = SANITIZED and 37 or 5
    for length = 0, #text - 1, step do
      local result = fitness.parse(format, text:sub(1, length))
      local got = result and brief(result)
      if result and got ~= counts and not (parts[name] and parts[name][got]) then
        error(("%s cut at %d gives %s"):format(name, length, got))
      end
    end
  end
end)

test("what a failing test said is kept, and no more than a screenful", function()
  equal(message_of(parsed("tap", sample "tap13.txt"), "outer"), "Failed test 'outer'")
  equal(message_of(parsed("junit", sample "junit.xml"), "shop.PriceTest.tax"), "no rate\nstack")
  equal(message_of(parsed("pytest", sample "pytest_verbose.txt"), "test_shop.py::test_parse[d - e]"), "ValueError: a - b")
  equal(message_of(parsed("node", sample "node_tap.txt"), "suite > two"), "boom\nsecond line")
  matches(message_of(parsed("node", sample "node_spec.txt"), "suite > two"), "^Error: boom\nsecond line")
  equal(message_of(parsed("go", sample "go_verbose.txt"), "example.com/shop.TestTable/one_two"), "table_test.go:14: got 3, want 2")
  matches(message_of(parsed("cargo", sample "cargo_all.txt"), "tests::fails"), "^thread 'tests::fails'.*right: 5$")
  equal(message_of(parsed("maven", sample "maven_modules.txt"), "org.example.PriceTest"),
    "org.example.PriceTest.discount\norg.example.PriceTest.tax")
  local long = parsed("tap", "1..1\nnot ok 1 - a\n" .. ("# é said a lot\n"):rep(1000))
  equal(#long.items[1].message <= 1010, true)
  equal(utf8.len(long.items[1].message) ~= nil, true)
end)

test("colours are no part of any line", function()
  local text = sample("pytest_verbose.txt"):gsub("PASSED", "\27[32mPASSED\27[0m"):gsub("=====", "\27[31m\27[1m=====\27[0m")
  equal((brief(parsed("auto", text))), "8 5 2")
  equal((brief(parsed("auto", (sample("maven_modules.txt"):gsub("%[(%u+)%]", "[\27[1;34m%1\27[m]"))))), "9 2 3")
end)

test("tests of one name get ids of their own, even against a test of that very id", function()
  local _, ids = brief(parsed("tap", "1..5\nok 1 - a\nok 2 - a#2\nok 3 - a\nnot ok 4 - a\nok 5\n"))
  equal(ids, { "a", "a#2", "a#3", "-a#4", "test 5" })
end)

-- ---- tap ----

test("tap: a plan that is not fulfilled, missing or twice is refused, and so is a result twice or beyond it", function()
  refuses("plan is 1..5, but the output has 3 results", "tap", "1..5\nok 1\nok 2\nok 3\n")
  refuses("no plan %(1..N%) among 2", "tap", "ok 1\nok 2\n")
  refuses("line 3: a second plan", "tap", "1..2\nok 1\n1..2\nok 2\n")
  refuses("test 1 occurs twice", "tap", "1..2\nok 1\nok 1\n")
  refuses("test 3 is beyond the plan 1..2", "tap", "1..2\nok 1\nok 3\n")
  refuses("test 3 is beyond the plan 1..2", "tap", "ok 1\nok 3\n1..2\n")
  refuses("beyond the plan", "tap", "1..1\nok 1\nok\n")
  refuses("test 0", "tap", "1..1\nok 0\n")
  refuses("neither a plan nor a result", "tap", "hello\n")
end)

test("tap: who bails out, or ends within a block, has no score", function()
  refuses("bailed out: no database", "tap", "1..2\nok 1\nBail out! no database\n")
  refuses("within a block of YAML", "tap", "1..1\nnot ok 1\n  ---\n  message: x\n")
end)

test("tap: several streams follow one another, each with its plan before or after", function()
  equal((brief(parsed("tap", "1..1\nok 1 - a\n1..2\nok 1 - a\nnot ok 2 - b\n"))), "2 1 0")
  equal((brief(parsed("tap", "ok 1 - a\nok 2 - b\n1..2\nok 1 - a\n1..1\n"))), "3 0 0")
  equal((brief(parsed("tap", "TAP version 14\n1..0 # SKIP none\nTAP version 14\n1..1\nok\n"))), "1 0 0")
  refuses("plan is 1..2, but the output has 0", "tap", "1..1\nok 1\n1..2\n")
end)

test("tap: directives are found in any case, escaped ones are not; what only begins like a result is none", function()
  local counts, ids = brief(parsed("tap", table.concat({ "1..5", "ok 1 - a # Skipped: x", "not ok 2 - b # ToDo", "ok 3 - c \\# skip d",
    "ok 4 - #5 # 6", "not ok 5 # SKIP whatever", "okay then", "not okay", "" }, "\n")))
  equal(counts, "2 0 3")
  equal(ids, { "c # skip d", "#5 # 6" })
end)

-- ---- junit ----

local function suite(inside, attributes)
  return ("<testsuite name='s' %s>%s</testsuite>"):format(attributes or "", inside)
end

test("junit: entities other than the five and numbers are refused, and so is a DOCTYPE that declares some", function()
  local bomb = '<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY lol "lol"><!ENTITY lol2 "&lol;&lol;">]>'
    .. suite "<testcase name='&lol2;'/>"
  refuses("DOCTYPE that declares entities is refused", "junit", bomb)
  refuses("the entity &lol2; is refused", "junit", suite "<testcase name='&lol2;'/>")
  refuses("the entity &nbsp; is refused", "junit", suite "a&nbsp;b")
  refuses("the entity &#xD800; is refused", "junit", suite "<testcase name='&#xD800;'/>")
  refuses("is refused", "junit", suite "<testcase name='&#0;'/>")
  refuses("is refused", "junit", suite "<testcase name='&#99999999999999999999;'/>")
  equal(parsed("junit", suite "<testcase name='a &#x1F600; b & c'/>").items[1].id, "a 😀 b & c")
end)

test("junit: what is no whole XML is refused, with its line", function()
  refuses("line 2: the text ends within <testsuite>", "junit", "<testsuite>\n<testcase name='a'/>")
  refuses("</testsuite> closes <testcase>", "junit", "<testsuite><testcase name='a'></testsuite>")
  refuses("the attribute name has no closing quote", "junit", "<testsuite><testcase name='a/></testsuite>")
  refuses("no attribute", "junit", "<testsuite name=a></testsuite>")
  refuses("comment has no end", "junit", suite "<!-- ")
  refuses("CDATA section has no end", "junit", suite "<![CDATA[ ")
  refuses("begins no tag", "junit", suite "a < b")
  refuses("more than 200 levels", "junit", ("<testsuite>"):rep(300))
  refuses("no <testsuite>", "junit", "hello <b>")
end)

test("junit: numbers that the cases do not bear out are refused; ways of counting that differ are not", function()
  refuses("suite s says 3 tests, but has 1", "junit", suite("<testcase name='a'/>", "tests='3'"))
  refuses("suite s says 1 failures and errors, but has 0", "junit", suite("<testcase name='a'/>", "tests='1' errors='1'"))
  refuses("suite all says 1 failures and errors, but has 0", "junit",
    "<testsuites name='all' failures='1'>" .. suite "<testcase name='a'/>" .. "</testsuites>")
  refuses("suite s says 1 tests, but has 3", "junit", suite(("<testcase name='a'/>"):rep(3), "tests='1'"))
  equal((brief(parsed("junit", suite("<testcase name='a'/><testcase name='b'><skipped/></testcase>", "tests='1'")))), "1 0 1")
  equal((brief(parsed("junit", "<testsuite name='p' tests='2' failures='1'><testcase name='a'/>"
    .. suite("<testcase name='b'/><testcase name='c'><failure/></testcase>", "tests='2' failures='1'") .. "</testsuite>"))), "2 1 0")
end)

test("junit: documents follow one another among other output; a status without an element counts", function()
  local one = "<?xml version='1.0'?>\n<testsuite><testcase classname='c' name='a'/></testsuite>\n"
  local counts, ids = brief(parsed("auto", "building <x>\n" .. one .. "done\n" .. one
    .. "<testsuites><j:testsuite xmlns:j='u'><j:testcase name='b' status='fail'/></j:testsuite></testsuites>"))
  equal(counts, "2 1 0")
  equal(ids, { "c.a", "c.a#2", "-b" })
end)

test("junit: suites within suites are part of a name, and what is expected to fail is skipped", function()
  local text = "<testsuites><testsuite name='o'><testsuite name='i'><testcase classname='c' name='a'/></testsuite>"
    .. "<testcase name='x'><skipped type='pytest.xfail'/><failure/></testcase></testsuite></testsuites>"
  local counts, ids = brief(parsed("junit", text))
  equal(counts, "1 0 1")
  equal(ids, { "i > c.a" })
end)

-- ---- pytest ----

test("pytest: who stopped before the end has no score, and neither has an output without its last line", function()
  refuses("stopped before its end: Interrupted: 1 error during collection", "auto", sample "pytest_collection.txt")
  refuses("stopping after 1 failures", "pytest", "FAILED a::b\n!!!!!!! stopping after 1 failures !!!!!!!\n=== 1 failed in 0.1s ===\n")
  refuses("INTERNALERROR", "pytest", "INTERNALERROR> boom\n=== 1 passed in 0.1s ===\n")
  refuses("cut off", "pytest", "a.py::b PASSED [100%]\n")
end)

test("pytest: more results than the last line says are a contradiction", function()
  refuses("says 1 passed, but 2", "pytest", "a.py::b PASSED\na.py::c PASSED\n=== 1 passed in 0.1s ===\n")
  refuses("says 0 failed, but 1", "pytest", "a.py::c FAILED\n=== 1 passed in 0.1s ===\n")
end)

test("pytest: the last line is told from what tests print, and the last of several counts", function()
  equal((brief(parsed("pytest", "3 passed in Paris\n99 passed in 1.0s and more\n9 apples in 1.0s\n== 1 passed, 2 warnings in 0.1s ==\n"))),
    "1 0 0")
  equal((brief(parsed("pytest", "=== no tests ran in 0.01s ===\n"))), "0 0 0")
  equal((brief(parsed("pytest", "=== 5 passed in 0.1s ===\n=== 1 failed, 4 passed, 2 subtests passed in 75.1s (0:01:15) ===\n"))),
    "4 1 0")
end)

-- ---- go ----

test("go: a package that panicked, did not build, or was cut off has no score", function()
  refuses("did not come to its end.*panic: boom", "auto", sample "go_panic.txt")
  refuses("example.com/a: build failed", "go", "# example.com/a\n./a.go:3: syntax\nFAIL\texample.com/a [build failed]\nFAIL\n")
  refuses("TestA began and has no result", "go", "=== RUN   TestA\nPASS\nok  \tp\t0.1s\n")
  refuses('no "ok" or "FAIL" after', "go", "=== RUN   TestA\n--- PASS: TestA (0.00s)\n")
  refuses("failed without a failing test", "go", "=== RUN   TestA\n--- PASS: TestA (0.00s)\nFAIL\nFAIL\tp\t0.1s\n")
end)

test("go: without -v the tests that pass have no names, so there is no score", function()
  refuses("without naming its tests: go test needs %-v", "go", "ok  \texample.com/a\t0.1s\n")
  refuses("go test needs %-v", "go", "--- FAIL: TestA (0.00s)\n    a_test.go:3: x\nFAIL\nFAIL\texample.com/a\t0.1s\n")
  equal((brief(parsed("go", "=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\n"))), "1 0 0", "a test binary by itself")
  equal((brief(parsed("go", "ok  \tp\t0.1s [no tests to run]\n"))), "0 0 0")
end)

test("go -json: a package without its end, its FAIL, or a test's result has no score", function()
  local text = sample "go_json.txt"
  refuses("did not come to its end", "go", (text:gsub('[^\n]*"Output":"FAIL\\n"}\n', "")))
  refuses("has no result at its end", "go", (text:gsub('[^\n]*"fail","Package":"example.com/shop","Elapsed"[^\n]*\n', "")))
  refuses("TestAdd began and has no result", "go", (text:gsub('[^\n]*"pass"[^\n]*\n', "")))
  refuses("did not build", "go", '{"ImportPath":"p","Action":"build-fail"}\n')
  refuses("failed without a failing test", "go", '{"Action":"fail","Package":"p"}\n')
  refuses("EJSON", "go", text .. '{"Action":"pass",')
  equal((brief(parsed("auto", "go: downloading x\n" .. text))), "1 2 1")
end)

-- ---- cargo ----

test("cargo: a killed binary, a missing beginning, other sums, or what did not compile is refused", function()
  local text = sample "cargo_all.txt"
  refuses('running 7 tests, but no "test result"', "cargo", text:sub(1, text:find("test result", 1, true) - 1))
  refuses("was it killed", "cargo", "running 2 tests\ntest a ... ok\nrunning 1 test\n")
  refuses("beginning may be cut off", "cargo", text:sub(text:find("running 7 tests", 1, true) + 5))
  refuses("running 8 tests, but the result is of 7", "cargo", (text:gsub("running 7", "running 8")))
  refuses("could not compile `demo`", "cargo", "error: could not compile `demo` (lib test) due to 1 previous error\n")
  refuses("says 5 passed, but 6", "cargo", (text:gsub("test it_works", "test x ... ok\ntest it_works")))
  refuses('no "running N tests"', "cargo", "Compiling demo\n")
end)

test("cargo: what is not run because it stopped early is warned of; words of the test's own output are not results", function()
  matches(parsed("cargo", sample "cargo_first.txt").warnings[1], "add %-%-no%-fail%-fast")
  equal(parsed("cargo", sample "cargo_all.txt").warnings, {})
  local counts, ids = brief(parsed("cargo", "running 2 tests\ntest a ... it is ok so far\ntest b ... hello FAILED\n"
    .. "test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n"))
  equal({ counts, ids }, { "1 1 0", { "-b" } })
end)

-- ---- node ----

test("node: without its summary, with other sums or after a bail-out there is no score", function()
  refuses("no summary %(tests N%)", "node", (sample("node_tap.txt"):gsub("# tests.*", "")))
  refuses("says 15 tests, but 6 passed, 5 failed and 3 skipped", "node", (sample("node_spec.txt"):gsub("ℹ tests 14", "ℹ tests 15")))
  refuses("bailed out", "node", "Bail out! x\n# tests 0\n# pass 0\n# fail 0\n")
end)

test("node: a line of a test's own that looks like a result contradicts the summary, which says how to keep them apart", function()
  refuses("says 6 passed, but 7.*test%-reporter=tap", "node", "✔ not a test (1ms)\n" .. sample "node_spec.txt")
end)

-- ---- maven ----

test("maven: a build that failed otherwise, -q, or a cut is no score", function()
  local text = sample "maven_modules.txt"
  refuses("no BUILD SUCCESS or BUILD FAILURE", "maven", text:sub(1, text:find("BUILD FAILURE", 1, true) - 1))
  refuses("compilation failed", "maven", "[ERROR] COMPILATION ERROR : \n" .. text)
  refuses("no test ran, and the build failed: no such plugin", "maven", "[INFO] BUILD FAILURE\n[ERROR] no such plugin\n")
  refuses("failed for another reason", "maven", (text:gsub("web %.* SUCCESS", "web ... FAILURE")))
  refuses("org.example.LinkTest has no total", "maven", "[INFO] Tests run: 1, Failures: 0, Errors: 0, Skipped: 0\n"
    .. "[INFO] Running org.example.LinkTest\n[INFO] BUILD SUCCESS\n")
  refuses('no "Tests run: N', "maven", "[INFO] BUILD SUCCESS\n")
  refuses("2 tests run, but 3", "maven", "Tests run: 2, Failures: 3, Errors: 0, Skipped: 0\n")
end)

test("maven: modules that were skipped after a failure are warned of; older outputs without marks are read", function()
  matches(parsed("maven", (sample("maven_modules.txt"):gsub("web (%.*) SUCCESS %[[^\n]*", "web %1 SKIPPED"))).warnings[1],
    "skipped 1 modules.*add %-fae")
  local old = "Running a.T\nTests run: 2, Failures: 0, Errors: 0, Skipped: 1, Time elapsed: 0.03 sec\n\nResults :\n\n"
    .. "Tests run: 2, Failures: 0, Errors: 0, Skipped: 1\n\n[INFO] BUILD SUCCESS\n"
  local counts, ids = brief(parsed("auto", old))
  equal({ counts, ids }, { "1 0 1", { "a.T" } })
end)

-- ---- auto, and enemies ----

test("auto refuses what it does not know and what could be two things", function()
  refuses("no known format", "auto", "all is well\n")
  refuses("could be of pytest or cargo", "auto", sample "pytest_quiet.txt" .. sample "cargo_all.txt")
  refuses("no output", "auto", " \n")
  raises('format "pitest" is not one of .*did you mean "pytest"', fitness.parse, "pitest", "x")
  raises("a text, not a nil", fitness.parse, "tap", nil)
end)

test("garbage of any kind is answered, never an error, and in linear time", function()
  local size = SANITIZED and 10000 or 100000
  for _, piece in ipairs { "\0", " ", "=", "<", "&", "\n", "ok ", "ok\n", "# ", "1..1\n", "<testsuite ", "<?xml?>", "<!--", "a='b' ",
    "--- ", "test ... ", "a::b ", " in ", "{\"", "\27[", "!!!", "✔ (1ms", "[", "Tests run: 1, " } do
    local text = piece:rep(size // #piece)
    for _, format in ipairs(fitness.formats) do
      local result, message = fitness.parse(format, text)
      equal(result ~= nil or type(message) == "string" and #message < 2000, true, format .. " on " .. piece)
    end
  end
end)

test("samples with bytes changed are answered, and a result's sums hold", function()
  local state = 12345
  local function draw(most)
    state = (state * 1103515245 + 12345) % 0x80000000
    return state // 8 % most + 1
  end
  for _, name in ipairs(names) do
    local text = sample(name)
    for _ = 1, SANITIZED and 3 or 30 do
      local at, other = draw(#text), draw(#text)
      local changed = text:sub(1, at - 1) .. string.char(draw(256) - 1) .. text:sub(math.min(at, other) + 1)
      for _, format in ipairs { samples[name][1], "auto" } do
        local result, message = fitness.parse(format, changed)
        if result then equal(result.total, result.passed + result.failed) else equal(type(message), "string") end
      end
    end
  end
end)

tap.done()
