-- runners: the texts that Jest, Vitest, Mocha, unittest, RSpec, PHPUnit, dotnet test, CTest, Busted and Bats print for
-- people, amid any other output. Each is an entry of a table: the lines of its summary, and the marks before its tests.
-- Several summaries (of a package each) are added up. Their JSON is in documents.lua. A part of apsis.fitness.
local tally = require "apsis.fitness.parsers.tally"

local runners = {}

local PART = " > " -- between a file's or a suite's name and what is in it

-- The words of the summaries; false counts nothing, and one that is not here may be of anything. `outside`: errors that
-- are no test's, and so are not in the total.
local words = { ["expected fail"] = "passed", ["not run"] = "failed", ["expected failures"] = "skipped" }
for kind, list in pairs {
  passed = "passed passing success successes succeeded", skipped = "skipped incomplete pending todo",
  failed = "failed failing failure failures error errors", total = "total test tests example examples",
} do
  for word in list:gmatch("%a+") do words[word] = kind end
end
words["unexpected successes"], words["total tests"], words["no tests"] = "failed", "total", false
for word in ("assertions assertion risky warnings deprecations notices"):gmatch("%a+") do
  words[word], words["phpunit " .. word] = false, false
end
words["error occurred outside of examples"], words["errors occurred outside of examples"] = "outside", "outside"

local ticks = { ["✓"] = "passed", ["✔"] = "passed", ["√"] = "passed", ["✕"] = "failed", ["×"] = "failed",
  ["✗"] = "failed", ["✘"] = "failed", ["○"] = "skipped", ["✎"] = "skipped", ["↓"] = "skipped", ["□"] = "skipped",
  ["-"] = "skipped", ["↩"] = "skipped", ["∅"] = "skipped", ["☢"] = "passed" }

-- One line with a test: its name, and its state. These are called with the reader and the line.
local named = {}

-- "● SUITE › TEST" below "FAIL FILE", for each failed test; with --verbose it repeats the list with marks.
function named.jest(self, line)
  local name = line:match("^  ● (.+)$")
  if not name or name == "Console" or name == "Test suite failed to run" or not self.path[0] then return end
  self:once(self.path[0] .. PART .. name:gsub(" › ", PART))
end

function named.phpunit(self, line)
  local kind = line:match("^There w%a+ %d+ (%a+)")
  if kind then self.listing = kind:find("^error") or kind:find("^failure") end
  local name = self.listing and not self.marked and line:match("^%d+%) (%S+::.+)$")
  if name then self:once(name) end
end

