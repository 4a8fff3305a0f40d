-- cascade: the number of ones in n bits, measured in two stages. Stage 1 looks at the first `quick` bits only, and who
-- has fewer than `threshold` ones there is stopped. The first genome has none, so that it would be stopped itself:
-- every candidate is stopped until threshold - 1 changes have come together. That is circle packing of OpenEvolve's
-- examples in small, whose first program scores 0.364 under a threshold of 0.5. A strategy that makes nothing of
-- candidates that were stopped needs all these changes at once.
local bits = require "apsis.lab.bits"
local operators = require "apsis.lab.operators"
local problems = require "apsis.options"

local cascade = { options = { n = 60, quick = 12, threshold = 6 }, direction = "higher", metric = "ones",
  description = "the number of ones in n bits, with an early stage that stops most", operators = operators.names }

function cascade.check(options)
  return problems.problem(options, { n = { integer = true, least = 2 }, quick = { integer = true, least = 1,
    most = options.n }, threshold = { integer = true, least = 0, most = options.quick } })
end

function cascade.init(lab)
  lab.target, lab.thresholds = lab.options.n, { lab.options.threshold }
  lab.bits = bits.new(lab.options.n)
end

function cascade.baseline(lab)
  return ("0"):rep(lab.options.n)
end

function cascade.propose(lab, proposal, parents)
  return lab.bits:vary(proposal, parents, lab.rng)
end

function cascade.evaluate(lab, genome, stage)
  return bits.ones(stage == 1 and genome:sub(1, lab.options.quick) or genome)
end

function cascade.parse(lab, text)
  return lab.bits:parse(text)
end

return cascade
