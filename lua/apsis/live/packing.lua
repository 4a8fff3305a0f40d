-- packing: refs and objects of a run packed as they grow: after every thousand experiments a process of its own packs what finished
-- ones left as files of their own, while the run goes on: what packing needs in memory is gone with it. Decides when, and which packs
-- are joined; what packing is, is repo's. Killed at any moment it leaves the repository whole, and is done again. Called by world.
local fs = require "apsis.fs"
local git = require "apsis.git"
local host = require "apsis.host"
local json = require "apsis.json"
local process = require "apsis.process"
local state = require "apsis.state"
local tasks = require "apsis.core.tasks"

local packing = {}

packing.EVERY = 1000 -- experiments
local JOINED = 8 -- packs of a size become one of the next: so few packs, and an object is written thrice in 100,000 experiments
local LARGEST = 2 -- sizes above this one are not joined any more: 64,000 experiments each
local NEWEST = 256 -- experiments stay files: workspaces still hold their trees, and are brought to the next one by difference
local TIMEOUT_S = 3600

local Packing = {}
Packing.__index = Packing

function packing.new(world)
  return setmetatable({ world = world, since = nil }, Packing)
end

local script = [[return require("apsis.live.packing").serve(%q)]]

-- The lowest number that is not known to be finished.
local function first_in_flight(world)
  local first = world.history:next_experiment()
  for _, slots in ipairs { world.state.slots, world.state.waiting } do
    for number in pairs(slots) do first = math.min(first, number) end
  end
  return first
end

-- The commits that are read for every experiment: they stay as they are.
local function spared(world)
  local list, history = {}, world.history
  for _, name in ipairs { "best", "current", "baseline" } do
    local record = history[name]
    if record and record.commit then list[#list + 1] = record.commit end
  end
  return json.array(list)
end

function Packing:run(below)
  local world = self.world
  local request = json.encode { dir = world.dir, refs = world.refs, home = world.home, below = below, least = packing.EVERY // 2,
    spared = spared(world) }
  local result, message = process.run { argv = { host.executable, "exec", "/dev/stdin" }, stdin_text = script:format(request),
    timeout_s = TIMEOUT_S }
  if not result or result.code ~= 0 then
    world:log("info", "refs and objects were not packed: " .. (message or (result.stderr.head:match("[^\n]+") or result.outcome)))
  end
  world.repo:renew()
end

-- An experiment has its line: packs where enough have gone by, unless that is being done. A run that goes on may have left many.
function Packing:note()
  self.since = (self.since or math.min(self.world.history.count, packing.EVERY)) + 1
  if self.since <= packing.EVERY or self.running then return end
  self.running = tasks.beside(function()
    self:run(first_in_flight(self.world) - NEWEST)
    self.running, self.since = nil, 0
  end)
end

-- ---- in the process that packs ----

-- Packs of ours, oldest first: { name, size } each; what git has repacked since is gone from disk, and then from here.
local function read_packs(path)
  local list = json.decode(fs.read(path) or "", true)
  return type(list) == "table" and list or {}
end

local function join(repo, packs, size)
  local names, rest = {}, {}
  for _, pack in ipairs(packs) do
    if pack.size == size then names[#names + 1] = pack.name else rest[#rest + 1] = pack end
  end
  if #names < JOINED then return packs end
  local joined = assert(repo:join_packs(names))
  if joined.name then rest[#rest + 1] = { name = joined.name, size = size + 1 } end
  return join(repo, rest, size)
end

-- One packing, as the JSON of a request says it. Objects before refs: it is the refs' files that tell which candidates are new.
function packing.serve(text)
  local request = assert(json.decode(text))
  local repo <close> = assert(git.open(request.dir))
  local names, commits, spare = {}, {}, {}
  for _, id in ipairs(request.spared) do spare[id] = true end
  for _, ref in ipairs(assert(repo:loose_refs(request.refs))) do
    local number = tonumber(ref.name:match "/c(%d%d%d%d+)$")
    if number and number < request.below and not spare[ref.id] then names[#names + 1], commits[#commits + 1] = ref.name, ref.id end
  end
  if #names < request.least then return 0 end
  local path = request.home .. "/.apsis/packs.json"
  local packed, packs = assert(repo:pack_objects(commits, request.spared)), read_packs(path)
  if packed.name then packs[#packs + 1] = { name = packed.name, size = 0 } end
  for size = 0, LARGEST - 1 do packs = join(repo, packs, size) end
  assert(state.replace(path, json.encode(json.array(packs)) .. "\n"))
  assert(repo:pack_refs(names))
  return 0
end

return packing
