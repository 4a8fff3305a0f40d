-- bench: what apsis costs, beside what it cannot cost less than. `apsis exec tests/bench/bench.lua BUILD [ROW...]` measures every
-- row (or those named) with BUILD/apsis, prints the table, writes BUILD/bench.json { name = { value, unit, must, ok } } and
-- exits 1 where a row misses. Medians of interleaved repetitions; ratios only within one run; scratch folders in BUILD, so
-- that the disk is a real one. BUILD/floor is floor.c.
local fs = require "apsis.fs"
local json = require "apsis.json"
local projects = require "projects"
local stats = require "apsis.stats"

local build = assert(fs.realpath(arg[1] or "build"))
local apsis, floor = build .. "/apsis", build .. "/floor"
local root = ("%s/bench-%d"):format(build, require "apsis.host".pid)
local EXPERIMENTS, ROUNDS = 200, 3

local function quote(text)
  return "'" .. text:gsub("'", "'\\''") .. "'"
end

-- The numbers that a command prints.
local function numbers_of(...)
  local words = {}
  for name, value in pairs(projects.environment(root)) do words[#words + 1] = name .. "=" .. quote(value) end
  table.insert(words, 1, "env -u APSIS_HOME")
  for _, word in ipairs { ... } do words[#words + 1] = quote(tostring(word)) end
  local pipe = assert(io.popen(table.concat(words, " ")))
  local numbers = {}
  for number in pipe:read "a":gmatch "%S+" do numbers[#numbers + 1] = tonumber(number) end
  if not pipe:close() then error(table.concat(words, " ") .. " failed", 2) end
  return table.unpack(numbers)
end

-- What floor measures.
local function ask(...)
  return numbers_of(floor, ...)
end

-- What a script of this folder, run in a process of its own, measures.
local function ask_script(...)
  return numbers_of(apsis, "exec", ...)
end

-- Runs a program: { wall_s, user_s, sys_s, rss_mb }.
local function time(...)
  local log = root .. "/output.log"
  local wall, user, sys, kilobytes, code = ask("time", log, ...)
  if code ~= 0 then error(("exit %d of %s: %s"):format(code, table.concat({ ... }, " "), fs.read(log, 2000)), 2) end
  return { wall_s = wall, user_s = user, sys_s = sys, rss_mb = kilobytes / 1024 }
end

local function experiments(dir, count, workers)
  return time(apsis, "run", "-q", "--iterations", count, "--workers", workers or 1, dir)
end

local function make(name, options)
  options = options or {}
  options.apsis = apsis
  return projects.make(root, name, options)
end

local row, order = {}, { "experiment", "cage", "tree", "history", "metrics_sparse", "metrics_dense", "startup", "workers", "replay",
  "status", "readers", "rss",
  "archive_100", "archive_1000", "archive_10000", "archive_ratio", "playbook", "playbook_steady", "playbook_cycles", "lab_hillclimb",
  "lab_hillclimb_bare", "lab_openevolve", "lab_openevolve_bare",
  "lab_memory", "lab_jobs" }

-- Each returns: value, unit, must, ok, remark.
local function ratio(value, must, remark)
  return value, "x", "<= " .. must, value <= must, remark
end

-- The floor is measured before and after each run of experiments, so that both meet the same moods of the disk.
function row.experiment()
  local ratios, per, sums, parts = {}, {}, {}, {}
  for round = 1, 5 do
    local dir, sum = make("experiment" .. round), 0
    local function floor_now(when)
      local spawn, commit, append, replace, synced = ask("floor", ("%s/floor%d-%s"):format(root, round, when), EXPERIMENTS // 2)
      sum = sum + (spawn + commit + append + replace) / 2000
      parts = { spawn / 1e3, commit / 1e3, append / 1e3, replace / 1e3, synced / 1e3 }
    end
    floor_now "before"
    per[round] = experiments(dir, EXPERIMENTS).wall_s / EXPERIMENTS * 1000
    floor_now "after"
    sums[round], ratios[round] = sum, per[round] / sum
  end
  return ratio(stats.median(ratios), 3.0, ("%.2f ms each over a floor of %.2f ms (the last: %.2f spawn, %.2f commit, %.2f append, "
    .. "%.2f replace, %.2f if synced)"):format(stats.median(per), stats.median(sums), table.unpack(parts)))
end

-- What each way to keep a command in costs, beside a command that is only watched: in turn, each in a process of its own.
function row.cage()
  local costs = {}
  for round = 1, ROUNDS do
    for _, way in ipairs { "none", "namespaces", "landlock", "bwrap" } do
      costs[way] = costs[way] or {}
      costs[way][round] = numbers_of("env", "APSIS_CAGE=" .. way, apsis, "exec", "tests/bench/cage.lua", root) or nil
    end
  end
  local function more(way) return costs[way][1] and stats.median(costs[way]) - stats.median(costs.none) or 0 / 0 end
  return more "namespaces", "ms more", "-", true, ("over %.2f ms watched; Landlock alone %.2f more, bwrap %.2f more"):format(
    stats.median(costs.none), more "landlock", more "bwrap")
end

-- Two projects in turn: what experiments(dir, count) took of each, in ms an experiment, and what the loop alone took, from the
-- first plan to the last. The first round of each brings its workspace and is not counted.
local function in_turn(a, b, count)
  local wall, loop = { {}, {} }, { {}, {} }
  for round = 0, ROUNDS do
    for side, dir in ipairs { a, b } do
      wall[side][round] = experiments(dir, count).wall_s / count * 1000
      local planned = {}
      for moment in fs.read(dir .. "/logs/results.jsonl"):gmatch '"planned":([%d.]+)' do planned[#planned + 1] = tonumber(moment) end
      loop[side][round] = (planned[#planned] - planned[#planned - count + 1]) / (count - 1) * 1000
    end
  end
  return wall, loop
end

function row.tree()
  local wall = in_turn(make "small", make("large", { extra = 5000 }), EXPERIMENTS // 4)
  local small, large = stats.median(wall[1]), stats.median(wall[2])
  return large - small, "ms more", "<= 50", large - small <= 50, ("%.2f ms against %.2f ms"):format(large, small)
end

function row.history()
  local young, old = make "young", make "old"
  projects.age(root, old, 10000, true)
  local wall, loop = in_turn(young, old, EXPERIMENTS)
  local ratios = {}
  for round = 1, ROUNDS do ratios[round] = loop[2][round] / loop[1][round] end
  return ratio(stats.median(ratios), 1.1, ("%.2f ms against %.2f ms; the command's fold and history.json: %.0f ms more"):format(
    stats.median(loop[2]), stats.median(loop[1]), (stats.median(wall[2]) - stats.median(wall[1])) * EXPERIMENTS
      - (stats.median(loop[2]) - stats.median(loop[1])) * EXPERIMENTS))
end

-- A file of 100 MB, written by repeating a block.
local function hundred_megabytes(name, line)
  local path, lines = root .. "/" .. name, {}
  for number = 1, 20000 do lines[number] = line(number) end
  local block = table.concat(lines)
  local file = assert(io.open(path, "wb"))
  for _ = 1, math.ceil(1e8 / #block) do assert(file:write(block)) end
  assert(file:close())
  return path
end

local function against_grep(path, must)
  local ours, theirs, ratios = {}, {}, {}
  for round = 0, 2 * ROUNDS do
    theirs[round] = time("grep", "-c", "^METRIC ", path).wall_s
    ours[round] = time(apsis, "metrics", "--file", path).wall_s
    ratios[round] = theirs[round] / ours[round]
  end
  local value = stats.median(ratios)
  fs.remove(path)
  return value, "x as fast", ">= " .. must, value >= must, ("100 MB in %.3f s, grep -c %.3f s"):format(stats.median(ours),
    stats.median(theirs))
end

function row.metrics_sparse()
  local words = "epoch 12: training step done, nothing to report here now...."
  return against_grep(hundred_megabytes("sparse.log", function(number)
    if number % 1000 ~= 0 then return words:sub(1, 59) .. "\n" end
    local text = ("METRIC validation_loss=%.12f"):format(number / 7919)
    return text .. (" "):rep(59 - #text) .. "\n"
  end), 1.5)
end

function row.metrics_dense()
  local names = { "validation_loss", "training_loss", "accuracy", "total_us", "memory_mb" }
  return against_grep(hundred_megabytes("dense.log", function(number)
    return ("METRIC %s=%.6f\n"):format(names[1 + number % #names], number / 7919)
  end), 0.5)
end

function row.startup()
  local ours, theirs = ask("pair", 100, apsis, "--help", "--", "git", "--version")
  return ratio(ours / theirs, 5, ("%.2f ms against %.2f ms"):format(ours / 1000, theirs / 1000))
end

function row.workers()
  local walls = {}
  for round = 1, ROUNDS do
    local dir = make("workers" .. round, { command = [["sleep 1; read -r value < value.txt; echo \"METRIC score=$value\""]] })
    walls[round] = experiments(dir, 64, 64).wall_s
  end
  local value = stats.median(walls)
  return value, "s", "<= 2.0", value <= 2.0, "64 candidates of sleep 1"
end

function row.replay()
  local dir = make "replay"
  projects.age(root, dir, 100000)
  local walls, cpu = {}, {}
  for round = 1, ROUNDS do
    local took = time(apsis, "replay", dir)
    walls[round], cpu[round] = took.wall_s, took.user_s + took.sys_s
  end
  local value = stats.median(walls)
  return value, "s", "<= 1.5", value <= 1.5, ("100,000 lines, %.0f MB; %.2f s of processor"):format(
    fs.stat(dir .. "/logs/results.jsonl").size / 1e6, stats.median(cpu))
end

-- A project of 100,000 lines, whose newest is a baseline of this apsis: with the checkpoint that its fold has written.
local function long_project(name)
  local dir = make(name)
  projects.age(root, dir, 100000)
  time(apsis, "baseline", "--again", "-q", dir)
  return dir
end

function row.status()
  local dir, walls, rss = long_project "status", {}, 0
  for round = 1, ROUNDS do
    local took = time(apsis, "status", dir)
    walls[round], rss = took.wall_s, math.max(rss, took.rss_mb)
  end
  assert(fs.remove(dir .. "/.apsis/fold"))
  local whole = time(apsis, "status", dir)
  local value = stats.median(walls)
  return value, "s", "<= 0.3", value <= 0.3, ("100,000 lines, %.1f MB; without the checkpoint %.2f s, %.1f MB"):format(rss,
    whole.wall_s, whole.rss_mb)
end

-- The most that a reader of a long journal takes; of the report at a million lines about three times as much.
function row.readers()
  local dir, most, parts = long_project "readers", 0, {}
  for _, words in ipairs { "status", "log", "log --json", "log --graph", "report" } do
    local arguments = { apsis }
    for word in words:gmatch "%S+" do arguments[#arguments + 1] = word end
    arguments[#arguments + 1] = dir
    local rss = time(table.unpack(arguments)).rss_mb
    most, parts[#parts + 1] = math.max(most, rss), ("%s %.1f"):format(words, rss)
  end
  return most, "MB", "<= 64", most <= 64, "100,000 lines: " .. table.concat(parts, ", ")
end

function row.rss()
  local many = experiments(make "many", EXPERIMENTS).rss_mb
  local noise = "yes 'a line of sixty bytes, as a program prints them, more or less' | head -c 1000000000; echo; "
  local loud = make("loud", { command = projects.echo:gsub('^"', '"' .. noise) })
  local output = experiments(loud, 1).rss_mb
  local measured = fs.read(loud .. "/logs/results.jsonl"):find('"outcome":"reverted_worse_metric"', 1, true)
  assert(measured, "the loud verification was not measured")
  local value = math.max(many, output)
  return value, "MB", "<= 32", value <= 32, ("200 experiments %.1f, 1 GB of output %.1f"):format(many, output)
end

-- Microseconds of processor time for one add and one sample, by population: all sizes in turn, measured once for all rows.
local function archive_costs()
  local bench, sizes, times = require "archive", { 100, 1000, 10000, 100000 }, {}
  local held = {}
  for _, size in ipairs(sizes) do held[size], times[size] = bench.new(size), {} end
  for round = 1, 4 * ROUNDS + 1 do
    for _, size in ipairs(sizes) do times[size][round] = bench.pairs(held[size], 10000) / 10000 * 1e6 end
  end
  for _, size in ipairs(sizes) do times[size] = stats.median(times[size]) end
  collectgarbage()
  archive_costs = function() return times end
  return times
end

for size, must in pairs { [100] = 50000, [1000] = 50000, [10000] = 20000 } do
  row["archive_" .. size] = function()
    local cost = archive_costs()[size]
    return 1e6 / cost, "pairs/s", ">= " .. must, 1e6 / cost >= must, ("%.1f us an add and a sample"):format(cost)
  end
end

function row.archive_ratio()
  local costs = archive_costs()
  return ratio(costs[100000] / costs[100], 3, ("%.1f us at 100,000, %.1f us at 100"):format(costs[100000], costs[100]))
end

-- Experiments a second of the whole loop over a world inside the process, 10,000 of them: all, and the last cycles of garbage
-- collection against the first; and beside it what writing every prompt leaves of it. Each run is a process of its own.
local function playbook_rates()
  local rates, steady, prompts, cycles, slowest = {}, {}, {}, {}, {}
  for round = 1, 2 * ROUNDS - 1 do
    local script = "tests/bench/playbook.lua"
    local first, last, all
    first, last, all, cycles[round], slowest[round] = ask_script(script, 10000)
    rates[round], steady[round] = all, last / first
    if round <= ROUNDS then prompts[round] = select(3, ask_script(script, 10000, "playbook", "prompts")) end
  end
  local result = { all = stats.median(rates), steady = stats.median(steady), prompts = stats.median(prompts),
    cycles = stats.median(cycles), slowest = stats.median(slowest) }
  playbook_rates = function() return result end
  return result
end

function row.playbook()
  local value = playbook_rates().all
  return value, "exp/s", ">= 5000", value >= 5000, ("%.0f where every prompt is written, 15 kB each"):format(playbook_rates().prompts)
end

function row.playbook_steady()
  local value = playbook_rates().steady
  return value, "x", ">= 0.9", value >= 0.9, "the last 3 cycles of garbage collection against the first 3"
end

function row.playbook_cycles()
  local rates = playbook_rates()
  return rates.slowest, "x", "-", true, ("the slowest hundred against the median one; %.0f cycles of garbage collection"):format(
    rates.cycles)
end

-- Each lab row beside the bare loop of the same moment: so that a figure of a busy machine can be read, too.
local function lab_rates()
  local rates = { playbook = {}, openevolve = {}, hillclimb = {}, bare = {} }
  for round = 1, ROUNDS do
    rates.bare[round] = ask_script("tests/bench/bare.lua", 1000000)
    rates.hillclimb[round] = ask_script("tests/bench/lab_hillclimb.lua", 100000, 1)
    for _, selection in ipairs { "playbook", "openevolve" } do
      rates[selection][round] = ask_script("tests/bench/lab_openevolve.lua", 30000, selection)
    end
  end
  for name, list in pairs(rates) do rates[name] = stats.median(list) end
  lab_rates = function() return rates end
  return rates
end

local function of_bare(value, bare)
  return bare / value, "x", "-", true, ("the bare loop makes %.0f experiments a second"):format(bare)
end

function row.lab_openevolve()
  local rates = lab_rates()
  local value = math.min(rates.playbook, rates.openevolve)
  return value, "exp/s", ">= 12000", value >= 12000, ("population 1,000; selection playbook %.0f, openevolve %.0f"):format(
    rates.playbook, rates.openevolve)
end

function row.lab_openevolve_bare()
  local rates = lab_rates()
  return of_bare(math.min(rates.playbook, rates.openevolve), rates.bare)
end

function row.lab_hillclimb()
  local value = lab_rates().hillclimb
  return value, "exp/s", ">= 60000", value >= 60000, "a second of processor time; the world costs nothing"
end

function row.lab_hillclimb_bare()
  local rates = lab_rates()
  return of_bare(rates.hillclimb, rates.bare)
end

-- Counts just above powers of two: arrays have just grown.
function row.lab_memory()
  local script, worst, parts = "tests/bench/lab_memory.lua", 0, {}
  for _, of in ipairs { { "hillclimb", 65600 }, { "random_walk", 65600 }, { "openevolve", 8256 } } do
    local bytes = ask_script(script, of[1], of[2], 2 * of[2])
    worst, parts[#parts + 1] = math.max(worst, bytes), ("%s %.0f"):format(of[1], bytes)
  end
  local flat = ask_script(script, "hillclimb", 100000, 400000, "flat")
  return worst, "B/exp", "<= 1700", worst <= 1700 and flat < 8, ("%s; with --no-history %.1f, must < 8"):format(
    table.concat(parts, ", "), flat)
end

-- The same trials in one process and in two, in turn; and how long the command takes without them. One processor cannot show it.
function row.lab_jobs()
  local walls, rest = { {}, {} }, {}
  local function wall(jobs, evaluations)
    return time(apsis, "lab", "hillclimb", "random_walk", "--world", "rastrigin:d=10", "--seeds", 40, "--evaluations", evaluations,
      "--set", "hillclimb.patience=1000000", "--jobs", jobs, "-q").wall_s
  end
  for round = 1, ROUNDS do
    walls[1][round], walls[2][round], rest[round] = wall(1, 6000), wall(2, 6000), wall(1, 2)
  end
  local one, two, processors = stats.median(walls[1]), stats.median(walls[2]), numbers_of "nproc"
  local value = one / two
  return value, "x", ">= 1.8", value >= 1.8 or processors < 2, ("%.2f s against %.2f s on %d processors; %.2f s without the trials"):format(
    one, two, processors, stats.median(rest))
end

local wanted, known = {}, {}
for _, name in ipairs(order) do known[name] = true end
for index = 2, #arg do
  if not known[arg[index]] then
    io.stderr:write("no row ", arg[index], "; rows: ", table.concat(order, " "), "\n")
    os.exit(2)
  end
  wanted[#wanted + 1] = arg[index]
end
if #wanted == 0 then wanted = order end

-- ext4 gives no inode away again for 5 s after its file was deleted, and searches past all of these for every new file: so what
-- an earlier run has cleaned up must not count against this one.
require "apsis.wait".sleep(6)
assert(fs.mkdir(root))
local results, missed = {}, 0
print(("%-15s %10s %-10s %-8s %-5s"):format("name", "value", "unit", "must", "ok"))
for _, name in ipairs(wanted) do
  local ran, value, unit, must, ok, remark = xpcall(row[name], debug.traceback)
  if not ran then
    print(("%-15s failed: %s"):format(name, value))
    results[name] = { value = json.null, unit = "", must = "", ok = false }
    missed = missed + 1
  else
    print(("%-15s %10.3f %-10s %-8s %-5s %s"):format(name, value, unit, must, ok and "yes" or "NO", remark))
    results[name] = { value = value, unit = unit, must = must, ok = ok }
    missed = missed + (ok and 0 or 1)
  end
  io.stdout:flush()
end
fs.remove_tree(root)
assert(fs.write(build .. "/bench.json", json.encode(results, { pretty = true }) .. "\n"))
os.exit(missed == 0 and 0 or 1, true)
