-- lab_table: what a campaign found, for people: for each world a table of the strategies, the best first, what is worth
-- knowing of their runs, and the pairs in which one is better. Numbers are rounded here and only here. Called by lab.
local direction = require "apsis.direction"
local layout = require "apsis.lab.layout"
local notes = require "apsis.lab.notes"
local standings = require "apsis.lab.standings"

local report = { legend = notes.legend, ranked = standings.ranked }

local MOST_PAIRS = 10 -- of a world; of more only those with its best strategy

local say, percent = layout.say, notes.percent

-- Four significant digits or fewer, without an exponent if possible.
local function short(value, digits)
  if not value then return "-" end
  digits = digits or 4
  local size = math.abs(value)
  if size >= 10 ^ digits and size < 1e9 then return ("%.0f"):format(value) end
  return (("%%.%dg"):format(digits)):format(value)
end

local function ert_text(row)
  if row.unsuccessful == 0 then return short(row.ert) end
  return ("%s (%d of %d not)"):format(short(row.ert), row.unsuccessful, row.runs)
end

-- The columns of a world's table, and which of them a narrow terminal may do without, the first one first.
local function columns_of(rows)
  local list = { { "strategy", function(row) return row.strategy end, left = true, name = true },
    { "best [quartiles]", function(row) return ("%s [%s..%s]"):format(short(row.median), short(row.q1, 3),
      short(row.q3, 3)) end } }
  local any = {}
  for _, row in ipairs(rows) do
    any.target = any.target or row.success_rate ~= nil
    any.noise = any.noise or row.false_keeps ~= nil
  end
  if any.target then
    list[#list + 1] = { "solved", function(row) return percent(row.success_rate) end }
    list[#list + 1] = { "ERT", ert_text, spare = 3 }
  end
  list[#list + 1] = { "AUC", function(row) return short(row.auc) end, spare = 1 }
  list[#list + 1] = { "kept", function(row) return percent(row.kept_ratio) end, spare = 2 }
  if any.noise then list[#list + 1] = { "false", function(row) return short(row.false_keeps) end } end
  return list
end

local function title_of(world, rows)
  local row, module = rows[1], world.module
  local metric = direction.new { direction = row.direction }
  local solved = row.target and (", solved at %.10g"):format(row.target) or row.success_rate
    and ", each seed with its own target" or ""
  return ("%s: %s, %s%s"):format(world.label, module.metric or world.name, metric:words(), solved)
end

local names = { best = "best", auc = "AUC" }

-- A number with this many decimal places; never -0.
local function fixed(value, places)
  local text = ("%." .. places .. "f"):format(value)
  return tonumber(text) == 0 and text:gsub("^%-", "") or text
end

-- A difference and its interval, all to the place that counts: three digits of the larger of it and the interval's
-- width.
local function interval(difference, low, high)
  if not low then return short(difference, 3) end
  local size = math.max(math.abs(difference), high - low)
  local places = size > 0 and math.max(0, math.min(12, 2 - math.floor(math.log(size, 10)))) or 0
  return ("%s [%s..%s]"):format(fixed(difference, places), fixed(low, places), fixed(high, places))
end

local pair_columns = {
  { "strategy", function(c) return c.a end, left = true, name = true },
  { "against", function(c) return c.b end, left = true, name = true },
  { "of", function(c) return names[c.measure] or c.measure end, left = true },
  { "mean gain [95% interval]", function(c)
    return c.difference and interval(c.difference, c.low, c.high) or "-"
  end },
  { "p", function(c)
    if not c.p_holm then return "-" end
    return c.p_holm < 0.0001 and "<0.0001" or ("%.4f"):format(c.p_holm)
  end, spare = 1 },
  { "verdict", function(c) return c.verdict == "better" and "better" or "not shown" end, left = true },
}

-- Pairs that the medians of the table order the other way than the mean of the differences.
local function say_turns(list, rows)
  local found, turns = {}, {}
  local metric = direction.new { direction = rows[1].direction }
  for _, row in ipairs(rows) do found[row.strategy] = row end
  for _, pair in ipairs(list) do
    local field = pair.measure == "auc" and "auc" or "median"
    local first, second = found[pair.a][field], found[pair.b][field]
    if first and second and pair.difference and pair.difference > 0 and metric:better(second, first) then
      turns[#turns + 1] = ("%s against %s (%s)"):format(pair.a, pair.b, names[pair.measure] or pair.measure)
    end
  end
  if #turns > 0 then
    say("the medians above are the other way round than the mean gain: " .. table.concat(turns, ", "), "    ")
  end
end

local function print_pairs(found, world, rows, missing)
  local all, list = standings.pairs(found.comparisons, world.label, rows), {}
  for _, pair in ipairs(all) do
    if #all <= 2 * MOST_PAIRS or pair.upper == 1 then list[#list + 1] = pair.shown end
  end
  if #list == 0 then return end
  print ""
  layout.print(pair_columns, list, missing)
  say_turns(list, rows)
  if #all > #list then
    say(("%d comparisons without %s are left out here; --json has them"):format(#all - #list, rows[1].strategy), "    ")
  end
end

-- What a phase is of: its seeds, how many of those wanted, and whom a setting without a strategy's name has reached.
local function print_head(plan, found, before)
  local some = found.seeds < plan.seeds
  say(("%s%d %sseed%s from %d, at most %d evaluations in a run%s"):format(before, found.seeds,
    some and ("of %d "):format(plan.seeds) or "", plan.seeds == 1 and "" or "s", found.first_seed, plan.evaluations,
    some and (found.interrupted and "; interrupted" or "; stopped by an error") or ""), "")
  if found.first_seed == plan.first_seed then
    for _, text in ipairs(plan.reached) do say(text, "") end
  end
  print ""
end

-- The tables of a phase: { matrix, rows, comparisons, seeds, first_seed }, world by world. The heads of columns that
-- there is no room for are marked in the set `missing`.
function report.print(plan, found, missing)
  print_head(plan, found, "")
  for _, world in ipairs(plan.worlds) do
    local rows = {}
    for _, row in ipairs(found.rows) do
      if row.world == world.label then rows[#rows + 1] = row end
    end
    rows = standings.ranked(rows)
    say(title_of(world, rows), "")
    print ""
    layout.print(columns_of(rows), rows, missing)
    notes.print(found, world, plan)
    print_pairs(found, world, rows, missing)
    print ""
  end
end

-- How many others a strategy was shown to be better and worse than on a world, by the final best: "+2 -1".
local function standing(found, world, strategy)
  local count = { better = 0, worse = 0 }
  for _, comparison in ipairs(found.comparisons) do
    if comparison.world == world and comparison.measure == "best" then
      local shown = standings.turned(comparison)
      if shown.verdict == "better" and shown.a == strategy then count.better = count.better + 1 end
      if shown.verdict == "better" and shown.b == strategy then count.worse = count.worse + 1 end
    end
  end
  return (count.better > 0 and " +" .. count.better or "") .. (count.worse > 0 and " -" .. count.worse or "")
end

-- The labels of a phase's strategies, in order.
local function strategies_of(found)
  local list, seen = {}, {}
  for _, row in ipairs(found.rows) do
    if not seen[row.strategy] then seen[row.strategy], list[#list + 1] = true, row.strategy end
  end
  return list
end

-- The lines of the overview, { world = text, cells = { [strategy] = text } }; and whether some strategy stands out.
local function overview_lines(plan, found)
  local lines, any = {}, false
  for index, world in ipairs(plan.worlds) do
    local cells = {}
    for _, row in ipairs(found.rows) do
      if row.world == world.label then
        local stands = standing(found, row.world, row.strategy)
        cells[row.strategy], any = short(row.median) .. stands, any or stands ~= ""
      end
    end
    lines[index] = { world = world.label .. (world.module.direction == "lower" and " lower" or ""), cells = cells }
  end
  return lines, any
end

-- A column for each strategy; if a terminal is too narrow for that, a line for each.
local function print_lines(lines, strategies)
  local columns = { { "world", function(line) return line.world end, left = true, name = true } }
  for index, label in ipairs(strategies) do
    columns[index + 1] = { label, function(line) return line.cells[label] end, left = true }
  end
  if layout.fits(columns, lines) then return layout.print(columns, lines, {}) end
  local list = {}
  for _, line in ipairs(lines) do
    for _, label in ipairs(strategies) do list[#list + 1] = { line.world, label, line.cells[label] } end
  end
  layout.print({ { "world", function(one) return one[1] end, left = true, name = true },
    { "strategy", function(one) return one[2] end, left = true }, { "best", function(one) return one[3] end,
      left = true } }, list, {})
end

-- A line for each world: what each strategy's median final best is, and how it stands.
function report.overview(plan, found)
  print_head(plan, found, "Median final best, ")
  local lines, stands = overview_lines(plan, found)
  print_lines(lines, strategies_of(found))
  notes.overview(found, plan)
  print ""
  local text = {}
  if stands then
    text[1] = "+2 -1: shown to be better than two of the others and worse than one (paired by seed; rank test, "
      .. "corrected for all pairs); a value without either: no difference shown."
  elseif #found.comparisons > 0 then
    text[1], text[2] = "No difference between any two is shown.", notes.too_few(found)
  end
  for _, world in ipairs(plan.worlds) do
    if world.module.direction == "lower" then
      text[#text + 1] = "lower: the lower the better there."
      break
    end
  end
  if #text > 0 then say(table.concat(text, " "), "") end
end

return report
