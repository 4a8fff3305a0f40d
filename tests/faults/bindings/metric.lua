-- metric: every function of apsis.metric, for allocations.c: `return run, prepare`.
local function prepare(dir)
  local file = assert(io.open(dir .. "/metric.log", "wb"))
  file:write(("line\nMETRIC a=1\n"):rep(200), "METRIC b.c=1e-3\nmetric x=1\n")
  file:close()
end

local function run(step, dir)
  local metric = require "apsis.metric"
  step("scan", function()
    local report = metric.scan "METRIC a=1\nMETRIC b=2.5\n metric c = 3\nMETRIC d=12ms\nMETRIC a=9.0\nMETRIC \194\181s=4"
    assert(report.metrics.a == 9 and report.near_miss_count == 2 and report.names[2] == "b" and #report.samples.a == 2)
  end)
  step("a scanner fed in pieces", function()
    local scanner <close> = metric.scanner()
    for index = 1, 300 do scanner:feed(("METRIC name_%d=%d"):format(index, index)); scanner:feed "\n" end
    scanner:feed("METRIC long=" .. ("1"):rep(400) .. "\n")
    scanner:feed "MET"
    scanner:feed "RIC tail=7"
    local report = scanner:finish()
    assert(report.metrics.tail == 7 and report.metrics.name_300 == 300)
  end)
  step("closed and left to the collector", function()
    local scanner = metric.scanner()
    scanner:feed "METRIC a=1\n"
    scanner:close()
    scanner:close()
    metric.scanner():feed "METRIC a=1"
    collectgarbage()
  end)
  step("a file", function()
    local report = assert(metric.scan_file(dir .. "/metric.log"))
    assert(#report.samples.a == 200 and report.near_miss_count == 1)
    local none, message, code = metric.scan_file(dir .. "/nope")
    assert(none == nil and code == "ENOENT", message)
  end)
end

return run, prepare
