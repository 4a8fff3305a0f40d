-- pi_autoresearch: what the tests of davebcn87/pi-autoresearch (1.6.2, tests/*.test.mjs) ask for, and its parser of METRIC
-- lines. Its sessions are read by `apsis import autoresearch`.
local cases = require "cases"
local json = require "apsis.json"
local metric = require "apsis.metric"
local past = require "apsis.import.autoresearch_log"
local place = require "place"
local session = require "apsis.import.autoresearch"

local none = "none" -- nil, in a table

-- ---- METRIC lines ----

cases.group("METRIC lines", function(text) return metric.scan(text).metrics end, {
  { "m1", "METRIC a=1\nMETRIC b=2.5\n", { a = 1, b = 2.5 } },
  { "m2", "METRIC a=1\nMETRIC b=5\nMETRIC a=2\n", { a = 2, b = 5 }, name = "the last of a name counts" },
  { "m3", "METRIC t_\u{B5}s=142\nMETRIC a.b=1\n", { ["t_\u{B5}s"] = 142, ["a.b"] = 1 } },
  { "m4", "METRIC a-b=1\nMETRIC a b=1\nMETRIC a=\n", {}, name = "what is no name or no value" },
  { "m5", "METRIC a=1e-3\r\nMETRIC b=1.  \n", { a = 0.001, b = 1 }, name = "exponents, CRLF, blanks at the end" },
  { "m6", "METRIC a=Infinity\nMETRIC b=NaN\n", {}, name = "what is not finite" },
  { "m7", "METRIC a=0x10\n", {}, peer = { a = 16 }, name = "hexadecimal" },
  { "m8", "METRIC constructor=1\n", { constructor = 1 }, peer = {}, name = "a name that JavaScript knows" },
  { "m9", "METRIC a=1,000\nMETRIC b=95%\nMETRIC c=12ms\n", {}, name = "separators and units" },
  { "m10", "  METRIC a=1\nsome METRIC a=2\n", {}, name = "not at the start of a line" },
})

-- ---- the log ----

local HOOK <const> = '{"type":"hook","stage":"before","exit_code":0}'

local function ran(number, value, status, more)
  local entry = { run = number, commit = "aaa111" .. number % 10, metric = value, status = status or "keep",
    description = "run " .. number, timestamp = number, metrics = {} }
  for key, item in pairs(more or {}) do entry[key] = item end
  return json.encode(entry)
end

local function header(name, metric_name, way)
  return json.encode { type = "config", name = name, metricName = metric_name, metricUnit = "ms", bestDirection = way }
end

local function log_of(...) return past.read(table.concat({ ... }, "\n") .. "\n") end

cases.one("j1", "a hook's entry is no run", function() return #log_of(HOOK, ran(1, 42)).runs end, 1)
cases.one("j2", "hooks alone are no header", function()
  local found = log_of(HOOK)
  return { found.config or none, #found.runs, found.skipped }
end, { none, 0, 0 })
cases.one("j3", "the header is the first config entry, not the first line", function()
  return log_of(HOOK, header("s", "total_ms", "lower"), ran(1, 10)).config.name
end, "total_ms")
cases.one("j4", "runs belong to the segment that their config entry began", function()
  local found, values, segments = log_of(header("s", "total_ms", "lower"), HOOK, ran(1, 10), HOOK, header("s", "total_ms", "lower"),
    HOOK, ran(2, 7)), {}, {}
  for index, run in ipairs(found.runs) do values[index], segments[index] = run.metric, run.in_segment - 1 end
  return { values, segments }
end, { { 10, 7 }, { 0, 1 } })
cases.one("j5", "a torn last line loses nothing but itself", function()
  local found = log_of(ran(1, 10), '{"run":2,"comm')
  return { #found.runs, found.skipped }
end, { 1, 1 })

-- ---- the session's files ----

local count = 0

-- What an import makes of these files: { metric, direction, measures, checks, iterations }, and the whole plan.
local function imported(files)
  count = count + 1
  local dir = place.new("session" .. count, files, true)
  local plan, errors = session.plan(dir, {})
  if not plan then return errors[1] end
  local text = {}
  for _, file in ipairs(plan.files) do text[file.path] = file.text end
  local manifest = text["manifest.yaml"]
  return { name = manifest:match "metric:\n  name: (%S+)", direction = manifest:match "direction: (%a+)",
    measure = manifest:match "name: measure, run: %[bash, ([^%]]+)%]", checks = manifest:match "name: checks, run: %[bash, ([^%]]+)%]",
    iterations = tonumber(manifest:match "iterations: (%d+)") }, text
end

local function new(more)
  local files = { [".auto/measure.sh"] = "echo METRIC a=1\n", [".auto/log.jsonl"] = header("s", "total_ms", "lower") .. "\n" }
  for path, text in pairs(more or {}) do files[path] = text or nil end
  return files
end

local FLAT <const> = { ["autoresearch.sh"] = "echo METRIC a=1\n", ["autoresearch.jsonl"] = header("s", "old_ms", "higher") .. "\n" }

local function flat(more)
  local files = {}
  for path, text in pairs(FLAT) do files[path] = text end
  for path, text in pairs(more or {}) do files[path] = text end
  return files
end

cases.one("p1", "a session in .auto/", function() return (imported(new())) end,
  { name = "total_ms", direction = "lower", measure = ".auto/measure.sh" })
cases.one("p2", "a session of the older files is read where it is", function() return (imported(flat())) end,
  { name = "old_ms", direction = "higher", measure = "autoresearch.sh" })
cases.one("p3", ".auto/ wins where both are", function() return (imported(new(FLAT))) end,
  { name = "total_ms", direction = "lower", measure = ".auto/measure.sh" })
cases.one("p4", "a session in .auto/ takes nothing from older files beside it", function()
  return (imported(new { ["autoresearch.config.json"] = '{"maxIterations":1}\n', ["autoresearch.checks.sh"] = "exit 1\n" }))
end, { name = "total_ms", direction = "lower", measure = ".auto/measure.sh" })
cases.one("p5", "older files have their config and checks", function()
  return (imported(flat { ["autoresearch.config.json"] = '{"maxIterations":1}\n', ["autoresearch.checks.sh"] = "exit 1\n" }))
end, { name = "old_ms", direction = "higher", measure = "autoresearch.sh", checks = "autoresearch.checks.sh", iterations = 1 })
cases.one("p6", "direction lower where nothing says it", function()
  return (imported { [".auto/measure.sh"] = "x\n", [".auto/config.json"] = '{"primary_metric":"ms"}\n' })
end, { name = "ms", direction = "lower", measure = ".auto/measure.sh" })
cases.group("a hook's script is named as not run", function(path)
  local files = path:find "^%." and new() or flat()
  files[path] = "exit 0\n"
  count = count + 1
  local plan = assert(session.plan(place.new("hooks" .. count, files, true), {}))
  return json.encode(plan.report):find(path:match "^.*hooks", 1, true) ~= nil
end, { { "p7", ".auto/hooks/before.sh", true }, { "p8", "autoresearch.hooks/after.sh", true } })

-- ---- what a later agent is told of the session ----

local function history(...)
  local _, text = imported(new { [".auto/log.jsonl"] = table.concat({ ... }, "\n") .. "\n",
    [".auto/prompt.md"] = "# Rules\nDo not cheat.\n", [".auto/ideas.md"] = "- Try memoization\n" })
  return text["logs-import/history.md"], text["program.md"]
end

local page, program = history(header("Speed up parser", "total_us", "lower"), ran(1, 100, nil, { asi = { hypothesis = "start point" } }),
  ran(2, 80, nil, { asi = { hypothesis = "memoize keys", next_action_hint = "try LRU" } }),
  ran(3, 120, "discard", { asi = { rollback_reason = "import overhead" } }), ran(4, 0, "crash"))

cases.one("c1", "rules and ideas are in what the agent reads", function()
  return { program:match "Do not cheat%.", program:match "Try memoization", program:match "4 experiments" }
end, { "Do not cheat.", "Try memoization", "4 experiments" })
cases.one("c2", "metric and direction", function() return page:match "runs of ([^.]*)%." end, "total_us, lower is better")
cases.group("a run's line has", function(words) return page:find(words, 1, true) ~= nil end, {
  { "c3", "| 1 | 1 | 100 | keep |", true }, { "c4", "hypothesis: memoize keys", true }, { "c5", "next_action_hint: try LRU", true },
  { "c6", "| 1 | 3 | 120 | discard |", true }, { "c7", "rollback_reason: import overhead", true },
})
cases.one("c8", "a session without runs has no history", function()
  local text = select(2, imported(new { [".auto/log.jsonl"] = header("Cold start", "ms", "lower") .. "\n" }))
  return text["logs-import/history.md"] or none
end, none)
cases.one("c9", "after another config entry its metric counts", function()
  return (imported(new { [".auto/log.jsonl"] = table.concat({ header("Old", "ms", "lower"), ran(1, 500),
    header("New", "bytes", "higher"), ran(2, 10), ran(3, 15) }, "\n") .. "\n" }))
end, { name = "bytes", direction = "higher", measure = ".auto/measure.sh" })
cases.one("c10", "every run is there, however many", function()
  local lines = { header("S", "ms", "lower") }
  for number = 1, 75 do lines[#lines + 1] = ran(number, 100 + number) end
  return select(2, history(table.unpack(lines)):gsub("| keep |", ""))
end, 75, 50)

cases.cannot("they are of pi's own session, widget and shortcuts", {
  { "x1", "a session is activated or not when pi starts" }, { "x2", "the widget of a session whose log was deleted" },
  { "x3", "the keys of its shortcuts" }, { "x4", "200 turns at most without a person" }, { "x5", "a tool's parameters as JSON schema" },
  { "x6", "the files that /autoresearch clear deletes" },
})
cases.done "pi-autoresearch"
