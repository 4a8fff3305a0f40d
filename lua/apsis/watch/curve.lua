-- curve: the values of a run and the best so far, as a fold over journal lines that keeps at most MOST points however
-- many lines there are: a point is then of several lines and knows their least, greatest and last value.
local direction = require "apsis.direction"

local curve = {}

local Curve = {}
Curve.__index = Curve

local MOST <const>, AT_A_TIME <const> = 1024, 500
local fields = { experiment = true, outcome = true, primary_metric = true, best = true }

-- first: the index of the first line that is compared with the best.
function curve.new(first)
  return setmetatable({ first = first, read_to = first - 1, lines = 0, stride = 1, points = {} }, Curve)
end

local function least(a, b) return a and b and math.min(a, b) or a or b end
local function greatest(a, b) return a and b and math.max(a, b) or a or b end

-- The point of two, of which `one` came first.
local function join(one, other)
  return { low = least(one.low, other.low), high = greatest(one.high, other.high), last = other.last or one.last,
    kept = other.kept or one.kept, best = other.best or one.best }
end

-- Half as many points.
local function halve(self)
  local points, half = self.points, {}
  for at = 1, #points, 2 do half[#half + 1] = points[at + 1] and join(points[at], points[at + 1]) or points[at] end
  self.points, self.stride = half, 2 * self.stride
end

-- Adds a line; best: what the best counts for from there on.
function Curve:add(outcome, value, best)
  local kept = outcome == "kept" or outcome == "baseline"
  value = direction.finite(value) and value or nil
  local point = { low = value, high = value, last = value, kept = kept and value or nil,
    best = direction.finite(best) and best or nil }
  local at = self.lines // self.stride + 1
  self.points[at] = self.points[at] and join(self.points[at], point) or point
  self.lines = self.lines + 1
  if #self.points > MOST then halve(self) end
end

-- A coroutine that adds the lines of a folded journal that are not in the curve yet, some at a time; it ends with nil,
-- or with why the journal cannot be read.
function Curve:reading(history)
  return coroutine.create(function()
    local some, last = 0, history.count
    local ok, message = history.source:each(function(line, index)
      if index > last then return end
      self:add(line.outcome, line.primary_metric, line.best)
      self.read_to, some = index, some + 1
      if some % AT_A_TIME == 0 then coroutine.yield(true) end
    end, fields, self.read_to + 1)
    return not ok and message or nil
  end)
end

-- The range of the values to draw: every best, and the values near the middle half of all; nil if there is none.
function Curve:range()
  local numbers, low, high = {}, nil, nil
  for _, point in ipairs(self.points) do
    for _, number in ipairs { point.low, point.high } do numbers[#numbers + 1] = number end
    local best = point.best
    if best then low, high = math.min(low or best, best), math.max(high or best, best) end
  end
  if #numbers == 0 then return low, high end
  table.sort(numbers)
  local first, third = numbers[#numbers // 4 + 1], numbers[#numbers - #numbers // 4]
  local far = 3 * (third - first)
  for _, number in ipairs(numbers) do
    if number >= first - far and number <= third + far then
      low, high = math.min(low or number, number), math.max(high or number, number)
    end
  end
  return low or numbers[1], high or numbers[#numbers]
end

return curve
