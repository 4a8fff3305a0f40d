-- go: the output of `go test -v` and `go test -json`. Every test that go names counts, subtests and their parents
-- alike. A package that did not build, panicked or was cut off leaves no score: its number of tests is unknown. A
-- part of apsis.fitness.
local json = require "apsis.json"
local tally = require "apsis.fitness.parsers.tally"

local go = {}

local results = { PASS = "passed", FAIL = "failed", SKIP = "skipped" }
local actions = { pass = "passed", fail = "failed", skip = "skipped" }

-- ---- go test -v ----

local Text = {}
Text.__index = Text

local function package()
  return { order = {}, tests = {} }
end

function Text:run(name)
  local open = self.package
  if not open.tests[name] then open.order[#open.order + 1] = name end
  open.tests[name] = { lines = {} }
  self.verbose, self.last = true, open.tests[name]
end

function Text:finish(name, state)
  local test = self.package.tests[name]
  if not test then
    return ("%s has a result, but no \"=== RUN\": go test needs -v or -json, which name the tests "
      .. "that pass"):format(name)
  end
  test.state, self.last = state, test
end

-- Ends a package: path is nil if a test binary was run by itself. A binary that finishes prints PASS or FAIL first;
-- one that panicked, timed out or called os.Exit does not, and its remaining tests are unknown.
function Text:close(path, failed)
  local open, any = self.package, false
  if #open.order > 0 and self.bare ~= (failed and "FAIL" or "PASS") then
    return ("%s did not come to its end: it panicked, was killed, or ended by itself"):format(path or "the package")
  end
  for _, name in ipairs(open.order) do
    local test = open.tests[name]
    if not test.state then
      return ("%s began and has no result: it panicked, was killed, or the output is cut off"):format(name)
    end
    any = any or test.state == "failed"
    self.tally:add(path and path .. "." .. name or name, test.state, table.concat(test.lines, "\n"))
  end
  if failed and not any then
    return ("%s failed without a failing test: it did not build, or ended by itself"):format(path or "the package")
  end
  self.package, self.last, self.bare, self.packages = package(), nil, nil, self.packages + 1
end

-- The line that ends a package.
function Text:ending(line)
  local path, after = line:match("^ok%s+(%S+)()")
  if path then
    if not self.verbose and not line:find("no tests to run", after, true) then self.silent = path end
    return true, self:close(path, false)
  end
  path = line:match("^FAIL%s+(%S+)")
  if not path then return false end
  local why = line:match("%[(%l+ failed)%]", 1)
  if why then return true, ("%s: %s"):format(path, why) end
  return true, self:close(path, true)
end

function Text:line(line)
  local name = line:match("^%s*=== RUN%s+(%S+)")
  if name then return self:run(name) end
  local at = line:find("--- ", 1, true)
  if at then
    local word, found = line:match("^%-%-%- (%u+): (%S+) %([%d%.]+s%)%s*$", at)
    if results[word] then return self:finish(found, results[word]) end
  end
  local known, problem = self:ending(line)
  if known then return problem end
  if line == "PASS" or line == "FAIL" then
    self.bare = line
  elseif line:find("^panic: ") then
    self.panic = line
  elseif self.last and #self.last.lines < 20 and not line:find("^=== ") then
    self.last.lines[#self.last.lines + 1] = line
  end
end

local function parse_text(text)
  local self = setmetatable({ tally = tally.new(), package = package(), packages = 0 }, Text)
  for number, line in tally.lines(text) do
    local problem = self:line(line)
    if problem then
      return nil, ("line %d: %s"):format(number, self.panic and problem .. "; " .. tally.cut(self.panic) or problem)
    end
  end
  if #self.package.order > 0 then
    if not self.bare then
      return nil, "no \"ok\" or \"FAIL\" after the last tests: they panicked, were killed, or the output is cut off"
    end
    local problem = self:close(nil, self.bare == "FAIL")
    if problem then return nil, problem end
  end
  if self.packages == 0 then return nil, "no package's result (ok or FAIL) in the output" end
  if self.silent then return nil, self.silent .. " passed without naming its tests: go test needs -v or -json" end
  return self.tally:result "go"
end

-- ---- go test -json ----

local Events = {}
Events.__index = Events

function Events:package_of(event)
  local path = event.Package
  local found = self.packages[path]
  if not found then
    found = { path = path, tests = {}, order = {}, failing = false }
    self.packages[path], self.order[#self.order + 1] = found, found
  end
  return found
end

function Events:test(found, event)
  local test = found.tests[event.Test]
  if not test or event.Action == "run" then
    if not test then found.order[#found.order + 1] = event.Test end
    test = { output = {} }
    found.tests[event.Test] = test
  end
  local state = actions[event.Action]
  if state then
    test.state, found.failing = state, found.failing or state == "failed"
  elseif event.Action == "output" and type(event.Output) == "string" and #test.output < 40
    and not event.Output:find("^=== ") then
    test.output[#test.output + 1] = event.Output
  end
end

function Events:event(event)
  if type(event.Action) ~= "string" then return nil end
  self.seen = true
  if event.Action == "build-fail" then return ("%s did not build"):format(tostring(event.ImportPath)) end
  if type(event.Package) ~= "string" then return nil end
  local found = self:package_of(event)
  if type(event.Test) == "string" then
    self:test(found, event)
  elseif actions[event.Action] then
    found.ended = event.Action
    if event.Action == "fail" and not found.failing then
      return ("%s failed without a failing test: it did not build, or ended by itself"):format(found.path)
    elseif event.Action == "fail" and not found.whole then
      return ("%s did not come to its end: it panicked, was killed, or ended by itself"):format(found.path)
    end
  elseif event.Output == "FAIL\n" or event.Output == "FAIL\r\n" then
    found.whole = true
  end
end

function Events:close()
  for _, found in ipairs(self.order) do
    if not found.ended then return ("%s has no result at its end, so the output is cut off"):format(found.path) end
    for _, name in ipairs(found.order) do
      local test = found.tests[name]
      if not test.state then
        return ("%s.%s began and has no result: it panicked or was killed"):format(found.path, name)
      end
      self.tally:add(found.path .. "." .. name, test.state, table.concat(test.output))
    end
  end
end

local function parse_json(text)
  local self = setmetatable({ tally = tally.new(), packages = {}, order = {} }, Events)
  local number = 0
  for line in text:gmatch("[^\n]+") do
    number = number + 1
    if line:byte() == 123 then
      local event, message = json.decode(line, true)
      local problem
      if type(event) == "table" then problem = self:event(event)
      elseif line:find("\"Action\"", 1, true) then problem = message end
      if problem then return nil, ("line %d: %s"):format(number, problem) end
    end
  end
  if not self.seen then return nil, "no event of go test -json in the output" end
  local problem = self:close()
  if problem then return nil, problem end
  return self.tally:result "go"
end

-- Whether a text is the output of go test -json: one of its lines is an event.
function go.is_json(text)
  return text:find('^%s*{[^\n]*"Action":"') ~= nil or text:find('\n{[^\n]*"Action":"') ~= nil
end

function go.parse(text)
  if go.is_json(text) then return parse_json(text) end
  return parse_text(text)
end

return go
