-- trajectory: the key of the manifest that says when several answers are asked for and the best of them is measured
-- (core/best_of.lua). Called by schema and rules.
local nodes = require "apsis.project.node"

local map, node = nodes.map, nodes.node

local trajectory = {}

local complexities = { "simple", "medium", "complex", "epic" }

-- Why these defaults: off, for it costs K times the tokens; 2, the least that can choose (a majority needs 3); the gate
-- leaves small changes, where answers differ little, at one; the margin is for answers that turn out longer than the
-- last ones.
trajectory.node = map("best of K: several answers are asked for and one of them is evaluated; proposals with a k of "
  .. "their own need no "
  .. "more than the margin", {
  { "enabled", node("boolean", "whether proposals that say no k ask for k_candidates answers", { default = false }) },
  { "k_candidates", node("integer",
    "how many answers; from 3 on, a strict majority of one intent drops the others",
    { min = 1, max = 64, default = 2 }) },
  { "complexity_gate", node("list",
    "the complexities that are worth it; the others ask for one answer (default: complex, epic)", {
    items = "simple, medium, complex or epic", item = node("enum", "a complexity", { allowed = complexities }) }) },
  { "complexity", node("enum", "of a proposal whose strategy does not say it; without it such a one is simple",
    { allowed = complexities }) },
  { "raise_after", node("integer",
    "number of experiments without a new best after which any proposal counts as complex; without it none does",
    { min = 1 }) },
  { "margin", node("number",
    "of what is left of a budget of tokens or dollars, the share that K answers leave; else one is asked for",
    { min = 0, max = 0.99, default = 0.2 }) },
})

-- After the defaults are in. An empty gate would let nothing through, which is what enabled: false says.
function trajectory.check(draft)
  local value = draft.value.trajectory
  if not value or draft.refused("trajectory.complexity_gate") then return end
  local gate = value.complexity_gate
  if not gate then value.complexity_gate = { "complex", "epic" }
  elseif #gate == 0 then
    draft.say("trajectory.complexity_gate",
      "lets no proposal through; name a complexity, or turn best of K off with enabled: false")
  end
end

return trajectory
