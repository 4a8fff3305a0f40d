-- The (1+1) evolution strategy with the one-fifth success rule, for the known truth of sphere: the step grows by `factor` after
-- a success and shrinks by its fourth root after a failure, so that it stands still where one in five succeeds.
local strategy = { options = { factor = 1.5, rule = "not_worse" } }

function strategy.init(run)
  run.memory.step = 1.0
end

function strategy.plan(run)
  return { parents = { run.current }, notes = { step = run.memory.step } }
end

function strategy.accept(run, candidate)
  return run.options.rule == "anything" or not run.metric:better(run.current, candidate)
end

function strategy.learn(run, line)
  if line.experiment == 0 then return end
  local factor = run.options.factor
  run.memory.step = run.memory.step * (line.kept and factor or factor ^ -0.25)
end

function strategy.halt() end

return strategy
