-- measuring: measures the baseline, the candidate and each part as candidates are measured, in a scratch folder: no
-- journal line, no ref, no lock, so a loop may run meanwhile. A part that fails by itself is joined to another one that
-- it works with. Called by split.
local fs = require "apsis.fs"
local once = require "apsis.live.once"
local wait = require "apsis.wait"

local measuring = {}

local Measuring = {}
Measuring.__index = Measuring

-- open(reader, base) -> measuring | nil, message, code. Closed by its user.
function measuring.open(reader, base)
  local session = reader.session
  session:load_strategy() -- some measures depend on whether it climbs; one that does not load is no obstacle
  local ok, message, code = session:open_world()
  local scratch
  if ok then
    scratch, message = fs.tempdir "apsis-split-"
    code = 3
  end
  if not scratch then
    session:close()
    return nil, message, code
  end
  wait.trap()
  session.world.history = reader.history
  session.world.baseline_metrics = session.world.measurer and base.secondary_metrics or nil
  return setmetatable({ session = session, world = session.world, scratch = scratch, base = base, count = 0 },
    Measuring)
end

function Measuring:close()
  self.session:close()
  fs.remove_tree(self.scratch)
end
Measuring.__close = Measuring.close

-- The measurement of a commit: { value } if it passed, else { reason }. nil, message, code; 130: interrupted.
function Measuring:measure(commit, what)
  self.count = self.count + 1
  local dir = ("%s/%d"):format(self.scratch, self.count)
  local made, why = fs.mkdir(dir)
  if not made then return nil, why, 3 end
  self.session:say("measuring " .. what)
  local found, message, code = once.measure(self.world, dir, { commit = commit, parent = self.base.commit })
  fs.remove_tree(dir)
  if wait.interrupts() > 0 then return nil, "interrupted", 130 end
  if not found then return nil, message, code end
  if found.status == "ok" and found.value then return { value = found.value } end
  return { reason = found.reason or found.missing or found.status }
end

-- The parts to try with one that fails by itself: the nearest first, earlier ones before later ones.
local function neighbours(count, index)
  local order = {}
  for distance = 1, count - 1 do
    if index - distance >= 1 then order[#order + 1] = index - distance end
    if index + distance <= count then order[#order + 1] = index + distance end
  end
  return order
end

-- Looks for another part that a failing one passes with. Its index, the measurement and the tree; false: there is none;
-- nil, message, code.
local function partner(self, list, index)
  for _, other in ipairs(neighbours(#list, index)) do
    local tree, message = list:tree_of { list[index], list[other] }
    local commit
    if tree then commit, message = list:commit_of(tree) end
    if not commit then return nil, message, 3 end
    local found, why, code = self:measure(commit, ("parts %d and %d together"):format(math.min(index, other),
      math.max(index, other)))
    if not found then return nil, why, code end
    if found.value then return other, found, tree end
  end
  return false
end

-- Joins a failing part to one that it passes with, else all parts. true | nil, message, code.
local function join_failing(self, list, index)
  local other, found, tree = partner(self, list, index)
  if other == nil then return nil, found, tree end
  if other then list:join(index, other) end
  while not other and #list > 1 do list:join(1, 2) end
  local done, message = list:settle()
  if not done then return nil, message, 3 end
  for _, part in ipairs(list) do
    if part.tree == tree then part.found = found end
  end
  return true
end

-- Measures every part; in the end each has passed, with its value in `found`. whole: the candidate's measurement.
-- true | nil, message, code.
function Measuring:parts(list, whole)
  local index = 1
  while index <= #list do
    local part, message, code = list[index], nil, nil
    if #list == 1 then part.found = whole end
    if not part.found then
      part.found, message, code = self:measure(part.commit, ("part %d of %d: %s"):format(index, #list,
        list:title(part)))
    end
    if not part.found then return nil, message, code end
    if part.found.value then
      index = index + 1
    else
      self.session:say(("part %d fails by itself: %s"):format(index, part.found.reason))
      local joined
      joined, message, code = join_failing(self, list, index)
      if not joined then return nil, message, code end
      index = 1
    end
  end
  return true
end

return measuring
