-- torture: kill -9 at random moments. `apsis exec tests/torture/torture.lua BUILD [KILLS [SEED]]` makes small projects, starts
-- BUILD/apsis run on each, kills it 0 to 300 ms later, starts it again, and so on until the run's budget is used up; with 1
-- worker and with 4 in turn, until KILLS kills have hit. After each kill every line journalled before is there byte by
-- byte, with its ref, and nothing of the commands runs; at the end numbers, branch, objects and the strategy's plans are as
-- if nothing had happened, and with one worker the journal equals that of a run that was left alone. Exit 1 says what
-- differed, and keeps the project.
local fs = require "apsis.fs"
local host = require "apsis.host"
local json = require "apsis.json"
local process = require "apsis.process"
local random = require "apsis.random"
local wait = require "apsis.wait"

local build = assert(fs.realpath(arg[1] or "build"))
local wanted, seed = math.tointeger(tonumber(arg[2] or 200)), math.tointeger(tonumber(arg[3] or os.time()))
if not wanted or not seed then
  io.stderr:write("usage: apsis exec torture.lua BUILD [KILLS [SEED]]\n")
  os.exit(2)
end
local apsis, root = build .. "/apsis", ("%s/torture-%d"):format(build, host.pid)
local marker = ("APSIS_TORTURE=%d-%d"):format(host.pid, os.time())
local EXPERIMENTS, WINDOW_S, STRAY_S = 60, 0.3, 5
local rng = random.stream(seed, "torture")

-- Hill climbing on one number. Some answers fail, change nothing, leave the scope; some candidates crash, leave daemons.
local files = {
  ["manifest.yaml"] = [[
version: 1
project: {name: torture}
seed: %d
files: [{path: "value*.txt", mode: writable}, {path: measure.sh, mode: hidden}]
verification: {commands: [{name: measure, run: [sh, measure.sh]}]}
metric: {name: score, direction: lower}
strategy: {use: hillclimb, options: {patience: 1000000}}
provider: {kind: lua, use: provider.lua}
budget: {iterations: %d}
execution: {workers: %d}
]],
  ["provider.lua"] = [[
return function(_, workspace)
  local rng, text = workspace.rng, workspace:read "value.txt"
  local what = rng:random()
  if what < 0.05 then return nil, "no idea" end
  if what < 0.1 then return { ["value.txt"] = text } end
  if what < 0.15 then return { ["elsewhere.txt"] = "out of scope\n" } end
  local edits = { ["value.txt"] = ("%d\n"):format(tonumber(text) + rng:integer(-50, 60)) }
  if what < 0.3 then edits["value_" .. rng:integer(1, 9) .. ".txt"] = ("more\n"):rep(rng:integer(1, 9)) end
  return edits, { hypothesis = "another number" }
end
]],
  ["measure.sh"] = [[
read -r value < value.txt
case $value in
*3) setsid sleep 100 > /dev/null 2>&1 & ;;
*7) echo "this one crashes" >&2; sleep 0.003; exit 3 ;;
*9) kill -9 $$ ;;
esac
sleep 0.00$((value * value % 9))
echo "METRIC score=$value"
]],
  ["value.txt"] = "1000\n",
  [".gitignore"] = "/logs/\n/runs/\n/.apsis/\n",
}

local environment = { HOME = root .. "/home", XDG_CACHE_HOME = root .. "/cache", XDG_CONFIG_HOME = root .. "/config", APSIS_HOME = false,
  GIT_CONFIG_NOSYSTEM = "1", GIT_AUTHOR_NAME = "torture", GIT_AUTHOR_EMAIL = "torture@localhost",
  GIT_COMMITTER_NAME = "torture", GIT_COMMITTER_EMAIL = "torture@localhost" }

local function quote(text)
  return "'" .. text:gsub("'", "'\\''") .. "'"
end

-- Ends the torture: what differed, and where to look.
local function fail(project, text, ...)
  io.stdout:flush()
  io.stderr:write(("torture: seed %d, project %s: %s\n"):format(seed, project.dir, text:format(...)))
  io.stderr:write((fs.read(project.dir .. ".log") or ""):sub(-2000), "\n")
  os.exit(1)
