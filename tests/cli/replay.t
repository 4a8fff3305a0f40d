# replay: another strategy's decisions on a recorded run with the proposals held fixed; --check, --at; and the recorded run as a
# world of the lab. The runs are recorded here, of an example: one worker and four.
. tests/cli/lib.sh

experiments=24
[ -n "${APSIS_SANITIZED:-}" ] && experiments=10

# record NAME ARGUMENTS: a run of the example in $T/NAME, which becomes the current directory.
record() {
    name=$1
    shift
    mkdir "$T/$name" && cd "$T/$name" && cp -r "$ROOT/examples/circle-packing/." . && rm -rf logs runs .apsis && git init -q .
    printf '/logs/\n/runs/\n/.apsis/\n/*.new.lua\n' > .gitignore && commit
    "$APSIS" baseline -q > /dev/null 2>&1 && "$APSIS" run -q --iterations "$experiments" "$@" > /dev/null 2>&1
}

kept() { grep -c '"outcome":"kept"' logs/results.jsonl; }

printf 'return { accept = function() return false, "never" end, halt = function() end }\n' > "$T/never.lua"
printf 'return { accept = function(run, candidate) return candidate.none.field end }\n' > "$T/raises.lua"

printf 'return { accept = function() return false end, halt = function() end }\n' > "$T/silent.lua"
printf 'return { halt = function() end, plan = function(run) local number = run.experiment
return { parents = { run.best }, notes = { step = number %% 2 == 0 and 3 or nil }, k = number %% 4 == 0 and 2 or nil } end }\n' > "$T/noting.lua"

for workers in 1 4; do
    record "climb$workers" --workers $workers
    what="$workers at once"
    is "a run is recorded: $what" "$(wc -l < logs/results.jsonl | tr -d ' ')" $((experiments + 1))
    cp logs/results.jsonl "$T/before.jsonl"

    apsis replay --check
    is "the recorded strategy plans the same again: $what" "$code" 0
    line "and all of them are compared: $what" "$out" "$experiments plans compared, 0 differ"

    apsis replay --strategy hillclimb --set patience=5000
    is "the recorded strategy on its own proposals: $what" "$code" 0
    line "it says that they are held fixed: $what" "$out" "proposals held fixed"
    line "and that everything agrees: $what" "$out" "everything agrees with the recording"
    apsis replay --strategy hillclimb --set patience=5000 --json
    is "the same for a program: $what" "$(json agrees) $(json decisions.kept) $(json plans.compared)" \
        "true $(kept) $experiments"

    apsis replay --strategy "$T/never.lua"
    is "differences are a result, not a failure: $what" "$code" 0
    line "one that keeps nothing: $what" "$out" "decides: .* 0 kept \(recorded $(kept)\)"
    line "and a line for each that it would not have kept: $what" "$out" \
        "^c[0-9]+ +[0-9.]+ +kept +reverted_rejected +never"
    apsis replay --strategy "$T/silent.lua"
    line "a reason that accept did not give is not made up: $what" "$out" \
        "^c[0-9]+ +[0-9.]+ +kept +reverted_rejected +\(it gave none\)"
    apsis replay --strategy "$T/never.lua"
    line "so that its best is the baseline: $what" "$out" "^best: +c0000 0.8125 \(recorded "
    apsis replay --strategy "$T/never.lua" --json
    is "the same for a program: $what" "$(json decisions.recorded_kept) $(json decisions.differing.1.outcome) $(json best.candidate)" \
        "$(kept) reverted_rejected c0000"

    apsis replay --strategy "$T/noting.lua"
    is "other notes are a result, not a failure: $what" "$code" 0
    line "parents and operators are the same: $what" "$out" "same parents and operators"
    line "and in how many plans other keys differ: $what" "$out" \
        "^but: +in $((experiments / 4)) of these $experiments plans the k differs, in $((experiments / 2)) the notes; a world in the lab"
    no_line "so not everything agrees: $what" "$out" "everything agrees"
    apsis replay --strategy "$T/noting.lua" --json
    is "the same for a program: $what" "$(json agrees) $(json plans.differ_otherwise) $(json plans.otherwise.notes)" \
        "false $((experiments / 2)) $((experiments / 2))"

    apsis replay --check --strategy annealing
    is "a check that compares nothing is not passed: $what" "$code" 5
    line "it says how many it compared: $what" "$out" \
        "^$((experiments + 1)) recorded lines; 0 plans compared, 0 differ"
    line "and why: $what" "$err" \
        "nothing to check: all $experiments plans are of another strategy \(hillclimb\); give --strategy hillclimb"
    apsis replay
    line "folding alone uses the same words: $what" "$out" "^$((experiments + 1)) recorded lines; best c"

    apsis replay --strategy random_walk --json
    is "random_walk keeps all: $what" "$code $(json decisions.rejected) $(json agrees)" "0 0 false"
    is "and plans otherwise from the first: $what" "$(json plans.differs.experiment) $(json plans.differs.planned.operator) $(json plans.differs.recorded.operator)" \
        "1 exploration exploitation"
    apsis replay --strategy random_walk
    line "which is said: $what" "$out" \
        "the recording cannot be followed from experiment 1 on: this strategy would have planned exploration of c0000, recorded is exploitation of c0000"
    apsis replay --strategy annealing --set start=1e-9 --set finish=1e-9 --set steps=5 --json
    is "annealing is cold after its steps: $what" "$code $(json halts.1.experiment) $(json halts.1.saves.experiments)" \
        "0 6 $((experiments - 5))"
    apsis replay --strategy openevolve --json
    is "openevolve, which reads the candidates' files: $what" "$code $(json lines)" "0 $((experiments + 1))"

    apsis replay --at 7
    is "what the strategy knew at an experiment: $what" "$code" 0
    line "for people: $what" "$out" "^before experiment 7, with [1-7] lines folded"
    apsis replay --at 7 --json
    is "and for programs: $what" "$(json experiment) $(json lines)" \
        "7 $(sed -n 's/.*"experiment":7,.*"seen":\([0-9]*\).*/\1/p' logs/results.jsonl)"

    ok "replaying changes nothing in the journal: $what" cmp -s logs/results.jsonl "$T/before.jsonl"

    cat > "$T/world.lua" <<LUA
