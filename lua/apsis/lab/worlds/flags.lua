-- flags: switches of a compiler. Of `n` flags every third makes the program faster or slower by some percent, the
-- others change nothing; some pairs of neighbours help only together, and each of them does harm. The time is rounded
-- to 0.1, so that many changes tie. Exploitation sets one flag, exploration three, crossover takes each from one
-- parent or the other and then sets one. The optimum is known, pair by pair.
local operators = require "apsis.lab.operators"
local problems = require "apsis.options"

local flags = { options = { n = 24, pairs = 4 }, direction = "lower", metric = "time",
  description = "switches of which some help, some harm, most do nothing, and some help only in pairs",
  operators = operators.names }

function flags.check(options)
  return problems.problem(options, { n = { integer = true, least = 2 }, pairs = { integer = true, least = 0,
    most = options.n // 2 } })
end

-- The time of a list of true and false: 100, times what each pair of places makes of it.
local function time_of(lab, genome)
  local time = 100.0
  for pair, effects in ipairs(lab.effects) do
    local one, two = genome[2 * pair - 1], genome[2 * pair]
    time = time * (one and two and effects.both or one and effects.one or two and effects.two or 1)
  end
  return math.floor(10 * time + 0.5) / 10
end

local function single(rng)
  return rng:integer(1, 3) == 1 and 1 + 0.01 * rng:integer(-6, 6) or 1
end

function flags.init(lab)
  local rng, count, helpful = lab.rng, (lab.options.n + 1) // 2, {}
  for pair = 1, count do helpful[pair] = pair <= lab.options.pairs end
  lab.effects = {}
  for pair, together in ipairs(rng:shuffle(helpful)) do
    local effects = { one = single(rng), two = single(rng) }
    effects.both = effects.one * effects.two
    if together then effects = { one = 1.02, two = 1.02, both = 0.93 } end
    lab.effects[pair] = effects
  end
  local best = {}
  for pair, effects in ipairs(lab.effects) do
    local least = math.min(1, effects.one, effects.two, effects.both)
    best[2 * pair - 1] = least < 1 and (least == effects.both or least == effects.one)
    best[2 * pair] = least < 1 and (least == effects.both or least == effects.two)
  end
  if lab.options.n % 2 == 1 then best[lab.options.n] = lab.effects[count].one < 1 end
  best[lab.options.n + 1] = nil
  lab.target = time_of(lab, best)
end

function flags.baseline(lab)
  local genome = {}
  for place = 1, lab.options.n do genome[place] = false end
  return genome
end

function flags.propose(lab, proposal, parents)
  local rng, operator, new = lab.rng, proposal.operator, {}
  for place = 1, lab.options.n do
    local parent = parents[2] and rng:random() < 0.5 and parents[2] or parents[1]
    new[place] = parent[place]
    if operator == "restart" then new[place] = rng:random() < 0.5 end
  end
  if operator == "restart" or operator == "migration" then return new end
  for _ = 1, operator == "exploration" and 3 or 1 do
    local place = rng:integer(1, #new)
    new[place] = not new[place]
  end
  return new
end

flags.evaluate = time_of

return flags
