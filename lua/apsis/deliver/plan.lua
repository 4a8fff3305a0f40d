-- plan: the commits that apply would put on the user's branch: one, a merge, or one for each step. Writes objects only.
-- Called by the command apply.
local checkout = require "apsis.deliver.checkout"
local joining = require "apsis.deliver.joining"
local message = require "apsis.deliver.message"
local steps = require "apsis.live.steps"

local plan = {}

local Plan = {}
Plan.__index = Plan

local function facts_of(self, record, tree)
  local note = tree ~= record.tree and "measured before it was joined to other changes" or nil
  return { { "Candidate", record.id }, { "Commit", record.commit },
    { "Value", message.value(record, self.unit, nil, note) } }
end

-- "tiny: score = 3, +2 against the baseline's 1".
local function summary(self, record, base)
  local gain = base.value and record.value and record.measured_by:against_text(record.value, base.value, self.unit,
    "baseline")
  local value = record.value and (": %s = %.10g"):format(record.measured_by.name, record.value) or ": " .. record.id
  return self.name .. value .. (gain and ", " .. gain or "")
end

local function add(self, tree, parents, record, text)
  self.commits[#self.commits + 1] = { tree = tree, parents = parents, record = record, subject = text.subject,
    message = message.write { subject = text.subject, body = text.body, facts = facts_of(self, record, tree) } }
end

-- Both ways that make one commit.
local function as_one(self, tree, merge)
  local list, record = self.steps, self.record
  local text = { subject = summary(self, record, self.base), body = message.list(self.repo, list) }
  if #list == 1 then
    text.subject = message.subject(self.repo, record)
    text.body = message.hypothesis(record, text.subject)
  end
  if merge then text.subject = ("Merge %s: %s"):format(record.id, text.subject) end
  add(self, tree, merge and { record.commit } or {}, record, text)
end

-- A commit for each step. One that does not join the branch by itself, or changes nothing there, goes with the next.
local function as_steps(self, tree)
  local before = self.place.tree
  for index, step in ipairs(self.steps) do
    local joined = index == #self.steps and tree or joining.tree(self.repo, self.side, step.record.commit)
    if joined and joined ~= before then
      local subject = message.subject(self.repo, step.record)
      add(self, joined, {}, step.record, { subject = subject, body = message.hypothesis(step.record, subject) })
      before = joined
    end
  end
end

-- Steps that the branch has already are not named again.
local function leave_out_known(self)
  local left = {}
  for _, step in ipairs(self.steps) do
    if not self.repo:descendant_of(self.side, step.record.commit) then left[#left + 1] = step end
  end
  self.steps = left
end

local function conflict(self, paths)
  return ("%s does not join %s: both sides change %s; nothing was changed. By hand: git merge --squash %s"):format(
    self.record.id, self.place.branch, checkout.names(paths), self.record.commit)
end

-- of(reader, place, record, way) -> { commits = { tree, parents (beside the one before), record, subject, message }...,
-- tree, exact (it is the candidate's) }, with no commits if the branch has the candidate's changes; or nil, message, 3.
function plan.of(reader, place, record, way)
  local repo = place.repo
  local self = setmetatable({ repo = repo, place = place, record = record, unit = reader.manifest.metric.unit,
    name = reader.manifest.project.name, commits = {} }, Plan)
  self.steps, self.base = steps.of(reader.history, record)
  local apart, tree, why, paths
  self.side, apart = joining.side(repo, place.head, place.tree, record.commit)
  if not self.side then return nil, apart, 3 end
  tree, why, paths = joining.tree(repo, self.side, record.commit)
  if not tree then return nil, paths and conflict(self, paths) or why, 3 end
  self.tree, self.exact = tree, tree == record.tree
  leave_out_known(self)
  if tree == place.tree then return self end
  if way == "commits" then as_steps(self, tree) else as_one(self, tree, way == "merge") end
  return self
end

-- Writes the commits, each on top of the one before. The last one's id | nil, message, 3.
function Plan:write()
  local tip, why = self.place.head
  for _, one in ipairs(self.commits) do
    tip, why = self.repo:commit { tree = one.tree, parents = { tip, table.unpack(one.parents) }, message = one.message }
    if not tip then return nil, why, 3 end
    one.id = tip
  end
  return tip
end

return plan
