-- shares: which parts of a change make its gain, found by leaving parts out of a simulated program. Its parts: ten of
-- real effect, twenty without any, and three that interact.
local direction = require "apsis.direction"
local random = require "apsis.random"
local search = require "apsis.live.search"
local shares = require "apsis.compare.shares"
local tap = require "tap"
local test, equal = tap.test, tap.equal

local SANITIZED = os.getenv "APSIS_SANITIZED"

local real = {}
for index = 1, 10 do real[3 * index] = 5 + index end

-- What the program takes without some parts, of those that simply add up.
local function added(gone)
  local sum = 20
  for part, cost in pairs(real) do
    if gone[part] then sum = sum + cost end
  end
  return sum
end

local function needed(gone) return added(gone) + ((gone[1] or gone[17] or gone[32]) and 30 or 0) end

-- Runs it on a program of value(gone); given: direction, count, most, noise, drift, seed. The result; how often it
-- measured.
local function run(value, given)
  given = given or {}
  local measured, rng = 0, random.stream(given.seed or 1, "noise")
  local result, why = shares.run { count = given.count or 33, most = given.most or 200, seed = given.seed or 1,
    metric = direction.new { name = "x", direction = given.direction or "lower" }, kept = function() end,
    measure = function(sets)
      local answers = {}
      for index, set in ipairs(sets) do
        measured = measured + 1
        if measured == given.interrupt then return nil end
        local gone = {}
        for _, part in ipairs(set) do gone[part] = true end
        local found = value(gone)
        if found and given.noise then
          found = found + given.noise * rng:normal() + (given.drift or 0) * measured
        end
        answers[index] = { value = found or nil, reason = not found and "it fails" or nil }
      end
      return answers
    end }
  return result, result and measured or why
end