end

local function output(project, argv)
  local result = assert(process.run { argv = argv, env = environment, cwd = project.dir, head_bytes = 1 << 24 })
  if result.code ~= 0 then
    fail(project, "%s: exit %s: %s%s", table.concat(argv, " "), result.code, result.stdout.head, result.stderr.head)
  end
  return result.stdout.head
end

local function make(name, number, workers)
  local project = { dir = root .. "/" .. name, workers = workers, kills = 0, seen = "" }
  assert(fs.mkdir(project.dir))
  assert(fs.mkdir(environment.HOME))
  for path, text in pairs(files) do
    if path == "manifest.yaml" then text = text:format(number, EXPERIMENTS, workers) end
    assert(fs.write(project.dir .. "/" .. path, text))
  end
  output(project, { "git", "init", "-q" })
  output(project, { "git", "add", "-A" })
  output(project, { "git", "commit", "-q", "-m", "start" })
  output(project, { apsis, "baseline", "-q" })
  return project
end

-- The complete lines of the journal, as text and decoded.
local function lines_of(project)
  local text = fs.read(project.dir .. "/logs/results.jsonl"):match("^(.*\n)") or ""
  local lines = {}
  for line in text:gmatch "([^\n]*)\n" do
    local value, message = json.decode(line, true)
    if not value then fail(project, "journal line %d: %s", #lines + 1, message) end
    lines[#lines + 1] = value
  end
  return text, lines
end

-- Processes of this torture: told by their environment, which every descendant inherits, or by their command line.
local function strays()
  local found = {}
  for _, pid in ipairs(assert(fs.list "/proc")) do
    if pid:find "^%d+$" then
      local inherited, command = io.open("/proc/" .. pid .. "/environ"), io.open("/proc/" .. pid .. "/cmdline")
      local words = command and command:read "a" or ""
      if inherited and (inherited:read "a" or ""):find(marker, 1, true) and words ~= "" then
        found[#found + 1] = pid .. " " .. words:gsub("%z", " ")
      end
      if inherited then inherited:close() end
      if command then command:close() end
    end
  end
  return found
end

local function check_strays(project)
  local began, found = wait.now(), strays()
  while #found > 0 and wait.now() - began < STRAY_S do
    wait.sleep(0.005)
    found = strays()
  end
  if #found > 0 then fail(project, "after %d kills still running: %s", project.kills, table.concat(found, "; ")) end
  return wait.now() - began
end

local function check_refs(project, lines)
  local refs, ids = {}, {}
  for id, ref in output(project, { "git", "for-each-ref", "--format=%(objectname) %(refname)", "refs/apsis/torture/" })
    :gmatch "(%x+) refs/apsis/torture/(%S+)" do refs[ref] = id end
  for number, line in ipairs(lines) do
    if line.commit and refs[line.candidate] ~= line.commit then
      fail(project, "line %d: the ref of %s is %s, its commit %s", number, line.candidate, refs[line.candidate], line.commit)
    end
    ids[line.experiment] = (ids[line.experiment] or 0) + 1
    if ids[line.experiment] > 1 then fail(project, "experiment %d stands twice", line.experiment) end
  end
end

-- What was journalled before is there still, byte by byte.
local function check_kept(project)
  local text, lines = lines_of(project)
  if text:sub(1, #project.seen) ~= project.seen then
    fail(project, "after kill %d the journal no longer begins with the %d bytes it had", project.kills, #project.seen)
  end
  project.seen = text
  check_refs(project, lines)
  return lines
end

-- Starts `apsis run` and kills it after so many seconds (nil: never). Its exit code, 137 where the kill hit.
local function run(project, after_s)
  local kill = after_s and ("sleep %.4f; kill -9 $pid 2> /dev/null;"):format(after_s) or ""
  local words = { "env -u APSIS_HOME", quote(marker) }
  for name, value in pairs(environment) do
    if value then words[#words + 1] = quote(name .. "=" .. value) end
  end
  local pipe = assert(io.popen(("%s %s run -q %s >> %s 2>&1 & pid=$!; %s wait $pid 2> /dev/null; echo $?"):format(
    table.concat(words, " "), quote(apsis), quote(project.dir), quote(project.dir .. ".log"), kill)))
  local code = tonumber(pipe:read "a":match "(%d+)%s*$")
  pipe:close()
  return code
end

local function is_finished(project)
  local state = json.decode(fs.read(project.dir .. "/logs/state.json") or "", true)
  return state and state.status == "finished"
end

-- The best of the journal by the rules of DESIGN: lower is better here, and a kept tie takes the lead.
local function best_of(lines)
  local best
  for _, line in ipairs(lines) do
    if line.status == "keep" and (not best or line.primary_metric <= best.primary_metric) then best = line end
  end
  return best
end

local function check_end(project, lines)
  if #lines ~= EXPERIMENTS + 1 then fail(project, "%d lines, not %d", #lines, EXPERIMENTS + 1) end
  local there = {}
  for _, line in ipairs(lines) do there[line.experiment] = true end
  for number = 0, EXPERIMENTS do
    if not there[number] then fail(project, "no experiment %d: a gap in the numbers", number) end
  end
  local best = best_of(lines)
  local tree = output(project, { "git", "rev-parse", "refs/heads/apsis/torture^{tree}" }):match "%x+"
  if tree ~= best.tree then fail(project, "the branch's tree is %s, that of the best (%s) %s", tree, best.candidate, best.tree) end
  output(project, { "git", "fsck", "--strict", "--no-dangling", "--no-progress" })
  output(project, { apsis, "replay", "--check" })
end

local function check_same(project, lines, reference)
  for index, line in ipairs(lines) do
    local other = reference[index]
    for _, key in ipairs { "candidate", "outcome", "primary_metric", "tree" } do
      if line[key] ~= other[key] then
        fail(project, "line %d: %s is %s; in a run that was left alone %s", index, key, line[key], other[key])
      end
    end
  end
end

local total = { kills = 0, sessions = 0, projects = 0, lines = 0, redone = 0, daemons = 0, slowest = 0 }

-- One project from its baseline to the end of its budget, killed on the way.
local function torture(number, workers)
  local project = make(("%03d-%dw"):format(number, workers), number, workers)
  local lines
  repeat
    local code = run(project, rng:random() * WINDOW_S)
    total.sessions = total.sessions + 1
    if code == 137 then
      project.kills, total.kills = project.kills + 1, total.kills + 1
    elseif code ~= 0 then
      fail(project, "apsis run: exit %s after %d kills", code, project.kills)
    end
    -- half of the time the next run starts at once, beside what is still dying
    if rng:random() < 0.5 then total.slowest = math.max(total.slowest, check_strays(project)) end
    lines = check_kept(project)
    if project.kills > 200 then fail(project, "no progress: %d kills and %d lines", project.kills, #lines) end
  until code == 0 or is_finished(project)
  check_strays(project)
  check_end(project, lines)
  if workers == 1 then
    local alone = make(("%03d-alone"):format(number), number, 1)
    local code = run(alone)
    if code ~= 0 then fail(alone, "the run that was left alone: exit %s", code) end
    local _, reference = lines_of(alone)
    check_end(alone, reference)
    check_same(project, lines, reference)
    fs.remove_tree(alone.dir)
  end
  total.projects, total.lines = total.projects + 1, total.lines + #lines
  print(("project %d, %d worker(s): %d kills, %d lines; %d of %d kills in all"):format(number, workers, project.kills, #lines,
    total.kills, wanted))
  io.stdout:flush()
  fs.remove_tree(project.dir)
end

assert(fs.mkdir(root))
print(("torture: seed %d, %d kills, %d experiments a project"):format(seed, wanted, EXPERIMENTS))
local number = 0
while total.kills < wanted do
  number = number + 1
  torture(number, number % 2 == 1 and 1 or 4)
end
fs.remove_tree(root)
print(("nothing lost: %d kills, %d starts, %d projects, %d lines; the last process was gone %.3f s after its kill at most"):format(
  total.kills, total.sessions, total.projects, total.lines, total.slowest))
