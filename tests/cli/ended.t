#!/usr/bin/env bash
# An agent's answer counts from the moment that its command has ended: apsis is stopped, the agent ends, apsis is killed before it could
# read anything. The next run takes output and files from where they are, and asks nobody again.
. tests/cli/lib.sh || exit 1

askings() { grep -c "^$1$" "$T/askings"; }

# An agent that says when it was asked, waits, answers, and leaves a daemon.
answering() {
    rm -f "$T"/asked-* "$T"/go-*
    : >"$T/askings"
    agent <<END
part=\${1:-implement}
grep -q "^Step 1 of 2" && part=plan
echo "\$part" >>"$T/askings"
touch "$T/asked-\$part"
while [ ! -e "$T/go-\$part" ]; do sleep 0.02; done
if [ "\$part" = plan ]; then
    echo "One step at a time"
    echo planned >"\$APSIS_RUN_DIR/planned.txt"
else
    setsid sh -c 'sleep 100; echo 9 >value.txt' >/dev/null 2>&1 &
    echo "\$((APSIS_EXPERIMENT * 10))" >value.txt
    mkdir -p made && echo new >made/file.txt
    echo kept >"\$APSIS_RUN_DIR/kept.txt"
    echo "ASI hypothesis=asking \$(wc -l <"$T/askings")"
fi
echo "tokens used: 100"
exit ${1:-0}
END
    PROVIDER="provider: {kind: command, run: [bash, $T/agent-$agents.sh], retries: 0, usage: {tokens: 'tokens used: (\\d+)'}${2-}}"
    RULES='  - {path: "made/**", mode: writable}'
}

ended() { [ "$(wc -l <"runs/0001/ended_$1.txt")" = 2 ]; }

# killed_after PART: runs until the agent has ended this part, and kills apsis, which knows nothing of it.
killed_after() {
    "$APSIS" run --iterations 2 -q >"$T/run.out" 2>&1 &
    local job=$!
    [ "$1" = plan ] || touch "$T/go-plan"
    wait_for "the agent is asked" test -e "$T/asked-$1"
    kill -STOP "$job"
    touch "$T/go-$1"
    wait_for "the agent's end is on the disk" ended "$1"
    kill -KILL "$job"
    wait "$job" 2>/dev/null
    touch "$T/go-plan" "$T/go-implement"
    sleep 0.2
}

item "an answer that apsis had not read is taken up"
answering
new_project whole
apsis baseline -q
killed_after implement
apsis run -q
is "exit" "$code" 0
is "lines" "$(lines)" 3
is "askings: one for each experiment" "$(askings implement)" 2
is "its value" "$(field 1 primary_metric)" 10
is "all its files" "$(git show refs/apsis/tiny/c0001:made/file.txt)" new
is "its lesson" "$(field 1 hypothesis)" "asking 1"
is "its tokens" "$(field 1 tokens)" 100
is "its output, once" "$(grep -c 'tokens used' runs/0001/provider_output.md)" 1
is "what it left for people" "$(cat runs/0001/provider/kept.txt)" kept
is "the next one has its own files" "$(git diff --name-only refs/apsis/tiny/c0001 refs/apsis/tiny/c0002)" value.txt
ok "nothing is recorded of answers that are kept" test ! -e runs/0001/ended_implement.txt -a ! -e runs/0002/ended_implement.txt
ok "of the killed run's folders none is left" test -z "$(find "$XDG_CACHE_HOME" -name 'scratch-*' -path '*/scratch-*' | sed 1,2d)"
apsis replay --check
is "replay" "$code" 0
end_item

for part in plan implement; do
    item "in two steps, killed after $part"
    answering 0 ', steps: [plan, implement]'
    new_project "steps-$part"
    apsis baseline -q
    killed_after "$part"
    apsis run -q
    is "exit" "$code" 0
    is "askings" "$(askings plan) $(askings implement)" "2 2"
    is "tokens of both" "$(field 1 tokens)" 200
    is "what the first left for people" "$(cat runs/0001/provider/planned.txt)" planned
    like "the second step was given the plan" "$(cat runs/0001/prompt.md)" "carry out this plan.*One step at a time"
    is "its value" "$(field 1 primary_metric)" 10
    end_item
done

