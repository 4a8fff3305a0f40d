-- schema: the manifest's key evaluator, for imported projects of OpenEvolve. Called through room.lua.
local host = require "apsis.host"
local nodes = require "apsis.project.node"

local node = nodes.node

local RUNNER <const> = "openevolve_evaluate.py"

local evaluator_key = nodes.map("how an evaluator of OpenEvolve is run", {
  { "serve", node("boolean", "keep one Python process per worker, which measures each candidate in a fork: its "
    .. "libraries are imported once; candidates are less isolated from one another", { default = false }) },
  { "every", node("integer", "serve: start it again after this many commands", { min = 1, default = 100 }) },
}, { fill = true })

-- The position of the runner in a command's words, or nil.
local function runner_in(run)
  for index, word in ipairs(type(run) == "table" and run or {}) do
    if word == RUNNER or word:sub(-#RUNNER - 1) == "/" .. RUNNER then return index end
  end
end

-- How to start the process for a command: the same words, with the server's file (an empty word) before the runner's.
local function server_of(run, at, every)
  local words = table.move(run, 1, at - 1, 1, {})
  words[at] = ""
  table.move(run, at, at + 2, at + 1, words)
  return { run = words, from = at + 1, every = every, text = host.read "lua/apsis/import/openevolve_serve.py" }
end

local function check(draft)
  local settings = draft.value.evaluator
  if not settings or not settings.serve or draft.refused "evaluator" or draft.refused "verification" then return end
  local found
  for _, command in ipairs((draft.value.verification or {}).commands or {}) do
    local at = runner_in(command.run)
    if at then command.server, found = server_of(command.run, at, settings.every), true end
  end
  if not found then
    draft.say("evaluator.serve", ("needs a command of verification.commands whose run is a list that has %s, as "
      .. "`apsis import openevolve` writes it; remove evaluator"):format(RUNNER))
  end
end

return { keys = { { "evaluator", evaluator_key, after = "verification" } }, check = check }
