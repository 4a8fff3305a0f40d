-- mlflow: the runs of a project in MLflow's file store (an mlruns folder), as its FileStore reads it: the project is an
-- experiment there, each run of `apsis run` a run, each experiment a step. So the curve of one run is a chart, and runs
-- (of other strategies, of copies of the project, of other projects) are compared side by side. A run of MLflow for
-- each candidate would hide the curve, and its store reads every run's files for each list.
-- What the store demands (mlflow/store/tracking/file_store.py, mlflow/utils/validation.py): ids of 32 hex digits,
-- meta.yaml with the keys below, metric lines "milliseconds value step", names of letters, digits and "_ . - /", and
-- tags and params as files. Called by the command.
local clock = require "apsis.core.clock"
local columns = require "apsis.export.columns"
local fs = require "apsis.fs"
local json = require "apsis.json"
local lock = require "apsis.live.lock"
local plain = require "apsis.project.plain"
local sha256 = require "apsis.project.sha256"
local standing = require "apsis.live.standing"
local state = require "apsis.state"
local store = require "apsis.export.store"

local mlflow = {}

local FLUSH_BYTES, LONGEST_NAME, LONGEST_TEXT = 65536, 200, 5000
local LOCAL, RUNNING, FINISHED, FAILED, KILLED = 4, 1, 3, 4, 5 -- MLflow's numbers of source types and statuses
local OWN = "apsis/" -- before the names of a line's own numbers

-- Fields that are the same for all experiments of a run: params there. experiment is the step.
local constant = { run = true, seed = true, strategy = true, direction = true }
local no_metric = { experiment = true, primary_metric = true, value = true, planned = true, group = true, seen = true }

-- A name as the store takes it. What must be changed gets a digest, so that no two names become one.
function mlflow.name(name)
  local clean = name:gsub("[^%w_. -]", "_")
  if clean == name and #name <= LONGEST_NAME and not name:find "^[. ]" and not name:find "[. ]$"
    and name ~= "" and name .. "/" ~= OWN then return name end
  return ("%s-%s"):format(clean:sub(1, LONGEST_NAME):gsub("^[. ]", "_"), sha256.hex(name):sub(1, 8))
end

-- ---- one run ----

local Run = {}
Run.__index = Run

-- place: the folder of the experiment; sample: the run's first record that is no baseline; text: its line, which no
-- other run has.
local function new_run(place, number, sample, text)
  local id = sha256.hex(text):sub(1, 32)
  local self = setmetatable({ id = id, dir = place.dir .. "/" .. id, place = place, number = number, sample = sample,
    parts = {}, bytes = {}, count = 0 }, Run)
  self.fresh = self.dir .. "/metrics.new"
  local ok, message = fs.mkdir(self.dir .. "/artifacts")
  if ok then ok, message = fs.remove_tree(self.fresh) end
  if ok then ok, message = fs.mkdir(self.fresh .. "/apsis") end
  if not ok then return nil, message end
  return self
end

local function flush(self, name)
  if not self.failed and #self.parts[name] > 0 then
    local ok, message = fs.append(self.fresh .. "/" .. name, table.concat(self.parts[name]))
    if not ok then self.failed = message end
  end
  self.parts[name], self.bytes[name] = {}, 0
end

local function add_metric(self, name, value, record, at)
  if type(value) ~= "number" then return end
  local text = ("%d %s %d\n"):format(at, json.encode(value), record.experiment)
  if not self.parts[name] then self.parts[name], self.bytes[name] = {}, 0 end
  table.insert(self.parts[name], text)
  self.bytes[name] = self.bytes[name] + #text
  if self.bytes[name] > FLUSH_BYTES then flush(self, name) end
end

local function milliseconds(record)
  local seconds = record.timestamp and clock.parse(record.timestamp) or record.planned or 0
  return math.max(0, math.floor(seconds * 1000))
end

function Run:add(record, list)
  local at = milliseconds(record)
  self.first_ms = self.first_ms or math.max(0, math.floor((record.planned or at / 1000) * 1000))
  self.last_ms, self.count = at, self.count + 1
  if record.outcome == "baseline" then self.baseline = record end
  add_metric(self, mlflow.name(record.measured_by.name), record.value, record, at)
  for name, value in pairs(record.secondary_metrics or {}) do
    if name ~= record.measured_by.name then add_metric(self, mlflow.name(name), value, record, at) end
  end
  for _, column in ipairs(list) do
    local name = column.name
    if column.type == "number" and not constant[name] and not no_metric[name] then
      add_metric(self, OWN .. name, record[name], record, at)
    end
  end
end

-- Writes a folder's files, a text each.
local function write_files(dir, files)
  local ok, message = fs.mkdir(dir)
  for name, text in pairs(files) do
    if ok then ok, message = state.replace(dir .. "/" .. name, plain.visible(tostring(text)):sub(1, LONGEST_TEXT)) end
  end
  return ok, message
