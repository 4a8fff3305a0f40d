#!/bin/sh
# direct, pause and resume: on a project at rest, and on a loop that runs.
. tests/cli/lib.sh
project p
"$APSIS" baseline > /dev/null 2>&1

apsis direct
is "direct without anything to do exits 2" "$code" 2
line "with an example" "$err" "example: apsis direct"
apsis direct --message "$(printf ' \t')"
is "an empty note is refused" "$code" 2
apsis direct --message "$(printf 'bad \377 byte')"
is "a note that is not UTF-8 is refused" "$code" 2
apsis direct --message 'mind the "quotes"
and lines'
is "a note is taken" "$code" 0
is "as one line of the file" "$(wc -l < logs/directions.jsonl | tr -d ' ')" 1
apsis direct --list --json
is "and comes back as it was" "$(json 1.message)" 'mind the "quotes"
and lines'
line "with its time" "$(json 1.timestamp)" '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z$'
apsis direct --message 'a "second" one' --json
is "a note is taken with --json" "$code" 0
is "which prints it" "$(json message)" 'a "second" one'
line "with its time" "$(json timestamp)" '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z$'
is "as it stands in the file" "$out" "$(tail -1 logs/directions.jsonl)"
apsis direct --message x --clear
is "contradicting options exit 2" "$code" 2
apsis direct --clear
is "notes can be cleared" "$code" 0
apsis direct --list
is "and are gone" "$out" ""
apsis direct --clear --json
is "clearing with --json prints what is left" "$code $out" "0 []"

apsis pause
is "pause at rest exits 0" "$code" 0
line "and says that no loop runs" "$out" "no loop is running"
apsis pause
line "pausing twice is no error" "$out" "paused already"

# A loop that starts while paused waits; status sees it, resume lets it go.
"$APSIS" run --iterations 2 -q > "$T/run.out" 2>&1 &
loop=$!
tries=0
while [ $tries -lt 1200 ]; do
    apsis status --json
    [ "$(json running)" = true ] && [ "$(json run)" = 1 ] && break
    tries=$((tries + 1))
    sleep 0.1
done
is "status sees the paused loop and its pid" "$(json status) $(json pid)" "paused $loop"
apsis status
is "and says once how it goes on" "$(printf '%s\n' "$out" | grep -c 'apsis resume')" 1
apsis log
is "log works while a loop runs" "$code" 0
apsis baseline --again
is "a second process may not write" "$code" 3
apsis resume
line "resume says which loop goes on" "$out" "pid $loop goes on"
wait "$loop"
is "and the loop finishes" "$?" 0
apsis status --json
is "having run its experiments" "$(json running) $(json experiments)" "false 2"
apsis resume
line "resuming what is not paused is no error" "$out" "not paused"

# A pause between two plans: what is in flight ends, and nothing new begins.
before=$(lines)
agent <<EOF
echo \$((RANDOM + 10)) > value.txt
while [ -e $T/hold ]; do sleep 0.05; done
EOF
touch "$T/hold"
awk -v provider="$PROVIDER" '/^provider:/ { print provider; skip = 1; next } /^[^ #]/ { skip = 0 } !skip' manifest.yaml > m
mv m manifest.yaml && commit "a slow provider"
"$APSIS" run --iterations 6 --workers 2 -q > "$T/run.out" 2>&1 &
loop=$!
tries=0
until [ -d "runs/000$((before + 1))" ] || [ $tries -ge 1200 ]; do tries=$((tries + 1)); nap 0.1; done
apsis pause
rm "$T/hold"
tries=0
until [ "$(lines)" -ge $((before + 2)) ] || [ $tries -ge 1200 ]; do tries=$((tries + 1)); nap 0.1; done
apsis status --json
is "experiments in flight end during a pause" "$(json status) $(json experiments)" "paused $((before + 1))"
apsis resume
wait "$loop"
is "and after it the rest is done" "$? $(lines)" "0 $((before + 6))"

# A note as goalseek's own `direct` leaves it: it is for an iteration and those after it. What the user would have lost:
# the first experiments were told what was meant for later ones.
cat > "$T/told.lua" <<'LUA'
return { plan = function(run) return { parents = { run.best }, operator = "told" .. #run.directions } end }
LUA
STRATEGY=$T/told.lua new_project iterations
mkdir -p logs
echo '{"message": "later", "applies_from_iteration": 3, "timestamp": "2026-03-01T10:00:00Z"}' > logs/directions.jsonl
apsis baseline
apsis direct --message now
apsis run --iterations 3
is "a note for iteration 3 is not for those before it" "$(field 1 operator) $(field 2 operator) $(field 3 operator)" "told1 told1 told2"
apsis direct --message "after all"
apsis replay --check
line "and a replay decides the same, with more notes since" "$code $out" '^0 .*3 plans compared, 0 differ'
apsis direct --list
is "the list says so" "$(printf '%s\n' "$out" | head -1)" "2026-03-01T10:00:00Z  later (from experiment 3)"
apsis direct --list --json
is "and as JSON" "$(json 1.applies_from_iteration)" 3
finish
