-- lab_friedman: ranks over worlds whose truth is known.
local friedman = require "apsis.lab.friedman"
local random = require "apsis.random"
local tap = require "tap"
local test, equal = tap.test, tap.equal

test("mean ranks, ties sharing theirs, and p that match all orders counted", function()
  local found = friedman({ { 1, 2, 3 }, { 1, 2, 3 }, { 1, 3, 3 } }, { "a", "b", "c" }, { seed = 1 })
  equal({ found.worlds, found.ranks }, { 3, { { strategy = "a", rank = 1.0 }, { strategy = "b", rank = 6.5 / 3 },
    { strategy = "c", rank = 8.5 / 3 } } })
  equal({ found.pairs[1].a, found.pairs[1].b, #found.pairs }, { "a", "c", 3 })
  -- Two strategies, five worlds, one always first: 2 of 32 orders, for both tests.
  found = friedman({ { 1, 2 }, { 1, 2 }, { 1, 2 }, { 1, 2 }, { 1, 2 } }, { "a", "b" }, { seed = 2 })
  for _, p in ipairs { found.p, found.pairs[1].p } do
    assert(math.abs(p - 2 / 32) < 0.01, "p " .. p)
  end
end)

test("equal strategies are told apart in 5 % of campaigns, a faster one in most", function()
  local wrong, pairs_wrong, shown = 0, 0, 0
  for campaign = 1, 200 do
    local rng, same, other = random.stream("friedman", campaign), {}, {}
    for world = 1, 10 do
      same[world], other[world] = {}, {}
      for place = 1, 4 do
        same[world][place] = rng:normal()
        other[world][place] = rng:normal() - (place == 1 and 2 or 0)
      end
    end
    local names = { "a", "b", "c", "d" }
    local found = friedman(same, names, { seed = campaign, draws = 500 })
    wrong = wrong + (found.p < 0.05 and 1 or 0)
    pairs_wrong = pairs_wrong + (found.pairs[1].p < 0.05 and 1 or 0)
    found = friedman(other, names, { seed = campaign, draws = 500 })
    shown = shown + (found.p < 0.05 and found.pairs[1].p < 0.05 and found.pairs[1].a == "a" and 1 or 0)
  end
  assert(wrong <= 20 and pairs_wrong <= 20, wrong .. " and " .. pairs_wrong)
  assert(shown > 150, shown)
end)

tap.done()
