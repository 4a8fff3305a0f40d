-- Takes steps that are a little worse, too, if the last ten brought nothing.
local direction = { options = { slack = 0.05, patience = 100 } }

function direction.accept(run, candidate)
  local slack = run.since_best >= 10 and run.options.slack * math.abs(run.current.value) or 0
  return candidate.value > run.current.value - slack, "within the slack"
end

return direction
