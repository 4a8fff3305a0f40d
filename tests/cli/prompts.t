#!/bin/bash
# prompts: what a model is asked with, over a scripted server: the program whole, one form of answer, nothing that the
# project does not mean it to see.
. tests/cli/lib.sh || exit 1
. tests/cli/server.sh

# python_project NAME: a program of 51,362 bytes with the function to change at byte 25,490, and MORE lines of manifest.
python_project() {
    mkdir "$T/$1" && cd "$T/$1" || exit 1
    git init -q .
    python3 -IS - <<'PYTHON'
line = "# a line that nobody needs\n"
def filler(size): return (line * (size // 27 + 1))[:size - 1] + "\n"
middle = "def evolved():\n    return 1\n"
text = filler(25489) + middle + filler(51362 - 25489 - len(middle))
open("program.py", "w").write(text)
PYTHON
    cat >measure.py <<'END'
scope = {}
exec(open("program.py").read(), scope)
print("METRIC score=%r" % scope["evolved"]())
END
    cat >manifest.yaml <<END
version: 1
project: {name: $1}
files: [{path: program.py, mode: writable}, {path: measure.py, mode: hidden}]
verification: {commands: [{name: measure, run: python3 measure.py}]}
metric: {name: score}
strategy: {use: openevolve}
provider: {kind: chat, base_url: '$URL', repairs: 0, models: [m1]}
${MORE-}
END
    git add -A && git commit -qm start
    apsis baseline --repeats 1
    is "baseline" "$code" 0
}

item "a program of 51,362 bytes is shown whole, and an answer in blocks changes its middle"
start_server - <<'END'
{"content": "More.\n\nprogram.py\n<<<<<<< SEARCH\n    return 1\n=======\n    return 2\n>>>>>>> REPLACE\n"}
END
python_project whole
apsis step -q
is "kept" "$(field 1 outcome) $(field 1 primary_metric)" "kept 2"
request 1 body.messages.1.content >"$T/prompt"
is "bytes" "$(wc -c <program.py)" 51362
is "the function's place" "$(grep -bo 'def evolved' program.py | cut -d: -f1)" 25489
ok "the program is in the prompt" python3 -IS -c 'import sys; sys.exit(open("program.py").read() not in open(sys.argv[1]).read())' "$T/prompt"
unlike "nothing is cut" "$(cat "$T/prompt")" "more bytes"
is "its bytes after that" "$(git show refs/apsis/whole/c0001:program.py | wc -c)" 51362
end_item

item "an answer that gives a file whole, of which the prompt showed a part, is refused"
start_server - <<'END'
{"content": "All new.\n\nprogram.py\n```python\ndef evolved():\n    return 3\n# (11320 more bytes)\n```\n"}
END
python_project part
mkdir prompts && printf '{{parent}} begins: # a line that nobody needs\n{{answer}}\n' >prompts/mutation.md
apsis step -q
is "refused" "$(field 1 outcome)" skipped_provider_failure
like "why" "$(field 1 rollback_reason)" "program.py: you were not shown the whole file, so it cannot be given whole"
end_item

item "a snippet is not the whole program where blocks are asked for; it is where whole files are"
start_server - <<'END'
{"content": "I change only the function:\n\n```python\ndef evolved():\n    return 3\n```\n", "default": true}
END
python_project snippet
sed -i 's/use: openevolve/use: hillclimb/' manifest.yaml
apsis step -q
like "refused" "$(field 1 outcome) $(field 1 rollback_reason)" "^skipped_provider_failure .*would leave out more than half of it"
echo "Answer in blocks: <<<<<<< SEARCH, the old lines, =======, the new ones, >>>>>>> REPLACE." >program.md
apsis step -q
is "so in the user's own words" "$(field 2 outcome)" skipped_provider_failure
echo 'prompt: {answer: either}' >>manifest.yaml
apsis step -q
is "with either" "$(field 3 outcome) $(field 3 primary_metric)" "kept 3"
end_item

item "a prompt that is too long with the parent alone is refused, with the key to change"
MORE='prompt: {max_kb: 40}' python_project long
apsis step -q
like "why" "$(field 1 rollback_reason)" "nothing but the parent c0000 in it, more than prompt.max_kb: 40; raise that in manifest.yaml"
unlike "without a traceback, for nothing is wrong with the strategy" "$out$err$(field 1 rollback_reason)" "stack traceback"
sed -i 's/use: openevolve/use: hillclimb/' manifest.yaml && git commit -qam climb
apsis step -q
like "under any strategy" "$(field 2 rollback_reason)" "more than prompt.max_kb: 40"
sed -i 's/max_kb: 40/max_kb: -1/' manifest.yaml
apsis setup
like "a limit below nothing" "$out$err" "manifest.yaml:8: prompt.max_kb: must be a number above 0"
end_item

item "prompt.answer: rewrite asks for whole files under any strategy, and one is taken"
start_server - <<'END'
{"content": "All new.\n\nprogram.py\n```python\ndef evolved():\n    return 4\n```\n"}
END
MORE='prompt: {answer: rewrite}' python_project rewrite
sed -i 's/use: openevolve/use: hillclimb/' manifest.yaml && git commit -qam climb
apsis step -q
is "kept" "$(field 1 outcome) $(field 1 primary_metric)" "kept 4"
request 1 body.messages.0.content >"$T/prompt"
like "the request" "$(tail -n 15 "$T/prompt")" "Answer with the whole new text of each file that you change"
unlike "no blocks" "$(cat "$T/prompt")" "SEARCH"
sed -i 's/answer: rewrite/answer: whole/' manifest.yaml
apsis setup
like "another word" "$out$err" "prompt.answer: must be one of diff, rewrite, either"
end_item

item "a README is in no prompt and in no workspace of an agent, unless prompt.include names it"
start_server - <<'END'
{"content": "More.\n\nprogram.py\n<<<<<<< SEARCH\n    return 1\n=======\n    return 2\n>>>>>>> REPLACE\n", "times": 9}
END
cd "$T" && cp -r "$ROOT/tests/data/import/openevolve" "$T/with-readme" && echo 'THE SOLUTION IS 42' >>with-readme/README.md
apsis import openevolve with-readme --into imported --base-url "$URL" --model m1
cd imported && sed -i '/api_key_env/d' manifest.yaml && git commit -qam nokey && apsis baseline --repeats 1 && apsis step -q
unlike "the prompt" "$(request 1 body.messages)" "THE SOLUTION"
sed -i '/^provider:/,/^$/d' manifest.yaml
echo "provider: {run: 'ls; cat README.md'}" >>manifest.yaml && git commit -qam agent
apsis step -q
unlike "an agent's workspace" "$(cat runs/0002/*)" "THE SOLUTION"
sed -i 's/^seed:.*/&\nprompt: {include: [README.md]}/' manifest.yaml && git commit -qam include
apsis step -q
like "with prompt.include it is in the prompt" "$(cat runs/0003/prompt.md)" "## README.md.*THE SOLUTION IS 42"
sed -i 's/include: .README.md./include: [no.md]/' manifest.yaml && git commit -qam missing
for command in "step" "setup"; do
    apsis $command
    is "a file that is not there: $command" "$code" 2
    like "and why" "$out$err" "prompt.include: no.md: there is no such file"
done
end_item

item "what an evaluator gives under artifacts in a dict is kept and in the next prompt, and no warning of apsis's own"
mkdir "$T/dict" && cd "$T/dict" && echo 'X = 1' >initial_program.py
cat >evaluator.py <<'END'
def evaluate(path):
    return {"combined_score": 1.0, "error": "ONLY 3 OF 5", "artifacts": {"hint": "CLOSE THE GAP", "gaps": [1, 2]}}
END
cd "$T" && apsis import openevolve dict --into dicted --base-url "$URL" --model m1
cd dicted && sed -i '/api_key_env/d' manifest.yaml && git commit -qam nokey && apsis baseline --repeats 1 && apsis step -q
is "files" "$(ls runs/0000_baseline/artifacts | paste -sd' ')" "error.txt gaps.json hint.txt"
like "the prompt" "$(cat runs/0001/prompt.md)" "error.txt.*ONLY 3 OF 5.*hint.txt.*CLOSE THE GAP"
unlike "no warning" "$(cat runs/0001/prompt.md)" "openevolve_evaluate|left out"
end_item

item "the baseline has no change: the user's commit before it, with hidden files, is in no prompt of an agent"
mkdir "$T/own" && cd "$T/own" && git init -q . && echo 1 >value && git add -A && git commit -qm first
echo "# THE EVALUATOR IS SECRET" >measure.sh && echo 'echo METRIC score=$(cat value)' >>measure.sh
cat >manifest.yaml <<'END'
version: 1
project: {name: own}
files: [{path: value, mode: writable}, {path: measure.sh, mode: hidden}]
verification: {commands: [{name: measure, run: sh measure.sh}]}
metric: {name: score}
strategy: {use: openevolve}
provider: {run: 'echo $APSIS_EXPERIMENT >value'}
END
git add -A && git commit -qm second && apsis baseline --repeats 1 && apsis run -q --iterations 4
is "run" "$code" 0
like "it is shown among others" "$(cat runs/000?/prompt.md)" "### c0000, baseline at 1"
unlike "without the commit" "$(cat runs/000?/prompt.md)" "SECRET"
end_item

item "import: diff_based_evolution: false and allow_full_rewrites become prompt.answer"
cd "$T" && cp -r "$ROOT/tests/data/import/openevolve" oe || exit 1
for pair in "diff_based_evolution: false=answer: rewrite" "allow_full_rewrites: true=answer: either"; do
    echo "${pair%%=*}" >oe/config.yaml
    rm -rf made && apsis import openevolve oe --into made
    is "exit code" "$code" 0
    like "the manifest" "$(cat made/manifest.yaml)" "prompt: .${pair#*=}"
    line "the report" "$out" "${pair%%:*} +prompt.answer"
done
echo 'diff_based_evolution: true' >oe/config.yaml
rm -rf made && apsis import openevolve oe --into made
unlike "blocks are the default" "$(cat made/manifest.yaml)" "answer:"
end_item

item "import: a program too long for an answer of max_tokens is told, and what that means"
{ yes "# a line that nobody needs" | head -n 500; cat oe/initial_program.py; } >longer.py && mv longer.py oe/initial_program.py
echo 'llm: {primary_model: m}' >oe/config.yaml
rm -rf made && apsis import openevolve oe --into made
line "in blocks" "$out" "note: initial_program.py has 1[0-9]* bytes, and an answer of max_tokens: 4096 has room for about 12288: from scratch, too"
printf 'diff_based_evolution: false\nllm: {primary_model: m}\n' >oe/config.yaml
rm -rf made && apsis import openevolve oe --into made
line "whole" "$out" "note: initial_program.py .*whole files, .* will be cut off.*write max_tokens: 4[0-9]* in manifest.yaml"
printf 'llm: {primary_model: m, max_tokens: 5000}\n' >oe/config.yaml
rm -rf made && apsis import openevolve oe --into made
unlike "not if it fits" "$out" "has room for"
end_item

stop_server
finish
