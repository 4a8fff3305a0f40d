-- lotz: two metrics at once: how many ones a string of n bits begins with, and how many zeros it ends with. Known: the
-- n + 1 strings of ones, then zeros, are the whole front (Laumanns, Thiele and Zitzler, 2004), and its hypervolume
-- beyond -1, (n + 1)(n + 2) / 2, is the target.
local bits = require "apsis.lab.bits"
local operators = require "apsis.lab.operators"
local problems = require "apsis.options"

local lotz = { options = { n = 10, rate = 1.0 }, metric = "hypervolume", pareto = {
    { name = "leading_ones", direction = "higher", reference = -1 },
    { name = "trailing_zeros", direction = "higher", reference = -1 } },
  description = "two metrics: ones that n bits begin with, zeros that they end with", operators = operators.names }

function lotz.check(options)
  return problems.problem(options, { n = { integer = true, least = 1 }, rate = { least = 0, most = options.n } })
end

function lotz.init(lab)
  local n = lab.options.n
  lab.target = (n + 1) * (n + 2) // 2
  lab.bits = bits.new(n, lab.options.rate)
end

function lotz.baseline(lab)
  return lab.bits:random(lab.rng)
end

function lotz.propose(lab, proposal, parents)
  return lab.bits:vary(proposal, parents, lab.rng)
end

function lotz.evaluate(_, genome)
  local ones, zeros = #genome:match "^1*", #genome:match "0*$"
  return ones + zeros, { metrics = { leading_ones = ones, trailing_zeros = zeros } }
end

function lotz.parse(lab, text)
  return lab.bits:parse(text)
end

return lotz
