-- Ends after some experiments and says in which order they came back: for the test of simulated time.
local order = { options = { after = 30 } }

function order.init(run)
  run.memory.order, run.memory.count = "", 0
end

function order.plan(run)
  return { parents = { run.best } }
end

function order.learn(run, line)
  if line.experiment == 0 then return end
  run.memory.order, run.memory.count = run.memory.order .. " " .. line.experiment, run.memory.count + 1
end

function order.halt(run)
  if run.memory.count >= run.options.after then return "in the order" .. run.memory.order end
end

return order
