-- fitness.parse: the outputs in tests/data/fitness/runners, each from the real program (its README names the versions), and what else may
-- stand around them. Without these a project that runs `npm test` has no score.
local fitness = require "apsis.fitness"
local fs = require "apsis.fs"
local tap = require "tap"
local test, equal, matches = tap.test, tap.equal, tap.matches

local SANITIZED = os.getenv "APSIS_SANITIZED" ~= nil
local DIR = "../data/fitness/runners/"

local function sample(name)
  return assert(fs.read(DIR .. name .. ".txt"))
end

-- "passed failed skipped", and the ids, a failing one's with a minus before it.
local function brief(result)
  local list = {}
  for index, item in ipairs(result.items) do list[index] = (item.passed and "" or "-") .. item.id end
  return ("%d %d %d"):format(result.passed, result.failed, result.skipped), list
end

local function with(prefix, list)
  local made = {}
  for index, name in ipairs(list) do made[index] = (name:gsub("^%-?", "%0" .. prefix)) end
  return made
end

local none = { counts = "0 0 0", items = {} }
local function pass(...) return { counts = "2 0 0", items = { ... } } end
local function broken(...) return { counts = "2 1 0", items = { ... } } end

local jest = { "price.test.js > adds", "-price.test.js > discount > takes ten percent", "price.test.js > discount > is › never negative",
  "-price.test.js > discount > of nothing > throws", "price.test.js > discount > of nothing > is 0", "price.test.js > keeps 1 as 1",
  "-price.test.js > keeps 2 as 3", "cart.test.js > adds", "-cart.test.js > setup > needs it" }
local jest_json = { counts = "5 4 2", items = with("/srv/shop/jest/mixed/", jest) }
local jest_verbose = { counts = "5 4 2", items = with("./", { "price.test.js > adds", "price.test.js > keeps 1 as 1",
  "-price.test.js > keeps 2 as 3", "-price.test.js > discount > takes ten percent", "price.test.js > discount > is > never negative",
  "-price.test.js > discount > of nothing > throws", "price.test.js > discount > of nothing > is 0", "cart.test.js > adds",
  "-cart.test.js > setup > needs it" }) }
local vitest_text = { counts = "5 4 3", items = with("price.test.js > ", { "adds", "-takes ten percent", "is > never negative", "-throws",
  "is 0", "keeps 1 as 1", "-keeps 2 as 3" }) }
table.insert(vitest_text.items, "cart.test.js > adds")
local vitest_json = with("/srv/shop/vitest/mixed/", { "cart.test.js > adds", "-cart.test.js", table.unpack(jest, 1, 7) })
local mocha = { counts = "5 4 2", items = { "adds", "adds#2", '-setup > "before all" hook for "needs it"', "teardown > is fine",
  '-teardown > "after each" hook for "is fine"', "-discount > takes ten percent", "discount > is slow (12ms)",
  "-discount > of nothing > throws", "discount > of nothing > is 0" } }
local node = { counts = "2 3 2", items = { "adds", "-discount > takes ten percent", "-discount > throws", "discount > prints",
  "-discount > with a database > needs it" } }
local unittest = { "-test_price.CartTest.setUpClass", "-test_price.PriceTest.test_throws", "-test_price.PriceTest.test_discount",
  "-test_price.PriceTest.test_parts", "-test_price.PriceTest.test_surprise" }
local rspec = { counts = "3 4 3", items = with("total with a d", { "-iscount takes ten percent", "-iscount throws",
  "-iscount is a surprise", "-atabase needs it" }) }
local phpunit = { counts = "3 4 2", items = with("PriceTest::", { "-testThrows", "-testWarns", "-testDiscount",
  '-testKeeps with data set "two" (2, 3)' }) }
local testdox = { "Adds", "-Discount", "-Throws", "Nothing", 'Keeps with data set "one"', '-Keeps with data set "two"', "-Warns" }
local testdox_colour = { "Adds", "-Discount", "-Throws", "Nothing", "Keeps with one", "-Keeps with two", "-Warns" }
local ctest = { counts = "2 4 2", items = { "adds", "-ten_percent", "prints", "-throws", "-slow", "-missing" } }
local busted = { counts = "2 3 2", items = with("total with a d", { "-iscount takes ten percent", "-iscount throws", "-atabase setup" }) }
local bats = { "adds", "-takes ten percent # hard", "-throws", "prints" }

