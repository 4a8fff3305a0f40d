#!/usr/bin/env bash
# An answer is paid once: kill -9 of `apsis run` in every phase, with a command and with a chat model. What had answered is not asked
# again, the experiment goes on with the same candidate and the same tokens, and no candidate gets what belongs to another.
. tests/cli/lib.sh || exit 1
. tests/cli/server.sh

commits() { git for-each-ref --format='%(refname:lstrip=3) %(objectname)' refs/apsis/tiny/; }
askings() { grep -c "^$1$" "$T/askings"; } # of an experiment
phase() { sed -n 's/.*"current_phase":"\([A-Z_]*\)".*/\1/p' logs/state.json; }

# kill_in PHASE: starts a run and kills it in a phase of experiment 1.
kill_in() {
    "$APSIS" run --iterations 2 -q >"$T/run.out" 2>&1 &
    local job=$! _
    for _ in $(seq 400); do
        [ -e "$T/in-$1" ] && [ "$(phase)" = "$1" ] && break
        sleep 0.05
    done
    kill -KILL "$job"
    wait "$job" 2>/dev/null
    sleep 1.5 # the agent has been ended: it would be left a second to end by itself
    touch "$T/go-on"
}

# An agent that counts its askings and reports tokens; it and the evaluator wait where the test kills.
counting() {
    rm -f "$T/askings" "$T/in-"* "$T/go-on"
    touch "$T/askings"
    agent <<END
echo "\$APSIS_EXPERIMENT" >>"$T/askings"
touch "$T/in-APPLY_CHANGE"
[ "${1-}" != APPLY_CHANGE ] || while [ ! -e "$T/go-on" ]; do sleep 0.05; done
echo "\$((\$APSIS_EXPERIMENT * 10 + \$(wc -l <"$T/askings")))" >value.txt
echo "tokens used: 100"
echo "ASI hypothesis=asking \$(wc -l <"$T/askings")"
END
    PROVIDER="provider: {kind: command, run: [bash, $T/agent-$agents.sh], retries: 0, usage: {tokens: 'tokens used: (\\d+)'}}"
}
waiting_evaluator() {
    cat >evaluate.sh <<END
if [ "\$(cat value.txt)" != 0 ]; then
    touch "$T/in-VERIFY"
    [ "$1" != VERIFY ] || while [ ! -e "$T/go-on" ]; do sleep 0.05; done
fi
echo "METRIC score=\$(cat value.txt)"
END
}

for where in APPLY_CHANGE VERIFY; do
    item "killed in $where"
    counting "$where"
    new_project "command-$where"
    waiting_evaluator "$where"
    commit
    apsis baseline -q
    kill_in "$where"
    is "the phase" "$(phase)" "$where"
    before=$(commits | sed -n 's/^c0001 //p')
    noted=$(sed -n 's/.*"slots":\[{[^]]*"commit":"\([0-9a-f]*\)".*/\1/p' logs/state.json)
    apsis run -q
    is "exit" "$code" 0
    is "lines" "$(lines)" 3
    if [ "$where" = VERIFY ]; then
        is "the provider was asked once" "$(askings 1)" 1
        is "the candidate" "$(field 1 commit)" "$before"
        is "the state file had it" "$noted" "$before"
        is "its hypothesis" "$(field 1 hypothesis)" "asking 1"
        is "tokens" "$(field 1 tokens)" 100
    else
        is "an answer that was not complete is asked for again" "$(askings 1)" 2
        is "tokens" "$(field 1 tokens)" 100
    fi
    is "its value is its own" "$(field 1 primary_metric)" "$(git show refs/apsis/tiny/c0001:value.txt)"
    is "the next experiment's askings" "$(askings 2)" 1
    ok "nothing is kept of an answer whose line is written" test ! -e runs/0001/answers.jsonl
    end_item
done

