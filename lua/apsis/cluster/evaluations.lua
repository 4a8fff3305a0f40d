-- evaluations: the executor of machines behind a queue: sends a whole measurement as a job, waits for its result, and
-- adopts what an earlier process has sent. A job is known by its key, the digest of all that decides the measurement,
-- and each attempt at it has a folder and a name of its own; so a result is taken once, for what it was measured for,
-- and nothing that is late or somebody else's is ever believed. live/executor/README.md has the contract. Called by
-- verify and world.
local attempt = require "apsis.cluster.attempt"
local describe = require "apsis.cluster.describe"
local folder = require "apsis.cluster.folder"
local fs = require "apsis.fs"
local here = require "apsis.live.executor.here"
local host = require "apsis.host"
local leavings = require "apsis.cluster.leavings"
local pilots = require "apsis.cluster.pilots"
local quoted = require("apsis.project.path").quoted
local state = require "apsis.state"
local sha256 = require "apsis.project.sha256"
local wait = require "apsis.wait"

local evaluations = {}

local Evaluations = {}
Evaluations.__index = Evaluations

local DIGITS <const> = 32 -- of a project's folder: 128 bits
local GRACE <const> = 3 -- of poll_sec: how long nobody must have waited for a job that is there
local TIDYING_S <const> = 0.02 -- between two looks whether another task has tidied up

-- open(world, info of its repository, the queue) -> executor.
function evaluations.open(world, _, queue)
  local self = setmetatable({ world = world, queue = queue, scheduler = queue, programs = queue.spec.programs,
    spec = world.manifest.execution, flying = {}, counts = {}, strays = {}, outages = 0,
    place = sha256.hex(world.manifest.home):sub(1, DIGITS) }, Evaluations)
  if self.spec.pilots then self.queue = pilots.new(self, queue) end
  return self
end

-- The project's folder, made at first use.
function Evaluations:shared()
  if self.folder then return self.folder end
  local made, message = here.make_shared(self.world.manifest)
  if not made then return nil, message end
  self.folder, message = folder.open(self.spec.folder, self.place)
  if not self.folder then
    return nil, ("%s: execution.folder: %s"):format(self.world.manifest.where "execution.folder", message)
  end
  return self.folder
end

function Evaluations:ready()
  local made, message = self:shared()
  if not made then return nil, message, 3 end
  if self.world.measurer then
    return nil, ("%s: execution.target: verification.fitness is measured on this machine; use target: local, or "
      .. "verification.commands"):format(self.world.manifest.where "execution"), 2
  end
  local answer
  answer, message = self.scheduler:ask {}
  if not answer then return nil, message, 3 end
  return true
end

-- What setup shows: what it has found, and a remark on it, or nil.
function Evaluations:remark()
  local pilots_of, workers = self.spec.pilots or 0, self.spec.workers
  return ("target %s answers; jobs are in %s"):format(self.spec.target, self.folder.root), pilots_of > workers
    and ("execution.pilots: %d pilots for %d workers: %d would have nothing to do"):format(pilots_of, workers,
      pilots_of - workers) or nil
end

-- The project's lock is held: what is left of jobs may be removed. Nothing is ended: a job that goes on is adopted.
function Evaluations:sweep()
  self.owns = true
  return 0
end

-- What only this machine can run, such as a gate or a program's version, runs here.
function Evaluations:prepare(wanted) return self.world.here:prepare(wanted) end

function Evaluations:elsewhere(root, open_tree)
  if open_tree then
    self.world:warn_once("elsewhere", "uncommitted files are measured on this machine, not where candidates are")
    return self.world.here:elsewhere(root, open_tree)
  end
  self.owns, self.alone, self.folder = true, root, nil -- not that of a loop, which may be running
  self.place = sha256.hex(self.world.manifest.home .. "\0" .. root):sub(1, DIGITS)
  return self
end

-- Takes the project's folder for itself: a clone at the same path on another machine has the same one. A file system
-- without locks is trusted.
local function take(self)
  local held, message, code = state.lock(self.folder:dir "lock")
  if not held and code == "LOCKED" then
    self.world:fail(("execution.folder: another apsis measures for a project at this path: %s"):format(message), 3)
  end
  self.held = held
end

