-- fitness: scores, how they are put together, counts of findings, predictions.csv. The numbers of the issue are in
-- tests/data/fitness.jsonl; here is what they do not say. Parsers of test outputs: parsers.lua.
local fitness = require "apsis.fitness"
local fs = require "apsis.fs"
local json = require "apsis.json"
local tap = require "tap"
local test, equal, matches, raises = tap.test, tap.equal, tap.matches, tap.raises

local nan, inf = 0 / 0, math.huge

local function close(got, expected, what)
  if type(got) ~= "number" or not (math.abs(got - expected) <= 1e-12) then
    error(("%s: got %s, expected %.17g"):format(what or "value", tostring(got), expected), 2)
  end
end

-- nil, and a message that matches.
local function refuses(pattern, got, message)
  equal(got, nil)
  matches(message, pattern)
end

test("no test is no score, and more passed than there are is none", function()
  refuses("no test ran", fitness.tests(0, 0))
  refuses("12 of 10", fitness.tests(12, 10))
  raises("passed must be a finite number", fitness.tests, nan, 1)
  raises("passed must be", fitness.tests, -1, 1)
  raises("total must be", fitness.tests, 1, nil)
end)

test("more findings than the baseline clamp to 0 with a warning that says both counts; fewer say nothing", function()
  local score, warning = fitness.reduction(25, 20, "lint")
  equal(score, 0)
  matches(warning, "^lint: 25 found, the baseline has 20")
  equal({ fitness.reduction(20, 20) }, { 0.0 })
  equal({ fitness.reduction(0, 0) }, { 1 })
  score, warning = fitness.reduction(2, 0)
  equal(score, 0)
  matches(warning, "2 found, the baseline has 0")
  raises("current must be", fitness.reduction, nan, 3)
  raises("baseline must be", fitness.reduction, 3, -1)
end)

test("a benchmark is a ratio that is above 1 where it got better, in either direction", function()
  close(fitness.benchmark(80, 100, "higher"), 0.8)
  close(fitness.benchmark(125, 100, "lower"), 0.8)
  equal({ fitness.benchmark(100, 100, "minimize") }, { 1.0 })
  equal({ fitness.benchmark(0, 100) }, { 0.0 })
end)

test("a benchmark above 1 names its divisor and the line to add", function()
  local score, warning = fitness.benchmark(130, 100, "higher", "speed")
  close(score, 1.3)
  matches(warning, "^speed scores 1%.3, above 1: kept as measured")
  matches(warning, "divided by 100")
  matches(warning, '"scale: 130", or more')
  score, warning = fitness.benchmark(80, 100, "lower")
  close(score, 1.25)
  matches(warning, '100 divided by the value.*"scale: 80", or less')
end)

test("where no ratio can be had there is no score", function()
  refuses("no measured value", fitness.benchmark(nil, 100))
  refuses("no measured value", fitness.benchmark(nan, 100))
  refuses("no baseline", fitness.benchmark(5, nil))
  refuses("no baseline", fitness.benchmark(5, inf))
  refuses("no ratio", fitness.benchmark(5, 0))
  refuses("no ratio", fitness.benchmark(0, 5, "lower"))
  refuses("no ratio", fitness.benchmark(-3, -5))
  refuses("too far", fitness.benchmark(1e300, 1e-300))
  raises("direction", fitness.benchmark, 1, 1, "sideways")
end)

test("a score from 0 to 1 needs no warning; another names a power of ten that holds it", function()
  equal(fitness.warning("a", 0), nil)
  equal(fitness.warning("a", 1), nil)
  equal(fitness.warning("a", nil), nil)
  equal(fitness.warning("a", nan), nil)
  matches(fitness.warning("balrog", 73), '^balrog scores 73, above 1.*"scale: 100"')
  matches(fitness.warning("a", 100), '"scale: 100"')
  matches(fitness.warning("a", 1.0000001), '"scale: 10"')
  matches(fitness.warning("a", -0.5), 'below 0.*"span: %[%-0.5, 1%]".*initial generation')
end)

