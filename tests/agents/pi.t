#!/bin/bash
# pi, a real coding agent, as a command provider: the preset as users have it, its models.json pointing at the scripted chat
# server on loopback. It edits value.txt with its own tools through a kept and a rejected experiment, then fails and hangs.
# Run by `make test-agents`, which installs it in $AGENTS; it asks nothing of any network.
. tests/cli/lib.sh
. tests/cli/server.sh

[ -x "${AGENTS-}/node_modules/.bin/pi" ] || { echo "Bail out! no pi in AGENTS: run make test-agents"; exit 1; }
PATH=$AGENTS/node_modules/.bin:$PATH
export PI_OFFLINE=1 PI_TELEMETRY=0 PI_SKIP_VERSION_CHECK=1
export AGENT_KEY=key-of-the-test-$$ # what the agent is known by, also to `left`
LIMIT=240

# configure: a user's pi, which has one model: the server's.
configure() {
    mkdir -p "$HOME/.pi/agent"
    cat >"$HOME/.pi/agent/models.json" <<JSON
{"providers": {"scripted": {"baseUrl": "$URL", "api": "openai-completions", "apiKey": "AGENT_KEY",
  "models": [{"id": "scripted-1", "contextWindow": 128000, "maxTokens": 4096}]}}}
JSON
    cat >"$HOME/.pi/agent/settings.json" <<'JSON'
{"defaultProvider": "scripted", "defaultModel": "scripted-1", "quietStartup": true, "enableInstallTelemetry": false,
 "retry": {"enabled": false, "provider": {"maxRetries": 0}}}
JSON
}

left() { # processes that have the key in their environment, or work in a workspace
    local entry pid
    for entry in /proc/[0-9]*; do
        pid=${entry#/proc/}
        [[ $pid = "$$" || $pid = "$BASHPID" || $pid = "$SERVER_PID" ]] && continue
        if [[ $(readlink "$entry/cwd" 2>/dev/null) = "$XDG_CACHE_HOME"/* ]] ||
            tr '\0' '\n' <"$entry/environ" | grep -qx "AGENT_KEY=$AGENT_KEY"; then
            echo "$pid $(tr '\0' ' ' <"$entry/cmdline")"
        fi
    done 2>/dev/null
}

untouched() { # the user's tree, after what went on
    is "the user's branch" "$(git symbolic-ref --short HEAD) $(git rev-parse HEAD)" "main $start"
    is "the user's tree" "$(git status --porcelain)" ""
    is "the user's file" "$(cat value.txt)" 10
    is "no process of the agent" "$(left)" ""
    ok "git fsck" git fsck --strict
}

project() { # NAME
    PROVIDER="provider: {kind: command, preset: pi, steps: [implement], pass_env: [AGENT_KEY], timeout_sec: ${AGENT_SEC:-120},
  retries: 0}"
    new_project "$1"
    echo 10 >value.txt
    git commit -qam ten
    start=$(git rev-parse HEAD)
}

start_server - <<'SCRIPT'
{"tool_calls": [{"name": "read", "arguments": {"path": "value.txt"}}]}
{"tool_calls": [{"name": "edit", "arguments": {"path": "value.txt", "edits": [{"oldText": "10", "newText": "25"}]}}]}
{"content": "I raised the value.\nASI hypothesis=a greater value scores more\nASI learned=25 is better than 10"}
{"tool_calls": [{"name": "write", "arguments": {"path": "value.txt", "content": "7\n"}}]}
{"content": "I wrote a smaller one.\nASI learned=7 is worse"}
{"status": 401}
SCRIPT
configure

project agent
apsis baseline
is "the baseline is measured" "$code $(field 0 outcome)" "0 baseline"
apsis run --iterations 3
is "the run ends well" "$code" 0

item "what the agent edited is kept where the metric improves"
is "outcome" "$(field 1 outcome)" kept
is "metric" "$(field 1 primary_metric)" 25
is "the commit" "$(git show refs/apsis/tiny/c0001:value.txt)" 25
is "its change alone" "$(git diff --name-status refs/apsis/tiny/c0000 refs/apsis/tiny/c0001)" "M	value.txt"
is "what it learned" "$(field 1 learned)" "25 is better than 10"
like "what it said" "$(cat runs/0001/provider_output.md)" "I raised the value"
end_item

item "and rejected where it does not, for the next experiment has the kept parent"
is "outcome" "$(field 2 outcome)" reverted_worse_metric
is "metric" "$(field 2 primary_metric)" 7
is "the branch" "$(git show apsis/tiny:value.txt)" 25
end_item

item "an agent whose model refuses costs one experiment"
is "outcome" "$(field 3 outcome)" skipped_provider_failure
like "reason" "$(field 3 rollback_reason)" "exit 1: .*401"
end_item

item "the prompt reached the model, once, with the parent's tree"
is "requests" "$(requests)" 6
is "the model" "$(request 1 body.model)" scripted-1
like "what to do" "$(request 1 body.messages.1)" "value.txt"
is "as it was written down" "$(request 1 body.messages.1.content.0.text)" "$(cat runs/0001/prompt.md)"
like "what the tool read" "$(request 2 body.messages.-1)" "10"
like "the second experiment's prompt knows of the first" "$(request 4 body.messages)" "25 is better than 10"
end_item

item "the key reached the server and no file"
is "the key" "$(request 1 headers.authorization)" "sha256:$(printf 'Bearer %s' "$AGENT_KEY" | sha256sum | head -c 16)"
is "no file has it" "$(grep -rlF "$AGENT_KEY" "$T" --exclude='.out' --exclude='.err')" ""
end_item

item "nothing is left of it"
untouched
ok "no session in the user's home" test ! -e "$HOME/.pi/agent/sessions"
end_item

item "and what were left would be found"
(cd "$XDG_CACHE_HOME" && mkdir -p workspace && cd workspace && exec env -u AGENT_KEY sleep 300) &
first=$!
sleep 300 &
second=$!
for pid in $first $second; do
    until [ "$(cat "/proc/$pid/comm")" = sleep ]; do sleep 0.05; done
    like "process $pid" "$(left)" "$pid sleep 300"
    kill "$pid"
    wait "$pid" 2>/dev/null
done
is "then nothing" "$(left)" ""
end_item

item "an agent that hangs is ended at its limit, with all it started"
start_server - <<'SCRIPT'
{"tool_calls": [{"name": "bash", "arguments": {"command": "sleep 3600 & sleep 3600"}}]}
{"content": "late", "stall_s": 3600}
SCRIPT
configure
AGENT_SEC=12 project hangs
apsis baseline
apsis run --iterations 1
is "the run ends well" "$code" 0
is "outcome" "$(field 1 outcome)" skipped_provider_failure
like "reason" "$(field 1 rollback_reason)" "over its limit of 12 s"
is "it had asked" "$(requests)" 1
untouched
end_item

finish
