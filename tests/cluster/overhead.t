#!/usr/bin/env bash
# What an experiment takes whose evaluation sleeps for 2 s, here and on four real Slurm nodes on this machine, by the number of workers; and
# whether a queue of 10,000 other jobs makes it slower, with the stand-in of Slurm. Prints a table: `make bench-slurm`.
. tests/cli/lib.sh || exit 1
. tests/cluster/lib.sh

# timed WORKERS NUMBER: the seconds that so many experiments took: $took.
timed() {
    local began before
    began=$(date +%s.%N) before=$(lines)
    apsis run -q --iterations "$2" --workers "$1"
    is "with $1 workers" "$code $(lines)" "0 $(($2 + before))"
    took=$(awk -v began="$began" -v ended="$(date +%s.%N)" 'BEGIN { print ended - began }')
}

item "a table of what an experiment takes"
export STRATEGY='{use: hillclimb, options: {patience: 1000000}}'
nodes there "workers: 1" 2
nodes pilots "workers: 1, pilots: 4" 2
new_project here
echo 'sleep 2; echo "METRIC score=$(cat value.txt)"' >evaluate.sh
commit here
apsis baseline --repeats 1
echo "# evaluation of 2 s: experiments a second"
echo "# workers    here   Slurm  pilots  Slurm/here  pilots/here"
for row in 1:5 4:16 16:48 64:512; do
    workers=${row%:*} number=${row#*:}
    cd "$T/here" && timed "$workers" "$number"
    here=$took
    cd "$T/there" && timed "$workers" "$number"
    there=$took
    cd "$T/pilots" && timed "$workers" "$number"
    awk -v workers="$workers" -v count="$number" -v here="$here" -v there="$there" -v pilots="$took" \
        'BEGIN { printf "# %7d %7.2f %7.2f %7.2f %11.2f %12.2f\n", workers, count / here, count / there, count / pilots,
            here / there, here / pilots }'
done
end_item

item "a queue of 10,000 other jobs makes no experiment slower"
export SLURM_FAKE=$T/fake FAKE=$T/fake PATH=$ROOT/tests/cluster/bin:$PATH
mkdir -p "$FAKE/jobs"
setsid "$ROOT/tests/cluster/nodes" >/dev/null 2>&1 &
at_end+=('rm -rf "$FAKE"')
cd "$T/there" && sed -i 's/sleep 2/sleep 0.1/' evaluate.sh && sed -i 's/, workers: 1/, workers: 4/' manifest.yaml && commit short
apsis baseline --again --repeats 1
for others in 0 10000 0 10000; do
    seq "$others" | sed 's/.*/PENDING||main|Priority|other&/' >"$FAKE/others"
    timed 4 60
    echo "# $others other jobs: $(awk -v took="$took" 'BEGIN { printf "%.3f", took / 60 }') s an experiment"
done
end_item

finish
