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

local function leave(self, name, reason)
  local text = ("branch %s is left as it is: %s"):format(name, reason)
  if self.left ~= text then self.say("warn", text) end
  self.left = text
end

-- Removes the branch of a candidate that left the front; not one that has more than the candidate.
local function remove(self, name, at, id)
  local record = self.world.history:get(id)
  if not record or record.commit ~= at then return leave(self, name, "it has other commits than apsis made") end
  local used = self.repo:checked_out(name)
  if used then return leave(self, name, "it is checked out in " .. used) end
  local done, message = self.repo:delete_ref("refs/heads/" .. name)
  if not done then leave(self, name, message) end
end

-- Gives each member its branch, and removes those of the others.
function Branches:advance()
  self.front = self.front or front.new(self.world, self.world.manifest.metric.pareto)
  local wanted = {}
  for _, record in ipairs(self.front:records()) do wanted[record.id] = record.commit end
  for _, ref in ipairs(self.repo:refs(self.ref .. "/") or {}) do
    local id = ref.name:sub(#self.ref + 2)
    local name = self.short .. "/" .. id
    if wanted[id] and wanted[id] ~= ref.id then leave(self, name, "it has other commits than apsis made")
    elseif not wanted[id] and id:find "^c%d+$" then remove(self, name, ref.id, id) end
    wanted[id] = nil
  end
  local above = self.short:match "^(.*)/[^/]*$" -- of a run with one metric
  for id, commit in pairs(wanted) do
    local done, message = self.repo:set_ref(self.ref .. "/" .. id, commit, false, "apsis: " .. id)
    if not done and self.repo:ref("refs/heads/" .. above) then
      message = ("the branch %s is in the way: git branch -m %s %s-before"):format(above, above, above)
    end
    if not done then leave(self, self.short .. "/" .. id, message) end
  end
end

function Branches:repair(best)
  if best then self:advance() end
end

return branches
