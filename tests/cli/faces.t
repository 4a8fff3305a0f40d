#!/bin/bash
# faces: status, log, watch, report and the live line show the same figures, over runs of every kind. faces_more.t has
# more of them, one with every outcome.
. tests/cli/lib.sh && . tests/cli/faces.sh || exit 1

for name in climb noisy; do
    mkdir "$T/$name" && cd "$T/$name" && git init -q . || exit 1
    git fetch -q "$ROOT/tests/data/old/$name/repository.bundle" 'refs/*:refs/*' --update-head-ok
    git reset -q --hard && cp -r "$ROOT/tests/data/old/$name/logs" .
    agree "recorded: $name"
done

values higher 3 1 4 5 = 9 - 2 && start && live --iterations 8
agree "higher is better; crashes, no change" live kept
DIRECTION=lower values lower 900000 -3.25 -2 7 -6.125 -5 && start && live --iterations 6
agree "lower is better, a great step, below 0" live kept
DIRECTION=lower values share 100 80 90 60 77 && echo 120 >value.txt && start && live --iterations 5
agree "a gain in per cent" live kept
values tied 7 7 7 7 6 && echo 'return { accept = function(run, candidate) return run.metric:better(candidate, run.best)
    or run.metric:tied(candidate, run.best) end }' >ties.lua && sed -i 's/^strategy:.*/strategy: ties.lua/' manifest.yaml
start && live --iterations 5
agree "ties that are kept" live kept
values baseline 1 && start
agree "a baseline alone"
values failed - && echo - >value.txt && start
agree "a baseline without a value"
values worse -1 -2 -3 -4 && start && live --iterations 4
agree "nothing is kept" live kept
EXTRA='gate: sh gate.sh' values gated 3 4 5 6 1 && echo '! grep -q "^[46]$" value.txt' >gate.sh && start && live --iterations 5
agree "a gate" live kept
EXTRA=$'metrics: {size: {direction: lower}}\nguards: [{metric: size, max_regression: 1}]' values guarded 3 4 5 6 1
start && live --iterations 5
agree "guards" live kept
values bounded 3 40 5 60 1 && sed -i 's/direction: higher/direction: higher, max_pass: 10/' manifest.yaml && start
live --iterations 5
agree "limits of the value" live kept
values reached 3 5 8 9 && sed -i 's/direction: higher/direction: higher, target: 7/' manifest.yaml && start && live
agree "a target that is reached" live
EXTRA='budget: {iterations: 3}' values budget 3 5 1 && start && live
agree "a budget that is used up" live kept
EXTRA='execution: {workers: 3}' values workers 3 5 6 2 7 8 && start && live --iterations 6
agree "three workers" live
values several 3 1 4 1 5 9 2 6 && start
for strategy in hillclimb random_walk openevolve; do live --strategy $strategy --iterations 2; done
agree "several strategies, in several runs" live

finish
