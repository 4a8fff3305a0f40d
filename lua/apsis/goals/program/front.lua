-- front: a program's front matter as manifest keys: autoloop's (target-metric, metric_direction, timeout-minutes), and
-- every manifest key that the sections or the file's place do not set. Warns of an unknown key, because autoloop
-- ignores it. Reads no file. Called by file.lua.
local editline = require "apsis.edit.line"
local nearest = require "apsis.project.nearest"
local schema = require "apsis.project.schema"
local shape = require "apsis.project.shape"

local front = {}

local YEAR = 525600 -- minutes
local ways = { "higher", "lower" }

local own = {
  { names = { "target-metric", "target_metric" }, key = "metric.target", node = { kind = "number" } },
  { names = { "metric_direction", "metric-direction" }, key = "metric.direction" },
  { names = { "timeout-minutes", "timeout_minutes" }, key = "verification.commands[1].timeout_sec",
    node = { kind = "number", above = 0, max = YEAR } },
}

local by_name = {}
for _, entry in ipairs(own) do
  for _, name in ipairs(entry.names) do by_name[name] = entry end
end

-- Keys that a program sets elsewhere.
local elsewhere = { version = "only manifest.yaml has a format version", project = "a program is named after its "
  .. "folder or file", files = "the section Target sets it", verification = "the section Evaluation sets it",
  metric = "the section Evaluation, target-metric and metric_direction set it", program = "this file is the program" }

-- The keys that a hint may suggest, autoloop's first.
local allowed = { "metric-direction", "timeout_minutes", "target_metric" }
for _, entry in ipairs(own) do table.insert(allowed, 1, entry.names[1]) end
for _, field in ipairs(schema.manifest.fields) do
  if not elsewhere[field[1]] then allowed[#allowed + 1] = field[1] end
end

-- Whether front matter may have this key.
function front.knows(name)
  return by_name[name] ~= nil or not elsewhere[name] and shape.field(schema.manifest, name) ~= nil
end

-- Whether the key changes the goal and is unlikely in prose.
function front.matters(name)
  return by_name[name] ~= nil or name == "schedule"
end

local function refuse(layer, name, key, line, message)
  layer.errors[#layer.errors + 1] = { label = layer.label, line = line, key = key,
    text = ("%s:%d: %s: %s"):format(layer.label, line, name, message) }
end

local function direction(layer, name, value, line)
  local text = type(value) == "string" and editline.trim(value):lower()
  for _, way in ipairs(ways) do
    if text == way then return way end
  end
  refuse(layer, name, "metric.direction", line, ("must be one of %s; got %s%s"):format(table.concat(ways, ", "),
    nearest.show(value), nearest.hint(value, ways)))
end

-- Takes a value of autoloop's keys, placed under the manifest's key; two spellings must agree.
local function take_own(layer, made, name, value, line)
  local entry = by_name[name]
  local before = layer.places[entry.key]
  local clean
  if not entry.node then
    clean = direction(layer, name, value, line)
  else
    local count = #layer.errors
    clean = shape.check(layer, entry.node, value, name, line)
    layer.places[name] = nil
    if layer.errors[count + 1] then layer.errors[count + 1].key = entry.key end
  end
  if before and clean ~= nil and made[entry.key] ~= nil and made[entry.key] ~= clean then
    refuse(layer, name, entry.key, line, ("is %s, but %s is %s (%s:%d); keep one of the two"):format(tostring(clean),
      before.name, tostring(made[entry.key]), before.label, before.line))
  end
  if before then return end
  layer.places[entry.key] = { label = layer.label, line = line, name = name }
  made[entry.key] = clean
end

-- Refuses an empty key: it would silently mean the default (always due, higher, no target).
local function empty(layer, name, line)
  local entry = by_name[name]
  local node
  if entry then node = entry.node else node = shape.field(schema.manifest, name) end
  local forms = node and shape.expects(node) or table.concat(ways, " or ")
  local key = entry and entry.key or name
  layer.places[key] = layer.places[key] or { label = layer.label, line = line, name = name }
  refuse(layer, name, key, line, ("is empty; write a value (%s) or remove the line"):format(forms))
end

-- Parses the front matter: returns the autoloop keys as { [manifest key] = value }; the others go into layer.value,
-- checked by the schema. layer: see shape.layer; layer.unknown gets the keys that are not read: { name, line, hint }.
function front.read(layer, values)
  local made, at = {}, layer.lines[values] or {}
  for _, name in ipairs(at.order or {}) do
    local value, line = values[name], at.keys[name]
    local node = not elsewhere[name] and shape.field(schema.manifest, name)
    if value == layer.null and front.matters(name) then
      empty(layer, name, line)
    elseif by_name[name] then
      take_own(layer, made, name, value, line)
    elseif node then
      layer.value[name] = shape.check(layer, node, value, name, line)
    else
      local hint = elsewhere[name] and "; " .. elsewhere[name] or nearest.hint(name, allowed)
      layer.unknown[#layer.unknown + 1] = { name = name, line = line, hint = hint }
    end
  end
  return made
end

return front
