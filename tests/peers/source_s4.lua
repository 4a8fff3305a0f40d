-- source_s4: what goalseek's description of baseline and iterations states.
local cases = require "cases"

local fs = require "apsis.fs"
local place = require "place"

local GOALSEEK <const> = "peers/goalseek.lua"

-- ---- a run of three experiments, by a script that is given a prompt ----

local agents = place.new("agents", { ["agent.sh"] = "cat >/dev/null\necho Raise it to $((APSIS_EXPERIMENT + 1))\n"
  .. "echo METRIC = $((APSIS_EXPERIMENT + 1)) >experiment.py\n" }, true)
local dir = place.new("s4", { ["experiment.py"] = "METRIC = 1\n", ["data/train.csv"] = "x\n", ["data/deep/test.csv"] = "x\n",
  ["validate.sh"] = "sed 's/METRIC = /METRIC score=/' experiment.py\n", ["program.md"] = "# Raise the number\n",
  [".gitignore"] = "/logs/\n/runs/\n/.apsis/\n", ["manifest.yaml"] = [[
version: 1
files:
  - {path: experiment.py, mode: writable}
  - {path: validate.sh, mode: hidden}
  - {path: data/**, mode: read_only}
verification: {commands: [{name: validate, run: sh validate.sh}]}
metric: {name: score, direction: maximize}
provider: {kind: command, run: [sh, ]] .. agents .. "/agent.sh]}\n" })
place.sh(dir, "apsis baseline --quiet && apsis direct --message 'Small steps, please.' && apsis run --iterations 3 --quiet")
local prompt = fs.read(dir .. "/runs/0003/prompt.md") or ""

local function in_prompt(words) return prompt:find(words, 1, true) ~= nil end

cases.group("the prompt of experiment 3 has", in_prompt, {
  { "134", "# Raise the number", true }, { "155", "+METRIC = 3", true }, { "155b", "Raise it to 2", true },
  { "156", "data/deep/test.csv", false, peer = true }, { "157", "METRIC score=", false }, { "158", "Small steps, please.", true },
  { "162", "- validate.sh", true },
})
cases.one("151", "the files of the baseline", function()
  return place.sh(dir, "ls runs/0000_baseline").out
end, "env.json\nmetrics.json\nresult.json\nverifier.log\n")
cases.one("168", "the commit: the plan's title, its parent, its lines", function()
  local line = place.lines(dir)[3]
  return { place.sh(dir, "git log -1 --format=%s " .. line.commit).out, line.parents[1], line.changed_lines }
end, { "Raise it to 3\n", "c0001", 2 })

-- ---- the rest ----

cases.held {
  { "127", "a project's scaffold", "cli/init.t", "and writes the manifest there" },
  { "128", "setup looks at project and scope", "cli/checking.t", "files are listed by mode" },
  { "129", "the baseline measures without a change", "cli/bad_outcomes.t", 'is "commit" "$(field 0 commit)" "$(git rev-parse HEAD)"' },
  { "130", "run --iterations N", "cli/loop.t", "--iterations 3 is three more" },
  { "131", "a run is resumed by logs/state.json", "cli/errors.t", "without state.json, status goes by the journal", differs = true },
  { "132", "manifest.yaml: scope, commands, extraction", "lua/manifest.lua", "a version-1 manifest of goalseek is valid as it is" },
  { "133", "experiment.py is writable", GOALSEEK, 'cases.one("26"' },
  { "135", "the validator is hidden, and runs", GOALSEEK, 'cases.one("12"' },
  { "136", "runs/ has each experiment's files", "cli/loop.t", "runs/0001 has $file" },
  { "137", "results.jsonl is appended to", "cli/bad_journal.t", "the lines before are as they were" },
  { "138", "a run goes on after it was stopped", "cli/bad_moment.t", "resume loses nothing, repeats no number" },
  { "139", "the project is found by its manifest", "lua/manifest.lua", "find walks upward to the first manifest" },
  { "140", "the manifest is checked, by file, line and key", GOALSEEK, 'cases.group("refused", refused' },
  { "141", "defaults, the user's file, the project, the command line", GOALSEEK, 'cases.one("15"' },
  { "142", "the log's handlers and format are configured", GOALSEEK, 'cases.one("16"', differs = true },
  { "143", "without a repository: an error", "cli/bad_repository.t",
    "repository: there is none: exit 3 with the commands that make one" },
  { "144", "runs/0000_baseline", "cli/bad_outcomes.t", 'is "run folder" "$(readlink runs/latest)" 0000_baseline' },
  { "145", "env.json: versions and configuration", "cli/bad_verifier.t", '"tester": "tester 1.2"' },
  { "146", "commands in their order", "cli/leftovers.t",
    "a manifest of goalseek with three commands, which share a generated file and the folder of the run" },
  { "147", "a metric only where the verification succeeded", "peers/source_s1.lua", 'cases.one("53"' },
  { "148", "result.json and a line, also on failure", GOALSEEK, 'cases.one("42"' },
  { "149", "the state begins with a baseline that succeeded", "cli/errors.t", '"last_status":"crash"', differs = true },
  { "150", "the state begins at 1, READ_CONTEXT, baseline", GOALSEEK, 'cases.one("28"' },
  { "152", "the phases in order", "lua/contract.lua", "an experiment tells the world its phases, each when it begins" },
  { "153", "step takes one phase", "cli/step.t", "seven phases, with what each did and the files to look at" },
  { "154", "an experiment is complete after LOG only", "cli/bad_moment.t", "kill -9 at $1 number $3: resume loses nothing" },
  { "159", "a direction applies from an iteration on", "cli/steering.t", "a note for iteration 3 is not for those before it" },
  { "160", "a plan is asked for first", GOALSEEK, 'cases.one("46"', differs = true },
  { "161", "prompt.md, plan.md, provider_output.md", "cli/loop.t", "runs/0001 has $file" },
  { "163", "the model reaches the agent", "cli/bad_provider.t", "provider.model reaches the command, and each preset's own option" },
  { "164", "the tree must be clean before a change", GOALSEEK, 'cases.one("44"', differs = true },
  { "165", "a change out of scope is a failure", "lua/scope.lua", "what is outside the project is a violation" },
  { "166", "only what is writable or generated may change", "lua/scope.lua",
    "writable paths may be changed, created and deleted; others not; generated ones are dropped" },
  { "167", "no change is skipped", GOALSEEK, 'cases.one("21b"' },
  { "169", "all output is kept", "cli/protocol.t", "verifier.log holds all output" },
  { "170", "a verification that crashed is skipped", "peers/source_s1.lua", 'cases.one("56"' },
  { "171", "decided by the direction", "lua/contract.lua", "lower is better works with the same strategy" },
  { "172", "what was rejected is reverted by git", GOALSEEK, 'cases.one("31b"' },
  { "173", "thresholds before the comparison", "lua/contract.lua", "thresholds come before accept" },
  { "174", "fewer changed lines break a tie", "data/decide.jsonl", '"best_changed_lines"' },
  { "175", "history.json is written at every LOG", "cli/history.t",
    "history.json is there after the baseline and after each experiment, with goalseek's keys and values" },
  { "176", "kept", GOALSEEK, 'cases.one("31"' },
  { "177", "reverted_worse_metric", GOALSEEK, 'cases.one("31"' },
  { "178", "reverted_threshold_failure", "cli/bad_outcomes.t", "outcome reverted_threshold_failure" },
  { "179", "reverted_scope_violation", "cli/bad_outcomes.t", "outcome reverted_scope_violation" },
  { "180", "skipped_no_change", GOALSEEK, 'cases.one("31"' },
  { "181", "skipped_provider_failure", GOALSEEK, 'cases.one("50"' },
  { "182", "skipped_verification_crash", "peers/source_s1.lua", 'cases.one("56"' },
  { "183", "the files can be looked at by hand", "cli/loop.t", "runs/0001 has $file" },
  { "184", "gittreeclean", "cli/import_others.t", "gittreeclean is not needed", differs = true },
  { "185", "after a stall the recent plans are there to read", "cli/protocol.t", "and what plan.md has" },
  { "186", "killed in an iteration it goes on", "cli/bad_moment.t", "kill -9 $1: resume loses nothing, repeats no number" },
  { "187", "two runs at once: the second is refused", "cli/bad_moment.t",
    "two runs of one project at once: the second exits 3 and names the holder's pid" },
  { "188", "a file of an earlier run is no metric", "cli/protocol.t", "a stale json_file never counts" },
  { "189", "JSON with NaN in another field, as Python writes it", "cli/protocol.t",
    "NaN in another field, as Python writes it, is ignored" },
}

cases.done "S4"
