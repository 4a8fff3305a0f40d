#!/usr/bin/env bash
# What a run on a stand-in of Slurm does at its end with what is measured already, and with what a killed run has sent; and that
# a kill makes nothing that was asked for be measured twice.
. tests/cli/lib.sh || exit 1
. tests/cluster/fake.sh

killed_with() { # killed_with NAME N RUN-ARGUMENTS: a run is killed once N evaluations have begun
    touch "$T/$1.wait"
    start_run "${@:3}"
    wait_for "they run" begun "$1" "$2"
    kill -9 "$pid"
    wait "$pid" 2>/dev/null
}
over() { ! kill -0 "$pid" 2>/dev/null; }

item "a pilot gives a command the variables of its own job, not those of an earlier one"
cluster unset "workers: 1, pilots: 1"
sed -i 's/^verification:/&\n  pass_env: [DATA]/' manifest.yaml
sed -i "s/score=.*/score=\$((\$(cat value.txt) + \${DATA-0}))\"/" evaluate.sh
commit unset
apsis baseline --again --repeats 1
: >"$T/unset.evaluations"
DATA=1000 killed_with unset 1 --iterations 2
rm "$T/unset.wait"
apsis run -q --iterations 2
is "values" "$(values)" "baseline 0;kept 2;kept 3;kept 4;"
end_item

# A strategy that plans groups of two, and the value 2 at once; all others wait.
item "the minutes end those that wait, and what has a value is kept for it"
cluster grouped "workers: 2"
cat >group.lua <<'END'
local s = {}
function s.plan(run)
  if #run.pending > 0 then return nil end
  local list = {}
  for i = 1, math.max(1, run.free) do list[i] = { parents = { run.best.id }, operator = "explore" } end
  return list
end
return s
END
sed -i 's/^strategy: .*/strategy: group.lua/' manifest.yaml
sed -i 's/= 0 \]/-lt 3 ]/' evaluate.sh
commit grouped
apsis baseline --again --repeats 1
touch "$T/grouped.wait"
start_run --iterations 9 --minutes 0.1
wait_for "the run ends" over
rm "$T/grouped.wait"
wait "$pid"
is "values" "$(values)" "baseline 0;kept 2;skipped_not_selected null;"
end_item

# 2 changes nothing, 3 measures the best twice more, and 4 waits.
item "the end leaves as it is how members of a group have ended"
cluster trio "workers: 3"
cat >group.lua <<'END'
local s = {}
function s.plan(run)
  if #run.pending > 0 then return nil end
  local change = { parents = { run.best.id }, operator = "explore" }
  return { change, { parents = { run.best.id }, operator = "again", measure = { run.best.id }, repeats = 2 },
    { parents = { run.best.id }, operator = "explore" } }
end
return s
END
sed -i 's/^strategy: .*/strategy: group.lua/' manifest.yaml
echo 'return function(p) return { ["value.txt"] = (p.experiment > 2 and p.experiment or 0) .. "\n" } end' >propose.lua
commit trio
apsis baseline --again --repeats 1
touch "$T/trio.wait"
start_run --minutes 0.1
wait_for "the run ends" over
rm "$T/trio.wait"
wait "$pid"
is "values" "$(values)" "baseline 0;skipped_no_change null;measured null;skipped_not_selected null;"
end_item

item "that one gives back its measurement is no end of the others"
cluster back "workers: 4"
echo 'return function(p) return { ["value.txt"] = (p.experiment ~= 3 and p.experiment or 0) .. "\n" } end' >propose.lua
echo 'budget: {measurements: 3}' >>manifest.yaml
commit back
apsis baseline --again --repeats 1
: >"$T/back.evaluations"
touch "$T/back.wait"
start_run
wait_for "3 has its line" grep -q skipped_no_change logs/results.jsonl
wait_for "the others run" begun back 2
nap 2 # the run looks whether it is over every second
rm "$T/back.wait"
wait "$pid"
is "values" "$(numbers)" "0 2 4 null "
end_item

item "what next gave out is measured after the target, too"
cluster driven "workers: 2"
sed -i -e 's/direction: higher/&, target: 20/' -e '/^provider: /d' manifest.yaml
sed -i 's/^echo "METRIC/sleep 2; &/' evaluate.sh
commit driven
apsis baseline --again --repeats 1
apsis next
apsis next
for number in 2 3; do
    echo $((18 + number)) >".apsis/next/c000$number/value.txt"
    apsis submit ".apsis/next/c000$number"
    is "submit" "$code" 0
done
is "values" "$(values)" "baseline 0;kept 20;kept 21;"
end_item

