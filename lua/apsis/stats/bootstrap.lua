-- bootstrap: an interval for a statistic of a list, bias-corrected and accelerated (BCa: Efron, 1987), from resamples
-- drawn with the stream passed in. A part of apsis.stats.
local normal = require "apsis.stats.normal"
local order = require "apsis.stats.order"

local LEVEL, DRAWS = 0.95, 2000

-- The statistic of every resample, sorted.
local function replicates(list, statistic, draws, rng)
  local count, found, sample = #list, {}, {}
  for draw = 1, draws do
    if statistic == order.mean then -- the usual one, computed without filling a list
      local sum = 0
      for _ = 1, count do sum = sum + list[rng:integer(1, count)] end
      found[draw] = sum / count
    else
      for index = 1, count do sample[index] = list[rng:integer(1, count)] end
      found[draw] = statistic(sample)
    end
  end
  table.sort(found)
  return found
end

-- How fast the statistic's deviation changes with its value: from the statistic with each element left out in turn. 0
-- if nothing changes it.
local function acceleration(list, statistic)
  local without, influences, most = {}, {}, 0
  for left = 1, #list do
    table.move(list, 1, left - 1, 1, without)
    table.move(list, left + 1, #list, left, without)
    influences[left] = statistic(without)
  end
  local middle, squares, cubes = order.mean(influences), 0, 0
  for index, found in ipairs(influences) do
    influences[index] = middle - found
    most = math.max(most, math.abs(influences[index]))
  end
  if most == 0 then return 0 end
  for _, influence in ipairs(influences) do
    squares = squares + (influence / most) ^ 2
    cubes = cubes + (influence / most) ^ 3
  end
  return cubes / (6 * squares ^ 1.5)
end

-- The rank of the list's own statistic among the resamples', as a normal value; equal ones count half.
local function bias(found, observed)
  local below = 0
  for _, replicate in ipairs(found) do
    if replicate < observed then below = below + 1 elseif replicate == observed then below = below + 0.5 end
  end
  local least = 0.5 / #found
  return normal.quantile(math.max(least, math.min(1 - least, below / #found)))
end

local function corrected(z, shift, accelerated)
  local moved = shift + z
  local divisor = 1 - accelerated * moved
  if divisor <= 0 then return moved > 0 and 1 or 0 end
  return normal.cdf(shift + moved / divisor)
end

local function all_equal(list)
  for index = 2, #list do
    if list[index] ~= list[1] then return false end
  end
  return true
end

-- bootstrap(list, { rng, statistic, level, draws }) -> low, high; nil below two elements.
local function bootstrap(list, spec)
  local level, draws, statistic = spec.level or LEVEL, spec.draws or DRAWS, spec.statistic or order.mean
  if not (level > 0 and level < 1) then error("bootstrap: level is between 0 and 1, not " .. tostring(level), 2) end
  if math.type(draws) ~= "integer" or draws < 1 then error("bootstrap: draws is a whole number from 1", 2) end
  if #list < 2 then return nil end
  local observed = statistic(list)
  if all_equal(list) then return observed, observed end -- as every resample would
  local found = replicates(list, statistic, draws, spec.rng)
  local shift, accelerated, z = bias(found, observed), acceleration(list, statistic), normal.quantile((1 - level) / 2)
  return order.sorted_quantile(found, corrected(z, shift, accelerated)), order.sorted_quantile(found,
    corrected(-z, shift, accelerated))
end

return bootstrap
