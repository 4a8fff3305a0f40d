#!/usr/bin/env bash
# Verifications on a stand-in of Slurm, where something comes late: an attempt of before a reset, an answer about a job that runs, the end
# of a wait after kill -9, the end of a job that a person has skipped.
. tests/cli/lib.sh || exit 1
. tests/cluster/fake.sh

item "after apsis reset, an attempt of before is not taken for the new one"
cluster renewed "requeue: 0"
cat >evaluate.sh <<END
if mv $T/renewed.first $T/renewed.taken 2>/dev/null; then
    while [ -e $T/renewed.wait ]; do sleep 0.02; done
    echo METRIC score=99999
    exit
fi
echo "METRIC score=\$(cat value.txt)"
END
commit renewed
apsis reset --force
apsis baseline --repeats 1
wait_for "the baseline's job has gone" idle
touch "$T/renewed.wait" "$T/renewed.first"
start_run --iterations 1 --seed 5
wait_for "it runs" test -e "$T/renewed.taken"
mv "$FAKE"/jobs/* "$T/away" # the node is cut off: its job goes on, and the scheduler has forgotten it
wait "$pid"
like "given up" "$(values)" "skipped_executor_failure null;$"
apsis reset --force
is "reset" "$code" 0
apsis baseline --repeats 1
wait_for "the baseline's job has gone" idle
touch "$FAKE/hold"
start_run --iterations 1 --seed 5
wait_for "the new one is sent" in_queue 1
rm "$T/renewed.wait"
wait_for "the old one ends" sh -c '! pgrep -f "apsis job $SHARED"'
rm "$FAKE/hold"
wait "$pid"
is "the new one's value" "$(values)" "kept 1;"
is "no folder" "$(folders)" 0
end_item

item "a job that runs is not given up for waiting, though the queue has not said yet that it runs"
cluster claimed "queue_sec: 1, requeue: 0"
sed -i 's/poll_sec: 0.1/poll_sec: 60/' manifest.yaml && commit "questions are rare"
touch "$T/claimed.wait"
start_run --iterations 1
wait_for "it runs" begun claimed 1
sleep 2
rm "$T/claimed.wait"
wait "$pid"
is "values" "$(values)" "kept 1;"
end_item

item "the time in the queue goes on counting after kill -9"
cluster patient "queue_sec: 3, requeue: 0"
touch "$FAKE/hold"
for _ in 1 2 3 4 5 6; do
    start_run --iterations 1
    questions 1
    sleep 1
    kill -9 "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
    ! grep -q "it waited longer" logs/apsis.log || break
done
like "bounded" "$(cat logs/apsis.log)" "experiment 1 skipped_executor_failure: it waited longer than execution.queue_sec, 3 s"
rm "$FAKE/hold"
end_item

item "apsis skip ends a job at once"
cluster skipped
touch "$T/skipped.wait"
start_run --iterations 1
wait_for "it runs" begun skipped 1
apsis skip 1 --reason slow
is "skip" "$code" 0
wait_for "the run ends" sh -c '! kill -0 "$0" 2>/dev/null' "$pid"
wait "$pid"
like "why" "$(reasons)" "a person skipped it: slow"
is "no job" "$(queued)" 0
wait_for "nothing goes on there" gone "apsis job $SHARED"
rm "$T/skipped.wait"
end_item

finish
