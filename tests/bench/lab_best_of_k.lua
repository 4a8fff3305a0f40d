-- lab_best_of_k: what best of K gains, in the lab and through the engine: the table of `make lab-best-of-k`, which
-- lua/apsis/lab/best_of_k.md shows. RUNS=200 runs for each cell, JOBS at a time. hillclimb on the world proposer, whose answers say how
-- sure they are: so that it tells, tells nothing, or misleads.
local campaign = require "apsis.lab.campaign"
local definition = require "apsis.lab.definition"
local direction = require "apsis.direction"
local random = require "apsis.random"
local stats = require "apsis.stats"

local RUNS, JOBS = tonumber(os.getenv "RUNS" or 200), tonumber(os.getenv "JOBS" or 2)
local EVALUATIONS, PROMPT, LENGTH = 100, 500, 500 -- a prompt's tokens, and an answer's own on average
local TOKENS = EVALUATIONS * (PROMPT + LENGTH)
local ks = { 1, 2, 3, 5 }

local cases = {
  { "calibrated", "calibration=1" }, { "half of them calibrated", "calibration=0.5" }, { "uninformative", "calibration=0" },
  { "miscalibrated", "calibration=-1" },
  { "calibrated, what is wrong is shorter", "calibration=1,length_relation=-0.5" },
  { "uninformative, what is right is shorter", "calibration=0,length_relation=0.5" },
}

local function strategies()
  local list = {}
  for index, k in ipairs(ks) do
    list[index] = { label = "K = " .. k, use = "hillclimb", dir = ".", options = { patience = 1000000 },
      trajectory = k > 1 and { enabled = true, k_candidates = k, complexity = "complex" } or nil }
  end
  return list
end

-- { [case] = { [K's place] = records } }: so many runs of each.
local function runs(evaluations, limits)
  local worlds, at = {}, {}
  for index, case in ipairs(cases) do
    worlds[index] = assert(definition.load(("proposer:goal=1000000,tokens=%d,length=%d,%s"):format(PROMPT, LENGTH, case[2])))
  end
  local result = campaign.run { strategies = strategies(), worlds = worlds, first_seed = 1, seeds = RUNS, evaluations = evaluations,
    limits = limits, jobs = JOBS, history = true }
  if result.failure then error(result.failure.message, 0) end
  for place, entry in ipairs(result.matrix) do
    local case = (place - 1) // #ks + 1
    at[case] = at[case] or {}
    table.insert(at[case], entry.records)
  end
  return at
end

local higher = direction.new { direction = "higher" }

-- "9.8 (9.5 to 10.1)": the mean over the runs of what the best is worth above the baseline, and its 95 % interval.
local function cell(records)
  local gains = {}
  for index, record in ipairs(records) do gains[index] = higher:gain(record.best, record.baseline) end
  local low, high = stats.bootstrap(gains, { rng = random.stream("best of k") })
  return ("%.2f (%.2f to %.2f)"):format(stats.mean(gains), low, high)
end

local function mean_of(at, key)
  local parts = {}
  for place, k in ipairs(ks) do
    local sum, count = 0, 0
    for _, case in ipairs(at) do
      for _, record in ipairs(case[place]) do sum, count = sum + record[key], count + 1 end
    end
    parts[place] = ("%.0f with K = %d"):format(sum / count, k)
  end
  return table.concat(parts, ", ")
end

local function show(title, at)
  print(title .. "\n")
  print("| confidence | K = 1 | K = 2 | K = 3 | K = 5 |\n|---|---|---|---|---|")
  for index, case in ipairs(cases) do
    local row = { case[1] }
    for place in ipairs(ks) do row[place + 1] = cell(at[index][place]) end
    print("| " .. table.concat(row, " | ") .. " |")
  end
  print(("\nTokens: %s. Evaluations: %s.\n"):format(mean_of(at, "tokens"), mean_of(at, "evaluations")))
end

show(("Equal evaluations: %d, %d runs each; gain of the best over the baseline, mean and 95 %% interval"):format(EVALUATIONS, RUNS),
  runs(EVALUATIONS, {}))
show(("Equal tokens: %d, %d runs each; the same"):format(TOKENS, RUNS), runs(1000000, { tokens = TOKENS }))
