-- programs: program files of autoloop as a layer of configuration, the list of a repository's programs, and
-- program.md's front matter.
local autoloop = require "apsis.goals.program.file"
local config = require "apsis.project.config"
local fs = require "apsis.fs"
local keeper = require "apsis.goals.upkeep"
local program = require "apsis.project.program"
local programs = require "apsis.goals.find"
local schema = require "apsis.project.schema"
local shape = require "apsis.project.shape"
local tap = require "tap"

local test, equal, matches = tap.test, tap.equal, tap.matches
local base = assert(fs.realpath(assert(fs.tempdir "apsis-programs-")))

-- ---- helpers ----

local count = 0

-- A fresh directory with these files ({[path] = text}).
local function repository(files)
  count = count + 1
  local root = base .. "/r" .. count
  assert(fs.mkdir(root))
  for path, text in pairs(files) do
    assert(fs.mkdir((root .. "/" .. path):match("^(.*)/")))
    assert(fs.write(root .. "/" .. path, text))
  end
  return root
end

local TARGET = "## Target\n\nOnly modify these files:\n- `src/value.txt` -- the value\n\n"
local EVALUATION = "## Evaluation\n\n```\nsh measure.sh\n```\n\nThe metric is `score`.\n"
local BODY = "# Speed\n\n## Goal\n\nMore.\n\n" .. TARGET .. EVALUATION

local function text_of(front, body)
  return (front and "---\n" .. front .. "\n---\n" or "") .. (body or BODY)
end

-- The layer of a program file with this text, and its root.
local function read(text, options)
  local root = repository { [".autoloop/programs/speed/program.md"] = text, ["src/value.txt"] = "1\n",
    ["Makefile"] = "" }
  return autoloop.layer(root .. "/.autoloop/programs/speed/program.md", options), root
end

local function errors_of(layer)
  local texts = {}
  for index, one in ipairs(layer.errors) do texts[index] = one.text end
  return table.concat(texts, "\n")
end

local function good(text)
  local layer, root = read(text)
  equal(errors_of(layer), "")
  equal(layer.unconfigured, nil)
  return layer, root
end

local function bad(text, pattern)
  local layer = read(text)
  matches(errors_of(layer), pattern)
  return layer
end

local function load(text)
  local root = repository { [".autoloop/programs/speed/program.md"] = text, ["src/value.txt"] = "1\n" }
  return config.load(root .. "/.autoloop/programs/speed/program.md")
end

-- ---- a program as a layer ----

test("a program file is what a manifest would say: files, command, metric, target, schedule", function()
  local layer, root = good(text_of("schedule: every 6h\ntarget-metric: 0.5\nmetric_direction: "
    .. "lower\ntimeout-minutes: 2"))
  local value = layer.value
  equal(value.version, 1)
  equal(value.project, { name = "speed" })
  equal(value.program, ".autoloop/programs/speed/program.md")
  equal(value.files, { { path = "src/value.txt", mode = "writable" } })
  equal(value.verification.commands, { { name = "evaluate", run = "sh measure.sh", timeout_sec = 120 } })
  equal({ value.metric.name, value.metric.direction, value.metric.target }, { "score", "lower", 0.5 })
  equal(value.schedule, "every 6h")
  equal(value.strategy, { use = "hillclimb" })
  equal({ layer.root, layer.home, layer.name }, { root, root .. "/.autoloop/programs/speed", "speed" })
  equal(layer.warnings, {})
end)

test("the whole of it is a configuration that can be run", function()
  local made, errors = load(text_of("schedule: daily\ntarget-metric: 3"))
  equal(errors, nil)
  equal({ made.metric.direction, made.metric.target, made.schedule, made.program_name },
    { "higher", 3, "daily", "speed" })
end)

-- What the user would have lost: a hook for a moment that never comes, a place where nothing is kept.
test("a goal's keys are refused in an ordinary project, and the keys of another kind of memory in a goal", function()
  local minimal = "version: 1\nfiles: [{path: a, mode: writable}]\nverification: {commands: [{run: x}]}\nmetric: {}\n"
  local function of(added) return select(2, config.load(repository { ["manifest.yaml"] = minimal .. added })) end
  for added, key in pairs { ["schedule: daily"] = "schedule", ["default_branch: main"] = "default_branch",
    ["memory: folder"] = "memory", ["on: {paused: x}"] = "on.paused", ["on: {completed: x}"] = "on.completed" } do
    matches(of(added)[1], "manifest.yaml:5: " .. key .. ": is only for standing goals: add program: NAME")
    equal(of(added .. "\nprogram: speed"), nil)
  end
  equal(of "on: {kept: x, rejected: x}", nil)
  matches(of("program: speed\nmemory: {folder: notes}")[1], "memory.folder: goes with kind: folder, not with kind: branch")
  matches(of("program: speed\nmemory: {kind: folder, branch: b}")[1], "memory.branch: goes with kind: branch")
end)

test("what the gate may see is a list of paths", function()
  bad(text_of "gate: {run: make ci, allow: data}", "gate.allow: must be a list of paths")
end)

