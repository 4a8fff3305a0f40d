# debug: stepping through a recorded run with a strategy: each hook, forward and back, breakpoints, expressions, a
# changed file; what strategies print is text. The run is recorded here: the values are 1 2 -3 4 5 -6.
. tests/cli/lib.sh
. tests/cli/debugger.sh

new_project debug
printf '%s\n' 'return function(proposal)
local number = proposal.experiment
return { ["value.txt"] = (number % 3 == 0 and -number or number) .. "\n" } end' >propose.lua
cat >mine.lua <<'LUA'
local seen = {}
local mine = {}
function mine.init(run)
  run.memory.tries = {}
end
function mine.plan(run)
  print("planning\27[31m", run.experiment)
  io.write("raw \27]0;title\7\n")
  run.log("logged", { run.experiment })
  return { parents = { run.best } }
end
function mine.accept(run, candidate)
  return run.metric:better(candidate, run.best), "by value"
end
function mine.learn(run, line)
  seen[line.experiment] = true
  run.memory.tries[line.outcome] = (run.memory.tries[line.outcome] or 0) + 1
end
return mine
LUA
commit mine
"$APSIS" baseline -q >/dev/null 2>&1 && "$APSIS" run -q --iterations 6 --workers 1 >/dev/null 2>&1
cp logs/results.jsonl "$T/before.jsonl"


debug 's\ns\ns\ns\ns\ns\ns\ns\ns\n' --strategy mine.lua
item "each hook is a step, in the order of the run; a line is one, too"
is "it ends well" "$code" 0
is "the hooks" "$(heads)" "0init 0learn 0line 1halt 1plan 1accept 1learn 1line 2halt 2plan "
line "where a hook is written" "$out" "^step 5, experiment 1: plan \(mine.lua:6\)"
line "a hook that the file leaves out is hillclimb's" "$out" "^step 4, experiment 1: halt \(hillclimb.lua:"
line "what it was given" "$out" "^  candidate +c0001 \(1\)"
line "and of the run" "$out" "^  run +best c0000 \(0\), current c0000 \(0\), since_kept 0, since_best 0, pending 1$"
line "what it returned" "$out" '^  returned +true, by value'
line "what a plan returned" "$out" '^  returned +\{ parents = \{ c0000 \(0\) \} \}'
line "memory, before and after" "$out" '^  memory +tries.kept: nil -> 1'
line "and of init" "$out" '^  memory +tries: nil -> \{\}'
line "the outcome" "$out" '^  line +c0001 \(1\): kept'
end_item

item "what a strategy prints is text: print, io.write and run.log"
line "print" "$out" '^  printed +planning\^\[\[31m	1$'
line "io.write" "$out" '^ +raw \^\[\]0;title\^G$'
line "run.log" "$out" '^ +experiment 1: logged \{ 1 \}$'
unlike "no escape reaches the terminal" "$out$err" $'\e'
is "nothing is printed beside" "$err" ""
end_item

debug 'n\nn\ns 3\nr\nr 2\nrn\ng 5\ng 2\n' --at 3 --strategy mine.lua
is "to an experiment, on, and back as well as forward" "$(heads)" "3halt 4halt 5halt 5learn 5accept 5halt 4halt 5halt 2halt "
debug 'rn\nr\ns 0\nr x\ng\nd 4\nz\n' --strategy mine.lua
is "what cannot be done is answered, and goes nowhere" "$(heads)$(printf '%s\n' "$out" | tail -n 7)" "0init this is the first experiment
this is the first step
s N: N is a number of steps, from 1 on
r N: N is a number of steps, from 1 on
g N: N is the number of an experiment
d N: N is the number of a breakpoint; d all deletes all
no command \"z\"; h lists them"
debug 's\n\n\n' --strategy mine.lua
is "an empty line does the last command again" "$(heads)" "0init 0learn 0line 1halt "
debug 'c\ns\nr\nq\ns\n' --strategy mine.lua
line "at the end it shows how far it came" "$out" "^the journal ends here, after 7 lines and 34 steps"
is "and goes back from there; q quits" "$(heads)" "0init 7halt 6line "

