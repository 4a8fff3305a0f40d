#!/bin/bash
# import openevolve on bad input: exit 2, a message with file, line and key, and nothing written.
. "$(dirname "$0")/lib.sh"
DATA=$ROOT/tests/data/import
cd "$T" || exit 1

# refused WHAT REGEX [OPTION...]: importing ./from is refused with such a message.
refused() {
    local what=$1 pattern=$2
    shift 2
    apsis import openevolve from --into into "$@"
    item "$what"
    is "exit code" "$code" 2
    like "message" "$err" "$pattern"
    unlike "no traceback" "$err" 'stack traceback'
    ok "nothing written" test ! -e into
    end_item
    rm -rf into from && cp -r "$DATA/modes" from
}

rm -rf from && cp -r "$DATA/modes" from
rm from/evaluator.py && refused "no evaluator" 'from: evaluator: evaluator.py is missing'
rm from/initial_program.py && refused "no program" 'from: initial_program: .*--program FILE'
mv from/initial_program.py from/initial_program.rs && cp from/initial_program.rs from/initial_program.c &&
    refused "several programs" 'several programs: initial_program.c, initial_program.rs'
refused "a program that is not there" '--program: .nope.py.: no such file' --program nope.py
refused "a program that is the evaluator" 'evaluator.py cannot be both program and evaluator' --program evaluator.py
refused "a program outside the directory" 'must be a path inside' --program ../from/initial_program.py
printf 'def evaluate(x):\n    return (\n' >from/evaluator.py && refused "an evaluator that is no Python" 'from/evaluator.py:2: evaluator: is not Python'
printf 'def evaluates(x):\n    return 1\n' >from/evaluator.py && refused "an evaluator without evaluate" 'from/evaluator.py:1: evaluate: .*no function evaluate'
printf 'import sys\nsys.exit(3)\n' >from/evaluator.py && refused "an evaluator is inspected without running it" 'no function evaluate'
printf 'a: b\n c: d\n' >from/config.yaml && refused "a configuration that is no YAML" 'from/config.yaml:2'
printf '\x7fELF\x00\x01' >from/config.yaml && refused "a binary configuration" 'config.yaml:1: is not UTF-8 text'
printf '\xff\xfe' >from/config.yaml && refused "a configuration that is no UTF-8" 'config.yaml:1: is not UTF-8 text'
printf -- '- a\n- b\n' >from/config.yaml && refused "a configuration that is a list" 'config.yaml:1: config: must be a mapping'
printf 'max_iterations: 3\nllm:\n  temperature: warm\n' >from/config.yaml && refused "a value of the wrong kind" \
    "config.yaml:3: llm.temperature: must be a number; got 'warm'"
printf 'llm: text\n' >from/config.yaml && refused "a section that is no mapping" 'config.yaml:1: llm: must be a mapping'
printf 'llm:\n  models:\n    - {weight: 1}\n' >from/config.yaml && refused "a model without a name" 'config.yaml:3: llm.models\[1\].name: is required'
printf 'evaluator:\n  timeout: 0\n' >from/config.yaml && refused "a limit of no time" 'config.yaml:2: evaluator.timeout: must be above 0'
printf 'max_iterations: 0\n' >from/config.yaml && refused "no iterations" 'config.yaml:1: max_iterations: must be 1 or more'
printf 'max_iterations: .nan\n' >from/config.yaml && refused "a number that is none" 'config.yaml:1: max_iterations: must be a whole number'
printf 'evaluator:\n  cascade_thresholds: [0.5, high]\n' >from/config.yaml && refused "a threshold that is no number" \
    'config.yaml:2: evaluator.cascade_thresholds\[2\]'
printf 'llm:\n  api_base: ftp://x\n  primary_model: m\n' >from/config.yaml && refused "an endpoint that is none" 'into/manifest.yaml:[0-9]+: provider.base_url'
refused "a configuration that is not there" '--config: .x.yaml.: no such file' --config x.yaml
refused "a selection that is none" 'must be playbook or openevolve' --selection playbok
refused "a key in place of its variable's name" '^apsis: --api-key-env: must be the name of an environment variable' --api-key-env sk-123-abc
unlike "which is not shown" "$err" 'sk-123'
refused "a password in an address" '^apsis: --base-url: must not hold a user or password' --base-url https://me:secret@h/v1 --model m
unlike "which is not shown" "$err" 'secret'
for key in elite_selection_ratio exploration_ratio exploitation_ratio migration_rate similarity_threshold; do
    printf 'database:\n  %s: 1.5\n' $key >from/config.yaml && refused "a share above 1: $key" "config.yaml:2: database.$key: must be from 0 to 1; got 1.5"
done
KEY=sk-abcdefghij0123456789
printf 'prompt:\n  system_message: use %s\n' $KEY >from/config.yaml && refused "a key in the instructions" \
    'from/config.yaml:2: prompt.system_message: looks like it contains an API key'
printf 'evaluator:\n  evaluator_args: {token: %s}\n' $KEY >from/config.yaml && refused "a key in the evaluator's arguments" \
    'from/config.yaml:2: evaluator.evaluator_args: .*export it'
printf 'llm: {api_key: its-own-key}\nprompt: {system_message: its-own-key}\n' >from/config.yaml && refused "the configured key in the instructions" \
    'from/config.yaml:2: prompt.system_message'
printf '# \n# %s\n' $KEY >>from/initial_program.py && refused "a key in the program" 'from/initial_program.py:[0-9]+: key: '
unlike "which is not shown" "$err" "$KEY"
refused "an interpreter that is not there" '--python: no-such-python cannot be run' --python no-such-python
refused "an interpreter that is no Python" '--python: false did not read' --python false

item "nothing is written into what is imported"
for into in from/new from/../from/a/b; do
    apsis import openevolve from --into $into
    is "exit code" "$code" 2
    like "message" "$err" "--into: $into is inside from, which apsis never changes; .* such as .*/from-apsis"
done
ln -s from link && apsis import openevolve from --into link/new
is "by a link" "$code" 2
cd from && apsis import openevolve . --into new
is "from inside" "$code" 2
cd ..
is "as it was" "$(ls from | paste -sd' ')" "evaluator.py initial_program.py"
apsis import openevolve from --into from-new
is "a name that begins the same is another place" "$code" 0
rm -rf from-new
end_item

item "unknown keys are listed with what was meant, and kept"
printf 'max_iteration: 5\ndatabse: {num_islands: 3}\nllm: {tempratur: 1}\nevaluator: {nan: .nan}\n"new\\nline": 1\n' >from/config.yaml
apsis import openevolve from --into into
is "exit code" "$code" 0
like "top" "$out" "max_iteration +did you mean 'max_iterations'"
like "section" "$out" "databse .*did you mean 'database'"
like "below" "$out" "llm.tempratur +did you mean 'temperature'"
like "kept" "$(cat into/manifest.yaml)" '# max_iteration: did you mean'
is "each on a line" "$(grep -c '^# ' into/manifest.yaml)" 9 # the evaluator's line among them
end_item

finish
