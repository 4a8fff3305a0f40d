#!/bin/bash
# The case files of tests/data through run_cases: one TAP line per file.
apsis=${APSIS:-$PWD/build/apsis}
count=0
for kind in metric_lines direction decide selection fitness trajectory; do
    count=$((count + 1))
    if output=$("$apsis" exec tests/run_cases.lua $kind tests/data/$kind.jsonl); then
        echo "ok $count - $kind: $(echo "$output" | tail -n 1)"
    else
        echo "not ok $count - $kind"
        echo "$output" | sed 's/^/# /'
    fi
done
echo "1..$count"
