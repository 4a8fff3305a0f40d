-- tips: where a branch is, here and at origin; which of two commits is the newer; and moving a ref while others are at
-- work. Decides nothing about what a branch means, never checks anything out, never fetches. Called by store and sync.
local wait = require "apsis.wait"

local tips = {}

-- git holds the lock of a ref for milliseconds; an older one is a killed process's.
local LOCK_WAITS, LOCK_WAIT_S, LOCK_STALE_S = 40, 0.1, 2

-- What a ref names; false where there is no such ref; nil and why where that cannot be told.
function tips.ref(repo, name)
  local id, message, code = repo:ref(name)
  if id then return id end
  if code == "ENOENT" then return false end
  return nil, message
end

-- A branch's commit here and at origin, false where it is not there; nil and why.
function tips.both(repo, branch)
  local mine, message = tips.ref(repo, "refs/heads/" .. branch)
  if mine == nil then return nil, message end
  local theirs
  theirs, message = tips.ref(repo, "refs/remotes/origin/" .. branch)
  if theirs == nil then return nil, message end
  return mine, theirs
end

-- All that a clone that was cut still has of a commit's history.
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

-- How many commits of a are not in b, and how many are.
local function compare(a, b)
  local missing, common = 0, 0
  for id in pairs(a) do
    if b[id] then common = common + 1 else missing = missing + 1 end
  end
  return missing, common
end

tips.CUT = "this clone is shallow, and what is needed of the history is missing: git fetch --unshallow origin"

-- How many commits a has that b has not, and the other way round: 0, n where b descends from a. nil and why.
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

-- Why a branch of this name cannot be made where it is not: another one has the name of its folder, or is in a folder
-- of its name.
function tips.in_the_way(repo, branch)
  local other
  for slash in branch:gmatch("()/") do
    if repo:ref("refs/heads/" .. branch:sub(1, slash - 1)) then other = branch:sub(1, slash - 1) end
  end
  local below = (repo:refs("refs/heads/" .. branch .. "/") or {})[1]
  other = other or below and below.name:sub(#"refs/heads/" + 1)
  if other then
    return ("a branch %s cannot be beside one named %s: rename that one (git branch -m %s %s-old)"):format(branch, other, other,
      (other:gsub("/", "-")))
  end
end

-- Sets a ref by compare-and-swap (expected: an id, or false: none yet); waits for who holds its lock, and removes the
-- lock that a killed process left. true | nil, message, code (EMOVED: it is not as expected).
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
