# Every example runs as it is: a baseline, a few experiments, and the fold decides the same again.
. "$(dirname "$0")/transcript.sh"

# block NUMBER: that block of Lua in the README.
block() { awk -v wanted="$1" '/^```lua/ { inside = ++count == wanted; next } /^```/ { inside = 0 } inside' "$top/README.md"; }
# shown TEXT: whether the README has it, line for line.
shown() { [ -n "$1" ] && [[ $(cat "$top/README.md") == *"$1"* ]]; }

for example in "$top"/examples/*/; do
    name=$(basename "$example")
    [ -f "$example/manifest.yaml" ] || continue # standing-goals is a repository of several: standing.t
    mkdir "$work/$name" && cd "$work/$name" && cp -r "$example". . && rm -rf logs runs .apsis && git init -q . && commit
    run baseline
    is "$code" 0 "$name: baseline"
    run run --iterations 4
    is "$code" 0 "$name: four experiments"
    is "$(grep -vc '"operator":"final"' logs/results.jsonl)" 5 "$name: a line for each" # and one where the gain is measured anew
    unlike "$(cat logs/results.jsonl)" '"status":"crash"' "$name: none of them crashed"
    run replay --check
    is "$code" 0 "$name: the fold plans the same again"

    # A strategy of a user's own, as the README writes it.
    block 1 > mine.lua
    ok "$name: the README's strategy has at most 15 lines" test "$(wc -l < mine.lua)" -le 15
    run run --strategy mine.lua --iterations 3
    is "$code" 0 "$name: the README's own strategy runs"
    unlike "$(cat logs/results.jsonl)" skipped_strategy_error "$name: without a strategy error"
done

# The README's lab: its strategy and its world run as they are printed there, and what it prints of them is what comes out.
mkdir "$work/lab" && cd "$work/lab" || exit 1
block 2 > restarts.lua
block 3 > near.lua
run lab hillclimb restarts.lua --world near.lua --seeds 3 --evaluations 50
is "$code" 0 "the README's world and strategy run in the lab"
like "$out" "near.lua: distance, lower is better, solved at 0" "the world says what it is"
unlike "$out" "skipped_strategy_error" "without a strategy error"
if [ "${APSIS_SANITIZED:-}" != 1 ]; then
    line=$(grep -o 'lab hillclimb restarts.lua --world nk.*' "$top/README.md")
    # shellcheck disable=SC2086
    run $line
    is "$code" 0 "the README's comparison runs: apsis $line"
    table=$(printf '%s\n' "$out" | sed '/^best: /,$d')
    ok "and prints what the README shows, to the byte" shown "$table"
fi

# function-minimization: what its evaluator refuses. A block stands in place of the EVOLVE-BLOCK of search.lua.
cd "$work/function-minimization" && git checkout -q . || exit 1
evaluate() { # BLOCK: what evaluate.lua says of the routine with it
    "$APSIS" exec splice.lua "$1" < "$top/examples/function-minimization/search.lua" > search.lua
    run exec evaluate.lua
}
cat > splice.lua <<'LUA'
local head, tail = io.read("a"):match "^(.-EVOLVE%-BLOCK%-START\n).*(\n%-%- EVOLVE%-BLOCK%-END.*)$"
io.write(head, arg[1], tail)
LUA
evaluate 'function routine.plan(s) s.try(1, 2) end'
is "$code" 0 "a routine that asks once is measured"
like "$out" "^METRIC evaluations=1$" "and so are its evaluations"
honest=$(printf '%s\n' "$out" | grep value=)
evaluate 'function routine.plan(s) s.try(1, 2) s.best.value = -99 end'
is "$(printf '%s\n' "$out" | grep value=)" "$honest" "what a routine says of its own value counts for nothing"
evaluate 'function routine.plan(s) s.best = { x = -1.7041, y = 0.6775 } end'
is "$code" 0 "a routine that knows the minimum is measured"
unlike "$out" "^METRIC value=-1" "and gains nothing by it"
evaluate 'function routine.plan(s) s.left = function() return 1 end for i = 1, 61 do s.try(i, i) end end'
is "$code $out" "1 " "one evaluation too many: no value"
like "$err" "search.lua: more than 60 evaluations" "and the reason"
evaluate 'function routine.plan(s) s.best = { x = 0 / 0, y = 0 } end'
is "$code $out" "1 " "no numbers: no value"
evaluate 'function routine.plan(s) s.best = { x = 1 / 0, y = 0 } end'
is "$code $out" "1 " "infinity: no value"
evaluate 'function routine.plan(s) s.best = { x = "1", y = 0 } end'
is "$code $out" "1 " "text: no value"
evaluate 'function routine.plan(s) error { s } end'
is "$code $out" "1 " "an error: no value"
evaluate 'function routine.plan(s) s.try(0 / 0, 0) end'
is "$code $out" "1 " "f of no number: no value"
evaluate 'function routine.plan() os.exit(0) end'
is "$code $out" "1 " "no way to the process"
evaluate 'function routine.plan(s) math.huge, math.sin = 0, print s.try(1, 2) end'
is "$(printf '%s\n' "$out" | grep value=)" "$honest" "nor to the evaluator's own functions"
evaluate 'this is not Lua'
is "$code $out" "1 " "no program: no value"
like "$err" "^search.lua: search.lua:[0-9]+:" "with the line"

# Its provider, and circle-packing's: every operator changes the parent's code, and the change is valid.
cp "$here/operators.lua" . || exit 1
for name in circle-packing/packing.lua function-minimization/search.lua; do
    run exec operators.lua "$top/examples/${name%/*}" "${name#*/}"
    is "$code" 0 "$name: every operator proposes, from one and from two parents"
    is "$out" "" "$name: valid code, another than its parent's, and the same for the same numbers"
done

# The model that the manifest names in a comment: the manifest is valid with it, and without a key says which is missing.
git checkout -q . && rm -rf logs runs .apsis
sed -i '/^provider: {kind: lua/d; s/^# \(provider:\|  \)/\1/; s/gpt-5-mini/some-model/' manifest.yaml
unset OPENAI_API_KEY
run status
is "$code" 0 "function-minimization: its provider for a model is valid"
run doctor
like "$out$err" "OPENAI_API_KEY" "and needs a key"

# What it is for: hill climbing over code improves on the baseline.
cd "$work" && mkdir improve && cd improve && cp -r "$top/examples/function-minimization/". . && git init -q . && commit
"$APSIS" baseline > /dev/null 2>&1
run run --iterations 40 --workers 1 -q
run status --json
ok "function-minimization: 40 experiments find a better routine" "$APSIS" exec "$here/better.lua" "$(json best.value)" \
    "$(json baseline.value)"
done_testing
