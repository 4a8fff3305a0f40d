-- node: what a node does with a job's folder: claims it, measures as this machine would (live/verify over
-- live/executor/here), publishes the result. Needs neither the project nor its journal. Whatever the node is at fault
-- for is a result too, so that the job is sent to another one. Called by the command job.
local failing = require "apsis.live.failing"
local fs = require "apsis.fs"
local git = require "apsis.git"
local here = require "apsis.live.executor.here"
local host = require "apsis.host"
local json = require "apsis.json"
local reading = require "apsis.live.reading"
local scope = require "apsis.live.scope"
local state = require "apsis.state"
local verify = require "apsis.live.verify"
local wait = require "apsis.wait"
local worktree = require "apsis.worktree"

local node = {}

local World = {}
World.__index = World
for _, methods in ipairs { failing, reading } do
  for name, method in pairs(methods) do World[name] = method end
end

function World:log(level, text) table.insert(self.messages, { level = level, text = text }) end

function World:stages() return self.stage_list end

local MEGABYTE <const> = 1048576
local SETTLE_S <const> = 1
local PUBLISH_TRIES <const> = 30 -- a second apart: the folder may be full, or away for a moment

-- The node's name, as the scheduler or the system has it.
function node.name()
  return os.getenv "SLURMD_NODENAME" or (fs.read "/proc/sys/kernel/hostname" or "unknown"):match "^[^\n]*"
end

-- The world of one job: what live/verify and live/executor/here ask of one.
local function world_of(job, dir)
  local manifest, top = job.manifest, dir:match "^(.*)/[^/]*/[^/]*$"
  local root = manifest.workspace.root
  manifest.home, manifest.workspace.link = top, {} -- the whole shared folder is hidden from commands
  manifest.workspace.root = root and root:sub(1, 1) == "/" and root or dir .. "/work"
  manifest.where = function(key) return key end
  local self = setmetatable({ manifest = manifest, dir = dir .. "/project", prefix = job.prefix, seed = job.seed,
    given_env = job.env or {}, messages = {}, said = {}, trees = {}, tree_ring = {}, carried = job.carried,
    scope = scope.new(manifest.files, { program = manifest.program }), stage_list = { job.request.stage },
    log_limit = manifest.verification.log_limit_mb * MEGABYTE, artifacts_kept = manifest.verification.artifacts },
    World)
  local store = dir:match "^(.*)/" .. "/store.git"
  self.repo = self:need(git.open(store))
  if job.carried_tree then
    local tree <close> = self:need(worktree.open(self.repo, self.dir))
    self:need(tree:checkout(job.carried_tree))
  end
  local executor, message = here.open(self, { workdir = top, gitdir = store })
  if not executor then self:fail(message, 3) end
  for _, path in ipairs(job.hide) do executor.cage:hides(path) end
  executor.cage:hides_others()
  self.executor, self.here = executor, executor
  local open = executor.cage.open
  if open then self:log("warn", open .. ", so commands may write whatever you may there") end
  return self
end

-- What is wrong with a job, or a pilot, of another version.
function node.other_version(job)
  return ("this is apsis %s, the job is from %s: use one version everywhere"):format(host.version,
    tostring(job.version))
end

-- The measurement, and what else the result has. job.stop(why) ends its commands meanwhile.
local function measured(job, dir)
  if job.version ~= host.version then error({ message = node.other_version(job) }, 0) end
  if job.probe then return { probe = require("apsis.cluster.probe").answer(job), messages = json.array {} } end
  local world = world_of(job, dir)
  local record = { id = job.candidate, commit = job.tree, tree = job.tree }
  local slot = { number = job.experiment, baseline = job.slot.baseline, parent_commit = job.slot.parent_commit,
    stderr = job.slot.stderr, secondary = job.slot.secondary, value = job.slot.value, dir = dir .. "/out",
    candidate = job.slot.own and record or nil }
  world:need(fs.mkdir(slot.dir))
  function job.stop(why)
    slot.skipped = why
    world.here:stop(slot.number)
  end
  local measurement = verify.run(world, slot, record, job.request)
  job.stop = nil
  local way = world.here.cage.way
  world.here:close()
  world.repo:close()
  if slot.skipped then error({ message = slot.skipped }, 0) end -- what was ended has no value
  -- A scheduler that ends a job signals one process after another: this one may be next, and then has no result.
  if measurement.status == "crash" then wait.sleep(SETTLE_S) end
  return { measurement = measurement, messages = json.array(world.messages), stderr = slot.stderr, way = way }
