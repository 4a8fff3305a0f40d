-- node: the output of `node --test`, by its reporters tap and spec. Indentation nests tests in suites and in other
-- tests; the summary at the end has the counts. Node counts a test with subtests as a test, a suite not, and never
-- counts a todo as a failure. A part of apsis.fitness.
local tally = require "apsis.fitness.parsers.tally"
local tap = require "apsis.fitness.parsers.tap"

local node = {}

local STATES = { ["✔"] = "passed", ["✖"] = "failed", ["﹣"] = "skipped" }
local PART = " > " -- between a suite's name and what is in it

local Reader = {}
Reader.__index = Reader

-- The counts of the summary: the last one for each name.
function Reader:summary(line, mark)
  if line:sub(1, #mark) ~= mark then return false end
  local name, count = line:match("^ (%l+) (%d+)%s*$", #mark + 1)
  if not name then return false end
  self.totals[name] = tonumber(count)
  return true
end

-- A result at a depth: deeper ones since the last result are its children.
function Reader:result(depth, name, state)
  local open, inside = self.open, {}
  while #open > 0 and open[#open].depth > depth do inside[#inside + 1] = table.remove(open) end
  for index = 1, #inside // 2 do
    inside[index], inside[#inside + 1 - index] = inside[#inside + 1 - index], inside[index]
  end
  self.last = { depth = depth, name = name, state = state, inside = inside }
  open[#open + 1] = self.last
end

-- ---- tap ----

-- A line of the YAML block after a result: the kind of test, and its error, which may span several lines.
local function block_line(self, line)
  local indent, last = self.block, self.last
  local text = line:sub(1, #indent) == indent and line:sub(#indent + 1) or ""
  if self.folded and (text == "" or text:find("^  ")) then
    self.folded = (self.folded .. "\n" .. text:sub(3)):sub(1, 2000)
    return
  end
  if self.folded then last.message, self.folded = self.folded, nil end
  if text:find("^%.%.%.%s*$") then self.block = nil
  elseif text:find("^type: 'suite'") then last.suite = true
  elseif text:find("^error: [|>]") then self.folded = ""
  elseif text:find("^error: ") then last.message = text:sub(8):match("^'(.*)'%s*$") or text:sub(8) end
end

local function tap_line(self, line)
  if self.block then return block_line(self, line) end
  local last = self.last
  if last and line:find("^ *%-%-%-") and line:find("[^ ]") == last.depth + 3 then
    self.block = (" "):rep(last.depth + 2)
  elseif not self:summary(line, "#") then
    self.planned = self.planned or line:find("^1%.%.%d") ~= nil
    local point = tap.point(line)
    if point then self:result(point.indent, point.name, point.directive and "skipped" or tap.state(point)) end
    if line:find("^Bail out!") then self.bailed = tally.cut(line:sub(10)) end
  end
end

-- ---- spec ----

-- The message of a failing test comes below it, deeper.
local function spec_message(last, line, depth)
  if last and last.state == "failed" and depth > last.depth and #(last.message or "") < 1000 then
    last.message = (last.message and last.message .. "\n" or "") .. line:sub(depth + 1)
  end
end

local function spec_line(self, line)
  if self:summary(line, "ℹ") or self.totals.tests then return end -- failing tests are repeated after the summary
  local depth = (line:find("[^ ]") or 1) - 1
  local mark, rest = line:match("^([\xE2\xEF][\x80-\xBF][\x80-\xBF]) (.*)$", depth + 1)
  local name, after = (rest or ""):match("^(.*) %([%d%.]+ms%)(.*)$")
  if not STATES[mark] then return spec_message(self.last, line, depth) end
  if not name then name, after = rest, "" end -- what was cancelled took no time
  -- a directive or its reason: no failure counts
  self:result(depth, name, after:find("^ # ") and "skipped" or STATES[mark])
end

-- ---- both ----

-- Adds the list to a tally. leaves: only entries without children.
local function collect(list, into, path, leaves)
  for _, result in ipairs(list) do
    local name = path .. result.name
    collect(result.inside, into, name .. PART, leaves)
    if not result.suite and not (leaves and #result.inside > 0) then into:add(name, result.state, result.message) end
  end
  return into
end

local function counts_of(totals)
  for _, name in ipairs { "tests", "pass", "fail" } do
    if not totals[name] then return nil, ("no summary (%s N) at the end, so the output may be cut off"):format(name) end
  end
  local counts = { passed = totals.pass, failed = totals.fail + (totals.cancelled or 0),
    skipped = (totals.skipped or 0) + (totals.todo or 0) }
  if counts.passed + counts.failed + counts.skipped ~= totals.tests then
    return nil, ("the summary says %d tests, but %d passed, %d failed and %d skipped"):format(totals.tests,
      counts.passed,
      counts.failed,
      counts.skipped)
  end
  return counts
end

function node.parse(text)
  local self = setmetatable({ open = {}, totals = {} }, Reader)
  local read = text:find("ℹ tests %d") and spec_line or tap_line
  for _, line in tally.lines(text) do read(self, line) end
  if self.bailed then return nil, "the tests bailed out: " .. self.bailed end
  if read == tap_line and not self.planned then return nil, "no plan (1..N), so the output may be cut off" end
  local counts, message = counts_of(self.totals)
  if not counts then return nil, message end
  local all = collect(self.open, tally.new(), "", false)
  if all.passed ~= counts.passed or all.failed ~= counts.failed then all = collect(self.open, tally.new(), "", true) end
  message = all:beyond(counts)
  if message then return nil, message .. "; does a test print such lines? (--test-reporter=tap keeps them apart)" end
  return all:result("node", counts)
end

return node
