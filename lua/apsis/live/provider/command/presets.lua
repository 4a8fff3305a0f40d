-- presets: how each known agent runs without questions, and which of the manifest's keys it can honour. Data only;
-- provider/command.lua makes command lines of it, command/agent.lua the surroundings.
--
-- run: the first words. caged: what follows in apsis's sandbox, where the agent's own questions and sandboxes only
-- stand in the way; bare: what follows without it, where the agent keeps its own limits; plan, plan_bare: the same
-- where it is to write a plan only (default: caged, bare). last: the word that stays last. options: its option for a
-- key of the manifest; a key without one is refused. prompt: how it takes the prompt. key: the usual variable of its
-- key. pass_env, env: what it gets of the user's variables, and in addition; root_env: as root in the sandbox.
-- own_plans: lines of a plan with this text name files of the agent's own, which are not in the workspace. home: its
-- settings' folders, which home.lua replaces: the variable that names one, where it is otherwise (from), below the
-- variable's folder; files: those that enter, whole or only the members named; beside: where a file lies if not
-- there; login: the file whose refreshed tokens return.
local presets = {}

presets.claude = {
  run = { "claude", "-p", "--no-session-persistence" },
  caged = { "--dangerously-skip-permissions" }, bare = { "--permission-mode", "acceptEdits" },
  plan = { "--permission-mode", "default" }, plan_bare = { "--permission-mode", "default" },
  own_plans = ".claude/plans/",
  options = { model = "--model", max_turns = "--max-turns", usd_per_answer = "--max-budget-usd" },
  prompt = "stdin", key = "ANTHROPIC_API_KEY", pass_env = { "ANTHROPIC_*", "CLAUDE_*" },
  env = { CLAUDE_CODE_MAX_RETRIES = "2", CLAUDE_CODE_DISABLE_AUTO_MEMORY = "1" }, -- 10 retries take three minutes
  root_env = { IS_SANDBOX = "1" }, -- without it claude refuses to run without questions as root
  not_as_root = "claude as root without a sandbox could change the whole machine, and is not started; remove "
    .. "`sandbox: off` from the manifest, or run apsis as an ordinary user (`apsis doctor` shows which sandbox works)",
  home = { { variable = "CLAUDE_CONFIG_DIR", from = "~/.claude", login = ".credentials.json",
    beside = { [".claude.json"] = "~/.claude.json" },
    files = { [".credentials.json"] = true,
      ["settings.json"] = { "env", "apiKeyHelper", "awsAuthRefresh", "awsCredentialExport", "model" },
      [".claude.json"] = { "oauthAccount", "userID", "hasCompletedOnboarding", "customApiKeyResponses",
        "primaryApiKey" } } } },
}

-- Its sandbox is bubblewrap, which cannot start in another sandbox.
presets.codex = {
  run = { "codex", "exec", "--ephemeral", "--skip-git-repo-check" },
  caged = { "--sandbox", "danger-full-access" }, bare = { "--sandbox", "workspace-write" },
  plan_bare = { "--sandbox", "read-only" }, last = "-",
  options = { model = "--model" },
  prompt = "stdin", key = "OPENAI_API_KEY", pass_env = { "OPENAI_*", "CODEX_*" },
  home = { { variable = "CODEX_HOME", from = "~/.codex", login = "auth.json",
    files = { ["auth.json"] = true, ["config.toml"] = true } } },
}

presets.gemini = {
  run = { "gemini", "--skip-trust" }, -- a workspace is always a new folder
  caged = { "--approval-mode", "yolo" }, bare = { "--approval-mode", "auto_edit" },
  options = { model = "--model" },
  prompt = "stdin", key = "GEMINI_API_KEY", pass_env = { "GEMINI_*", "GOOGLE_*" },
  home = { { variable = "GEMINI_CLI_HOME", from = "~/.gemini", below = "/.gemini", login = "oauth_creds.json",
    files = { ["oauth_creds.json"] = true, ["google_accounts.json"] = true, [".env"] = true,
      ["settings.json"] = { "security", "selectedAuthType", "model", "privacy" } } } },
}

presets.opencode = {
  run = { "opencode", "run" }, caged = { "--auto" }, bare = {},
  options = { model = "--model" },
  prompt = "argument", pass_env = { "OPENCODE_*", "ANTHROPIC_*", "OPENAI_*", "GEMINI_*", "OPENROUTER_*" },
  home = {
    { variable = "XDG_CONFIG_HOME", from = "~/.config/opencode", below = "/opencode",
      files = { ["opencode.json"] = true, ["opencode.jsonc"] = true, ["config.json"] = true } },
    { variable = "XDG_DATA_HOME", from = "~/.local/share/opencode", below = "/opencode", login = "auth.json",
      files = { ["auth.json"] = true } },
    { variable = "XDG_STATE_HOME", from = "~/.local/state/opencode", below = "/opencode", files = {} },
    { variable = "XDG_CACHE_HOME", from = "~/.cache/opencode", below = "/opencode",
      files = { ["models.json"] = true } },
    { variable = "npm_config_cache", from = "~/.npm", files = {} }, -- it installs parts of itself in its folders
  },
}

presets.pi = {
  run = { "pi", "-p", "--no-session" }, caged = {}, bare = {},
  options = { model = "--model" },
  prompt = "stdin", -- an argument that begins with @ would be a file
  pass_env = { "PI_*", "ANTHROPIC_*", "OPENAI_*", "GEMINI_*", "OPENROUTER_*" },
  home = { { variable = "PI_CODING_AGENT_DIR", from = "~/.pi/agent", login = "auth.json",
    files = { ["auth.json"] = true, ["models.json"] = true,
      ["settings.json"] = { "defaultProvider", "defaultModel", "defaultThinkingLevel", "retry",
        "enableInstallTelemetry", "quietStartup" } } } },
}

return presets
