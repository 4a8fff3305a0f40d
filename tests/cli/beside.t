#!/bin/bash
# beside: apsis report --beside: runs of projects side by side, with the figures that their own faces have, and those that
# the lab's statistics make of them.
. tests/cli/lib.sh && . tests/cli/faces.sh || exit 1

# a project whose experiments have these values, measured
project() {
    values "$@" && sed -i "s/name: tiny/name: $1/" manifest.yaml && start
}
project one 3 1 4 5 && live --iterations 4
project two 2 - 7 1 && live --iterations 4 --strategy random_walk
project three 6 = 2 8 && live --iterations 4
cd "$T" || exit 1

# seen WHAT: of the JSON, d, by Python.
seen() { printf '%s\n' "$out" | python3 -c "import json, sys; d = json.loads(sys.stdin.readline()); print($1)"; }

item "each run has the figures of its status"
apsis report --beside one --beside two --beside three --json
is "exit" "$code$err" 0
for name in one two three; do
    "$APSIS" status --json "$name" >"$T/$name.json"
    is "$name" "$(seen '[(r["best"], r["id"], r["baseline"], r["experiments"], r["kept"]) == (s["best"]["value"], s["best"]["candidate"], s["baseline"]["value"], s["experiments"], s["outcomes"].get("kept", 0)) for s in [json.load(open("'"$T/$name.json"'"))] for r in d["runs"] if r["name"] == "'$name'"]')" "[True]"
done
is "strategies and seeds" "$(seen '[(r["strategies"], r["seed"]) for r in d["runs"]]')" "[('hillclimb', 1), ('random_walk', 1), ('hillclimb', 1)]"
end_item

item "runs of a strategy are repetitions: medians, quartiles, runtimes"
is "the table" "$(seen '[(r["strategy"], r["runs"], r["q1"], r["median"], r["q3"], r["successes"]) for r in d["results"]]')" \
    "[('random_walk', 1, 7, 7, 7, 0), ('hillclimb', 2, 5.75, 6.5, 7.25, 1)]"
is "the best of all is the target where there is none" "$(seen 'd["best_found"], d["results"][0]["target"]')" "['score'] 8"
is "the curves" "$(seen '[(c["strategy"], c["x"][-1], c["median"][0], c["median"][-1], c["q1"][-1], c["q3"][-1]) for c in d["curves"]]')" \
    "[('hillclimb', 5, 0, 6.5, 5.75, 7.25), ('random_walk', 5, 0, 7, 7, 7)]"
is "the runtimes" "$(seen '[(e["strategy"], e["x"], e["y"]) for e in d["ecdf"]]')" "[('hillclimb', [1, 4, 5], [0, 0.5, 0.5]), ('random_walk', [1, 5], [0, 0])]"
is "nothing is tested" "$(seen 'd["comparisons"], d["overall"]')" "[] []"
apsis report --beside a=one --beside b=three --json
is "a name says what a run counts as" "$(seen '[(r["strategy"], r["median"]) for r in d["results"]]')" "[('b', 8), ('a', 5)]"
apsis report --beside one --beside one --json
is "a run may stand beside itself" "$(seen 'd["results"][0]["runs"]')" 2
end_item

item "targets of the manifests; metrics of their own; directions"
for name in one two; do sed -i 's/direction: higher/direction: higher, target: 4/' $name/manifest.yaml; done
apsis report --beside one --beside two --json
is "theirs" "$(seen '[(r["strategy"], r["target"], r["successes"]) for r in d["results"]], d["best_found"]')" "[('random_walk', 4, 1), ('hillclimb', 4, 1)] []"
DIRECTION=lower project lower 2 -3 && live --iterations 2
cd "$T" || exit 1
apsis report --beside one --beside lower --json
is "a world for each" "$(seen '[(r["world"], r["direction"], r["median"]) for r in d["results"]]')" "[('score', 'higher', 5), ('score (lower)', 'lower', -3)]"
end_item

item "what a reset has put away stands beside what was run since"
apsis reset -f three
is "reset" "$code" 0
(cd three && "$APSIS" baseline -q && live --iterations 2 --seed 7)
apsis report --beside three --json
is "both" "$(seen '[(r["name"].split()[0], r["best"], r["experiments"], r["seed"]) for r in d["runs"]]')" "[('three,', 8, 4, 1), ('three', 6, 2, 7)]"
like "it is named" "$(seen 'd["runs"][0]["name"] + ": " + d["runs"][0]["status"]')" '^three, reset [0-9TZ]+: reset: budget: iterations'
end_item

item "the page; what cannot be is refused"
apsis report --beside one --beside two --out "$T/page.html"
is "written" "$code:$out" "0:$T/page.html"
"$APSIS" report --beside one --beside two --out - >"$T/again.html"
ok "the same each time" cmp "$T/page.html" "$T/again.html"
is "no more than 300 kB" "$(($(stat -c %s "$T/page.html") < 300000))" 1
for wrong in "" "--json --out x" "one --json" "--serve" "--svg --json" "--json --open" "--card x.svg --json"; do
    # shellcheck disable=SC2086
    apsis report --beside one $wrong
    is "$wrong" "$code" 2
done
new_project empty
cd "$T" || exit 1
apsis report --beside one --beside empty --json
is "a project without experiments" "$code" 3
like "is named" "$err" "no experiments yet: run \`apsis baseline empty\`"
apsis report --beside nowhere --json
is "no project" "$code" 2
if [ -z "${APSIS_SANITIZED:-}" ]; then
    cd "$T" && LIMIT=120 capture python3 "$ROOT/tests/browser/browse.py" --views phone,desktop-dark page.html
    is "drawn, without errors or requests, within the screen" \
        "$(printf '%s\n' "$out" | python3 -c 'import json, sys
for d in map(json.loads, sys.stdin): print(d["drawn"], d["errors"], d["requests"], d["wide"], d["cut"], d["unlabelled"], [c["painted"] for c in d["canvases"]])')" \
        $'True [] [] [] [] 0 [True, True]\nTrue [] [] [] [] 0 [True, True]'
fi
end_item

finish
