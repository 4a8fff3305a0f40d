-- tour: the order of `n` cities on a circle, whose shortest closed tour is known: around the circle. Exploitation
-- exchanges two cities, or moves one; exploration does it three times; crossover keeps a piece of one parent and takes
-- the rest in the order of the other.
local operators = require "apsis.lab.operators"
local problems = require "apsis.options"

local tour = { options = { n = 9 }, direction = "lower", metric = "length",
  description = "the order of cities on a circle, the length of whose tour counts", operators = operators.names }

function tour.check(options)
  return problems.problem(options, { n = { integer = true, least = 4 } })
end

local function distance(one, two)
  return math.abs(2 * math.sin((one - two) / 2))
end

local function length_of(lab, order)
  local sum = 0.0
  for at, city in ipairs(order) do sum = sum + distance(lab.angles[city], lab.angles[order[at % #order + 1]]) end
  return math.floor(1e9 * sum + 0.5) / 1e9 -- the same for each place to begin at, and each way round
end

function tour.init(lab)
  lab.angles = {}
  for city = 1, lab.options.n do lab.angles[city] = 2 * math.pi * lab.rng:random() end
  table.sort(lab.angles)
  local around = {}
  for city = 1, lab.options.n do around[city] = city end
  lab.target = length_of(lab, around)
end

local function any_order(lab)
  local order = {}
  for city = 1, lab.options.n do order[city] = city end
  return lab.rng:shuffle(order)
end

tour.baseline = any_order

-- A piece of the first parent, then the other cities in the second's order.
local function cross(rng, first, second)
  local new, taken, from = {}, {}, rng:integer(1, #first)
  for at = from, from + #first // 2 - 1 do
    local city = first[(at - 1) % #first + 1]
    new[#new + 1], taken[city] = city, true
  end
  for _, city in ipairs(second) do
    if not taken[city] then new[#new + 1] = city end
  end
  return new
end

function tour.propose(lab, proposal, parents)
  local rng, operator = lab.rng, proposal.operator
  if operator == "restart" then return any_order(lab) end
  local new = parents[2] and cross(rng, parents[1], parents[2]) or table.move(parents[1], 1, lab.options.n, 1, {})
  if operator == "migration" then return new end
  for _ = 1, operator == "exploration" and 3 or 1 do
    local one, two = rng:integer(1, #new), rng:integer(1, #new)
    if rng:random() < 0.5 then new[one], new[two] = new[two], new[one]
    else table.insert(new, two, table.remove(new, one)) end
  end
  return new
end

tour.evaluate = length_of

return tour
