#!/bin/bash
# import openevolve: an OpenEvolve directory becomes a project that baseline and run take; every key of its configuration is
# told; whatever an evaluator does costs at most its own experiment.
. "$(dirname "$0")/lib.sh"
DATA=$ROOT/tests/data/import
unset LINE_KEY OPENAI_API_KEY

# A provider in Lua and a strategy that asks no model, in place of the imported ones; committed. offline FILE
offline() {
    sed -i -e '/^strategy:/,/^$/d' -e '/^provider:/,/^$/d' -e '/^# provider:/d' -e '/^execution:/d' manifest.yaml
    printf '%s\n' 'strategy: hillclimb' 'provider: {kind: lua, use: propose.lua}' >>manifest.yaml
    cat >propose.lua
    git add -A && git commit -qm offline
}

item "an OpenEvolve directory is imported: repository, first commit, manifest, program.md, runner"
cd "$T" && apsis import openevolve "$DATA/openevolve" --into new
is "exit code" "$code" 0
is "one commit" "$(git -C new rev-list --count HEAD)" 1
is "nothing left over" "$(git -C new status --porcelain)" ""
is "its files" "$(git -C new ls-files | paste -sd' ')" \
    ".gitignore README.md data/points.csv evaluator.py initial_program.py manifest.yaml openevolve_evaluate.py points.py program.md"
like "the program is writable" "$(cat new/manifest.yaml)" 'initial_program.py, mode: writable'
like "the evaluator is hidden" "$(cat new/manifest.yaml)" 'evaluator.py, mode: hidden'
like "and its data" "$(cat new/manifest.yaml)" 'data/\*\*", mode: hidden'
like "the system message is in program.md" "$(cat new/program.md)" 'You fit a line to points'
unlike "and the README is not" "$(cat new/program.md)" 'lie on y = 2x'
like "which is hidden" "$(cat new/manifest.yaml)" 'path: README.md, mode: hidden'
line "and the report has how to show it" "$out" '^note: README.md is hidden from models.*prompt: .include: \[README.md\]'
like "the key's variable" "$(cat new/manifest.yaml)" 'api_key_env: LINE_KEY'
like "the threshold" "$(cat new/manifest.yaml)" 'threshold: 0.5'
like "the budget" "$(cat new/manifest.yaml)" 'budget: .iterations: 40'
like "what comes next" "$out" 'apsis baseline new'
end_item

item "the evaluator's functions are found without running anything of the directory, nor modules of the current folder"
mkdir "$T/hostile" && cd "$T/hostile" && cp "$DATA/openevolve/"*.py . 2>/dev/null
for name in argparse ast json sys sitecustomize usercustomize openevolve_evaluate; do
    echo "open('$T/ran', 'w').write('$name')" >$name.py
done
echo "open('$T/ran', 'w').write('evaluator')" >>evaluator.py
PYTHONPATH=$PWD PYTHONSTARTUP=$PWD/json.py apsis import openevolve . --into ../harmless
is "exit code" "$code" 0
ok "nothing ran" test ! -e "$T/ran"
end_item

item "a README and a .gitignore that lead out of the directory: no text of the user's is taken"
echo "the user's own notes" >"$HOME/notes"
cp -r "$DATA/openevolve" "$T/leading" && cd "$T/leading" && rm -f README.md && ln -s "$HOME/notes" README.md &&
    ln -sf "$HOME/notes" .gitignore && cd "$T" || exit 1
apsis import openevolve leading --into led
is "exit code" "$code" 0
is "no file has it" "$(grep -rl "own notes" led)" ""
end_item

item "the source directory is left as it was"
is "no new files" "$(cd "$DATA/openevolve" && find . -type f | sort | paste -sd' ')" \
    "./README.md ./config.yaml ./data/points.csv ./evaluator.py ./initial_program.py ./points.py"
end_item

