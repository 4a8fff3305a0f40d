-- config: the effective configuration of a project: defaults, then the user's file, then the manifest, then options of
-- the command line; and the search for the project a directory belongs to. Reads files; writes none. Called by the
-- commands.
local autoloop = require "apsis.goals.autoloop"
local fs = require "apsis.fs"
local hyperagents = require "apsis.project.hyperagents"
local manifest = require "apsis.project.manifest"
local nearest = require "apsis.project.nearest"
local programs = require "apsis.goals.programs"
local schema = require "apsis.project.schema"
local shape = require "apsis.project.shape"

local config = {}

local function is_file(path)
  return (fs.stat(path) or {}).type == "file"
end

-- The project's file of a directory: its manifest.yaml, or the program file whose folder it is.
local function file_of(dir)
  local path = (dir == "/" and "" or dir) .. "/manifest.yaml"
  if is_file(path) then return path end
  return dir:find("/%.autoloop/programs/[^/]+$") and programs.at(dir) or nil
end

local LISTED = 5 -- goals that a message names

-- The goals of root in words, as a list of names and a text; nil where there are none.
local function goals_of(root)
  local names = programs.names(root)
  if #names == 0 then return nil end
  local text = "the goals of this repository: " .. table.concat(names, ", ", 1, math.min(#names, LISTED))
  return names, #names > LISTED and ("%s and %d more (`apsis schedule` shows all)"):format(text, #names - LISTED) or text
end

-- The file of the goal that dir names in the repository of the current directory, or whose folder it would be.
local function goal_file(dir)
  dir = dir:match("^(.-)/*$")
  return not dir:find("/", 1, true) and programs.named(programs.root ".", dir) or not fs.stat(dir) and programs.at(dir) or nil
end

-- Why there is nothing at dir.
local function absent(dir, message)
  if not message:find "^ENOENT" then return "no such directory: " .. nearest.escape(message) end
  local folder, name = dir:match("^(.*)%.autoloop/programs/([^/]+)/*$")
  if not folder and not dir:find("/", 1, true) then folder, name = ".", dir end
  local names, text = goals_of(folder and programs.root(folder ~= "" and folder or "."))
  if not names then return nearest.escape(dir) .. ": no such directory" end
  return ("%s: no such directory, and no goal of that name; %s%s"):format(nearest.escape(dir), text,
    nearest.hint(name:gsub("%.md$", ""), names))
end

-- What is said where there is no project at start, or above it.
local function nothing_here(start)
  local text = ("no manifest.yaml in %s or in any directory above it"):format(nearest.escape(start))
  local root = programs.root(start)
  local names, goals = goals_of(root)
  if not names then return text .. "; `apsis init` makes one" end
  local first = programs.root "." == root and names[1] or manifest.display(root) .. "/.autoloop/programs/" .. names[1]
  return ("%s; %s: apsis log %s"):format(text, goals, first)
end

-- The first project's file in dir, which is a real path, or above it; nil where there is none.
local function upward(dir)
  while true do
    local path = file_of(dir)
    if path or dir == "/" then return path end
    dir = dir:match("^(.*)/[^/]*$")
    if dir == "" then dir = "/" end
  end
end

-- The path of the first manifest.yaml, or program file of a standing goal, in dir or above it; where dir is no directory, or nothing
-- is there, but it is a goal's name, that goal's file. Or nil and where it was looked for.
function config.find(dir)
  local start, message = fs.realpath(dir)
  if not start then
    local path = goal_file(dir)
    if path then return path end
    return nil, absent(dir, message)
  end
  if start:match("[^/]*$") == "manifest.yaml" and is_file(start) then return start end
  if is_file(start) then
    local path = programs.at(start) or goal_file(dir)
    if path then return path end
  end
  local path = upward(start) or goal_file(dir)
  if path then return path end
  return nil, nothing_here(start)
end

-- Where the user's own file would be, or nil: $XDG_CONFIG_HOME counts only if it is absolute.
function config.user_path()
  local base, home = os.getenv("XDG_CONFIG_HOME") or "", os.getenv("HOME") or ""
  if base:sub(1, 1) ~= "/" then
    if home:sub(1, 1) ~= "/" then return nil end
    base = home .. "/.config"
  end
  return base .. "/apsis/config.yaml"
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

-- Options of the command line over the merged layer, in place.
local function override(layer, overrides)
  local options = shape.layer { option = option_name, label = "" }
  local keys = {}
  for key in pairs(overrides) do keys[#keys + 1] = key end
  table.sort(keys) -- "strategy" before "strategy.options.patience"
  for _, key in ipairs(keys) do
    local node = node_at(key)
    if not node then error(("no key '%s' in a manifest"):format(key), 3) end
    local clean = shape.check(options, node, overrides[key], key)
    if clean ~= nil then put(layer.value, key, clean) end
    manifest.forget(layer.places, key)
    layer.places[key] = { option = option_name(key), label = "" }
  end
  table.move(options.errors, 1, #options.errors, #layer.errors + 1, layer.errors)
end

-- Lays a layer over another; the result is known by the upper one's name.
local function lay(lower, upper)
  manifest.merge(lower, upper, schema.manifest)
  lower.places[""] = upper.places[""]
  table.move(upper.errors, 1, #upper.errors, #lower.errors + 1, lower.errors)
  lower.label, lower.unread = upper.label, upper.unread
  return lower
end

-- What .hyperagents/config.json says, below a manifest that does not say itself how it measures; and the list of what is ignored.
local function with_hyperagents(layer, path)
  local verification = layer.value.verification
  if layer.unread or layer.places.fitness or verification and verification.commands or layer.places["verification.commands"] then
    return layer
  end
  local dir = path:match("^(.*)/[^/]*$")
  local value, ignored = hyperagents.read(dir ~= "" and dir or "/")
  if not value and not ignored then return layer end
  local label = manifest.display(dir .. "/" .. hyperagents.path)
  local lower = shape.layer { label = label }
  if value then lower.value = shape.check(lower, schema.manifest, value, "", 1) or {}
  else
    lower.value, lower.places.fitness = {}, { label = label, line = 1 }
    lower.errors[1] = { label = label, line = 1, key = "fitness", text = label .. ": " .. ignored }
    lower.places.verification, lower.places.metric = lower.places.fitness, lower.places.fitness -- said already
  end
  return lay(lower, layer), value and { path = label, ignored = ignored }
end

-- Whether a manifest's `program` may be a standing goal's name; rules.lua knows.
local function names_goal(layer)
  local named = layer.value.program
  return type(named) == "string" and not named:find("%.md$")
end

-- The layer of a project's file, and of a program file its place (see manifest.finish); and what came from another tool's file.
local function project_layer(path)
  if path:match("[^/]*$") ~= "manifest.yaml" then
    local layer = autoloop.layer(path)
    return layer, { dir = layer.root, home = layer.home, file = path, name = layer.name, warnings = layer.warnings,
      unconfigured = not layer.unread and layer.unconfigured }
  end
  local layer, other = with_hyperagents(manifest.read(path, schema.manifest), path)
  return layer, { unconfigured = names_goal(layer) and programs.unfilled(path) or nil }, other
end

-- What all standing goals of a repository share, below what a goal says itself.
local function with_shared(layer, path, place)
  if not place.file and not names_goal(layer) then return layer end
  local root = programs.root(place.dir or path:match("^(.*)/[^/]*$") or "/")
  local shared = root and root .. "/.autoloop/config.yaml"
  if not (shared and fs.stat(shared)) then return layer end
  local lower = manifest.read(shared, schema.shared)
  local unread = lower.unread -- then nobody knows what a goal lacks
  lay(lower, layer).unread = unread or layer.unread
  return lower
end

-- The effective configuration for the project of dir: the manifest's table (see manifest.load) with all layers applied;
-- or nil and a list of errors. overrides is flat: {["execution.workers"] = 4}; its errors begin with the option,
-- "--workers: ".
function config.load(dir, overrides)
  local path, message = config.find(dir)
  if not path then return nil, { message } end
  local layer, place, other = project_layer(path)
  if place.unconfigured then return nil, { place.unconfigured } end
  layer = with_shared(layer, path, place)
  local user_path = config.user_path()
  if user_path and fs.stat(user_path) then layer = lay(manifest.read(user_path, schema.user), layer) end
  override(layer, overrides or {})
  local made, errors = manifest.finish(layer, path, place)
  if not made then return nil, errors end
  made.hyperagents, made.warnings = other, place.warnings
  return made
end

local secret = { "KEY", "TOKEN", "SECRET", "PASSW", "CREDENTIAL", "AUTH" }

local function masked(env)
  local copy = {}
  for name, value in pairs(env) do
    copy[name] = value
    for _, word in ipairs(secret) do
      if name:upper():find(word, 1, true) then copy[name] = "(not shown)" end
    end
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

-- A copy for env.json: plain data only, and no value of an environment variable that looks like a secret.
function config.plain(effective)
  local copy = {}
  for _, field in ipairs(schema.manifest.fields) do copy[field[1]] = plain(effective[field[1]]) end
  return copy
end

return config
