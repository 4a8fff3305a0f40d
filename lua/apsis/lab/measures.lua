-- measures: what the trials of a campaign amount to: a row for each strategy on each world, comparisons of pairs on
-- each world and over all, and the series a page draws. Plain data in, plain data out that JSON can hold: what is not
-- known is absent. Orders nothing by worth: quartiles are numeric. Called by the command and the page's data.
local compare = require "apsis.lab.compare"
local direction = require "apsis.direction"
local json = require "apsis.json"
local overall = require "apsis.lab.overall"
local random = require "apsis.random"
local runtimes = require "apsis.lab.runtimes"
local stats = require "apsis.stats"
local steps = require "apsis.lab.steps"

local measures = { comparisons = compare, overall = overall.verdicts, scores = overall.scores }

local POINTS = 100
local DRAWS = 500 -- of the ERT's interval

local function finite(number)
  return direction.finite(number) and number or nil
end

-- What the records have of a field, without those that have none, and without what is no finite number.
local function field(records, name)
  local list = {}
  for _, record in ipairs(records) do list[#list + 1] = finite(record[name]) end
  return list
end

local function mean(records, name)
  return finite(stats.mean(field(records, name)))
end

-- The runs that had a target: how many there were, when each hit (false if it did not), what each spent; in
-- evaluations, or by a group's axis.
local function targeted(records, group)
  local hits, spent, successes = {}, {}, 0
  for _, record in ipairs(records) do
    if record.target then
      local place = #hits + 1
      hits[place], spent[place] = record.hit or false, group and runtimes.spent(group, record) or record.evaluations
      if group and record.hit then hits[place] = runtimes.hits(group, record, { 1 })[1] or spent[place] end
      if record.hit then successes = successes + 1 end
    end
  end
  return #hits, successes, hits, spent
end

-- The target if every run had the same; nil if instances have their own.
local function common_target(records)
  local target = records[1] and records[1].target
  for _, record in ipairs(records) do
    if record.target ~= target then return nil end
  end
  return target
end

-- The ERT and its interval into a table; an infinite one is absent.
local function add_ert(row, into, hits, spent)
  local low, high = stats.ert_interval(hits, spent, { draws = DRAWS,
    rng = random.stream("ert", row.world, row.strategy, into.way) })
  into.ert, into.ert_low, into.ert_high = finite(stats.ert(hits, spent)), finite(low), finite(high)
end

local function reach(row, records, group)
  local count, successes, hits, spent = targeted(records, group.axis ~= runtimes.axes.evaluations and group or nil)
  row.target, row.successes, row.unsuccessful = common_target(records), successes, count - successes
  row.success_rate = count > 0 and successes / count or nil
  add_ert(row, row, hits, spent)
end

-- The runtimes to each of the targets, and the areas under their ECDF.
local function add_times(row, records, group)
  local times, by_way, areas, logs = json.array {}, {}, {}, {}
  for place, way in ipairs(runtimes.ways) do times[place], by_way[place] = { way = way }, {} end
  for index, record in ipairs(records) do
    local hits = runtimes.hits(group, record, runtimes.ways)
    for place = 1, #times do by_way[place][index] = hits[place] end
    areas[index], logs[index] = runtimes.aocc(group, record)
  end
  local spent, limit = field(records, group.axis.field), group.budget
  for place, one in ipairs(times) do
    one.mean, one.reached = stats.mean(stats.restricted(by_way[place], limit)), 0
    for _, hit in ipairs(by_way[place]) do one.reached = one.reached + (hit and 1 or 0) end
    add_ert(row, one, by_way[place], spent)
  end
  row.times, row.aocc, row.aocc_log = times, stats.mean(areas), stats.mean(logs)
end

local function spread(row, records)
  local found = field(records, "best")
  row.median, row.q1, row.q3 = stats.quantile(found, 0.5), stats.quantile(found, 0.25), stats.quantile(found, 0.75)
  row.without_value = #records - #found
end

local function area(records, limit)
  local areas = {}
  for _, record in ipairs(records) do areas[#areas + 1] = steps.area(record, limit) end
  return stats.quantile(areas, 0.5)
end

local function row_of(entry, group, limit)
  local records = entry.records
  local first = records[1] or {}
  local row = { strategy = entry.strategy, world = entry.world, direction = first.direction, metric = first.metric,
    runs = #records }
  reach(row, records, group)
  spread(row, records)
  row.auc = area(records, limit)
  add_times(row, records, group)
  local experiments = stats.sum(field(records, "experiments"))
  row.kept_ratio = experiments > 0 and stats.sum(field(records, "kept")) / experiments or nil
  for _, name in ipairs { "evaluations", "experiments", "kept", "measured", "false_keeps", "cost", "seconds",
    "tokens" } do
    row[name] = mean(records, name)
  end
  return row
end

-- rows(matrix, { evaluations, axis, budget }) -> a row for each entry, in the matrix's order.
function measures.rows(matrix, options)
  local rows, groups = {}, runtimes.groups(matrix, options)
  for index, entry in ipairs(matrix) do rows[index] = row_of(entry, groups[entry.world], options.evaluations) end
  return rows
end

-- Whole evaluations from 1 to limit, evenly spaced by their logarithm; those that fall together are one.
local function grid(limit, points)
  local x = {}
  for index = 0, points - 1 do
    local evaluation = index == points - 1 and limit or (limit ^ (index / (points - 1)) + 0.5) // 1 | 0
    if evaluation ~= x[#x] then x[#x + 1] = evaluation end
  end
  return x
end

-- curves(entry, evaluations, points) -> { x, median, q1, q3, spent }: the best so far over the runs that have one by
-- then; after `spent` evaluations no run goes on.
function measures.curves(entry, evaluations, points)
  local x = grid(evaluations, math.max(2, points or POINTS))
  local heights, curves = {}, {}
  for _, name in ipairs { "x", "median", "q1", "q3" } do curves[name] = json.array {} end
  curves.spent = 0
  for index, record in ipairs(entry.records) do
    heights[index], curves.spent = steps.heights(record, x), math.max(curves.spent, record.evaluations)
  end
  for place, evaluation in ipairs(x) do
    local column = {}
    for _, row in ipairs(heights) do column[#column + 1] = row[place] or nil end
    if #column > 0 then
      local at = #curves.x + 1
      curves.x[at] = evaluation
      curves.q1[at], curves.median[at] = stats.quantile(column, 0.25), stats.quantile(column, 0.5)
      curves.q3[at] = stats.quantile(column, 0.75)
    end
  end
  return curves
end

-- ecdf(entry, evaluations) -> { x, y }: which share of the runs had reached the target after x evaluations, from 1 to
-- the limit; both empty if no run had a target.
function measures.ecdf(entry, evaluations)
  local count, _, hits = targeted(entry.records)
  if count == 0 then return { x = json.array {}, y = json.array {} } end
  local reached = {}
  for _, hit in ipairs(hits) do
    if hit and hit <= evaluations then reached[#reached + 1] = hit end
  end
  local ecdf = stats.ecdf(reached, count)
  if ecdf.x[1] ~= 1 then
    table.insert(ecdf.x, 1, 1)
    table.insert(ecdf.y, 1, 0.0)
  end
  if ecdf.x[#ecdf.x] ~= evaluations then
    ecdf.x[#ecdf.x + 1], ecdf.y[#ecdf.y + 1] = evaluations, ecdf.y[#ecdf.y]
  end
  return ecdf
end

-- operators(entry) -> { NAME = { count, kept, improved } }, summed over the runs.
function measures.operators(entry)
  local sums = {}
  for _, record in ipairs(entry.records) do
    for name, counts in pairs(record.operators or {}) do
      local sum = sums[name] or { count = 0, kept = 0, improved = 0 }
      for key in pairs(sum) do sum[key] = sum[key] + (counts[key] or 0) end
      sums[name] = sum
    end
  end
  return sums
end

return measures
