-- runtimes: after how many evaluations a trial had come some of the way from its seed's baseline to its target. If a
-- world has no target, the best value that any of the strategies found with that seed takes its place. Called by
-- measures, compare and overall.
local direction = require "apsis.direction"
local stats = require "apsis.stats"
local steps = require "apsis.lab.steps"

-- ways: the shares of the way that strategies are compared at.
local runtimes = { ways = { 0.5, 0.9, 1 } }

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

-- The matrix's entries by world, in order: { world, entries, metric, spent (the evaluations of its longest run), spans
-- = { [seed] = { from, to } } }; a group's world is its key, too.
function runtimes.groups(matrix)
  local groups = {}
  for _, entry in ipairs(matrix) do
    local group = groups[entry.world]
    if not group then
      group = { world = entry.world, entries = {}, spent = 1 }
      groups[entry.world], groups[#groups + 1] = group, group
    end
    group.entries[#group.entries + 1] = entry
    for _, record in ipairs(entry.records) do
      group.metric = group.metric or direction.new { direction = record.direction }
      group.spent = math.max(group.spent, record.evaluations)
    end
  end
  for _, group in ipairs(groups) do add_spans(group) end
  return groups
end

-- For each of some ascending shares of the way the evaluation at which the record's best was there; false if it never
-- was.
function runtimes.hits(group, record, shares)
  local span, hits, at = group.spans[record.seed], {}, 1
  for index = 1, #shares do hits[index] = false end
  if not span then return hits end
  local function level() return (1 - shares[at]) * span.from + shares[at] * span.to end
  for _, step in ipairs(steps.of(record, math.huge)) do
    while at <= #shares and group.metric:reaches(step[2], level()) do
      hits[at] = step[1]
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

-- The AOCC of a run: by evaluations, and by their logarithm.
function runtimes.aocc(group, record, budget)
  local hits = runtimes.hits(group, record, many)
  return stats.aocc(hits, { budget = budget }), stats.aocc(hits, { budget = budget, log = true })
end

return runtimes