local definition = require "apsis.lab.definition"
local trial = require "apsis.lab.trial"
local done = assert(trial.run { strategy = { use = arg[1], options = arg[2] and { patience = 5000 } or nil }, seed = 1, evaluations = 1000,
  workers = $workers, definition = assert(definition.load "replay:dir=.") })
print(done.reason, done.experiments, done.kept, done.best, done.observed)
LUA
    best=$("$APSIS" best --json | "$APSIS" exec "$ROOT/tests/cli/json.lua" value)
    apsis exec "$T/world.lua" hillclimb patient
    line "the recorded strategy in the lab gives the run again: $what" "$out" \
        "^the recording ends after experiment $experiments	$experiments	$(kept)	$best"
    apsis exec "$T/world.lua" random_walk
    line "another ends where it proposes otherwise: $what" "$out" \
        "^the recording cannot be followed from experiment 1 on: .*	0	0	0.8125"
done

apsis replay --strategy "$T/raises.lua"
is "an error in a hook exits 2" "$code" 2
line "with the experiment and the hook" "$err" \
    "experiment [0-9]+: .*raises.lua: hook accept: .*attempt to index a nil value"
line "and a traceback" "$err" "stack traceback"
no_line "of the author's frames only" "$err" "\[C\]|pcall|apsis/"
apsis replay --strategy "$T/none.lua"
is "a strategy that is not there exits 2" "$code" 2
apsis replay --strategy hilclimb
line "a name that is none is said once" "$err" "^apsis: --strategy: no strategy \"hilclimb\""
apsis replay --at 900
is "an experiment that is not there exits 2" "$code" 2
apsis replay --at 3 --check
is "--at and --check exclude each other" "$code" 2

