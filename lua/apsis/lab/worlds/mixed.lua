-- mixed: settings of different kinds: `d` numbers, and three choices among `options`. The choices decide where the
-- best numbers are, and what is added to the loss; a wrong choice costs the more, the more it is wrong. Exploitation
-- changes one number or, one time in four, one choice; exploration all numbers, by ten times as much, and a choice;
-- crossover takes each from one parent or the other, then does what exploitation does. The optimum is 0.
local operators = require "apsis.lab.operators"
local problems = require "apsis.options"

local CHOICES <const> = 3

local mixed = { options = { d = 3, options = 4, step = 0.2, precision = 0.05 }, direction = "lower", metric = "loss",
  description = "numbers and choices, where the choices decide which numbers are best", operators = operators.names }

function mixed.check(options)
  return problems.problem(options, { d = { integer = true, least = 1 }, options = { integer = true, least = 2 },
    step = { least = 0 }, precision = { least = 0 } })
end

function mixed.init(lab)
  local rng, options = lab.rng, lab.options
  lab.target, lab.places, lab.right, lab.costs = options.precision, {}, {}, {}
  for choice = 1, CHOICES do
    lab.places[choice], lab.right[choice], lab.costs[choice] = {}, rng:integer(1, options.options), {}
    for option = 1, options.options do
      lab.places[choice][option] = 2 * rng:random() - 1
      lab.costs[choice][option] = option == lab.right[choice] and 0 or 0.2 + 0.8 * rng:random()
    end
  end
end

local function anything(lab)
  local genome = {}
  for at = 1, lab.options.d do genome[at] = 4 * lab.rng:random() - 2 end
  for choice = 1, CHOICES do genome[lab.options.d + choice] = lab.rng:integer(1, lab.options.options) end
  return genome
end

mixed.baseline = anything

local function change_number(lab, genome, at, step) genome[at] = genome[at] + step * lab.rng:normal() end

local function change_choice(lab, genome)
  genome[lab.options.d + lab.rng:integer(1, CHOICES)] = lab.rng:integer(1, lab.options.options)
end

function mixed.propose(lab, proposal, parents)
  local rng, options, operator, new = lab.rng, lab.options, proposal.operator, {}
  if operator == "restart" then return anything(lab) end
  for at = 1, #parents[1] do new[at] = (parents[2] and rng:random() < 0.5 and parents[2] or parents[1])[at] end
  if operator == "migration" then return new end
  if operator == "exploration" then
    for at = 1, options.d do change_number(lab, new, at, 10 * options.step) end
    change_choice(lab, new)
  elseif rng:random() < 0.25 then change_choice(lab, new)
  else change_number(lab, new, rng:integer(1, options.d), options.step) end
  return new
end

function mixed.evaluate(lab, genome)
  local d, loss = lab.options.d, 0.0
  for at = 1, d do
    local choice = (at - 1) % CHOICES + 1
    loss = loss + (genome[at] - lab.places[choice][genome[d + choice]]) ^ 2
  end
  for choice = 1, CHOICES do loss = loss + lab.costs[choice][genome[d + choice]] end
  return loss
end

return mixed