item "every key of config.yaml is told: mapped, not needed, the other selection's, or unknown"
cd "$T" && apsis import openevolve "$DATA/openevolve" --into told --json
is "exit code" "$code" 0
python3 - "$T/.out" "$DATA/openevolve/config.yaml" >"$T/told.txt" <<'END'
import json, re, sys
told = {entry["key"]: entry["state"] for entry in json.load(open(sys.argv[1]))["settings"]}
section = ""
for line in open(sys.argv[2]):
    found = re.match(r"( *)([a-z_]+):(.*)", line)
    if found is None or line.startswith("    "):
        continue
    name = found.group(2) if found.group(1) == "" else section + "." + found.group(2)
    if found.group(1) == "" and found.group(3).strip() == "":
        section = name
        continue
    if name not in told:
        print("missing", name)
print(told["max_iterations"], told["checkpoint_interval"], told["database.exploitation_ratio"], told["color"])
END
is "all are there" "$(cat "$T/told.txt")" "mapped not_needed other_selection unknown"
like "an unknown key stays as a comment" "$(cat told/manifest.yaml)" '# color: '
end_item

item "what real projects have is taken: an evaluator one folder down or by any name, a folder as program, -1, empty texts"
mkdir -p "$T/real/evaluator" "$T/real/start" && cd "$T" || exit 1
printf 'import os\ndef evaluate(path):\n    return {"combined_score": float(len(os.listdir(path)))}\n' >real/evaluator/evaluator.py
echo 1 >real/start/a.txt && echo 2 >real/start/b.txt
printf 'early_stopping_patience: -1\nconvergence_threshold: 7\nllm: {api_base: "", api_key: "", primary_model: m1}\n' >real/config_one.yaml
cp real/config_one.yaml real/config_two.yaml
apsis import openevolve real --into nothing
is "no program" "$code" 2
apsis import openevolve real --program start --into real1
is "exit code" "$code" 0
line "the configurations are named" "$out" "^note: there is no config.yaml.*to use one of config_one.yaml, config_two.yaml, name it with --config"
like "the folder is writable" "$(cat real1/manifest.yaml)" 'path: "start/\*\*", mode: writable'
apsis baseline real1 --repeats 1
like "and measured as one" "$out" "combined_score.*2"
apsis import openevolve real --program start --config config_one.yaml --into real2
is "exit code" "$code" 0
like "the target" "$(cat real2/manifest.yaml)" "target: 7"
unlike "no patience" "$(cat real2/manifest.yaml)" "patience"
line "the report" "$out" "early_stopping_patience +negative: the run ends at convergence_threshold"
mv real/evaluator/evaluator.py real/measure.py && rmdir real/evaluator
apsis import openevolve real --program start --into real3
like "what is there is named" "$err" "evaluator.py is missing.*name it with --evaluator FILE .there are measure.py"
apsis import openevolve real --program start --evaluator measure.py --into real3
is "exit code" "$code" 0
end_item

item "without combined_score the metric is the mean over all stages, without the grid's features, and that is announced"
mkdir "$T/means" && cd "$T" || exit 1
echo 'X = 1' >means/initial_program.py
cat >means/evaluator.py <<'END'
def evaluate(path):
    return {"a": 1.0, "ok": True, "score": 100.0, "complexity": 7}
def evaluate_stage1(path):
    return {"a": 1.0, "ok": True, "note": "stage one"}
def evaluate_stage2(path):
    return {"b": 4.0, "score": 100.0, "artifacts": {"hint": "look here"}, "why": "it is so", "list": [1, 2]}
END
printf 'database: {feature_dimensions: [score, complexity]}\nevaluator: {cascade_thresholds: [0.5]}\n' >means/config.yaml
apsis import openevolve means --into mean1
line "it is announced" "$out" "^note: .*evaluator.py does not name combined_score: what is optimised is the mean of all numbers.*\(score, complexity\)"
like "in the manifest, too" "$(cat mean1/manifest.yaml)" "combined_score # the mean of the evaluator's numbers"
cd mean1 && apsis baseline --repeats 1
is "merged: a, b and the flag of stage 1, as there" "$(field 0 primary_metric) $("$APSIS" exec "$ROOT/tests/cli/json.lua" secondary_metrics.mean_of <logs/results.jsonl)" "2 3"
is "artifacts in a dict are kept, and texts among the metrics" "$(cat runs/0000_baseline/artifacts/{hint,note,why}.txt | paste -sd' ')" \
    "look herestage oneit is so"
