-- autoresearch_log: reads pi-autoresearch's log, one JSON object a line: config lines (metricName, metricUnit,
-- bestDirection) begin a segment, the others are runs. A run may also be in the METRIC protocol's form (experiment,
-- primary_metric, and what was learned beside them). Returns the newest config and the runs, and formats them as a
-- page; counts and skips torn or foreign lines. Called by autoresearch.lua.
local direction = require "apsis.direction"
local json = require "apsis.json"

local log = {}

local function plain(value)
  if value == nil or value == json.null then return nil end
  return value
end

local function first(entry, ...)
  for _, name in ipairs { ... } do
    local value = plain(entry[name])
    if value ~= nil and value ~= "" then return value end
  end
end

-- An object's primary metric: { name, unit, direction (as written) }.
function log.metric_of(entry)
  local primary = plain(entry.primary_metric) or plain(entry.primaryMetric)
  if type(primary) == "table" then
    return { name = first(primary, "name"), unit = first(primary, "unit"), direction = first(primary, "direction")
      or first(entry, "direction", "bestDirection") }
  end
  return { name = primary or first(entry, "metricName", "metric_name"), unit = first(entry, "metricUnit", "metric_unit",
    "unit"), direction = first(entry, "bestDirection", "direction", "metric_direction") }
end

-- { config = the last config's metric and its line, or nil; runs = {...}; segments; skipped; crashes kept }.
function log.read(text)
  local found = { runs = {}, segments = 0, skipped = 0 }
  local number = 0
  for line in text:gmatch("([^\n]*)\n?") do
    number = number + 1
    local entry = line:find("%S") and json.decode(line)
    if type(entry) == "table" and entry.type == "config" then
      found.segments = found.segments + 1
      found.config, found.config_line = log.metric_of(entry), number
    elseif type(entry) == "table" and (entry.status ~= nil or entry.metric ~= nil)
      and (entry.type == nil or entry.type == "run") then
      entry.in_segment = math.max(found.segments, 1)
      found.runs[#found.runs + 1] = entry
    elseif line:find("%S") and not (type(entry) == "table" and entry.type ~= nil) then
      found.skipped = found.skipped + 1
    end
  end
  return found
end

local function cell(value)
  if plain(value) == nil then return "" end
  local text = type(value) == "table" and json.encode(value, { sorted = true }) or tostring(value)
  return (text:gsub("[%c|\127]", " "):gsub("%s+", " "))
end

local function what(entry)
  local asi = type(plain(entry.asi)) == "table" and entry.asi or entry
  local parts = { cell(entry.description) }
  for _, name in ipairs { "hypothesis", "learned", "rollback_reason", "next_action_hint", "next_focus" } do
    if cell(asi[name]) ~= "" then parts[#parts + 1] = name .. ": " .. cell(asi[name]) end
  end
  return table.concat(parts, "; ")
end

-- The runs as a Markdown page; metric: { name, direction }.
function log.page(found, metric)
  local lines = { "# Experiments before apsis", "",
    ("From pi-autoresearch's log (log.jsonl beside this file): %d runs of %s, %s is better. None of them is a "
    .. "candidate of "
      .. "this project."):format(#found.runs, metric.name, direction.parse(metric.direction)), "",
    "| segment | run | " .. metric.name .. " | status | commit | what |", "|---|---|---|---|---|---|" }
  for index, entry in ipairs(found.runs) do
    local crashed = entry.status == "crash" or entry.status == "checks_failed" -- its 0 is no measurement
    local number, value = entry.run or entry.experiment or index, entry.metric or entry.primary_metric
    lines[#lines + 1] = ("| %d | %s | %s | %s | %s | %s |"):format(entry.in_segment, cell(number),
      crashed and "" or cell(value), cell(entry.status), cell(entry.commit), what(entry))
  end
  return table.concat(lines, "\n") .. "\n"
end

return log
