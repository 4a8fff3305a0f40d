-- spread: several measurements of the same commit in words, and what to do if chance could pass for a gain. Called by
-- the commands init and baseline.
local show = require "apsis.cli.table"
local stats = require "apsis.stats"

local spread = {}

-- As in "median of 3, 16.88 to 18.1, a spread of 7 %"; "3 equal measurements".
function spread.text(values)
  local low, high, middle = stats.min(values), stats.max(values), stats.median(values)
  if low == high then return ("%d equal measurements"):format(#values) end
  local share = middle ~= 0 and 100 * (high - low) / math.abs(middle)
  return ("median of %d, %s to %s%s"):format(#values, show.number(low), show.number(high), not share and ""
    or (share < 10 and ", a spread of %.2g %%" or ", a spread of %.0f %%"):format(share))
end

-- What to do if one of the values is better than their median, or nil. metric: as made by apsis.direction.
function spread.advice(values, metric)
  if not metric:better(metric:best_of(values), stats.median(values)) then return nil end
  if metric.parts then
    return "The metrics are noisy: a lucky measurement could join the front. `verification: {repeats: 5}` in the "
      .. "manifest takes the median of each, and an `epsilon` above its noise keeps the rest out."
  end
  return "The metric is noisy: a lucky measurement could be kept as an improvement. With the line "
    .. "`acceptance: default` in the manifest, a candidate that looks better is measured again before it is kept."
end

return spread
