-- items: two candidates item by item: regressions and fixes, from the journal's items and, if a fitness left them, the
-- predictions; and which ancestor passes what regressed. Only metrics decide which value is better. Called by against.
local direction = require "apsis.direction"
local rooms = require "apsis.core.rooms"

local items = {}

-- { [item] = { prediction, score } } of a candidate's run; may be empty.
function items.predictions(run_dir)
  return rooms.first("predictions", run_dir) or {}
end

-- The number that judges an item: its own, or its primary metric's; or nil.
local function number_of(item, metric)
  if type(item) == "table" then item = item[metric.name] end
  return type(item) == "number" and item or nil
end

-- { [item] = number, or false without one } of a record or a measurement; nil without items. Predictions add items that
-- the journal omits: without a score, or of a component with too many rows.
function items.values(source, metric, predictions)
  local values = {}
  for id, item in pairs(source.items or {}) do values[id] = number_of(item, metric) or false end
  for id, row in pairs(predictions or {}) do
    if values[id] == nil then values[id] = row.score or false end
  end
  return next(values) ~= nil and values or nil
end

local function sorted_keys(...)
  local seen, list = {}, {}
  for _, map in ipairs { ... } do
    for key in pairs(map) do
      if not seen[key] then seen[key], list[#list + 1] = true, key end
    end
  end
  table.sort(list)
  return list
end

-- compare(metric, mine, theirs, predictions, their predictions) -> { regressed, fixed, changed (without a score, of
-- another prediction), only_here, only_there = { { item, value, against, prediction, against_prediction }... },
-- unchanged = count, reworded = how many predictions differ among these }.
function items.compare(metric, mine, theirs, said, said_there)
  local found = { regressed = {}, fixed = {}, changed = {}, only_here = {}, only_there = {}, unchanged = 0,
    reworded = 0 }
  for _, id in ipairs(sorted_keys(mine, theirs)) do
    local value, other = mine[id], theirs[id]
    local here, there = said[id] or {}, said_there[id] or {}
    local entry = { item = id, value = value or nil, against = other or nil, prediction = here.prediction,
      against_prediction = there.prediction }
    if other == nil then table.insert(found.only_here, entry)
    elseif value == nil then table.insert(found.only_there, entry)
    elseif metric:better(other or nil, value or nil) then table.insert(found.regressed, entry)
    elseif metric:better(value or nil, other or nil) then table.insert(found.fixed, entry)
    elseif not value and not other and here.prediction ~= there.prediction then table.insert(found.changed, entry)
    else
      found.unchanged = found.unchanged + 1
      if here.prediction ~= there.prediction then found.reworded = found.reworded + 1 end
    end
  end
  return found
end

-- "better", "worse" or "equal"; nil if no direction is known or neither has a value.
local function mark(metric, value, other)
  if not metric or value == nil and other == nil then return nil end
  return metric:better(value, other) and "better" or metric:better(other, value) and "worse" or "equal"
end

items.mark = mark

local function component_of(id)
  return type(id) == "string" and id:match "^([^:]+):" or nil
end

-- A linter's findings that only one candidate has are worse than none: moves them from only_here and only_there into
-- new_findings and gone_findings.
function items.findings(found, record, other)
  local here, there = record.secondary_metrics or {}, other.secondary_metrics or {}
  local function split(list)
    local items_of_it, findings = {}, {}
    for _, entry in ipairs(list) do
      local count = (component_of(entry.item) or "") .. ".count"
      table.insert(here[count] and there[count] and findings or items_of_it, entry)
    end
    return items_of_it, findings
  end
  found.only_here, found.new_findings = split(found.only_here)
  found.only_there, found.gone_findings = split(found.only_there)
  return found
end

-- The fitness components that both candidates have a score of: { [name] = direction } (1 is best).
function items.components(record, other, mine, theirs)
  local found = {}
  local here, there = record.secondary_metrics or {}, other.secondary_metrics or {}
  for _, values in ipairs { mine or {}, theirs or {} } do
    for id in pairs(values) do
      local name = component_of(id)
      if name and here[name] and there[name] then found[name] = found[name] or direction.new { name = name } end
    end
  end
  return found
end

-- The secondary metrics that differ: { { name, value, against, delta, mark }... } by name. directions: the manifest's
-- `metrics`; components: as above.
function items.metrics(record, other, primary, directions, components)
  local mine, theirs, list = record.secondary_metrics or {}, other.secondary_metrics or {}, {}
  for _, name in ipairs(sorted_keys(mine, theirs)) do
    if name ~= primary and mine[name] ~= theirs[name] then
      local spec = directions and directions[name]
      local metric = direction.new { name = name, direction = spec and spec.direction }
      local known = spec and metric or components[name]
      list[#list + 1] = { name = name, value = mine[name], against = theirs[name], delta = metric:delta(mine[name],
        theirs[name]), mark = mark(known, mine[name], theirs[name]) }
    end
  end
  return list
