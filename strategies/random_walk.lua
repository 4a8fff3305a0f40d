-- strategies/random_walk.lua: continue from the last valid change; keep everything that could be measured. The
-- baseline for policies: one that learns from its metric must beat it.
local random_walk = {
  options = {
    restart = 0.0, -- the probability to begin again at the baseline
  },
  climbs = false,
  breaks_ties = false,
}

function random_walk.plan(run)
  local restart = run.rng:random() < run.options.restart
  return { parents = { restart and run.baseline or run.current }, operator = "exploration" }
end

function random_walk.accept()
  return true, "every measured step is kept"
end

function random_walk.halt() end

return random_walk
