-- lab_race: who goes in a race, over made campaigns.
local race = require "apsis.lab.race"
local tap = require "tap"
local test, equal = tap.test, tap.equal

-- Instead of a campaign: a variant is solved at the evaluation that its label is, more or less by the seed.
local function campaign(asked, ends_at)
  return function(spec)
    local matrix, seeds = {}, spec.seeds
    asked[#asked + 1] = ("%d+%d: %d"):format(spec.first_seed, spec.seeds, #spec.strategies)
    for _, strategy in ipairs(spec.strategies) do
      local records = {}
      for index = 1, seeds do
        local at = math.tointeger(tonumber(strategy.label:match "%d+")) + (spec.first_seed + index) % 3
        records[index] = { seed = spec.first_seed + index - 1, direction = "higher", baseline = 0.0, target = 1, best = 1,
          curve = { { 1, 0.0 }, { at, 1 } }, hit = at, evaluations = at, seconds = 0, cost = 0 }
      end
      matrix[#matrix + 1] = { strategy = strategy.label, world = "w", records = records }
    end
    return { matrix = matrix, seeds = seeds, done = seeds * #spec.strategies, running = {},
      interrupted = ends_at == #asked }
  end
end

local function run(labels, swept, ends_at)
  local spec, variants, asked = { strategies = {}, worlds = { "w" }, first_seed = 3, seeds = 23 }, {}, {}
  for index, label in ipairs(labels) do
    spec.strategies[index] = { label = label }
    if index <= swept then variants[index] = spec.strategies[index] end
  end
  local found = race.run(spec, { { variants = variants } }, { seed = 1, evaluations = 100 }, campaign(asked, ends_at))
  return found, asked
end

test("losers go after a block, the winner and who is not swept stay, and the saved share is of trials", function()
  local found, asked = run({ "x10", "x60", "x80", "x90" }, 3)
  equal(asked[1], "3+5: 4")
  equal(asked[#asked], "23+3: 2")
  equal(found.seeds, 23)
  local labels = {}
  for index, entry in ipairs(found.matrix) do
    labels[index] = entry.strategy
    equal({ #entry.records, entry.records[1].seed, entry.records[23].seed }, { 23, 3, 25 })
  end
  equal(labels, { "x10", "x90" })
  local left_out = 0
  for _, one in ipairs(found.race.dropped) do left_out = left_out + 23 - one.seeds end
  equal(#found.race.dropped, 2)
  equal({ found.done, found.race.saved, found.total }, { 92 - left_out, left_out / 92, found.done })
end)

test("equal variants all stay", function()
  local found, asked = run({ "x10", "y10", "z10" }, 3)
  equal({ #found.race.dropped, found.race.saved, #found.matrix, #asked }, { 0, 0.0, 3, 5 })
end)

test("an interrupted race ends with what is whole", function()
  local found, asked = run({ "x10", "x60" }, 2, 2)
  equal({ #asked, found.seeds, found.interrupted }, { 2, 10, true })
end)

tap.done()
