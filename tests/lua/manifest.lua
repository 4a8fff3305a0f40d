-- manifest: what a manifest.yaml may say, what is said about a wrong one, and how the layers of configuration join.
local fs = require "apsis.fs"
local json = require "apsis.json"
local tap = require "tap"
local config = require "apsis.project.config"
local manifest = require "apsis.project.manifest"
local nearest = require "apsis.project.nearest"
local program = require "apsis.project.program"
local schema = require "apsis.project.schema"
local shape = require "apsis.project.shape"

local root = fs.realpath(fs.tempdir("apsis-manifest-"))
local dir = root .. "/demo"
fs.mkdir(dir .. "/a/b")
local path = dir .. "/manifest.yaml"

-- The user's own configuration is the test's: a child process would be needed to set $XDG_CONFIG_HOME.
local getenv, environment = os.getenv, { XDG_CONFIG_HOME = root .. "/xdg", HOME = root .. "/home" }
function os.getenv(name)
  if environment[name] ~= nil then return environment[name] or nil end
  return getenv(name)
end

local minimal = [[
version: 1
files:
  - {path: a.lua, mode: writable}
verification:
  commands: [{run: ./measure.sh}]
metric: {name: score}
]]

local function load(text)
  assert(fs.write(path, text))
  return manifest.load(path)
end

-- The errors of a text, each without the directory in front of the file's name.
local function errors_of(text)
  local made, errors = load(text)
  if made then error("accepted", 2) end
  for index, message in ipairs(errors) do
    errors[index] = message:gsub("^" .. dir:gsub("%p", "%%%0") .. "/", "")
  end
  return errors
end

