#!/bin/bash
# reflect: the provider is asked what a result taught, and what it says is in the journal and in the next prompt.
. tests/cli/lib.sh || exit 1
. tests/cli/server.sh

EXTRA='reflect: true'
change() {
    printf '{"content": "ASI learned=a guess\\n\\nvalue.txt\\n<<<<<<< SEARCH\\n%s\\n=======\\n%s\\n>>>>>>> REPLACE"}\n' "$@"
}

item "a chat model"
{
    change 0 5
    echo '{"content": "ASI learned=fives work\nASI hypothesis_held=yes\nASI foreclosed=negative numbers"}'
    change 5 3
    echo '{"status": 400}'
    change 5 6
    echo '{"prose": true}'
} >"$T/script.jsonl"
start_server "$T/script.jsonl"
export CHAT_KEY=k
PROVIDER="provider: {kind: chat, base_url: '$URL', api_key_env: CHAT_KEY, models: [m1]}"
new_project chat
apsis baseline -q
apsis run --iterations 3 -q
is "runs" "$code" 0
is "both lessons" "$(field 1 learned)" "a guess; fives work"
line "whether it held" "$(field 1 notes)" '"hypothesis_held":"yes"'
line "what is foreclosed" "$(field 1 notes)" '"foreclosed":"negative numbers"'
line "the question has the result" "$(cat runs/0001/prompt_reflection.md)" "kept: score = 5"
line "and the change" "$(cat runs/0001/prompt_reflection.md)" "^\+5"
line "its answer is recorded" "$(cat runs/0001/provider_output_reflection.md)" "fives work"
line "beside the change's" "$(cat runs/0001/provider_output.md)" "SEARCH"
line "the next prompt has the lesson, and what not to try again" "$(cat runs/0002/prompt.md)" \
    "fives work.* do not try again: negative numbers"
is "a refused reflection changes nothing" "$(field 2 outcome) $(field 2 learned)" "reverted_worse_metric a guess"
is "so does prose" "$(field 3 outcome) $(field 3 learned)" "kept a guess"
apsis replay --check
is "the run replays" "$code" 0
end_item

item "an agent"
PROVIDER="provider: {kind: command, run: sh agent.sh}"
mkdir "$T/agent" && cd "$T/agent" && git init -q .
fill_project
cat >agent.sh <<'END'
prompt=$(cat)
case $prompt in
*"Result:"*) echo "ASI learned=it was $(printf '%s\n' "$prompt" | grep -o 'score = [0-9]*')"; echo 99 >value.txt ;;
*) echo 7 >value.txt; echo "ASI hypothesis=seven" ;;
esac
END
git add -A && git commit -qm start
apsis baseline -q
apsis run --iterations 1 -q
is "learned" "$(field 1 learned)" "it was score = 7"
line "the hypothesis was shown" "$(cat runs/0001/prompt_reflection.md)" "Hypothesis: seven"
is "its files do not count" "$(git show refs/apsis/tiny/c0001:value.txt)" 7
line "the first prompt is still there" "$(cat runs/0001/prompt.md)" "value.txt"
end_item

apsis setup
is "setup takes the key" "$code" 0
finish
