-- near_miss: lines that nearly are METRIC lines: collects them from the scanners' reports, which give each one's reason
-- (runtime/metric/metricline.c), and words every message about them. Called by whatever scans output or shows a scan.
local json = require "apsis.json"

local near_miss = {}

-- The same table, with no near misses yet.
function near_miss.none(gathered)
  gathered.near_misses, gathered.near_miss_count = json.array(), 0
  return gathered
end

-- Adds a report's near misses to those gathered.
function near_miss.add(gathered, report)
  local from, to = report.near_misses, gathered.near_misses
  table.move(from, 1, #from, #to + 1, to)
  gathered.near_miss_count = gathered.near_miss_count + report.near_miss_count
end

-- show: makes text safe for a terminal.
function near_miss.at(near, show)
  show = show or tostring
  return ("line %s: %q (%s)"):format(near.line or "?", show(near.text), show(near.reason))
end

function near_miss.looks(near)
  return ("line %s looks like a METRIC line and is not: %q (%s)"):format(near.line, near.text, near.reason)
end

-- note: of an experiment, as `report` makes it.
function near_miss.first(note, show)
  return ("experiment %s: %s line(s) look like METRIC lines and are not, first at %s"):format(note.experiment,
    note.count, near_miss.at(note, show))
end

-- Whether near misses matter: a project that does not read its metric from METRIC lines may print `metric=5.0`.
function near_miss.matters(manifest)
  return manifest.metric.extractor.type == "metric_lines"
end

-- Logs the first near miss of an experiment's measurement, and notes it for status and log.
function near_miss.report(world, experiment, measurement)
  local near = measurement.near_misses[1]
  if not near or not near_miss.matters(world.manifest) then return end
  local repeated = world.near_miss_said == near.text -- goes only to the log
  local note = { experiment = experiment, count = measurement.near_miss_count, line = near.line, text = near.text,
    reason = near.reason }
  world.near_miss_said, world.state.near_misses = near.text, note
  world:log(repeated and "info" or "warn", near_miss.first(note))
end

return near_miss
