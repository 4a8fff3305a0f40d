#!/bin/bash
# init --agent: the skill and the MCP server where each agent looks for them; nothing of the user's is lost.
. tests/cli/lib.sh
mkdir "$T/project" && cd "$T/project" || exit 1
PATH=$(dirname "$APSIS"):$PATH

item "each agent has its files"
for agent in claude codex gemini opencode pi; do
    apsis init --agent $agent
    is "exit of $agent" "$code" 0
done
is "files" "$(find . -type f | sort | tr '\n' ' ')" "./.agents/skills/apsis/SKILL.md ./.claude/skills/apsis/SKILL.md \
./.codex/config.toml ./.gemini/settings.json ./.gemini/skills/apsis/SKILL.md ./.mcp.json \
./.opencode/skills/apsis/SKILL.md ./.pi/skills/apsis/SKILL.md ./opencode.json "
out=$(cat .mcp.json)
is "claude" "$(json mcpServers.apsis.command) $(json mcpServers.apsis.args.1)" "apsis mcp"
out=$(cat opencode.json)
is "opencode" "$(json mcp.apsis.command.1) $(json mcp.apsis.command.2) $(json mcp.apsis.type)" "apsis mcp local"
is "codex" "$(cat .codex/config.toml)" $'[mcp_servers.apsis]\ncommand = "apsis"\nargs = ["mcp"]'
line "the skill's name" "$(cat .claude/skills/apsis/SKILL.md)" '^name: apsis$'
like "pi has the commands" "$(cat .pi/skills/apsis/SKILL.md)" "commands in brackets in a shell"
end_item

item "what would go into a manifest is refused beside it"
apsis init --agent claude --measure ./bench.sh --lower
is "exit" "$code" 2
like "the way" "$err" "--agent writes no manifest, so --measure has no use beside it: run .apsis init. twice"
end_item

item "it says what it wrote, and what to do next"
rm -r .claude .mcp.json
apsis init --agent claude
line "skill" "$out" '^wrote .claude/skills/apsis/SKILL.md'
line "server" "$out" '^wrote .mcp.json'
line "next" "$out" '^next: apsis init; commit what is new here; apsis baseline; start claude here'
apsis init --agent claude
line "again" "$out" '^left .mcp.json as it is'
end_item

item "what the user has stays, and the old file is kept"
echo '{"mcpServers": {"mine": {"command": "x"}}, "other": [1, 2]}' >.mcp.json
apsis init --agent claude
line "changed" "$out" '^changed .mcp.json .*; its old text is in .mcp.json~'
out=$(cat .mcp.json)
is "mine" "$(json mcpServers.mine.command) $(json other.2) $(json mcpServers.apsis.args.1)" "x 2 mcp"
like "old" "$(cat .mcp.json~)" '^\{"mcpServers": \{"mine"'
printf 'model = "m"\n' >.codex/config.toml
apsis init --agent codex
is "codex" "$(head -1 .codex/config.toml) $(tail -1 .codex/config.toml)" 'model = "m" args = ["mcp"]'
echo mine >.claude/skills/apsis/SKILL.md
apsis init --agent claude
is "a skill of the user's" "$(cat .claude/skills/apsis/SKILL.md)" mine
apsis init --agent claude --force
is "is kept with --force" "$(cat .claude/skills/apsis/SKILL.md~)" mine
end_item

item "a file that cannot be added to is left alone"
echo '{ // a comment' >.gemini/settings.json
rm -r .gemini/skills
apsis init --agent gemini
is "exit" "$code" 2
like "message" "$err" 'not plain JSON, so nothing was written; add to it by hand: \{"mcpServers": \{"apsis"'
ok "nothing" test ! -e .gemini/skills
apsis init --agent cursor
is "another agent" "$code" 2
end_item

item "these files are no part of a submission from the project's own folder"
PROVIDER='' new_project tiny
apsis baseline -q
apsis init --agent claude
echo 5 >value.txt
apsis submit
is "kept" "$code" 0
is "files" "$(git ls-tree --name-only apsis/tiny | tr '\n' ' ')" \
    ".gitignore evaluate.sh manifest.yaml propose.lua value.txt "
end_item

finish
