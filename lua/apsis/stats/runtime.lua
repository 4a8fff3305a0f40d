-- runtime: evaluations until a run reached a target, of several runs, some of which never did. hits[i] is the
-- evaluation at which run i reached it, or nil or false. A part of apsis.stats.
local order = require "apsis.stats.order"

local runtime = {}

local LEVEL, DRAWS = 0.95, 2000

-- ERT as COCO defines it: the evaluations of all runs, each up to its hit, divided by the number of hits; infinite
-- without a hit, nil without a run.
function runtime.ert(hits, evaluations)
  local spent, successes = 0, 0
  for index = 1, #evaluations do
    spent = spent + (hits[index] or evaluations[index])
    if hits[index] then successes = successes + 1 end
  end
  if #evaluations == 0 then return nil end
  return successes == 0 and math.huge or spent / successes
end

-- Percentiles of the ERTs of resampled runs.
function runtime.ert_interval(hits, evaluations, spec)
  local count, tail, draws = #evaluations, (1 - (spec.level or LEVEL)) / 2, {}
  if count == 0 then return nil end
  local some_hits, some_evaluations = {}, {}
  for draw = 1, spec.draws or DRAWS do
    for index = 1, count do
      local run = spec.rng:integer(1, count)
      some_hits[index], some_evaluations[index] = hits[run] or false, evaluations[run]
    end
    draws[draw] = runtime.ert(some_hits, some_evaluations)
  end
  table.sort(draws)
  return order.sorted_quantile(draws, tail), order.sorted_quantile(draws, 1 - tail)
end

-- The runtimes, those of runs that did not reach the target by the budget counted as the budget.
function runtime.restricted(hits, budget)
  local list = {}
  for index = 1, #hits do list[index] = math.min(hits[index] or budget, budget) end
  return list
end

-- The area under the ECDF of runtimes over the budget, from 0 to 1. By evaluations it is the mean of the ECDF at 1 to
-- the budget: a hit at t counts there from t on. By their logarithm it is the integral from 1 to the budget.
function runtime.aocc(hits, spec)
  local budget, sum = spec.budget, 0
  for index = 1, #hits do
    local hit = hits[index]
    if hit and hit <= budget then
      sum = sum + (spec.log and 1 - math.log(hit) / math.log(budget) or (budget + 1 - hit) / budget)
    end
  end
  if #hits == 0 then return nil end
  return sum / #hits
end

return runtime
