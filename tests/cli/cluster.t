#!/usr/bin/env bash
# Verifications on Slurm, with a stand-in of sbatch, squeue and scancel that loses answers, jobs and nodes: nothing is evaluated twice,
# nothing is lost, and nothing of another attempt or candidate is believed. `make test-slurm` does it on four real nodes.
. tests/cli/lib.sh || exit 1
. tests/cluster/fake.sh

item "a run on nodes has the lines of a run here, and their output and artifacts; nothing is left behind"
cluster plain
printf '%s\n' 'echo log; echo error >&2; echo kept >$APSIS_ARTIFACTS/kept.txt' "$(cat evaluate.sh)" >evaluate.sh
commit more
apsis baseline --again --repeats 1
apsis run --iterations 3 -q
is "run" "$code" 0
is "values" "$(values)" "baseline 0;kept 2;kept 3;kept 4;"
is "once each" "$(evaluations plain)" "c0001 c0002 c0003 c0004 "
like "the log" "$(cat runs/0002/verifier.log)" "measure.log.*METRIC score=2|METRIC score=2"
is "artifacts" "$(cat runs/0002/artifacts/kept.txt runs/0002/artifacts/stderr.txt)" "kept
error"
like "where" "$(cat logs/apsis.log)" "experiment 2: measured on n[1-4] in [0-9.]+ s, after [0-9.]+ s in the queue"
wait_for "no job" idle
is "no folder" "$(folders)" 0
apsis eval
is "eval" "$code $out" "0 score=0"
is "nothing of it" "$(folders)" 0
end_item

item "a job whose submit was answered by an error is found by its name, and not sent twice"
cluster answers
touch "$FAKE/lose_answer"
: >"$FAKE/submits"
apsis run --iterations 2 -q
is "values" "$(values)" "kept 1;kept 2;"
is "once each" "$(evaluations answers)" "c0001 c0002 "
is "one submit each" "$(wc -l <"$FAKE/submits")" 2
touch "$FAKE/refuse"
apsis run --iterations 1 -q
is "a submit that failed is made again" "$(values)" "kept 1;kept 2;kept 3;"
is "one more" "$(evaluations answers)" "c0001 c0002 c0003 "
end_item

item "while squeue does not answer, or not whole, nothing is taken for lost"
cluster silent "requeue: 0"
touch "$T/silent.wait"
start_run --iterations 2
wait_for "it runs" begun silent 1
touch "$FAKE/silent"
questions 4
touch "$FAKE/partial"
rm "$FAKE/silent"
questions 1
rm "$FAKE/partial" "$T/silent.wait"
wait "$pid"
is "values" "$(values)" "kept 1;kept 2;"
is "once each" "$(evaluations silent)" "c0001 c0002 "
end_item

item "a job that is gone is sent again, twice; then the experiment is skipped, patience does not count it, and the run goes on"
cluster gone
touch "$FAKE/vanish"
apsis run --iterations 1 -q
is "once" "$(values) $(evaluations gone)" "kept 1; c0001 "
touch "$FAKE/die" "$T/gone.wait"
start_run --iterations 1
wait_for "it runs" begun gone 2
touch "$FAKE/may_die"
wait_for "another attempt" begun gone 3
rm -f "$FAKE/may_die" "$T/gone.wait"
wait "$pid"
is "a node's death: another attempt" "$(values) $(evaluations gone)" "kept 1;kept 2; c0001 c0002 c0002 "
touch "$FAKE/out_of_reach"
: >"$FAKE/submits"
apsis run --iterations 1 -q
rm "$FAKE/out_of_reach"
like "skipped" "$(values)" "skipped_executor_failure null;$"
is "three attempts" "$(wc -l <"$FAKE/submits")" 3
like "why, by the node" "$(reasons)" "the job ended without a result: .*n[1-4]: ENOENT"
apsis status --json
like "since kept" "$out" '"since_kept": *0'
apsis run --iterations 1 -q
like "it goes on" "$code $(values)" "^0 .*null;.*kept [0-9]+;"
wait_for "no job" idle
end_item

item "an attempt that was given up and comes back later changes nothing"
cluster stale
cat >evaluate.sh <<END
echo "\$APSIS_CANDIDATE" >>$T/stale.evaluations
if mv $T/stale.first $T/stale.taken 2>/dev/null; then
    while [ -e $T/stale.wait ]; do sleep 0.02; done
    echo METRIC score=99999
    exit
