#!/bin/bash
# import openevolve: configurations that the Python project takes are taken as it reads them, keys stay behind, and what its
# evaluators report as a crash is one.
. "$(dirname "$0")/lib.sh"
DATA=$ROOT/tests/data/import
unset MY_BASE

keys_of() { # keys_of NAME: imports the configuration on stdin; its provider is in $provider
    cd "$T" && cp -r "$DATA/modes" "$1" && cat >"$1/config.yaml"
    apsis import openevolve "$1" --into "$1-new"
    provider=$(sed -n '/^provider:/,/^$/p' "$1-new/manifest.yaml")
}

item "a top-level key is that of a model at an address of its own"
keys_of single <<<'llm: {api_key: "${MY_KEY}", models: [{name: a, api_base: "http://127.0.0.1:2/v1"}]}'
like "its variable" "$(grep 'name: a,' <<<"$provider")" 'api_key_env: MY_KEY'
keys_of keyless <<<'llm: {models: [{name: a, api_base: "http://127.0.0.1:2/v1"}]}'
unlike "without one none is sent" "$provider" 'MY_KEY|name: a,.*api_key_env'
end_item

item "a model twice, YAML 1.1, merge keys, many islands"
keys_of lenient <<'END'
base: &base {population_size: 1_000, num_islands: 80}
max_iterations: 1_000
llm:
  primary_model: m
  secondary_model: m
  models: [{name: t, weight: 0.5, temperature: 0.2}, {name: t, temperature: 0.9}, {name: t, api_base: "http://127.0.0.1:2/v1"}]
evaluator: {enable_artifacts: no, cascade_evaluation: On}
database: {<<: *base, num_islands: 70, exploration_ratio: 0.6}
END
is "exit code" "$code" 0
like "a model twice" "$provider" 'name: m, weight: 1.2'
like "two temperatures" "$provider" 'name: t, weight: 1.5, temperature: 0.2'
like "another address" "$provider" 'name: "t@2".*parameters: \{model: t\}'
like "which is told" "$out" 'model t is named more than once'
made=$(cat lenient-new/manifest.yaml)
like "a number with _" "$made" 'iterations: 1000\}'
like "no" "$made" 'no-artifacts'
like "merged" "$made" 'population_size: 1000'
like "islands" "$made" ' islands: 60.* max_islands: 60'
like "told" "$out" 'num_islands is 70: using 60'
like "ratios" "$made" 'exploitation_ratio: 0.4'
cd lenient-new && apsis baseline
is "and runs" "$code" 0
end_item

item "an address from the environment is resolved, or told and left out"
MY_BASE=http://127.0.0.1:9/v1 keys_of based <<<'llm: {api_base: "${MY_BASE}", primary_model: m}'
like "resolved" "$provider" 'base_url: "http://127.0.0.1:9/v1"'
keys_of baseless <<<'llm: {api_base: "${MY_BASE}", primary_model: m}'
is "exit code" "$code" 0
is "no other takes its place" "$provider" ''
like "told" "$out" 'llm.api_base is ..MY_BASE., but MY_BASE is not set'
for variable in AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI DATABASE=http://me:hunter22@host; do
    export "${variable?}"
    keys_of "secret-${variable%%=*}" <<<"llm: {api_base: 'http://127.0.0.1:9/\${${variable%%=*}}/v1', primary_model: m}"
    is "a secret is in no file" "$(grep -rl 'wJalrXUtnFEMI\|hunter22' "$T")" ''
    like "told of it" "$out" "${variable%%=*} may be a secret"
    unset "${variable%%=*}"
done
end_item

item "a file with a key in it stays behind, and the value of an unknown key is not shown"
cd "$T" && cp -r "$DATA/modes" leaky && mkdir leaky/sub || exit 1
printf 'llm: {api_key: my-own-proxy-key}\nwandb: Zq83kfj20dkKd92kd\n' >leaky/config.yaml
printf '{"key": "sk-abcdefghij0123456789"}\n' >leaky/settings.json
printf 'a = 1\n\nproxy = "my-own-proxy-key"\n' >leaky/sub/conf.toml
printf '[x]\nauth_token = a8Fk29dkfLq02kdm4\n' >leaky/a.ini
printf '{"rate": 0.25, "name": "disk-abcdefghij0123456789", "max_tokens": 4096}\n' >leaky/fine.json
apsis import openevolve leaky --into leaky-new
is "exit code" "$code" 0
is "nowhere" "$(grep -rlE 'sk-abc|my-own|a8Fk|Zq83' leaky-new --exclude=fine.json | wc -l)" 0
unlike "nor shown" "$out$err" 'Zq83|my-own|a8Fk'
like "told" "$out" 'a.ini: line 2 looks like an API key.*settings.json: line 1 .*sub/conf.toml: line 3 '
ok "what holds none comes along" test -s leaky-new/fine.json
end_item

item "a score of 0 with an error's text is a crash"
cd "$T" && cp -r "$DATA/modes" crash && apsis import openevolve crash --into crash-new
[ -d crash-new ] || exit 1
zero() { # zero METRICS ARTIFACTS: the exit code of the evaluation
    printf 'from openevolve.evaluation_result import EvaluationResult\ndef evaluate(path):\n    return EvaluationResult(%s, artifacts=%s)\n' \
        "$1" "$2" >crash-new/evaluator.py
    (cd crash-new && python3 openevolve_evaluate.py evaluator.py initial_program.py >"$T/said.txt" 2>&1)
    echo $?
}
is "an artifact" "$(zero '{"combined_score": 0.0, "error": 0.0}' '{"error": "boom"}')" 1
like "with its text" "$(cat "$T/said.txt")" 'boom'
unlike "and no metric" "$(cat "$T/said.txt")" 'METRIC'
is "a traceback" "$(zero '{"combined_score": 0.0}' '{"traceback": "Traceback\nValueError: no"}')" 1
is "stderr with an error" "$(zero '{"combined_score": 0}' '{"stderr": "x\nValueError: no"}')" 1
is "stderr without one is a score" "$(zero '{"combined_score": 0.0}' '{"stderr": "12 points"}')" 0
is "an error beside a score is a score" "$(zero '{"combined_score": 0.5}' '{"error": "late"}')" 0
end_item

finish
