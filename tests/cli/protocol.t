# The METRIC protocol's evaluate.sh and evaluate-checks.sh, test cases, ASI, and the extractors.
. tests/cli/lib.sh

# A project whose agent is agent.sh and whose evaluator is evaluate.sh; $1 its name, manifest.yaml from stdin.
agent_project() {
    mkdir -p "$T/$1" && cd "$T/$1" && git init -q . && cat > manifest.yaml
    printf '/logs/\n/runs/\n/.apsis/\n' > .gitignore
    [ -e value.txt ] || echo 10 > value.txt
    chmod +x ./*.sh 2> /dev/null
    commit
}

field() { # LINE KEY: a field of a journal line
    sed -n "$1p" logs/results.jsonl | "$APSIS" exec "$ROOT/tests/cli/json.lua" "$2"
}

mkdir "$T/cases" && cd "$T/cases" && mkdir tests
for n in 1 2 3; do echo $n > tests/case-$n.txt; done
cat > evaluate.sh <<'SH'
#!/bin/sh
n=$(cat "$1")
echo "METRIC quality=$((n * $(cat value.txt)))"
echo "METRIC latency_ms=$n"
SH
cat > evaluate-checks.sh <<'SH'
#!/bin/sh
test "$(cat value.txt)" -lt 100
SH
cat > agent.sh <<'SH'
#!/bin/sh
cat > /dev/null
case $APSIS_EXPERIMENT in
1) echo 12 > value.txt; echo "Raise the value"; echo "ASI hypothesis=more is better" ;;
2) echo 200 > value.txt; echo '{"learned": "two hundred is too much", "next_action_hint": "stay below 100"}' > asi.json ;;
3) echo 5 > value.txt; echo "ASI learned=five is worse" ;;
esac
SH
agent_project cases <<'YAML'
version: 1
files: [{path: value.txt, mode: writable}, {path: "evaluate*.sh", mode: hidden}, {path: "tests/**", mode: hidden}]
verification:
  checks: [{name: checks, run: ./evaluate-checks.sh}]
  commands: [{name: evaluate, run: ./evaluate.sh}]
  cases: ["tests/*.txt"]
  aggregate: {latency_ms: max}
metric: {name: quality, direction: higher}
metrics: {latency_ms: {direction: lower}}
provider: {kind: command, run: ./agent.sh}
YAML
apsis baseline
is "evaluate.sh gets one test case per call" "$code" 0
is "metrics are aggregated over cases, by mean unless told otherwise" "$(field 1 primary_metric)" 20
is "an aggregate may be named by metric" "$(field 1 secondary_metrics.latency_ms)" 3
line "values are kept by case" "$(field 1 items)" '"tests/case-2.txt":\{"latency_ms":2,"quality":20\}'
apsis run --iterations 3
is "a better candidate is kept" "$(field 2 outcome)" kept
is "ASI lines reach the journal" "$(field 2 hypothesis)" "more is better"
is "rollback_reason is null when kept" "$(field 2 rollback_reason)" null
line "the plan's first line is the commit's subject" "$(git log -1 --format=%B refs/apsis/cases/c0001)" \
    "^Raise the value"
line "trailers carry the operator" "$(git log -1 --format=%B refs/apsis/cases/c0001)" "Apsis-Operator: exploitation"
is "a failing check is a crash, before anything is measured" "$(field 3 outcome)" skipped_verification_crash
is "asi.json reaches the journal and survives the revert" "$(field 3 learned)" "two hundred is too much"
is "with its next action hint" "$(field 3 next_action_hint)" "stay below 100"
line "rollback_reason is never empty on a discard" "$(field 3 rollback_reason)" "check checks: exit 1"
ok "asi.json is no part of the candidate" sh -c '! git cat-file -e refs/apsis/cases/c0002:asi.json'
is "a worse one is reverted" "$(field 4 outcome)" reverted_worse_metric
line "the next prompt has what was learned" "$(cat runs/0003/prompt.md)" "learned: two hundred is too much"
line "and names the hidden paths as off limits" "$(cat runs/0003/prompt.md)" "off limits"
no_line "verifier.log holds the output of this experiment alone" "$(cat runs/0003/verifier.log)" "METRIC constructor"
line "verifier.log holds all output" "$(cat runs/0003/verifier.log)" "METRIC quality=15"

# What the user would have lost: what an experiment tried, in the one table that shows all.
mkdir "$T/said" && cd "$T/said" && printf '#!/bin/sh\necho "METRIC quality=$(cat value.txt)"\n' >evaluate.sh
printf '#!/bin/sh\ncat >/dev/null; echo 12 >value.txt; echo "ASI hypothesis=a smaller step settles earlier"\n' >agent.sh
agent_project said <<'YAML'
version: 1
files: [{path: value.txt, mode: writable}, {path: "*.sh", mode: hidden}]
verification: {commands: [{name: e, run: ./evaluate.sh}]}
metric: {name: quality, direction: higher}
provider: {kind: command, run: ./agent.sh}
YAML
sed -i 's/"\*.sh", mode: hidden/evaluate.sh, mode: hidden/' manifest.yaml && commit shown
apsis baseline
apsis run --iterations 1
line "and what plan.md has" "$(cat runs/0001/plan.md)" "a smaller step settles earlier"
line "a hypothesis is what log shows of an experiment without a plan" "$(COLUMNS=200 "$APSIS" log)" "a smaller step settles earlier"

# extractors NAME EXTRACTOR EVALUATOR: the value a project measures by this extractor.
extracted() {
    mkdir "$T/$1" && cd "$T/$1" && printf '#!/bin/sh\n%s\n' "$3" > evaluate.sh
    agent_project "$1" <<YAML
version: 1
files: [{path: value.txt, mode: writable}, {path: evaluate.sh, mode: hidden}]
verification: {commands: [{name: e, run: ./evaluate.sh}]}
metric: {name: score, direction: higher, extractor: $2}
YAML
    apsis baseline
}
extracted json_file '{type: json_file, path: out.json, json_pointer: /a/0/b}' 'echo "{\"a\": [{\"b\": 4.5}]}" > out.json'
is "json_file reads a number by its pointer" "$(field 1 primary_metric)" 4.5
# What the user would have lost: a warning worth reading; goalseek's own template prints such a line every time.
extracted json_said '{type: json_file, path: out.json, json_pointer: /a}' 'echo "metric=5.0"; echo "{\"a\": 5}" > out.json'
is "a line metric=5.0 beside a json_file is no near miss" "$(field 1 primary_metric)$err" 5
no_line "not in status either" "$("$APSIS" status)" "near miss"
extracted json_stale '{type: json_file, path: out.json, json_pointer: /a}' 'true; echo "{\"a\": 9}" > other.json'
echo '{"a": 1}' > out.json && commit stale
apsis baseline
is "a stale json_file never counts" "$code" 5
extracted stdout_json '{type: stdout_json, json_pointer: /score}' 'echo "{\"score\": 7}"'
is "stdout_json reads standard output" "$(field 1 primary_metric)" 7
extracted stdout_regex '{type: stdout_regex, regex: "^score: ([0-9.]+)"}' 'echo noise; echo "score: 3.25"; echo "score: 9"'
is "stdout_regex takes group 1 of the first match, line by line" "$(field 1 primary_metric)" 3.25
# A run that diverged is no measurement, however it reports its numbers; and one grammar reads all of them.
extracted regex_nan '{type: stdout_regex, regex: "^loss: (.+)"}' 'echo "loss: 3.25"; echo "loss: nan"'
is "stdout_regex: the last match is nan" "$code" 5
line "and the reason says so" "$err" "the last match in stdout is .nan., which is not finite"
extracted regex_hex '{type: stdout_regex, regex: "^loss: (.+)"}' 'echo "loss: 0x10"'
is "stdout_regex refuses what METRIC lines refuse" "$code" 5
line "and the reason says so" "$err" "0x10. of stdout is not a finite decimal number"
extracted regex_blanks '{type: stdout_regex, regex: "^loss:(.+)"}' 'echo "loss:  3.25  "'
is "stdout_regex: blanks around the number are no part of it" "$(field 1 primary_metric)" 3.25
extracted regex_group '{type: stdout_regex, regex: "^loss: ([0-9.]+)|^done"}' 'echo "loss: 3.25"; echo "done"'
is "stdout_regex: a later match without the group changes nothing" "$(field 1 primary_metric)" 3.25
extracted json_nan '{type: metric_lines, json: loss}' 'echo "{\"loss\": 0.5}"; echo "{\"loss\": NaN, \"step\": 2}"'
is "printed JSON: the last object has NaN" "$code" 5
line "and the reason shows it" "$err" 'it has "loss": NaN, which is no number'
extracted json_large '{type: metric_lines, json: loss}' 'echo "{\"loss\": 0.5}"; echo "{\"loss\": 1e999}"'
is "printed JSON: the last number is too large" "$code" 5
extracted json_after '{type: metric_lines, json: loss}' 'echo METRIC score=1; echo "{\"loss\": NaN}"'
is "a METRIC line and then JSON with NaN" "$code" 5
line "and the reason says so" "$err" "the JSON after the last line METRIC score has no finite number as loss"
extracted json_before '{type: metric_lines, json: loss}' 'echo "{\"loss\": NaN}"; echo METRIC score=1'
is "but the METRIC line counts if it comes last" "$(field 1 primary_metric)" 1
extracted regex_empty '{type: stdout_regex, regex: "^loss: ([0-9.]*)"}' 'echo "loss: 3.25"; echo "loss: nan"'
is "stdout_regex: the last match has nothing in place of the number" "$code" 5
extracted json_other '{type: metric_lines, json: score}' 'echo "{\"loss\": [NaN, -Infinity, 1e999], \"score\": 4.5}"'
is "NaN in another field, as Python writes it, is ignored" "$(field 1 primary_metric)" 4.5
extracted file_nan '{type: json_file, path: out.json, json_pointer: /score}' 'echo "{\"loss\": NaN, \"score\": 4.5}" > out.json'
is "and in a file" "$(field 1 primary_metric)" 4.5
extracted file_is_nan '{type: json_file, path: out.json, json_pointer: /score}' 'echo "{\"score\": Infinity}" > out.json'
is "a file with an infinity as the metric" "$code" 5
line "and the reason says so" "$err" 'out.json has no finite number at "/score"'
extracted stderr_regex '{type: stderr_regex, regex: "s=([0-9]+)"}' 'echo "s=1"; echo "s=2" >&2'
is "stderr_regex reads standard error" "$(field 1 primary_metric)" 2
extracted private '{type: metric_lines}' 'echo "METRIC score=99"; echo "METRIC score=4" > "$APSIS_METRICS"'
is "a METRIC line on stdout does not count where APSIS_METRICS is used" "$(field 1 primary_metric)" 4
extracted private_other '{type: metric_lines, json: score}' 'echo "METRIC score=99"; echo "{\"score\": 98}"; echo "METRIC scope=4" > "$APSIS_METRICS"'
is "nor does JSON there" "$code" 5
line "and the message says what was read" "$err" \
    "no METRIC score=NUMBER in the file that APSIS_METRICS names, which counts instead of the output of [a-z]+ unless .* METRIC lines of scope; did you mean .scope"
extracted repeated '{type: metric_lines}' 'echo "METRIC score=1"; echo "METRIC score=2"'
is "the last of repeated METRIC lines wins" "$(field 1 primary_metric)" 2
extracted artifacts '{type: metric_lines}' 'echo hello > "$APSIS_ARTIFACTS/note.txt"; echo "METRIC score=1"; env | grep -c "^GIT_"; env > "$APSIS_RUN_DIR/env.txt"'
is "artifacts are kept with the run" "$(cat runs/0000_baseline/artifacts/note.txt)" hello
line "goalseek's variables are there" "$(cat runs/0000_baseline/env.txt)" "GOALSEEK_RUN_DIR="
is "no GIT_ variable but the ceiling" "$(grep '^GIT_' runs/0000_baseline/env.txt | grep -vc GIT_CEILING_DIRECTORIES)" \
    0
finish
