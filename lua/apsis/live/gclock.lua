-- gclock: git's lock of `git gc`. Two processes that pack one repository at once can delete each other's objects: seen
-- with `git repack --geometric` beside `git gc`, git 2.39. The lock is the file gc.pid in the common git directory,
-- "PID HOST" of its holder (builtin/gc.c); with it taken, `git gc` refuses to begin. Called by anchors.
local fs = require "apsis.fs"
local host = require "apsis.host"
local state = require "apsis.state"

local gclock = {}

local OLD_S = 12 * 3600 -- git, too, ignores an older gc.pid
local STALE_S = 600 -- gc.pid.lock is there for milliseconds; one that is older is of a killed process

local function age_s(path)
  local stat = fs.stat(path)
  return stat and os.time() - stat.mtime or math.huge
end

-- Whether the process that a lock file names may be running: true on another host; nil if the file names none.
local function is_running(path, host_name)
  local pid, where = (fs.read(path, 512) or ""):match "^(%d+) ([^\n]*)"
  if pid then return where ~= host_name or fs.stat("/proc/" .. pid) ~= nil end
end

-- Removes the gc.pid.lock that a killed process left.
local function clear(path, host_name)
  if fs.stat(path) and (age_s(path) > STALE_S or is_running(path, host_name) == false) then fs.remove(path) end
end

-- Runs body with the lock, and releases it also if body raises. false: another process holds the lock, and body did not
-- run. Raises if the folder cannot be written.
function gclock.with(common_dir, body)
  local path = common_dir .. "/gc.pid"
  local new = path .. ".lock"
  local name = assert(fs.read "/proc/sys/kernel/hostname"):gsub("\n", "")
  clear(new, name)
  local made, message, code = state.publish(new, ("%d %s"):format(host.pid, name))
  if not made and code ~= "EEXIST" then error(message, 0) end
  if not made or age_s(path) < OLD_S and is_running(path, name) then
    if made then fs.remove(new) end
    return false
  end
  assert(fs.rename(new, path))
  local done, problem = pcall(body)
  fs.remove(path)
  if not done then error(problem, 0) end
  return true
end

return gclock