# An islands strategy, recorded with several at once, agrees with itself here and in the lab: its features come from the files.
mkdir "$T/bare" && cd "$T/bare" && cp -r "$T/climb1/." . && head -n 1 "$T/climb1/logs/results.jsonl" > logs/results.jsonl
apsis replay --strategy annealing
is "without an experiment there is nothing to decide" "$code" 3
line "which is said with the remedy" "$err" "run .apsis run. first"
apsis replay --check
is "and nothing to check" "$code" 5
line "which is said" "$err" "nothing to check: no plans are recorded"
record islands --workers 3 --strategy openevolve
apsis replay --strategy openevolve --json
is "openevolve agrees with its own recording" "$code $(json agrees)" "0 true"
sed -i 's/workers = [0-9]*/workers = 3/' "$T/world.lua"
apsis exec "$T/world.lua" openevolve
line "and gives it again in the lab" "$out" "^the recording ends after experiment $experiments	$experiments	$(kept)	"

# Lower is better; candidates measured again by plan and by accept; two runs with patience.
mkdir "$T/lower" && cd "$T/lower" && git init -q . && printf '/logs/\n/runs/\n/.apsis/\n' > .gitignore && echo 50 > value.txt
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
apsis baseline
apsis run
is "a run that measures again, where lower is better" "$code" 0
apsis run
is "and a second one" "$code" 0
ok "it has measured lines" grep -q '"outcome":"measured"' logs/results.jsonl
ok "and samples that accept asked for" grep -q '"trace":\[{"id":"c0001"' logs/results.jsonl
apsis replay --check
is "it plans the same again" "$code" 0
apsis replay --strategy careful.lua --json
is "its measurements are answered from the recording" "$code $(json agrees) $(json decisions.unanswered)" "0 true 0"
is "and its best is the run's" "$(json best.candidate)" \
    "$("$APSIS" best --json | "$APSIS" exec "$ROOT/tests/cli/json.lua" candidate)"
apsis replay --set patience=3
line "with less patience it halts, in each run" "$out" \
    "^halts: +before experiment [0-9]+ \(run 1\): no improvement in 3 experiments"
line "which saves the last one" "$out" "^  saves: +1 experiment, 1 measurement, [0-9.]+ s, 5 tokens"
line "and misses nothing" "$out" "^  misses: +nothing better"
cat > again.lua <<'LUA'
return { accept = function(run, candidate)
  if #candidate.samples < 5 then return "measure", { ids = { candidate.id }, repeats = 4 } end
  return false
end }
LUA
apsis replay --strategy again.lua --json
is "what it asked for and the recording has not is left as recorded" "$code $(json decisions.kept)" \
    "0 $(json decisions.recorded_kept)"
line "and counted" "$(json decisions.unanswered)" "^[1-9]"
apsis replay --strategy again.lua
line "and said" "$out" "the recording cannot answer"

printf 'return { halt = function(run) run.log("asked", { n = run.experiment }) end }\n' > logs.lua
apsis replay --strategy logs.lua
line "run.log of another strategy goes to stderr" "$err" '^experiment 1: asked \{ n = 1 \}$'
no_line "and not to stdout" "$out" "asked"

item "the manifest's direction was changed after the run: replay decides by the recorded one, and names the difference"
new_project turned
apsis baseline
apsis run --iterations 3
apsis replay --strategy annealing
before=$out
sed -i 's/direction: higher/direction: lower/' manifest.yaml
apsis replay --strategy annealing
is "the same decisions" "$out" "$before"
for command in "" --check "--at 2" "--strategy random_walk"; do
    apsis replay $command
    is "exit code of replay $command" "$code" 0
    like "replay $command" "$err" "manifest has score \(lower\), but the journal's values are of score \(higher\)"
done
apsis baseline --again
apsis replay --strategy annealing
unlike "after baseline --again" "$err" "but the journal"
like "what was decided before" "$err" "results.jsonl:5: the metric is score \(lower\) since this baseline and was score \(higher\) before"
end_item

finish
