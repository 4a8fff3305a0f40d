#!/bin/bash
# agent_usage: what an agent's answers took: in the journal, in status, and against the budget. Stand-ins print what the
# agents print.
. tests/cli/lib.sh || exit 1
[ "${APSIS_CAGE-}" = none ] && [ "$(id -u)" = 0 ] && { echo "1..0 # skip claude is refused as root without a sandbox"; exit 0; }

mkdir -p "$T/agents"
stand_in() { # NAME: prints its standard input, after it wrote a better value
    { printf '#!/bin/sh\necho "$APSIS_EXPERIMENT" >value.txt\ncat <<"END"\n'; cat; echo END; } >"$T/agents/$1"
    chmod +x "$T/agents/$1"
}
export PATH=$T/agents:$PATH
stand_in claude <<'END'
{"type":"result","subtype":"success","is_error":false,"num_turns":2,"result":"Raised it.\nASI learned=up is better","session_id":"s-1","total_cost_usd":0.004,"usage":{"input_tokens":1000,"cache_read_input_tokens":200,"output_tokens":30},"modelUsage":{"opus-1":{}},"permission_denials":[{"tool_name":"WebFetch"}]}
END
stand_in codex <<'END'
{"type":"thread.started","thread_id":"t-1"}
{"type":"item.completed","item":{"type":"agent_message","text":"Raised it."}}
{"type":"turn.completed","usage":{"input_tokens":1000,"cached_input_tokens":0,"output_tokens":100}}
END

provider() { # KEYS
    sed -i "s#^provider:.*#provider: {allow: ['$T/agents:ro'], retries: 0, $1}#; /^budget:/d" manifest.yaml
    [ -z "$2" ] || echo "budget: $2" >>manifest.yaml
    git commit -qam provider
}

item "claude's tokens, dollars and model are in the journal, the rest in the run's folder; its words are its answer"
new_project taken
apsis baseline
provider 'preset: claude'
apsis run --iterations 1
is "outcome" "$(field 1 outcome)" kept
is "tokens" "$(field 1 tokens)" 1230
is "cost" "$(field 1 cost)" 0.004
is "model" "$(field 1 model)" opus-1
is "learned" "$(field 1 learned)" "up is better"
is "what people read" "$(head -1 runs/0001/provider_output.md)" "Raised it."
out=$(cat runs/0001/usage.json)
is "session" "$(json 1.session)" s-1
is "refused" "$(json 1.denied.1)" WebFetch
like "a refusal is named" "$err" "claude was refused permission for WebFetch"
apsis status
line "status: tokens" "$out" "^tokens: +1230$"
line "status: cost" "$out" "^cost: +0.004 USD$"
end_item

item "an answer of which a preset reports nothing this time took an unknown amount, not 0"
cp "$T/agents/claude" "$T/agents/claude.json"
stand_in claude <<'END'
Raised it, and printed no JSON.
END
cp -r "$T/taken" "$T/silent" && cd "$T/silent" || exit 1
rm -rf logs runs .apsis && git for-each-ref --format='delete %(refname)' refs/apsis/ refs/apsis-anchors/ refs/heads/apsis/ | git update-ref --stdin
apsis baseline
provider 'preset: claude' '{usd: 1, tokens: 5000, iterations: 9}'
apsis status
line "before there is an answer" "$out" "^budget: .*0 of 5000 tokens \(5000 left\), 0 of 1 usd"
apsis step --json
is "step" "$(json step.outcome) $(json step.tokens) $(json step.cost)" "kept null null"
is "journal" "$(field 1 tokens) $(field 1 cost)" "null null"
apsis status
line "status: tokens" "$out" "^tokens: +unknown"
line "status: cost" "$out" "^cost: +unknown"
line "status: budget" "$out" "^budget: .*unknown of 5000 tokens, unknown of 1 usd"
apsis show c0001
line "show: tokens" "$out" "^tokens: +unknown$"
line "show: cost" "$out" "^cost: +unknown$"
mv "$T/agents/claude.json" "$T/agents/claude"
apsis step --json
is "the next one reports" "$(json step.tokens) $(json step.cost)" "1230 0.004"
apsis status
line "the sum of those that did" "$out" "^tokens: +1230$"
apsis replay --check
is "replay" "$code" 0
cd "$T/taken" || exit 1
end_item

