#!/usr/bin/env bash
# The branch of a standing goal beside people's work on it and on main: whatever is not as apsis left it is measured as a new baseline,
# and nobody's work is taken back.
. tests/cli/lib.sh || exit 1
. tests/cli/goals.sh

tick() { apsis tick --quiet --program "${1:-rise}"; }
last() { outcomes | tr ' ' '\n' | tail -"$1" | tr '\n' ' '; }
tip() { git show "autoloop/rise:$1"; }

# begun NAME: a goal of two kept experiments, main untouched.
begun() {
    FRONT='' goals "$1"
    tick && tick
}

item "a branch that took in another goal's candidates by a fast-forward of main keeps them"
FRONT='' goals two
sed 's/`value.txt`/`size.txt`/; s/rise/size/g; s/value.txt/size.txt/' $home.md >.autoloop/programs/size.md
sed 's/value.txt/size.txt/' rise.lua >size.lua && echo 1 >size.txt
git add -A && git commit -qm size
tick rise && tick size && git merge -q autoloop/size
tick rise
is "exit" "$code" 0
is "their candidate's file" "$(tip size.txt)" 10
is "measured" "$(last 2)" "baseline kept "
end_item

item "squashed with the candidates' words in its message, the branch moved to main: measured, and a colleague's file stays"
begun squashed
commit_file new.txt colleague
git merge -q --squash autoloop/rise && git commit -qm "$(git log --format=%B main..autoloop/rise)"
git branch -qf autoloop/rise main
tick
is "exit" "$code" 0
is "their file" "$(tip new.txt)" colleague
is "measured" "$(last 2)" "baseline kept "
end_item

item "an amended tip is measured"
begun amended
git switch -q autoloop/rise && echo mine >other.txt && git commit -qa --amend --no-edit && git switch -q main
tick
is "their file" "$(tip other.txt)" mine
is "measured" "$(last 2)" "baseline kept "
end_item

item "a revert on the branch stays"
begun reverted
git switch -q autoloop/rise && git revert --no-edit HEAD >/dev/null && git switch -q main
tick
is "measured" "$(last 2)" "baseline kept "
like "from the reverted value" "$(git show memory/autoloop:rise.md)" "Metric\*\*: 40 .previous best: 10,"
end_item

item "a merge that was reverted as a whole, back to the tree of the first baseline: that is the best now"
begun undone
git merge -q --no-ff -m merge autoloop/rise && git revert -m 1 --no-edit HEAD >/dev/null
tick
is "measured" "$(last 2)" "baseline kept "
like "from the first value" "$(git show memory/autoloop:rise.md)" "Metric\*\*: 40 .previous best: 1,"
tick
is "it goes on" "$code $(last 1)" "0 kept "
end_item

item "a rejected candidate that a person puts onto the branch is measured, not overwritten"
FRONT='' PROVIDE='return function(proposal) local n = proposal.experiment return { ["value.txt"] = (n == 2 and 5 or 10 * n) .. "\n" } end' goals adopted
tick && tick
is "rejected before" "$(last 1)" "reverted_worse_metric "
git branch -qf autoloop/rise refs/apsis/rise/c0002
tick
is "measured" "$(last 2)" "baseline kept "
like "from its value" "$(git show memory/autoloop:rise.md)" "previous best: 5,"
end_item

item "a branch that a person moved back to main is measured there"
begun moved
git branch -qf autoloop/rise main
tick
is "measured" "$(last 2)" "baseline kept "
like "from main's value" "$(git show memory/autoloop:rise.md)" "previous best: 1,"
end_item

item "a branch deleted after its changed squash begins anew from main"
begun deleted
git merge -q --squash autoloop/rise && echo 15 >value.txt && git commit -qam 'rise, reviewed'
git branch -qD autoloop/rise
tick
is "exit" "$code" 0
is "not paused" "$(row Paused)" false
is "measured" "$(last 2)" "baseline kept "
like "from main's value" "$(git show memory/autoloop:rise.md)" "previous best: 15,"
ok "from main" git merge-base --is-ancestor main autoloop/rise
end_item

item "a crossover of a candidate from before a merge with one from after it keeps what was merged"
FRONT='strategy: cross.lua' goals crossed
cat >cross.lua <<'END'
local cross = {}
function cross.plan(run)
  local first = run.get "c0001"
  return { parents = first and run.best.id ~= "c0001" and run.best.id ~= "c0000" and { first, run.best } or { run.best }, operator = "crossover" }
end
return cross
END
git add -A && git commit -qm cross
tick
commit_file other.txt colleague
tick && tick
is "exit" "$code" 0
is "it was one" "$(sed -nE 's/.*"parents": *\[([^]]*)\].*/\1/p' $home/logs/results.jsonl | tail -1)" '"c0001","c0003"'
is "their file" "$(tip other.txt)" colleague
is "kept" "$(last 1)" "kept "
end_item

item "what a person took off the branch is not brought back by a strategy that goes on from it"
FRONT='strategy: old.lua' PROVIDE='return function(p) local edits = { ["value.txt"] = 10 * p.experiment .. "\n" } if p.experiment == 1 then edits["size.txt"] = "JUNK\n" end return edits end' goals discarded
echo 1 >size.txt && sed -i 's/- `value.txt`/- `value.txt`\n- `size.txt`/' $home.md
cat >old.lua <<'END'
-- From the second candidate, as an archive would, now and then; else from the best.
local old = {}
function old.plan(run)
  local second = run.get "c0002"
  return { parents = { run.experiment == 4 and second or run.best }, operator = "exploitation" }
