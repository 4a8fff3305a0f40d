#!/bin/sh
# direct, pause and resume: on a project at rest, and on a loop that runs.
. "$(dirname "$0")/transcript.sh"
project p
"$APSIS" baseline > /dev/null 2>&1

run direct
is "$code" 2 "direct without anything to do exits 2"
like "$err" "example: apsis direct" "with an example"
run direct --message "$(printf ' \t')"
is "$code" 2 "an empty note is refused"
run direct --message "$(printf 'bad \377 byte')"
is "$code" 2 "a note that is not UTF-8 is refused"
run direct --message 'mind the "quotes"
and lines'
is "$code" 0 "a note is taken"
is "$(wc -l < logs/directions.jsonl | tr -d ' ')" 1 "as one line of the file"
run direct --list --json
is "$(json 1.message)" 'mind the "quotes"
and lines' "and comes back as it was"
like "$(json 1.timestamp)" '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z$' "with its time"
run direct --message 'a "second" one' --json
is "$code" 0 "a note is taken with --json"
is "$(json message)" 'a "second" one' "which prints it"
like "$(json timestamp)" '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z$' "with its time"
is "$out" "$(tail -1 logs/directions.jsonl)" "as it stands in the file"
run direct --message x --clear
is "$code" 2 "contradicting options exit 2"
run direct --clear
is "$code" 0 "notes can be cleared"
run direct --list
is "$out" "" "and are gone"
run direct --clear --json
is "$code $out" "0 []" "clearing with --json prints what is left"

run pause
is "$code" 0 "pause at rest exits 0"
like "$out" "no loop is running" "and says that no loop runs"
run pause
like "$out" "paused already" "pausing twice is no error"

# A loop that starts while paused waits; status sees it, resume lets it go.
"$APSIS" run --iterations 2 -q > "$work/run.out" 2>&1 &
loop=$!
tries=0
while [ $tries -lt 100 ]; do
    run status --json
    [ "$(json running)" = true ] && [ "$(json run)" = 1 ] && break
    tries=$((tries + 1))
    sleep 0.1
done
is "$(json status) $(json pid)" "paused $loop" "status sees the paused loop and its pid"
run status
is "$(printf '%s\n' "$out" | grep -c 'apsis resume')" 1 "and says once how it goes on"
run log
is "$code" 0 "log works while a loop runs"
run baseline --again
is "$code" 3 "a second process may not write"
run resume
like "$out" "pid $loop goes on" "resume says which loop goes on"
wait "$loop"
is "$?" 0 "and the loop finishes"
run status --json
is "$(json running) $(json experiments)" "false 2" "having run its experiments"
run resume
like "$out" "not paused" "resuming what is not paused is no error"
done_testing
