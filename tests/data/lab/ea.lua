-- The (1+1) evolutionary algorithm, for the known truths: change the current one, keep what is not worse. Its options make it
-- wrong in the ways that a test must notice.
local ea = { options = { rule = "not_worse", operator = "exploitation", step = 1.0 } }

local rules = {}

function rules.not_worse(run, candidate)
  return run.metric:better(candidate, run.current) or run.metric:tied(candidate, run.current)
end

function rules.better(run, candidate)
  return run.metric:better(candidate, run.current)
end

function rules.one_worse(run, candidate)
  return run.metric:gain(candidate, run.current) >= -1
end

function rules.anything() return true end

function ea.plan(run)
  local step = run.options.step
  return { parents = { run.current }, operator = run.options.operator, notes = step ~= 1 and { step = step } or nil }
end

function ea.accept(run, candidate)
  return rules[run.options.rule](run, candidate)
end

function ea.halt() end

return ea
