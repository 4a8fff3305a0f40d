-- compare: strategies beside one another on one project, each with the seeds 1 to SEEDS and the same number of experiments.
-- Usage: apsis exec tests/bench/compare.lua PROJECT SEEDS ITERATIONS STRATEGY[:OPTION=VALUE,...]...
-- Copies the project into scratch repositories (it is not changed itself), prints the final best of every run, the
-- quartiles of each strategy, and which median is better by the metric's direction. It claims nothing about significance.
-- One worker each, so that a run can be done again. A run that its target ended early is marked `*`.
local direction = require "apsis.direction"
local fs = require "apsis.fs"
local json = require "apsis.json"
local process = require "apsis.process"
local projects = require "projects"

local function fail(message)
  io.stderr:write("compare: ", message, "\n")
  os.exit(2, true)
end

-- "hillclimb:patience=50,x=1" as { label =, use =, options = { "patience=50", ... } }; a file is named from here.
local function read_strategy(text)
  local use, rest = text:match "^([^:]+):?(.*)$"
  if not use then fail(("no strategy: %q"):format(text)) end
  local strategy = { label = text, use = use:find "%.lua$" and fs.realpath(use) or use, options = {} }
  for option in rest:gmatch "[^,]+" do strategy.options[#strategy.options + 1] = option end
  return strategy
end

local function read_arguments()
  local given = { project = arg[1] and fs.realpath(arg[1]), seeds = math.tointeger(tonumber(arg[2])),
    iterations = math.tointeger(tonumber(arg[3])), strategies = {} }
  if not (given.project and (given.seeds or 0) > 0 and (given.iterations or 0) > 0 and arg[4]) then
    fail "usage: apsis exec tests/bench/compare.lua PROJECT SEEDS ITERATIONS STRATEGY[:OPTION=VALUE,...]..."
  end
  for index = 4, #arg do given.strategies[#given.strategies + 1] = read_strategy(arg[index]) end
  return given
end

local given = read_arguments()
local apsis = os.getenv "APSIS" or assert(fs.readlink "/proc/self/exe")
apsis = assert(fs.realpath(apsis))
local root = assert(fs.tempdir "apsis-compare-")
local scratch <close> = setmetatable({}, { __close = function() fs.remove_tree(root) end }) -- luacheck: ignore 211
local environment = projects.environment(root)

local function run(dir, ...)
  local result, message = process.run { argv = { ... }, cwd = dir, env = environment, head_bytes = 1048576 }
  if not result or result.code ~= 0 then
    error(("%s: %s"):format(table.concat({ ... }, " "), message or result.stderr.head .. result.stdout.head), 0)
  end
  return result.stdout.head
end

-- A repository with the project and nothing of its past.
local function copy(name)
  local dir = root .. "/" .. name
  assert(fs.copy_tree(given.project, dir))
  for _, past in ipairs { ".git", ".apsis", "logs", "runs" } do assert(fs.remove_tree(dir .. "/" .. past)) end
  assert(fs.write(dir .. "/.gitignore", (fs.read(dir .. "/.gitignore") or "") .. "\n/logs/\n/runs/\n/.apsis/\n"))
  run(dir, "git", "init", "-q")
  run(dir, "git", "add", "-A")
  run(dir, "git", "commit", "-q", "-m", "start")
  return dir
end

-- One run to its end: { value = the final best, count = experiments, seconds =, direction =, baseline = }.
local function measure(strategy, seed)
  local dir = copy(("%d-%s"):format(seed, strategy.label:gsub("[^%w]", "_")))
  local chosen = { "--seed", seed, "--strategy", strategy.use, "-q" }
  for _, option in ipairs(strategy.options) do table.move({ "--set", option }, 1, 2, #chosen + 1, chosen) end
  for index, word in ipairs(chosen) do chosen[index] = tostring(word) end
  run(dir, apsis, "baseline", table.unpack(chosen))
  run(dir, apsis, "run", "--workers", "1", "--iterations", tostring(given.iterations), table.unpack(chosen))
  local status = json.decode(run(dir, apsis, "status", "--json"))
  assert(fs.remove_tree(dir))
  return { value = status.best.value, count = status.experiments, direction = status.direction, metric = status.metric,
    baseline = status.baseline.value, reason = status.reason, target = (status.reason or ""):find "^target reached" ~= nil }
end

-- The value a part of the way from the best of a sorted list to its last; between two, in proportion.
local function quantile(sorted, part)
  local at = 1 + part * (#sorted - 1)
  local low = math.floor(at)
  local high = math.min(low + 1, #sorted)
  return sorted[low] + (at - low) * (sorted[high] - sorted[low])
end

-- { best, quarter, median, three quarters, last } of results.
local function summary(metric, results)
  local values = {}
  for index, result in ipairs(results) do values[index] = result.value end
  metric:sort(values)
  local five = {}
  for index = 0, 4 do five[#five + 1] = quantile(values, index / 4) end
  return five
end

local function print_rows(head, rows)
  local widths = {}
  for _, cells in ipairs { head, table.unpack(rows) } do
    for index, cell in ipairs(cells) do widths[index] = math.max(widths[index] or 0, #cell) end
  end
  for _, cells in ipairs { head, table.unpack(rows) } do
    local padded = {}
    for index, cell in ipairs(cells) do
      local gap = (" "):rep(widths[index] - #cell)
      padded[index] = index == 1 and cell .. gap or gap .. cell
    end
    print(table.concat(padded, "  "))
  end
end

local function number(value)
  return ("%.9g"):format(value)
end

-- On how many seeds each of two strategies ended better than the other.
local function wins(metric, ours, theirs)
  local count, against = 0, 0
  for seed = 1, #ours do
    if metric:better(ours[seed], theirs[seed]) then count = count + 1 end
    if metric:better(theirs[seed], ours[seed]) then against = against + 1 end
  end
  return count, against
end

local function print_verdicts(metric, strategies)
  for index, one in ipairs(strategies) do
    for other = index + 1, #strategies do
      local two = strategies[other]
      local count, against = wins(metric, one.results, two.results)
      local better, than = one, two
      if metric:better(two.five[3], one.five[3]) then better, than, count, against = two, one, against, count end
      local tied = metric:tied(one.five[3], two.five[3])
      print(("%s: the median of %s %s that of %s; better on %d of %d seeds, worse on %d"):format(metric:words(), better.label,
        tied and "equals" or "is better than", than.label, count, given.seeds, against))
    end
  end
end

local function main()
  local first
  for _, strategy in ipairs(given.strategies) do
    strategy.results = {}
    for seed = 1, given.seeds do
      strategy.results[seed] = measure(strategy, seed)
      first = first or strategy.results[seed]
      io.stderr:write(("%s, seed %d: %s after %d experiments (%s)\n"):format(strategy.label, seed,
        number(strategy.results[seed].value), strategy.results[seed].count, strategy.results[seed].reason or "?"))
    end
  end
  local metric = direction.new { name = first.metric, direction = first.direction }
  print(("%s: %s, %s; baseline %s; %d experiments, seeds 1 to %d"):format(given.project:match "[^/]*$", metric.name,
    metric:words(), number(first.baseline), given.iterations, given.seeds))
  local head, rows = { "seed" }, {}
  for seed = 1, given.seeds do rows[seed] = { tostring(seed) } end
  for _, strategy in ipairs(given.strategies) do
    head[#head + 1] = strategy.label
    for seed, result in ipairs(strategy.results) do
      table.insert(rows[seed], number(result.value) .. (result.target and "*" or ""))
    end
    strategy.five = summary(metric, strategy.results)
  end
  print_rows(head, rows)
  print()
  local fives = {}
  for index, strategy in ipairs(given.strategies) do
    fives[index] = { strategy.label }
    for _, value in ipairs(strategy.five) do table.insert(fives[index], number(value)) end
  end
  print_rows({ "final best", "best", "quarter", "median", "quarter", "worst" }, fives)
  print_verdicts(metric, given.strategies)
end

main()
