-- record: what a line of the journal is in memory: beside its fields it has short names, methods of the world, what the
-- rest of the line shows, and, read when somebody asks, what a fold left in the journal.
local lines = require "apsis.core.line"

local record = {}

local unfolded = lines.unfolded

-- Short names of a record, worked out when asked for.
local short_names = {
  id = function(line) return line.candidate end,
  kept = function(line) return line.outcome == "kept" or line.outcome == "baseline" and line.primary_metric ~= nil end,
  measured_by = function(_, metric) return metric end,
  metrics = function(line, metric)
    local metrics = {}
    for name, value in pairs(line.secondary_metrics or {}) do metrics[name] = value end
    if metric.name and line.value then metrics[metric.name] = line.value end
    return metrics
  end,
}

-- Methods read, sources, diff and artifacts are the world's; see record.of_world.
record.methods = {}
local methods = record.methods

-- What looks up a record's absent field: a method, a short name, or by `load` what a fold left in the journal.
function record.class(metric, load)
  return { __index = function(line, key)
    if key == "value" then return line.primary_metric end -- asked for most
    local name = short_names[key]
    if name then return name(line, metric) end
    if unfolded[key] and not rawget(line, "timestamp") then return load(line)[key] end
    local work_out = lines.worked_out[key]
    if work_out then return work_out(line, metric) end
    return methods[key]
  end }
end

-- world:read(record, path), world:sources(record), world:diff(record), world:artifacts(record)
function record.of_world(world)
  for _, name in ipairs { "read", "sources", "diff", "artifacts" } do
    methods[name] = function(line, ...) return world[name](world, line, ...) end
  end
end

return record
