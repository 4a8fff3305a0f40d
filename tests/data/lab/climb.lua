-- climb: climbs from the best; one evaluation in `waste` copies its parent and so is wasted (0: none), the others are the
-- same. So a waste of 5 needs 1.25 times the evaluations. `stream`: which chances. Used by tests/bench/lab_verdicts.lua.
local climb = { options = { stream = 1, waste = 0 } }

function climb.plan(run)
  local waste = run.options.waste
  local wasted = waste > 0 and run.rng:random() * waste < 1
  return { parents = { run.best }, operator = wasted and "migration" or "exploitation",
    notes = { stream = run.options.stream } }
end

function climb.halt() end

return climb
