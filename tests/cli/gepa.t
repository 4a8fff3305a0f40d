#!/bin/bash
# The strategy gepa, live, with a scripted model: it is shown test cases and asked to change one file; lineages are merged.
. "$(dirname "$0")/lib.sh"
. "$ROOT/tests/cli/server.sh"

# Each file holds one letter, and so is right in one of its five test cases: no candidate is best in all. The model
# writes the letter of a test case at 0 that it is shown, if that is about the file that it is to change.
cat >"$T/answers.py" <<'PYTHON'
import re


def answer(request, number):
    text = request["text"]
    path = re.search(r"Change (\w+\.txt) and no other file", text).group(1)
    now = re.search(re.escape(path) + r"\n```\w*\n(.*)\n```", text).group(1)
    wanted = re.findall(r"- cases/%s-(\w): score=0" % path[0], text)
    return {"content": "Another letter.\n\n%s\n```\n%s\n```\n" % (path, wanted[0] if wanted else now + "z")}
PYTHON
echo '{"program": "answers.py", "default": true}' >"$T/script.jsonl"
start_server "$T/script.jsonl"

mkdir -p "$T/letters/cases" && cd "$T/letters" && git init -q
echo none >left.txt
echo none >right.txt
for letter in b c d e f; do : >"cases/l-$letter" && : >"cases/r-$letter"; done
cat >measure.sh <<'SH'
#!/bin/sh
case=$(basename "$1")
case $case in l-*) file=left.txt ;; *) file=right.txt ;; esac
[ "$(cat $file)" = "${case#?-}" ] && echo METRIC score=1 || echo METRIC score=0
SH
chmod +x measure.sh
cat >manifest.yaml <<YAML
version: 1
project: {name: letters}
metric: {name: score, direction: higher, extractor: {type: metric_lines}}
files: [{path: '*.txt', mode: writable}, {path: 'cases/**', mode: read_only}, {path: measure.sh, mode: read_only}]
verification: {commands: [{name: measure, run: ./measure.sh}], cases: ['cases/*'], repeats: 1}
provider: {kind: chat, base_url: '$URL', models: [{name: m}], retries: 0, repairs: 0}
strategy: {use: gepa}
budget: {iterations: 40}
YAML
echo '# Letters' >program.md
git add -A && git commit -qm start

item "candidates that are best in some test case are kept, and lineages are merged"
apsis baseline
is "baseline" "$code" 0
apsis run --seed 2 -q
is "run" "$code" 0
like "the best" "$out" 'best c[0-9]* *: 0.2'
merge=$(grep '"operator":"merge"' logs/results.jsonl | grep -m1 '"outcome":"kept"')
like "of two parents" "$merge" '"parents":\["c[0-9]*","c[0-9]*"\]'
like "without an answer of a model" "$merge" '"model":null.*"tokens":null'
end_item

item "a kept candidate changed the file that was asked for"
line=$(grep '"operator":"exploitation"' logs/results.jsonl | grep -m1 '"outcome":"kept"')
id=$(grep -o '"candidate":"c[0-9]*"' <<<"$line" | grep -o 'c[0-9]*' | tail -1)
file=$(grep -o '"file":"[a-z.]*"' <<<"$line" | head -1 | cut -d'"' -f4)
is "files of $id" "$(git diff --name-only "refs/apsis/letters/$id^" "refs/apsis/letters/$id" | paste -sd' ')" "$file"
end_item

item "the prompt shows the items of the plan, with the parent's values, and the file whose turn it is"
apsis show "$id" --prompt
like "items" "$out" '- cases/[lr]-[b-f]: score=0'
is "how many, at most" "$(($(grep -cE -- '^- cases/[lr]-[b-f]: score=' <<<"$out") <= 3))" 1
like "one file" "$out" "Change $file and no other file"
like "the parent's files" "$out" 'none'
end_item

item "every plan is the same again"
apsis replay --check
is "exit code" "$code" 0
like "none differs" "$out" '0 differ'
end_item

stop_server
finish
