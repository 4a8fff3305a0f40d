#!/bin/bash
# chat: a chat model as provider, against a scripted server: what is kept, what is a failed proposal, what is asked again and of
# whom, what it takes, and where the key never is.
. tests/cli/lib.sh || exit 1
. tests/cli/server.sh

export CHAT_KEY=sk-secret/0123456789abcdef
PROVIDER_KEYS=
cat >"$T/evaluate.sh" <<'END'
env | grep -q 'sk-''secret' && exit 9
echo "METRIC score=$(cut -d' ' -f1 value.txt)"
END

# An answer of the server: SEARCH, REPLACE, and more keys of the line.
edit() {
    printf '{"content": "%s\\n\\nvalue.txt\\n<<<<<<< SEARCH\\n%s\\n=======\\n%s\\n>>>>>>> REPLACE\\n\\nASI learned=%s is more"%s}\n' \
        "The number becomes $2." "$1" "$2" "$2" "${3:+, $3}"
}

# chat_project NAME: a project whose verifier fails where it can see the key.
chat_project() {
    PROVIDER="provider: {kind: chat, base_url: '$URL', api_key_env: CHAT_KEY, ${PROVIDER_KEYS:-models: [m1]}}"
    new_project "$1"
    cp "$T/evaluate.sh" .
    git commit -qam verifier
    apsis baseline
    is "baseline" "$code" 0
}

outcome() { is "experiment $1" "$(field "$1" outcome) $(field "$1" model)" "$2"; } # N "OUTCOME MODEL"

# ---- one run through everything that a server can do ----

USAGE='"usage": {"prompt_tokens": 100, "completion_tokens": 20}'
{
    edit 0 1 "$USAGE"                                                # 1
    echo '{"status": 429, "headers": {"Retry-After": "1"}}'          # 2
    edit 1 2 | sed 's/"The/"<think>\\nASI learned=a draft\\nvalue.txt\\n<<<<<<< SEARCH\\n1\\n=======\\n0\\n>>>>>>> REPLACE\\n<\\\/think>\\n\\nThe/'
    echo '{"status": 500, "times": 2}'                               # 3: m1 twice, then m2
    edit 2 3
    edit 3 333 '"truncate": true'                                    # 4
    edit 3 4
    echo '{"garbage": true}'                                         # 5: m1 twice, then m2
    echo '{"html": true}'
    edit 4 5
    echo '{"empty": true}'                                           # 6
    edit 5 6
    edit 6 777 "\"finish\": \"length\", \"times\": 2, $USAGE"        # 7
    echo '{"prose": true, "times": 2}'                               # 8
    edit 99 100                                                      # 9: sent back once
    edit 6 7 "$USAGE"
    edit 98 100 '"times": 2'                                         # 10
    echo '{"close": true}'                                           # 11
    edit 7 8
    echo '{"content_parts": [{"type": "text", "text": "value.txt\n<<<<<<< SEARCH\n8\n=======\n"}, {"type": "text", "text": "9\n>>>>>>> REPLACE\n"}]}'
    edit 9 9                                                         # 13
    echo '{"status": 400}'                                           # 14: m2 at once
    edit 9 10
    echo "{\"status\": 500, \"body\": {\"error\": {\"message\": \"you sent $CHAT_KEY\"}}, \"times\": 4}" # 15
    echo "{\"content\": \"value.txt\\n<<<<<<< SEARCH\\n10\\n=======\\n11 $CHAT_KEY\\n>>>>>>> REPLACE\"}"  # 16
    echo "{\"status\": 401, \"body\": {\"error\": {\"message\": \"wrong key $CHAT_KEY\"}}}"              # 17, 18, and the last
} >"$T/script"
start_server "$T/script"
item "a run through what a server may answer"
PROVIDER_KEYS='retries: 1, choice: fixed, models: [{name: m1, price: {input: 10, output: 100}}, m2]' chat_project all
apsis run --iterations 30
is "three refusals in a row end the run" "$code" 4
like "and say so" "$err" "HTTP 401: wrong key \[key\] \(http://127.0.0.1:[0-9]+/v1 refuses the key in CHAT_KEY\)"
cp "$T/.err" "$T/run.err"
end_item

