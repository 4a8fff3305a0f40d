-- provider/command: any command that works in a checkout: a coding agent, a script. Its changes there are its answer.
-- command/agent.lua runs it.
local nodes = require "apsis.project.node"
local presets = require "apsis.live.provider.command.presets"
local process = require "apsis.process"
local quoted = require("apsis.project.path").quoted
local regex = require "apsis.regex"
local usage = require "apsis.live.provider.command.usage"

local node = nodes.node

local command = { place = 20, doc = "a command (a coding agent)", wants_prompt = true, shown_by = { "run", "preset" },
  takes = { "model", "timeout_sec", "output_limit_mb", "cpu_sec", "memory_mb", "retries", "env", "allow", "network",
    "pass_env" } }

command.keys = {
  { "run", node("command_line", "command: the agent to run") },
  { "preset", node("enum", "command: a known agent, instead of run", {
    allowed = { "claude", "codex", "gemini", "opencode", "pi" },
  }) },
  { "args", node("list", "command: more arguments, after run's or the preset's own",
    { items = "arguments", item = node("text", "an argument") }) },
  { "usage", nodes.map("command: how its output reports what an answer took; a preset knows its agent's", {
    { "format", node("enum", "its output is this agent's JSON", { allowed = usage.names }) },
    { "tokens", node("string", "a JSON pointer (/usage/total) or a pattern whose group 1 is the number of tokens") },
    { "usd", node("string", "a JSON pointer or a pattern for the cost in US dollars") },
  }, { short = "format" }) },
  { "price", nodes.map("command: US dollars per million tokens, for an agent that reports tokens only", {
    { "input", node("number", "of the prompt", { min = 0, required = true }) },
    { "cached", node("number", "of the prompt's part that was cached (default: input)", { min = 0 }) },
    { "output", node("number", "of the answer", { min = 0, required = true }) },
  }) },
  { "max_turns", node("integer", "command: how many turns an answer may take; in APSIS_MAX_TURNS, and passed to an "
    .. "agent that has such an option (claude)", { min = 1 }) },
  { "usd_per_answer", node("number", "command: US dollars that an answer may cost; in APSIS_USD_PER_ANSWER, and "
    .. "passed to an agent that has such an option (claude)", { above = 0 }) },
  { "prompt", node("enum",
    "command: how it gets the prompt; where an argument would be longer than 120,000 bytes it is the "
    .. "sentence 'Read the file PATH and do what it says.' (default stdin, or the preset's own)", {
    allowed = { "stdin", "file", "argument" },
  }) },
  { "steps", node("list", "command: ask for a plan first, or not", {
    items = "plan, implement", item = node("enum", "a step", { allowed = { "plan", "implement" } }), fill = true,
  }) },
}

-- Keys that reach an agent by an option of its own, as presets.lua names them.
local by_option = { "model", "max_turns", "usd_per_answer" }

local function check_preset(draft, value)
  local preset = presets[value.preset]
  for _, key in ipairs(preset and by_option or {}) do
    if value[key] ~= nil and not preset.options[key] then
      draft.say("provider." .. key, ("cannot be honoured: %s has no option for it; remove the key"):format(
        value.preset))
    end
  end
end

-- Patterns must compile, and a price needs tokens.
local function check_usage(draft, value)
  local own = value.usage or {}
  for _, key in ipairs { "tokens", "usd" } do
    local pattern = own[key]
    local _, message = nil, nil
    if pattern and pattern:sub(1, 1) ~= "/" then _, message = regex.compile(pattern, "m") end
    if message then draft.say("provider.usage." .. key, message) end
  end
  if value.price and not usage.reports(value).tokens and not draft.refused("provider.usage") then
    draft.say("provider.price", "needs tokens to count: say how the command reports them, as "
      .. "usage: {tokens: 'tokens used: (\\d+)'}")
  end
end

