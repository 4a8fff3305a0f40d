-- lab_race: how often a race of five equal variants drops one, and how often one that is faster than the other four is
-- dropped or wins; and what share of the trials a race saves. Running times are made here, on one world or on five, 30
-- seeds. RUNS=400 races. The table of lua/apsis/lab/README.md.
local race = require "apsis.lab.race"
local random = require "apsis.random"

local RUNS <const> = tonumber(os.getenv "RUNS" or 400)
local SEEDS <const>, EVALUATIONS <const>, MEAN <const> = 30, 600, 200
local NAMES <const> = { "a", "b", "c", "d", "e" }

local shapes = {
  { "1 (exponential)", function(rng) return -math.log(1 - rng:random()) end },
  { "0.35 (lognormal)", function(rng) return math.exp(0.34 * rng:normal()) end },
}

local function record(seed, time)
  local curve = { { 1, 0.0 } }
  for _, way in ipairs { 0.3, 0.5, 0.7, 0.9, 1 } do
    local at = math.max(2, math.floor(time * way * way))
    if at <= EVALUATIONS then curve[#curve + 1] = { at, way } end
  end
  return { seed = seed, direction = "higher", baseline = 0.0, target = 1, best = curve[#curve][2], curve = curve,
    evaluations = math.min(time, EVALUATIONS), seconds = 0, cost = 0 }
end

-- Instead of a campaign: the first strategy needs `ratio` of what the others need.
local function made(shape, ratio, run)
  return function(spec)
    local matrix = {}
    for world = 1, #spec.worlds do
      for _, strategy in ipairs(spec.strategies) do
        local records = {}
        for index = 1, spec.seeds do
          local seed = spec.first_seed + index - 1
          local rng = random.stream(shape[1], ratio, run, world, strategy.label, seed)
          records[index] = record(seed, 2 + math.floor(MEAN * shape[2](rng) * (strategy.label == "a" and ratio or 1)))
        end
        matrix[#matrix + 1] = { strategy = strategy.label, world = "w" .. world, records = records }
      end
    end
    return { matrix = matrix, seeds = spec.seeds, done = spec.seeds * #spec.strategies * #spec.worlds, running = {} }
  end
end

local function one(shape, ratio, worlds, run)
  local spec = { strategies = {}, worlds = {}, first_seed = 1, seeds = SEEDS, evaluations = EVALUATIONS }
  for index, name in ipairs(NAMES) do spec.strategies[index] = { label = name } end
  for index = 1, worlds do spec.worlds[index] = "w" .. index end
  local found = race.run(spec, { { variants = spec.strategies } }, { seed = run, evaluations = EVALUATIONS },
    made(shape, ratio, run)).race
  local first = false
  for _, dropped in ipairs(found.dropped) do first = first or dropped.strategy == "a" end
  return #found.dropped, first, found.saved
end

print "| spread of the runtimes / their mean | worlds | ratio of the first | any dropped | the first dropped | saved |"
print "|---|---|---|---|---|---|"
for _, shape in ipairs(shapes) do
  for _, worlds in ipairs { 1, 5 } do
    for _, ratio in ipairs { 1, 0.8, 0.5 } do
      local any, first, saved = 0, 0, 0
      for run = 1, RUNS do
        local dropped, was_first, share = one(shape, ratio, worlds, run)
        any, first, saved = any + (dropped > 0 and 1 or 0), first + (was_first and 1 or 0), saved + share
      end
      print(("| %s | %d | %.1f | %d | %d | %.0f %% |"):format(shape[1], worlds, ratio, any, first, 100 * saved / RUNS))
    end
  end
end
