# Every example runs as it is: a baseline, a few experiments, and the fold decides the same again.
. tests/cli/lib.sh
LIMIT=300 # seconds that an example may take on a busy machine

# block NUMBER: that block of Lua in the README.
block() { awk -v wanted="$1" '/^```lua/ { inside = ++count == wanted; next } /^```/ { inside = 0 } inside' "$ROOT/README.md"; }

for example in "$ROOT"/examples/*/; do
    name=$(basename "$example")
    [ -f "$example/manifest.yaml" ] || continue # standing-goals is a repository of several: standing.t
    mkdir "$T/$name" && cd "$T/$name" && cp -r "$example". . && rm -rf logs runs .apsis && git init -q . && commit
    apsis baseline
    is "$name: baseline" "$code" 0
    apsis run --iterations 4
    is "$name: four experiments" "$code" 0
    is "$name: a line for each" "$(grep -vc '"operator":"final"' logs/results.jsonl)" 5 # and one where the gain is measured anew
    no_line "$name: none of them crashed" "$(cat logs/results.jsonl)" '"status":"crash"'
    apsis replay --check
    is "$name: the fold plans the same again" "$code" 0

    # A strategy of a user's own, as the README writes it.
    block 1 > mine.lua
    ok "$name: the README's strategy has at most 15 lines" test "$(wc -l < mine.lua)" -le 15
    apsis run --strategy mine.lua --iterations 3
    is "$name: the README's own strategy runs" "$code" 0
    no_line "$name: without a strategy error" "$(cat logs/results.jsonl)" skipped_strategy_error
done

# function-minimization: what its evaluator refuses. A block stands in place of the EVOLVE-BLOCK of search.lua.
cd "$T/function-minimization" && git checkout -q . || exit 1
evaluate() { # BLOCK: what evaluate.lua says of the routine with it
    "$APSIS" exec splice.lua "$1" < "$ROOT/examples/function-minimization/search.lua" > search.lua
    apsis exec evaluate.lua
}
cat > splice.lua <<'LUA'
local head, tail = io.read("a"):match "^(.-EVOLVE%-BLOCK%-START\n).*(\n%-%- EVOLVE%-BLOCK%-END.*)$"
io.write(head, arg[1], tail)
LUA
evaluate 'function routine.plan(s) s.try(1, 2) end'
is "a routine that asks once is measured" "$code" 0
line "and so are its evaluations" "$out" "^METRIC evaluations=1$"
honest=$(printf '%s\n' "$out" | grep value=)
evaluate 'function routine.plan(s) s.try(1, 2) s.best.value = -99 end'
is "what a routine says of its own value counts for nothing" "$(printf '%s\n' "$out" | grep value=)" "$honest"
evaluate 'function routine.plan(s) s.best = { x = -1.7041, y = 0.6775 } end'
is "a routine that knows the minimum is measured" "$code" 0
no_line "and gains nothing by it" "$out" "^METRIC value=-1"
evaluate 'function routine.plan(s) s.left = function() return 1 end for i = 1, 61 do s.try(i, i) end end'
is "one evaluation too many: no value" "$code $out" "1 "
line "and the reason" "$err" "search.lua: more than 60 evaluations"
evaluate 'function routine.plan(s) s.best = { x = 0 / 0, y = 0 } end'
is "no numbers: no value" "$code $out" "1 "
evaluate 'function routine.plan(s) s.best = { x = 1 / 0, y = 0 } end'
is "infinity: no value" "$code $out" "1 "
evaluate 'function routine.plan(s) s.best = { x = "1", y = 0 } end'
is "text: no value" "$code $out" "1 "
evaluate 'function routine.plan(s) error { s } end'
is "an error: no value" "$code $out" "1 "
evaluate 'function routine.plan(s) s.try(0 / 0, 0) end'
is "f of no number: no value" "$code $out" "1 "
evaluate 'function routine.plan() os.exit(0) end'
is "no way to the process" "$code $out" "1 "
evaluate 'function routine.plan(s) math.huge, math.sin = 0, print s.try(1, 2) end'
is "nor to the evaluator's own functions" "$(printf '%s\n' "$out" | grep value=)" "$honest"
evaluate 'this is not Lua'
is "no program: no value" "$code $out" "1 "
line "with the line" "$err" "^search.lua: search.lua:[0-9]+:"

# Its provider, and circle-packing's: every operator changes the parent's code, and the change is valid.
cp "$ROOT/tests/cli/operators.lua" . || exit 1
for name in circle-packing/packing.lua function-minimization/search.lua; do
    apsis exec operators.lua "$ROOT/examples/${name%/*}" "${name#*/}"
    is "$name: every operator proposes, from one and from two parents" "$code" 0
    is "$name: valid code, another than its parent's, and the same for the same numbers" "$out" ""
done

# The model that the manifest names in a comment: the manifest is valid with it, and without a key says which is missing.
git checkout -q . && rm -rf logs runs .apsis
sed -i '/^provider: {kind: lua/d; s/^# \(provider:\|  \)/\1/; s/gpt-5-mini/some-model/' manifest.yaml
unset OPENAI_API_KEY
apsis status
is "function-minimization: its provider for a model is valid" "$code" 0
apsis doctor
line "and needs a key" "$out$err" "OPENAI_API_KEY"

# What it is for: hill climbing over code improves on the baseline.
cd "$T" && mkdir improve && cd improve && cp -r "$ROOT/examples/function-minimization/". . && git init -q . && commit
"$APSIS" baseline > /dev/null 2>&1
apsis run --iterations 40 --workers 1 -q
apsis status --json
ok "function-minimization: 40 experiments find a better routine" "$APSIS" exec "$ROOT/tests/cli/better.lua" "$(json best.value)" \
    "$(json baseline.value)"
finish
