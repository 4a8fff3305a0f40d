-- describe: a measurement as a job: all that decides it, its key, and what is done with what comes back. Starts
-- nothing. Called by evaluations; node reads the description.
local environment = require "apsis.live.cage.environment"
local fs = require "apsis.fs"
local host = require "apsis.host"
local json = require "apsis.json"
local schema = require "apsis.project.schema"
local sha256 = require "apsis.project.sha256"
local wait = require "apsis.wait"

local describe = {}

local DIGITS <const>, MARK <const> = 32, 12
local elsewhere = { provider = true, strategy = true, budget = true, execution = true }

-- The parts of the manifest that a measurement may depend on, as plain data.
local function manifest_of(world)
  if world.sent_manifest then return world.sent_manifest end
  local copy = {}
  for _, field in ipairs(schema.manifest.fields) do
    if not elsewhere[field[1]] then copy[field[1]] = world.manifest[field[1]] end
  end
  world.sent_manifest = copy
  return copy
end

-- Ignored files that the manifest names, as they are now: { their tree in the store, nil if there are none } | nil,
-- why.
function describe.carried(world, folder)
  local files = {}
  for _, carried in ipairs(world.carried or {}) do
    local text, message = fs.read(world.dir .. "/" .. carried.path)
    if not text then return nil, message end
    files[carried.path] = text
  end
  if not next(files) then return {} end
  local tree, message = folder:carry(files)
  return tree and { tree }, message
end

-- 128 random bits.
function describe.nonce()
  local file <close> = assert(io.open("/dev/urandom", "rb"))
  return (file:read(16):gsub(".", function(byte) return ("%02x"):format(byte:byte()) end))
end

-- How the keys of a project's jobs begin.
function describe.mark(place) return place:sub(1, MARK) end

-- A measurement of a slot as a job without a name. carried: the tree of describe.carried. place: the project's name in
-- the shared folder. counts: how often the slot has asked for the same, by digest. Each is counted by itself: after a
-- crash others may come between them.
function describe.job(world, carried, place, slot, record, request, counts)
  local own, measured = record == slot.candidate, world.history and world.history.newest_baseline
  local job = {
    version = host.version, project = world.manifest.home, prefix = world.prefix, seed = world.seed,
    experiment = slot.number, candidate = record.id, tree = record.tree, request = request,
    manifest = manifest_of(world), carried = json.array(world.carried or {}),
    carried_tree = carried, env = environment.passed(world.manifest.verification.pass_env),
    since = measured and measured.timestamp, -- a job of before `apsis reset` or another baseline is another job
    slot = { baseline = slot.baseline, parent_commit = slot.parent_commit, own = own, stderr = slot.stderr,
      secondary = own and slot.secondary or nil, value = own and slot.value or nil },
  }
  local asked = sha256.hex(json.encode(job, { sorted = true }))
  counts[asked] = (counts[asked] or 0) + 1
  job.key = describe.mark(place) .. sha256.hex(asked .. counts[asked]):sub(1, DIGITS - MARK)
  job.hide = json.array(world.here.cage.hide) -- a node may have these folders, too
  return job
end

-- One attempt at a job: what is written for the node. Its name is never used twice: the same job may come again while
-- an attempt that was given up still runs.
function describe.attempt(job, number)
  local made = {}
  for key, value in pairs(job) do made[key] = value end
  made.name, made.token = ("%s-%d-%s"):format(job.key, number, describe.nonce():sub(1, 8)), describe.nonce()
  made.created = wait.time()
  return made
end

-- Adds what a job left in its folder to runs/NNNN: the log goes behind that of earlier measurements.
local function collect(from, into)
  local log = "/verifier.log"
  if fs.stat(into .. log, { follow = false }) then
    local text = fs.read(from .. log)
    if text then fs.append(into .. log, text) end
    fs.remove(from .. log)
  end
  fs.copy_tree(from, into)
end

-- Adds what a job took to the slot's sums: its queue_s, wall_s and node.
function describe.count(slot, given, usd_per_hour)
  local sums = slot.machines or { queue_s = 0, run_s = 0, nodes = {} }
  local run_s = math.max(0, given.wall_s or 0)
  sums.queue_s, sums.run_s = sums.queue_s + math.max(0, given.queue_s or 0), sums.run_s + run_s
  if usd_per_hour then sums.usd = (sums.usd or 0) + run_s / 3600 * usd_per_hour end
  local known = false
  for _, name in ipairs(sums.nodes) do known = known or name == given.node end
  if not known then table.insert(sums.nodes, given.node) end
  slot.machines = sums
end

-- Takes a job's result: its files, its warnings, what it took, its measurement.
function describe.take(world, slot, given, from)
  collect(from, slot.dir)
  describe.count(slot, given, world.manifest.execution.usd_per_hour)
  for _, one in ipairs(given.messages) do
    local text = ("%s: %s"):format(given.node, one.text)
    if one.level == "warn" then world:warn_once(text, text) else world:log("info", text) end
  end
  slot.stderr = given.stderr or slot.stderr
  world:log("info", ("experiment %d: measured on %s in %.1f s, after %.1f s in the queue"):format(slot.number,
    given.node, given.wall_s or 0, given.queue_s or 0))
  return given.measurement
end

return describe