ok "nothing is said of it" test ! -e runs/0000_baseline/artifacts/stderr.txt
cd .. && printf 'evaluator: {cascade_evaluation: false}\n' >means/config.yaml
apsis import openevolve means --into mean2
cd mean2 && apsis baseline --repeats 1
is "in one stage truth values count, complexity does not" "$(field 0 primary_metric)" 34
cd .. && cat >means/evaluator.py <<'END'
import numbers
class float32:
    def __float__(self): return 0.25
numbers.Real.register(float32)
def evaluate(path):
    return {"a": 0.5, "b": float32()}
END
apsis import openevolve means --into mean3
line "and that is told" "$out" "truth values count as 1 and 0, numpy's numbers .but float64. do not"
cd mean3 && apsis baseline --repeats 1
is "a number that is no int and no float does not count" "$(field 0 primary_metric)" 0.5
like "which is noted" "$(cat runs/0000_baseline/artifacts/stderr.txt)" "metric 'b' is left out of the mean"
cd .. && sed -i 's/{"a": 0.5, "b": float32()}/{"combined_score": "0.7", "b": float32()}/' means/evaluator.py
apsis import openevolve means --into mean4
cd mean4 && apsis baseline --repeats 1
is "combined_score may be what float() takes" "$(field 0 primary_metric)" 0.7
end_item

item "without combined_score a threshold is about the mean of all numbers, as there; the value leaves out features"
mkdir "$T/limits" && cd "$T" || exit 1
printf '%s\n' 'A, COMPLEXITY = 0.6, 0.9' >limits/initial_program.py
cat >limits/evaluator.py <<'END'
def numbers(path):
    exec(open(path).read(), globals())
    return {"a": A, "complexity": COMPLEXITY}
def evaluate_stage1(path):
    return dict(numbers(path), ok=True)
def evaluate_stage2(path):
    return dict(numbers(path), b=1.0)
END
printf 'evaluator: {cascade_thresholds: [0.5]}\n' >limits/config.yaml
apsis import openevolve limits --into limited
cd limited && offline <<'END'
local texts, at = { "A, COMPLEXITY = 0.2, 1.0\n", "A, COMPLEXITY = 0.6, -1.0\n" }, 0
return function()
  at = at + 1
  return { ["initial_program.py"] = texts[at] }
end
END
apsis baseline --repeats 1
is "the baseline" "$code" 0
apsis run -q --iterations 2
is "0.2 goes on: 0.2, 1 and the flag are 0.73" "$(field 1 outcome) $(field 1 stage)" "reverted_worse_metric 2"
is "0.6 does not: 0.6, -1 and the flag are 0.2" "$(field 2 outcome) $(field 2 stage)" "reverted_stage_failure 1"
like "why" "$(field 2 rollback_reason)" 'threshold_score 0.2 does not reach its threshold 0.5'
is "it is ranked by its value" "$("$APSIS" exec "$ROOT/tests/cli/json.lua" stopped.value <<<"$(tail -n 1 logs/results.jsonl)")" 0.8
end_item

item "each key's fate is told truly: with another meaning, lost where it was set, a model that is not asked"
cp -r "$DATA/openevolve" "$T/fates" && cd "$T" || exit 1
cat >fates/config.yaml <<'END'
max_code_length: 5000
evaluator: {use_llm_feedback: true, llm_feedback_weight: 0}
prompt: {programs_as_changes_description: true, initial_changes_description: "", max_artifact_bytes: 20480}
llm:
  models: [{name: first}, {name: second, weight: 0}]
END
apsis import openevolve fates --into fates1
line "another meaning" "$out" "^with another meaning:"
line "a length" "$out" "^  max_code_length +program.md, as an instruction"
line "a size that is fixed here" "$out" "^  prompt.max_artifact_bytes +a prompt shows 4,000 bytes of each artifact"
like "as an instruction" "$(cat fates1/program.md)" "The program may have at most 5000 characters."
lost=$(sed -n '/^not taken over:/,/^[a-z ]*:$/p' <<<"$out" | sed '1!{/^not needed:/d}')
for key in evaluator.use_llm_feedback prompt.programs_as_changes_description 'llm.models\[2\].name'; do
    like "$key is lost" "$lost" "$key"
