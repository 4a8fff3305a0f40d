#!/bin/bash
# bad_outcomes: every outcome that an experiment can have, with its status, its reason, what it does to commits and the
# branch, and what counts against the budget.
. tests/cli/lib.sh || exit 1

STRATEGY=mine.lua

# outcome NAME [STATUS]: mine.lua from stdin, one experiment: it has this outcome and status. The item stays open.
outcome() {
    item "outcome $1"
    new_project "o$count"
    eval "${PREPARE-}"
    echo 'return {}' >mine.lua
    apsis baseline
    is "baseline" "$code" 0
    cat >mine.lua
    tip=$(git rev-parse apsis/tiny)
    apsis run --iterations 1
    is "run" "$code" "$([ "$1" = skipped_provider_failure ] && echo 4 || echo 0)"
    is "outcome" "$(field 1 outcome)" "$1"
    is "status" "$(field 1 status)" "$2"
    case $2 in
        discard | crash) like "reason" "$(field 1 rollback_reason)" . ; is "branch" "$(git rev-parse apsis/tiny)" "$tip" ;;
        *) is "reason" "$(field 1 rollback_reason)" null ;;
    esac
    like "log shows it" "$(apsis log; echo "$out")" "$1"
}
has_commit() { ok "its commit is kept by its ref" git rev-parse -q --verify refs/apsis/tiny/c0001; }
no_commit() { ok "no commit" test -z "$(git for-each-ref refs/apsis/tiny/c0001)"; }

item "outcome baseline"
STRATEGY=hillclimb new_project base
apsis baseline
is "outcome" "$(field 0 outcome)" baseline
is "status" "$(field 0 status)" keep
is "commit" "$(field 0 commit)" "$(git rev-parse HEAD)"
is "branch" "$(git rev-parse apsis/tiny)" "$(git rev-parse HEAD)"
is "run folder" "$(readlink runs/latest)" 0000_baseline
ok "environment" test -s runs/0000_baseline/env.json
end_item

outcome kept keep <<<'return {}'
has_commit
is "branch" "$(git rev-parse apsis/tiny)" "$(field 1 commit)"
is "delta" "$(field 1 delta)" 1
is "improved" "$(field 1 improved)" true
end_item

PREPARE='sed -i "s/proposal.experiment/-1/" propose.lua; git commit -qam worse' outcome reverted_worse_metric discard <<<'return {}'
has_commit
is "delta" "$(field 1 delta)" -1
is "improved" "$(field 1 improved)" false
like "reason" "$(field 1 rollback_reason)" "-1 is not better than the best, 0"
end_item

DIRECTION=lower PREPARE='sed -i "s/proposal.experiment/-1/" propose.lua; git commit -qam better' outcome kept keep <<<'return {}'
is "where lower is better a negative delta is an improvement" "$(field 1 delta)" -1
is "improved" "$(field 1 improved)" true
end_item

PREPARE='sed -i "s/^metric: {/&max_pass: 0.5, /" manifest.yaml' outcome reverted_threshold_failure discard <<<'return {}'
has_commit
like "reason" "$(field 1 rollback_reason)" "0\.5"
end_item

PREPARE='sed -i "s/value.txt\"\]/propose.lua\"]/" propose.lua; git commit -qam scope' outcome reverted_scope_violation discard <<<'return {}'
no_commit
is "no value" "$(field 1 primary_metric)" null
end_item

outcome reverted_stage_failure discard <<<'return { stage = function() return false, "not promising" end }'
has_commit
is "reason" "$(field 1 rollback_reason)" "not promising"
end_item

outcome reverted_rejected discard <<<'return { accept = function() return false, "not my taste" end }'
has_commit
is "value is kept in the line" "$(field 1 primary_metric)" 1
is "reason" "$(field 1 rollback_reason)" "not my taste"
end_item

PREPARE='sed -i "s/proposal.experiment/0/" propose.lua; git commit -qam same' outcome skipped_no_change discard <<<'return {}'
no_commit
end_item

PREPARE='sed -i "s/proposal.experiment/-5/" propose.lua; git commit -qam worse' outcome reverted_worse_metric discard <<<'return {}'
apsis run --iterations 1
is "a second time the same tree" "$(field 2 outcome)" skipped_duplicate
is "status" "$(field 2 status)" discard
like "reason names the twin" "$(field 2 rollback_reason)" c0001
is "not measured again" "$(field 2 primary_metric)" null
end_item

PREPARE='echo "return function() error(\"broken\") end" >propose.lua; git commit -qam broken' \
    outcome skipped_provider_failure crash <<<'return {}'
