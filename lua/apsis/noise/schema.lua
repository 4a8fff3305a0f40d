-- judging: the part of the schema that says how candidates are judged: acceptance under noise, guards, best of K. Called by schema.
local acceptance = require "apsis.acceptance"
local guard = require "apsis.noise.guard"
local nearest = require "apsis.project.nearest"
local nodes = require "apsis.project.node"

local map, node = nodes.map, nodes.node

local judging = {}

-- Without a number of one's own, what the preset says (apsis.acceptance has the table, with its source).
judging.acceptance = map("a candidate that looks better is measured again, blindly, before it is kept; absent: one measurement decides", {
  { "confidence", node("number", "1 - the chance that a run of candidates without any effect keeps one", { min = 0.5, max = 0.9999,
    default = 0.95 }) },
  { "preset", node("enum", "default finds 2 sd cheaply, sensitive 1 sd at three times the measurements", {
    allowed = { "default", "sensitive" }, default = "default" }) },
  { "baseline", node("integer", "measurements of the baseline, from which the noise is known (default 20)", { min = 5 }) },
  { "max_repeats", node("integer", "most measurements of a candidate in a confirmation", { min = 8, max = 10000 }) },
  { "reject", node("number", "the screen rejects at minus this evidence", { above = 0 }) },
  { "memory", node("integer", "over how many measurements the best's level is averaged", { min = 2 }) },
  { "refresh", node("integer", "after so many measurements of candidates the best is measured once", { min = 1 }) },
  { "n_screen", node("integer", "most measurements of a candidate in the screen", { min = 1 }) },
  { "futility", node("number", "the confirmation gives up below this capital", { above = 0, max = 0.99 }) },
  { "final", node("integer", "pairs of measurements, best against original, from which the gain is estimated at the end of a run; 0: none "
    .. "(default 20)", { min = 0 }) },
}, { short = "preset" })

judging.guards = node("list", "metrics that an improvement may not spoil", {
  items = "guards ({metric, max_regression})", fill = true,
  item = map("one of them", {
    { "metric", node("string", "its name, which metrics: gives a direction", { required = true }) },
    { "max_regression", node("own", "a candidate that is worse by more than this, than the best that it would replace or than the "
      .. "baseline, is rejected", { required = true, fits = guard.limit,
      takes = "a percentage such as 5%, or a number in the metric's unit, above 0" }) },
  }),
})

local complexities = { "simple", "medium", "complex", "epic" }

-- Why these defaults: off, for it costs K times the tokens; 2, the least that can choose (a majority needs 3); the gate leaves small
-- changes, where answers differ little, at one; the margin is for answers that turn out longer than the last ones.
judging.trajectory = map("best of K: several answers are asked for and one of them is evaluated; proposals with a k of their own need no "
  .. "more than the margin", {
  { "enabled", node("boolean", "whether proposals that say no k ask for k_candidates answers", { default = false }) },
  { "k_candidates", node("integer", "so many answers, side by side; from 3 on a strict majority of one intent drops the others",
    { min = 1, max = 64, default = 2 }) },
  { "complexity_gate", node("list", "the complexities that are worth it; the others ask for one answer (default: complex, epic)", {
    items = "simple, medium, complex or epic", item = node("enum", "a complexity", { allowed = complexities }) }) },
  { "complexity", node("enum", "of a proposal whose strategy does not say it; without it such a one is simple",
    { allowed = complexities }) },
  { "raise_after", node("integer", "after so many experiments without a new best any proposal is complex enough; without it none is raised",
    { min = 1 }) },
  { "margin", node("number", "of what is left of a budget of tokens or dollars, the share that K answers leave; else one is asked for",
    { min = 0, max = 0.99, default = 0.2 }) },
})

-- An empty gate would let nothing through, which is what enabled: false says.
local function check_trajectory(draft)
  local value = draft.value.trajectory
  if not value or draft.refused("trajectory.complexity_gate") then return end
  local gate = value.complexity_gate
  if not gate then value.complexity_gate = { "complex", "epic" }
  elseif #gate == 0 then
    draft.say("trajectory.complexity_gate", "lets no proposal through; name a complexity, or turn best of K off with enabled: false")
  end
end

local function sorted_names(metrics)
  local names = {}
  for name in pairs(metrics or {}) do names[#names + 1] = name end
  table.sort(names)
  return names
end

-- A guard's metric is another one than that which is optimised, has a direction, and one limit.
local function check_guards(draft)
  local value, seen = draft.value, {}
  for index, guard in ipairs(value.guards or {}) do
    local key, name = ("guards[%d].metric"):format(index), guard.metric
    if name and name == (value.metric or {}).name then
      draft.say(key, ("%s is the metric that is optimised; guard another one, or use metric.min_pass or max_pass"):format(
        nearest.show(name)))
    elseif name and not (value.metrics or {})[name] and not draft.stands("metrics." .. name) then
      draft.say(key, ("%s has no direction, so that nothing says what is worse%s; add metrics: {%s: {direction: lower}}, or higher"):format(
        nearest.show(name), nearest.hint(name, sorted_names(value.metrics)), name))
    elseif name and seen[name] then
      draft.say(key, ("%s is guarded at %s too; keep one of the two"):format(nearest.show(name), draft.at(seen[name])))
    end
    if name then seen[name] = key end
  end
end

-- What a preset and a user's own numbers must be to one another is the library's to say.
local function check_acceptance(draft)
  if draft.refused("acceptance") then return end
  local settings, message, key = acceptance.settings(draft.value.acceptance)
  if not settings and not draft.refused("acceptance." .. key) then
    draft.say("acceptance." .. key, (message:gsub("^" .. key .. " ", "", 1)))
  end
end

-- Rules that join these keys with others: of a draft, as those of rules.lua.
judging.rules = { check_acceptance, check_guards, check_trajectory }

return judging
