-- provider/command: any command that works in a checkout: a coding agent, a script. Its changes there are its answer.
-- command/agent.lua runs it.
local nodes = require "apsis.project.node"
local presets = require "apsis.live.provider.command.presets"
local quoted = require("apsis.project.path").quoted

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
      draft.say("provider." .. key, ("cannot be honoured: %s has no option for it; remove the key"):format(value.preset))
    end
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

-- A command of one's own with its `args`.
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
  for _, key in ipairs(by_option) do
    if spec[key] and preset.options[key] then add(run, { preset.options[key], ("%s"):format(spec[key]) }) end
  end
  return add(add(run, spec.args), { preset.last })
end

-- The same as it will run in a world.
function command.line(world, spec, plan) return command.command(spec, plan, not world.here.cage.way) end

function command.open(world, spec)
  if not command.command(spec) then return nil, "provider: a command provider needs `run` or `preset`" end
  return require("apsis.live.provider.command.agent").open(world, spec, { plan = command.line(world, spec, true),
    implement = command.line(world, spec) }, presets[spec.preset or ""] or {})
end

return command
