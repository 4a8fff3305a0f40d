-- Goes on from the newest candidate as long as it gets better, then again from the best.
local parent = { options = { patience = 100 } }

function parent.plan(run)
  local newest = run.recent(1)[1]
  local from = newest.value and newest.delta ~= 0 and newest or run.best
  return { parents = { from } }
end

return parent