-- Removes what earlier processes left of experiments that have their line. all: whatever they left; a baseline measures
-- anew.
local function tidy(self, all)
  while self.tidying do wait.sleep(TIDYING_S) end
  if self.tidied or not self.owns then return end
  self.tidying = true
  local nobody = { outside = true }
  self:outage(nobody)
  take(self)
  leavings.clear(self)
  local jobs, stale = self:need(nobody, self.folder.jobs, self.folder), {}
  self.tidied, self.inherited = true, {}
  for name, number in pairs(jobs) do
    local history = self.world.history
    if all or not number or history and history:line_of(number) then stale[#stale + 1] = name
    else
      self.inherited[number] = self.inherited[number] or {}
      table.insert(self.inherited[number], name)
    end
  end
  self:drop(stale)
  self.tidying = false
end

-- A run begins: what an earlier process has sent is this one's, and ends with it even if nothing is measured.
function Evaluations:begin()
  self.world:need(self:shared())
  tidy(self)
end

-- A person's answer is taken up: what an earlier process has sent goes on.
function Evaluations:visit() self.guest = true end

-- Cancels those of these jobs that have no result.
local function cancel(self, names)
  local open = {}
  for _, name in ipairs(names) do
    if not self.folder:has(name, "result.json") then
      self.folder:mark(name, "cancelled", "not wanted any more")
      open[#open + 1] = name
    end
  end
  local ok, message = self.queue:cancel(open)
  if not ok then self.world:log("warn", ("%d jobs may go on: %s"):format(#open, message)) end
end

-- Cancels jobs and removes their folders.
function Evaluations:drop(names)
  cancel(self, names)
  for _, name in ipairs(names) do self.folder:remove(name) end
end

-- Whether the shared folder cannot be read now; then jobs wait.
function Evaluations:away()
  local away = self.folder:away()
  if away then
    self.world:warn_once("away " .. self.outages, "execution.folder cannot be read: jobs wait until it can")
  end
  return away
end

-- Waits while the shared folder cannot be read, unless the slot is skipped; after queue_sec the run ends. Whether it
-- waited.
function Evaluations:outage(slot)
  if not self:away() then return false end
  attempt.show(self, slot, "waiting for execution.folder")
  local until_s = wait.now() + self.spec.queue_sec
  while not slot.skipped and self:away() do
    if wait.now() >= until_s then
      self.world:fail(("execution.folder: %s could not be read for execution.queue_sec, %g s; once it can, "
        .. "`apsis run` goes on"):format(self.folder.root, self.spec.queue_sec), 3)
    end
    wait.sleep(self.spec.poll_sec)
  end
  self.outages = self.outages + 1
  return true
end

-- What an action on the shared folder returns. One that fails is called again, after an outage or once more; then the
-- run ends. nil, why: the slot was skipped meanwhile.
function Evaluations:need(slot, action, ...)
  local failures = 0
  while true do
    local value, more = action(...)
    if value then return value, more end
    if slot.skipped then return nil, slot.skipped end
    failures = self:outage(slot) and 0 or failures + 1
    if failures > 1 then self.world:need(nil, more) end
    if failures > 0 then wait.sleep(self.spec.poll_sec) end
  end
end

-- Brings the files of a job into the store: { tree of those that are carried, or nil } | nil, why.
local function bring(self, record)
  local ok, message = self.folder:send(self.world.repo, record.tree)
  if not ok then return nil, message end
  return describe.carried(self.world, self.folder)
end

-- Sends a measurement and waits for its result | nil, why there is none.
local function sent(self, slot, record, request)
  local counts = self.counts
  local carried, why = self:need(slot, bring, self, record)
  if not carried then return nil, why end
  counts[slot.number] = counts[slot.number] or {}
  local job = describe.job(self.world, carried[1], self.place, slot, record, request, counts[slot.number])
  job.beside = self.alone and leavings.machine()
  return attempt.measure(self, slot, job)
end

-- Measures record's commit on a node, with as many attempts as `requeue` allows. verify.run has the measurement. What
-- cannot be measured ends the experiment (status unmeasured), or the run if something already decided depends on it.
function Evaluations:measure(slot, record, request)
  local world = self.world
  world:need(self:shared())
  tidy(self, slot.baseline)
  local given, why = sent(self, slot, record, request)
  if not given then
    if not slot.skipped and (slot.baseline or slot.outside or slot.phase ~= "VERIFY" or record ~= slot.candidate
      or slot.proposal.measure) then
      world:fail("it could not be measured: " .. why, 3)
    end
    return { status = "unmeasured", reason = why, stage = request.stage, near_misses = {}, near_miss_count = 0 }
  end
  return describe.take(world, slot, given, self.folder:dir(given.name) .. "/out")
end

-- An experiment has its line: its jobs, of whatever key, are of no more use.
function Evaluations:finished(number)
  if not self.folder then return end
  local names = self.inherited and self.inherited[number] or {}
  for name, one in pairs(self.flying) do
    if one.number == number then
      names[#names + 1] = name
      self.flying[name] = nil
    end
  end
  if self.inherited then self.inherited[number] = nil end
  self.counts[number] = nil
  if #names > 0 then self:drop(names) end
end

-- What the command submit sees of a job.
function Evaluations:variables(name)
  local dir = self.folder:dir(name)
  return { APSIS_JOB = name, APSIS_JOB_DIR = dir,
    APSIS_JOB_RUN = ("%s job %s"):format(quoted(self.spec.program or host.executable), quoted(dir)) }
end

-- Cancels and removes all that earlier processes of this project have sent. true | nil, message.
function Evaluations:clear()
  local ok, message = self:shared()
  if not ok then return nil, message end
  self.owns = true
  tidy(self, true)
  self:close()
  return true
end

-- Whether a result of an experiment has come that nobody has taken yet, or may have: of what is in flight, else of what
-- an earlier process has sent.
function Evaluations:has_result(number)
  local flying = false
  for name, one in pairs(self.flying) do
    if one.number == number and not one.done then
      flying = true
      if self.folder:has(name, "result.json") ~= false then return true end
    end
  end
  for _, name in ipairs(not flying and self.inherited and self.inherited[number] or {}) do
    if not self.flying[name] and self.folder:has(name, "result.json") ~= false
      and not self.folder:has(name, "lost") then return true end
  end
  return false
end

-- What the jobs in flight have cost until they were last seen to run, in dollars.
function Evaluations:running_usd()
  local seconds = 0
  for name, one in pairs(self.flying) do
    if not one.done and not one.began and one.running then
      one.began = (self.folder:read(name, "claim") or {}).time
    end
    if not one.done and one.began then seconds = seconds + math.max(0, (one.seen or one.began) - one.began) end
  end
  return seconds / 3600 * (self.spec.usd_per_hour or 0)
end

-- The names of all jobs that may be in the queue.
function Evaluations:names()
  local names = {}
  for name, one in pairs(self.flying) do
    if not one.done then names[#names + 1] = name end
  end
  table.sort(names)
  return names
end

-- The names of all pilots that may be in the queue.
function Evaluations:pilots()
  local names, seen = self.folder:pilots(), {}
  for _, name in ipairs(names) do seen[name] = true end
  for name in pairs(self.queue.mine or {}) do
    if not seen[name] then names[#names + 1] = name end
  end
  return names
end

-- Whether somebody waits for a job, or may: one that an earlier process has sent.
local function is_wanted(self, name)
  local one = self.flying[name]
  if one then return not one.done end
  for _, list in pairs(self.inherited or {}) do
    for _, inherited in ipairs(list) do
      if inherited == name then return true end
    end
  end
  return false
end

-- Cancels what an answer of the queue has of this project though nobody waits for it: a scheduler that was restarted
-- may have forgotten that a job has ended.
function Evaluations:reap(answer)
  if not answer or answer == self.reaped then return end
  self.reaped = answer
  local mark, before, over = describe.mark(self.place), self.strays, {}
  self.strays = {}
  for name in pairs(answer.jobs) do
    if name:sub(1, #mark) == mark and not is_wanted(self, name) then
      self.strays[name] = before[name] or answer.began
      if answer.began - self.strays[name] >= GRACE * self.spec.poll_sec then over[#over + 1] = name end
    end
  end
  for _, name in ipairs(over) do self.strays[name] = nil end
  self.queue:cancel(over)
end

-- Cancels what is in flight, also of a killed apsis. A guest's pilots may measure what that has sent: they stay, and
-- end when they are idle.
local function end_all(self)
  local names, over = self:names(), self.guest and {} or self:pilots()
  for _, list in pairs(self.guest and {} or self.inherited) do table.move(list, 1, #list, #names + 1, names) end
  cancel(self, names)
  self.scheduler:cancel(over)
  for _, name in ipairs(over) do self.folder:remove(name) end
end

-- Ends what is in flight; a killed process does not come here, and its jobs are adopted.
function Evaluations:close()
  if not self.folder then return end
  if self.tidied then
    end_all(self)
    if self.alone then
      for name in pairs(self.folder:jobs() or {}) do self.folder:remove(name) end
    end
    self.folder:close()
    if self.held then self.held:close() end
  elseif self.alone then self.folder:close() end
  self.folder = nil
end

-- Whether a shared folder can be used; see rooms' rules.
function evaluations.folder_problem(path, dir)
  if path:sub(1, 1) ~= "/" then return "must be an absolute path" end
  local real = fs.realpath(path) or path
  if real == dir or real:sub(1, #dir + 1) == dir .. "/" then return "must be outside the project" end
end

return evaluations
