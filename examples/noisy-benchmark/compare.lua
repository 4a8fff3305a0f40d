-- compare: strict hill climbing and `acceptance` side by side on this example: the same edits in the same order, one
-- experiment of each in turn, so that machine noise affects both. Then both best versions and the original are
-- measured again, in random order in each round. Works in scratch copies that it removes; changes nothing here.
--
--   apsis exec compare.lua [EXPERIMENTS [SEED [ROUNDS [PRESET]]]]      40 experiments each, seed 1, 20 rounds,
-- default
local acceptance = require "apsis.acceptance"
local direction = require "apsis.direction"
local fs = require "apsis.fs"
local host = require "apsis.host"
local json = require "apsis.json"
local process = require "apsis.process"
local random = require "apsis.random"
local wait = require "apsis.wait"

local experiments, seed, rounds = math.tointeger(arg[1] or 40), math.tointeger(arg[2] or 1),
  math.tointeger(arg[3] or 20)
local preset = arg[4] or "default"
if not (experiments and experiments > 0 and seed and rounds and rounds > 1 and acceptance.presets[preset]) then
  io.stderr:write "usage: apsis exec compare.lua [EXPERIMENTS [SEED [ROUNDS [default|sensitive]]]]\n"
  os.exit(2)
end

local here = arg[0]:match "^(.*)/[^/]*$" or "."
local own = { logs = true, runs = true, [".apsis"] = true, [".git"] = true } -- of a user's run here
local metric = direction.new { name = "relative_time", direction = "lower" }

local scratch

-- What a command printed; raises if it failed or a signal came.
local function output(dir, ...)
  if wait.interrupts() > 0 then error("interrupted", 0) end
  local result = assert(process.run { argv = { ... }, cwd = dir, env = { TMPDIR = scratch }, head_bytes = 1048576 })
  if result.code ~= 0 then
    error(("%s: %s%s"):format(table.concat({ ... }, " "), result.stdout.head, result.stderr.head), 0)
  end
  return result.stdout.head
end

local function copy_example(to)
  assert(fs.mkdir(to))
  for _, name in ipairs(assert(fs.list(here))) do
    if not own[name] then assert(fs.write(to .. "/" .. name, assert(fs.read(here .. "/" .. name)))) end
  end
end

-- The manifest with another acceptance, or none: replaces that line by `text`.
local function write_manifest(arm, text)
  local manifest, count = assert(fs.read(here .. "/manifest.yaml")):gsub("\nacceptance:[^\n]*", text and "\n" .. text
    or "")
  assert(count == 1, "manifest.yaml has no line acceptance")
  assert(fs.write(arm.dir .. "/manifest.yaml", (manifest:gsub("patience: %d+", "patience: 1000000"))))
end

local function apsis(arm, ...)
  return output(arm.dir, "env", "XDG_CACHE_HOME=" .. arm.cache, host.executable, ...)
end

local function begin(name, text)
  local arm = { name = name, dir = scratch .. "/" .. name, cache = scratch .. "/cache" }
  copy_example(arm.dir)
  write_manifest(arm, text)
  output(arm.dir, "git", "init", "-q")
  output(arm.dir, "git", "add", "-A")
  output(arm.dir, "git", "-c", "user.name=compare", "-c", "user.email=compare@localhost", "commit", "-q", "-m", "start")
  apsis(arm, "baseline", "-q", "--seed", seed, table.unpack(text and {} or { "--repeats", "1" }))
  return arm
end

-- One experiment of each in turn; the last is a run, which measures the gain at its end.
local function run_both(arms, rng)
  for number = 1, experiments do
    for _, arm in ipairs(rng:shuffle { arms[1], arms[2] }) do
      if number < experiments then apsis(arm, "step", "-q", "--seed", seed)
      else apsis(arm, "run", "-q", "--seed", seed, "--iterations", "1") end
    end
    if number % 10 == 0 then io.stderr:write(("%d of %d experiments\n"):format(number, experiments)) end
  end
end

