-- lab_table: what a campaign found, for people: for each world a table of the strategies, the best first, what is worth knowing of
-- their runs, and the pairs in which one is better. Numbers are rounded here and only here. Called by lab.
local direction = require "apsis.direction"
local show = require "apsis.cli.table"

local report = {}

local MOST_PAIRS = 10 -- of a world; of more only those with its best strategy
local LEVEL = 0.05
local WIDTH = 80 -- of prose where there is no terminal

-- Four digits that count, or fewer, without an exponent where it can be.
local function short(value, digits)
  if not value then return "-" end
  digits = digits or 4
  local size = math.abs(value)
  if size >= 10 ^ digits and size < 1e9 then return ("%.0f"):format(value) end
  return (("%%.%dg"):format(digits)):format(value)
end

local function percent(share)
  if not share then return "-" end
  local text = ("%.0f%%"):format(100 * share)
  if share > 0 and text == "0%" then return "<1%" end -- none is none, and all is all
  return share < 1 and text == "100%" and ">99%" or text
end

local function ert_text(row)
  if row.unsuccessful == 0 then return short(row.ert) end
  return ("%s (%d of %d not)"):format(short(row.ert), row.unsuccessful, row.runs)
end

-- The columns of a world's table, and which of them a narrow terminal may do without, the first one first.
local function columns_of(rows)
  local list = { { "strategy", function(row) return row.strategy end, left = true },
    { "best [quartiles]", function(row) return ("%s [%s..%s]"):format(short(row.median), short(row.q1, 3), short(row.q3, 3)) end } }
  local any = {}
  for _, row in ipairs(rows) do
    any.target = any.target or row.success_rate ~= nil
    any.noise = any.noise or row.false_keeps ~= nil
  end
  if any.target then
    list[#list + 1] = { "solved", function(row) return percent(row.success_rate) end }
    list[#list + 1] = { "ERT", ert_text }
  end
  list[#list + 1] = { "AUC", function(row) return short(row.auc) end, spare = 1 }
  list[#list + 1] = { "kept", function(row) return percent(row.kept_ratio) end, spare = 2 }
  if any.noise then list[#list + 1] = { "false", function(row) return short(row.false_keeps) end } end
  return list
end

local function lines_of(columns, rows)
  local head, right, cells = {}, {}, {}
  for index, column in ipairs(columns) do head[index], right[index] = column[1], not column.left end
  for place, row in ipairs(rows) do
    cells[place] = {}
    for index, column in ipairs(columns) do cells[place][index] = column[2](row) end
  end
  return show.columns(head, cells, right)
end

local function widest(lines)
  local width = 0
  for _, line in ipairs(lines) do width = math.max(width, utf8.len(line) or #line) end
  return width
end

-- Lines of columns; where a terminal is too narrow for all, without the spare ones.
local function fitted(columns, rows)
  local lines, room = lines_of(columns, rows), show.width()
  for spare = 1, 2 do
    if not room or widest(lines) + 2 <= room then break end
    for index = #columns, 1, -1 do
      if columns[index].spare == spare then table.remove(columns, index) end
    end
    lines = lines_of(columns, rows)
  end
  return lines
end

local function say(text, indent)
  indent = indent or "  "
  print(indent .. show.wrap(text, (show.width() or WIDTH) - #indent, indent))
end

-- Rows with the best median first; of equal ones the one that is sooner solved.
function report.ranked(rows)
  local list = {}
  for index, row in ipairs(rows) do list[index] = { value = row.median, ert = row.ert or math.huge, row = row, index = index } end
  table.sort(list, function(a, b)
    if a.ert ~= b.ert then return a.ert < b.ert end
    return a.index < b.index
  end)
  local metric = direction.new { direction = rows[1] and rows[1].direction }
  metric:sort(list)
  for index, element in ipairs(list) do list[index] = element.row end
  return list
end

local function title_of(world, rows)
  local row, module = rows[1], world.module
  local metric = direction.new { direction = row.direction }
  local solved = row.target and (", solved at %.10g"):format(row.target) or row.success_rate and ", each seed with its own target" or ""
  return ("%s: %s, %s%s"):format(world.label, module.metric or world.name, metric:words(), solved)
end

-- How many runs of an entry their own strategy ended without the target, what these left, and why the first did.
local function early_ends(entry, evaluations)
  local count, left, reason = 0, 0, nil
  for _, record in ipairs(entry.records) do
    if not record.hit and record.evaluations < evaluations and not record.reason:find "^budget: [im][te][ea][rs]" then
      count, left, reason = count + 1, left + 1 - record.evaluations / evaluations, reason or record.reason
    end
  end
  if count == 0 then return nil end
  return ("%s: %d of %d ended early, %s unspent (%s)"):format(entry.strategy, count, #entry.records,
    percent(left / count), show.line(reason))
end

local function faults(entry)
  local count, runs = 0, 0
  for _, record in ipairs(entry.records) do
    local failed = record.outcomes and record.outcomes.skipped_strategy_error or 0
    count, runs = count + failed, runs + (failed > 0 and 1 or 0)
  end
  if count > 0 then return ("%s: raised in %d experiments of %d runs (skipped_strategy_error)"):format(entry.strategy, count, runs) end
end

local function notes(found, world, plan)
  for _, entry in ipairs(found.matrix) do
    if entry.world == world.label then
      for _, text in ipairs { early_ends(entry, plan.evaluations) or false, faults(entry) or false } do
        if text then say(text, "    ") end
      end
    end
  end
end

local names = { best = "best", auc = "AUC" }

-- A comparison so that the one that is better, or leads, stands first.
local function turned(comparison)
  local difference = comparison.difference
  if not difference or difference >= 0 and comparison.verdict ~= "worse" then return comparison end
  local verdicts = { better = "worse", worse = "better" }
  return { a = comparison.b, b = comparison.a, measure = comparison.measure, difference = -difference,
    low = comparison.high and -comparison.high, high = comparison.low and -comparison.low,
    p_holm = comparison.p_holm, verdict = verdicts[comparison.verdict] or comparison.verdict }
end

-- A difference and its interval, all to the place that counts: three digits of the larger of it and the interval's width.
local function interval(difference, low, high)
  if not low then return short(difference, 3) end
  local size = math.max(math.abs(difference), high - low)
  local places = size > 0 and math.max(0, math.min(12, 2 - math.floor(math.log(size, 10)))) or 0
  local number = "%." .. places .. "f"
  return (number .. " [" .. number .. ".." .. number .. "]"):format(difference, low, high)
end

local pair_columns = {
  { "strategy", function(c) return c.a end, left = true },
  { "against", function(c) return c.b end, left = true },
  { "of", function(c) return names[c.measure] or c.measure end, left = true },
  { "gain [95% interval]", function(c)
    return c.difference and interval(c.difference, c.low, c.high) or "-"
  end },
  { "p", function(c)
    if not c.p_holm then return "-" end
    return c.p_holm < 0.0001 and "<0.0001" or ("%.4f"):format(c.p_holm)
  end, spare = 1 },
  { "shown", function(c) return c.verdict == "better" and "better" or "no difference" end, left = true },
}

-- The comparisons on a world in the order of its ranked rows.
local function pairs_on(found, world, rows)
  local list, rank = {}, {}
  for place, row in ipairs(rows) do rank[row.strategy] = place end
  for index, comparison in ipairs(found.comparisons) do
    if comparison.world == world.label then
      local first, second = rank[comparison.a], rank[comparison.b]
      list[#list + 1] = { shown = turned(comparison), upper = math.min(first, second), lower = math.max(first, second), index = index }
    end
  end
  table.sort(list, function(a, b)
    if a.upper ~= b.upper then return a.upper < b.upper end
    if a.lower ~= b.lower then return a.lower < b.lower end
    return a.index < b.index
  end)
  return list
end

local function print_pairs(found, world, rows)
  local all, list = pairs_on(found, world, rows), {}
  for _, pair in ipairs(all) do
    if #all <= 2 * MOST_PAIRS or pair.upper == 1 then list[#list + 1] = pair.shown end
  end
  if #list == 0 then return end
  print ""
  for _, line in ipairs(fitted({ table.unpack(pair_columns) }, list)) do print("  " .. line) end
  if #all > #list then
    say(("%d comparisons without %s are left out here; --json has them"):format(#all - #list, rows[1].strategy), "    ")
  end
end

-- The tables of a phase: { matrix, rows, comparisons, seeds, first_seed }, world by world.
function report.print(plan, found)
  say(("%d seed%s from %d, at most %d evaluations in a run"):format(found.seeds, found.seeds == 1 and "" or "s", found.first_seed,
    plan.evaluations), "")
  print ""
  for _, world in ipairs(plan.worlds) do
    local rows = {}
    for _, row in ipairs(found.rows) do
      if row.world == world.label then rows[#rows + 1] = row end
    end
    rows = report.ranked(rows)
    say(title_of(world, rows), "")
    print ""
    for _, line in ipairs(fitted(columns_of(rows), rows)) do print("  " .. line) end
    notes(found, world, plan)
    print_pairs(found, world, rows)
    print ""
  end
end

-- How many others a strategy was shown to be better and worse than on a world, by the final best: "+2 -1".
local function standing(found, world, strategy)
  local count = { better = 0, worse = 0 }
  for _, comparison in ipairs(found.comparisons) do
    if comparison.world == world.label and comparison.measure == "best" then
      local shown = turned(comparison)
      if shown.verdict == "better" and shown.a == strategy then count.better = count.better + 1 end
      if shown.verdict == "better" and shown.b == strategy then count.worse = count.worse + 1 end
    end
  end
  return (count.better > 0 and " +" .. count.better or "") .. (count.worse > 0 and " -" .. count.worse or "")
end

-- A line for each world: what each strategy's median final best is, and how it stands.
function report.overview(plan, found)
  local columns = { { "world", function(line)
    return line.world.label .. (line.world.module.direction == "lower" and " lower" or "")
  end, left = true } }
  for index, strategy in ipairs(plan.strategies) do
    columns[index + 1] = { strategy.label, function(line)
      return short(line.rows[strategy.label].median) .. standing(found, line.world, strategy.label)
    end, left = true }
  end
  local lines = {}
  for index, world in ipairs(plan.worlds) do
    lines[index] = { world = world, rows = {} }
    for _, row in ipairs(found.rows) do
      if row.world == world.label then lines[index].rows[row.strategy] = row end
    end
  end
  say(("Median final best, %d seed%s from %d, at most %d evaluations in a run"):format(found.seeds, found.seeds == 1 and "" or "s",
    found.first_seed, plan.evaluations), "")
  print ""
  for _, line in ipairs(fitted(columns, lines)) do print("  " .. line) end
  print ""
  say("+2 -1: shown to be better than two of the others and worse than one (paired by seed; rank test, corrected for all the pairs); "
    .. "a value alone: no difference shown. lower: the lower the better there.", "")
end

-- What the columns mean, once, at the end.
function report.legend(found)
  local text = "best: the final best's true value, the median over the seeds. ERT: evaluations spent by all runs for each that was "
    .. "solved. AUC: mean best-so-far. kept: of the experiments. ended early: by the strategy's own halt or a limit."
  for _, row in ipairs(found.rows) do
    if row.false_keeps then
      text = text .. " false: kept in a run although not better."
      break
    end
  end
  if #found.comparisons > 0 then
    text = text .. " gain: how much better the first is, the mean of the differences seed by seed, with a bootstrap interval; p: "
      .. "signed-rank test, corrected for all the pairs together (Holm). \"better\" stands only where both show it."
    local needed = math.ceil(1 + math.log(#found.comparisons / LEVEL, 2)) -- all differences alike: p is 2 / 2^seeds
    if found.seeds < needed then
      text = text .. (" With fewer than %d seeds nothing can be shown for so many pairs."):format(needed)
    end
  end
  say(text, "")
end

return report
