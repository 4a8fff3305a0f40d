#!/usr/bin/env bash
# A run of 32 workers on four real Slurm nodes, of which one dies every 10 s and begins again within 5 s, while apsis is killed every
# 30 s: nothing is lost, doubled or wrong. `make test-slurm-kills MINUTES=10`.
. tests/cli/lib.sh || exit 1
. tests/cluster/lib.sh

MINUTES=${MINUTES:-10}

item "for $MINUTES minutes: each experiment has one line and its own value, no attempt is measured twice, the queue is empty at the end"
nodes kills "workers: 32, requeue: 5"
cat >evaluate.sh <<END
echo "\$APSIS_CANDIDATE \$SLURM_JOB_NAME begins" >>$T/kills.evaluations
sleep 2
echo "\$APSIS_CANDIDATE \$SLURM_JOB_NAME ends" >>$T/kills.evaluations
echo "METRIC score=\$(cat value.txt)"
END
sed -i 's/timeout_sec: 10/timeout_sec: 60/; s/^strategy: .*/strategy: {use: hillclimb, options: {patience: 1000000}}/' manifest.yaml
commit kills
apsis baseline --again --repeats 1
is "baseline" "$code" 0
: >"$T/kills.evaluations"
node_kills=0 apsis_kills=0 until=$((SECONDS + 60 * MINUTES)) next_kill=$((SECONDS + 30))
start_run
while [ "$SECONDS" -lt "$until" ]; do
    victim=n$((RANDOM % 4 + 1))
    node_dies "$victim"
    node_kills=$((node_kills + 1)) again=$((SECONDS + 10))
    sleep "$((RANDOM % 5)).$((RANDOM % 10))"
    node_begins "$victim"
    while [ "$SECONDS" -lt "$again" ]; do
        if [ "$SECONDS" -ge "$next_kill" ]; then
            kill -9 "$pid" && apsis_kills=$((apsis_kills + 1)) next_kill=$((SECONDS + 30))
        fi
        kill -0 "$pid" 2>/dev/null || start_run
        nodes_are_back >/dev/null 2>&1
        sleep 0.5
    done
done
kill -9 "$pid"
wait "$pid" 2>/dev/null
in_time "the nodes are back" 90 nodes_are_back
apsis run -q --iterations 32
is "run" "$code" 0
sed -nE 's/.*"experiment":([0-9]+),.*"outcome":"([a-z_]*)".*"primary_metric":([-0-9.]+|null).*/\1 \2 \3/p' logs/results.jsonl | grep -v ' baseline ' >"$T/lines"
is "every line is read" "$(wc -l <"$T/lines")" "$(($(wc -l <logs/results.jsonl) - 2))"
is "lost" "$(cut -d' ' -f1 "$T/lines" | sort -n | awk '$1 != NR + 1' | head -3)" "" # the second baseline is number 1
is "doubled" "$(cut -d' ' -f1 "$T/lines" | sort | uniq -d | head -3)" ""
is "wrong" "$(awk '$2 != "skipped_executor_failure" && $1 != $3' "$T/lines" | head -3)" ""
is "each attempt has a name" "$(awk 'NF != 3' "$T/kills.evaluations" | head -3)" ""
is "attempts measured twice" "$(grep begins "$T/kills.evaluations" | cut -d' ' -f2 | sort | uniq -d | head -3)" ""
queue_empties
is "no folder" "$(find "$SHARED" -name job.json | wc -l)" 0
echo "# nodes killed: $node_kills; apsis killed: $apsis_kills; lines: $(wc -l <"$T/lines");" \
    "skipped_executor_failure: $(grep -c skipped_executor_failure "$T/lines")"
echo "# attempts begun: $(grep -c begins "$T/kills.evaluations"); ended: $(grep -c ends "$T/kills.evaluations");" \
    "candidates measured to the end more than once: $(grep ends "$T/kills.evaluations" | cut -d' ' -f1 | sort | uniq -d | wc -l)"
end_item

finish
