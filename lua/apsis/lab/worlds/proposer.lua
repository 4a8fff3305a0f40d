-- proposer: a model of a language model that changes programs. A proposal improves its parent with probability success
-- * decay^i, where i is the number of improvements in the parent's lineage, by a gain drawn from an exponential or a
-- lognormal distribution with mean `gain`; else it worsens it by a loss, exponential with mean `loss`. What it makes
-- crashes with probability `crash`, and a change to a crashed program is a change to what that was made from.
-- Exploration: half the chance, twice the gain and the loss. Crossover: a change to the better of its parents.
-- Migration: a copy of the last parent. Restart: the program as it was at first. There is no optimum: goal is the value
-- that counts as solved. Noise, tokens and cost are every world's options. If several answers are asked for,
-- each states a confidence. With calibration 1 it is the chance that the answer improves: of all that state c, a share
-- of c does. 0: it is uninformative. -1: it is high if the answer is wrong and low if it is right. Between: so large
-- a share of the answers does. An answer has `length` tokens on average (0: all are alike and cost none), lognormal;
-- length_relation 1: those that improve are shorter, -1: longer, 0: it is uninformative.
local direction = require "apsis.direction"
local operators = require "apsis.lab.operators"
local problems = require "apsis.options"
local random = require "apsis.random"

local proposer = { direction = "higher", metric = "score",
  options = { success = 0.2, decay = 0.97, gain = 1.0, distribution = "exponential", gain_sigma = 1.0, loss = 1.0,
    crash = 0.05, goal = 10.0, calibration = 1.0, length = 0, length_sigma = 0.5, length_relation = 0.0 },
  description = "a model of a language model: improves with a probability that falls along a lineage",
  operators = operators.names }

local share, relation = { least = 0, most = 1 }, { least = -1, most = 1 }

function proposer.check(options)
  return problems.problem(options, { success = share, decay = share, crash = share, gain = { least = 0 },
    loss = { least = 0 }, gain_sigma = { least = 0 }, calibration = relation, length = { least = 0 },
    length_sigma = { least = 0 }, length_relation = relation, distribution =
    { one_of = { "exponential", "lognormal" } } })
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
  -- What answers say of themselves: drawn apart, so that what they are stays the same.
  lab.words = random.stream(lab.seed, "words")
  lab.answer_tokens = lab.options.tokens + lab.options.length
end

-- A + b of the beta distribution of stated confidences: the smaller, the more informative a calibrated one.
local SPREAD = 2

-- A draw from Beta(a, b), by Johnk's method (1964), made for small shapes.
local function beta(rng, a, b)
  if a <= 0 or b <= 0 then return a <= 0 and 0 or 1 end
  while true do
    local x, y = rng:random() ^ (1 / a), rng:random() ^ (1 / b)
    if x + y > 0 and x + y <= 1 then return x / (x + y) end
  end
end

-- The confidence of an answer whose chance was p. A share c of the answers that state c improves where c is drawn from
-- Beta(a, b) and the answer by it; which is the same as Beta(a + 1, b) where it improves and Beta(a, b + 1) where it
-- does not.
local function confidence_of(lab, p, lucky)
  local rng, calibration = lab.words, lab.options.calibration
  local up, down = 0, 0
  if rng:random() < math.abs(calibration) then
    if lucky == (calibration > 0) then up = 1 else down = 1 end
  end
  return 100 * beta(rng, SPREAD * p + up, SPREAD * (1 - p) + down)
end

local function length_of(lab, p, lucky)
  local options = lab.options
  local known, relation_sd = options.length_relation, math.sqrt(math.max(p * (1 - p), 1e-9))
  local deviate = -known * ((lucky and 1 or 0) - p) / relation_sd + math.sqrt(1 - known * known) * lab.words:normal()
  local sigma = options.length_sigma
  return math.max(1, math.floor(options.length * math.exp(sigma * deviate - sigma * sigma / 2) + 0.5))
end

-- The confidence that an answer states; nil if nobody asks.
local function words_of(lab, proposal, p, lucky)
  local options, several = lab.options, (proposal.k or 1) > 1
  if not several and options.length == 0 then return nil end
  local length = options.length > 0 and length_of(lab, p, lucky) or 1
  return { steps = several and { { confidence = confidence_of(lab, p, lucky) } } or nil, output_tokens = length,
    tokens = options.tokens + (options.length > 0 and length or 0) }
end

-- A genome: what it is worth (of a crashed one: what it was made from is), and how often its lineage was improved.
function proposer.baseline()
  return { value = 0.0, improvements = 0 }
end

local function change(lab, proposal, parent, chance, scale)
  local options, rng = lab.options, lab.rng
  local new = { value = parent.value, improvements = parent.improvements }
  local p = chance * options.success * options.decay ^ parent.improvements
  local lucky = rng:random() < p
  local gain = lucky and draws[options.distribution](rng, options.gain, options.gain_sigma)
    or -draws.exponential(rng, options.loss)
  new.crashed = rng:random() < options.crash or nil
  local words = words_of(lab, proposal, p, lucky)
  if new.crashed then return new, words end
  new.value = parent.value + scale * gain
  if lucky then new.improvements = new.improvements + 1 end
  return new, words
end

function proposer.propose(lab, proposal, parents)
  local operator, parent = proposal.operator, parents[1]
  if operator == "restart" then return proposer.baseline() end
  if operator == "migration" then return parents[#parents] end
  if operator == "crossover" then parent = metric:best_of(parents) end
  local exploring = operator == "exploration"
  return change(lab, proposal, parent, exploring and 0.5 or 1, exploring and 2 or 1)
end

function proposer.evaluate(_, genome)
  if genome.crashed then return nil, { reason = "the program crashed" } end
  return genome.value
end

function proposer.text(_, genome)
  return ("value = %.17g\nimprovements = %d\n%s"):format(genome.value, genome.improvements, genome.crashed
    and "crashed = true\n" or "")
end

return proposer
