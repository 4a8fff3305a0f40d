-- racing: for a noisy metric. As many rivals as there are workers start together from the best. `stage` drops a rival
-- whose first measurement is hopeless, so that nothing more is spent on it; of the others only the one that came first
-- is measured again, in turn with the best, and is kept if the median of its samples beats the median of the best's.
local stats = require "apsis.stats"

local racing = { options = { hopeless = 5.0, repeats = 3 } } -- hopeless: how much worse, in the metric's units

function racing.plan(run)
  if #run.pending > 0 then return nil end -- the last race is not over
  local rivals = {}
  for index = 1, run.free do
    rivals[index] = { parents = { run.best }, operator = index % 3 == 0 and "exploration" or "exploitation" }
  end
  return rivals
end

function racing.stage(run, candidate)
  if run.metric:gain(candidate, run.best) < -run.options.hopeless then return false, "hopeless" end
  return true
end

function racing.accept(run, candidate)
  if #candidate.samples == 1 then
    local first = run.metric:best_of(candidate.siblings or { candidate }) -- siblings holds the candidate, too
    if candidate ~= first then return false, first.id .. " won the race" end
    return "measure", { ids = { candidate.id, run.best.id }, repeats = run.options.repeats - 1 }
  end
  local best = {}
  for _, sample in ipairs(candidate.trace) do
    if sample.id == run.best.id then best[#best + 1] = sample.value end
  end
  return run.metric:better(candidate.value, stats.median(best)), "the winner, measured again"
end

function racing.halt() end

return racing
