-- branch: the run's branch, apsis/NAME. It only moves forward, by compare-and-swap, after the journal line: to the new
-- best if that descends from the tip, else to a commit of the best's tree whose parents are the tip and the best. If it
-- is checked out or somebody else moved it, apsis warns, leaves it and tries again at the next start. Called by world.
local branch = {}

local Branch = {}
Branch.__index = Branch

-- The branch that a candidate is on when it is the best. manifest.branch_by_id: candidates have branches of their own.
function branch.of(manifest, best)
  return manifest.branch_by_id and best and manifest.branch .. "/" .. best.id or manifest.branch
end

-- say(text) warns the user. more: mark, apsis's own ref that remembers where it left the branch; reverts: rejected work
-- is committed and reverted on the branch.
function branch.new(repo, name, say, more)
  return setmetatable({ repo = repo, short = name, ref = "refs/heads/" .. name, say = say, mark = more.mark,
    reverts = more.reverts }, Branch)
end

local function leave(self, reason)
  if not self.left then
    self.left = reason
    self.say("warn", ("branch %s is left where it is: %s; it is tried again at the next start"):format(self.short,
      reason))
  end
  return false
end

-- Whether a commit has the tip in its history. Commits older than the tip are not read: that would be the whole run.
-- (If the clock was set back, the answer is no and the branch gets one more commit.)
local function follows(self, commit, tip)
  local last = self.repo:commit_info(tip)
  local seen, open = {}, { commit }
  while last and #open > 0 do
    local at = table.remove(open)
    if at == tip then return true end
    local info = not seen[at] and self.repo:commit_info(at)
    seen[at] = true
    if info and (at == commit or info.time >= last.time) then
      table.move(info.parents, 1, #info.parents, #open + 1, open)
    end
  end
  return false
end

-- The commit to move to: the candidate, or its tree on top of tip and candidate; nil and why not.
local function forward(self, record, tip)
  if not tip or follows(self, record.commit, tip) then return record.commit end
  local info = self.repo:commit_info(tip)
  if info and info.tree == record.tree then return tip end
  return self.repo:commit { tree = record.tree, parents = { tip, record.commit },
    message = ("%s is the best\n\nApsis-Candidate: %s\n"):format(record.id, record.id) }
end

-- Moves the branch to record, a kept candidate that took the lead (or the baseline).
function Branch:advance(record)
  if self.left then return false end
  local checked_out = self.repo:checked_out(self.short)
  if checked_out then return leave(self, "it is checked out in " .. checked_out) end
  local tip = self.repo:ref(self.ref)
  if self.tip and tip ~= self.tip then return leave(self, "someone else moved it to " .. tostring(tip)) end
  local target, message = forward(self, record, tip)
  if not target then return leave(self, message) end
  if target == tip then
    self.tip = tip
    return true
  end
  local moved
  moved, message = self.repo:set_ref(self.ref, target, tip or false, "apsis: " .. record.id)
  if not moved then return leave(self, message) end
  self.tip = target
  self:remember(target)
  return true
end

-- Remembers the tip, so that apsis notices if somebody else moves the branch.
function Branch:remember(tip)
  if self.mark and self.repo:ref(self.mark) ~= tip then
    self.repo:set_ref(self.mark, tip, nil, "apsis: where the branch was left")
  end
end

-- Whether a commit puts a candidate onto the branch: the candidate itself, or its tree joined to the tip.
function Branch:holds(oid, commit)
  if oid == commit then return true end
  local info = self.repo:commit_info(oid)
  local joined = info and info.parents[2] == commit and self.repo:commit_info(commit)
  return joined and joined.tree == info.tree or false
end

-- history: revert: the rejected commit, then its revert, both on the branch.
function Branch:push_and_revert(record)
  if self.left then return false end
  local tip = self.repo:ref(self.ref)
  if self.tip and tip ~= self.tip then return leave(self, "someone else moved it to " .. tostring(tip)) end
  local checked_out = self.repo:checked_out(self.short)
  if checked_out then return leave(self, "it is checked out in " .. checked_out) end
  local info, tree, undo, message
  info, message = self.repo:commit_info(record.commit)
  if info then tree, message = self.repo:revert(record.commit, record.commit) end
  if not tree then return leave(self, message) end
  undo, message = self.repo:commit { tree = tree, parents = { record.commit },
    message = ('Revert "%s"\n\nThis reverts commit %s.\n'):format(info.subject, record.commit) }
  if not undo then return leave(self, message) end
  local moved
  moved, message = self.repo:set_ref(self.ref, undo, tip or false, "apsis: revert " .. record.id)
  if not moved then return leave(self, message) end
  self.tip = undo
  return true
end

-- Whether the run made a commit: a candidate, a commit that joins one, or a revert. The message does not count: people
-- squash, amend and rebase.
local function owns(self, oid, known)
  if known(oid) then return true end
  local info = self.repo:commit_info(oid)
  local joined = info and info.parents[2]
  if joined and known(joined) and self:holds(oid, joined) then return true end
  local reverted = self.reverts and info and info.message:match("This reverts commit (%x+)")
  return reverted ~= nil and reverted ~= false and reverted == info.parents[1] and known(reverted)
end

-- Whether a commit has another in its history (in a shallow clone: in the part that is there).
function branch.descends(repo, commit, ancestor)
  local yes = repo:descendant_of(commit, ancestor)
  if yes ~= nil then return yes end
  for _, one in ipairs(repo:log(commit) or {}) do
    if one.id == ancestor then return true end
  end
  return false
end

-- At start: takes the branch as it is and repairs it from the journal. known(oid): is it a candidate's commit?
function Branch:repair(best, known)
  local tip = self.repo:ref(self.ref)
  self.tip = tip
  if not best then return end
  if tip and not owns(self, tip, known) and not branch.descends(self.repo, best.commit, tip) then
    return leave(self, "someone else committed on it")
  end
  local info = tip and self.repo:commit_info(tip)
  if info and info.tree == best.tree then return end
  self:advance(best)
end

return branch
