#!/bin/bash
# agent_failures: what a user reads when an agent gives no answer, and that a limit is waited for.
. tests/cli/lib.sh || exit 1
[ "${APSIS_CAGE-}" = none ] && [ "$(id -u)" = 0 ] && { echo "1..0 # skip claude is refused as root without a sandbox"; exit 0; }

mkdir -p "$T/agents" "$T/seen"
export PATH=$T/agents:$PATH
claude() { # stdin: the script of a stand-in
    { echo '#!/bin/bash'; cat; } >"$T/agents/claude"
    chmod +x "$T/agents/claude"
}
new_project tiny
apsis baseline
sed -i "s#^provider:.*#provider: {preset: claude, allow: ['$T/agents:ro'], retries: 0, timeout_sec: 20}#" manifest.yaml
git commit -qam provider

fails() { # WHAT REASON: one experiment fails with this reason, and the run exits 4
    apsis run --iterations 1
    is "$1: exit" "$code" 4
    like "$1: reason" "$(field $(($(lines) - 1)) rollback_reason)" "$2"
    like "$1: on the terminal" "$err" "$2"
}

item "not logged in, an unknown model and another error are told apart"
claude <<'END'
echo '{"type":"result","is_error":true,"subtype":"success","api_error_status":401,"result":"Failed to authenticate. API Error: 401 no","usage":{}}'
exit 1
END
fails "401" "claude is not logged in \(exit 1\): Failed to authenticate. API Error: 401 no; log in with it in a terminal, or export its key \(ANTHROPIC_API_KEY\)"
claude <<'END'
echo '{"type":"result","is_error":true,"subtype":"success","result":"There is an issue with the selected model (x)","usage":{}}'
exit 1
END
fails "model" "claude does not know the model \(exit 1\): There is an issue with the selected model \(x\); change .model. in the manifest"
claude <<'END'
echo '{"type":"result","is_error":true,"subtype":"success","result":"The model `gpt-5` does not exist or you do not have access to it.","usage":{}}'
END
fails "no access" "claude does not know the model: The model .gpt-5. does not exist or you do not have access to it; change .model."
claude <<'END'
echo '{"type":"result","is_error":true,"subtype":"success","api_error_status":500,"result":"API Error: 500 no","usage":{}}'
END
fails "exit 0 with an error" "the provider reported an error: API Error: 500 no"
claude <<'END'
echo '{"type":"result","is_error":true,"subtype":"success","usage":{},"result":"{\"error\":{\"status\":\"UNAUTHENTICATED\",\"message\":\"no such key\"}}"}'
END
fails "an error that is JSON" "claude is not logged in: no such key; log in with it"
end_item

item "who changed nothing because its own limits refused a tool says so"
claude <<'END'
echo '{"type":"result","is_error":false,"subtype":"success","result":"I could not.","usage":{},"permission_denials":[{"tool_name":"Bash"}]}'
END
apsis run --iterations 1
number=$(($(lines) - 1))
unlike "it is not told that nobody answered before" "$(cat "$(printf 'runs/%04d/prompt.md' $number)")" "logged in"
is "the line" "$(field $number outcome): $(field $number rollback_reason)" \
    "skipped_no_change: the provider changed nothing: claude was refused permission for Bash"
end_item

item "the last telling line of standard error, else of standard output, without control characters"
claude <<'END'
printf '\033[31mError: the \033[1mdisk\033[0m\a is full\033[0m\n    at write (node:fs:1:2)\n\nNode.js v20.1.0\n' >&2
exit 3
END
fails "standard error" "^(ERROR.*)?.*exit 3: Error: the disk is full$"
printf '#!/bin/sh\necho "no work today"; exit 7\n' >"$T/agents/own" && chmod +x "$T/agents/own"
sed -i "s/preset: claude/run: [own]/" manifest.yaml
fails "standard output" "the provider ended with exit 7: no work today"
sed -i "s/run: \[own\]/run: [true-or-not]/" manifest.yaml
fails "a missing program" "true-or-not"
sed -i "s/run: \[true-or-not\]/preset: claude/; s/timeout_sec: 20/timeout_sec: 1/" manifest.yaml
claude <<<'sleep 60'
fails "a hang" "over its limit of 1 s; it had printed nothing"
claude <<<'echo "Attempt 3 failed with status 429. Retrying" >&2; sleep 60'
fails "a hang after a limit" "over its limit of 1 s; it had printed Attempt 3 failed with status 429. Retrying"
claude <<'END'
printf '%s\n' 'Attempt 2 failed with status 429. Retrying... Error: {"error":{"code":429,"message":"too many"}}' >&2; sleep 60
END
fails "a hang after a limit that is JSON" "it had printed Attempt 2 failed with status 429. Retrying... Error: too many$"
claude <<<'echo "Working on it" >&2; sleep 60'
fails "a hang after other words" "over its limit of 1 s$"
sed -i "s/timeout_sec: 1/timeout_sec: 20/" manifest.yaml
end_item

item "a rate limit is waited for until it ends, and takes neither a retry nor an experiment"
claude <<END
echo x >>$T/seen/asked
if [ "\$(wc -l <$T/seen/asked)" -lt 3 ]; then
    echo '{"type":"result","is_error":true,"api_error_status":429,"result":"Rate limit reached, try again in 0.2 seconds","usage":{"output_tokens":5}}'
    exit 1
fi
echo "\$APSIS_EXPERIMENT" >value.txt
echo '{"type":"result","is_error":false,"result":"done","usage":{"output_tokens":5}}'
END
sed -i "s#'$T/agents:ro'#'$T/agents:ro', '$T/seen'#" manifest.yaml
git commit -qam more
apsis run --iterations 1
is "exit" "$code" 0
is "outcome" "$(field $(($(lines) - 1)) outcome)" kept
is "asked" "$(wc -l <"$T/seen/asked")" 3
is "all its tokens" "$(field $(($(lines) - 1)) tokens)" 15
like "the user knows" "$err" "claude is held back by a rate limit \(exit 1\): Rate limit reached, try again in 0.2 seconds; waiting until [0-9:]{5}"
end_item

item "a session limit that lasts longer than budget.minutes ends the run at once, without a line"
claude <<'END'
echo '{"type":"result","is_error":true,"result":"You have hit your limit, try again in 3 hours","usage":{}}'
exit 1
END
before=$(lines)
apsis run --minutes 1
is "exit" "$code" 4
like "why" "$err" "stopping: claude has reached a usage limit.*the next try at .* would be after the end of budget.minutes"
is "no line" "$(lines)" "$before"
end_item

finish
