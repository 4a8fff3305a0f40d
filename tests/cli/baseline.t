#!/bin/bash
# baseline: how often `apsis baseline` measures when nobody says, and what it tells of the noise.
. tests/cli/lib.sh || exit 1

# Each measurement appends a line to $T/calls; the score is the line's number, or what SCORE says.
counting() {
    : >"$T/calls"
    MEASURE="[sh, -c, 'echo x >>$T/calls; echo METRIC score=${SCORE-\$(wc -l <$T/calls)}']" new_project "$@"
}
calls() { wc -l <"$T/calls"; }

item "five times where one is quick; the spread is shown, and how to keep luck out"
counting quick
apsis baseline
is "measured" "$(calls)" 5
is "the value is the median" "$(field 0 primary_metric)" 3
line "the spread" "$out" '^baseline c0000: score = 3 \(higher is better; median of 5, 1 to 5, a spread of 133 %\)$'
line "the line to add" "$out" 'noisy.*`acceptance: default`.*`apsis baseline --again`'
is "the samples are kept" "$(field 0 samples)" "[1,2,3,4,5]"
end_item

item "equal values need no advice; --repeats 1 holds, and --repeats 2"
SCORE=7 counting equal
apsis baseline
is "one line" "$out" "baseline c0000: score = 7 (higher is better; 5 equal measurements)"
apsis baseline --again --repeats 1
is "once" "$(calls)" 6
is "as it was" "$out" "baseline c0001: score = 7 (higher is better)"
apsis baseline --again --repeats 2
is "twice" "$(calls)" 8
end_item

item "a spread within the metric's epsilon is no noise that could be kept"
counting within
sed -i 's/^metric: {/metric: {epsilon: 10, /' manifest.yaml
apsis baseline
is "measured" "$(calls)" 5
no_line "no advice" "$out" noisy
end_item

item "once where commands use the network, which may cost money; it says so"
counting paid
sed -i 's/^verification:/verification:\n  network: true/' manifest.yaml
apsis baseline
is "measured" "$(calls)" 1
like "why" "$out" "measured once: its commands use the network"
end_item

item "with acceptance as many as that takes"
EXTRA='acceptance: default' counting many
apsis baseline
is "measured" "$(calls)" 20
end_item

item "a failure says which measurement of how many"
SCORE="\$((5 / (2 > \$(wc -l <$T/calls))))" counting fails
apsis baseline
is "exit" "$code" 5
like "which" "$err" "measurement 3 of 5"
end_item

item "by the time of the first: three where it takes a second, one where it takes over a minute"
cat >"$T/times.lua" <<'END'
local once = require "apsis.live.once"
local manifest = { verification = {}, fitness = nil }
for _, seconds in ipairs { 0.2, 1, 60, 61 } do io.write(("%s "):format((once.times(seconds, manifest)))) end
print(select(2, once.times(75, manifest)))
END
apsis exec "$T/times.lua"
is "times" "$out" "5 3 3 1 it takes 75 s"
end_item

item "another baseline of the same files is compared with the one before"
counting again
apsis baseline
apsis baseline --again
line "it is said" "$out" "^c0000, of the same files, measured 3"
echo 1 >other.txt
commit other
apsis baseline --again
no_line "not of other files" "$out" "of the same files"
end_item

item "after a change of what measures, a strategy begins anew, and files of before are measured again"
new_project anew
echo 'return function(proposal) return { ["value.txt"] = proposal.experiment == 1 and "7\n" or "5\n" } end' >propose.lua
cat >remember.lua <<'END'
return {
  init = function(run) run.memory.seen = 0 end,
  learn = function(run) run.memory.seen = run.memory.seen + 1 end,
  plan = function(run)
    run.log("seen", run.memory.seen)
    return { parents = { run.best.id }, operator = "explore" }
  end,
}
END
sed -i 's/^strategy:.*/strategy: remember.lua/' manifest.yaml
commit anew
apsis baseline
apsis run -q --iterations 3
is "twice the same files" "$(field 2 outcome) $(field 3 outcome)" "reverted_worse_metric skipped_duplicate"
apsis baseline --again
apsis run -q --iterations 1
is "measured in the same way: all is remembered" "$(grep -o 'seen .*' logs/apsis.log | tail -1) $(field 5 outcome)" "seen 5 skipped_duplicate"
echo 'echo "METRIC score=$(($(cat value.txt) * 2))"' >evaluate.sh
commit "another evaluator"
apsis baseline --again
apsis run -q --iterations 1
is "another evaluator" "$(grep -o 'seen .*' logs/apsis.log | tail -1) $(field 7 outcome)" "seen 1 kept"
apsis replay --check
is "a fold does the same" "$code" 0
end_item

