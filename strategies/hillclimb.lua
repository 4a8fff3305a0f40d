-- strategies/hillclimb.lua: change the best; keep what beats it; stop when stuck.
local tie_break = require "apsis.tie_break"

local hillclimb = {
  options = {
    patience = 20, -- the run ends after that many experiments without a better one
  },
}

function hillclimb.plan(run)
  return { parents = { run.best }, operator = "exploitation" }
end

function hillclimb.accept(run, candidate)
  if run.metric:better(candidate, run.best) then return true end
  return tie_break.wins(run, candidate)
end

function hillclimb.halt(run)
  if run.since_kept >= run.options.patience then return "no improvement in " .. run.since_kept .. " experiments" end
end

return hillclimb