item "an edit that is better is kept, with model, tokens, cost and what it learned"
outcome 1 "kept m1"
is "tokens and cost" "$(field 1 tokens) $(field 1 cost)" "120 0.003"
is "learned" "$(field 1 learned)" "1 is more"
is "description" "$(field 1 description)" "The number becomes 1."
is "the file" "$(git show refs/apsis/tiny/c0001:value.txt)" 1
end_item
item "a limit with Retry-After is waited for"
outcome 2 "kept m1"
like "noted" "$(cat runs/0002/provider_output.md)" "m1: HTTP 429: .*after 1\.[0-9] s: m1: answered"
end_item
item "what a model thinks before its answer is no part of it: not the title, no edit, nothing learned"
is "all of it is what comes after" "$(git show refs/apsis/tiny/c0002:value.txt) $(field 2 learned)" "2 2 is more"
is "the title" "$(field 2 description); $(git log -1 --format=%s refs/apsis/tiny/c0002)" "The number becomes 2.; The number becomes 2."
like "what it wrote is kept" "$(cat runs/0002/provider_output.md)" "<think>.*a draft.*</think>"
end_item
item "a server that fails is asked again, then the next model"
outcome 3 "kept m2"
is "attempts" "$(grep -c 'm1: HTTP 500' runs/0003/provider_output.md)" 2
end_item
item "a body that breaks off is no answer"
outcome 4 "kept m1"
is "the file" "$(git show refs/apsis/tiny/c0004:value.txt)" 4
end_item
item "garbage and HTML are no answers"
outcome 5 "kept m2"
like "said" "$(cat runs/0005/provider_output.md)" "m1: the reply is not JSON.*m1: the reply is not JSON: 502 Bad Gateway"
end_item
item "no choices is no answer"
outcome 6 "kept m1"
end_item
item "a truncated answer is a failed proposal, its tokens counted"
outcome 7 "skipped_provider_failure m1"
like "reason" "$(field 7 rollback_reason)" "finish_reason length"
is "tokens" "$(field 7 tokens)" 240
is "each model asked once" "$(grep -c '^- m[12]: .*cut off' runs/0007/provider_output.md)" 2
ok "no commit" test -z "$(git for-each-ref refs/apsis/tiny/c0007)"
end_item
item "refusal prose never becomes a program"
outcome 8 "skipped_provider_failure m1"
like "reason" "$(field 8 rollback_reason)" "no edit"
ok "no commit" test -z "$(git for-each-ref refs/apsis/tiny/c0008)"
end_item
item "an edit that does not match is sent back with what is wrong, and the second one counts"
outcome 9 "kept m1"
is "the file" "$(git show refs/apsis/tiny/c0009:value.txt)" 7
"$APSIS" show c0009 --prompt --json >"$T/messages"
is "messages" "$("$APSIS" exec "$ROOT/tests/cli/json.lua" 2.role <"$T/messages") $("$APSIS" exec "$ROOT/tests/cli/json.lua" 3.role <"$T/messages")" \
    "assistant user"
