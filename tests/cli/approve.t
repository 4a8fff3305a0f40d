#!/bin/bash
# approval: a candidate that would be kept waits for a person; others go on; the answer comes by apsis approve or a file; nothing is lost by
# a kill; and an agent that drives cannot approve.
. tests/cli/lib.sh || exit 1

waiting() { ls .apsis/held 2>/dev/null | tr '\n' ' '; }
outcomes() { sed 's/.*"outcome":"\([a-z_]*\)".*/\1/' logs/results.jsonl | tr '\n' ' '; }

# A project whose candidates' scores are given: 0 at first.
scores() { # scores NAME SCORE...
    local name=$1
    shift
    new_project "$name"
    printf '%s\n' "$@" >"$T/$name.scores"
    printf '%s\n' 'local scores = {}' "for score in io.lines('$T/$name.scores') do scores[#scores + 1] = score end" \
        'return function(proposal) return { ["value.txt"] = (scores[proposal.experiment] or "1") .. "\n" } end' >propose.lua
    echo 100 >value.txt
    commit scores
    apsis baseline --repeats 1
}

# held_at SECONDS: what waits has waited for so long.
held_at() { sed -i -E "s/\"since\":[0-9.]+/\"since\":$(($(date +%s) - $1))/" .apsis/held/*.json; }

EXTRA="approval: ask" scores asked 110 120 90 130
item "what would be kept waits, is neither parent nor best, and others go on"
apsis run --iterations 3
is "exit code" "$code" 0
is "lines" "$(outcomes)" "baseline reverted_worse_metric "
is "waiting" "$(waiting)" "c0001.json c0002.json "
line "as it goes on, also through a pipe" "$err" "^[0-9:]+  c0002 waits for approval: apsis approve c0002$"
is "parents" "$(field 3 parents)" '["c0000"]'
line "the end" "$out" "^c0001, c0002 wait for approval: apsis approve$"
apsis status
line "status" "$out" "^approval: +c0001, c0002 wait for approval: apsis approve$"
line "best" "$out" "^best: +c0000 = 100"
line "what waits was made" "$out" "^budget: +1 of 3 iterations \(2 reserved, 0 left\)$"
apsis status --json
is "as JSON" "$(json approval.2.candidate):$(json approval.2.value):$(json best.candidate)" c0002:120:c0000
ok "the branch stays" test "$(git rev-parse -q --verify apsis/tiny || git rev-parse HEAD)" = "$(git rev-parse HEAD)"
end_item

item "approve lists value, gain and what is changed"
apsis approve
is "exit code" "$code" 0
line "value" "$out" "^value: +score = 110 \(higher is better\)$"
line "gain" "$out" "^gain: +\+20 % against the best, c0000$"
line "files" "$out" "^files: +1 file, \+1 -1$"
line "command" "$out" "approve: apsis approve c0002$"
apsis approve --json
is "as JSON" "$(json 1.candidate):$(json 1.delta):$(json 1.share):$(json 1.changes.files)" "c0001:10:+10 %:1"
ok "it can be looked at" git diff --quiet --exit-code "$(json 1.parent_commit)" "$(json 1.parent_commit)"
apsis approve -C "$T" c0001
is "no project" "$code" 2
apsis approve --reject
is "of which" "$code" 2
apsis approve c0003
is "exit code" "$code" 2
like "what is decided" "$err" "c0003 does not wait for approval: reverted_worse_metric"
apsis show c0001
like "show" "$code:$out" "^0:.*outcome: +waits for approval: apsis approve c0001.*better than the best of its time"
apsis show c0001 --json
is "as JSON" "$(json outcome):$(json candidate):$(json value)" "waits for approval: apsis approve c0001:c0001:110"
apsis diff c0001
line "its patch" "$out" "^[+]110$"
apsis apply c0001
like "apply" "$code:$err" "^2:.*c0001 has no line yet: it waits for approval: apsis approve c0001"
apsis approve c0099
like "what is not there" "$err" "does not wait for approval"
end_item

item "without a run the answer is taken up at once; what was kept meanwhile is compared"
apsis approve c0002 --reason 'reads well'
is "exit code" "$code" 0
is "answer" "$out" "c0002 kept: a person approved it: reads well"
is "the branch" "$(git rev-parse apsis/tiny)" "$(git rev-parse refs/apsis/tiny/c0002)"
apsis approve
line "what can be kept no more" "$out" "^gain: +-8.3 % against the best, c0002: no longer better$"
apsis approve c0001 --json
is "decided again" "$(json outcome):$(json answer)" reverted_worse_metric:keep
like "why" "$(field 1 rollback_reason)" "^110 is not better than the best, 120 .*decided again as c0002 was kept while it waited$"
is "nothing waits" "$(waiting)" ""
apsis status
line "the run is as it was" "$out" "^loop: +finished: budget: iterations used up \(3 in this run\)$"
end_item

item "a rejected one keeps its reason in show, log, status and report; replay agrees"
apsis run --iterations 1 -q
is "the next begins at what was approved" "$(grep -o '"parents":\["c0002"\]' .apsis/held/c0004.json | head -1)" '"parents":["c0002"]'
echo keep >.apsis/held/c0004.answer # for the next run: it can still be changed
apsis approve 4 --reject --reason $'no \e[31mred'
is "answer" "$out" "c0004 reverted_not_approved: a person rejected it: no  [31mred"
apsis show c0004
line "show" "$out" "^rollback reason: +a person rejected it: no"
apsis show c0002
like "show, kept" "$out" "a person approved it: reads well"
apsis log
line "log" "$out" "^4 +c0004 +reverted_not_approved +130"
apsis status
like "status" "$out" "reverted_not_approved 1"
apsis report
is "report" "$code" 0
like "its page" "$(cat report.html runs/report.html 2>/dev/null)" "not_approved"
like "the line" "$(field 4 approval)" '"answer":"reject".*"by":"person"'
apsis replay --check
is "replay" "$code:$out" "0:5 recorded lines; 4 plans compared, 0 differ"
apsis lab hillclimb --world replay:dir=. --seeds 1 --evaluations 50
like "the lab's replay, to its end" "$(echo $out)" "hillclimb 120 .*the recording ends after experiment 4"
end_item

EXTRA="approval: {ask_above: 5%}" scores above 104 120 107 90
item "ask_above: what gains no more is kept without a question"
apsis run --iterations 4 -q
is "lines" "$(outcomes)" "baseline kept kept reverted_worse_metric "
is "waiting" "$(waiting)" "c0002.json "
is "order" "$(field 1 approval):$(field 3 parents)" '(no field):["c0001"]'
end_item

EXTRA="approval: {when: ask, timeout: 1h, then: keep}" scores kept 110
item "then: keep, after the timeout and not before"
apsis run --iterations 1 -q
apsis run --iterations 1 -q
is "it waits" "$(waiting)" "c0001.json "
held_at 3601
apsis run --iterations 1 -q
is "kept" "$(field 1 outcome)" kept
like "why" "$(field 1 notes)" "nobody answered within 1h \(approval.then: keep\)"
like "by" "$(field 1 approval)" '"by":"timeout"'
apsis replay --check
is "replay" "$code" 0
end_item

EXTRA="approval: {timeout: 1h}" scores late 110
item "a timeout rejects if the manifest does not say otherwise; an answer that was there counts"
apsis run --iterations 1 -q
held_at 3601
echo 'keep it was fine' >.apsis/held/c0001.answer
apsis run --iterations 1 -q
is "kept" "$(field 1 outcome):$(field 1 notes)" 'kept:{"kept_because":"a person approved it: it was fine"}'
rm -rf .apsis/held && printf '120\n130\n140\n150\n160\n' >"$T/late.scores"
apsis run --iterations 1 -q
held_at 3601
apsis run --iterations 1 -q
is "rejected" "$(field 3 outcome):$(field 3 rollback_reason)" "reverted_not_approved:nobody answered within 1h (approval.then: reject)"
end_item

EXTRA="approval: {timeout: 1h, then: stop}" scores stopped 110
item "then: stop ends the run, and it goes on waiting"
apsis run --iterations 1 -q
held_at 3601
apsis run --iterations 5
is "exit code" "$code" 0
like "why" "$out" "0 experiments; ended: c0001 waits for approval: apsis approve c0001; nobody answered within 1h"
is "waiting" "$(waiting)" "c0001.json "
apsis approve c0001
is "then" "$(field 1 outcome)" kept
end_item

EXTRA="approval: ask" scores files 110
item "an answer that is neither is left alone, with a warning; links are not followed"
apsis run --iterations 1 -q
echo maybe >.apsis/held/c0001.answer
apsis run --iterations 1 -q
like "warning" "$err" "c0001.answer ignored: its first word is neither keep nor reject"
is "waiting" "$(waiting | tr ' ' '\n' | grep -c c0001.json)" 1
echo rubbish >.apsis/held/c0002.json
echo '{"experiment":9}' >.apsis/held/c0009.json
apsis approve --json
is "rubbish is no question" "$(json 1.candidate):$(json 2.candidate)" "c0001:"
mv .apsis/held "$T/elsewhere" && ln -s "$T/elsewhere" .apsis/held
apsis approve c0001
is "a link" "$code" 3
like "message" "$err" "held"
ok "nothing was written" test "$(cat "$T/elsewhere/c0001.answer")" = maybe
end_item

# The same strategy plans once and then waits.
once='local once = { options = {} }
function once.plan(run) if run.experiment == 1 then return { parents = { run.best } } end end
return once'
EXTRA="approval: ask" scores alone 110
item "with nothing else to do the run waits, says so, and takes the answer; Ctrl-C and kill -9 lose nothing"
printf '%s\n' "$once" >once.lua
"$APSIS" run --strategy once.lua 2>"$T/alone.err" >/dev/null &
wait_for "it says so" grep -q "nothing else to do: c0001 waits for approval: apsis approve" "$T/alone.err"
wait_for "the state" grep -q HELD logs/state.json
apsis status
line "status" "$out" "^approval: +c0001 waits for approval: apsis approve c0001$"
line "in flight" "$out" "^in flight: +experiment 1: waiting"
kill -INT $! && wait $!
is "interrupted" $? 130
"$APSIS" run --strategy once.lua 2>"$T/again.err" >/dev/null &
wait_for "it waits again" grep -qs "nothing else to do" "$T/again.err"
kill -9 $! && wait $! 2>/dev/null
is "waiting" "$(waiting)" "c0001.json "
"$APSIS" run --strategy once.lua 2>"$T/third.err" >"$T/alone.out" &
wait_for "and again" grep -qs "nothing else to do" "$T/third.err"
apsis approve c0001
# Or the run has taken it up and ended before approve looks.
like "the run takes it" "$out" "^c0001 (is approved; the run of process $! takes that up before it plans again|kept: a person approved it)$"
wait $!
is "exit code" $? 0
is "one line, measured once" "$(outcomes):$(field 1 measurements)" "baseline kept :1"
is "verified once" "$(grep -c METRIC runs/0001/verifier.log)" 1
end_item

AGENT_SEC=400 agent <<END
echo 120 >value.txt
until [ -e "$T/watched" ]; do sleep 0.05; done
[ "\$APSIS_EXPERIMENT" = 1 ] || sleep 300
END
EXTRA="approval: ask" new_project plain
apsis baseline
item "watch --plain says so when a candidate begins to wait"
"$APSIS" run --workers 1 -q >/dev/null 2>&1 &
run=$!
wait_for "the run" grep -qs '"experiment": *1' logs/state.json
"$APSIS" watch --plain >"$T/plain.out" &
wait_for "its start" grep -q "^in flight: 1 " "$T/plain.out"
no_line "nothing waits" "$(cat "$T/plain.out")" "^approval"
touch "$T/watched"
wait_for "what waits" grep -q "^approval: c0001 waits for approval: apsis approve c0001$" "$T/plain.out"
kill -INT $run
wait
unset PROVIDER
end_item

PROVIDER='' EXTRA="approval: ask" scores driven
item "what was submitted waits, too; its agent learns that only a person decides"
echo 120 >value.txt
apsis submit --title more
is "exit code" "$code" 6
like "text" "$out" "^c0001 was measured, and would be kept: waits for approval: apsis approve c0001"
like "next" "$out" "next: a person decides"
apsis wait s0001 --json
is "wait" "$code:$(json result):$(json held)" 6:pending:true
ask() { printf '%s\n' "$1" | "$APSIS" mcp 2>/dev/null; }
tools=$(ask '{"jsonrpc":"2.0","id":1,"method":"tools/list"}')
like "tools" "$tools" '"name":"submit"'
unlike "no tool approves" "$tools" approve
out=$(ask '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait","arguments":{"id":"s0001"}}}')
like "through MCP" "$(json result.content.1.text)" "only a person can approve it"
echo 130 >value.txt
apsis submit
is "another goes on" "$code:$(waiting)" "6:c0001.json c0002.json "
apsis approve c0001
is "answer" "$(field 1 outcome)" kept
apsis wait s0001
is "result" "$code" 0
like "kept" "$out" "^c0001 kept: score = 120"
echo reject >.apsis/held/c0002.answer
apsis wait s0002
is "by a file, and wait takes it up" "$code:$(field 2 outcome)" 1:reverted_not_approved
end_item

item "a run that ends does not close what waits"
echo 140 >value.txt
apsis submit
sed -i 's/^approval.*/&\nbudget: {iterations: 1}/' manifest.yaml
echo 150 >value.txt
apsis submit
apsis wait s0003
is "it waits" "$code" 6
apsis approve c0003
is "answer" "$(field 3 outcome)" kept
end_item

EXTRA="approval: ask" scores gone 110 120
item "what was asked before is answered, though the manifest asks no more; reset puts the questions away"
apsis run --iterations 1 -q
sed -i '/^approval/d' manifest.yaml
apsis run --iterations 1 -q
is "lines" "$(outcomes):$(waiting)" "baseline kept :c0001.json "
apsis approve c0001
is "decided again" "$(field 1 outcome)" reverted_worse_metric
EXTRA="approval: ask" write_manifest && commit asks
apsis run --iterations 1 -q
apsis reset -f
is "reset" "$code:$(waiting)" "0:"
end_item

item "what is wrong with the key is named, with the remedy"
for bad in "approval: maybe:must be one of ask, never" "approval: {ask_above: lots}:a percentage such as 5%" "approval: {timeout: 8}:a time such as" \
    "approval: {then: keep}:does nothing without approval.timeout" "approval: {timeout: 1h, then: wait}:one of keep, reject, stop"; do
    EXTRA=${bad%:*} write_manifest
    apsis status
    like "$bad" "$err" "^apsis: .*manifest.yaml:[0-9]+: approval.*${bad##*:}"
done
end_item

finish
