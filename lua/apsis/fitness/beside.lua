-- fitness_beside: checks the manifest's keys that conflict with `fitness`: nothing else may measure, and the metric
-- is a score, so higher is better. Called by fitness.
local nearest = require "apsis.project.nearest"

local beside = {}

-- The keys that would measure in another way.
function beside.measures(draft)
  for _, key in ipairs { "verification.commands", "verification.cases", "metric.extractor", "metric.samples" } do
    if draft.stands(key) then
      draft.say(key, ("conflicts with fitness (%s), which measures; remove one of "
        .. "the two"):format(draft.at "fitness"))
    end
  end
end

-- Whether no score can be above 1 or below 0: then a limit outside must be a mistake.
local function bounded(spec)
  for _, component in ipairs(spec.components or { spec }) do
    local domain = component.domain or ""
    if domain:find("%.lua$") or component.report or domain == "benchmark" then return false end
  end
  return true
end

local LOWER = "is lower, but a score is better the higher it is (fitness: %s); remove it%s"

local function check_directions(draft, spec)
  local value, at = draft.value, draft.at "fitness"
  if (value.metric or {}).direction == "lower" then
    draft.say("metric.direction",
      LOWER:format(at, ", and of a benchmark whose value must go down set direction: lower there"))
  end
  for _, component in ipairs(spec.components or {}) do
    local name = component.name
    if name and ((value.metrics or {})[name] or {}).direction == "lower" then
      draft.say(("metrics.%s.direction"):format(name),
        LOWER:format(at, ", or name one of its raw numbers, such as NAME.count"))
    end
  end
end

-- Checks the metric's limits and direction against a score.
function beside.metric(draft, spec)
  check_directions(draft, spec)
  if not bounded(spec) then return end
  local metric = draft.value.metric or {}
  local low, high, target = metric.min_pass, metric.max_pass, metric.target -- limits, not measurements
  local function refuse(name, must)
    draft.say("metric." .. name, ("must %s, for a score lies from 0 to 1 (fitness: %s); got %s"):format(must,
      draft.at "fitness",
      nearest.show(metric[name])))
  end
  if target and (target > 1 or target <= 0) then refuse("target", "be above 0 and at most 1") end
  if low and (low > 1 or low < 0) then refuse("min_pass", "be from 0 to 1") end
  if high and high < 1 then refuse("max_pass", "not be below 1, which would reject the better candidates") end
end

return beside
