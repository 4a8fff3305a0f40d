-- trajectory: the manifest's key for asking for several answers and measuring only the best (core/best_of.lua).
local nodes = require "apsis.project.node"

local map, node = nodes.map, nodes.node

local trajectory = {}

local complexities = { "simple", "medium", "complex", "epic" }

-- The defaults: off, because it costs K times the tokens; 2 answers, the fewest to choose from (a majority needs 3);
-- one answer for small changes, where answers differ little; a margin because answers may get longer.
trajectory.node = map("best of K: asks for several answers and evaluates one of them; for proposals with a k of their "
  .. "own, only "
  .. "margin applies", {
  { "enabled", node("boolean", "whether a proposal without k asks for k_candidates answers", { default = false }) },
  { "k_candidates", node("integer",
    "how many answers; from 3 on, a strict majority of one intent drops the others",
    { min = 1, max = 64, default = 2 }) },
  { "complexity_gate", node("list",
    "the complexities that are worth it; the others ask for one answer (default: complex, epic)", {
    items = "simple, medium, complex or epic", item = node("enum", "a complexity", { allowed = complexities }) }) },
  { "complexity", node("enum", "of a proposal whose strategy names none (default: simple)",
    { allowed = complexities }) },
  { "raise_after", node("integer",
    "number of experiments without a new best after which several answers are asked for, whatever the complexity",
    { min = 1 }) },
  { "margin", node("number",
    "of what is left of a budget of tokens or dollars, the share that K answers leave; else one is asked for",
    { min = 0, max = 0.99, default = 0.2 }) },
})

-- Whether no proposal can get through: its complexity is not in the gate, and no shipped strategy names another.
local function lets_none_through(draft, value)
  local use = (draft.value.strategy or {}).use
  if not value.enabled or value.raise_after or not use or use:find "%.lua$" then return false end
  for _, complexity in ipairs(value.complexity_gate) do
    if complexity == (value.complexity or "simple") then return false end
  end
  return true
end

-- Keys that count only for proposals without a k of their own, which ask for one answer unless `enabled`.
local function check_idle(draft)
  if draft.value.trajectory.enabled or draft.stands "trajectory.enabled" then return end
  for _, key in ipairs { "k_candidates", "complexity_gate", "complexity", "raise_after" } do
    if draft.stands("trajectory." .. key) then
      draft.say("trajectory." .. key, "has no effect without enabled: true; add it, or remove this key")
    end
  end
end

-- After the defaults are added. An empty gate lets nothing through; that is enabled: false.
function trajectory.check(draft)
  local value = draft.value.trajectory
  if not value or draft.refused("trajectory.complexity_gate") then return end
  check_idle(draft)
  local gate = value.complexity_gate
  if not gate then value.complexity_gate = { "complex", "epic" }
  elseif #gate == 0 then
    draft.say("trajectory.complexity_gate",
      "lets no proposal through; name a complexity, or turn best of K off with enabled: false")
  end
  if #value.complexity_gate > 0 and not draft.refused "trajectory" and lets_none_through(draft, value) then
    draft.say("trajectory.enabled", ("has no effect: a proposal of %s is %s, which is not in complexity_gate (%s); add "
      .. "complexity: %s, or raise_after: N"):format(draft.value.strategy.use, value.complexity or "simple",
      table.concat(value.complexity_gate, ", "), value.complexity_gate[1]))
  end
end

return trajectory