end

-- What is wrong on this machine, in place of a measurement.
local function failure(thrown)
  local text = type(thrown) == "table" and thrown.message or tostring(thrown)
  return { failed = text:sub(1, 2000), messages = json.array {} }
end

-- The description in a folder, of a job or (file: pilot.json) of a pilot | nil, why there is none.
function node.read(dir, file)
  local stat, own = fs.stat(dir, { follow = false }), host.uid
  if not stat or stat.type ~= "directory" then return nil, dir .. ": no such folder on " .. node.name() end
  if stat.uid ~= own then return nil, dir .. " belongs to another user" end
  local text, message = fs.read(dir .. "/" .. file)
  if not text then return nil, message end
  local job = json.decode(text, true)
  if type(job) ~= "table" or job.name ~= dir:match "[^/]*$" then return nil, dir .. ": not its own " .. file end
  return job
end

-- Why nobody waits for the job of a folder, or nil.
function node.unwanted(dir)
  local there, _, code = fs.stat(dir)
  if fs.stat(dir .. "/lost") or fs.stat(dir .. "/cancelled") or not there and code == "ENOENT" then
    return dir .. ": it is not wanted any more"
  end
end

-- Claims the job of a folder to measure it; pilot: the name of the pilot that does. The job | nil, why not, and
-- "EEXIST" if it is claimed already.
function node.begin(dir, pilot)
  local job, message = node.read(dir, "job.json")
  message = message or node.unwanted(dir)
  if message then return nil, message end
  if pilot and job.version ~= host.version then return nil, node.other_version(job) end
  job.began = wait.time()
  local claim = json.encode { node = node.name(), pid = host.pid, time = job.began, pilot = pilot }
  local claimed, why, code = state.publish(dir .. "/claim", claim)
  if code == "EEXIST" and pilot then -- a pilot asks once for what it has, so its own claim was made though it failed
    local there = json.decode(fs.read(dir .. "/claim") or "", true)
    if type(there) ~= "table" then return nil, why end -- it cannot be read now
    claimed = there.pilot == pilot
  end
  if code == "EEXIST" then why = dir .. ": it is measured already, or was; another attempt has another folder" end
  if not claimed then return nil, why, code end
  -- A folder that is being removed may have lost an earlier claim: it loses job.json first (Folder:remove).
  local _, gone
  _, message, gone = fs.read(dir .. "/job.json")
  if gone == "ENOENT" or gone == "ESTALE" then return nil, message end
  return job
end

-- A result as text, with what names the job.
local function text_of(given, job)
  given.name, given.token, given.tree, given.node = job.name, job.token, job.tree, node.name()
  given.queue_s, given.wall_s = math.max(0, job.began - job.created), wait.time() - job.began
  return json.encode(given)
end

-- Publishes the result of a job's folder: true | nil, why; as true if the folder is not there any more.
local function publish(dir, text)
  for try = 1, PUBLISH_TRIES do
    local done, why, code = state.publish(dir .. "/result.json", text)
    if done or code == "EEXIST" or code == "ENOENT" then return true end
    if try == PUBLISH_TRIES then return nil, why end
    wait.sleep(1)
  end
end

-- Measures a job that was claimed, and publishes its result. Exit code, message, and true if it could not be published.
function node.measure(job, dir)
  local ran, given = pcall(measured, job, dir)
  job.stop = nil -- if it failed
  if not ran then given = failure(given) end
  local told, text = pcall(text_of, given, job)
  if not told then
    given = failure(text)
    text = text_of(given, job)
  end
  fs.remove_tree(dir .. "/work")
  local published, why = publish(dir, text)
  if not published then return 3, why, true end
  if given.failed then return 3, given.failed end
  return 0
end

return node
