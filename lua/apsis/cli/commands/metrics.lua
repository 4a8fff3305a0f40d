-- metrics: the METRIC lines of a log, as JSON, or one value; near misses are reported on stderr.
local json = require "apsis.json"
local metric = require "apsis.metric"
local near_miss = require "apsis.live.near_miss"

local metrics = { place = 190, summary = "read METRIC lines", example = "./evaluate.sh | apsis metrics latency_ms" }

function metrics.options(parser)
  parser:argument("name", "print only this metric's value; exit 5 if there is none"):args "?"
  parser:option("--file", "read this file instead of standard input"):argname "LOG"
  parser:flag("--json", "the whole report: metrics, samples, near misses")
end

local function say_near_misses(report)
  for _, near in ipairs(report.near_misses) do
    io.stderr:write(near_miss.looks(near), "\n")
  end
  local more = report.near_miss_count - #report.near_misses
  if more > 0 then io.stderr:write(("and %d more near misses\n"):format(more)) end
end

function metrics.run(args)
  local report, message = metric.scan_file(args.file or "/dev/stdin")
  if not report then return 2, message end
  say_near_misses(report)
  if args.name then
    local value = report.metrics[args.name]
    if not value then return 5, ("no METRIC %s=NUMBER among %d lines"):format(args.name, report.lines) end
    print(json.encode(value))
    return 0
  end
  print(json.encode(args.json and report or report.metrics))
  return 0
end

return metrics
