#!/bin/bash
# approve_modes: approval beside what else decides: acceptance under noise, a front of several metrics, the gate of a standing goal,
# several workers, step.
. tests/cli/lib.sh || exit 1
. tests/cli/goals.sh

waiting() { ls "${1-.}/.apsis/held" 2>/dev/null | tr '\n' ' '; }
all() { sed 's/.*"outcome":"\([a-z_]*\)".*/\1/' logs/results.jsonl | tr '\n' ' '; }

FRONT="schedule: every 6h
approval: ask" goals cases
item "a tick ends while something waits; the next one finds the answer, and the branch goes forward"
apsis tick
is "exit code" "$code" 0
line "says so" "$out" "^c0001 waits for approval: apsis approve c0001 -C .autoloop/programs/rise.md$"
line "and where it waits" "$out" "answer in this clone, and tick here until then: a fresh clone does not have what"
apsis tick --program rise --quiet
is "another goes on" "$(outcomes):$(waiting $home)" "baseline :c0001.json c0002.json "
echo 'keep ok' >$home/.apsis/held/c0001.answer
apsis tick --program rise --quiet
is "the answer" "$(outcomes):$(waiting $home)" "baseline kept :c0002.json c0003.json "
is "tip" "$(git rev-parse autoloop/rise)" "$(git rev-parse refs/apsis/rise/c0001)"
apsis approve c0002 -C .autoloop/programs/rise.md
is "between ticks" "$code:$out" "0:c0002 kept: a person approved it"
ok "forward" git merge-base --is-ancestor refs/apsis/rise/c0001 autoloop/rise
is "its files" "$(git rev-parse 'autoloop/rise^{tree}')" "$(git rev-parse 'refs/apsis/rise/c0002^{tree}')"
like "the state file" "$(git show memory/autoloop:rise.md)" "Best Metric \| 20 "
commit_file other.txt newer
git merge -q --no-ff -m merge autoloop/rise 2>/dev/null || git merge -q --no-ff -X theirs -m merge autoloop/rise
apsis tick --program rise --quiet
apsis approve c0003 -C .autoloop/programs/rise.md --json
is "after a new baseline" "$(json outcome)" skipped_not_selected
like "why" "$(json reason)" "new baseline .c0004. was measured while it waited"
apsis replay --check .autoloop/programs/rise.md
is "replay" "$code" 0
end_item

EXTRA="approval: ask
acceptance: default" new_project noisy
echo 100 >value.txt
printf '%s\n' 'return function(proposal) return { ["value.txt"] = (100 + 20 * (proposal.experiment % 3)) .. "\n" .. proposal.experiment .. "\n" } end' >propose.lua
echo "echo x >>$T/measured; echo METRIC score=\$((\$(head -1 value.txt) * 100 + \$(wc -l <$T/measured) * 37 % 101))" >evaluate.sh
commit noisy
apsis baseline -q
item "acceptance comes before the question; approved without another best it is measured no more, else it is confirmed again"
apsis run --iterations 2 -q
is "waiting" "$(waiting)" "c0001.json c0002.json "
before=$(wc -l <"$T/measured")
apsis approve c0001
is "kept" "$(field 1 outcome)" kept
is "no measurement" "$(wc -l <"$T/measured")" "$before"
like "its level is the one to beat" "$(field 1 acceptance)" '"ref":12[0-9]{3}.*"spent":0.*"verdict":"kept"'
apsis approve c0002
is "confirmed again" "$(field 2 outcome):$(($(wc -l <"$T/measured") > before))" kept:1
like "its level" "$(field 2 acceptance)" '"ref":14[0-9]{3}.*"verdict":"kept"'
like "both parts of the reason" "$(field 2 notes)" "capital .*; a person approved it"
apsis run --iterations 1 -q
like "gained" "$out" "gained: .*c0002 against c0000"
apsis replay --check
is "replay" "$code" 0
end_item

