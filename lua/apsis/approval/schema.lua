-- schema: the key `approval` of the manifest, and its rules.
local nodes = require "apsis.project.node"

local map, node = nodes.map, nodes.node

local schema = {}

local units <const> = { s = 1, m = 60, h = 3600, d = 86400 }

-- The seconds of "90m" or "8h"; nil for anything else.
function schema.seconds(given)
  local number, unit = tostring(given):match "^%s*(%d+%.?%d*)%s*([smhd])%s*$"
  local seconds = number and tonumber(number) * units[unit]
  return seconds and seconds > 0 and seconds or nil
end

-- A least gain: { share } of a percentage such as 5%, { amount } of a number; nil for anything else.
function schema.gain(given)
  if type(given) == "number" then return given >= 0 and given < math.huge and { amount = given } or nil end
  local percent = type(given) == "string" and tonumber(given:match "^%s*(%d*%.?%d*)%s*%%%s*$")
  return percent and percent < math.huge and { share = percent / 100 } or nil
end

schema.keys = { { "approval", map("a candidate that would be kept waits for a person (`apsis approve`); absent: nobody "
  .. "is asked", {
    { "when", node("enum", "ask: about each; never: about none", { allowed = { "ask", "never" }, default = "ask" }) },
    { "ask_above", node("own", "ask only about one that is better than the best by more than this", {
      fits = schema.gain, takes = "a percentage such as 5%, or a number in the metric's unit, 0 or more" }) },
    { "timeout", node("own", "how long one waits at most (absent: until somebody answers)", { fits = schema.seconds,
      takes = "a time such as 90m, 8h or 2d" }) },
    { "then", node("enum", "what becomes of it after that; stop: the run ends, and it goes on waiting",
      { allowed = { "keep", "reject", "stop" }, default = "reject" }) },
  }, { short = "when" }), after = "metrics" } }

-- A front's value is no gain of one metric.
function schema.check(draft)
  local given, metric = draft.value.approval, draft.value.metric or {}
  if not given or draft.refused "approval" then return end
  if given.ask_above and metric.pareto then
    draft.say("approval.ask_above", "metric.pareto has no single gain to compare with; write approval: ask")
  end
  if draft.value.history == "revert" then
    draft.say("approval", "an answer may come when others have moved the branch, and history: revert takes each in its "
      .. "turn; write history: clean")
  end
  if draft.stands "approval.then" and not given.timeout then
    draft.say("approval.then", "does nothing without approval.timeout; add timeout: 8h, or remove it")
  end
end

return schema
