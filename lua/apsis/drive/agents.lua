-- agents: where each coding agent looks in a project for a skill and for MCP servers, as data. A new agent is an entry
-- here. Called by setup.
local agents = {}

-- skill: its file; servers: the file with the MCP servers (nil: the agent has none), key: the member that has them,
-- entry(command): the server as that file has it; toml: it is TOML; note: what the user has to know.
agents.claude = { skill = ".claude/skills/apsis/SKILL.md", servers = ".mcp.json", key = "mcpServers",
  entry = function(command) return { type = "stdio", command = command, args = { "mcp" } } end,
  note = "claude asks once whether it may use the server" }

agents.codex = { skill = ".agents/skills/apsis/SKILL.md", servers = ".codex/config.toml", toml = true,
  note = "codex reads .codex/config.toml only in a folder that you told it to trust" }

agents.gemini = { skill = ".gemini/skills/apsis/SKILL.md", servers = ".gemini/settings.json", key = "mcpServers",
  entry = function(command) return { command = command, args = { "mcp" } } end,
  note = "gemini uses the server only in a folder that you told it to trust" }

agents.opencode = { skill = ".opencode/skills/apsis/SKILL.md", servers = "opencode.json", key = "mcp",
  entry = function(command) return { type = "local", command = { command, "mcp" }, enabled = true } end }

agents.pi = { skill = ".pi/skills/apsis/SKILL.md",
  note = "pi has no MCP client: the skill describes the commands, which it runs in a shell" }

agents.names = { "claude", "codex", "gemini", "opencode", "pi" }

-- The skill's text; mcp: whether the agent has the tools.
function agents.skill(mcp)
  local how = mcp and [[
The MCP server `apsis` has the tools; each result ends with what to do next. Without them, the commands in brackets do
the same in a shell.]] or [[
Run the commands in brackets in a shell; each prints what to do next.]]
  return ([[
---
name: apsis
description: Measured experiments with apsis. Use it to improve, optimise, speed up or shrink this project.
---

# apsis

apsis measures changes to this project and decides which are kept. You propose changes; you never decide, and you cannot
change how it measures.

%s

1. `status` (`apsis status`): the metric and its direction, the baseline, the best, what is left of the budget.
2. `next` (`apsis next`): a proposal of the strategy: a prompt and a checkout of the parent. Read the prompt.
3. Change files in that checkout, only those that the prompt says you may change. What the prompt wants said (a title,
   lines `ASI key=value`) goes with the submission.
4. `submit` with the checkout and a title (`apsis submit DIR --title TEXT`): it is measured, and kept or not. Give a
   hypothesis and what you learned, too (`--asi learned=TEXT`): later prompts show them.
5. If the result is not there yet: `wait` with the id (`apsis wait ID --timeout 45`).
6. Repeat from 2. When the loop is over, stop and report the best: a person begins another run.

An idea of your own needs no `next`: change the files of a git checkout and `submit` it. `log`, `show ID` and `diff ID`
(the same commands) show what was tried.

Do not edit manifest.yaml, program.md, logs/, runs/ or .apsis/, and do not look for the hidden files of the evaluation:
a submission that touches them is rejected, and a changed evaluator is detected.
]]):format((how:gsub("\n$", "")))
end

return agents
