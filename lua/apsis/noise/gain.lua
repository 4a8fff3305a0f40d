-- gain: what an improvement amounts to, from measurements that were not used to choose it: pairs of the best and the original, in
-- an order drawn for each pair, so that what drifts from pair to pair cancels. A part of apsis.acceptance.
local stats = require "apsis.stats"
local student = require "apsis.noise.student"

local gain = {}

-- "best" and "original" in turn, `pairs_wanted` times, which of the two comes first by a fair coin.
function gain.order(pairs_wanted, rng)
  local order = {}
  for _ = 1, pairs_wanted do
    local first = rng:random() < 0.5
    order[#order + 1] = first and "best" or "original"
    order[#order + 1] = first and "original" or "best"
  end
  return order
end

local function oriented_difference(metric, best, original)
  if metric then return metric:gain(best, original) end
  local difference = type(best) == "number" and type(original) == "number" and best - original
  return difference and difference - difference == 0 and difference or nil
end

-- Mean paired difference and its t interval. A pair with a value that is missing (false) or not finite is left out.
function gain.of(best_values, original_values, metric, level)
  if #best_values ~= #original_values then
    error(("gain: %d values of the best, %d of the original"):format(#best_values, #original_values), 2)
  end
  local differences, originals = {}, {}
  for index = 1, #best_values do
    local difference = oriented_difference(metric, best_values[index] or nil, original_values[index] or nil)
    if difference and difference - difference == 0 then
      differences[#differences + 1], originals[#originals + 1] = difference, original_values[index]
    end
  end
  local count = #differences
  if count == 0 then return { pairs = 0 } end
  local result = { gain = stats.mean(differences), pairs = count }
  local base = math.abs(stats.mean(originals))
  if base > 0 then result.relative = result.gain / base end
  if count > 1 then
    local half = student.two_sided(level or 0.95, count - 1) * stats.sd(differences) / math.sqrt(count)
    result.low, result.high = result.gain - half, result.gain + half
  end
  return result
end

return gain