item "the target ends what is in flight when all iterations have begun"
cluster begun "workers: 3"
sed -i 's/direction: higher/&, target: 2/' manifest.yaml
sed -i 's/= 0 \]/-lt 3 ]/' evaluate.sh
commit begun
apsis baseline --again --repeats 1
touch "$T/begun.wait"
start_run --iterations 3
wait_for "the run ends" over
rm "$T/begun.wait"
wait "$pid"
is "values" "$(values)" "baseline 0;kept 2;skipped_not_selected null;skipped_not_selected null;"
wait_for "the queue is empty" idle
end_item

item "the minutes end a later stage, also of an experiment that has the value of an earlier one"
cluster staged "workers: 2"
sed -i 's/commands: \[{/commands: [{name: quick, run: "echo METRIC score=$(cat value.txt)", stage: 1}, {stage: 2, /' manifest.yaml
commit staged
apsis baseline --again --repeats 1
touch "$T/staged.wait"
start_run --iterations 2 --minutes 0.05
wait_for "the run ends" over
wait "$pid"
like "why" "$(reasons)" "the run has ended: budget: minutes used up"
wait_for "the queue is empty" idle
rm "$T/staged.wait"
end_item

item "of two that are measured at the same time, of which one reaches the target, both are taken"
cluster both "workers: 2"
sed -i 's/direction: higher/&, target: 1/' manifest.yaml
commit both
apsis baseline --again --repeats 1
: >"$T/both.evaluations"
touch "$T/both.wait"
start_run --iterations 2
wait_for "both run" begun both 2
kill -STOP "$pid"
rm "$T/both.wait"
wait_for "both have ended" idle
kill -CONT "$pid"
wait "$pid"
unlike "values" "$(values)" "skipped"
end_item

item "after Ctrl-C nothing is in flight"
cluster interrupted "workers: 2"
touch "$T/interrupted.wait"
start_run --iterations 2
wait_for "both are noted" sh -c '[ "$(grep -o \"where\": logs/state.json | wc -l)" = 2 ]'
kill -INT "$pid"
wait "$pid"
apsis status
unlike "status" "$out" "in flight"
wait_for "the queue is empty" idle
rm "$T/interrupted.wait"
end_item

item "the gain is measured on nodes after the target"
new_project gained
printf '%s\n' 'n=$(od -An -N2 -tu2 /dev/urandom); echo "METRIC score=$(cat value.txt).$(printf %05d $n)"' >evaluate.sh
printf '%s\n' 'return function(proposal) return { ["value.txt"] = proposal.experiment * 10 .. "\n" } end' >propose.lua
EXTRA="$SLURM}" write_manifest
sed -i 's/direction: higher/&, target: 5/' manifest.yaml
echo 'acceptance: {baseline: 5, final: 3}' >>manifest.yaml
commit gained
apsis baseline
apsis run -q --iterations 4
is "exit" "$code" 0
like "it says what was gained" "$out" "gained: (9|1[0-9])"
end_item

item "reset -f ends the pilots of a killed run, and what they measure"
cluster piloted "workers: 2, pilots: 1"
killed_with piloted 2 --iterations 3
is "the pilot is there" "$(queued)" 1
apsis reset -f
is "reset" "$code" 0
wait_for "the queue is empty" idle
wait_for "nothing goes on there" gone "apsis job $SHARED"
rm "$T/piloted.wait"
end_item

item "a pilot without a folder ends what nobody waits for"
cluster alone "workers: 2, pilots: 1"
killed_with alone 2 --iterations 3
rm -rf "$SHARED"/*/*-*
wait_for "nothing goes on there" gone "apsis job $SHARED"
rm -r "$T/alone.wait" "$SHARED"/*
wait_for "the queue is empty" idle
end_item

item "status shows what a killed run has sent, and a run in which nothing could be measured fails"
cluster shown "workers: 2, requeue: 0"
touch "$T/shown.wait"
start_run --iterations 2
wait_for "both are noted" sh -c '[ "$(grep -o \"where\": logs/state.json | wc -l)" = 2 ]'
kill -9 "$pid"
wait "$pid" 2>/dev/null
apsis status
like "status" "$out" "in flight.*experiment 1: (submitting|queued|queued on main|measuring on n[1-4]) when apsis last looked "
rm "$T/shown.wait"
apsis run -q --iterations 2
touch "$FAKE/out_of_reach"
apsis run -q --iterations 1
is "exit" "$code" 3
like "why" "$err" "stopping: nothing could be measured; fix that, then .apsis run. resumes: "
rm "$FAKE/out_of_reach"
end_item

item "a run that ends without measuring anything ends what a killed one has sent"
cluster changed "workers: 2"
killed_with changed 2 --iterations 3
echo 'return { plan = function() end, halt = function() return "enough" end }' >nothing.lua
sed -i 's/^strategy: .*/strategy: nothing.lua/' manifest.yaml
commit changed
apsis run --iterations 3
is "exit" "$code" 0
is "values" "$(values)" "skipped_not_selected null;skipped_not_selected null;"
wait_for "the queue is empty" idle
wait_for "nothing goes on there" gone "apsis job $SHARED"
rm "$T/changed.wait"
end_item

