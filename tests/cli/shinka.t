#!/bin/bash
# The strategy shinka, live, with two scripted models: novelty before evaluation, the bandit, recommendations, instructions.
. "$(dirname "$0")/lib.sh"
. "$ROOT/tests/cli/server.sh"

# `good` makes the first number larger; `bad` only changes blanks, which makes nearly the same program. Asked for advice, a
# model gives it.
cat >"$T/answers.py" <<'PYTHON'
import re


def answer(request, number):
    text = request["text"]
    if "Which five changes" in text:
        return {"content": "My advice:\n1. Raise the first number.\n2. Keep the rest.\n"}
    if "Write better ones" in text:
        return {"content": "Be bold with the first number."}
    found = re.search(r"value = (\d+)\nother = (\d+)", text)
    value = int(found.group(1)) + (number if request["model"] == "good" else 0)
    blanks = " " * number if request["model"] == "bad" else ""
    return {"content": "Another value.\n\nvalue.txt\n```\nvalue = %d%s\nother = %s\n```\n" % (value, blanks, found.group(2))}
PYTHON
echo '{"program": "answers.py", "default": true}' >"$T/script.jsonl"
start_server "$T/script.jsonl"

mkdir -p "$T/numbers" && cd "$T/numbers" && git init -q
printf 'value = 1\nother = 1\n' >value.txt
cat >manifest.yaml <<YAML
version: 1
project: {name: numbers}
metric: {name: value, direction: higher, extractor: {type: metric_lines}}
files: [{path: value.txt, mode: writable}]
verification: {commands: [{name: measure, run: "sed -n 's/^value = /METRIC value=/p' value.txt"}]}
provider: {kind: chat, base_url: '$URL', models: [{name: good}, {name: bad}], retries: 0, repairs: 0}
strategy: {use: shinka, options: {recommendations: 4, prompts: 6}}
budget: {iterations: 30}
YAML
echo '# Numbers' >program.md
git add -A && git commit -qm start
apsis baseline

item "it improves"
apsis run --seed 5 -q
is "run" "$code" 0
like "the best" "$out" 'best c[0-9]* *: [0-9]{2,}'
end_item

item "an answer that is nearly a known program is not measured: a model is asked again, then it is a duplicate"
like "asked again" "$(grep -rl 'Your last answer was not used: nearly the same as' runs/*/prompt* 2>/dev/null | head -1)" 'runs/'
like "a duplicate" "$(grep -m1 '"outcome":"skipped_duplicate"' logs/results.jsonl)" 'nearly the same as c[0-9]+ .similarity 1.00'
is "measured programs of the bad model" "$(grep '"model":"bad","next_action_hint"' logs/results.jsonl | grep -c '"outcome":"\(kept\|reverted\)')" 0
end_item

item "both models are asked, the better one more often"
answers() { grep "\"model\":\"$1\",\"next_action_hint\"" logs/results.jsonl | grep -vc '"outcome":"asked"'; }
good=$(answers good) bad=$(answers bad)
ok "bad: $bad" [ "$bad" -gt 0 ]
ok "good: $good" [ "$good" -gt "$bad" ]
end_item

item "a model is asked for recommendations, and later prompts have one of them"
like "asked" "$(grep -m1 '"ask":"ideas"' logs/results.jsonl)" '"outcome":"asked"'
number=$(grep '"idea":"Raise the first number."' logs/results.jsonl | grep -m1 '"outcome":"kept"' | grep -o '"experiment":[0-9]*' | cut -d: -f2)
apsis show "$number" --prompt
like "in the prompt" "$out" '- Raise the first number\.'
end_item

item "a model is asked for better instructions, and later prompts have them"
like "asked" "$(grep -m1 '"ask":"instructions"' logs/results.jsonl)" '"outcome":"asked"'
number=$(grep '"prompt":2' logs/results.jsonl | grep -m1 '"outcome":"kept"' | grep -o '"experiment":[0-9]*' | cut -d: -f2)
apsis show "$number" --prompt
like "in the prompt" "$out" 'Be bold with the first number\.'
end_item

item "every plan is the same again"
apsis replay --check
is "exit code" "$code" 0
like "none differs" "$out" '0 differ'
end_item

stop_server
finish
