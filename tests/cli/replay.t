# replay: another strategy's decisions on a recorded run with the proposals held fixed; --check, --at; and the recorded run as a
# world of the lab. The runs are recorded here, of an example: one worker and four.
. "$(dirname "$0")/transcript.sh"

experiments=24
[ -n "${APSIS_SANITIZED:-}" ] && experiments=10

# record NAME ARGUMENTS: a run of the example in $work/NAME, which becomes the current directory.
record() {
    name=$1
    shift
    mkdir "$work/$name" && cd "$work/$name" && cp -r "$top/examples/circle-packing/." . && rm -rf logs runs .apsis && git init -q .
    printf '/logs/\n/runs/\n/.apsis/\n/*.new.lua\n' > .gitignore && commit
    "$APSIS" baseline -q > /dev/null 2>&1 && "$APSIS" run -q --iterations "$experiments" "$@" > /dev/null 2>&1
}

kept() { grep -c '"outcome":"kept"' logs/results.jsonl; }

printf 'return { accept = function() return false, "never" end, halt = function() end }\n' > "$work/never.lua"
printf 'return { accept = function(run, candidate) return candidate.none.field end }\n' > "$work/raises.lua"

printf 'return { accept = function() return false end, halt = function() end }\n' > "$work/silent.lua"
printf 'return { halt = function() end, plan = function(run) local number = run.experiment
return { parents = { run.best }, notes = { step = number %% 2 == 0 and 3 or nil }, k = number %% 4 == 0 and 2 or nil } end }\n' > "$work/noting.lua"

for workers in 1 4; do
    record "climb$workers" --workers $workers
    what="$workers at once"
    is "$(wc -l < logs/results.jsonl | tr -d ' ')" $((experiments + 1)) "a run is recorded: $what"
    cp logs/results.jsonl "$work/before.jsonl"

    run replay --check
    is "$code" 0 "the recorded strategy plans the same again: $what"
    like "$out" "$experiments plans compared, 0 differ" "and all of them are compared: $what"

    run replay --strategy hillclimb --set patience=5000
    is "$code" 0 "the recorded strategy on its own proposals: $what"
    like "$out" "proposals held fixed" "it says that they are held fixed: $what"
    like "$out" "everything agrees with the recording" "and that everything agrees: $what"
    run replay --strategy hillclimb --set patience=5000 --json
    is "$(json agrees) $(json decisions.kept) $(json plans.compared)" "true $(kept) $experiments" "the same for a program: $what"

    run replay --strategy "$work/never.lua"
    is "$code" 0 "differences are a result, not a failure: $what"
    like "$out" "decides: .* 0 kept \(recorded $(kept)\)" "one that keeps nothing: $what"
    like "$out" "^c[0-9]+ +[0-9.]+ +kept +reverted_rejected +never" "and a line for each that it would not have kept: $what"
    run replay --strategy "$work/silent.lua"
    like "$out" "^c[0-9]+ +[0-9.]+ +kept +reverted_rejected +\(it gave none\)" "a reason that accept did not give is not made up: $what"
    run replay --strategy "$work/never.lua"
    like "$out" "^best: +c0000 0.91 \(recorded " "so that its best is the baseline: $what"
    run replay --strategy "$work/never.lua" --json
    is "$(json decisions.recorded_kept) $(json decisions.differing.1.outcome) $(json best.candidate)" \
        "$(kept) reverted_rejected c0000" "the same for a program: $what"

    run replay --strategy "$work/noting.lua"
    is "$code" 0 "other notes are a result, not a failure: $what"
    like "$out" "same parents and operators" "parents and operators are the same: $what"
    like "$out" "^but: +other k in $((experiments / 4)), notes in $((experiments / 2)) of the $experiments plans compared; a world in the lab" \
        "and in how many plans other keys differ: $what"
    unlike "$out" "everything agrees" "so not everything agrees: $what"
    run replay --strategy "$work/noting.lua" --json
    is "$(json agrees) $(json plans.differ_otherwise) $(json plans.otherwise.notes)" "false $((experiments / 2)) $((experiments / 2))" \
        "the same for a program: $what"

    run replay --check --strategy annealing
    is "$code" 5 "a check that compares nothing is not passed: $what"
    like "$out" "^$((experiments + 1)) recorded lines; 0 plans compared, 0 differ" "it says how many it compared: $what"
    like "$err" "nothing to check: all $experiments plans are of another strategy \(hillclimb\); give --strategy hillclimb" "and why: $what"
    run replay
    like "$out" "^$((experiments + 1)) recorded lines; best c" "folding alone uses the same words: $what"

    run replay --strategy random_walk --json
    is "$code $(json decisions.rejected) $(json agrees)" "0 0 false" "random_walk keeps all: $what"
    is "$(json plans.differs.experiment) $(json plans.differs.planned.operator) $(json plans.differs.recorded.operator)" \
        "1 exploration exploitation" "and plans otherwise from the first: $what"
    run replay --strategy random_walk
    like "$out" "from experiment 1 on the recording no longer answers: it planned exploration of c0000, recorded exploitation of c0000" \
        "which is said: $what"
    run replay --strategy annealing --set start=1e-9 --set finish=1e-9 --set steps=5 --json
    is "$code $(json halts.1.experiment) $(json halts.1.saves.experiments)" "0 6 $((experiments - 5))" "annealing is cold after its steps: $what"
    run replay --strategy openevolve --json
    is "$code $(json lines)" "0 $((experiments + 1))" "openevolve, which reads the candidates' files: $what"

    run replay --at 7
    is "$code" 0 "what the strategy knew at an experiment: $what"
    like "$out" "^before experiment 7, with [1-7] lines folded" "for people: $what"
    run replay --at 7 --json
    is "$(json experiment) $(json lines)" "7 $(sed -n 's/.*"experiment":7,.*"seen":\([0-9]*\).*/\1/p' logs/results.jsonl)" "and for programs: $what"

    ok "replaying changes nothing in the journal: $what" cmp -s logs/results.jsonl "$work/before.jsonl"

    cat > "$work/world.lua" <<LUA
