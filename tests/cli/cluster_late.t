#!/usr/bin/env bash
# Verifications on a stand-in of Slurm, where something comes late: an attempt of before a reset or another baseline, an answer about a job
# that runs, the end of a job that its node cannot end, a result that cannot be read, the end of a wait after kill -9, the end of a job
# that a person has skipped, or that a run which is over does not want.
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

item "a job that its node cannot end is lost, though the queue has it still"
cluster stuck
touch "$T/stuck.wait"
start_run --iterations 1
wait_for "it runs" begun stuck 1
echo "COMPLETING|n9|main|None|$(basename "$(dirname "$(find "$SHARED" -name job.json)")")" >"$FAKE/others"
mv "$FAKE"/jobs/* "$T/away.stuck"
wait_for "it is sent again" begun stuck 2
rm "$T/stuck.wait"
wait "$pid"
is "values" "$(values)" "kept 1;"
rm "$FAKE/others"
end_item

item "while the shared folder cannot be read, a job that has ended is not lost"
cluster outage "requeue: 0"
touch "$T/outage.wait"
start_run --iterations 1
wait_for "it runs" begun outage 1
kill -STOP "$pid"
rm "$T/outage.wait"
wait_for "it has ended" idle
folder=$(dirname "$(find "$SHARED" -name store.git)")
mv "$folder" "$T/away.outage" # as if it were unmounted
kill -CONT "$pid"
wait_for "it says so" grep -q "execution.folder cannot be read: jobs wait until it can" logs/apsis.log
sleep 0.5
mv "$T/away.outage" "$folder"
wait "$pid"
is "values" "$(values)" "kept 1;"
end_item

item "a shared folder that stays away for queue_sec ends the run, which goes on later"
cluster deleted "queue_sec: 2"
touch "$T/deleted.wait"
start_run --iterations 1
wait_for "it runs" begun deleted 1
kill -STOP "$pid"
rm "$T/deleted.wait"
wait_for "it has ended" idle
folder=$(dirname "$(find "$SHARED" -name store.git)")
mv "$folder" "$T/away.deleted"
kill -CONT "$pid"
wait "$pid"
is "the run stops" "$?" 3
like "why" "$(cat "$T/run.err")" "execution.folder: $folder could not be read for execution.queue_sec, 2 s; once it can, .apsis run. goes on"
is "none is made in its place" "$(ls "$SHARED")" ""
mv "$T/away.deleted" "$folder"
apsis run -q --iterations 1
is "values" "$(values)" "kept 1;kept 2;"
is "each is measured once" "$(evaluations deleted)" "c0001 c0002 "
end_item

item "so it does with pilots, whose jobs run"
cluster unmanned "pilots: 1, queue_sec: 2"
touch "$T/unmanned.wait"
start_run --iterations 1
wait_for "it runs" begun unmanned 1
folder=$SHARED/$(ls "$SHARED")
mv "$folder" "$T/away.unmanned"
wait "$pid"
is "the run stops" "$?" 3
rm "$T/unmanned.wait"
mv "$T/away.unmanned" "$folder"
apsis run -q --iterations 1
is "values" "$(values)" "kept 1;kept 2;"
end_item

item "a job that waited in the queue when the shared folder vanished waits anew once it is back"
cluster waiting "queue_sec: 2, requeue: 0"
touch "$FAKE/hold"
start_run --iterations 1
wait_for "it waits" in_queue 1
questions 1
folder=$SHARED/$(ls "$SHARED")
mv "$folder" "$T/away.waiting"
wait "$pid"
is "the run stops" "$?" 3
is "the queue is empty" "$(queued)" 0
mv "$T/away.waiting" "$folder"
start_run --iterations 1
wait_for "it is sent again" in_queue 1
sleep 1 # more than the few polls that are left of the first wait
rm "$FAKE/hold"
wait "$pid"
is "values" "$(values)" "kept 1;kept 2;"
end_item

item "while the shared folder cannot be read, nothing is sent"
agent <<END
touch $T/unsent.asked
while [ -e $T/unsent.hold ]; do sleep 0.02; done
echo 7 >value.txt
END
cluster unsent
unset PROVIDER
touch "$T/unsent.hold"
start_run --iterations 1
wait_for "the agent works" test -e "$T/unsent.asked"
folder=$SHARED/$(ls "$SHARED")
mv "$folder" "$T/away.unsent"
rm "$T/unsent.hold"
wait_for "it says so" grep -q "execution.folder cannot be read: jobs wait until it can" logs/apsis.log
wait_for "status says so, too" sh -c '"$0" status | grep "experiment 1: waiting for execution.folder for 0:0"' "$APSIS"
sleep 0.5
is "none is made in its place" "$(ls "$SHARED")" ""
mv "$T/away.unsent" "$folder"
wait "$pid"
is "values" "$(values)" "kept 7;"
end_item

item "an attempt that cannot be marked as lost ends the run: it would be taken up again"
cluster unmarked
touch "$T/unmarked.wait"
start_run --iterations 1
wait_for "it runs" begun unmarked 1
folder=$(dirname "$(find "$SHARED" -name job.json)")
mkdir "$folder/lost" # no file can take its place
mv "$FAKE"/jobs/* "$T/away.unmarked"
wait_for "the run ends" sh -c '! kill -0 "$0" 2>/dev/null' "$pid"
wait "$pid"
is "the run stops" "$?" 3
like "why" "$(cat "$T/run.err")" "$folder/lost"
rm "$T/unmarked.wait"
rmdir "$folder/lost"
apsis run -q --iterations 1
like "and goes on" "$code $(numbers)" "^0 1 "
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
wait_for "status shows it" noted 1
apsis skip 1 --reason slow
is "skip" "$code" 0
wait_for "the run ends" sh -c '! kill -0 "$0" 2>/dev/null' "$pid"
wait "$pid"
like "why" "$(reasons)" "a person skipped it: slow"
is "no job" "$(queued)" 0
wait_for "nothing goes on there" gone "apsis job $SHARED"
rm "$T/skipped.wait"
end_item

item "apsis skip ends what a pilot measures, and the pilot goes on"
cluster piloted "pilots: 1, workers: 1"
touch "$T/piloted.wait"
start_run --iterations 2
wait_for "it runs" begun piloted 1
wait_for "status shows it" noted 1
apsis skip 1 --reason slow
wait_for "the next one runs" begun piloted 2
rm "$T/piloted.wait"
wait "$pid"
is "values" "$(values)" "skipped_not_selected null;kept 2;"
end_item

item "a command that fails after another one has left files fails on a node as it does here"
cluster failing
sed -i 's/commands: \[/commands: [{name: first, run: touch left.txt}, /' manifest.yaml
echo '[ "$(cat value.txt)" = 0 ] || exit 3' >>evaluate.sh
commit failing
apsis baseline --again --repeats 1
apsis run -q --iterations 1
is "exit" "$code" 0
like "why" "$(reasons)" "^measure: exit 3"
is "outcome" "$(values)" "baseline 0;skipped_verification_crash null;"
end_item

killed_in_flight() { # killed_in_flight NAME: a run is killed while its experiment runs
    touch "$T/$1.wait"
    start_run --iterations 1
    wait_for "it runs" begun "$1" 1
    wait_for "status shows it" noted "[0-9]*"
    kill -9 "$pid"
    wait "$pid" 2>/dev/null
}
item "a result of before another value of a variable that the evaluator sees is not taken"
export DATA=0
cluster given
sed -i 's/^verification:/&\n  pass_env: [DATA]/' manifest.yaml
sed -i 's/score=.*/score=$(($(cat value.txt) + DATA))"/' evaluate.sh
commit given
apsis baseline --again --repeats 1
: >"$T/given.evaluations"
killed_in_flight given
apsis status
like "where it was" "$out" "in flight: +experiment 2: (queued|measuring)[ a-z0-9]* when apsis last looked"
rm "$T/given.wait"
wait_for "the job has ended" idle
DATA=1000 apsis run -q --iterations 1
is "its value" "$(values | cut -d';' -f-2)" "baseline 0;kept 1002"
end_item