item "a baseline of other files: the search begins again from HEAD, as candidates from before lack what it has"
new_project onward
cat >propose.lua <<'END'
return function(proposal) return { ["value.txt"] = (9 - proposal.experiment) .. "\n" } end
END
cat >old.lua <<'END'
return {
  init = function(run) run.memory.first = false end,
  learn = function(run, line) run.memory.first = line.outcome == "kept" and line.candidate or run.memory.first end,
  plan = function(run)
    return { parents = { run.options.old and "c0001" or run.memory.first or run.best.id }, operator = "explore" }
  end,
  options = { old = false },
}
END
sed -i 's/^strategy:.*/strategy: old.lua/' manifest.yaml && echo 'budget: {iterations: 9, minutes: 9}' >>manifest.yaml
commit onward
apsis baseline
apsis run -q --iterations 1
echo a note >NOTES.md
commit "a note"
apsis run --iterations 1
line "the warning" "$err" 'HEAD has moved.*NOTES.md.*without the candidates that were found'
apsis baseline --again
line "told before" "$out" "HEAD has other files since c0000: .*without the candidates from before; the best of them is c0001 \(8\): .apsis apply c0001 --dry-run."
apsis run -q --iterations 1
is "from the new baseline" "$(field 4 parents)" '["c0003"]'
git merge -q --no-edit apsis/tiny
is "a merge of the branch brings the candidate and keeps the note" "$? $(ls NOTES.md) $(git log --format=%H apsis/tiny..)" "0 NOTES.md "
apsis run -q --iterations 1 --set old=true
like "no parent" "$(field 5 rollback_reason)" "c0001 is from before c0003, from which the search began again"
apsis replay --check
is "a fold does the same" "$code" 0
apsis baseline --again
unlike "what is in HEAD is taken along" "$out" "the best of them"
apsis status --json
is "the next run has its whole budget" "$(json status) $(json budget.iterations.spent) $(json budget.minutes.spent)" \
    "ready 0 0"
end_item

item "what was found before such a baseline may be found again, and is told if HEAD lacks it only"
PROVIDER='provider: {kind: command, run: sh add.sh}' new_project onward-again
echo 'echo $(($(cat value.txt) + 1)) >value.txt' >add.sh
commit onward
apsis baseline
apsis baseline --again
unlike "there is nothing to leave behind" "$out" "from before"
apsis run -q --iterations 3
echo a note >NOTES.md && commit "a note"
apsis apply c0002
apsis baseline --again --json
line "as JSON, apart" "$(echo $err)" "without the candidates from before; the best of them is c0004 \\(3\\): .apsis apply c0004 --dry-run. shows"
apsis run -q --iterations 2
is "found again" "$(field 6 outcome) $(field 6 primary_metric) $(field 7 outcome) $(field 7 primary_metric)" "kept 2 kept 3"
apsis apply && echo more >>NOTES.md && commit "more"
apsis baseline --again
unlike "the best is in HEAD, beside a note" "$out" "the best of them"
echo 1 >>value.txt && commit "further"
apsis baseline --again
unlike "nor if its file has changed further" "$out" "the best of them"
end_item

