-- race: a sweep's variants run block of seeds by block of seeds, and after each those go that a rank test shows to be
-- slower than the best (the idea is irace's: Lopez-Ibanez et al., 2016). On each world and seed variants are ranked by
-- the area under their ECDF of running times; the test is Nemenyi's, at a level that is shared by all looks. Strategies
-- without a sweep stay. Called by the command.
local campaign = require "apsis.lab.campaign"
local friedman = require "apsis.lab.friedman"
local runtimes = require "apsis.lab.runtimes"

local race = { block = 5 } -- seeds

local LEVEL <const>, DRAWS <const> = 0.05, 1000

-- Lower is better: for each world and seed a list, in the order of the labels.
local function scores_of(matrix, labels, options)
  local place, lists = {}, {}
  for index, label in ipairs(labels) do place[label] = index end
  for _, group in ipairs(runtimes.groups(matrix, options)) do
    local by_seed = {}
    for _, entry in ipairs(group.entries) do
      for index, record in ipairs(place[entry.strategy] and entry.records or {}) do
        if not by_seed[index] then
          by_seed[index] = {}
          lists[#lists + 1] = by_seed[index]
        end
        local _, area = runtimes.aocc(group, record)
        by_seed[index][place[entry.strategy]] = -area
      end
    end
  end
  return lists
end

-- losers(matrix, labels, options, looks) -> a set of the labels that are shown to be worse than the best of them.
function race.losers(matrix, labels, options, looks)
  local lost = {}
  if #labels < 2 then return lost end
  local test = friedman(scores_of(matrix, labels, options), labels, { seed = options.seed, draws = DRAWS })
  local best = test.ranks[1]
  for _, one in ipairs(test.ranks) do
    if one.rank < best.rank then best = one end
  end
  for _, pair in ipairs(test.pairs) do
    if pair.a == best.strategy and pair.p < LEVEL / looks then lost[pair.b] = true end
  end
  return lost
end

-- What two blocks found, in one.
local function joined(result, block)
  local found = {}
  for _, entry in ipairs(block.matrix) do found[entry.world .. "\0" .. entry.strategy] = entry.records end
  for _, entry in ipairs(result.matrix) do
    local more = found[entry.world .. "\0" .. entry.strategy]
    table.move(more, 1, #more, #entry.records + 1, entry.records)
  end
  result.seeds, result.done = result.seeds + block.seeds, result.done + block.done
  result.interrupted, result.running, result.failure = block.interrupted, block.running, block.failure
  return result
end

-- Takes those who lost out of the strategies and the matrix.
local function drop(self, result, lost)
  local left, entries = {}, {}
  for _, strategy in ipairs(self.alive) do
    if lost[strategy.label] then
      table.insert(result.race.dropped, { strategy = strategy.label, seeds = result.seeds })
    else
      left[#left + 1] = strategy
    end
  end
  for _, entry in ipairs(result.matrix) do
    if not lost[entry.strategy] then entries[#entries + 1] = entry end
  end
  self.alive, result.matrix = left, entries
end

local function judge(self, result)
  local lost = {}
  for _, grid in ipairs(self.grids) do
    local labels = {}
    for _, strategy in ipairs(self.alive) do
      if grid[strategy.label] then labels[#labels + 1] = strategy.label end
    end
    for label in pairs(race.losers(result.matrix, labels, self.options, self.looks)) do lost[label] = true end
  end
  drop(self, result, lost)
end

-- The next block's result, and how many trials there are in all if nobody else is dropped.
local function block_of(self, spec, result)
  local block = {}
  for key, value in pairs(spec) do block[key] = value end
  block.strategies, block.first_seed = self.alive, spec.first_seed + result.seeds
  block.seeds = math.min(race.block, spec.seeds - result.seeds)
  local done, each = result.done, #self.alive * #spec.worlds
  local total = done + (spec.seeds - result.seeds) * each
  block.progress = spec.progress and function(count, _, busy) spec.progress(done + count, total, busy) end
  return self.campaign(block), total
end

-- run(spec, grids, options, run): as campaign.run, which gets spec; grids: the sweep's; options: as of runtimes.groups,
-- and the seed; run: instead of campaign.run. The result has, too, race = { dropped = { {strategy, seeds = how many it
-- had}... }, saved = the share of trials that were not needed }, and of who was dropped nothing else.
function race.run(spec, grids, options, run)
  local self = { alive = spec.strategies, grids = {}, options = options,
    looks = math.ceil(spec.seeds / race.block) - 1, campaign = run or campaign.run }
  for index, grid in ipairs(grids) do
    self.grids[index] = {}
    for _, variant in ipairs(grid.variants) do self.grids[index][variant.label] = true end
  end
  local result = { seeds = 0, done = 0, matrix = {} }
  repeat
    local block, total = block_of(self, spec, result)
    if #result.matrix == 0 then
      block.race = { dropped = {} }
      result = block
    else
      result = joined(result, block)
    end
    result.total = total
    local ended = result.interrupted or result.failure or result.seeds >= spec.seeds
    if not ended then judge(self, result) end
  until ended
  local all = spec.seeds * #spec.strategies * #spec.worlds
  result.race.saved = (all - result.done) / all
  return result
end

return race
