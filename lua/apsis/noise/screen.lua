-- screen: the cheap first part of a decision. It can only reject a candidate or send it to a confirmation, which does
-- not reuse its measurements because they were used to choose. A part of apsis.acceptance, called by decision.
local spread = require "apsis.noise.spread"

local screen = {}

local PROMOTE = 4.4 -- the evidence that sends a candidate on
local CHECKS = 2 -- measurements of the incumbent before it does

function screen.new(settings)
  return { effect = 8 / math.sqrt(settings.max_repeats), values = {}, due = 0, best = 0, checked = false }
end

-- The evidence for an improvement of `effect` spreads: a sum of clipped log likelihood ratios against the level known
-- now.
local function evidence(part, data)
  local size, effect, sum = spread.of(data), part.effect, 0.0
  for _, value in ipairs(part.values) do
    sum = sum + effect * spread.clip((value - data.ref) / size - effect / 2, 2)
  end
  return sum
end

-- What comes next: "candidate", "best", "promote" or "reject".
function screen.feed(part, settings, data, arm, value)
  if arm == "candidate" then
    part.values[#part.values + 1] = value
    data.screened = data.screened + 1
    if data.screened % settings.refresh == 0 then part.due = 1 end
  else
    spread.incumbent(data, value, settings.memory)
    part.due, part.best = part.due - 1, part.best + 1
  end
  if part.due > 0 then return "best" end
  part.evidence = evidence(part, data)
  if part.evidence <= -settings.reject then return "reject" end
  if part.evidence >= PROMOTE then
    if part.checked then return "promote" end
    part.checked, part.due = true, CHECKS
    return "best"
  end
  return #part.values >= settings.n_screen and "reject" or "candidate"
end

return screen