fi
echo "METRIC score=\$(cat value.txt)"
END
commit stale
apsis baseline --again --repeats 1
wait_for "the baseline's job has gone" idle
touch "$T/stale.wait" "$T/stale.first"
start_run --iterations 2
wait_for "it runs" test -e "$T/stale.taken"
mv "$FAKE"/jobs/* "$T/away" # the node is cut off: its job goes on, and the scheduler has forgotten it
wait "$pid"
rm "$T/stale.wait"
wait_for "it ends" sh -c '! pgrep -f "apsis job $SHARED"'
like "values" "$(values)" "kept 2;kept 3;$"
apsis run --iterations 1 -q
like "and later" "$(values)" "kept 2;kept 3;kept 4;$"
no_line "never" "$(cat logs/results.jsonl)" '[":[]99999[],.}]' # no part of a duration
end_item

item "a result that is not the job's is not believed; commands see neither the folder nor other jobs"
cluster forged
touch "$FAKE/hold"
start_run --iterations 1
wait_for "it is sent" in_queue 1
dir=$(find "$SHARED" -name "$(cat "$FAKE"/jobs/*/name)")
tree=$(sed -nE 's/.*"tree": *"([0-9a-f]{40})".*/\1/p' "$dir/job.json")
printf '{"name":"%s","token":"%032d","tree":"%s","node":"n1","messages":[],"measurement":{"status":"ok","stage":1,"value":99999,
"metrics":{"score":99999},"samples":[99999],"near_misses":[],"near_miss_count":0}}' "${dir##*/}" 0 "$tree" >"$T/result.json"
mv "$T/result.json" "$dir/"
wait_for "it is read" grep "its result.json is not the job's" logs/apsis.log
rm "$FAKE/hold"
wait "$pid"
is "values" "$(values)" "kept 1;"
like "why" "$(cat logs/apsis.log)" "its result.json is not the job's: its token is another one"
cat >evaluate.sh <<END
ls $SHARED $SHARED/* >$T/seen 2>&1
for dir in $SHARED/*/*; do cat \$dir/job.json; echo '{"forged": true}' >\$dir/result.json; done >>$T/seen 2>&1
echo "METRIC score=\$(cat value.txt)"
END
commit attack
apsis baseline --again --repeats 1
is "measured" "$code" 0
unlike "nothing is seen" "$(cat "$T/seen")" "store.git|token"
cat >propose.sh <<END
while [ "\$APSIS_EXPERIMENT" = 5 ] && [ ! -e $T/sent ]; do sleep 0.02; done # the other one's job is there
cat $SHARED/*/*/job.json $SHARED/*/store.git/HEAD >$T/seen-too 2>&1
ls $SHARED >>$T/seen-too 2>&1
echo "\$APSIS_EXPERIMENT" >value.txt
END
sed -i 's/^provider: .*/provider: {kind: command, run: sh propose.sh}/; s/poll_sec: 0.1/&, workers: 2/' manifest.yaml
commit provider
apsis baseline --again --repeats 1
wait_for "the baseline's job has gone" idle
touch "$FAKE/hold"
start_run --iterations 2 # while the first waits in the queue, the second is proposed
wait_for "the first is sent" in_queue 1
touch "$T/sent"
wait_for "the second is sent" in_queue 2
rm "$FAKE/hold"
wait "$pid"
like "measured" "$(cat logs/results.jsonl)" '"experiment": *4'
no_line "a provider sees nothing" "$(cat "$T/seen-too")" "token|refs/heads|^[0-9a-f]{32}"
like "the folder is empty to it" "$(cat "$T/seen")" "No such file|Permission denied|Read-only"
end_item

item "commands on a node get what the manifest passes, and no more"
cluster environment
sed -i 's/timeout_sec: 600}]/&\n  pass_env: [WANTED]/' manifest.yaml
echo 'env >'"$T/env"'; echo "METRIC score=$(cat value.txt)"' >evaluate.sh
commit environment
export SBATCH_WAIT=1 SBATCH_ARRAY_INX=1-3 SBATCH_EXPORT=NONE SBATCH_PARTITION=short SBATCH_GPUS_PER_NODE=1 SBATCH_MEM_PER_CPU=1
WANTED=passed PLANTED_API_KEY=secret OTHER=other apsis baseline --again --repeats 1
unset "${!SBATCH_@}"
is "measured" "$code" 0
is "of sbatch's variables, those that choose where a job runs" "$(cat "$FAKE/variables")" "SBATCH_GPUS_PER_NODE SBATCH_MEM_PER_CPU SBATCH_PARTITION"
line "what is passed" "$(cat "$T/env")" '^WANTED=passed$'
no_line "a key" "$(cat "$T/env")" 'secret'
no_line "another variable" "$(cat "$T/env")" '^OTHER='
no_line "in the submit" "$(cat "$FAKE/submits")" 'secret|passed'
end_item

