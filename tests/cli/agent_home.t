#!/bin/bash
# agent_home: what an agent gets of the user's settings, and what of its own comes back: refreshed tokens, and nothing
# that it would run or read at its next start outside the sandbox.
. tests/cli/lib.sh || exit 1
[ "${APSIS_CAGE-}" = none ] && { echo "1..0 # skip without a sandbox the home is open to an agent"; exit 0; }
rm "$XDG_CONFIG_HOME/apsis/config.yaml" # the home is not open to commands here
unset CLAUDE_CONFIG_DIR CODEX_HOME GEMINI_CLI_HOME PI_CODING_AGENT_DIR XDG_DATA_HOME XDG_STATE_HOME

mkdir -p "$T/agents" "$HOME/.claude/projects" "$HOME/.codex" "$HOME/.gemini" "$HOME/.pi/agent" "$HOME/.local/share/opencode" "$XDG_CONFIG_HOME/opencode"
export PATH=$T/agents:$PATH
cat >"$HOME/.claude/.credentials.json" <<'END'
{"claudeAiOauth": {"accessToken": "old-access", "refreshToken": "old-refresh", "expiresAt": 1, "scopes": ["a"]}}
END
echo '{"model": "opus", "apiKeyHelper": "/bin/mine", "hooks": {"Stop": []}, "enabledPlugins": {}}' >"$HOME/.claude/settings.json"
echo '{"oauthAccount": {"id": 1}, "projects": {"/secret/project": {}}, "mcpServers": {"x": {}}}' >"$HOME/.claude.json"
echo "remember my secret project" >"$HOME/.claude/CLAUDE.md"
echo "a transcript" >"$HOME/.claude/projects/one.jsonl"
echo '{"openai": {"type": "api_key", "key": "sk-mine"}, "oauth": {"type": "oauth", "access": "a", "refresh": "r", "expires": 5}}' >"$HOME/.pi/agent/auth.json"
echo '{"tokens": {"access_token": "a", "account_id": "me"}, "last_refresh": "2026-01-01T00:00:00Z"}' >"$HOME/.codex/auth.json"
echo '{"anthropic": {"type": "oauth", "access": "a", "refresh": "r", "expires": 5}}' >"$HOME/.local/share/opencode/auth.json"
echo '{"access_token": "a", "expiry_date": 5}' >"$HOME/.gemini/oauth_creds.json"
chmod 600 "$HOME/.claude/.credentials.json"

new_project work
apsis baseline

# does NAME: an experiment with this agent, whose script is standard input.
does() {
    { echo '#!/bin/bash'; cat; echo 'echo "$APSIS_EXPERIMENT" >value.txt; echo done'; } >"$T/agents/$1"
    chmod +x "$T/agents/$1"
    sed -i "s#^provider:.*#provider: {preset: $1, allow: ['$T/agents:ro'${ALLOW-}], retries: 0${KEYS-}}#" manifest.yaml
    git commit -qam "$1" >/dev/null
    apsis run --iterations 1
    is "$1: outcome" "$(field $(($(lines) - 1)) outcome)" kept
    ran=runs/$(printf %04d $(($(lines) - 1)))
}
state() { (cd "$HOME" && find . -type f ! -path './.gitconfig' -exec sha256sum {} + | sort -k2); }

item "only what a login needs enters"
state >"$T/before"
does claude <<'END'
cp -r "$CLAUDE_CONFIG_DIR" "$APSIS_RUN_DIR/seen"; ls -A ~/.claude ~/.claude.json >"$APSIS_RUN_DIR/real" 2>&1
stat -c %a "$CLAUDE_CONFIG_DIR/.credentials.json" "$(dirname "$CLAUDE_CONFIG_DIR")" >"$APSIS_RUN_DIR/modes"
END
seen=$ran/provider
is "files" "$(cd "$seen/seen" && find . -type f | sort | tr '\n' ' ')" "./.claude.json ./.credentials.json ./settings.json "
is "of the settings" "$(cat "$seen/seen/settings.json")" '{"apiKeyHelper":"/bin/mine","model":"opus"}'
is "of .claude.json" "$(cat "$seen/seen/.claude.json")" '{"oauthAccount":{"id":1}}'
is "private" "$(tr '\n' ' ' <"$seen/modes")" "600 700 "
unlike "the user's own" "$(cat "$seen/real")" "settings.json"
is "the home is as before" "$(state)" "$(cat "$T/before")"
end_item

item "an agent that plants hooks, plugins, memory and servers for its next start leaves none"
does claude <<'END'
hook='{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "touch /tmp/owned"}]}]}}'
for folder in "$CLAUDE_CONFIG_DIR" ~/.claude ~; do
    mkdir -p "$folder/plugins" "$folder/projects" 2>/dev/null
    for file in settings.json settings.local.json .claude.json CLAUDE.md plugins/p.json projects/t.jsonl .bashrc .profile; do
        echo "$hook" >"$folder/$file" 2>/dev/null
    done
