-- soak: one long run. `apsis exec tests/soak/soak.lua APSIS DIR [EXPERIMENTS [WORKERS]]` makes a project in DIR and lets APSIS run
-- that many experiments on it: of 100 verifications five crash and one is over its time, and apsis itself is killed by kill -9 once
-- for every thousand experiments, all in the first part of the run, so that the last process lives long. Samples what the process
-- holds and what an experiment takes as it goes, and compares the end with the beginning. At the end every experiment is there once,
-- with its commit and its ref, git and apsis find nothing wrong, and nothing runs. Exit 1 says what differed, and keeps the project.
local fs = require "apsis.fs"
local host = require "apsis.host"
local json = require "apsis.json"
local process = require "apsis.process"
local random = require "apsis.random"
local state = require "apsis.state"
local stats = require "apsis.stats"
local wait = require "apsis.wait"

local apsis, base = assert(fs.realpath(arg[1] or "build/apsis")), assert(fs.realpath(arg[2] or "build"))
local wanted, workers = math.tointeger(tonumber(arg[3] or 100000)), math.tointeger(tonumber(arg[4] or 8))
if not wanted or not workers or wanted < 100 or workers < 1 then
  io.stderr:write("usage: apsis exec soak.lua APSIS DIR [EXPERIMENTS [WORKERS]]\n")
  os.exit(2)
end

local KEEP_RUNS, WITHIN, STRAY_S, LIMIT_S = 200, 1.1, 10, 6 * 3600
local REFS = 2000 -- the newest 256 finished, up to 256 until a block is whole, and what comes until a sweep ends
local SETTLED, WINDOW = 1000, 1000 -- a process is looked at after so many experiments of its own, and over so many more
local root = ("%s/soak-%d"):format(base, host.pid)
local marker = ("APSIS_SOAK=%d-%d"):format(host.pid, os.time())
local project = root .. "/project"
local rng = random.stream(wanted, "soak")

-- Hill climbing on one number, most of it in vain. A candidate's own experiment number, in its file, says what becomes of it.
local files = {
  ["manifest.yaml"] = ([[
version: 1
project: {name: soak}
files: [{path: value.txt, mode: writable}, {path: measure.sh, mode: hidden}]
verification: {commands: [{name: measure, run: [sh, measure.sh], timeout_sec: 0.3}]}
metric: {name: score, direction: lower}
strategy: {use: hillclimb, options: {patience: 1000000000}}
provider: {kind: lua, use: provider.lua}
budget: {iterations: %d}
execution: {workers: %d}
keep_runs: %d
]]):format(wanted, workers, KEEP_RUNS),
  ["provider.lua"] = [[
return function(proposal, workspace)
  local value = tonumber(workspace:read "value.txt":match "^%-?%d+")
  return { ["value.txt"] = ("%d %d\n"):format(value + workspace.rng:integer(-9, 1000), proposal.experiment) }
end
]],
  ["measure.sh"] = [[
read -r value experiment < value.txt
case $((experiment % 100)) in
7|47) echo "this one crashes" >&2; exit 3 ;;
17|57) kill -9 $$ ;;
27) kill -SEGV $$ ;;
77) exec sleep 100 ;;
esac
echo "METRIC score=$value"
]],
  ["value.txt"] = "1000000 0\n",
  [".gitignore"] = "/logs/\n/runs/\n/.apsis/\n",
}

-- What becomes of experiment N, as measure.sh has it.
local function fate(number)
  local last = number % 100
  if last == 77 then return "timeout" end
  return (last == 7 or last == 47 or last == 17 or last == 57 or last == 27) and "crash" or "measured"
end

local environment = { HOME = root .. "/home", XDG_CACHE_HOME = root .. "/cache", XDG_CONFIG_HOME = root .. "/config", APSIS_HOME = false,
  GIT_CONFIG_NOSYSTEM = "1", GIT_AUTHOR_NAME = "soak", GIT_AUTHOR_EMAIL = "soak@localhost",
  GIT_COMMITTER_NAME = "soak", GIT_COMMITTER_EMAIL = "soak@localhost" }

local failures = {}

