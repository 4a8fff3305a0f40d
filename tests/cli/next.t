#!/bin/bash
# next: the strategy plans, somebody else changes the files, and the experiment keeps its number until then.
. tests/cli/lib.sh

PROVIDER='' # nobody but who submits
STRATEGY=annealing # its plan and accept draw numbers
new_project tiny
mkdir lib
echo a >lib/a.txt
commit lib
apsis baseline -q

at() { echo ".apsis/next/$1"; }

item "it gives a parent, an operator, a prompt and a checkout without hidden files"
apsis next --json
is "exit" "$code" 0
is "id" "$(json id) $(json operator) $(json parents.1)" "c0001 exploitation c0000"
like "prompt" "$(json prompt)" "you may change:.*value.txt"
is "directory" "$(json directory)" "$PWD/$(at c0001)"
is "files" "$(ls "$(at c0001)" | tr '\n' ' ')" "lib manifest.yaml propose.lua value.txt "
is "a repository of its own" "$(git -C "$(at c0001)" rev-list --count HEAD)" 1
apsis status
like "status" "$out" "in flight: +experiment 1: planning \(exploitation\)"
apsis wait c0001 --timeout 0
is "wait" "$code" 6
end_item

item "waiting for what is not submitted ends at once"
apsis wait c0001
is "exit" "$code" 6
like "text" "$out" "c0001 was given out, and is not submitted yet"
end_item

item "submit of the checkout answers it, under its number and by the strategy's plan"
echo 20 >"$(at c0001)/value.txt"
cd "$(at c0001)/lib" && apsis submit --title twenty
cd "$T/tiny" || exit 1
is "exit" "$code" 0
like "text" "$out" "^c0001 kept"
is "operator" "$(field 1 operator)" exploitation
apsis wait c0001 --json
is "wait" "$code $(json line.description)" "0 twenty"
end_item

item "the same checkout submitted again is an experiment of its own, from the same parent"
echo 30 >"$(at c0001)/value.txt"
apsis submit "$(at c0001)"
is "line" "$(field 2 operator) $(field 2 parents) $(field 2 outcome)" 'submitted ["c0000"] kept'
apsis submit "$(at c0001)" --id c0001
is "exit" "$code" 2
like "message" "$err" "c0001 has its line \(kept\): submit without --id"
apsis submit "$(at c0001)" --id c0002
like "message" "$err" "c0002 was not given out"
apsis submit . --id x
like "message" "$err" "x is no id"
end_item

item "beyond as many as there are workers, the oldest one ends; so does one that is not submitted in time"
apsis next --json
is "id" "$(json id)" c0003
apsis next --json --expires 0.0001
is "id" "$(json id)" c0004
is "c0003" "$(field 3 outcome) $(field 3 rollback_reason)" \
    "skipped_not_selected it was not submitted, and \`apsis next\` was asked again"
echo 40 >value.txt
apsis submit # whoever opens the run ends it
like "c0004" "$(field 4 outcome) $(field 4 rollback_reason)" "skipped_not_selected it was not submitted in time"
end_item

item "the checkout of one that has ended goes, and replay finds the plans again"
apsis next --json
is "id" "$(json id)" c0006
is "checkouts" "$(ls .apsis/next)" c0006
echo 41 >"$(at c0006)/value.txt"
apsis submit "$(at c0006)"
apsis replay --check
is "exit" "$code" 0
like "replay" "$out" "7 recorded lines; 4 plans compared, 0 differ; 2 handed in"
end_item

item "a run in progress gives out plans, too, and what is not submitted ends with it"
cat >slow.lua <<'END'
return function(proposal)
  if proposal.experiment == 2 then
    local file repeat file = io.open(os.getenv "GO") until file
    file:close()
  end
  return { ["value.txt"] = proposal.experiment .. "\n" }
end
END
slow=$(cat slow.lua)
PROVIDER='provider: {kind: lua, use: slow.lua}' STRATEGY=hillclimb new_project run
echo "$slow" >slow.lua
commit slow
apsis baseline -q
GO=$T/go "$APSIS" run --iterations 4 -q >/dev/null 2>&1 &
run=$!
until [ "$(lines)" = 2 ]; do sleep 0.05; done
apsis next --timeout 0.3
is "in time" "$code" 6
like "message" "$err" "run .apsis next. again"
"$APSIS" next --json >"$T/next" 2>"$T/err" &
until [ -e .apsis/inbox/s0002.json ]; do sleep 0.05; done
touch "$T/go"
wait $run
wait
out=$(cat "$T/next")
is "id" "$(json id)" c0003
is "its end" "$(field 3 outcome) $(field 3 rollback_reason)" \
    "skipped_not_selected the run ended before it was submitted: budget: iterations used up (4 in this run)"
apsis next
is "over" "$code" 7
end_item

item "what the strategy plans without asking for a change is done at once"
cat >measures.lua <<'END'
local mine = {}
function mine.plan(run)
  if run.history[run.experiment] == nil then error "a hole" end
  if run.experiment % 2 == 1 then return { measure = { run.best } } end
  return { parents = { run.best } }
end
return mine
END
measures=$(cat measures.lua)
PROVIDER='' STRATEGY=measures.lua new_project measures
echo "$measures" >measures.lua
commit strategy
apsis baseline -q
apsis next --json
is "id" "$(json id)" c0002
is "measured" "$(field 1 outcome)" measured
end_item

item "a strategy that plans nothing ends the run; one that waits for answers says so"
PROVIDER='' STRATEGY=one.lua new_project one
echo 'return { plan = function(run) if #run.pending == 0 then return { operator = "alone" } end end }' >one.lua
sed -i 's/strategy: one.lua/&\nexecution: {workers: 2}/' manifest.yaml
commit strategy
apsis baseline -q
apsis next --json
is "id" "$(json id)" c0001
apsis next
is "exit" "$code" 7
like "why" "$out" "plans nothing before what it gave out is submitted"
echo 5 >"$(at c0001)/value.txt"
apsis submit "$(at c0001)"
is "submitted" "$code" 0
echo 'return { plan = function() end }' >one.lua
apsis next
is "exit" "$code" 7
like "why" "$out" "the loop is over: the strategy plans nothing more"
end_item

finish
