-- blocks: bits in blocks that count as a whole. With kind=royal a block of ones is worth its width, and any other
-- nothing: a plateau, on which every change looks alike (the royal road of Mitchell, Forrest and Holland, 1992). With
-- kind=trap any other block is worth the more, the fewer ones it has: single changes lead away from the optimum (the
-- trap of Deb and Goldberg, 1993). Two parents that have solved different blocks have all the parts of a better child.
local bits = require "apsis.lab.bits"
local operators = require "apsis.lab.operators"
local problems = require "apsis.options"

local blocks = { options = { kind = "royal", blocks = 5, width = 4, rate = 1.0 }, direction = "higher",
  metric = "points", description = "bits in blocks: only whole blocks count, or the others mislead",
  operators = operators.names }

function blocks.check(options)
  local whole = { integer = true, least = 1 }
  return problems.problem(options, { kind = { one_of = { "royal", "trap" } }, blocks = whole, width = whole,
    rate = { least = 0, most = options.blocks * options.width } })
end

function blocks.init(lab)
  lab.target = lab.options.blocks * lab.options.width
  lab.bits = bits.new(lab.target, lab.options.rate)
end

function blocks.baseline(lab)
  return lab.bits:random(lab.rng)
end

function blocks.propose(lab, proposal, parents)
  return lab.bits:vary(proposal, parents, lab.rng)
end

function blocks.evaluate(lab, genome)
  local width, sum = lab.options.width, 0
  for at = 1, #genome, width do
    local ones = bits.ones(genome:sub(at, at + width - 1))
    if ones == width then sum = sum + width
    elseif lab.options.kind == "trap" then sum = sum + width - 1 - ones end
  end
  return sum
end

function blocks.parse(lab, text)
  return lab.bits:parse(text)
end

return blocks
