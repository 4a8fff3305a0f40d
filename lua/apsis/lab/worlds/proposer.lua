-- proposer: a model of a language model that changes programs. A proposal improves its parent with probability
-- success * decay^i, where i is the number of improvements in the parent's lineage, by a gain drawn from an exponential or a
-- lognormal distribution with mean `gain`; else it worsens it by a loss, exponential with mean `loss`. What it makes crashes
-- with probability `crash`, and a change to a crashed program is a change to what that was made from. Exploration: half the
-- chance, twice the gain and the loss. Crossover: a change to the better of its parents. Migration: a copy of the last parent.
-- Restart: the program as it was at first. There is no optimum: goal is the value that counts as solved. Noise, tokens and
-- cost are every world's options.
local direction = require "apsis.direction"
local operators = require "apsis.lab.operators"
local problems = require "apsis.options"

local proposer = { direction = "higher", metric = "score",
  options = { success = 0.2, decay = 0.97, gain = 1.0, distribution = "exponential", gain_sigma = 1.0, loss = 1.0,
    crash = 0.05, goal = 10.0 },
  description = "a model of a language model: improves with a probability that falls along a lineage", operators = operators.names }

local share = { least = 0, most = 1 }

function proposer.check(options)
  return problems.problem(options, { success = share, decay = share, crash = share, gain = { least = 0 }, loss = { least = 0 },
    gain_sigma = { least = 0 }, distribution = { one_of = { "exponential", "lognormal" } } })
end

local metric = direction.new { direction = "higher" }
local draws = {}

function draws.exponential(rng, mean)
  return -mean * math.log(1 - rng:random())
end

-- gain_sigma is the standard deviation of the logarithm.
function draws.lognormal(rng, mean, sigma)
  return mean * math.exp(sigma * rng:normal() - sigma * sigma / 2)
end

function proposer.init(lab)
  lab.target = lab.options.goal
end

-- A genome: what it is worth (of a crashed one: what it was made from is), and how often its lineage was improved.
function proposer.baseline()
  return { value = 0.0, improvements = 0 }
end

local function change(lab, parent, chance, scale)
  local options, rng = lab.options, lab.rng
  local new = { value = parent.value, improvements = parent.improvements }
  local lucky = rng:random() < chance * options.success * options.decay ^ parent.improvements
  local gain = lucky and draws[options.distribution](rng, options.gain, options.gain_sigma)
    or -draws.exponential(rng, options.loss)
  new.crashed = rng:random() < options.crash or nil
  if new.crashed then return new end
  new.value = parent.value + scale * gain
  if lucky then new.improvements = new.improvements + 1 end
  return new
end

function proposer.propose(lab, proposal, parents)
  local operator, parent = proposal.operator, parents[1]
  if operator == "restart" then return proposer.baseline() end
  if operator == "migration" then return parents[#parents] end
  if operator == "crossover" then parent = metric:best_of(parents) end
  local exploring = operator == "exploration"
  return change(lab, parent, exploring and 0.5 or 1, exploring and 2 or 1)
end

function proposer.evaluate(_, genome)
  if genome.crashed then return nil, { reason = "the program crashed" } end
  return genome.value
end

function proposer.text(_, genome)
  return ("value = %.17g\nimprovements = %d\n%s"):format(genome.value, genome.improvements, genome.crashed and "crashed = true\n" or "")
end

return proposer
