-- projects: the projects that the benchmarks measure, made in a folder: a trivial one, one in a large repository, one with a
-- long journal. Owns no measurement. Called by bench.lua.
local fs = require "apsis.fs"
local lines = require "apsis.core.line"
local json = require "apsis.json"
local process = require "apsis.process"
local random = require "apsis.random"

local projects = {}

local function run(spec)
  spec.head_bytes = 1048576
  local result, message = process.run(spec)
  if not result or result.code ~= 0 then
    error(message or (spec.shell or table.concat(spec.argv, " ")) .. ": " .. result.stderr.head .. result.stdout.head, 2)
  end
  return result.stdout.head
end

-- One experiment in ten improves and moves the branch, which is about what a search on a real problem finds.
local provider = [[
return function(proposal)
  local number = proposal.experiment
  return { ["value.txt"] = ("%d\n"):format(number % 10 == 0 and number or -number) }
end
]]

local manifest = [[
version: 1
project: {name: bench}
files: [{path: value.txt, mode: writable}]
verification: {commands: [{name: measure, run: %s}]}
metric: {name: score, direction: higher}
strategy: {use: hillclimb, options: {patience: 1000000}}
provider: {kind: lua, use: provider.lua}
]]

projects.echo = [["read -r value < value.txt; echo \"METRIC score=$value\""]]

-- Environment of every command: nothing of the user's.
function projects.environment(root)
  return { HOME = root .. "/home", XDG_CACHE_HOME = root .. "/cache", XDG_CONFIG_HOME = root .. "/config", LC_ALL = "C",
    GIT_CONFIG_NOSYSTEM = "1", GIT_AUTHOR_NAME = "bench", GIT_AUTHOR_EMAIL = "bench@localhost",
    GIT_COMMITTER_NAME = "bench", GIT_COMMITTER_EMAIL = "bench@localhost" }
end

-- A project with a baseline. options: command (text of the manifest), extra (files more), apsis (the program).
function projects.make(root, name, options)
  local dir, env = root .. "/" .. name, projects.environment(root)
  assert(fs.mkdir(dir))
  assert(fs.mkdir(env.HOME))
  assert(fs.write(dir .. "/manifest.yaml", manifest:format(options.command or projects.echo)))
  assert(fs.write(dir .. "/provider.lua", provider))
  assert(fs.write(dir .. "/value.txt", "0\n"))
  for number = 1, options.extra or 0 do
    local folder = ("%s/src/%02d"):format(dir, number % 100)
    if number <= 100 then assert(fs.mkdir(folder)) end
    assert(fs.write(("%s/file%04d.txt"):format(folder, number), ("file %d\n"):format(number):rep(20)))
  end
  assert(fs.write(dir .. "/.gitignore", "/logs/\n/runs/\n/.apsis/\n"))
  run { shell = "git init -q && git add -A && git commit -q -m start", cwd = dir, env = env }
  run { argv = { options.apsis, "baseline", "-q", dir }, env = env }
  return dir
end

local outcomes = { "kept", "reverted_worse_metric", "reverted_worse_metric", "reverted_worse_metric", "skipped_no_change" }

-- The fields of a past experiment, as the engine writes them.
local function past_line(number, commits, best, rng)
  local outcome = outcomes[1 + number % #outcomes]
  local value = rng:normal()
  if outcome == "kept" then value = best.value + 1e-4 * rng:random() end
  local fields = {
    experiment = number, candidate = lines.id(number), parents = { best.id }, outcome = outcome, strategy = "hillclimb",
    operator = "exploitation", run = 1, seen = number, direction = "higher", best = best.value, delta = value - best.value,
    improved = outcome == "kept", proposal = { operator = "exploitation", parents = { best.id } }, tokens = 0, cost = 0,
    measurements = 1, planned = 1.7e9 + number, seconds = 0.01 + rng:random() / 100, timestamp = lines.timestamp(1.7e9 + number),
    hypothesis = ("move circle %d with %d neighbours, reach %.2g"):format(rng:integer(1, 26), rng:integer(2, 9), rng:random()),
    commit = commits[number], tree = ("%040x"):format(number), changed_lines = rng:integer(1, 60),
  }
  if outcome ~= "skipped_no_change" then
    fields.primary_metric, fields.samples, fields.stage = value, { value }, 1
    fields.secondary_metrics = { latency_ms = 10 * rng:random(), memory_mb = rng:integer(10, 99) }
  end
  if outcome == "kept" then best.value, best.id = value, fields.candidate end
  return json.encode(lines.for_file(lines.complete(fields)))
end

-- One commit for each past experiment, each with its ref, by git fast-import.
local function import_commits(dir, env, count)
  local parts = {}
  for number = 1, count do
    local text = ("%d\n"):format(-number)
    parts[#parts + 1] = ("commit refs/apsis/bench/%s\nmark :%d\ncommitter bench <bench@localhost> %d +0000\ndata 5\npast\nfrom %s\n"
      .. "M 100644 inline value.txt\ndata %d\n%s\n"):format(lines.id(number), number, 1700000000 + number,
        "refs/apsis/bench/c0000^0", #text, text)
  end
  run { argv = { "git", "fast-import", "--quiet", "--export-marks=.git/marks" }, cwd = dir, env = env,
    stdin_text = table.concat(parts) }
  local commits = {}
  for mark, id in assert(fs.read(dir .. "/.git/marks")):gmatch ":(%d+) (%x+)" do commits[tonumber(mark)] = id end
  return commits
end

-- Appends `count` past experiments to a project's journal, beside apsis: without the journal's digests. git: also their
-- commits, refs and folders in runs/.
function projects.age(root, dir, count, git)
  fs.remove(dir .. "/.apsis/digests")
  local commits = git and import_commits(dir, projects.environment(root), count) or setmetatable({}, {
    __index = function(_, number) return ("%040x"):format(number) end })
  local rng, best, past = random.stream(1, 0, "bench"), { value = 0, id = "c0000" }, {}
  for number = 1, count do
    past[#past + 1] = past_line(number, commits, best, rng) .. "\n"
    if #past == 1000 or number == count then
      assert(fs.append(dir .. "/logs/results.jsonl", table.concat(past)))
      past = {}
    end
    if git then
      local folder = ("%s/runs/%04d"):format(dir, number)
      assert(fs.mkdir(folder))
      assert(fs.write(folder .. "/proposal.json", "{}\n"))
    end
  end
end

return projects
