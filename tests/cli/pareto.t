#!/bin/bash
# pareto: two metrics in place of one: what joins the front is kept, each member has a branch, and every command shows the front; it
# survives a kill, the loss of .apsis and several workers; and what goes by one number is refused.
. tests/cli/lib.sh || exit 1

# pairs NAME: a project whose candidates are the lines of pairs.txt in turn: two numbers, both lower is better.
pairs() {
    new_project "$1"
    printf '%s\n' '9 12' '12 9' '13 13' '8 11' >"$T/pairs.txt"
    echo '10 10' >value.txt
    cat >evaluate.sh <<'SH'
read time size <value.txt
sleep "${SLOW:-0}"
echo "METRIC ms=$time"
[ -z "$size" ] || echo "METRIC kb=$size"
SH
    agent <<SH
sed -n "\${APSIS_EXPERIMENT}p" "$T/pairs.txt" >value.txt
SH
    cat >manifest.yaml <<YAML
version: 1
project: {name: tiny}
files: [{path: value.txt, mode: writable}, {path: evaluate.sh, mode: hidden}]
verification: {commands: [{name: measure, run: sh evaluate.sh, timeout_sec: 10}]}
metric: {pareto: ${PARETO:-[{name: ms, direction: lower, unit: ms\}, kb]}}
metrics: {kb: {direction: lower}}
${PROVIDER}
${EXTRA-}
YAML
    commit pairs
}

branches() { git for-each-ref --format='%(refname:short)' refs/heads/apsis | tr '\n' ' '; }

