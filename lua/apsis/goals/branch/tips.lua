-- tips: a branch's commits here and at origin, which of them is newer, and how to move a ref while others do. Decides
-- nothing; never checks out, never fetches. Called by store and sync.
local wait = require "apsis.wait"

local tips = {}

-- git holds a ref's lock for milliseconds; an older one was left by a killed process.
local LOCK_WAITS, LOCK_WAIT_S, LOCK_STALE_S = 40, 0.1, 2

-- The id that a ref names; false if there is no such ref; nil and why if it is unreadable.
function tips.ref(repo, name)
  local id, message, code = repo:ref(name)
  if id then return id end
  if code == "ENOENT" then return false end
  return nil, message
end

-- A branch's commits here and at origin, false if missing; nil and why.
function tips.both(repo, branch)
  local mine, message = tips.ref(repo, "refs/heads/" .. branch)
  if mine == nil then return nil, message end
  local theirs
  theirs, message = tips.ref(repo, "refs/remotes/origin/" .. branch)
  if theirs == nil then return nil, message end
  return mine, theirs
end

-- The part of a commit's history that a shallow clone has.
local function history(repo, id)
  local seen, open = {}, { id }
  while #open > 0 do
    local at = table.remove(open)
    local info = not seen[at] and repo:commit_info(at)
    if info then
      seen[at] = true
      for _, parent in ipairs(info.parents) do open[#open + 1] = parent end
    end
  end
  return seen
end

-- The number of commits of a that are not in b, and of those that are.
local function compare(a, b)
  local missing, common = 0, 0
  for id in pairs(a) do
    if b[id] then common = common + 1 else missing = missing + 1 end
  end
  return missing, common
end

tips.CUT = "this clone is shallow and lacks the history that is needed: git fetch --unshallow origin"

-- The number of commits that a has and b lacks, and the reverse: 0, n if b descends from a. nil and why.
function tips.relate(repo, a, b)
  if a == b then return 0, 0 end
  local ahead, behind = repo:ahead_behind(a, b)
  if ahead then return ahead, behind end
  local info = repo:info()
  if not (info and info.shallow) then return nil, behind end
  local of_a, of_b = history(repo, a), history(repo, b)
  local more, common = compare(of_a, of_b)
  if common == 0 then return nil, tips.CUT end
  return more, (compare(of_b, of_a))
end

-- Why a branch of this name cannot be created: another branch has the name of its folder, or is in a folder of its
-- name.
function tips.in_the_way(repo, branch)
  local other
  for slash in branch:gmatch("()/") do
    if repo:ref("refs/heads/" .. branch:sub(1, slash - 1)) then other = branch:sub(1, slash - 1) end
  end
  local below = (repo:refs("refs/heads/" .. branch .. "/") or {})[1]
  other = other or below and below.name:sub(#"refs/heads/" + 1)
  if other then
    return ("a branch %s cannot exist beside %s: rename the latter (git branch -m %s %s-old)"):format(branch, other,
      other, (other:gsub("/", "-")))
  end
end

-- Sets a ref by compare-and-swap (expected: an id, or false: must not exist). Waits for its lock, and removes one that
-- a killed process left. true | nil, message, code (EMOVED: not as expected).
function tips.swap(repo, name, new, expected, log_message)
  local done, message, code
  for _ = 1, LOCK_WAITS do
    done, message, code = repo:set_ref(name, new, expected, log_message)
    if done or code ~= "ELOCKED" then return done, message, code end
    repo:clear_locks(name, LOCK_STALE_S)
    wait.sleep(LOCK_WAIT_S)
  end
  return nil, message, code
end

return tips
