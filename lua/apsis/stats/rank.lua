-- rank: Wilcoxon's signed-rank test of paired differences, and Holm's correction for many tests. A part of
-- apsis.stats. Only the caller knows what a positive difference means.
local normal = require "apsis.stats.normal"

local rank = {}

-- up to this many differences every pattern of signs is counted; the sums of more are close to normal
local EXACT = 50

-- The differences by size, and twice the rank of each, so that the middle rank of a tie is a whole number too.
local function ranked(differences)
  local list = {}
  for index = 1, #differences do
    local difference = differences[index]
    if difference ~= difference then error(("signed_rank: difference %d is not a number"):format(index), 3) end
    list[index] = { size = math.abs(difference), sign = difference }
  end
  table.sort(list, function(a, b) return a.size < b.size end)
  local first = 1
  while first <= #list do
    local last = first
    while last < #list and list[last + 1].size == list[first].size do last = last + 1 end
    for index = first, last do list[index].doubled = first + last end
    first = last + 1
  end
  return list
end

-- The share of all patterns of signs whose smaller rank sum is at most `least`: subsets counted by their sum, rank by
-- rank.
local function exact(ranks, least)
  local ways = { [0] = 1.0 }
  for sum = 1, least do ways[sum] = 0.0 end
  for _, doubled in ipairs(ranks) do
    for sum = least, doubled, -1 do ways[sum] = ways[sum] + ways[sum - doubled] end
  end
  local count = 0.0
  for sum = 0, least do count = count + ways[sum] end
  return math.min(1, 2 * count / 2.0 ^ #ranks)
end

-- By the normal distribution of the same mean and variance: the variance comes from the actual ranks, which corrects
-- for ties and zeros; half a rank towards the mean for continuity.
local function approximate(ranks, least)
  local mean, variance = 0, 0
  for _, doubled in ipairs(ranks) do
    mean = mean + doubled / 4
    variance = variance + doubled * doubled / 16
  end
  local distance = math.max(0, mean - least / 2 - 0.5)
  return normal.two_sided(distance / math.sqrt(variance))
end

-- Zeros by Pratt: they take the lowest ranks, which then count for neither side.
function rank.signed_rank(differences)
  local ranks, plus, minus = {}, 0, 0
  for _, entry in ipairs(ranked(differences)) do
    if entry.sign ~= 0 then ranks[#ranks + 1] = entry.doubled end
    if entry.sign > 0 then plus = plus + entry.doubled elseif entry.sign < 0 then minus = minus + entry.doubled end
  end
  local counted, least = #ranks <= EXACT, math.min(plus, minus)
  local p = (counted and exact or approximate)(ranks, least)
  return { p = p, plus = plus / 2, minus = minus / 2, n = #ranks, zeros = #differences - #ranks, exact = counted }
end

-- Step down: the k-th smallest of m times (m - k + 1), never below one before it, never above 1. In the order given.
function rank.holm(ps)
  local places, corrected, least = {}, {}, 0
  for index = 1, #ps do places[index] = index end
  table.sort(places, function(a, b)
    if ps[a] ~= ps[b] then return ps[a] < ps[b] end
    return a < b
  end)
  for position, place in ipairs(places) do
    least = math.max(least, math.min(1, (#ps - position + 1) * ps[place]))
    corrected[place] = least
  end
  return corrected
end

return rank
