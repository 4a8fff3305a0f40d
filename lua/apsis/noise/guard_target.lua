-- guard_target: turns the guard that a candidate violated into a goal to restore.
local direction = require "apsis.direction"
local guard = require "apsis.noise.guard"

local function holds(target, metrics)
  local got = metrics and metrics[target.guard]
  if not got or #target.references == 0 then return false end
  for _, reference in ipairs(target.references) do
    if guard.judge { metric = target.metric, share = target.share, amount = target.amount, candidate = { got },
      best = { reference } }
      ~= "holds" then return false end
  end
  return true
end

-- By the reason in its line: the goals of the guards that it names. nil if there is none. rules: { history, guards,
-- metrics } of the project; other: the record to compare with.
return function(rules, record, other)
  local name = (record.rollback_reason or ""):match "^guard ([^:]+): "
  for _, given in ipairs(name and rules.guards or {}) do
    local limit = given.metric == name and guard.limit(given.max_regression)
    if limit then
      local spec, references = rules.metrics and rules.metrics[name] or {}, {}
      for id in record.rollback_reason:gmatch "c%d%d%d%d+" do
        local one = rules.history:get(id)
        local value = one and (one.secondary_metrics or {})[name]
        if value then references[#references + 1] = value end
      end
      references[1] = references[1] or (other.secondary_metrics or {})[name]
      local target = { guard = name, share = limit.share, amount = limit.amount, references = references,
        want = references[1],
        metric = direction.new { name = name, direction = spec.direction, epsilon = spec.epsilon },
        value = (record.secondary_metrics or {})[name] }
      function target.holds(metrics) return holds(target, metrics) end
      return target
    end
  end
end
