-- idle: keys of a component of `fitness` that would have no effect where they stand, because something else measures or
-- scores there. Called by schema.
local set = require("apsis.project.node").set

local idle = {}

-- What only a domain's own harness, or its own report, uses.
local of_harness = set("run", "format", "file", "pattern", "json_pointer", "against", "max_bytes", "instructions",
  "base_url", "api_key_env", "models", "retries")
local of_report = set("baseline", "direction")
local of_judge = set("max_bytes", "instructions", "base_url", "api_key_env", "models", "retries")
local of_commands = set("cwd", "env")
local of_components = set("cwd", "timeout_sec", "env", "harness", "report", "score_key")

-- Why a key of a domain of apsis's own has no effect here, and the remedy; nil if it has one.
function idle.why(spec, name)
  local judges = spec.domain == "review" or spec.domain == "rubric" and not spec.run
  if spec.domain == "composite" and of_components[name] then
    return "has no effect on a composite; set it in the components"
  elseif spec.harness and of_harness[name] then
    return "has no effect with harness:, whose command measures instead; remove one of the two"
  elseif spec.report and of_report[name] then
    return "has no effect with report:, whose command scores instead; remove one of the two"
  elseif not spec.report and name == "score_key" then
    return ("names a key of the report.json that a report: command writes; domain %s reports its score under its own "
      .. "name; remove it"):format(spec.domain)
  elseif not judges and spec.domain == "rubric" and of_judge[name] then
    return "is for a judge, and run: a command scores here; remove one of the two"
  elseif judges and not spec.harness and not spec.report and of_commands[name] then
    return "is for commands, and a judge scores here; remove it"
  elseif judges and not spec.harness and name == "tasks" then
    return "needs run: the command that scores each item, or harness:"
  end
end

-- Whether one of the components is such a one.
local function any(spec, such)
  for _, component in ipairs(spec.components or { spec }) do
    if such(component) then return true end
  end
  return false
end

local function has_items(component) return component.tasks ~= nil end

-- A command or a file of the project's own is given the number of workers, whatever it does with it.
local function may_use_workers(component)
  return component.harness ~= nil or (component.domain or ""):find "%.lua$" ~= nil
end

-- Refuses the keys that choose among items where no component has any.
function idle.without_items(draft, spec)
  if any(spec, has_items) then return end
  for name, default in pairs { staged = false, samples = -1, workers = 1 } do
    if spec[name] ~= default and not (name == "workers" and any(spec, may_use_workers)) then
      draft.say("fitness." .. name,
        "needs a component with items to choose from: give one tasks: (globs, or a file of ids)")
    end
  end
end

return idle
