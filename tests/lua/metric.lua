-- apsis.metric: the table of METRIC lines, the report's shape, what raises and what returns nil.
local json = require "apsis.json"
local metric = require "apsis.metric"
local tap = require "tap"
local test, equal, raises = tap.test, tap.equal, tap.raises

local function here(name)
  return (arg and arg[0] or "tests/lua/metric.lua"):gsub("[^/]*$", "") .. name
end

local function lines_of(report)
  local lines = {}
  for i, miss in ipairs(report.near_misses) do lines[i] = miss.line end
  return lines
end

for line in io.lines(here "../data/metric_lines.jsonl") do
  local case = json.decode(line)
  test(("table: %s %q"):format(case.note or "", case.text:sub(1, 60)), function()
    local scanner = metric.scanner()
    for i = 1, #case.text do equal(select("#", scanner:feed(case.text:sub(i, i))), 0) end
    for _, report in ipairs { metric.scan(case.text), scanner:finish() } do
      equal(report.metrics, case.metrics)
      equal(lines_of(report), case.near_misses)
      equal(report.near_miss_count, #case.near_misses)
      if case.samples then equal(report.samples, case.samples) end
    end
    equal(select("#", scanner:close()), 0)
  end)
end

-- ECMA-48, 5.4 and 13.1: what ends an escape sequence; a METRIC line behind one is a near miss.
test("each byte ends an escape sequence, goes on with it, or makes it none", function()
  local function found(text) return metric.scan(text).near_miss_count == 1 end
  for byte = 0, 255 do
    local c = string.char(byte)
    if c ~= "\n" and c ~= "\r" and c ~= "\27" then
      local ends, middle = byte >= 0x30 and byte <= 0x7e, byte >= 0x20 and byte <= 0x2f
      local string_or_csi = c:find "[%]PX^_%[]" ~= nil
      equal(found("\27" .. c .. "METRIC x=1"), ends and not string_or_csi, ("escape, %02x"):format(byte))
      equal(found("\27" .. c .. "0METRIC x=1"), middle, ("escape, %02x, 0"):format(byte))
      equal(found("\27[" .. c .. "METRIC x=1"), byte >= 0x40 and byte <= 0x7e, ("CSI, %02x"):format(byte))
      equal(found("\27[" .. c .. "mMETRIC x=1"), byte >= 0x20 and byte <= 0x3f, ("CSI, %02x, m"):format(byte))
      equal(found("\27]" .. c .. "METRIC x=1"), c == "\a", ("OSC, %02x"):format(byte))
    end
  end
end)

test("a report has all its fields, also for nothing", function()
  equal(metric.scan(""), {
    metrics = {}, samples = {}, names = {}, near_misses = {}, not_finite = {}, near_miss_count = 0, lines = 0,
    dropped = { names = 0, samples = 0, near_misses = 0 },
  })
end)

test("a value that no finite number follows has the line of what followed, for each name", function()
  equal(metric.scan("METRIC a=1\nMETRIC a=nan\nMETRIC b=2\nMETRIC b=inf\nMETRIC c=3").not_finite, { a = 2, b = 4 })
end)

test("names stand in order of first appearance, a near miss has line, text and reason", function()
  local report = metric.scan "METRIC b=1\nMETRIC a=2\nMETRIC b=3\nMETRIC c=12ms"
  equal(report.names, { "b", "a" })
  equal(report.near_misses, { { line = 4, text = "METRIC c=12ms", reason = "not a number: 12ms" } })
  equal(report.lines, 4)
end)

test("integral values nearer to zero than 2^53 are integers, others floats", function()
  local m = metric.scan("METRIC a=1\nMETRIC b=9.0\nMETRIC c=0.5\nMETRIC d=9007199254740992\nMETRIC e=-1e3").metrics
  local types = {}
  for name, value in pairs(m) do types[name] = math.type(value) end
  equal(types, { a = "integer", b = "integer", c = "float", d = "float", e = "integer" })
  equal(json.encode(m.a), "1")
end)

test("many names stay apart, and each is found again", function()
  local lines, names = {}, {}
  for index = 1, 200 do
    names[index] = "n" .. index
    lines[index], lines[401 - index] = "METRIC n" .. index .. "=1", "METRIC n" .. index .. "=2"
  end
  local report = metric.scan(table.concat(lines, "\n"))
  equal({ report.names, report.samples.n1, report.samples.n200 }, { names, { 1, 2 }, { 1, 2 } })
end)

test("the text of a near miss is cut at 200 bytes, or begins after a late carriage return", function()
  local miss = metric.scan("METRIC " .. ("x"):rep(500)).near_misses[1]
  equal(miss.text, "METRIC " .. ("x"):rep(193))
  miss = metric.scan(("x"):rep(500) .. "\rMETRIC a=1").near_misses[1]
  equal(miss.text, "METRIC a=1")
end)

test("feeding in any pieces gives what scan gives", function()
  local text = "50%\rMETRIC a=1\r\nMETRIC b=2\n" .. ("noise "):rep(50) .. "\nMETRIC c=3.25e-1"
  local whole = metric.scan(text)
  for size = 1, #text do
    local scanner <close> = metric.scanner()
    for i = 1, #text, size do scanner:feed(text:sub(i, i + size - 1)) end
    equal(scanner:finish(), whole)
  end
end)

test("near misses beyond 1,000 are counted", function()
  local report = metric.scan(("metric\n"):rep(1005))
  equal({ #report.near_misses, report.near_miss_count, report.dropped.near_misses }, { 1000, 1005, 5 })
end)

test("scan_file reads a file, and a missing one is nil, message, code", function()
  local path = os.tmpname()
  local file = assert(io.open(path, "wb"))
  file:write("METRIC a=1\n", ("dull\n"):rep(100000), "METRIC a=2\n")
  file:close()
  local report = metric.scan_file(path)
  os.remove(path)
  equal({ report.metrics.a, report.lines }, { 2, 100002 })
  local none, message, code = metric.scan_file(path)
  equal({ none == nil, code }, { true, "ENOENT" })
  tap.matches(message, "^ENOENT: ")
  equal(select(3, metric.scan_file "/"), "EISDIR")
end)

test("a closed scanner refuses, and close may be repeated", function()
  local scanner = metric.scanner()
  scanner:close()
  scanner:close()
  raises("closed", scanner.feed, scanner, "x")
  raises("closed", scanner.finish, scanner)
end)

test("a programmer's mistake raises", function()
  raises("string expected", metric.scan)
  raises("string expected", metric.scan, {})
  raises("NUL", metric.scan_file, "a\0b")
  raises("scanner", metric.scanner().feed, {}, "x")
end)

test("a scanner says that it is a sink", function()
  local scanner <close> = metric.scanner()
  equal(getmetatable(scanner).__sink, true)
end)

tap.done()
