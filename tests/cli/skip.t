#!/bin/bash
# skip: a person ends an experiment in flight, by the command and by the key of watch; and eval --candidate measures one once more.
. tests/cli/lib.sh || exit 1

json() { printf '%s' "$out" | "$APSIS" exec "$ROOT/tests/cli/json.lua" "$1"; }

# Its provider and its evaluator wait for a file that never comes: the provider of experiment HANGS, the evaluator of experiment 2.
hanging() { # hanging NAME WORKERS
    new_project "$1"
    echo '[ "$(cat value.txt)" != 2 ] || while :; do sleep 1; done; echo "METRIC score=$(cat value.txt)"' >evaluate.sh
    echo '[ "$APSIS_EXPERIMENT" != 3 ] || while :; do sleep 1; done; echo "$APSIS_EXPERIMENT" >value.txt' >propose.sh
    PROVIDER="provider: {kind: command, run: [sh, propose.sh], retries: 5}" write_manifest
    commit hanging
    apsis baseline --repeats 1
    "$APSIS" run --iterations 4 --workers "$2" -q >"$T/$1.out" 2>&1 </dev/null &
    run=$!
}

shows() { tmux -L skip capture-pane -p | grep -Fq -e "$1"; }
press() { tmux -L skip send-keys "$@"; }

# The outcomes of these experiments, of the journal.
outcomes() {
    for number; do grep "\"experiment\":$number," logs/results.jsonl | grep -o '"outcome":"[a-z_]*"' | cut -d'"' -f4; done | paste -sd' '
}

in_flight() { "$APSIS" status --json | grep -q "\"experiment\":$1,[^}]*\"phase\":\"$2\""; }

for workers in 1 4; do
    item "a verifier and a provider that hang are ended, and the run goes on: $workers at once"
    hanging "hang$workers" $workers
    wait_for "the verifier" in_flight 2 VERIFY
    apsis skip c0002 --reason "it hangs"
    is "exit code" "$code" 0
    like "said" "$out" "^experiment 2: its commands are ended; the run goes on"
    wait_for "its line" grep -q '"experiment":2,' logs/results.jsonl
    wait_for "the provider" in_flight 3 APPLY_CHANGE
    apsis skip 3
    wait $run
    is "the run's exit code" "$?" 0
    # at once, the first may come after the last
    like "outcomes" "$(outcomes 1 2 3 4)" "^(kept|reverted_worse_metric) skipped_not_selected skipped_not_selected kept$"
    like "why" "$(grep '"experiment":2,' logs/results.jsonl)" '"rollback_reason":"a person skipped it: it hangs"'
    like "without a reason" "$(grep '"experiment":3,' logs/results.jsonl)" '"rollback_reason":"a person skipped it"'
    is "nothing is left running" "$(pgrep -fa "$T/hang$workers" | grep -v '^[0-9]* [^ ]*git ')" ""
    apsis replay --check
    is "replay" "$code" 0
    end_item
done

item "what is not in flight is named, with what is"
apsis skip
is "exit code" "$code:$err" "2:apsis: no run is going on here, so nothing is in flight"
hanging named 1
wait_for "the verifier" in_flight 2 VERIFY
apsis skip 7
is "another" "$code:$err" "2:apsis: experiment 7 is not in flight; in flight: 2"
apsis skip all
is "no number" "$code:$err" "2:apsis: all: no experiment's number; in flight: 2"
end_item

item "what another apsis skip is still writing is left to it"
mkdir -p .apsis/skip
touch .apsis/skip/0002.tmp-1-0 .apsis/skip/9
wait_for "the run has looked" sh -c '! test -e .apsis/skip/9'
is "not removed" "$(ls .apsis/skip)" 0002.tmp-1-0
end_item

item "in watch, x asks for the number and why; m on a candidate measures it once more"
at_end+=("tmux -L skip kill-server 2>/dev/null")
tmux -L skip -f /dev/null new-session -d -x 80 -y 24 "$APSIS watch"
wait_for "the screen" shows "in flight"
press x
wait_for "the question" shows "skip which experiment (2), and why:"
press "2 too slow" Enter
wait_for "the answer" shows "experiment 2: its commands are ended"
wait_for "its line" grep -q 'a person skipped it: too slow' logs/results.jsonl
press m
wait_for "no candidate" shows "open a candidate that has a commit"
press 2 G Enter
wait_for "a candidate" shows "[facts]"
press m
wait_for "its value" shows "c0000 measured once more: score=0 (recorded: 0)"
end_item
kill $run
wait $run 2>/dev/null

item "eval --candidate measures a candidate, and records nothing"
lines=$(lines)
apsis eval --candidate c0001
is "value" "$code:$out" "0:score=1 (recorded: 1)"
apsis eval --candidate best --json
is "as JSON" "$(json candidate):$(json value):$(json recorded)" "c0001:1:1"
apsis eval --candidate c0099
like "none" "$code:$err" "^2:apsis: no candidate"
is "journal" "$(lines)" "$lines"
end_item

finish
