# fake: what the tests on a stand-in of sbatch, squeue and scancel (tests/cluster/bin, tests/cluster/nodes) share. Sourced after
# tests/cli/lib.sh, from the repository's root.

LIMIT_SEC=600 # a command that waits for the test is not ended by its limit
export SLURM_FAKE=$T/fake FAKE=$T/fake PATH=$ROOT/tests/cluster/bin:$PATH SHARED=$T/shared
mkdir -p "$FAKE/jobs"
setsid "$ROOT/tests/cluster/nodes" >/dev/null 2>&1 &
at_end+=('rm -rf "$FAKE"' "wait $! 2>/dev/null" 'for pid in $(pgrep -f "apsis job $SHARED"); do kill -9 "$pid"; done')

SLURM="execution: {target: slurm, folder: $SHARED, poll_sec: 0.1"
# cluster NAME [MORE KEYS OF EXECUTION]: a project whose evaluator notes each evaluation in $T/NAME.evaluations and prints the number in
# value.txt. It waits while $T/NAME.wait is there. The baseline is measured once, before anything is counted.
cluster() {
    local name=$1
    new_project "$name"
    printf 'echo "$APSIS_CANDIDATE" >>%s\n[ "$(cat value.txt)" = 0 ] || while [ -e %s ]; do sleep 0.02; done\necho "METRIC score=$(cat value.txt)"\n' \
        "$T/$name.evaluations" "$T/$name.wait" >evaluate.sh
    EXTRA="$SLURM${2:+, $2}}" write_manifest
    commit cluster
    apsis baseline --repeats 1
    is "baseline" "$code" 0
    wait_for "the baseline's job has gone" idle
    : >"$T/$name.evaluations"
    : >"$FAKE/cancelled"
}
evaluations() { tr '\n' ' ' <"$T/$1.evaluations"; }
values() { sed -nE 's/.*"outcome": *"([a-z_]*)".*"primary_metric": *([-0-9a-z.]*).*/\1 \2/p' logs/results.jsonl | tail -n +2 | tr '\n' ';'; }
numbers() { values | tr ';' '\n' | sed 's/.* //' | sort | tr '\n' ' '; }
reasons() { sed -nE 's/.*"rollback_reason": *"([^"]*)".*/\1/p' logs/results.jsonl | tail -1; }
queued() { find "$FAKE/jobs" -mindepth 1 -maxdepth 1 | wc -l; }
folders() { find "$SHARED" -name job.json | wc -l; }
idle() { [ "$(queued)" = 0 ]; } # a job leaves the queue a little after its result is there
in_queue() { [ "$(queued)" = "$1" ]; }
asked() { [ "$(wc -l <"$FAKE/questions")" -ge "$1" ]; }
questions() { # questions N: until the queue has been asked N times from now on; the first question may have begun before
    wait_for "the queue is asked" asked $(($(wc -l <"$FAKE/questions") + $1 + 1))
}
noted() { grep -q "\"experiment\":$1," logs/state.json; } # noted NUMBER: that experiment is in flight, as other commands see it
begun() { [ "$(wc -l <"$T/$1.evaluations")" -ge "$2" ]; }
start_run() { # start_run ARGUMENTS: apsis run in the background: $pid
    "$APSIS" run -q "$@" >"$T/run.out" 2>"$T/run.err" </dev/null &
    pid=$!
}
