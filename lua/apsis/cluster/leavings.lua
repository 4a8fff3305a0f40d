-- leavings: what an apsis beside the loop, such as `apsis eval`, has left in the shared folder because it was killed.
-- Nobody adopts these jobs: they are cancelled and removed. Only those of this project and of this machine: a lock may
-- be unknown to other machines. Called by evaluations and probe.
local folder = require "apsis.cluster.folder"
local fs = require "apsis.fs"
local state = require "apsis.state"

local leavings = {}

-- This machine's name, which a job of an apsis beside the loop has in `beside`; nil if it is unknown.
function leavings.machine() return fs.read "/proc/sys/kernel/hostname" end

-- Whether a folder of a project is that of an apsis beside the loop of this project, on this machine.
local function is_ours(other, home)
  for name in pairs(other:jobs() or {}) do
    local job = other:read(name, "job.json")
    if job then return job.project == home and job.beside and job.beside == leavings.machine() end
  end
  return false
end

-- Cancels and removes the jobs and pilots of a folder whose lock is held. true | nil, why.
local function end_all(other, queue)
  local names = {}
  for _, name in ipairs(fs.list(other.root) or {}) do
    if name:find "-" then names[#names + 1] = name end
  end
  for name in pairs(other:jobs() or {}) do other:mark(name, "cancelled", "nobody waits for it") end
  local ok, message = queue:cancel(names)
  if not ok then return nil, message end
  for _, name in ipairs(names) do other:remove(name) end
  other:close()
  return true
end

-- Ends what was left beside the loop of this executor's project. A living apsis holds its lock before it has a job.
function leavings.clear(executor)
  local own = executor.folder
  for _, place in ipairs(fs.list(own.top) or {}) do
    local other = #place == #executor.place and place:find "^%x+$" and place ~= executor.place
      and folder.open(own.top, place)
    local held = other and is_ours(other, executor.world.manifest.home) and state.lock(other:dir "lock")
    if held then
      local ok, message = end_all(other, executor.scheduler)
      held:close()
      executor.world:log("info", ok and "jobs of an apsis that was killed beside the loop are cancelled"
        or "jobs of an apsis that was killed may go on: " .. message)
    end
  end
end

return leavings