local definition = require "apsis.lab.definition"
local trial = require "apsis.lab.trial"
local done = assert(trial.run { strategy = { use = arg[1], options = arg[2] and { patience = 5000 } or nil }, seed = 1, evaluations = 1000,
  workers = $workers, definition = assert(definition.load "replay:dir=.") })
print(done.reason, done.experiments, done.kept, done.best, done.observed)
LUA
    best=$("$APSIS" best --json | "$APSIS" exec "$here/json.lua" value)
    run exec "$work/world.lua" hillclimb patient
    like "$out" "^the recording ends after experiment $experiments	$experiments	$(kept)	$best" "the recorded strategy in the lab gives the run again: $what"
    run exec "$work/world.lua" random_walk
    like "$out" "^from experiment 1 on the recording no longer answers: .*	0	0	0.91" "another ends where it proposes otherwise: $what"
done

run replay --strategy "$work/raises.lua"
is "$code" 2 "an error in a hook exits 2"
like "$err" "experiment [0-9]+: .*raises.lua: hook accept: .*attempt to index a nil value" "with the experiment and the hook"
like "$err" "stack traceback" "and a traceback"
unlike "$err" "\[C\]|pcall|apsis/" "of the author's frames only"
run replay --strategy "$work/none.lua"
is "$code" 2 "a strategy that is not there exits 2"
run replay --strategy hilclimb
like "$err" "^apsis: --strategy: no strategy \"hilclimb\"" "a name that is none is said once"
run replay --at 900
is "$code" 2 "an experiment that is not there exits 2"
run replay --at 3 --check
is "$code" 2 "--at and --check exclude each other"