like "what is wrong" "$("$APSIS" exec "$ROOT/tests/cli/json.lua" 3.content <"$T/messages")" "could not be used: .*value.txt"
apsis show c0009
like "show says so" "$out" "asked again: +1 answer could not be used: .*value.txt"
apsis show c0001
unlike "and not of others" "$out" "asked again"
unlike "a model has no workspace" "$(cat runs/0001/prompt.md)" "current directory|your workspace"
is "and is told once how to answer" "$(grep -c '^<<<<<<< SEARCH' runs/0001/prompt.md)" 1
end_item
item "a second edit that does not match is a failed proposal"
outcome 10 "skipped_provider_failure m1"
like "reason" "$(field 10 rollback_reason)" "value.txt"
end_item
item "a connection closed without an answer is asked again; content may be parts; no change is no change; 400 goes to the next model"
outcome 11 "kept m1"
outcome 12 "kept m1"
outcome 13 "skipped_no_change m1"
outcome 14 "kept m2"
end_item
item "a key that the server echoes is taken out of errors and of answers"
outcome 15 "skipped_provider_failure m1"
like "reason" "$(field 15 rollback_reason)" "you sent \[key\]"
is "the file" "$(git show refs/apsis/tiny/c0016:value.txt)" "11 [key]"
outcome 17 "skipped_provider_failure m1"
end_item
item "the key was sent, and is nowhere in the project, its objects, the cache or what was printed"
like "sent" "$(request 1 headers.authorization)" "sha256:"
ok "there is something to look through" grep -q "The number becomes 1" runs/0001/provider_output.md
is "files" "$(grep -rl 'sk-secret' . "$XDG_CACHE_HOME" "$HOME" "$T/run.err" 2>&1)" ""
is "objects" "$(git cat-file --batch-all-objects --batch 2>/dev/null | grep -ac sk-secret)" 0
end_item
item "what was sent is shown exactly: the text, the messages, the file, the format"
is "text" "$("$APSIS" show c0001 --prompt)" "$(request 1 body.messages.0.content)"
"$APSIS" show c0001 --prompt --json >"$T/messages"
is "messages" "$("$APSIS" exec "$ROOT/tests/cli/json.lua" 1.content <"$T/messages")" "$(request 1 body.messages.0.content)"
like "how to answer" "$(request 1 body.messages.0.content)" "<<<<<<< SEARCH"
like "the file" "$(request 1 body.messages.0.content)" "value.txt"
end_item
item "with the key mended the run goes on where it was refused"
old=$URL
edit "11 [key]" 12 >"$T/script"
start_server "$T/script"
sed -i "s|$old|$URL|" manifest.yaml
is "before" "$(lines)" 19
apsis run --iterations 1
outcome 19 "kept m1"
end_item

# ---- keys and endpoints ----

item "without the key a run, and setup, exit 4 and say what to do; a baseline needs none"
saved=$CHAT_KEY
unset CHAT_KEY
PROVIDER_KEYS= chat_project nokey
apsis run --iterations 1
is "run" "$code" 4
like "message" "$err" "provider.api_key_env: CHAT_KEY is not set; export it, or remove the line if the server takes no key"
apsis setup
is "setup" "$code" 4
apsis doctor
like "doctor" "$out" "warn +provider: provider.api_key_env: CHAT_KEY is not set"
export CHAT_KEY=$saved
end_item

item "doctor says which models the endpoint has, and not the key"
apsis setup
like "setup does not ask" "$out" "provider +not asked here: .apsis doctor. asks its endpoint"
apsis doctor
like "a name it does not list" "$out" "warn +provider: http://127.0.0.1:[0-9]+/v1/models: 1 model; model m1 is not among them; CHAT_KEY is set"
sed -i 's/models: \[m1\]/models: [scripted]/' manifest.yaml
apsis doctor
like "models" "$out" "ok +provider: http://127.0.0.1:[0-9]+/v1/models: 1 model; CHAT_KEY is set"
unlike "key" "$out$err" "sk-secret"
end_item

item "where nothing listens, that is the reason"
stop_server
PROVIDER_KEYS='retries: 0, models: [m1]' chat_project refused
apsis run --iterations 1
is "run" "$code" 4
is "outcome" "$(field 1 outcome)" skipped_provider_failure
like "reason" "$(field 1 rollback_reason)" "m1: ECONNECT"
end_item

item "the check of the verifier's environment sees a key where one is"
PROVIDER='provider: {kind: lua, use: propose.lua}' new_project open
cp "$T/evaluate.sh" .
git commit -qam verifier
apsis baseline
is "a key of someone else's is not passed on" "$code" 0
sed -i 's/^verification:/&\n  pass_env: [CHAT_KEY]/' manifest.yaml
git commit -qam passed
apsis baseline --again
is "where the manifest does" "$code" 5
end_item

