-- path: the kept steps on the way from the baseline to the best, each with its part of the gain. Called by run.
local steps = require "apsis.live.steps"

local path = {}

local MOST = 60 -- steps that are shown: the greatest

-- The greatest steps, in their order; how many are left out.
local function greatest(list)
  if #list <= MOST then return list, 0 end
  local order, shown = table.move(list, 1, #list, 1, {}), {}
  table.sort(order, function(a, b)
    if a.share ~= b.share then return a.share > b.share end
    return a.start < b.start
  end)
  for index = 1, MOST do shown[order[index]] = true end
  local left = {}
  for _, one in ipairs(list) do
    if shown[one] then left[#left + 1] = one end
  end
  return left, #list - MOST
end

-- of(metric, history) -> { steps = { { id, at (the line), value, gained, start, share (of the gain) }... }, left_out };
-- nil if the best gained nothing, or began before the newest baseline that counts.
function path.of(metric, history)
  local best = history.best
  if not best or not best.value then return nil end
  local way, base = steps.of(history, best)
  local total = metric:gain(best.value, base.value)
  if #way == 0 or not total or total <= 0 or history:line_of(base.experiment) < history.began then return nil end
  local list, before, start = {}, base.value, 0
  for _, step in ipairs(way) do
    local value = step.record.value
    local share = value and metric:gain(value, before) / total or 0
    list[#list + 1] = { id = step.record.id, at = history:line_of(step.record.experiment), value = value,
      gained = metric:delta(value, before), start = start, share = share }
    before, start = value or before, start + share
  end
  local shown, left_out = greatest(list)
  return { steps = shown, left_out = left_out }
end

return path