done
line "what is off is not needed" "$(sed -n '/^not needed:/,$p' <<<"$out")" "evaluator.llm_feedback_weight"
cat >fates/config.yaml <<'END'
early_stopping_patience: 5
convergence_threshold: 0.01
early_stopping_metric: other
diff_pattern: "<<<<(.*?)====(.*?)>>>>"
evaluator: {max_retries: 3}
prompt: {include_artifacts: false}
llm: {system_message: hello, models: [{name: first, system_message: hello}]}
END
apsis import openevolve fates --into fates3
lost=$(sed -n '/^not taken over:/,/^[a-z ]*:$/p' <<<"$out" | sed '1!{/^not needed:/d}')
for key in convergence_threshold early_stopping_metric diff_pattern evaluator.max_retries prompt.include_artifacts \
    llm.system_message 'llm.models\[1\].system_message'; do
    like "$key is lost" "$lost" "$key"
done
cat >fates/config.yaml <<'END'
convergence_threshold: 0.01
early_stopping_metric: combined_score
diff_pattern: '<<<<<<< SEARCH\n(.*?)=======\n(.*?)>>>>>>> REPLACE'
evaluator: {max_retries: 0}
prompt: {include_artifacts: true}
END
apsis import openevolve fates --into fates4
unlike "what is the default, or has no effect there, is not lost" "$out" "not taken over"
line "and that is said" "$out" "convergence_threshold +has no effect in OpenEvolve without early_stopping_patience"
printf 'llm:\n  models: [{name: first}, {name: second}]\n' >fates/config.yaml
sed -i 's/^llm:/llm:\n  provider: claude_code/; s/, weight: 0//' fates/config.yaml
apsis import openevolve fates --into fates2
line "an agent is asked with one model" "$out" "llm.models\[2\].name +the model is left out: it is not the first"
end_item

item "temperature and top_p of a reasoning model are reported as not taken over"
cp -r "$DATA/openevolve" "$T/reasoning" && cd "$T" || exit 1
printf 'llm: {temperature: 0.7, top_p: 0.9, models: [{name: gpt-5-mini, temperature: 0.3}, {name: plain}]}\n' >reasoning/config.yaml
apsis import openevolve reasoning --into reasoning1
line "the manifest has none for it" "$(cat reasoning1/manifest.yaml)" '- .name: gpt-5-mini, max_tokens: '
line "but for the other" "$(cat reasoning1/manifest.yaml)" '- .name: plain, temperature: 0.7, top_p: 0.9, '
line "its own is lost" "$(sed -n '/^not taken over:/,/^$/p' <<<"$out")" "llm.models\[1\].temperature +not sent to gpt-5-mini: OpenAI's reasoning"
line "the common one is not for it" "$out" 'llm.top_p +provider.models\[\].top_p; not sent to gpt-5-mini:'
apsis import openevolve reasoning --model o3 --into reasoning2
line "of one model alone" "$(sed -n '/^not taken over:/,/^$/p' <<<"$out")" "llm.temperature +not sent to o3: OpenAI's reasoning models refuse it"
end_item

item "a folder of projects: the message names them"
mkdir -p "$T/several/src" && cd "$T" && cp -r "$DATA/openevolve" several/one && cp -r "$DATA/openevolve" several/two
apsis import openevolve several --into none
is "exit" "$code" 2
like "which" "$err" 'there is no initial_program.py .*; its projects are one folder down: one, two$'
end_item

item "llm.provider: claude_code becomes the preset, with what the agent has options for; the rest is reported"
cp -r "$DATA/openevolve" "$T/claude" && cd "$T" || exit 1
cat >claude/config.yaml <<'END'
llm:
  provider: claude_code
  primary_model: claude-sonnet-4-5
  temperature: 0.7
  max_tokens: 4096
  timeout: 300
  retries: 2
  reasoning_effort: high
  claude_code_options: {max_turns: 4}