item "a key that the chat provider uses is not passed on, though the manifest names it"
chat_project asked
sed -i 's/^verification:/&\n  pass_env: [CHAT_KEY]/' manifest.yaml
git commit -qam passed
apsis baseline --again
is "baseline" "$code" 0
end_item

# ---- time ----

{
    edit 0 1 '"stall_s": 60, "model": "slow"'
    edit 0 1 '"model": "m1"'
} >"$T/script"
start_server "$T/script"
item "a server that stalls is given up, and the next model is asked"
PROVIDER_KEYS='retries: 0, choice: fixed, models: [{name: slow, timeout_sec: 0.5}, m1]' chat_project slow
apsis run --iterations 1
outcome 1 "kept m1"
like "noted" "$(cat runs/0001/provider_output.md)" "slow: ETIMEDOUT"
end_item

waiting() { # waiting N: until the server has had N requests
    for _ in $(seq 200); do
        [ "$(requests)" -ge "$1" ] && return
        sleep 0.05
    done
}

{
    edit 0 1 '"stall_s": 60'
    edit 99 1 "$USAGE"
    edit 0 1 '"stall_s": 60'
    edit 0 1 "$USAGE"
} >"$T/script"
start_server "$T/script"
item "Ctrl-C while a server stalls ends the run; kill -9 too; and each time the experiment is done again"
PROVIDER_KEYS='models: [m1]' chat_project killed
set -m # so that a background job takes SIGINT
"$APSIS" run --iterations 1 >"$T/killed.out" 2>&1 &
job=$!
waiting 1
kill -INT "$job"
wait "$job"
is "Ctrl-C" "$?" 130
"$APSIS" run >"$T/killed.out" 2>&1 &
job=$!
waiting 3
kill -KILL "$job"
wait "$job" 2>/dev/null
set +m
is "no line yet" "$(lines)" 1
apsis run
is "run" "$code" 0
outcome 1 "kept m1"
is "lines" "$(lines)" 2
is "the same prompt each time" "$(request 1 body.messages.0.content)" "$(request 4 body.messages.0.content)"
sent=0 # what the two requests in the air might have taken
for number in 1 3; do
    bytes=$(request $number body.messages | python3 -c 'import json, sys; print(sum(len(m["content"].encode()) for m in json.load(sys.stdin)))')
    sent=$((sent + (bytes + 3) / 4 + 4096))
done
is "what was paid before the kill, and what was in the air, is not forgotten" "$(field 1 tokens)" "$((240 + sent))"
end_item

# ---- budgets, several answers, several workers ----

{
    edit 0 1 '"usage": {"prompt_tokens": 5000, "completion_tokens": 1000}'
    edit 1 2 '"usage": {"prompt_tokens": 5000, "completion_tokens": 1000}'
} >"$T/script"
start_server "$T/script"
item "a budget of tokens ends the run before the next proposal could pass it"
EXTRA='budget: {tokens: 30000}' PROVIDER_KEYS='models: [{name: m1, max_tokens: 20000}]' chat_project budget
apsis run
is "run" "$code" 0
like "reason" "$out" "budget: 18000 tokens left"
is "experiments" "$(field 2 outcome) $(lines)" "kept 3"
end_item

