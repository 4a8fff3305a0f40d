# lib: what the tests on four real Slurm nodes share. Sourced by tests/cluster/*.t after tests/cli/lib.sh, from the repository's root.

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
in_time() { # in_time WHAT SECONDS COMMAND...: the command succeeds within so many seconds
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
        in_time "the controller is back" 20 squeue
        in_time "the nodes are back" 90 nodes_are_back
    fi
}

empty_queue() { [ -z "$(squeue -h)" ]; }
queue_empties() { # within 5 s; what is left is named
    in_time "the queue is empty" 5 empty_queue
    squeue -h -o '# left: job %i %T on %N, %j, for %M, %r'
}

# node_dies NODE: its daemon, what looks after its jobs, and the jobs end at once, as when a machine fails.
node_dies() {
    local jobs pid
    jobs=$(squeue -h -w "$1" -o %i | tr '\n' '|')
    kill -9 "$(cat "$SLURM/slurmd.$1.pid")"
    [ -z "$jobs" ] || kill -9 $(pgrep -f "slurmstepd: \[(${jobs%|})\.") 2>/dev/null
    for pid in $(pgrep -f "apsis job $SHARED"); do
        ! grep -qsz "^SLURMD_NODENAME=$1\$" "/proc/$pid/environ" || kill -9 "$pid" 2>/dev/null
    done
}
node_begins() { slurmd -N "$1" -f "$SLURM_CONF"; }
