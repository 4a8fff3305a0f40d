-- project: the small project that calls.lua and cuts.lua run apsis on: experiments after a baseline, of which each second one is
-- rejected, while the others are kept and move the branch, a provider in Lua, a verifier that is a command. Makes it, runs apsis on it,
-- and says what differs between what a run left and what one that was left alone leaves.
local fs = require "apsis.fs"
local json = require "apsis.json"
local process = require "apsis.process"

local project = { experiments = 3,
  numbers = { "20", "15", "30", "25", "40", "35", "50", "45", "60", "55", "70", "65" } } -- what the provider proposes

local files = {
  ["manifest.yaml"] = [[
version: 1
project: {name: faults}
files: [{path: value.txt, mode: writable}, {path: measure.sh, mode: hidden}, {path: provider.lua, mode: hidden}]
verification: {commands: [{name: measure, run: [sh, measure.sh]}]}
metric: {name: score, direction: higher}
strategy: {use: hillclimb, options: {patience: 1000}}
provider: {kind: lua, use: provider.lua}
budget: {iterations: 3}
]],
  ["provider.lua"] = [[
local numbers = { ]] .. table.concat(project.numbers, ", ") .. [[ }
return function(proposal, workspace)
  if not workspace:read "value.txt":find "^%d+\n$" then error "not the file that was committed" end
  return { ["value.txt"] = numbers[proposal.experiment] .. "\n" }, { hypothesis = "another number" }
end
]],
  ["measure.sh"] = 'read -r value < value.txt; echo "measured $value" > "$APSIS_ARTIFACTS/note.txt"; echo "METRIC score=$value"\n',
  ["value.txt"] = "10\n",
  [".gitignore"] = "/logs/\n/runs/\n/.apsis/\n",
}

-- Where scratch folders go: into memory, or where tests/beside_gc finds their repositories.
function project.base(build)
  local memory = fs.stat "/dev/shm"
  return os.getenv "BESIDE_GC" and os.getenv "TMPDIR" or memory and memory.mode & 1 == 1 and "/dev/shm" or build
end

-- Copies a folder. gc sees only the whole copy: it removes empty folders, which a copy has just made.
function project.copy(from, to)
  local above, name = to:match "^(.*/)([^/]*)$"
  local new = above .. "undisturbed-" .. name
  assert(fs.copy_tree(from, new))
  assert(fs.rename(new, to))
end

-- The environment of every command; root holds home, cache and configuration.
function project.environment(root)
  return { HOME = root .. "/home", XDG_CACHE_HOME = root .. "/cache", XDG_CONFIG_HOME = root .. "/config", APSIS_HOME = false,
    TMPDIR = root, GIT_CONFIG_NOSYSTEM = "1", GIT_AUTHOR_NAME = "faults", GIT_AUTHOR_EMAIL = "faults@localhost",
    GIT_COMMITTER_NAME = "faults", GIT_COMMITTER_EMAIL = "faults@localhost", LD_PRELOAD = false, FAULT = false, FAULT_LOG = false,
    FAULT_PATH = false }
end

-- Runs a command in dir: exit code (nil where a signal or the time limit ended it), its output, how it ended.
function project.command(dir, env, argv, timeout_s)
  local result = assert(process.run { argv = argv, env = env, cwd = dir, timeout_s = timeout_s or 60, grace_s = 0, head_bytes = 1 << 20 })
  return result.code, result.stdout.head .. result.stderr.head, result.outcome .. " " .. (result.signal_name or ""), result
end

-- A repository with the project in its first commit.
function project.make(dir, env)
  assert(fs.mkdir(dir))
  assert(fs.mkdir(env.HOME))
  for path, text in pairs(files) do assert(fs.write(dir .. "/" .. path, text)) end
  for _, words in ipairs { { "init", "-q", "-b", "main" }, { "add", "-A" }, { "commit", "-q", "-m", "start" } } do
    local code, output = project.command(dir, env, { "git", table.unpack(words) })
    if code ~= 0 then error("git " .. table.concat(words, " ") .. ": " .. output, 0) end
  end
end

