-- junit: test results as XML: testsuites, testsuite, testcase with failure, error or skipped. Several documents in
-- one text are read in turn, as from `cat target/surefire-reports/*.xml`. A part of apsis.fitness.
local tally = require "apsis.fitness.parsers.tally"
local xml = require "apsis.fitness.parsers.xml"

local junit = {}

local FAILED = { failed = true, fail = true, failure = true, error = true }
local SKIPPED = { notrun = true, disabled = true, skipped = true, suppressed = true, ignored = true }

local function child(element, name)
  for _, one in ipairs(element.children) do
    if one.name == name then return one end
  end
end

local function message_of(element)
  local text = tally.trim(table.concat(element.texts))
  local claimed = element.attributes.message or ""
  if claimed == "" or text:find(claimed, 1, true) then return text ~= "" and text or element.attributes.type end
  return text == "" and claimed or claimed .. "\n" .. text
end

-- A test's state and message. An expected failure is written as skipped, by some writers with its failure.
local function verdict(case)
  local skipped, bad = child(case, "skipped"), child(case, "failure") or child(case, "error")
  local status, result = (case.attributes.status or ""):lower(), (case.attributes.result or ""):lower()
  if skipped or SKIPPED[status] or SKIPPED[result] then return "skipped" end
  if bad then return "failed", message_of(bad) end
  if FAILED[status] or FAILED[result] then return "failed", "status " .. (FAILED[status] and status or result) end
  return "passed"
end

-- CLASS.NAME, preceded by the names of nested suites.
local function name_of(case, path)
  local class, name = case.attributes.classname or "", case.attributes.name or ""
  if class ~= "" and name:sub(1, #class) ~= class then name = class .. "." .. name end
  return path .. name
end

local Suite = {}
Suite.__index = Suite

local function suite_of()
  return setmetatable({ direct = 0, cases = 0, failed = 0, skipped = 0, suites = 0 }, Suite)
end

function Suite:add(other)
  self.suites = self.suites + other.suites + 1
  for _, key in ipairs { "cases", "failed", "skipped" } do self[key] = self[key] + other[key] end
end

local function number(element, name)
  return tonumber(element.attributes[name]) or 0
end

-- Why a suite's own numbers contradict its cases. Writers count differently, so only what no way of counting explains
-- is reported: missing cases, failures without a case, far too many cases.
function Suite:problem(element)
  local claimed = tonumber(element.attributes.tests)
  local failures, name = number(element, "failures") + number(element, "errors"), element.attributes.name
    or "without a name"
  if claimed and claimed > math.max(self.cases, self.direct + self.suites) + number(element, "errors") then
    return ("suite %s says %d tests, but has %d"):format(name, claimed, self.cases)
  end
  if claimed and claimed < self.direct - self.skipped then
    return ("suite %s says %d tests, but has %d"):format(name, claimed, self.direct)
  end
  if failures > 0 and self.failed == 0 and self.skipped == 0 or failures > self.failed + self.skipped + self.suites then
    return ("suite %s says %d failures and errors, but has %d"):format(name, failures, self.failed)
  end
end

local function walk(element, into, path)
  local suite = suite_of()
  for _, one in ipairs(element.children) do
    if one.name == "testcase" then
      local state, message = verdict(one)
      into:add(name_of(one, path), state, message)
      suite.direct, suite.cases = suite.direct + 1, suite.cases + 1
      if state ~= "passed" then suite[state] = suite[state] + 1 end
    elseif one.name == "testsuite" then
      local name = one.attributes.name or ""
      local inner, problem = walk(one, into, element.name == "testsuite" and name ~= "" and path .. name .. " > "
        or path)
      if not inner then return nil, problem end
      suite:add(inner)
    end
  end
  local problem = suite:problem(element)
  if problem then return nil, problem end
  return suite
end

function junit.parse(text)
  local roots, message = xml.read(text, { "%?xml", "!DOCTYPE", "testsuites?[%s/>]" })
  if not roots then return nil, message end
  local into, found = tally.new(), false
  for _, root in ipairs(roots) do
    if root.name == "testsuites" or root.name == "testsuite" then
      found = true
      local suite
      suite, message = walk(root, into, "")
      if not suite then return nil, message end
    end
  end
  if not found then return nil, "no <testsuite> or <testsuites> in the output" end
  return into:result "junit"
end

return junit