-- Each sample by its name, which begins with its format.
local samples = {
  jest_json_mixed = jest_json, jest_json_colour = jest_json, jest_text_none = none, jest_verbose_mixed = jest_verbose,
  jest_json_pass = pass("/srv/shop/jest/pass/cart.test.js > adds", "/srv/shop/jest/pass/cart.test.js > cart > removes"),
  jest_json_broken = broken("-/srv/shop/jest/broken/syntax.test.js", "/srv/shop/jest/broken/cart.test.js > adds",
    "/srv/shop/jest/broken/cart.test.js > cart > removes"),
  jest_text_mixed = { counts = "5 4 2", items = with("./", { jest[2], jest[4], jest[7], jest[9] }) },
  jest_text_pass = pass("./cart.test.js > adds", "./cart.test.js > cart > removes"), jest_text_broken = broken(),
  jest_verbose_colour = jest_verbose,
  jest_verbose_pass = pass("./cart.test.js > adds", "./cart.test.js > cart > removes"),
  jest_verbose_broken = broken("./cart.test.js > adds", "./cart.test.js > cart > removes"),
  vitest_json_mixed = { counts = "5 4 3", items = vitest_json }, vitest_json_none = none, vitest_text_none = none,
  vitest_json_pass = pass("/srv/shop/vitest/pass/cart.test.js > adds", "/srv/shop/vitest/pass/cart.test.js > cart > removes"),
  vitest_json_broken = broken("/srv/shop/vitest/broken/cart.test.js > adds", "/srv/shop/vitest/broken/cart.test.js > cart > removes",
    "-/srv/shop/vitest/broken/syntax.test.js"),
  vitest_text_plain = vitest_text, vitest_text_colour = vitest_text, vitest_text_pass = pass(), vitest_text_broken = broken(),
  -- these two name no test, and their failed file is the failed test's
  vitest_dot_mixed = { counts = "1 1 2", items = {} }, jest_summary_mixed = { counts = "1 1 2", items = {} },
  vitest_text_only = { counts = "0 1 0", items = {} }, vitest_text_expected = pass(),
  vitest_verbose_mixed = { counts = "5 4 3", items = { jest[1], jest[2], "price.test.js > discount > is > never negative",
    table.unpack(jest, 4, 8) } },
  mocha_json_mixed = { counts = "5 4 2", items = { "adds", "adds#2", "teardown is fine", "discount is slow (12ms)",
    "discount of nothing is 0", '-setup "before all" hook for "needs it"', '-teardown "after each" hook for "is fine"',
    "-discount takes ten percent", "-discount of nothing throws" } },
  mocha_json_none = none, mocha_json_pass = pass("adds", "cart removes"), mocha_spec_none = none, mocha_spec_mixed = mocha,
  mocha_spec_colour = mocha, mocha_spec_pass = pass("adds", "cart > removes"), mocha_dot_mixed = { counts = "5 4 2", items = {} },
  node_tap_mixed = node, node_spec_mixed = node, node_spec_colour = node, node_tap_none = none, node_spec_none = none,
  node_tap_pass = pass("adds", "cart > removes"), node_spec_pass = pass("adds", "cart > removes"),
  node_tap_broken = broken("adds", "cart > removes", "-/srv/shop/node/broken/syntax.test.js"),
  node_spec_broken = broken("adds", "cart > removes", "-/srv/shop/node/broken/syntax.test.js"),
  unittest_text_mixed = { counts = "2 5 2", items = unittest }, unittest_text_none = none, unittest_text_pass = pass(),
  unittest_text_broken = broken "-unittest.loader._FailedTest.test_syntax",
  unittest_verbose_mixed = { counts = "2 5 2", items = { "test_price.PriceTest.test_adds", "test_price.PriceTest.test_prints",
    table.unpack(unittest) } },
  unittest_verbose_pass = pass("test_cart.CartTest.test_adds", "test_cart.CartTest.test_removes"),
  rspec_text_mixed = rspec, rspec_doc_mixed = rspec, rspec_doc_colour = rspec, rspec_text_none = none, rspec_json_none = none,
  rspec_text_pass = pass(), rspec_json_pass = pass("cart adds", "cart removes"),
  rspec_json_mixed = { counts = "3 4 3", items = { "total adds", rspec.items[1],
    "total with a discount is never negative (FAILED - 9)", rspec.items[2], "total with a discount prints", rspec.items[3],
    rspec.items[4] } },
  rspec_text_broken = { counts = "0 1 0", items = {} }, rspec_json_broken = { counts = "0 1 0", items = { "-error outside of the examples" } },
  phpunit_text_mixed = phpunit, phpunit_text_colour = phpunit, phpunit_text_none = none, phpunit_text_pass = pass(),
  phpunit_text_risky = pass(), phpunit_testdox_mixed = { counts = "3 4 2", items = with("Price > ", testdox) },
  phpunit_testdox_colour = { counts = "3 4 2", items = with("Price > ", testdox_colour) },
  phpunit_testdox_pass = pass("Cart > Adds", "Cart > Removes"),
  dotnet_docs_pass = { counts = "3 0 0", items = {} }, dotnet_docs_fail = { counts = "2 1 0", items = { "-TestDoesNotStartWithUpper" } },
  ctest_text_mixed = ctest, ctest_verbose_mixed = ctest, ctest_text_colour = ctest, ctest_text_none = none,
  ctest_text_pass = pass("adds", "removes"),
  ctest_failed_mixed = { counts = "2 4 2", items = { "-ten_percent", "-throws", "-missing", "adds", "prints", "-slow" } },
  busted_text_mixed = busted, busted_utf_mixed = busted, busted_text_none = none, busted_text_pass = pass(),
  busted_text_broken = broken "-spec/syntax_spec.lua",
  busted_tap_mixed = { format = "tap", counts = "2 3 2", items = { "total adds", "-total with a discount takes ten percent",
    "-total with a discount throws", "total with a discount prints", "-total with a database setup" } },
  bats_pretty_mixed = { counts = "2 3 2", items = { table.unpack(with("./price.bats > ", bats)) } },
  bats_pretty_none = none, bats_pretty_pass = pass("./cart.bats > adds", "./cart.bats > removes"),
  bats_pretty_broken = broken("./cart.bats > adds", "./cart.bats > removes", "-./syntax.bats > setup_file failed"),
  bats_tap_mixed = { format = "tap", counts = "2 3 2", items = { "adds", "-takes ten percent # hard", "-throws", "prints",
    "-setup_file failed" } },
  bats_tap_none = { format = "tap", counts = "0 0 0", items = {} },
  bats_tap_pass = { format = "tap", counts = "2 0 0", items = { "adds", "removes" } },
  bats_tap_broken = { format = "tap", counts = "2 1 0", items = { "adds", "removes", "-setup_file failed" } },
}
table.insert(samples.bats_pretty_mixed.items, "-./setup.bats > setup_file failed")

