-- spread: the noise of a metric and the level of the incumbent, from measurements that may be skewed, heavy-tailed or
-- drifting. The spread comes from successive measurements of one arm, which slow drift hardly changes. Works on the
-- plain numbers of a state (`data`); values are oriented, larger is better. A part of apsis.acceptance.
local stats = require "apsis.stats"

local spread = {}

-- the sd of a normal from the mean absolute difference of two independent draws
local PER_DIFFERENCE = math.sqrt(math.pi) / 2
local OUTLIER = 6 -- a difference counts as at most this many usual ones
local ROUNDS = 100

local function clip(value, limit)
  if value > limit then return limit end
  if value < -limit then return -limit end
  return value
end

spread.clip = clip

function spread.of(data)
  return data.differences > 0 and PER_DIFFERENCE * data.sum / data.differences or 0.0
end

-- One more difference between successive measurements of an arm.
function spread.difference(data, value, before)
  if not before then return end
  local difference = math.min(math.abs(value - before), OUTLIER * spread.of(data))
  data.sum, data.differences = data.sum + difference, data.differences + 1
end

-- Takes the first difference that a metric has shown; same: how many equal measurements came before it.
function spread.found(data, difference, same)
  data.sum, data.differences = math.abs(difference), data.differences + same + 1
end

-- The differences of a baseline. The usual one is the median of those that are not 0: otherwise a metric with mostly
-- one value would have a spread of 0.
function spread.first(data, values)
  local differences, moved = {}, {}
  for index = 2, #values do
    local difference = math.abs(values[index] - values[index - 1])
    differences[index - 1] = difference
    if difference > 0 then moved[#moved + 1] = difference end
  end
  local most = OUTLIER * (stats.median(moved) or 0)
  data.sum, data.differences = 0.0, #differences
  for _, difference in ipairs(differences) do data.sum = data.sum + math.min(difference, most) end
end

-- Huber's location: the point for which the differences, each clipped at two spreads, sum to 0 (Huber, 1964).
function spread.location(values, size)
  local at = stats.median(values)
  if size == 0 then return at end
  for _ = 1, ROUNDS do
    local sum = 0.0
    for _, value in ipairs(values) do sum = sum + clip((value - at) / size, 2) end
    local step = sum / #values
    at = at + size * step
    if math.abs(step) < 1e-9 then break end
  end
  return at
end

-- this many measurements in a row, each this many spreads off to one side, mean that the level has stepped
local FAR, TURNS = 3, 3

-- Whether this measurement and those before it show that the level has stepped: then it moves to them.
local function stepped(data, value, size)
  local z = (value - data.ref) / size
  local side = z > FAR and 1 or z < -FAR and -1 or 0
  if side * (data.off or 0) <= 0 then data.off, data.off_sum = nil, nil end
  if side == 0 then return false end
  data.off, data.off_sum = (data.off or 0) + side, (data.off_sum or 0.0) + value
  if math.abs(data.off) < TURNS then return false end
  data.ref, data.n, data.off, data.off_sum = data.off_sum / TURNS, TURNS, nil, nil
  return true
end

-- A measurement of the incumbent moves its level, by at most two spreads over the memory, or after a step to the new
-- level.
function spread.incumbent(data, value, memory)
  data.n = data.n + 1
  local size = spread.of(data)
  if size == 0 or stepped(data, value, size) then return end
  data.ref = data.ref + size * clip((value - data.ref) / size, 2) / math.min(data.n, memory)
end

return spread
