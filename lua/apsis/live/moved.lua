-- moved: the candidates' refs and the run's branch as git has them, compared with the journal, so that what somebody
-- moved or removed beside apsis is shown. Reads only. Called by reader, standing, running.
local branch = require "apsis.live.branch"
local fs = require "apsis.fs"
local torn = require "apsis.live.torn"

local moved = {
  ended = { finished = true, interrupted = true, waiting = true }, -- status of a run whose branch has the best
}

local NEWEST <const> = 256 -- candidates that have refs: a sweep (anchors) takes those of older ones

-- The commits that refs name, by candidate.
local function refs_of(repo, prefix)
  local by_id = {}
  for _, ref in ipairs(repo:refs(prefix) or {}) do
    local id = ref.name:sub(#prefix + 1)
    if id:find "^c%d+$" then by_id[id] = ref.id end
  end
  return by_id
end

-- Whether an experiment was made here: its folder is here, which a clone does not have.
local function made_here(at, record) return fs.stat(at:run_dir(record)) ~= nil end

local fields <const> = { experiment = true, outcome = true, candidate = true, commit = true }
local GONE <const> = "is gone: somebody removed it, or it was not copied with the rest"
local OTHER <const> = "names another commit: somebody changed it"

-- The first of the newest candidates whose ref is wrong, and what is. Before the first ref that is there only those
-- made here are missed: a clone that goes on with a journal has no refs of the candidates before its own. Takes what it
-- has seen out of by_id.
local function first_wrong(at, history, by_id)
  local wrong, what, after
  history:each(function(line)
    local commit = line.candidate and by_id[line.candidate]
    after = after or commit
    if commit then by_id[line.candidate] = nil end
    if wrong or not line.commit or commit == line.commit then return end
    if commit then wrong, what = line, OTHER elseif after or made_here(at, line) then wrong, what = line, GONE end
  end, fields, math.max(1, history.count - NEWEST + 1))
  return wrong, what
end

-- Of a project's refs: which one is not as apsis wrote it, for people; nil if all are. at: a reader or a world.
function moved.ref(repo, at, history)
  local by_id = refs_of(repo, at.refs)
  local wrong, what = first_wrong(at, history, by_id)
  for id, commit in pairs(by_id) do
    local record = history:get(id)
    local other = record and record.commit and record.commit ~= commit
    if other and not (wrong and wrong.experiment < record.experiment) then wrong, what = record, OTHER end
  end
  if not wrong then return nil end
  local name = at.refs .. wrong.candidate
  local file = what == GONE and torn.file(repo, name)
  if file then what = ("names no commit, as a power failure may leave it: remove its file %s"):format(file) end
  return ("%s %s; `git update-ref %s %s` restores it"):format(name, what, name, wrong.commit)
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
  local file = not tip and torn.file(repo, "refs/heads/" .. name)
  if file then return file .. " names no commit, as a power failure may leave it: `apsis run` makes it again" end
  return ("somebody %s; the best is %s"):format(tip and "moved it to " .. tip:sub(1, 10) or "removed it", best.id)
end

return moved