item "so does Ctrl-C before anything is measured"
cluster early "workers: 2"
killed_with early 2 --iterations 3
"$APSIS" pause >/dev/null
start_run --iterations 3
wait_for "it has the folder" sh -c '! flock -n "$0" true' "$SHARED"/*/lock
kill -INT "$pid"
wait "$pid"
is "exit" "$?" 130
wait_for "the queue is empty" idle
rm "$T/early.wait"
end_item

item "once the dollars are used up a decision measures no more"
cluster dollars "workers: 2, usd_per_hour: 3600"
cat >evaluate.sh <<END
echo x >>$T/dollars.evaluations
at=\$(wc -l <$T/dollars.evaluations)
[ \$at -le 20 ] || sleep 0.5
echo "METRIC score=\$((\$(cat value.txt) * 60 + at * 37 % 101))"
END
sed -i 's/mode: writable/&}\n  - {path: "x*", &/' manifest.yaml
echo 'return function(p) return { ["value.txt"] = "1\n", ["x" .. p.experiment] = "1\n" } end' >propose.lua
printf 'acceptance: {baseline: 20, final: 0}\nbudget: {usd: 3}\n' >>manifest.yaml
commit dollars
apsis baseline --again
apsis run -q --iterations 2
like "why" "$(reasons)" "^budget: .* usd left, measuring again may take"
is "evaluations, at least 0.5 usd each" "$(($(wc -l <"$T/dollars.evaluations") <= 20 + 8))" 1
end_item

for pilots in "" ", pilots: 1"; do
item "approve leaves the jobs of a killed run, also if it measures itself${pilots:+ (pilots)}"
name=approved${pilots:+_by_pilots}
cluster $name "workers: 3$pilots"
sed -i 's/= 0 \]/-lt 4 ]/' evaluate.sh # 4 waits
printf 'approval: ask\nacceptance: {baseline: 5, final: 0}\n' >>manifest.yaml
commit approved
apsis baseline --again --repeats 5
wait_for "the queue is empty" idle
: >"$T/$name.evaluations"
touch "$T/$name.wait"
start_run --iterations 3
wait_for "two are held" sh -c '[ "$(ls .apsis/held | wc -l)" = 2 ]'
wait_for "the third is noted" sh -c 'grep -q "\"where\":\"on " logs/state.json'
kill -9 "$pid"
wait "$pid" 2>/dev/null
: >"$FAKE/cancelled"
for id in c0002 c0003; do # the second is decided again
    apsis approve $id
    is "approve" "$code" 0
    apsis status
    like "status" "$out" "in flight.*experiment 4: measuring on "
done
is "cancelled" "$(cat "$FAKE/cancelled")" ""
rm "$T/$name.wait"
start_run
wait_for "the third is held" test -e .apsis/held/c0004.json
apsis approve c0004
is "approve" "$code" 0
wait "$pid"
is "evaluations of 4, as of the others" "$(grep -c c0004 "$T/$name.evaluations")" 3
end_item
done

item "what was measured before a kill is not measured again, though other measurements come before it now"
cluster kept "workers: 1"
repeats() { # repeats IDS: a strategy that measures these once more before it decides
    cat >repeat.lua <<END
return {
  plan = function(run) return { parents = { run.best.id }, operator = "explore" } end,
  accept = function(run, candidate)
    if #candidate.samples > 1 then return true end
    return "measure", { ids = { $1 }, repeats = 1 }
  end,
}
END
    sed -i 's/^strategy: .*/strategy: repeat.lua/' manifest.yaml
    commit "$1"
}
repeats "run.best.id, candidate.id"
start_run --iterations 1
wait_for "it is measured again" begun kept 2
touch "$T/kept.wait"
wait_for "and again" begun kept 3
kill -9 "$pid"
wait "$pid" 2>/dev/null
rm "$T/kept.wait"
wait_for "the job has ended" idle
repeats "candidate.id, run.best.id"
apsis run -q --iterations 1
is "evaluations of both experiments" "$(evaluations kept)" "c0001 c0000 c0001 c0002 c0002 c0001 "
end_item

finish