-- The parts that matter, as text, in order.
local function named(result)
  local list = {}
  for _, unit in ipairs(result.units) do
    if unit.matters then list[#list + 1] = table.concat(unit.set, "+") end
  end
  return table.concat(list, " ")
end

local function share_of(result, name)
  for _, unit in ipairs(result.units) do
    if table.concat(unit.set, "+") == name then return math.floor(1000 * unit.share + 0.5) / 1000, unit end
  end
end

local PLANTED = "1+17+32 3 6 9 12 15 18 21 24 27 30"

test("ten real parts of 33 and three that need each other are named, and nothing else, within 200 measurements", function()
  local result, measured = run(needed)
  equal({ named(result), result.noisy, result.scale, result.ended }, { PLANTED, false, "sum" })
  assert(measured <= 100 and measured == result.used, measured)
  equal({ share_of(result, "30"), share_of(result, "1+17+32") }, { 0.111, 0.222, select(2, share_of(result, "1+17+32")) })
  equal(#select(2, share_of(result, "1+17+32")).members, 3)
end)

test("three parts that each do what the others do are one group, though none matters alone", function()
  local result = run(function(gone) return added(gone) + (gone[1] and gone[17] and gone[32] and 30 or 0) end)
  equal(named(result), PLANTED)
end)

test("a part without effect that hides the effect of another is found with it", function()
  local result = run(function(gone) return added(gone) + (gone[1] and gone[3] and 40 or 0) end)
  equal(named(result), "1+3 6 9 12 15 18 21 24 27 30")
end)

test("where losses multiply, or add up in the time that a rate has, independent parts are still apart", function()
  local product = run(function(gone)
    local time = gone[1] and gone[2] and 20 or 10
    for part, cost in pairs(real) do time = time * (gone[part] and 1 + cost / 20 or 1) end
    return time
  end)
  equal({ product.scale, named(product) }, { "ratio", "1+2 3 6 9 12 15 18 21 24 27 30" })
  local rate = run(function(gone) return 1000 / needed(gone) end, { direction = "higher" })
  equal({ rate.scale, named(rate), share_of(rate, "30") }, { "rate", PLANTED, 0.111, select(2, share_of(rate, "30")) })
end)

test("what fails alone is joined with what needs it", function()
  local result = run(function(gone)
    if gone[5] and not (gone[6] and gone[7]) or gone[1] and not (gone[3] and gone[9]) then return false end
    return added(gone)
  end)
  equal(named(result), "1+3+9 5+6+7 12 15 18 21 24 27 30")
end)

test("a rewrite of twelve parts that only work together is one group, and the rest is still told apart", function()
  local result, measured = run(function(gone)
    local count = 0
    for part = 10, 21 do count = count + (gone[part] and 1 or 0) end
    return (count == 0 or count == 12) and added(gone) + count
  end)
  equal(named(result), "3 6 9 10+11+12+13+14+15+16+17+18+19+20+21 24 27 30")
  assert(measured <= 200)
end)

test("the smallest patch keeps 95 % and leaves out what does nothing, what harms and what gains least", function()
  local result = run(function(gone) return needed(gone) - (gone[2] and 3 or 0) end)
  local gone = {}
  for _, part in ipairs(result.patch.without) do gone[part] = true end
  equal({ gone[2], gone[3], gone[6], gone[30], gone[1] }, { true, true, [4] = nil })
  assert(result.patch.keeps >= 0.95, result.patch.keeps)
  assert(share_of(result, "2") < 0)
end)

test("of parts that each do what the others do, the smallest patch has one", function()
  local result, measured = run(function(gone) return needed(gone) + (gone[2] and gone[5] and gone[8] and 30 or 0) end)
  local gone = {}
  for _, part in ipairs(result.patch.without) do gone[part] = true end
  equal({ gone[2] and gone[5], gone[8] or gone[17] or false }, { true, false })
  assert(result.patch.keeps >= 0.95 and measured == result.used, result.patch.keeps)
end)

test("too many parts for the budget: runs of them first, and those that matter are divided", function()
  local result, measured = run(function(gone)
    local time = 20 + ((gone[50] or gone[250]) and 20 or 0)
    for _, part in ipairs { 7, 8, 150, 299 } do time = time + (gone[part] and 5 or 0) end
    return time
  end, { count = 300 })
  equal(named(result), "7 8 50+250 150 299")
  assert(measured <= 200, measured)
end)

test("never more measurements than allowed, and what was found by then is given", function()
  for most = 5, 80, 5 do
    local result, measured = run(needed, { most = most })
    assert(result and measured <= most, most)
  end
  local result = run(needed, { most = 45 })
  equal(result.ended, "limit")
  equal({ run(needed, { interrupt = 2 }) }, { nil, "interrupted" })
  equal(run(needed, { interrupt = 30 }).ended, "interrupted")
end)

test("under noise and drift the same is named, with intervals that hold it", function()
  local result = run(needed, { noise = 1, drift = 0.02, most = 1000, seed = 3 })
  equal({ named(result), result.noisy }, { PLANTED, true })
  for part, cost in pairs(real) do
    local _, unit = share_of(result, tostring(part))
    assert(unit.low <= cost / 135 and cost / 135 <= unit.high, part)
  end
end)

test("under noise, of twenty parts without effect one is named in no more than one run of twenty or so", function()
  local runs, wrong = SANITIZED and 20 or 200, 0
  for seed = 1, runs do
    local result = run(function(gone) return gone[7] and 20 or 10 end, { count = 21, noise = 0.5, most = 300, seed = seed })
    if named(result) ~= "7" then wrong = wrong + 1 end
  end
  assert(wrong <= runs * 0.1, wrong)
end)

test("effects too faint to be shown one by one are shown for runs of neighbours, and not called an interaction", function()
  local result = run(function(gone)
    local time = 100
    for part in pairs(gone) do time = time + (part % 2) * 3 end
    return time
  end, { noise = 6, most = 1000 })
  local shown = 0
  for _, unit in ipairs(result.units) do
    equal(unit.members, nil)
    if unit.matters and #unit.set > 1 then shown = shown + #unit.set end
  end
  assert(shown >= 12, shown)
end)

test("a change without gain is not explained, with noise or without", function()
  equal({ run(function() return 10 end) }, { nil, "no better" })
  equal({ run(function(gone) return next(gone) and 9 or 10 end) }, { nil, "no better" })
  for seed = 1, 10 do equal(run(function() return 10 end, { noise = 0.5, most = 600, seed = seed }), nil) end
end)

test("noise that shows only when a loss is measured again is still noticed", function()
  local asked = 0
  local result = run(function(gone)
    asked = asked + 1
    return needed(gone) + (asked > 3 and asked % 2 / 100 or 0)
  end, { most = 1000 })
  equal({ result.noisy, named(result) }, { true, PLANTED })
end)

test("the candidate or the baseline fails: there is no result, and the reason", function()
  equal({ run(function(gone) return next(gone) and 10 end) }, { nil, "the candidate fails: it fails" })
  equal({ run(function(gone) return not gone[4] and 10 end) }, { nil, "the baseline fails: it fails" })
end)

test("smallest: the least that holds, in few questions where it is little of much", function()
  for seed = 1, 50 do
    local rng, wanted, list = random.stream(seed, "smallest"), {}, {}
    for index = 1, 64 do list[index] = index end
    for _ = 1, 3 do wanted[rng:integer(1, 64)] = true end
    local asked = 0
    local found = search.smallest(list, function(some)
      asked = asked + 1
      local count = 0
      for _, one in ipairs(some) do count = count + (wanted[one] and 1 or 0) end
      local all = 0
      for _ in pairs(wanted) do all = all + 1 end
      return count == all
    end, function() return false end)
    for _, one in ipairs(found) do assert(wanted[one]) end
    assert(asked <= 32, asked)
  end
end)

tap.done()
