#!/usr/bin/env bash
# Verifications on four real Slurm nodes (tests/cluster/up): `make test-slurm`. KILLS=100 AWAY=60: how often apsis is killed, and how
# many seconds the controller is away.
. tests/cli/lib.sh || exit 1

KILLS=${KILLS:-10} AWAY=${AWAY:-20}
SLURM=$T/slurm SHARED=$T/shared
export SLURM_CONF=$SLURM/slurm.conf
at_end+=("'$ROOT/tests/cluster/up' '$SLURM' down")
"$ROOT/tests/cluster/up" "$SLURM" || { echo "Bail out! no Slurm here"; exit 1; }

# nodes NAME KEYS [SECONDS]: a project measured there; each evaluation takes so long and is noted in $T/NAME.evaluations.
nodes() {
    local name=$1
    new_project "$name"
    printf 'echo "$APSIS_CANDIDATE $SLURMD_NODENAME" >>%s\nsleep %s\necho "METRIC score=$(cat value.txt)"\n' "$T/$name.evaluations" \
        "${3:-0.2}" >evaluate.sh
    sed -i 's/timeout_sec: 10}]/timeout_sec: 10}]\n  pass_env: [SLURMD_NODENAME]/' manifest.yaml
    echo "execution: {target: slurm, folder: $SHARED, poll_sec: 0.5, $2}" >>manifest.yaml
    commit nodes
    apsis baseline --repeats 1
    is "baseline" "$code" 0
    : >"$T/$name.evaluations"
}
numbers() { sed -nE 's/.*"primary_metric": *([-0-9.]+|null).*/\1/p' logs/results.jsonl | tail -n +2 | sort -n | tr '\n' ' '; }
outcomes() { sed -nE 's/.*"outcome": *"([a-z_]*)".*/\1/p' logs/results.jsonl | tail -n +2 | sort | uniq -c | tr -s ' \n' ' '; }
twice() { cut -d' ' -f1 "$T/$1.evaluations" | sort | uniq -d | tr '\n' ' '; }
queued() { squeue --noheader | wc -l; }
begun() { [ "$(wc -l <"$T/$1.evaluations")" -ge "$2" ]; }
wait_for() { # wait_for WHAT SECONDS COMMAND...
    local what=$1 seconds=$2 i
    shift 2
    for ((i = 0; i < seconds * 20; i++)); do
        "$@" >/dev/null 2>&1 && return
        sleep 0.05
    done
    verdict no "$what" "never: $*"
}
start_run() {
    "$APSIS" run -q "$@" >"$T/run.out" 2>"$T/run.err" </dev/null &
    pid=$!
}
idle_nodes() { [ "$(sinfo -h -N -o %t | grep -cxE "$1")" = 4 ]; }
nodes_are_back() { # Slurm drains a node whose job it could not end, or that has one of a number which it gave twice
    local node
    for node in $(sinfo -h -N -o '%t %N' | sed -n 's/^\(drain\|drng\|down\)[^ ]* //p'); do scontrol update NodeName="$node" State=RESUME; done
    idle_nodes 'idle|mix|alloc'
}
controller() { # controller away|back
    if [ "$1" = away ]; then
        kill -9 "$(cat "$SLURM/slurmctld.pid")"
    else
        slurmctld -f "$SLURM_CONF"
        wait_for "the controller is back" 20 squeue
        wait_for "the nodes are back" 90 nodes_are_back
    fi
}

item "what is measured on the nodes has its line; the queue is empty at the end of the budget"
nodes plain "workers: 8"
apsis run -q --iterations 12
is "run" "$code" 0
is "values" "$(numbers)" "1 2 3 4 5 6 7 8 9 10 11 12 "
is "once each" "$(twice plain)" ""
wait_for "the queue is empty" 5 sh -c '[ -z "$(squeue -h)" ]'
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
no_line "never" "$(cat logs/results.jsonl)" 99999
end_item

item "waiting is not in the time limit"
nodes waiting "options: [--exclusive]"
sed -i 's/timeout_sec: 10/timeout_sec: 3/' manifest.yaml && commit limit
for _ in 1 2 3 4; do sbatch --exclusive --output=/dev/null --wrap='sleep 6' >/dev/null; done
apsis run -q --iterations 1
is "value" "$(numbers)" "1 "
like "it waited" "$(cat logs/apsis.log)" "experiment 1: measured on n[1-4] in [0-2]\.[0-9] s, after ([3-9]|1[0-9])\.[0-9] s in the queue"
end_item

item "the queue is empty 5 s after Ctrl-C, and after a target"
nodes stopped "workers: 8" 3
start_run --iterations 30
wait_for "they run" 20 begun stopped 4
kill -INT "$pid"
wait "$pid"
is "interrupted" $? 130
wait_for "the queue is empty" 5 sh -c '[ -z "$(squeue -h)" ]'
sed -i 's/^metric: {name: score,/& target: 3,/' manifest.yaml && commit target
apsis run -q --iterations 30
is "target" "$code" 0
wait_for "the queue is empty" 5 sh -c '[ -z "$(squeue -h)" ]'
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
wait_for "the queue is empty" 5 sh -c '[ -z "$(squeue -h)" ]'
is "no folder" "$(find "$SHARED" -name job.json | wc -l)" 0
end_item

item "the controller is away for $AWAY s: nothing is taken for lost"
nodes away "workers: 4, requeue: 0" 5
start_run --iterations 4
wait_for "they run" 20 begun away 4
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
wait_for "they run" 20 begun dies 2
victim=$(cut -d' ' -f2 "$T/dies.evaluations" | head -1)
kill -9 "$(cat "$SLURM/slurmd.$victim.pid")"
for job in $(pgrep -f "apsis job $SHARED"); do kill -9 "$job"; done
wait "$pid"
is "run" $? 0
is "values" "$(numbers)" "1 2 "
slurmd -N "$victim" -f "$SLURM_CONF"
wait_for "the node is back" 90 nodes_are_back
: >"$T/dies.evaluations"
start_run --iterations 1
wait_for "it runs" 20 begun dies 1
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
like "why" "$(tail -1 logs/results.jsonl)" "submit: sbatch: error: .*invalid partition"
end_item

finish
