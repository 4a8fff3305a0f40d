-- apsis.selection: the rules beyond the case file: scores that are negative, zero, equal, missing, very large; many children.
local direction = require "apsis.direction"
local random = require "apsis.random"
local selection = require "apsis.selection"
local tap = require "tap"
local test, equal, raises = tap.test, tap.equal, tap.raises

local higher, lower = direction.new { direction = "higher" }, direction.new { direction = "lower" }

local function of(rule, scores, options)
  options = options or {}
  return selection.probabilities(rule, { scores = scores, children = options.children }, options.metric or higher, options.options)
end

local function sane(probabilities, what)
  local sum = 0
  for _, p in ipairs(probabilities) do
    assert(p >= 0 and p <= 1, what)
    sum = sum + p
  end
  assert(math.abs(sum - 1) < 1e-9, ("%s: the sum is %s"):format(what, sum))
end

test("whatever the scores, probabilities are probabilities", function()
  local lists = { { 0 }, { -3 }, { 0, 0, 0 }, { 5, 5, 5, 5 }, { -1, 0, 1 }, { -5, -4, -3 }, { 1e308, -1e308, 1.7e308 },
    { 5e-324, 0, -5e-324 }, { 0 / 0, 1, 1 / 0 }, { 1e-9, 1e9 } }
  for _, rule in ipairs(selection.rules) do
    for index, scores in ipairs(lists) do
      for _, metric in ipairs { higher, lower } do
        sane(of(rule, scores, { metric = metric }), rule .. " of list " .. index)
        sane(of(rule, scores, { metric = metric, children = { 1000, 1000, 1000, 1000 } }), rule .. " with children, list " .. index)
      end
    end
  end
end)

test("lower is the mirror image in every rule", function()
  for _, rule in ipairs(selection.rules) do
    for _, scores in ipairs { { 1, 2, 3 }, { -1, 0.5, 4 }, { -2, -3, -3, 0 } } do
      local mirrored = {}
      for index, score in ipairs(scores) do mirrored[index] = -score end
      local children = { 3, 0, 1, 2 }
      equal(of(rule, mirrored, { metric = lower, children = children }), of(rule, scores, { children = children }), rule)
    end
  end
end)

test("negative scores still weight parents sensibly", function()
  for _, rule in ipairs { "proportional", "proportional_child", "score_prop", "weighted", "power_law" } do
    local p = of(rule, { -3, -2, -1 })
    assert(p[1] > 0 and p[1] < p[2] and p[2] < p[3], rule)
  end
  equal(of("proportional", { -1, 1 }), { 0.25, 0.75 })
  equal(of("proportional", { -1000, 1000 }), { 0.25, 0.75 }, "in any unit")
end)

test("who has no value has no chance, unless nobody has one", function()
  for _, rule in ipairs(selection.rules) do
    local p = selection.probabilities(rule, { { value = -7 }, {}, { value = 0 / 0 } }, higher)
    equal(p, { 1, 0, 0 }, rule)
    sane(selection.probabilities(rule, { {}, {}, {} }, higher), rule)
    equal(selection.probabilities(rule, {}, higher), {}, rule)
  end
  equal(selection.probabilities("random", { {}, {} }, higher), { 0.5, 0.5 })
  equal(selection.probabilities("latest", { { value = 1 }, { value = 2 }, {} }, higher), { 0, 1, 0 })
end)

test("of equals the best is the last, and ranks are shared", function()
  equal(of("best", { 4, 4, 1 }), { 0, 1, 0 })
  equal(of("power_law", { 4, 4 }), { 0.5, 0.5 })
  local p = of("power_law", { 4, 4, 1 }, { options = { alpha = 2 } })
  assert(p[1] == p[2] and math.abs(p[1] - (1 + 1 / 4) / 2 / (1 + 1 / 4 + 1 / 9)) < 1e-12)
end)

test("so many children that every weight is too small for a number still leaves an order", function()
  local p = of("score_child_prop", { 1, 1, 1 }, { children = { 300, 200, 250 } })
  equal(p, { 0, 1, 0 })
end)

test("what is drawn follows the probabilities", function()
  local rng, drawn = random.stream(3), { a = 0, b = 0, c = 0 }
  for _ = 1, 10000 do
    local one = selection.pick(rng, { "a", "b", "c" }, { 0.2, 0, 0.8 })
    drawn[one] = drawn[one] + 1
  end
  assert(drawn.b == 0 and math.abs(drawn.a / 10000 - 0.2) < 0.02)
  equal(selection.pick(rng, {}, {}), nil)
  raises("as many", selection.pick, rng, { 1 }, {})
end)

test("an unknown rule or option is named", function()
  raises("no selection rule \"bset\".*did you mean \"best\"", of, "bset", { 1 })
  raises("no option \"beta\"", of, "power_law", { 1 }, { options = { beta = 1 } })
  raises("alpha", of, "power_law", { 1 }, { options = { alpha = "x" } })
end)

tap.done()