debug 'b accept\nc\nc\nrc\nd 1\nb reverted_worse_metric\nc\nb\nd all\nb 5\nc\n' --strategy mine.lua
is "breakpoints: a hook, an outcome, an experiment; also back" "$(heads)" "0init 1accept 2accept 1accept 3line 5halt "
debug 'b if run.memory.tries.kept == 2\nc\nd 1\nb learn kept if line.value > 2\nc\nc\n' --strategy mine.lua
is "a Lua expression, and several conditions at once" "$(heads)" "0init 2learn 4learn 5learn "
debug 'b if candidate.value > 4\nc\nb\nb if )\nb akcept\nb accept kept\n' --strategy mine.lua
item "an expression that fails is not true, and is reported"
is "it stops where it is true" "$(heads)" "0init 5accept "
is "the first failure is reported where it happens, once" "$(printf '%s\n' "$out" | grep '^breakpoint 1 fails' | cut -d: -f1)" \
    "breakpoint 1 fails at step 2, learn, and so does not stop there"
line "the list shows the failure" "$out" "^breakpoint 1: if candidate.value > 4 \(not true where it failed: .*candidate"
line "what is no expression" "$out" "^no Lua expression: \): "
line "what is no hook" "$out" '^"akcept" is no hook, experiment or outcome; did you mean "accept"\?'
line "what can never be" "$out" "^an outcome is known once the line is there: b learn kept, or b kept"
end_item

# Ctrl-C ends a hook that runs, and the hook alone; so it does an expression. It may come a hundred times in a session.
cat >endless.lua <<'LUA'
return { plan = function(run)
  while run.experiment == 2 do local _ = 1 end
  return { parents = { run.best } }
end }
LUA
mkfifo "$T/interrupted"
"$APSIS" debug --strategy endless.lua <"$T/interrupted" >"$T/.out" 2>"$T/.err" &
debugger=$!
exec 3>"$T/interrupted"
answered() { for _ in $(seq 200); do grep -q "$1" "$T/.out" && return; sleep 0.05; done; return 1; }
interrupted() { for _ in $(seq 100); do kill -INT "$debugger" $(pgrep -P "$debugger"); sleep 0.2; grep -q "$1" "$T/.out" && return; done; return 1; }
printf 'first\nb halt 3\nc\n' >&3
answered 'first'
sleep 0.3
item "Ctrl-C ends a hook that does not end"
ok "it is a failed step" interrupted 'failed .*endless.lua:2: ended by Ctrl-C'
printf 'r\np (function() while true do end end)()\n' >&3
answered 'experiment 2: halt'
sleep 0.3
ok "and an expression" interrupted '^ended by Ctrl-C'
printf 'p 6 * 7\n' >&3
ok "and the session goes on" answered '^42$'
exec 3>&-
wait "$debugger"
is "to its end" $? 0
end_item

debug 'g 4\np run.best.value, run.experiment\np run.memory.tries\np seen\np memory.tries.kept = 3\np candidate.id\np canddate.id\np run\nm\nl\np run.memory.x\n' --strategy mine.lua
item "p: expressions at a step"
line "values" "$out" "^2$"
line "tables" "$out" "^\{ baseline = 1, kept = 2, reverted_worse_metric = 1 \}"
line "locals of the file" "$out" "^\{ \[0\] = true|^\{ true, true, true"
line "no statement" "$out" "near '='|<eof> expected"
line "errors are answers" "$out" "attempt to index a nil value"
line "a name that is none" "$out" '^canddate is no name here; did you mean "candidate"\?; a local inside a hook is gone'
line "run: its main fields" "$out" '^  best = c0002 \(2\)'
line "m: memory" "$out" "^tries.reverted_worse_metric = 1"
line "l: the source" "$out" "^ +[0-9]+  function hillclimb.halt"
end_item

item "a breakpoint of an expression shows what changed in memory; numbers that mean nothing are refused"
debug 'b learn if line.experiment == 2\nc\np run.options\ng 99\ng -1\nc 3\n' --strategy mine.lua
like "memory" "$out" 'experiment 2: learn .*memory +tries\.kept: 1 -> 2'
line "options" "$out" '^\{ patience = '
line "no such experiment" "$out" '^no experiment 99 is in the journal$'
line "not below 0" "$out" '^g N: N is the number'
line "c has no number" "$out" '^c takes nothing'
line "whose run it is" "$out" '^experiment 1 was planned by hillclimb, and you look at it with mine\.lua'
end_item