item "waiting in the queue is not in the time limit, is shown, and is bounded by queue_sec"
cluster waiting
sed -i 's/timeout_sec: 600/timeout_sec: 10/' manifest.yaml && commit limit
touch "$FAKE/hold"
start_run --iterations 1
wait_for "it is sent" in_queue 1
wait_for "status shows it" sh -c '"$0" status | grep "in flight: *experiment 1: queued on main for 0:[0-9]* (explo"' "$APSIS"
echo PartitionConfig >"$FAKE/reason"
wait_for "and why it waits" sh -c '"$0" status | grep "queued on main (PartitionConfig) for 0:[0-9]* (explo"' "$APSIS"
rm "$FAKE/reason"
sleep 10.1
rm "$FAKE/hold"
wait "$pid"
is "values" "$(values)" "kept 1;"
sed -i 's/timeout_sec: 10/timeout_sec: 1/; s/poll_sec: 0.1/&, queue_sec: 1/' manifest.yaml && commit limits
wait_for "its job has gone" idle
touch "$FAKE/hold"
apsis run --iterations 1 -q
like "bounded" "$(reasons)" "it waited longer than execution.queue_sec, 1 s"
is "cancelled" "$(queued)" 0
rm "$FAKE/hold"
sed -i 's/, queue_sec: 1//' manifest.yaml && commit "no limit of the queue"
touch "$T/waiting.wait"
apsis run --iterations 1 -q
like "the limit counts on the node" "$(reasons)" "measure: over its limit of 1 s"
rm "$T/waiting.wait"
end_item

item "status shows the node; usd_per_hour is in the line, in status, in the budget and in the report, which has the time in the queue too"
cluster price "usd_per_hour: 36000" # 10 dollars a second
touch "$T/price.wait"
start_run --iterations 1
wait_for "status shows the node" sh -c '"$0" status | grep "in flight: *experiment 1: measuring on n[1-4] for 0:[0-9]* (explo"' "$APSIS"
rm "$T/price.wait"
wait "$pid"
sed -i 's/poll_sec: 0.1/poll_sec: 600/' manifest.yaml && commit "no second question"
touch "$FAKE/hold"
start_run --iterations 1
wait_for "status shows what was just sent" sh -c '"$0" status | grep "in flight: *experiment 2: queued for 0:[0-9]* (explo"' "$APSIS"
rm "$FAKE/hold"
wait "$pid"
sed -i 's/poll_sec: 600/poll_sec: 0.1/' manifest.yaml && commit "quick again"
line "the line has what it took" "$(tail -1 logs/results.jsonl)" '"machines": *\{"nodes":\["n[1-4]"\],"queue_s":[0-9.e-]+,"run_s":[0-9.]+,"usd":[0-9.]+\}'
apsis show c0001
line "show has the node" "$out" '^measured: +on n[1-4]: [0-9.e-]+ s in the queue, [0-9.e-]+ s running'
apsis status
line "the cost" "$out" '^cost: *[0-9.]+ USD'
echo 'budget: {usd: 1.0e-6}' >>manifest.yaml && commit budget
apsis run -q --iterations 3
line "the budget ends the run" "$out" "ended: budget: 1e-06 usd left, the next proposal may take [0-9]"
apsis report --out "$T/report.html"
line "the report" "$(cat "$T/report.html")" '"queued":[0-9.e-]+'
end_item