# Each member's branch is at its commit.
at_commits() {
    local ref
    for ref in $(git for-each-ref --format='%(refname:short)' refs/heads/apsis); do
        [ "$(git rev-parse "$ref")" = "$(git rev-parse "refs/apsis/tiny/${ref##*/}")" ] || return 1
    done
}

pairs run
item "a run keeps what joins the front, and each member has a branch"
apsis baseline -q --repeats 1
is "baseline" "$code:$(field 0 primary_metric):$(field 0 metric)" 0:100:hypervolume
apsis run --iterations 4
is "run" "$code" 0
like "the front at the end" "$out" "front: 3 candidates: c0004 \(ms 8 ms, kb 11\); c0000 \(ms 10 ms, kb 10\); c0002"
like "and their branches" "$out" "branches apsis/tiny/front/\*"
is "outcomes" "$(field 1 outcome) $(field 2 outcome) $(field 3 outcome) $(field 4 outcome)" "kept kept reverted_worse_metric kept"
is "the reason" "$(field 3 rollback_reason)" "c0000 is at least as good in each metric: ms 10, kb 10, against ms 13, kb 13"
is "branches" "$(branches)" "apsis/tiny/front/c0000 apsis/tiny/front/c0002 apsis/tiny/front/c0004 "
ok "at their commits" at_commits
apsis replay --check
is "the fold plans the same again" "$code" 0
end_item

item "status, best, log, show and export have the front and both metrics"
apsis status
line "the metrics" "$out" "^metrics: +ms, lower is better; kb, lower is better$"
line "the front" "$out" "^front: +3 candidates, each on its branch below apsis/tiny/front$"
line "a member" "$out" "^  c0002: +ms 12 ms, kb 9$"
no_line "its branches are there" "$out" "does not have the best"
apsis status --json
is "as JSON" "$(json front.1.candidate):$(json front.1.metrics.ms):$(json front.1.branch):$(json branch_left)" \
    c0004:8:apsis/tiny/front/c0004:null
apsis best
line "best" "$out" "^front: 3 candidates; hypervolume 126, \+26 % against the baseline's 100$"
line "a row" "$out" "^c0002 +12 ms +9 +apsis/tiny/front/c0002$"
line "how to take one" "$out" "apsis apply c0004"
apsis best --json
is "best as JSON" "$(json candidate):$(json branch):$(json front.3.candidate)" c0004:apsis/tiny/front/c0004:c0002
apsis log --count 2
line "log has a column for each" "$out" "candidate +outcome +value +ms +kb +delta"
line "with its values" "$out" "^ *3 +c0003 +reverted_worse_metric +[0-9]+ +13 +13 "
out=$(script -qec "stty cols 80; export TERM=xterm NO_COLOR=1; '$APSIS' best; '$APSIS' log" /dev/null | tr -d '\r')
line "best on a terminal" "$out" "^c0002 +12 ms +9 +apsis/tiny/front/c0002$"
line "log leaves room for what was tried" "$out" "^c0004 +kept +8 +11 +better .* exploitation of"
apsis show c0003 --against c0000 --bisect
is "no bisect" "$code" 2
apsis explain c0004
is "and no explain" "$code" 2
like "with what goes instead" "$err" "apsis show ID --against OTHER"
like "with the reason" "$err" "with metric.pareto a value is the whole front's"
apsis show c0002
line "show" "$out" "^kept because: +joins the front"
apsis export --csv -
line "export" "$out" "secondary_metrics\.kb,secondary_metrics\.ms"
end_item

item "the report has a picture of the front, with what left it and what was rejected"
apsis report --json
is "exit" "$code" 0
is "the members, best first" "$(json figures.1.front.1.id) $(json figures.1.front.3.id) $(json figures.1.front.3.x) $(json figures.1.steps)" \
    "c0004 c0002 12 true"
is "left, rejected" "$(json figures.1.left.1.id) $(json figures.1.rejected.1.id)" "c0001 c0003"
apsis report
ok "the page draws it" grep -q "metricsFigure" runs/report.html
end_item

item "apply brings any member into the user's branch"
apsis apply c0002
is "exit" "$code" 0
is "the file" "$(cat value.txt)" "12 9"
git checkout -q apsis/tiny/front/c0004
apsis apply c0002
is "not onto a member's branch" "$code" 3
like "with the reason" "$err" "the run's own branch"
git checkout -q main && git reset -q --hard HEAD~1
end_item

item "a branch that somebody moved, or is on, is left; one that was removed comes back"
git branch -qf apsis/tiny/front/c0000 main~1
git branch -qD apsis/tiny/front/c0002
apsis status
git checkout -q apsis/tiny/front/c0004
printf '%s\n' '1 1' >>"$T/pairs.txt"
git -c advice.detachedHead=false worktree add -q "$T/elsewhere" main
apsis run -q --iterations 1
is "run" "$code" 0
is "it joins" "$(field 5 outcome)" kept
like "moved" "$err" "branch apsis/tiny/front/c0000 is left as it is: it has other commits than apsis made"
like "checked out" "$err" "branch apsis/tiny/front/c0004 is left as it is: it is checked out in"
is "branches" "$(branches)" "apsis/tiny/front/c0000 apsis/tiny/front/c0004 apsis/tiny/front/c0005 "
git worktree remove --force "$T/elsewhere"
git checkout -q main
end_item

item "the branch of a run with one metric is in the way, and the remedy is shown"
git for-each-ref --format='delete %(refname)' refs/heads/apsis | git update-ref --stdin
git branch apsis/tiny
apsis setup
like "setup" "$out$err" "the branch apsis/tiny is in the way: git branch -m apsis/tiny apsis/tiny-before"
apsis run -q --iterations 1
like "warned" "$err" "branch apsis/tiny/front is left as it is: the branch apsis/tiny is in the way: git branch -m apsis/tiny apsis/tiny-before"
apsis status
line "status" "$out" "^branch: .*does not have the best: the branch apsis/tiny is in the way: git branch -m"
git branch -m apsis/tiny apsis-before
apsis run -q --iterations 1
is "then they are made" "$(branches)" "apsis/tiny/front/c0005 "
end_item

item "a reset puts the front's branches away, and the undo brings them back"
before=$(branches)
apsis reset -f
is "reset" "$code:$(branches)" "0:"
apsis reset --undo
is "undo" "$code:$(branches)" "0:$before"
end_item

item "without .apsis, and after a kill, the run goes on with the same front"
pairs killed
apsis baseline -q --repeats 1
sed -i 's/sleep.*/sleep 0.1/' evaluate.sh && commit slow
apsis baseline -q --again --repeats 1
"$APSIS" run -q --iterations 4 >/dev/null 2>&1 &
pid=$!
wait_for "two lines" eval '[ "$(lines)" -ge 3 ]'
kill -9 "$pid"
wait "$pid" 2>/dev/null
rm -rf .apsis
apsis run -q
apsis status --json
first=$(json front.1.candidate)
rm -rf .apsis
git for-each-ref --format='delete %(refname)' refs/heads/apsis | git update-ref --stdin
apsis run -q --iterations 1
apsis best --json
is "the same front" "$(json front.1.candidate)" "$first"
ok "branches again" at_commits
like "not none" "$(branches)" "front/$first"
apsis replay --check
is "the fold agrees" "$code" 0
end_item

item "several workers"
EXTRA='execution: {workers: 3}' pairs workers
apsis baseline -q --repeats 1
apsis run -q --iterations 4
is "run" "$code" 0
apsis best --json
is "the front" "$(json front.1.candidate) $(json front.2.candidate) $(json front.3.candidate)" "c0004 c0000 c0002"
apsis replay --check
is "the fold agrees" "$code" 0
end_item

item "a strategy that keeps what does not join the front does so without a reason against it"
pairs keeps
echo 'return { plan = function(run) return { parents = { run.best } } end, accept = function() return true end }' >keeps.lua
commit keeps
apsis baseline -q --repeats 1
apsis run --strategy keeps.lua -q --iterations 3
is "kept" "$code:$(field 3 outcome)" "0:kept"
apsis show c0003
no_line "show" "$out" "kept because"
end_item

item "a candidate without one of the metrics has none, and the reason names it"
pairs lacks
printf '5\n' >"$T/pairs.txt"
apsis baseline -q --repeats 1
apsis run -q --iterations 1
is "outcome" "$(field 1 outcome)" skipped_verification_crash
like "reason" "$(field 1 rollback_reason)" "no METRIC kb=NUMBER in the output of measure"
apsis eval
is "eval has both" "$code:$(printf '%s' "$out" | tr '\n' ' ')" "0:kb=10 ms=10"
end_item

item "noise: the advice is repeats, not acceptance; a value of medians is not called measured once"
pairs noisy
sed -i 's/ms=.time/ms=$((100 * time + $(date +1%N) % 997))/' evaluate.sh && commit noisy
apsis baseline
like "the advice" "$(tr '\n' ' ' <<<"$out")" "The metrics are noisy: .*repeats: 5.*epsilon"
unlike "not acceptance" "$out" "acceptance: default"
sed -i 's/verification: {/verification: {repeats: 3, /; s/{name: ms,/{name: ms, epsilon: 1000,/' manifest.yaml
apsis baseline -q --again --repeats 1
apsis run -q --iterations 2
apsis status
line "no doubt" "$out" "^best: +c000[0-9] = [0-9.]+(, [+][0-9.]+ % against the baseline's [0-9.]+)?$"
end_item

# refused WHAT CHANGE KEY: an edit of manifest.yaml by sed, and what the message has.
refused() {
    sed -i "$2" manifest.yaml
    apsis setup
    is "$1: refused" "$code" 2
    line "$1" "$out$err" "$3"
    git checkout -q manifest.yaml
}

item "what does not go with several metrics is refused, with the key and the remedy"
pairs wrong
refused "acceptance" '$a acceptance: default' "manifest.yaml:[0-9]+: acceptance: does not go with metric.pareto: .*at most 5 %.*repeats: 5"
refused "no direction" 's/^metrics:.*//' "metric.pareto\[2\]: 'kb' has no direction.*write \{name: kb, direction: lower\}"
refused "two directions" 's/kb\]/{name: kb, direction: higher}]/' "pareto\[2\].direction: is 'higher' here and 'lower' in metrics.kb"
refused "one metric" 's/, kb\]/]/' 'metric.pareto: must have 2 to 4 metrics, not 1; for one write'
refused "twice" 's/, kb\]/, kb, ms]/' 'metric.pareto\[3\]: is there twice'
refused "a name of its own" 's/metric: {/metric: {name: x, /' 'metric.name: does not go with metric.pareto'
refused "epsilon" 's/metric: {/metric: {epsilon: 1, /' 'metric.epsilon: .*give the entry of metric.pareto an epsilon'
refused "an extractor" 's/metric: {/metric: {extractor: {type: stdout_regex, regex: "(.)"}, /' 'metric.extractor: reads one number'
refused "a tie-break" 's/metric: {/metric: {tie_breaker: changed_loc, /' 'metric.tie_breaker: has no effect with metric.pareto'
refused "revert" '$a history: revert' 'history: revert is one line of commits'
refused "a holdout" '$a holdout: {command: sh x.sh}' 'holdout: scores one number'
refused "a guard" '$a guards: [{metric: kb, max_regression: 5%}]' "guards\[1\].metric: 'kb' is one of metric.pareto"
refused "limits" 's/{name: ms,/{name: ms, min_pass: 9, max_pass: 3,/' 'pareto\[1\].min_pass: is above its max_pass'
refused "a threshold" 's/timeout_sec: 10}/timeout_sec: 10, threshold: 3}, {run: "true", stage: 2}/' 'threshold: does not go with metric.pareto'
end_item

item "another list of metrics, or another reference, needs a new baseline"
apsis baseline -q --repeats 1
sed -i 's/kb\]/{name: kb, reference: 99}]/' manifest.yaml
apsis run -q --iterations 1
is "refused" "$code" 2
like "the remedy" "$err" "apsis baseline --again"
apsis baseline -q --again --repeats 1
is "again" "$code:$(field 1 primary_metric)" "0:890"
end_item

pairs over
printf '%s\n' '9 9' '-1e308 -1e308' '8 9' >"$T/pairs.txt"
apsis baseline -q --repeats 1
apsis run -q --iterations 3
item "a hypervolume beyond what a number holds is no value"
is "outcomes" "$(field 1 outcome) $(field 2 outcome) $(field 3 outcome)" "kept skipped_verification_crash kept"
like "the reason, with the remedy" "$(field 2 rollback_reason)" "the hypervolume is more than a number holds: let the metrics"
end_item

pairs otherwise
item "a baseline of another evaluator has the value it would have in a new project"
apsis baseline -q --repeats 1
apsis run -q --iterations 2
alone=$(field 0 primary_metric)
sed -i 's/ms=.*"/ms=$((time + 20))"/' evaluate.sh && commit slower
apsis baseline -q --again --repeats 1
again=$(field 3 primary_metric)
rm -rf logs runs .apsis && git for-each-ref --format='delete %(refname)' refs/apsis refs/heads/apsis | git update-ref --stdin
apsis baseline -q --repeats 1
is "the same" "$again" "$(field 0 primary_metric)"
ok "and another than before" test "$again" != "$alone"
end_item
finish
