#!/usr/bin/env bash
# Verifications on four real Slurm nodes (tests/cluster/up): `make test-slurm`. KILLS=100 AWAY=60: how often apsis is killed, and how
# many seconds the controller is away.
. tests/cli/lib.sh || exit 1

. tests/cluster/lib.sh

KILLS=${KILLS:-10} AWAY=${AWAY:-20}

item "what is measured on the nodes has its line; the queue is empty at the end of the budget"
nodes plain "workers: 8"
apsis run -q --iterations 12
is "run" "$code" 0
is "values" "$(numbers)" "1 2 3 4 5 6 7 8 9 10 11 12 "
is "once each" "$(twice plain)" ""
queue_empties
end_item

item "a job that outlives its time limit changes nothing of the next candidate"
nodes stale "workers: 1"
sed -i 's/timeout_sec: 10/timeout_sec: 2/' manifest.yaml
cat >evaluate.sh <<'END'
if [ "$(cat value.txt)" = 2 ]; then
    trap '' TERM
    (trap '' TERM; setsid sh -c 'sleep 3; echo "METRIC score=99999" >>"$APSIS_METRICS"') &
    sleep 4
    echo "METRIC score=99999"
fi
echo "METRIC score=$(cat value.txt)"
END
commit stale
apsis run -q --iterations 1
apsis baseline --again --repeats 1 -q
apsis run -q --iterations 3
no_line "never" "$(cat logs/results.jsonl)" '"primary_metric":99999'
like "those after it have their own" "$(numbers)" "3 4 $"
end_item

item "waiting is not in the time limit"
nodes waiting "options: [--exclusive]"
sed -i 's/timeout_sec: 10/timeout_sec: 3/' manifest.yaml && commit limit
for _ in 1 2 3 4; do sbatch --exclusive --output=/dev/null --wrap='sleep 6' >/dev/null; done
apsis run -q --iterations 1
is "value" "$(numbers)" "1 "
like "it waited" "$(cat logs/apsis.log)" "experiment 1: measured on n[1-4] in [0-2]\.[0-9] s, after ([3-9]|1[0-9])\.[0-9] s in the queue"
end_item

item "the queue is empty 5 s after Ctrl-C, a target, the strategy's halt, and the dollars"
nodes stopped "workers: 8" 3
start_run --iterations 30
in_time "they run" 20 begun stopped 4
kill -INT "$pid"
wait "$pid"
is "interrupted" $? 130
queue_empties
sed -i 's/^metric: {name: score,/& target: 3,/' manifest.yaml && commit target
apsis run -q --iterations 30
is "target" "$code" 0
queue_empties
sed -i 's/ target: 3,//; s/^strategy: .*/strategy: halting.lua/' manifest.yaml
cat >halting.lua <<'END'
return { plan = function(run) return { parents = { run.best } } end,
  accept = function(run, candidate) return run.metric:better(candidate, run.best) end,
  halt = function(run) return run.best.value >= 12 and "enough" or nil end }
END
commit halt
apsis run --iterations 60
is "halt" "$code" 0
like "its reason" "$out" "enough"
queue_empties
sed -i 's/^strategy: .*/strategy: hillclimb/; s/poll_sec: 0.5,/& usd_per_hour: 3600,/' manifest.yaml
echo 'budget: {usd: 20}' >>manifest.yaml && commit dollars
apsis run --iterations 90
like "dollars" "$out" "usd"
queue_empties
end_item

item "apsis is killed $KILLS times, and the controller once: each job is measured once, each has one line, no value is wrong"
nodes killed "workers: 8" 1
for ((kill = 1; kill <= KILLS; kill++)); do
    start_run --iterations 8
    sleep "$((RANDOM % 3)).$((RANDOM % 10))"
    kill -9 "$pid"
    wait "$pid" 2>/dev/null
    if [ "$kill" = $((KILLS / 2)) ]; then controller away && sleep 2 && controller back; fi
done
apsis run -q --iterations 8
is "run" "$code" 0
is "once each" "$(twice killed)" ""
wrong() { sed -nE 's/.*"experiment": *([0-9]+),.*"primary_metric": *([-0-9.]+|null).*/\1 \2/p' logs/results.jsonl | awk '$1 != $2'; }
is "each has its own value" "$(wrong)" ""
is "one line each" "$(cut -d' ' -f1 "$T/killed.evaluations" | sort -u | wc -l)" "$(($(wc -l <logs/results.jsonl) - 1))"
queue_empties
is "no folder" "$(find "$SHARED" -name job.json | wc -l)" 0
end_item

item "the controller is away for $AWAY s: nothing is taken for lost"
nodes away "workers: 4, requeue: 0" 5
start_run --iterations 4
in_time "they run" 20 begun away 4
controller away
sleep "$AWAY"
controller back
wait "$pid"
is "run" $? 0
is "values" "$(numbers)" "1 2 3 4 "
is "once each" "$(twice away)" ""
end_item

item "a node dies, and a job is requeued by hand: another attempt, no partial value"
nodes dies "workers: 2" 8
start_run --iterations 2
in_time "they run" 20 begun dies 2
victim=$(cut -d' ' -f2 "$T/dies.evaluations" | head -1)
like "its node" "$victim" "^n[1-4]$"
node_dies "$victim"
wait "$pid"
is "run" $? 0
is "values" "$(numbers)" "1 2 "
node_begins "$victim"
in_time "the node is back" 90 nodes_are_back
: >"$T/dies.evaluations"
start_run --iterations 1
in_time "it runs" 20 begun dies 1
for job in $(squeue -h -o %i); do scontrol requeue "$job" || scancel "$job"; done >/dev/null 2>&1
wait "$pid"
is "values" "$(numbers)" "1 2 3 "
is "a new attempt" "$(wc -l <"$T/dies.evaluations")" 2
end_item

item "a command on a node sees neither the shared folder nor the user's keys; a scheduler's refusal ends with its reason"
nodes attacked "workers: 1"
cat >evaluate.sh <<END
{ cat $SHARED/*/*/job.json; ls $SHARED/*; env; } >$T/seen 2>&1
for folder in $SHARED/*/*; do echo '{}' >\$folder/result.json; done 2>/dev/null
echo "METRIC score=\$(cat value.txt)"
END
commit attack
PLANTED_API_KEY=secret apsis baseline --again --repeats 1
is "measured" "$code" 0
no_line "nothing is seen" "$(cat "$T/seen")" "token|store.git|secret"
sed -i 's/poll_sec: 0.5,/poll_sec: 0.5, options: [--partition=nowhere],/' manifest.yaml
apsis run -q --iterations 1
like "why" "$(tail -1 logs/results.jsonl)" "sbatch with .*: execution.options: sbatch: error: .*invalid partition"
end_item

item "a node without the folder is refused by doctor's job"
nodes lacking "workers: 1, options: [--nodelist=n1]"
apsis doctor
like "with it" "$out" "nodes: a job ran on n1 "
node_dies n1
unshare -m sh -c "mount -t tmpfs none $SHARED && exec slurmd -N n1 -f $SLURM_CONF"
in_time "the node is back" 90 nodes_are_back
apsis doctor
is "without it" "$code" 3
like "what it needs" "$out" "FAIL +nodes: the job ended without an answer.* the folder $SHARED"
node_dies n1
node_begins n1
in_time "the node is as it was" 90 nodes_are_back
queue_empties
end_item

finish