item "with a front each candidate that would join is asked about"
new_project front
cat >manifest.yaml <<'YAML'
version: 1
project: {name: tiny}
files: [{path: value.txt, mode: writable}, {path: evaluate.sh, mode: hidden}, {path: propose.lua, mode: read_only}]
verification: {commands: [{name: measure, run: sh evaluate.sh, timeout_sec: 10}]}
metric: {pareto: [{name: ms, direction: lower}, kb]}
metrics: {kb: {direction: lower}}
provider: {kind: lua, use: propose.lua}
approval: ask
YAML
echo 10 10 >value.txt
echo 'read ms kb <value.txt; echo "METRIC ms=$ms"; echo "METRIC kb=$kb"' >evaluate.sh
echo 'local list = { "9 12", "8 11", "13 13" } return function(proposal) return { ["value.txt"] = list[proposal.experiment] .. "\n" } end' >propose.lua
commit front
apsis baseline --repeats 1 -q
apsis run --iterations 3 -q
is "waiting" "$(all):$(waiting)" "baseline reverted_worse_metric :c0001.json c0002.json "
apsis approve 2
is "joins" "$(field 2 outcome)" kept
apsis approve 1
is "beaten meanwhile" "$(field 1 outcome)" reverted_worse_metric
apsis best --json
is "front" "$code:$(git for-each-ref --format='%(refname:short)' refs/heads/apsis | tr '\n' ' ')" "0:apsis/tiny/front/c0000 apsis/tiny/front/c0002 "
sed -i 's/^approval.*/approval: {ask_above: 5%}/' manifest.yaml
apsis status
like "ask_above does not go with it" "$err" "approval.ask_above: metric.pareto has no single gain"
EXTRA=$'approval: ask\nhistory: revert' new_project reverts
apsis status
like "nor history: revert" "$err" "approval: .*write history: clean"
end_item

EXTRA=$'approval: {ask_above: 2}\nexecution: {workers: 3}' new_project workers
printf '%s\n' 'return function(proposal) return { ["value.txt"] = (({ 5, 1, 7 })[proposal.experiment] or -proposal.experiment) .. "\n" } end' >propose.lua
commit workers
apsis baseline --repeats 1 -q
item "with several workers nobody waits for the person, and none of them is lost to what waits"
apsis run --iterations 9 -q
is "waiting" "$(waiting)" "c0001.json c0003.json "
is "the others" "$(lines):$(field 2 outcome)" 8:kept
echo keep >.apsis/held/c0001.answer
echo keep >.apsis/held/c0003.answer
apsis run --iterations 3 -q
is "lines" "$(lines)" 13
is "both decided" "$(field 1 outcome | grep -c 'kept\|worse'):$(field 3 outcome)" 1:kept
apsis replay --check
is "replay" "$code" 0
end_item

EXTRA="approval: ask" new_project steps
apsis baseline --repeats 1 -q
item "step ends with what waits; its budget is its own"
apsis step
is "exit code" "$code" 0
line "says so" "$out" "^c0001 waits for approval"
apsis step --json
is "as JSON" "$(json held.1):$(json held.2):$(json experiments)" c0001:c0002:0
is "waiting" "$(waiting)" "c0001.json c0002.json "
end_item

item "a key in watch lists what waits and asks about one; an answer can be changed until the next run takes it"
export TMUX_TMPDIR=$T LC_ALL=C.UTF-8 TERM=xterm-256color
unset TMUX
at_end+=("tmux -L approve kill-server 2>/dev/null")
tmux -L approve -f /dev/null new-session -d -x 80 -y 24 "$APSIS watch"
shows() { tmux -L approve capture-pane -p | grep -Eq -e "$1"; }
press() { tmux -L approve send-keys "$@"; }
wait_for "what waits" shows "approval +c0001, c0002 wait for approval"
press a
wait_for "the list" shows "^> c0001 +1 "
press a
wait_for "the question" shows "c0001 = 1.*: y approves, n rejects, then why: _"
press y Enter
wait_for "the answer" shows "c0001 is approved; the next run takes that up"
wait_for "the next is first" shows "^> c0002"
press Enter
wait_for "its diff" shows "^c0002 .*\[diff\]"
press a
wait_for "the next" shows "c0002 = 2.*: y approves"
press "n" Enter
wait_for "its answer" shows "c0002 is rejected"
press Escape
wait_for "the first again" shows "^> c0001 .* keep"
press a
wait_for "with its answer" shows "c0001 = 1.*answered: keep: y approves"
press "n too small" Enter
wait_for "the other answer" shows "c0001 is rejected"
press q
wait_for "the first page" shows "in flight|trust"
press q
is "the files" "$(cat .apsis/held/c0001.answer):$(cat .apsis/held/c0002.answer)" "reject too small:reject "
apsis run --iterations 1 -q
is "the line" "$(field 1 rollback_reason)" "a person rejected it: too small"
apsis reset -f
tmux -L approve -f /dev/null new-session -d -x 80 -y 24 "$APSIS watch"
wait_for "the first page" shows "trust"
press a
wait_for "nothing waits" shows "^  nothing$"
press q
end_item

finish
