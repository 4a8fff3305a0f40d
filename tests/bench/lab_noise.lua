-- lab_noise: what acceptance under noise keeps, in the lab and through the engine: the tables of `make lab-noise`, which
-- lua/apsis/noise/acceptance.md shows. RUNS=1000 runs of 100 candidates for each row, JOBS at a time; NULLS="t2 ar1": only
-- these rows of the first table. Exits 1 where a figure is missed.
local campaign = require "apsis.lab.campaign"
local definition = require "apsis.lab.definition"

local RUNS, JOBS = tonumber(os.getenv "RUNS" or 1000), tonumber(os.getenv "JOBS" or 2)
local CANDIDATES = 100
local missed = {}

local names = { gaussian = "gaussian", ["student-t"] = "Student's t, 3 df", lognormal = "lognormal, high tail",
  ["lognormal-low"] = "lognormal, low tail", trend = "gaussian, rising 3 sd in 1,000", drift = "gaussian, on a random walk",
  rounded = "rounded, 87 % equal", flaky = "flaky, 10 % lucky", rare = "flaky, 2 % lucky", t2 = "Student's t, 2 df",
  bimodal = "bimodal", ar1 = "AR(1), 0.9", quantised = "quantised to 1 sd", telegraph = "telegraph, 20 on a level",
  spikes = "spikes, 2 %", ["by-candidate"] = "spread by candidate" }
local still = { "gaussian", "student-t", "lognormal", "lognormal-low" }
local all = { "gaussian", "student-t", "lognormal", "lognormal-low", "trend", "drift" }
local nulls = { "gaussian", "student-t", "lognormal", "lognormal-low", "trend", "drift",
  "rounded", "flaky", "rare", -- metrics whose first five values may well be equal
  "t2", "bimodal", "ar1", "quantised", "telegraph", "spikes", "by-candidate" }
