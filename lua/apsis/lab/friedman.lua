-- friedman: Friedman's test over worlds, and Nemenyi's of each pair: do strategies' ranks differ, and whose? On each
-- world strategies are ranked by the running times that the verdict over all worlds goes by. Both p are from random
-- orders within the worlds, so they hold for few worlds and for ties too (Friedman, 1937; Nemenyi, 1963; Demsar, 2006,
-- who gives tables for many worlds). Called by the command.
local random = require "apsis.random"

local DRAWS <const> = 10000

-- Ranks of some values, the lowest first; equal ones share their mean rank.
local function ranks_of(values)
  local ranks = {}
  for index, value in ipairs(values) do
    local below, equal = 0, 0
    for _, other in ipairs(values) do
      if other < value then below = below + 1 elseif other == value then equal = equal + 1 end
    end
    ranks[index] = below + (equal + 1) / 2
  end
  return ranks
end

-- The sums of ranks over worlds; their squares around the mean, and the range from the least to the most.
local function spread_of(sums, mean)
  local squares, least, most = 0, math.huge, -math.huge
  for _, sum in ipairs(sums) do
    squares = squares + (sum - mean) ^ 2
    least, most = math.min(least, sum), math.max(most, sum)
  end
  return squares, most - least
end

local function sums_of(ranks, count)
  local sums = {}
  for place = 1, count do
    sums[place] = 0
    for _, list in ipairs(ranks) do sums[place] = sums[place] + list[place] end
  end
  return sums
end

-- friedman(scores, names, { seed, draws }): scores = a list of values of the strategies, lower is better, for each
-- world -> { worlds, p, ranks = { {strategy, rank = its mean rank}... }, pairs = { {a, b (a ranks before b), p}... },
-- the least p first }.
return function(scores, names, options)
  local count, worlds, draws = #names, #scores, options.draws or DRAWS
  local rng, ranks = random.stream(options.seed or 0, "friedman"), {}
  for index, values in ipairs(scores) do ranks[index] = ranks_of(values) end
  local sums, mean = sums_of(ranks, count), worlds * (count + 1) / 2
  local observed = spread_of(sums, mean)
  local beyond, ranges = 1, {}
  for draw = 1, draws do
    for _, list in ipairs(ranks) do rng:shuffle(list) end
    local squares
    squares, ranges[draw] = spread_of(sums_of(ranks, count), mean)
    if squares >= observed - 1e-9 then beyond = beyond + 1 end
  end
  local found = { worlds = worlds, p = beyond / (draws + 1), ranks = {}, pairs = {} }
  for place, name in ipairs(names) do found.ranks[place] = { strategy = name, rank = sums[place] / worlds } end
  table.sort(ranges)
  for i = 1, count do
    for j = i + 1, count do
      local first, second = i, j
      if sums[second] < sums[first] then first, second = second, first end
      local wide, at = sums[second] - sums[first] - 1e-9, 0
      while at < draws and ranges[at + 1] < wide do at = at + 1 end
      table.insert(found.pairs, { a = names[first], b = names[second], p = (draws - at + 1) / (draws + 1) })
    end
  end
  table.sort(found.pairs, function(x, y)
    if x.p ~= y.p then return x.p < y.p end
    return x.a .. "\0" .. x.b < y.a .. "\0" .. y.b
  end)
  return found
end
