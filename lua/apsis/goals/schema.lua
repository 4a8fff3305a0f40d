-- schema: the manifest keys of a standing goal: name and schedule, the branch it follows, the gate, the user's own
-- commands, and where its state is kept.
local confinement = require "apsis.project.confinement"
local fs = require "apsis.fs"
local nearest = require "apsis.project.nearest"
local nodes = require "apsis.project.node"
local ref = require "apsis.project.ref"
local schedule = require "apsis.goals.schedule"

local map, node = nodes.map, nodes.node

local goal = {}

local schedule_node = node("string", "how often a standing goal is due: every 6h (m, d), hourly, daily, weekly, "
  .. "monthly, or five cron fields in UTC; without it, at every tick", { not_empty = true, forms = schedule.forms })

local default_branch_node = node("string", "the branch that a goal's branch follows (default: origin's, else "
  .. "main or master)")

-- The defaults are autoloop's: 5 attempts, an hour in total.
local gate_node = map("the project's own CI: it must pass before a better candidate is kept; the provider "
  .. "gets its output", {
  { "run", node("command_line", "what to run; text goes to sh -c, a list is run as it is", { required = true }) },
  { "timeout_sec", node("number", "seconds until it counts as failed", { above = 0, default = 1800 }) },
  { "attempts", node("integer", "repairs of one candidate, at most", { min = 0, default = 5 }) },
  { "minutes", node("number", "wall-clock minutes for one candidate's gate and repairs", { above = 0, default = 60 }) },
  { "env", node("dict", "environment variables, added to the command's", {
    item = node("text", "its value"), key_pattern = "^[A-Za-z_][A-Za-z0-9_]*$",
    key_text = "letters, digits and _, not beginning with a digit", fill = true,
  }) },
  confinement.allow "to read; PATH:rw to read and write", confinement.network(false), confinement.pass_env,
}, { short = "run", short_list = true })

local function hook(when)
  return node("command_line", "run " .. when .. "; the journal line is on its standard input")
end

local on_node = map("your own commands, in your environment; a failure is shown and undoes nothing", {
  { "kept", hook "when a candidate was kept" },
  { "rejected", hook "when an experiment ended otherwise" },
  { "paused", hook "when a standing goal was paused" },
  { "completed", hook "when a standing goal has reached its target" },
  { "timeout_sec", node("number", "seconds until a command is stopped", { above = 0, default = 300 }) },
}, { fill = true })

local memory_node = map("where a standing goal's state file is: on a branch, with the journal, or in a folder", {
  { "kind", node("enum", "on a separate branch, which needs no checkout, or in a folder of the working tree", {
    allowed = { "branch", "folder" }, default = "branch" }) },
  { "branch", node("string", "its name", { default = "memory/autoloop" }) },
  { "folder", node("path", "its path, inside the project", { default = ".autoloop/memory" }) },
  { "limit_kb", node("number", "the state file's limit: older entries are summarized in a line",
    { min = 4, max = 1000, default = 30 }) },
}, { short = "kind", fill = true })

goal.keys = {
  { "schedule", schedule_node, after = "program" }, { "default_branch", default_branch_node, after = "schedule" },
  { "gate", gate_node, after = "provider" }, { "on", on_node, after = "gate" }, { "memory", memory_node, after = "on" },
}

local PROSE = { md = true, markdown = true, txt = true, rst = true }

-- Whether `program: TEXT` of a manifest in dir names the prose, as in goalseek, and not a goal: by its ending, or if a
-- file has that name.
function goal.is_prose(text, dir)
  if PROSE[(text:match("%.([^./]+)$") or ""):lower()] or text:find("/", 1, true) then return true end
  return (fs.stat(dir .. "/" .. text) or {}).type == "file"
end

local function program(draft)
  local value = draft.value
  local given = value.program
  if draft.name then value.program_name = draft.name end
  if not given or draft.refused "program" or goal.is_prose(given, draft.dir) then return end
  value.program = "program.md"
  if not ref.fits(given) then
    return draft.say("program", ("names a standing goal (%s), so it must be usable in a branch name: letters, digits, "
      .. "'.', '_' and '-'; the path of a prose file must end in .md"):format(nearest.show(given)))
  end
  value.program_name = given
  local project = value.project
  if project and not draft.stands "project.name" then project.name, project.ref = given, given end
end

-- Keys that an ordinary project has no use for.
local function only_goals(draft)
  if draft.value.program_name or draft.refused "program" then return end
  for _, key in ipairs { "schedule", "default_branch", "memory", "on.paused", "on.completed" } do
    if draft.stands(key) then
      draft.say(key, "is only for standing goals: add program: NAME, which makes this project one, or remove it")
    end
  end
end

local function when(draft)
  local given = draft.value.schedule
  if not given or not draft.value.program_name or draft.refused "schedule" then return end
  local spec, message = schedule.parse(given)
  if not spec then draft.say("schedule", message) end
end

-- Where the state file is, in words of the other kind.
local function memory(draft)
  local kind = draft.value.memory and draft.value.memory.kind
  local other = kind == "branch" and "folder" or kind == "folder" and "branch"
  if other and draft.stands("memory." .. other) then
    draft.say("memory." .. other, ("goes with kind: %s, not with kind: %s; remove it, or change memory.kind"):format(
      other, kind))
  end
end

local function history(draft)
  local value = draft.value
  if value.program_name and value.history == "revert" then
    draft.say("history", "must be clean for a standing goal: rejected work is never on its branch")
  end
end

local function hooks(draft)
  local on = draft.value.on
  if on and draft.stands "on.timeout_sec" and not (on.kept or on.rejected or on.paused or on.completed)
    and not draft.refused "on" then
    draft.say("on.timeout_sec",
      "has no effect without a command; add kept, rejected, paused or completed, or remove it")
  end
end

-- Runs after the defaults are set; for the draft see rules.lua.
function goal.check(draft)
  program(draft)
  local name = draft.value.program_name
  if name then draft.value.branch, draft.value.own_branch = "autoloop/" .. name, true end
  only_goals(draft)
  when(draft)
  memory(draft)
  history(draft)
  hooks(draft)
end

return goal