test("weights that sum to 1 are used as they are, others are divided by their sum and said", function()
  local score, message, warnings = fitness.composite { { score = 0.5, weight = 0.25 }, { score = 1, weight = 0.75 } }
  close(score, 0.875)
  equal({ message, warnings }, { nil, {} })
  score, message, warnings = fitness.composite { { name = "tests", score = 1 }, { name = "lint", score = 0, weight = 3 } }
  close(score, 0.25)
  equal({ message, #warnings }, { nil, 1 })
  matches(warnings[1], "sum to 4, not 1; used are tests 0.25, lint 0.75")
  equal(select(3, fitness.composite { { score = 1, weight = 0.1 }, { score = 1, weight = 0.2 }, { score = 1, weight = 0.7 } }), {})
end)

test("a component without a score leaves none, and is named; one above 1 counts as measured, with a warning", function()
  refuses("^review has no score", fitness.composite { { name = "tests", score = 1 }, { name = "review", weight = 0.5 } })
  refuses("^component 2 has no score", fitness.composite { { score = 1 }, { score = nan } })
  refuses("no components", fitness.composite {})
  local score, _, warnings = fitness.composite { { name = "speed", score = 2, weight = 0.5 }, { score = 0, weight = 0.5 } }
  close(score, 1)
  matches(warnings[1], "^speed scores 2, above 1")
  for _, weight in ipairs { 0, -1, nan, inf, "1" } do
    raises("weight of a must be above 0", fitness.composite, { { name = "a", score = 1, weight = weight } })
  end
end)

test("the mean over domains needs a score in every one", function()
  close(fitness.aggregate { 0.25, 0.75 }, 0.5)
  equal(fitness.aggregate { 0.5, json.null }, nil)
  equal(fitness.aggregate { n = 3, 0.5, 0.5 }, nil)
  equal(fitness.aggregate { 0.5, nan }, nil)
  equal(fitness.aggregate {}, nil)
end)

test("a rubric's score off its scale is refused, not clamped", function()
  local function one(score) return fitness.rubric { { name = "clarity", score = score, scale_max = 10 } } end
  close(one(0), 0)
  close(one(10), 1)
  refuses("clarity is 11, which is not from 0 to 10", one(11))
  refuses("clarity is %-0.5", one(-0.5))
  refuses("clarity has no score", one(nan))
  refuses("clarity has no score", one "9")
  refuses("no dimensions", fitness.rubric {})
  raises("scale_max of clarity", fitness.rubric, { { name = "clarity", score = 1 } })
  close(fitness.rubric { { score = 1, scale_max = 5 }, { score = 2, scale_max = 4 } }, 0.35, "other scales, no weights")
end)

test("a first stage is a tenth or ten, whichever is larger, never more than there are", function()
  for items, size in pairs { [0] = 0, [1] = 1, [9] = 9, [10] = 10, [100] = 10, [101] = 11, [105] = 11, [1000] = 100, [70] = 10 } do
    equal(fitness.staged_size(items), size, items .. " items")
    equal(math.type(fitness.staged_size(items)), "integer")
  end
  equal(fitness.staged_size(200, { share = 0.5, least = 3 }), 100)
  equal(fitness.staged_size(4, { share = 0.5, least = 3 }), 3)
  raises("items must be", fitness.staged_size, -1)
end)

test("a stopped candidate's score is scaled by what was measured, and only more than nothing goes on", function()
  close(fitness.staged(0.9, 10, 100), 0.09)
  equal(fitness.staged(nil, 10, 100), nil)
  equal(fitness.staged(nan, 10, 100), nil)
  raises("full must be", fitness.staged, 1, 0, 0)
  raises("staged 11 is above full 10", fitness.staged, 1, 11, 10)
  for _, score in ipairs { 0, -1, nan, json.null } do equal(fitness.staged_gate(score), "stop") end
  equal(fitness.staged_gate(inf), "stop")
  equal(fitness.staged_gate(1e-9), "full")
  equal(fitness.staged_gate(0.3, 0.3), "stop")
  equal(fitness.staged_gate(0.4, 0.3), "full")
end)

test("a raw value is normalised by its kind", function()
  local score, warning = fitness.normalize { kind = "game", value = 130, name = "nethack" }
  close(score, 1.3)
  matches(warning, '^nethack scores 1.3, above 1.*divided by 100.*"scale: 130"')
  close(fitness.normalize { kind = "game", value = 5, scale = 10 }, 0.5)
  matches(select(2, fitness.normalize { kind = "game", value = -5 }), "below 0")
  equal(fitness.normalize { kind = "error", value = 13, baseline = 12 }, 0)
  refuses("no baseline", fitness.normalize { kind = "error", value = 3 })
  close(fitness.normalize { kind = "baseline", value = 50, baseline = 100, direction = "lower" }, 2)
  matches(select(2, fitness.normalize { kind = "score", value = 3 }), "score scores 3")
  refuses("no measured value", fitness.normalize { kind = "score" })
  raises('kind "gaem" is not one of .*did you mean "game"', fitness.normalize, { kind = "gaem", value = 1 })
  raises("scale must be above 0", fitness.normalize, { kind = "game", value = 1, scale = 0 })
end)

test("the initial generation's span goes from 0 to 1 by direction; beyond it, a warning names a span that holds", function()
  local place = fitness.minmax({ 10, 30, 20, json.null, nan }, "higher")
  close(place(10), 0)
  close(place(30), 1)
  local score, warning = place(40, "speed")
  close(score, 1.5)
  matches(warning, "speed scores 1.5, above 1.*the initial generation goes from 10 to 30.*\"span: %[10, 40%]\"")
  place = fitness.minmax({ n = 3, 10, 30 }, "lower")
  close(place(10), 1)
  close(place(30), 0)
  score, warning = place(50)
  close(score, -1)
  matches(warning, "below 0.*goes from 30 to 10.*\"span: %[50, 10%]\"")
  matches(select(2, fitness.minmax({ 10, 30 }, "higher", "the manifest's span")(50, "x")),
    "it is 50, and the manifest's span goes from 10 to 30")
  refuses("no measured value", place(nil))
  refuses("no two different values", fitness.minmax { 5, 5 })
  refuses("no two different values", fitness.minmax { 5 })
  refuses("no two different values", fitness.minmax {})
end)

-- ---- counts ----

local function ids(items)
  local list = {}
  for index, item in ipairs(items) do list[index] = item.id end
  return list
end

test("lines that match are counted, and named by file, line and rule as most tools write them", function()
  local count, items = fitness.count({ pattern = "^.+:\\d+:" }, table.concat({
    "src/a.c:12:3: warning: unused variable 'x' [-Wunused-variable]", "src/a.py:3:1: E501 line too long",
    "src/a.py:3:1: E501 line too long", "\27[31ma.lua:7:9:\27[0m (W211) unused variable", "All checks done", "b.lua:1: mess", "" }, "\r\n"))
  equal(count, 5)
  equal(ids(items), { "src/a.c:12:-Wunused-variable", "src/a.py:3:E501", "src/a.py:3:E501#2", "a.lua:7:W211", "b.lua:1:mess" })
end)

test("tsc's places and a pattern's own groups name findings too", function()
  local _, items = fitness.count({ pattern = "error TS\\d+" }, "src/x.ts(4,10): error TS2322: Type 'a'\n")
  equal(ids(items), { "src/x.ts:4:TS2322" })
  _, items = fitness.count({ pattern = "^(?<rule>\\w+) in (?<file>\\S+)(?: at (?<line>\\d+))?" }, "leak in m.c at 9\nleak in n.c\n")
  equal(ids(items), { "m.c:9:leak", "n.c:leak" })
  _, items = fitness.count({ pattern = "^Found" }, "Found it\nFound it\n")
  equal(ids(items), { "Found it", "Found it#2" })
end)

test("no line is a count of 0; a pattern that does not compile or never ends is refused", function()
  equal({ fitness.count({ pattern = "x" }, "") }, { 0, {} })
  refuses("EREGEX", fitness.count({ pattern = "(" }, "x"))
  refuses("line 1: EREGEX_LIMIT", fitness.count({ pattern = "(a+)+$" }, ("a"):rep(60) .. "!"))
  raises("format \"xml\" is not one of", fitness.count, { format = "xml" }, "")
  raises("needs a pattern", fitness.count, { format = "pattern" }, "")
end)

test("a pointer into JSON gives a number, or a list of findings", function()
  equal({ fitness.count({ json_pointer = "/summary/errorCount" }, '{"summary": {"errorCount": 3}}') }, { 3, {} })
  local count, items = fitness.count({ json_pointer = "/generalDiagnostics" }, [[{"generalDiagnostics": [
    {"file": "a.py", "severity": "error", "message": "no", "range": {"start": {"line": 3, "character": 1}}, "rule": "reportX"},
    {"filename": "b.py", "location": {"row": 7, "column": 2}, "code": "E501", "message": "long"}, "bare"]}]])
  equal(count, 3)
  equal(ids(items), { "a.py:3:reportX", "b.py:7:E501", "bare" })
  count, items = fitness.count({ json_pointer = "/*/messages" }, [[[{"filePath": "a.js", "messages": [{"ruleId": "semi", "line": 2}]},
    {"filePath": "b.js", "messages": []}, {"messages": [{"ruleId": null, "line": 4, "message": "bad"}]}]
    ]])
  equal(count, 2)
  equal(ids(items), { "2:semi", "4" })
  equal(fitness.count({ json_pointer = "/*/messages" }, "[]"), 0)
  equal(fitness.count({ format = "json" }, "[1, 2]"), 2)
end)

test("JSON that is none, or has something else there, is refused", function()
  refuses("EJSON", fitness.count({ json_pointer = "/a" }, "warning: x\n{}"))
  refuses("there is nothing at \"/a\"", fitness.count({ json_pointer = "/a" }, "{}"))
  refuses("nothing at", fitness.count({ json_pointer = "/3" }, "[1]"))
  refuses("an object, which is neither", fitness.count({ json_pointer = "/a" }, '{"a": {}}'))
  refuses("neither a list nor a count", fitness.count({ json_pointer = "/a" }, '{"a": -1}'))
  refuses("neither a list nor a count", fitness.count({ json_pointer = "/a" }, '{"a": "3"}'))
  refuses("neither a list nor a count", fitness.count({ json_pointer = "/a" }, '{"a": null}'))
end)

test("SARIF counts failures by level, without what is suppressed or gone", function()
  local text = assert(fs.read "../data/fitness/checks.sarif")
  local count, items, levels = fitness.count({ format = "sarif" }, text)
  equal(count, 4)
  equal(levels, { error = 2, warning = 1, note = 1 })
  equal(ids(items), { "src/a.c:12:overflow", "src/a.c:3:unused", "style", "overflow" })
  equal(items[1].level, "error")
  equal((fitness.count({ format = "sarif", levels = { "error" } }, text)), 2)
  raises('level "fatal"', fitness.count, { format = "sarif", levels = { "fatal" } }, text)
end)

test("a SARIF run that did not succeed is no count of zero", function()
  refuses("did not succeed", fitness.count({ format = "sarif" },
    '{"runs": [{"invocations": [{"executionSuccessful": false}], "results": []}]}'))
  refuses("no results", fitness.count({ format = "sarif" }, '{"runs": [{}]}'))
  refuses("no runs", fitness.count({ format = "sarif" }, '{}'))
  refuses("no runs", fitness.count({ format = "sarif" }, '7'))
  for _, odd in ipairs { "[7]", '[{"ruleIndex": "x", "locations": 3, "message": [], "rule": 7, "suppressions": null}]' } do
    equal((fitness.count({ format = "sarif" }, ('{"runs": [{"tool": 3, "results": %s}]}'):format(odd))), 1)
  end
end)

-- ---- predictions.csv ----

local columns = { "question_id", "prediction", "score" }

test("rows come back as they were, whatever is in them", function()
  local rows = {
    { question_id = 'a,"b"', prediction = "line one\nline two\r\n", score = "0.1" },
    { question_id = " blanks ", prediction = "", score = "" },
    { question_id = '"', prediction = "\0\xFF\r", score = "," },
    { question_id = "\xEF\xBB\xBFmark", prediction = "é", score = "x" },
  }
  local text = fitness.csv_write(rows, columns)
  local back, message, names = fitness.csv_read(text)
  equal(back, rows)
  equal({ message, names }, { nil, columns })
  equal((fitness.csv_read(fitness.csv_write({ { a = "" }, { a = "x" } }, { "a" }))), { { a = "" }, { a = "x" } })
  equal(fitness.csv_write({ { a = " x" }, { a = "x " } }, { "a" }), 'a\n" x"\n"x "\n', "blanks that a reader may trim")
end)

test("numbers come back exactly, what is missing is empty, and the header can be left out", function()
  local text = fitness.csv_write({ { question_id = 1, score = 0.1 + 0.2 }, { question_id = true, score = json.null } }, columns)
  local rows = fitness.csv_read(text)
  equal(tonumber(rows[1].score), 0.1 + 0.2)
  equal(rows[2], { question_id = "true", prediction = "", score = "" })
  equal(fitness.csv_write({ { a = 1 } }, { "a" }, { header = false }), "1\n")
  raises("not a table", fitness.csv_write, { { a = {} } }, { "a" })
  raises("no columns", fitness.csv_write, {}, {})
end)

test("a torn last line is dropped and said, wherever it was torn", function()
  local text = 'id,prediction\nq1,yes\nq2,"a ""quoted"",\nlong one"\n'
  for length = 0, #text - 1 do
    local rows, message = fitness.csv_read(text:sub(1, length))
    local complete = length >= 21 and 1 or 0
    equal(rows and #rows, complete, "cut at " .. length)
    if length ~= 14 and length ~= 21 then matches(message, length == 0 and "not even a header" or "line %d is cut off") end
    if length == 21 then equal(message, nil) end
  end
end)

test("the last line of a finished writer counts without its end", function()
  equal((fitness.csv_read("id,p\nq1,yes", { whole = true })), { { id = "q1", p = "yes" } })
  equal((fitness.csv_read("id,p\nq1", { whole = true })), {})
  equal((fitness.csv_read('id,p\nq1,"ye', { whole = true })), {})
  equal((fitness.csv_read("\xEF\xBB\xBFid,p\r\nq1,a\r\n\r\nq2,b\r\n")), { { id = "q1", p = "a" }, { id = "q2", p = "b" } })
end)

test("what is no table is refused, with its line", function()
  refuses("line 3 has 3 fields, the header 2", fitness.csv_read("id,p\nq1,a\nq2,bq3,c\n"))
  refuses("line 2: text follows a closing quote", fitness.csv_read('id,p\n"a"b,c\n'))
  refuses('column "id" occurs twice', fitness.csv_read("id,id\n"))
end)

tap.done()
