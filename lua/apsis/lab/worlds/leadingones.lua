-- leadingones: how many ones a string of n bits begins with, so that bits can only be set right one after another.
-- Known: the (1+1)-EA needs about 0.859 n^2 evaluations (Böttcher, Doerr and Neumann, 2010: (e - 1)/2 n^2 at rate 1/n).
local bits = require "apsis.lab.bits"
local operators = require "apsis.lab.operators"
local problems = require "apsis.options"

local leadingones = { options = { n = 50, rate = 1.0 }, direction = "higher", metric = "leading_ones",
  description = "how many ones n bits begin with", operators = operators.names }

function leadingones.check(options)
  return problems.problem(options, { n = { integer = true, least = 1 }, rate = { least = 0, most = options.n } })
end

function leadingones.init(lab)
  lab.target = lab.options.n
  lab.bits = bits.new(lab.options.n, lab.options.rate)
end

function leadingones.baseline(lab)
  return lab.bits:random(lab.rng)
end

function leadingones.propose(lab, proposal, parents)
  return lab.bits:vary(proposal, parents, lab.rng)
end

function leadingones.evaluate(lab, genome)
  local zero = genome:find("0", 1, true)
  return zero and zero - 1 or lab.options.n
end

function leadingones.parse(lab, text)
  return lab.bits:parse(text)
end

return leadingones
