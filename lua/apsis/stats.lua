-- stats: small statistics over lists of numbers. Nothing here decides which value is better: that is direction's.
local stats = {}

function stats.mean(list)
  if #list == 0 then return nil end
  local sum = 0
  for index = 1, #list do sum = sum + list[index] end
  return sum / #list
end

function stats.median(list)
  if #list == 0 then return nil end
  local sorted = table.move(list, 1, #list, 1, {})
  table.sort(sorted)
  local middle = #sorted // 2
  if #sorted % 2 == 1 then return sorted[middle + 1] end
  return (sorted[middle] + sorted[middle + 1]) / 2
end

function stats.min(list)
  local least = list[1]
  for index = 2, #list do least = math.min(least, list[index]) end
  return least
end

function stats.max(list)
  local most = list[1]
  for index = 2, #list do most = math.max(most, list[index]) end
  return most
end

function stats.sum(list)
  local sum = 0
  for index = 1, #list do sum = sum + list[index] end
  return sum
end

-- Sample standard deviation (n - 1); nil below two values.
function stats.sd(list)
  if #list < 2 then return nil end
  local mean, sum = stats.mean(list), 0
  for index = 1, #list do sum = sum + (list[index] - mean) ^ 2 end
  return math.sqrt(sum / (#list - 1))
end

return stats
