#!/bin/bash
# approve_kill: what waits for approval, and the answer to it, when the run or `apsis approve` is killed at any of its writes: nothing is lost,
# nothing is measured twice, and there is one line.
. tests/cli/lib.sh || exit 1

command -v strace >/dev/null || { echo "1..0 # skip no strace"; exit 0; }

EXTRA="approval: ask" new_project origin
echo "echo measured >>$T/measured; echo METRIC score=\$(cat value.txt)" >evaluate.sh
commit measured
apsis baseline --repeats 1
cd "$T" || exit 1

# calls FOLDER CALL COMMAND...: which of the calls of a command to kill it at: some of those from the first on that names .apsis/held.
calls() {
    local folder=$1 call=$2 from total
    shift 2
    copy "$folder"
    "${TRACED[@]}" -f -o "$T/calls" -e trace="$call,mkdir" -e signal=none "$APSIS" "$@" >/dev/null 2>&1
    from=$(grep -n -m1 'apsis/held' "$T/calls" | cut -d: -f1)
    total=$(grep -c "^[0-9]* *$call(" "$T/calls")
    from=$(($(head -n "${from:-1}" "$T/calls" | grep -c "^[0-9]* *$call(") + 1))
    seq "$from" $(((total - from) / 2 + 1)) "$total"
}

# killed CALL NUMBER COMMAND...
killed() {
    local call=$1 number=$2
    shift 2
    { capture "${TRACED[@]}" -f -o /dev/null -e trace="$call" -e inject="$call:signal=SIGKILL:when=$number" "$APSIS" "$@"; } 2>/dev/null
    kills=$((kills + 1))
}

# What must be true once a later run and an answer have gone over what the kill left.
settled() {
    apsis run --iterations 1 -q
    is "a later run ($1)" "$code" 0
    [ ! -e .apsis/held/c0001.json ] || apsis approve c0001
    is "one line ($1)" "$(grep -c '"candidate":"c0001"' logs/results.jsonl):$(field 1 outcome)" 1:kept
    is "nothing is left ($1)" "$(ls .apsis/held | grep -c c0001)" 0
    apsis replay --check
    is "replay ($1)" "$code" 0
}

copy() {
    rm -rf "$T/copy" "$T/measured"
    cp -r "$T/$1" "$T/copy" && cd "$T/copy" || exit 1
}

kills=0
for call in rename unlink fsync; do
    item "a run that is killed at a $call"
    for number in $(calls origin "$call" run --iterations 1 -q); do
        copy origin
        killed "$call" "$number" run --iterations 1 -q
        measured=$(wc -l <"$T/measured")
        held=$([ -e .apsis/held/c0001.json ] && echo yes)
        settled "$call $number"
        [ "$held" != yes ] || is "measured once ($call $number)" "$measured:$(field 1 measurements)" 1:1
    done
    end_item
done

copy origin
apsis run --iterations 1 -q
cd "$T" && mv copy waits || exit 1
for call in rename unlink fsync; do
    item "apsis approve that is killed at a $call"
    for number in $(calls waits "$call" approve c0001); do
        copy waits
        killed "$call" "$number" approve c0001
        settled "$call $number"
        ok "nothing is measured again ($call $number)" test "$(wc -l <"$T/measured")" -le 1 # the later run's own
    done
    end_item
done
ok "kills ($kills)" test "$kills" -ge 8

finish
