-- mlruns: reads an mlruns folder by the rules of MLflow's FileStore and prints what is wrong with it, then a line for each run:
-- apsis exec mlruns.lua DIR. Facts: mlflow/store/tracking/file_store.py, mlflow/utils/validation.py, mlflow/entities.
local fs = require "apsis.fs"
local yaml = require "apsis.yaml"

local root = arg[1]

local function check(good, ...) if not good then print("wrong", ...) end end

-- meta.yaml must have exactly these keys, of these types.
local function meta_of(dir, types)
  local meta, why = yaml.decode(assert(fs.read(dir .. "/meta.yaml")))
  if not meta then error(why) end
  for key, wanted in pairs(types) do
    local value = meta[key]
    local kind = value == yaml.null and "null" or math.type(value) or type(value)
    check((" " .. wanted .. " "):find(" " .. kind .. " ", 1, true), dir, key, kind)
  end
  for key in pairs(meta) do check(types[key], dir, "unknown key", key) end
  return meta
end

-- _validate_metric_name, _validate_param_name, _validate_tag_name.
local function check_name(name)
  check(#name <= 250 and not name:find "[^/%w_. -]", "name", name)
  check(name ~= "." and not name:find "^/" and not name:find "//" and not name:find "^%./" and not name:find "%.%./"
    and not name:find "/$" and not name:find "^%.%.", "path", name)
end

-- The files below a folder, with names as the store makes them of paths.
local function files(dir, prefix, found)
  for _, name in ipairs(fs.list(dir) or {}) do
    if fs.stat(dir .. "/" .. name).type == "directory" then files(dir .. "/" .. name, prefix .. name .. "/", found)
    else found[#found + 1] = prefix .. name end
  end
  return found
end

local function check_run(dir, id, experiment)
  check(#id == 32 and not id:find "[^0-9a-f]", "run id", id)
  local meta = meta_of(dir, { artifact_uri = "string", deleted_time = "null integer", end_time = "null integer",
    entry_point_name = "string", experiment_id = "string", lifecycle_stage = "string", run_id = "string",
    run_name = "string", run_uuid = "string", source_name = "string", source_type = "integer",
    source_version = "string", start_time = "integer", status = "integer", tags = "table", user_id = "string" })
  check(meta.run_id == id and meta.run_uuid == id, "run_id", id)
  check(meta.experiment_id == experiment.experiment_id, "experiment_id of run", id)
  check(meta.artifact_uri == experiment.artifact_location .. "/" .. id .. "/artifacts", "artifact_uri", meta.artifact_uri)
  check(meta.lifecycle_stage == "active" and meta.status >= 1 and meta.status <= 5, "status", meta.status)
  check(fs.stat(dir .. "/artifacts").type == "directory", "no artifacts", id)
  check(fs.read(dir .. "/tags/mlflow.runName") == meta.run_name, "mlflow.runName", id)
  for _, name in ipairs(files(dir .. "/metrics", "", {})) do
    check_name(name)
    local text = fs.read(dir .. "/metrics/" .. name)
    check(text ~= "", "an empty metric", name)
    for line in text:gmatch "[^\n]*\n" do
      local at, value, step = line:match "^(%d+) (%S+) (%d+)\n$"
      check(at and tonumber(value) and #at == 13, "metric line", name, line)
      check(step, "no step", name)
    end
  end
  for _, part in ipairs { "params", "tags" } do
    for _, name in ipairs(files(dir .. "/" .. part, "", {})) do
      check_name(name)
      check(utf8.len(fs.read(dir .. "/" .. part .. "/" .. name)), "not UTF-8", name)
    end
  end
  print("run", meta.run_name, meta.status, id)
end

for _, id in ipairs(fs.list(root)) do
  if id ~= ".trash" and id ~= "models" then
    check(id:find "^[a-zA-Z0-9][%w_-]*$" and #id <= 64, "experiment id", id)
    local experiment = meta_of(root .. "/" .. id, { artifact_location = "string", creation_time = "integer",
      experiment_id = "string", last_update_time = "integer", lifecycle_stage = "string", name = "string" })
    check(experiment.experiment_id == id, "experiment_id", id)
    print("experiment", experiment.name, id)
    for _, run in ipairs(fs.list(root .. "/" .. id)) do
      if run ~= "meta.yaml" and run ~= "tags" then check_run(root .. "/" .. id .. "/" .. run, run, experiment) end
    end
  end
end
