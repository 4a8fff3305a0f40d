#!/bin/bash
# holdout: what the best is worth on data that nothing has seen: scored once, when the project is done; by a command or by test cases; and no
# provider, strategy, evaluator, prompt, log or artifact has a word of it before.
. tests/cli/lib.sh || exit 1

# A project whose evaluator and provider copy all that they can read into a file outside: SEEN.
sealed() {
    new_project "$1"
    SEEN=$T/seen-$1
    mkdir -p secret && echo "KESTREL 40" >secret/data.txt
    echo 'echo "METRIC score=$(($(cat value.txt) + $(cut -d" " -f2 secret/data.txt)))"; echo OSPREY >&2' >secret/score.sh
    cat >evaluate.sh <<END
{ env; find . -not -path './.git*'; grep -r . . ; } >>$SEEN 2>&1
mkdir -p "\$APSIS_ARTIFACTS"; cat secret/* >"\$APSIS_ARTIFACTS/copy.txt" 2>/dev/null
cat secret/*
echo "METRIC score=\$(cat value.txt)"
END
    cat >propose.sh <<END
{ env; cat "\$APSIS_PROMPT" - ; find . ; grep -r . . ; } >>$SEEN 2>&1
echo "\$APSIS_EXPERIMENT" >value.txt
END
    PROVIDER="provider: {kind: command, run: [sh, propose.sh], retries: 0}"
    EXTRA="holdout: {command: sh secret/score.sh, files: ['secret/**']}" write_manifest
    commit sealed
}

# No file of a run has the holdout's words.
nothing_left() { ! grep -raE "KESTREL|OSPREY" runs logs .apsis >&2; }

sealed closed
item "no word of the holdout in what providers and evaluators were given, nor in what a run leaves"
apsis baseline --repeats 1
is "baseline" "$code" 0
apsis holdout
is "nothing to confirm yet" "$code" 3
like "reason" "$err" "the best is the baseline itself.*apsis run.*--force"
ok "it is not used up" test ! -e logs/holdout.jsonl
apsis run --iterations 3 -q
is "kept" "$code:$(field 3 outcome)" 0:kept
ok "they looked" grep -q "value.txt" "$SEEN"
no_line "seen" "$(cat "$SEEN")" "KESTREL|OSPREY|data\.txt"
ok "nothing is left" nothing_left
end_item

item "the strategy cannot read it either"
cat >reads.lua <<'END'
local reads = {}
function reads.plan(run)
  local ok, text = pcall(function() return run.best:read("secret/data.txt") end)
  run.log("read: " .. tostring(ok and text))
  return { parents = { run.best } }
end
return reads
END
apsis run --strategy reads.lua --iterations 1 -q
is "exit code" "$code" 0
ok "it tried" grep -q "read: " logs/apsis.log
no_line "in the log" "$(cat logs/apsis.log)" KESTREL
end_item

item "it scores the best and the baseline once; the journal has no line of it"
lines=$(lines)
apsis holdout --json
is "exit code" "$code" 0
is "scores" "$(json best):$(json value):$(json baseline):$(json lines)" "c0004:44:40:$lines"
is "journal" "$(lines)" "$lines"
ok "nothing is left" nothing_left
apsis status
line "status" "$out" "^holdout: +c0004 = 44, \\+10 % against the baseline's 40, measured once$"
unlike "not contaminated" "$out" contaminated
out=$(echo '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"status"}}' | "$APSIS" mcp 2>/dev/null)
like "an agent that drives" "$out" "best: "
unlike "is not told" "$out" "holdout"
apsis status --json
is "as JSON" "$(json holdout.value):$(json holdout.contaminated)" 44:false
apsis report --json
is "report" "$(json more.1.label): $(json more.1.value)" "on the holdout: 44"
end_item

item "a second scoring is refused; --force is recorded"
apsis holdout
is "exit code" "$code" 2
like "reason" "$err" "scored already, on 20.*--force"
is "one record" "$(wc -l <logs/holdout.jsonl | tr -d ' ')" 1
apsis holdout --force
is "forced" "$code" 0
is "two records" "$(grep -c '"forced":true' logs/holdout.jsonl):$(wc -l <logs/holdout.jsonl | tr -d ' ')" 1:2
apsis status
like "shown" "$out" "not the first score \(--force\)"
end_item

item "a run afterwards is contaminated, and says so"
apsis run --iterations 1 -q
is "exit code" "$code" 0
like "warning" "$err" "holdout was scored already"
apsis status
like "marked" "$out" "contaminated: experiments were run after it was known"
apsis holdout --force
apsis status
like "and stays marked" "$out" "not the first score \(--force\); contaminated"
apsis reset --force
apsis baseline --repeats 1
out=$(tail -n 1 logs/holdout.jsonl)
apsis run --iterations $(($(json lines) - 1)) -q
is "as many lines" "$(lines)" "$(out=$(tail -n 1 logs/holdout.jsonl) && json lines)"
apsis status
like "after a reset, too" "$out" "contaminated"
end_item

sealed killed
item "what a killed scoring leaves is seen by nobody, and goes with the next run"
sed -i 's/sh secret\/score.sh/sh secret\/score.sh; sleep 300/' manifest.yaml
commit slow
apsis baseline --repeats 1
"$APSIS" holdout --force >/dev/null 2>&1 </dev/null &
scoring=$!
wait_for "its files" grep -rqs KESTREL .apsis
kill -9 $scoring
wait $scoring 2>/dev/null
apsis run --iterations 1 -q
is "a run" "$code" 0
no_line "seen" "$(cat "$SEEN")" "KESTREL|OSPREY"
ok "nothing is left" nothing_left
end_item

item "test cases as a holdout: the project's commands measure them, and no measurement before does"
new_project cases
mkdir cases && echo 1 >cases/a && echo 2 >cases/b && echo 500 >cases/sealed-kestrel
echo "echo \"\$1\" >>$T/cases-seen; echo \"METRIC score=\$((\$(cat \"\$1\") * (1 + \$(cat value.txt))))\"" >evaluate.sh
unset PROVIDER
EXTRA="holdout: {items: ['cases/sealed*']}" write_manifest
sed -i 's/^verification:/verification:\n  cases: ["cases\/*"]/' manifest.yaml
commit cases
apsis baseline --repeats 1
is "without them" "$(field 0 primary_metric)" 1.5
apsis run --iterations 1 -q
no_line "not measured" "$(cat "$T/cases-seen")" sealed
apsis holdout --json
is "scores" "$code:$(json baseline):$(json value)" 0:500:1000
end_item

item "a holdout that cannot be measured is not used up; nor one without a project"
new_project failing
EXTRA="holdout: {command: 'exit 3'}" write_manifest
commit failing
apsis holdout
is "no baseline" "$code" 3
apsis baseline --repeats 1
apsis holdout --force
is "exit code" "$code" 5
like "reason" "$err" "c0000 \(baseline\) has no value on the holdout: holdout: exit 3"
ok "no record" test ! -e logs/holdout.jsonl
end_item

item "wrong keys are named with the remedy"
EXTRA="holdout: {command: 'exit 3', files: ['seald/**']}" write_manifest
apsis setup
is "exit code" "$code" 2
like "a glob that seals nothing" "$out" "holdout: seald/\*\* .*names no file, so it seals nothing: correct the glob"
unset PROVIDER
EXTRA="holdout: {files: [x]}" write_manifest
apsis holdout
is "exit code" "$code" 2
like "neither" "$err" "holdout: needs either items"
EXTRA="holdout: {items: [x]}" write_manifest
apsis holdout
like "no cases" "$err" "goes with verification.cases"
EXTRA='' write_manifest
apsis holdout
like "none" "$code:$err" "2:.*holdout: there is none: add"
end_item

finish
