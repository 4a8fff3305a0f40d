#!/bin/bash
# anchors: a run of more candidates than keep refs. Older ones lose their refs, and are shown, compared, cloned and gone
# on from as before.
UNDISTURBED=1 # by tests/beside_gc: of two git gc the second does not begin
. tests/cli/lib.sh || exit 1

refs() { git for-each-ref --format='%(refname:lstrip=3)' refs/apsis/tiny | tr '\n' ' '; }
commit_of() { sed -n "s/.*\"candidate\":\"$1\".*\"commit\":\"\([0-9a-f]*\)\".*/\1/p" logs/results.jsonl; }

# Experiment 3 is the best of all until 521.
EXTRA='sandbox: off
keep_runs: 5' MEASURE='[sed, "s,^,METRIC score=,", value.txt]' STRATEGY='{use: hillclimb, options: {patience: 1000}}'
new_project long
printf '%s\n' 'return function(proposal)' '  local number = proposal.experiment' \
    '  local value = (number <= 3 or number > 520) and number or -number' \
    '  return { ["value.txt"] = value .. "\n" }' 'end' >propose.lua
git commit -qam provider
apsis baseline

item "the newest candidates, the best and the baseline keep refs; anchors hold the others"
LIMIT=600 apsis run -q --iterations 520
is "exit" "$code" 0
is "anchors" "$(git for-each-ref --format='%(refname)' refs/apsis-anchors)" refs/apsis-anchors/tiny/0000
like "refs" "$(refs)" "^c0000 c0003 c0256 c0257 .* c0519 c0520 $"
grep -o '"commit":"[0-9a-f]*' logs/results.jsonl | cut -d'"' -f4 | sort -u >"$T/commits"
is "every commit of the journal is reachable" "$(comm -23 "$T/commits" \
    <(git rev-list --glob='refs/apsis/*' --glob='refs/apsis-anchors/*' | sort))" ""
ok "fsck" git fsck --strict --no-dangling
ok "few objects are loose" test "$(git count-objects | cut -d' ' -f1)" -lt 200
end_item

item "gc takes nothing, and a candidate without a ref is shown as before"
git reflog expire --expire=now --all
git gc -q --prune=now
apsis show c0007
is "show" "$code" 0
like "show" "$out" "commit: +$(commit_of c0007)"
apsis diff c0007
is "diff" "$code" 0
like "diff" "$out" "\+-7"
ok "git log" git log -1 "$(commit_of c0007)"
apsis best
is "best" "$code" 0
like "best" "$out" "c0003"
apsis replay --check
is "replay --check" "$code" 0
end_item

item "README's git log shows candidates, and no anchors"
is "anchors" "$(git log --format=%s --glob='refs/apsis/tiny/*' | grep -c '^Candidates up to')" 0
end_item

item "a fresh clone that has fetched both kinds of refs goes on"
git clone -q . "$T/clone"
cp -r logs "$T/clone/"
cd "$T/clone" || exit 1
git fetch -q origin 'refs/apsis/*:refs/apsis/*' 'refs/apsis-anchors/*:refs/apsis-anchors/*'
apsis show c0007
is "show" "$code" 0
apsis run -q --iterations 3
is "exit" "$code" 0
is "lines" "$(lines)" 524
like "best" "$(git show apsis/tiny:value.txt)" "^52[123]$"
ok "fsck" git fsck --strict --no-dangling
end_item

item "refs that come back from a clone go again, and the anchor stays"
git fetch -q "$T/long" '+refs/apsis-anchors/*:refs/apsis-anchors/*'
before=$(git rev-parse refs/apsis-anchors/tiny/0000)
for n in 0004 0005 0006; do git update-ref "refs/apsis/tiny/c$n" "$(commit_of c$n)"; done
apsis run -q --iterations 1
is "exit" "$code" 0
like "refs" "$(refs)" "^c0000 c0256 "
is "anchor" "$(git rev-parse refs/apsis-anchors/tiny/0000)" "$before"
end_item

item "a branch at an old candidate is known as the run's own"
git update-ref refs/heads/apsis/tiny "$(commit_of c0002)"
apsis run -q --iterations 1
is "exit" "$code" 0
unlike "no warning" "$err" "left where it is"
like "branch" "$(git show apsis/tiny:value.txt)" "^52[0-9]$"
end_item

item "without git in PATH the run goes on and says in its log what was not done"
for n in 0004 0005; do git update-ref "refs/apsis/tiny/c$n" "$(commit_of c$n)"; done
mkdir "$T/bin" && ln -s "$(command -v sed)" "$(command -v sh)" "$T/bin/"
capture env PATH="$T/bin" "$APSIS" run -q --iterations 1
is "exit" "$code" 0
like "log" "$(cat logs/apsis.log)" "not packed: git update-ref: .*git"
like "refs" "$(refs)" "^c0000 c0004 c0005 c0256 "
end_item

finish
