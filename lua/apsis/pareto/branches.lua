-- branches: a branch for each member of the front, apsis/NAME/front/c0007, in place of one for the best. They are made
-- and removed after the journal line, and only while git has what apsis left there. Called by the world as its branch.
local front = require "apsis.pareto.front"

local branches = {}

local Branches = {}
Branches.__index = Branches

function branches.new(world, say)
  local name = world.manifest.branch
  return setmetatable({ world = world, repo = world.repo, short = name, ref = "refs/heads/" .. name, say = say },
    Branches)
end

-- Warns that something is left as it is; id: whose branch, or nil for all.
local function leave(self, id, reason)
  local name = id and self.short .. "/" .. id or self.short
  local left = id and id .. ": " .. reason or reason
  if self.said ~= left then
    self.say("warn", ("branch %s is left as it is: %s; it is tried again after the next change"):format(name, reason))
  end
  self.left, self.said = left, left
end

-- Removes the branch of a candidate that left the front; not one that has more than the candidate.
local function remove(self, id, at)
  local record = self.world.history:get(id)
  if not record or record.commit ~= at then return leave(self, id, "it has other commits than apsis made") end
  local used = self.repo:checked_out(self.short .. "/" .. id)
  if used then return leave(self, id, "it is checked out in " .. used) end
  local done, message = self.repo:delete_ref(self.ref .. "/" .. id)
  if not done then leave(self, id, message) end
end

-- Why git takes no branch below a front's name: that of a run with one metric is there; nil if none is.
function branches.in_the_way(repo, name)
  local above = name:match "^(.*)/[^/]*$"
  if not repo:ref("refs/heads/" .. above) then return nil end
  return ("the branch %s is in the way: git branch -m %s %s-before"):format(above, above, above)
end

-- Gives each member its branch, and removes those of the others.
function Branches:advance()
  self.front = self.front or front.new(self.world, self.world.manifest.metric.pareto)
  local wanted, blocked = {}, branches.in_the_way(self.repo, self.short)
  self.left = nil
  for _, record in ipairs(self.front:records()) do wanted[record.id] = record.commit end
  if blocked then return leave(self, nil, blocked) end
  for _, ref in ipairs(self.repo:refs(self.ref .. "/") or {}) do
    local id = ref.name:sub(#self.ref + 2)
    if wanted[id] and wanted[id] ~= ref.id then leave(self, id, "it has other commits than apsis made")
    elseif not wanted[id] and id:find "^c%d+$" then remove(self, id, ref.id) end
    wanted[id] = nil
  end
  for id, commit in pairs(wanted) do
    local done, message = self.repo:set_ref(self.ref .. "/" .. id, commit, false, "apsis: " .. id)
    if not done then leave(self, id, message) end
  end
end

function Branches:repair(best)
  if best then self:advance() end
end

return branches
