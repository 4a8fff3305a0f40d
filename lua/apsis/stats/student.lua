-- student: Student's t distribution for whole degrees of freedom. A part of apsis.stats, for what is worked out from a
-- few values.
local student = {}

local HALVINGS = 80

-- The probability of a value within x of 0: the finite series of Abramowitz and Stegun, 26.7.3 (odd) and 26.7.4 (even).
function student.within(x, freedom)
  local angle = math.atan(x / math.sqrt(freedom))
  local sine, cosine = math.sin(angle), math.cos(angle)
  local odd = freedom % 2 == 1
  local term = odd and cosine or 1.0
  local sum = (odd and freedom > 1 or not odd) and term or 0.0
  for index = odd and 3 or 2, freedom - 2, 2 do
    term = term * cosine * cosine * (index - 1) / index
    sum = sum + term
  end
  if odd then return 2 / math.pi * (angle + sine * sum) end
  return sine * sum
end

-- The x with a probability of `level` between -x and x. For a level above 0 and below 1.
function student.two_sided(level, freedom)
  local low, high = 0.0, 1.0
  while student.within(high, freedom) < level do
    low, high = high, high * 2
  end
  for _ = 1, HALVINGS do
    local middle = (low + high) / 2
    if student.within(middle, freedom) < level then low = middle else high = middle end
  end
  return (low + high) / 2
end

return student
