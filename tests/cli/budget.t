#!/bin/bash
# budget: a cap on tokens or dollars against a chat server that wastes them: retries, other models, repairs, answers lost on
# their way, and kills while a request is in the air.
. tests/cli/lib.sh || exit 1
. tests/cli/server.sh

# capped NAME BUDGET KEYS: a project whose chat provider has KEYS and may take BUDGET.
capped() {
    PROVIDER="provider: {kind: chat, base_url: '$URL', $3}" EXTRA="budget: {$2}" new_project "$1"
    apsis baseline
    is "baseline" "$code" 0
}

status() { "$APSIS" status --json | "$APSIS" exec "$ROOT/tests/cli/json.lua" "budget.$1"; }

within() { # within WHAT NUMBER LEAST MOST
    if awk "BEGIN { exit !($2 >= $3 && $2 <= $4) }"; then verdict yes "$1"; else verdict no "$1" "$2 is not in $3 .. $4"; fi
}

THREE='choice: fixed, models: [{name: m1, max_tokens: 3000}, {name: m2, max_tokens: 3000}, {name: m3, max_tokens: 3000}]'
USAGE='"usage": {"prompt_tokens": 1000, "completion_tokens": 4000}'

echo "{\"content\": \"half of\", \"finish\": \"length\", $USAGE}" >"$T/script"
start_server "$T/script"
item "truncated answers of one model are not passed on to the next where the cap does not cover that"
capped truncated 'tokens: 6100' "$THREE"
apsis run
is "run" "$code" 4
like "how it ended" "$out" "budget: 1100 tokens left, the next proposal may take"
is "spent" "$(status tokens.spent)" 5000
like "why" "$(field 1 outcome) $(field 1 rollback_reason)" \
    "^skipped_provider_failure m1: .*finish_reason length.*; budget: 1100 tokens left, asking again may take 3[0-9]+$"
is "requests" "$(requests)" 1
end_item

{
    echo "{\"prose\": true, $USAGE}"
    echo '{"close": true}'
} >"$T/script"
start_server "$T/script"
item "an answer that is of no use is not sent back where the cap does not cover that"
capped prose 'tokens: 6100' "repairs: 3, $THREE"
apsis run
is "run" "$code" 4
is "spent" "$(status tokens.spent)" 5000
like "why" "$(field 1 rollback_reason)" "no edit.*; budget: 1100 tokens left, asking again may take"
is "requests" "$(requests)" 1
is "what was not sent is not shown as sent" "$("$APSIS" show c0001 --prompt)" "$(request 1 body.messages.0.content)"
end_item

echo '{"content": "half of", "finish": "length", "usage": {"prompt_tokens": 300, "completion_tokens": 1000}}' >"$T/script"
start_server "$T/script"
item "dollars too, with several workers and answers"
cat >"$T/two.lua" <<'LUA'
-- two: two answers each.
return { plan = function(run) return { parents = { run.best }, operator = "two", k = 2 } end }
LUA
price='max_tokens: 1000, price: {input: 1000, output: 1000}'
capped dollars 'usd: 20' "choice: fixed, models: [{name: m1, $price}, {name: m2, $price}, {name: m3, $price}]"
cp "$T/two.lua" two.lua
sed -i 's/^strategy: .*/strategy: two.lua/' manifest.yaml
echo 'execution: {workers: 3}' >>manifest.yaml
for _ in 1 2 3 4; do apsis run; done # each ends after three failures, until nothing is left
is "run" "$code" 4
like "how it ended" "$out" "budget: "
within "spent" "$(status usd.spent)" 10 20
end_item

# ---- lost answers ----

{
    echo '{"bytes": 4000, "truncate": true}'
    echo '{"status": 500}'
    echo '{"prose": true, "usage": {"prompt_tokens": 7, "completion_tokens": 1}}'
    echo '{"content": "x", "stall_s": 60}'
} >"$T/script"
start_server "$T/script"
item "an answer that broke off, or never came, is counted as far as is known; an error is not"
capped lost 'tokens: 100000' 'retries: 0, repairs: 0, timeout_sec: 1, models: [{name: m1}]'
apsis run --iterations 2
apsis run --iterations 2
prompt() { echo $(($(request "$1" body.messages.0.content | wc -c) / 4)); }
within "broken off" "$(field 1 tokens)" $(($(prompt 1) + 400)) $(($(prompt 1) + 1000))
is "error" "$(field 2 tokens)" 0
is "answered" "$(field 3 tokens)" 8
within "never came" "$(field 4 tokens)" $(($(prompt 4) - 1)) $(($(prompt 4) + 1))
like "said" "$(cat runs/0001/provider_output.md)" "estimated"
end_item

stop_server
item "where nobody listens nothing is spent"
capped nobody 'tokens: 100000' 'retries: 1, models: [{name: m1}]'
apsis run --iterations 1
is "tokens" "$(field 1 outcome) $(field 1 tokens)" "skipped_provider_failure 0"
end_item

# ---- kills ----

echo '{"content": "x", "stall_s": 60}' >"$T/script"
start_server "$T/script"
item "what a request in the air may take is not forgotten at a kill, and repeated kills end by the cap"
capped killed 'tokens: 9000' 'models: [{name: m1, max_tokens: 3000}]'
before=0
for kill in 1 2 3 4 5 6; do
    "$APSIS" run >"$T/run.out" 2>&1 &
    job=$!
    for _ in $(seq 400); do
        [ "$(requests)" -ge "$kill" ] && break
        kill -0 "$job" 2>/dev/null || break
        sleep 0.05
    done
    [ "$(requests)" -ge "$kill" ] || break
    { kill -KILL "$job" && wait "$job"; } 2>/dev/null
    now=$(status tokens.reserved)
    within "after kill $kill" "$now" $((before + 3000)) $((before + 3500))
    before=$now
done
wait "$job"
is "the last run ends by itself" "$?" 0
is "kills" "$kill" 3
like "how" "$(cat "$T/run.out")" "budget: [0-9]+ tokens left"
is "spent" "$(status tokens.spent)" "$before"
is "outcome" "$(field 1 outcome) $(field 1 tokens)" "skipped_not_selected $before"
like "why" "$(field 1 rollback_reason)" "budget: [0-9]+ tokens left, doing it again may take"
end_item

{
    echo '{"content": "x", "stall_s": 60}'
    printf '{"content": "value.txt\\n<<<<<<< SEARCH\\n0\\n=======\\n1\\n>>>>>>> REPLACE\\n", "usage": {"prompt_tokens": 90, "completion_tokens": 10}}\n'
} >"$T/script"
start_server "$T/script"
item "when it is done again and answered, its estimate and what it really took are in its line"
capped again 'tokens: 90000' 'models: [{name: m1, max_tokens: 3000}]'
"$APSIS" run --iterations 1 >"$T/run.out" 2>&1 &
job=$!
for _ in $(seq 400); do
    [ "$(requests)" -ge 1 ] && break
    sleep 0.05
done
{ kill -KILL "$job" && wait "$job"; } 2>/dev/null
held=$(status tokens.reserved)
apsis run
is "tokens" "$(field 1 outcome) $(field 1 tokens)" "kept $((held + 100))"
is "status" "$(status tokens.spent) $(status tokens.reserved)" "$((held + 100)) 0"
end_item

finish
