-- tap: the Test Anything Protocol, versions 12 to 14. A stream is a plan and as many points; a text may contain
-- several streams. As the protocol requires, a subtest's points belong to its parent. A part of apsis.fitness; node's
-- own flavour is in node.lua.
local tally = require "apsis.fitness.parsers.tally"

local tap = {}

-- "skip" or "todo" if the description ends in such a directive; the description before it, the reason after it.
local function directive(text)
  local lower, from = text:lower(), 1
  while true do
    local at = lower:find("#", from, true)
    if not at then return nil, text end
    local word, last = lower:match("^[ \t]*(%a+)()", at + 1)
    word = word and (word:find("^skip") and "skip" or word == "todo" and word)
    if word and lower:byte(at - 1) ~= 92 then return word, text:sub(1, at - 1), tally.trim(text:sub(last)) end
    from = at + 1
  end
end

-- A point's line: { indent, passed, number, name, directive, reason }; nil for any other line.
function tap.point(line)
  local start = line:find("[^ ]")
  if not start then return nil end
  local passed, at = true, start + 2
  if line:sub(start, start + 5) == "not ok" then passed, at = false, start + 6
  elseif line:sub(start, start + 1) ~= "ok" then return nil end
  if at <= #line and not line:find("^%s", at) then return nil end
  local number, after = line:match("^%s+(%d+)%f[%s\0]()", at)
  local word, name, reason = directive(line:sub(after or at))
  name = tally.trim(name)
  name = tally.trim(name:match("^%-%s(.*)$") or name):gsub("\\([\\#])", "%1")
  return { indent = start - 1, passed = passed, number = tonumber(number), name = name, directive = word,
    reason = reason }
end

-- A point counts as passed, failed, or skipped; a failing todo counts as skipped.
function tap.state(point)
  if point.directive == "skip" or point.directive == "todo" and not point.passed then return "skipped" end
  return point.passed and "passed" or "failed"
end

-- ---- a stream ----

local Stream = {}
Stream.__index = Stream

local function stream()
  return setmetatable({ count = 0, numbers = {} }, Stream)
end

function Stream:is_complete()
  return self.plan ~= nil and self.count >= self.plan
end

function Stream:problem()
  if self.plan and self.count ~= self.plan then
    return ("the plan is 1..%d, but the output has %d results"):format(self.plan, self.count)
  end
  if not self.plan then
    return ("no plan (1..N) among %d results, so the output may be cut off"):format(self.count)
  end
end

function Stream:take(point)
  local number = point.number or self.count + 1
  if self.numbers[number] then return ("test %d occurs twice"):format(number) end
  if number < 1 or self.plan and number > self.plan then
    return ("test %d is beyond the plan 1..%s"):format(number, self.plan or "N")
  end
  self.numbers[number], self.count = true, self.count + 1
end

-- ---- the text ----

local Reader = {}
Reader.__index = Reader

-- The message of a failing test, in comments or in its YAML block.
function Reader:renew()
  if not self.stream:is_complete() then return nil end
  self.stream, self.failing = stream(), nil
end

function Reader:plan(line)
  local last = line:match("^1%.%.(%d+)%f[%s\0]")
  if not last then return false end
  if self.stream.plan then self:renew() end
  if self.stream.plan then return true, "a second plan begins before the first one is complete: " .. line end
  self.stream.plan, self.plans = tonumber(last), self.plans + 1
  for number in pairs(self.stream.numbers) do
    if number > self.stream.plan then
      return true, ("test %d is beyond the plan 1..%d"):format(number, self.stream.plan)
    end
  end
  return true
end

function Reader:point(line)
  local point = tap.point(line)
  if not point or point.indent > 0 then return false end
  if point.number == 1 then self:renew() end
  local problem = self.stream:take(point)
  if problem then return true, problem end
  local name = point.name ~= "" and point.name or "test " .. self.stream.count
  local item = self.tally:add(name, tap.state(point))
  self.failing = item and not item.passed and item or nil
  return true
end

-- What a failing test has to say, in comments or in its block of YAML.
function Reader:diagnosis(text)
  local item = self.failing
  if not item or #(item.message or "") > 1000 then return end
  item.message = (item.message and item.message .. "\n" or "") .. text
end

function Reader:line(line)
  if self.block then
    if line:find("^  %.%.%.%s*$") then self.block = false else self:diagnosis(line) end
    return nil
  end
  if line:find("^  %-%-%-") then self.block = true return nil end
  if line:find("^Bail out!") then return "the tests bailed out: " .. tally.cut(line:sub(10)) end
  if line:find("^TAP version %d+") then return self:renew() end
  local known, problem = self:plan(line)
  if not known then known, problem = self:point(line) end
  if not known and line:byte() == 35 then self:diagnosis(line:sub(2)) end
  return problem
end

function tap.parse(text)
  local reader = setmetatable({ tally = tally.new(), stream = stream(), plans = 0, block = false }, Reader)
  for number, line in tally.lines(text) do
    local problem = reader:line(line)
    if problem then return nil, ("line %d: %s"):format(number, problem) end
  end
  if reader.block then return nil, "the output ends within a block of YAML" end
  if reader.plans == 0 and reader.stream.count == 0 then
    return nil, "no TAP in the output: neither a plan nor a result"
  end
  local problem = reader.stream:problem()
  if problem then return nil, problem end
  for _, item in ipairs(reader.tally.items) do
    if item.message then item.message = tally.cut(item.message) end
  end
  return reader.tally:result "tap"
end

return tap
