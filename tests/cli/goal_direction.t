#!/usr/bin/env bash
# The direction of a standing goal's metric, through whole ticks: the four tests of autoloop's direction proposal, by their names.
. tests/cli/lib.sh || exit 1

# goal NAME FRONT FIRST NEXT: a repository in $T/NAME whose metric is FIRST, and NEXT after one experiment; two ticks of it.
goal() {
    mkdir -p "$T/$1/.autoloop/programs" && cd "$T/$1" || exit 1
    git init -q .
    printf -- '---\n%s\nprovider: {kind: lua, use: next.lua}\n---\n## Goal\nx\n## Target\n- `value.txt`\n## Evaluation\n```\ncat value.txt | sed "s/^/METRIC loss=/"\n```\nThe metric is `loss`.\n' \
        "$2" >.autoloop/programs/loss.md
    echo "$3" >value.txt
    printf 'return function() return { ["value.txt"] = "%s\\n" } end\n' "$4" >next.lua
    git add -A && GIT_AUTHOR_DATE="@1000000000 +0000" GIT_COMMITTER_DATE="@1000000000 +0000" git commit -qm goal
    APSIS_NOW=2026-01-01T00:00:00Z apsis tick --quiet
}

row() { git show memory/autoloop:loss.md | sed -nE "s/^\| $1 \| (.*) \|\$/\1/p"; }
mark() { git show memory/autoloop:loss.md | sed -nE 's/^- \*\*Metric\*\*: (.*previous best.*)/\1/p' | head -1; }

item "1.5 to 1.3 lower improves"
goal improves 'metric_direction: lower' 1.5 1.3
is "exit" "$code" 0
is "status" "$(row 'Recent Statuses')" accepted
is "best" "$(row 'Best Metric')" 1.3
is "entry" "$(mark)" "1.3 (previous best: 1.5, delta: -0.2, improved)"
end_item

item "1.5 to 1.7 lower does not"
goal worsens 'metric_direction: lower' 1.5 1.7
is "status" "$(row 'Recent Statuses')" rejected
is "best" "$(row 'Best Metric')" 1.5
is "entry" "$(mark)" "1.7 (previous best: 1.5, delta: +0.2, not improved)"
is "the branch has it not" "$(git show autoloop/loss:value.txt)" 1.5
end_item

item "target 0.9 with best 0.85 lower halts"
goal halts $'metric_direction: lower\ntarget-metric: 0.9' 1.5 0.85
is "completed" "$(row Completed)" true
is "reason" "$(row 'Completed Reason')" "target metric 0.9 reached with value 0.85 (lower is better)"
APSIS_NOW=2026-02-01T00:00:00Z apsis tick
like "no more" "$out" "skipped  loss: completed: target metric reached"
end_item

item "direction omitted is exactly as higher"
goal omitted 'target-metric: 2' 1.5 1.7
goal higher $'target-metric: 2\nmetric_direction: higher' 1.5 1.7
for name in omitted higher; do
    sed -E 's/"(seconds|elapsed_s|commit|tree|phases)": *("[0-9a-f]*"|\{[^}]*\}|[0-9.e-]+)//g' "$T/$name/.autoloop/programs/loss/logs/results.jsonl" >"$T/$name.jsonl"
    git -C "$T/$name" show memory/autoloop:loss.md | sed -E 's/[0-9a-f]{10}$//' >"$T/$name.md"
done
is "the journal" "$(cat "$T/omitted.jsonl")" "$(cat "$T/higher.jsonl")"
is "the state file" "$(cat "$T/omitted.md")" "$(cat "$T/higher.md")"
like "which says so" "$(cat "$T/omitted.md")" "Metric Direction . higher"
like "and it improved" "$(cat "$T/omitted.md")" "delta: .0.2, improved"
end_item

finish
