#!/bin/bash
# What the files under runs/ tell of each experiment while a run goes on, as goalseek's users know them:
# runs/latest/history.json, and the results.json that a validator wrote.
. tests/cli/lib.sh

# The lines of history.json, its keys in byte order.
history() { "$APSIS" exec "$T/history.lua" "${1:-runs/latest/history.json}"; }
cat >"$T/history.lua" <<'END'
local json = require "apsis.json"
local file = assert(io.open(arg[1]))
for _, entry in ipairs(assert(json.decode(file:read "a"))) do print(json.encode(entry, { sorted = true })) end
END

baseline='{"hypothesis_summary":"Baseline","iteration":0,"iteration_result":"baseline","iteration_score":0,"run_dir":"runs/0000_baseline"}'
first='{"hypothesis_summary":"Increase metric","iteration":1,"iteration_result":"kept","iteration_score":5,"run_dir":"runs/0001"}'
second='{"hypothesis_summary":"Worsen metric","iteration":2,"iteration_result":"reverted_worse_metric","iteration_score":1,"run_dir":"runs/0002"}'
third='{"hypothesis_summary":"No-op","iteration":3,"iteration_result":"skipped_no_change","iteration_score":null,"run_dir":"runs/0003"}'

# A project whose agent does what goalseek's fake provider does in its own test: 5, 1, nothing.
goalseek_steps() {
    agent <<'END'
case $APSIS_EXPERIMENT in
    1) echo "# Increase metric"; echo 5 >value.txt ;;
    2) echo "# Worsen metric"; echo 1 >value.txt ;;
    3) echo "# No-op" ;;
    *) echo "# Wait"; echo 7 >value.txt ;;
esac
END
    new_project "$1"
}

item "history.json is there after the baseline and after each experiment, with goalseek's keys and values"
goalseek_steps steps && apsis baseline
is "after the baseline" "$(history)" "$baseline"
apsis step
is "after one" "$(history)" "$baseline"$'\n'"$first"
apsis run --iterations 2
is "after all" "$(history)" "$baseline"$'\n'"$first"$'\n'"$second"$'\n'"$third"
is "it is in the newest folder only" "$(echo runs/*/history.json runs/.history*)" "runs/0003/history.json runs/latest/history.json runs/.history*"
end_item

item "history.json has every experiment before a kill, and goes on after it"
goalseek_steps killed
printf '%s\n' '[ "$(cat value.txt)" = 7 ] && [ ! -e '"$T"'/go ] && touch '"$T"'/waits && sleep 60' \
    'echo "METRIC score=$(cat value.txt)"' >evaluate.sh
commit && apsis baseline
"$APSIS" run --iterations 4 -q >/dev/null 2>&1 &
victim=$!
for _ in $(seq 200); do [ -e "$T/waits" ] && break; nap 0.1; done
is "in the middle of a run" "$(history)" "$baseline"$'\n'"$first"$'\n'"$second"$'\n'"$third"
kill -9 $victim && wait $victim 2>/dev/null
is "after the kill" "$(history)" "$baseline"$'\n'"$first"$'\n'"$second"$'\n'"$third"
touch "$T/go" && apsis run --iterations 1
is "done again" "$code" 0
is "and after the run that follows" "$(history | tail -n 2 | head -n 1)" \
    '{"hypothesis_summary":"Wait","iteration":4,"iteration_result":"kept","iteration_score":7,"run_dir":"runs/0004"}'
is "which tells each once" "$(history | wc -l)" "$(lines)"
end_item

item "a link in place of the file that grows is told of, and what it leads to stays as it is"
goalseek_steps linked && apsis baseline
for name in .history.json .history.json~; do
    echo precious >"$T/precious" && ln -sf "$T/precious" "runs/$name"
    apsis run --iterations 2
    is "$name: exit code" "$code" 3
    like "$name: said" "$err" "runs/$name is a symbolic link"
    is "$name: the target" "$(cat "$T/precious")" precious
    rm "runs/$name"
done
apsis run --iterations 2
is "without it" "$code $(lines)" "0 3"
end_item

item "what a validator wrote is kept as runs/NNNN/results.json"
PROVIDER='provider: {kind: lua, use: propose.lua}' new_project validated
printf '%s\n' 'mkdir -p runs/latest' 'echo "{\"metric\": $(cat value.txt), \"best_model_iteration_num\": $APSIS_EXPERIMENT}" >runs/latest/results.json' >evaluate.sh
sed -i 's|^metric:.*|metric: {name: score, direction: maximize, extractor: {type: json_file, path: runs/latest/results.json, json_pointer: /metric}}|' manifest.yaml
commit "a validator" && apsis baseline && apsis run --iterations 2
is "run" "$code" 0
is "of the baseline" "$(cat runs/0000_baseline/results.json)" '{"metric": 0, "best_model_iteration_num": 0}'
is "of an experiment" "$(cat runs/0002/results.json)" '{"metric": 2, "best_model_iteration_num": 2}'
is "also by the name that goalseek's users know" "$(cat runs/latest/results.json)" '{"metric": 2, "best_model_iteration_num": 2}'
end_item

item "a result file with the name of one of apsis's own does not replace that"
sed -i 's|runs/latest/results.json|metrics.json|' manifest.yaml evaluate.sh && commit "another name" && apsis baseline --again
is "its own metrics.json stays" "$code $(grep -c '"status": "ok"' "$(ls -d runs/*_baseline | tail -n 1)/metrics.json")" "0 1"
end_item

item "baseline --json names its folder"
goalseek_steps named && apsis baseline --json
is "run_dir" "$(json run_dir)" "$T/named/runs/0000_baseline"
is "which is there" "$(history "$(json run_dir)/history.json")" "$baseline"
end_item

finish
