-- room: what measuring on other machines adds to the manifest: which keys of `execution` belong together.
local failing = require "apsis.live.failing"
local fs = require "apsis.fs"
local home = require "apsis.project.home"
local planner = require "apsis.core.planner"

local room = {}

local shared = { "folder", "queue_sec", "requeue", "pilots", "poll_sec", "usd_per_hour", "program" }
local defaults = { queue_sec = 86400, requeue = 2, poll_sec = 3 }

-- Keys that do not belong to this target.
local function refuse(draft, keys, target)
  for _, key in ipairs(keys) do
    if draft.stands("execution." .. key) then
      draft.say("execution." .. key, ("does not belong to target: %s; remove it, or change execution.target"):format(
        target))
    end
  end
end

-- The folder's secrets are hidden from commands: no list may show them.
local function check_allowed(draft, folder)
  for _, part in ipairs { "sandbox", "verification", "provider", "gate" } do
    for index, text in ipairs((draft.value[part] or {}).allow or {}) do
      local path = home.expand(text:gsub(":r[ow]$", ""):gsub("(.)/+$", "%1"))
      path = fs.realpath(path) or path
      if path == folder or path:sub(1, #folder + 1) == folder .. "/" then
        draft.say(("%s.allow[%d]"):format(part, index), text .. " is in execution.folder, which commands may not see")
      end
    end
  end
end

local function check_options(draft, options)
  for index, option in ipairs(options or {}) do
    local problem = require("apsis.cluster.executor.slurm").problem(option, options[index - 1])
    if problem then draft.say(("execution.options[%d]"):format(index), ("%s: %s"):format(option, problem)) end
  end
end

local function check_folder(draft, spec)
  if not spec.folder then
    if not draft.stands "execution.folder" then
      draft.say("execution.folder", ("is required with target: %s: a folder of yours that this machine and the nodes "
        .. "share"):format(spec.target))
    end
    return
  end
  spec.folder = home.expand(spec.folder)
  local problem = require("apsis.cluster.evaluations").folder_problem(spec.folder, draft.dir)
  if problem then draft.say("execution.folder", ("%s; got %s"):format(problem, spec.folder)) end
  check_allowed(draft, fs.realpath(spec.folder) or spec.folder)
end

function room.rules(draft)
  local spec = draft.value.execution
  if not spec or draft.refused "execution" then return end
  if spec.target == "local" then
    refuse(draft, shared, "local")
    refuse(draft, { "options", "command" }, "local")
    return
  end
  if spec.target ~= "slurm" and spec.target ~= "command" then return end
  refuse(draft, { spec.target == "slurm" and "command" or "options" }, spec.target)
  if spec.target == "slurm" then check_options(draft, spec.options) end
  if spec.target == "command" and not spec.command and not draft.stands "execution.command" then
    draft.say("execution.command", "is required with target: command: {submit: ..., status: ..., cancel: ...}")
  end
  check_folder(draft, spec)
  for key, value in pairs(defaults) do
    if spec[key] == nil then spec[key] = value end
  end
  local links = (draft.value.workspace or {}).link or {}
  if #links > 0 then
    draft.say("workspace.link", ("folders of this machine cannot be linked on the nodes of target: %s; name them as "
      .. "the nodes have them, in verification.allow"):format(spec.target))
  end
end

-- Where it is measured. A baseline of this machine has no digest of that.
function room.measures(manifest)
  local target = manifest.execution.target
  return target ~= "local" and { ["execution.target"] = target } or nil
end

-- That the minutes or the dollars are used up, or nil. What is only reserved of a budget is for those in flight.
local function used_up(engine)
  local budget, limits = engine.budget, engine.budget.limits
  engine.elapsed_s = engine.world:elapsed()
  if limits.minutes and budget:spent "minutes" >= limits.minutes then return budget:used_up_text "minutes" end
  if not limits.usd then return nil end
  local usd = budget:spent "usd" + engine.world.executor:running_usd()
  for _, slot in pairs(engine.slots) do usd = usd + (slot.cost or 0) + (slot.machines and slot.machines.usd or 0) end
  return usd >= limits.usd and budget:used_up_text "usd" or nil
end

-- Whether the end of a run ends an experiment: not one that has ended or is measured, or of which a result has come;
-- nor what somebody submits that was asked for it.
local function ends(engine, slot)
  local final = engine.judge and engine.judge:is_final(slot.proposal)
  return not (slot.skipped or slot.held or slot.offered or slot.result or slot.measurement or final
    or slot.answered_by or engine.world.executor:has_result(slot.number))
end

local LOOK_S <const> = 1

-- What ends a run, such as its target, ends what is in flight on other machines: an hour there is worth more than one
-- more value.
function room.run(engine, options)
  local world = engine.world
  if not (world.executor and world.executor.running_usd) then return end
  if options.answers_only then world.executor:visit()
  else engine.scheduler:spawn(function() world.executor:begin() end) end
  local before, why = world.before_wait, nil
  function world:before_wait()
    why = why or used_up(engine) or planner.reached(engine) or engine.halts and engine.stopping or nil
    for _, slot in pairs(why and engine.slots or {}) do
      if ends(engine, slot) then
        slot.skipped = "the run has ended: " .. why
        world:stop(slot)
      end
    end
    engine.stopping = why or engine.stopping -- that all experiments have begun ends none of them
    return math.min(before(self) or LOOK_S, LOOK_S)
  end
end

-- `apsis reset` ends what a run that was killed has sent. A warning, or nil.
function room.reset(manifest)
  local target, warning = manifest.execution.target, nil
  if target ~= "slurm" and target ~= "command" then return nil end
  local world = setmetatable({ manifest = manifest, said = {} }, { __index = failing })
  function world.log(_, level, text) warning = level == "warn" and text or warning end
  local ok, message = require("apsis.project.executors").of(target).open(world):clear()
  return not ok and message or warning
end

-- What doctor checks besides: a node, by a job.
function room.doctor(manifest)
  local target = manifest.execution.target
  if target ~= "slurm" and target ~= "command" then return {} end
  return { { name = "nodes", check = function() return require("apsis.cluster.probe").run(manifest) end } }
end

return room
