-- studentized: intervals for a mean and for a ratio of means by the bootstrap of (estimate - truth) / standard error
-- (bootstrap-t: Efron, 1981; Hall, 1988). They hold for skewed lists of 20, for which BCa is too short. A part of
-- apsis.stats.
local order = require "apsis.stats.order"

local studentized = {}

local LEVEL, DRAWS = 0.95, 2000

-- of(observed, its standard error, resample() -> an estimate and its error, { draws, level, count }) -> low, high, and
-- the two-sided p of a truth of 0. A resample may have hit upon equal elements: its error is at least the observed one
-- divided by their count, or one odd element among many equal ones would leave no interval.
function studentized.of(observed, error_of, resample, spec)
  local draws, tail = spec.draws or DRAWS, (1 - (spec.level or LEVEL)) / 2
  if error_of == 0 then return observed, observed, observed == 0 and 1.0 or 2 / (draws + 1) end
  local list, beyond, own, least = {}, 1, observed / error_of, error_of / spec.count
  for draw = 1, draws do
    local estimate, its_error = resample()
    list[draw] = (estimate - observed) / math.max(its_error, least)
    if own > 0 and list[draw] >= own or own <= 0 and list[draw] <= own then beyond = beyond + 1 end
  end
  table.sort(list)
  return observed - error_of * order.sorted_quantile(list, 1 - tail),
    observed - error_of * order.sorted_quantile(list, tail), math.min(1, 2 * beyond / (draws + 1))
end

-- A standard error from the sum of count values around their mean and that of their squares; 0 where rounding is all.
local function error_from(sum, squares, count)
  local variance = (squares - sum * sum / count) / (count - 1)
  return variance > 1e-24 and math.sqrt(variance / count) or 0
end

-- For the mean: low, high, p; nil below two elements, or if the elements are too large for a number.
function studentized.mean(list, spec)
  local count, most, parts, rng = #list, 0, {}, spec.rng
  if count < 2 then return nil end
  for index = 1, count do most = math.max(most, math.abs(list[index])) end
  if most == 0 then return 0.0, 0.0, 1.0 end
  for index = 1, count do parts[index] = list[index] / most end
  local middle = order.mean(parts)
  local function estimate(pick)
    local sum, squares = 0, 0
    for index = 1, count do
      local part = parts[pick and rng:integer(1, count) or index] - middle
      sum, squares = sum + part, squares + part * part
    end
    return middle + sum / count, error_from(sum, squares, count)
  end
  local observed, error_of = estimate(false)
  local low, high, p = studentized.of(observed, error_of, function() return estimate(true) end,
    { draws = spec.draws, level = spec.level, count = count })
  return low * most, high * most, p
end

-- The logarithm of the ratio of the means of some pairs, and its standard error: that of x / mean x - y / mean y.
local function log_ratio(xs, ys, places)
  local count, x, y = #xs, 0, 0
  for index = 1, count do x, y = x + xs[places[index]], y + ys[places[index]] end
  x, y = x / count, y / count
  local sum, squares = 0, 0
  for index = 1, count do
    local part = xs[places[index]] / x - ys[places[index]] / y
    sum, squares = sum + part, squares + part * part
  end
  return math.log(x / y), error_from(sum, squares, count)
end

-- For mean x / mean y of pairs of positive numbers: the ratio, low, high, p of a ratio of 1; only the ratio below two
-- pairs, nil without any.
function studentized.ratio(xs, ys, spec)
  local count, places, rng = #xs, {}, spec.rng
  if count == 0 then return nil end
  for index = 1, count do places[index] = index end
  local observed, error_of = log_ratio(xs, ys, places)
  if count < 2 then return math.exp(observed) end
  local low, high, p = studentized.of(observed, error_of, function()
    for index = 1, count do places[index] = rng:integer(1, count) end
    return log_ratio(xs, ys, places)
  end, { draws = spec.draws, level = spec.level, count = count })
  return math.exp(observed), math.exp(low), math.exp(high), p
end

return studentized
