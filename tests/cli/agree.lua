-- Compares a project's report with its journal: every number of the page is worked out again from the lines that
-- `apsis log --json` prints. apsis exec agree.lua PAGE.html REPORT.json LOG.jsonl LOG.txt; prints what differs.
local direction = require "apsis.direction"
local json = require "apsis.json"

local function read(path)
  local file <close> = assert(io.open(path, "rb"))
  return file:read "a"
end

local page, data = read(arg[1]), json.decode(read(arg[2]), true)
local lines, by_id = {}, {}
for text in read(arg[3]):gmatch "[^\n]+" do
  local line = json.decode(text, true)
  lines[#lines + 1] = line
  if line.candidate then by_id[line.candidate] = line end
end

local function differ(what, got, want)
  if got ~= want then print(("%s: the report has %s, the log %s"):format(what, tostring(got), tostring(want))) end
end

local function same(what, got, want) differ(what, json.encode(got, { sorted = true }), json.encode(want, { sorted = true })) end

local function near(what, got, want)
  if not got or not want or math.abs(got - want) > 1e-9 * math.max(1, math.abs(want)) then differ(what, got, want) end
end

local inside = assert(page:match '<script[^>]*type="application/json"[^>]*>(.-)</script>')
same("the page's own data", json.decode(inside), json.decode(read(arg[2])))

-- The baseline that counts, and the first line that is compared with it.
local baseline, began, led = nil, 1, nil -- led: the best is a baseline
for at, line in ipairs(lines) do
  if line.outcome == "baseline" and (line.primary_metric or not baseline) then
    local other = baseline and (baseline.tree ~= line.tree or baseline.metric ~= line.metric or baseline.direction ~= line.direction)
    if other or baseline and baseline.primary_metric and led then began = at end
    if other or led ~= false then led = true end
    baseline = line
  elseif line.outcome == "kept" then led = false end
end
local metric = direction.new { name = baseline.metric, direction = baseline.direction }
differ("metric", data.metric, baseline.metric)
differ("direction", data.direction, baseline.direction)
differ("baseline", data.baseline.id, baseline.candidate)
differ("began", data.began, began - 1)

-- What a candidate counts for now: the median of all its samples, those of later lines too.
local more = {}
for at, line in ipairs(lines) do
  for _, entry in ipairs(line.trace or {}) do
    if entry.value and entry.id ~= line.candidate then
      more[entry.id] = more[entry.id] or {}
      table.insert(more[entry.id], entry.value)
    end
  end
  lines[line] = at
end
local function value_of(id)
  local line = by_id[id]
  local all = table.move(line.samples or {}, 1, #(line.samples or {}), 1, {})
  table.move(more[id] or {}, 1, #(more[id] or {}), #all + 1, all)
  table.sort(all)
  local middle = #all // 2
  if #all == 0 then return nil end
  return #all % 2 == 1 and all[middle + 1] or (all[middle] + all[middle + 1]) / 2
end
near("baseline's value", data.baseline.value, value_of(baseline.candidate))
near("best's value", data.best.value, value_of(data.best.id))
near("gained", data.gained, data.best.value - data.baseline.value)

-- Columns and counts.
local counts, kept, totals, strategies, operators = {}, 0, { tokens = 0, usd = 0, minutes = 0 }, {}, {}
for at, line in ipairs(lines) do
  local columns = data.columns
  local function column(name, want) differ(("line %d, %s"):format(at, name), columns[name][at], want == nil and json.null or want) end
  column("number", line.experiment)
  differ(("line %d, value"):format(at), columns.value[at] ~= json.null and columns.value[at] or nil, line.primary_metric)
  differ(("line %d, best"):format(at), columns.best[at] ~= json.null and columns.best[at] or nil, line.best)
  differ(("line %d, outcome"):format(at), data.outcomes[columns.outcome[at] + 1].name, line.outcome)
  for index, id in ipairs(line.parents) do differ("parent", ("c%04d"):format(columns.parents[at][index]), id) end
  counts[line.outcome] = (counts[line.outcome] or 0) + 1
  if line.outcome == "kept" then kept = kept + 1 end
  totals.tokens, totals.usd = totals.tokens + (line.tokens or 0), totals.usd + (line.cost or 0)
  totals.minutes = totals.minutes + (line.seconds or 0) / 60
  if line.outcome ~= "baseline" and line.strategy and not strategies[line.strategy] then
    strategies[line.strategy], strategies[#strategies + 1] = true, line.strategy
  end
  if line.candidate and line.outcome ~= "baseline" and line.operator then
    local one = operators[line.operator] or { 0, 0, 0 }
    operators[line.operator] = one
    one[1] = one[1] + 1
    if line.outcome == "kept" then one[2], one[3] = one[2] + 1, one[3] + (line.improved and 1 or 0) end
  end
end
differ("lines", #data.columns.number, #lines)
differ("experiments", data.experiments, #lines - (counts.baseline or 0))
differ("kept", data.kept, kept)
same("strategies", data.strategies, json.array(table.move(strategies, 1, #strategies, 1, {})))
for _, one in ipairs(data.outcomes) do
  differ("outcome " .. one.name, one.count, counts[one.name])
  counts[one.name] = nil
end
differ("an outcome that is not told of", next(counts), nil)
for _, one in ipairs(data.operators) do
  same("operator " .. one.name, { one.count, one.kept, one.improved }, operators[one.name] or {})
  operators[one.name] = nil
end
differ("an operator that is not told of", next(operators), nil)
for name, total in pairs(totals) do
  near("total " .. name, data.totals[name], total)
  near("spent " .. name, data.spend[name][#data.spend[name]], total)
end
for name, end_of in pairs { low = true, high = true } do
  local found = false
  for at = began, #lines do -- what the best counts for may be of several measurements, under noise
    found = found or lines[at].primary_metric == data.axis[name] or lines[at].best == data.axis[name]
  end
  differ("axis " .. name .. " is a value", found, end_of)
end
differ("lineage", #data.lineage.point + #data.lineage.mark, data.lineage.total)

-- The tables.
local whole = { baseline = true, kept = true, reverted_worse_metric = true, reverted_rejected = true }
local function check(rows, may, most, first)
  local shown, candidates = {}, 0
  for rank, row in ipairs(rows) do
    local line, place = by_id[row.id], ("row %d, %s"):format(rank, row.id)
    near(place .. ", value", row.value, value_of(row.id))
    differ(place .. ", outcome", row.outcome, line.outcome)
    differ(place .. ", lines", row.lines, line.changed_lines)
    differ(place .. ", operator", row.operator, line.operator)
    same(place .. ", parents", row.parents, line.parents)
    if first then near(place .. ", gained", row.gained, row.value - data.baseline.value) end
    if rank > (first and 2 or 1) then differ(place .. " is in order", metric:better(row.value, rows[rank - 1].value), false) end
    differ(place .. " is there once", shown[row.id], nil)
    shown[row.id] = true
  end
  for id, line in pairs(by_id) do
    if lines[line] >= began and may(line) and value_of(id) then
      candidates = candidates + 1
      if not shown[id] then differ(id .. " beats the last row", metric:better(value_of(id), rows[#rows].value), false) end
    end
  end
  differ("rows", #rows, math.min(most, candidates))
end
local function is_kept(line) return line.outcome == "kept" or line.outcome == "baseline" end
check(data.top, function(line) return whole[line.outcome] and (not data.judged or is_kept(line)) end, 20, true)
check(data.rejected, function(line) return data.judged and whole[line.outcome] and not is_kept(line) end, 10)
differ("the best is in the first row", data.top[1].id, data.best.id)
differ("a kept one is better than the best", not data.judged and #data.top > 1 and is_kept(by_id[data.top[2].id])
  and metric:better(data.top[2].value, data.best.value + metric.sign * tonumber(arg[5] or 0)) or false, false)
for _, cell in ipairs(data.grid and data.grid.cells or {}) do near("cell " .. cell.id, cell.value, by_id[cell.id].primary_metric) end

-- The table that `apsis log` prints has the same values.
local at = 0
for row in read(arg[4]):gmatch "\n([^\n]+)" do
  local number, id, outcome, value = row:match "^ *(%d+)  +(%S+)  +(%S+)  +(%S+)"
  if number then
    at = at + 1
    local line = lines[at]
    same("apsis log " .. number, { number, id, outcome, value }, { tostring(line.experiment), line.candidate or "-", line.outcome,
      line.primary_metric and ("%.10g"):format(line.primary_metric) or "-" })
  end
end
differ("rows of apsis log", at, #lines)
