-- documents: the JSON that Jest, Vitest, Mocha and RSpec print, amid any other output: an object that begins its line.
-- Several (of a package each) are added up. A part of apsis.fitness.
local json = require "apsis.json"
local tally = require "apsis.fitness.parsers.tally"

local documents = {}

local PART = " > " -- between a file's or a suite's name and what is in it

local states = { passed = "passed", failed = "failed" } -- all others were not run

local function list(value)
  return type(value) == "table" and value or {}
end

local function message_of(one)
  local found = list(one.failureMessages)[1] or list(one.err).message or list(one.exception).message
  return type(found) == "string" and tally.plain(found) or nil
end

-- Jest's, and Vitest's after it: a suite that does not load, or whose set-up fails, is its file's failure.
local function of_files(value, into)
  for _, file in ipairs(value.testResults) do
    local name, failed = tostring(file.name), false
    for _, one in ipairs(list(file.assertionResults)) do
      local parts = table.move(list(one.ancestorTitles), 1, #list(one.ancestorTitles), 2, { name })
      parts[#parts + 1] = one.title
      failed = failed or one.status == "failed"
      into:add(table.concat(parts, PART), states[one.status] or "skipped", message_of(one))
    end
    if file.status == "failed" and not failed then into:add(name, "failed", tally.plain(tostring(file.message))) end
  end
  return value.numPassedTests, value.numTotalTests and value.numFailedTests
end

local function mocha(value, into)
  for key, state in pairs { passes = "passed", failures = "failed", pending = "skipped" } do
    for _, one in ipairs(value[key]) do into:add(tostring(one.fullTitle), state, message_of(one)) end
  end
  return value.stats.passes, value.stats.failures
end

local function rspec(value, into)
  for _, one in ipairs(value.examples) do
    into:add(tostring(one.full_description), states[one.status] or "skipped", message_of(one))
  end
  local outside = value.summary.errors_outside_of_examples_count or 0
  for number = 1, outside do into:add("error outside of the examples", "failed", list(value.messages)[number]) end
  return value.summary.example_count - value.summary.failure_count - value.summary.pending_count,
    value.summary.failure_count
end

-- has, not: keys of the text.
local kinds = {
  jest = { has = { "numTotalTests", "numRuntimeErrorTestSuites" }, read = of_files },
  vitest = { has = { "numTotalTests" }, lacks = "numRuntimeErrorTestSuites", read = of_files },
  mocha = { has = { "stats", "passes", "failures", "pending" }, read = mocha },
  rspec = { has = { "summary_line", "examples" }, read = rspec },
}
documents.names = { "jest", "vitest", "mocha", "rspec" }

local function is(kind, text)
  for _, key in ipairs(kind.has) do
    if not text:find('"' .. key .. '":', 1, true) then return false end
  end
  return not (kind.lacks and text:find('"' .. kind.lacks .. '":', 1, true))
end

-- Goes over the objects that begin a line: in that line, or in those up to a brace that begins one.
local function objects(text)
  local at = text:byte() == 123 and 1 or (text:find("\n{", 1, true) or #text) + 1
  return function()
    if at > #text then return nil end
    local last = (text:find("\n", at, true) or #text + 1) - 1
    if text:find("^{%s*\n", at) then last = (text:find("\n}", at, true) or #text) + 1 end
    local object = text:sub(at, last)
    at = (text:find("\n{", last, true) or #text) + 1
    return object
  end
end

-- Whether a text has an object of a kind.
function documents.shows(name, text)
  if not kinds[name] or not is({ has = { kinds[name].has[1] } }, text) then return false end
  for object in objects(text) do
    if is(kinds[name], object) then return true end
  end
  return false
end

function documents.parse(name, text)
  local into, kind = tally.new(), kinds[name]
  for object in objects(text) do
    if is(kind, object) then
      local value, message = json.decode(object, true)
      if value == nil then return nil, (tostring(message):gsub("^EJSON: ", "")) end
      local before_passed, before_failed = into.passed, into.failed
      local ok, passed, failed = pcall(kind.read, value, into)
      if not ok then return nil, "its JSON has not the form of this format" end
      if into.passed - before_passed ~= passed or into.failed - before_failed < failed then
        return nil, ("the summary says %s passed and %s failed, but %d and %d such results stand in it"):format(passed,
          failed, into.passed - before_passed, into.failed - before_failed)
      end
    end
  end
  return into:result(name)
end

return documents