local names = {}
for name, one in pairs(samples) do
  names[#names + 1] = name
  one.formats = one.formats or {}
end
table.sort(names)

local function format_of(name) return samples[name].format or name:match("^(%w+)_") end

-- What a build prints before and after it.
local BEFORE = "\n> shop@1.0.0 pretest\n> tsc -p .\n\nnpm warn deprecated inflight@1.0.6: leaks memory\n{ this is no JSON\n[1/2] building\n"
local AFTER = "npm notice\nnpm error Lifecycle script `test` failed with error:\nnpm error code 1\n\nDone in 3 s.\n"

for _, name in ipairs(names) do
  local expected = samples[name]
  test(name .. ": its counts and items are those of the runner, whatever the lines end in and whatever stands around it", function()
    local text, format = sample(name), format_of(name)
    for _, given in ipairs { text, (text:gsub("\n", "\r\n")), BEFORE .. text .. "\n" .. AFTER } do
      for _, asked in ipairs { "auto", format } do
        local result, message = fitness.parse(asked, given)
        if not result then error(message) end
        local counts, list = brief(result)
        table.sort(list)
        local items = table.move(expected.items, 1, #expected.items, 1, {})
        table.sort(items)
        equal({ result.format, counts, list }, { format, expected.counts, items }, asked)
      end
    end
  end)
end

test("every file of the folder is one of these", function()
  local found = {}
  for _, file in ipairs(assert(fs.list(DIR))) do
    if file:find("%.txt$") then found[#found + 1] = file:gsub("%.txt$", "") end
  end
  table.sort(found)
  equal(found, names)
end)

test("no other format reads any of them, but that node's TAP is TAP", function()
  for _, name in ipairs(names) do
    for _, format in ipairs(fitness.formats) do
      local may = format == "auto" or format == format_of(name) or format == "tap" and name:find("^node_tap")
      local result = not may and fitness.parse(format, sample(name))
      if result then error(("%s reads %s: %s"):format(format, name, (brief(result)))) end
    end
  end
end)

test("one that is cut off has no score, or what is missing came after the counts", function()
  for _, name in ipairs(names) do
    local text, own = sample(name), samples[name]
    for length = 0, #text - 1, SANITIZED and 997 or 37 do
      local result = fitness.parse(format_of(name), text:sub(1, length))
      if result and (result.failed ~= 0 or result.passed ~= 0) and brief(result) ~= own.counts then
        error(("%s cut at %d gives %s, not %s"):format(name, length, (brief(result)), own.counts))
      end
    end
  end
end)

test("the packages of a workspace, one after the other, are added up", function()
  for _, name in ipairs(names) do
    local format = format_of(name)
    local second = format == "dotnet" and "dotnet_docs_pass" or name:gsub("_%w+$", "_pass")
    if not samples[second] then second = format .. "_text_pass" end
    if format ~= "tap" and format ~= "node" and samples[name].counts ~= "0 0 0" and samples[second] then
      local one = assert(fitness.parse(format, sample(name)))
      local both = assert(fitness.parse(format, sample(name) .. "\n" .. sample(second)))
      equal({ name, both.passed - one.passed, both.failed, both.skipped }, { name, format == "dotnet" and 3 or 2, one.failed,
        one.skipped })
    end
  end
end)

test("dotnet: the other summaries that its versions print", function()
  local function counts(text) return (brief(assert(fitness.parse("auto", text)))) end
  equal(counts("  Passed A.One [3 s]\n  Failed A.Two [48 ms]\n\nTest Run Failed.\nTotal tests: 3\n     Passed: 1\n     Failed: 1\n"
    .. "    Skipped: 1\n Total time: 1.2 Seconds\n"), "1 1 1")
  equal(counts "Test summary: total: 17, failed: 1, succeeded: 16, skipped: 0, duration: 1.0s\nBuild failed with 1 error(s) in 1.7s\n",
    "16 1 0")
  equal(counts("Test run summary: Passed! - bin/Tests.dll (net8.0|x64)\n  total: 12\n  failed: 0\n  succeeded: 12\n  skipped: 0\n"
    .. "  duration: 8s 095ms\n"), "12 0 0")
end)

test("a count of which it is not known whether it is of failures is refused; bats may say how long it took", function()
  local text = sample "phpunit_text_mixed"
  matches(select(2, fitness.parse("phpunit", (text:gsub("Risky: 1", "Doomed: 1")))), 'not known whether "Doomed: 1" are failures')
  equal((brief(assert(fitness.parse("bats", "7 tests, 3 failures, 2 skipped in 12 seconds\n")))), "2 3 2")
  equal((brief(assert(fitness.parse("bats", "7 tests, 3 failures, 1 not run\n")))), "3 4 0")
end)

test("a failed test of one name in two packages is two, and a file of one name that fails in both is no error", function()
  for _, name in ipairs { "unittest_text_mixed", "unittest_verbose_mixed", "jest_text_mixed", "vitest_text_plain", "phpunit_text_mixed",
    "rspec_doc_mixed", "busted_text_mixed", "ctest_text_mixed" } do
    local one, both = fitness.parse("auto", sample(name)), fitness.parse("auto", sample(name) .. sample(name))
    equal({ both.passed, both.failed, both.skipped, #both.items }, { 2 * one.passed, 2 * one.failed, 2 * one.skipped, 2 * #one.items }, name)
  end
end)

test("what a test prints with a mark before it is no test of Jest's", function()
  local noisy = sample "jest_text_mixed":gsub("      Tests: 9 passed, 9 total", "      ✓ is done\n%0")
  equal(select(2, brief(fitness.parse("auto", noisy))), select(2, brief(fitness.parse("auto", sample "jest_text_mixed"))))
end)

test("lines that go on and on are read in linear time", function()
  local size = SANITIZED and 1000 or 8000
  for _, piece in ipairs { " ", ".", "1 ", " (1", "a: ", "(1 test", " ..a", "1,", "› ", "[", "=" } do
    for _, start in ipairs { "  ✓ x", "1/1 Test #1: a .", "Test Suites: 1\nTests: ", "FAIL ", "  Passed ", "ERROR: a (", " Test Files \n Tests  ",
      "  1) ", "{" } do
      local text = ((start .. piece:rep(size // #piece) .. "y total\n"):rep(4))
      for _, format in ipairs(fitness.formats) do fitness.parse(format, text) end
    end
  end
end)

test("what a failing test said is kept where JSON has it, without colours", function()
  local said = {}
  for _, item in ipairs(assert(fitness.parse("auto", sample "jest_json_colour")).items) do said[#said + 1] = item.message end
  matches(said[1], "^Error: expect%(received%)%.toBe%(expected%)")
  equal(said[1]:find("\27", 1, true), nil)
end)

test("JSON whose counts its tests do not bear out, or that is no object of that form, is refused", function()
  local text = sample "jest_json_mixed"
  for _, changed in ipairs { (text:gsub('"numPassedTests":5', '"numPassedTests":6')), (text:gsub('"testResults":%[', '"testResults":7,"x":[')) } do
    equal(fitness.parse("auto", changed), nil)
  end
  matches(select(2, fitness.parse("auto", (text:gsub('"numFailedTests":4', '"numFailedTests":5')))), "says 5 passed and 5 failed, but 5 and 4")
end)

tap.done()