item "what waits for approval is left behind, too, and does not keep others from finding it again"
EXTRA="approval: {ask_above: 0}" PROVIDER='provider: {kind: command, run: sh add.sh}' new_project waiting
echo 'echo $(($(cat value.txt) + 1)) >value.txt' >add.sh
commit waiting
apsis baseline
apsis run -q --iterations 1
is "it waits" "$(lines)" 1
echo a note >NOTES.md && commit "a note"
apsis baseline --again
line "told" "$(echo $out)" "HEAD has other files since c0000: .*without the candidates from before"
git reset -q --hard HEAD~1
apsis baseline --again
apsis run -q --iterations 1
apsis approve c0004
is "found again" "$(field 4 outcome) $(field 4 primary_metric)" "kept 1"
end_item

item "so it is with one of the same files, from which the comparison begins again"
EXTRA="approval: {ask_above: 0}" PROVIDER='provider: {kind: command, run: sh add.sh}' new_project same-waiting
echo 'echo $(($(cat value.txt) + 1)) >value.txt' >add.sh
commit waiting
apsis baseline
apsis run -q --iterations 1
apsis baseline --again
apsis run -q --iterations 1
apsis approve c0001
is "not compared any more" "$(field 1 outcome) $(field 1 primary_metric)" "skipped_not_selected null"
apsis approve c0003
is "found again" "$(field 3 outcome) $(field 3 primary_metric)" "kept 1"
apsis replay --check
is "a fold does the same" "$code" 0
end_item

# another_evaluator FACTOR: the project is measured by one that says so many times as much.
another_evaluator() {
    sed -i "s/^echo .*/echo \"METRIC score=\$((\$(cat value.txt) * $1))\"/" evaluate.sh
    commit "times $1"
    apsis baseline --again
}

item "what was planned before something else measured ends: its evaluator came from there"
new_project flight
printf 'while [ -e %s ]; do sleep 0.02; done\necho "METRIC score=$(cat value.txt)"\n' "$T/flight.wait" >evaluate.sh
commit flight
apsis baseline
apsis run -q --iterations 1
touch "$T/flight.wait"
"$APSIS" run -q --iterations 1 >/dev/null 2>&1 &
pid=$!
measuring() { "$APSIS" status | grep -q measuring; }
wait_for "it measures" measuring
kill -INT "$pid"
wait "$pid"
rm "$T/flight.wait"
another_evaluator 1000
apsis run -q --iterations 1
is "the one in flight" "$(field 2 outcome): $(field 2 rollback_reason)" \
    "skipped_not_selected: planned before c0003, from which the search began again"
is "the next" "$(field 4 parents) $(field 4 outcome) $(field 4 primary_metric)" '["c0003"] kept 4000'
apsis replay --check
is "a fold does the same" "$code" 0
end_item

item "a candidate of before is no parent, and run.recent has none"
cat >mine.lua <<'END'
return {
  plan = function(run)
    local all = run.recent(50)
    table.sort(all, function(a, b) return (a.value or 0) > (b.value or 0) end)
    return { parents = { run.options.old and "c0001" or all[1].id } }
  end,
  options = { old = false },
}
END
sed -i 's/^strategy:.*/strategy: mine.lua/' manifest.yaml
another_evaluator 2
apsis run -q --iterations 1
is "recent" "$(field 6 parents)" '["c0005"]'
sed -i 's/^strategy:.*/strategy: {use: mine.lua, options: {old: true}}/' manifest.yaml
apsis run -q --iterations 1
like "named all the same" "$(field 7 rollback_reason)" "parents\[1\]: c0001 is from before c0005"
end_item

item "what waits for approval, or for an answer from outside, has no value under another measure"
EXTRA="approval: {ask_above: 0.05}" new_project asked
echo 10 >value.txt
echo 'return function(proposal) return { ["value.txt"] = 20 + proposal.experiment .. "\n" } end' >propose.lua
commit ten
apsis baseline
apsis run -q --iterations 1
another_evaluator 3
apsis approve
unlike "no gain is shown" "$out" "gain:"
like "why" "$out" "new baseline .c0002. was measured while it waited"
apsis approve c0001
is "its line" "$(field 1 outcome) $(field 1 primary_metric)" "skipped_not_selected null"
git worktree add -q --detach "$T/from" refs/apsis/tiny/c0001
echo 5 >"$T/from/value.txt"
apsis submit "$T/from" -C .
like "nor is it a parent of what somebody submits" "$out$err" "c0001 is from before c0002"
EXTRA="approval: {ask_above: 0.05}" new_project refused
commit refused
apsis baseline
apsis run -q --iterations 1
another_evaluator 3
apsis approve c0001 --reject
is "one that is refused has no value either" "$(field 1 outcome) $(field 1 primary_metric)" "reverted_not_approved null"
PROVIDER='' EXTRA='' new_project outside
apsis baseline
apsis next >/dev/null
another_evaluator 3
echo 7 >value.txt
apsis submit
is "what was planned before" "$(grep -c '"experiment":1,.*skipped_not_selected.*planned before' logs/results.jsonl)" 1
end_item

