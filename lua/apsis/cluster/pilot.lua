-- pilot: a long job that measures the jobs of a project, several at a time; for evaluations that are shorter than the
-- scheduler takes to start one. It finds them in the shared folder and ends when it has had nothing to do for a while,
-- or when its own folder is gone. Called by the command job.
local folder = require "apsis.cluster.folder"
local fs = require "apsis.fs"
local host = require "apsis.host"
local node = require "apsis.cluster.node"
local state = require "apsis.state"
local tasks = require "apsis.core.tasks"
local wait = require "apsis.wait"

local pilot = {}

local SOONEST_S <const>, LATEST_S <const> = 0.05, 1 -- between two looks at the folder
local IDLE_S <const>, SHARE <const> = 300, 20 -- without a job; a look every 1/SHARE of the time without one

-- Starts jobs that nobody has claimed, while there is room. seen: names of jobs that are claimed, here or elsewhere.
-- broken: why a result could not be published; this pilot ends then, so that its jobs are sent once more.
local function take(self)
  for _, name in ipairs(fs.list(self.top) or {}) do
    if self.busy >= self.spec.slots then return end
    local dir = self.top .. "/" .. name
    if folder.is_job(name) and not self.seen[name] and fs.stat(dir .. "/job.json") then
      local job, _, code = node.begin(dir, self.spec.name)
      self.seen[name] = job ~= nil or code == "EEXIST"
      if job then
        self.busy, self.jobs[dir] = self.busy + 1, job
        self.scheduler:spawn(function()
          local _, why, unpublished = node.measure(job, dir)
          self.broken = self.broken or unpublished and why
          self.busy, self.since, self.jobs[dir] = self.busy - 1, wait.now(), nil
        end)
      end
    end
  end
end

-- Ends the commands of jobs that nobody waits for any more: no scheduler does it here.
local function drop(self)
  if wait.now() < self.due then return end
  self.due = wait.now() + LATEST_S
  for dir, job in pairs(self.jobs) do
    local why = job.stop and node.unwanted(dir)
    if why then
      job.stop(why)
      job.stop = nil
    end
  end
end

-- Serves the folder of a pilot, which is beside those of the jobs, once: one that a scheduler starts again under the
-- same name would be taken for the one that has claimed jobs, so it leaves. Exit code, message.
function pilot.serve(dir)
  local spec, message = node.read(dir, "pilot.json")
  if not spec then return 3, message end
  local self = { top = dir:match "^(.*)/", spec = spec, seen = {}, jobs = {}, due = 0, busy = 0, since = wait.now(),
    scheduler = tasks.new() }
  if spec.version ~= host.version then return 3, node.other_version(spec) end
  local ok, why, code = state.publish(dir .. "/serving", node.name() .. "\n")
  if code == "EEXIST" then
    fs.remove(dir .. "/pilot.json")
    why = dir .. ": it has served already; another pilot has another folder"
  end
  if not ok then return 3, why end
  wait.trap()
  self.scheduler:spawn(function()
    local wanted = true
    while self.busy > 0 or wanted and not self.broken and wait.now() - self.since < IDLE_S do
      drop(self)
      local there, _, problem = fs.stat(dir .. "/pilot.json")
      wanted = there or problem ~= "ENOENT"
      if wanted and not self.broken then take(self) end
      local idle_s = self.busy > 0 and 0 or wait.now() - self.since
      wait.sleep(math.max(SOONEST_S, math.min(LATEST_S, idle_s / SHARE)))
    end
  end)
  if not self.scheduler:run(function(interrupts) return interrupts > 0 end) then self.scheduler:abandon() end
  return self.broken and 3 or 0, self.broken or nil
end

return pilot
