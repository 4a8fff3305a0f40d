#!/bin/bash
# step: one experiment, and with --phase one phase of it at a time: a user looks between them, or stops.
. tests/cli/lib.sh || exit 1

# steps TEXT: `apsis step --phase` with that on standard input.
steps() {
    printf "$1" | timeout -k 5 60 "$APSIS" step --phase >"$T/.out" 2>"$T/.err"
    code=$? out=$(cat "$T/.out") err=$(cat "$T/.err")
}

phases() { printf '%s\n' "$out" | grep -oE '^[A-Z_]+' | tr '\n' ' '; }

new_project p
apsis baseline -q

item "seven phases, with what each did and the files to look at"
steps '\n\n\n\n\n\n'
is "ends well" "$code" 0
is "the phases in order" "$(phases)" "READ_CONTEXT PLAN APPLY_CHANGE COMMIT VERIFY DECIDE LOG "
line "what is known" "$out" "1 line in the journal, 0 directions from you; best c0000: 0"
line "the plan" "$out" "PLAN +experiment 1: [a-z]+ of c0000"
line "the commit" "$out" "COMMIT +.* changed: git show $(git rev-parse refs/apsis/tiny/c0001 | cut -c1-10)"
line "the value" "$out" "VERIFY +score = 1$"
line "the decision" "$out" "DECIDE +kept"
line "the line" "$out" "LOG +line 2 of logs/results.jsonl"
line "files of a phase" "$out" "runs/0001: .*verifier.log"
is "no prompt where nobody types" "$(grep -c Enter <<<"$err")" 0
end_item

item "a user who stops between two phases loses nothing but that experiment's work"
steps '\n\n\nq\n'
is "it is no success" "$code" 130
is "until there" "$(phases)" "READ_CONTEXT PLAN APPLY_CHANGE COMMIT "
line "it says how to go on" "$err" "stopped before VERIFY: .apsis step. makes experiment 2 again, from its plan"
is "no line" "$(wc -l <logs/results.jsonl)" 2
steps '\n\n\n\n\n\n'
is "goes on" "$code" 0
is "from the plan" "$(phases)" "PLAN APPLY_CHANGE COMMIT VERIFY DECIDE LOG "
is "that experiment and no other" "$(wc -l <logs/results.jsonl)" 3
line "under its number" "$(tail -1 logs/results.jsonl)" '"experiment":2,'
end_item

item "the end of standard input stops too"
steps '\n\n'
is "exit" "$code" 130
apsis step -q
is "an ordinary step makes it" "$code $(wc -l <logs/results.jsonl)" "0 4"
end_item

item "Ctrl-C while it waits"
mkfifo "$T/keys"
setsid "$APSIS" step --phase <"$T/keys" >"$T/.out" 2>"$T/.err" &
pid=$!
exec 9>"$T/keys"
printf '\n\n' >&9
for _ in {1..1000}; do grep -q '"current_phase":"COMMIT"' logs/state.json && break; sleep 0.02; done
line "another terminal sees the phase" "$(cat logs/state.json)" '"current_phase":"COMMIT"'
kill -INT $pid
wait $pid
is "exit" "$?" 130
exec 9>&-
end_item

item "a provider that fails: its reason, and no phases that did not happen"
mkdir "$T/fails" && cd "$T/fails" && git init -q .
PROVIDER='provider: {kind: command, run: "echo no >&2; exit 3"}'
fill_project
git add -A && git commit -qm start
apsis baseline -q
steps '\n\n\n\n\n\n\n'
is "the phases" "$(phases)" "READ_CONTEXT PLAN APPLY_CHANGE DECIDE LOG "
line "why" "$out" "APPLY_CHANGE +the provider ended with exit 3: no"
line "the outcome" "$out" "DECIDE +skipped_provider_failure"
end_item

apsis step --phase --json
is "--phase with --json is refused" "$code" 2
line "and why" "$err" "leave --json out"
finish
