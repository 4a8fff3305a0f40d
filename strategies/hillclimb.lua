-- strategies/hillclimb.lua: change the best; keep what beats it; stop when stuck.
local hillclimb = { options = { patience = 20 } }

function hillclimb.plan(run)
  return { parents = { run.best }, operator = "exploitation" }
end

function hillclimb.accept(run, candidate)
  if run.metric:better(candidate, run.best) then return true end
  if run.metric:tied(candidate, run.best) and run.tie_breaker == "changed_loc"
    and candidate.changed_lines < run.best.changed_lines then
    return true, "tied, with fewer changed lines"
  end
  return false
end

function hillclimb.halt(run)
  if run.since_kept >= run.options.patience then return "no improvement in " .. run.since_kept .. " experiments" end
end

return hillclimb
