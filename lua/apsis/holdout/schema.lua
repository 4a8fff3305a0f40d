-- schema: the key `holdout` of the manifest, and its rules. Its files become hidden ones.
local confinement = require "apsis.project.confinement"
local nodes = require "apsis.project.node"

local map, node = nodes.map, nodes.node

local schema = {}

local function globs(doc) return node("list", doc, { items = "globs", item = node("path", "a glob") }) end

local command = map("the command that measures it; it prints the metric as the project's commands do", {
  { "run", node("command_line", "what to run; text goes to sh -c, a list is run as it is", { required = true }) },
  { "timeout_sec", node("number", "seconds until it counts as failed", { above = 0, default = 600 }) },
  confinement.allow "to read; PATH:rw to read and write", confinement.network(false), confinement.pass_env,
}, { short = "run", short_list = true })

schema.keys = { { "holdout", map("what only `apsis holdout` measures, once, when the project is done: no provider, "
  .. "strategy or measurement sees its files before", {
    { "items", globs "globs of test cases, which the project's commands measure then (with verification.cases)" },
    { "files", globs "globs of the files that its command needs" },
    { "command", command },
  }), after = "metric" } }

-- What decides a value.
function schema.measures(holdout)
  return { items = holdout.items, files = holdout.files, run = holdout.command and holdout.command.run }
end

-- The globs of all its files.
function schema.globs(holdout)
  local list = table.move(holdout.items or {}, 1, #(holdout.items or {}), 1, {})
  return table.move(holdout.files or {}, 1, #(holdout.files or {}), #list + 1, list)
end

local function wrong(holdout, value)
  if (holdout.items == nil) == (holdout.command == nil) then
    return "needs either items: [GLOBS], test cases that the project's commands measure, or command: RUN"
  end
  if holdout.items and #(value.verification.cases or {}) == 0 then
    return "items: goes with verification.cases; without cases write command: RUN, and files: [GLOBS] that it needs"
  end
  if value.execution.target ~= "local" then
    return ("a node of %s would have its files: measure on this machine, or remove it"):format(value.execution.target)
  end
end

function schema.check(draft)
  local holdout = draft.value.holdout
  if not holdout or draft.refused "holdout" then return end
  local problem = wrong(holdout, draft.value)
  if problem then return draft.say("holdout", problem) end
  for _, glob in ipairs(schema.globs(holdout)) do
    table.insert(draft.value.files, { path = glob, mode = "hidden", sealed = true })
  end
end

return schema