item "doctor says what it has sent; interrupted, it leaves nothing, and what a killed one has left, the next one removes, but nothing of a living one"
cluster doctor
touch "$FAKE/hold"
start_doctor() { # start_doctor NAME: until its job is sent
    "$APSIS" doctor >"$T/$1.out" 2>"$T/$1.err" </dev/null &
    pid=$!
    wait_for "it says so" grep -qE '^apsis: job [0-9a-f]+-1-[0-9a-f]+ is sent to target slurm; waiting for its answer, at most 60 s$' "$T/$1.err"
}
start_doctor terminated
kill -TERM "$pid"
wait "$pid"
is "interrupted" $? 130
line "it says so" "$(cat "$T/terminated.out")" "^FAIL +nodes: interrupted$"
is "nothing is left" "$(queued) $(folders)" "0 0"
start_doctor killed
kill -9 "$pid"
wait "$pid" 2>/dev/null
is "its job is left" "$(queued) $(folders)" "1 1"
start_doctor first
first=$pid
is "it is cancelled" "$(queued) $(folders)" "1 1"
start_doctor second
is "a living one's is not" "$(queued) $(folders)" "2 2"
rm "$FAKE/hold"
wait "$pid" "$first"
for one in first second; do like "$one" "$(cat "$T/$one.out")" "nodes: a job ran on n[1-4]"; done
echo APSIS_CAGE=none >"$FAKE/env"
echo 'sandbox: required' >>manifest.yaml
apsis doctor
like "a sandbox that the node lacks" "$code $out" "3 .*FAIL +nodes: a job ran on n[1-4].*manifest.yaml:[0-9]+: sandbox: commands are not confined there"
rm "$FAKE/env"
wait_for "no job" idle
is "no folder" "$(folders)" 0
end_item

item "values of another target are not compared: run and setup name it, and baseline --again begins anew there, and back here"
new_project target
apsis baseline -q
apsis run -q --iterations 3
EXTRA="$SLURM}" write_manifest
commit slurm
refused() { # refused WHAT
    apsis run -q --iterations 1
    is "$1: run" "$code" 2
    like "$1: why, and the remedy" "$err" "manifest.yaml:[0-9]+: execution.target: the evaluator has changed since .*\`apsis baseline --again\`"
    apsis setup
    like "$1: setup" "$out" "note +baseline +manifest.yaml:[0-9]+: execution.target: .*next: apsis baseline --again && apsis run$"
}
refused "to Slurm"
apsis baseline --again --repeats 1
apsis best --json
is "what was measured here is not the best there" "$(json candidate) $(json value)" "c0004 0"
apsis setup
line "setup goes on" "$out" "^next: apsis run$"
sed -i -E '$s/"execution.target": *"[0-9a-f]*",? *//' logs/results.jsonl # as an older apsis wrote it
rm -f .apsis/fold
apsis run -q --iterations 1
is "a baseline from there without that digest" "$code $(values | grep -o 'baseline 0;.*')" "0 baseline 0;kept 5;"
apsis baseline --again --repeats 1
EXTRA= write_manifest
commit local
refused "and back"
apsis baseline --again -q
apsis best --json
is "nor the other way round" "$(json value)" 0
end_item

item "after kill -9 of apsis the jobs go on, and the next apsis, on whatever machine, takes their results"
cluster adopted "workers: 3"
touch "$T/adopted.wait"
start_run --iterations 3
wait_for "they run" begun adopted 3
kill -9 "$pid"
wait "$pid" 2>/dev/null
sed -i -E 's/"time": ?[0-9.e+]+/"time":'"$(($(date +%s) - 7200))/" "$SHARED"/*/*/claim
start_run --iterations 3
wait_for "status shows since when a node has measured" sh -c '"$0" status | grep "experiment 1: measuring on n[1-4] for 2:0[0-9]:"' "$APSIS"
questions 2
kill -9 "$pid"
wait "$pid" 2>/dev/null
rm "$T/adopted.wait"
wait_for "they end" sh -c '! pgrep -f "apsis job $SHARED"'
HOME=$T/other XDG_CACHE_HOME=$T/other/cache apsis run --iterations 3
is "run" "$code" 0
like "what it says" "$err" "continuing run [0-9]*: 1 line in the journal; 3 experiments that were in flight go on"
is "values" "$(numbers)" "1 2 3 4 5 6 "
is "once each" "$(sort "$T/adopted.evaluations" | uniq -c | grep -cv ' 1 ')" 0
for _ in 1 2 3 4 5 6 7 8; do
    start_run --iterations 2
    sleep "0.$((RANDOM % 9))"
    kill -9 "$pid"
    wait "$pid" 2>/dev/null
done
apsis run -q --iterations 2
is "run" "$code" 0
is "once each, after eight kills" "$(sort "$T/adopted.evaluations" | uniq -c | grep -v ' 1 ')" ""
is "each has its line" "$(sort -u "$T/adopted.evaluations" | wc -l)" "$(($(wc -l <logs/results.jsonl) - 1))"
wait_for "no job" idle
is "no folder" "$(folders)" 0
end_item