item "killed in the second step: the first is not asked again"
answering 0 ', steps: [plan, implement]'
new_project second
apsis baseline -q
touch "$T/go-plan"
"$APSIS" run --iterations 1 -q >"$T/run.out" 2>&1 &
job=$!
wait_for "the second step is asked" test -e "$T/asked-implement"
kill -KILL "$job"
wait "$job" 2>/dev/null
sleep 1.5 # it is ended
touch "$T/go-implement"
apsis run -q
is "askings" "$(askings plan) $(askings implement)" "1 2"
is "tokens of both" "$(field 1 tokens)" 200
is "the plan" "$(head -1 runs/0001/plan.md)" "One step at a time"
end_item

item "it is about to end when apsis is killed, and the next run begins at once"
answering
sed -i "s|^exit|touch $T/answered; sleep 0.2; &|" "$T/agent-$agents.sh"
new_project about
apsis baseline -q
touch "$T/go-implement"
"$APSIS" run --iterations 2 -q >"$T/run.out" 2>&1 &
job=$!
wait_for "the agent has answered" test -e "$T/answered"
kill -KILL "$job"
wait "$job" 2>/dev/null
apsis run -q
is "exit" "$code" 0
is "askings" "$(askings implement)" 2
is "its value" "$(field 1 primary_metric)" 10
end_item

item "what is submitted before the answer is taken up is another candidate"
answering
new_project submitted
apsis baseline -q
killed_after implement
echo 7 >value.txt
apsis submit --title mine
is "exit" "$code" 1
is "values" "$(field 1 primary_metric) $(field 2 primary_metric)" "10 7"
is "files" "$(git ls-tree -r --name-only refs/apsis/tiny/c0001 made) $(git ls-tree -r --name-only refs/apsis/tiny/c0002 made)" "made/file.txt "
is "askings" "$(askings implement)" 1
end_item

# again NAME COMMAND: what the command does to the record or the workspace makes the agent be asked again.
again() {
    item "$1: the agent is asked again"
    answering "${3:-0}"
    new_project "${1// /-}"
    apsis baseline -q
    killed_after implement
    eval "$2"
    apsis run -q
    is "exit" "$code" "${4:-0}"
    is "askings: two of experiment 1, one of experiment 2" "$(askings implement)" 3
    is "outcome" "$(field 1 outcome)" "${5:-kept}"
    end_item
}
again "it had failed" : 3 4 skipped_provider_failure
again "the machine was started again" "sed -i 's/\"boot\":\"[^\"]*\"/\"boot\":\"another\"/' runs/0001/ended_implement.txt"
again "its workspace is gone" 'rm -rf "$XDG_CACHE_HOME"/apsis/*/provide-*'
again "its output is gone" "rm runs/0001/provider_output.md"
again "the record is torn" "truncate -s -3 runs/0001/ended_implement.txt"
again "the steps are others" "sed -i 's/, retries: 0/&, steps: [plan, implement]/' manifest.yaml; git commit -qam steps"
again "the record names another folder" "mkdir '$T/precious'; sed -i 's|\"scratch\":\"[^\"]*\"|\"scratch\":\"$T/precious\"|' runs/0001/ended_implement.txt"
ok "which stays" test -d "$T/precious"
again "it belongs to something else" "sed -i 's/\"of\":\"/&x/' runs/0001/ended_implement.txt"

item "a command that opens its output again loses nothing of it"
agent <<'SH'
cat >/dev/null
echo "ASI hypothesis=mine"
echo "tokens used: 100"
echo "first" >/dev/stderr
echo "second" >/dev/stderr
echo "done" >/dev/stdout
echo 5 >value.txt
SH
PROVIDER="provider: {kind: command, run: [bash, $T/agent-$agents.sh], retries: 0, usage: {tokens: 'tokens used: (\d+)'}}"
new_project again
apsis baseline -q
apsis run --iterations 1 -q
is "its lesson" "$(field 1 hypothesis)" mine
is "its tokens" "$(field 1 tokens)" 100
is "what it printed" "$(tail -1 runs/0001/provider_output.md) $(tr '\n' ' ' <runs/0001/provider_stderr.log)" "done first second "
end_item

item "a workspace whose right to be opened was taken is taken up"
answering
sed -i 's/^echo "tokens/chmod 000 .; &/' "$T/agent-$agents.sh"
new_project closed
apsis baseline -q
killed_after implement
apsis run -q
is "exit" "$code" 0
is "askings" "$(askings implement)" 2
end_item

finish