end

-- Whether a finding is gone: its linter ran, and its findings are known.
local function is_gone(target, values, metrics)
  local count = metrics and metrics[target.component .. ".count"]
  if not count or values and values[target.item] ~= nil then return false end
  for id in pairs(values or {}) do
    if component_of(id) == target.component then return true end
  end
  return count == 0
end

-- The targets to restore: items that regressed; of a fitness, a linter's new findings and the components that are worse
-- without any; else the metric if it is worse; and a broken guard (rules: { history, guards, metrics } of the project):
-- { { item (a finding must go), component or guard (neither: the metric), want }... }; a guard has holds(metrics).
function items.targets(metric, found, components, record, other, rules)
  local list, with_items = {}, {}
  for index, entry in ipairs(found and found.regressed or {}) do
    list[index] = { item = entry.item, want = entry.against }
    with_items[component_of(entry.item) or ""] = true
  end
  for _, entry in ipairs(found and found.new_findings or {}) do
    local name = component_of(entry.item)
    list[#list + 1] = { item = entry.item, component = name, finding = true }
    with_items[name] = true
  end
  for _, name in ipairs(sorted_keys(components)) do
    local value, want = record.secondary_metrics[name], other.secondary_metrics[name]
    if not with_items[name] and name ~= metric.name and components[name]:better(want, value) then
      list[#list + 1] = { component = name, want = want, value = value, metric = components[name] }
    end
  end
  if #list == 0 and mark(metric, record.value, other.value) == "worse" then list[1] = { want = other.value } end
  list[#list + 1] = rules and rooms.first("guard_target", rules, record, other) or nil
  return list
end

-- Whether an item belongs to a component that is itself a target.
function items.is_of(id, targets)
  local name = component_of(id)
  for _, target in ipairs(targets) do
    if name and target.component == name then return true end
  end
  return false
end

local function is_reached(metric, target, value, values, metrics)
  if target.finding then return is_gone(target, values, metrics) end
  if target.guard then return target.holds(metrics) end
  local got = value
  if target.item then got = values and values[target.item] or nil
  elseif target.component then got = metrics and metrics[target.component] end
  return got and not (target.metric or metric):better(target.want, got)
end

-- The targets that a measurement or a record reaches: a set of their indexes, and how many. metrics: its secondary
-- ones.
function items.reached(metric, targets, value, values, metrics)
  local set, count = {}, 0
  for index, target in ipairs(targets) do
    if is_reached(metric, target, value, values, metrics) then set[index], count = true, count + 1 end
  end
  return set, count
end

-- Calls visit(record, generation) for a candidate's ancestors that have a line, nearest first, until it returns a
-- value.
local function ancestors(history, record, visit)
  local seen, generation, depth = { [record.id] = true }, { record }, 0
  while #generation > 0 do
    local older = {}
    depth = depth + 1
    for _, one in ipairs(generation) do
      for _, id in ipairs(one.parents or {}) do
        local parent = not seen[id] and history:get(id)
        seen[id] = true
        if parent then older[#older + 1] = parent end
      end
    end
    for _, one in ipairs(older) do
      local result = visit(one, depth)
      if result ~= nil then return result end
    end
    generation = older
  end
end

-- The ancestor to go back to: the nearest that reaches every target, else the nearest common one. entry | nil; and
-- whether the other candidate is an ancestor.
local function ancestor_to(history, metric, targets, record, other)
  local theirs, is_ancestor = { [other.id] = true }, false
  local function entry(one, depth, passes)
    return { candidate = one.id, value = one.value, generations = depth, passes = passes }
  end
  ancestors(history, other, function(one) theirs[one.id] = true end)
  local found, common
  ancestors(history, record, function(one, depth)
    is_ancestor = is_ancestor or one.id == other.id
    if not common and theirs[one.id] then common = entry(one, depth, false) end
    local _, count = items.reached(metric, targets, one.value, items.values(one, metric), one.secondary_metrics)
    if not found and count == #targets then found = entry(one, depth, true) end
  end)
  return found or common, is_ancestor
end

local may_lead = { kept = true, baseline = true, reverted_worse_metric = true }

-- What to go back to: an ancestor, or the other candidate, if it is none and better than that one. { candidate, value,
-- passes (reaches all targets), generations (of an ancestor), instead_of (the ancestor that the other one is better
-- than) } | nil.
function items.go_back(history, metric, targets, record, other)
  local entry, is_ancestor = ancestor_to(history, metric, targets, record, other)
  local better = may_lead[other.outcome] and metric:better(other.value, entry and entry.value)
  if is_ancestor or not better then return entry end
  return { candidate = other.id, value = other.value, passes = true, instead_of = entry and entry.candidate }
end

return items
