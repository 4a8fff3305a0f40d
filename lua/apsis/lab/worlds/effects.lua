-- effects: proposals of known effect, for what is kept under noise. Of `among` proposals `real` improve their parent by
-- `effect` (in the metric's units: with noise_sd=1.0 in standard deviations of the noise), at places newly drawn for
-- each seed; the others change nothing. A genome is what it is worth. There is no optimum; solved is the sum of all
-- effects.
local problems = require "apsis.options"

local effects = { direction = "higher", metric = "value", options = { real = 20, among = 100, effect = 2.0 },
  description = "proposals of which some are real improvements and the others change nothing",
  operators = { "exploitation" } }

function effects.check(options)
  if options.real > options.among then return "real must be at most among" end
  return problems.problem(options, { real = { least = 0 }, among = { least = 1 }, effect = { least = 0 } })
end

function effects.init(lab)
  local options = lab.options
  local places = {}
  for place = 1, options.among do places[place] = place <= options.real end
  lab.real, lab.next = lab.rng:shuffle(places), 0
  lab.target = options.real > 0 and options.real * options.effect or nil
end

function effects.baseline()
  return 0.0
end

function effects.propose(lab, _, parents)
  lab.next = lab.next % #lab.real + 1
  return parents[1] + (lab.real[lab.next] and lab.options.effect or 0)
end

function effects.evaluate(_, genome)
  return genome
end

return effects
