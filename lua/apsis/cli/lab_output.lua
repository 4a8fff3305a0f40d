-- lab_output: what a campaign found, for programs: CSV (a line per trial), JSON, and the data of the HTML page. Numbers are
-- exact here. Knows no terminal. Called by lab.
local json = require "apsis.json"
local measures = require "apsis.lab.measures"

local output = {}

local POINTS = 100 -- of a curve in the page

local columns = { "strategy", "world", "seed", "best", "observed", "hit", "evaluations", "kept", "false_keeps", "seconds", "tokens",
  "cost", "reason" }

local function csv_cell(value)
  if value == nil then return "" end
  local text = type(value) == "string" and value or json.encode(value)
  return text:find '[",\r\n]' and '"' .. text:gsub('"', '""') .. '"' or text
end

-- A line per trial of each phase, after a line of names; a value that there is not is empty.
function output.csv(phases)
  local lines = { table.concat(columns, ",") }
  for _, phase in ipairs(phases) do
    for _, entry in ipairs(phase.matrix) do
      for _, record in ipairs(entry.records) do
        local cells = { csv_cell(entry.strategy), csv_cell(entry.world) }
        for index = 3, #columns do cells[index] = csv_cell(record[columns[index]]) end
        lines[#lines + 1] = table.concat(cells, ",")
      end
    end
  end
  return table.concat(lines, "\n") .. "\n"
end

local always = { "target", "ert", "median", "q1", "q3", "auc", "success_rate", "kept_ratio", "false_keeps" }

-- A row in which what there is not stands as null.
local function with_nulls(row)
  local copy = {}
  for key, value in pairs(row) do copy[key] = value end
  for _, key in ipairs(always) do
    if copy[key] == nil then copy[key] = json.null end
  end
  return copy
end

local function rows_of(rows)
  local list = json.array {}
  for index, row in ipairs(rows) do list[index] = with_nulls(row) end
  return list
end

local function fresh_of(plan, fresh)
  if not fresh then return nil end
  return { first_seed = fresh.first_seed, seeds = fresh.seeds, winners = json.array(fresh.winners), results = rows_of(fresh.rows),
    comparisons = json.array(fresh.comparisons), wanted = fresh.seeds < plan.seeds and plan.seeds or nil }
end

function output.json(plan, found, fresh)
  return json.encode { command = plan.command, first_seed = plan.first_seed, seeds = found.seeds,
    evaluations = plan.evaluations, wanted = found.seeds < plan.seeds and plan.seeds or nil, results = rows_of(found.rows),
    comparisons = json.array(found.comparisons), fresh = fresh_of(plan, fresh) } .. "\n"
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

-- What apsis.report.page draws.
function output.page(plan, found, fresh)
  local curves, ecdf, operators = json.array {}, json.array {}, json.array {}
  for _, entry in ipairs(found.matrix) do
    curves[#curves + 1] = labelled(entry, measures.curves(entry, plan.evaluations, POINTS))
    local runtimes = measures.ecdf(entry, plan.evaluations) -- nil where there was no target
    ecdf[#ecdf + 1] = runtimes and labelled(entry, runtimes)
    operators[#operators + 1] = labelled(entry, { operators = measures.operators(entry) })
  end
  return { title = "apsis lab", command = plan.command, evaluations = plan.evaluations, first_seed = plan.first_seed,
    seeds = found.seeds, results = found.rows, comparisons = found.comparisons, curves = curves, ecdf = ecdf,
    operators = operators, islands = occupancy(found.matrix, "islands", island_lists), cells = occupancy(found.matrix, "cells", as_points),
    fresh = fresh and { first_seed = fresh.first_seed, seeds = fresh.seeds, winners = fresh.winners, results = fresh.rows,
      comparisons = fresh.comparisons } or nil }
end

return output
