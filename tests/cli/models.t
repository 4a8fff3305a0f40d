#!/bin/bash
# Which model is asked, live: the same journal plans the same models again, and caps of tokens and dollars hold with workers.
. tests/cli/lib.sh || exit 1
. tests/cli/server.sh

# What each model says: `good` names a number that grows, `bad` talks.
cat >"$T/answers.py" <<'PYTHON'
def answer(request, number):
    if request["model"] == "bad":
        return {"prose": True}
    return {"content": "value.txt\n```\n%d\n```\n" % number}
PYTHON
echo '{"program": "answers.py", "times": 1000}' >"$T/script.jsonl"
start_server "$T/script.jsonl"

# models_project NAME CHOICE: two models of one price.
models_project() {
    local weight='weight: 3, '
    [ "$2" != fixed ] || weight='' # which has no use for one
    PROVIDER="provider: {kind: chat, base_url: '$URL', choice: $2, retries: 0, repairs: 0, models: [
  {name: good, price: {input: 10, output: 20}, max_tokens: 100}, {name: bad, ${weight}price: {input: 10, output: 20}, max_tokens: 100}]}"
    new_project "$1"
    apsis baseline
}

# asked MODEL: how many experiments of the journal were planned with it.
asked() { grep -c "\"proposal\":{[^}]*\"model\":\"$1\"" logs/results.jsonl; }

for choice in fixed weighted ucb; do
    item "$choice: workers plan as the journal says, again and after a kill"
    models_project "of-$choice" $choice
    apsis run --iterations 8 --workers 3 -q
    like "run, which many failures in a row end" "$code" '^[04]$'
    "$APSIS" run --iterations 12 --workers 3 -q >/dev/null 2>&1 &
    loop=$!
    for _ in $(seq 6000); do [ "$(lines)" -gt 12 ] && break; nap 0.02; done
    kill -9 $loop 2>/dev/null
    wait $loop 2>/dev/null
    apsis run --iterations 4 --workers 3 -q
    like "goes on" "$code" '^[04]$'
    apsis replay --check
    is "the fold plans the same models" "$code" 0
    end_item
    [ $choice != fixed ] || is "fixed asks the first alone" "$(asked bad)" 0
done

spent() { "$APSIS" status --json | "$APSIS" exec "$ROOT/tests/cli/json.lua" "budget.$1.spent"; }

# capped KIND LIMIT: the run ended because what is left does not cover the next proposal, and the cap was not passed.
capped() {
    local said='ended: budget: ([0-9.e-]+) '$1' left, the next proposal may take ([0-9.e-]+)'
    if [[ $out =~ $said ]]; then
        ok "$1: ${BASH_REMATCH[2]} may be taken, ${BASH_REMATCH[1]} are left, $(spent "$1") of $2 are spent" \
            awk -v left="${BASH_REMATCH[1]}" -v needed="${BASH_REMATCH[2]}" -v spent="$(spent "$1")" -v limit="$2" \
            'BEGIN { exit !(needed > left && spent > 0 && spent <= limit && spent + left > limit * 0.999) }'
    else
        like "it ends for the next" "$out" "$said"
    fi
}

item "caps of tokens and dollars hold with workers"
EXTRA='budget: {tokens: 4000}' models_project tokens fixed
apsis run --workers 4 -q
is "run" "$code" 0
capped tokens 4000
EXTRA='budget: {usd: 0.05}' models_project dollars fixed
apsis run --workers 4 -q
capped usd 0.05
end_item

finish
