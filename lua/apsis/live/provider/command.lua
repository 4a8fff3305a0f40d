-- provider/command: any command that works in a checkout: a coding agent, a script. Its changes there are its answer.
-- command/agent.lua runs it.
local nodes = require "apsis.project.node"

local node = nodes.node

local command = { place = 20, doc = "a command (a coding agent)", wants_prompt = true, shown_by = { "run", "preset" },
  takes = { "model", "timeout_sec", "output_limit_mb", "cpu_sec", "memory_mb", "retries", "env", "allow", "network",
    "pass_env" } }

command.keys = {
  { "run", node("command_line", "command: the agent to run") },
  { "preset", node("enum", "command: a known agent, instead of run", {
    allowed = { "claude", "codex", "gemini", "opencode", "pi" },
  }) },
  { "prompt", node("enum",
    "command: how it gets the prompt; where an argument would be longer than 120,000 bytes it is the "
    .. "sentence 'Read the file PATH and do what it says.' (default stdin, or the preset's own)", {
    allowed = { "stdin", "file", "argument" },
  }) },
  { "steps", node("list", "command: ask for a plan first, or not", {
    items = "plan, implement", item = node("enum", "a step", { allowed = { "plan", "implement" } }), fill = true,
  }) },
}

-- How each agent runs without questions, and how it takes the prompt. plan: how it runs if it is to write a plan only;
-- own_plans: lines of a plan with this text name files of the agent's own, which are not in the workspace.
local presets = {
  claude = { run = { "claude", "-p", "--permission-mode", "acceptEdits" }, prompt = "stdin",
    plan = { "claude", "-p", "--permission-mode", "default" }, own_plans = ".claude/plans/",
    allow = { "~/.claude", "~/.claude.json" },
    pass_env = { "ANTHROPIC_*", "CLAUDE_*" } },
  codex = { run = { "codex", "exec", "--sandbox", "workspace-write", "--skip-git-repo-check", "-" }, prompt = "stdin",
    plan = { "codex", "exec", "--sandbox", "read-only", "--skip-git-repo-check", "-" },
    allow = { "~/.codex" }, pass_env = { "OPENAI_*", "CODEX_*" } },
  gemini = { run = { "gemini", "--approval-mode", "auto_edit" }, prompt = "stdin", allow = { "~/.gemini" },
    pass_env = { "GEMINI_*", "GOOGLE_*" } },
  opencode = { run = { "opencode", "run" }, prompt = "argument", allow = { "~/.config/opencode",
    "~/.local/share/opencode",
    "~/.local/state/opencode", "~/.cache/opencode" }, pass_env = { "OPENCODE_*", "ANTHROPIC_*", "OPENAI_*", "GEMINI_*",
    "OPENROUTER_*" } },
  pi = { run = { "pi", "-p", "--no-session" }, prompt = "stdin", -- an argument that begins with @ would be a file
    allow = { "~/.pi" }, pass_env = { "PI_*", "ANTHROPIC_*", "OPENAI_*", "GEMINI_*", "OPENROUTER_*" } },
}

function command.check(draft, value)
  if value.run and value.preset then
    draft.say("provider.preset", "stands beside provider.run; keep one of the two")
  elseif not value.run and not value.preset and not draft.stands("provider.run")
    and not draft.stands("provider.preset") then
    draft.say("provider.run",
      "is required if kind is command: the agent's command line; or preset: claude, codex, gemini, "
      .. "opencode or pi")
  end
  local steps = value.steps
  if not steps or draft.refused("provider.steps") then return end
  if #steps == 0 then steps[1] = "implement" end
  local joined = table.concat(steps, ", ")
  if joined ~= "implement" and joined ~= "plan, implement" then
    draft.say("provider.steps", ("must be [implement] or [plan, implement]; got [%s]"):format(joined))
  end
end

-- The command line that it runs, or runs for the plan step. Each preset takes the model's name by --model; a last "-"
-- (standard input) stays last.
function command.command(spec, plan)
  local preset = presets[spec.preset]
  if spec.run or not preset then return spec.run end
  local words = plan and preset.plan or preset.run
  local run = table.move(words, 1, #words, 1, {})
  if spec.model then
    local at = run[#run] == "-" and #run or #run + 1
    table.insert(run, at, "--model")
    table.insert(run, at + 1, spec.model)
  end
  return run
end

function command.open(world, spec)
  local run = command.command(spec)
  if not run then return nil, "provider: a command provider needs `run` or `preset`" end
  return require("apsis.live.provider.command.agent").open(world, spec, { plan = command.command(spec, true),
    implement = run }, presets[spec.preset or ""] or {})
end

return command
