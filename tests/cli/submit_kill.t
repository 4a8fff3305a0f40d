#!/bin/bash
# submit, wait and next, killed with everything that they started: what was handed in has one line, and nothing has two.
# KILLS=100: how often (default 20).
. tests/cli/lib.sh
KILLS=${KILLS:-20}

PROVIDER='' # nobody but who submits
STRATEGY='{use: hillclimb, options: {patience: 100000}}'
EXTRA='execution: {workers: 2}' new_project tiny
echo 'sleep 0.1; echo "METRIC score=$(cat value.txt)"' >evaluate.sh
commit slowly
apsis baseline -q
now_ms() { echo $(($(date +%s%N) / 1000000)); }
shopt -s nullglob
kill_all() { # every process of apsis on this project, and what is below it
    local pid
    for pid in $(pgrep -x apsis; pgrep -f "^$APSIS "); do
        [ "$(readlink "/proc/$pid/cwd")" = "$T/tiny" ] || tr '\0' ' ' <"/proc/$pid/cmdline" | grep -q -- "$T/tiny" || continue
        kill -9 "$pid"
    done 2>/dev/null
}
waiting() { # ids of submissions that wait
    local file
    for file in .apsis/inbox/s*.json; do grep -ho '"kind":"[sa][a-z]*"' "$file" >/dev/null && basename "$file" .json; done
}

kills=0 struck=0
for n in -1 -2; do
    echo "$n" >value.txt
    began=$(now_ms)
    "$APSIS" submit >/dev/null 2>&1
    longest=$((($(now_ms) - began) * 4 / 3)) # kills come at any time of it, and a little later
done
for ((i = 1; i <= KILLS; i++)); do
    echo "$i" >value.txt
    checkout=$(ls -d .apsis/next/c* 2>/dev/null | tail -1)
    case $((i % 5)) in
    0) "$APSIS" next ;;
    1) "$APSIS" submit ;;
    2) "$APSIS" submit --no-wait ;;
    3) if [ -n "$checkout" ]; then echo "$i" >"$checkout/value.txt" && "$APSIS" submit "$checkout"; else "$APSIS" next; fi ;;
    4) "$APSIS" wait "$(waiting | head -1)" ;;
    esac >/dev/null 2>&1 </dev/null &
    delay=$((RANDOM % longest))
    sleep "$((delay / 1000)).$(printf %03d $((delay % 1000)))"
    kill -0 $! 2>/dev/null && struck=$((struck + 1))
    kill_all
    kills=$((kills + 1))
    wait 2>/dev/null
done
is "kills" "$kills" "$KILLS"
ok "they struck" test "$struck" -gt 0
echo "# $struck of $kills struck at work; $(cat .apsis/inbox/last) requests, $(lines) lines before the rest is worked off"

for id in $(waiting); do
    apsis wait "$id" --json
    case $code in 0 | 1 | 2) ;; *) is "wait $id" "$code" "0, 1 or 2" ;; esac
done
item "nothing waits any more, and each submission has one line"
is "waiting" "$(waiting)" ""
is "handed in twice" "$(grep -o '"handed":"s[0-9]*"' logs/results.jsonl | sort | uniq -d)" ""
is "numbers twice" "$(grep -o '^{.*"experiment":[0-9]*' logs/results.jsonl | grep -o '"experiment":[0-9]*' | sort | uniq -d)" ""
for file in .apsis/inbox/done/s*.json; do
    grep -q '"refused":"nobody waits for it any more"' "$file" && continue # a `next` that was killed submitted nothing
    number=$(grep -o '"experiment":[0-9]*' "$file" | tr -dc 0-9)
    [ -n "$number" ] || { is "$file" "$(cat "$file")" "an experiment"; continue; }
    given=$(field "$number" experiment)
    [ "$given" = "$number" ] || [ -e "runs/$(printf %04d "$number")/proposal.json" ] || is "line of $file" "$given" "$number"
done
is "refs left" "$(git for-each-ref refs/apsis/tiny/submitted)" ""
end_item

item "the run goes on, and replay finds every plan again"
echo 1000 >value.txt
apsis submit
is "exit" "$code" 0
apsis replay --check
is "exit" "$code" 0
is "the best" "$(git show apsis/tiny:value.txt)" 1000
end_item

finish
