# Every example runs as it is: a baseline, a few experiments, and the fold decides the same again.
. "$(dirname "$0")/transcript.sh"

for example in "$top"/examples/*/; do
    name=$(basename "$example")
    mkdir "$work/$name" && cd "$work/$name" && cp -r "$example". . && rm -rf logs runs .apsis && git init -q . && commit
    run baseline
    is "$code" 0 "$name: baseline"
    run run --iterations 4
    is "$code" 0 "$name: four experiments"
    is "$(wc -l < logs/results.jsonl)" 5 "$name: a line for each"
    unlike "$(cat logs/results.jsonl)" '"status":"crash"' "$name: none of them crashed"
    run replay --check
    is "$code" 0 "$name: the fold plans the same again"

    # A strategy of a user's own, as the README writes it.
    awk '/^```lua/ { inside = 1; next } /^```/ { inside = 0 } inside' "$top/README.md" > mine.lua
    ok "$name: the README's strategy has at most 15 lines" test "$(wc -l < mine.lua)" -le 15
    run run --strategy mine.lua --iterations 3
    is "$code" 0 "$name: the README's own strategy runs"
    unlike "$(cat logs/results.jsonl)" skipped_strategy_error "$name: without a strategy error"
done
done_testing