printf 'return { accept = function(run, candidate) print(candidate.id) return candidate.none.field end }\n' >raises.lua
debug 'b plan\nc\nd 1\nc\ns\nr\n' --strategy raises.lua
item "a hook that raises is a step, and the last"
is "it goes back from there" "$(heads)" "0line 1plan 1accept 1plan "
line "the error, with its place" "$out" "^  failed +.*raises.lua:1: attempt to index a nil value"
line "what it printed before" "$out" "^  printed +c0001"
line "the way on" "$out" "^the strategy failed at this step: r goes back, f loads the file again"
end_item

# The same where the run itself was of a strategy that fails: what was not decided then is asked again.
cat >fails.lua <<'LUA'
return {
  plan = function(run) return { parents = { run.experiment == 9 and run.nothing or run.best } } end,
  accept = function(run, candidate) return run.experiment == 8 and candidate.none.field or true end,
}
LUA
cp logs/results.jsonl "$T/whole.jsonl"
"$APSIS" run -q --iterations 4 --workers 1 --strategy fails.lua >/dev/null 2>&1
is "a run whose strategy fails in accept and plan" "$(grep -c skipped_strategy_error logs/results.jsonl)" 2
debug 'c\n' --strategy fails.lua --at 8
line "it stops where accept failed" "$out" "experiment 8: accept"
sed -i 's/run.experiment == 8/false/' fails.lua
debug 'c\n' --strategy fails.lua --at 8
line "and, once that is corrected, where plan failed" "$out" "experiment 9: plan"
line "with the failure" "$out" '^  failed .*a run has no field "nothing"'
sed -i 's/run.experiment == 9/false/' fails.lua
debug 'b 9\nc\nc\n' --strategy fails.lua --at 8
line "once all is corrected, to the end" "$out" "^the journal ends here, after 11 lines"
cp "$T/whole.jsonl" logs/results.jsonl

# A person changes the file meanwhile: the commands come from a pipe that waits for it.
mkfifo "$T/commands"
"$APSIS" debug --strategy raises.lua --at 3 <"$T/commands" >"$T/.out" 2>"$T/.err" &
exec 3>"$T/commands"
waited() { for _ in $(seq 200); do grep -q "$1" "$T/.out" && return; sleep 0.05; done; return 1; }
waited 'failed'
printf 'return { accept = function(run, candidate) return false, "changed" end, halt = function() end }\n' >raises.lua
printf 'f\nb accept\nc\n' >&3
waited 'changed'
exec 3>&-
wait $!
out=$(cat "$T/.out")
is "a changed file is loaded, and it goes on from the same experiment" "$(heads)" "1accept 1halt 1accept "
line "with its new decisions" "$out" "^  returned +false, changed"

debug 's\np 1 + 1\nz\nb accept\nc\n' --strategy mine.lua --json
item "--json: each answer is a line of JSON"
is "steps and answers" "$(printf '%s\n' "$out" | grep -c '^{.*}$') of $(printf '%s\n' "$out" | wc -l | tr -d ' ')" "6 of 6"
line "a step" "$out" '^\{"experiment":0,"given":\{.*"hook":"init","memory":\[\{"after":"\{\}","path":"tries"\}\],.*"step":1\}'
line "a value" "$out" '^\{"value":"2"\}'
line "an error" "$out" '^\{"error":"no command'
end_item

debug 'c\n' --strategy mine.lua --at 99
is "an experiment that is not there exits 2" "$code" 2
line "with its number" "$err" "at: no experiment 99 is in the journal"
debug '' --strategy none.lua
is "a strategy that does not load exits 2" "$code" 2
ok "nothing is changed in the journal" cmp -s logs/results.jsonl "$T/before.jsonl"
cd "$T" && new_project fresh
debug 's\n'
is "without a journal it exits 3" "$code" 3
finish
