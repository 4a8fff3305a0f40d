-- best of K in the lab: the world proposer, whose answers state a confidence, and what K of them take.
local definition = require "apsis.lab.definition"
local random = require "apsis.random"
local tap = require "tap"
local test, equal = tap.test, tap.equal

local sanitized = os.getenv "APSIS_SANITIZED"

-- Of this many answers of the world proposer: { confidence (0 to 1), tokens, improves }.
local function drawn(settings, count)
  local made = assert(definition.load("proposer:crash=0," .. settings))
  local lab = { options = made.options, seed = 1, rng = random.stream "draws" }
  made.module.init(lab)
  local list, parents = {}, { { value = 0.0, improvements = 0 } }
  for index = 1, count do
    local genome, words = made.module.propose(lab, { operator = "exploitation", k = 2 }, parents)
    list[index] = { words.steps[1].confidence / 100, words.output_tokens, genome.value > 0 }
  end
  return list
end

local function mean(list, place, wanted)
  local sum, count = 0, 0
  for _, one in ipairs(list) do
    if wanted == nil or one[3] == wanted then sum, count = sum + one[place], count + 1 end
  end
  return sum / count, count
end

test("the world proposer: with calibration 1 a share c of answers that state c improves, with 0 and -1 not", function()
  local count = sanitized and 2000 or 20000
  local function share(settings, low, high)
    local improved, stated, among = 0, 0, 0
    for _, one in ipairs(drawn(settings .. ",success=0.4", count)) do
      if one[1] >= low and one[1] < high then
        improved, stated, among = improved + (one[3] and 1 or 0), stated + one[1], among + 1
      end
    end
    return improved / among, stated / among, 5 * math.sqrt(0.25 / among)
  end
  for _, bin in ipairs { { 0, 0.2 }, { 0.2, 0.4 }, { 0.4, 0.6 }, { 0.6, 0.8 }, { 0.8, 1.01 } } do
    local improved, stated, tolerance = share("calibration=1", bin[1], bin[2])
    equal(math.abs(improved - stated) < tolerance, true, ("of %.3f stated %.3f"):format(stated, improved))
    improved, stated, tolerance = share("calibration=0", bin[1], bin[2])
    equal(math.abs(improved - 0.4) < tolerance, true, ("of %.3f stated %.3f"):format(stated, improved))
  end
  local sure = drawn("calibration=-1,success=0.4", count)
  equal(mean(sure, 1, false) > mean(sure, 1, true) + 0.2, true)
end)

test("its chances do not depend on what answers say, and lengths have the mean they are given", function()
  local first, second = drawn("calibration=1", 200), drawn("calibration=-1,length=400", 200)
  for index = 1, 200 do equal(first[index][3], second[index][3]) end
  local count = sanitized and 2000 or 20000
  local plain, telling = drawn("length=400", count), drawn("length=400,length_relation=0.5", count)
  equal(math.abs(mean(plain, 2) - 400) < 5 * 400 * 0.54 / math.sqrt(count), true, "mean " .. mean(plain, 2))
  equal(mean(telling, 2, true) < 0.8 * mean(telling, 2, false), true)
end)

test("chances of none and of certainty are stated without an error", function()
  for _, one in ipairs(drawn("success=0,calibration=-1,length=10,length_relation=1", 50)) do
    equal(one[1] >= 0 and one[1] <= 1, true)
  end
  for _, one in ipairs(drawn("success=1,calibration=1,length=10,length_relation=-1", 50)) do
    equal(one[1] >= 0 and one[1] <= 1, true)
  end
end)

test("in the lab K answers take K times the tokens, within a budget of them", function()
  local trial = require "apsis.lab.trial"
  local function tried(k, limits)
    return assert(trial.run { strategy = { use = "hillclimb", options = { patience = 1000 } }, seed = 3,
      evaluations = 31, limits = limits,
      definition = assert(definition.load "proposer:goal=1000000,tokens=100,cost=0.5"), trajectory = k > 1
      and { enabled = true, k_candidates = k, complexity = "epic" } or nil })
  end
  equal({ tried(1).tokens, tried(3).tokens, tried(3).cost, tried(3).evaluations }, { 3000, 9000, 45, 31 })
  local spent = tried(3, { tokens = 1000 }).tokens
  equal(spent, 1000)
end)

test("the proposer's estimate for K answers is K times one", function()
  local made = require("apsis.lab.world").new(assert(definition.load "proposer:tokens=7,cost=0.5,length=3"), 1, {})
  equal({ made:estimate { k = 3 } }, { 30, 1.5 })
end)

tap.done()
