-- here: the executor of this machine: gives verification a place that holds a commit, runs commands there and collects
-- their files. Owns checkouts, scratch folders, the cage, the watch for changed files, and all paths. Knows no metric
-- and judges nothing. executor/README.md has the contract. Called by world, verify and provider/command.
local advice = require "apsis.live.cage.advice"
local cage = require "apsis.live.cage.cage"
local environment = require "apsis.live.cage.environment"
local fs = require "apsis.fs"
local limits = require "apsis.live.cage.limits"
local pool = require "apsis.live.executor.here.pool"
local process = require "apsis.process"
local quoted = require("apsis.project.path").quoted
local served = require "apsis.live.executor.here.served"
local state = require "apsis.state"
local wait = require "apsis.wait"

local here = {}

local Here, Place = {}, {}
Here.__index, Place.__index = Here, Place

local MEGABYTE = 1048576
local WATCH_TRIES <const>, WATCH_PAUSE_S <const> = 50, 0.2
local UNWATCHED <const> = "%s: a folder of the evaluator that is moved away and back (where file times prove "
  .. "nothing, as on tmpfs, also a file that is written and put back) goes unnoticed "
  .. "(raise fs.inotify.max_user_watches and fs.inotify.max_user_instances)"

-- The folder of a project's workspaces.
here.root = pool.root

local function make_folder(world, path)
  local made, message = fs.mkdir(path)
  if not made then
    world:fail(message .. "; set workspace.root or XDG_CACHE_HOME to a folder that can be written", 3)
  end
end

-- The first such folder that no other apsis uses, and its lock: two containers may have projects at one path, and share
-- a cache.
local function take_root(world, first)
  local count, root = 1, first
  while true do
    make_folder(world, root)
    local lock, message, code = state.lock(root .. "/lock")
    if lock then return root, lock end
    if code ~= "LOCKED" then world:fail(message, 3) end
    count = count + 1
    root = first .. "-" .. count
  end
end

-- Makes execution.folder, if there is one, but nothing above it: that would be made for a mistyped one. true | nil,
-- message, exit code.
function here.make_shared(manifest)
  local path = manifest.execution and manifest.execution.folder
  if not path then return true end
  local above = path:match "^(.*)/[^/]+/*$"
  local ok, message
  if above and above ~= "" and not fs.stat(above) then
    message = ("%s is not there: correct the path, or make it: mkdir -p %s"):format(above, quoted(above))
  else
    ok, message = fs.mkdir(path)
    message = message and message .. "; name a folder that you may write"
  end
  if ok then return true end
  return nil, ("%s: execution.folder: %s"):format(manifest.where "execution.folder", message), 3
end

