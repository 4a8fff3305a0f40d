-- store: MLflow's folder mlruns: finds or makes it and the experiment in it, and writes meta.yaml as its FileStore
-- does: one mapping with sorted keys. Called by mlflow.
local clock = require "apsis.core.clock"
local fs = require "apsis.fs"
local json = require "apsis.json"
local sha256 = require "apsis.project.sha256"
local state = require "apsis.state"
local yaml = require "apsis.yaml"

local store = {}

local TRASH, META, DEFAULT = ".trash", "meta.yaml", "0"

-- The control characters that YAML does not take as they are: DEL and C1.
local function scalar(value)
  local text = json.encode(value)
  return (text:gsub("\127", "\\x7f"):gsub("\xC2([\x80-\x9F])", function(byte)
    return ("\\x%02x"):format(byte:byte())
  end))
end

-- Writes a folder's meta.yaml; a text in double quotes, as JSON has it, is YAML, too.
function store.write_meta(dir, values)
  local names, parts = {}, {}
  for name in pairs(values) do names[#names + 1] = name end
  table.sort(names)
  for index, name in ipairs(names) do parts[index] = ("%s: %s\n"):format(name, scalar(values[name])) end
  return state.replace(dir .. "/" .. META, table.concat(parts))
end

-- The meta.yaml of a folder, as a table; nil if there is none or it is none.
local function read_meta(dir)
  local text = fs.read(dir .. "/" .. META)
  local meta = text and yaml.decode(text)
  return type(meta) == "table" and meta.experiment_id ~= nil and meta or nil
end

-- "file:///..." of an absolute path.
local function uri_of(path)
  return "file://" .. path:gsub("[^%w/._~-]", function(byte) return ("%%%02X"):format(byte:byte()) end)
end

-- Whether a folder is an mlruns.
local function is_store(dir, names)
  for _, name in ipairs(names) do
    if name == TRASH or read_meta(dir .. "/" .. name) then return true end
  end
  return false
end

local function make_experiment(root, id, name)
  local now = math.floor(clock.time() * 1000)
  local ok, message = fs.mkdir(root .. "/" .. id)
  if not ok then return nil, message end
  return store.write_meta(root .. "/" .. id, { artifact_location = uri_of(root .. "/" .. id), creation_time = now,
    experiment_id = id, last_update_time = now, lifecycle_stage = "active", name = name })
end

-- The folder as an mlruns: its real path | nil, message, code. An empty one, or none, becomes one.
local function open_root(dir)
  local stat = fs.stat(dir)
  if stat and stat.type ~= "directory" then return nil, ("%s is no folder"):format(dir), 2 end
  local names = stat and fs.list(dir) or {}
  if #names > 0 and not is_store(dir, names) then
    return nil, ("%s is a folder of something else, not of MLflow; name an mlruns folder, or a new one: %s/mlruns")
      :format(dir, dir), 2
  end
  local ok, message = fs.mkdir(dir .. "/" .. TRASH)
  local root = ok and fs.realpath(dir)
  if not root then return nil, "cannot write " .. message, 3 end
  if #names == 0 then ok, message = make_experiment(root, DEFAULT, "Default") end
  if not ok then return nil, "cannot write " .. message, 3 end
  return root
end

-- The id of the experiment with that name in a folder, or nil.
local function id_of(dir, name)
  for _, id in ipairs(fs.list(dir) or {}) do
    local meta = id ~= TRASH and read_meta(dir .. "/" .. id)
    if meta and meta.name == name then return id end
  end
end

-- An experiment's id as MLflow makes them, 18 digits, but the same each time.
local function made_id(name)
  return ("%018d"):format(100000000000000000 + tonumber(sha256.hex(name):sub(1, 13), 16) % 900000000000000000)
end

-- Finds or makes the folder and the experiment of that name: { dir, id, uri } | nil, message, code.
function store.open(dir, name)
  local root, message, code = open_root(dir)
  if not root then return nil, message, code end
  local made = made_id(name)
  local id = read_meta(root .. "/" .. made) and made or id_of(root, name)
  local trash = root .. "/" .. TRASH
  local deleted = not id and (read_meta(trash .. "/" .. made) and made or id_of(trash, name))
  if deleted then
    return nil, ("the experiment %s (%s) is deleted in %s; `mlflow experiments restore -x %s` brings it back"):format(
      name, deleted, dir, deleted), 3
  end
  if not id then
    id = made
    local ok, why = make_experiment(root, id, name)
    if not ok then return nil, "cannot write " .. why, 3 end
  end
  local meta = read_meta(root .. "/" .. id)
  local uri = meta and type(meta.artifact_location) == "string" and meta.artifact_location
  return { dir = root .. "/" .. id, id = id, uri = uri or uri_of(root .. "/" .. id) }
end

return store