no_commit
like "reason" "$(field 1 rollback_reason)" "broken"
end_item

PREPARE='echo "[ \$APSIS_EXPERIMENT = 0 ] && echo METRIC score=0" >evaluate.sh; git commit -qam crash' \
    outcome skipped_verification_crash crash <<<'return {}'
has_commit
end_item

outcome skipped_not_selected discard <<<'return { select = function() return nil, "none is good" end }'
no_commit
is "reason" "$(field 1 rollback_reason)" "none is good"
end_item

outcome skipped_strategy_error crash <<<'return { accept = function() error("broken") end }'
has_commit
end_item

item "outcome measured"
new_project again
echo 'return {}' >mine.lua
apsis baseline
echo 'return { plan = function(run)
  if run.experiment == 1 then return { measure = { "c0000" }, repeats = 2, operator = "again" } end
  return { parents = { run.best }, operator = "x" }
end }' >mine.lua
apsis run --iterations 1
is "run" "$code" 0
is "outcome" "$(field 1 outcome)" measured
is "status" "$(field 1 status)" null
is "no candidate" "$(field 1 candidate)" null
is "it is no change experiment, so the budget still had one" "$(field 2 outcome)" kept
like "trace" "$(field 1 trace)" 'c0000.*c0000'
end_item

item "outcome asked"
agent <<'END'
echo "an answer"
[ "$APSIS_EXPERIMENT" = 1 ] || echo "$APSIS_EXPERIMENT" >value.txt
END
new_project asks
unset PROVIDER
echo 'return {}' >mine.lua
apsis baseline
echo 'return { plan = function(run)
  if run.experiment == 1 then return { ask = { { role = "user", content = "what next?" } }, operator = "ask" } end
  return { parents = { run.best }, operator = "x" }
end }' >mine.lua
apsis run --iterations 1
is "run" "$code" 0
is "outcome" "$(field 1 outcome)" asked
is "status" "$(field 1 status)" null
like "the answer is in the line" "$(field 1 answer)" "an answer"
is "experiment 2" "$(field 2 outcome)" kept
end_item

item "a required sandbox that is not to be had here: exit 3 with the manifest's line, and nothing is run; else it is said"
EXTRA='sandbox: required' MEASURE="touch $T/was-run" STRATEGY=hillclimb new_project required
APSIS_CAGE=none apsis baseline
is "exit code" "$code" 3
like "message" "$err" "^apsis: manifest.yaml:[0-9]+: sandbox: .*sandbox is required"
unlike "message" "$err" "traceback"
ok "nothing was run" test ! -e "$T/was-run"
STRATEGY=hillclimb new_project unkept
APSIS_CAGE=none apsis baseline
is "without" "$code" 0
like "said" "$err" "commands are not confined here"
end_item

# What the user would have lost: `best` handed out the baseline, and everything was ranked by what it was not measured by.
item "another direction, or another metric, in the manifest after a run: what was measured is shown as it was measured"
STRATEGY=hillclimb new_project other
printf 'echo "METRIC score=$(cat value.txt)"; echo "METRIC size=$((100 - $(cat value.txt)))"\n' >evaluate.sh
git commit -qam both
apsis baseline
apsis run --iterations 3
shown() {
    for command in "status --json" "log --json" "best --json" "show c0002 --json" "diff c0002"; do
        "$APSIS" $command 2>"$T/shown.err" | sed 's/"dirty":[^}]*}/"dirty":0/'
    done
    "$APSIS" report --out "$T/report.html" >"$T/shown.out" 2>&1
    grep -o '"best":{[^}]*}' "$T/report.html" | head -1
}
before=$(shown)
for metric in '{name: score, direction: lower}' '{name: size, direction: lower}'; do
    sed -i "s/^metric: .*/metric: $metric/" manifest.yaml
    is "$metric" "$(shown | sed 's/"dirty":[^}]*}/"dirty":0/')" "$before"
    like "said" "$(cat "$T/shown.err")" "manifest.yaml:[0-9]+: metric: the manifest has .* but the journal's values are of score"
    apsis run --iterations 1
    is "a run is refused" "$code" 2
done
apsis baseline --again
is "baseline --again" "$code" 0
is "compared with nothing" "$(field 4 delta) $(field 4 best) $(field 4 primary_metric)" "null 100 100"
apsis status
like "the best is the new baseline" "$out" "best: +c0004 = 100"
unlike "nothing is said" "$err" "the manifest has"
apsis run --iterations 1
is "and goes on by the new metric" "$(field 5 outcome) $(field 5 delta)" "kept -5"
apsis show c0002
like "an old candidate by its own" "$out" "score = 2"
end_item

finish
