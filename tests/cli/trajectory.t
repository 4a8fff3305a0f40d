#!/bin/bash
# trajectory: best of K on a project: several answers of a chat model, of an agent and of a Lua provider, which of them is measured,
# what the journal says of the others, the budget's guard, and what the manifest may say.
. tests/cli/lib.sh || exit 1
. tests/cli/server.sh

# answer SEARCH REPLACE CONFIDENCE TOKENS [MORE]: a line of the server's script.
answer() {
    printf '{"content": "The number becomes %s.\\n%s\\nvalue.txt\\n<<<<<<< SEARCH\\n%s\\n=======\\n%s\\n>>>>>>> REPLACE\\n", "usage": {"prompt_tokens": 100, "completion_tokens": %s}%s}\n' \
        "$2" "${3:+{\\\"confidence\\\": $3\}}" "$1" "$2" "$4" "${5:+, $5}"
}

chat_project() { # NAME TRAJECTORY [MORE LINES]
    PROVIDER="provider: {kind: chat, base_url: '$URL', models: [m1]}" EXTRA="trajectory: $2"$'\n'"${3-}" new_project "$1"
    apsis baseline
    is "baseline" "$code" 0
}

# What the line of experiment N says: K, what was wanted, why not that, and what became of each, sorted: side by side they come in any order.
said() { field "$1" notes | python3 -IS -c 'import json, sys
note = json.load(sys.stdin)["trajectory"]
print(note["k"], note["asked"], note.get("why", ""), "|".join(sorted(answer.get("lost", "taken") for answer in note.get("answers", []))), sep="; ")'; }

ON='{enabled: true, k_candidates: 3, complexity: complex}'

{
    answer 0 5 40 20
    answer 0 7 90 20
    answer 0 9 60 20
} >"$T/script"
start_server "$T/script"
item "of three answers of a model the one most sure of itself is measured, and the line says why the others are not"
chat_project sure "$ON"
apsis run --iterations 1
is "run" "$code" 0
is "kept" "$(field 1 outcome) $(field 1 primary_metric)" "kept 7"
like "why" "$(said 1)" "^3; 3; ; score -10.22 against -2.107\|score -18.33 against -2.107\|taken$"
is "paid for" "$(field 1 tokens) $(field 1 answers)" "360 3"
is "asked" "$(requests)" 3
like "asked for" "$(request 1 body.messages.-1.content)" '\{"confidence": N\}'
apsis show c0001
like "shown" "$out" "note trajectory: *3 asked for; 1 .*; 2 .*; 3 (taken|lost: score -1.* against -2.107)"
apsis replay --check
like "planned again" "$code $out" "^0 .*1 plans compared, 0 differ"
end_item

{
    answer 0 5 40 20
    answer 0 7 "" 90
    answer 0 9 60 30
} >"$T/script"
start_server "$T/script"
item "where one states no confidence the shortest is measured"
chat_project unsure "$ON"
apsis run --iterations 1
is "kept" "$(field 1 outcome) $(field 1 primary_metric)" "kept 5"
like "why" "$(said 1)" "; longer: 30 tokens.*\|longer: 90 tokens against 20; answer [123] states no confidence, so only length decides\|taken"
end_item

{
    answer 0 5 10 50
    echo '{"content": "So it is.\n{\"confidence\": 20}\n\nvalue.txt\n<<<<<<< SEARCH\n0\n=======\n5   \n\n>>>>>>> REPLACE\n", "usage": {"prompt_tokens": 100, "completion_tokens": 50}}'
    answer 0 9 99 10
} >"$T/script"
start_server "$T/script"
item "what two of three set out to do is done, whatever the third says of itself"
chat_project majority "$ON"
apsis run --iterations 1
is "kept" "$(field 1 primary_metric)" 5
like "why" "$(said 1)" "of another intent than the majority \(2 of 3\)\|score .*\|taken"
end_item

{
    echo '{"status": 400}'
    answer 0 7 5 20
    echo '{"prose": true, "times": 3}'
} >"$T/script"
start_server "$T/script"
item "failed answers are left out; what is useful of three is measured"
chat_project failing "$ON"
sed -i 's/models: \[m1\]/repairs: 0, retries: 0, models: [m1]/' manifest.yaml
apsis run --iterations 1
is "kept" "$(field 1 outcome) $(field 1 primary_metric)" "kept 7"
like "why" "$(said 1)" "failed: .*\|failed: .*\|taken"
end_item

{ answer 0 5 40 20; } >"$T/script"
start_server "$T/script"
item "without trajectory, and with what is too simple for it, one is asked, without a word of confidence"
chat_project plain '{}'
apsis run --iterations 1
is "asked" "$(requests)" 1
unlike "for" "$(request 1 body.messages.-1.content)" confidence
is "said" "$(field 1 notes)" "(no field)"
echo 'return {}' >"$T/mine.lua" # it might name a complexity
STRATEGY=$T/mine.lua chat_project simple '{enabled: true, k_candidates: 3}'
apsis run --iterations 1
is "asked" "$(requests)" 2
is "said" "$(said 1)" "1; 3; simple is not in complexity_gate (complex, epic); "
like "and told" "$err" "trajectory is enabled, but one answer is asked for: .*set trajectory.complexity"
end_item

{
    answer 0 5 40 20
    answer 0 7 90 20
    answer 7 9 90 20
} >"$T/script"
start_server "$T/script"
item "K answers are asked for only where the budget covers them with a margin"
chat_project guarded '{enabled: true, k_candidates: 2, complexity: epic}' "budget: {tokens: 9000}"
sed -i 's/models: \[m1\]/models: [{name: m1, max_tokens: 1000}]/' manifest.yaml
apsis run --iterations 2
is "both" "$(field 1 primary_metric)" 7
unlike "two" "$(said 1)" "not"
sed -i 's/tokens: 9000/tokens: 4000/' manifest.yaml
apsis run --iterations 1
like "one" "$(said 3)" "^1; 2; 2 answers at [0-9.]+ tokens each are more than 80 % of the [0-9]+ left; $"
sed -i 's/tokens: 4000/tokens: 500/' manifest.yaml
before=$(requests)
apsis run --iterations 1
like "none" "$out" "budget: 500 tokens left, the next proposal may take"
is "not asked" "$(requests)" "$before"
end_item

{
    answer 0 7 30 20
    answer 0 5 99 20
    answer 0 9 60 20
} >"$T/script"
start_server "$T/script"
item "openevolve has it too, beside its own word on answers"
STRATEGY=openevolve chat_project evolve "$ON"
apsis run --iterations 1
is "kept" "$(field 1 outcome) $(field 1 primary_metric)" "kept 5"
like "why" "$(said 1)" "score -10.22 .*\|score -24.08 .*\|taken"
like "asked for" "$(request 1 body.messages.-1.content)" '\{"confidence": N\}'
apsis replay --check
like "planned again" "$code $out" "^0 .*1 plans compared, 0 differ"
end_item

item "an agent answers K times side by side, each in a workspace of its own, and leaves its own records"
agent <<END
touch "$T/here-\$APSIS_ANSWER"
for wait in \$(seq 300); do [ -e "$T/here-1" -a -e "$T/here-2" ] && break; sleep 0.1; done # neither ends without the other
[ -e "$T/here-1" -a -e "$T/here-2" ] || exit 1
cat >"$T/prompt-\$APSIS_ANSWER"
echo \$((\$APSIS_ANSWER * 10)) >value.txt
ls >\$APSIS_RUN_DIR/seen
echo "{\"confidence\": \$((\$APSIS_ANSWER * 40))}"
echo "as number \$APSIS_ANSWER"
END
EXTRA="trajectory: {enabled: true, complexity: epic}" new_project agents
apsis baseline
apsis run --iterations 1
is "kept" "$(field 1 outcome) $(field 1 primary_metric)" "kept 20"
like "why" "$(said 1)" "^2; 2; ; score .*\|taken$"
like "asked for" "$(cat "$T/prompt-2")" '\{"confidence": N\}'
is "what each said" "$(tail -n 1 runs/0001/provider_output_1.md) $(tail -n 1 runs/0001/provider_output_2.md)" "as number 1 as number 2"
is "and left" "$(ls runs/0001/provider_1 runs/0001/provider_2 | grep -c seen)" 2
is "together" "$(grep -c '^--- answer [12] of 2 ---' runs/0001/provider_output.md)" 2
end_item

item "one answer of an agent has the usual files, and no number"
agent <<'END'
echo "${APSIS_ANSWER-none}" >"$APSIS_RUN_DIR/number"
echo 3 >value.txt
END
new_project alone
apsis baseline
apsis run --iterations 1
is "number" "$(cat runs/0001/provider/number)" none
is "files" "$(ls runs/0001 | grep -c '_[0-9]')" 0
end_item

item "an agent that says nothing but changes files has answered"
agent <<'END'
echo $((APSIS_ANSWER + 4)) >value.txt
END
EXTRA="trajectory: {enabled: true, complexity: epic}" new_project silent
apsis baseline
apsis run --iterations 1
is "kept" "$(field 1 outcome) $(field 1 primary_metric)" "kept 5"
like "why" "$(said 1)" "; equal, and later; answer 1 states no confidence"
end_item

item "answers that change what they may not are left out; where all do, that is the outcome"
agent <<'END'
if [ "$APSIS_ANSWER" = 1 ]; then echo 1 >evaluate.sh; else echo 6 >value.txt; fi
echo '{"confidence": 50}'
END
EXTRA="trajectory: {enabled: true, complexity: epic}" new_project scope
apsis baseline
apsis run --iterations 1
is "kept" "$(field 1 outcome) $(field 1 primary_metric)" "kept 6"
like "why" "$(said 1)" "failed: .*evaluate.sh.*\|taken"
sed -i 's/^if.*/echo 1 >evaluate.sh/' "$T/agent-$agents.sh"
apsis run --iterations 1
is "outcome" "$(field 2 outcome)" reverted_scope_violation
end_item

item "a killed run asks again for as many as are covered then, and its line is as planned"
cat >"$T/slow.lua" <<'LUA'
-- slow: three answers; the process is killed at the second the first time.
local asked = 0
return function(proposal, workspace)
  asked = asked + 1
  if asked == 2 and not io.open("MARK") then io.open("MARK", "w"):close(); os.execute("kill -9 $PPID") end
  return { ["value.txt"] = asked .. "\n" }, { steps = { { confidence = asked * 20, tokens = 5 } } }
end
LUA
sed "s|MARK|$T/mark|g" "$T/slow.lua" >"$T/slow2.lua"
PROVIDER='provider: {kind: lua, use: propose.lua}' EXTRA="trajectory: $ON" new_project killed
cp "$T/slow2.lua" propose.lua && git commit -qam slow
apsis baseline
{ apsis run --iterations 1; } 2>/dev/null # bash would say that it was killed
is "killed" "$code" 137
apsis run --iterations 1
is "done again" "$code $(field 1 outcome)" "0 kept"
like "of three" "$(said 1)" "^3; 3; ; score .*\|score .*\|taken"
is "no k of its own" "$(field 1 proposal | grep -c '"k"')" 0
apsis replay --check
is "planned again" "$code" 0
end_item

# ---- the manifest ----

refused() { # WHAT LINE PATTERN
    sed -i '/^trajectory:/d' manifest.yaml
    echo "trajectory: $2" >>manifest.yaml
    apsis run
    like "$1" "$code $err" "^2 .*manifest.yaml:[0-9]+: $3"
}

item "what is wrong in trajectory is said with its line and key"
EXTRA= PROVIDER='provider: {kind: lua, use: propose.lua}' new_project wrong
refused "a key" '{enable: true}' 'trajectory.enable: .*enabled'
refused "a kind" '{enabled: 1}' 'trajectory.enabled: '
refused "no answers" '{k_candidates: 0}' 'trajectory.k_candidates: '
refused "a half" '{k_candidates: 1.5}' 'trajectory.k_candidates: '
refused "a word" '{complexity: hard}' 'trajectory.complexity: .*simple, medium, complex'
refused "in the gate" '{complexity_gate: [complex, epci]}' 'trajectory.complexity_gate\[2\]: .*epic'
refused "an empty gate" '{complexity_gate: []}' 'trajectory.complexity_gate: lets no proposal through; .*enabled: false'
refused "all of it" '{margin: 1}' 'trajectory.margin: '
refused "less than none" '{margin: -0.1}' 'trajectory.margin: '
refused "no complexity that is worth it" '{enabled: true}' 'trajectory.enabled: has no effect: .*add complexity: complex'
refused "at once" '{raise_after: 0}' 'trajectory.raise_after: '
end_item

# ---- the lab ----

item "in the lab too: a strategy with a k of its own, and a world in which confidence tells"
cd "$T" || exit 1
for k in 1 3; do
    echo "return { options = { patience = 1000 }, plan = function(run) return { parents = { run.best }, k = $k } end }" >"k$k.lua"
done
SEEDS=20
[ -z "${APSIS_SANITIZED:-}" ] || SEEDS=6
reached() { # STRATEGY CALIBRATION: the median of what is reached
    "$APSIS" lab "$1.lua" --world "proposer:goal=1000000,calibration=$2" --seeds $SEEDS --evaluations 60 --json -q |
        python3 -IS -c 'import json, sys; print(json.load(sys.stdin)["results"][0]["median"])'
}
below() { awk "BEGIN { exit !($1 < $2) }"; }
one=$(reached k1 1) sure=$(reached k3 1) wrong=$(reached k3 -1)
ok "three calibrated answers reach more than one ($one, $sure)" below "$one" "$sure"
ok "three that are sure of what is wrong reach less ($wrong, $one)" below "$wrong" "$one"
is "the same again" "$(reached k3 1)" "$sure"
apsis lab k3.lua --world proposer:calibration=2
like "calibration" "$code $err" "^2 .*calibration"
apsis lab k3.lua --world proposer:length_relation=-1.5
like "length" "$code $err" "^2 .*length_relation"
end_item

finish
