-- reported: the METRIC lines of a command: those in the file that APSIS_METRICS names, if it has content, else those on
-- standard output. Each command begins without the file: an earlier one may have been a candidate's. Called by verify.
local fs = require "apsis.fs"
local metric = require "apsis.metric"

local reported = {}

-- Removes the file of an earlier command.
function reported.begin(job) fs.remove_tree(job.env.APSIS_METRICS) end

local function size_of(path)
  local stat = path and fs.stat(path, { follow = false })
  return stat and stat.size or 0
end

-- The report of the file; nil without content; nil and why it cannot be read.
local function of_file(job, command)
  local path = job.env.APSIS_METRICS
  local stat, most = fs.stat(path, { follow = false }), job.world.log_limit
  if not stat or stat.type == "file" and stat.size == 0 then return nil end
  if stat.type ~= "file" then return nil, command.name .. ": APSIS_METRICS is no file" end
  if stat.size > most then
    return nil, ("%s: APSIS_METRICS is larger than verification.log_limit_mb, %d MB"):format(command.name, most >> 20)
  end
  local report, message = job.world:left(metric.scan_file(path))
  return report, not report and ("%s: APSIS_METRICS: %s"):format(command.name, message) or nil
end

-- Where a command prints a metric that an earlier one wrote to the file, either may be the candidate's.
local function twice(command, gathered, report)
  for name, writer in pairs(gathered.written) do
    if report.metrics[name] or report.not_finite[name] then
      return ("%s prints METRIC %s, which %s wrote to the file that APSIS_METRICS names: which one counts is not "
        .. "clear; let the command that measures write to the file"):format(command.name, name, writer)
    end
  end
end

-- Which command named each metric last, and how much was printed until it ended.
local function note(job, command, gathered, report)
  local printed = size_of(job.stdout_path)
  for name in pairs(report.metrics) do gathered.named[name] = { command = command.name, printed = printed } end
  return report
end

-- What counts of a command's output; gathered: of the pass so far. printed: the report of standard output. The report;
-- nil, why there is no measurement; nil alone if nothing counts.
function reported.of(job, command, gathered, printed)
  local report, message = of_file(job, command)
  if message then return nil, message end
  if not report then
    if not gathered.private then return note(job, command, gathered, printed) end
    return nil, twice(command, gathered, printed)
  end
  for name in pairs(report.metrics) do
    if not gathered.written[name] then gathered.samples[name] = nil end -- printed by an earlier command
    gathered.written[name] = command.name
  end
  gathered.private = true
  return note(job, command, gathered, report)
end

return reported
