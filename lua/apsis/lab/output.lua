-- lab_output: what a campaign found, for programs: CSV (a line per trial), JSON, and the data of the HTML page. Numbers
-- are exact here. Knows no terminal. Called by lab.
local csv = require "apsis.cli.csv"
local json = require "apsis.json"
local measures = require "apsis.lab.measures"
local runtimes = require "apsis.lab.runtimes"
local standings = require "apsis.lab.standings"
local steps = require "apsis.lab.steps"

local output = {}

local POINTS = 100 -- of a curve over several runs

local columns = { "strategy", "world", "seed", "best", "observed", "hit", "auc", "evaluations", "experiments", "kept",
  "false_keeps", "seconds", "tokens", "cost", "reason", "aocc", "curve" }

-- A run's best so far as text: "1:48 12:50" is 48 from evaluation 1 on and 50 from evaluation 12 on.
local function curve_text(record)
  local parts = {}
  for index, step in ipairs(steps.of(record, math.huge)) do
    parts[index] = ("%d:%s"):format(step[1], csv.cell(step[2]))
  end
  return table.concat(parts, " ")
end

-- A line per trial of each phase, after a line of names; a value that there is not is empty.
function output.csv(phases, plan)
  local lines = { table.concat(columns, ",") }
  for _, phase in ipairs(phases) do
    local groups = runtimes.groups(phase.matrix, plan)
    for _, entry in ipairs(phase.matrix) do
      for _, record in ipairs(entry.records) do
        local cells = { csv.cell(entry.strategy), csv.cell(entry.world) }
        local worked_out = { curve = curve_text(record), auc = steps.area(record, plan.evaluations),
          aocc = (runtimes.aocc(groups[entry.world], record)) }
        for index = 3, #columns do
          cells[index] = csv.cell(worked_out[columns[index]] or record[columns[index]])
        end
        lines[#lines + 1] = table.concat(cells, ",")
      end
    end
  end
  return table.concat(lines, "\n") .. "\n"
end

local always = { "target", "ert", "ert_low", "ert_high", "median", "q1", "q3", "auc", "success_rate", "kept_ratio",
  "false_keeps" }

-- A row in which absent values are null.
local function with_nulls(row)
  local copy = {}
  for key, value in pairs(row) do copy[key] = value end
  for _, key in ipairs(always) do
    if copy[key] == nil then copy[key] = json.null end
  end
  return copy
end

-- A phase's rows, each with its curve.
local function rows_of(phase, plan)
  local list = json.array {}
  for index, row in ipairs(phase.rows) do
    list[index] = with_nulls(row)
    list[index].curve = measures.curves(phase.matrix[index], plan.evaluations, POINTS)
  end
  return list
end

-- What a phase that did not reach its end has of it, for its JSON.
local function with_ending(data, plan, phase)
  if phase.seeds < plan.seeds then
    data.wanted, data.interrupted, data.failure = plan.seeds, phase.interrupted or nil, phase.failure
  end
  return data
end

local function fresh_of(plan, fresh)
  if not fresh then return nil end
  return with_ending({ first_seed = fresh.first_seed, seeds = fresh.seeds, winners = json.array(fresh.winners),
    results = rows_of(fresh, plan), comparisons = json.array(fresh.comparisons),
    overall = json.array(fresh.overall), friedman = fresh.friedman or nil }, plan, fresh)
end

function output.json(plan, found, fresh)
  return json.encode(with_ending({ command = plan.command, first_seed = plan.first_seed, seeds = found.seeds,
    evaluations = plan.evaluations, axis = plan.axis, results = rows_of(found, plan),
    comparisons = json.array(found.comparisons),
    overall = json.array(found.overall), friedman = found.friedman or nil,
    race = found.race, fresh = fresh_of(plan, fresh) }, plan, found)) .. "\n"
end

local function labelled(entry, fields)
  local copy = { strategy = entry.strategy, world = entry.world }
  for key, value in pairs(fields) do copy[key] = value end
  return copy
end

-- Sizes by the islands' names at each point, as lists in the order of the names.
local function island_lists(points)
  local names, seen, lists = {}, {}, {}
  for _, point in ipairs(points) do
    for name in pairs(point[2]) do
      if not seen[name] then seen[name], names[#names + 1] = true, name end
    end
  end
  table.sort(names, function(a, b)
    local x, y = tonumber(a), tonumber(b)
    if x and y then return x < y end
    return tostring(a) < tostring(b)
  end)
  for index, point in ipairs(points) do
    local sizes = {}
    for place, name in ipairs(names) do sizes[place] = point[2][name] or 0 end
    lists[index] = { point[1], sizes }
  end
  return { points = lists, names = names }
end

-- Of the first seed: how many live on each island, or how many cells are taken, over the evaluations.
local function occupancy(matrix, name, shape)
  local list = json.array {}
  for _, entry in ipairs(matrix) do
    local points = entry.records[1] and entry.records[1][name]
    if points then list[#list + 1] = labelled(entry, shape(points)) end
  end
  return list
end

local function as_points(points) return { points = points } end

local function early_ends(matrix, evaluations)
  local list = json.array {}
  for _, entry in ipairs(matrix) do
    local ended = standings.early_ends(entry, evaluations)
    list[#list + 1] = ended and labelled(entry, ended)
  end
  return list
end

-- What a phase shows, before its curves: wanted and stopped are there if fewer seeds are whole than were asked for.
local function phase_of(plan, found)
  local results, comparisons = standings.ordered(found)
  local overall = json.array {}
  for index, verdict in ipairs(found.overall) do overall[index] = standings.turned(verdict) end
  local data = { first_seed = found.first_seed, seeds = found.seeds, results = json.array(results),
    comparisons = json.array(comparisons), overall = overall, ended = early_ends(found.matrix, plan.evaluations),
    friedman = found.friedman or nil }
  if found.seeds < plan.seeds then
    data.wanted, data.stopped = plan.seeds, found.interrupted and "interrupted" or "stopped by an error"
  end
  return data
end

-- What apsis.report.page draws. fresh is nil if there was no sweep, or no fresh seed is whole.
function output.page(plan, found, fresh)
  local curves, ecdf, operators = json.array {}, json.array {}, json.array {}
  for _, entry in ipairs(found.matrix) do
    curves[#curves + 1] = labelled(entry, measures.curves(entry, plan.evaluations, POINTS))
    local solved = measures.ecdf(entry, plan.evaluations) -- nil if there was no target
    ecdf[#ecdf + 1] = solved and labelled(entry, solved)
    operators[#operators + 1] = labelled(entry, { operators = measures.operators(entry) })
  end
  local data, strategies = phase_of(plan, found), json.array {}
  for index, strategy in ipairs(plan.strategies) do strategies[index] = strategy.label end
  data.title, data.command, data.evaluations, data.strategies = "apsis lab", plan.command, plan.evaluations, strategies
  data.against, data.unit = plan.against, runtimes.axes[plan.axis].words
  data.curves, data.ecdf, data.operators = curves, ecdf, operators
  data.islands, data.cells = occupancy(found.matrix, "islands", island_lists), occupancy(found.matrix, "cells",
    as_points)
  if fresh then
    data.fresh = phase_of(plan, fresh)
    data.fresh.winners = fresh.winners
  elseif #plan.grids > 0 then
    data.no_fresh = true
  end
  return data
end

return output