END
apsis import openevolve claude --into claude-new
is "exit" "$code" 0
line "the provider" "$(cat claude-new/manifest.yaml)" '^provider: .kind: command, preset: claude, model: claude-sonnet-4-5, args: .["]?--effort["]?, high., max_turns: 4, timeout_sec: 300, retries: 2.$'
line "turns" "$out" 'llm.claude_code_options +provider.max_turns'
line "effort" "$out" 'llm.reasoning_effort +provider.args .--effort.'
line "what it cannot be told" "$(sed -n '/^not taken over:/,/^$/p' <<<"$out")" 'llm.temperature +the agent has no option for it'
mkdir -p "$T/bin" && printf '#!/bin/sh\nexit 0\n' >"$T/bin/claude" && chmod +x "$T/bin/claude"
cd claude-new && PATH=$T/bin:$PATH apsis setup
like "the command line that will run" "$out" 'claude -p .*--output-format json --model claude-sonnet-4-5 --max-turns 4 --effort high'
cd "$T" || exit 1
end_item

item "similarity_threshold filters nothing without an embedding_model, as there"
cp -r "$DATA/openevolve" "$T/likeness" && cd "$T" || exit 1
printf 'database: {similarity_threshold: 0.95}\n' >likeness/config.yaml
apsis import openevolve likeness --into unlike
unlike "no near duplicates" "$(cat unlike/manifest.yaml)" near_duplicate
line "and the report has why" "$out" 'database.similarity_threshold +has no effect in OpenEvolve without embedding_model'
printf 'database: {embedding_model: text-embedding-3-small, similarity_threshold: 0.95}\n' >likeness/config.yaml
apsis import openevolve likeness --into like
like "with one there are" "$(cat like/manifest.yaml)" 'near_duplicate: 0.95'
end_item

item "--selection openevolve uses the keys that playbook does not"
apsis import openevolve "$DATA/openevolve" --into theirs --selection openevolve
is "exit code" "$code" 0
unlike "none is left to the other" "$out" 'other selection'
like "the selection" "$(cat theirs/manifest.yaml)" 'selection: openevolve'
end_item

item "--base-url, --api-key-env and --model replace what the configuration says"
apsis import openevolve "$DATA/openevolve" --into mine --base-url http://127.0.0.1:2/v1 --api-key-env MY_KEY --model tiny
is "exit code" "$code" 0
like "base" "$(cat mine/manifest.yaml)" 'base_url: "http://127.0.0.1:2/v1"'
like "key" "$(cat mine/manifest.yaml)" 'api_key_env: MY_KEY'
like "model" "$(cat mine/manifest.yaml)" '\{name: tiny,'
unlike "the others are gone" "$(cat mine/manifest.yaml)" 'name: small'
end_item

item "the imported project is measured as it is, and a staged evaluator's artifacts are kept"
cd "$T/new"
apsis baseline
is "exit code" "$code" 0
like "value" "$out" '0\.117647'
like "an artifact as text" "$(cat runs/0000_baseline/artifacts/misses.txt)" '^1\.000'
ok "one of bytes" test -s runs/0000_baseline/artifacts/raw.bin
like "one of anything else" "$(cat runs/0000_baseline/artifacts/detail.json)" '"points": 4'
like "a metric's own name is kept" "$(cat runs/0000_baseline/artifacts/metric_names.json)" 'mean squared error'
end_item

item "stages: what stage 1 refuses is stopped there, what passes goes on"
offline <<'END'
local line = { "    return 1, 0", "    return 2.0, 1.0" }
return function(proposal, workspace)
  local text = workspace:read("initial_program.py")
  return { ["initial_program.py"] = text:gsub("    return slope, offset", line[proposal.experiment - 1]) }
end
END
apsis baseline --again
apsis run --iterations 2 --quiet
is "run" "$code" 0
is "not a line" "$(field 2 outcome)" reverted_stage_failure
is "its stage" "$(field 2 stage)" 1
is "the baseline is still that of stage 2" "$(field 1 stage)" 2
end_item

import_modes() { # import_modes NAME: tests/data/import/modes as $T/NAME, the directory one is then in
    cd "$T" && cp -r "$DATA/modes" "from-$1" && printf '%s\n' "${CONFIG-evaluator: {timeout: 10\}}" >"from-$1/config.yaml"
    apsis import openevolve "from-$1" --into "$1"
    cd "$1" || exit 1
}

