-- lock: of two runs of one project only one may write its state. Who begins takes .apsis/lock and a lock beside the
-- project's refs in the git directory, and holds both to its end, however that comes (runtime/state/filelock.c). The
-- second one also holds if .apsis is deleted under a run, and between linked working trees, which share refs. Called
-- by session, running and the commands.
local fs = require "apsis.fs"
local git = require "apsis.git"
local state = require "apsis.state"

local lock = {}

-- The lock of the project in dir, until it is closed | nil, message, 3, "LOCKED" if another process holds it.
function lock.take(dir)
  local held, message, why = state.lock(dir .. "/.apsis/lock")
  if held then return held end
  if why ~= "LOCKED" then return nil, ("the project's lock cannot be taken: %s"):format(message), 3, why end
  local pid, since = lock.holder(dir)
  local holder = pid and ("pid %d since %s"):format(pid, since) or message:gsub("^LOCKED: ", "")
  return nil, ("another apsis is running in this project (%s); `apsis status` shows what it does; Ctrl-C%s "
    .. "ends it"):format(holder, pid and (" or `kill %d`"):format(pid) or ""), 3, why
end

-- The git directory that all working trees of a repository share, without links: a lock is not taken through one.
function lock.common_dir(gitdir)
  local other = fs.read(gitdir .. "/commondir")
  return other and fs.realpath(gitdir .. "/" .. other:match "^[^\n]*") or fs.realpath(gitdir) or gitdir
end

-- Whether a folder has a journal and belongs to a repository with this git directory.
local function owns_refs(home, common)
  if not fs.stat(home .. "/logs/results.jsonl") then return false end
  local repo = git.open(home)
  local info = repo and repo:info()
  if repo then repo:close() end
  return info ~= nil and lock.common_dir(info.gitdir) == common
end

-- Takes the refs of a project: ref, its name there; home, its folder. The lock | nil, message, 3, "LOCKED" if another
-- process has them. Also refuses if they belong to the journal of another folder (nil, message, 3).
function lock.claim(gitdir, ref, home)
  local common = lock.common_dir(gitdir)
  local held, message, why = state.lock(("%s/apsis-%s.lock"):format(common, ref))
  if not held then
    return nil, (why == "LOCKED" and "another apsis is running with the candidates of %s in this repository: %s"
      or "the lock on the candidates of %s cannot be taken: %s"):format(ref, (message:gsub("^LOCKED: ", ""))), 3, why
  end
  local path = ("%s/apsis-%s.home"):format(common, ref)
  local owner = fs.read(path, 4096)
  if owner == home then return held end
  if owner and not owner:find "^/[^%z]*$" then owner = nil end -- a power cut left it torn
  if owner and owns_refs(owner, common) then
    held:close()
    return nil, ("%s, which shares this repository's refs, has the candidates of %s: give one of the two another "
      .. "project.name"):format(owner, ref), 3
  end
  local written, problem = state.replace(path, home)
  if written then return held end
  held:close()
  return nil, problem, 3
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
