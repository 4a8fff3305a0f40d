-- hall: runs the problems and prints the table of docs/explain/results.md. For each problem and seed: a new
-- repository, the baseline, `apsis run` for SECONDS; then the control, the mutator alone: the same calls of the same
-- program, each with the best answer so far, one after another, without git, journal and workers, for as many processor
-- seconds. Works in a scratch folder that it removes.
--
--   SEEDS=3 SECONDS=60 ONLY='NAME NAME' apsis exec hall.lua > table
local direction = require "apsis.direction"
local fs = require "apsis.fs"
local host = require "apsis.host"
local json = require "apsis.json"
local order = require "apsis.stats"
local process = require "apsis.process"
local random = require "apsis.random"
local wait = require "apsis.wait"
local yaml = require "apsis.yaml"

local seeds, seconds, only = tonumber(os.getenv "SEEDS" or 3), tonumber(os.getenv "SECONDS" or 60), os.getenv "ONLY"
if not (math.tointeger(seeds) and seeds > 0 and seconds and seconds > 0) then
  io.stderr:write "usage: SEEDS=3 SECONDS=60 ONLY='NAME NAME' apsis exec hall.lua\n"
  os.exit(2)
end

local own = { "logs", "runs", ".apsis" } -- of a user's run in a project here
local examples = fs.realpath((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/..")
local scratch = assert(fs.tempdir "apsis-hall-")

-- Runs a command to its result; raises if it fails.
local function run(cwd, ...)
  if wait.interrupts() > 0 then error("interrupted", 0) end
  local result = assert(process.run { argv = { ... }, cwd = cwd, env = { XDG_CACHE_HOME = scratch .. "/cache" },
    head_bytes = 1048576 })
  if result.code ~= 0 then
    error(("%s: %s%s"):format(table.concat({ ... }, " "), result.stdout.head, result.stderr.head), 0)
  end
  return result
end

-- A repository with these examples; the folder of the problem's project in it.
local function copy_of(problem)
  local root = scratch .. "/copy"
  fs.remove_tree(root)
  for _, folder in ipairs { "circle-packing", "hall" } do
    assert(fs.copy_tree(examples .. "/" .. folder, root .. "/" .. folder))
  end
  local project = root .. (problem.name == "circles-26" and "/circle-packing" or "/hall/" .. problem.name)
  for _, name in ipairs(own) do fs.remove_tree(project .. "/" .. name) end
  run(root, "git", "init", "-q")
  run(root, "git", "add", "circle-packing", "hall")
  run(root, "git", "-c", "user.name=hall", "-c", "user.email=hall@localhost", "commit", "-q", "-m", "start")
  return project
end

-- ---- one seed ----

-- The run's best value, its processor seconds, those until it had reached the goal (or nil), and those it takes in
-- `seconds`.
local function loop(dir, metric, goal, seed)
  run(dir, host.executable, "baseline", "-q", "--repeats", "1")
  local done = run(dir, host.executable, "run", "-q", "--seed", ("%d"):format(seed), "--minutes", seconds / 60)
  local cpu, first, reached, best = done.user_s + done.sys_s, nil, nil, nil
  for text in assert(fs.read(dir .. "/logs/results.jsonl")):gmatch "[^\n]+" do
    local line = json.decode(text)
    local value = type(line.primary_metric) == "number" and line.primary_metric
    best = value and metric:better_of(value, best or value) or best
    if line.outcome ~= "baseline" then
      first = math.min(first or math.huge, line.planned)
      local at = line.planned + line.seconds
      if value and metric:reaches(value, goal) then reached = math.min(reached or math.huge, at) end
    end
  end
  local share = cpu / done.wall_s
  return { value = best, cpu = cpu, reached = reached and (reached - first) * share, budget = share * seconds }
end

-- An answer's value; nil if the verifier refuses it.
local function verified(dir, manifest, answer, text)
  assert(fs.write(dir .. "/" .. answer, text))
  local argv = table.move(manifest.verification.commands[1].run, 1, 9, 1, {})
  argv[1] = host.executable
  return tonumber(assert(process.run { argv = argv, cwd = dir }).stdout.head:match "METRIC %S+=(%S+)")
end

-- The same of the mutator alone, within a budget of processor seconds.
local function alone(dir, manifest, metric, goal, seed, budget)
  local answer = manifest.files[1].path
  local propose = assert(loadfile(dir .. "/mutate.lua"))(dir .. "/mutate.lua")
  local text, cpu, calls, reached = assert(fs.read(dir .. "/" .. answer)), 0, 0, nil
  local value = verified(dir, manifest, answer, text)
  while cpu < budget and not metric:reached(value) do
    calls = calls + 1
    local workspace = { rng = random.stream(seed, calls), read = function() return text end }
    local edits, _, taken = propose({}, workspace)
    local changed = verified(dir, manifest, answer, edits[answer])
    cpu = cpu + taken
    if changed and not metric:better(value, changed) then text, value = edits[answer], changed end
    if metric:reaches(value, goal) then reached = reached or cpu end
  end
  return { value = value, cpu = cpu, reached = reached }
end

-- ---- the table ----

local function digits_of(value)
  local text = ("%.12g"):format(value)
  return #(text:match "%.(%d+)$" or "")
end

-- Against a published value, which is known to its digits.
local function mark(metric, value, published)
  local close = math.abs(value - published) < 10.0 ^ -digits_of(published)
  local words = metric.direction == "higher" and { "above", "below" } or { "below, better", "above, worse" }
  return close and "equal" or metric:better(value, published) and words[1] or words[2]
end

local function summary(metric, results)
  local values, times = {}, {}
  for index, result in ipairs(results) do
    values[index] = result.value
    if result.reached then times[#times + 1] = result.reached end
  end
  return { best = metric:best_of(values) or values[1], failed = #results - #times,
    seconds = #times > 0 and order.median(times) or nil }
end

local function show(value) return ("%.10g"):format(value) end

local function row(problem, metric, loops, controls)
  local ours, control, ae = summary(metric, loops), summary(metric, controls), problem.alphaevolve
  local function time(result) return result.seconds and ("%.1f s"):format(result.seconds) or "never" end
  local cells = { problem.title, ("%s (%s)"):format(show(problem.best[1]), problem.best[2]),
    ae and ("%s (%s)"):format(show(ae[1]), ae[2]) or "", show(ours.best), mark(metric, ours.best, problem.best[1]),
    ae and mark(metric, ours.best, ae[1]) or "", time(ours), ("%d of %d"):format(ours.failed, #loops),
    show(control.best), time(control), ("%d of %d"):format(control.failed, #controls) }
  print("| " .. table.concat(cells, " | ") .. " |")
  io.stdout:flush()
end

local function measure(problem)
  local loops, controls = {}, {}
  local metric
  for seed = 1, seeds do
    local dir = copy_of(problem)
    local manifest = yaml.decode(assert(fs.read(dir .. "/manifest.yaml")))
    local named = manifest.metric
    metric = direction.new { name = named.name, direction = named.direction, target = named.target }
    -- reached: as good as the goal in the digits that were published
    local published = (problem.alphaevolve or problem.best)[1]
    local slack = digits_of(published) > 0 and 10.0 ^ -digits_of(published) or 0
    local goal = published + (named.direction == "higher" and -slack or slack)
    loops[seed] = loop(dir, metric, goal, seed)
    controls[seed] = alone(dir, manifest, metric, goal, seed, loops[seed].budget)
    io.stderr:write(("%s, seed %d: %s in %.1f s, alone %s in %.1f s\n"):format(problem.name, seed,
      show(loops[seed].value), loops[seed].cpu, show(controls[seed].value), controls[seed].cpu))
  end
  row(problem, metric, loops, controls)
end

local function heading()
  print(("%d seeds, %g seconds each with two workers; times are processor seconds until the goal (AlphaEvolve's value, "
    .. "or the best known where there is none), the median of the seeds that reached it.\n"):format(seeds, seconds))
  print("| problem | best known | AlphaEvolve | ours, best seed | to the best known | to AlphaEvolve | time to the goal"
    .. " | seeds that missed it | alone: best seed | alone: time | alone: missed |")
  print("|---|---|---|---|---|---|---|---|---|---|---|")
end

local function main()
  heading()
  local found = false
  for _, problem in ipairs(dofile(examples .. "/hall/problems.lua")) do
    if not only or (" " .. only .. " "):find(" " .. problem.name .. " ", 1, true) then
      found = true
      measure(problem)
    end
  end
  if not found then error("problems.lua has no problem " .. only, 0) end
end

assert(wait.trap())
local ok, message = pcall(main)
fs.remove_tree(scratch)
if not ok then
  io.stderr:write("hall: ", tostring(message), "\n")
  os.exit(wait.interrupts() > 0 and 130 or 1, true)
end
