-- two_phase: first breadth, then depth. The first `breadth` experiments are fresh starts; from then on it climbs from
-- the best that was found, and ends when that is stuck. Which phase it is follows from run.experiment, so there is
-- nothing to remember and a restart is in the same phase.
local two_phase = { options = { breadth = 30, patience = 100 } }

local function spreading(run)
  return run.experiment <= run.options.breadth
end

function two_phase.plan(run)
  if spreading(run) then return { parents = { run.baseline }, operator = "restart", notes = { phase = "breadth" } } end
  return { parents = { run.best }, operator = "exploitation", notes = { phase = "depth" } }
end

function two_phase.halt(run)
  if not spreading(run) and run.since_kept >= run.options.patience then return "stuck in the second phase" end
end

return two_phase