-- open(world, info of its repository) -> executor | nil, message, exit code.
function here.open(world, info)
  local manifest, links = world.manifest, {}
  local root = pool.root(manifest.home, manifest.workspace.root)
  local above = root:match "^(.*)/[^/]*$"
  make_folder(world, above)
  local shared = manifest.execution and manifest.execution.folder
  local ok, why, code = here.make_shared(manifest) -- what is not there cannot be hidden
  if not ok then return nil, why, code end
  root = world:need(fs.realpath(above)) .. root:sub(#above + 1) -- for a link in the home nothing would be left
  local lock
  root, lock = take_root(world, root)
  for index, path in ipairs(manifest.workspace.link or {}) do links[index] = world.dir .. "/" .. path end
  local made, message = cage.new { mode = manifest.sandbox.mode, allow = manifest.sandbox.allow, root = info.workdir,
    gitdir = info.gitdir, shared = shared,
    home = manifest.home, pool = above, own_pool = root, links = links, private_mb = manifest.limits.tmp_mb,
    disk_reserve_mb = manifest.limits.disk_reserve_mb }
  if not made then return nil, ("%s: sandbox: %s"):format(manifest.where "sandbox", message), 3 end
  return setmetatable({ world = world, cage = made, pool = pool.new(world.repo, root), lock = lock,
    running = {}, stopped = {} }, Here)
end

function Here:elsewhere(root, open_tree)
  self.pool:close()
  return setmetatable({ world = self.world, cage = self.cage, pool = pool.new(self.world.repo, root, open_tree),
    running = self.running, stopped = self.stopped }, Here)
end

function Here:ready() return true end

-- Ends what commands of a killed apsis left running; returns how many processes.
function Here:sweep()
  return process.sweep(self.pool.root) or 0
end

-- Removes the folders that a killed apsis left. Those with an answer that is still to be read stay: spared[path].
function Here:clear(spared)
  self.pool:sweep(spared)
end

-- Ends the commands of an experiment, those that run and those to come.
function Here:stop(number)
  self.stopped[number] = true
  for handle, of in pairs(self.running) do
    if of == number then handle:kill() end
  end
end

function Here:close()
  self.pool:close()
  if self.lock then self.lock:close() end
end

-- Any write to a file, or another one in its place, gives another stamp.
local function stamp_of(path)
  local stat = fs.stat(path, { follow = false })
  return stat and ("%s %d %d %.9f"):format(stat.type, stat.ino, stat.size, stat.ctime)
end

local TICK_S <const> = 0.01 -- of the clock that file times are taken from, at most

-- Adds to a checkout what the commit lacks: ignored files that the manifest names, and linked directories. Their stamps
-- by path. A write afterwards is in a later tick.
local function bring_along(world, into, without_hidden, without)
  local brought, left_out = {}, {}
  for _, path in ipairs(without or {}) do left_out[path] = true end
  local function bring(path, make)
    local target = into .. "/" .. path
    fs.mkdir(target:match("^(.*)/[^/]*$"))
    world:need(make(target, world.dir .. "/" .. path))
    brought[path] = stamp_of(target)
  end
  for _, carried in ipairs(world.carried or {}) do
    if not (without_hidden and carried.mode == "hidden") and not left_out[world:repository_path(carried.path)] then
      bring(carried.path, function(target, source) return fs.write(target, world:need(fs.read(source))) end)
    end
  end
  for _, path in ipairs(world.manifest.workspace.link or {}) do
    bring(path, function(target, source) return fs.symlink(source, target, { replace = true }) end)
  end
  if next(brought) then wait.sleep(TICK_S) end
  return brought
end

-- From now on, notices moved folders. A user may have no inotify watches: warns once. If there were some before,
-- another candidate may have taken them all: waits for a while.
local function watch(self, tree)
  local world, watched, message, code = self.world, nil, nil, nil
  for attempt = 0, WATCH_TRIES do
    if attempt > 0 then wait.sleep(WATCH_PAUSE_S) end
    watched, message, code = tree:watch()
    if watched or not world.watches then break end
  end
  if not watched and (world.watches or code ~= "EMFILE" and code ~= "ENOSPC") then world:need(nil, message, code) end
  if not watched then world:warn_once("watch", UNWATCHED:format(message)) end
  world.watches = watched
end

function Here:prepare(wanted)
  local world = self.world
  local left = wanted.left
  local space = world:need(self.pool:take(wanted.kind or "verify", left and left.root))
  local place = setmetatable({ here = self, world = world, space = space, tree = space.tree, root = space.dir,
    wanted = wanted, without = wanted.without,
    dir = space.dir .. (world.prefix ~= "" and "/" .. world.prefix or "") }, Place)
  if not left then place:again()
  else
    world:need(space.tree:checkout(wanted.commit, { hide = wanted.hide, keep = true }))
    place.scratch, space.scratch = left.scratch, left.scratch
    place.artifacts = left.scratch .. "/artifacts"
  end
  return place
end

function Place:again()
  if self.unused then return end
  local spaces, space, wanted, world = self.here.pool, self.space, self.wanted, self.world
  world:need(spaces:mend(space))
  if wanted.commit then
    world:need(spaces:checkout(space, wanted.commit, { hide = wanted.hide or wanted.without }))
    self.brought = bring_along(world, self.dir, wanted.hide ~= nil, wanted.without)
  end
  self.tree = space.tree
  self.scratch = world:need(spaces:scratch(space))
  self.metrics, self.artifacts = self.scratch .. "/metrics.txt", self.scratch .. "/artifacts"
  self.temporary = self.here.cage.way == "landlock" and world:need(spaces:temporary(space)) or nil
  if wanted.watch then watch(self.here, space.tree) end
  self.env = environment.base({ number = wanted.number }, space.dir, wanted.parent, wanted.own,
    self.world.given_env)
  self.env.APSIS_RUN_DIR = self.scratch
  self.unused = true
end

local handed_on = { "timeout_s", "stdin_text", "log", "log_limit_bytes", "stdout_file", "stderr_file", "record",
  "scanner", "head_bytes", "tail_bytes" }

-- A command as a spec of process.run.
function Place:spec(command)
  local settings = self.world.manifest.limits
  local cwd = command.cwd or "."
  local spec = { cwd = cwd:sub(1, 1) == "/" and cwd or self.dir .. (cwd ~= "." and "/" .. cwd or ""), env = {},
    clean_env = true, limits = limits.of(settings, command.limits or settings) }
  for _, name in ipairs(handed_on) do spec[name] = command[name] end
  local run, argument = command.run, command.argument
  if type(run) == "table" then
    spec.argv = table.move(run, 1, #run, 1, {})
    spec.argv[#spec.argv + 1] = argument
  else
    spec.shell = argument and run .. " " .. quoted(argument) or run
  end
  for _, variables in ipairs { self.env, command.env or {} } do
    for name, value in pairs(variables) do spec.env[name] = value and tostring(value) end
  end
  return spec
end

-- Puts a spec into the cage. run: as in the manifest; write: the folders that it may write.
function Place:in_cage(spec, run, write, temporary)
  local own = self.wanted.own or {}
  return self.here.cage:put(spec, { allow = own.allow, usual = self.wanted.usual, run = run, network = own.network,
    temporary = temporary or self.temporary, write = write })
end

-- Runs a command to its end, unless its experiment is stopped before. As process.run.
local function to_its_end(self, command)
  local running, number = self.here.running, self.wanted.number
  local handle <close>, message, code = process.start(self:in_cage(self:spec(command), command.run,
    { self.scratch, self.wanted.commit and self.root, command.write }))
  if not handle then return nil, message, code end
  running[handle] = number
  if self.here.stopped[number] then handle:kill() end
  local result
  result, message, code = handle:wait()
  running[handle] = nil
  return result, message, code
end

function Place:run(command)
  self.unused = nil
  if command.server then return served.run(self, command) end
  local result, message, code = to_its_end(self, command)
  self.world:need_started(command.name, message, code)
  return result, message
end

function Place:advice(given)
  return advice.of(self.here.cage, { result = given.result, run = given.run, env = given.env or self.env,
    memory_mb = given.memory_mb,
    own = self.wanted.own or {}, key = self.wanted.key, folders = { self.scratch, self.root } })
end

-- What commands changed: as the tree's changes, and the ignored files and links that were brought along.
function Place:changes()
  local changes, message = self.world:left(self.space.tree:changes { touched = true })
  if not changes then return nil, message end
  for path, stamp in pairs(self.brought) do
    if stamp_of(self.dir .. "/" .. path) ~= stamp then
      changes[#changes + 1] = { path = self.world:repository_path(path), kind = "modified" }
    end
  end
  return changes
end

function Place:collect(into, leaves)
  local stat = fs.stat(self.scratch, { follow = false })
  if not stat or stat.type ~= "directory" then return end -- a command replaced it by a link
  local found = #(fs.list(self.artifacts) or {}) > 0
  for _, name in ipairs(fs.list(self.scratch) or {}) do
    if leaves(name) then fs.remove_tree(self.scratch .. "/" .. name) elseif name ~= "artifacts" then found = true end
  end
  local most = self.world.artifacts_kept
  if found then fs.copy_tree(self.scratch, into, { max_bytes = most.max_mb * MEGABYTE, max_files = most.max_files }) end
end

function Place:close()
  if not self.here.pool:is_fresh(self.scratch) then fs.remove_tree(self.scratch) end
  self.here.pool:give(self.space)
end

return here