function command.check(draft, value)
  if value.run and value.preset then
    draft.say("provider.preset", "stands beside provider.run; keep one of the two")
  elseif not value.run and not value.preset and not draft.stands("provider.run")
    and not draft.stands("provider.preset") then
    draft.say("provider.run",
      "is required if kind is command: the agent's command line; or preset: claude, codex, gemini, "
      .. "opencode or pi")
  end
  check_preset(draft, value)
  check_usage(draft, value)
  local steps = value.steps
  if not steps or draft.refused("provider.steps") then return end
  if #steps == 0 then steps[1] = "implement" end
  local joined = table.concat(steps, ", ")
  if joined ~= "implement" and joined ~= "plan, implement" then
    draft.say("provider.steps", ("must be [implement] or [plan, implement]; got [%s]"):format(joined))
  end
end

local function add(words, more)
  return table.move(more or {}, 1, #(more or {}), #words + 1, words)
end

-- The user's own command with its `args`.
local function own_command(spec)
  local args = spec.args or {}
  if #args == 0 then return spec.run end
  if type(spec.run) == "table" then return add(add({}, spec.run), args) end
  local words = { spec.run }
  for _, word in ipairs(args) do words[#words + 1] = quoted(word) end
  return table.concat(words, " ")
end

-- The command line that it runs, or runs for the plan step; bare: without a sandbox.
function command.command(spec, plan, bare)
  local preset = presets[spec.preset]
  if spec.run or not preset then return own_command(spec) end
  local run = add({}, preset.run)
  local usual = bare and preset.bare or preset.caged
  add(run, plan and (bare and preset.plan_bare or preset.plan) or usual)
  add(run, usage.format(spec) and usage.format(spec).args)
  for _, key in ipairs(by_option) do
    if spec[key] and preset.options[key] then add(run, { preset.options[key], ("%s"):format(spec[key]) }) end
  end
  return add(add(run, spec.args), { preset.last })
end

-- The same as it will run in a world.
function command.line(world, spec, plan) return command.command(spec, plan, not world.here.cage.way) end

-- What its answers report: { tokens, usd }.
function command.counts(spec) return usage.reports(spec) end

function command.open(world, spec)
  if not command.command(spec) then return nil, "provider: a command provider needs `run` or `preset`" end
  return require("apsis.live.provider.command.agent").open(world, spec, { plan = command.line(world, spec, true),
    implement = command.line(world, spec) }, presets[spec.preset or ""] or {})
end

-- The first line with digits that an agent prints as its version; nil if there is none. It runs outside the project,
-- whose files could steer it.
local function version_of(name)
  local result = process.run { argv = { name, "--version" }, cwd = "/", timeout_s = 20 }
  return result and result.code == 0 and ("\n" .. result.stdout.head):match "\n([^\n]*%d+%.%d[^\n]*)" or nil
end

-- For `apsis doctor`: asks the preset's agent once, in the sandbox. Whether it answers, and a text; nil if there is no
-- preset.
function command.probe(world, spec)
  if not spec.preset then return nil end
  local made, message = command.open(world, spec)
  if not made then return false, message end
  local tried = made:try()
  local version = version_of(command.command(spec)[1])
  local parts = { ("%s %s"):format(spec.preset, version and "(" .. version .. ")" or "(version unknown)") }
  if tried.failed then
    parts[2] = ("gave no answer in %.1f s: %s"):format(tried.seconds, tried.failed.text)
    return false, table.concat(parts, " ") .. (#tried.advice > 0 and "\n      " or "")
      .. table.concat(tried.advice, "\n      ")
  end
  parts[2] = ("is logged in and answered in %.1f s: %s"):format(tried.seconds,
    (tried.text or ""):match "^%s*([^\n]*)":sub(1, 60))
  parts[3] = ("(model %s, %s, %s)"):format(tried.model or "unknown", tried.tokens and tried.tokens .. " tokens"
    or "tokens unknown", tried.usd and ("%.4g USD"):format(tried.usd) or "cost unknown")
  return true, table.concat(parts, " ")
end

return command
