#!/bin/bash
# The strategy adaevolve, live, with a scripted model: islands by turns, a new one when few improve, a question when the run
# is stuck, and its answer in later prompts.
. "$(dirname "$0")/lib.sh"
. "$ROOT/tests/cli/server.sh"

# The model makes the number larger, up to 9; then only a prompt with a direction helps it.
cat >"$T/answers.py" <<'PYTHON'
import re


def answer(request, number):
    text = request["text"]
    if "Name three" in text:
        return {"content": "Directions:\n- Go beyond nine.\n- Count in twos.\n"}
    value = int(re.findall(r"value = (\d+)", text)[0])
    helped = "Take this direction: Go beyond nine." in text
    value = value + 100 if helped else value + 1 if value < 9 else value
    return {"content": "Another value.\n\nvalue.txt\n```\nvalue = %d\nnumber = %d\n```\n" % (value, number)}
PYTHON
echo '{"program": "answers.py", "default": true}' >"$T/script.jsonl"
start_server "$T/script.jsonl"

mkdir -p "$T/numbers" && cd "$T/numbers" && git init -q
printf 'value = 1\nnumber = 0\n' >value.txt
cat >manifest.yaml <<YAML
version: 1
project: {name: numbers}
metric: {name: value, direction: higher, extractor: {type: metric_lines}}
files: [{path: value.txt, mode: writable}]
verification: {commands: [{name: measure, run: "sed -n 's/^value = /METRIC value=/p' value.txt"}]}
provider: {kind: chat, base_url: '$URL', models: [{name: m}], retries: 0, repairs: 0}
strategy: {use: adaevolve, options: {spawn_below: 0.9, spawn_cooldown: 8, migration_interval: 5, max_islands: 3}}
budget: {iterations: 30}
YAML
echo '# Numbers' >program.md
git add -A && git commit -qm start
apsis baseline
apsis run --seed 4 -q
is "run" "$code" 0
like "the best, which needs a direction" "$out" 'best c[0-9]* *: [12][0-9][0-9]'

item "each island has its turn, and there is a new one"
for island in 1 2 3; do like "island $island" "$(grep -c "\"island\":$island" logs/results.jsonl)" '^[1-9]'; done
is "no other" "$(grep -c '"island":4' logs/results.jsonl)" 0
end_item

item "the best of an island becomes a parent on the next"
moved=$(python3 -IS - logs/results.jsonl <<'PYTHON'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
home = {line["candidate"]: line["notes"]["island"] for line in lines if "island" in line.get("notes", {})}
print(sum(home.get(line["parents"][0], island) % 3 + 1 == island for line in lines
          for island in [line.get("notes", {}).get("island")] if island and line["parents"]))
PYTHON
)
like "how many" "$moved" '^[1-9]'
end_item

item "parents are drawn in three ways"
for mode in exploration exploitation balanced; do
    like "$mode" "$(grep -c "\"drawn\":\"$mode\"" logs/results.jsonl)" '^[1-9]'
done
end_item

item "when the run is stuck a model is asked for directions, and each is in two prompts"
like "asked" "$(grep -m1 '"ask":"ideas"' logs/results.jsonl)" '"outcome":"asked"'
is "uses" "$(grep -c '"idea":"Go beyond nine."' logs/results.jsonl)" 2
number=$(grep '"idea":"Go beyond nine."' logs/results.jsonl | grep -m1 '"outcome":"kept"' | grep -o '"experiment":[0-9]*' | cut -d: -f2)
apsis show "$number" --prompt
like "in the prompt" "$out" 'Take this direction: Go beyond nine\.'
like "with other programs" "$out" 'Other versions'
end_item

item "every plan is the same again"
apsis replay --check
is "exit code" "$code" 0
like "none differs" "$out" '0 differ'
end_item

stop_server
finish
