-- pytest: the output of pytest: its last line has the counts; with -v every test has a line, otherwise only failed
-- ones are named. An error (in a fixture, or while collecting) is a failure; an expected failure counts as skipped. A
-- part of apsis.fitness.
local regex = require "apsis.regex"
local tally = require "apsis.fitness.parsers.tally"

local pytest = {}

local STATE = "(PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)"
local verbose = assert(regex.compile("^(\\S*::.*?) " .. STATE
  .. "(?: \\(.*\\))?\\s*(?:\\[[ \\d%/]+\\]|[\\d.]+m?s)?\\s*$"))
local distributed = assert(regex.compile("^\\[gw\\d+\\] (?:\\[[ \\d%/]+\\] )?" .. STATE .. " (\\S*::.*?)\\s*$"))
local brief = assert(regex.compile "^(FAILED|ERROR) (\\S.*)$")

local states = { PASSED = "passed", FAILED = "failed", ERROR = "failed", SKIPPED = "skipped", XFAIL = "skipped",
  XPASS = "passed" }

-- Where each count of the last line goes; false is no result.
local counted = {
  passed = "passed", xpassed = "passed", failed = "failed", error = "failed", errors = "failed", skipped = "skipped",
  xfailed = "skipped", warning = false, warnings = false, deselected = false, rerun = false, reruns = false,
  ["subtests passed"] = false, ["subtests failed"] = "failed", ["subtests skipped"] = false,
}

-- The counts of a line such as "=== 2 failed, 7 passed in 0.12s ==="; nil if it is none.
local function summary(line)
  if not line:find(" in ", 1, true) then return nil end
  local first = line:find("[^=%s]")
  local body, rest = line:match("^(.*) in [%d%.]+s(.*)$", first or 1)
  if not body or not rest:find("^[ %(%)%d:]*=*$") then return nil end
  local counts = { passed = 0, failed = 0, skipped = 0 }
  if body == "no tests ran" then return counts end
  for part in (body .. ", "):gmatch("(.-), ") do
    local number, name = part:match("^(%d+) (.+)$")
    local into = counted[name]
    if into == nil then return nil end
    if into then counts[into] = counts[into] + tonumber(number) end
  end
  return counts
end

-- An id and what is said of it, from "ID - what": an id may have " - " in it, so one that is known wins.
local function parted(text, known)
  local from, first = 1, nil
  while true do
    local at, last = text:find(" - ", from, true)
    if not at then break end
    if known[text:sub(1, at - 1)] then return text:sub(1, at - 1), text:sub(last + 1) end
    first, from = first or at, last + 1
  end
  if known[text] or not first then return text end
  return text:sub(1, first - 1), text:sub(first + 3)
end

local Reader = {}
Reader.__index = Reader

function Reader:line(line)
  local counts = summary(line)
  if counts then
    self.counts = counts
    return
  end
  if line:find("^=+ short test summary info =+$") then self.brief = true end
  if line:find("^!!!.*!!!$") then self.stopped = tally.trim((line:gsub("!", ""))) end
  if line:find("^INTERNALERROR>") then self.stopped = self.stopped or line end
  if self.brief then
    local state, text = brief:match(line)
    if not state then return end
    local name, message = parted(text, self.tally.by_name)
    self.tally:fail(name, message)
    return
  end
  local name, word = nil, nil
  if line:find("::", 1, true) then
    name, word = verbose:match(line)
    if not word then word, name = distributed:match(line) end
  end
  if not word or not states[word] then return end
  if word == "ERROR" then self.tally:fail(name) else self.tally:add(name, states[word]) end
end

function pytest.parse(text)
  local self = setmetatable({ tally = tally.new() }, Reader)
  for _, line in tally.lines(text) do self:line(line) end
  if self.stopped then return nil, "pytest stopped before its end: " .. tally.cut(self.stopped) end
  if not self.counts then
    return nil, "no line such as \"2 failed, 7 passed in 0.12s\" at the end, so the output may be cut off"
  end
  local message = self.tally:beyond(self.counts)
  if message then return nil, message end
  return self.tally:result("pytest", self.counts)
end

return pytest
