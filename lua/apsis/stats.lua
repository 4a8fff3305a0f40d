-- stats: small statistics over lists of numbers. direction decides which value is better. Draws only from the stream
-- passed in. For strategies, the engine and the lab.
local bootstrap = require "apsis.stats.bootstrap"
local order = require "apsis.stats.order"
local rank = require "apsis.stats.rank"
local runtime = require "apsis.stats.runtime"
local studentized = require "apsis.stats.studentized"

local stats = {
  mean = order.mean, quantile = order.quantile, iqr = order.iqr, ecdf = order.ecdf,
  bootstrap = bootstrap, mean_interval = studentized.mean, ratio_interval = studentized.ratio,
  ert = runtime.ert, ert_interval = runtime.ert_interval, restricted = runtime.restricted, aocc = runtime.aocc,
  signed_rank = rank.signed_rank, holm = rank.holm,
}

function stats.median(list)
  if #list == 0 then return nil end
  local sorted = table.move(list, 1, #list, 1, {})
  table.sort(sorted)
  local middle = #sorted // 2
  if #sorted % 2 == 1 then return sorted[middle + 1] end
  local sum = sorted[middle] + sorted[middle + 1]
  return math.abs(sum) < math.huge and sum / 2 or sorted[middle] / 2 + sorted[middle + 1] / 2
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