# Killed at each fsync and each rename of a run: these are the moments at which something becomes durable, in every phase. make torture
# kills at random moments.
command -v strace >/dev/null || { echo "ok 3 # SKIP no strace"; count=3; finish; }
for call in fsync rename unlink; do
    item "killed at each $call: what was answered is not asked again"
    kills=0 kept=0
    for at in $(seq "$([ -n "${APSIS_SANITIZED:-}" ] && echo 7 || echo 60)"); do
        counting
        EXTRA='budget: {iterations: 1}' new_project "$call-$at"
        apsis baseline -q
        capture "${TRACED[@]}" -f -o /dev/null -e trace="$call" -e inject="$call:signal=SIGKILL:when=$at" "$APSIS" run -q
        [ "$code" = 137 ] || break
        kills=$((kills + 1))
        answered=$(for file in runs/*/answers.jsonl; do [ -s "$file" ] && expr "$file" : 'runs/0*\([0-9]*\)/'; done)
        candidates=$(commits)
        grep -q '"status":"finished"' logs/state.json || apsis run -q
        [ "$code" != 137 ] || code=0 # it had finished
        is "$at: exit" "$code" 0
        is "$at: lines" "$(sed -n 's/.*"experiment":\([0-9]*\),.*/\1/p' logs/results.jsonl | sort -n | tr '\n' ' ')" "0 1 "
        for number in $answered; do
            kept=$((kept + 1))
            is "$at: askings of $number" "$(askings "$number")" 1
        done
        is "$at: tokens" "$(field 1 tokens)" 100
        is "$at: the value" "$(field 1 primary_metric)" "$(git show refs/apsis/tiny/c0001:value.txt)"
        ok "$at: no answer is kept" test ! -e runs/0001/answers.jsonl
        is "$at: its result is there, whole" "$(field 1 candidate) $(field 1 timestamp)" \
            "$("$APSIS" exec "$ROOT/tests/cli/json.lua" candidate <runs/0001/result.json) $("$APSIS" exec "$ROOT/tests/cli/json.lua" timestamp <runs/0001/result.json)"
        ok "$at: at most one asking was lost" test "$(grep -c . "$T/askings")" -le 2
        is "$at: the candidates that were there" "$(comm -23 <(printf '%s\n' "$candidates" | sort) <(commits | sort))" ""
        cd "$T" && rm -rf "${T:?}/$call-$at"
    done
    ok "kills ($kills), some of them after an answer ($kept)" \
        test "$kills" -ge 3 -a "$kept" -ge "$([ -n "${APSIS_SANITIZED:-}" ] && echo 0 || echo 1)"
    end_item
done

# --- chat: each of several answers is kept on its own ---

reply() { # VALUE [MORE]: an answer that sets value.txt
    printf '{"content": "ASI hypothesis=%s\\n\\n```txt value.txt\\n%s\\n```", "usage": {"prompt_tokens": 70, "completion_tokens": 30}%s}\n' "$1" "$1" "${2:+, $2}"
}
chat() { # NAME: a project whose model answers three times
    PROVIDER="provider: {kind: chat, base_url: '$URL', models: [m], retries: 0, repairs: 0}"
    EXTRA='trajectory: {enabled: true, k_candidates: 3, complexity: complex}' new_project "$1"
    waiting_evaluator "${2-}"
    commit
    apsis baseline -q
}
waiting() { # for N requests
    local _
    for _ in $(seq 300); do
        [ "$(requests)" -ge "$1" ] && return
        sleep 0.05
    done
}
item "chat, killed while the last of three answers is on its way: the two that came are kept"
{ reply 5; reply 7; reply 6 '"stall_s": 60'; reply 8; } >"$T/script"
start_server "$T/script"
chat partly
"$APSIS" run --iterations 1 -q >"$T/run.out" 2>&1 &
job=$!
waiting 3
for _ in $(seq 100); do
    [ "$(grep -c . runs/0001/answers.jsonl 2>/dev/null)" = 2 ] && break
    sleep 0.05
done
kill -KILL "$job"
wait "$job" 2>/dev/null
apsis run -q
is "exit" "$code" 0
is "requests" "$(requests)" 4
ok "tokens of all three, and the estimate for the request that was cut off" test "$(field 1 tokens)" -gt 300
like "the value is of one of them" "$(field 1 primary_metric)" '^[578]$'
end_item

item "chat, killed in VERIFY: nothing is asked again, and tokens count once"
{ reply 5; reply 7; reply 6; } >"$T/script"
start_server "$T/script"
rm -f "$T/in-VERIFY" "$T/go-on"
chat verifying VERIFY
kill_in VERIFY
before=$(commits | sed -n 's/^c0001 //p')
apsis run -q
is "requests of experiment 1 and 2" "$(requests)" 6
is "the candidate" "$(field 1 commit)" "$before"
is "tokens" "$(field 1 tokens)" 300
end_item
stop_server

# --- whose answer it is ---

item "an answer that another journal's experiment left is nobody's"
counting
new_project other
waiting_evaluator VERIFY
commit
apsis baseline -q
rm -f "$T/in-VERIFY" "$T/go-on"
kill_in VERIFY
ok "an answer was left" test -s runs/0001/answers.jsonl
echo stale >runs/0001/artifact-of-another
rm -rf logs .apsis
git for-each-ref --format='delete %(refname)' refs/apsis/ | git update-ref --stdin
rm "$T/askings" && touch "$T/askings"
sleep 1.1 # the time of a journal line has seconds
apsis baseline -q
apsis run --iterations 1 -q
is "exit" "$code" 0
is "lines" "$(lines)" 2
is "it was asked" "$(askings 1)" 1
ok "and has no file of the other" test ! -e runs/0001/artifact-of-another
end_item

item "a start writes the last line's result again where another one, half of one or none is there"
cp runs/0001/result.json "$T/result"
number=1
for text in "$(sed 's/"primary_metric": [0-9]*/"primary_metric": 7777/' "$T/result")" "$(head -c 100 "$T/result")" ""; do
    printf '%s' "$text" >"runs/000$number/result.json"
    apsis run --iterations 1 -q
    is "exit" "$code" 0
    is "its value" "$("$APSIS" exec "$ROOT/tests/cli/json.lua" primary_metric <"runs/000$number/result.json")" \
        "$(field "$number" primary_metric)"
    number=$((number + 1))
done
end_item

item "a result that cannot be written is said"
rm "runs/000$number/result.json" && mkdir "runs/000$((number + 1))" && mkdir "runs/000$((number + 1))/result.json"
apsis run --iterations 1
is "exit" "$code" 0
is "the line" "$(field $((number + 1)) outcome)" kept
like "which is said" "$err" "the journal has the result, but its file was not written: E[A-Z]*: .*/runs/000$((number + 1))/result.json"
like "the one before is there" "$(cat "runs/000$number/result.json")" '"primary_metric"'
end_item

finish
