-- runtimes: after how many evaluations a trial had come some of the way from its seed's baseline to its target. If a
-- world has no target, the best value that any of the strategies found with that seed takes its place. Evaluations,
-- or simulated seconds or cost: the campaign's axis. Called by measures, compare, overall and export.
local direction = require "apsis.direction"
local stats = require "apsis.stats"
local steps = require "apsis.lab.steps"

-- ways: the shares of the way that strategies are compared at.
local runtimes = { ways = { 0.5, 0.9, 1 } }

-- What running times are counted in: where a step of a curve has it, the record's field, and words for it.
runtimes.axes = { evaluations = { place = 1, field = "evaluations", words = "evaluations" },
  time = { place = 3, field = "seconds", words = "simulated seconds" },
  cost = { place = 4, field = "cost", words = "simulated dollars" } }

local LEAST_SHARE = 1e-6 -- of a budget of seconds or cost: nothing takes less, so that means have ratios

-- The targets of AOCC: what is left of the way falls to 1 % in even steps of its logarithm, and then to nothing.
local many, COUNT, LEAST = {}, 50, 0.01
for index = 1, COUNT do many[index] = 1 - LEAST ^ (index / COUNT) end
many[COUNT + 1] = 1

local function finite(number)
  return direction.finite(number) and number or nil
end

-- Both ends of a seed's way; nil if a strategy's baseline or the other end is not known.
local function span_of(records, metric)
  local found, from, to = {}, nil, nil
  for index, record in ipairs(records) do
    from, to = from or finite(record.baseline), to or finite(record.target)
    found[index] = finite(record.best) or false
  end
  to = to or metric:better_of(metric:best_of(found), nil)
  return from and to and { from = from, to = to } or nil
end

local function add_spans(group)
  local by_seed = {}
  for _, entry in ipairs(group.entries) do
    for _, record in ipairs(entry.records) do
      by_seed[record.seed] = by_seed[record.seed] or {}
      table.insert(by_seed[record.seed], record)
    end
  end
  group.spans = {}
  for seed, records in pairs(by_seed) do group.spans[seed] = span_of(records, group.metric) end
end

-- What a run that did not get there counts as: the campaign's budget, or what the world's longest run spent.
local function budget_of(group, options)
  local axis = group.axis
  local given = options.budget
  if axis == runtimes.axes.evaluations then given = given or options.evaluations end
  local most = axis == runtimes.axes.evaluations and 1 or 0
  for _, entry in ipairs(group.entries) do
    for _, record in ipairs(entry.records) do most = math.max(most, record[axis.field]) end
  end
  most = given or most
  return most > 0 and most or 1
end

-- The matrix's entries by world, in order: { world, entries, metric, axis, budget (what a run that did not get there
-- counts as), spans = { [seed] = { from, to } } }; a group's world is its key, too. options: { axis = a name of
-- runtimes.axes, budget (nil: that of the longest run on the world), evaluations = the budget of that axis }.
function runtimes.groups(matrix, options)
  options = options or {}
  local groups, axis = {}, runtimes.axes[options.axis or "evaluations"]
  for _, entry in ipairs(matrix) do
    local group = groups[entry.world]
    if not group then
      group = { world = entry.world, entries = {}, axis = axis }
      groups[entry.world], groups[#groups + 1] = group, group
    end
    group.entries[#group.entries + 1] = entry
    for _, record in ipairs(entry.records) do
      group.metric = group.metric or direction.new { direction = record.direction }
    end
  end
  for _, group in ipairs(groups) do
    add_spans(group)
    group.budget = budget_of(group, options)
  end
  return groups
end

-- Whether an entry's runs ended where their strategy or its budget did: others cannot be compared.
function runtimes.is_answered(entry)
  for _, record in ipairs(entry.records) do
    if record.unanswered then return false end
  end
  return true
end

-- What a run spent.
function runtimes.spent(group, record) return record[group.axis.field] end

-- For each of some ascending shares of the way the evaluation (or the second, or the cost) at which the record's best
-- was there; false if it never was.
function runtimes.hits(group, record, shares)
  local span, hits, at, place = group.spans[record.seed], {}, 1, group.axis.place
  local least = place == 1 and 1 or LEAST_SHARE * group.budget
  for index = 1, #shares do hits[index] = false end
  if not span then return hits end
  local function level() return (1 - shares[at]) * span.from + shares[at] * span.to end
  for _, step in ipairs(steps.of(record, math.huge)) do
    while at <= #shares and group.metric:reaches(step[2], level()) do
      hits[at] = math.max(step[place], least)
      at = at + 1
    end
  end
  return hits
end

-- The record's steps as { {evaluation, the share of the way that is left}... }; empty if its seed's way is not known.
function runtimes.left(group, record)
  local span, list = group.spans[record.seed], {}
  for index, step in ipairs(span and steps.of(record, math.huge) or list) do
    local way, value = math.abs(span.to - span.from), step[2]
    local solved = way == 0 or group.metric:reaches(value, span.to)
    list[index] = { step[1], solved and 0.0 or math.abs(span.to - value) / way }
  end
  return list
end

-- The AOCC of a run, and that by the axis's logarithm; seconds and cost are counted in millionths of the budget.
function runtimes.aocc(group, record)
  local hits, budget = runtimes.hits(group, record, many), group.budget
  if group.axis.place ~= 1 then
    for index, hit in ipairs(hits) do hits[index] = hit and hit / (LEAST_SHARE * budget) end
    budget = 1 / LEAST_SHARE
  end
  return stats.aocc(hits, { budget = budget }), stats.aocc(hits, { budget = budget, log = true })
end

return runtimes
