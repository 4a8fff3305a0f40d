-- schema: the manifest's keys acceptance and guards, and their rules. Called through room.lua.
local guard = require "apsis.noise.guard"
local nearest = require "apsis.project.nearest"
local nodes = require "apsis.project.node"
local presets = require "apsis.noise.settings"
local suggest = require "apsis.suggest"

local map, node = nodes.map, nodes.node

-- Defaults come from the preset (apsis.acceptance has the table, with its source).
local acceptance_key = map("a candidate that looks better is measured again, blindly, before it is kept; absent: one "
  .. "measurement decides", {
  { "confidence", node("number", "1 - the chance that a run of candidates without any effect keeps one",
    { min = 0.5, max = 0.9999,
    default = 0.95 }) },
  { "preset", node("enum", "default finds 2 sd cheaply, sensitive 1 sd at three times the measurements", {
    allowed = { "default", "sensitive" }, default = "default" }) },
  { "baseline", node("integer", "measurements of the baseline, from which the noise is known (default 20)",
    { min = 5 }) },
  { "max_repeats", node("integer", "most measurements of a candidate in a confirmation", { min = 8, max = 10000 }) },
  { "reject", node("number", "the screen rejects at minus this evidence", { above = 0 }) },
  { "memory", node("integer", "over how many measurements the best's level is averaged", { min = 2 }) },
  { "refresh", node("integer", "number of candidate measurements after which the best is measured once", { min = 1 }) },
  { "n_screen", node("integer", "most measurements of a candidate in the screen", { min = 1 }) },
  { "futility", node("number", "the confirmation gives up below this capital", { above = 0, max = 0.99 }) },
  { "final", node("integer",
    "pairs of measurements, best against original, from which the gain is estimated at the end of a run; 0: none "
    .. "(default 20)", { min = 0 }) },
}, { short = "preset" })

local guards_key = node("list", "metrics that an improvement may not spoil", {
  items = "guards ({metric, max_regression})", fill = true,
  item = map("one of them", {
    { "metric", node("string", "its name, which metrics: gives a direction", { required = true }) },
    { "max_regression", node("own",
      "a candidate that is worse by more than this, than the best that it would replace or than the "
      .. "baseline, is rejected", { required = true, fits = guard.limit,
      takes = "a percentage such as 5%, or a number in the metric's unit, above 0" }) },
  }),
})

-- A guard's metric is not the optimised one, has a direction, and one limit.
local function check_guards(draft)
  local value, seen = draft.value, {}
  for index, one in ipairs(value.guards or {}) do
    local key, name = ("guards[%d].metric"):format(index), one.metric
    if name and name == (value.metric or {}).name then
      draft.say(key, ("%s is the metric that is optimised; guard another one, or use metric.min_pass or "
        .. "max_pass"):format(
        nearest.show(name)))
    elseif name and not (value.metrics or {})[name] and not draft.stands("metrics." .. name) then
      draft.say(key, ("%s has no direction, so it is unknown what is worse%s; add metrics: {%s: {direction: "
        .. "lower}}, or higher"):format(
        nearest.show(name), nearest.hint(name, suggest.names(value.metrics or {})), name))
    elseif name and seen[name] then
      draft.say(key, ("%s is guarded at %s too; keep one of the two"):format(nearest.show(name), draft.at(seen[name])))
    end
    if name then seen[name] = key end
  end
end

-- The library checks the user's numbers against the preset's.
local function check_acceptance(draft)
  if draft.refused("acceptance") then return end
  local metric = draft.value.metric or {}
  if draft.value.acceptance and draft.stands "metric.tie_breaker" and metric.tie_breaker == "changed_loc" then
    draft.say("metric.tie_breaker",
      ("has no effect with acceptance (%s), which keeps what is shown to be better and no tie; remove it"):format(
      draft.at "acceptance"))
  end
  local settings, message, key = presets.of(draft.value.acceptance)
  if not settings and not draft.refused("acceptance." .. key) then
    draft.say("acceptance." .. key, (message:gsub("^" .. key .. " ", "", 1)))
  end
end

return {
  keys = { { "guards", guards_key, after = "metrics" }, { "acceptance", acceptance_key, after = "guards" } },
  check = function(draft)
    check_acceptance(draft)
    check_guards(draft)
  end,
}