-- "FAIL: NAME (CLASS.NAME)" for each failure, several for one test with subtests; -v also has "... ok".
function named.unittest(self, line)
  local word, name, class = line:match("^([A-Z ]+): (%S+) %(([%w_.<>]+)%)")
  if not word and self.previous and self.previous:find("^=====") then self:once(line) end
  if not word then
    word, name, class = "ok", line:match("^(%S+) %(([%w_.<>]+)%)")
    if name then self.begun = { name, class } end
    if not (self.begun and line:find(" %.%.%. ok$")) then return end
    name, class, self.begun = self.begun[1], self.begun[2], nil
  end
  local inside = class:sub(-#name - 1) == "." .. name
  local id = inside and class or class .. "." .. name
  if word == "ok" then self.tally:add(id, "passed")
  elseif word == "FAIL" or word == "ERROR" or word == "UNEXPECTED SUCCESS" then
    local around = name:find("^setUp%u") or name:find("^tearDown%u") -- a class or a module
    if around and not self.failing[id] then self.outside = self.outside + 1 end
    self:once(id)
  end
end

function named.ctest(self, line)
  local number, name, state = line:match("^ *%d*/?%d* *Test +#(%d+): (.-) %.%.+ *%**(%a[%a :()]*) +[%d%.]+ sec")
  if not number then return end
  number, state = self.closed .. ":" .. number, tally.trim(state)
  if state ~= "Passed" then
    state = state:find("Disabled", 1, true) and "disabled" or state == "Skipped" and "skipped" or "failed"
  end
  if not self.numbered[number] then self.order[#self.order + 1] = number end
  self.numbered[number] = { name, state:lower() } -- the last one counts, with --repeat
end

function named.dotnet(self, line)
  local state, name = line:match("^  (%a+) (.-) %[[^%[%]]*%]$")
  if state and words[state:lower()] then self.tally:add(name, state:lower()) end
end

-- "Failure -> FILE @ LINE" (or another arrow), and the name in the next line.
function named.busted(self, line)
  if self.naming then self:once(line) end
  self.naming = not self.nothing and (line:find("^Failure %S+ ") or line:find("^Error %S+ "))
end

-- ---- how the summary settles ----

local settle = {}

-- Its counts are of failures, not of failed tests, and of errors in set-ups, which are no tests.
function settle.unittest(self, counts)
  local failed = self.tally.failed
  counts.passed = math.max(self.tally.passed, counts.total - counts.skipped - failed + self.outside)
  counts.failed = failed
end

-- It counts what was skipped as passed, and what is disabled not at all.
function settle.ctest(self, counts)
  local ran = 0
  for _, number in ipairs(self.order) do
    local name, state = table.unpack(self.numbered[number])
    if state ~= "disabled" then ran = ran + 1 end
    self.tally:add(name, state == "disabled" and "skipped" or state)
  end
  if #self.order == 0 then return nil end
  if ran ~= counts.total or self.tally.failed ~= counts.failed then
    return ("the summary says %d failed of %d, but %d failed of %d"):format(counts.failed, counts.total,
      self.tally.failed, ran)
  end
  counts.passed, counts.skipped = self.tally.passed, self.tally.skipped
end

-- ---- the formats ----

-- summary: { pattern, as (the counts in words), after (the line before), part: "begins" | "goes on" | "ends" }. word:
-- what every summary has, to look for first. none: printed if there are no tests. titles: lines that name a file or a
-- suite of the tests below. files: the number of failed files.
local formats = {
  jest = { word = "Tests: ", summary = { { "^Tests: +(.* total)$", after = "^Test Suites: " } },
    block = "^[FP]A[IS][LS] ", none = "^No tests found, exiting",
    titles = { "^FAIL (.+)$", "^PASS (.+)$", "^  +(%S.*)$" },
    files = "^Test Suites: (%d+) failed" },
  vitest = { word = " Tests ", summary = { { "^ *Tests  (.*) %((%d+)%)$", as = "%1 | %2 total",
    after = "^ *Test Files " }, { "^ *Tests  no tests$", as = "0 total", after = "^ *Test Files " } },
    none = "^No test files found", titles = {}, heading = "^(.-) %(%d+ tests?[ |)]",
    files = "^ *Test Files  (%d+) failed" },
  mocha = { word = " passing (", summary = { { "^  (%d+ passing) %(", part = "begins" },
    { "^  (%d+ pending)$", part = "goes on" }, { "^  (%d+ failing)$", part = "goes on" }, { "^()$", part = "ends" } },
    titles = { "^  +(%S.*)$" }, repeats = true },
  unittest = { word = "\nRan ", summary = { { "^Ran (%d+ tests?) in ", after = "^%-%-%-", part = "begins" },
    { "^OK$", part = "ends" }, { "^OK %((.*)%)$", part = "ends" }, { "^FAILED %((.*)%)$", part = "ends" },
    { "^NO TESTS RAN", part = "ends" } } },
  rspec = { word = "\nFinished in ", summary = { { "^(%d+ examples?, %d+ failures?.*)$", after = "^Finished in " } },
    failing = "^rspec .- # (.*)$" },
  phpunit = { word = "PHPUnit ", summary = { { "^(Tests: %d+, .*)%.$", after = "^%u%u" },
    { "^OK %((%d+ tests?, .*)%)$", after = "^Time: " } }, none = "^No tests executed!", titles = { "^(%S.*)$" } },
  dotnet = { word = "otal", summary = { { "^%a+!  ?%- (Failed: .* Total: +%d+), Duration: " },
    { "^Test summary: (total: %d.*), duration: " }, { "^Total tests: %d+$", as = "%0", part = "begins" },
    { "^ +%a+: %d+$", as = "%0", part = "goes on" }, { "^ Total time: ", as = "", part = "ends" },
    { "^Test run summary: ", as = "", part = "begins" }, { "^ +duration: ", as = "", part = "ends" } } },
  ctest = { word = "% tests passed, ", summary = { { "^%d+%% tests passed, (%d+) tests failed out of (%d+)$",
    as = "%1 failed, %2 total" } }, none = "^No tests were found!!!$" },
  busted = { word = " pending : ", summary = { { "^(%d+ success.* / %d+ pending) : [%d%.]+ seconds$",
    after = "[+*.%-\x8F\xBC\xB1\x8C]$" } },
    none = "^Error %S+ No test files found" },
  bats = { word = " failure", summary = { { "^(%d+ tests?, %d+ failures?[, %a%d]-) in %d+ seconds?$" },
    { "^(%d+ tests?, %d+ failures?.*)$" } }, titles = { "^(%S+%.bats)$" } },
}

runners.names = { "jest", "vitest", "mocha", "unittest", "rspec", "phpunit", "dotnet", "ctest", "busted", "bats" }

local Reader = {}
Reader.__index = Reader

local function reader(name)
  return setmetatable({ name = name, format = formats[name], tally = tally.new(), path = {}, files = 0, outside = 0,
    failing = {}, order = {}, numbered = {}, closed = 0, skip = 0,
    counts = { passed = 0, failed = 0, skipped = 0, total = 0 } }, Reader)
end

-- Adds a failed test, unless this run has listed it before.
function Reader:once(name)
  if not self.failing[name] then self.tally:add(name, "failed") end
  self.failing[name] = true
end

-- "4 failed, 1 skipped | 5 passed", "Failed: 1, Total: 3", "failures=2": the numbers by kind. nil, and what is unknown.
local function numbers_in(text)
  local sums = {}
  for piece in text:gmatch("[^,|/]+") do
    piece = tally.trim(piece)
    local number, word = piece:match("^(%d+) (.+)$")
    if not number then word, number = piece:match("^([%a ]+)[:=] *(%d+)$") end
    local kind = word and words[word:lower()]
    if kind then sums[kind] = (sums[kind] or 0) + tonumber(number)
    elseif word and kind == nil then return nil, piece end
  end
  return sums
end

-- The failed files without a failed test: a suite that does not load, or whose set-up fails. Of reporters that name no
-- test it is not known: their failed files are those of the failed tests.
local function broken_files(self, failed)
  if failed > 0 and not next(self.failing) then return 0 end
  local files, known = {}, 0
  for name in pairs(self.failing) do
    local file = name:match("^(.-)" .. PART) or name
    if not files[file] then files[file], known = true, known + 1 end
  end
  return math.max(0, self.files - known)
end

-- One whole summary, as text: adds it to the counts. nil, or what is wrong with it.
function Reader:close(text)
  local counts = self.counts
  local sums, unknown = numbers_in(text)
  if not sums then return ("it is not known whether %q are failures"):format(tally.cut(unknown)) end
  local failed, skipped = sums.failed or 0, sums.skipped or 0
  local passed = sums.passed or math.max(0, (sums.total or 0) - failed - skipped)
  local total = sums.total or passed + failed + skipped
  if sums.total and sums.passed and passed + failed + skipped ~= total then
    return ("%d tests, but %d passed, %d failed and %d were skipped"):format(total, passed, failed, skipped)
  end
  counts.passed, counts.skipped, counts.total = counts.passed + passed, counts.skipped + skipped, counts.total + total
  counts.failed = counts.failed + failed + (sums.outside or 0) + broken_files(self, failed)
  self.closed, self.open, self.listing, self.failing, self.files = self.closed + 1, nil, nil, {}, 0
  if self.format.repeats then self.skip = failed end
end

-- A line of the summary: true and what is wrong with it; false if it is none.
function Reader:sums(line)
  for _, one in ipairs(self.format.summary) do
    local first, second = line:match(one[1])
    local place = not one.part or one.part == "begins" or self.open
    if first and place and (not one.after or self.previous and self.previous:find(one.after)) then
      local text = one.as and one.as:gsub("%%(%d)", { ["0"] = line, ["1"] = first, ["2"] = second }) or first
      if self.open and one.part ~= "begins" then text = self.open .. ", " .. text end
      if not one.part or one.part == "ends" then return true, self:close(text) end
      self.open = text
      return true
    end
  end
  return false
end

-- A name without the time that it took.
local function untimed(name)
  return tally.trim((tally.trim(name):gsub(" %([%d%.]+ ?m?s%)$", ""):gsub(" %d[%d%.]*m?s$", "")))
end

-- A line with a mark, or one that names what the tests below are in, by its depth.
function Reader:tick(line)
  local indent, mark, name = line:match("^( *)(%S+) +(.+)$")
  local depth = indent and #indent
  local heading = name and self.format.heading and name:match(self.format.heading)
  if heading then self.path = { [depth] = heading } return end
  local state = mark and (ticks[mark] or self.format.repeats and mark:find("^%d+%)$") and "failed")
  if state then
    if state == "failed" and self.skip > 0 then self.skip = self.skip - 1 return end
    local parts = {}
    for at = 0, depth - 1 do parts[#parts + 1] = self.path[at] end
    parts[#parts + 1] = untimed(name)
    self.marked, name = true, table.concat(parts, PART):gsub(" › ", PART)
    if state == "failed" then self.failing[name] = true end
    return self.tally:add(name, state)
  end
  for _, pattern in ipairs(self.format.titles) do
    local title = line:match(pattern)
    if title then
      depth = #line:match("^ *")
      for at in pairs(self.path) do
        if at >= depth then self.path[at] = nil end
      end
      self.path[depth] = untimed(title)
    end
  end
end

function Reader:line(line)
  local format = self.format
  if self.name == "jest" then line = line:gsub("^ ([FP]A[IS][LS]) +", "%1 ") end -- in colours it has blanks around it
  if format.block then -- the marks come at once below the file
    self.reading = line:find(format.block) ~= nil or self.reading and line ~= ""
  end
  if format.none and line:find(format.none) then self.nothing = true end
  local known, problem = self:sums(line)
  if not known then
    self.files = self.files + (format.files and tonumber(line:match(format.files)) or 0)
    if named[self.name] then named[self.name](self, line) end
    if format.failing and line:match(format.failing) then self:once(line:match(format.failing)) end
    if format.titles and self.reading ~= false then self:tick(line) end
  end
  if line:find("%S") then self.previous = line end
  return problem
end

-- The lines that came to their end.
local function whole_lines(text)
  return tally.lines(text:match("^.*\n") or "")
end

-- Whether a text has the summary of a format, or the beginning of it, or says that there is no test.
function runners.shows(name, text)
  local format = formats[name]
  if not text:find(format.word, 1, true) and not format.none then return false end
  local self = reader(name)
  for _, line in whole_lines(text) do
    if self:sums(line) or format.none and line:find(format.none) then return true end
    if line:find("%S") then self.previous = line end
  end
  return false
end

function runners.parse(name, text)
  local self = reader(name)
  for number, line in whole_lines(text) do
    local problem = self:line(line)
    if problem then return nil, ("line %d: %s"):format(number, problem) end
  end
  if self.open or self.closed == 0 and not self.nothing then
    return nil, "no summary at the end, so the output may be cut off"
  end
  local problem = settle[name] and settle[name](self, self.counts)
  if problem then return nil, problem end
  problem = self.tally:beyond(self.counts)
  if problem then return nil, problem .. "; does a test print such lines?" end
  return self.tally:result(name, self.counts)
end

return runners
