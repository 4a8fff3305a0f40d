#!/bin/bash
# agent_doctor: doctor asks the coding agent once, in the sandbox, and shows what came of it.
. tests/cli/lib.sh || exit 1
[ "${APSIS_CAGE-}" = none ] && [ "$(id -u)" = 0 ] && { echo "1..0 # skip claude is refused as root without a sandbox"; exit 0; }

mkdir -p "$T/agents" "$T/seen"
export PATH=$T/agents:$PATH
claude() { # stdin: the script of a stand-in
    { printf '#!/bin/bash\n[ "$1" = --version ] && { echo "2.1.0 (Claude Code)"; exit; }\n'; cat; } >"$T/agents/claude"
    chmod +x "$T/agents/claude"
}
new_project tiny
sed -i "s#^provider:.*#provider: {preset: claude, allow: ['$T/agents:ro', '$T/seen']}#" manifest.yaml
git commit -qam provider

item "an agent that answers: version, time, model, tokens, dollars"
claude <<END
cat >$T/seen/prompt; echo "\$@" >$T/seen/line; echo x >>$T/seen/asked; ls -A >$T/seen/files
echo '{"type":"result","is_error":false,"result":"OK","total_cost_usd":0.002,"usage":{"input_tokens":90,"output_tokens":5},"modelUsage":{"opus-1":{}}}'
END
git status --porcelain >"$T/before"
apsis doctor
is "exit" "$code" 0
line "the line" "$out" '^ok +agent: claude \(2.1.0 \(Claude Code\)\) is logged in and answered in [0-9.]+ s: OK \(model opus-1, 95 tokens, 0.002 USD\)$'
like "the prompt" "$(cat "$T/seen/prompt")" "Answer with the word OK"
like "as in an experiment" "$(cat "$T/seen/line")" "^-p .*--output-format json"
is "in an empty folder" "$(cat "$T/seen/files")" ""
is "nothing is left in the project" "$(git status --porcelain --ignored)" "$(cat "$T/before")"
apsis doctor --no-agent
no_line "not asked" "$out" "agent:"
is "asked once" "$(wc -l <"$T/seen/asked")" 1
end_item

item "one that is not logged in, and one that is not there"
claude <<'END'
echo '{"type":"result","is_error":true,"api_error_status":401,"result":"Invalid API key","usage":{}}'
exit 1
END
apsis doctor
is "exit" "$code" 4
line "why" "$out" "^warn +agent: claude .* gave no answer in [0-9.]+ s: claude is not logged in \(exit 1\): Invalid API key; log in with it"
rm "$T/agents/claude"
apsis doctor --json
like "missing" "$out" '"check":"agent"[^}]*(could not be started|is not found)'
end_item

finish
