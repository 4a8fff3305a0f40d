-- lab_table: the lab's tables of rows and comparisons that are made up here.
local report = require "apsis.lab.table"
local tap = require "tap"
local test, equal = tap.test, tap.equal

-- What report.print says of two strategies on one world.
local function printed(rows, comparisons)
  local lines, shown = {}, print
  for _, row in ipairs(rows) do
    row.world, row.direction, row.runs, row.q1, row.q3, row.unsuccessful = "w", "higher", 9, row.median, row.median, 0
  end
  for _, comparison in ipairs(comparisons) do comparison.world, comparison.verdict = "w", "no difference shown" end
  _G.print = function(line) lines[#lines + 1] = line end
  local ok, message = pcall(report.print, { seeds = 9, first_seed = 1, evaluations = 10, axis = "evaluations", reached = {},
    worlds = { { label = "w", name = "w", module = {} } } },
    { seeds = 9, first_seed = 1, matrix = {}, rows = rows, comparisons = comparisons, overall = {} }, {})
  _G.print = shown
  if not ok then error(message, 0) end
  return table.concat(lines, "\n")
end

local function rows(a, b)
  return { { strategy = "a", median = a, aocc = 0.5 }, { strategy = "b", median = b, aocc = 0.5 } }
end

test("where the medians and the mean of the differences are opposite, that is said, and of which pair", function()
  local text = printed(rows(1, 3), { { a = "a", b = "b", measure = "best", difference = 1, low = 0.5, high = 2,
    p_holm = 1 }, { a = "a", b = "b", measure = "time", way = 0.9, ratio = 0.5, low = 0.4, high = 0.6, p_holm = 1 } })
  equal((text:gsub("%s+", " ")):match "medians above .*: (.-) ?$", "a against b")
  equal(text:match "time 90%%[^\n]*", "time 90%      x0.5 [0.4..0.6]  1.0000  not shown")
  text = printed(rows(3, 1), { { a = "a", b = "b", measure = "best", difference = 1, low = 0.5, high = 2,
    p_holm = 1 } })
  equal(text:find "medians above", nil)
end)

test("an interval has no minus before a zero, and what no difference is shown of is called not shown", function()
  local text = printed(rows(1, 1), { { a = "a", b = "b", measure = "best", difference = 150, low = -0.2, high = 300,
    p_holm = 0.2 } })
  equal(text:match "best +(%d.*)$":gsub("\n", ""), "150 [0..300]  0.2000  not shown")
end)

tap.done()
