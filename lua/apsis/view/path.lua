-- path: the kept steps on the way from the baseline to the best, each with its part of the gain.
local steps = require "apsis.live.steps"

local path = {}

-- of(metric, history) -> the steps as live/steps.lua has them, each with gained, start and share (of the gain; nil if
-- nothing was gained), base; nil without a best that has a value.
function path.of(metric, history)
  local best = history.best
  if not best or not best.value then return nil end
  local way, base = steps.of(history, best)
  local total = metric:gain(best.value, base.value)
  local before, start = base.value, 0
  for _, step in ipairs(way) do
    local value = step.value
    local gain = metric:gain(value, before)
    step.gained, step.start = metric:delta(value, before), start
    step.share = total and total > 0 and (gain or 0) / total or nil
    before, start = value or before, start + (step.share or 0)
  end
  return way, base
end

return path