{
    edit 0 3 '"match": "could not be used"'
    edit 99 3 '"times": 2'
    edit 0 2
} >"$T/script"
start_server "$T/script"
item "K answers to messages are asked for, repaired each for itself, and the strategy chooses"
cat >"$T/three.lua" <<'LUA'
-- three: three answers each; the first that says 2.
return {
  plan = function(run) return { parents = { run.best }, operator = "three", k = 3 } end,
  prompt = function() return { { role = "system", content = "Be brief." }, { role = "user", content = "value.txt holds 0; more." } } end,
  select = function(_, _, answers)
    for index, answer in ipairs(answers) do
      if answer.edits["value.txt"] == "2\n" then return index end
    end
  end,
}
LUA
PROVIDER_KEYS='models: [m1]' chat_project three
cp "$T/three.lua" three.lua
sed -i 's/^strategy: .*/strategy: three.lua/' manifest.yaml
apsis run --iterations 1
outcome 1 "kept m1"
is "the file" "$(git show refs/apsis/tiny/c0001:value.txt)" 2
is "requests" "$(requests)" 5
is "answers" "$(grep -c '^--- answer [123] of 3 ---' runs/0001/provider_output.md)" 3
is "asked again" "$(grep -c '^--- answer [123] of 3, asked again ---' runs/0001/provider_output.md)" 2
is "what two were sent" "$(cat runs/0001/prompt_[123].md | grep -c '^--- assistant ---')" 2
is "nothing is added to messages" "$("$APSIS" show c0001 --prompt)" "--- system ---
Be brief.
--- user ---
value.txt holds 0; more."
is "nor to what is sent" "$(request 1 body.messages.1.content)" "value.txt holds 0; more."
end_item

item "an endpoint that is down, or answers with errors alone: three experiments, then exit 4; mended, the run goes on"
echo '{"status": 500, "times": 3}' >"$T/script"
start_server "$T/script"
PROVIDER_KEYS='retries: 0, models: [m1]' chat_project down
cp manifest.yaml good.yaml
sed -i "s|base_url: '[^']*'|base_url: 'http://127.0.0.1:1/v1'|" manifest.yaml
apsis run --iterations 9
is "down" "$code" 4
like "said" "$err" "3 experiments in a row got no answer, so the run stops; fix the endpoint .* ECONNECT"
is "lines" "$(lines)" 3
cp good.yaml manifest.yaml
apsis run --iterations 9
is "errors" "$code" 4
like "said" "$err" "3 experiments in a row got no answer.*HTTP 500"
printf '{"prose": true, "times": 99}\n' >"$T/script"
start_server "$T/script"
sed -i "s|base_url: '[^']*'|base_url: '$URL'|" manifest.yaml
before=$(lines)
apsis run --iterations 29
is "a weak model has more tries, but not endlessly many" "$code $(($(lines) - before))" "4 20"
like "said" "$err" "stopping: the model answered without a usable edit in 20 consecutive experiments; .*apsis show ID --prompt.* the answer has no edit"
end_item

cat >"$T/answers.py" <<'PYTHON'
import re

def answer(request, number):
    value = re.search(r"value\.txt[^\n]*\n+```[^\n]*\n(\S+)", request["text"]).group(1)
    return {"content": f"value.txt\n<<<<<<< SEARCH\n{value}\n=======\n{number}\n>>>>>>> REPLACE\n"}
PYTHON
echo '{"program": "answers.py"}' >"$T/script"
start_server "$T/script"
item "two workers at once"
EXTRA='execution: {workers: 2}' PROVIDER_KEYS='models: [m1]' chat_project two
apsis run --iterations 6
is "run" "$code" 0
is "lines" "$(lines)" 7
is "failures" "$(grep -c skipped_provider_failure logs/results.jsonl)" 0
end_item

item "a question of the strategy is answered in its line"
echo '{"content": "Forty-two."}' >"$T/script"
start_server "$T/script"
cat >"$T/asks.lua" <<'LUA'
-- asks: one question.
return {
  plan = function(run)
    if run.experiment > 1 then return nil end
    return { ask = { { role = "system", content = "Be brief." }, { role = "user", content = "What is it?" } }, operator = "ask" }
  end,
}
LUA
PROVIDER_KEYS='models: [m1]' chat_project asks
cp "$T/asks.lua" asks.lua
sed -i 's/^strategy: .*/strategy: asks.lua/' manifest.yaml
apsis run --iterations 2
is "answer" "$(field 1 outcome) $(field 1 answer)" "asked Forty-two."
is "prompt" "$(cat runs/0001/prompt.md)" "--- system ---
Be brief.
--- user ---
What is it?"
end_item

finish
