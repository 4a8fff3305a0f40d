-- nk: Kauffman's NK landscape (1989): n bits, each of which contributes a random number that depends on itself and k
-- others; the value is the mean contribution. k = 0 has one peak; k = n - 1 is a random number a genome. The others are
-- the next k on a ring (neighbours=ring) or k at random (neighbours=random). Contributions are whole multiples of
-- 2^-20, so that a sum is the same in any order. The target is the global optimum, exactly, if it can be known: see
-- optimum.lua.
local bits = require "apsis.lab.bits"
local optimum = require "apsis.lab.optimum"
local operators = require "apsis.lab.operators"
local problems = require "apsis.options"

local nk = { options = { n = 20, k = 4, neighbours = "ring", rate = 1.0 }, direction = "higher", metric = "fitness",
  description = "Kauffman's NK landscape: n bits, each one's contribution depends on k others",
  operators = operators.names }

local scale <const> = 1 << 20
local most_numbers <const> = 1 << 21
-- The greatest sum of an instance, so that each is found once for all strategies; false: not to be known.
local known = {}

function nk.check(options)
  local wrong = problems.problem(options, { n = { integer = true, least = 1 }, k = { integer = true, least = 0,
    most = options.n - 1 }, neighbours = { one_of = { "ring", "random" } }, rate = { least = 0, most = options.n } })
  if wrong then return wrong end
  if options.k > 20 or options.n << options.k + 1 > most_numbers then
    return ("options n=%d, k=%d: the landscape has n * 2^(k+1) numbers, more than the %d there is room for"):format(
      options.n, options.k, most_numbers)
  end
end

-- The places that each place's contribution depends on, itself first.
local function neighbourhoods(options, rng)
  local n, list = options.n, {}
  for place = 1, n do
    local others = {}
    for other = 1, n - 1 do others[other] = (place - 1 + other) % n + 1 end
    if options.neighbours == "random" then rng:shuffle(others) end
    list[place] = table.move(others, 1, options.k, 2, { place })
  end
  return list
end

function nk.init(lab)
  local options, rng = lab.options, lab.rng
  lab.bits, lab.factors = bits.new(options.n, options.rate), {}
  for place, places in ipairs(neighbourhoods(options, rng)) do
    local values = {}
    for pattern = 0, (1 << options.k + 1) - 1 do values[pattern] = rng:integer(0, scale - 1) end
    lab.factors[place] = { places = places, values = values }
  end
  lab.scale = 1.0 / (scale * options.n)
  local key = ("%d %d %s %s"):format(options.n, options.k, options.neighbours, lab.seed)
  if known[key] == nil then known[key] = optimum.of(lab.factors, options.n) or false end
  lab.target = known[key] and known[key] * lab.scale or nil
end

function nk.baseline(lab)
  return lab.bits:random(lab.rng)
end

function nk.propose(lab, proposal, parents)
  return lab.bits:vary(proposal, parents, lab.rng)
end

-- On a ring one place's pattern is the last one's, a bit further.
local function ring_sum(factors, n, k, genome)
  local pattern, sum, top = 0, 0, 1 << k
  for place = 1, k do pattern = pattern | (genome:byte(place) & 1) << place end
  for place = 1, n do
    pattern = pattern >> 1 | (genome:byte((place + k - 1) % n + 1) & 1) * top
    sum = sum + factors[place].values[pattern]
  end
  return sum
end

local function any_sum(factors, n, genome)
  local values, sum = { genome:byte(1, n) }, 0
  for place = 1, n do
    local factor, pattern = factors[place], 0
    local places = factor.places
    for index = 1, #places do pattern = pattern | (values[places[index]] & 1) << index - 1 end
    sum = sum + factor.values[pattern]
  end
  return sum
end

function nk.evaluate(lab, genome)
  local options = lab.options
  if options.neighbours == "ring" then return lab.scale * ring_sum(lab.factors, options.n, options.k, genome) end
  return lab.scale * any_sum(lab.factors, options.n, genome)
end

function nk.parse(lab, text)
  return lab.bits:parse(text)
end

return nk
