-- source_s1: what the METRIC protocol states.
local cases = require "cases"
local direction = require "apsis.direction"
local fitness = require "apsis.fitness"
local json = require "apsis.json"
local metric = require "apsis.metric"
local place = require "place"

local none = "none" -- nil, in a table

cases.group("METRIC lines", function(text) return metric.scan(text).metrics end, {
  { "32", "METRIC accuracy=0.9\nMETRIC time=12\n", { accuracy = 0.9, time = 12 }, name = "one a line" },
  { "33", "METRIC a=1 METRIC b=2\n", {}, name = "several on one line are none" },
  { "34", "METRIC test.pass_rate2=1\n", { ["test.pass_rate2"] = 1 }, name = "letters, digits, _ and . in a name" },
  { "35", "METRIC a-b=1\nMETRIC a/b=1\n", {}, name = "other characters in a name" },
  { "36", "METRIC a=nan\nMETRIC b=inf\nMETRIC c=1e400\nMETRIC d=-1.5\n", { d = -1.5 }, name = "only finite numbers" },
  { "37", "METRIC a=1e-3\r\nMETRIC  b=1. \n", { a = 0.001, b = 1 }, peer = {}, name = "exponents, 1., CRLF and blanks" },
  { "38", "METRIC a=12ms\nMETRIC b=95%\nMETRIC c=1,000\nMETRIC d=1_000\n", {}, name = "units, percent and separators" },
  { "39", "METRIC a=0x10\nMETRIC b=0b1\nMETRIC c=0o7\n", {}, name = "other bases" },
  { "40", "the METRIC a=1 is prose\nnothing\n", {}, name = "other lines" },
  { "41", "METRIC a=1\nMETRIC a=2\n", { a = 2 }, name = "of a name twice the last" },
  { "43", "METRIC __proto__=1\nMETRIC constructor=2\n", { __proto__ = 1, constructor = 2 }, name = "names that JavaScript knows" },
})

cases.one("69", "a number before a megabyte of output counts", function()
  return metric.scan("METRIC a=1\n" .. ("noise\n"):rep(175000)).metrics
end, { a = 1 })

cases.group("a direction", function(text) return (direction.parse(text)) end, {
  { "47", "higher_is_better", "higher" },
})

cases.one("54", "the score of several dimensions is the sum of score / scale * weight", function()
  return ("%.4f"):format(fitness.rubric { { score = 8.5, scale_max = 10, weight = 0.4 }, { score = 7, scale_max = 10,
    weight = 0.35 }, { score = 9.2, scale_max = 10, weight = 0.25 } })
end, "0.8150")

-- ---- a run ----

