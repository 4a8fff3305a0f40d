-- goalseek: what the tests of goalseek (93d48f2, tests/unit and tests/integration) ask for.
local cases = require "cases"
local config = require "apsis.project.config"
local direction = require "apsis.direction"
local fs = require "apsis.fs"
local git = require "apsis.git"
local place = require "place"
local scope = require "apsis.live.scope"
local tie_break = require "apsis.tie_break"

local none = "none" -- nil, in a table

-- ---- a project in goalseek's form: its manifest's format, files and commands ----

local MANIFEST <const> = [[
version: 1
project: {name: demo}
files:
  - {path: manifest.yaml, mode: read_only}
  - {path: program.md, mode: read_only}
  - {path: setup.py, mode: read_only}
  - {path: validate_results.py, mode: hidden}
  - {path: experiment.py, mode: writable}
  - {path: data/**, mode: read_only}
  - {path: context/**, mode: read_only}
  - {path: hidden/**, mode: hidden}
  - {path: config/**, mode: read_only}
  - {path: runs/**, mode: generated}
  - {path: logs/**, mode: generated}
verification:
  commands:
    - {name: train, run: "true", cwd: ., timeout_sec: 1200}
    - {name: evaluate, run: python3 validate_results.py --output runs/latest/results.json, cwd: ., timeout_sec: 800}
metric:
  name: score
  direction: maximize
  extractor: {type: json_file, path: runs/latest/results.json, json_pointer: /metric}
execution: {target: local}
]]
local PROVIDER <const> = "provider: {kind: lua, use: config/propose.lua}\n"

-- The number in experiment.py as JSON, with the experiment that it takes for the best: the one of GOALSEEK_RUN_DIR.
local VALIDATOR <const> = [[
import json, os, re, sys
output = sys.argv[sys.argv.index("--output") + 1]
metric = float(open("experiment.py").readline().split("=")[1])
root, run = os.getcwd(), os.path.realpath(os.environ["GOALSEEK_RUN_DIR"])
number = re.fullmatch(re.escape(root) + r"/runs/(\d{4})", run)
os.makedirs(os.path.dirname(output), exist_ok=True)
json.dump({"metric": metric, "best_model_iteration_num": int(number[1]) if number else None}, open(output, "w"))
print("metric=%s, best=%s, results=%s" % (metric, number, os.path.exists("logs/results.jsonl")))
]]

-- A provider that does what the rows say in turn, then nothing: { value, title }.
local function scripted(rows)
  local list = {}
  for index, row in ipairs(rows) do list[index] = ("{ %q, %q },"):format(tostring(row[1]), row[2]) end
  return "local rows = {" .. table.concat(list) .. "}\nreturn function(proposal)\n  local n = proposal.experiment\n"
    .. "  local row = rows[n] or {}\n  local about = { description = row[2], hypothesis = row[2] }\n"
    .. "  if (row[1] or '') == '' then return {}, about end\n"
    .. "  return { ['experiment.py'] = 'METRIC = ' .. row[1] .. '\\n# iteration ' .. n .. '\\n' }, about\nend\n"
end

local MIXED <const> = { { 5, "Increase metric" }, { 1, "Worsen metric" }, { "", "No-op" } }

-- A project; changes: { [path] = text, or false for none }.
local function project(name, changes, plain)
  local files = { ["manifest.yaml"] = MANIFEST .. PROVIDER, ["experiment.py"] = "METRIC = 0\n",
    ["validate_results.py"] = VALIDATOR, ["setup.py"] = "open('data/setup-ran.txt', 'w').write('done')\n",
    ["program.md"] = "# Raise METRIC\n", ["context/overview.md"] = "x\n", ["data/train.csv"] = "x\n",
    ["config/project.yaml"] = "loop: {stagnation_window: 3}\n", ["config/propose.lua"] = scripted(MIXED),
    ["hidden/master.csv"] = "x\n", [".gitignore"] = "runs/*\nlogs/*\n__pycache__/\nhidden/test.csv\n.apsis/\n" }
  for path, text in pairs(changes or {}) do files[path] = text or nil end
  return place.new(name, files, plain)
end

-- ---- metrics ----

cases.group("compare: direction, epsilon, retained, new", function(given)
  local metric = direction.new { direction = given[1], epsilon = given[2] }
  return metric:better(given[4], given[3]) and "better" or metric:tied(given[4], given[3]) and "equal" or "worse"
end, {
  { "1", { "maximize", 0, 1, 2 }, "better" }, { "2", { "maximize", 0, 2, 1 }, "worse" },
  { "3", { "minimize", 0, 2, 1 }, "better" }, { "4", { "maximize", 0.1, 1, 1 }, "equal" },
  { "10b", { "maximize", 0, 0 / 0, 2 }, "better", name = "NaN has no say" },
})

cases.group("within the bounds: min, max, value", function(given)
  return (direction.new({ min_pass = given[1] or nil, max_pass = given[2] or nil }):passes(given[3]))
end, {
  { "5", { 1, 10, 5 }, true }, { "5b", { false, false, 5 }, true }, { "6", { 1, 10, 0.5 }, false },
  { "7", { -10, 0, -5 }, true }, { "8", { -10, 0, -15 }, false },
})

cases.group("a tie is kept: lines changed by the best, by the candidate", function(given)
  return (tie_break.wins({ tie_breaker = "changed_loc", metric = direction.new {}, best = { value = 1,
    changed_lines = given[1] } }, { value = 1, changed_lines = given[2] }))
end, { { "9", { 10, 5 }, true }, { "10", { 5, 5 }, false } })

-- ---- the manifest ----

local count = 0

-- What is wrong with a manifest, without its file and line; or the configuration.
local function loaded(text, overrides)
  count = count + 1
  local dir = project("manifest" .. count, { ["manifest.yaml"] = text }, true)
  local made, errors = config.load(dir, overrides)
  return made, errors and errors[1]:match "manifest%.yaml:%d+: ([^:]+: .*)$":gsub(" at %S*manifest.yaml:%d+", "")
end

local function more(line) return (MANIFEST .. PROVIDER):gsub("verification:", "  " .. line .. "\n%0", 1) end

local function refused(text) return (select(2, loaded(text))) end

cases.group("refused", refused, {
  { "11", more "- {path: experiment.py, mode: read_only}", name = "a file that is writable and read_only",
    "files[12].path: 'experiment.py' is read_only here and writable; keep one of the two" },
  { "13", more "- {path: config/**, mode: hidden}", name = "a folder that is read_only and hidden",
    "files[12].path: 'config/**' is hidden here and read_only; keep one of the two" },
  { "14", (MANIFEST:gsub("metric:\n.*execution", "execution")), name = "no metric",
    "metric: is required; it must be a mapping (KEY: VALUE): the number that is to go up or down" },
  { "49", MANIFEST .. "provider: {kind: command, run: [x], steps: [invalid_mode_xyz]}\n", name = "a step that there is not",
    "provider.steps[1]: must be one of plan, implement; got 'invalid_mode_xyz'" },
  { "52", more "- {path: /absolute/file.py, mode: writable}", name = "an absolute path",
    "files[12].path: '/absolute/file.py' is absolute; write it relative to the project's directory" },
  { "53", more "- {path: ../parent/**, mode: generated}", name = "a path that leads out",
    "files[12].path: '../parent/**' leaves the project ('..'); only paths inside it are allowed here" },
  { "53b", more "- {path: '', mode: generated}", name = "an empty path", "files[12].path: must not be empty" },
  { "54c", MANIFEST .. "provider: {kind: command, run: [x], timeout_sec: -5}\n", name = "a negative limit of time",
    "provider.timeout_sec: must be a number above 0; got -5" },
  { "54d", MANIFEST .. "provider: {kind: command, preset: claude, model: ''}\n", name = "an empty model",
    "provider.model: must not be empty" },
})

cases.one("12", "hidden/** is hidden, not read_only", function()
  local rules = scope.new(loaded(MANIFEST .. PROVIDER).files)
  return { (rules:mode "hidden/master.csv"), (rules:mode "validate_results.py"), (rules:mode "data/train.csv") }
end, { "hidden", "hidden", "read_only" })

cases.one("54e", "a limit of 999,999 s is a limit", function()
  return loaded(MANIFEST .. "provider: {kind: command, run: [x], timeout_sec: 999999}\n").provider.timeout_sec
end, 999999)

-- ---- configuration ----

cases.one("15", "the user's file, then the project, then the command line", function()
  local dir = project("layers", { ["manifest.yaml"] = MANIFEST .. "provider: {kind: command, preset: pi, model: project-model}\n"
    .. "seed: 2\nexecution: {workers: 2}\n" }, true)
  local text = fs.read(dir .. "/manifest.yaml"):gsub("execution: {target: local}\n", "")
  assert(fs.write(dir .. "/manifest.yaml", text))
  local script = dir .. "/layers.lua"
  assert(fs.write(script, "local c = assert(require('apsis.project.config').load('.', { seed = 3 }))\n"
    .. "print(c.provider.preset, c.provider.model, c.seed, c.execution.workers, c.budget.iterations)\n"))
  return place.sh(dir, "mkdir -p own/apsis && printf '%s\\n' 'provider: {kind: command, preset: codex, model: user-model}' "
    .. "'seed: 1' 'execution: {workers: 5}' 'budget: {iterations: 7}' >own/apsis/config.yaml\n"
    .. "XDG_CONFIG_HOME=$PWD/own apsis exec layers.lua").out
end, "pi\tproject-model\t3\t2\t7\n")

cases.one("16", "the project's level of the log stands before the user's", function()
  local dir = project("level", { ["manifest.yaml"] = MANIFEST .. PROVIDER .. "log_level: warn\n" }, true)
  assert(fs.write(dir .. "/level.lua", "print(require('apsis.project.config').load('.').log_level)\n"))
  return place.sh(dir, "mkdir -p own/apsis && echo 'log_level: debug' >own/apsis/config.yaml\n"
    .. "XDG_CONFIG_HOME=$PWD/own apsis exec level.lua").out
end, "warn\n")

-- ---- the step ----

local single = project("single", { ["config/propose.lua"] = scripted { { 3, "Increase metric" } } })

cases.one("18", "step before the baseline is an error", function()
  local result = place.sh(single, "apsis step .")
  return { result.code, result.err:match "no baseline" }
end, { 3, "no baseline" })

local baseline = place.sh(single, "apsis baseline --json")

cases.one("28", "the state after the baseline", function()
  local state = place.json(single .. "/logs/state.json")
  return { state.status, state.current_phase, state.last_outcome, state.current_iteration }
end, { "ready", "READ_CONTEXT", "baseline", 1 })

cases.one("21", "the answer of baseline names the run's folder", function()
  return baseline.out:match '"run_dir":"[^"]*/(runs/[^"]*)"'
end, "runs/0000_baseline")

cases.one("27", "history.json after the baseline", function()
  return place.json(single .. "/runs/latest/history.json") or none
end, { { hypothesis_summary = "Baseline", iteration = 0, iteration_result = "baseline", iteration_score = 0,
  run_dir = "runs/0000_baseline" } })

local directed = place.sh(single, "apsis direct --message 'Prefer a smaller change first.'")
local stepped = place.sh(single, "printf '\\n\\n\\n\\n\\n\\n' | apsis step --phase")

cases.one("36", "a direction before experiment 1 is for experiment 1", function()
  local note, line = place.lines(single, "logs/directions.jsonl")[1] or {}, place.lines(single)[2]
  return { directed.code, note.message, line.context.directions }
end, { 0, "Prefer a smaller change first.", 1 })

cases.one("17", "step, a phase at a time", function()
  local phases = {}
  for line in stepped.out:gmatch "[^\n]+" do phases[#phases + 1] = line:match "^([A-Z_]+) " end
  return table.concat(phases, " ")
end, "READ_CONTEXT PLAN APPLY_CHANGE COMMIT VERIFY DECIDE LOG")

cases.one("37", "after all phases: the next iteration, and the outcome", function()
  local state, lines = place.json(single .. "/logs/state.json"), place.lines(single)
  return { stepped.code, state.current_iteration, state.current_phase, lines[#lines].outcome }
end, { 0, 2, "READ_CONTEXT", "kept" })

cases.group("step refuses", function(given)
  local dir = place.base() .. "/nothing"
  assert(fs.mkdir(dir))
  return place.sh(dir, "apsis step " .. given).code
end, { { "19", "''", 2, name = "an empty folder name" }, { "20", ".", 2, name = "a folder without a manifest" } })

cases.one("21b", "a provider that does nothing is one", function()
  local dir = project("minimal", { ["config/propose.lua"] = "return function() return {} end\n" })
  place.sh(dir, "apsis baseline --quiet && apsis step --quiet")
  return place.lines(dir)[2].outcome
end, "skipped_no_change")

-- ---- git ----

local repo = assert(git.open(single))
local tip = assert(repo:resolve "HEAD")

local function committed(parent, edits)
  local id = assert(repo:commit { tree = assert(repo:edit_tree(parent, edits)), parents = { parent }, message = "x" })
  local lines = 0
  for _, change in ipairs(assert(repo:changes(parent, id))) do lines = lines + (change.added or 0) + (change.removed or 0) end
  return id, lines
end

local first, first_lines = committed(tip, { ["experiment.py"] = "METRIC = 0\n# one\n" })
local second, second_lines = committed(first, { ["experiment.py"] = "METRIC = 0\n# two\n" })

cases.one("22", "a commit that appends has changed lines", function() return first_lines > 0 end, true)
cases.one("23", "a second commit of the file is another, with changed lines", function()
  return { first ~= second, second_lines > 0 }
end, { true, true })
cases.one("25", "the changed lines of a commit five commits old", function()
  local last = second
  for index = 1, 5 do last = committed(last, { ["experiment.py"] = "METRIC = 0\n# " .. index .. "\n" }) end
  return { #assert(repo:changes(tip, first)) > 0, assert(repo:descendant_of(last, first)) }
end, { true, true })
cases.one("25b", "a file name with other signs", function()
  return select(2, committed(tip, { ["test-file_with-special é.py"] = "# x\n" }))
end, 1)
cases.one("25c", "a repository opened again goes on", function()
  local again <close> = assert(git.open(single))
  return #assert(again:changes(tip, first))
end, 1)
repo:close()

-- ---- a run ----

local flow = project("flow")

cases.one("26", "setup shows what is hidden and lists the files", function()
  local text = place.sh(flow, "apsis setup").out
  return { text:match "hidden %(2%): ([^\n]*)", text:match "writable %(1%): ([^\n]*)", tonumber(text:match "read_only %((%d+)%)") }
end, { "hidden/master.csv, validate_results.py", "experiment.py", 8 })

cases.one("29", "setup runs the project's setup.py", function()
  return fs.stat(flow .. "/data/setup-ran.txt") ~= nil
end, false, true)

cases.one("55log", "setup writes a log", function() return fs.stat(flow .. "/logs/apsis.log") ~= nil end, false, true)

cases.one("30", "an ignored hidden file leaves the tree clean", function()
  return place.sh(flow, "echo x >hidden/test.csv; apsis setup >/dev/null; git status --short").out
end, "")

place.sh(flow, "apsis baseline --quiet && apsis run --iterations 3 --quiet")

local function outcomes(dir)
  local list = {}
  for index, line in ipairs(place.lines(dir)) do list[index] = line.outcome end
  return list
end

cases.one("31", "better, worse, no change: what became of each", function() return outcomes(flow) end,
  { "baseline", "kept", "reverted_worse_metric", "skipped_no_change" })

cases.one("31b", "the same with every rejected change on the branch and taken back", function()
  local dir = project("revert", { ["manifest.yaml"] = MANIFEST .. PROVIDER .. "history: revert\n" })
  place.sh(dir, "apsis baseline --quiet && apsis run --iterations 3 --quiet")
  local log = place.sh(dir, "git log --format=%s apsis/demo; git show apsis/demo:experiment.py | head -1").out
  return { table.concat(outcomes(dir), " "), select(2, log:gsub("[Rr]evert", "")), log:match "METRIC = %d" }
end, { "baseline kept reverted_worse_metric skipped_no_change", 1, "METRIC = 5" })

cases.one("32", "the scores in the history", function()
  local list = {}
  for index, line in ipairs(place.lines(flow)) do list[index] = line.primary_metric or none end
  return list
end, { 0, 5, 1, none })

cases.one("24", "nothing to commit makes no commit", function()
  return place.lines(flow)[4].commit or none
end, none)

cases.one("33", "three experiments later the next is 4", function()
  return place.json(flow .. "/logs/state.json").current_iteration
end, 4)

cases.one("34", "the second experiment's files have its text, the third's do not", function()
  local lines = place.lines(flow)
  local text = place.sh(flow, "git show " .. lines[3].commit .. ":experiment.py").out
  local patch = fs.read(flow .. "/runs/0002/change.patch") or ""
  return { text:match "# iteration 2", patch:match "# iteration 2", lines[4].parents[1], fs.stat(flow .. "/runs/0003/change.patch")
    and "changed" or "not" }
end, { "# iteration 2", "# iteration 2", "c0001", "not" })

cases.one("35", "the summary: kept, reverted, skipped", function()
  local result = place.sh(flow, "apsis status --json").out
  return { result:match '"kept":(%d)', result:match '"reverted_worse_metric":(%d)', result:match '"skipped_no_change":(%d)' }
end, { "1", "1", "1" })

cases.one("38", "the validator finds the results so far and its experiment's number", function()
  local log = fs.read(flow .. "/runs/0001/verifier.log")
  return { log:match "best=(%a+)", log:match "results=(%a+)" }
end, { "None", "False" }, { "re", "True" })

-- ---- the command line ----

local old = project("old", { ["marker.txt"] = "old\n" })

cases.one("40", "init over an existing project, not wanted: an error, and all is kept", function()
  local result = place.sh(old, "apsis init --example")
  return { result.code ~= 0, fs.read(old .. "/marker.txt"), fs.read(old .. "/manifest.yaml") == MANIFEST .. PROVIDER }
end, { true, "old\n", true })

cases.one("39", "init over an existing project, wanted: a new project, and what else was there", function()
  local result = place.sh(old, "apsis init --example --force")
  return { result.code, fs.read(old .. "/manifest.yaml") ~= MANIFEST .. PROVIDER, fs.stat(old .. "/marker.txt") and "kept" or "gone" }
end, { 0, true, "kept" }, { 0, true, "gone" })

cases.one("41", "init within another repository: a repository of its own", function()
  local dir = place.new("parent", { ["a.txt"] = "x\n" })
  local top = place.sh(dir, "apsis init --example demo >/dev/null && cd demo && git rev-parse --show-toplevel").out
  return { fs.stat(dir .. "/demo/manifest.yaml") ~= nil, top:match "[^/\n]*\n" }
end, { true, "parent\n" }, { true, "demo\n" })

local broken = project("broken", { ["validate_results.py"] = false })
local failed = place.sh(broken, "apsis baseline --quiet")

cases.one("42", "a baseline whose verifier is missing: exit code, reason, log and result", function()
  return { failed.code, failed.err:match "can't open file", fs.stat(broken .. "/runs/0000_baseline/verifier.log") ~= nil,
    fs.stat(broken .. "/runs/0000_baseline/result.json") ~= nil }
end, { 5, "can't open file", true, true })

cases.one("43", "a run without a baseline: exit code, and the command to type", function()
  local dir = project("early")
  local result = place.sh(dir, "apsis run . --iterations 1")
  return { result.code, result.err:match "run `apsis baseline" }
end, { 3, "run `apsis baseline" })

cases.one("44", "an uncommitted change before a run is committed", function()
  return place.sh(flow, "echo '# local change' >>experiment.py; apsis run --iterations 1 --quiet >/dev/null; git status --short").out
end, " M experiment.py\n", "")

cases.one("45", "without changes HEAD stays as it was", function()
  return place.sh(flow, "git checkout -q experiment.py; head=$(git rev-parse HEAD); apsis run --iterations 1 --quiet >/dev/null\n"
    .. "[ $head = $(git rev-parse HEAD) ] && echo same").out
end, "same\n")

-- ---- the provider ----

-- A stand-in for Claude Code that writes down how it was called, and what a run of one experiment with it leaves.
local function called(name, body, provider)
  local dir = project(name, { ["manifest.yaml"] = MANIFEST .. "provider: {kind: command, preset: claude, retries: 0, "
    .. provider .. "}\n" })
  local tool = place.base() .. "/tools-" .. name
  assert(fs.mkdir(tool))
  assert(fs.write(tool .. "/claude", "#!/bin/sh\n[ \"$1\" = --version ] && exit 0\necho \"$@\" >>" .. tool .. "/calls\ncat >/dev/null\n"
    .. body .. "\n"))
  local result = place.sh(dir, ("chmod +x %s/claude; export PATH=%s:$PATH; apsis baseline --quiet && apsis step --quiet")
    :format(tool, tool))
  local line = place.lines(dir)[2] or {}
  return { calls = fs.read(tool .. "/calls") or "", line = line, result = result, dir = dir }
end

local raises = "sed -i 's/METRIC = .*/METRIC = 9/' experiment.py"
local two = called("two", raises .. "\nprintf '%s\\n' 'First step' 'Plan file: /home/u/.claude/plans/x.md' 'Second step'",
  "model: claude-test-model, steps: [plan, implement]")

cases.one("46", "how Claude Code is called for a plan: without questions, with the model, without leave to edit", function()
  return two.calls:match "[^\n]*"
end, "-p --no-session-persistence --permission-mode default --output-format json --model claude-test-model")

cases.one("46b", "variables that are to approve everything", function()
  return called("variables", raises .. "\necho ${CLAUDE_AUTO_APPROVE:-none}", "model: m").line.outcome
    and fs.read(place.base() .. "/variables/runs/0001/provider_output.md")
end, "none\n", "true\n")

cases.one("47", "how Claude Code is called for the change", function()
  local call = two.calls:match "\n([^\n]*)"
  return { call:match "%-%-dangerously%-skip%-permissions", call:match "claude%-test%-model", two.line.outcome }
end, { "--dangerously-skip-permissions", "claude-test-model", "kept" })

cases.cannot("a prompt is never empty: it has the project's text, the rules and the history", {
  { "48", "an empty prompt is an error" },
})

cases.one("50", "a provider that runs over its time fails with the reason", function()
  local line = called("late", "sleep 20", "timeout_sec: 1").line
  return { line.outcome, line.rollback_reason }
end, { "skipped_provider_failure", "the provider ran over its limit of 1 s; it had printed nothing" })

cases.one("50b", "a provider that exits with an error fails with what it said", function()
  local line = called("angry", "echo Command failed with error >&2; exit 1", "timeout_sec: 20").line
  return { line.outcome, line.rollback_reason }
end, { "skipped_provider_failure", "the provider ended with exit 1: Command failed with error" })

cases.one("51", "lines that name a file of Claude Code's own plans are not in the plan", function()
  local plan = fs.read(two.dir .. "/runs/0001/plan.md")
  return { plan:match "First step", plan:match "Second step", plan:find(".claude/plans/", 1, true) and "named" or "not named" }
end, { "First step", "Second step", "not named" })

cases.one("54", "an agent that says nothing and changes nothing has failed", function()
  local line = called("silent", ":", "timeout_sec: 20").line
  return { line.outcome, line.rollback_reason }
end, { "skipped_provider_failure", "the provider printed nothing and changed nothing" })

cases.cannot("apsis writes logs/apsis.log and standard error, and has no other handlers", {
  { "56log", "a log at CloudWatch needs optional packages" },
})

cases.done "goalseek"
