#!/bin/bash
# warmup: runs at the beginning of a measurement that do not count: in values, samples, items, near misses and artifacts; with repeats, cases,
# stages, fitness, acceptance; and what is shown of them.
. tests/cli/lib.sh || exit 1

# A project whose first run in each checkout prints 100, and each later run what value.txt holds.
cold() {
    new_project "$1"
    cat >evaluate.sh <<'END'
echo run >>"$T_RUNS"
if [ -e cold ]; then echo "METRIC score=$(cat value.txt)"; echo "METRIC warm=1"
else echo "METRIC score=100"; echo "METRIC first=1"; echo "METRIC: near=3"; echo cold words >&2; fi
: >cold
END
    sed -i "s|evaluate.sh, timeout|evaluate.sh, env: {T_RUNS: $T/runs-$1}, timeout|; s/^verification:/verification:\n  keep: [cold]/" manifest.yaml
    commit cold
}
warm() { sed -i "s/^verification:/verification:\n  warmup: $1/" manifest.yaml && git commit -qam "warmup $1"; }
runs() { wc -l <"$T/runs-$1" | tr -d ' '; }

item "without warmup the first run counts; with it, it leaves no value, sample, metric or near miss"
cold once
apsis eval --json
is "cold" "$(json value)" 100
warm 1
rm "$T/runs-once"
apsis eval --json
is "warm" "$code:$(json value):$(json samples)" "0:0:[0]"
is "metrics" "$(json metrics)" '{"score":0,"warm":1}'
unlike "near misses" "$out$err" "near=3"
is "two runs" "$(runs once)" 2
end_item

item "with repeats the median and the samples are of the runs that count; the log marks the others"
sed -i 's/^verification:/verification:\n  repeats: 3/' manifest.yaml && git commit -qam repeats
rm "$T/runs-once"
apsis baseline --repeats 1
is "exit code" "$code" 0
is "value" "$(field 0 primary_metric)" 0
is "samples" "$(field 0 samples)" "[0,0,0]"
no_line "no near misses" "$(cat runs/0000_baseline/metrics.json)" "near=3"
is "four runs" "$(runs once)" 4
is "log" "$(grep -c '^\$ measure (warm-up, does not count)$' runs/0000_baseline/verifier.log):$(grep -c '^\$ measure$' runs/0000_baseline/verifier.log)" 1:3
no_line "stderr of the warm-up is no artifact" "$(cat runs/0000_baseline/artifacts/stderr.txt 2>/dev/null)" "cold words"
apsis run --iterations 2 -q
is "kept" "$(field 1 outcome) $(field 2 primary_metric)" "kept 2"
apsis replay --check
is "replay" "$code" 0
end_item

item "a measurement that a strategy asks for is warmed up too, and is one measurement"
cat >again.lua <<'END'
local again = {}
function again.plan(run)
  if run.experiment == 3 then return { measure = { "c0000", "c0001" }, repeats = 2 } end
  return { parents = { run.best } }
end
return again
END
git add again.lua && git commit -qm again
rm "$T/runs-once"
apsis run --strategy again.lua --iterations 1 -q
is "outcome" "$(field 3 outcome)" measured
is "its values" "$(grep '"experiment":3,' logs/results.jsonl | "$APSIS" exec "$ROOT/tests/cli/json.lua" trace)" \
    '[{"id":"c0000","value":0},{"id":"c0001","value":1},{"id":"c0000","value":0},{"id":"c0001","value":1}]'
is "two runs for each, and for the next candidate" "$(runs once)" 12
end_item

item "a warm-up that fails is a failure, and names itself"
cold failing
warm 2
printf '%s\n' 'if [ -e cold ]; then exit 7; fi' ': >cold' 'echo METRIC score=1' >evaluate.sh && git commit -qam failing
apsis eval
is "exit code" "$code" 5
like "reason" "$out$err" "warm-up: measure: exit 7"
end_item

item "cases: each is run once more, and items are of the runs that count"
new_project cases
mkdir cases && echo 3 >cases/a && echo 5 >cases/b
cat >evaluate.sh <<'END'
if [ -e "cold-$(basename "$1")" ]; then echo "METRIC score=$(cat "$1")"; else echo "METRIC score=100"; fi
: >"cold-$(basename "$1")"
END
sed -i 's/^verification:/verification:\n  warmup: 1\n  cases: ["cases\/*"]\n  keep: ["cold-*"]/' manifest.yaml
commit cases
apsis eval --json
is "value" "$(json value)" 4
end_item

item "stages: the commands of each stage are warmed up"
cold stages
warm 1
sed -i "s|commands: \[|commands: [{name: quick, run: sh evaluate.sh, env: {T_RUNS: $T/runs-quick}}, |; s/name: measure,/name: measure, stage: 2,/" manifest.yaml
git commit -qam stages
apsis eval --json
is "value" "$code:$(json value):$(runs stages):$(runs quick)" 0:0:2:2
end_item

item "fitness: a command's first run does not count"
new_project fit
cat >score.sh <<'END'
if [ -e cold ]; then echo "METRIC ops=3"; else echo "METRIC ops=100"; fi
: >cold
END
cat >manifest.yaml <<'END'
version: 1
project: {name: fit}
files: [{path: value.txt, mode: writable}]
verification: {warmup: 1, keep: [cold]}
provider: {kind: lua, use: propose.lua}
fitness: {domain: benchmark, run: sh score.sh, metric: ops, scale: 100}
END
commit fit
apsis eval --json
is "value" "$code:$(json value)" 0:0.03
end_item

item "a change of warmup needs a new baseline; 0 is no change, and a negative number is refused"
cold changed
apsis baseline --repeats 1 -q
sed -i "s/^verification:/verification:\n  warmup: 0/" manifest.yaml && git commit -qam none
apsis run --iterations 1 -q
is "0" "$code" 0
sed -i "s/warmup: 0/warmup: 1/" manifest.yaml && git commit -qam one
apsis run --iterations 1 -q
is "1" "$code" 2
like "names it" "$err" "verification"
sed -i "s/warmup: 1/warmup: -1/" manifest.yaml
apsis setup
is "refused" "$code" 2
like "names the key" "$out" "verification.warmup"
end_item

finish
