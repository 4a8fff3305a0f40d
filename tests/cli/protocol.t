# The METRIC protocol's evaluate.sh and evaluate-checks.sh, test cases, ASI, and the extractors.
. "$(dirname "$0")/transcript.sh"

# A project whose agent is agent.sh and whose evaluator is evaluate.sh; $1 its name, manifest.yaml from stdin.
agent_project() {
    mkdir -p "$work/$1" && cd "$work/$1" && git init -q . && cat > manifest.yaml
    printf '/logs/\n/runs/\n/.apsis/\n' > .gitignore
    [ -e value.txt ] || echo 10 > value.txt
    chmod +x ./*.sh 2> /dev/null
    commit
}

field() { # LINE KEY: a field of a journal line
    sed -n "$1p" logs/results.jsonl | "$APSIS" exec "$here/json.lua" "$2"
}

mkdir "$work/cases" && cd "$work/cases" && mkdir tests
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
run baseline
is "$code" 0 "evaluate.sh gets one test case per call"
is "$(field 1 primary_metric)" 20 "metrics are aggregated over cases, by mean unless told otherwise"
is "$(field 1 secondary_metrics.latency_ms)" 3 "an aggregate may be named by metric"
like "$(field 1 items)" '"tests/case-2.txt":\{"latency_ms":2,"quality":20\}' "values are kept by case"
run run --iterations 3
is "$(field 2 outcome)" kept "a better candidate is kept"
is "$(field 2 hypothesis)" "more is better" "ASI lines reach the journal"
is "$(field 2 rollback_reason)" null "rollback_reason is null when kept"
like "$(git log -1 --format=%B refs/apsis/cases/c0001)" "^Raise the value" "the plan's first line is the commit's subject"
like "$(git log -1 --format=%B refs/apsis/cases/c0001)" "Apsis-Operator: exploitation" "trailers carry the operator"
is "$(field 3 outcome)" skipped_verification_crash "a failing check is a crash, before anything is measured"
is "$(field 3 learned)" "two hundred is too much" "asi.json reaches the journal and survives the revert"
is "$(field 3 next_action_hint)" "stay below 100" "with its next action hint"
like "$(field 3 rollback_reason)" "check checks: exit 1" "rollback_reason is never empty on a discard"
ok "asi.json is no part of the candidate" sh -c '! git cat-file -e refs/apsis/cases/c0002:asi.json'
is "$(field 4 outcome)" reverted_worse_metric "a worse one is reverted"
like "$(cat runs/0003/prompt.md)" "learned: two hundred is too much" "the next prompt has what was learned"
like "$(cat runs/0003/prompt.md)" "off limits" "and names the hidden paths as off limits"
unlike "$(cat runs/0003/verifier.log)" "METRIC constructor" "verifier.log holds the output of this experiment alone"
like "$(cat runs/0003/verifier.log)" "METRIC quality=15" "verifier.log holds all output"

# extractors NAME EXTRACTOR EVALUATOR: the value a project measures by this extractor.
extracted() {
    mkdir "$work/$1" && cd "$work/$1" && printf '#!/bin/sh\n%s\n' "$3" > evaluate.sh
    agent_project "$1" <<YAML
version: 1
files: [{path: value.txt, mode: writable}, {path: evaluate.sh, mode: hidden}]
verification: {commands: [{name: e, run: ./evaluate.sh}]}
metric: {name: score, direction: higher, extractor: $2}
YAML
    run baseline
}
extracted json_file '{type: json_file, path: out.json, json_pointer: /a/0/b}' 'echo "{\"a\": [{\"b\": 4.5}]}" > out.json'
is "$(field 1 primary_metric)" 4.5 "json_file reads a number by its pointer"
extracted json_stale '{type: json_file, path: out.json, json_pointer: /a}' 'true; echo "{\"a\": 9}" > other.json'
echo '{"a": 1}' > out.json && commit stale
run baseline
is "$code" 5 "a stale json_file never counts"
extracted stdout_json '{type: stdout_json, json_pointer: /score}' 'echo "{\"score\": 7}"'
is "$(field 1 primary_metric)" 7 "stdout_json reads standard output"
extracted stdout_regex '{type: stdout_regex, regex: "^score: ([0-9.]+)"}' 'echo noise; echo "score: 3.25"; echo "score: 9"'
is "$(field 1 primary_metric)" 3.25 "stdout_regex takes group 1 of the first match, line by line"
extracted stderr_regex '{type: stderr_regex, regex: "s=([0-9]+)"}' 'echo "s=1"; echo "s=2" >&2'
is "$(field 1 primary_metric)" 2 "stderr_regex reads standard error"
extracted private '{type: metric_lines}' 'echo "METRIC score=99"; echo "METRIC score=4" > "$APSIS_METRICS"'
is "$(field 1 primary_metric)" 4 "a METRIC line on stdout does not count where APSIS_METRICS is used"
extracted private_other '{type: metric_lines, json: score}' 'echo "METRIC score=99"; echo "{\"score\": 98}"; echo "METRIC scope=4" > "$APSIS_METRICS"'
is "$code" 5 "nor does JSON there"
like "$err" "no METRIC score=NUMBER in the file that APSIS_METRICS names, which counts instead of the output of [a-z]+ where .* METRIC lines of scope; did you mean .scope" "and the message says what was read"
extracted repeated '{type: metric_lines}' 'echo "METRIC score=1"; echo "METRIC score=2"'
is "$(field 1 primary_metric)" 2 "the last of repeated METRIC lines wins"
extracted artifacts '{type: metric_lines}' 'echo hello > "$APSIS_ARTIFACTS/note.txt"; echo "METRIC score=1"; env | grep -c "^GIT_"; env > "$APSIS_RUN_DIR/env.txt"'
is "$(cat runs/0000_baseline/artifacts/note.txt)" hello "artifacts are kept with the run"
like "$(cat runs/0000_baseline/env.txt)" "GOALSEEK_RUN_DIR=" "goalseek's variables are there"
is "$(grep '^GIT_' runs/0000_baseline/env.txt | grep -vc GIT_CEILING_DIRECTORIES)" 0 "no GIT_ variable but the ceiling"
done_testing