end

-- What the run is known by. newest: facts of the project's newest run, nil for earlier ones.
local function describe(self, reader, newest)
  local project = reader.manifest.project.name
  self.name = ("%s run %d, %s"):format(project, self.number, self.sample.strategy or "?")
  self.user = plain.text(os.getenv "USER" or os.getenv "LOGNAME" or "apsis")
  local params = { project = project, metric = self.sample.measured_by.name }
  for name in pairs(constant) do params[name] = self.sample[name] end
  local base = self.baseline
  params.baseline = base and base.value and json.encode(base.value) or nil
  local tags = { ["mlflow.runName"] = self.name, ["mlflow.user"] = self.user, ["mlflow.source.type"] = "LOCAL",
    ["mlflow.source.name"] = "apsis", ["mlflow.source.git.commit"] = base and base.commit or nil }
  local best = newest and reader.history.best
  if best then
    tags["apsis.best_candidate"], tags["apsis.best_commit"] = best.id, best.commit
    tags["apsis.best_value"] = best.value and json.encode(best.value) or nil
  end
  return params, tags
end

-- All lines are added: the metrics take the place of what an earlier export wrote, then the rest is written. What
-- others have added (tags, artifacts) stays.
function Run:finish(reader, newest)
  for name in pairs(self.parts) do flush(self, name) end
  if self.failed then return nil, self.failed end
  local params, tags = describe(self, reader, newest)
  local ok, message = fs.remove_tree(self.dir .. "/metrics")
  if ok then ok, message = fs.rename(self.fresh, self.dir .. "/metrics") end
  if ok then ok, message = write_files(self.dir .. "/params", params) end
  if ok then ok, message = write_files(self.dir .. "/tags", tags) end
  local text = newest and fs.read(reader.manifest.path)
  if ok and text then ok, message = state.replace(self.dir .. "/artifacts/manifest.yaml", text) end
  if not ok then return nil, message end
  local status = newest and newest.status or FINISHED
  return store.write_meta(self.dir, { artifact_uri = self.place.uri .. "/" .. self.id .. "/artifacts",
    deleted_time = json.null, end_time = status ~= RUNNING and self.last_ms or json.null, entry_point_name = "",
    experiment_id = self.place.id, lifecycle_stage = "active", run_id = self.id, run_name = self.name,
    run_uuid = self.id, source_name = "", source_type = LOCAL, source_version = "", start_time = self.first_ms,
    status = status, tags = json.array {}, user_id = self.user })
end

-- ---- all runs ----

-- How MLflow calls the state of the newest run.
local function status_of(reader)
  local word, noted = standing.word(reader, lock.holder(reader.home)), reader.last.status
  if word == "running" or word == "paused" then return RUNNING end
  if word == "finished" or not noted then return FINISHED end
  return word == "stopped" and FAILED or KILLED
end

-- Calls add(number, records, text) for every line of a run, after the baselines before it: the newest baselines, after
-- which there is no run yet, come last, with the run before them and without a text.
local function each_line(history, add)
  local waiting, number = {}, nil
  local ok, message = history:each(function(record, _, text)
    waiting[#waiting + 1] = record
    if record.outcome == "baseline" then return end
    number = record.run or number or 0
    add(number, waiting, text)
    waiting = {}
  end)
  if ok then add(number, waiting) end
  return ok, message
end

-- Writes all runs into the experiment's folder. A list of { id, name, run, experiments } | nil, message.
local function write_runs(reader, place)
  local list, found, run, failed = columns.list(), {}, nil, nil
  local function finish(newest)
    local ok, why = run:finish(reader, newest)
    failed = not ok and why or nil
    found[#found + 1] = { id = run.id, name = run.name, run = run.number, experiments = run.count }
  end
  local ok, message = each_line(reader.history, function(number, records, text)
    if failed then return end
    if not run or run.number ~= number then
      if run then finish() end
      if not failed then run, failed = new_run(place, number, records[#records], text) end
    end
    for _, record in ipairs(run and records or {}) do run:add(record, list) end
  end)
  if not ok then return nil, message end
  if not failed then finish { status = status_of(reader) } end
  if failed then return nil, "cannot write " .. failed end
  return found
end

-- Exports to a folder: { experiment = its id there, runs = a list of { id, name, run, experiments } } | nil, message,
-- code.
function mlflow.export(reader, dir)
  if reader.history.count == (reader.history.outcomes.baseline or 0) then
    return nil, "there is only a baseline yet, and no run: `apsis run` first", 3
  end
  local place, message, code = store.open(dir, reader.manifest.project.name)
  if not place then return nil, message, code end
  local runs, refused = write_runs(reader, place)
  if not runs then return nil, refused, 3 end
  return { experiment = place.id, runs = runs }
end

return mlflow
