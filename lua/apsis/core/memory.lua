-- memory: a journal without a file: its lines as they are, for the lab and for benchmarks. The same interface as
-- journal.lua's. With `forgets` it lets go of old lines, except those that took the lead.
local memory = {}

local Memory = {}
Memory.__index = Memory

memory.WINDOW = 4096 -- newest lines that stay in a journal that forgets

-- new{ forgets = true for one that lets go of old lines }
function memory.new(spec)
  return setmetatable({ lines = {}, count = 0, forgets = spec and spec.forgets, leads = {} }, Memory)
end

-- Whether a journal that forgets keeps a line for good.
function Memory:holds(index)
  return self.leads[index] == true
end

function Memory:append(line)
  local count = self.count + 1
  self.count, self.lines[count] = count, line
  local old = count - memory.WINDOW
  if self.forgets and old > 0 and not self:holds(old) then self.lines[old] = nil end
  return line
end

-- The line at an index | nil, why it is gone.
function Memory:read(index)
  local line = self.lines[index]
  if line then return line end
  return nil, ("line %d of the history is not kept: leave --no-history out for a strategy that looks so far back")
    :format(index)
end

function Memory:each(visit)
  for index = 1, self.count do
    local refused = visit(assert(self:read(index)), index)
    if refused then return nil, refused, "EJOURNAL" end
  end
  return true
end

function Memory.close() end

return memory
