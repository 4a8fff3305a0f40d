-- lab_table: what a campaign found, for people: for each world a table of the strategies, the best first, what is worth
-- knowing of their runs, and the pairs in which one is better. Numbers are rounded here and only here. Called by lab.
local direction = require "apsis.direction"
local layout = require "apsis.lab.layout"
local notes = require "apsis.lab.notes"
local overall = require "apsis.lab.overall"
local standings = require "apsis.lab.standings"
local suites = require "apsis.lab.suites"

local report = { legend = notes.legend, ranked = standings.ranked }

local MOST_PAIRS = 20 -- comparisons of a world; of more only those with its best strategy

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
  if not row.success_rate then return "-" end
  if not row.ert then return "inf" end
  local function text(number) return number and short(number, 3) or "inf" end
  return ("%s [%s..%s]"):format(text(row.ert), text(row.ert_low), text(row.ert_high))
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
    list[#list + 1] = { "ERT [95%]", ert_text, spare = 3 }
  end
  list[#list + 1] = { "AOCC", function(row) return short(row.aocc, 3) end, spare = 1 }
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

-- What a comparison is of: "best", "time 50%".
local function measure_of(comparison)
  if comparison.measure ~= "time" then return comparison.measure end
  return "time " .. percent(comparison.way)
end

-- A number with this many decimal places; never -0.
local function fixed(value, places)
  local text = ("%." .. places .. "f"):format(value)
  return tonumber(text) == 0 and text:gsub("^%-", "") or text
end

-- A difference and its interval, all to the place that counts: three digits of the larger of it and the interval's
-- width.
local function interval(difference, low, high)
  if not low or not high then return short(difference, 3) end
  local size = math.max(math.abs(difference), high - low)
  local places = size > 0 and math.max(0, math.min(12, 2 - math.floor(math.log(size, 10)))) or 0
  return ("%s [%s..%s]"):format(fixed(difference, places), fixed(low, places), fixed(high, places))
end

local function p_text(comparison)
  if not comparison.p_holm then return "-" end
  return comparison.p_holm < 0.0001 and "<0.0001" or ("%.4f"):format(comparison.p_holm)
end

local function verdict_text(comparison) return comparison.verdict == "better" and "better" or "not shown" end

-- "x0.83 [0.7..0.98]": three digits each.
local function ratio_text(c)
  if not c.low or not c.high then return "x" .. short(c.ratio, 3) end
  return ("x%s [%s..%s]"):format(short(c.ratio, 3), short(c.low, 3), short(c.high, 3))
end

local pair_columns = {
  { "strategy", function(c) return c.a end, left = true, name = true },
  { "against", function(c) return c.b end, left = true, name = true },
  { "of", measure_of, left = true },
  { "gain or ratio [95%]", function(c)
    if c.ratio then return ratio_text(c) end
    return c.difference and interval(c.difference, c.low, c.high) or "-"
  end },
  { "p", p_text, spare = 1 },
  { "verdict", verdict_text, left = true },
}

-- Pairs that the medians of the table order the other way than the mean of the differences, up to the target.
local function say_turns(list, rows)
  local found, turns = {}, {}
  local metric = direction.new { direction = rows[1].direction }
  for _, row in ipairs(rows) do found[row.strategy] = row end
  for _, pair in ipairs(list) do
    local first, second = found[pair.a].median, found[pair.b].median
    local target = rows[1].target
    local solved = target and metric:reaches(first, target)
    if first and second and not solved and (pair.difference or 0) > 0 and metric:better(second, first) then
      turns[#turns + 1] = ("%s against %s"):format(pair.a, pair.b)
    end
  end
  if #turns > 0 then
    say("the medians above are the other way round than the mean gain: " .. table.concat(turns, ", "), "    ")
  end
end

local function print_pairs(found, world, rows, missing)
  local all, list = standings.pairs(found.comparisons, world.label, rows), {}
  for _, pair in ipairs(all) do
    if #all <= MOST_PAIRS or pair.upper == 1 then list[#list + 1] = pair.shown end
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
    if found.race then say(notes.race(found), "") end
  end
  print ""
end

local overall_columns = {
  { "strategy", function(c) return c.a end, left = true, name = true },
  { "against", function(c) return c.b end, left = true, name = true },
  { "time [95%]", ratio_text },
  { "p", p_text, spare = 1 },
  { "faster", function(c) return ("%d of %d"):format(c.faster, c.worlds) end },
  { "slower", function(c) return ("%d"):format(c.slower) end },
  { "verdict", verdict_text, left = true },
}

-- The verdicts over all worlds; of many pairs those with the fastest strategy.
local function print_overall(found, missing)
  local list, count, fastest = {}, #found.overall, nil
  for index, verdict in ipairs(found.overall) do
    list[index] = standings.turned(verdict)
    if not fastest or list[index].ratio < fastest.ratio then fastest = list[index] end
  end
  if count == 0 then return end
  if count > MOST_PAIRS // 2 then
    for index = count, 1, -1 do
      if list[index].a ~= fastest.a and list[index].b ~= fastest.a then table.remove(list, index) end
    end
  end
  say("Over all worlds:", "")
  print ""
  layout.print(overall_columns, list, missing)
  if found.overall[1].worlds < overall.least_worlds then
    say(("no verdict with fewer than %d worlds"):format(overall.least_worlds), "    ")
  end
  print ""
end

-- Friedman's and Nemenyi's tests, if they were asked for.
local function print_friedman(found)
  local test = found.friedman
  if not test then return end
  say(("Ranks by time over %d worlds; Friedman's test: p = %.4f"):format(test.worlds, test.p), "")
  print ""
  table.sort(test.ranks, function(a, b) return a.rank < b.rank end)
  layout.print({ { "strategy", function(one) return one.strategy end, left = true, name = true },
    { "mean rank", function(one) return ("%.2f"):format(one.rank) end } }, test.ranks, {})
  print ""
  layout.print({ { "strategy", function(one) return one.a end, left = true, name = true },
    { "against", function(one) return one.b end, left = true, name = true },
    { "p (Nemenyi)", function(one) return ("%.4f"):format(one.p) end } }, test.pairs, {})
  print ""
end

-- A suite: a line for each world, with the ratio to each other strategy and its interval; and the verdicts.
function report.suite(plan, found)
  print_head(plan, found, ("Suite %s, version %d: "):format(plan.suite, suites[plan.suite].version))
  local lines, columns = {}, { { "world", function(line) return line.world end, left = true, name = true } }
  for place, verdict in ipairs(found.overall) do
    local head = (plan.against and "" or verdict.a .. " ") .. "against " .. verdict.b
    columns[place + 1] = { head, function(line) return line[place] end, left = true }
    for index, one in ipairs(verdict.each) do
      lines[index] = lines[index] or { world = one.world }
      lines[index][place] = ratio_text(one)
    end
  end
  if #found.overall > 0 then layout.print(columns, lines, {}) end
  notes.overview(found, plan)
  print ""
  print_overall(found, {})
  say(("x0.8: %s needs 0.8 times the evaluations of the other, in the geometric mean of 50%%, 90%% and all of the way "
    .. "from the baseline to the target, with the interval of resampled seeds. "):format(plan.strategies[1].label)
    .. notes.overall(plan, found), "")
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
  print_overall(found, missing)
  print_friedman(found)
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
  print_overall(found, {})
  print_friedman(found)
  local text = {}
  if stands then
    text[1] = "+2 -1: shown to be better than two of the others and worse than one by the final best (paired by seed; "
      .. "rank test, corrected for all comparisons); a value without either: no difference shown."
  elseif #found.comparisons > 0 then
    text[1], text[2] = "No difference of the final best is shown.", notes.too_few(found)
  end
  if #found.overall > 0 then text[#text + 1] = notes.overall(plan, found) end
  for _, world in ipairs(plan.worlds) do
    if world.module.direction == "lower" then
      text[#text + 1] = "lower: the lower the better there."
      break
    end
  end
  if #text > 0 then say(table.concat(text, " "), "") end
end

return report
