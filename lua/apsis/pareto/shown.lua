-- shown: the front as commands show it: in status, best, at the end of a run, and as a picture in the report. Called by
-- room; writes nothing.
local branches = require "apsis.live.branch"
local front = require "apsis.pareto.front"
local json = require "apsis.json"
local show = require "apsis.cli.table"

local shown = {}

local MOST <const> = 8 -- members in status
local POINTS <const> = 4000 -- candidates in the picture

-- The front of a reader or session, its members from the best to the worst of the first metric.
local function open(owner)
  local made = front.new(owner, owner.manifest.metric.pareto)
  local list = {}
  for index, record in ipairs(made:records()) do
    list[index] = { value = record.metrics[made.metrics[1].name], record = record }
  end
  made.metrics[1]:sort(list)
  for index, one in ipairs(list) do list[index] = one.record end
  return made, list
end

-- Whether the journal's values are of the manifest's metric: it may be of the time before.
local function is_current(owner)
  return (owner.history.baseline or {}).value ~= nil and owner.history.metric.name == owner.manifest.metric.name
end

local function of_parts(made, record)
  local values = {}
  for index, metric in ipairs(made.metrics) do
    values[index] = show.number(record.metrics[metric.name], made.parts[index].unit)
  end
  return values
end

local function values_text(made, record)
  local texts = of_parts(made, record)
  for index, metric in ipairs(made.metrics) do texts[index] = metric.name .. " " .. texts[index] end
  return table.concat(texts, ", ")
end

local function candidates(count) return ("%d candidate%s"):format(count, count == 1 and "" or "s") end

-- ---- status ----

-- As JSON: { candidate, commit, branch, metrics } each.
function shown.members(owner)
  if not is_current(owner) then return json.array {} end
  local made, list = open(owner)
  for index, record in ipairs(list) do
    local metrics = {}
    for _, metric in ipairs(made.metrics) do metrics[metric.name] = record.metrics[metric.name] end
    list[index] = { candidate = record.id, commit = record.commit, metrics = metrics,
      branch = branches.of(owner.manifest, record) }
  end
  return json.array(list)
end

-- Adds the front below the best to rows { label, text }, and the metrics to the project.
function shown.add_rows(reader, rows)
  if not is_current(reader) then return end
  local made, list = open(reader)
  local at, metrics = #rows, {}
  for index, metric in ipairs(made.metrics) do metrics[index] = ("%s, %s"):format(metric.name, metric:words()) end
  table.insert(rows, 2, { "metrics", table.concat(metrics, "; ") })
  for place, row in ipairs(rows) do if row[1] == "best" then at = place end end
  table.insert(rows, at + 1, { "front", ("%s, each on its branch below %s"):format(candidates(#list),
    reader.manifest.branch) })
  for place = 1, math.min(MOST, #list) do
    table.insert(rows, at + 1 + place, { "  " .. list[place].id, values_text(made, list[place]) })
  end
  if #list > MOST then
    table.insert(rows, at + 2 + MOST, { "  ...", ("%d more: apsis best"):format(#list - MOST) })
  end
end

-- ---- best and the end of a run ----

function shown.print(reader, at)
  local made, list = open(reader)
  local history, metric = reader.history, reader.metric
  local best, baseline = history.best, history.baseline
  print(show.wrap(("front: %s; %s %s%s"):format(candidates(#list), metric.name, show.number(best.value),
    best.id ~= baseline.id and ", " .. metric:against_text(best.value, baseline.value, nil, "baseline") or ""),
    show.width(), ""))
  local head, right, rows = { "candidate" }, { false }, {}
  for index, one in ipairs(made.metrics) do
    head[index + 1], right[index + 1] = show.line(one.name, 20), true
  end
  head[#head + 1] = "branch"
  for place, record in ipairs(list) do
    rows[place] = of_parts(made, record)
    table.insert(rows[place], 1, record.id)
    table.insert(rows[place], branches.of(reader.manifest, record))
  end
  for _, text in ipairs(show.columns(head, rows, right, (show.width()))) do print(text) end
  local newest = best.outcome ~= "baseline" and best or list[1]
  if newest.outcome == "baseline" then return end
  print(("to take one of them:\n  apsis apply %s%s\n  git diff HEAD %s\n  git merge %s"):format(newest.id, at,
    newest.commit, branches.of(reader.manifest, newest)))
end

-- One line at the end of a run.
function shown.text(session)
  local owner = { history = session.engine.history, manifest = session.manifest }
  local made, list = open(owner)
  local texts = {}
  for place = 1, math.min(3, #list) do
    texts[place] = ("%s (%s)"):format(list[place].id, values_text(made, list[place]))
  end
  return ("front: %s: %s%s"):format(candidates(#list), table.concat(texts, "; "), #list > 3 and "; ..." or "")
end

-- ---- the report ----

function shown.fact(reader)
  if not is_current(reader) then return nil end
  local _, list = open(reader)
  return { label = "on the front", value = ("%d"):format(#list), detail = "candidates that no other beats in every "
    .. "metric" }
end

local read = { experiment = true, candidate = true, outcome = true, primary_metric = true, secondary_metrics = true }

-- The candidates since the baseline that counts, as points: members of the front, kept ones that left it, rejected.
local function points(reader, made, list, x, y)
  local groups, on_front = { front = {}, left = {}, rejected = {} }, {}
  for _, record in ipairs(list) do on_front[record.id] = true end
  local history = reader.history
  local every = math.max(1, (history.count - history.began + 1) // POINTS)
  history:each(function(line, at)
    local metrics = line.secondary_metrics or {}
    local value, other = metrics[made.metrics[x].name], metrics[made.metrics[y].name]
    if at < history.began or not line.candidate or not value or not other or not line.primary_metric then return end
    local kept = line.outcome == "kept" or line.outcome == "baseline"
    local group = on_front[line.candidate] and "front" or kept and "left" or at % every == 0 and "rejected"
    if group then table.insert(groups[group], { x = value, y = other, id = line.candidate, value = value }) end
  end, read)
  made.metrics[x]:sort(groups.front)
  for _, group in pairs(groups) do
    for _, point in ipairs(group) do point.value = nil end
    json.array(group)
  end
  return groups
end

local function label(made, index)
  local unit = made.parts[index].unit
  return ("%s%s, %s"):format(made.metrics[index].name, unit and unit ~= "" and " in " .. unit or "",
    made.metrics[index]:words())
end

-- Pictures of the first metric against each other one: { title, x, y, steps, front, left, rejected } each.
function shown.figures(reader)
  if not is_current(reader) then return {} end
  local made, list = open(reader)
  local figures = {}
  for other = 2, #made.metrics do
    local figure = points(reader, made, list, 1, other)
    figure.title = ("The front: %s and %s"):format(made.metrics[1].name, made.metrics[other].name)
    figure.x, figure.y = label(made, 1), label(made, other)
    figure.steps = #made.metrics == 2 or nil -- from member to member, if these two are all there are
    figures[#figures + 1] = figure
  end
  return figures
end

return shown
