-- gclock: git's lock of `git gc`. Two processes that pack one repository at once can delete each other's objects: seen
-- with `git repack --geometric` beside `git gc`, git 2.39. The lock is the file gc.pid in the common git directory,
-- "PID HOST" of its holder (builtin/gc.c); with it taken, `git gc` refuses to begin. Called by anchors.
local fs = require "apsis.fs"
local host = require "apsis.host"
local state = require "apsis.state"

local gclock = {}

local OLD_S = 12 * 3600 -- git, too, ignores an older gc.pid
local STALE_S = 600 -- gc.pid.lock is there for milliseconds; an older one belongs to a killed git

local function age_s(path)
  local stat = fs.stat(path)
  return stat and os.time() - stat.mtime or math.huge
end

-- Whether a process that gc.pid names may still be packing.
local function is_held(path, name)
  local pid, where = (fs.read(path, 512) or ""):match "^(%d+) ([^\n]*)"
  return pid ~= nil and age_s(path) < OLD_S and (where ~= name or fs.stat("/proc/" .. pid) ~= nil)
end

-- Runs body with the lock, and releases it also if body raises. false: another process holds the lock, and body did not
-- run. Raises if the folder cannot be written.
function gclock.with(common_dir, body)
  local path = common_dir .. "/gc.pid"
  local new = path .. ".lock"
  local name = assert(fs.read "/proc/sys/kernel/hostname"):gsub("\n", "")
  if fs.stat(new) and age_s(new) > STALE_S then fs.remove(new) end
  local made, message, code = state.publish(new, ("%d %s"):format(host.pid, name))
  if not made and code ~= "EEXIST" then error(message, 0) end
  if not made or is_held(path, name) then
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
