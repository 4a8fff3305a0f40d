-- reals: landscapes over d real numbers, all to be minimised, and how the operators vary a point. Exploitation: a
-- normal deviate of `step` on every coordinate. Exploration: of ten times that. Crossover: each coordinate of one
-- parent or the other, then exploitation. Migration: crossover without mutation. Restart: uniform in the box, whoever
-- the parents are. Any other name: exploitation. notes.step multiplies the step, so that a strategy can control it; one
-- that cannot be a step is no answer. Points may leave the box they began in.
local operators = require "apsis.lab.operators"
local problems = require "apsis.options"

local reals = {}

-- Uniform in the box.
function reals.random(d, low, high, rng)
  local point = {}
  for index = 1, d do point[index] = low + (high - low) * rng:random() end
  return point
end

-- A new point: normal deviates of a step added to each coordinate.
function reals.step(point, step, rng)
  local new = table.move(point, 1, #point, 1, {})
  for index = 1, #new do new[index] = new[index] + step * rng:normal() end
  return new
end

-- A new point: each coordinate of one or the other.
function reals.cross(first, second, rng)
  local new = {}
  for index = 1, #first do new[index] = (rng:random() < 0.5 and first or second)[index] end
  return new
end

-- One number a line, each as it reads back.
function reals.text(_, point)
  local lines = {}
  for index = 1, #point do lines[index] = ("%.17g"):format(point[index]) end
  return table.concat(lines, "\n")
end

local function propose(lab, proposal, parents)
  local options, rng, operator = lab.options, lab.rng, proposal.operator
  if operator == "restart" then return reals.random(options.d, lab.low, lab.high, rng) end
  local point = parents[1]
  if parents[2] then point = reals.cross(point, parents[2], rng) end
  if operator == "migration" then return point end
  local notes, step = proposal.notes, options.step
  if notes and notes.step ~= nil then
    local wrong = operators.wrong_step(notes.step)
    if wrong then return nil, wrong end
    step = step * notes.step
  end
  return reals.step(point, operator == "exploration" and 10 * step or step, rng)
end

local rules = { d = { integer = true, least = 1 }, step = { least = 0 }, precision = { least = 0 } }

-- world{ value = function(point, d), low, high, step, precision, d, least_d, description }: the table a world's file
-- returns. precision is the target: a value at or below it counts as solved.
function reals.world(spec)
  local world = { options = { d = spec.d or 10, step = spec.step, precision = spec.precision }, direction = "lower",
    metric = "loss", description = spec.description, operators = operators.names, propose = propose, text = reals.text }
  function world.check(options)
    if options.d < (spec.least_d or 1) then
      return ("option d must be %d or more, not %d"):format(spec.least_d, options.d)
    end
    return problems.problem(options, rules)
  end
  function world.init(lab)
    lab.low, lab.high, lab.target = spec.low, spec.high, lab.options.precision
  end
  function world.baseline(lab)
    return reals.random(lab.options.d, lab.low, lab.high, lab.rng)
  end
  function world.evaluate(lab, point)
    return spec.value(point, lab.options.d)
  end
  return world
end

return reals
