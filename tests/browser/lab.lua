-- Prints the page of a campaign whose names would do harm where anything took them for markup, and whose numbers have gaps.
local page = require "apsis.report.page"

local names = { '</script><script>window.harm = "script"</script>', '<img src=x onerror="window.harm = 1">', "__proto__",
  "a\u{2028}b\u{2029}c \27[31mred\27]0;title\7 \u{202e}txet", "'\"><svg onload=window.harm=3>{{data}}%1&lt;", "\255\254 no UTF-8",
  "constructor", ("long"):rep(60) }
local worlds = { '<!--<script>window.harm = "world"//', "sphere" }
local inf = math.huge

local data = { title = "<b>hostile</b>", command = "apsis lab '</code><script>window.harm = 5</script>'", evaluations = 500, seeds = 20,
  first_seed = 1, wanted = 100, stopped = "interrupted", ended = {}, results = {}, comparisons = {}, curves = {}, ecdf = {},
  operators = {}, islands = {}, cells = {} }

local function add(list, strategy, world, fields)
  fields.strategy, fields.world = strategy, world
  list[#list + 1] = fields
end

for at, world in ipairs(worlds) do
  for index, name in ipairs(names) do
    add(data.results, name, world, { direction = at == 1 and "higher" or "lower", metric = "<i>gain</i>", runs = 20, successes = index,
      success_rate = index / 20, ert = index > 2 and 100 * index or nil, median = index / 10, q1 = index / 12, q3 = index / 9, aocc = 0 / 0,
      kept_ratio = 0.004, false_keeps = at == 1 and 1.5 or nil })
    add(data.curves, name, world, { x = { 1, 10, 100, 500 }, median = { 1, 2, 3, 3 + index },
      q1 = { 0.5, 1, 0 / 0, 2 }, q3 = { 2, 3, inf, 9 }, spent = index == 2 and 80 or 500 })
    if at == 2 then add(data.ecdf, name, world, { x = { 1, 50 * index, 500 }, y = { 0, index / 20, index / 20 } }) end
    add(data.operators, name, world, { operators = { [name] = { count = 10, kept = 3, improved = 2 },
      idle = { count = 0, kept = 0, improved = 0 } } })
    add(data.cells, name, world, { points = { { 1, 1 }, { 500, 3 * index } } })
  end
  add(data.ended, names[2], world, { count = 20, runs = 20, unspent = 0.84, reason = '<b onclick="window.harm = 6">no better</b>' })
  add(data.islands, names[1], world, { names = { names[2], "__proto__" }, points = { { 1, { 1, 0 } }, { 500, { 300, 200 } } } })
  add(data.islands, names[3], world, { points = { { 1, { 1, 0 } }, { 500, { 300, 200 } } } })
  for index, verdict in ipairs { "better", "worse", "no difference shown" } do
    data.comparisons[#data.comparisons + 1] = { world = world, a = names[index], b = names[index + 1], measure = "best",
      difference = 2 - index, low = 1.5 - index, high = 2.5 - index, p = 0.01, p_holm = 0.03, verdict = verdict }
  end
  data.comparisons[#data.comparisons + 1] = { world = world, a = names[1], b = names[4], measure = "time", way = 0.9,
    ratio = 0.5, low = 0.4, p = 1, p_holm = 1,
    verdict = "no difference shown" }
end
data.overall = { { a = names[1], b = names[2], worlds = 6, ratio = 0.5, low = 0.4, high = 0.65, p = 0.01, p_holm = 0.02, faster = 4,
  slower = 1, verdict = "better" } }
data.friedman = { worlds = 6, p = 0.004, ranks = { { strategy = names[1], rank = 1.25 }, { strategy = names[2], rank = 1.75 } },
  pairs = { { a = names[1], b = names[2], p = 0.03 } } }
data.unit = "simulated seconds"
data.fresh = { first_seed = 21, seeds = 20, winners = { names[1] }, results = data.results, comparisons = data.comparisons,
  ended = data.ended }

io.stdout:write(arg[1] == "empty" and page.lab { title = "apsis lab" } or page.lab(data))
