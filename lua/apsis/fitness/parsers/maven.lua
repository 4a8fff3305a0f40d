-- maven: the output of surefire and failsafe in a Maven build: a line per class, and after a module's classes a
-- total, summed over modules. Passing methods are not named, so the items are classes; JUnit's XML has the methods. A
-- part of apsis.fitness.
local tally = require "apsis.fitness.parsers.tally"

local maven = {}

local NUMBERS = "^Tests run: (%d+), Failures: (%d+), Errors: (%d+), Skipped: (%d+)(.*)$"

local Reader = {}
Reader.__index = Reader

function Reader:class(run, bad, skipped, rest)
  local name = rest:match(" in (%S+)%s*$") or self.open or "a class without a name"
  local state = bad > 0 and "failed" or run == skipped and "skipped" or "passed"
  local item = self.tally:add(name, state)
  self.failing = item and not item.passed and item or nil
  self.open, self.since = nil, true
end

function Reader:total(run, bad, skipped)
  local counts = self.counts
  counts.passed, counts.failed, counts.skipped = counts.passed + run - bad - skipped, counts.failed + bad,
    counts.skipped + skipped
  if bad > 0 then self.red = self.red + 1 end
  self.totals, self.since, self.failing = self.totals + 1, false, nil
end

-- The line of a method that failed, below its class's: its name becomes the class's message.
function Reader:method(line)
  local name = self.failing and line:find("<<< %u+!%s*$") and line:match("^(%S+)")
  if name and #(self.failing.message or "") < 1000 then
    self.failing.message = (self.failing.message and self.failing.message .. "\n" or "") .. name
  end
end

-- The result of the build and of each module.
function Reader:reactor(line)
  if line:find("^BUILD %u+%s*$") then self.ended = tally.trim(line) end
  if line:find("%.%.%. FAILURE %[") then self.broken = self.broken + 1 end
  if line:find("%.%.%. SKIPPED%s*$") then self.left_out = self.left_out + 1 end
end

function Reader:line(line)
  local mark, inside = line:match("^%[(%u+)%] ?(.*)$")
  line = inside or line
  local run, failures, errors, skipped, rest = line:match(NUMBERS)
  if run then
    run, skipped = tonumber(run), tonumber(skipped)
    local bad = tonumber(failures) + tonumber(errors)
    if bad + skipped > run then return ("%d tests run, but %d failed or skipped"):format(run, bad + skipped) end
    if rest:find("Time elapsed", 1, true) then
      self:class(run, bad, skipped, rest)
    else
      self:total(run, bad, skipped)
    end
    return nil
  end
  local running = line:match("^Running (%S+)%s*$")
  if running then self.open, self.failing = running, nil end
  if line:find("^COMPILATION ERROR") then return "the compilation failed" end
  if mark == "ERROR" and line ~= "" then self.error = self.error or tally.cut(line) end
  self:method(line)
  self:reactor(line)
  return nil
end

-- Why the numbers are incomplete; nil if they cover the whole build.
function Reader:problem()
  if self.totals == 0 and self.ended == "BUILD FAILURE" then
    return "no test ran, and the build failed: " .. (self.error or "no reason given")
  end
  if self.totals == 0 then return "no \"Tests run: N, Failures: N, Errors: N, Skipped: N\" in the output" end
  if self.open or self.since then
    return ("%s has no total after it, so the output is cut off, or the tests were killed"):format(self.open
      or "the last class")
  end
  if not self.ended then
    return "no BUILD SUCCESS or BUILD FAILURE at the end: the output is cut off, or Maven ran with -q"
  end
  if self.ended == "BUILD FAILURE" and (self.red == 0 or self.broken > self.red) then
    return "the build failed for another reason than its tests: " .. (self.error or "none given")
  end
end

function maven.parse(text)
  local self = setmetatable({ tally = tally.new(), counts = { passed = 0, failed = 0, skipped = 0 }, totals = 0,
    red = 0, broken = 0,
    left_out = 0 }, Reader)
  for number, line in tally.lines(text) do
    local problem = self:line(line)
    if problem then return nil, ("line %d: %s"):format(number, problem) end
  end
  local problem = self:problem()
  if problem then return nil, problem end
  if self.left_out > 0 then
    self.tally:warn(("Maven skipped %d modules after a failure, and their tests are not counted: "
      .. "add -fae"):format(self.left_out))
  end
  return self.tally:result("maven", self.counts)
end

return maven
