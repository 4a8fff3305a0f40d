-- After six children in a row that were not kept it is to begin again from the baseline, once.
local restart = { options = { most = 6, patience = 100 } }

function restart.init(run) run.memory.failures = 0 end

function restart.plan(run)
  if run.memory.failures >= run.options.most then return { operator = "restart", parents = { run.baseline } } end
  return { parents = { run.best } }
end

function restart.learn(run, line)
  if line.kept then run.memory.failures = 0 else run.memory.failures = run.memory.failures + 1 end
end

return restart
