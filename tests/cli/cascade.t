#!/bin/bash
# The cascade as its users see it: thresholds between stages, what the commands said on stderr and left as artifacts, duplicates in
# flight, and what status says of the budget while a loop runs and after it was killed.
. tests/cli/lib.sh || exit 1

# part EXPERIMENT PATH: of a journal line, such as notes.island.
part() { grep "^{.*\"experiment\":$1[,}]" logs/results.jsonl | "$APSIS" exec "$ROOT/tests/cli/json.lua" "$2"; }

# A project whose two stages measure value.txt; FIRST is put into stage 1's command, THRESHOLD after it.
staged() {
    new_project "$1"
    cat >evaluate.sh <<END
${FIRST-}
[ "\$APSIS_STAGE" = 2 ] && echo "METRIC seconds=1"
echo "METRIC score=\$(cat value.txt)"
END
    cat >manifest.yaml <<END
version: 1
project: {name: $1}
files:
  - {path: value.txt, mode: writable}
  - {path: evaluate.sh, mode: hidden}
verification:
  commands:
    - {name: quick, run: sh evaluate.sh, stage: 1, threshold: ${THRESHOLD:-2}}
    - {name: full, run: sh evaluate.sh, stage: 2}
metric: {name: score, direction: ${DIRECTION:-higher}}
strategy: ${STRATEGY:-hillclimb}
provider: {kind: lua, use: propose.lua}
${EXTRA-}
END
    git add -A && git commit -qm staged
}

item "a candidate below the threshold is stopped early, recorded, and never best"
staged cascade
apsis baseline --repeats 1
is "the baseline is measured" "$code" 0
like "and warns that it would not go on" "$err" "baseline itself would be stopped early: stage 1: 0 does not reach its threshold 2"
apsis run --iterations 3 -q
is "the run" "$code" 0
is "the first" "$(field 1 outcome) $(field 1 primary_metric) $(field 1 stage)" "reverted_stage_failure null 1"
is "why" "$(field 1 rollback_reason)" "stage 1: 1 does not reach its threshold 2 (higher is better)"
is "with the stage's metric" "$(part 1 secondary_metrics.score)" 1
is "the second went on" "$(field 2 outcome) $(field 2 stage) $(part 2 secondary_metrics.seconds)" "kept 2 1"
apsis show c0001
like "show tells it" "$out" "reverted_stage_failure"
apsis replay --check
is "the fold agrees" "$code" 0
end_item

item "a threshold must stand before a later stage, once"
sed -i 's/stage: 2}/stage: 1}/' manifest.yaml
apsis setup
is "it is refused" "$code" 2
like "with its line and the remedy" "$out$err" "manifest.yaml:8: verification.commands\[1\].threshold: stands on the last stage \(1\).*metric.min_pass: 2"
sed -i 's/direction: higher/direction: lower/' manifest.yaml
apsis setup
like "in the metric's direction" "$out$err" "metric.max_pass: 2"
sed -i 's/stage: 1}/stage: 1, threshold: 7}\n    - {name: last, run: "true", stage: 2}/' manifest.yaml
apsis setup
like "two of one stage are refused" "$out$err" "manifest.yaml:9: verification.commands\[2\].threshold: is 7 here and 2 at .*for the same stage 1"
sed -i 's/threshold: 7/threshold: high/' manifest.yaml
apsis setup
like "and what is no number" "$out$err" "verification.commands\[2\].threshold: must be a number"
sed -i 's/  commands:/  checks: [{name: c, run: "true", threshold: 1}]\n  commands:/' manifest.yaml
apsis setup
like "and one on a check" "$out$err" "unknown key .*threshold"
end_item