test("NAME.md is named by its file, and its state lives in a folder of that name", function()
  local root = repository { [".autoloop/programs/speed.md"] = BODY, ["src/value.txt"] = "" }
  local layer = autoloop.layer(root .. "/.autoloop/programs/speed.md")
  equal({ layer.name, layer.home, layer.value.program, #layer.errors },
    { "speed", root .. "/.autoloop/programs/speed", ".autoloop/programs/speed.md", 0 })
end)

test("the scheduler's documented example, with its trailing comments, means what it says", function()
  local layer = good(text_of("schedule: every 6h    # Options: every Nh, daily\ntimeout-minutes: 40   # Optional\n"
    .. "target-metric: 0.95   # Optional: halting condition\nmetric_direction: lower   # or higher"))
  equal({ layer.value.schedule, layer.value.metric.target, layer.value.metric.direction,
    layer.value.verification.commands[1].timeout_sec }, { "every 6h", 0.95, "lower", 2400 })
end)

test("a schedule in quotes is the schedule, of days too", function()
  equal(good(text_of 'schedule: "daily"').value.schedule, "daily")
  equal(assert(load(text_of "schedule: 'every 2d' # twice a week or so")).schedule, "every 2d")
end)

test("direction omitted is exactly as higher", function()
  local silent, said = load(text_of "seed: 1"), load(text_of "metric_direction: higher\nseed: 1")
  silent.metric.extractor, said.metric.extractor = nil, nil
  equal(silent.metric, said.metric)
  equal(good(BODY).value.metric.direction, nil)
end)

test("in front matter only higher and lower are directions; anything else is refused with file and line", function()
  for _, word in ipairs { "sideways", "maximize", "lower_is_better", "1", "true", "[lower]",
    "''" } do
    bad(text_of("schedule: daily\nmetric_direction: " .. word), "speed/program%.md:3: metric_direction: must be one "
      .. "of higher, lower; got ")
  end
  bad(text_of "metric-direction: lowr", "program%.md:2: metric%-direction: .*did you mean 'lower'")
  for _, word in ipairs { "LOWER", "Lower" } do -- as autoloop's own tests write it
    equal(good(text_of("metric_direction: " .. word)).value.metric.direction, "lower")
  end
  equal(good(text_of "metric-direction: ' lower '").value.metric.direction, "lower")
  equal(good(text_of "metric_direction: \"lower\"").value.metric.direction, "lower")
end)

test("two spellings of a key must agree", function()
  equal(good(text_of "metric_direction: lower\nmetric-direction: lower").value.metric.direction, "lower")
  bad(text_of "metric_direction: lower\nmetric-direction: higher",
    "program%.md:3: metric%-direction: is higher, but metric_direction is lower")
  bad(text_of "target-metric: 1\ntarget_metric: 2", "program%.md:3: target_metric: is 2, but target%-metric is 1")
  equal(good(text_of "target_metric: 2").value.metric.target, 2)
  equal(good(text_of "timeout_minutes: 0.5").value.verification.commands[1].timeout_sec, 30.0)
end)

test("what the prose says must not contradict the front matter, and alone it counts", function()
  local lower = "The metric is `score`. **Lower** is\nbetter.\n"
  local body = BODY:gsub("The metric is `score`%.\n", lower)
  bad(text_of("metric_direction: higher", body), "program%.md:2: metric_direction: is higher, but the text says that "
    .. "lower is better")
  local taken = good(text_of(nil, body))
  equal(taken.value.metric.direction, "lower")
  matches(table.concat(taken.warnings), "program%.md:18: metric_direction: lower is better, as the text says; .*write metric_direction: lower")
  equal(good(text_of("metric_direction: lower", body)).value.metric.direction, "lower")
  bad(text_of("metric_direction: lower", (BODY:gsub("More%.", "Higher is better."))),
    "program%.md:2: .*says that higher is better")
  good(text_of(nil, (BODY:gsub("More%.", "Higher is better.")))) -- the default, said
  -- the template's own words say neither
  good(text_of("metric_direction: lower", (BODY:gsub("More%.", "**Lower/Higher is better.**"))))
  good(text_of(nil, (BODY:gsub("More%.", "<!-- Lower is better. -->"))))
end)

test("the importer takes the direction from the prose", function()
  local layer = read(text_of(nil, (BODY:gsub("More%.", "Lower is better."))), { lenient = true })
  equal(errors_of(layer), "")
  equal(layer.value.metric.direction, "lower")
end)

test("a target or a time that is no number is refused at its line", function()
  bad(text_of "target-metric: fast", "program%.md:2: target%-metric: must be a number; got 'fast'")
  bad(text_of "target-metric: '0.5'", "program%.md:2: target%-metric: must be a number; got '0.5'")
  bad(text_of "target-metric: .inf", "program%.md:2: target%-metric: must be a number.*not finite")
  bad(text_of "target-metric: .nan", "not finite")
  bad(text_of "target-metric: [1]", "must be a number; got a list")
  bad(text_of "timeout-minutes: 0", "program%.md:2: timeout%-minutes: must be a number above 0")
  bad(text_of "timeout-minutes: 1e300", "program%.md:2: timeout%-minutes: must be a number")
  equal(good(text_of "target-metric: 0").value.metric.target, 0)
  equal(good(text_of "target-metric: -1e-3").value.metric.target, -1e-3)
end)

test("a key without a value is refused with the forms there are, never taken for the default", function()
  for _, null in ipairs { "", " ~", " null", " # later" } do
    bad(text_of("seed: 1\nschedule:" .. null), "program%.md:3: schedule: is empty; write a value %(every 30m, .*%) or "
      .. "remove the line$")
    bad(text_of("metric_direction:" .. null), "program%.md:2: metric_direction: is empty; write a value %(higher or "
      .. "lower%) or remove")
    bad(text_of("target-metric:" .. null), "program%.md:2: target%-metric: is empty; write a value %(a "
      .. "number%) or remove")
    bad(text_of("timeout-minutes:" .. null), "program%.md:2: timeout%-minutes: is empty; write a value %(a number")
  end
  bad(text_of "target_metric:\nmetric-direction:\nschedule:", "target_metric: is empty.*\n.*metric%-direction: is "
    .. "empty.*\n.*schedule: is")
  local body = BODY:gsub("More%.", "Lower is better.")
  equal(#bad(text_of("metric_direction:", body), "metric_direction: is empty").errors, 1)
  local root = repository { ["manifest.yaml"] = "version: 1\nprogram: p\nschedule:\nfiles: [{path: x, mode: "
    .. "writable}]\nverification: {commands: [{run: 'true'}]}\nmetric: {name: m}\n" }
  local _, errors = config.load(root)
  matches(table.concat(errors, "\n"), "manifest.yaml:3: schedule: is empty")
end)

test("keys of a manifest may be said in front matter; their errors name its lines", function()
  local layer = good(text_of("budget: {iterations: 3}\nprovider:\n  kind: command\n  run: ./agent\ngate: make "
    .. "ci\nseed: 7\nmemory: folder"))
  equal({ layer.value.budget, layer.value.provider, layer.value.seed, layer.value.gate.run, layer.value.memory.kind },
    { { iterations = 3 }, { kind = "command", run = "./agent" }, 7, "make ci", "folder" })
  bad(text_of "budget:\n  iteratons: 3", "program%.md:3: budget%.iteratons: unknown key .*did you mean 'iterations'")
  bad(text_of "provider:\n  kind: command\n  timeout_sec: -1", "program%.md:4: provider%.timeout_sec: must be")
  bad(text_of "schedule: 6", "program%.md:2: schedule: must be every 30m, .*; got 6; put it in quotes")
  local _, errors = load(text_of "seed: 1\nprovider: {kind: command}")
  matches(table.concat(errors, "\n"), "program%.md:3: provider%.run: is required")
  _, errors = load(text_of "schedule: every 10 months")
  matches(table.concat(errors, "\n"), "program%.md:2: schedule: ")
end)

test("an unknown key is warned of with a suggestion, never refused; so is one that is said elsewhere", function()
  local layer = good(text_of "schedule: daily\nmetric_directoin: lower\nowner: me\nfiles: []\nversion: 7")
  equal(#layer.warnings, 4)
  matches(layer.warnings[1], "program%.md:3: metric_directoin: unknown key, not read; did you mean "
    .. "'metric_direction'%?$")
  matches(layer.warnings[2], "program%.md:4: owner: unknown key, not read$")
  matches(layer.warnings[3], "program%.md:5: files: .*the section Target sets it")
  matches(layer.warnings[4], "program%.md:6: version: ")
  equal(layer.value.version, 1)
end)

test("the schema's errors name the program file, its line and the key as written there", function()
  local _, errors = load(text_of "metric_direction: lower\ntarget-metric: high")
  matches(errors[1], "program%.md:3: target%-metric: must be a number; got 'high'")
  local made = load(text_of "target-metric: 5")
  matches(made.where "metric.target", "program%.md:2$")
  matches(made.where "metric.name", "program%.md:15$")
  matches(made.where "verification.commands[1].run", "program%.md:17$")
end)

-- ---- front matter ----

test("HTML comments, a BOM and CRLF before and in front matter are no trouble", function()
  local comments = "<!-- one -->\n\n<!-- two\nlines -->\n<!-- -- -->   \n"
  local layer = good("\u{FEFF}" .. comments .. text_of "target-metric: 4\nschedule: daily")
  equal({ layer.value.metric.target, layer.value.schedule }, { 4, "daily" })
  matches(errors_of((read(comments .. text_of "target-metric: x"))), "program%.md:7: target%-metric: ")
  local crlf = good((text_of("target-metric: 4"):gsub("\n", "\r\n")))
  equal({ crlf.value.metric.target, crlf.value.verification.commands[1].run }, { 4, "sh measure.sh" })
  matches(errors_of((read((text_of("a: 1\ntarget-metric: x"):gsub("\n", "\r\n"))))), "program%.md:3: target%-metric: ")
  equal(good("<!-- only a comment -->\n\n" .. BODY).value.metric.target, nil)
  equal(good("<!--\n---\nschedule: every 6h\n---\n-->\n\n" .. BODY).value.schedule, nil)
end)

test("front matter that is not closed, a list, no YAML or below an empty line is refused with its line", function()
  bad("---\nschedule: daily\n\n" .. BODY, "program%.md:1: front matter: no second line of %-%-%- closes it")
  bad("<!-- x -->\n---\nschedule: daily\n" .. BODY, "program%.md:2: front matter: no second")
  bad("---\n- a\n- b\n---\n" .. BODY, "program%.md:2: front matter: must be a mapping")
  bad("---\nschedule: [\n---\n" .. BODY, "program%.md:%d+:%d+: ")
  bad("---\nschedule: daily\nschedule: weekly\n---\n" .. BODY, "program%.md:3: .*schedule")
  bad("\n---\ntarget-metric: 1\n---\n" .. BODY, "program%.md:1: front matter: must be at the top")
  equal(good("---\n---\n" .. BODY).value.schedule, nil)
  equal(good("\n# x\n\n---\n\n" .. BODY).value.schedule, nil)
end)

test("several comments on one line stand before front matter", function()
  for _, comments in ipairs { "<!-- a --> <!-- b -->\n", "<!-- a --><!-- b --><!-- c -->\n\n",
    "<!-- a --> <!-- b\n--> <!-- c -->\t\n", "<!-- a -->\n<!-- b --> <!-- c -->\n" } do
    equal(good(comments .. text_of "target-metric: 4").value.metric.target, 4, comments)
  end
  equal(good("<!-- a --> <!-- b --> text\n\n" .. BODY).value.metric.target, nil)
end)

local SAID = "---\nschedule: daily\nmetric_direction: lower\n---\n"

test("front matter that is not at the top, or not quite front matter, is refused with its line, never ignored",
  function()
  local exact, top = "its first line must be exactly %-%-%-", "move it to the top of the file"
  local unseen = "has an invisible character"
  for text, pattern in pairs { ["# T\n" .. SAID] = "2: .*" .. top, ["text <!-- a -->\n" .. SAID] = "2: .*" .. top,
    ["<!-- a --> b\n" .. SAID] = "2: .*" .. top, ["<!-- a -->" .. SAID] = "1: .*" .. exact,
    ["<!-- a\n-->" .. SAID] = "2: .*" .. exact, ["  " .. SAID] = "1: .*" .. exact,
    [SAID:gsub("%-\n", "- # x\n", 1)] = "1: .*" .. exact, ["-" .. SAID] = "1: .*" .. exact,
    [SAID:gsub("%-\n", "-\u{A0}\n", 1)] = "1: .*line 1 " .. unseen .. " %(U%+00A0%)",
    ["\u{A0}\n" .. SAID] = "2: .*line 1 " .. unseen .. " %(U%+00A0%)",
    ["\u{FEFF}\u{FEFF}" .. SAID] = "1: .*line 1 .*U%+FEFF",
    ["<!-- a -->\n\u{FEFF}" .. SAID] = "2: .*line 2 .*U%+FEFF", ["\u{200B}" .. SAID] = "1: .*line 1 .*U%+200B",
    ["---\nseed: 1\n---\n" .. SAID] = "4: .*" .. top, ["# T\n\n---\n\nprose\n\n" .. SAID] = "7: .*" .. top,
    ["# T\r\n" .. SAID:gsub("\n", "\r\n")] = "2: .*" .. top,
    ["# T\n---\n# x\n\nprovider:\n  kind: chat\n...\n"] = "2: .*%(provider%); " .. top,
    ["# T\n---\n\"budget\": {\n  iterations: 3\n}\n---\n"] = "2: .*%(budget%); " .. top } do
    local layer = bad(text .. BODY, "speed/program%.md:" .. pattern)
    matches(layer.errors[1].text, "^[^:]*:%d+: front matter: is not read here %(")
    equal(#layer.errors, 1)
  end
end)

test("a key of front matter on a line of its own is refused where it is not read", function()
  for _, line in ipairs { "schedule: daily", "metric_direction: lower", "  target-metric: 5", "timeout-minutes: 5",
    "target_metric:", "schedule : daily", "'schedule': daily", "\u{FEFF}schedule: daily", "--- schedule: daily",
    "schedule:\u{A0}daily" } do
    bad(line .. "\n\n" .. BODY, "program%.md:1: [%w_-]+: is not read here, outside of front matter; put it between "
      .. "two lines of %-%-%- at")
    bad(BODY .. "\n" .. line .. "\n", "program%.md:20: [%w_-]+: is not read here")
    bad("---\nseed: 1\n---\n" .. line .. "\n" .. BODY, "program%.md:4: [%w_-]+: is not read here")
  end
end)

test("separators, fences, comments, lists and prose that speaks of keys are no front matter", function()
  for _, text in ipairs { "---\n\nprose\n\n---\n", "prose\n---\n## x\n\nmemory: little\n\n---\n", "```yaml\n" .. SAID
    .. "```\n", "<!--\n" .. SAID .. "-->\n", "- schedule: daily\n", "`schedule: daily`\n", "The schedule: daily.\n",
    "Schedule: daily\n", "| schedule: | x |\n", "    schedule: daily\n", "memory: little\n", "schedule:daily\n",
    "> schedule: daily\n", "a\n---\nowner: me\nnote: x\n---\n", "a\n---\nmemory: little\nand more prose\n---\n",
    "a\n---\nseed: 1\n```\nx\n```\n---\n", "a\n---\nfiles: many\n---\n", "a\n---\n" .. ("\n"):rep(50)
    .. "seed: 1\n---\n" } do
    good("# T\n\n" .. text .. "\n" .. BODY)
    good("---\nseed: 1\n---\n" .. text .. "\n" .. BODY)
  end
end)

test("a cron schedule that YAML cannot read without quotes: the message gives it in quotes", function()
  bad("---\nschedule: */15 * * * *\n---\n" .. BODY, 'program%.md:2:%d+: .*; put it in quotes: schedule: "%*/15 '
    .. '%* %* %* %*"$')
  bad("<!-- a -->\n---\nseed: 1\nschedule: * * * * *  # each minute\nowner: x\n---\n" .. BODY,
    'program%.md:4:%d+: .*; put it in quotes: schedule: "%* %* %* %* %*"$')
  bad("---\r\nschedule: */5 * * * *\r\n---\r\n" .. BODY, 'schedule: "%*/5 %* %* %* %*"$')
  for _, line in ipairs { "schedule: [", "schedule: 'daily", "owner: */15 *" } do
    local layer = bad("---\n" .. line .. "\n---\n" .. BODY, "program%.md:%d+:%d+: ")
    equal(errors_of(layer):find("put it in quotes", 1, true), nil, line)
  end
  equal(assert(load(text_of 'schedule: "*/15 * * * *"')).schedule, "*/15 * * * *")
end)

test("program.md may have front matter below comments; text, lines and what is not closed are told", function()
  local made = assert(program.parse("<!-- a\nb -->\n---\ngoal: up\n---\n\n# T\n", "p"))
  equal({ made.text, made.front, made.line, made.lines[made.front].keys.goal }, { "# T\n", { goal = "up" }, 7, 4 })
  equal(made.whole, "---\ngoal: up\n---\n\n# T\n")
  made = assert(program.parse("<!-- a -->\ntext\n", "p"))
  equal({ made.text, made.front, made.line }, { "<!-- a -->\ntext\n", {}, 1 })
  equal(assert(program.parse("<!-- a -->\n---\nopen\n", "p")).unclosed, 2)
  equal(assert(program.parse("<!-- never closed\n---\na: 1\n---\n", "p")).front, {})
  local _, errors = program.parse("<!-- a\nb -->\n---\ngoal: [\n---\n", "p")
  matches(errors[1], "^p:[45]:%d+: ")
end)

test("a bomb of aliases in front matter is refused", function()
  local lines = { "a0: &a0 [x, x, x, x, x, x, x, x, x, x]" }
  for index = 1, 9 do
    local item = "*a" .. index - 1
    local items = table.concat({ item, item, item, item, item, item, item, item, item, item }, ", ")
    lines[#lines + 1] = ("a%d: &a%d [%s]"):format(index, index, items)
  end
  bad(text_of(table.concat(lines, "\n")), "program%.md:%d+: ")
  bad(text_of("a: " .. ("["):rep(5000) .. ("]"):rep(5000)), "program%.md:%d+: ")
end)

-- ---- Target ----

local function files_of(target, extra)
  local root = repository(extra or { ["src/a.py"] = "", ["src/x.py"] = "", Makefile = "", ["my file.py"] = "" })
  assert(fs.mkdir(root .. "/.autoloop/programs"))
  local path = root .. "/.autoloop/programs/p.md"
  assert(fs.write(path, "## Target\n" .. target .. "\n\n" .. EVALUATION))
  local layer, rules = autoloop.layer(path), {}
  for index, rule in ipairs(layer.value.files or {}) do
    rules[index] = (rule.mode == "writable" and "+" or "-") .. rule.path
  end
  return table.concat(rules, " "), layer
end

test("Target: items, prose, folders and globs say what may be changed", function()
  equal(files_of "- `src/a.py`\n* `lib/new.py` (new)\n1. src/b.py\n+ **`Makefile`**",
    "+src/a.py +lib/new.py +src/b.py +Makefile")
  equal(files_of "Only modify `src/a.py` and `src/x.py`.", "+src/a.py +src/x.py")
  equal(files_of "`src/a.py`", "+src/a.py")
  equal(files_of "- `src`\n- `src/`", "+src/**")
  equal(files_of "- `my file.py`", "+my file.py")
  equal(files_of "- [ ] `src/a.py`", "+src/a.py")
  equal(files_of "```\nsrc/a.py\nsrc/b.py\n```", "+src/a.py +src/b.py")
  equal(files_of "<!--\n- `src/x.py`\n-->\n- `src/a.py` <!-- `src/y.py` -->", "+src/a.py")
end)

test("Target: **/ is any number of folders, none too", function()
  equal(files_of "- `tests/**/*.test.ts`", "+tests/*.test.ts")
  equal(files_of "- `src/**/a.py`", "+src/a.py +src/*/a.py")
  equal(files_of "- `**/a.py`", "+a.py +*/a.py")
  equal(files_of "- `src/**`", "+src/**")
end)

test("Target: what is not to be modified, an exception, and what is only mentioned are not granted", function()
  equal(files_of "- `src/a.py`\n\nDo NOT modify:\n- `src/x.py`\n", "+src/a.py -src/x.py")
  equal(files_of "- `src/**` except `src/x.py`", "+src/** -src/x.py")
  equal(files_of "- `src/**` (but not `src/x.py` and `src/y.py`)", "+src/** -src/x.py -src/y.py")
  equal(files_of "- `src/a.py` -- as `src/x.py` wants it", "+src/a.py")
  equal(files_of "- `src/a.py`\n- never `src/x.py`", "+src/a.py -src/x.py")
  equal(files_of "- `src/a.py`\n\nEverything in `src/x.py` is off-limits.", "+src/a.py")
  equal(files_of "- `src/a.py`\n\nThe entry point is `src/x.py`.", "+src/a.py")
  equal(files_of "Off limits:\n- `src/x.py`\n\nYou may change:\n- `src/a.py`", "-src/x.py +src/a.py")
end)

test("Target: paths that lead out are refused, words that are no path warned of", function()
  local _, layer = files_of "- `/etc/passwd`\n- `src/../../x.py`\n- `src/a.py`"
  matches(errors_of(layer), "p%.md:2: Target: '/etc/passwd' is absolute")
  matches(errors_of(layer), "p%.md:3: Target: 'src/../../x.py' leaves it")
  _, layer = files_of "- `src/a.py`\n- `npm test`\n- `src/{a,b}.py`\n- `src/gone.py`"
  equal(errors_of(layer), "")
  matches(layer.warnings[1], "p%.md:3: Target: 'npm test' is not taken for a path")
  matches(layer.warnings[2], "p%.md:4: Target: 'src/{a,b}.py' is not taken for a path")
  matches(layer.warnings[3], "p%.md:5: Target: 'src/gone.py' does not exist; a candidate may create it")
end)

test("Target: none, an empty one, and one that only forbids are refused once, with the remedy", function()
  local layer = bad("# x\n\n" .. EVALUATION, "program%.md:1: Target: this section is missing")
  equal(#layer.errors, 1)
  bad("## Target\nnothing\n" .. EVALUATION, "program%.md:1: Target: names no file that may be changed; write a list")
  bad("## Target\nDo not modify:\n- `src/value.txt`\n" .. EVALUATION, "Target: names no file")
  local _, errors = load("## Target\nnothing\n" .. EVALUATION)
  equal(#errors, 1)
end)

test("Target: a path of the program's own folder is told to be one of the repository", function()
  local root = repository { [".autoloop/programs/p/program.md"] = "## Target\n- `code/a.py`\n" .. EVALUATION,
    [".autoloop/programs/p/code/a.py"] = "" }
  matches(autoloop.layer(root .. "/.autoloop/programs/p/program.md").warnings[1],
    "program.md:2: Target: 'code/a.py' does not exist, but .autoloop/programs/p/code/a.py is: paths are relative to ")
end)

test("Target: a file whose name has brackets is that file", function()
  equal(files_of("- `app/[id].ts`", { ["app/[id].ts"] = "" }), "+app/[[]id].ts")
end)

-- ---- Evaluation ----

local function evaluation_of(text)
  local layer = read(TARGET .. "## Evaluation\n" .. text)
  local command = ((layer.value.verification or {}).commands or {})[1] or {}
  return command.run, layer.value.metric, layer
end

test("Evaluation: the command is the first block that is no JSON and no output", function()
  local json = "```json\n{\"ms\": 3}\n```\n"
  equal((evaluation_of(json .. "```sh\nmake bench\n```\nThe metric is `ms`.")), "make bench")
  equal((evaluation_of("```\n{\"ms\": 3}\n```\n```\nmake bench\n```\nThe metric is `ms`.")), "make bench")
  equal((evaluation_of("```\nMETRIC ms=3\n```\n~~~\nmake bench\n~~~\nThe metric is `ms`.")), "make bench")
  equal((evaluation_of("````sh\ncat <<E\n```\nE\n````\nThe metric is `ms`.")), "cat <<E\n```\nE")
  equal((evaluation_of("1. Run:\n\n   ```sh\n   make a &&\n     make b\n   ```\nThe metric is `ms`.")),
    "make a &&\n  make b")
  equal((evaluation_of("```sh\n# a comment of the shell's\n## Target\nmake\n```\nThe metric is `ms`.")),
    "# a comment of the shell's\n## Target\nmake")
  equal((evaluation_of("<!--\n```\nrm -rf .\n```\n-->\n```\nmake\n```\nThe metric is `ms`.")), "make")
end)

test("Evaluation: a block of bash is run by bash, any other by sh; what no shell takes is refused", function()
  equal((evaluation_of("```bash\nset -o pipefail\nmake | tail\n```\nThe metric is `ms`.")),
    { "bash", "-c", "set -o pipefail\nmake | tail" })
  equal((evaluation_of("```{.bash}\nmake\n```\nThe metric is `ms`.")), { "bash", "-c", "make" })
  local _, _, layer = evaluation_of("```python\nprint(1)\n```\nThe metric is `ms`.")
  matches(errors_of(layer), "program%.md:7: Evaluation: is a block of 'python'")
  _, _, layer = evaluation_of("```console\n$ make\n```\nThe metric is `ms`.")
  matches(errors_of(layer), "program%.md:7: Evaluation: shows a prompt; write the command without '%$ '")
end)

test("Evaluation: a second command is warned of", function()
  local _, _, layer = evaluation_of("```\nmake\n```\n```\nmake bench\n```\nThe metric is `ms`.")
  matches(layer.warnings[1], "program%.md:10: Evaluation: only the first command is run")
end)

test("Evaluation: the metric's name is that of the prose, else the JSON's", function()
  local function name(text) return (select(2, evaluation_of("```\nmake\n```\n" .. text))).name end
  equal(name "The metric is `best_ms`.", "best_ms")
  equal(name "The **metric** is `best_ms`.", "best_ms")
  equal(name "Metric: `best_ms`", "best_ms")
  equal(name "Metrics come from `evaluate.py`. The metric is `best_ms`.", "best_ms")
  equal(name "The metric is printed as `{\"best_ms\": 3}`.", "best_ms")
  equal(name "The metric is in the line `METRIC best_ms=3`.", "best_ms")
  equal(name "```json\n{\n  \"best_ms\": 3\n}\n```", "best_ms")
  equal(name "It prints `{\"best_ms\": 1}`.", "best_ms")
end)

test("Evaluation: a METRIC line or the number in the JSON, whatever the prose speaks of; a file where it says so",
  function()
  local function extractor(text, command)
    return (select(2, evaluation_of("```\n" .. (command or "make") .. "\n```\n" .. text))).extractor
  end
  local plain = extractor("The metric is `ms`.")
  equal(plain.type, "metric_lines")
  equal(extractor("The metric is `ms`.", "echo METRIC ms=3"), plain)
  equal(extractor("The metric is `ms`, a METRIC line."), plain)
  equal(extractor("The metric is `ms`: JSON such as `{\"ms\": 42}`, or a line `METRIC ms=42`."), plain)
  equal(extractor("The metric is `total.lines.pct` from `coverage/summary.json`."),
    { type = "json_file", path = "coverage/summary.json", json_pointer = "/total/lines/pct" })
  equal(extractor("The metric is `a.b-c`."), { type = "metric_lines", json = "a.b-c" })
end)

test("the number in printed JSON: the last object that has it at its top, a.b inside, or the one place where it stands",
  function()
  local number = require("apsis.live.printed").number
  for _, case in ipairs {
    { '{"files": {"a.py": {"coverage": 12}}, "coverage": 81}', "coverage", 81 },
    { 'log {"other": 1}\n{\n  "x": 2,\n  "a.b-c":\n    -1.5e-3\n}\n', "a.b-c", -1.5e-3 },
      { '{"a": {"b": 3}}', "a.b", 3 },
    { '{"r": 5}\n{"r": 6}\ndone', "r", 6 }, { 'note "r": 3 was last\n{"r": 4}', "r", 4 },
      { '{"result": {"r": 1}}', "r", 1 },
    { '{"a": {"r": 1}, "b": {"r": 2}}', "r", nil }, { '{"r": 1.2.3}', "r", nil }, { '{"r": 1.5abc}', "r", nil },
      { '{"r": "5"}', "r", nil },
    { '{"r": null}', "r", nil }, { "{ not } { \"r\": 7 } {", "r", 7 }, { '{"s": "}", "r": 8}', "r", 8 },
      { "", "r", nil },
    { '["r", 3]', "r", nil }, { '{"r": 1e400}', "r", nil },
  } do equal((number(case[1], case[2])) or "none", case[3] or "none", case[1]) end
end)

test("Evaluation: a name that cannot stand in a METRIC line is one of JSON's", function()
  local made = assert(load((BODY:gsub("`score`", "`line-rate`"))))
  equal({ made.metric.name, made.metric.extractor.type }, { "line-rate", "metric_lines" })
end)

test("Evaluation: missing, without a command, without a metric: errors with line and remedy", function()
  bad(TARGET, "program%.md:1: Evaluation: this section is missing; write in it the measuring command")
  bad(TARGET .. "## Evaluation\nrun it\n", "program%.md:6: Evaluation: has no command between two lines "
    .. "of ```; write")
  bad(TARGET .. "## Evaluation\n```\nmake\n```\nfast\n", "program%.md:6: Evaluation: names no metric; write: The "
    .. "metric is `NAME`")
  bad(TARGET .. "## Evaluation\n```\n\n```\nThe metric is `ms`.\n", "Evaluation: has no command")
  bad(TARGET .. "## Evaluation\n```\nmake\nThe metric is `ms`.\n", "program%.md:7: ```: no second line of ``` "
    .. "closes the block")
  bad("<!-- open\n" .. BODY, "program%.md:1: <!%-%-: no %-%-> closes the comment")
end)

test("a second section of the same name is not read, which is said", function()
  local layer = good(BODY .. "\n## Target\n- `src/other.txt`\n")
  equal(layer.value.files, { { path = "src/value.txt", mode = "writable" } })
  matches(layer.warnings[1], "program%.md:%d+: Target: this second section of that name")
end)

tap.with_room("fitness", "fitness in the front matter measures in the place of Evaluation", function()
  local made, errors = load(text_of("fitness: {domain: tests, run: make test}", TARGET))
  equal(errors, nil)
  equal(made.fitness.domain, "tests")
end)

-- ---- not filled in ----

test("the sentinel anywhere, or a placeholder, makes a program unconfigured", function()
  local function reason(text) return read(text).unconfigured or "" end
  matches(reason("<!-- AUTOLOOP:UNCONFIGURED -->\n" .. BODY), "program%.md:1: AUTOLOOP:UNCONFIGURED: "
    .. ".*remove that line")
  matches(reason(BODY .. "\n<!-- AUTOLOOP:UNCONFIGURED -->"), "program%.md:%d+: AUTOLOOP:UNCONFIGURED")
  matches(reason("<!-- AUTOLOOP:UNCONFIGURED -->\n---\nschedule: [\n---\n"), "AUTOLOOP:UNCONFIGURED")
  matches(reason((BODY:gsub("More%.", "REPLACE THIS with your goal."))), "program%.md:5: REPLACE THIS: a placeholder")
  matches(reason((BODY:gsub("More%.", "TODO: describe the goal."))), "program%.md:5: TODO: a placeholder")
  matches(reason((BODY:gsub("sh measure%.sh", "REPLACE_WITH_YOUR_COMMAND"))),
    "program%.md:15: REPLACE_WITH_YOUR_COMMAND: ")
  matches(reason((BODY:gsub("score", "REPLACE_WITH_METRIC_NAME"))), "REPLACE_WITH_METRIC_NAME")
  matches(reason((BODY:gsub("# Speed", "# <CUSTOMIZE: name>"))), "program%.md:1: <CUSTOMIZE:")
  local layer = read("<!-- AUTOLOOP:UNCONFIGURED -->\n")
  equal({ #layer.errors, layer.errors[1].text }, { 1, layer.unconfigured })
end)

test("the word TODO, REPLACE in prose, SQL's REPLACE INTO, and a comment of the template are left as they are",
  function()
  for _, text in ipairs { "TODO also the parser.", "The list in TODO.md.", "REPLACE the parser.", "REPLACE", "We REPLACED THIS.",
    "<!-- REPLACE THIS later -->", "customize: it" } do
    good(text_of(nil, (BODY:gsub("More%.", text))))
  end
  good(text_of(nil, (BODY:gsub("sh measure%.sh", "grep -c TODO: src.c"))))
  good(text_of(nil, (BODY:gsub("sh measure%.sh", "sqlite3 db 'REPLACE INTO t VALUES (1)'"))))
  good(text_of "owner: REPLACE THIS")
end)

-- ---- strategy ----

local function strategy_of(files, front, body)
  files[".autoloop/programs/p/program.md"] = text_of(front, body)
  local layer = autoloop.layer(repository(files) .. "/.autoloop/programs/p/program.md")
  return layer.value.strategy, layer
end

local FOLDER = ".autoloop/programs/p/strategy/"

test("strategy: in the front matter a name, a path, or use and options", function()
  equal((strategy_of({}, "strategy: openevolve")), { use = "openevolve" })
  equal((strategy_of({}, "strategy: {use: annealing, options: {cooling: 0.9}}")),
    { use = "annealing", options = { cooling = 0.9 } })
  equal((strategy_of({ [FOLDER .. "mine.lua"] = "" }, "strategy: openevolve")), { use = "openevolve" })
  local _, layer = strategy_of({ [FOLDER .. "mine.lua"] = "" }, "strategy: strategy/mine.lua")
  matches(errors_of(layer), "program.md:2: strategy: there is no 'strategy/mine.lua'; .*write "
    .. ".autoloop/programs/p/strategy/mine.lua")
end)

test("strategy: a folder's one Lua file, strategy.lua or init.lua of several, else an error", function()
  equal((strategy_of { [FOLDER .. "mine.lua"] = "", [FOLDER .. "notes.md"] = "" }), { use = FOLDER .. "mine.lua" })
  equal((strategy_of { [FOLDER .. "a.lua"] = "", [FOLDER .. "init.lua"] = "" }), { use = FOLDER .. "init.lua" })
  equal((strategy_of { [FOLDER .. "strategy.lua"] = "", [FOLDER .. "init.lua"] = "" }),
    { use = FOLDER .. "strategy.lua" })
  local _, layer = strategy_of { [FOLDER .. "a.lua"] = "", [FOLDER .. "b.lua"] = "" }
  matches(errors_of(layer), "program.md:1: strategy: .* several strategies %(a.lua, b.lua%)")
end)

test("strategy: playbooks for an agent become openevolve, which is said; without any it is hillclimb", function()
  local use, layer = strategy_of { [FOLDER .. "alphaevolve.md"] = "# x\n" }
  equal(use, { use = "openevolve" })
  matches(layer.warnings[#layer.warnings], "program.md:1: strategy: .*alphaevolve.md is for an agent")
  use, layer = strategy_of({}, nil, BODY .. "\n## Evolution Strategy\nislands\n")
  equal(use, { use = "openevolve" })
  matches(layer.warnings[#layer.warnings], "program.md:%d+: strategy: the section Evolution Strategy")
  use, layer = strategy_of { [FOLDER .. "evolve.md"] = "# x\n", [FOLDER .. ".hidden.lua"] = "" }
  equal(use, { use = "hillclimb" })
  matches(layer.warnings[#layer.warnings], "program.md:1: strategy: .*p/strategy has no known strategy "
    .. "%(evolve.md%): apsis uses hillclimb; known are a Lua file, and alphaevolve.md")
  use, layer = strategy_of { [FOLDER .. ".hidden.lua"] = "" }
  equal(use, { use = "hillclimb" })
  equal(table.concat(layer.warnings):find("strategy:", 1, true), nil)
end)

-- In the form of a deployed program: its Target, its playbook, its prompts, its tunables.
local DEPLOYED = {
  ["src/core/series.ts"] = "x\n", ["src/core/other.ts"] = "x\n",
  [FOLDER .. "openevolve.md"] = "# Playbook\n\nThe agent reads it.\n\n## Problem framing\n\nA valid one passes the tests.\n\n"
    .. "### Step 5. Implement\n\nThe style is **minimal diff**. Do not reformat.\n\n### Step 6. Evaluate\n\nRun it.\n\n"
    .. "## Population schema\n\n```markdown\n## Approach\n```\nBy hand.\n\n## Step 2. Pick operator\n\n"
    .. "| Operator | Default weight | When |\n|---|---|---|\n| Exploitation | 0.40 | x |\n"
    .. "| Exploration | 0.30 | x |\n| Crossover | 0.20 | x |\n| Migration | 0.10 | x |\n\n"
    .. "- **Island 0 \u{2014} Comparison sort (objects)**: `Array.sort` over pairs.\n- **Island 1 \u{2014} Radix**: by digits.\n\n"
    .. "- **Dimension 1 \u{2014} Storage**: `boxed` / `typed-arrays`\n- **Dimension 2 \u{2014} Algorithm class**: `comparison` / `hybrid`\n",
  [FOLDER .. "prompts/mutation.md"] = "# Mutation\n\n## Mutation vocabulary\n\n- Hoist NaN handling\n\n## Domain knowledge\n\n"
    .. "- Typed arrays bypass the GC\n- NaN is not free\n",
  [FOLDER .. "prompts/crossover.md"] = "# Crossover\n\nTake the storage of one, the order of the other.\n",
  [".autoloop/programs/p/code/config.yaml"] = "exploitation_ratio: 0.5\npopulation_size: 40\narchive_size: 10\nnum_islands: 5\nnan_ratio: 0.05\n",
}

test("a deployed program's playbook is read: weights, islands, dimensions, ideas, prompts, tunables", function()
  local files = {}
  for path, text in pairs(DEPLOYED) do files[path] = text end
  local use, layer = strategy_of(files)
  equal(use.use, "openevolve")
  local options = use.options
  equal(options.island_names, { "Comparison sort (objects): island 0; Array.sort over pairs.", "Radix: island 1; by digits." })
  equal(options.features, { { name = "storage", values = { "boxed", "typed-arrays" } },
    { name = "algorithm_class", values = { "comparison", "hybrid" } } })
  equal({ options.exploitation, options.exploration, options.crossover, options.migration }, { 0.5, 0.3, 0.2, 0.1 })
  equal({ options.population_size, options.archive_size, options.islands }, { 40, 10 })
  equal(options.knowledge, { "Typed arrays bypass the GC", "NaN is not free" })
  matches(options.guidance_mutation, "Mutation vocabulary\n\n%- Hoist NaN handling")
  local rules = "Of strategy/openevolve.md:\n\n## Problem framing\n\nA valid one passes the tests.\n\n### Step 5. Implement\n\n"
    .. "The style is **minimal diff**. Do not reformat.\n\n#"
  equal({ options.guidance_mutation:sub(1, #rules), options.guidance_crossover:sub(1, #rules) }, { rules, rules })
  equal(options.guidance_crossover:sub(#rules), "# Crossover\n\nTake the storage of one, the order of the other.")
  matches(layer.warnings[#layer.warnings], "with what it says %(strategy/openevolve.md, strategy/prompts/mutation.md, "
    .. "strategy/prompts/crossover.md, code/config.yaml%)")
  equal(require("apsis.core.strategy").load({ use = "openevolve", options = options }) ~= nil, true)
end)

test("'any file other than' in a list of what is not to be changed forbids nothing of what is", function()
  local function modes_of(only)
    local body = BODY:gsub("## Target\n.-\n## Evaluation", "## Target\n\nOnly modify:\n" .. only .. "\nDo NOT modify:\n"
      .. "- Any `src/**` file other than `src/core/series.ts`.\n"
      .. "- `.autoloop/programs/**` other than this program's `code/` dir.\n- `tests/**`\n\n## Evaluation")
    local _, layer = strategy_of({ ["src/core/series.ts"] = "x\n" }, nil, body)
    local modes = {}
    for _, rule in ipairs(layer.value.files) do modes[rule.path] = rule.mode end
    return modes
  end
  local modes = modes_of "- `src/core/series.ts` - its body.\n"
  equal({ modes["src/core/series.ts"], modes["src/**"] or "none", modes["tests/**"] }, { "writable", "none", "read_only" })
  equal(modes_of("- `src/core/**`\n")["src/**"], "read_only", "a glob allows more than the exception")
  modes = modes_of "- `src/core/series.ts`\n- `.autoloop/programs/p/code/**` - benchmarks.\n"
  equal({ modes[".autoloop/programs/p/code/**"], modes[".autoloop/programs/**"] or "none" }, { "writable", "none" })
end)

-- ---- names ----

test("a name that does not do as a part of a branch's is refused with the remedy", function()
  for name, remedy in pairs { ["my prog"] = "my%-prog", ["-x"] = "rename it", ["a..b"] = "a%.b",
    ["x.lock"] = "for example x", ["b\u{FC}ild"] = "rename" } do
    local root = repository { [".autoloop/programs/" .. name .. "/program.md"] = BODY }
    local text = errors_of(autoloop.layer(root .. "/.autoloop/programs/" .. name .. "/program.md"))
    matches(text, "program.md:1: program: .* cannot name a program.*" .. remedy)
  end
  local root = repository { [".autoloop/programs/a.b-c_1.md"] = BODY }
  equal(errors_of(autoloop.layer(root .. "/.autoloop/programs/a.b-c_1.md")), "")
end)

-- ---- enemies ----

test("what is no readable text of a sensible size is refused by name", function()
  local layer = read("x" .. ("y"):rep(1024 * 1024))
  matches(errors_of(layer), "program.md: is larger than 1 MB")
  bad("# x\n\0\n", "program%.md:2: program: has a NUL character")
  bad("# x\n\n\xff\xfe\n", "program%.md:3: program: is not UTF%-8")
  bad("", "Target: this section is missing")
  bad("## Goal\n" .. ("x"):rep(9000) .. "\n" .. BODY, "program%.md:2: program: the line is longer than 8192 bytes")
  local root = repository { [".autoloop/programs/d/program.md/x"] = "", [".autoloop/programs/f/x"] = "" }
  matches(errors_of(autoloop.layer(root .. "/.autoloop/programs/d/program.md")), "d/program.md: cannot be read: EISDIR")
  matches(errors_of(autoloop.layer(root .. "/.autoloop/programs/none/program.md")),
    "none/program.md: cannot be read: ENOENT")
  assert(os.execute("mkfifo '" .. root .. "/.autoloop/programs/f/program.md'"))
  matches(errors_of(autoloop.layer(root .. "/.autoloop/programs/f/program.md")), "f/program.md: cannot be read: EINVAL")
end)

test("text made to be slow to read is read", function()
  local size = os.getenv "APSIS_SANITIZED" and 4000 or 40000
  for _, piece in ipairs { "# ", "<!--", "<!---->\n", "`", "```\n", "<CUSTOMIZE:", "- ", "metric is `\n", " \n",
    "METRIC ", "~~~\n", "**/\n", "[\n", "---\n", "---\nseed: 1\n\n", "-", "<!-- --> ", "a: 1\n" } do
    read(piece:rep(size // #piece))
    read("## Target\n" .. piece:rep(size // #piece))
    read("## Evaluation\n```\n" .. (" "):rep(size) .. "x\n```\n" .. piece:rep(1000))
  end
end)

test("any cut of a program is read or refused, never raised", function()
  local text = "<!-- c -->\n" .. text_of("schedule: every 6h # x\ntarget-metric: 0.5\nmetric_direction: "
    .. "lower\nstrategy: {use: a}")
  for length = 0, #text, os.getenv "APSIS_SANITIZED" and 20 or 3 do
    local layer = read(text:sub(1, length))
    equal(type(layer.errors), "table")
    if #layer.errors == 0 and not (layer.value.files and layer.value.verification.commands) then error(length) end
  end
end)

-- ---- which program a path means ----

local tree = { [".autoloop/programs/a/program.md"] = BODY, [".autoloop/programs/a/code/x/y.txt"] = "",
  [".autoloop/programs/b.md"] = BODY, [".autoloop/programs/b/logs/x"] = "", [".autoloop/programs/README.md"] = "",
  [".autoloop/programs/c/notes.txt"] = "", ["src/x"] = "" }

test("a path means the program whose file it is or in whose folder it lies", function()
  local root = repository(tree)
  local at = root .. "/.autoloop/programs/"
  for path, expected in pairs { ["a/program.md"] = "a/program.md", a = "a/program.md", ["a/"] = "a/program.md",
    ["a/code/x/y.txt"] = "a/program.md", ["a/code/x"] = "a/program.md", ["b.md"] = "b.md",
    ["b/logs"] = "b.md", b = "b.md" } do
    equal(programs.at(at .. path), at .. expected, path)
  end
  for _, path in ipairs { at .. "README.md", at .. "README", at .. "c", at .. "c/notes.txt", at .. "none.md",
    at .. "none", at, root, root .. "/src/x", "/", base .. "/no" } do
    equal(programs.at(path), nil, path)
  end
end)

test("a manifest of that name in a program's folder is the program there", function()
  local root = repository { [".autoloop/programs/a/program.md"] = BODY,
    [".autoloop/programs/a/manifest.yaml"] = "program: a\n", [".autoloop/programs/b/program.md"] = BODY,
    [".autoloop/programs/b/manifest.yaml"] = "kind: ConfigMap\n" }
  equal(programs.at(root .. "/.autoloop/programs/a"), nil)
  equal(programs.at(root .. "/.autoloop/programs/a/program.md"), nil)
  equal(programs.at(root .. "/.autoloop/programs/b/program.md"), root .. "/.autoloop/programs/b/program.md")
  equal(programs.at(root .. "/.autoloop/programs/b/manifest.yaml"), nil)
end)

test("root is the nearest directory that holds .autoloop", function()
  local root = repository(tree)
  for _, path in ipairs { "", "/src", "/.autoloop", "/.autoloop/programs/a/code/x" } do
    equal(programs.root(root .. path), root)
  end
  assert(fs.mkdir(root .. "/src/.autoloop"))
  equal(programs.root(root .. "/src"), root .. "/src")
  equal(programs.root(base .. "/none"), nil)
end)

-- ---- a program's name in the place of a directory ----

local NAMED = { [".autoloop/programs/coverage/program.md"] = BODY, [".autoloop/programs/size.md"] = BODY,
  ["size"] = "a file\n", [".autoloop/programs/speed/manifest.yaml"] = "program: speed\n",
  [".autoloop/programs/README.md"] = "", ["src/value.txt"] = "", [".autoloop/programs/my goal.md"] = BODY,
  ["coverage/x"] = "" }

-- What find says of a name, asked in dir.
local function find_in(dir, name)
  local before = fs.cwd()
  assert(fs.chdir(dir))
  local path, message = config.find(name)
  assert(fs.chdir(before))
  return path, message
end

test("a goal's name does where a directory is expected, from anywhere below what holds .autoloop", function()
  local root = repository(NAMED)
  local at = root .. "/.autoloop/programs/"
  for _, dir in ipairs { root, root .. "/src" } do
    equal(find_in(dir, "coverage"), at .. "coverage/program.md") -- root has a directory of that name, and no project
    equal(find_in(dir, "size"), at .. "size.md")
    equal(find_in(dir, "speed"), at .. "speed/manifest.yaml")
  end
  equal(find_in(root, ".autoloop/programs/size"), at .. "size.md") -- whose folder is not there yet
  equal(find_in(root, ".autoloop/programs/size/"), at .. "size.md")
  for _, name in ipairs { "README", "my goal", "..", "none", "./coverage2" } do
    equal(find_in(root, name), nil, name)
  end
end)

test("a directory that is a project's, or below one, is meant before a goal of that name", function()
  local root = repository(NAMED)
  assert(fs.write(root .. "/coverage/manifest.yaml", "version: 1\n"))
  equal(find_in(root, "coverage"), root .. "/coverage/manifest.yaml")
  assert(fs.remove(root .. "/coverage/manifest.yaml"))
  assert(fs.write(root .. "/manifest.yaml", "version: 1\n"))
  equal(find_in(root, "coverage"), root .. "/manifest.yaml")
  equal(find_in(root, "size"), root .. "/.autoloop/programs/size.md") -- a file of that name is no directory
end)

test("where there is no project but there are goals, they are named; of many, five", function()
  local root = repository(NAMED)
  local _, message = find_in(root, ".")
  matches(message, "^no manifest.yaml in .*; the goals of this repository: coverage, size, speed: apsis log coverage$")
  _, message = find_in(base, root .. "/src")
  matches(message, "%.autoloop/programs/coverage$")
  for index = 1, 5 do assert(fs.write(root .. "/.autoloop/programs/a" .. index .. ".md", BODY)) end
  _, message = find_in(root, ".")
  matches(message, ": a1, a2, a3, a4, a5 and 3 more %(`apsis schedule` shows all%): apsis log a1$")
  _, message = find_in(repository { x = "" }, ".")
  matches(message, "`apsis init` makes one$")
end)

test("a name that is nearly a goal's gets it as a suggestion", function()
  local root = repository(NAMED)
  for _, name in ipairs { "covrage", "covrage.md", ".autoloop/programs/covrage", ".autoloop/programs/covrage/" } do
    local _, message = find_in(root, name)
    matches(message, "no such directory, and no goal has that name; .*: coverage, size, speed; did you mean "
      .. "'coverage'%?$")
  end
  local _, message = find_in(root, "src/covrage")
  matches(message, "^src/covrage: no such directory$")
  _, message = find_in(base, "covrage")
  matches(message, "^covrage: no such directory$")
end)

-- ---- what all goals share ----

test("every goal names a broken .autoloop/config.yaml with its line, and reports nothing as missing "
  .. "that it may say", function()
  local files = { [".autoloop/programs/a.md"] = BODY, ["src/value.txt"] = "",
    ["lib/manifest.yaml"] = "version: 1\nprogram: lib\nfiles: [{path: x, mode: writable}]\nmetric: {name: m}\n" }
  for text, pattern in pairs { ["# shared\nverification: {commands: [{run: x}\n"] = ":[23]:%d+: ",
    ["budget: {}\nprovider: {kind: x}\n"] = ":2: provider.kind",
    ["memory: folder\nlimits: {cpu_sec: -1}\n"] = ":2: limits.cpu_sec: must be" } do
    files[".autoloop/config.yaml"] = text
    local root = repository(files)
    local goal = select(2, config.load(root .. "/.autoloop/programs/a.md"))
    equal(#goal, 1)
    matches(goal[1], "^[^:]*%.autoloop/config%.yaml" .. pattern)
    if text:find "^#" then equal(select(2, config.load(root .. "/lib")), goal) end
  end
end)

-- ---- the goal as a new state file says it ----

local function goal_of(prose)
  local text = keeper.document(nil, assert(load(prose))):text()
  return text:match("%*%*Goal%*%*: ([^\n]*)"):gsub("%s+$", "")
end

test("the state file's goal is the first paragraph of the section, in one line", function()
  local function goal(text) return (goal_of((BODY:gsub("More%.", text)))) end
  equal(goal "More.", "More.")
  equal(goal "Cover the parser\n  with tests (#12),\nall of it.\n\nNot the lexer.",
    "Cover the parser with tests (#12), all of it.")
  equal(goal "<!-- say\nwhat -->\nFaster.\n### Why\nIt is slow.", "Faster.")
  equal(goal "Print this:\n```\n# a\n```\n", "Print this:")
  matches(goal(("word "):rep(200)), "^word word .*word%.%.%.$")
end)

test("without words in the section it is what the prose begins with", function()
  for _, text in ipairs { "", "  \n\t", "<!-- to be written -->", "```\n```" } do
    equal((goal_of((BODY:gsub("More%.", text)))), "Speed", text)
  end
  equal((goal_of(TARGET .. EVALUATION)), "Target")
end)

test("of a manifest's goal without prose it is the project's description", function()
  local text = "version: 1\nprogram: lib\nproject: {name: lib, description: less time}\nfiles: [{path: x, mode: "
    .. "writable}]\nverification: {commands: [{run: x}]}\nmetric: {name: m}\n"
  local root = repository { ["lib/manifest.yaml"] = text }
  local made = keeper.document(nil, assert(config.load(root .. "/lib"))):text()
  matches(made, "%*%*Goal%*%*: less time")
  assert(fs.write(root .. "/lib/program.md", "# Lib\n\n## Goal\nFaster.\n"))
  matches(keeper.document(nil, assert(config.load(root .. "/lib"))):text(), "%*%*Goal%*%*: Faster%.")
  assert(fs.remove(root .. "/lib/program.md"))
  assert(fs.write(root .. "/lib/manifest.yaml", (text:gsub(", description: less time", ""))))
  matches(keeper.document(nil, assert(config.load(root .. "/lib"))):text(), "%*%*Goal%*%*: \u{2014}")
end)

-- ---- the list ----

local function listed(root, manifests)
  local rows = {}
  local list, message = programs.list(root, manifests or {}, config.load)
  for index, one in ipairs(list) do rows[index] = one.name .. " " .. one.kind .. " " .. one.status end
  return table.concat(rows, ", "), list, message
end

local MANIFEST = "version: 1\nfiles: [{path: x, mode: writable}]\nverification: {commands: [{run: 'true'}]}\nmetric: "
  .. "{name: m}\n"

test("list: folders, files and manifests by name, each with what it is fit for", function()
  local root = repository { [".autoloop/programs/b/program.md"] = BODY,
    [".autoloop/programs/a.md"] = "<!-- AUTOLOOP:UNCONFIGURED -->\n",
    [".autoloop/programs/c.md"] = text_of "metric_direction: up\nowner: me",
    [".autoloop/programs/README.md"] = "# Programs\n", [".autoloop/programs/.hidden.md"] = BODY,
    [".autoloop/programs/empty/code/x"] = "", [".autoloop/programs/notes.txt"] = "",
    [".autoloop/programs/.git/program.md"] = BODY, ["src/value.txt"] = "", ["lib/manifest.yaml"] = MANIFEST
    .. "program: lib\n", ["plain/manifest.yaml"] = MANIFEST, ["prose/manifest.yaml"] = MANIFEST
    .. "program: goal.md\n" }
  local text, list = listed(root, { root .. "/lib/manifest.yaml", root .. "/plain/manifest.yaml",
    root .. "/prose/manifest.yaml" })
  equal(text, "a file unconfigured, b folder ready, c file invalid, lib manifest ready")
  matches(list[1].reason, "a.md:1: AUTOLOOP:UNCONFIGURED")
  equal({ list[2].file, list[2].path },
    { ".autoloop/programs/b/program.md", root .. "/.autoloop/programs/b/program.md" })
  equal({ list[2].config.program_name, list[2].config.home }, { "b", root .. "/.autoloop/programs/b" })
  matches(list[3].reason, "c.md:2: metric_direction: must be one of higher, lower; got 'up'")
  matches(list[3].warnings[1], "c.md:3: owner: unknown key")
  equal({ list[4].file, list[4].config.program_name, list[4].config.dir },
    { "lib/manifest.yaml", "lib", root .. "/lib" })
end)

test("list: one program's error keeps no other from running", function()
  local root = repository { [".autoloop/programs/a.md"] = "\0", [".autoloop/programs/b.md"] = BODY,
    [".autoloop/programs/c d.md"] = BODY, [".autoloop/programs/e/program.md/x"] = "", ["src/value.txt"] = "" }
  assert(os.execute("mkfifo '" .. root .. "/.autoloop/programs/f.md'"))
  assert(fs.symlink(root .. "/gone.md", root .. "/.autoloop/programs/g.md"))
  local text, list = listed(root)
  equal(text, "a file invalid, b file ready, c d file invalid, e folder invalid, f file invalid, g file invalid")
  matches(list[3].reason, "rename it, for example c%-d")
  matches(list[4].reason, "cannot be read: EISDIR")
  matches(list[5].reason, "cannot be read: EINVAL")
  matches(list[6].reason, "is a symbolic link")
end)

test("list: the same name twice: both are invalid, each naming the other", function()
  local root = repository { [".autoloop/programs/a/program.md"] = BODY, [".autoloop/programs/a.md"] = BODY,
    [".autoloop/programs/b.md"] = BODY, ["x/manifest.yaml"] = MANIFEST .. "program: b\n", ["src/value.txt"] = "" }
  local text, list = listed(root, { root .. "/x/manifest.yaml", root .. "/x/manifest.yaml" })
  equal(text, "a file invalid, a folder invalid, b file invalid, b manifest invalid")
  matches(list[1].reason, "a.md:1: program: 'a' is also the name of .*a/program.md; rename one of them")
  matches(list[2].reason, "a/program.md:1: program: .* is also the name of .*/a.md")
  matches(list[3].reason, "is also the name of .*x/manifest.yaml;")
  matches(list[4].reason, "x/manifest.yaml:5: program: ")
  equal(list[1].config, nil)
end)

test("list: a manifest in a program's folder is the one program there", function()
  local root = repository { [".autoloop/programs/a/program.md"] = "prose\n",
    [".autoloop/programs/a/manifest.yaml"] = MANIFEST .. "program: a\n" }
  local text, list = listed(root, { root .. "/.autoloop/programs/a/manifest.yaml" })
  equal(text, "a manifest ready")
  equal(list[1].config.program, "program.md")
end)

test("list: a manifest that is broken, or has a name that does not do, is told of by its name", function()
  local root = repository { ["x/manifest.yaml"] = "program: deep\nfiles: [\n", ["y/manifest.yaml"] = MANIFEST
    .. "program: my goal\n", ["z/manifest.yaml"] = "files: [\n", ["w/manifest.yaml"] = MANIFEST .. "program: [a]\n" }
  local text, list = listed(root, { root .. "/x/manifest.yaml", root .. "/y/manifest.yaml",
    root .. "/z/manifest.yaml", root .. "/w/manifest.yaml", root .. "/gone/manifest.yaml" })
  equal(text, "deep manifest invalid, my goal manifest invalid")
  matches(list[1].reason, "x/manifest.yaml:%d:%d+: ")
  matches(list[2].reason, "y/manifest.yaml:5: program: 'my goal' cannot name a program.*for example my%-goal")
end)

test("list: a manifest program with the sentinel, or places of the template in it or its prose, is unconfigured",
  function()
  local function status(text, prose)
    local root = repository { ["m/manifest.yaml"] = text, [prose and "m/program.md" or "m/x"] = prose or "" }
    local _, list = listed(root, { root .. "/m/manifest.yaml" })
    return list[1] and list[1].status .. " " .. (list[1].reason or "")
  end
  local whole = MANIFEST .. "program: p\n"
  matches(status(whole .. "# <!-- AUTOLOOP:UNCONFIGURED -->\n"), "^unconfigured .*m/manifest.yaml:6: "
    .. "AUTOLOOP:UNCONFIGURED: ")
  matches(status(whole, "# T\n<!-- AUTOLOOP:UNCONFIGURED -->\n"), "^unconfigured .*m/program.md:2: "
    .. "AUTOLOOP:UNCONFIGURED: ")
  matches(status(whole, "# T\n\nREPLACE THIS with text\n"), "^unconfigured .*m/program.md:3: REPLACE THIS: a placeholder")
  matches(status((whole:gsub("'true'", "REPLACE_WITH_COMMAND"))), "^unconfigured .*m/manifest.yaml:3: "
    .. "REPLACE_WITH_COMMAND: ")
  matches(status("# <!-- AUTOLOOP:UNCONFIGURED -->\nprogram: p\nfiles: [\n"), "^unconfigured .*m/manifest.yaml:1: ")
  equal(status(whole .. "# REPLACE THIS\nseed: 1 # REPLACE THIS\n", "<!-- REPLACE THIS -->\n"), "ready ")
  equal(status(MANIFEST .. "# <!-- AUTOLOOP:UNCONFIGURED -->\n"), nil)
end)

test("list: links to folders are not followed, which is said", function()
  local root = repository { ["elsewhere/program.md"] = BODY, [".autoloop/programs/b.md"] = BODY,
    ["src/value.txt"] = "" }
  assert(fs.symlink(root .. "/elsewhere", root .. "/.autoloop/programs/a"))
  assert(fs.symlink(root .. "/src", root .. "/.autoloop/programs/c"))
  local text, list = listed(root)
  equal(text, "a folder invalid, b file ready")
  matches(list[1].reason, "a/program.md:1: program: its folder is a symbolic link, which apsis does not follow: put the "
    .. "folder itself there")
  local other = repository { ["src/value.txt"] = "" }
  assert(fs.symlink(root .. "/.autoloop", other .. "/.autoloop"))
  local none, _, message = listed(other)
  equal(none, "")
  matches(message, "r%d+/.autoloop/programs: is in or behind a symbolic link, which apsis does not follow")
end)

test("list: without .autoloop there are none; a folder that cannot be read is told", function()
  local root = repository { ["src/x"] = "" }
  local text, _, message = listed(root)
  equal({ text, message }, { "", nil })
  root = repository { [".autoloop/programs"] = "a file\n" }
  text, _, message = listed(root)
  equal(text, "")
  matches(message, ".autoloop/programs: cannot be read: ENOTDIR.*; it must be a folder")
end)

test("every key that a program may say is one of the schema's, or autoloop's own", function()
  for _, name in ipairs { "schedule", "strategy", "provider", "gate", "on", "memory", "budget", "limits", "execution",
    "metrics", "default_branch" } do
    if not shape.field(schema.manifest, name) then error(name) end
  end
end)

assert(fs.remove_tree(base))
tap.done()