item "a baseline takes nothing that was measured before, and reset cancels what a killed run has sent"
cluster anew
sed -i "s|score=.*|score=\$(cat $T/anew.data)\"|; s/^\[.*= 0 \] ||//" evaluate.sh # the baseline waits, too
echo 1 >"$T/anew.data"
commit anew
touch "$T/anew.wait"
"$APSIS" baseline -q --again --repeats 1 >/dev/null 2>&1 </dev/null &
pid=$!
wait_for "it runs" begun anew 1
kill -9 "$pid"
wait "$pid" 2>/dev/null
rm "$T/anew.wait"
wait_for "the job has ended" idle
echo 1000 >"$T/anew.data"
apsis baseline --again --repeats 1
is "the new value" "$(values)" "baseline 1000;"
: >"$T/anew.evaluations"
killed_in_flight anew
is "it is in the queue" "$(queued)" 1
apsis reset -f
is "reset" "$code" 0
wait_for "cancelled" in_queue 0
is "no folder of it" "$(grep -rlF "$PWD\"" --include=job.json "$SHARED" | wc -l)" 0
rm "$T/anew.wait"
end_item

# ends NAME WHAT RUN-ARGUMENTS: a run whose first experiment, number 2, is measured at once while the next ones wait ends it, as WHAT says.
ends() {
    touch "$T/$1.wait"
    sed -i 's/= 0 \]/-lt 3 ]/' evaluate.sh
    commit ends
    apsis baseline --again --repeats 1
    start_run --iterations 9 "${@:3}"
    wait_for "the run ends" sh -c '! kill -0 "$0" 2>/dev/null' "$pid"
    rm "$T/$1.wait"
    wait "$pid"
    is "exit" "$?" 0
    wait_for "the queue is empty" in_queue 0
    like "the others" "$(reasons)" "the run has ended: $2"
    like "values" "$(values)" "^baseline 0;kept 2;(skipped_not_selected null;)+$"
    wait_for "nothing goes on there" gone "apsis job $SHARED"
}
item "the target ends what is in flight"
cluster reached "workers: 2"
sed -i 's/direction: higher/&, target: 2/' manifest.yaml
ends reached "target reached"
end_item

item "the minutes of the budget end what is in flight"
cluster timed "workers: 2"
ends timed "budget: minutes used up" --minutes 0.08
end_item

item "the dollars of the budget end what is in flight"
cluster paid "workers: 2, usd_per_hour: 3600"
sed -i 's/^strategy:/budget: {usd: 6}\n&/' manifest.yaml
ends paid "budget: usd used up"
end_item

finish