# shows_artifacts NAME: a strategy that puts the artifacts of the best, as names and sizes, into the notes.
artifact_strategy() {
    cat >look.lua <<'LUA'
return {
  plan = function(run)
    local parts = {}
    for name, text in pairs(run.best:artifacts()) do parts[#parts + 1] = ("%s=%d:%s"):format(name, #text, text:sub(-4):gsub("%s", "_")) end
    return { notes = { artifacts = table.concat(parts, " ") } }
  end,
}
LUA
}

item "the end of stderr is an artifact, beside the evaluator's own files"
# shellcheck disable=SC2016
FIRST='[ "$APSIS_STAGE" = 1 ] && { seq 1 5000 >&2; echo "quick $(cat value.txt)" >"$APSIS_ARTIFACTS/own.txt"; }; [ "$APSIS_STAGE" = 2 ] && echo end >&2' \
    STRATEGY=look.lua THRESHOLD=0 staged loud
artifact_strategy
apsis baseline --repeats 1
apsis run --iterations 2 -q
is "it is kept" "$(tail -n 2 runs/0001/artifacts/stderr.txt | tr '\n' ' ')" "5000 end "
is "8 KB of it" "$(wc -c <runs/0001/artifacts/stderr.txt)" 8192
is "hooks get both" "$(part 2 notes.artifacts)" "own.txt=8:k_1_ stderr.txt=8192:end_"
apsis show 2
like "show names them" "$out" "artifacts: +own.txt 8 B, stderr.txt 8.2 kB"
end_item

item "an evaluator's own stderr.txt wins, and silence leaves nothing"
# shellcheck disable=SC2016
FIRST='[ "$APSIS_STAGE" = 1 ] && echo own >"$APSIS_ARTIFACTS/stderr.txt"; echo noise >&2' THRESHOLD=0 staged own
apsis baseline --repeats 1
is "its own" "$(cat runs/0000_baseline/artifacts/stderr.txt)" own
THRESHOLD=0 staged silent
apsis baseline --repeats 1
ok "silence" test ! -e runs/0000_baseline/artifacts
end_item

item "folders, binary files, links, large and many files do not get into hooks as they are"
cat >"$T/leave.sh" <<'END'
cd "$APSIS_ARTIFACTS" && mkdir folder && echo in >folder/f && printf 'a\0b' >binary && ln -s /etc/passwd link
head -c 100000 /dev/zero | tr '\0' x >a-large; for i in $(seq 10 40); do echo "$i" >"n$i"; done; echo said >&2
END
# shellcheck disable=SC2016
FIRST="[ \"\$APSIS_STAGE\" = 1 ] && (. $T/leave.sh)" THRESHOLD=0 STRATEGY=look.lua staged many
artifact_strategy
apsis baseline --repeats 1
apsis step -q
names=$(part 1 notes.artifacts | tr ' ' '\n' | cut -d= -f1 | tr '\n' ' ')
is "twenty of text, stderr among them" "$names" "a-large $(seq 10 27 | sed 's/^/n/' | tr '\n' ' ')stderr.txt "
like "64 KB at most" "$(part 1 notes.artifacts)" "a-large=65536:"
end_item

item "what is measured again leaves nothing with another candidate"
# shellcheck disable=SC2016
FIRST='[ "$APSIS_STAGE" = 1 ] && { echo "of $APSIS_CANDIDATE" >"$APSIS_ARTIFACTS/who.txt"; echo "$APSIS_CANDIDATE" >&2; }' \
    THRESHOLD=0 STRATEGY=again.lua staged again
cat >again.lua <<'LUA'
return { accept = function(run, candidate)
  if #candidate.samples < 2 then return "measure", { ids = { candidate.id, "c0000" }, stage = 1 } end
  return true
end }
LUA
apsis baseline --repeats 1
apsis step -q
is "its own" "$(cat runs/0001/artifacts/who.txt) $(sort -u runs/0001/artifacts/stderr.txt)" "of c0001 c0001"
is "the other's" "$(cat runs/0001/c0000/artifacts/who.txt)" "of c0000"
end_item

item "two workers do not measure one tree twice"
new_project twins
printf '%s\n' 'return function() return { ["value.txt"] = "5" } end' >propose.lua
printf '%s\n' "echo \$APSIS_CANDIDATE >>$T/measured; [ \$APSIS_CANDIDATE = c0000 ] || sleep 0.5" >>evaluate.sh
git commit -qam twins
apsis baseline --repeats 1
apsis run --iterations 2 --workers 2 -q
is "the second is skipped" "$(field 2 outcome): $(field 2 rollback_reason)" \
    "skipped_duplicate: the same tree as c0001, which was being measured"
is "and never measured" "$(tr '\n' ' ' <"$T/measured")" "c0000 c0001 "
end_item

item "status says what is spent, reserved and left; what was paid before a kill is not forgotten"
LIMIT_SEC=600 new_project money
cat >propose.lua <<'LUA'
return function(proposal)
  return { ["value.txt"] = proposal.experiment .. "\n" }, { tokens = 300, cost = 0.25 }
end
LUA
echo "while [ -e $T/slow ]; do sleep 0.05; done" >>evaluate.sh
echo 'budget: {iterations: 9, tokens: 1100, usd: 50}' >>manifest.yaml
git add -A && git commit -qm money
apsis baseline --repeats 1
apsis step -q
touch "$T/slow"
"$APSIS" run -q >/dev/null 2>&1 &
loop=$!
for _ in $(seq 2400); do grep -qs '"phase":"VERIFY"' logs/state.json && break; nap 0.05; done
apsis status --json
json_of() { printf '%s' "$out" | "$APSIS" exec "$ROOT/tests/cli/json.lua" "$1"; }
is "reserved while it runs" "$(json_of budget.tokens.spent) $(json_of budget.tokens.reserved) $(json_of budget.tokens.left)" "0 300 800"
is "dollars too" "$(json_of budget.usd.reserved) $(json_of budget.iterations.reserved)" "0.25 1"
apsis status
like "in words" "$out" "0 of 1100 tokens \(300 reserved, 800 left\)"
kill -9 $loop && wait $loop 2>/dev/null
rm "$T/slow"
apsis status
like "after the kill" "$out" "0 of 1100 tokens \(300 reserved, 800 left\)"
apsis run -q
is "it goes on" "$code" 0
like "until the next is not covered" "$out" "ended: budget: 200 tokens left, the next proposal may take 400"
is "the second was paid twice" "$(field 2 tokens) $(field 2 cost) $(field 3 tokens) $(lines)" "600 0.5 300 4"
apsis status
like "at the end" "$out" "900 of 1100 tokens \(200 left\)"
apsis replay --check
is "the fold plans the same" "$code" 0
end_item

finish
