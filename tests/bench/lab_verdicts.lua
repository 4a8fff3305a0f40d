-- lab_verdicts: how often the lab's verdicts are wrong, and how often they find what there is: the tables of `make
-- lab-verdicts`. RUNS=400 campaigns of 30 seeds on five worlds: one policy against
-- itself by other chances, and against one that wastes a fifth of its evaluations. Exits 1 if too many are wrong.
local campaign = require "apsis.lab.campaign"
local compare = require "apsis.lab.compare"
local definition = require "apsis.lab.definition"
local overall = require "apsis.lab.overall"
local random = require "apsis.random"
local runtimes = require "apsis.lab.runtimes"
local stats = require "apsis.stats"

local RUNS, JOBS = tonumber(os.getenv "RUNS" or 400), tonumber(os.getenv "JOBS" or 2)
local SEEDS, EVALUATIONS, CHUNK = 30, 200, 20
local DATA = arg[0]:match "^(.*)bench/" .. "data/lab/"
local names = { "of=onemax,n=10", "of=onemax,n=20", "of=leadingones,n=8", "of=leadingones,n=12", "of=nk,n=8,k=2" }
local worlds = {}
for index, name in ipairs(names) do worlds[index] = assert(definition.load(DATA .. "streams.lua:" .. name)) end

-- The matrices of some campaigns, one after the other: each has its own seeds.
local function campaigns(count, waste, use)
  local strategies = { { label = "a", use = DATA .. "climb.lua", dir = ".", options = { stream = 1, waste = 0 } },
    { label = "b", use = DATA .. "climb.lua", dir = ".", options = { stream = 2, waste = waste } } }
  for first = 1, count, CHUNK do
    local many = math.min(CHUNK, count - first + 1)
    local result = campaign.run { strategies = strategies, worlds = worlds, first_seed = (first - 1) * SEEDS + 1,
      seeds = many * SEEDS, evaluations = EVALUATIONS, jobs = JOBS, history = true, limits = {} }
    if result.failure then error(result.failure.message, 0) end
    for one = 0, many - 1 do
      local matrix = {}
      for place, entry in ipairs(result.matrix) do
        matrix[place] = { strategy = entry.strategy, world = entry.world,
          records = table.move(entry.records, one * SEEDS + 1, (one + 1) * SEEDS, 1, {}) }
      end
      use(matrix, first + one)
    end
  end
end

local function decided(list, measure)
  for _, one in ipairs(list) do
    if one.verdict ~= "no difference shown" and (not measure or one.measure == measure) then return true end
  end
  return false
end

local function counter()
  local counts = {}
  return function(name, is) counts[name] = (counts[name] or 0) + (is and 1 or 0) end, counts
end

-- Of each world by itself, and of all together, how many campaigns had a verdict.
local function judged(count, waste)
  local add, counts = counter()
  local spreads = {}
  campaigns(count, waste, function(matrix, seed)
    local options = { seed = seed, evaluations = EVALUATIONS }
    for place = 1, #matrix, 2 do
      local list = compare({ matrix[place], matrix[place + 1] }, options)
      add(place // 2 + 1, decided(list, "time"))
      add("best", place == 1 and decided(list, "best"))
      local group = runtimes.groups({ matrix[place] })[1]
      for _, record in ipairs(matrix[place].records) do
        spreads[place // 2 + 1] = spreads[place // 2 + 1] or {}
        table.insert(spreads[place // 2 + 1], runtimes.hits(group, record, { 1 })[1] or EVALUATIONS)
      end
    end
    local list = compare(matrix, options)
    add("any", decided(list))
    add("overall", decided(overall.verdicts(matrix, list, options)))
  end)
  return counts, spreads
end

local function row(...) print("| " .. table.concat({ ... }, " | ") .. " |") end

local function share(count) return ("%d of %d"):format(count, RUNS) end

local null, spreads = judged(RUNS, 0)
local real = judged(RUNS, 5)
print(("%d campaigns each, %d seeds, at most %d evaluations\n"):format(RUNS, SEEDS, EVALUATIONS))
row("verdicts of time to target", "mean evaluations, spread / mean", "same policy", "ratio 0.8")
print "|---|---|---|---|"
for index, name in ipairs(names) do
  local mean, sd = stats.mean(spreads[index]), stats.sd(spreads[index])
  row(name, ("%.0f, %.2f"):format(mean, sd / mean), share(null[index]), share(real[index]))
end
row("all five, any verdict on one of them", "", share(null.any), share(real.any))
row("all five, the verdict over all worlds", "", share(null.overall), share(real.overall))

-- Lists of 20 differences with a mean of 0: how often the test and the interval both leave it out.
local shapes = {
  { "normal", function(rng) return rng:normal() end },
  { "exponential", function(rng) return -math.log(1 - rng:random()) - 1 end },
  { "lognormal, sigma 1", function(rng) return math.exp(rng:normal()) - math.exp(0.5) end },
  { "30 % at 7, the others at -3", function(rng) return rng:random() < 0.3 and 7 or -3 end },
  { "10 % at 9, the others at -1", function(rng) return rng:random() < 0.1 and 9 or -1 end },
}
print ""
row("20 differences of mean 0", "by ranks", "verdict")
print "|---|---|---|"
for _, shape in ipairs(shapes) do
  local ranks, both = 0, 0
  for run = 1, RUNS do
    local rng, list = random.stream(shape[1], run), {}
    for index = 1, 20 do list[index] = shape[2](rng) end
    local test, low, high = stats.signed_rank(list), stats.mean_interval(list, { rng = rng, draws = 1000 })
    if test.p < 0.05 then
      ranks = ranks + 1
      if low > 0 and test.plus > test.minus or high < 0 and test.plus < test.minus then both = both + 1 end
    end
  end
  row(shape[1], share(ranks), share(both))
end

local worst = math.max(null.any, null.overall, table.unpack(null))
if worst > 0.07 * RUNS then
  print(("\nMISSED: %d verdicts in %d campaigns of one policy against itself"):format(worst, RUNS))
  os.exit(1)
end