item "each way an evaluator can end costs one experiment: dict, EvaluationResult, mean, forgery, crash, hang, leak"
import_modes modes
offline <<'END'
local modes = { "result", "mean", "fake", "fake_exit", "fake_env", "nan", "raise", "sys_exit", "error", "nothing", "hang", "thread", "leak" }
return function(proposal) return { ["initial_program.py"] = ('MODE = "%s"\n'):format(modes[proposal.experiment]) } end
END
apsis baseline
is "a dict" "$(field 0 primary_metric)" 1
LEAK_SECONDS=3600.$$ apsis run --iterations 13 --quiet
is "run" "$code" 0
is "an EvaluationResult" "$(field 1 primary_metric)" 2
is "the mean of the finite numbers" "$(field 2 primary_metric)" 3.5
is "a METRIC line on stdout counts for nothing" "$(field 3 primary_metric)" 4
is "nor one before os._exit" "$(field 4 primary_metric)" null
is "which is no improvement" "$(field 4 status)" crash
like "but an end before the evaluator returned" "$(field 4 rollback_reason)" 'ended the process before it returned'
is "nor one by a child" "$(field 5 primary_metric)" 4.5
is "a NaN is a crash" "$(field 6 outcome)" skipped_verification_crash
like "which says so" "$(field 6 rollback_reason)" "combined_score is nan"
is "an exception is a crash" "$(field 7 outcome)" skipped_verification_crash
like "with its last line" "$(field 7 rollback_reason)" "ValueError: the program is wrong"
is "sys.exit is a crash" "$(field 8 outcome)" skipped_verification_crash
is "an error with a score of 0 is a crash, not a score" "$(field 9 primary_metric)" null
is "None is a crash" "$(field 10 outcome)" skipped_verification_crash
is "a hang is stopped" "$(field 11 outcome)" skipped_verification_crash
like "at its limit" "$(field 11 rollback_reason)" "over its limit of 10 s"
is "a thread that goes on does not hold the result" "$(field 12 primary_metric)" 5
is "a leaked process is no failure" "$(field 13 primary_metric)" 6
ok "and is gone" gone "sleep 3600.$$"
is "the best" "$("$APSIS" best --json . | grep -o '"candidate":"[^"]*"')" '"candidate":"c0013"'
end_item

item "evaluator_args are given to evaluate; artifacts can be off"
CONFIG='evaluator: {timeout: 20, evaluator_args: {bonus: 4}, enable_artifacts: false}' import_modes more
offline </dev/null
apsis baseline
is "the argument counts" "$(field 0 primary_metric)" 5
like "artifacts are off" "$(cat manifest.yaml)" '"--no-artifacts"'
end_item

item "without config.yaml, and without a model, baseline works and the provider is a comment"
cd "$T" && cp -r "$DATA/modes" bare && apsis import openevolve bare --into bare-new
is "exit code" "$code" 0
like "said" "$out" 'no model is named'
like "and no config.yaml" "$out" 'no config.yaml'
like "what comes next is what can be done" "$out" 'apsis baseline bare-new.fill in provider: in bare-new/manifest.yaml, commit it, and then:.  apsis run bare-new'
cd bare-new && apsis baseline
is "baseline" "$code" 0
end_item

item "cascade_evaluation: false calls evaluate"
cd "$T" && cp -r "$DATA/openevolve" flat && printf 'evaluator:\n  cascade_evaluation: false\n' >flat/config.yaml
apsis import openevolve flat --into flat-new
unlike "no stages" "$(cat flat-new/manifest.yaml)" 'stage'
end_item

item "an API key written into a configuration is never copied"
cd "$T" && cp -r "$DATA/modes" keyed
printf 'llm:\n  api_key: sk-very-secret\n  models: [{name: a, api_key: sk-other-secret}]\n  my_api_key_file: sk-third\n' >keyed/config.yaml
printf 'llm: {api_key: sk-very-secret}\n' >keyed/other.yaml
printf 'OPENAI_API_KEY=sk-very-secret\n' >keyed/.env
apsis import openevolve keyed --into keyed-new
is "exit code" "$code" 0
is "nowhere in the project" "$(grep -rlE 'sk-(very|other|third)' keyed-new | wc -l)" 0
unlike "nor printed" "$out$err" 'sk-'
like "the variables are named" "$out" 'export OPENAI_API_KEY=... .llm.api_key., API_KEY_A=... .llm.models.1..api_key.'
end_item

not_needed() { sed -n '/^not needed/,$p' <<<"$out"; }

keys_of() { # keys_of NAME [OPTION...]: imports the configuration on stdin; its provider is in $provider
    local name=$1
    shift
    cd "$T" && cp -r "$DATA/modes" "$name" && cat >"$name/config.yaml"
    apsis import openevolve "$name" --into "$name-new" "$@"
    provider=$(sed -n '/^provider:/,/^$/p' "$name-new/manifest.yaml")
}

item "each endpoint gets its own key's variable, and no other's"
keys_of hosts <<'END'
llm:
  api_base: https://main.example/v1
  api_key: sk-1
  models:
    - {name: plain}
    - {name: b/large-2, api_base: https://a.example/v1, api_key: sk-2}
    - {name: again, api_base: https://a.example/v1, api_key: sk-2}
    - {name: named, api_base: https://b.example/v1, api_key: "${B_KEY}"}
    - {name: bare, api_base: https://c.example/v1}
END
is "exit code" "$code" 0
like "the provider's" "$provider" 'base_url: "https://main.example/v1".  api_key_env: OPENAI_API_KEY'
unlike "is that of the models there" "$(grep 'name: plain' <<<"$provider")" 'api_key_env|base_url'
like "another host's own" "$(grep large <<<"$provider")" 'base_url: "https://a.example/v1", api_key_env: API_KEY_B_LARGE_2'
like "the same key, the same variable" "$(grep again <<<"$provider")" 'api_key_env: API_KEY_B_LARGE_2'
like "a variable of the configuration" "$(grep named <<<"$provider")" 'api_key_env: B_KEY'
like "a host without a key gets the top-level one, as there" "$(grep bare <<<"$provider")" 'c.example/v1", api_key_env: OPENAI_API_KEY'
like "which is told" "$out" 'model bare is asked at https://c.example/v1 with the key in OPENAI_API_KEY .*that host sees it'
like "both keys are told" "$out" 'contain 2 API keys; .*OPENAI_API_KEY=... .llm.api_key., API_KEY_B_LARGE_2=... .llm.models.2..api_key.'
end_item

item "a key of one endpoint does not follow --base-url to another, nor --api-key-env to a host it was not named for"
keys_of moved --base-url https://new.example/v1 <<<'llm: {models: [{name: a, api_base: "https://a.example/v1", api_key: "${A_KEY}"}]}'
like "which is told" "$(not_needed)" 'llm.models.1..api_key +--base-url takes its place'
like "the new host" "$provider" 'https://new.example/v1'
unlike "the old host's key" "$provider" 'A_KEY|a.example'
keys_of renamed --api-key-env MINE <<<'llm: {models: [{name: a, api_base: "https://a.example/v1", api_key: "${A_KEY}"}, {name: b}]}'
like "the other host's stays" "$(grep 'name: a,' <<<"$provider")" 'https://a.example/v1", api_key_env: A_KEY'
like "the provider's is replaced" "$provider" '  api_key_env: MINE'
keys_of alone <<<'llm: {models: [{name: a, api_base: "https://a.example/v1", api_key: "${A_KEY}"}]}'
unlike "a key that no model uses is not asked for" "$provider" 'OPENAI_API_KEY'
end_item

# told STAGES: imports the configuration on stdin with an evaluator of so many stages (0: evaluate alone).
told() {
    cd "$T" && rm -rf told-from told-new && cp -r "$DATA/modes" told-from && cat >told-from/config.yaml
    for ((stage = 1; stage <= $1; stage++)); do printf 'def evaluate_stage%d(path):\n    return {}\n' "$stage" >>told-from/evaluator.py; done
    apsis import openevolve told-from --into told-new
}

item "the report says what became of a cascade, not what might have"
told 0 <<<'evaluator: {cascade_evaluation: true, cascade_thresholds: [0.5, 0.75]}'
like "no stages" "$(not_needed)" 'cascade_thresholds +evaluate is called, in one stage: there is no evaluate_stage1'
told 2 <<<'evaluator: {cascade_thresholds: [0.5, 0.75, 0.9], enable_artifacts: true, evaluator_args: {bonus: 1}}'
like "two stages use one threshold" "$out" '0.75, 0.9 not used: the evaluator has no stage 3.*threshold is 0.5'
like "artifacts" "$out" 'enable_artifacts +artifacts are kept'
like "arguments of evaluate" "$(not_needed)" "evaluator_args +stages are called with only the program's path"
told 3 <<<'evaluator: {cascade_thresholds: [0.5]}'
like "a stage without a threshold before it" "$out" 'evaluate_stage3 is not run, .*none for stage 2'
told 2 <<<'evaluator: {cascade_evaluation: false, cascade_thresholds: [0.5]}'
like "switched off" "$(not_needed)" 'cascade_thresholds +evaluate is called, in one stage: cascade_evaluation is false'
end_item

item "what is not taken over is told as that, an older key is known, a size is a round number"
told 0 <<<'{allow_full_rewrites: true, prompt: {template_dir: mine}, evaluator: {max_artifact_storage: 1000000}}'
like "templates" "$(sed -n '/^not taken over:/,/^not needed/p' <<<"$out")" 'prompt.template_dir +.*rewrite yours'
unlike "no unknown key" "$out" 'unknown'
like "the size" "$(cat told-new/manifest.yaml)" 'artifacts: \{max_mb: 0.954\}'
end_item

item "inside a repository the files are written and the command to commit them is printed"
mkdir "$T/outer" && cd "$T/outer" && git init -q . && git commit -q --allow-empty -m start
apsis import openevolve "$DATA/modes" --into inner
is "exit code" "$code" 0
like "the command" "$out" "git add inner && git commit"
is "no repository of its own" "$(ls -a inner | grep -c '^\.git$')" 0
sh -c "$(printf '%s\n' "$out" | grep 'git add')" >/dev/null
apsis baseline inner
is "baseline" "$code" 0
end_item

item "what git would ignore, or a user's git would change, is committed all the same"
cd "$T" && cp -r "$DATA/modes" ignoring && printf 'data/\n*.csv\n' >ignoring/.gitignore && mkdir ignoring/data && printf 'a\r\n' >ignoring/data/x.csv
git config --global core.autocrlf true
apsis import openevolve ignoring --into ignoring-new
git config --global --unset core.autocrlf
is "the ignored file" "$(git -C ignoring-new ls-files data)" data/x.csv
is "its bytes" "$(git -C ignoring-new cat-file -s HEAD:data/x.csv)" 3
is "apsis's own folders are ignored too" "$(tail -n 3 ignoring-new/.gitignore | paste -sd' ')" "/logs/ /runs/ /.apsis/"
end_item

item "caches and output stay behind, links out of the directory and files over the limit are told"
cd "$T" && cp -r "$DATA/modes" untidy && mkdir -p untidy/__pycache__ untidy/openevolve_output untidy/node_modules
touch untidy/__pycache__/a.pyc untidy/openevolve_output/log untidy/node_modules/x && ln -s /etc/passwd untidy/passwd && ln -s evaluator.py untidy/alias.py
head -c 2000000 /dev/zero >untidy/big.bin
apsis import openevolve untidy --into untidy-new --max-mb 1
is "exit code" "$code" 0
is "files" "$(git -C untidy-new ls-files | paste -sd' ')" \
    ".gitignore alias.py evaluator.py initial_program.py manifest.yaml openevolve_evaluate.py program.md"
like "the large one" "$out" "big.bin: 1.9 MB, over the total limit"
like "the link" "$out" "passwd: a link that leaves"
end_item

item "a name with a space, and a program in a folder"
mkdir -p "$T/a b/src" && cd "$T/a b" && cp "$DATA/modes/evaluator.py" . && cp "$DATA/modes/initial_program.py" "src/my program.py" && touch src/other.py
apsis import openevolve . --program "src/my program.py" --into "../new one"
is "exit code" "$code" 0
like "the neighbour is hidden" "$(cat "../new one/manifest.yaml")" 'path: src/other.py, mode: hidden'
like "and the next command's path is quoted" "$out" "apsis baseline '../new one'"
apsis baseline "../new one"
is "baseline" "$code" 0
end_item

finish
