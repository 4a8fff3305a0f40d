# The loop as its users know it: goalseek's flow and manifest, history by reverts, steering, configuration in layers, resume.
. "$(dirname "$0")/transcript.sh"

field() { # LINE KEY: a field of a journal line
    sed -n "$1p" logs/results.jsonl | "$APSIS" exec "$here/json.lua" "$2"
}

# goalseek's own: a version-1 manifest as it is, a verifier that writes JSON, an agent named in the user's file.
mkdir "$work/goalseek" && cd "$work/goalseek" && git init -q . && mkdir src
echo 1 > src/value.txt
cat > verify.sh <<'SH'
#!/bin/sh
mkdir -p results
echo "{\"metrics\": {\"score\": $(cat src/value.txt)}}" > results/score.json
SH
cat > "$work/agent.sh" <<'SH'
#!/bin/sh
cat > /dev/null
echo "step $APSIS_EXPERIMENT"
case $APSIS_EXPERIMENT in 2) echo 0 > src/value.txt ;; *) echo $(($(cat src/value.txt) + 1)) > src/value.txt ;; esac
SH
chmod +x ./*.sh "$work/agent.sh"
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
run baseline src
is "$code" 0 "a goalseek manifest is valid as it is, and the project is found from a subdirectory"
run run
is "$code" 4 "without a provider, baseline works and run exits 4"
like "$err" "no provider" "and says what to add"
mkdir -p "$XDG_CONFIG_HOME/apsis"
printf 'provider: {kind: command, run: %s}\nbudget: {iterations: 7}\n' "$work/agent.sh" > "$XDG_CONFIG_HOME/apsis/config.yaml"
run run --iterations 3
is "$code" 0 "the user's file gives the provider"
is "$(cut -d, -f1 logs/results.jsonl | wc -l)" 4 "--iterations 3 is three more"
is "$(field 3 outcome)" reverted_worse_metric "what is worse is reverted"
is "$(git show apsis/demo:src/value.txt)" 3 "the branch holds the best"
is "$(git rev-parse refs/apsis/demo/c0002^)" "$(git rev-parse refs/apsis/demo/c0001)" "rejected work is reachable by its ref"
is "$(git status --porcelain)" "" "the user's tree is as it was"
run step
is "$(wc -l < logs/results.jsonl)" 5 "step runs one experiment"
run direct --message "keep it small"
run step
like "$(cat runs/0005/prompt.md)" "keep it small" "a direction is in the next prompt"
like "$(cat runs/0005/prompt.md)" "Make the value larger" "program.md is in the prompt"
run pause
( sleep 1; "$APSIS" resume > /dev/null ) &
waker=$!
run run --iterations 1
wait $waker
is "$code" 0 "a paused loop waits, and goes on when resumed"
run eval --json
is "$code" 0 "eval scores outside the loop"
is "$(wc -l < logs/results.jsonl)" 7 "and writes no line"
for file in prompt.md provider_output.md plan.md change.patch verifier.log metrics.json result.json proposal.json; do
    ok "runs/0001 has $file" test -s runs/0001/$file
done
ok "the baseline has env.json" grep -q '"apsis"' runs/0000_baseline/env.json
ok "runs/latest has history.json" grep -q '"result":"kept"' runs/latest/history.json
run replay --check
is "$code" 0 "replay --check finds that the strategy decides the same"
is "$("$APSIS" exec "$here/json.lua" current_phase < logs/state.json)" READ_CONTEXT "state.json has goalseek's keys"
ok "logs/apsis.log has what happened" grep -q 'info  experiment 1 kept at 2' logs/apsis.log

# history: revert.
sed -i 's/^execution:/history: revert\nexecution:/; s/name: demo/name: pairs/' manifest.yaml
rm -rf logs runs .apsis && git commit -qam "revert history" && run baseline
run run --iterations 3
is "$(git log --format=%s apsis/pairs | head -4 | paste -sd'|')" 'step 3|Revert "step 2"|step 2|step 1' "history: revert gives commit and revert pairs on the branch"
is "$(git show apsis/pairs:src/value.txt)" 3 "and the tree of the best at its tip"

# apsis's own folders are no change of the user's, even where no .gitignore names them and pause came first.
project quiet
rm .gitignore && commit "no ignore rules"
run pause
run resume
run baseline
is "$code $(git status --porcelain)" "0 " "what apsis writes is nothing that git would add"

# A project in a subdirectory, workers, dirty tree.
mkdir "$work/mono" && cd "$work/mono" && git init -q . && mkdir -p other sub && echo o > other/file && cd sub && "$APSIS" init > /dev/null && cd .. && commit
echo changed > other/file
cd sub && run baseline
is "$code" 0 "a project in a subdirectory of a repository works, dirty or not"
run run --iterations 4 --workers 3
is "$code" 0 "with workers"
is "$(cat ../other/file)" changed "and the user's edits stay"
is "$(git show --stat --format= "refs/apsis/sub/c0001" 2> /dev/null | grep -c other)" 0 "candidates touch the project alone"
run baseline --again
is "$(tail -n 1 logs/results.jsonl | "$APSIS" exec "$here/json.lua" outcome)" baseline "baseline --again appends a baseline line under the next number"
ok "and overwrites no run" test -d runs/0000_baseline -a -d runs/0005_baseline
done_testing