item "a file that git ignores and a rule names: another measure if it comes, and if it goes"
RULES='  - {path: hid.txt, mode: read_only}' new_project ignored
printf 'f=1; [ ! -e hid.txt ] || f=1000; echo "METRIC score=$(($(cat value.txt) * f))"\n' >evaluate.sh
echo hid.txt >>.gitignore
commit ignored
apsis baseline
apsis run -q --iterations 2
sed -i.bak 's/evaluate\.sh/evaluat.sh/' manifest.yaml
apsis run -q --iterations 1
like "a command that is not there" "$code $err" \
    "^2 apsis: manifest.yaml:[0-9]+: verification.commands\[1\]: evaluat.sh is not found in the project; did you mean \"evaluate.sh\""
unlike "nobody changed the files" "$err" ": files: |: files;"
mv manifest.yaml.bak manifest.yaml
echo x >hid.txt
apsis run -q --iterations 1
like "it comes" "$code $err" "^2 .*hid.txt: the evaluator has changed"
apsis baseline --again
apsis run -q --iterations 1
is "from there" "$(field 4 parents)" '["c0003"]'
rm hid.txt
apsis baseline --again
apsis run -q --iterations 1
is "it goes" "$(field 6 parents) $(field 6 outcome)" '["c0005"] kept'
end_item

item "a baseline that fails is over: status sends nobody to a run that is refused"
new_project failing
apsis baseline
echo 'execution: {target: command, folder: '"$T"'/shared, poll_sec: 0.1, requeue: 0, command: {submit: "true", status: "true", cancel: "true"}}' >>manifest.yaml
apsis baseline --again
is "exit" "$code" 3
apsis status
unlike "status" "$out" "goes on from there"
like "why" "$out" "ready: it could not be measured"
end_item

item "Ctrl-C leaves no commit without a line, so the next run has nothing to say of one"
: >"$T/calls"
MEASURE="[sh, -c, 'echo x >>$T/calls; while [ -e $T/wait ]; do sleep 0.02; done; echo METRIC score=1']" new_project interrupted
apsis baseline --repeats 1
touch "$T/wait"
"$APSIS" baseline --again >"$T/again.out" 2>&1 </dev/null &
pid=$!
begun() { [ "$(calls)" -ge 2 ]; }
wait_for "it measures" begun
kill -INT "$pid"
wait "$pid"
is "interrupted" $? 130
rm "$T/wait"
is "the commits" "$(git for-each-ref --format='%(refname:lstrip=-1)' refs/apsis/tiny/)" c0000
apsis run --iterations 1
unlike "nothing of it" "$err" "no line of"
is "the next number follows" "$(field 1 candidate)" c0001
end_item

item "a journal that was removed beside a run, and saved: each command that misses it names the way back"
new_project "saved away"
apsis baseline -q
mv logs/results.jsonl logs/results.jsonl.kept
for command in status setup "run --iterations 1" "baseline" log; do
    apsis $command
    like "$command" "$out$err" "logs/results.jsonl.kept is a journal that was removed beside a run: .mv .* brings it back"
    unlike "$command" "$out$err" "next:"
done
eval "$(sed -n 's/.*`\(mv [^`]*\)`.*/\1/p' <<<"$err")"
apsis status
line "brought back" "$out" "^baseline: +c0000 = 0"
is "whole" "$err" ""
end_item

finish
