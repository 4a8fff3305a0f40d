-- onemax: the number of ones in a string of n bits, the simplest landscape there is. Exploitation flips each bit with
-- probability rate/n (standard bit mutation if rate is 1). Known: the (1+1)-EA that starts anywhere needs about
-- e n ln n - 1.89 n evaluations, counting copies (Doerr, Fouz and Witt, 2011; Hwang et al., 2018).
local bits = require "apsis.lab.bits"
local operators = require "apsis.lab.operators"
local problems = require "apsis.options"

local onemax = { options = { n = 100, rate = 1.0 }, direction = "higher", metric = "ones",
  description = "the number of ones in n bits", operators = operators.names }

function onemax.check(options)
  return problems.problem(options, { n = { integer = true, least = 1 }, rate = { least = 0, most = options.n } })
end

function onemax.init(lab)
  lab.target = lab.options.n
  lab.bits = bits.new(lab.options.n, lab.options.rate)
end

function onemax.baseline(lab)
  return lab.bits:random(lab.rng)
end

function onemax.propose(lab, proposal, parents)
  return lab.bits:vary(proposal, parents, lab.rng)
end

onemax.evaluate = function(_, genome) return bits.ones(genome) end

function onemax.parse(lab, text)
  return lab.bits:parse(text)
end

return onemax