item "Ctrl-C cancels what is in flight; the run goes on with new attempts"
cluster stopped "workers: 2"
touch "$T/stopped.wait"
start_run --iterations 2
wait_for "they run" begun stopped 2
kill -INT "$pid"
wait "$pid"
is "interrupted" $? 130
is "no job" "$(queued)" 0
is "cancelled by name" "$(sort -u "$FAKE/cancelled" | wc -l)" 2
wait_for "nothing goes on there" gone "apsis job $SHARED"
rm "$T/stopped.wait"
apsis run -q --iterations 2
is "values" "$(numbers)" "1 2 3 4 "
is "no folder" "$(folders)" 0
wait_for "no job" idle
touch "$FAKE/hold"
"$APSIS" baseline --again >"$T/again.out" 2>&1 </dev/null &
pid=$!
wait_for "a baseline is sent" in_queue 1
kill -INT "$pid"
wait "$pid"
is "it is interrupted" "$? $(queued)" "130 0"
rm "$FAKE/hold"
apsis run --iterations 1
unlike "nothing is said of its commit" "$err" "no line of"
is "nor is there a folder of it" "$(folders)" 0
end_item

item "a job that is in the queue though nobody waits for it is cancelled: a scheduler that was restarted may not know that it has ended"
cluster lingers
touch "$FAKE/linger"
apsis run -q --iterations 1
rm "$FAKE/linger"
is "it is there" "$(queued)" 1
touch "$T/lingers.wait"
start_run --iterations 1
wait_for "another one runs" begun lingers 2
wait_for "the first is cancelled" in_queue 1
rm "$T/lingers.wait"
wait "$pid"
is "values" "$(values)" "kept 1;kept 2;"
is "nothing else is" "$(sort -u "$FAKE/cancelled" | wc -l)" 1
end_item

item "apsis eval beside a running loop measures on a node, and leaves the loop's jobs alone"
cluster beside
touch "$T/beside.wait"
start_run --iterations 1
wait_for "it runs" begun beside 1
apsis eval
is "eval" "$code $out" "0 score=0"
wait_for "the loop's job goes on" in_queue 1
is "nothing is cancelled" "$(cat "$FAKE/cancelled")" ""
rm "$T/beside.wait"
wait "$pid"
is "values" "$(values)" "kept 1;"
is "no folder" "$(folders)" 0
end_item

item "what an apsis eval that was killed has left is cancelled by the next apsis, and that of a living one is not"
cluster left
cancelled() { [ "$(sort -u "$FAKE/cancelled" | wc -l)" = "$1" ]; }
touch "$FAKE/hold"
"$APSIS" eval >/dev/null 2>&1 </dev/null &
first=$!
wait_for "its job is sent" in_queue 1
"$APSIS" eval >"$T/left.out" 2>&1 </dev/null &
second=$!
wait_for "the other's job is sent" in_queue 2
kill -9 "$first"
wait "$first" 2>/dev/null
start_run --iterations 1
wait_for "it is cancelled" cancelled 1
rm "$FAKE/hold"
wait "$second"
is "the living eval" "$? $(cat "$T/left.out")" "0 score=0"
wait "$pid"
is "values" "$(values)" "kept 1;"
is "no other is" "$(sort -u "$FAKE/cancelled" | wc -l)" 1
wait_for "no job" idle
is "no folder" "$(folders)" 0
end_item

item "a clone at the same path, as on another machine, does not touch the jobs of the first"
cluster same
touch "$FAKE/hold"
start_run --iterations 1
wait_for "it is sent" in_queue 1
kill -STOP "$pid" # here both have one disk: the first may not find the other's files
mv "$T/same" "$T/first" && cp -r "$T/first" "$T/same" && cd "$T/same" || exit 1
apsis run -q --iterations 1
is "refused" "$code" 3
like "why" "$err" "execution.folder: another apsis measures for a project at this path: LOCKED: held by pid $pid"
mv "$T/same" "$T/second" && mv "$T/first" "$T/same" && cd "$T/same" || exit 1
kill -CONT "$pid"
rm "$FAKE/hold"
wait "$pid"
is "values" "$(values)" "kept 1;"
is "the first's job" "$(evaluations same)" "c0001 "
is "not cancelled" "$(cat "$FAKE/cancelled")" ""
end_item

