-- schema: the key metric.pareto of the manifest, and its rules: what it says of each metric goes to `metrics`, and what
-- belongs to a single number is refused.
local nearest = require "apsis.project.nearest"
local nodes = require "apsis.project.node"

local map, node = nodes.map, nodes.node

local schema = {}

local MOST <const> = 4 -- the hypervolume of more takes too long, and most candidates would join the front

schema.NAME = "hypervolume"

local one = map("one of them", {
  { "name", node("string", "its name, in METRIC lines", { required = true }) },
  { "direction", node("direction", "which way is better (default: as metrics: has it)") },
  { "epsilon", node("number", "better means better by more than this (default 0)", { min = 0 }) },
  { "unit", node("string", "shown after the value", { empty = true }) },
  { "min_pass", node("number", "below it a candidate is rejected") },
  { "max_pass", node("number", "above it a candidate is rejected") },
  { "reference", node("number", "the worst value that counts for the hypervolume (default: as far beyond the "
    .. "baseline's as that is from 0)") },
}, { short = "name" })

schema.keys = { { "pareto", node("list", "two to four metrics in place of one: what no kept candidate equals or beats "
  .. "in each of them is kept; the value is the front's hypervolume", {
    items = "names, or mappings ({name, direction})", item = one }), after = "direction", under = "metric" } }

-- What decides a value.
function schema.measures(parts)
  local list = {}
  for index, part in ipairs(parts) do
    list[index] = { name = part.name, direction = part.direction, epsilon = part.epsilon, min_pass = part.min_pass,
      max_pass = part.max_pass, reference = part.reference }
  end
  return list
end

local function key_of(index) return ("metric.pareto[%d]"):format(index) end

-- Takes from `metrics` what an entry leaves out, and gives it what the entry has. A message and its key, or nil.
local function join(part, metrics, key)
  local given = metrics[part.name] or {}
  for _, name in ipairs { "direction", "epsilon", "unit" } do
    if part[name] ~= nil and given[name] ~= nil and part[name] ~= given[name] then
      return ("is %s here and %s in metrics.%s; keep one of the two"):format(nearest.show(part[name]),
        nearest.show(given[name]), part.name), key .. "." .. name
    end
    if part[name] == nil then part[name] = given[name] end
  end
  if not part.direction then
    return ("%s has no direction, so it is unknown what is better: write {name: %s, direction: lower}, or higher")
      :format(nearest.show(part.name), part.name), key
  end
  metrics[part.name] = { direction = part.direction, epsilon = part.epsilon, unit = part.unit, target = given.target }
end

-- Before the defaults are in: the metric's own name and direction, and each entry completed.
function schema.begin(draft)
  local metric = draft.value.metric
  local parts = metric and metric.pareto
  if not parts or draft.refused "metric.pareto" or draft.refused "metrics" then return end
  for _, name in ipairs { "name", "direction" } do
    if draft.stands("metric." .. name) then
      draft.say("metric." .. name, "does not go with metric.pareto, whose entries have their own; remove it")
    end
  end
  metric.name, metric.direction, metric.names = schema.NAME, "higher", {}
  draft.value.metrics = draft.value.metrics or {}
  local seen = {}
  for index, part in ipairs(parts) do
    local message, key = join(part, draft.value.metrics, key_of(index))
    if seen[part.name] then message, key = "is there twice; keep one of the two", key_of(index) end
    if message then draft.say(key, message) end
    metric.names[index], seen[part.name] = part.name, true
  end
  if not draft.stands "strategy" then draft.value.strategy = { use = "pareto" } end
end

-- Keys of the metric that are of one number.
local of_one = {
  epsilon = "give the entry of metric.pareto an epsilon", min_pass = "give the entry of metric.pareto a min_pass",
  max_pass = "give the entry of metric.pareto a max_pass", unit = "give the entry of metric.pareto a unit",
}

local function check_metric(draft, metric)
  for name, remedy in pairs(of_one) do
    if draft.stands("metric." .. name) then
      draft.say("metric." .. name, "does not go with metric.pareto; remove it, or " .. remedy)
    end
  end
  if draft.stands "metric.tie_breaker" and metric.tie_breaker == "changed_loc" then
    draft.say("metric.tie_breaker", "has no effect with metric.pareto, which keeps no tie; remove it")
  end
  local extractor = metric.extractor or {}
  if extractor.type ~= "metric_lines" or extractor.json then
    draft.say("metric.extractor", "reads one number, and metric.pareto needs several: have the command print a line "
      .. "METRIC NAME=NUMBER for each, and remove the extractor")
  end
end

local letters = "^[%w_.\u{B5}]+$"

local function check_parts(draft, metric)
  local count = #metric.pareto
  if count < 2 or count > MOST then
    draft.say("metric.pareto", ("must have 2 to %d metrics, not %d; for one write metric: {name: NAME, direction: "
      .. "lower}"):format(MOST, count))
  end
  for index, part in ipairs(metric.pareto) do
    local low, high = part.min_pass, part.max_pass -- the limits of an interval, not two measurements
    if part.name and not part.name:find(letters) then
      draft.say(key_of(index) .. ".name", ("%s cannot stand in a METRIC line: only letters, digits, '_', '.' and "
        .. "\u{B5}; rename it"):format(nearest.show(part.name)))
    elseif low and high and low > high then
      draft.say(key_of(index) .. ".min_pass", ("is above its max_pass (%s), so that no candidate could pass")
        :format(high))
    end
  end
end

-- Other keys that go by one number.
local function check_others(draft, value)
  if value.acceptance then
    draft.say("acceptance", "does not go with metric.pareto: it was shown to keep at most 5 % falsely for one number, "
      .. "not for several; remove it, and write verification: {repeats: 5} against noise")
  end
  for _, name in ipairs { "fitness", "holdout" } do
    if value[name] then
      draft.say(name, "scores one number, and does not go with metric.pareto; remove one of the two")
    end
  end
  if value.history == "revert" then
    draft.say("history", "revert is one line of commits, and metric.pareto has a branch for each member of its front; "
      .. "remove it")
  end
  if value.own_branch then
    draft.say("metric.pareto", "does not go with a standing goal, which has one branch; give it a project of its own")
  end
  for index, command in ipairs((value.verification or {}).commands or {}) do
    if command.threshold then
      draft.say(("verification.commands[%d].threshold"):format(index), "does not go with metric.pareto; remove it, or "
        .. "give the entry of metric.pareto a limit")
    end
  end
  for index, guard in ipairs(value.guards or {}) do
    for _, name in ipairs(value.metric.names or {}) do
      if name == guard.metric then
        draft.say(("guards[%d].metric"):format(index), ("%s is one of metric.pareto; give it min_pass or max_pass "
          .. "there"):format(nearest.show(name)))
      end
    end
  end
end

-- After the defaults are in.
function schema.check(draft)
  local value = draft.value
  local metric = value.metric
  if not metric or not metric.pareto or draft.refused "metric.pareto" then return end
  check_metric(draft, metric)
  check_parts(draft, metric)
  check_others(draft, value)
  metric.medians = (value.verification or {}).repeats ~= 1 or nil
  if value.project and value.project.ref then
    value.branch, value.branch_by_id = "apsis/" .. value.project.ref .. "/front", true
  end
end

return schema
