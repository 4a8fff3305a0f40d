-- onemax: the number of ones in a string of n bits, the simplest landscape there is. Exploitation flips each bit with
-- probability 1/n (standard bit mutation). Known: the (1+1)-EA needs about e n ln n - 1.89 n evaluations.
local bits = require "apsis.lab.bits"

local onemax = { options = { n = 100, rate = 1.0 }, direction = "higher", metric = "ones",
  description = "the number of ones in n bits" }

function onemax.init(lab)
  lab.target = lab.options.n
  lab.bits = bits.new(lab.options.n, lab.options.rate)
end

function onemax.baseline(lab)
  return lab.bits:random(lab.rng)
end

function onemax.propose(lab, proposal, parents)
  return lab.bits:vary(proposal.operator, parents, lab.rng)
end

function onemax.evaluate(_, genome)
  return bits.ones(genome)
end

return onemax