end
return old
END
git add -A && git commit -qm old
tick && tick
is "before" "$(tip size.txt)" JUNK
git branch -qf autoloop/rise main
tick
is "measured, and the old parent barred" "$(last 2)" "baseline skipped_not_selected "
like "with the reason" "$(git show memory/autoloop:rise.md)" "c0002 contains commits that were taken off autoloop/rise before c0003"
is "the provider was not asked" "$(ls $home/runs/0004 | grep -c plan.md)" 0
tick
is "it goes on from what is there" "$(last 1)$(tip size.txt)" "kept 1"
end_item

item "an older candidate takes in what was merged, and not the goal's own later changes"
FRONT='strategy: old.lua' goals older
cat >old.lua <<'END'
local old = {}
function old.plan(run)
  return { parents = { run.experiment == 4 and run.get "c0000" or run.best }, operator = "exploitation" }
end
return old
END
git add -A && git commit -qm old
tick && tick
commit_file other.txt colleague
tick
is "lines" "$(outcomes)" "baseline kept kept baseline kept "
is "from the first" "$(sed -nE 's/.*"parents": *\[([^]]*)\].*/\1/p' $home/logs/results.jsonl | tail -1)" '"c0000"'
is "both" "$(tip other.txt) $(tip value.txt)" "colleague 40"
end_item

item "another direction is measured anew, where the branch is"
FRONT='metric_direction: higher' goals turned
tick && tick
sed -i 's/higher/lower/' $home.md
tick
is "exit" "$code" 0
is "measured" "$(last 2)" "baseline reverted_worse_metric "
is "the branch stays" "$(tip value.txt)" 20
is "its best" "$(row 'Best Metric') $(row 'Metric Direction')" "20 lower"
end_item

item "history: revert is refused for a goal"
FRONT='history: revert' goals revert
tick
is "exit" "$code" 2
like "said" "$err" "history: must be clean for a standing goal"
end_item

item "an experiment planned before a merge and finished after it carries its change over"
FRONT='' PROVIDE="$steps" MEASURE="$measure; [ ! -e $T/slow ] || sleep 30" goals late
tick
touch "$T/slow"
"$APSIS" tick --quiet --program rise >/dev/null 2>&1 &
late=$!
for _ in $(seq 2400); do git rev-parse -q --verify refs/apsis/rise/c0002 >/dev/null && break; nap 0.05; done
kill -9 "$late" && wait "$late" 2>/dev/null
rm "$T/slow"
commit_file other.txt colleague
tick
is "exit" "$code" 0
is "lines" "$(outcomes)" "baseline kept baseline kept "
is "their file" "$(tip other.txt)" colleague
is "the change" "$(tip value.txt)" 20
end_item

item "another evaluator, merged from main, is another measure: a strategy begins anew"
MEASURE='sh bench.sh' goals measured
echo "$measure" >bench.sh
cat >remember.lua <<'END'
return {
  init = function(run) run.memory.seen = 0 end,
  learn = function(run) run.memory.seen = run.memory.seen + 1 end,
  plan = function(run)
    run.log("seen", run.memory.seen, #run.recent(9))
    return { parents = { run.best.id }, notes = { island = 1 } }
  end,
}
END
sed -i 's/^schedule:.*/&\nstrategy: remember.lua/' .autoloop/programs/rise.md
commit bench
for _ in 1 2; do apsis tick --quiet --program rise; done
echo x >another.txt && commit "nothing that measures"
apsis tick --quiet --program rise
seen() { grep -o 'seen .*' $home/logs/apsis.log | tail -1; }
is "merged, and measured in the same way" "$(outcomes) $(seen)" "baseline kept kept baseline kept  seen 4 4"
population() { git show memory/autoloop:rise.md | sed -nE 's/^- island 1 .*\((c[0-9]+)\)$/\1/p' | tr '\n' ' '; }
is "the population" "$(population)" "c0001 c0002 c0004 "
echo 'echo "METRIC rise=$(($(head -1 value.txt) * 1000))"' >bench.sh && commit "another bench"
apsis tick --quiet --program rise
is "measured otherwise" "$(seen)" "seen 1 1"
apsis status -C "$home" --json
like "it begins from the new baseline" "$out" '"initial":[1-9][0-9]*000,'
like "in the state file, too" "$(git show memory/autoloop:rise.md)" "Initial Metric \\| [1-9][0-9]*000 "
is "whose population has what compares" "$(population)" "c0006 "
like "and nobody is said to have edited it" "$(grep -c 'Initial Metric is' $home/logs/apsis.log)" "^0$"
echo 'echo "{\"rise\": null, \"rejected_reason\": \"tests failed\"}"' >bench.sh && commit "a bench that refuses"
for _ in 1 2; do apsis tick --quiet --program rise; done
is "a baseline that fails is nobody's edit" "$(grep -c 'put back' $home/logs/apsis.log)" 0
like "and takes no best away" "$(git show memory/autoloop:rise.md)" "Best Metric \\| [1-9][0-9]*000 "
like "the bench's own reason" "$(tail -1 $home/logs/results.jsonl)" 'rejected by the evaluator .*: tests failed'
end_item

finish