# An islands strategy, recorded with several at once, agrees with itself here and in the lab: its features come from the files.
mkdir "$work/bare" && cd "$work/bare" && cp -r "$work/climb1/." . && head -n 1 "$work/climb1/logs/results.jsonl" > logs/results.jsonl
run replay --strategy annealing
is "$code" 3 "without an experiment there is nothing to decide"
like "$err" "run .apsis run. first" "which is said with the remedy"
run replay --check
is "$code" 5 "and nothing to check"
like "$err" "nothing to check: no plans are recorded" "which is said"
record islands --workers 3 --strategy openevolve
run replay --strategy openevolve --json
is "$code $(json agrees)" "0 true" "openevolve agrees with its own recording"
sed -i 's/workers = [0-9]*/workers = 3/' "$work/world.lua"
run exec "$work/world.lua" openevolve
like "$out" "^the recording ends after experiment $experiments	$experiments	$(kept)	" "and gives it again in the lab"

# Lower is better; candidates measured again by plan and by accept; two runs with patience.
mkdir "$work/lower" && cd "$work/lower" && git init -q . && printf '/logs/\n/runs/\n/.apsis/\n' > .gitignore && echo 50 > value.txt
cat > manifest.yaml <<'YAML'
version: 1
files: [{path: value.txt, mode: writable}]
verification: {commands: [{name: measure, run: 'echo "METRIC cost=$(cat value.txt)"'}]}
metric: {name: cost, direction: lower}
strategy: careful.lua
provider: {kind: lua, use: propose.lua}
YAML
cat > careful.lua <<'LUA'
return {
  options = { patience = 4 },
  plan = function(run)
    if run.experiment % 5 == 4 and run.recent(1)[1].outcome ~= "measured" then return { measure = { run.best, "c0000" } } end
    return { parents = { run.best } }
  end,
  accept = function(run, candidate)
    if run.metric:better(candidate, run.best) and #candidate.samples < 2 then return "measure", { ids = { candidate.id } } end
    return run.metric:better(candidate, run.best)
  end,
}
LUA
cat > propose.lua <<'LUA'
return function(proposal, workspace)
  local n = proposal.experiment
  return { ["value.txt"] = ("%d\n"):format(tonumber(workspace:read("value.txt")) + (n < 9 and (n % 3 == 0 and 2 or -n) or n)) }, { tokens = 5 }
end
LUA
commit
run baseline
run run
is "$code" 0 "a run that measures again, where lower is better"
run run
is "$code" 0 "and a second one"
ok "it has measured lines" grep -q '"outcome":"measured"' logs/results.jsonl
ok "and samples that accept asked for" grep -q '"trace":\[{"id":"c0001"' logs/results.jsonl
run replay --check
is "$code" 0 "it plans the same again"
run replay --strategy careful.lua --json
is "$code $(json agrees) $(json decisions.unanswered)" "0 true 0" "its measurements are answered from the recording"
is "$(json best.candidate)" "$("$APSIS" best --json | "$APSIS" exec "$here/json.lua" candidate)" "and its best is the run's"
run replay --set patience=3
like "$out" "^halts: +before experiment [0-9]+ \(run 1\): no improvement in 3 experiments" "with less patience it halts, in each run"
like "$out" "^  saves: +1 experiment, 1 measurement, [0-9.]+ s, 5 tokens" "which saves the last one"
like "$out" "^  misses: +nothing better" "and misses nothing"
cat > again.lua <<'LUA'
return { accept = function(run, candidate)
  if #candidate.samples < 5 then return "measure", { ids = { candidate.id }, repeats = 4 } end
  return false
end }
LUA
run replay --strategy again.lua --json
is "$code $(json decisions.kept)" "0 $(json decisions.recorded_kept)" "what it asked for and the recording has not is left as recorded"
like "$(json decisions.unanswered)" "^[1-9]" "and counted"
run replay --strategy again.lua
like "$out" "the recording cannot answer" "and said"

done_testing
