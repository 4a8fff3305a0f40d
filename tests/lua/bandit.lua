-- bandit: which model is asked next: fixed, by weight, or by UCB1 with costs and pulls in flight.
local bandit = require "apsis.bandit"
local random = require "apsis.random"
local tap = require "tap"
local test, equal = tap.test, tap.equal

local rng = random.stream(1, "bandit")

test("fixed always takes the first, whatever it yields", function()
  local arms = bandit.new { names = { "a", "b" }, choice = "fixed" }
  for _ = 1, 5 do
    equal(arms:choose(rng, { a = 3 }), "a")
    arms:learn("a", nil, 9)
  end
end)

test("weighted draws in proportion to the weights", function()
  local arms, counts = bandit.new { names = { "a", "b", "c" }, weights = { 1, 2, 7 } }, { a = 0, b = 0, c = 0 }
  for _ = 1, 5000 do
    local name = arms:choose(rng)
    counts[name] = counts[name] + 1
  end
  equal(math.abs(counts.a - 500) < 100 and math.abs(counts.b - 1000) < 130 and math.abs(counts.c - 3500) < 150, true)
end)

test("ucb tries the untried first, by falling weight, and one in flight is no longer untried", function()
  local arms = bandit.new { names = { "a", "b", "c", "d" }, weights = { 1, 5, 5, 2 }, choice = "ucb" }
  equal(arms:choose(rng), "b")
  equal(arms:choose(rng, { b = 1 }), "c")
  equal(arms:choose(rng, { b = 1, c = 1 }), "d")
  equal(arms:choose(rng, { b = 1, c = 1, d = 1 }), "a")
  arms:learn("b", 1)
  equal(arms:choose(rng, {}), "c")
end)

test("ucb's index is UCB1's, worked out by hand", function()
  local arms = bandit.new { names = { "a", "b" }, choice = "ucb" }
  for _ = 1, 4 do arms:learn("a", 0.5) end
  arms:learn("b", 0.1)
  -- a: 0.5 + sqrt(2 ln 5 / 4) = 1.397; b: 0.1 + sqrt(2 ln 5 / 1) = 1.894
  equal(arms:choose(rng), "b")
  for _ = 1, 3 do arms:learn("b", 0.1) end
  equal(arms:choose(rng), "a") -- as many pulls each: the mean decides
end)

test("a pull in flight narrows the bound and leaves the mean alone", function()
  local arms = bandit.new { names = { "a", "b" }, choice = "ucb" }
  arms:learn("a", 0.6)
  arms:learn("b", 0.5)
  equal(arms:choose(rng), "a")
  equal(arms:choose(rng, { a = 1 }), "b")
  equal(arms:choose(rng, { a = 1, b = 1 }), "a")
end)

test("parallel pulls of arms without any result spread over them", function()
  local arms, pending = bandit.new { names = { "a", "b", "c" }, choice = "ucb" }, {}
  for _ = 1, 9 do
    local name = arms:choose(rng, pending)
    pending[name] = (pending[name] or 0) + 1
  end
  equal(pending, { a = 3, b = 3, c = 3 })
end)

test("a failure counts as the worst reward", function()
  local arms = bandit.new { names = { "a", "b" }, choice = "ucb" }
  for _ = 1, 3 do
    arms:learn("a", nil)
    arms:learn("b", 0.01)
  end
  equal(arms:choose(rng), "b")
end)

test("of two that yield the same the cheaper one is taken, and the price must not decide alone", function()
  local arms = bandit.new { names = { "dear", "cheap" }, choice = "ucb" }
  for _ = 1, 10 do
    arms:learn("dear", 0.5, 0.04)
    arms:learn("cheap", 0.5, 0.01)
  end
  equal(arms:choose(rng), "cheap")
  local worth = bandit.new { names = { "dear", "cheap" }, choice = "ucb" }
  for _ = 1, 1000 do
    worth:learn("dear", 0.9, 0.02)
    worth:learn("cheap", 0.1, 0.01)
  end
  equal(worth:choose(rng), "dear")
end)

test("costs known beforehand count until there are real ones; a cost of 0 is none", function()
  local arms = bandit.new { names = { "a", "b" }, choice = "ucb", costs = { a = 1, b = 100 } }
  arms:learn("a", 0.5)
  arms:learn("b", 0.5)
  equal(arms:choose(rng), "a")
  arms:learn("a", 0.5, 100)
  arms:learn("b", 0.5, 1)
  equal(arms:choose(rng), "b")
  local free = bandit.new { names = { "a", "b" }, choice = "ucb" }
  free:learn("a", 0.9, 0)
  free:learn("b", 0.1, 0)
  equal(free:choose(rng), "a")
end)

test("ucb finds the better of two arms", function()
  local arms, pulled = bandit.new { names = { "bad", "good" }, choice = "ucb" }, { bad = 0, good = 0 }
  for _ = 1, 500 do
    local name = arms:choose(rng)
    pulled[name] = pulled[name] + 1
    arms:learn(name, rng:random() < (name == "good" and 0.8 or 0.2) and 1 or 0)
  end
  equal(pulled.good > 400, true, "good was pulled " .. pulled.good .. " times of 500")
end)

test("mistakes are refused by name", function()
  tap.raises("names is empty", bandit.new, {})
  tap.raises("unknown key \"weight\"", bandit.new, { names = { "a" }, weight = 1 })
  tap.raises("named twice", bandit.new, { names = { "a", "a" } })
  tap.raises("weights%[2%] must be above 0", bandit.new, { names = { "a", "b" }, weights = { 1, 0 } })
  tap.raises("not one of fixed, weighted, ucb", bandit.new, { names = { "a" }, choice = "best" })
  local arms = bandit.new { names = { "a" } }
  tap.raises("no arm \"b\"", arms.learn, arms, "b", 1)
  tap.raises("from 0 to 1", arms.learn, arms, "a", 0 / 0)
  tap.raises("from 0 to 1", arms.learn, arms, "a", 1.5)
end)

tap.done()
