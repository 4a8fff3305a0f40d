-- config: a project's effective configuration: defaults, the user's file, a room's layer, the manifest, command-line
-- options; and the search for a directory's project. Reads files; writes none. Called by the commands.
local fs = require "apsis.fs"
local home = require "apsis.project.home"
local manifest = require "apsis.project.manifest"
local nearest = require "apsis.project.nearest"
local rooms = require "apsis.core.rooms"
local schema = require "apsis.project.schema"
local secrets = require "apsis.project.secrets"
local shape = require "apsis.project.shape"
local suggest = require "apsis.suggest"

local config = {}

local function is_file(path)
  return (fs.stat(path) or {}).type == "file"
end

-- A directory's project file: its manifest.yaml, or one that a room knows.
local function file_of(dir)
  local path = (dir == "/" and "" or dir) .. "/manifest.yaml"
  if is_file(path) then return path end
  return (rooms.first("project_at", dir))
end

-- The first project file in dir, a real path, or above it; or nil.
local function upward(dir)
  while true do
    local path = file_of(dir)
    if path or dir == "/" then return path end
    dir = dir:match("^(.*)/[^/]*$")
    if dir == "" then dir = "/" end
  end
end

-- Why there is no project at dir; start: its real path if it exists.
local function nothing_at(dir, start, message)
  if not start and not message:find "^ENOENT" then return "no such directory: " .. nearest.escape(message) end
  local text, more = nearest.escape(dir) .. ": no such directory", rooms.first("no_project", dir, start)
  if start then text = ("no manifest.yaml in %s or in any directory above it"):format(nearest.escape(start)) end
  return text .. (more or start and "; `apsis init` makes one" or "")
end

-- The path of the first project file in dir or above it, else that of a room's project named dir; or nil and where
-- apsis looked.
function config.find(dir)
  local start, message = fs.realpath(dir)
  local path
  if start and is_file(start) then
    path = start:match("[^/]*$") == "manifest.yaml" and start or rooms.first("project_at", start)
      or rooms.first("project_named", dir)
  end
  path = path or start and upward(start) or rooms.first("project_named", dir)
  if path then return path end
  return nil, nothing_at(dir, start, message)
end

-- The path of the user's own file, or nil: $XDG_CONFIG_HOME counts only if it is absolute.
function config.user_path()
  local base, own = os.getenv("XDG_CONFIG_HOME") or "", home.dir()
  if base:sub(1, 1) ~= "/" then base = own and own .. "/.config" end
  return base and base .. "/apsis/config.yaml"
end

-- "execution.workers" is --workers on the command line.
local function option_name(key)
  return "--" .. key:match("[^.]*$"):gsub("_", "-")
end

-- The schema's node for a dotted key, and whether the rest of it is free-form.
local function node_at(key)
  local node = schema.manifest
  for part in key:gmatch("[^.]+") do
    if node.kind == "any" then return { kind = "any" } end
    node = node.kind == "dict" and node.item or shape.field(node, part)
    if not node then return nil end
  end
  return node
end

local function put(value, key, item)
  local path, last = key:match("^(.*)%.([^.]*)$")
  for part in (path or ""):gmatch("[^.]+") do
    if type(value[part]) ~= "table" then value[part] = {} end
    value = value[part]
  end
  value[last or key] = item
end

-- Applies command-line options to the merged layer, in place.
local function override(layer, overrides)
  local options = shape.layer { option = option_name, label = "" }
  for _, key in ipairs(suggest.names(overrides)) do -- "strategy" before "strategy.options.patience"
    local node = node_at(key)
    if not node then error(("no key '%s' in a manifest"):format(key), 3) end
    local clean = shape.check(options, node, overrides[key], key)
    if clean ~= nil then put(layer.value, key, clean) end
    manifest.forget(layer.places, key)
    layer.places[key] = { option = option_name(key), label = "" }
  end
  table.move(options.errors, 1, #options.errors, #layer.errors + 1, layer.errors)
end

-- Puts a layer over another; the result has the upper one's label.
local function lay(lower, upper)
  manifest.merge(lower, upper, schema.manifest)
  lower.places[""] = upper.places[""]
  table.move(upper.errors, 1, #upper.errors, #lower.errors + 1, lower.errors)
  lower.label, lower.unread = upper.label, upper.unread
  return lower
end

-- The layer of a project's file; if that is not a manifest.yaml, its place too (see manifest.finish).
local function project_layer(path, text)
  if path:match("[^/]*$") ~= "manifest.yaml" then return rooms.first("project_layer", path) end
  return manifest.read(path, schema.manifest, text), {}
end

-- A room may add a layer below the project's own, or return why the project cannot be read: nil and why.
local function with_lower(layer, path, place)
  for _, lower_layer in rooms.each "lower_layer" do
    local lower, refused = lower_layer(layer, path, place)
    if lower == false then return nil, refused end
    if lower then
      local unread = lower.unread -- then it is unknown what the project lacks
      lay(lower, layer).unread = unread or layer.unread
      layer = lower
    end
  end
  return layer
end

-- The effective configuration of dir's project: the manifest's table (see manifest.load) with all layers applied; or
-- nil and a list of errors. overrides is flat: {["execution.workers"] = 4}; its errors begin with the option,
-- "--workers: ". text: instead of the manifest.yaml's own.
function config.load(dir, overrides, text)
  local path, message = config.find(dir)
  if not path then return nil, { message } end
  local layer, place = project_layer(path, text)
  layer, message = with_lower(layer, path, place)
  if not layer then return nil, { message } end
  local user_path = config.user_path()
  if user_path and fs.stat(user_path) then layer = lay(manifest.read(user_path, schema.user), layer) end
  override(layer, overrides or {})
  local made, errors = manifest.finish(layer, path, place)
  if not made then return nil, errors end
  made.ignored, made.warnings = place.ignored, place.warnings
  return made
end

local function masked(env)
  local copy = {}
  for name, value in pairs(env) do
    copy[name] = secrets.may_be_variable(name) and "(not shown)" or value
  end
  return copy
end

local function plain(value)
  if type(value) ~= "table" then return value end
  local copy = setmetatable({}, getmetatable(value))
  for key, item in pairs(value) do
    copy[key] = key == "env" and type(item) == "table" and masked(item) or plain(item)
  end
  return copy
end

-- A copy for env.json: only plain data, without values of environment variables that look like secrets.
function config.plain(effective)
  local copy = {}
  for _, field in ipairs(schema.manifest.fields) do copy[field[1]] = plain(effective[field[1]]) end
  return copy
end

return config
