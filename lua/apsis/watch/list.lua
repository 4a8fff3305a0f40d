-- list: a list on the screen: a selected row that stays in sight. Who uses it gives count() and row(place, width).
local list = {}

local List = {}
List.__index = List

function list.new(source) return setmetatable({ source = source, at = 1, top = 1 }, List) end

-- The rows in sight.
function List:rows(width, height)
  local count = self.source.count(self.at + height)
  self.at = math.max(1, math.min(self.at, count))
  self.top = math.max(1, math.min(self.top, self.at))
  if self.at >= self.top + height then self.top = self.at - height + 1 end
  self.height = height
  local rows = {}
  for place = self.top, math.min(count, self.top + height - 1) do
    local row, colour = self.source.row(place, width - 2)
    local chosen = place == self.at
    colour = chosen and "reverse" or colour
    rows[#rows + 1] = { { chosen and "> " or "  ", chosen and colour or nil }, { row, colour } }
  end
  return rows
end

local steps = { up = -1, k = -1, down = 1, j = 1 }

-- Moves the selection; false if the key does not.
function List:key(key)
  local page = math.max(1, (self.height or 10) - 1)
  if steps[key] then self.at = self.at + steps[key]
  elseif key == "pageup" then self.at = self.at - page
  elseif key == "pagedown" or key == " " then self.at = self.at + page
  elseif key == "home" or key == "g" then self.at = 1
  elseif key == "end" or key == "G" then self.at = self.source.count(math.huge)
  else return false end
  self.at = math.max(1, self.at)
  return true
end

return list
