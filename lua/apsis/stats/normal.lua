-- normal: the standard normal distribution and its inverse. A part of apsis.stats, for its test and its intervals.
local normal = {}

local DENSITY = 1 / math.sqrt(2 * math.pi)
local FAR = 39 -- beyond it a tail underflows
local TERMS, HALVINGS = 80, 70

-- The probability of more than x, for x from 0: a power series near the middle; further out, where the difference
-- would lose its digits, Laplace's continued fraction.
local function tail(x)
  if x >= FAR then return 0.0 end
  local density = DENSITY * math.exp(-x * x / 2)
  if x >= 3 then
    local fraction = x
    for index = TERMS, 1, -1 do fraction = x + index / fraction end
    return density / fraction
  end
  local term, sum, odd = x, x, 1
  while term > 1e-17 * sum do
    odd = odd + 2
    term = term * x * x / odd
    sum = sum + term
  end
  return 0.5 - density * sum
end

-- The probability of a value farther from 0 than x, on either side.
function normal.two_sided(x)
  return 2 * tail(math.abs(x))
end

function normal.cdf(x)
  if x < 0 then return tail(-x) end
  return 1 - tail(x)
end

-- The x with cdf(x) = probability, for a probability between 0 and 1 (neither itself).
function normal.quantile(probability)
  if probability > 0.5 then return -normal.quantile(1 - probability) end
  local low, high = -FAR, 0.0
  for _ = 1, HALVINGS do
    local middle = (low + high) / 2
    if tail(-middle) < probability then low = middle else high = middle end
  end
  return (low + high) / 2
end

return normal