-- The complete lines of the journal: its text, and the lines decoded; nil and what is wrong with it.
function project.lines(dir)
  local text, lines = (fs.read(dir .. "/logs/results.jsonl") or ""):match("^(.*\n)") or "", {}
  for line in text:gmatch "([^\n]*)\n" do
    local value, message = json.decode(line, true)
    if not value then return nil, ("journal line %d: %s"):format(#lines + 1, message) end
    lines[#lines + 1] = value
  end
  return text, lines
end

-- nil, or what is wrong with the journal: a line that is none, a number twice, a line lost that was there (its text in before).
function project.journal_problem(dir, before)
  local text, lines = project.lines(dir)
  if not text then return lines end
  if text:sub(1, #before) ~= before then return "a journal line is lost or changed" end
  local seen = {}
  for _, line in ipairs(lines) do
    if seen[line.experiment] then return ("experiment %d stands twice"):format(line.experiment) end
    seen[line.experiment] = true
  end
end

local same = { "experiment", "candidate", "outcome", "primary_metric", "tree", "best" }

-- Whether apsis was done with its experiments.
function project.is_finished(dir)
  local state = json.decode(fs.read(dir .. "/logs/state.json") or "", true)
  return type(state) == "table" and state.status == "finished"
end

-- nil, or how the lines differ from those of a run that was left alone.
function project.difference(lines, reference)
  for index = 1, math.max(#lines, #reference) do
    local mine, other = lines[index], reference[index]
    if not (mine and other) then return ("%d journal lines, not %d"):format(#lines, #reference) end
    for _, key in ipairs(same) do
      if mine[key] ~= other[key] then
        return ("journal line %d: %s is %s, in a run that was left alone %s"):format(index, key, tostring(mine[key]), tostring(other[key]))
      end
    end
  end
end

-- Whether a number has no line.
function project.has_gap(lines)
  return #lines > 0 and lines[#lines].experiment ~= #lines - 1
end

-- nil, or what is wrong where numbers have no lines: each must be a candidate's whose ref outlived its line, and is not overwritten; and
-- the other lines must be as their own values say.
function project.gap_problem(dir, env, lines)
  local there, best = {}, lines[1].primary_metric
  for _, line in ipairs(lines) do there[line.experiment] = true end
  for number = 1, lines[#lines].experiment do
    local ref = ("refs/apsis/faults/c%04d"):format(number)
    if not there[number] and project.command(dir, env, { "git", "rev-parse", "-q", "--verify", ref }) ~= 0 then
      return ("no line and no ref of experiment %d"):format(number)
    end
  end
  for index = 2, #lines do
    local line = lines[index]
    local value = tonumber(project.numbers[line.experiment])
    local outcome = value > best and "kept" or "reverted_worse_metric"
    if line.primary_metric ~= value or line.outcome ~= outcome then
      return ("experiment %d: %s, %s"):format(line.experiment, line.primary_metric, line.outcome)
    end
    best = math.max(best, value)
  end
end

-- nil, or what is wrong with the repository: a ref that is not its line's commit, a branch that is not at the best, git fsck.
local function problem_now(dir, env, lines)
  local code, output = project.command(dir, env, { "git", "for-each-ref", "--format=%(objectname) %(tree) %(refname)" })
  if code ~= 0 then return "git for-each-ref: " .. output end
  local refs, trees = {}, {}
  for id, tree, ref in output:gmatch "(%x+) (%x+) (%S+)" do refs[ref], trees[ref] = id, tree end
  local best
  for number, line in ipairs(lines) do
    local ref = line.candidate and refs["refs/apsis/faults/" .. line.candidate]
    if line.commit and ref ~= line.commit then
      return ("journal line %d: the ref of %s is %s, its commit %s"):format(number, line.candidate, tostring(ref), line.commit)
    end
    if line.status == "keep" and (not best or line.primary_metric >= best.primary_metric) then best = line end
  end
  local branch = "refs/heads/apsis/faults"
  if best and #lines > 1 and trees[branch] ~= best.tree then
    return ("the branch's tree is %s, that of the best (%s) %s"):format(tostring(trees[branch]), best.candidate, best.tree)
  end
  code, output = project.command(dir, env, { "git", "fsck", "--strict", "--no-dangling", "--no-progress" })
  if code ~= 0 then return "git fsck: " .. output end
end

-- nil, or the temporary file or lock that is left.
local function left_now(dir)
  for _, path in ipairs { "/logs", "/runs", "/.git/refs/apsis/faults" } do
    for _, name in ipairs(fs.list(dir .. path) or {}) do
      if name:find "%.tmp%-" or name:find "%.lock$" then return ("%s/%s is left"):format(path, name) end
    end
  end
end

-- Beside git gc a check may meet gc at work: fsck misses a pack that gc has just replaced, a ref's lock is gc's. What is wrong stays wrong.
local function lasting(check)
  return function(...)
    local problem
    for _ = 1, os.getenv "BESIDE_GC" and 10 or 1 do
      problem = check(...)
      if not problem then return nil end
      process.run { argv = { "sleep", "0.1" } }
    end
    return problem
  end
end

project.repository_problem, project.left_problem = lasting(problem_now), lasting(left_now)

-- Runs main in a folder of its own, and ends the program: 0 where it says that all held.
function project.finish(root, main)
  assert(fs.mkdir(root))
  local ok, held = xpcall(main, debug.traceback)
  fs.remove_tree(root)
  if not ok then error(held, 0) end
  os.exit(held and 0 or 1)
end

return project
