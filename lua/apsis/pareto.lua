-- pareto: several metrics at once: dominance, the front of a list, hypervolume and crowding. The metrics decide which
-- value is better. Candidates are tables with `metrics`, name to value. For strategies.
local direction = require "apsis.direction"

local pareto = {}

local turned = direction.new {} -- orders numbers that a metric has oriented: higher is better

-- Whether `new` is better than `old` in a metric, by more than its epsilon.
function pareto.ahead(metrics, new, old)
  for _, metric in ipairs(metrics) do
    if metric:better(new.metrics[metric.name], old.metrics[metric.name]) then return true end
  end
  return false
end

-- Whether each metric has a finite value.
function pareto.complete(metrics, candidate)
  for _, metric in ipairs(metrics) do
    if not direction.finite(candidate.metrics[metric.name]) then return false end
  end
  return true
end

function pareto.dominates(metrics, a, b)
  local better = false
  for _, metric in ipairs(metrics) do
    local gain = metric:gain(a.metrics[metric.name], b.metrics[metric.name])
    if not gain or turned:better(0, gain) then return false end
    better = better or gain ~= 0
  end
  return better
end

function pareto.front(metrics, candidates)
  local front = {}
  for _, candidate in ipairs(candidates) do
    local alone = pareto.complete(metrics, candidate)
    for _, other in ipairs(alone and candidates or {}) do
      if pareto.dominates(metrics, other, candidate) then alone = false break end
    end
    if alone then front[#front + 1] = candidate end
  end
  return front
end

-- The volume below points (lists of numbers above 0) in their first `depth` numbers, 1 or more: slabs along the last
-- one, each the volume of the points that reach it.
local function volume(points, depth)
  local order, reached, most, sum = {}, {}, 0, 0
  for index, point in ipairs(points) do order[index] = { value = point[depth], point = point } end
  turned:sort(order)
  if depth == 1 then return order[1] and order[1].value or 0 end
  for index, one in ipairs(order) do
    reached[index], most = one.point, turned:better_of(most, one.point[1])
    local height = one.value - (order[index + 1] or { value = 0 }).value
    if height > 0 then sum = sum + height * (depth == 2 and most or volume(reached, depth - 1)) end
  end
  return sum
end

function pareto.hypervolume(metrics, candidates, reference)
  local points = {}
  for _, candidate in ipairs(candidates) do
    local point = {}
    for index, metric in ipairs(metrics) do
      local gain = metric:gain(candidate.metrics[metric.name], reference[metric.name])
      if gain and gain > 0 then point[index] = gain end
    end
    if #point == #metrics then points[#points + 1] = point end
  end
  return volume(points, #metrics)
end

function pareto.crowding(metrics, candidates)
  local distances = {}
  for index = 1, #candidates do distances[index] = 0 end
  for _, metric in ipairs(metrics) do
    local order = {}
    for index, candidate in ipairs(candidates) do
      order[index] = { value = candidate.metrics[metric.name], index = index }
    end
    metric:sort(order)
    local count = #order
    local range = count > 1 and metric:gain(order[1].value, order[count].value) or 0
    for place, one in ipairs(order) do
      local before, after = order[place - 1], order[place + 1]
      local gap = before and after and metric:gain(before.value, after.value)
      if not (before and after) then distances[one.index] = math.huge
      elseif gap and range and range > 0 then distances[one.index] = distances[one.index] + gap / range end
    end
  end
  return distances
end

return pareto
