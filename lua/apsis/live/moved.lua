-- moved: the candidates' refs and the run's branch as git has them, compared with the journal, so that what somebody
-- moved or removed beside apsis is shown. Reads only. Called by reader, standing, running.
local branch = require "apsis.live.branch"

local moved = {
  ended = { finished = true, interrupted = true, waiting = true }, -- status of a run whose branch has the best
}

local NEWEST <const> = 128 -- candidates that have refs though a run that goes on may just anchor older ones

-- The commits that refs name, by candidate; nil if there is no ref at all, as in a fresh clone.
local function refs_of(repo, prefix)
  local by_id = {}
  for _, ref in ipairs(repo:refs(prefix) or {}) do
    local id = ref.name:sub(#prefix + 1)
    if id:find "^c%d+$" then by_id[id] = ref.id end
  end
  return next(by_id) and by_id
end

-- The first of the newest candidates whose ref is gone. A clone that goes on with a journal has no refs of the
-- candidates before its first, so none is missed before the first that has one.
local function first_missing(history, by_id)
  local after
  for index = math.max(1, history.count - NEWEST), history.count do
    local record = history:at(index)
    if by_id[record.candidate] then after = true end
    if after and record.commit and not by_id[record.candidate] then return record end
  end
end

-- Of the refs below a prefix: which one is not as apsis wrote it, for people; nil if all are.
function moved.ref(repo, prefix, history)
  local by_id = refs_of(repo, prefix)
  local wrong, what = by_id and first_missing(history, by_id), "is gone"
  for id, commit in pairs(by_id or {}) do
    local record = history:get(id)
    local other = record and record.commit and record.commit ~= commit
    if other and not (wrong and wrong.experiment < record.experiment) then
      wrong, what = record, "names another commit"
    end
  end
  return wrong and ("%s%s %s: somebody changed it; `git update-ref %s%s %s` restores it"):format(prefix,
    wrong.candidate, what, prefix, wrong.candidate, wrong.commit)
end

-- Of a run that has ended: why its branch is not at the best, for people; nil if it is, or has more. A clone has
-- neither the branch nor the best's ref.
function moved.branch(repo, prefix, name, best)
  local tip = best and repo:ref("refs/heads/" .. name)
  local info = tip and repo:commit_info(tip)
  if not best or not tip and not repo:ref(prefix .. best.id) or info and info.tree == best.tree
    or tip and branch.descends(repo, tip, best.commit) then
    return nil
  end
  return ("somebody %s; it is without the best, %s"):format(tip and "moved it to " .. tip:sub(1, 10) or "removed it",
    best.id)
end

return moved
