-- series: a value of each line of a journal as at most `most` points. In a longer journal each point stands for several
-- lines.
local series = {}

local Series = {}
Series.__index = Series

-- most: an even number; join(one, other): the point of two, of which `one` came first.
function series.new(most, join)
  return setmetatable({ most = most, join = join, stride = 1, lines = 0, points = {} }, Series)
end

-- Half as many points.
local function halve(self)
  local points, half = self.points, {}
  for at = 1, #points, 2 do
    half[#half + 1] = points[at + 1] and self.join(points[at], points[at + 1]) or points[at]
  end
  self.points, self.stride = half, 2 * self.stride
end

-- The point that one more line is added to: an empty table, or that of the lines before it.
function Series:next()
  if self.lines == self.most * self.stride then halve(self) end
  local at = self.lines // self.stride + 1
  local point = self.points[at] or {}
  self.points[at], self.lines = point, self.lines + 1
  return point
end

return series