item "budget.usd ends a run before an answer would pass it"
provider 'preset: claude' '{usd: 0.01}'
apsis run --iterations 9
is "exit" "$code" 0
like "why" "$out" "2 experiments: 2 kept; ended: budget: 0.002 usd left, the next proposal may take 0.004"
end_item

item "codex reports no dollars: by price they end the run; without, run says that they do not"
provider 'preset: codex, price: {input: 2, output: 10}' '{usd: 0.01}'
before=$(lines)
apsis run --iterations 9
is "three answers at 0.003" "$(($(lines) - before))" 3
is "cost" "$(field "$before" cost)" 0.003
provider 'preset: codex' '{usd: 0.01, iterations: 1}'
apsis run
like "a warning" "$err" "the provider reports no dollars, so budget.usd does not end the run: price: \{input: USD, output: USD\}"
apsis setup
like "setup notes it" "$out" "note +provider .*"$'\n'" +the provider reports no dollars"
echo "execution: {target: slurm, folder: $T/shared, usd_per_hour: 1}" >>manifest.yaml
apsis setup
like "dollars of other machines count" "$out" "reports no dollars, so budget.usd counts only what execution.usd_per_hour costs: price:"
end_item

item "a command of one's own: unknown is no 0; usage makes it known"
agent <<'END'
echo "$APSIS_EXPERIMENT" >value.txt
echo "it took 1,200 tokens and \$0.02"
END
new_project own
echo 'budget: {tokens: 100, usd: 1, iterations: 9}' >>manifest.yaml
git commit -qam budget
apsis baseline
apsis step --json
is "step" "$(json step.tokens) $(json step.cost) $(json step.outcome)" "null null kept"
apsis status
line "tokens" "$out" "^tokens: +unknown \(the provider does not report it\)$"
line "cost" "$out" "^cost: +unknown"
line "budget" "$out" "^budget: +1 of 1 iterations.*, unknown of 100 tokens, unknown of 1 usd$"
apsis status --json
is "as JSON" "$(json tokens) $(json cost)" "null null"
is "the budget as JSON" "$(json budget.tokens.spent) $(json budget.tokens.left) $(json budget.tokens.limit)" "null null 100"
apsis show c0001
no_line "show has no 0 where nothing was reported" "$out" "^(tokens|cost): +0"
sed -i 's/retries: 0/retries: 0, usage: {tokens: "took ([0-9,]+) tokens", usd: "[$]([0-9.]+)"}/; s/^budget: {tokens: 100,.*/budget: {tokens: 3000}/' manifest.yaml
git commit -qam usage
apsis run --iterations 9
is "budget.tokens ends it" "$(lines) $(field 2 tokens) $(field 2 cost)" "4 1200 0.02"
end_item

item "a usage that cannot be read is refused with its line"
sed -i "s/took (/took ((/" manifest.yaml
apsis setup
is "exit" "$code" 2
like "pattern" "$out$err" "manifest.yaml:[0-9]+: provider.usage.tokens: EREGEX"
provider 'run: [true], price: {input: 1, output: 1}'
apsis setup
like "price without tokens" "$out$err" "provider.price: needs tokens to count"
end_item

item "an answer that claude ended at max_turns, with exit code 1, counts as it is"
stand_in claude <<'END'
{"type":"result","subtype":"error_max_turns","is_error":true,"num_turns":6,"session_id":"s-2","total_cost_usd":0.02,"usage":{"input_tokens":100,"output_tokens":10}}
END
echo 'exit 1' >>"$T/agents/claude"
new_project limited
apsis baseline
provider 'preset: claude, max_turns: 6'
apsis run --iterations 1
is "outcome" "$(field 1 outcome)" kept
is "tokens" "$(field 1 tokens)" 110
is "cost" "$(field 1 cost)" 0.02
end_item

finish
