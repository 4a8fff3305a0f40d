#!/bin/bash
# drive: real coding agents in the driver's seat, each from `apsis init --agent` to a kept improvement by its MCP tools.
# The stand-in for the model does what the results say is next and knows nothing else.
. tests/agents/lib.sh
PATH=$(dirname "$APSIS"):$PATH
PROVIDER='' # nobody but who drives
TASK="Improve the metric of this project with apsis."

# drives AGENT COMMAND...: the agent in a new project.
drives() {
    local agent=$1
    shift
    item "$agent reaches a kept improvement in at most 12 calls of its tools"
    cd "$T" && new_project "$agent"
    echo 10 >value.txt
    commit ten
    apsis baseline -q
    apsis init --agent "$agent"
    like "what it wrote" "$out" "wrote .*SKILL.md.*wrote "
    rm -f "$T/requests"
    echo drive >"$T/word"
    configure "$agent"
    capture timeout 400 "$@"
    calls=$(grep -o '"results": [0-9]*' "$T/requests" | tail -1 | tr -dc 0-9)
    is "exit" "$code" 0
    is "line" "$(field 1 outcome) $(field 1 operator) $(field 1 primary_metric)" "kept exploitation 25"
    is "lines" "$(lines)" 2
    like "calls" "$calls" '^([1-9]|1[0-2])$'
    is "no process is left" "$(left)" ""
    end_item
}

# configure AGENT: what a user of it has, in a project that it trusts.
configure() {
    case $1 in
    claude)
        export ANTHROPIC_BASE_URL=$URL ANTHROPIC_API_KEY=$MARK CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 IS_SANDBOX=1
        ;;
    codex)
        export OPENAI_API_KEY=$MARK
        mkdir -p "$HOME/.codex"
        cat >"$HOME/.codex/config.toml" <<END
model_provider = "local"
[model_providers.local]
name = "local"
base_url = "$URL/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
[projects."$PWD"]
trust_level = "trusted"
END
        ;;
    gemini)
        export GEMINI_API_KEY=$MARK GOOGLE_GEMINI_BASE_URL=$URL
        mkdir -p "$HOME/.gemini"
        echo '{"security": {"auth": {"selectedType": "gemini-api-key"}}}' >"$HOME/.gemini/settings.json"
        echo "{\"$PWD\": \"TRUST_FOLDER\"}" >"$HOME/.gemini/trustedFolders.json"
        ;;
    opencode)
        export OPENCODE_TEST_KEY=$MARK
        mkdir -p "$XDG_CONFIG_HOME/opencode"
        cat >"$XDG_CONFIG_HOME/opencode/opencode.json" <<END
{"provider": {"local": {"npm": "@ai-sdk/openai-compatible", "name": "local",
  "options": {"baseURL": "$URL/v1", "apiKey": "{env:OPENCODE_TEST_KEY}"}, "models": {"mock-1": {"name": "mock-1"}}}}}
END
        ;;
    esac
}

drives claude claude -p "$TASK" --dangerously-skip-permissions
drives codex codex exec --model mock-1 --dangerously-bypass-approvals-and-sandbox "$TASK"
drives gemini gemini --approval-mode yolo --model gemini-2.5-flash -p "$TASK"
drives opencode opencode run --model local/mock-1 "$TASK"
finish
