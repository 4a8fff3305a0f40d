-- json_schema: the manifest's schema as JSON Schema (draft 2020-12), for editors that complete and check YAML. Made
-- from project/schema, so it has every key. Rules that join keys are not in it: `apsis setup` checks those.
local direction = require "apsis.direction"
local json = require "apsis.json"
local schema = require "apsis.project.schema"

-- The keys that another key, of a room, may stand for.
local replaced = {}
for _, field in ipairs(schema.manifest.fields) do
  for _, key in ipairs(field.stands_for or {}) do replaced[key] = true end
end

local of

local function mapping(node, path)
  local properties, required = {}, {}
  for _, field in ipairs(node.fields) do
    local key = path .. field[1]
    properties[field[1]] = of(field[2], key .. ".")
    if field[2].required and not replaced[key] then required[#required + 1] = field[1] end
  end
  return { type = "object", properties = properties, additionalProperties = false,
    required = #required > 0 and json.array(required) or nil }
end

local texts = json.array { "string", "number", "boolean" }

-- The values that a node takes, by its kind.
local kinds = {
  any = function() return {} end,
  boolean = function() return { type = "boolean" } end,
  integer = function(node) return { type = "integer", minimum = node.min, maximum = node.max,
    exclusiveMinimum = node.above } end,
  number = function(node) return { type = "number", minimum = node.min, maximum = node.max,
    exclusiveMinimum = node.above } end,
  string = function() return { type = "string" } end,
  text = function() return { type = texts } end,
  path = function() return { type = "string" } end,
  paths = function() return { type = json.array { "string", "array" } } end,
  own = function() return { type = json.array { "string", "number" } } end,
  command_line = function() return { anyOf = json.array { { type = "string" },
    { type = "array", items = { type = texts } } } } end,
  enum = function(node) return { enum = json.array(node.allowed) } end,
  direction = function() return { enum = json.array(direction.allowed) } end,
  list = function(node, path) return { type = "array", items = of(node.item, path) } end,
  map = mapping,
  dict = function(node, path) return { type = "object", additionalProperties = of(node.item, path .. "NAME.") } end,
}

-- A node, also in its short form: the text that stands for a mapping with one key.
function of(node, path)
  local made = kinds[node.kind](node, path)
  if node.short then made = { anyOf = json.array { made, { type = json.array { "string", "array" } } } } end
  made.description = node.doc
  if type(node.default) ~= "table" then made.default = node.default end
  return made
end

-- The schema as a JSON text.
return function()
  local made = of(schema.manifest, "")
  made["$schema"], made.title = "https://json-schema.org/draft/2020-12/schema", "manifest.yaml of apsis"
  return json.encode(made, { sorted = true })
end