if os.getenv "NULLS" then
  nulls = {}
  for noise in os.getenv("NULLS"):gmatch "%S+" do nulls[#nulls + 1] = noise end
end
local no_bound = { ["by-candidate"] = true } -- a candidate with another spread is another candidate
-- The row that is nearest to the limit needs more runs to show that it keeps it: nine times as many, all counted.
local longer = { trend = { sensitive = 8 } }

local function strategy(preset)
  return { label = preset or "strict", use = "hillclimb", dir = ".", options = { patience = 1000000 },
    acceptance = preset and { preset = preset } }
end

-- The records of `count` runs (RUNS) from a seed on (1) for each preset ("strict": none), on worlds with this many real
-- improvements of this size.
local function runs(presets, noises, real, effect, count, first)
  local worlds, strategies = {}, {}
  for index, noise in ipairs(noises) do
    worlds[index] = assert(definition.load(("effects:real=%d,effect=%g,noise=%s"):format(real, effect, noise)))
  end
  for index, preset in ipairs(presets) do strategies[index] = strategy(preset ~= "strict" and preset or nil) end
  local result = campaign.run { strategies = strategies, worlds = worlds, first_seed = first or 1,
    seeds = count or RUNS, evaluations = 1000000, limits = { iterations = CANDIDATES }, jobs = JOBS, history = true }
  if result.failure then error(result.failure.message, 0) end
  local at = {}
  for place, entry in ipairs(result.matrix) do
    local noise = noises[(place - 1) // #presets + 1]
    at[noise] = at[noise] or {}
    at[noise][entry.strategy] = entry.records
  end
  return at
end

local function sum_of(records, value)
  local sum = 0
  for _, record in ipairs(records) do sum = sum + (value(record) or 0) end
  return sum
end

local function share(count, of) return of > 0 and 100 * count / of or 0 end

-- A cell of a table, marked where it does not hold what it must.
local function cell(text, holds, what)
  if holds or RUNS < 1000 then return text end -- few runs miss by chance
  missed[#missed + 1] = what .. ": " .. text
  return text .. " MISSED"
end

local function table_of(head, rows)
  print("| " .. table.concat(head, " | ") .. " |")
  print("|" .. ("---|"):rep(#head))
  for _, row in ipairs(rows) do print("| " .. table.concat(row, " | ") .. " |") end
  print()
end

local function any_false(record) return record.false_keeps > 0 and 1 or 0 end
local function cost_of(records, kind)
  return sum_of(records, function(record) return record.judged[kind].measurements end)
    / math.max(1, sum_of(records, function(record) return record.judged[kind].count end))
end

local function kept_of(records, kind)
  return share(sum_of(records, function(record) return record.judged[kind].kept end),
    sum_of(records, function(record) return record.judged[kind].count end))
end

-- The chance that at most `count` of `of` happen where each has the chance p.
local function at_most(count, of, p)
  local sum, term = 0, of * math.log(1 - p)
  for index = 0, count do
    sum = sum + math.exp(term)
    term = term + math.log((of - index) / (index + 1)) + math.log(p / (1 - p))
  end
  return sum
end

-- The upper 95 % bound of a share, exact (Clopper and Pearson, 1934).
local function upper_bound(count, of)
  if count == of then return 1 end
  local low, high = count / of, 1
  for _ = 1, 60 do
    local middle = (low + high) / 2
    if at_most(count, of, middle) > 0.05 then low = middle else high = middle end
  end
  return high
end

-- How many runs of a row have a false keep, and of how many; records: of RUNS of them.
local function false_runs(records, preset, noise)
  local bad, more = sum_of(records, any_false), (longer[noise] or {})[preset]
  if not more or RUNS < 1000 then return bad, RUNS end
  local others = runs({ preset }, { noise }, 0, 0, more * RUNS, 100001)[noise][preset]
  return bad + sum_of(others, any_false), (1 + more) * RUNS
end

local function nothing_to_find()
  local at, rows = runs({ "strict", "default", "sensitive" }, nulls, 0, 0), {}
  for _, noise in ipairs(nulls) do
    local strict, default, sensitive = at[noise].strict, at[noise].default, at[noise].sensitive
    local told = sum_of(strict, function(record) return record.observed - record.observed_baseline end) / RUNS
    local row = { names[noise], ("%.1f"):format(sum_of(strict, function(record) return record.false_keeps end) / RUNS),
      ("%.1f sd"):format(told) }
    for _, preset in ipairs { "default", "sensitive" } do
      local bad, count = false_runs(at[noise][preset], preset, noise)
      local bound = upper_bound(bad, count)
      row[#row + 1] = cell(("%.1f %% (%.1f)%s"):format(share(bad, count), 100 * bound,
        count > RUNS and (" of %d runs"):format(count) or ""), bound <= 0.05 or no_bound[noise],
        "runs with a false keep, " .. noise)
    end
    local cost = cost_of(default, "others")
    row[#row + 1] = cell(("%.2f"):format(cost), cost <= 4, "measurements of a candidate without effect, " .. noise)
    row[#row + 1] = ("%.1f"):format(cost_of(sensitive, "others"))
    rows[#rows + 1] = row
  end
  print(("No real effect: %d candidates, %d runs\n"):format(CANDIDATES, RUNS))
  table_of({ "noise", "strict: false keeps a run", "strict: reported gain",
    "default: runs with a false keep, % (upper 95 % bound: at most 5)", "sensitive: the same",
    "default: measurements a candidate (at most 4)", "sensitive: the same" }, rows)
end

-- Of the keeps of all runs, how many were false, in percent.
local function false_share(records)
  return share(sum_of(records, function(record) return record.false_keeps end), sum_of(records, function(record) return record.kept end))
end

local function one_to_find(preset, noises, effect, least, most)
  local at, rows = runs({ preset }, noises, 1, effect), {}
  for _, noise in ipairs(noises) do
    local records = at[noise][preset]
    local power, cost = kept_of(records, "better"), cost_of(records, "better")
    rows[#rows + 1] = { names[noise], cell(("%.1f %%"):format(power), power >= least, preset .. ", real ones kept, " .. noise),
      cell(("%.1f"):format(cost), cost <= most, preset .. ", measurements of a real one, " .. noise) }
  end
  print(("%s: one real improvement of %g sd among %d candidates, %d runs\n"):format(preset, effect, CANDIDATES, RUNS))
  table_of({ "noise", ("kept (at least %g %%)"):format(least),
    "measurements of it" .. (most < math.huge and (" (at most %g on average)"):format(most) or "") }, rows)
end

local function many_to_find(preset, noises, effect)
  local at, rows = runs({ "strict", preset }, noises, 20, effect), {}
  for _, noise in ipairs(noises) do
    local strict, records = at[noise].strict, at[noise][preset]
    local wrong = false_share(records)
    rows[#rows + 1] = { names[noise], ("%.0f %%"):format(false_share(strict)),
      cell(("%.2f %%"):format(wrong), wrong <= 5, preset .. ", false keeps, " .. noise), ("%.1f %%"):format(kept_of(records, "better")),
      ("%.1f"):format(cost_of(records, "better")), ("%.1f"):format(cost_of(records, "others")) }
  end
  print(("%s: 20 real improvements of %g sd among %d candidates, %d runs\n"):format(preset, effect, CANDIDATES, RUNS))
  table_of({ "noise", "strict: keeps that are false", "keeps that are false (at most 5 %)", "real ones kept", "measurements of a real one",
    "of another" }, rows)
  return at
end

-- What was told as gained, over what was.
local function told_gain(at, noises, preset)
  local rows = {}
  for _, noise in ipairs(noises) do
    local strict_told, strict_true, told, truly, covered, count = 0, 0, 0, 0, 0, 0
    for _, record in ipairs(at[noise].strict) do
      strict_told, strict_true = strict_told + record.observed - record.observed_baseline, strict_true + record.best - record.baseline
    end
    for _, record in ipairs(at[noise][preset]) do
      if record.gain then
        local gain = record.best - record.baseline
        told, truly, count = told + record.gain.gain, truly + gain, count + 1
        if record.gain.low <= gain and gain <= record.gain.high then covered = covered + 1 end
      end
    end
    local ratio = told / truly
    rows[#rows + 1] = { names[noise], ("%.2f"):format(strict_told / strict_true),
      cell(("%.3f"):format(ratio), math.abs(ratio - 1) <= 0.05, "told gain over true gain, " .. noise),
      ("%.1f %%"):format(share(covered, count)), ("%d"):format(count) }
  end
  print(("Reported gain divided by the true gain (%s)\n"):format(preset))
  table_of({ "noise", "strict: best measured less baseline", "final comparison (within 5 %)", "its 95 % interval contains the truth",
    "runs with a gain" }, rows)
end

nothing_to_find()
if os.getenv "NULLS" then os.exit(#missed == 0 and 0 or 1) end
one_to_find("default", all, 2, 80, 24)
one_to_find("sensitive", still, 1, 78, math.huge)
told_gain(many_to_find("default", all, 2), all, "default")
told_gain(many_to_find("sensitive", still, 1), still, "sensitive")
for index, text in ipairs(missed) do missed[index] = "missed: " .. text end
if RUNS < 1000 then print("With fewer than 1,000 runs nothing is judged.") os.exit(0) end
print(#missed == 0 and "All figures reached." or table.concat(missed, "\n"))
os.exit(#missed == 0 and 0 or 1)
