# The loop as its users know it: goalseek's flow and manifest, history by reverts, steering, configuration in layers, resume.
. tests/cli/lib.sh

field() { # LINE KEY: a field of a journal line
    sed -n "$1p" logs/results.jsonl | "$APSIS" exec "$ROOT/tests/cli/json.lua" "$2"
}

# goalseek's own: a version-1 manifest as it is, a verifier that writes JSON, an agent named in the user's file.
mkdir "$T/goalseek" && cd "$T/goalseek" && git init -q . && mkdir src
echo 1 > src/value.txt
cat > verify.sh <<'SH'
#!/bin/sh
mkdir -p results
echo "{\"metrics\": {\"score\": $(cat src/value.txt)}}" > results/score.json
SH
cat > "$T/agent.sh" <<'SH'
#!/bin/sh
cat > /dev/null
echo "step $APSIS_EXPERIMENT"
case $APSIS_EXPERIMENT in 2) echo 0 > src/value.txt ;; *) echo $(($(cat src/value.txt) + 1)) > src/value.txt ;; esac
SH
chmod +x ./*.sh "$T/agent.sh"
cat > manifest.yaml <<'YAML'
version: 1
project:
  name: demo
  description: goalseek's own shape
files:
  - path: src/**
    mode: writable
  - path: results/**
    mode: generated
  - path: verify.sh
    mode: hidden
verification:
  commands:
    - name: verify
      run: ./verify.sh
      cwd: .
      timeout_sec: 30
metric:
  name: score
  direction: maximize
  extractor:
    type: json_file
    path: results/score.json
    json_pointer: /metrics/score
  tie_breaker: changed_loc
execution:
  target: local
YAML
echo "Make the value larger." > program.md
printf '/logs/\n/runs/\n/.apsis/\n/results/\n' > .gitignore
commit
apsis baseline src
is "a goalseek manifest is valid as it is, and the project is found from a subdirectory" "$code" 0
apsis run
is "without a provider, baseline works and run exits 4" "$code" 4
line "and says what to add" "$err" "no provider"
mkdir -p "$XDG_CONFIG_HOME/apsis"
printf 'provider: {kind: command, run: %s}\nbudget: {iterations: 7}\n' "$T/agent.sh" > "$XDG_CONFIG_HOME/apsis/config.yaml"
apsis run --iterations 3
is "the user's file gives the provider" "$code" 0
is "--iterations 3 is three more" "$(cut -d, -f1 logs/results.jsonl | wc -l)" 4
is "what is worse is reverted" "$(field 3 outcome)" reverted_worse_metric
is "the branch holds the best" "$(git show apsis/demo:src/value.txt)" 3
is "rejected work is reachable by its ref" "$(git rev-parse refs/apsis/demo/c0002^)" \
    "$(git rev-parse refs/apsis/demo/c0001)"
is "the user's tree is as it was" "$(git status --porcelain)" ""
apsis step
is "step runs one experiment" "$(wc -l < logs/results.jsonl)" 5
apsis direct --message "keep it small"
apsis step
line "a direction is in the next prompt" "$(cat runs/0005/prompt.md)" "keep it small"
line "program.md is in the prompt" "$(cat runs/0005/prompt.md)" "Make the value larger"
apsis pause
( sleep 1; "$APSIS" resume > /dev/null ) &
waker=$!
apsis run --iterations 1
wait $waker
is "a paused loop waits, and goes on when resumed" "$code" 0
apsis eval --json
is "eval scores outside the loop" "$code" 0
is "and writes no line" "$(wc -l < logs/results.jsonl)" 7
for file in prompt.md provider_output.md plan.md change.patch verifier.log metrics.json result.json proposal.json; do
    ok "runs/0001 has $file" test -s runs/0001/$file
done
ok "an empty list in metrics.json is a list" grep -q '"near_misses": \[\]' runs/0001/metrics.json
ok "the baseline has env.json" grep -q '"apsis"' runs/0000_baseline/env.json
ok "runs/latest has history.json" grep -q '"iteration_result":"kept"' runs/latest/history.json
apsis replay --check
is "replay --check finds that the strategy decides the same" "$code" 0
is "state.json has goalseek's keys" "$("$APSIS" exec "$ROOT/tests/cli/json.lua" current_phase < logs/state.json)" READ_CONTEXT
ok "logs/apsis.log has what happened" grep -q 'info  experiment 1 kept at 2' logs/apsis.log

# history: revert.
sed -i 's/^execution:/history: revert\nexecution:/; s/name: demo/name: pairs/' manifest.yaml
rm -rf logs runs .apsis && git commit -qam "revert history" && apsis baseline
apsis run --iterations 3
is "history: revert gives commit and revert pairs on the branch" "$(git log --format=%s apsis/pairs | head -4 | paste -sd'|')" \
    'step 3|Revert "step 2"|step 2|step 1'
is "and the tree of the best at its tip" "$(git show apsis/pairs:src/value.txt)" 3

# apsis's own folders are no change of the user's, even where no .gitignore names them and pause came first.
project quiet
rm .gitignore && commit "no ignore rules"
apsis pause
apsis resume
apsis baseline
is "what apsis writes is nothing that git would add" "$code $(git status --porcelain)" "0 "

# A project in a subdirectory, workers, dirty tree.
mkdir "$T/mono" && cd "$T/mono" && git init -q . && mkdir -p other sub && echo o > other/file && cd sub && "$APSIS" init --example > /dev/null && cd .. && commit
echo changed > other/file
cd sub && apsis baseline
is "a project in a subdirectory of a repository works, dirty or not" "$code" 0
apsis run --iterations 4 --workers 3
is "with workers" "$code" 0
is "and the user's edits stay" "$(cat ../other/file)" changed
is "candidates touch the project alone" "$(git show --stat --format= "refs/apsis/sub/c0001" 2> /dev/null | grep -c other)" \
    0
apsis baseline --again
is "baseline --again appends a baseline line under the next number" "$(tail -n 1 logs/results.jsonl | "$APSIS" exec "$ROOT/tests/cli/json.lua" outcome)" \
    baseline
ok "and overwrites no run" test -d runs/0000_baseline -a -d runs/0005_baseline
finish