local function failed(text, ...)
  failures[#failures + 1] = text:format(...)
  io.stdout:flush()
  io.stderr:write("soak: ", failures[#failures], "\n")
end

local function give_up(text, ...)
  failed(text, ...)
  io.stderr:write((fs.read(root .. "/log") or ""):sub(-2000), "\nsoak: the project is in ", project, "\n")
  os.exit(1)
end

local function output(argv, most)
  local result = assert(process.run { argv = argv, env = environment, cwd = project, head_bytes = most or 1 << 20 })
  if result.code ~= 0 then
    give_up("%s: exit %s: %s%s", table.concat(argv, " "), result.code, result.stdout.head, result.stderr.head)
  end
  return result.stdout.head
end

local function make()
  assert(fs.mkdir(project))
  assert(fs.mkdir(environment.HOME))
  for path, text in pairs(files) do assert(fs.write(project .. "/" .. path, text)) end
  output { "git", "init", "-q" }
  output { "git", "add", "-A" }
  output { "git", "commit", "-q", "-m", "start" }
  output { apsis, "baseline", "-q" }
end

-- ---- the process that is watched ----

local function quote(text)
  return "'" .. text:gsub("'", "'\\''") .. "'"
end

-- Starts `apsis run` below a shell that tells its pid and, at the end, its exit code.
local function start()
  local words = { "env -u APSIS_HOME", quote(marker) }
  for name, value in pairs(environment) do
    if value then words[#words + 1] = quote(name .. "=" .. value) end
  end
  local pipe = assert(io.popen(("%s %s run -q %s >> %s 2>&1 & pid=$!; echo $pid; wait $pid 2> /dev/null; echo $?"):format(
    table.concat(words, " "), quote(apsis), quote(project), quote(root .. "/log"))))
  return { pipe = pipe, pid = math.tointeger(tonumber(pipe:read "l")) }
end

local function finish(one)
  local code = tonumber(one.pipe:read "a":match "%d+")
  one.pipe:close()
  return code
end

local function text_of(path)
  local file = io.open(path)
  local text = file and file:read "a"
  if file then file:close() end
  return text
end

-- What a process holds now, and what it has used: kB, counts, CPU seconds of its own and with its commands'. nil where it has ended.
local function sample(pid)
  local status, stat = text_of(("/proc/%d/status"):format(pid)), text_of(("/proc/%d/stat"):format(pid))
  local rss = status and status:match "VmRSS:%s*(%d+)"
  if not rss then return nil end
  local times = {}
  for number in stat:match ".*%) (.*)":gmatch "%S+" do times[#times + 1] = tonumber(number) end
  return { rss = tonumber(rss), peak = tonumber(status:match "VmHWM:%s*(%d+)"), threads = tonumber(status:match "Threads:%s*(%d+)"),
    files = #(fs.list(("/proc/%d/fd"):format(pid)) or {}), own_s = (times[12] + times[13]) / 100,
    cpu_s = (times[12] + times[13] + times[14] + times[15]) / 100, at = wait.now() }
end

-- Complete lines of the journal, counted as it grows.
local journal = { size = 0, count = 0 }

local function count_lines()
  local file = assert(io.open(project .. "/logs/results.jsonl", "rb"))
  file:seek("set", journal.size)
  local text = file:read "a" or ""
  file:close()
  local complete = text:match "^(.*\n)" or ""
  journal.size, journal.count = journal.size + #complete, journal.count + select(2, complete:gsub("\n", ""))
  return journal.count
end

-- CPU ms of starting a trivial program, now: what a machine at work makes dearer, it makes dearer for this, too.
local STARTS = 40

local function yardstick()
  local result = assert(process.run { shell = ("i=0; while [ $i -lt %d ]; do /bin/true; i=$((i + 1)); done"):format(STARTS) })
  return 1000 * (result.user_s + result.sys_s) / STARTS
end

-- ---- what is sampled ----

local function du(path)
  local text = output { "sh", "-c", "du -sk " .. quote(path) .. " 2> /dev/null || true" }
  return (tonumber(text:match "^(%d+)") or 0) / 1024
end

local header = ("%11s %8s %6s %8s %8s %7s %7s %9s %8s %6s %8s %11s"):format("experiments", "RSS kB", "files", "threads", "wall ms",
  "CPU ms", "own ms", "in starts", ".git MB", "loose", "runs MB", "journal MB")

-- A window of one process: its holdings within it, and per experiment what it took: also counted in starts of a trivial program, so
-- that two moments of a machine that has other work can be compared.
local function measure(window)
  local first, last, count = window[1], window[#window], window.count
  local most = { rss = 0, files = 0, threads = 0 }
  local sum, starts, cpu_ms = 0, 0, 1000 * (last.cpu_s - first.cpu_s) / count
  for _, ms in ipairs(window.yardsticks) do starts = starts + ms / #window.yardsticks end
  for _, one in ipairs(window) do
    for name, value in pairs(most) do most[name] = math.max(value, one[name]) end
    sum = sum + one.rss
  end
  return { rss = sum / #window, files = most.files, threads = most.threads, wall_ms = 1000 * (last.at - first.at) / count,
    cpu_ms = cpu_ms, in_starts = cpu_ms / starts, own_ms = 1000 * (last.own_s - first.own_s) / count, at = window.at }
end

local function show(seen)
  local loose = #(fs.list(project .. "/.git/refs/apsis/soak") or {})
  print(("%11d %8.0f %6d %8d %8.2f %7.2f %7.2f %9.2f %8.1f %6d %8.1f %11.1f"):format(seen.at, seen.rss, seen.files, seen.threads,
    seen.wall_ms, seen.cpu_ms, seen.own_ms, seen.in_starts, du(project .. "/.git"), loose, du(project .. "/runs"), journal.size / 1048576))
  io.stdout:flush()
end

local total = { kills = 0, starts = 0, peak = 0 }
local measured = {} -- windows, in order

local ENDS <const> = 3 -- windows at either end, whose medians are compared: one alone is as good as the machine's mood

-- Whether a window is to begin: the first ones at once, then in every twenty-fifth of the run, and near its end.
local function is_due(count)
  if count >= wanted - 3 * WINDOW // 2 and not measured.final then
    measured.final = true
    return true
  end
  return count >= (measured.next or 0) and count < wanted - 3 * WINDOW
end

-- Watches one process until it ends or is to be killed (after so many experiments; nil: never). Its exit code; 137 where it was killed.
local function watch(kill_after)
  local one, before = start(), count_lines()
  total.starts = total.starts + 1
  local window
  while true do
    local now, count = sample(one.pid), count_lines() - before
    if not now then break end
    total.peak = math.max(total.peak, now.peak)
    if kill_after and count >= kill_after then
      total.kills = total.kills + 1
      os.execute(("kill -9 %d"):format(one.pid)) -- not by apsis.process, whose commands see no process but their own
      break
    end
    if not window and count >= SETTLED and is_due(journal.count) then window = { from = count, at = journal.count, yardsticks = {} } end
    if window then
      window[#window + 1] = now
      if now.at >= (window.next or 0) then window.yardsticks[#window.yardsticks + 1], window.next = yardstick(), now.at + 0.5 end
    end
    if window and count >= window.from + WINDOW then
      window.count = count - window.from
      measured[#measured + 1] = measure(window)
      show(measured[#measured])
      measured.next, window = journal.count + (#measured < ENDS and 0 or wanted // 25), nil
    end
    if wait.now() > total.began + LIMIT_S then give_up("not done after %d s", LIMIT_S) end
    wait.sleep(0.05)
  end
  return finish(one)
end

-- ---- what must hold ----

local function strays()
  local found = {}
  for _, pid in ipairs(assert(fs.list "/proc")) do
    if pid:find "^%d+$" and (text_of("/proc/" .. pid .. "/environ") or ""):find(marker, 1, true) then
      local words = text_of("/proc/" .. pid .. "/cmdline") or ""
      if words ~= "" then found[#found + 1] = pid .. " " .. words:gsub("%z", " ") end
    end
  end
  return found
end

local function check_strays(when)
  local began, found = wait.now(), strays()
  while #found > 0 and wait.now() - began < STRAY_S do
    wait.sleep(0.02)
    found = strays()
  end
  if #found > 0 then failed("%s still running: %s", when, table.concat(found, "; ")) end
end

-- Every experiment once, as its number would have it; and the commit of each candidate.
local function check_journal()
  local seen, commits, counts, last = {}, {}, { crash = 0, timeout = 0, measured = 0, other = 0, slow = 0 }, -1
  for text in state.lines(project .. "/logs/results.jsonl") do
    local line = assert(json.decode(text, true))
    local number = line.experiment
    if seen[number] then failed("experiment %d stands twice", number) end
    seen[number], last = true, math.max(last, number)
    if line.commit then commits[line.candidate] = line.commit end
    if number > 0 then
      local reason = line.rollback_reason or ""
      local became = line.outcome ~= "skipped_verification_crash" and (line.primary_metric and "measured" or "other")
        or reason:find "over its limit" and "timeout" or "crash"
      counts[became] = counts[became] + 1
      local slow = became == "timeout" and fate(number) ~= "timeout" -- a machine at work may take longer than the limit for any
      counts.slow = counts.slow + (slow and 1 or 0)
      if became ~= fate(number) and not slow then failed("experiment %d: %s (%s), not %s", number, became, reason, fate(number)) end
    end
  end
  if last ~= wanted then failed("the last experiment is %d, not %d", last, wanted) end
  for number = 0, wanted do
    if not seen[number] then failed("no experiment %d", number) end
  end
  return commits, counts
end

-- Each ref names its line's commit, only the newest candidates have one, and git keeps the commits of all.
local function check_refs(commits)
  local path, left, refs, reachable = root .. "/refs", 0, 0, {}
  output { "sh", "-c", "git for-each-ref --format='%(objecttype) %(objectname) %(refname)' refs/apsis/soak/ > " .. quote(path) }
  for kind, id, name in fs.read(path):gmatch "(%S+) (%x+) refs/apsis/soak/(%S+)" do
    refs = refs + 1
    if kind ~= "commit" then failed("%s is no commit", name) end
    if commits[name] ~= id then failed("the ref %s is %s, its commit in the journal %s", name, id, commits[name]) end
  end
  if refs > REFS then failed("%d candidates have refs, more than %d", refs, REFS) end
  output { "sh", "-c", "git rev-list --glob='refs/apsis/soak/*' --glob='refs/apsis-anchors/soak/*' > " .. quote(path) }
  for id in fs.read(path):gmatch "%x+" do reachable[id] = true end
  for name, id in pairs(commits) do
    if not reachable[id] then left = left + 1 end
    if not reachable[id] and left < 10 then failed("git does not keep the commit of %s", name) end
  end
  output { "git", "fsck", "--strict", "--no-dangling", "--no-progress" }
  return refs
end

local function check_runs()
  local count = 0
  for _, name in ipairs(fs.list(project .. "/runs") or {}) do
    if name:find "^%d+$" then count = count + 1 end
  end
  if count > KEEP_RUNS + workers + 2 then failed("runs/ has %d folders, with keep_runs: %d", count, KEEP_RUNS) end
  return count
end

-- The median of some windows, by field; at: where the first of them began.
local function median_of(from, to)
  local seen = { at = measured[from].at }
  for name in pairs(measured[from]) do
    local values = {}
    for index = from, to do values[#values + 1] = measured[index][name] end
    if name ~= "at" then seen[name] = stats.median(values) end
  end
  return seen
end

-- Whether the end is as the beginning: what is held and what an experiment takes.
local function compare()
  local ends = math.min(ENDS, #measured // 2)
  if ends == 0 then return print "too short a run to compare its end with its beginning" end
  local first, last = median_of(1, ends), median_of(#measured - ends + 1, #measured)
  local words = {}
  for _, one in ipairs { { "rss", "RSS", "%.0f kB" }, { "files", "open files", "%d" }, { "threads", "threads", "%d" },
    { "in_starts", "CPU of an experiment in starts of a program", "%.2f" } } do
    local name, label, form = table.unpack(one)
    local ratio = last[name] / first[name]
    words[#words + 1] = ("%s " .. form .. " -> " .. form .. " (%+.1f %%)"):format(label, first[name], last[name], 100 * (ratio - 1))
    if ratio > WITHIN then failed("%s at %d is not within 10 %% of that at %d", words[#words], last.at, first.at) end
  end
  print(("per process, from %d and from %d experiments on (medians of %d windows): %s"):format(first.at, last.at, ends,
    table.concat(words, "; ")))
end

assert(fs.mkdir(root))
print(("soak: %d experiments, %d workers, %d times kill -9, keep_runs: %d"):format(wanted, workers, wanted // 1000, KEEP_RUNS))
print(header)
total.began = wait.now()
make()
local code
local kills = wanted // 1000
repeat
  local after = total.kills % 8 == 0 and 2300 or rng:integer(1, 600)
  if total.kills == kills or count_lines() > 3 * wanted / 4 then after = nil end -- the last process lives for the rest of the run
  code = watch(after)
  if code ~= 0 and code ~= 137 then give_up("apsis run: exit %s after %d kills", code, total.kills) end
  if total.kills % 10 == 0 then check_strays(("after %d kills"):format(total.kills)) end
until code == 0
check_strays "after the run"
count_lines()
local run_s = wait.now() - total.began
local commits, counts = check_journal()
local folders = check_runs()
local sizes = { git = du(project .. "/.git"), runs = du(project .. "/runs"), journal = journal.size / 1048576 }
local refs = check_refs(commits)
output { apsis, "replay", "--check" }
compare()
print(("at the end: .git %.1f MB (%d refs, packs and what is loose), runs/ %d folders of %.1f MB, journal %.1f MB; %d starts, at most "
  .. "%d kB in one process, for a moment; %.0f s"):format(sizes.git, refs, folders, sizes.runs, sizes.journal, total.starts, total.peak,
  run_s))
if #failures > 0 then
  io.stderr:write(("soak: %d things differed; the project is in %s\n"):format(#failures, project))
  os.exit(1)
end
fs.remove_tree(root)
print(("nothing lost: %d experiments, %d kills, %d crashes, %d timeouts"):format(wanted, total.kills, counts.crash, counts.timeout))
