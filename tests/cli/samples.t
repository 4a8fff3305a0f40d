#!/bin/bash
# samples: METRIC lines repeated for one name in one run, as the newest value or as samples; on standard output and in APSIS_METRICS, with
# repeats, several commands and test cases.
. tests/cli/lib.sh || exit 1

json() { printf '%s' "$out" | "$APSIS" exec "$ROOT/tests/cli/json.lua" "$1"; }

new_project tiny
cat >evaluate.sh <<'END'
for value in 5 1 9 2 8; do echo "METRIC score=$value"; done
echo "METRIC side=1"; echo "METRIC side=4"
END
git commit -qam values

item "by default the newest value counts, and is the one sample"
apsis eval --json
is "exit code" "$code" 0
is "value" "$(json value)" 8
is "samples" "$(json samples)" "[8]"
is "side" "$(json metrics.side)" 4
end_item

all() { sed -i "s/metric: {name: score/metric: {name: score, samples: all/" manifest.yaml; }
all
git commit -qam all

item "samples: all makes them samples in order, and their median the value; of other metrics too"
apsis eval --json
is "value" "$(json value)" 5
is "samples" "$(json samples)" "[5,1,9,2,8]"
is "side" "$(json metrics.side)" 2.5
end_item

item "the journal has all samples of a run, and the value is their median"
apsis baseline --repeats 1
is "exit code" "$code" 0
is "value" "$(field 0 primary_metric)" 5
is "samples" "$(field 0 samples)" "[5,1,9,2,8]"
end_item

item "with repeats the samples are those of all runs"
sed -i 's/^verification:/verification:\n  repeats: 2/' manifest.yaml
echo 'for value in 3 $APSIS_SEED 3; do echo "METRIC score=$value"; done' >evaluate.sh
git commit -qam repeats
apsis eval --json
like "samples" "$(json samples)" '^\[3,[0-9]+,3,3,[0-9]+,3\]$'
is "value" "$(json value)" 3
end_item

item "APSIS_METRICS is read the same way, and instead of standard output"
sed -i '/repeats: 2/d' manifest.yaml
echo 'for value in 7 1 4; do echo "METRIC score=$value" >>"$APSIS_METRICS"; echo "METRIC score=100"; done' >evaluate.sh
git commit -qam file
apsis eval --json
is "value" "$(json value)" 4
is "samples" "$(json samples)" "[7,1,4]"
end_item

item "commands of one run add to the same samples"
sed -i 's/commands: \[{/commands: [{name: first, run: "echo METRIC score=10"}, {/' manifest.yaml
echo 'echo METRIC score=20; echo METRIC score=60' >evaluate.sh
git commit -qam commands
apsis eval --json
is "value" "$(json value)" 20
is "samples" "$(json samples)" "[10,20,60]"
end_item

item "with test cases a run is one sample: each case is the median of what it printed"
new_project cases
all
sed -i 's/^verification:/verification:\n  cases: [cases\/*]/' manifest.yaml
mkdir cases && echo 1 >cases/a && echo 2 >cases/b
echo 'for value in 1 2 9; do echo "METRIC score=$((value * $(cat "$1")))"; done' >evaluate.sh
sed -i 's/run: sh evaluate.sh/run: [sh, evaluate.sh]/' manifest.yaml
git add -A && git commit -qm cases
apsis eval --json
is "value" "$(json value)" 3
is "samples" "$(json samples)" "[3]"
end_item

item "a near miss and a value that is not finite are no samples"
new_project misses
all
printf '%s\n' 'echo METRIC score=1; echo METRIC score=1e999; echo METRIC score=nan; echo " METRIC score=5"; echo METRIC score=3' >evaluate.sh
git commit -qam misses
apsis eval --json
is "value" "$(json value)" 2
is "samples" "$(json samples)" "[1,3]"
end_item

item "more lines than are kept as samples: said, and the first ones are"
echo 'awk "BEGIN { for (i = 0; i < 100010; i++) print \"METRIC other=1\"; print \"METRIC score=4\" }"' >evaluate.sh
git commit -qam many
apsis eval --json
is "value" "$(json value)" 4
like "warning" "$err" "11 left out"
end_item

item "a run that fails after some lines has no value"
echo 'echo METRIC score=1; echo METRIC score=2; exit 3' >evaluate.sh
git commit -qam fails
apsis eval
is "exit code" "$code" 5
end_item

item "a candidate's line has all samples, and the better median is kept"
new_project run
all
echo 'v=$(cat value.txt); for value in 100 $v $((v + 1)); do echo "METRIC score=$value"; done' >evaluate.sh
git commit -qam run
apsis baseline --repeats 1
apsis run --iterations 2 -q
is "outcome" "$(field 2 outcome)" kept
is "samples" "$(field 2 samples)" "[100,2,3]"
is "value" "$(field 2 primary_metric)" 3
end_item

item "a word that is neither last nor all, or another extractor than METRIC lines: exit 2 with line and remedy"
sed -i 's/samples: all/samples: al/' manifest.yaml
apsis eval
is "exit code" "$code" 2
like "message" "$err" "manifest.yaml:[0-9]+: metric.samples: must be one of last, all"
sed -i 's/samples: al,/samples: all, extractor: {type: stdout_regex, regex: "(.*)"},/' manifest.yaml
apsis eval
is "exit code" "$code" 2
like "message" "$err" "metric.samples: all is of METRIC lines, and metric.extractor.type is stdout_regex"
end_item

finish
