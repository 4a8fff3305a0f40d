-- tabu: goes on from the best recent candidate that is not tabu. A value becomes tabu when `tries` experiments have
-- begun from candidates that have it: a better child is the next start anyway, and without one it is a dead end that
-- hill-climbing would never leave. So the search goes on from something worse nearby, until the dead end is out of
-- `memory`. accept is hill-climbing's: what beats the best is kept.
local tabu = { options = { tries = 20, memory = 200 } }

function tabu.plan(run)
  local begun, open, recent = {}, {}, run.recent(run.options.memory)
  local function count(candidate, experiments)
    local value = candidate.value
    if value then begun[value] = (begun[value] or 0) + experiments end
  end
  for _, candidate in ipairs(recent) do count(candidate, #run.children(candidate)) end
  for _, proposal in ipairs(run.pending) do count(run.get(proposal.parents[1]), 1) end -- in flight: no line yet
  for _, candidate in ipairs(recent) do
    if candidate.value and begun[candidate.value] < run.options.tries then open[#open + 1] = candidate end
  end
  return { parents = { run.metric:best_of(open) or run.best }, operator = "exploitation" }
end

function tabu.halt() end

return tabu
