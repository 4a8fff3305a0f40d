-- series: a value of each line of a journal as at most `most` points. In a longer journal each point stands for several
-- lines.
local series = {}

local Series = {}
Series.__index = Series

-- join(one, other): the point of two, of which `one` came first.
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

-- Adds the point of one more line.
function Series:add(point)
  local points, at = self.points, self.lines // self.stride + 1
  points[at] = points[at] and self.join(points[at], point) or point
  self.lines = self.lines + 1
  if #points > self.most then halve(self) end
end

return series
