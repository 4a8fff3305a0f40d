-- listed: a journal without a file: a list of lines, for the lab and for benchmarks. The same interface as
-- journal.lua's. With `forgets` it drops old lines, except those that took the lead.
local listed = {}

local Listed = {}
Listed.__index = Listed

listed.WINDOW = 4096 -- newest lines that stay in a journal that forgets

-- new{ forgets = true for one that lets go of old lines }
function listed.new(spec)
  return setmetatable({ lines = {}, count = 0, forgets = spec and spec.forgets, leads = {} }, Listed)
end

-- Whether a journal that forgets keeps a line for good.
function Listed:holds(index) return self.leads[index] == true end

function Listed:append(line)
  local count = self.count + 1
  self.count, self.lines[count] = count, line
  local old = count - listed.WINDOW
  if self.forgets and old > 0 and not self:holds(old) then self.lines[old] = nil end
  return line
end

-- The line at an index | nil, why it is gone.
function Listed:read(index)
  local line = self.lines[index]
  if line then return line end
  return nil, ("line %d of the history is not kept: leave --no-history out for a strategy that looks so far back")
    :format(index)
end

function Listed:each(visit, _, first)
  for index = first or 1, self.count do
    local refused = visit(assert(self:read(index)), index)
    if refused then return nil, refused, "EJOURNAL" end
  end
  return true
end

function Listed.close() end

return listed
