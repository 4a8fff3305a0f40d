-- shape: interprets a schema. check() compares one layer (a decoded file, or command-line options) with the schema,
-- reports all errors at once, and returns a clean copy without defaults; fill() adds the defaults after the merge.
-- Knows no key by name: see schema.lua for keys, rules.lua for combinations.
local direction = require "apsis.direction"
local editline = require "apsis.edit.line"
local json = require "apsis.json"
local nearest = require "apsis.project.nearest"

local shape = {}
local check

local show = nearest.show

-- A layer being checked: `label` names the file, `lines` is from yaml.decode, `option` (instead of both) turns a key
-- into its command-line option. `places` collects each key's place.
function shape.layer(spec)
  return {
    label = spec.label, lines = spec.lines or {}, option = spec.option, null = json.null, errors = {}, places = {},
  }
end

local function report(layer, key, line, message)
  local at = layer.option and layer.option(key)
    or ("%s:%d: %s"):format(layer.label, line or 1, key == "" and "manifest" or nearest.escape(key))
  local text = at .. ": " .. message
  layer.errors[#layer.errors + 1] = { label = layer.label or "", line = line or 0, key = key, text = text }
end

local function finite(value)
  return value == value and value ~= math.huge and value ~= -math.huge
end

local function range_text(node)
  if node.min and node.max then return (" from %.10g to %.10g"):format(node.min, node.max) end
  if node.min then return (", %s or more"):format(node.min) end
  return node.above and (" above %s"):format(node.above) or ""
end

-- The short forms of a mapping.
local function short_form(node)
  for _, field in ipairs(node.short and node.fields or {}) do
    local allowed = field[1] == node.short and field[2].allowed
    if allowed then return "one of " .. table.concat(allowed, ", ") .. ", or " end
  end
  return node.short and "a name, or " or ""
end

-- The values that a node takes, in words: for messages, --help and the comments of `apsis init`.
function shape.expects(node)
  local kind = node.kind
  if node.forms then return node.forms end
  if kind == "enum" then return "one of " .. table.concat(node.allowed, ", ") end
  if kind == "direction" then return "one of " .. table.concat(direction.allowed, ", ") end
  if kind == "integer" then return "a whole number" .. range_text(node) end
  if kind == "number" then return "a number" .. range_text(node) end
  if kind == "boolean" then return "true or false" end
  if kind == "own" then return node.takes end
  if kind == "command_line" then return "text for sh -c, or a list of arguments" end
  if kind == "paths" then return "a path, or a list of globs" end
  if kind == "list" then return "a list of " .. (node.items or "items") end
  if kind == "map" or kind == "dict" then return short_form(node) .. "a mapping (KEY: VALUE)" end
  return ({ path = "a path inside the project", text = "text", string = "text", any = "anything" })[kind]
end

local function refuse(layer, node, value, key, line, remedy)
  report(layer, key, line, ("must be %s; got %s%s"):format(shape.expects(node), show(value), remedy or ""))
end

local kinds = {}
local anything = { kind = "any" }

function kinds.any(layer, node, value, key, line)
  if type(value) == "number" and not finite(value) then
    return report(layer, key, line, "must be finite; a file of JSON cannot hold " .. show(value))
  elseif type(value) ~= "table" or node.mapping and #value > 0 then
    if node.mapping then return report(layer, key, line, "must be a mapping (KEY: VALUE); got " .. show(value)) end
    return value
  end
  local copy = #value > 0 and json.array({}) or {}
  local keys = (layer.lines[value] or {}).keys or {}
  for name, item in pairs(value) do
    local below = key .. (math.type(name) and "[%s]" or ".%s"):format(name)
    copy[name] = check(layer, anything, item, below, keys[name] or line)
  end
  return copy
end

function kinds.string(layer, node, value, key, line)
  if type(value) == "number" then return refuse(layer, node, value, key, line, "; put it in quotes") end
  if type(value) ~= "string" then return refuse(layer, node, value, key, line) end
  if value:find("\0", 1, true) then return report(layer, key, line, "must not contain a NUL character") end
  if value == "" and not node.empty then return report(layer, key, line, "must not be empty") end
  if node.pattern and not value:find(node.pattern) then
    return report(layer, key, line, ("must be %s; got %s"):format(node.pattern_text, show(value)))
  end
  return value
end

-- Text; a number is accepted too, because it becomes an argument or a variable.
function kinds.text(layer, _, value, key, line)
  if math.type(value) == "integer" or type(value) == "boolean" then return tostring(value) end
  return kinds.string(layer, { kind = "text", empty = true }, value, key, line)
end

function kinds.boolean(layer, node, value, key, line)
  if layer.option and (value == "true" or value == "false") then return value == "true" end
  if type(value) == "boolean" then return value end
  local remedy = type(value) == "string" and " (yes, no, on and off are plain text in YAML 1.2)"
  refuse(layer, node, value, key, line, remedy or "")
end

function kinds.number(layer, node, value, key, line)
  local number = layer.option and tonumber(value) or value
  if type(number) ~= "number" then return refuse(layer, node, value, key, line) end
  if not finite(number) then return refuse(layer, node, value, key, line, ", which is not finite") end
  if node.kind == "integer" then
    number = math.tointeger(number)
    if not number then return refuse(layer, node, value, key, line) end
  end
  local inside = number >= (node.min or number) and number <= (node.max or number)
    and not (node.above and number <= node.above)
  if not inside then return refuse(layer, node, value, key, line) end
  return number
end
kinds.integer = kinds.number

-- Checks that only the node itself can make.
function kinds.own(layer, node, value, key, line)
  if node.fits(value) then return value end
  local bare = type(value) == "string" and tonumber(value)
  refuse(layer, node, value, key, line, bare and "; a number stands without quotes" or "")
end

function kinds.enum(layer, node, value, key, line)
  for _, allowed in ipairs(node.allowed) do
    if value == allowed then return value end
  end
  refuse(layer, node, value, key, line, nearest.hint(value, node.allowed))
end

function kinds.direction(layer, node, value, key, line)
  local parsed = type(value) == "string" and direction.parse(value)
  if parsed then return parsed end
  refuse(layer, node, value, key, line, nearest.hint(value, direction.allowed))
end

-- A relative path inside the project, without "./", "//" and a final "/"; nil and what is wrong with it.
function shape.inside(path)
  path = editline.trim(path)
  if path:sub(1, 1) == "/" then
    return nil, show(path) .. " is absolute; write it relative to the project's directory"
  end
  local parts = {}
  for part in path:gmatch("[^/]+") do
    if part == ".." then
      return nil, show(path) .. " leaves the project ('..'); only paths inside it are allowed here"
    elseif part ~= "." then
      parts[#parts + 1] = part
    end
  end
  return #parts > 0 and table.concat(parts, "/") or "."
end

function kinds.path(layer, node, value, key, line)
  local given = kinds.string(layer, node, value, key, line)
  if not given then return nil end
  local path, wrong = shape.inside(given)
  if not path then return report(layer, key, line, wrong) end
  return path
end

function kinds.paths(layer, node, value, key, line)
  if type(value) == "string" then return kinds.path(layer, node, value, key, line) end
  if type(value) ~= "table" or #value == 0 then return refuse(layer, node, value, key, line) end
  return kinds.list(layer, { kind = "list", item = { kind = "path" } }, value, key, line)
end

local word = { kind = "text" }

function kinds.command_line(layer, node, value, key, line)
  if type(value) == "string" and value:find("%S") then return kinds.string(layer, node, value, key, line) end
  if type(value) ~= "table" or #value == 0 then return refuse(layer, node, value, key, line) end
  local argv = kinds.list(layer, { kind = "list", item = word }, value, key, line)
  if argv[1] == "" then return report(layer, key, line, "the first argument, the program, must not be empty") end
  return argv
end

function kinds.list(layer, node, value, key, line)
  if type(value) ~= "table" or (#value == 0 and next(value) ~= nil) then
    local remedy = type(value) == "table" and "; begin each item with '- '" or "; write [ITEM, ITEM]"
    return refuse(layer, node, value, key, line, remedy)
  end
  local copy, at = json.array({}), layer.lines[value] or {}
  for index, item in ipairs(value) do
    local below = ("%s[%d]"):format(key, index)
    local clean = check(layer, node.item, item, below, (at.keys or {})[index] or at.at or line, true)
    if clean ~= nil then copy[#copy + 1] = clean end
  end
  return copy
end

function kinds.dict(layer, node, value, key, line)
  if node.short and type(value) == "string" then value = { [node.short] = value } end
  if type(value) ~= "table" or #value > 0 then return refuse(layer, node, value, key, line) end
  local copy, keys = {}, (layer.lines[value] or {}).keys or {}
  for name, item in pairs(value) do
    local text, at = tostring(name), keys[name] or line
    if node.key_pattern and not text:find(node.key_pattern) and text ~= node.short then
      report(layer, key .. "." .. text, at, ("the name must be %s; got %s"):format(node.key_text, show(text)))
    else
      copy[text] = check(layer, node.item, item, key .. "." .. text, at, true)
    end
  end
  return copy
end

function shape.names(node)
  local names = {}
  for index, field in ipairs(node.fields) do names[index] = field[1] end
  return names
end

function shape.field(node, name)
  for _, field in ipairs(node.fields or {}) do
    if field[1] == name then return field[2] end
  end
end

-- Keeps the likely key, so that it is not reported as missing too.
local function unknown(layer, node, name, key, line)
  local names, above = shape.names(node), key == "" and "" or key .. "."
  local meant = nearest.name(name, names)
  if meant then layer.places[above .. meant] = layer.places[above .. meant] or { label = layer.label, line = line } end
  report(layer, above .. name, line, ("unknown key %s%s (allowed here: %s)"):format(
    show(name), nearest.hint(name, names), table.concat(names, ", ")))
end

function kinds.map(layer, node, value, key, line)
  local short = type(value) == "string" or node.short_list and type(value) == "table" and #value > 0
  if node.short and short then value = { [node.short] = value } end
  if type(value) ~= "table" or #value > 0 then return refuse(layer, node, value, key, line) end
  local copy, at = {}, layer.lines[value] or {}
  local keys = at.keys or {}
  local order = at.order
  if not order then
    order = {}
    for name in pairs(value) do order[#order + 1] = name end
    table.sort(order, function(a, b) return tostring(a) < tostring(b) end)
  end
  for _, name in ipairs(order) do
    local field = shape.field(node, name)
    if field then
      copy[name] = check(layer, field, value[name], key == "" and name or key .. "." .. name, keys[name] or line)
    else
      unknown(layer, node, tostring(name), key, keys[name] or line)
    end
  end
  return copy
end

-- The clean copy of value, or nil if it was refused (and reported). A null value counts as absent, except for required
-- and non-empty keys; list items are always required.
function check(layer, node, value, key, line, is_item)
  local null = value == layer.null and (node.kind ~= "any" or node.mapping)
  if null and not node.required and not node.not_empty and not is_item then return nil end
  layer.places[key] = { label = layer.label, line = line, option = layer.option and layer.option(key) }
  if null then return report(layer, key, line, ("is empty; it must be %s"):format(shape.expects(node))) end
  return kinds[node.kind](layer, node, value, key, line)
end

shape.check = check

-- The fields of this value's variant (by kind or type), else all.
function shape.fields(node, value)
  local variants = node.variants
  local variant = variants and variants[value[variants.by]]
  if not variant then return node.fields end
  local fields = {}
  for _, field in ipairs(node.fields) do
    local name = field[1]
    if name == variants.by or variant.any or variant.need[name] or variant.may[name] then
      fields[#fields + 1] = field
    end
  end
  return fields
end

-- Adds the defaults, in place; calls missing(key, node) for a missing required key.
function shape.fill(node, value, key, missing)
  if node.kind == "list" then
    for index, item in ipairs(value) do shape.fill(node.item, item, ("%s[%d]"):format(key, index), missing) end
  elseif node.kind == "dict" then
    for name, item in pairs(value) do shape.fill(node.item, item, key .. "." .. name, missing) end
  end
  if node.kind ~= "map" then return value end
  for _, field in ipairs(shape.fields(node, value)) do
    local name, child = field[1], field[2]
    local below = key == "" and name or key .. "." .. name
    if value[name] == nil then
      if child.required then missing(below, child) end
      if child.default ~= nil then
        value[name] = child.default
      elseif child.fill then
        value[name] = child.kind == "list" and json.array({}) or {}
      end
    end
    if type(value[name]) == "table" then shape.fill(child, value[name], below, missing) end
  end
  return value
end

-- Every key of a schema in order: a list of {key, expects, default, required, doc}, for help and documentation.
function shape.list(node, key, rows)
  key, rows = key or "", rows or {}
  if node.kind == "list" then return shape.list(node.item, key .. "[]", rows) end
  if node.kind == "dict" then return shape.list(node.item, key .. ".NAME", rows) end
  for _, field in ipairs(node.fields or {}) do
    local child = field[2]
    local below = key == "" and field[1] or key .. "." .. field[1]
    rows[#rows + 1] = {
      key = below, expects = shape.expects(child), default = child.default, required = child.required or false,
      doc = child.doc,
    }
    shape.list(child, below, rows)
  end
  return rows
end

return shape