local EVALUATE <const> = [[
value=$(cat value.txt)
echo "reading, nothing to see: METRIC score=99 in prose"
echo "METRIC score=$value"
echo "METRIC latency_ms=$((value * 50))"
echo "METRIC score=77" >&2
[ "$value" != 3 ] || echo "METRIC score=nan"
[ "$value" != 4 ] || exit 1
]]
local AGENT <const> = [[
cat >/dev/null
case $APSIS_EXPERIMENT in
1) echo 10 >value.txt; echo "Raise it"; echo "ASI hypothesis=more is better"; echo "ASI learned=ten is fine" ;;
2) echo 5 >value.txt; echo "ASI learned=five is worse"; echo "ASI next_action_hint=go up" ;;
3) echo 3 >value.txt ;;
4) echo 4 >value.txt ;;
5) echo 500 >value.txt ;;
esac
]]
local agents = place.new("agents", { ["agent.sh"] = AGENT }, true)
local dir = place.new("s1", { ["value.txt"] = "2\n", ["evaluate.sh"] = EVALUATE,
  ["checks.sh"] = "echo METRIC score=1000; test $(cat value.txt) -lt 100\n", [".gitignore"] = "/logs/\n/runs/\n/.apsis/\n",
  ["manifest.yaml"] = [[
version: 1
files: [{path: value.txt, mode: writable}, {path: "*.sh", mode: hidden}]
verification:
  checks: [{name: checks, run: sh checks.sh}]
  commands: [{name: evaluate, run: sh evaluate.sh}]
metric: {name: score, direction: higher_is_better}
metrics: {latency_ms: {direction: lower}}
provider: {kind: command, run: [sh, ]] .. agents .. "/agent.sh]}\n" })
local ran = place.sh(dir, "apsis baseline --quiet && apsis run --iterations 5 --quiet")
local lines = place.lines(dir)
local kept, worse, diverged, failed, unchecked = lines[2] or {}, lines[3] or {}, lines[4] or {}, lines[5] or {}, lines[6] or {}

cases.one("45", "one primary metric decides", function()
  return { ran.code, kept.outcome, kept.primary_metric, worse.outcome, worse.primary_metric }
end, { 0, "kept", 10, "reverted_worse_metric", 5 })
cases.one("46", "all others are recorded beside it", function() return kept.secondary_metrics end, { latency_ms = 500 })
cases.one("42", "a last value that is no number is no measurement", function()
  return { diverged.outcome, diverged.primary_metric or none, diverged.rollback_reason }
end, { "skipped_verification_crash", none,
  "the last line METRIC score (evaluate, line 4) is not finite, so there is no measurement" })
cases.one("48", "a secondary metric that worsened is in what was learned", function()
  return kept.learned:match "trade: [^\n;]*500"
end, "trade: latency_ms went from 100 to 500")
cases.one("49", "beside what the experiment itself had learned", function() return kept.learned:match "ten is fine" end, "ten is fine")
cases.one("52", "standard output alone has the metrics", function() return lines[1].primary_metric end, 2)
cases.one("53", "with an exit code that is not 0 there is no value", function()
  return { failed.outcome, failed.primary_metric or none }
end, { "skipped_verification_crash", none })
cases.one("55", "checks come before the measurement, and their METRIC lines do not count", function()
  return { kept.primary_metric, place.sh(dir, "grep -c METRIC runs/0005/verifier.log").out }
end, { 10, "1\n" })
cases.one("56", "checks that fail are a crash, taken back", function()
  return { unchecked.outcome, unchecked.status, place.sh(dir, "git show apsis/s1:value.txt").out }
end, { "skipped_verification_crash", "crash", "10\n" })
cases.one("57", "what was learned outlives a change that was taken back", function() return worse.learned end, "five is worse")
cases.one("58", "every experiment has a hypothesis", function() return { kept.hypothesis, worse.hypothesis or none } end,
  { "more is better", none }, { "more is better", "a text" })
cases.one("60", "no reason to take back what was kept; always one for what was not", function()
  return { kept.rollback_reason or none, #worse.rollback_reason > 0, #unchecked.rollback_reason > 0 }
end, { none, true, true })
cases.one("61", "a hint for what comes next", function() return worse.next_action_hint end, "go up")
cases.one("62", "every key of the schema is in a line", function()
  local found = {}
  for key in place.sh(dir, "head -n 2 logs/results.jsonl | tail -n 1").out:gmatch '"([%w_]+)":' do found[key] = true end
  for _, key in ipairs { "experiment", "status", "hypothesis", "primary_metric", "secondary_metrics", "description", "learned",
    "rollback_reason", "next_action_hint", "timestamp", "commit" } do
    if not found[key] then return key .. " is not there" end
  end
  return "all"
end, "all")
cases.one("63", "what was taken back has no commit", function() return worse.commit ~= nil end, true, false)
cases.one("65", "a time as 2026-05-30T23:15:00Z", function()
  return kept.timestamp:find "^%d%d%d%d%-%d%d%-%d%dT%d%d:%d%d:%d%dZ$" ~= nil
end, true)
cases.one("67", "one metric's value as grep would find it", function()
  local result = place.sh(dir, "printf 'METRIC a.b=3\\nMETRIC axb=4\\n' >log; apsis metrics --file log a.b; apsis metrics --file log c; "
    .. "echo $?")
  return result.out
end, "3\n5\n")
cases.one("64", "the log in that schema", function()
  local text = place.sh(dir, "apsis log --format autoresearch").out
  local entry = json.decode(text:match '[^\n]*"discard"[^\n]*', true)
  return { entry.experiment or none, entry.learned or none }
end, { 2, "five is worse" })

cases.held {
  { "44", "what looks like a METRIC line is told only where METRIC lines are read", "cli/protocol.t",
    "a line metric=5.0 beside a json_file is no near miss" },
  { "50", "the evaluator gets a test case's path", "cli/protocol.t", "evaluate.sh gets one test case per call" },
  { "51", "an evaluator that calls a model: with network and key, which a message names", "lua/cage.lua",
    "so are a variable of the user's, the network, and a limit" },
  { "59", "what was learned is written once the result is known", "cli/reflect.t", 'is "both lessons"' },
  { "66", "a baseline that failed has a status and a reason that say so", "cli/errors.t", "its line is a crash" },
  { "68", "a session's config is read", "cli/import_others.t", "primary_metric and direction of the session's config come before the log" },
}

cases.done "S1"