done
true
END
is "the home is as before" "$(state)" "$(cat "$T/before")"
is "nothing of its home is kept" "$(find . "$XDG_CACHE_HOME" ! -path '*/seen/*' \( -name settings.local.json -o -name .credentials.json \))" ""
end_item

item "refreshed tokens return, as the user had the file"
does claude <<'END'
cat >"$CLAUDE_CONFIG_DIR/.credentials.json" <<X
{"claudeAiOauth": {"accessToken": "new-access", "refreshToken": "new-refresh", "expiresAt": 99, "scopes": ["evil"], "extra": 1}, "hooks": {}}
X
END
is "what came back" "$(tr -d ' \n' <"$HOME/.claude/.credentials.json")" \
    '{"claudeAiOauth":{"accessToken":"new-access","expiresAt":99,"refreshToken":"new-refresh","scopes":["a"]}}'
is "its mode" "$(stat -c %a "$HOME/.claude/.credentials.json")" 600
for agent in codex gemini opencode pi; do
    case $agent in
    codex) file=.codex/auth.json own='$CODEX_HOME/auth.json' new='{"tokens":{"access_token":"b","account_id":"other"},"last_refresh":"2026-02-02T00:00:00Z"}' \
        want='{"last_refresh":"2026-02-02T00:00:00Z","tokens":{"access_token":"b","account_id":"me"}}' ;;
    gemini) file=.gemini/oauth_creds.json own='$GEMINI_CLI_HOME/.gemini/oauth_creds.json' new='{"access_token":"b","expiry_date":6}' \
        want='{"access_token":"b","expiry_date":6}' ;;
    opencode) file=.local/share/opencode/auth.json own='$XDG_DATA_HOME/opencode/auth.json' \
        new='{"anthropic":{"type":"oauth","access":"b","refresh":"r2","expires":6},"new":{"type":"wellknown","key":"x"}}' \
        want='{"anthropic":{"access":"b","expires":6,"refresh":"r2","type":"oauth"}}' ;;
    pi) file=.pi/agent/auth.json own='$PI_CODING_AGENT_DIR/auth.json' \
        new='{"openai":{"type":"api_key","key":"!touch /tmp/owned"},"oauth":{"type":"oauth","access":"!touch /tmp/owned","refresh":"r2","expires":6}}' \
        want='{"oauth":{"access":"a","expires":6,"refresh":"r2","type":"oauth"},"openai":{"key":"sk-mine","type":"api_key"}}' ;;
    esac
    does "$agent" <<<"echo '$new' >\"$own\""
    is "$agent" "$(tr -d ' \n' <"$HOME/$file")" "$(tr -d ' ' <<<"$want")"
done
end_item

item "a login file that is a link, a folder, rubbish or too large brings nothing back; nor does one that the user changed meanwhile"
state >"$T/before"
echo '{"claudeAiOauth": {"accessToken": "of-another-file"}}' >"$T/agents/other.json"
mkdir "$T/agents/folder" && cp "$T/agents/other.json" "$T/agents/folder/.credentials.json"
for script in 'rm "$f"; ln -s '"$T"'/agents/other.json "$f"' 'rm "$f"; mkdir "$f"' 'echo nonsense >"$f"' 'truncate -s 2M "$f"' \
    'rm -r "$CLAUDE_CONFIG_DIR"; ln -s '"$T"'/agents/folder "$CLAUDE_CONFIG_DIR"' \
    'rm "$f"; mkfifo "$f"' 'echo "{\"claudeAiOauth\":{\"accessToken\":5,\"expiresAt\":\"x\"}}" >"$f"'; do
    does claude <<<'f=$CLAUDE_CONFIG_DIR/.credentials.json; '"$script"
    is "$script" "$(state)" "$(cat "$T/before")"
done
ALLOW=", '$HOME/.claude'" does claude <<'END'
echo '{"claudeAiOauth": {"accessToken": "of-the-user"}}' >"$HOME/.claude/.credentials.json"
echo '{"claudeAiOauth": {"accessToken": "late"}}' >"$CLAUDE_CONFIG_DIR/.credentials.json"
END
is "changed meanwhile" "$(cat "$HOME/.claude/.credentials.json")" '{"claudeAiOauth": {"accessToken": "of-the-user"}}'
KEYS=", env: {CLAUDE_CONFIG_DIR: '$T/agents'}" does claude <<<'echo "$CLAUDE_CONFIG_DIR" >"$APSIS_RUN_DIR/seen"'
is "a folder that the user's env chooses stays his" "$(cat "$ran/provider/seen")" "$T/agents"
end_item

item "the tokens are in no file of the project"
is "found" "$(grep -rlE 'new-access|new-refresh|sk-mine' . "$XDG_CACHE_HOME" | grep -v /provider/seen/)" ""
end_item

finish
