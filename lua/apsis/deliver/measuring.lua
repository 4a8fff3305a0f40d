-- measuring: measures the baseline, the candidate and each part, beside the loop. A part that fails by itself is joined
-- to the others that it works with. Called by split.
local search = require "apsis.live.search"
local versions = require "apsis.live.versions"

local measuring = {}

local Measuring = {}
Measuring.__index = Measuring

-- open(reader, record, base) -> measuring | nil, message, code. Closed by its user.
function measuring.open(reader, record, base)
  local opened, message, code = versions.open(reader, { name = "split", record = record, parent = base.commit })
  if not opened then return nil, message, code end
  return setmetatable({ versions = opened }, Measuring)
end

function Measuring:close() self.versions:close() end
Measuring.__close = Measuring.close

-- The measurement of a tree: { value } if it passed, else { reason }. nil, message, code; 130: interrupted.
function Measuring:measure(tree, what)
  self.versions:announce("measuring " .. what)
  local found, message, code = self.versions:measure(tree)
  if not found then return nil, message, code end
  return { value = found.value, reason = found.reason }
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

-- Joins a failing part to those that it passes with: the nearest one, else the fewest. true | nil, message, code.
local function join_failing(self, list, index)
  local passed, problem, around = {}, nil, neighbours(#list, index)
  local function passes(others)
    local chosen = { list[index] }
    for _, other in ipairs(others) do chosen[#chosen + 1] = list[other] end
    if #chosen == #list then return true end
    local tree, message = list:tree_of(chosen)
    if not tree then problem = { message, 3 } return false end
    local found, why, code = self:measure(tree, ("part %d with %s"):format(index, table.concat(others, ", ")))
    if not found then problem = { why, code } end
    passed[tree] = found
    return found ~= nil and found.value ~= nil
  end
  local others = search.companions(#list > 2 and around or {}, around, passes, function() return problem end)
  if problem then return nil, table.unpack(problem) end
  table.insert(others, index)
  table.sort(others)
  for place = #others, 2, -1 do list:join(others[place - 1], others[place]) end
  local done, message = list:settle()
  if not done then return nil, message, 3 end
  for _, part in ipairs(list) do part.found = part.found or passed[part.tree] end
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
      part.found, message, code = self:measure(part.tree, ("part %d of %d: %s"):format(index, #list,
        list:title(part)))
    end
    if not part.found then return nil, message, code end
    if part.found.value then
      index = index + 1
    else
      self.versions.session:say(("part %d fails by itself: %s"):format(index, part.found.reason))
      local joined
      joined, message, code = join_failing(self, list, index)
      if not joined then return nil, message, code end
      index = 1
    end
  end
  return true
end

return measuring
