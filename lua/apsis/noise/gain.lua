-- gain: the size of an improvement, from measurements that were not used to choose it: pairs of the best and the
-- original, in random order within each pair, so that slow drift cancels. A part of apsis.acceptance.
local direction = require "apsis.direction"
local stats = require "apsis.stats"
local student = require "apsis.stats.student"

local gain = {}

-- "best" and "original" in turn, `pairs_wanted` times; a fair coin decides which comes first.
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
  local base = stats.mean(originals)
  if base > 0 then result.relative = result.gain / base end
  if count > 1 then
    local half = student.two_sided(level or 0.95, count - 1) * stats.sd(differences) / math.sqrt(count)
    result.low, result.high = result.gain - half, result.gain + half
  end
  return result
end

-- A run's gain (the gain of a journal's line), in words: "2.3 [1.9..2.7] (4.1 %), c0031 against c0000, each measured
-- 20 times more in random order"; best: the id of the best now. nil if there is no such gain.
function gain.text(found, best)
  if not found or not found.low then return nil end
  local against = ("%s against %s"):format(found.candidate, found.original)
  local share = found.relative and direction.percent_text(1 + found.relative, 1)
  share = share and (" (%s)"):format(share:gsub("^%+", "")) or ""
  if found.exact then return ("%.10g%s, %s, both the same when measured again"):format(found.gain, share, against) end
  local words = ("%.4g [%.4g..%.4g]%s, %s, each measured %d times more in random order"):format(found.gain, found.low,
    found.high, share, against, found.pairs)
  return best and best ~= found.candidate and ("%s; %s was kept since"):format(words, best) or words
end

return gain
