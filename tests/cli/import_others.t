#!/bin/bash
# import goalseek, autoresearch and autoloop: their projects become projects of apsis that baseline and run take.
. "$(dirname "$0")/lib.sh"

# The provider of the manifest in this directory becomes one in Lua; committed. offline FILE
offline() {
    sed -i -e '/^provider:/d' manifest.yaml
    echo 'provider: {kind: lua, use: propose.lua}' >>manifest.yaml
    cat >propose.lua
    git add -A && git commit -qm offline
}

# ---- goalseek ----

goalseek_project() { # goalseek_project NAME
    mkdir -p "$T/$1/config" "$T/$1/logs" "$T/$1/runs/0001" && cd "$T/$1" || exit 1
    cat >manifest.yaml <<'END'
version: 1
project:
  name: demo

files:
  - {path: manifest.yaml, mode: read_only}
  - {path: value.txt, mode: writable}
  - {path: measure.sh, mode: hidden}
  - {path: runs/**, mode: generated}
  - {path: logs/**, mode: generated}

verification:
  commands:
    - {name: measure, run: sh measure.sh, cwd: ., timeout_sec: 60}

metric:
  name: Balanced accuracy
  direction: maximize
  extractor: {type: json_file, path: runs/latest/results.json, json_pointer: /metric}

execution:
  target: local
END
    echo 0 >value.txt
    echo 'echo "{\"metric\": $(cat value.txt)}" >runs/latest/results.json' >measure.sh
    echo '# Make it larger.' >program.md
    printf '%s\n' '{"iteration": 1}' '{"iteration": 2}' >logs/results.jsonl
    printf 'provider:\n  hypothesis: {name: claude_code}\n  implementation: {name: claude_code, model: small, timeout_sec: 500}\nloop: {stagnation_window: 3}\n' >config/project.yaml
    cd "$T" || exit 1
}

item "goalseek: runs as it is, with history: revert, and says why gittreeclean is not needed"
goalseek_project seeking
echo '{"message": "smaller steps", "applies_from_iteration": 4}' >seeking/logs/directions.jsonl
apsis import goalseek seeking --into sought
is "exit code" "$code" 0
like "history" "$(cat sought/manifest.yaml)" 'history: revert'
is "the rest is as it was" "$(sed '/^# Added by/,$d' sought/manifest.yaml | sed '$d')" "$(cat seeking/manifest.yaml)"
like "gittreeclean" "$out" 'gittreeclean is not needed: .*scratch checkouts'
like "past records" "$out" '2 past records stay'
like "what the user has said so far" "$out" '1 direction stays in seeking/logs/directions.jsonl; .* with .apsis direct.'
like "the one that only thinks" "$out" 'provider.hypothesis +one provider proposes and implements'
like "the agent" "$(cat sought/manifest.yaml)" 'preset: claude, model: small, timeout_sec: 500'
is "its program.md" "$(cat sought/program.md)" '# Make it larger.'
cd sought && offline <<'END'
return function(proposal) return { ["value.txt"] = ({ "3\n", "2\n" })[proposal.experiment] } end
END
apsis baseline
is "baseline" "$code" 0
is "value from a JSON file in runs/latest" "$(field 0 primary_metric)" 0
apsis run --iterations 2 --quiet
is "run" "$code" 0
is "kept" "$(field 1 outcome)" kept
is "worse" "$(field 2 outcome)" reverted_worse_metric
is "the worse one is on the branch, and its revert" "$(git log --format=%s apsis/demo | wc -l)" 5
is "which ends at the best" "$(git show apsis/demo:value.txt)" 3
end_item

item "goalseek: several commands, which share generated files only"
goalseek_project several && sed -i 's/^    - {name: measure.*/    - {name: prepare, run: "true"}\n&/' several/manifest.yaml
apsis import goalseek several --into several-new
is "exit code" "$code" 0
like "said" "$out" "GOALSEEK_RUN_DIR; if one needs other files.*keep"
end_item

item "goalseek: without a provider the next command is not one that cannot run"
goalseek_project lonely && rm -r lonely/config && apsis import goalseek lonely --into lonely-new
like "said" "$out" 'apsis baseline lonely-new.fill in provider: in lonely-new/manifest.yaml'
apsis import goalseek lonely --into lonely-model --model m
unlike "with one it is" "$out" 'fill in'
end_item

item "goalseek: a manifest that is wrong is refused with file, line and key; nothing is written"
goalseek_project wrong && sed -i 's/maximize/sideways/' wrong/manifest.yaml
apsis import goalseek wrong --into wrong-new
is "exit code" "$code" 2
like "place" "$err" 'wrong/manifest.yaml:18: metric.direction: .*sideways'
ok "nothing written" test ! -e wrong-new
end_item

item "goalseek: history: null in the manifest is replaced, several workers are refused"
goalseek_project null && echo 'history: null' >>null/manifest.yaml
apsis import goalseek null --into null-new
is "exit code" "$code" 0
goalseek_project many && sed -i 's/  target: local/  workers: 2/' many/manifest.yaml
apsis import goalseek many --into many-new
is "exit code of two workers" "$code" 2
like "reason" "$err" 'many-new/manifest.yaml:[0-9]+: execution.workers: must be 1 with history: revert'
end_item

item "goalseek: the agent of its scaffold, whose model is its own: setup and its command line take it"
goalseek_project scaffold
cat >scaffold/config/project.yaml <<'END'
provider:
  hypothesis: {name: codex, model: default, non_interactive: true, timeout_sec: 300}
  implementation: {name: codex, model: default, non_interactive: true, timeout_sec: 500}
loop: {repair_attempts: 1, stagnation_window: 3}
output: {rich: true}
END
apsis import goalseek scaffold --into scaffold-new
is "exit" "$code" 0
line "no model is named" "$(cat scaffold-new/manifest.yaml)" '^provider: .kind: command, preset: codex, timeout_sec: 500.$'
cat >scaffold/config/project.yaml <<'END'
provider:
  implementation:
    name: codex
    model: gpt-5
    extra_args: ["--search", "a b"]
    reasoning_effort: high
    executable: /opt/codex
    timeout_sec: 500
END
apsis import goalseek scaffold --into scaffold-args
is "exit" "$code" 0
line "what it adds" "$(cat scaffold-args/manifest.yaml)" 'preset: codex, model: gpt-5, args: ..?--search"?, "?a b"?, "?-c"?, "?model_reasoning_effort=high"?., timeout_sec: 500'
line "mapped" "$out" 'provider.implementation.extra_args +provider.args'
line "not taken over" "$out" 'provider.implementation.executable +a preset starts its agent from PATH'
mkdir -p "$T/bin" && printf '#!/bin/sh\nexit 0\n' >"$T/bin/codex" && chmod +x "$T/bin/codex"
cd scaffold-args && PATH=$T/bin:$PATH apsis setup
like "the command line that will run" "$out" 'codex exec .*--model gpt-5 --search .?a b.? -c model_reasoning_effort=high -'
cd "$T" || exit 1
sed -i 's/name: codex/name: claude_code/; s/model: gpt-5/model: claude-haiku-4-5-20251001/' scaffold/config/project.yaml
apsis import goalseek scaffold --into scaffold-claude
line "of claude" "$(cat scaffold-claude/manifest.yaml)" 'preset: claude, model: claude-haiku-4-5-20251001, args: ..?--search"?, "?a b"?., timeout_sec: 500'
cd scaffold-claude && apsis baseline -q
is "and its manifest is accepted" "$code" 0
cd "$T" || exit 1
end_item

# ---- autoresearch ----

session() { # session NAME [FLAT]: the session of pi-autoresearch in the older flat layout where FLAT is given
    mkdir -p "$T/$1/src" "$T/$1/.auto" && cd "$T/$1" || exit 1
    echo 40 >src/value.txt && echo other >other.txt
    printf '%s\n' '#!/bin/bash' 'set -euo pipefail' 'echo "METRIC total_ms=$(cat src/value.txt)"' 'echo "METRIC memory=1"' >.auto/measure.sh
    printf '%s\n' '#!/bin/bash' 'test "$(cat src/value.txt)" -ge 10' >.auto/checks.sh
    printf '%s\n' '# Autoresearch: speed' '' '## Metrics' '- **Primary**: wrong_name (s, higher is better)' '' '## Files in Scope' \
        '- `src/value.txt`: the number' '- `src/new.txt` (may be made)' '' '## Off Limits' '- `other.txt`' >.auto/prompt.md
    echo '- try 20' >.auto/ideas.md
    echo '{"maxIterations": 30, "maxAutoResumeTurns": 5, "colour": 1}' >.auto/config.json
    cat >.auto/log.jsonl <<'END'
{"type":"config","name":"first","metricName":"old_ms","metricUnit":"ms","bestDirection":"higher"}
{"run":1,"commit":"abc1234","metric":50,"metrics":{},"status":"keep","description":"baseline","timestamp":1,"segment":0}
{"type":"config","name":"speed","metricName":"total_ms","metricUnit":"ms","bestDirection":"lower"}
{"run":2,"commit":"abc1235","metric":40,"metrics":{},"status":"keep","description":"a | b","timestamp":2,"segment":1,"asi":{"learned":"loops cost"}}
{"run":3,"commit":"abc1236","metric":0,"status":"crash","description":"segfault","timestamp":3,"segment":1}
{"type":"hook","stage":"after"}
{"run":4,"comm
END
    if [ -n "${2-}" ]; then
        mv .auto/measure.sh autoresearch.sh && mv .auto/checks.sh autoresearch.checks.sh && mv .auto/prompt.md autoresearch.md
        mv .auto/ideas.md autoresearch.ideas.md && mv .auto/config.json autoresearch.config.json && mv .auto/log.jsonl autoresearch.jsonl
        rmdir .auto
    fi
    cd "$T" || exit 1
}

run_session() { # run_session NAME: what an imported session does
    cd "$T/$1" && offline <<'END'
return function(proposal) return { ["src/value.txt"] = ({ "30\n", "35\n", "5\n" })[proposal.experiment] } end
END
    apsis baseline
    is "baseline" "$code" 0
    is "value" "$(field 0 primary_metric)" 40
    apsis run --iterations 3 --quiet
    is "run" "$code" 0
    is "lower is kept" "$(field 1 outcome)" kept
    is "higher is not" "$(field 2 outcome)" reverted_worse_metric
    is "what checks.sh refuses is a crash" "$(field 3 outcome)" skipped_verification_crash
}

item "autoresearch: a session in .auto/ runs; its log is history to read"
session auto && apsis import autoresearch auto --into researched
is "exit code" "$code" 0
like "metric and direction of the newest config line" "$(tr '\n' ' ' <researched/manifest.yaml)" 'name: total_ms +direction: lower +unit: ms'
like "the budget" "$(cat researched/manifest.yaml)" 'iterations: 30'
like "what is in scope is writable" "$(cat researched/manifest.yaml)" 'path: src/value.txt, mode: writable'
unlike "what is not is not" "$(cat researched/manifest.yaml)" 'other.txt, mode: writable'
like "history" "$(cat researched/logs-import/history.md)" '\| 2 \| 2 \| 40 \| keep \| abc1235 \| a b; learned: loops cost \|'
like "a crash has no number there" "$(cat researched/logs-import/history.md)" '\| 3 \|  \| crash'
ok "the log is kept" cmp auto/.auto/log.jsonl researched/logs-import/log.jsonl
like "program.md names it" "$(cat researched/program.md)" 'logs-import/history.md'
like "and has the ideas" "$(cat researched/program.md)" 'try 20'
like "the torn line is told" "$out" 'skipped 1 line'
like "an unknown key is told" "$out" 'colour  .its value is not shown'
run_session researched
end_item

item "autoresearch: the older flat files do the same"
session flat flat && apsis import autoresearch flat --into flat-new
is "exit code" "$code" 0
run_session flat-new
end_item

item "autoresearch: primary_metric and direction of the session's config come before the log"
session configured && echo '{"primary_metric": "memory", "direction": "higher"}' >configured/.auto/config.json
apsis import autoresearch configured --into configured-new
is "exit code" "$code" 0
like "metric" "$(tr '\n' ' ' <configured-new/manifest.yaml)" 'name: memory +direction: higher'
end_item

item "autoresearch: without a log the prompt's Primary counts; without a scope all but the session is writable"
session promptly && rm promptly/.auto/log.jsonl promptly/.auto/config.json && sed -i '/Files in Scope/,$d' promptly/.auto/prompt.md
apsis import autoresearch promptly --into promptly-new
is "exit code" "$code" 0
like "metric" "$(tr '\n' ' ' <promptly-new/manifest.yaml)" 'name: wrong_name +direction: higher'
like "said" "$out" 'names no files in scope'
like "the session's files stay" "$(cat promptly-new/manifest.yaml)" '\.auto/\*\*", mode: read_only'
end_item

item "autoresearch: 'Files in scope: FILE' in one line, or before a list, is a scope"
for line in 'Files in scope: src/value.txt, `src/new.txt` (may be made)' '**Files in Scope:** src/value.txt and src/new.txt.' \
    $'- **Files in scope**:\n\n- src/value.txt: the number\n- `src/new.txt`\n\nOther things: other.txt'; do
    rm -rf inline inline-new && session inline && sed -i '/Files in Scope/,$d' inline/.auto/prompt.md && printf '%s\n' "$line" >>inline/.auto/prompt.md
    apsis import autoresearch inline --into inline-new
    is "writable" "$(grep writable inline-new/manifest.yaml | paste -sd'|')" \
        "  - {path: src/value.txt, mode: writable}|  - {path: src/new.txt, mode: writable}"
done
rm -rf inline-new && sed -i '/^- \*\*Files/,$d' inline/.auto/prompt.md && echo 'Files in scope: all of it' >>inline/.auto/prompt.md
apsis import autoresearch inline --into inline-new
like "prose names none" "$out" 'names no files in scope'
end_item

item "autoresearch: an empty log leaves no history, and nothing is written into the session"
session fresh && : >fresh/.auto/log.jsonl
apsis import autoresearch fresh --into fresh-new
is "exit code" "$code" 0
unlike "no history" "$out$(cat fresh-new/program.md)$(ls fresh-new)" 'logs-import|0 runs'
apsis import autoresearch fresh --into fresh/new
is "into itself" "$code" 2
end_item

item "autoresearch: both forms in which apsis log writes a run are read back, with every value"
session exported && apsis import autoresearch exported --into run-once
run_session run-once && cd "$T"
for form in autoresearch pi-autoresearch; do
    rm -rf "back-$form" && session "back-$form"
    "$APSIS" log --format $form run-once >"back-$form/.auto/log.jsonl"
    echo '{"primary_metric": "total_ms", "direction": "lower"}' >"back-$form/.auto/config.json"
    apsis import autoresearch "back-$form" --into "back-$form-new"
    is "$form: exit code" "$code" 0
    like "$form: all are read" "$out" 'the 4 runs of its log'
    unlike "$form: none is left out" "$out" skipped
    is "$form: their values and what became of them" \
        "$(grep '^| 1 |' "back-$form-new/logs-import/history.md" | cut -d'|' -f4,5 | paste -sd, | tr -d ' ')" \
        '40|keep,30|keep,35|discard,|crash'
    like "$form: and why" "$(cat "back-$form-new/logs-import/history.md")" "rollback_reason: 35 is not better than the best, 30"
done
end_item

item "autoresearch: a bad direction, no metric, no measure.sh and broken JSON are refused with their place"
session bad && echo '{"direction": "sideways"}' >bad/.auto/config.json
apsis import autoresearch bad --into bad-new
is "exit code" "$code" 2
like "place" "$err" 'bad/.auto/config.json:1: direction: must be one of .*sideways'
printf '{"maxIterations": 3,\n oops}\n' >bad/.auto/config.json
apsis import autoresearch bad --into bad-new
like "JSON" "$err" 'config.json:2: config: is not JSON'
rm bad/.auto/config.json bad/.auto/log.jsonl bad/.auto/prompt.md
apsis import autoresearch bad --into bad-new
is "no metric" "$code" 2
like "remedy" "$err" 'primary_metric'
rm bad/.auto/measure.sh
apsis import autoresearch bad --into bad-new
like "no measure.sh" "$err" 'measure: .auto/measure.sh is missing'
mkdir empty && apsis import autoresearch empty --into bad-new
is "no session" "$code" 2
ok "nothing written" test ! -e bad-new
end_item

# ---- autoloop ----

program() { # program NAME [FRONT MATTER LINE...]
    mkdir -p "$T/$1/.autoloop/programs/speed/code" && cd "$T/$1" || exit 1
    echo 3 >.autoloop/programs/speed/code/value.txt
    printf 'echo progress\necho "{\\"note\\": 9, \\"best_ms\\": $(cat .autoloop/programs/speed/code/value.txt)}"\n' >.autoloop/programs/speed/code/evaluate.sh
    {
        echo ---
        shift
        printf '%s\n' "$@"
        cat <<'END'
---

# Speed

## Goal
Make it fast.

## Target
Only modify these files:
- `.autoloop/programs/speed/code/value.txt` -- the value

Do NOT modify:
- `.autoloop/programs/speed/code/evaluate.sh`

## Evaluation

```bash
sh .autoloop/programs/speed/code/evaluate.sh
```

The metric is `best_ms`. **Lower is better.**
END
    } >.autoloop/programs/speed/program.md
    cd "$T" || exit 1
}

item "autoloop: a program runs; a comment after a value is a comment"
program loop 'schedule: every 6h   # Options: every Nh, daily' 'target-metric: 0.5   # done when reached' 'metric_direction: lower # or higher' \
    'timeout-minutes: 2 # per evaluation'
apsis import autoloop loop --into looped
is "exit code" "$code" 0
like "direction" "$(cat looped/manifest.yaml)" 'direction: lower'
like "target" "$(cat looped/manifest.yaml)" 'target: 0\.5'
like "time limit" "$(cat looped/manifest.yaml)" 'timeout_sec: 120'
like "schedule stays in program.md" "$(cat looped/program.md)" 'schedule: every 6h'
like "the target is writable" "$(cat looped/manifest.yaml)" 'code/value.txt"?, mode: writable'
like "what must not be modified is not" "$(cat looped/manifest.yaml)" 'evaluate.sh"?, mode: read_only'
apsis import autoloop loop/.autoloop/programs/speed --into loop/new
is "into its repository" "$code" 2
cd looped && offline <<'END'
return function(proposal) return { [".autoloop/programs/speed/code/value.txt"] = ({ "4\n", "1e0\n" })[proposal.experiment] } end
END
apsis baseline
is "baseline" "$code" 0
is "the metric out of the JSON" "$(field 0 primary_metric)" 3
apsis run --iterations 2 --quiet
is "higher is worse" "$(field 1 outcome)" reverted_worse_metric
is "lower is kept" "$(field 2 outcome)" kept
end_item

item "autoloop: a bad direction is an error with file, line and key"
program sideways 'schedule: daily' 'metric_direction: sideways # not a direction'
apsis import autoloop sideways --into sideways-new
is "exit code" "$code" 2
like "place" "$err" 'sideways/.autoloop/programs/speed/program.md:3: metric_direction: must be one of .*sideways'
program dashed 'metric-direction: downwards'
apsis import autoloop dashed --into dashed-new
like "with a dash too" "$err" 'program.md:2: metric-direction: must be one of'
program contrary 'metric_direction: higher'
apsis import autoloop contrary --into contrary-new
like "and one that the text contradicts" "$err" 'program.md:2: metric_direction: is higher, but the text says that lower is better'
program number 'target-metric: fast'
apsis import autoloop number --into number-new
like "and a target that is no number" "$err" "program.md:2: target-metric: must be a number; got 'fast'"
end_item

item "autoloop: a program that is not filled in is refused; so is one without command, metric or target"
program unfilled 'schedule: daily' && sed -i '1i <!-- AUTOLOOP:UNCONFIGURED -->' unfilled/.autoloop/programs/speed/program.md
apsis import autoloop unfilled --into unfilled-new
is "exit code" "$code" 2
like "place" "$err" 'program.md:1: AUTOLOOP:UNCONFIGURED'
program bare && printf '# x\n\n## Target\nnothing\n\n## Evaluation\nrun it\n' >bare/.autoloop/programs/speed/program.md
apsis import autoloop bare --into bare-new
like "command" "$err" 'Evaluation: has no command'
like "target" "$err" 'Target: names no file'
end_item

item "autoloop: leading comments, a file as argument, several programs, a program without front matter"
program commented 'metric_direction: lower' && sed -i '1i <!-- AUTOLOOP:ISSUE-PROGRAM -->' commented/.autoloop/programs/speed/program.md
apsis import autoloop commented/.autoloop/programs/speed/program.md --into commented-new
is "exit code" "$code" 0
is "the comment is gone" "$(head -n 1 commented-new/program.md)" ---
printf '## Target\n- `a.txt`\n## Evaluation\n```\necho\n```\nThe metric is `x`.\n' >commented/.autoloop/programs/other.md
apsis import autoloop commented --into two
like "several" "$err" 'several programs: other, speed'
apsis import autoloop commented --program other --into two
is "one of them" "$code" 0
like "no direction" "$out" 'sets no direction: higher'
end_item

# ---- usage ----

item "without --into the project is NAME-apsis in the current directory, which is said"
mkdir "$T/here" && cd "$T/here"
apsis import goalseek ../seeking/
is "exit code" "$code" 0
like "said" "$out" 'into ./seeking-apsis: '
ok "is there" test -s seeking-apsis/manifest.yaml
apsis import goalseek ../seeking
is "not twice" "$code" 2
like "which says what to do" "$err" './seeking-apsis: is not empty: .*--into'
cd ../seeking && apsis import goalseek . --into deeper
is "nor into what is imported" "$code" 2
like "which says so" "$err" 'is inside'
apsis import goalseek .
is "from inside it goes beside it" "$code" 0
like "and says where" "$out" 'into ../seeking-apsis: '
end_item

item "usage errors exit 2 and write nothing"
cd "$T" && apsis import openevolv loop --into x
is "unknown kind" "$code" 2
like "suggestion" "$err" 'did you mean "openevolve"'
apsis import goalseek nowhere --into x
is "no directory" "$code" 2
like "named" "$err" 'nowhere: no such directory'
apsis import goalseek /
is "no --into, and no name" "$code" 2
like "said" "$err" '--into NEW is needed'
mkdir full && touch full/a && apsis import goalseek seeking --into full
is "a full directory" "$code" 2
like "names what is there" "$err" 'full: is not empty: a; nothing was written'
is "and is as it was" "$(ls full)" a
apsis import autoloop loop --into x --base-url http://h/v1
is "a base URL without a model" "$code" 2
ok "nothing written" test ! -e x
apsis import --help
like "an example" "$out" 'example: apsis import'
end_item

finish
