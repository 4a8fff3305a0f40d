-- cargo: the output of `cargo test`: for each binary "running N tests", a line per test, and "test result: ...",
-- which has the counts. A killed binary prints no such line, and one that did not compile prints none of these:
-- neither is a score. A part of apsis.fitness.
local tally = require "apsis.fitness.parsers.tally"

local cargo = {}

local words = { ok = "passed", FAILED = "failed", ignored = "skipped" }
local RESULT = "^test result: %a+%. (%d+) passed; (%d+) failed; (%d+) ignored; (%d+) measured"

local Reader = {}
Reader.__index = Reader

function Reader:finish(passed, failed, ignored, measured)
  if not self.running then
    return "a \"test result\" without its \"running N tests\", so the beginning may be cut off"
  end
  local sum = passed + failed + ignored + measured
  if sum ~= self.running then return ("running %d tests, but the result is of %d"):format(self.running, sum) end
  local counts = self.counts
  counts.passed, counts.failed, counts.skipped = counts.passed + passed, counts.failed + failed,
    counts.skipped + ignored
  self.running, self.sections = nil, self.sections + 1
end

-- "test NAME ... ok"; the test's own output may come before the word, or move it to a later line.
function Reader:test(line)
  local name, result = line:match("^test (.-) %.%.%. (.*)$")
  if not name then return end
  local word = result:match("^(%a+)")
  if not words[word] then word = result:match("^.*%f[%a](%a+)%s*$") end
  if words[word] then self.tally:add((name:gsub(" %- should panic$", "")), words[word]) end
end

-- "---- NAME stdout ----" and what a failing test printed.
function Reader:output(line)
  local name = line:match("^%-%-%-%- (.*) stdout %-%-%-%-$")
  if name then
    local item = self.tally.by_name[name]
    self.telling = item and not item.passed and item or nil
  elseif line == "failures:" then
    self.telling = nil
  elseif self.telling and #(self.telling.message or "") < 1000 then
    self.telling.message = (self.telling.message and self.telling.message .. "\n" or "") .. line
  end
end

function Reader:line(line)
  local number = line:match("^running (%d+) tests?$")
  if number then
    if self.running then
      return ("\"running %s tests\" begins before the binary before it has ended; was it killed?"):format(number)
    end
    self.running, self.telling = tonumber(number), nil
    return nil
  end
  local passed, failed, ignored, measured = line:match(RESULT)
  if passed then return self:finish(tonumber(passed), tonumber(failed), tonumber(ignored), tonumber(measured)) end
  if line:find("^error: could not compile") then return tally.cut(line) end
  if line:find("^error: test failed, to rerun pass") then self.stopped = true end
  if line:find("^error: %d+ targets? failed:") then self.all = true end
  self:test(line)
  self:output(line)
  return nil
end

function cargo.parse(text)
  local self = setmetatable({ tally = tally.new(), counts = { passed = 0, failed = 0, skipped = 0 }, sections = 0 },
    Reader)
  for number, line in tally.lines(text) do
    local problem = self:line(line)
    if problem then return nil, ("line %d: %s"):format(number, problem) end
  end
  if self.running then
    return nil, ("running %d tests, but no \"test result\" follows: cut off, or killed"):format(self.running)
  end
  if self.sections == 0 then return nil, "no \"running N tests\" and \"test result\" in the output" end
  local message = self.tally:beyond(self.counts)
  if message then return nil, message end
  for _, item in ipairs(self.tally.items) do
    if item.message then item.message = tally.cut(item.message) end
  end
  if self.stopped and not self.all then
    self.tally:warn("cargo stops at the first binary with a failure, and the others' tests are not counted: add "
      .. "--no-fail-fast")
  end
  return self.tally:result("cargo", self.counts)
end

return cargo
