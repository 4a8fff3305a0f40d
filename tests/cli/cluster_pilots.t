#!/usr/bin/env bash
# What may befall a pilot on a stand-in of Slurm: nothing that it has begun is lost, nothing that was ended by others counts against a
# candidate.
. tests/cli/lib.sh || exit 1
. tests/cluster/fake.sh

ended() { ! kill -0 "$pid" 2>/dev/null; }
pilot_folder() { dirname "$(find "$SHARED" -name pilot.json)"; }
pilot_pid() { pgrep -f "apsis job $(pilot_folder)" | head -1; }
children() { # children PID: all processes below it
    local pid
    for pid in $(pgrep -P "$1"); do
        children "$pid"
        echo "$pid"
    done
}

item "a pilot that is started again under its name leaves, and what it had claimed is measured by another one"
cluster again "workers: 2, pilots: 1"
touch "$T/again.wait"
start_run --iterations 2
wait_for "they run" begun again 2
folder=$(pilot_folder)
touch "$FAKE/linger"
kill -9 "$(pilot_pid)"
rm "$T/again.wait"
SLURMD_NODENAME=n9 apsis job "$folder"
is "the second one" "$code" 3
like "says why" "$err" "it has served already"
rm "$FAKE/linger"
wait_for "the run ends" ended
is "values" "$(numbers)" "1 2 "
is "each twice, as the first time was lost" "$(evaluations again | tr " " "\n" | sort | uniq -c | awk "NF > 1 { printf \"%d \", \$1 }")" "2 2 "
rm -rf "$FAKE"/jobs/*
end_item

item "one answer of the queue without a pilot is no end of it"
cluster blink "workers: 1, pilots: 1"
sed -i 's/poll_sec: 0.1/poll_sec: 1/' manifest.yaml # three of them are longer than one answer, on a busy machine too
commit polls
touch "$T/blink.wait"
start_run --iterations 1
wait_for "it runs" begun blink 1
sent=$(wc -l <"$FAKE/submits")
mv "$FAKE/jobs" "$FAKE/away" && mkdir "$FAKE/jobs"
questions 0
rmdir "$FAKE/jobs" && mv "$FAKE/away" "$FAKE/jobs"
questions 3
is "no other pilot is sent" "$(wc -l <"$FAKE/submits")" "$sent"
rm "$T/blink.wait"
wait_for "the run ends" ended
is "values" "$(values)" "kept 1;"
is "measured once" "$(evaluations blink)" "c0001 "
end_item

item "what was sent without pilots goes on where it is, and pilots measure the rest"
cluster plain "workers: 2"
touch "$T/plain.wait"
start_run --iterations 2
wait_for "they run" begun plain 2
kill -9 "$pid"
wait "$pid" 2>/dev/null
sed -i 's/workers: 2/&, pilots: 1/' manifest.yaml
commit pilots
start_run --iterations 4
questions 6
rm "$T/plain.wait"
wait_for "the run ends" ended
is "values" "$(numbers)" "1 2 3 4 5 6 "
is "once each" "$(evaluations plain | tr ' ' '\n' | sort | uniq -d | tr '\n' ' ')" ""
end_item

item "a pilot that the scheduler refuses does not give up one that waits"
cluster refused "workers: 2, pilots: 2, requeue: 0"
touch "$FAKE/hold" "$FAKE/refuse"
start_run --iterations 2
wait_for "one is sent" in_queue 1
questions 15
is "no job is given up" "$(grep -c "no pilot measures" logs/apsis.log)" 0
rm -f "$FAKE/hold" "$FAKE/refuse"
wait_for "the run ends" ended
is "values" "$(numbers)" "1 2 "
end_item

item "a pilot of before that the queue still has, without its folder, is none, and no lost one either"
cluster before "workers: 3, pilots: 1, requeue: 0"
touch "$T/before.wait"
start_run --iterations 3
wait_for "it runs" begun before 1
name=$(basename "$(pilot_folder)")
kill -INT "$pid"
wait "$pid"
rm "$T/before.wait"
echo "RUNNING|n9|main|None|$name" >"$FAKE/others"
apsis run -q --iterations 3
is "run" "$code" 0
is "measured" "$(values | tr ';' '\n' | grep -cE "^(kept|reverted_worse_metric) ")" 6
is "no pilot is said to be lost" "$(grep -c "a pilot ended before" logs/apsis.log)" 0
rm "$FAKE/others"
end_item

# A scheduler ends all processes of a job, one after another.
item "that an evaluator was ended before its pilot is no crash of the candidate"
cluster terminated "workers: 1, pilots: 1"
touch "$T/terminated.wait"
start_run --iterations 1
wait_for "it runs" begun terminated 1
pilot=$(pilot_pid)
kill -TERM $(children "$pilot") 2>/dev/null
sleep 0.05
kill -TERM "$pilot"
rm "$T/terminated.wait"
wait_for "the run ends" ended
is "values" "$(values)" "kept 1;"
end_item

finish