-- From the journal: counts, and the reported gain.
local function read_journal(arm)
  arm.kept, arm.proposed, arm.measured = { real = 0, ["no-op"] = 0 }, { real = 0, ["no-op"] = 0 }, 0
  for line in assert(fs.read(arm.dir .. "/logs/results.jsonl")):gmatch "[^\n]+" do
    local record = json.decode(line)
    local kind = type(record.hypothesis) == "string" and record.hypothesis:match "^([%l%-]+): "
    arm.measured = arm.measured + (record.measurements or 0)
    if kind then
      arm.proposed[kind] = arm.proposed[kind] + 1
      if record.outcome == "kept" then arm.kept[kind] = arm.kept[kind] + 1 end
    elseif record.outcome == "baseline" then
      arm.first = record.primary_metric
      arm.for_baseline = record.measurements
      local noise = type(record.notes) == "table" and record.notes.noise
      arm.noise = noise and noise[metric.name] / arm.first
    end
    local gain = type(record.acceptance) == "table" and record.acceptance.gain
    if gain then arm.reported = gain end
  end
  local best = json.decode(apsis(arm, "status", "--json")).best
  arm.commit = best.commit
  if arm.name == "strict" then arm.reported = { relative = metric:gain(best.value, arm.first) / arm.first } end
end

local function measure(dir)
  local text = output(dir, "sh", "evaluate.sh", "time")
  return (assert(tonumber(text:match "METRIC relative_time=(%S+)"), text))
end

-- Measures both best versions and the original `rounds` times, in a new random order each time.
local function measure_anew(arms, rng)
  local places = { { dir = scratch .. "/original", values = {} } }
  copy_example(places[1].dir)
  for index, arm in ipairs(arms) do
    local place = { dir = scratch .. "/best-" .. arm.name, values = {} }
    copy_example(place.dir)
    assert(fs.write(place.dir .. "/routine.c", output(arm.dir, "git", "show", arm.commit .. ":routine.c")))
    places[index + 1] = place
  end
  for _ = 1, rounds do
    for _, place in ipairs(rng:shuffle { table.unpack(places) }) do table.insert(place.values, measure(place.dir)) end
  end
  for index, arm in ipairs(arms) do
    arm.remeasured = acceptance.gain(places[index + 1].values, places[1].values, metric)
  end
end

local function percent(gain)
  if not gain then return "none" end
  local text = ("%.1f %%"):format(100 * gain.relative)
  if not gain.low or gain.gain == 0 then return text end
  local scale = 100 * gain.relative / gain.gain
  return ("%s (%.1f to %.1f)"):format(text, scale * gain.low, scale * gain.high)
end

local function print_table(arms)
  print(("%-36s %-24s %s"):format("", arms[1].name, arms[2].name))
  local function row(name, value)
    print((("%-36s %-24s %s"):format(name, value(arms[1]), value(arms[2]))))
  end
  row("measurements, in all", function(arm) return arm.measured end)
  row("  of them for the baseline", function(arm) return arm.for_baseline end)
  row("noise of the baseline, sd", function(arm) return arm.noise and ("%.1f %%"):format(100 * arm.noise) or "unknown" end)
  for _, kind in ipairs { "real", "no-op" } do
    row(("%s: kept of those proposed"):format(kind), function(arm) return ("%d of %d"):format(arm.kept[kind], arm.proposed[kind]) end)
  end
  row("reported gain", function(arm) return percent(arm.reported) end)
  row("gain measured again", function(arm) return percent(arm.remeasured) end)
end

local function load_average()
  local text = fs.read "/proc/loadavg"
  return text and text:match "^%S+ %S+" or "unknown"
end

local function compare()
  local rng = random.stream(seed, "compare")
  local before = load_average()
  local arms = { begin("strict", nil), begin("acceptance", ("acceptance: {preset: %s}"):format(preset)) }
  run_both(arms, rng)
  for _, arm in ipairs(arms) do read_journal(arm) end
  measure_anew(arms, rng)
  print(("%d experiments each, seed %d, preset %s; load (1 and 5 minutes) before: %s, after: %s"):format(experiments,
    seed, preset,
    before, load_average()))
  print_table(arms)
end

assert(wait.trap()) -- so that a signal leaves neither a scratch folder nor a running command
scratch = output(".", "mktemp", "-d"):match "[^\n]+"
local ok, message = pcall(compare)
fs.remove_tree(scratch)
if wait.interrupts() > 0 then
  io.stderr:write "compare: interrupted\n"
  os.exit(130)
elseif not ok then
  io.stderr:write("compare: ", tostring(message), "\n")
  os.exit(1)
end
