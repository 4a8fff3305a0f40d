-- lab_power: how often the lab has a verdict on two strategies whose runtimes are made here: equal ones, and one that
-- needs 0.8 times the evaluations, by how much runtimes vary and on how many worlds. RUNS=400 campaigns of 30 seeds.
-- The second table of `make lab-verdicts`.
local compare = require "apsis.lab.compare"
local overall = require "apsis.lab.overall"
local random = require "apsis.random"

local RUNS <const> = tonumber(os.getenv "RUNS" or 400)
local SEEDS <const>, EVALUATIONS <const>, MEAN <const> = 30, 600, 200

-- The spread of runtimes by their mean, and a draw of one with the mean 1 or about it.
local shapes = {
  { "1 (exponential)", function(rng) return -math.log(1 - rng:random()) end },
  { "0.65 (lognormal)", function(rng) return math.exp(0.59 * rng:normal()) end },
  { "0.35 (lognormal)", function(rng) return math.exp(0.34 * rng:normal()) end },
}

-- A run that is at 50, 90 and 100 % of the way after growing parts of its time.
local function record(seed, time)
  local curve = { { 1, 0.0 } }
  for _, way in ipairs { 0.5, 0.9, 1 } do
    local at = math.max(2, math.floor(time * way * way))
    if at <= EVALUATIONS then curve[#curve + 1] = { at, way } end
  end
  return { seed = seed, direction = "higher", baseline = 0.0, target = 1, best = curve[#curve][2], curve = curve,
    evaluations = math.min(time, EVALUATIONS), hit = time <= EVALUATIONS and time or nil }
end

local function matrix(shape, ratio, worlds, run)
  local entries = {}
  for world = 1, worlds do
    for place, label in ipairs { "a", "b" } do
      local rng, records = random.stream(shape[1], ratio, run, world, place), {}
      for seed = 1, SEEDS do
        records[seed] = record(seed, 2 + math.floor(MEAN * shape[2](rng) * (place == 1 and ratio or 1)))
      end
      entries[#entries + 1] = { strategy = label, world = "w" .. world, records = records }
    end
  end
  return entries
end

local function has_verdict(list)
  for _, one in ipairs(list) do
    if one.verdict ~= "no difference shown" then return 1 end
  end
  return 0
end

print "| spread of the runtimes / their mean | worlds | ratio | any verdict on a world | over all worlds |"
print "|---|---|---|---|---|"
for _, shape in ipairs(shapes) do
  for _, worlds in ipairs { 1, 5 } do
    for _, ratio in ipairs { 1, 0.8 } do
      local any, all = 0, 0
      for run = 1, RUNS do
        local entries, options = matrix(shape, ratio, worlds, run), { seed = run, evaluations = EVALUATIONS }
        local list = compare(entries, options)
        any = any + has_verdict(list)
        if worlds > 1 then all = all + has_verdict(overall.verdicts(entries, list, options)) end
      end
      print(("| %s | %d | %g | %d of %d | %s |"):format(shape[1], worlds, ratio, any, RUNS,
        worlds > 1 and ("%d of %d"):format(all, RUNS) or ""))
      io.stdout:flush()
    end
  end
end