item "sandbox: required refuses a node without a sandbox"
cluster required
echo 'sandbox: {mode: required}' >>manifest.yaml && commit required
echo APSIS_CAGE=none >"$FAKE/env"
apsis run -q --iterations 1
like "outcome" "$(values)" "^skipped_executor_failure null;"
like "why" "$(reasons)" "n[1-4]: .*sandbox is required"
is "nothing ran" "$(evaluations required)" ""
rm "$FAKE/env"
end_item

item "pilots: a few jobs measure all candidates; one that dies is replaced, and what it measured is measured again"
cluster piloted "workers: 4, pilots: 2"
: >"$FAKE/submits"
apsis run -q --iterations 6
is "values" "$code $(numbers)" "0 1 2 3 4 5 6 "
is "once each" "$(sort "$T/piloted.evaluations" | uniq -c | grep -cv ' 1 ')" 0
is "two jobs" "$(wc -l <"$FAKE/submits")" 2
wait_for "no job" idle
is "no folder" "$(folders)" 0
touch "$T/piloted.wait" "$FAKE/die"
start_run --iterations 4
wait_for "they run" begun piloted 10
is "two at a time in each" "$(find "$SHARED" -name claim -exec grep -ho 'pilot-[0-9a-f]*' {} + | sort | uniq -c | grep -c ' 2 ')" 2
touch "$FAKE/may_die"
wait_for "two are measured again" begun piloted 12
rm -f "$FAKE/may_die" "$T/piloted.wait"
wait "$pid"
is "values" "$(numbers)" "1 10 2 3 4 5 6 7 8 9 "
end_item

item "pilots outlive a kill of apsis, the next apsis goes on with them, and Ctrl-C ends them"
cluster survives "workers: 2, pilots: 1"
: >"$FAKE/submits"
touch "$T/survives.wait"
start_run --iterations 4
wait_for "they run" begun survives 2
kill -9 "$pid"
wait "$pid" 2>/dev/null
rm "$T/survives.wait"
wait_for "their results are there" sh -c "[ \$(find $SHARED -name result.json | wc -l) = 2 ]"
apsis run -q --iterations 4
like "values" "$code $(numbers)" "^0 1 2 3 4 "
is "once each" "$(sort "$T/survives.evaluations" | uniq -c | grep -v ' 1 ')" ""
is "one job" "$(wc -l <"$FAKE/submits")" 1
touch "$T/survives.wait"
start_run --iterations 2
wait_for "they run" begun survives $(($(wc -l <"$T/survives.evaluations") + 2))
kill -INT "$pid"
wait "$pid"
is "interrupted" $? 130
wait_for "no job" idle
wait_for "nothing goes on there" gone "apsis job $SHARED"
rm "$T/survives.wait"
end_item

item "pilots that end before they measure: a few are sent, then the jobs are given up with the last words, and the run stops"
cluster grounded "workers: 3, pilots: 3"
touch "$FAKE/vanish"
apsis run -q --iterations 3
is "one that is lost does not matter" "$code $(numbers)" "0 1 2 3 "
sed -i 's|pilots: 3|&, program: /opt/none/apsis|' manifest.yaml && commit program
: >"$FAKE/submits"
apsis run -q --iterations 20
is "the run stops" "$code" 3
like "why" "$err" "stopping: nothing could be measured in 3 consecutive experiments; .*no pilot measures: .*/opt/none/apsis"
is "skipped" "$(values | tr ';' '\n' | grep -c '^skipped_executor_failure null')" 3
is "few are sent" "$(($(wc -l <"$FAKE/submits") <= 20))" 1
like "the log" "$(cat logs/apsis.log)" "a pilot ended before it measured: .*/opt/none/apsis"
sed -i 's|, program: /opt/none/apsis|, requeue: 0, options: [--partition=nowhere]|' manifest.yaml && commit options
: >"$FAKE/submits"
apsis run -q --iterations 20
is "refused: the run stops" "$code" 3
like "the scheduler's reason" "$err" "execution.options: sbatch: error: invalid partition specified: nowhere"
is "few are asked for" "$(($(wc -l <"$FAKE/submits") <= 20))" 1
wait_for "no job" idle
is "no pilot is left" "$(find "$SHARED" -name pilot.json)" ""
sed -i 's|, requeue: 0, options: .--partition=nowhere.||' manifest.yaml && commit "as before"
apsis run -q --iterations 1
like "it goes on" "$code $(values)" "^0 .*null;.*kept [0-9]+;"
end_item

finish
