-- The data and the frame of reports: digests, what is safe inside a page, the places of the lineage, the grid, a run's columns, and
-- what a campaign's page is told: who stands first, who ended early, what was interrupted.
local cells = require "apsis.report.cells"
local direction = require "apsis.direction"
local json = require "apsis.json"
local lineage = require "apsis.report.lineage"
local output = require "apsis.lab.output"
local page = require "apsis.report.page"
local runs = require "apsis.report.run"
local sha256 = require "apsis.project.sha256"
local standings = require "apsis.lab.standings"
local tap = require "tap"

local function hex(bytes)
  return (bytes:gsub(".", function(byte) return ("%02x"):format(byte:byte()) end))
end

tap.test("SHA-256 gives FIPS 180-4's examples, whatever the padding", function()
  tap.equal(hex(sha256.digest ""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
  tap.equal(hex(sha256.digest "abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
  tap.equal(hex(sha256.digest "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1")
  tap.equal(hex(sha256.digest(("a"):rep(1000))), "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3")
end)

tap.test("base64 pads as RFC 4648's examples do", function()
  for text, expected in pairs { [""] = "", f = "Zg==", fo = "Zm8=", foo = "Zm9v", foob = "Zm9vYg==", foobar = "Zm9vYmFy" } do
    tap.equal(sha256.base64(text), expected)
  end
end)

local function data_of(html)
  local text = html:match('<script type="application/json" id="data">(.-)</script>')
  return text, json.decode(text, true)
end

tap.test("no text of the data can end its element, and all of it comes back", function()
  local said = '</script><!--<script>&amp; {{style}} %1 \u{2028}\u{2029}\27'
  local html = page.lab { title = said }
  local text, data = data_of(html)
  tap.equal(data.title, (said:gsub("\u{2028}", "<U+2028>"):gsub("\u{2029}", "<U+2029>")))
  tap.equal(text:find "[<>&]", nil)
  tap.equal(text:find("\u{2028}", 1, true) or text:find("\u{2029}", 1, true), nil)
  tap.equal(select(2, html:gsub("</script>", "")), 3)
end)

tap.test("a number that is not finite is null, and the same data are the same bytes", function()
  local data = { title = "t", results = json.array {}, evaluations = 0 / 0, seeds = math.huge, curves = { { x = { 1, -math.huge } } } }
  local text = data_of(page.lab(data))
  tap.equal(text, '{"curves":[{"x":[1,null]}],"evaluations":null,"results":[],"seeds":null,"title":"t"}')
  tap.equal(page.lab(data), page.lab(data))
end)

tap.test("a page keeps the chart library's notice, and names its scripts by digest alone", function()
  local html = page.run { project = "p" }
  tap.matches(html, "Chart%.js v3%.")
  tap.matches(html, "MIT License")
  local policy = html:match 'Content%-Security%-Policy" content="([^"]+)"'
  tap.matches(policy, "^default%-src 'none'; script%-src 'sha256%-[%w+/]+=' 'sha256%-[%w+/]+='; style%-src 'sha256%-")
  tap.equal(policy:find("unsafe", 1, true), nil)
end)

-- The lineage of "2<0", "3<1,2 kept", drawn; best: a number. Their names are their places from 0.
local function plot_of(texts, best)
  local place = {}
  local made = lineage.new(function(number) return place[number] end)
  for index, text in ipairs(texts) do
    local number, parents = text:match "^(%d+)<?([%d,]*)"
    local numbers = {}
    for parent in parents:gmatch "%d+" do numbers[#numbers + 1] = tonumber(parent) end
    place[tonumber(number)] = index
    made:add(tonumber(number), numbers, text:find "kept" ~= nil)
  end
  return made:plot(made:tree(best), function(at) return at - 1 end)
end

tap.test("the best one's descent is the first row; another line of descent has its own until it ends", function()
  local plot = plot_of({ "0 kept", "1<0", "2<0 kept", "3<1", "4<2 kept", "5<4", "6<5 kept", "7<6 kept" }, 4)
  tap.equal(plot.point, { 0, 1, 2, 4, 5, 6, 7 })
  tap.equal(plot.row, { 0, 1, 0, 0, 0, 0, 0 })
  tap.equal(plot.line, { 1, 0, 1, 1, 0, 0, 0 })
  tap.equal(plot.parent, { -1, 0, 0, 2, 3, 4, 5 })
  tap.equal({ plot.mark, plot.mark_of, plot.rows, plot.total }, { { 3 }, { 1 }, 2, 8 })
end)

tap.test("a crossover has two parents; unknown, later and repeated ones are left out", function()
  local plot = plot_of({ "0 kept", "1<0 kept", "2<0 kept", "3<1,2 kept", "4<9,3 kept", "5<4,4,4 kept", "6<7 kept",
    "7<7 kept" }, 5)
  tap.equal(plot.more, { { 3, 2 } })
  tap.equal(plot.parent, { -1, 0, 0, 1, 3, 4, -1, -1 })
end)

tap.test("rows do not overlap: where one is in use, no other line of descent begins", function()
  local texts = { "0 kept" }
  for number = 1, 600 do texts[number + 1] = ("%d<%d"):format(number, number * 7919 % number) end
  local plot = plot_of(texts, 600)
  local last = {}
  for at, index in ipairs(plot.point) do
    local parent = plot.parent[at] + 1
    local row = plot.row[at]
    if parent == 0 or plot.row[parent] ~= row then
      local from = parent > 0 and plot.point[parent] or index
      assert(not last[row] or last[row] <= from, ("row %d is used twice at %d"):format(row, index))
    end
    last[row] = math.max(last[row] or 0, index)
  end
  tap.equal(#plot.point + #plot.mark, 601)
end)

tap.test("ten thousand candidates are at most three thousand points, and all are told of", function()
  local texts = { "0 kept" }
  for number = 1, 9999 do texts[number + 1] = ("%d<%d kept"):format(number, math.max(0, number - 1 - number % 37)) end
  local plot = plot_of(texts, 9999)
  assert(#plot.point <= 3000, #plot.point)
  tap.equal(#plot.point + #plot.mark, 10000)
  tap.equal(plot.kept_too, false)
end)

tap.test("where the best one's ancestors alone are too many, some of them are drawn, in one row to the best", function()
  local texts = { "0 kept" }
  for number = 1, 9999 do texts[number + 1] = ("%d<%d kept"):format(number, number - 1) end
  local plot = plot_of(texts, 9999)
  assert(#plot.point <= 3000, #plot.point)
  tap.equal({ plot.point[1], plot.point[#plot.point], plot.rows }, { 0, 9999, 1 })
  tap.equal(#plot.point + #plot.mark, 10000)
end)

tap.test("an empty lineage and one without a best are drawn", function()
  tap.equal(plot_of({}, nil).total, 0)
  tap.equal(plot_of({ "0 kept" }, nil).point, { 0 })
end)

local lower = direction.new { name = "loss", direction = "lower" }

-- The grid of candidates, each seen and placed.
local function picture_of(list)
  local made = cells.new(lower)
  for _, candidate in ipairs(list) do made:see(candidate) end
  if not made:begin() then return nil end
  for _, candidate in ipairs(list) do made:place(candidate) end
  return made:picture()
end

tap.test("a cell shows its best by the metric's direction, the best cell shaded most", function()
  local function candidate(id, value, x, y) return { id = id, value = value, features = { x = x, y = y } } end
  local picture = picture_of({ candidate("a", 3, 0, 0), candidate("b", 2, 0, 0), candidate("c", 1, 9, 9),
    candidate("d", 7, 9, 0) })
  tap.equal({ picture.axes[1].name, picture.axes[2].name, picture.of, #picture.cells }, { "x", "y", 100, 3 })
  local shown = {}
  for _, cell in ipairs(picture.cells) do shown[#shown + 1] = ("%s %g %d %.1f"):format(cell.id, cell.value, cell.count, cell.shade) end
  tap.equal(shown, { "c 1 1 1.0", "b 2 2 0.5", "d 7 1 0.0" })
end)

tap.test("named features and cells' own labels make a grid; without notes there is none", function()
  local picture = picture_of({ { id = "a", value = 1, cell = "10/greedy" }, { id = "b", value = 2, cell = "2/exact" } })
  tap.equal({ picture.axes[1].values, picture.axes[2].values }, { { "2", "10" }, { "exact", "greedy" } })
  tap.equal(#picture.cells, 2)
  tap.equal(picture_of({ { id = "a", value = 1 } }), nil)
  tap.equal(picture_of({ { id = "a", value = 1, features = {} } }), nil)
  tap.equal(picture_of({ { id = "b", value = 1, features = { x = 0 / 0, [3] = 1 } } }), nil)
end)

local function history(fields)
  fields.new_value_of = function() end
  return setmetatable(fields, { __index = { outcomes = {}, began = 1 } })
end

-- Lines to be gathered, and the page's data of them.
local function lines_of(metric)
  local lines, place = {}, {}
  return { add = function(_, line)
    lines[#lines + 1] = line
    place[line.experiment] = #lines
  end, data = function(_, past, facts)
    past.line_of = function(_, number) return place[number] end
    past.at = function(_, at) return lines[at] end
    past.metric, past.outcomes = metric, {}
    for _, line in ipairs(lines) do past.outcomes[line.outcome] = (past.outcomes[line.outcome] or 0) + 1 end
    return runs.data(metric, past, function(visit)
      for at, line in ipairs(lines) do visit(line, at) end
      return true
    end, facts)
  end }
end

tap.test("the way to the best has a step for each gain, from the baseline on; what lies between is of the next one", function()
  local run, records = lines_of(lower), {}
  local past = history { baseline = nil }
  for number, value in pairs { [0] = 100, 60, 60, 50, 20, 90 } do
    records[number] = { id = ("c%04d"):format(number), experiment = number, value = value, kept = true, commit = "x",
      outcome = number == 0 and "baseline" or "kept", measured_by = lower,
      parents = number > 0 and { ("c%04d"):format(number == 5 and 0 or number - 1) } or {} }
  end
  for number = 0, 5 do
    run:add { experiment = number, candidate = records[number].id, outcome = records[number].outcome,
      primary_metric = records[number].value, parents = records[number].parents, description = "step " .. number }
  end
  past.best, past.baseline, past.outcomes = records[4], records[0], { baseline = 1 }
  past.get = function(_, id) return records[tonumber(id:sub(2))] end
  local data = run:data(past, {})
  tap.equal(data.headline, "-80 % against the baseline's 100, measured once, in 5 experiments")
  local list = {}
  for index, step in ipairs(data.path.steps) do
    list[index] = { step.id, step.title, step.value, step.gained, step.start, step.share }
  end
  tap.equal(list, { { "c0001", "step 1", 60, -40, 0, 0.5 }, { "c0003", "step 3", 50, -10, 0.5, 0.125 },
    { "c0004", "step 4", 20, -30, 0.625, 0.375 } })
  past.began = 3 -- another baseline than the best's
  tap.equal(run:data(past, {}).path, nil)
  past.baseline = { id = "c0000" } -- null in the journal
  tap.equal(run:data(past, {}).headline, nil)
end)

tap.test("a run's columns, spend and best rows are its lines; one bad value does not stretch the axis", function()
  local run = lines_of(lower)
  run:add { experiment = 0, candidate = "c0000", outcome = "baseline", primary_metric = 10, best = 10, seconds = 30, parents = {} }
  for number = 1, 20 do
    local last = number == 20
    run:add { experiment = number, candidate = ("c%04d"):format(number), outcome = last and "kept" or "reverted_worse_metric",
      improved = last, operator = "exploitation", primary_metric = last and 9 or number == 7 and 1e9 or 10 + number % 3,
      best = last and 9 or 10, parents = { "c0000" }, seconds = 30, tokens = 5, cost = 0.5, description = ("é"):rep(300) }
  end
  run:add { experiment = 21, candidate = "c0021", outcome = "reverted_threshold_failure", primary_metric = 1, best = 9,
    parents = { "c0020" }, machines = { queue_s = 120, run_s = 90, usd = 2 } }
  local data = run:data(history { best = { id = "c0020", value = 9 }, baseline = { id = "c0000", value = 10 },
    outcomes = { baseline = 1 } }, {})
  tap.equal({ data.experiments, data.kept, data.gained, data.words }, { 21, 1, -1, "lower is better" })
  tap.equal({ data.axis.low >= 0, data.axis.high }, { true, 12 })
  tap.equal({ data.totals.tokens, data.totals.usd, data.totals.minutes }, { 100, 12.0, 10.5 })
  tap.equal({ data.totals.queued, data.totals.measured }, { 2.0, 1.5 })
  tap.equal({ data.top[1].id, data.top[1].gained, data.top[2].id, #data.top }, { "c0020", -1, "c0000", 20 })
  tap.equal(utf8.len(data.top[1].title), 163)
  tap.equal(data.operators[1], { name = "exploitation", count = 20, kept = 1, improved = 1 })
  assert(page.run(data))
end)

-- A run of n experiments with what value(number) says; those better than all before are kept.
local function run_of(n, metric, value)
  local run, best = lines_of(metric), nil
  for number = 0, n do
    local found = value(number)
    local kept = not best or metric:better(found, best)
    if kept then best = found end
    run:add { experiment = number, candidate = ("c%04d"):format(number), parents = {}, primary_metric = found, best = best,
      outcome = number == 0 and "baseline" or kept and "kept" or "reverted_worse_metric" }
  end
  return run:data(history { best = { id = "c", value = best }, outcomes = {} }, {})
end

tap.test("a chart begins at the middle of the values and the best, where the first steps would leave little of them", function()
  local higher = direction.new { name = "gain", direction = "higher" }
  local data = run_of(200, higher, function(number) return number < 20 and number / 20 or 1 + number % 7 / 1000 + number * 1e-6 end)
  tap.equal({ data.axis.low, data.axis.focus.low >= 0.99, data.axis.focus.high == data.best.value }, { 0.0, true, true })
  data = run_of(200, lower, function(number) return number < 20 and 100 - number or 1 + number % 7 / 1000 - number * 1e-6 end)
  tap.equal({ data.axis.high, data.axis.focus.high <= 1.1, data.axis.focus.low == data.best.value }, { 100, true, true })
  tap.equal(run_of(200, higher, function(number) return number end).axis.focus, nil)
  tap.equal(run_of(200, higher, function() return 1 end).axis.focus, nil)
  tap.equal(run_of(0, higher, function() return 1 end).axis.focus, nil)
end)

-- A run judged under noise: c0003 was shown to be better than c0001, though c0001 was measured at less; c0002 and c0004 were lucky.
local function judged_run(told)
  local run = lines_of(lower)
  local function add(number, outcome, value, verdict, more)
    local line = { experiment = number, candidate = ("c%04d"):format(number), outcome = outcome, primary_metric = value,
      parents = {}, operator = "exploitation",
      acceptance = { verdict = verdict, why = verdict and verdict .. " for a reason" } }
    for key, one in pairs(more or {}) do line[key] = one end
    run:add(line)
  end
  add(0, "baseline", 10)
  add(1, "kept", 7, "kept")
  add(2, "reverted_worse_metric", 3, "rejected", { rollback_reason = "another" })
  add(3, "kept", 8, "kept")
  add(4, "reverted_rejected", 2, nil, { acceptance = false, notes = { acceptance = {} }, rollback_reason = "screened out" })
  add(5, "reverted_worse_metric", 4, nil, { rollback_reason = "reverted_worse_metric" })
  add(6, "skipped_duplicate", nil, nil, {})
  run:add { experiment = 7, outcome = "measured", operator = "final", parents = { "c0003" } }
  run:add { experiment = 8, outcome = "asked", operator = "idea", parents = { "c0003" } }
  return run:data(history { best = { id = "c0003", value = 8 }, baseline = { id = "c0000", value = 10 }, gain = told,
    outcomes = { baseline = 1 } }, {})
end

local function ids_of(rows)
  local list = {}
  for index, row in ipairs(rows) do list[index] = row.id end
  return table.concat(list, " ")
end

tap.test("under acceptance the best is first, the other kept ones follow, and what was rejected stands apart, with its reason", function()
  local data = judged_run()
  tap.equal({ ids_of(data.top), ids_of(data.rejected) }, { "c0003 c0001 c0000", "c0004 c0002 c0005" })
  tap.equal({ data.rejected[1].why, data.rejected[2].why, data.rejected[3].why }, { "screened out", "rejected for a reason" })
  tap.equal({ data.rejected[1].gained, data.top[1].why, data.top[1].gained }, { nil, nil, -2 })
end)

tap.test("without acceptance the best are by value alone, whatever became of them", function()
  local data = run_of(3, lower, function(number) return number == 2 and 20 or 10 - number end)
  tap.equal({ ids_of(data.top), #data.rejected, data.judged }, { "c0003 c0001 c0000 c0002", 0, false })
end)

tap.test("the best has the first row though more candidates than there are rows are tied with it", function()
  local run = lines_of(direction.new { name = "gain", direction = "higher", epsilon = 0.01 })
  for number = 0, 40 do
    run:add { experiment = number, candidate = ("c%04d"):format(number), outcome = number == 0 and "baseline" or "kept",
      primary_metric = 7.1234567 - number * 1e-8, parents = {} }
  end
  local data = run:data(history { best = { id = "c0040", value = 7.1234563 }, baseline = { id = "c0000", value = 7.1234567 } }, {})
  tap.equal({ data.top[1].id, data.top[2].id, #data.top }, { "c0040", "c0000", 20 })
end)

tap.test("what was compared with a baseline that was replaced is in no table, grid or axis", function()
  local run = lines_of(lower)
  local function add(number, outcome, value)
    run:add { experiment = number, candidate = ("c%04d"):format(number), outcome = outcome, primary_metric = value, parents = {},
      notes = { features = { x = number } } }
  end
  add(0, "baseline", 1)
  add(1, "kept", 0.5)
  add(2, "baseline", 100)
  add(3, "kept", 90)
  local data = run:data(history { best = { id = "c0003", value = 90 }, baseline = { id = "c0002", value = 100 }, began = 3 }, {})
  tap.equal({ ids_of(data.top), data.began, data.axis.low, data.gained, #data.grid.cells }, { "c0003 c0002", 2, 90, -10, 2 })
  tap.equal(data.columns.value, { 1, 0.5, 100, 90 })
end)

tap.test("a page names every strategy that planned, in order", function()
  local run = lines_of(lower)
  for number, name in ipairs { "hillclimb", "random_walk", "hillclimb", "mine.lua" } do
    run:add { experiment = number, candidate = ("c%04d"):format(number), outcome = number == 1 and "baseline" or "kept",
      primary_metric = 1, parents = {}, strategy = name }
  end
  tap.equal(run:data(history {}, { strategy = "mine.lua" }).strategies, { "random_walk", "hillclimb", "mine.lua" })
end)

tap.test("at most ten rejected ones are told of", function()
  local run = lines_of(lower)
  for number = 1, 30 do
    run:add { experiment = number, candidate = ("c%04d"):format(number), outcome = "reverted_worse_metric", primary_metric = number,
      acceptance = { verdict = "rejected", why = ("x"):rep(500) } }
  end
  local data = run:data(history {}, {})
  tap.equal({ #data.top, #data.rejected, data.rejected[10].id, #data.rejected[1].why }, { 0, 10, "c0010", 163 })
end)

tap.test("the report shows the final gain as the journal has it, and ignores what is not a gain", function()
  local told = { gain = 2.5, low = 1, high = 4, relative = 0.25, pairs = 20, candidate = "c0003", original = "c0000" }
  local data = judged_run(told)
  tap.equal({ data.gain, data.judged }, { told, true })
  tap.equal(judged_run().gain, nil)
  for _, bad in ipairs { "x", {}, { gain = 1, candidate = "c0003", original = "c0000" },
    { gain = 1, low = "<b>", high = 2, candidate = "c0003", original = "c0000" }, { gain = 1, low = 0, high = 2, candidate = 3 } } do
    tap.equal(judged_run(bad).gain, nil)
  end
  told.exact = true
  tap.equal(judged_run(told).gain.exact, true)
end)

tap.test("operators are of candidates: measuring again and asking are none", function()
  tap.equal(judged_run().operators, { { name = "exploitation", count = 6, kept = 2, improved = 0 } })
end)

local function record(seed, best, fields)
  local made = { seed = seed, direction = "lower", metric = "loss", best = best, evaluations = 100, experiments = 99, kept = 1,
    reason = "budget: measurements", curve = { { 1, 9 }, { 10, best } }, operators = {} }
  for key, value in pairs(fields or {}) do made[key] = value end
  return made
end

-- What a phase is, of a campaign of two strategies on one world, whose second is better; it was interrupted after two seeds.
local function phase()
  local halted = { evaluations = 10, reason = "no better" }
  return { seeds = 2, first_seed = 1, interrupted = true,
    matrix = { { strategy = "worse", world = "w", records = { record(1, 5, halted), record(2, 6) } },
      { strategy = "better", world = "w", records = { record(1, 1), record(2, 2, { hit = 20, evaluations = 20, reason = "target" }) } } },
    rows = { { strategy = "worse", world = "w", direction = "lower", median = 5.5 },
      { strategy = "better", world = "w", direction = "lower", median = 1.5 } },
    comparisons = { { world = "w", a = "worse", b = "better", measure = "best", difference = -4, low = -5, high = -3,
      plus = 0, minus = 3, p_holm = 0.01, verdict = "worse" } },
    overall = { { a = "worse", b = "better", worlds = 6, ratio = 2.0, low = 1.6, high = 2.5, p_holm = 0.01, faster = 0, slower = 4,
      verdict = "worse" } } }
end

tap.test("a campaign's page is told the best first, the one that leads first, who ended early, and that it was interrupted", function()
  local plan = { seeds = 100, evaluations = 100, axis = "evaluations", grids = {}, strategies = { { label = "worse" }, { label = "better" } } }
  local data = output.page(plan, phase(), nil)
  tap.equal({ data.results[1].strategy, data.results[2].strategy, data.strategies }, { "better", "worse", { "worse", "better" } })
  local first = data.comparisons[1]
  tap.equal({ first.a, first.b, first.verdict, first.difference, first.low, first.high, first.plus },
    { "better", "worse", "better", 4, 3, 5, 3 })
  local all = data.overall[1]
  tap.equal({ all.a, all.b, all.verdict, all.ratio, all.low, all.high, all.faster, all.slower, data.unit },
    { "better", "worse", "better", 0.5, 0.4, 0.625, 4, 0, "evaluations" })
  tap.equal({ data.seeds, data.wanted, data.stopped, data.no_fresh }, { 2, 100, "interrupted", nil })
  tap.equal(data.ended, { { strategy = "worse", world = "w", count = 1, runs = 2, unspent = 0.9, reason = "no better" } })
  tap.equal({ data.curves[1].spent, data.curves[2].spent }, { 100, 100 })
end)

tap.test("a whole campaign wants nothing; a sweep without its fresh seeds says so, and these have the same facts", function()
  local plan = { seeds = 2, evaluations = 100, axis = "evaluations", grids = { {} }, strategies = {} }
  local data = output.page(plan, phase(), nil)
  tap.equal({ data.wanted, data.stopped, data.no_fresh }, { nil, nil, true })
  plan.seeds = 3
  local again = phase()
  again.interrupted, again.winners = nil, { "better" }
  data = output.page(plan, phase(), again)
  tap.equal({ data.no_fresh, data.fresh.wanted, data.fresh.stopped, data.fresh.winners }, { nil, 3, "stopped by an error", { "better" } })
  tap.equal({ data.fresh.results[1].strategy, #data.fresh.ended }, { "better", 1 })
end)

tap.test("runs that the limit of evaluations ended, or their target, did not end early", function()
  local entry = { strategy = "s", world = "w", records = { record(1, 5, { evaluations = 99, reason = "budget: iterations" }),
    record(2, 5, { evaluations = 3, hit = 3, reason = "target" }) } }
  tap.equal(standings.early_ends(entry, 100), nil)
  entry.records[3] = record(3, 5, { evaluations = 50, reason = "budget: minutes" })
  tap.equal(standings.early_ends(entry, 100), { count = 1, runs = 3, unspent = 0.5, reason = "budget: minutes" })
end)

tap.test("of a long run some lines are drawn, evenly; what is counted and ranked is of all", function()
  local run = lines_of(lower)
  for number = 0, 50000 do
    local kept = number % 10 == 0
    run:add { experiment = number, candidate = ("c%04d"):format(number), primary_metric = 60000 - number, best = 60000 - number,
      outcome = number == 0 and "baseline" or kept and "kept" or "reverted_worse_metric", parents = { number > 0 and "c0000" },
      operator = "exploitation", tokens = 1, seconds = 60, description = "d" .. number, notes = { features = { x = number } } }
  end
  local data = run:data(history { best = { id = "c50000", value = 10000 }, outcomes = { baseline = 1 } }, {})
  tap.equal(data.thinned.of, 50001)
  assert(data.thinned.shown == #data.columns.number and data.thinned.shown <= 23001, data.thinned.shown)
  tap.equal({ data.columns.number[1], data.columns.number[#data.columns.number] }, { 0, 50000 })
  tap.equal({ data.experiments, data.kept, data.totals.tokens, data.top[1].id, data.top[1].title, data.top[20].id },
    { 50000, 5000, 50001, "c50000", "d50000", "c49981" })
  local kept, counted = 0, 0
  for index, outcome in ipairs(data.columns.outcome) do
    if data.outcomes[outcome + 1].name == "kept" then kept = kept + 1 end
    assert(index == 1 or data.columns.number[index] > data.columns.number[index - 1])
  end
  for _, cell in ipairs(data.grid.cells) do counted = counted + cell.count end
  tap.equal({ kept, counted }, { 5000, 50001 })
  for _, name in ipairs { "point", "mark" } do
    for _, place in ipairs(data.lineage[name]) do assert(data.columns.number[place + 1], name) end
  end
  tap.equal(data.lineage.total, 50001)
end)

tap.test("lines that name no candidate, no parents and no sense are borne", function()
  local run = lines_of(lower)
  run:add { experiment = 1, outcome = "asked", notes = "text", parents = { "x", 5 } }
  run:add { experiment = 2, outcome = "skipped_provider_failure", candidate = "c0002", description = {},
    notes = { features = 3, cell = {} } }
  run:add { experiment = 3, outcome = "measured", primary_metric = 2, operator = {} }
  local data = run:data(history { outcomes = {} }, {})
  tap.equal({ data.lineage.total, data.grid, #data.top }, { 1, nil, 0 })
  assert(page.run(data))
end)

tap.done()
