-- order: the mean, the quantiles and the empirical distribution of a list. A part of apsis.stats; changes no list and
-- judges no number.
local order = {}

function order.mean(list)
  if #list == 0 then return nil end
  local sum = 0
  for index = 1, #list do sum = sum + list[index] end
  return sum / #list
end

function order.sorted(list)
  local sorted = table.move(list, 1, #list, 1, {})
  table.sort(sorted)
  return sorted
end

-- For a sorted list: Hyndman and Fan's type 7.
function order.sorted_quantile(sorted, share)
  if not (share >= 0 and share <= 1) then error("a quantile's share is from 0 to 1, not " .. tostring(share), 3) end
  if #sorted == 0 then return nil end
  local place = (#sorted - 1) * share
  local below = place // 1 | 0
  local low, high = sorted[below + 1], sorted[below + 2]
  local part = place - below
  if part == 0 or low == high then return low end
  local gap = high - low
  if gap == math.huge then return (1 - part) * low + part * high end
  return low + part * gap
end

function order.quantile(list, share)
  return order.sorted_quantile(order.sorted(list), share)
end

function order.iqr(list)
  if #list == 0 then return nil end
  local sorted = order.sorted(list)
  return order.sorted_quantile(sorted, 0.75) - order.sorted_quantile(sorted, 0.25)
end

-- Steps of the share of `total` that is at most x; runs that never reached the target count only in the total.
function order.ecdf(list, total)
  total = total or #list
  if total < #list then error(("an ecdf of %d values is not of %s"):format(#list, total), 2) end
  local sorted, x, y = order.sorted(list), {}, {}
  for index, number in ipairs(sorted) do
    if number ~= sorted[index + 1] then x[#x + 1], y[#y + 1] = number, index / total end
  end
  return { x = x, y = y }
end

return order
