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
for _ in {1..1000}; do grep -q '"current_phase":"COMMIT"' logs/state.json && break; nap 0.02; done
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

item "--json has what came of the experiment, and --exit-code tells a kept one from another"
unset PROVIDER
new_project told
cat >propose.lua <<'END'
local values = { 5, 3, 5, false, 9 }
return function(proposal)
  local value = values[proposal.experiment]
  if not value then return nil, "no idea" end
  return { ["value.txt"] = value .. "\n" }, { hypothesis = "another number" }
end
END
commit
apsis baseline -q
apsis step --json --exit-code
is "kept" "$code" 0
is "the experiment" "$(json step.experiment) $(json step.candidate) $(json step.outcome) $(json step.status)" "1 c0001 kept keep"
is "its value" "$(json step.value) $(json step.delta) $(json step.parents.1)" "5 5 c0000"
is "its commit" "$(json step.commit)" "$(git rev-parse refs/apsis/tiny/c0001)"
is "what the run has as before" "$(json experiments) $(json best.candidate)" "1 c0001"
apsis step --json --exit-code
is "rejected" "$code $(json step.outcome) $(json step.value)" "1 reverted_worse_metric 3"
like "why" "$(json step.reason)" "3 is not better than the best, 5"
is "nothing on standard error" "$err" ""
apsis step --exit-code -q
is "a duplicate is not kept" "$code" 1
line "in words" "$out" "^c0003 skipped_(duplicate|no_change): "
apsis step --json --exit-code
is "a provider's failure keeps its code" "$code $(json step.outcome)" "4 skipped_provider_failure"
apsis step --json
is "without --exit-code" "$code $(json step.outcome)" "0 kept"
echo 'budget: {iterations: 1}' >>manifest.yaml
git commit -qam budget
sed -i 's/5, 3, 5, false, 9/1, 1, 1, 1, 1, 1, 1/' propose.lua
apsis step
is "a rejected one without --exit-code" "$code" 0
line "in words" "$out" "^c0006 reverted_worse_metric: score = 1: 1 is not better than the best, 9"
end_item

apsis step --phase --json
is "--phase with --json is refused" "$code" 2
line "and why" "$err" "leave --json out"
finish
