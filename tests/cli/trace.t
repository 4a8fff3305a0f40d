# --trace FILE of run, replay and lab: each call of a hook as a line of JSON.
. tests/cli/lib.sh

new_project trace
cat >mine.lua <<'LUA'
local mine = {}
function mine.init(run) run.memory.count = 0 end
function mine.plan(run)
  print("planning\27[31m")
  run.log("logged", run.experiment)
  return { parents = { run.best } }
end
function mine.accept(run, candidate)
  if run.experiment == 3 then return candidate.none.field end
  return run.metric:better(candidate, run.best), "by value"
end
function mine.learn(run) run.memory.count = run.memory.count + 1 end
return mine
LUA
commit mine
"$APSIS" baseline -q >/dev/null 2>&1

# The values of a key in a trace, a word each.
values() { while read -r line; do printf '%s\n' "$line" | "$APSIS" exec "$ROOT/tests/cli/json.lua" "$2"; done <"$1" | tr '\n' ' '; }

apsis run -q --iterations 3 --workers 1 --strategy mine.lua --trace t.jsonl
item "run --trace: each hook, in order, what it was given, returned, remembered and printed"
is "the run ends as without" "$code $(wc -l <logs/results.jsonl | tr -d ' ')" "0 4"
is "the hooks" "$(values t.jsonl hook)" "init learn halt plan accept learn halt plan accept learn halt plan accept learn "
trace=$(cat t.jsonl)
line "what a plan returned and printed" "$trace" '"experiment":1,.*"hook":"plan",.*"printed":"planning\\u001b\[31m\\nexperiment 1: logged 1\\n",.*"returned":\["\{ parents = \{ c0000 \(0\) \} \}"\]'
line "what accept was given" "$trace" '"experiment":2,"given":\{"candidate":"c0002 \(2\)",.*"hook":"accept".*"returned":\["true","by value"\]'
line "memory" "$trace" '"hook":"learn","memory":\[\{"after":"2","before":"1","path":"count"\}\]'
line "a hook that raised" "$trace" '"experiment":3,"failed":".*mine.lua:9: attempt to index a nil value.*"hook":"accept"'
line "whose it is" "$trace" '"seed":1,"step":1,"strategy":"mine.lua"'
line "print goes to stderr all the same" "$err" "^planning"
unlike "no escape is in the file" "$trace" $'\e'
end_item

apsis replay --strategy hillclimb --trace t.jsonl
is "replay --trace, with the hooks that a replay asks; the file is written anew" "$code $(values t.jsonl hook)" \
    "0 halt plan accept halt plan accept halt plan halt "
apsis replay --trace t.jsonl
is "without another strategy, the manifest's own is asked" "$code $(values t.jsonl hook)" \
    "0 halt plan accept halt plan accept halt plan halt "
apsis lab mine.lua --world onemax:n=10 --seeds 2 --evaluations 3 --trace t.jsonl -q
item "lab --trace"
is "each trial of it, in order" "$code $(values t.jsonl seed | tr ' ' '\n' | uniq -c | sed 's/^ *[0-9]* //' | tr '\n' ' ' | sed 's/ *$//')" "0 1 2"
line "with its hooks" "$(cat t.jsonl)" '"hook":"plan".*"project":"onemax"'
end_item
item "a file that is no trace is refused, and stays"
cp logs/results.jsonl "$T/before"
for file in logs/results.jsonl manifest.yaml mine.lua; do
    apsis run -q --iterations 1 --strategy hillclimb --trace $file
    is "$file" "$code" 2
    line "$file: message" "$err" "--trace: cannot write $file: this file is no trace"
done
ok "the journal" cmp logs/results.jsonl "$T/before"
is "the others" "$(git status --porcelain -- manifest.yaml mine.lua)" ""
before=$(wc -l <t.jsonl)
apsis run -q --iterations 1 --strategy none.lua --trace t.jsonl
is "a run that does not begin keeps the last trace" "$code $(wc -l <t.jsonl)" "2 $before"
end_item
apsis replay --trace absent/t.jsonl
is "a file that cannot be written is a usage error" "$code" 2
line "with its name" "$err" "--trace: cannot write absent/t.jsonl"
apsis run -q --iterations 1 --strategy hillclimb --trace /dev/full
is "a full disk ends the trace and not the run" "$code $(wc -l <logs/results.jsonl | tr -d ' ')" "0 5"
line "with a message" "$err" "^apsis: --trace: cannot write /dev/full: No space left on device; the trace ends here"
finish
