-- curve: the values of a run and the best so far, by line of the journal, and the ranges to draw them in.
local direction = require "apsis.direction"
local series = require "apsis.view.series"

local curve = {}

local Curve = {}
Curve.__index = Curve

local MOST <const> = 1024 -- points
local FAR <const>, NEAR <const> = 3, 1.5 -- times the middle half's width
local LITTLE <const> = 0.6 -- a focus of a larger share is useless

local function least(a, b) return a and b and math.min(a, b) or a or b end
local function greatest(a, b) return a and b and math.max(a, b) or a or b end

local function join(one, other)
  return { low = least(one.low, other.low), high = greatest(one.high, other.high), last = other.last or one.last,
    kept = other.kept or one.kept, best = other.best or one.best }
end

function curve.new()
  return setmetatable({ series = series.new(MOST, join) }, Curve)
end

-- What is drawn: points { low, high, last (value), kept (the last kept value), best }, each nil if there is none.
function Curve:points() return self.series.points end

-- Adds a line; best: what the best counts for from there on.
function Curve:add(outcome, value, best)
  local kept = outcome == "kept" or outcome == "baseline"
  value, best = direction.finite(value) and value or nil, direction.finite(best) and best or nil
  local shown = kept and value or nil
  self.low, self.high = least(self.low, least(best, shown)), greatest(self.high, greatest(best, shown))
  local point = self.series:next()
  point.low, point.high, point.last = least(point.low, value), greatest(point.high, value), value or point.last
  point.kept, point.best = shown or point.kept, best or point.best
end

-- Values in order, of which each is as good a sample as another.
local function sorted(points)
  local numbers = {}
  for _, point in ipairs(points) do numbers[#numbers + 1] = point.last end
  table.sort(numbers)
  return numbers
end

-- What lies within `times` the width of the middle half around it, and around low and high if they are given.
local function around(points, numbers, times, low, high)
  local first, third = numbers[#numbers // 4 + 1], numbers[#numbers - #numbers // 4]
  local far = times * (third - first)
  low, high = low or first, high or third
  for _, point in ipairs(points) do
    for _, number in ipairs { point.low, point.high } do
      if number >= first - far and number <= third + far then
        low, high = math.min(low, number), math.max(high, number)
      end
    end
  end
  return low, high, far
end

-- The range of the value axis: all that was kept, every best, and what is near the middle half, because one bad value
-- would hide the rest: { low, high }; nil without a value.
function Curve:range()
  local points = self:points()
  local numbers = sorted(points)
  if #numbers == 0 then return self.low and { low = self.low, high = self.high } or nil end
  local low, high = around(points, numbers, FAR, self.low, self.high)
  return { low = low, high = high }
end

-- The narrower range that a chart starts with: the middle half, what is near it, and the best; otherwise the first
-- steps up from a poor baseline would hide the rest. nil if that leaves out little.
function Curve:focus(best)
  local points, whole = self:points(), self:range()
  local numbers = sorted(points)
  if #numbers == 0 then return nil end
  local low, high, near = around(points, numbers, NEAR, best, best)
  if near == 0 or high - low > LITTLE * (whole.high - whole.low) then return nil end
  return { low = low, high = high }
end

return curve
