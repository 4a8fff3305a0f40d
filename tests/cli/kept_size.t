#!/bin/bash
# kept_size: what a run leaves on the disk: with prompts of 30 kB and a population, at most 40 kB for an experiment.
. "$(dirname "$0")/lib.sh"
. "$ROOT/tests/cli/server.sh"

EXPERIMENTS=80 # 100 take no more each

cat >"$T/answer.py" <<'END'
def answer(request, number):
    return {"content": "Another value.\n\nprogram.txt\n<<<<<<< SEARCH\nVALUE\n=======\nVALUE\nline %d\n>>>>>>> REPLACE\n" % number}
END
start_server - <<<'{"program": "answer.py", "default": true}'

item "100 experiments with prompts of 30 kB take at most 4 MB, in logs, runs and git together"
new_project kept && cd "$T/kept" || exit 1
{ echo VALUE; seq 1 4700; } >program.txt
cat >manifest.yaml <<END
version: 1
project: {name: kept}
files: [{path: program.txt, mode: writable}]
verification: {commands: [{name: count, run: 'echo METRIC score=\$((\$(cksum <program.txt | cut -d" " -f1) % 1000))'}]}
metric: {name: score}
strategy: {use: openevolve, options: {top_programs: 0, diverse_programs: 0}}
provider: {kind: chat, base_url: '$URL', models: [m1]}
END
git add -A && git commit -qm kept && rm -rf "$XDG_CACHE_HOME"
apsis baseline --repeats 1 -q && before=$(find .git -type f -printf '%s\n' | paste -sd+ | bc)
apsis run -q --iterations $EXPERIMENTS
is "all are measured" "$(grep -c '"primary_metric":[0-9]' logs/results.jsonl)" $((EXPERIMENTS + 1))
prompts=$(request -1 body.messages | wc -c)
ok "the prompt has 30 kB or more ($prompts)" test "$prompts" -ge 30000
kept=$(find logs runs .git -type f -printf '%s\n' | awk '{ sum += $1 } END { print sum }')
ok "$kept bytes are kept" test "$kept" -le $((EXPERIMENTS * 40000))
end_item

finish
