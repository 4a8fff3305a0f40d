-- place: finds a standing goal's file, by path and by name, and the layers of its configuration.
local autoloop = require "apsis.goals.program.file"
local find = require "apsis.goals.find"
local fs = require "apsis.fs"
local manifest = require "apsis.project.manifest"
local nearest = require "apsis.project.nearest"
local schema = require "apsis.project.schema"

local place = {}

-- The program file at an existing real path, or of that folder.
function place.at(path)
  local is_file = (fs.stat(path) or {}).type == "file"
  return (is_file or path:find "/%.autoloop/programs/[^/]+$") and find.at(path) or nil
end

-- The file of the goal that dir names in the current repository, or whose folder it would be.
function place.named(dir)
  dir = dir:match("^(.-)/*$")
  local path = not dir:find("/", 1, true) and find.named(find.root ".", dir)
  if path or fs.stat(dir) then return path or nil end
  path = find.at(dir)
  if path or dir:find("/", 1, true) then return path end
  return require("apsis.goals.survey").named(dir, ".") -- a manifest.yaml anywhere in the repository
end

local LISTED = 5 -- goals that a message names

-- The goals of root, as a list of names and a text; nil if there are none.
local function goals_of(root)
  local names = find.names(root)
  if #names == 0 then return nil end
  local text = "the goals of this repository: " .. table.concat(names, ", ", 1, math.min(#names, LISTED))
  return names, #names > LISTED and ("%s and %d more (`apsis schedule` shows all)"):format(text, #names - LISTED)
    or text
end

-- Completes the message that there is no project at dir with the goals that exist. start: dir's real path, if any.
function place.goals_instead(dir, start)
  if start then
    local root = find.root(start)
    local names, goals = goals_of(root)
    if not names then return nil end
    local first = find.root "." == root and names[1] or manifest.display(root) .. "/.autoloop/programs/" .. names[1]
    return ("; %s: apsis log %s"):format(goals, first)
  end
  local folder, name = dir:match("^(.*)%.autoloop/programs/([^/]+)/*$")
  if not folder and not dir:find("/", 1, true) then folder, name = ".", dir end
  local names, goals = goals_of(folder and find.root(folder ~= "" and folder or "."))
  if not names then return nil end
  return (", and no goal has that name; %s%s"):format(goals, nearest.hint(name:gsub("%.md$", ""), names))
end

-- A program file's layer and its place, for manifest.finish.
function place.layer(path)
  local layer = autoloop.layer(path)
  return layer, { dir = layer.root, home = layer.home, file = path, name = layer.name, warnings = layer.warnings,
    unconfigured = not layer.unread and layer.unconfigured }
end

local function is_goal(layer, at)
  local named = layer.value.program -- a goal's name or the path of prose
  return at.file ~= nil or type(named) == "string" and not named:find "%.md$"
end

-- The keys that may be set for all goals of a repository: all but a goal's own.
local function shared_schema()
  local own, fields = { version = true, project = true, files = true, program = true, metric = true }, {}
  for _, field in ipairs(schema.manifest.fields) do
    if not own[field[1]] then fields[#fields + 1] = field end
  end
  return { kind = "map", doc = ".autoloop/config.yaml", fields = fields }
end

-- The layer that all goals of a repository share, .autoloop/config.yaml, below the goal's own; nil if there is none or
-- the project is not a goal; false and why if the goal is not filled in.
function place.shared(layer, path, at)
  if not is_goal(layer, at) then return nil end
  local unfilled = at.unconfigured or not at.file and find.unfilled(path)
  if unfilled then return false, unfilled end
  local root = find.root(at.dir or path:match("^(.*)/[^/]*$") or "/")
  local shared = root and root .. "/.autoloop/config.yaml"
  return shared and fs.stat(shared) and manifest.read(shared, shared_schema()) or nil
end

return place
