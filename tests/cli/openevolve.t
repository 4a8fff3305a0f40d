#!/bin/bash
# The way of a user with an OpenEvolve directory, whole: import, baseline, twenty experiments with a model, killed in the middle and
# resumed. And what the Python project does wrong, where it takes the built program to show it.
. "$(dirname "$0")/lib.sh"
. "$ROOT/tests/cli/server.sh"
DATA=$ROOT/tests/data/import
export LINE_KEY=sk-of-nobody-0123456789

cp "$ROOT/tests/cli/openevolve_answers.py" "$T/answers.py"
echo '{"program": "answers.py", "default": true}' >"$T/script.jsonl"
start_server "$T/script.jsonl"

lines() { wc -l <logs/results.jsonl; }
count_of() { grep -c "\"outcome\":\"$1\"" logs/results.jsonl; }
wait_for_lines() { # wait_for_lines N: at most 60 s
    local tries
    for tries in $(seq 600); do
        [ "$(lines)" -ge "$1" ] && return 0
        sleep 0.1
    done
    return 1
}

item "an OpenEvolve directory imports, and its baseline is measured in stages"
cd "$T" && apsis import openevolve "$DATA/openevolve" --into line --base-url "$URL"
is "exit code" "$code" 0
cd line && apsis baseline
is "baseline" "$code" 0
is "its last stage" "$(field 0 stage)" 2
like "its artifacts" "$(ls runs/0000_baseline/artifacts | paste -sd' ')" "detail.* misses.* raw"
end_item

item "twenty experiments, killed in the middle and resumed: each once, none lost"
"$APSIS" run --iterations 20 --set crossover=0.6 -q >"$T/run.out" 2>&1 </dev/null &
pid=$!
ok "it gets on its way" wait_for_lines 9
kill -9 "$pid"
wait "$pid" 2>/dev/null
before=$(lines)
ok "it was in the middle" [ "$before" -lt 21 ]
apsis run --set crossover=0.6
is "exit code" "$code" 0
is "lines" "$(lines)" 21
is "each number once" "$(grep -o '"experiment":[0-9]*' logs/results.jsonl | sort -u | wc -l)" 21
end_item

item "crossover candidates are commits with two parents, and the graph shows operator, island and value"
crossed=0
for number in $(seq 1 20); do
    [ "$(field "$number" operator)" = crossover ] || continue
    ref=$(printf 'refs/apsis/openevolve/c%04d' "$number")
    git rev-parse -q --verify "$ref" >/dev/null || continue
    crossed=$((crossed + 1))
    is "parents of $ref" "$(git rev-list --parents -n 1 "$ref" | wc -w)" 3
done
ok "there are some" [ "$crossed" -gt 0 ]
apsis log --graph
like "operator, island and value" "$out" 'crossover island [0-9]+ [0-9.-]+'
like "git's own graph" "$(git log --graph --oneline --glob='refs/apsis/openevolve/*' | cat)" '\|\\'
end_item

item "it improved, and the branch holds the best"
apsis status --json
best=$(grep -o '"best":{"candidate":"c[0-9]*","commit":"[0-9a-f]*"' <<<"$out" | cut -d'"' -f10)
like "a best that is no baseline" "$out" '"best":."candidate":"c00(0[1-9]|[12])'
is "the branch's tree" "$(git rev-parse 'apsis/openevolve^{tree}')" "$(git rev-parse "$best^{tree}")"
end_item

item "a candidate that fails stage 1 is stopped there, keeps that stage's metrics, and never becomes best"
stopped=$(grep -m1 '"outcome":"reverted_stage_failure"' logs/results.jsonl)
like "there is one" "$stopped" '"stage":1'
like "no value" "$stopped" '"primary_metric":null'
like "the stage's metrics" "$stopped" '"secondary_metrics":.*"valid":0'
end_item

item "refusal prose never becomes a program: the proposal failed"
like "its reason" "$(grep '"outcome":"skipped_provider_failure"' logs/results.jsonl)" 'the answer has no edit'
end_item

item "a diff whose SEARCH does not match is a failed proposal, not an evaluated copy of the parent"
like "its reason" "$(grep '"outcome":"skipped_provider_failure"' logs/results.jsonl)" 'SEARCH.*(not in|no such|does not|matches)'
is "no candidate has the parent's tree" "$(count_of skipped_no_change)" 0
end_item

item "the prompt shows the parent's own artifacts, sent as recorded"
number=$(grep -m1 '"outcome":"\(kept\|reverted_worse_metric\)"' logs/results.jsonl | grep -o '"experiment":[0-9]*' | cut -d: -f2)
apsis show "$number" --prompt
is "exit code" "$code" 0
like "artifacts" "$out" 'misses'
like "the parent's program" "$out" 'EVOLVE-BLOCK-START'
like "how to answer" "$out" 'Answer with (one or more SEARCH|the whole new text)'
end_item

item "the key is in no file of the project"
is "files with it" "$(grep -rl "$LINE_KEY" . "$XDG_CACHE_HOME" 2>/dev/null | paste -sd' ')" ""
end_item

item "the fold is the checkpoint: every plan is the same again"
apsis replay --check --set crossover=0.6
is "exit code" "$code" 0
like "none differs" "$out" '0 differ'
end_item

item "a killed worker costs one experiment"
cd "$T" && apsis import openevolve "$DATA/openevolve" --into killed --base-url "$URL"
cd killed
sed -i 's/^def evaluate_stage1(program_path):/def evaluate_stage1(program_path):\n    import os, signal\n    if os.environ["APSIS_EXPERIMENT"] == "2":\n        os.kill(os.getpid(), signal.SIGKILL)/' evaluator.py
git commit -qam 'an evaluator that dies once'
apsis baseline
start_server "$T/script.jsonl"
sed -i "s#http://127.0.0.1:[0-9]*/v1#$URL#" manifest.yaml
apsis run --iterations 3 --workers 1
is "exit code" "$code" 0
is "its outcome" "$(field 2 outcome)" skipped_verification_crash
like "its reason" "$(field 2 rollback_reason)" 'SIGKILL'
is "experiments" "$(lines)" 4
end_item

stop_server
finish