-- The one error of `minimal` with these lines added.
local function error_of(added)
  local errors = errors_of(minimal .. added)
  tap.equal(#errors, 1, table.concat(errors, "\n"))
  return errors[1]
end

local function contains(text, part)
  if not text:find(part, 1, true) then error(("%q does not contain %q"):format(text, part), 2) end
end

tap.test("a minimal manifest comes back complete with its defaults", function()
  local made = assert(load(minimal))
  tap.equal(made.project, { name = "demo", ref = "demo", description = "" })
  tap.equal({ made.seed, made.program, made.max_file_mb, made.history, made.log_level },
    { 1, "program.md", 100, "clean", "info" })
  tap.equal(made.verification.commands, {
    { name = "command-1", run = "./measure.sh", cwd = ".", timeout_sec = 600, stage = 1, env = {} },
  })
  tap.equal({ made.verification.repeats, made.verification.checks, made.verification.cases }, { 1, {}, {} })
  tap.equal(made.verification.aggregate, { ["*"] = "mean" })
  tap.equal(made.metric, {
    name = "score", direction = "higher", epsilon = 0, tie_breaker = "changed_loc", samples = "last",
      extractor = { type = "metric_lines" },
  })
  tap.equal(made.strategy, { use = "hillclimb", options = {} })
  tap.equal(made.provider, nil)
  tap.equal({ made.budget, made.metrics }, { {}, {} })
  tap.equal(made.execution, { target = "local", workers = 1 })
  tap.equal(made.limits, { hook_cpu_sec = 10, hook_memory_mb = 512, file_mb = 4096, processes = 4096, open_files = 16384, tmp_mb = 1024,
    disk_reserve_mb = 512 })
  tap.equal(made.sandbox, { mode = "auto", allow = {} })
  tap.equal({ made.verification.network, made.verification.allow, made.verification.pass_env }, { false, {}, {} })
  tap.equal(made.workspace, { git = false, link = {} })
  tap.equal({ made.path, made.dir }, { path, dir })
end)

tap.test("where() gives the file and line of a key, or of what it would stand in", function()
  local made = assert(load(minimal))
  local base = manifest.display(path)
  tap.equal(made.where("metric.name"), base .. ":6")
  tap.equal(made.where("metric.direction"), base .. ":6")
  tap.equal(made.where("files[1].mode"), base .. ":3")
  tap.equal(made.where("budget.minutes"), base .. ":1")
  tap.equal(made.lines["verification.commands[1].run"], 5)
end)

tap.test("a version-1 manifest of goalseek is valid as it is", function()
  local made, errors = load([[
version: 1
project:
  name: demo
  description: Research target for demo.

files:
  - path: manifest.yaml
    mode: read_only
  - path: experiment.py
    mode: writable
  - path: hidden/**
    mode: hidden
  - path: runs/**
    mode: generated

verification:
  commands:
    - name: train
      run: python3 experiment.py
      cwd: .
      timeout_sec: 1200

metric:
  name: Balanced accuracy Score
  direction: maximize
  epsilon: 0.0
  tie_breaker: changed_loc
  min_pass: null
  max_pass:
  extractor:
    type: json_file
    path: runs/latest/results.json
    json_pointer: metric
    regex: null

execution:
  target: local
]])
  tap.equal(errors, nil)
  tap.equal(made.metric.direction, "higher")
  tap.equal(made.metric.extractor, { type = "json_file", path = "runs/latest/results.json", json_pointer = "/metric" })
  tap.equal(made.verification.commands[1].timeout_sec, 1200)
end)

tap.test("everything the design's example says is read", function()
  local made, errors = load([[
version: 1
project: {name: circle-packing, description: pack 26 circles}
files:
  - {path: packing.lua, mode: writable}
  - {path: evaluate.lua, mode: hidden}
verification:
  checks:   [{name: valid, run: ./evaluate-checks.sh}]
  commands: [{name: measure, run: [apsis, exec, evaluate.lua, 7], timeout_sec: 60, stage: 1, env: {THREADS: 2}}]
  repeats: 3
  cases: [cases/*.txt]
  aggregate: {latency_ms: max}
metric:
  name: sum_radii
  direction: Higher_Is_Better
  target: 2.635
  extractor: {type: metric_lines}
metrics: {latency_ms: {direction: lower}}
strategy: {use: hillclimb, options: {patience: 50, deep: {list: [1, two]}}}
provider: {kind: lua, use: mutate.lua}
budget: {iterations: 200, minutes: 10, tokens: 2000000, usd: 5}
execution: {target: local, workers: 2}
workspace: {git: true, link: [data, node_modules/], root: ws}
]])
  tap.equal(errors, nil)
  tap.equal(made.verification.commands[1].run, { "apsis", "exec", "evaluate.lua", "7" })
  tap.equal(made.verification.commands[1].env, { THREADS = "2" })
  tap.equal(made.verification.aggregate, { ["*"] = "mean", latency_ms = "max" })
  tap.equal(made.metric.direction, "higher")
  tap.equal(made.metrics.latency_ms, { direction = "lower", epsilon = 0 })
  tap.equal(made.strategy.options, { patience = 50, deep = { list = { 1, "two" } } })
  tap.equal(made.provider, { kind = "lua", use = "mutate.lua" })
  tap.equal(made.workspace, { git = true, link = { "data", "node_modules" }, root = dir .. "/ws" })
end)

tap.test("a cap on dollars asks for the price of each chat model, from whatever layer; a free one says 0", function()
  local chat = minimal .. "provider: {kind: chat, base_url: 'http://h', models: [{name: a, price: {input: 1}}, b]}\n"
  tap.equal(select(2, load(chat)), nil)
  local errors = errors_of(chat .. "budget: {usd: 0.004}\n")
  tap.equal(#errors, 1)
  contains(errors[1], "provider.models[2].price: is required with budget.usd: 0.004 (")
  contains(errors[1], "'b'")
  tap.equal(select(2, load((chat:gsub("b%]}", "{name: b, price: {input: 0}}]}")) .. "budget: {usd: 0.004}\n")), nil)
  tap.equal(select(2, load(minimal .. "provider: {kind: lua, use: mutate.lua}\nbudget: {usd: 0.004}\n")), nil)
end)

tap.test("strategy: NAME is {use: NAME}; aggregate: WORD is for all metrics", function()
  local made = assert(load(minimal:gsub("verification:", "verification:\n  aggregate: median\n  cases: [a]")
    .. "strategy: mine.lua\n"))
  tap.equal(made.strategy, { use = "mine.lua", options = {} })
  tap.equal(made.verification.aggregate, { ["*"] = "median" })
end)

tap.test("an unknown key names file, line, key, the nearest name and the allowed ones", function()
  local errors = errors_of((minimal:gsub("{name: score}", "\n  name: score\n  directon: lower")))
  tap.equal(#errors, 1)
  contains(errors[1],
    "manifest.yaml:8: metric.directon: unknown key 'directon'; did you mean 'direction'? (allowed here: name,")
  contains(error_of("bugdet: {minutes: 1}\n"), "manifest.yaml:7: bugdet: unknown key 'bugdet'; did you mean 'budget'?")
  contains(error_of("xyzzy: 1\n"), "unknown key 'xyzzy' (allowed here: version,")
end)

tap.test("what a sandbox may not be is refused with the line and what is allowed", function()
  for text, part in pairs {
    ["sandbox: {mode: strict}"] = "sandbox.mode: must be one of auto, required, off; got",
    ["sandbox: {allow: [tools]}"] = "sandbox.allow[1]: must be a path that begins with / or ~/",
    ["sandbox: {allow: ['~/data*']}"] = "sandbox.allow[1]: must be a path that begins with / or ~/, without patterns",
    ["sandbox: {allow: ['/data:rx']}"] = ":rw or :ro may follow; got",
    ["sandbox: {allow: [/]}"] = "sandbox.allow[1]: must be",
    ["sandbox: {allow: [~/]}"] = "sandbox.allow[1]: must be",
    ["sandbox: {network: true}"] = "sandbox.network: unknown key",
    ["provider: {kind: command, run: a, network: maybe}"] = "provider.network: must be true or false; got",
    ["provider: {kind: command, run: a, pass_env: [A-B]}"] = "provider.pass_env[1]: must be a variable's name, or its beginning and *",
    ["provider: {kind: lua, use: a.lua, allow: [/data]}"] = "provider.allow",
    ["limits: {tmp_mb: 0}"] = "limits.tmp_mb: must be a number, 1 or more; got 0",
    ["limits: {file_mb: 0}"] = "limits.file_mb: must be a number above 0; got 0",
    ["limits: {disk_reserve_mb: -1}"] = "limits.disk_reserve_mb: must be a number, 0 or more; got -1",
    ["limits: {processes: 0}"] = "limits.processes: must be a whole number, 1 or more; got 0",
    ["limits: {open_files: 2}"] = "limits.open_files: must be a whole number, 16 or more; got 2",
    ["limits: {memory_mb: 1}"] = "limits.memory_mb: must be a number, 16 or more; got 1",
    ["provider: {kind: command, run: a, memory_mb: 1}"] = "provider.memory_mb: must be a number, 16 or more; got 1",
    ["provider: {kind: lua, use: a.lua, cpu_sec: 1}"] = "provider.cpu_sec",
    ["sandbox: true"] = "sandbox: must be one of auto, required, off, or a mapping (KEY: VALUE); got true",
    ["keep_runs: -1"] = "keep_runs: must be a whole number, 0 or more; got -1",
  } do
    local message = error_of(text .. "\n")
    contains(message, part)
    tap.matches(message, "manifest%.yaml:%d+: ")
  end
  tap.equal(error_of("sandbox: on\n"):find("did you mean", 1, true), nil, "off is not what it meant")
  assert(load(minimal .. "sandbox: {allow: ['/data/', '~/data/:rw']}\n"))
end)

tap.test("a wrong value names the allowed ones and the nearest", function()
  contains(error_of("history: cleen\n"),
    "manifest.yaml:7: history: must be one of clean, revert; got 'cleen'; did you mean 'clean'?")
  contains(error_of("execution: {workers: 0}\n"),
    "manifest.yaml:7: execution.workers: must be a whole number from 1 to 256; got 0")
  contains(error_of("execution: {workers: 1.5}\n"), "got 1.5")
  contains(error_of("execution: {workers: '2'}\n"), "got '2'")
  contains(error_of("execution: {workers: [2]}\n"), "got a list")
  contains(error_of("budget: {minutes: 0}\n"), "budget.minutes: must be a number above 0; got 0")
  contains(error_of("budget: {minutes: .inf}\n"), "not finite")
  contains(error_of("workspace: {git: yes}\n"),
    "must be true or false; got 'yes' (yes, no, on and off are plain text in YAML 1.2)")
  contains(error_of("project: {name: 12}\n"), "put it in quotes")
  contains(error_of("project: [demo]\n"), "must be a mapping")
end)

tap.test("a direction that is none is refused with the spellings there are", function()
  local errors = errors_of((minimal:gsub("{name: score}", "{name: score, direction: sideways}")))
  tap.equal(#errors, 1)
  contains(errors[1],
    "manifest.yaml:6: metric.direction: must be one of higher, lower, maximize, minimize, higher_is_better, "
    .. "lower_is_better; got 'sideways'")
end)

tap.test("all errors of a file are reported, in the order of its lines", function()
  local errors = errors_of([[
version: 2
project: {name: "my\tproject"}
files:
  - {path: /etc/passwd, mode: writable}
  - {path: ../up, mode: hidden}
  - {path: a, mode: readonly}
metric: {epsilon: -1, extractor: {type: json_file}}
colour: red
]])
  local begin = {}
  for index, message in ipairs(errors) do begin[index] = message:match("^(manifest.yaml:%d+: [^:]*):") or message end
  table.sort(begin)
  tap.equal(begin, {
    "manifest.yaml:1: verification", "manifest.yaml:1: version", "manifest.yaml:2: project.name",
    "manifest.yaml:4: files[1].path", "manifest.yaml:5: files[2].path", "manifest.yaml:6: files[3].mode",
    "manifest.yaml:7: metric.epsilon", "manifest.yaml:7: metric.extractor.json_pointer",
    "manifest.yaml:7: metric.extractor.path", "manifest.yaml:8: colour",
  })
  local last = 0
  for _, message in ipairs(errors) do
    local line = tonumber(message:match(":(%d+):"))
    if line < last then error("out of order: " .. table.concat(errors, "\n")) end
    last = line
  end
end)

tap.test("what is required and absent or empty is said once", function()
  local errors = errors_of("version: 1\n")
  tap.equal(#errors, 3)
  contains(table.concat(errors, "\n"), "files: is required")
  contains(errors_of("")[1], "version: is required")
  contains(errors_of((minimal:gsub("metric:.*", "metric:\n")))[1], "manifest.yaml:6: metric: is empty")
  contains(errors_of("[1, 2]\n")[1], "manifest.yaml:1: manifest: must be a mapping")
  contains(errors_of("just text\n")[1], "manifest.yaml:1: manifest: must be a mapping")
end)

tap.test("a key with control characters is one line of an error", function()
  tap.equal(errors_of "? a\tb\n: 1\n? a\tb\n: 2\n", { "manifest.yaml:3: duplicate key a\\tb" })
end)

tap.test("a file that is not YAML, or is not there, is one error naming the file and line", function()
  local errors = errors_of("version: 1\nfiles: [\n")
  tap.equal(#errors, 1)
  tap.matches(errors[1], "^manifest%.yaml:%d+:%d+: ")
  errors = errors_of(minimal .. "seed: 1\nseed: 2\n")
  tap.equal(#errors, 1)
  tap.matches(errors[1], "^manifest%.yaml:8: ")
  local made, absent = manifest.load(dir .. "/none.yaml")
  tap.equal(made, nil)
  tap.equal(#absent, 1)
  tap.matches(absent[1], "none%.yaml: cannot be read: ")
end)

tap.test("files: one path in two modes is an error naming both lines; a repeated rule is none", function()
  local text = minimal:gsub("mode: writable}\n", "mode: writable}\n  - {path: ./a.lua, mode: hidden}\n")
  local errors = errors_of(text)
  tap.equal(#errors, 1)
  tap.matches(errors[1],
    "^manifest.yaml:4: files%[2%]%.path: 'a%.lua' is hidden here and writable at .*manifest%.yaml:3; keep one")
  local made = assert(load((minimal:gsub("mode: writable}\n",
    "mode: writable}\n  - {path: a.lua/, mode: writable}\n"))))
  tap.equal(made.files, { { path = "a.lua", mode = "writable" } })
end)

tap.test("files: nothing writable is an error with the remedy", function()
  local errors = errors_of((minimal:gsub("writable", "hidden")))
  tap.equal(#errors, 1)
  contains(errors[1], "manifest.yaml:2: files: at least one path must be writable")
  contains(errors_of((minimal:gsub("\n  %- {path[^\n]*", " []")))[1], "at least one path must be writable")
end)

-- The project of a manifest whose name is written so.
local function named(text)
  return assert(load(minimal .. ("project: {name: %s}\n"):format(text))).project
end

tap.test("a project's name is any text; project.ref is the name made fit for a part of a ref", function()
  local cases = {
    { "My Project (x)", "My-Project-x" }, { "'.a'", "a" }, { "'..'", "project" }, { "a..b", "a.b" }, { "a.lock", "a" },
    { "a.lock.lock.", "a" }, { "'.lock'", "lock" }, { "a/b", "a-b" }, { "'a~1'", "a-1" }, { "'-x'", "x" }, { "'@{u}'", "u" },
    { "Gr\u{F6}\u{DF}e", "Gr-e" }, { "'\u{65E5}\u{672C}'", "project" }, { "'   '", "project" }, { "'a: b # c'", "a-b-c" },
    { ("x"):rep(200), ("x"):rep(100) }, { ("x"):rep(95) .. ".lock" .. ("y"):rep(10), ("x"):rep(95) },
    { ("x"):rep(99) .. ".y", ("x"):rep(99) },
  }
  for _, case in ipairs(cases) do
    local project = named(case[1])
    tap.equal(project.ref, case[2])
    tap.equal(project.name, (case[1]:gsub("^'(.*)'$", "%1")))
  end
end)

tap.test("a name that is fit for a ref is its own ref", function()
  for _, name in ipairs { "demo", "a.b", "a-", "_x", "A-1_b.c", "x.locked", ("x"):rep(100) } do
    tap.equal(named(name).ref, name)
  end
end)

tap.test("a project's name must not be empty nor have control characters or marks that reorder text", function()
  contains(error_of("project: {name: ''}\n"), "project.name: must not be empty")
  contains(error_of('project: {name: "a\\tb"}\n'), "project.name: must be text without control characters and marks "
    .. "that reorder text; got 'a\\tb'")
  contains(error_of('project: {name: "a\\u202Eb"}\n'), "project.name: must be text without control characters and marks "
    .. "that reorder text; got 'a<U+202E>b'")
  contains(error_of('project: {name: "a\\nb"}\n'), "project.name: must be text without control characters")
end)

tap.test("without a name the directory's is made fit for a ref, and is both", function()
  fs.mkdir(root .. "/my project (2).lock")
  local other = root .. "/my project (2).lock/manifest.yaml"
  fs.write(other, minimal)
  tap.equal(assert(manifest.load(other)).project, { name = "my-project-2", ref = "my-project-2", description = "" })
end)

tap.test("commands: at least one, and each is checked", function()
  local function commands(text) return (minimal:gsub("commands: [^\n]*", "commands: " .. text)) end
  contains(errors_of(commands("[]"))[1], "verification.commands: at least one command is needed")
  contains(errors_of(commands("[./a.sh]"))[1], "verification.commands[1]: must be a mapping")
  contains(errors_of(commands("[{name: a}]"))[1], "verification.commands[1].run: is required")
  contains(errors_of(commands("[{run: []}]"))[1],
    "verification.commands[1].run: must be text for sh -c, or a list of arguments")
  contains(errors_of(commands("[{run: a, cwd: ../b}]"))[1], "leaves the project")
  contains(errors_of(commands("[{run: a, timeout: 3}]"))[1], "did you mean 'timeout_sec'?")
  contains(errors_of(commands("[{run: a, env: {1A: x}}]"))[1], "verification.commands[1].env.1A: the name must be")
  contains(errors_of(commands("[null]"))[1], "verification.commands[1]: is empty")
end)

tap.test("an extractor needs what its type needs; a regex must compile and have a group", function()
  local function extractor(text)
    return (minimal:gsub("{name: score}", "{name: a score, extractor: {" .. text .. "}}"))
  end
  contains(errors_of(extractor("type: json_file, path: x.json"))[1],
    "metric.extractor.json_pointer: is required if type is json_file")
  contains(errors_of(extractor("type: stdout_regex"))[1],
    "metric.extractor.regex: is required if type is stdout_regex")
  contains(errors_of(extractor("type: stdout_regex, regex: 'a(b'"))[1],
    "metric.extractor.regex: 'a(b' is not a regular expression")
  contains(errors_of(extractor("type: stdout_regex, regex: 'a: .*'"))[1], "has no group")
  contains(errors_of(extractor("type: stdout_regx, regex: 'a: (.*)'"))[1], "did you mean 'stdout_regex'?")
  assert(load(extractor("type: stderr_regex, regex: '^loss: ([0-9.]+)$'")))
  assert(load(extractor("type: stdout_json, json_pointer: ''")))
  contains(errors_of(extractor("type: metric_lines"))[1], "metric.name: 'a score' cannot stand in a METRIC line")
end)

tap.test("METRIC lines may have a name in JSON for where none names the metric, which then may be any", function()
  local text = minimal:gsub("{name: score}", "{name: a score, extractor: {json: a score}}")
  tap.equal(assert(load(text)).metric.extractor, { type = "metric_lines", json = "a score" })
end)

-- What the user would have lost: a key that is accepted and does nothing is believed.
tap.test("a key that has no effect where it stands is refused, with the reason and the remedy", function()
  local chat = "provider: {kind: chat, base_url: 'http://h', choice: CHOICE, models: [{name: a, weight: 2}, b]}\n"
  for added, part in pairs {
    [chat:gsub("CHOICE", "fixed")] = "provider.models[1].weight: does not count with choice: fixed",
    ["trajectory: {enabled: true}\n"] = "trajectory.enabled: has no effect: a proposal of hillclimb is simple, which is not "
      .. "in complexity_gate (complex, epic); add complexity: complex, or raise_after: N",
    ["trajectory: {enabled: true, complexity: medium}\n"] = "a proposal of hillclimb is medium",
    ["trajectory: {k_candidates: 4}\n"] = "trajectory.k_candidates: has no effect without enabled: true",
    ["trajectory: {raise_after: 4}\n"] = "trajectory.raise_after: has no effect without enabled: true",
    ["metrics: {score: {direction: lower}}\n"] = "metrics.score: is the metric itself, of which `metric` says the direction",
  } do contains(error_of(added), part) end
  for extractor, part in pairs {
    ["type: stdout_regex, regex: '(.*)', path: x.json"] = "metric.extractor.path: does not belong to type stdout_regex",
    ["regex: '(.*)'"] = "metric.extractor.regex: does not belong to type metric_lines",
    ["type: json_file, path: x, json_pointer: /a, json: a"] = "metric.extractor.json: does not belong to type json_file",
  } do contains(errors_of((minimal:gsub("{name: score}", "{extractor: {" .. extractor .. "}}")))[1], part) end
  for key, part in pairs {
    ["aggregate: {score: max}"] = "verification.aggregate: joins the values of several cases, and there are none",
    ["checks: [{run: a, stage: 2}]"] = "verification.checks[1].stage: unknown key",
  } do contains(errors_of((minimal:gsub("verification:", "verification:\n  " .. key)))[1], part) end
end)

tap.test("the same keys are taken where they count", function()
  for _, added in ipairs { "trajectory: {enabled: true, complexity: epic}", "trajectory: {enabled: true, raise_after: 3}",
    "trajectory: {enabled: true, complexity_gate: [simple]}", "trajectory: {enabled: true}\nstrategy: mine.lua",
    "trajectory: {margin: 0.5}", "trajectory: {enabled: false, k_candidates: 4}",
    "provider: {kind: chat, base_url: 'http://h', models: [{name: a, weight: 2}, b]}" } do
    assert(load(minimal .. added .. "\n"))
  end
  assert(load((minimal:gsub("{name: score}", "{extractor: {regex: null, path: null, json: a}}"))))
end)

tap.with_room("goals", "on.timeout_sec counts with a command only", function()
  contains(error_of "on: {timeout_sec: 4}\n", "on.timeout_sec: has no effect without a command")
  assert(load(minimal .. "on: {timeout_sec: 4, kept: 'true'}\n"))
end)

tap.test("two limits that nothing could pass are an error", function()
  contains(errors_of((minimal:gsub("{name: score}", "{name: score, min_pass: 2, max_pass: 1}")))[1],
    "metric.min_pass: is above")
end)

tap.test("a provider's keys go with its kind, which its keys may tell", function()
  tap.equal(assert(load(minimal .. "provider: {preset: claude, steps: [plan, implement]}\n")).provider, {
    kind = "command", preset = "claude", steps = { "plan", "implement" }, timeout_sec = 1800,
    output_limit_mb = 64, retries = 1, env = {}, allow = {}, network = true, pass_env = {},
  })
  tap.equal(assert(load(minimal .. "provider: {kind: command, run: cat}\n")).provider.steps, { "implement" })
  tap.equal(assert(load(minimal .. "provider: {kind: chat, base_url: 'http://h/v1', models: [m]}\n")).provider.models,
    { { name = "m", weight = 1 } })
  contains(error_of("provider: {retries: 2}\n"), "provider.kind: is required; it must be one of lua, command, chat")
  contains(error_of("provider: {kind: lua}\n"), "provider.use: is required if kind is lua")
  contains(error_of("provider: {kind: lua, use: m.py}\n"), "a path ending in .lua")
  contains(error_of("provider: {kind: lua, use: m.lua, run: x}\n"), "provider.run: does not belong to kind lua")
  contains(error_of("provider: {kind: command}\n"), "provider.run: is required if kind is command")
  contains(error_of("provider: {run: a, preset: claude}\n"), "provider.preset: stands beside provider.run")
  contains(error_of("provider: {run: a, steps: [implement, plan]}\n"),
    "provider.steps: must be [implement] or [plan, implement]")
  contains(error_of("provider: {preset: cluade}\n"), "did you mean 'claude'?")
end)

tap.test("history: revert needs one worker, and says where both stand", function()
  tap.matches(error_of("history: revert\nexecution: {workers: 2}\n"),
    "^manifest.yaml:8: execution.workers: must be 1 with history: revert %(.*manifest.yaml:7%)")
  assert(load(minimal .. "history: revert\n"))
end)

tap.test("free-form options are kept, but must be a mapping and finite", function()
  contains(error_of("strategy: {use: a, options: [1]}\n"), "strategy.options: must be a mapping")
  contains(error_of("strategy: {use: a, options: {x: .inf}}\n"), "strategy.options.x: must be finite")
  tap.equal(assert(load(minimal .. "strategy: {options: }\n")).strategy.options, {})
end)

tap.test("control characters in a message are escaped", function()
  contains(error_of('history: "a\\nb\\eend"\n'), [['a\nb\x1bend']])
end)

tap.test("find walks upward to the first manifest, through symlinks, and says where it looked", function()
  load(minimal)
  tap.equal(config.find(dir .. "/a/b"), path)
  tap.equal(config.find(dir), path)
  tap.equal(config.find(path), path)
  fs.mkdir(root .. "/elsewhere")
  assert(fs.symlink(dir .. "/a", root .. "/elsewhere/link"))
  tap.equal(config.find(root .. "/elsewhere/link"), path)
  local found, message = config.find(root .. "/elsewhere")
  tap.equal(found, nil)
  contains(message, "no manifest.yaml in " .. root .. "/elsewhere or in any directory above it")
  found, message = config.find(root .. "/absent")
  tap.equal(found, nil)
  contains(message, "no such directory")
end)

tap.test("the user's file is in $XDG_CONFIG_HOME where that is absolute, else in ~/.config", function()
  tap.equal(config.user_path(), root .. "/xdg/apsis/config.yaml")
  environment.XDG_CONFIG_HOME = "xdg"
  tap.equal(config.user_path(), root .. "/home/.config/apsis/config.yaml")
  environment.HOME = false
  tap.equal(config.user_path(), nil)
  environment.XDG_CONFIG_HOME, environment.HOME = root .. "/xdg", root .. "/home"
end)

tap.test("the layers: defaults, the user's file, the manifest, options", function()
  fs.mkdir(root .. "/xdg/apsis")
  load(minimal .. "execution: {workers: 3}\nbudget: {minutes: 5}\n")
  fs.write(root .. "/xdg/apsis/config.yaml",
    "execution: {workers: 2}\nbudget: {usd: 4, minutes: 9}\nlog_level: warn\nprovider: {preset: codex}\n")
  local made = assert(config.load(dir .. "/a"))
  tap.equal(made.execution.workers, 3)
  tap.equal(made.budget, { usd = 4, minutes = 5 })
  tap.equal({ made.log_level, made.provider.preset, made.seed }, { "warn", "codex", 1 })
  tap.matches(made.where("log_level"), "config%.yaml:3$")
  tap.matches(made.where("execution.workers"), "manifest%.yaml:7$")
  made = assert(config.load(dir,
    { ["execution.workers"] = "8", ["budget.iterations"] = 4, seed = 7, strategy = "other" }))
  tap.equal({ made.execution.workers, made.budget.iterations, made.seed, made.strategy.use }, { 8, 4, 7, "other" })
  tap.equal(made.where("execution.workers"), "--workers")
end)

tap.test("the manifest's provider replaces the user's as a whole", function()
  load(minimal .. "provider: {kind: lua, use: m.lua}\n")
  tap.equal(assert(config.load(dir)).provider.preset, nil)
  load(minimal)
end)

tap.test("errors of an option begin with the option; of the user's file with that file", function()
  local made, errors = config.load(dir, { ["execution.workers"] = "many", ["budget.iterations"] = 0 })
  tap.equal(made, nil)
  tap.equal(#errors, 2)
  table.sort(errors)
  tap.matches(errors[1], "^%-%-iterations: must be a whole number, 1 or more; got 0")
  tap.matches(errors[2], "^%-%-workers: must be a whole number from 1 to 256; got 'many'")
  load(minimal .. "history: revert\n")
  made, errors = config.load(dir, { ["execution.workers"] = 2 })
  tap.equal(made, nil)
  tap.matches(errors[1], "^%-%-workers: must be 1 with history: revert")
  fs.write(root .. "/xdg/apsis/config.yaml", "metric: {name: x}\nseed: one\n")
  made, errors = config.load(dir)
  tap.equal(made, nil)
  tap.equal(#errors, 2)
  tap.matches(errors[1], "config%.yaml:1: metric: unknown key 'metric' %(allowed here: seed, provider,")
  tap.matches(errors[2], "config%.yaml:2: seed: must be a whole number; got 'one'")
  fs.remove(root .. "/xdg/apsis/config.yaml")
  tap.raises("no key 'execution.wrokers'", config.load, dir, { ["execution.wrokers"] = 2 })
end)

tap.test("the effective configuration is plain data as JSON, without what looks like a secret", function()
  load(minimal .. "provider: {run: agent, env: {API_KEY: abc, LEVEL: 3}}\nstrategy: {options: {x: null}}\n")
  local text = json.encode(config.plain(assert(config.load(dir))))
  contains(text, '"LEVEL":"3"')
  contains(text, '"checks":[]')
  tap.equal(text:find("abc", 1, true), nil)
end)

tap.test("program.md: text and front matter, errors at their line", function()
  local function parse(bytes)
    local made = assert(program.parse(bytes, "program.md"))
    return { front = made.front, text = made.text }
  end
  tap.equal(parse "---\ngoal: up\n---\n\n# Title\ntext\n", { front = { goal = "up" }, text = "# Title\ntext\n" })
  tap.equal(parse "# Title\n---\nx\n", { front = {}, text = "# Title\n---\nx\n" })
  tap.equal(assert(program.parse("---\nnever closed\n", "p")).text, "---\nnever closed\n")
  tap.equal(parse "\u{FEFF}---\r\na: 1\r\n---\r\ntext", { front = { a = 1 }, text = "text" })
  tap.equal(parse "", { front = {}, text = "" })
  local none, errors = program.parse("---\nok: 1\nbad: [\n---\n", "program.md")
  tap.equal(none, nil)
  tap.matches(errors[1], "^program.md:[345]:%d+: ")
  none, errors = program.parse("---\njust prose\n---\n", "program.md")
  tap.equal(none, nil)
  tap.matches(errors[1], "^program.md:2: front matter: must be a mapping")
  none, errors = program.parse("one\ntwo \xff\n", "program.md")
  tap.equal(none, nil)
  tap.matches(errors[1], "^program.md:2: .*UTF%-8")
  local _, _, code = program.load(dir .. "/program.md")
  tap.equal(code, "ENOENT")
end)

tap.test("every key of the schema has a line of documentation", function()
  for _, row in ipairs(shape.list(schema.manifest)) do
    if type(row.doc) ~= "string" or not row.expects then error(row.key) end
  end
end)

tap.test("the nearest name is near, or none is named", function()
  tap.equal(nearest.name("diretcion", { "name", "direction" }), "direction")
  tap.equal(nearest.name("Time-Out", { "timeout_sec", "cwd" }), "timeout_sec")
  tap.equal(nearest.name("xyz", { "name", "direction" }), nil)
  tap.equal(nearest.name(("x"):rep(5000), { "name" }), nil)
end)

os.getenv = getenv
fs.remove_tree(root)
tap.done()
