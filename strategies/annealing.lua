-- strategies/annealing.lua: simulated annealing. Always keeps a better candidate; keeps a worse one with probability
-- exp(-loss / T) (Metropolis et al., 1953). T cools geometrically from `start` to `finish` over `steps` experiments.
-- Temperatures are in the metric's own units: a loss of T is accepted about one time in three.
local annealing = {
  options = {
    start = 1.0, -- the first temperature, in units of the metric
    finish = 0.001, -- the last one
    steps = 200, -- experiments from start to finish, after which the run ends
  },
  breaks_ties = false,
}

local function temperature(run)
  local options = run.options
  local progress = math.min(1, run.experiment / options.steps)
  return options.start * (options.finish / options.start) ^ progress
end

function annealing.plan(run)
  return { parents = { run.current }, operator = "exploitation" }
end

function annealing.accept(run, candidate)
  local gain = run.metric:gain(candidate, run.current)
  if not gain or gain >= 0 then return true end
  local chance = math.exp(gain / temperature(run))
  return run.rng:random() < chance, ("worse by %.4g, kept with probability %.2g"):format(-gain, chance)
end

function annealing.halt(run)
  if run.experiment > run.options.steps then return "cooled down after " .. run.options.steps .. " experiments" end
end

return annealing
