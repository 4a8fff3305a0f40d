-- lock: of two runs of one project only one may write its state: who begins takes .apsis/lock and holds it to its end,
-- however it ends (runtime/state/filelock.c). Called by session and the commands.
local fs = require "apsis.fs"
local state = require "apsis.state"

local lock = {}

-- The lock of the project in dir, until it is closed | nil, message, 3, "LOCKED" if another process holds it.
function lock.take(dir)
  local held, message, why = state.lock(dir .. "/.apsis/lock")
  if not held then return nil, ("another apsis works on this project: %s"):format(message), 3, why end
  return held
end

-- Whether the process still has the lock file open; true if unknown (another user's process).
local function holds(pid, path)
  if not fs.stat("/proc/" .. pid) then return false end
  local handles = fs.list("/proc/" .. pid .. "/fd")
  if not handles then return true end
  for _, handle in ipairs(handles) do
    if fs.readlink("/proc/" .. pid .. "/fd/" .. handle) == path then return true end
  end
  return false
end

-- The pid of the process that works on the project, and since when; or nil.
function lock.holder(dir)
  local path = dir .. "/.apsis/lock"
  local pid, since = (fs.read(path, 200) or ""):match("^(%d+) (%S+)")
  if pid and holds(pid, fs.realpath(path) or path) then return tonumber(pid), since end
end

return lock
