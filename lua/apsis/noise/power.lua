-- power: the power of acceptance, by simulation: with gaussian noise of spread 1, how often an improvement of a size
-- is kept and at what cost. A part of apsis.acceptance.
local direction = require "apsis.direction"
local random = require "apsis.random"
local state = require "apsis.noise.state"

local power = {}

local EFFECTS, TRIALS = { 0, 0.5, 1, 1.5, 2, 3 }, 300
local metric = direction.new { direction = "higher" }

local function trial(settings, effect, rng, before)
  local values = {}
  for index = 1, settings.baseline do values[index] = rng:normal() end
  local judged = state.new(settings, metric)
  judged:baseline(values)
  judged.data.spent = before
  local decision = judged:judge(rng)
  while decision.next do decision:feed(rng:normal() + (decision.next == "candidate" and effect or 0)) end
  return decision.verdict == "kept", decision.measured
end

-- power(settings, { effects, trials, seed, spent }) -> { { effect, kept, measurements } ... }
function power.of(settings, spec)
  spec = spec or {}
  local found, trials = {}, spec.trials or TRIALS
  if math.type(trials) ~= "integer" or trials < 1 then error("acceptance.power: trials is a whole number from 1", 3) end
  for index, effect in ipairs(spec.effects or EFFECTS) do
    local rng, kept, measured = random.stream(spec.seed or 1, "acceptance power", index), 0, 0
    for _ = 1, trials do
      local keeps, count = trial(settings, effect, rng, spec.spent or 0)
      kept, measured = kept + (keeps and 1 or 0), measured + count
    end
    found[index] = { effect = effect, kept = kept / trials, measurements = measured / trials }
  end
  return found
end

return power
