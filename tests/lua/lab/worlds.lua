-- The lab's worlds, their genomes and operators, each by itself: no engine, no strategy. What is random is held to
-- three standard errors of the draws there are; seeds are fixed.
local bits = require "apsis.lab.bits"
local definition = require "apsis.lab.definition"
local random = require "apsis.random"
local reals = require "apsis.lab.reals"
local tap = require "tap"
local test, equal = tap.test, tap.equal

local sanitized = os.getenv "APSIS_SANITIZED" == "1"

-- A world as the lab makes it: its instance, and its proposals' stream.
local function instance(text, seed)
  local loaded = assert(definition.load(text))
  local lab = { options = loaded.options, seed = seed or 1, rng = random.stream(seed or 1, "instance") }
  if loaded.module.init then loaded.module.init(lab) end
  local baseline = loaded.module.baseline(lab)
  lab.rng = random.stream(seed or 1, "proposals")
  return loaded.module, lab, baseline
end

local function close(got, expected, tolerance, what)
  if math.abs(got - expected) <= tolerance then return end
  error(("%s: got %.6g, expected %.6g +- %.3g"):format(what or "", got, expected, tolerance), 2)
end

-- Mean, standard deviation and skewness.
local function moments(list)
  local sum, squares, cubes = 0.0, 0.0, 0.0
  for index = 1, #list do sum = sum + list[index] end
  local mean = sum / #list
  for index = 1, #list do
    local off = list[index] - mean
    squares, cubes = squares + off ^ 2, cubes + off ^ 3
  end
  local sd = math.sqrt(squares / #list)
  return mean, sd, cubes / #list / sd ^ 3
end

-- ---- bits ----

test("bits.ones counts the ones of a genome of any length", function()
  local rng = random.stream(1)
  for n = 0, 200 do
    local genome = bits.new(n):random(rng)
    local _, expected = genome:gsub("1", "")
    equal(bits.ones(genome), expected, genome)
  end
  equal({ bits.ones(("1"):rep(1000)), bits.ones(("0"):rep(1000)), bits.ones "" }, { 1000, 0, 0 })
end)

test("bits: a flip reaches each place as often as its probability says, and leaves the length alone", function()
  local rng, n, count = random.stream(2), 20, 4000
  for _, probability in ipairs { 0.05, 0.3, 0.5 } do
    local family, flips = bits.new(n), {}
    for place = 1, n do flips[place] = 0 end
    for _ = 1, count do
      local new = family:flip(("01"):rep(n // 2), probability, rng)
      equal(#new, n)
      for place = 1, n do flips[place] = flips[place] + ((new:byte(place) & 1) ~ (place + 1) % 2) end
    end
    local tolerance = 4 * math.sqrt(probability * (1 - probability) / count) -- 60 places are looked at
    for place = 1, n do close(flips[place] / count, probability, tolerance, probability .. " at " .. place) end
  end
  equal({ bits.new(3):flip("010", 0, rng), bits.new(3):flip("010", 1, rng) }, { "010", "101" })
end)

local function flipped_by(operator, step, n)
  local rng, family, zero, sum = random.stream(3), bits.new(n, 1.0), ("0"):rep(n), 0
  for _ = 1, 2000 do
    sum = sum + bits.ones(family:vary({ operator = operator, notes = step and { step = step } }, { zero }, rng))
  end
  return sum / 2000
end

test("bits: exploitation flips one bit on average, exploration ten, notes.step times as many, never more than half",
  function()
  local function expect(got, expected) close(got, expected, 3 * math.sqrt(expected / 2000)) end
  expect(flipped_by("exploitation", nil, 100), 1)
  expect(flipped_by("weighted", nil, 100), 1)
  expect(flipped_by("exploration", nil, 100), 10)
  expect(flipped_by("exploitation", 3, 100), 3)
  expect(flipped_by("exploitation", 1000, 100), 50)
  equal(flipped_by("migration", nil, 100), 0.0)
  expect(flipped_by("restart", nil, 100), 50)
end)

test("bits: crossover takes each place from one of its parents, migration then changes nothing", function()
  local rng, family = random.stream(4), bits.new(40, 1.0)
  local first, second, sum = ("0"):rep(20) .. ("1"):rep(20), ("1"):rep(40), 0
  for _ = 1, 500 do
    local child = family:vary({ operator = "migration" }, { first, second }, rng)
    equal(child:sub(21), ("1"):rep(20))
    sum = sum + bits.ones(child:sub(1, 20))
  end
  close(sum / 500, 10, 3 * math.sqrt(5 / 500))
  equal(family:vary({ operator = "migration" }, { second, second }, rng), second)
end)

-- ---- reals ----

test("reals: a step is normal on every coordinate, and makes a new point", function()
  local module, lab = instance "sphere:d=2,step=0.5"
  for _, case in ipairs { { "exploitation", nil, 0.5 }, { "exploration", nil, 5.0 }, { "exploitation", 4, 2.0 } } do
    local from, list = { 1.0, -1.0 }, {}
    for _ = 1, 4000 do
      local to = module.propose(lab, { operator = case[1], notes = case[2] and { step = case[2] } }, { from })
      list[#list + 1], list[#list + 2] = to[1] - 1.0, to[2] + 1.0
    end
    local mean, sd = moments(list)
    close(mean, 0, 3 * case[3] / math.sqrt(#list), case[1])
    close(sd, case[3], 3 * case[3] / math.sqrt(2 * #list), case[1])
    equal(from, { 1.0, -1.0 })
  end
end)

test("reals: crossover's coordinates are its parents', restart's and the baseline's lie in the box", function()
  local module, lab, baseline = instance "ackley:d=6"
  local low, high = { 0, 0, 0, 0, 0, 0 }, { 1, 1, 1, 1, 1, 1 }
  local child, sum = module.propose(lab, { operator = "migration" }, { low, high }), 0
  for _, x in ipairs(child) do
    equal(x == 0 or x == 1, true)
    sum = sum + x
  end
  equal(sum > 0 and sum < 6, true, "of both")
  for _, point in ipairs { baseline, module.propose(lab, { operator = "restart" }, { low }) } do
    equal(#point, 6)
    for _, x in ipairs(point) do equal(math.abs(x) <= 32.768, true) end
  end
end)

-- By hand or with another program, from the functions' definitions.
test("sphere, rastrigin, rosenbrock and ackley have their optimum where it is known, and known values elsewhere",
  function()
  local cases = {
    { "sphere:d=3", { 0, 0, 0 }, 0 }, { "sphere:d=3", { 1, -2, 3 }, 14 },
    { "rastrigin:d=3", { 0, 0, 0 }, 0 }, { "rastrigin:d=3", { 1, -2, 3 }, 14 }, { "rastrigin:d=2", { 0.5, 0.5 }, 40.5 },
    { "rosenbrock:d=3", { 1, 1, 1 }, 0 }, { "rosenbrock:d=3", { 0, 0, 0 }, 2 }, { "rosenbrock:d=2", { -1.2, 1 }, 24.2 },
    { "rosenbrock:d=3", { 2, 1, -1 }, 901 + 400 }, { "ackley:d=3", { 0, 0, 0 }, 0 },
      { "ackley:d=2", { 1, 1 }, 3.6253849384403627 },
    { "ackley:d=1", { 0.5 }, 20 * (1 - math.exp(-0.1)) + math.exp(1) - math.exp(-1) },
  }
  for _, case in ipairs(cases) do
    local module, lab = instance(case[1])
    close(module.evaluate(lab, case[2]), case[3], 1e-12, case[1])
    if case[3] == 0 then equal(module.evaluate(lab, case[2]), 0.0, case[1]) end
  end
end)

test("reals: as text a point reads back as it was", function()
  local module, lab, baseline = instance "sphere:d=5"
  local read = {}
  for line in module.text(lab, baseline):gmatch "[^\n]+" do read[#read + 1] = tonumber(line) end
  equal(read, baseline)
  equal(#reals.random(7, -1, 1, lab.rng), 7)
end)

-- ---- leadingones, nk ----

test("leadingones counts the ones a genome begins with", function()
  local module, lab = instance "leadingones:n=4"
  equal({ module.evaluate(lab, "0111"), module.evaluate(lab, "1101"), module.evaluate(lab, "1111") }, { 0, 2, 4 })
end)

local function genome_of(n, number)
  local list = {}
  for place = 1, n do list[place] = number >> place - 1 & 1 end
  return table.concat(list)
end

-- The value of every genome, and each of them from the contributions as they are defined.
local function all_values(module, lab)
  local n, values = lab.options.n, {}
  for number = 0, (1 << n) - 1 do values[number] = module.evaluate(lab, genome_of(n, number)) end
  return values
end

test("nk: the target is the highest value that any genome has", function()
  for _, case in ipairs { "n=1,k=0", "n=6,k=0", "n=8,k=2", "n=10,k=4", "n=8,k=7", "n=10,k=9", "n=12,k=5" } do
    for _, neighbours in ipairs { "ring", "random" } do
      for seed = 1, sanitized and 1 or 3 do
        local module, lab = instance(("nk:%s,neighbours=%s"):format(case, neighbours), seed)
        local highest = 0
        for _, value in pairs(all_values(module, lab)) do highest = math.max(highest, value) end
        equal(lab.target, highest, case .. " " .. neighbours)
      end
    end
  end
end)

test("nk: the value is the mean of contributions, each of which its bit and its neighbours decide", function()
  for _, neighbours in ipairs { "ring", "random" } do
    local module, lab, genome = instance("nk:n=9,k=3,neighbours=" .. neighbours)
    local sum = 0
    for place, factor in ipairs(lab.factors) do
      local pattern = 0
      for index, other in ipairs(factor.places) do
        pattern = pattern + (tonumber(genome:sub(other, other)) << index - 1)
      end
      if neighbours == "ring" then
        equal(factor.places, { place, place % 9 + 1, (place + 1) % 9 + 1, (place + 2) % 9 + 1 })
      end
      equal(factor.places[1], place)
      sum = sum + factor.values[pattern]
    end
    close(module.evaluate(lab, genome), sum / 9 / 2 ^ 20, 1e-15)
  end
end)

local function peaks(n, values)
  local count = 0
  for number = 0, (1 << n) - 1 do
    local highest = true
    for bit = 0, n - 1 do highest = highest and values[number ~ 1 << bit] < values[number] end
    count = count + (highest and 1 or 0)
  end
  return count
end

-- Over instances, neighbours' values are correlated by 1 - (k + 1)/n; there are 1 peak at k = 0, and 2^n/(n + 1) on
-- average at k = n - 1 (Kauffman and Levin, 1987).
test("nk: neighbours' values are correlated by 1 - (k+1)/n, and k = n-1 has 2^n/(n+1) peaks, k = 0 has one", function()
  local n, count = 8, sanitized and 10 or 60
  for _, k in ipairs { 0, 3, 7 } do
    local correlations, tops = {}, {}
    for seed = 1, count do
      local module, lab = instance(("nk:n=%d,k=%d"):format(n, k), seed)
      local values, sum = all_values(module, lab), 0.0
      for number = 0, (1 << n) - 1 do
        for bit = 0, n - 1 do sum = sum + (values[number] - 0.5) * (values[number ~ 1 << bit] - 0.5) end
      end
      correlations[seed], tops[seed] = sum / (n << n) * 12 * n, peaks(n, values) -- the variance of a value is 1/(12 n)
    end
    local mean, sd = moments(correlations)
    close(mean, 1 - (k + 1) / n, 3 * sd / math.sqrt(count), "k = " .. k)
    mean, sd = moments(tops)
    if k == 0 then equal({ mean, sd }, { 1.0, 0.0 }) end
    if k == 7 then close(mean, 2 ^ n / (n + 1), 3 * sd / math.sqrt(count), "peaks") end
  end
end)

test("nk: one seed is one landscape, another seed another; and where the optimum cannot be known there is no target",
  function()
  local _, first = instance("nk", 1)
  local _, again = instance("nk", 1)
  local _, other = instance("nk", 2)
  equal(again.factors, first.factors)
  equal(again.target, first.target)
  equal(other.target ~= first.target, true)
  local _, wide = instance "nk:n=60,k=8,neighbours=random"
  equal(wide.target, nil)
end)

-- ---- kmodule, proposer ----

test("kmodule: nothing is right at first, changes are of one module, and shown the same they come of the same ideas",
  function()
  for seed = 1, 20 do
    local module, lab, baseline = instance("kmodule", seed)
    equal({ module.evaluate(lab, baseline), lab.target }, { 0, 4 })
    local seen, free = {}, {}
    for _ = 1, 300 do
      local child = module.propose(lab, { operator = "exploitation" }, { baseline })
      local changed = 0
      for at = 1, 4 do changed = changed + (child:byte(at) ~= baseline:byte(at) and 1 or 0) end
      equal(changed, 1)
      seen[child] = true
      free[module.propose(lab, { operator = "restart" }, { baseline })] = true
    end
    local count = 0
    for _ in pairs(seen) do count = count + 1 end
    equal(count, 8, "two ideas for each of four modules")
    count = 0
    for _ in pairs(free) do count = count + 1 end
    equal(count > 150, true, "restart draws from all")
  end
end)

test("kmodule: shown other programs the model changes the best of them, and thinks of other things", function()
  local module, lab, baseline = instance "kmodule"
  local best = string.char(table.unpack(lab.right))
  lab.attach { genomes = { [0] = baseline, best } }
  for _ = 1, 50 do
    local proposal = { operator = "exploitation", inspirations = { "c0000", "c0001" } }
    equal(module.evaluate(lab, module.propose(lab, proposal, { baseline })), 3)
  end
  local seen, count = {}, 0
  for index = 1, 400 do
    local shown = string.char(97 + index % 4 % 2, 97 + index % 2, 97 + index % 3, 97 + index % 5)
    if module.evaluate(lab, shown) == 0 then
      lab.genomes = { [3] = shown }
      local child = module.propose(lab, { operator = "exploitation", inspirations = { "c0003", "c0004" } },
        { baseline })
      if not seen[child] then seen[child], count = true, count + 1 end
    end
  end
  equal(count > 8, true, count .. " different")
  equal(module.text(lab, "ab"), "module_1 = option_a\nmodule_2 = option_b")
end)

-- Of many changes to one parent: how many improve, crash, and what the gains and losses are.
local function changes(text, parent, operator)
  local module, lab = instance(text)
  local gains, losses, crashes, count = {}, {}, 0, sanitized and 2000 or 20000
  for _ = 1, count do
    local child = module.propose(lab, { operator = operator or "exploitation" }, { parent })
    if child.crashed then
      crashes = crashes + 1
      equal({ child.value, child.improvements, (module.evaluate(lab, child)) }, { parent.value, parent.improvements })
    elseif child.value > parent.value then
      gains[#gains + 1] = child.value - parent.value
      equal(child.improvements, parent.improvements + 1)
    else
      losses[#losses + 1] = parent.value - child.value
      equal(child.improvements, parent.improvements)
    end
  end
  return gains, losses, crashes / count, count
end

local function expect_share(got, expected, count, what)
  close(got, expected, 3 * math.sqrt(expected * (1 - expected) / count), what)
end

test("proposer: success falls by decay with each improvement; gains, losses and crashes are as configured", function()
  for _, improvements in ipairs { 0, 5, 20 } do
    local parent = { value = 7.0, improvements = improvements }
    local gains, losses, crashes, count = changes("proposer:success=0.4,decay=0.9,gain=2,loss=0.5,crash=0.1", parent)
    expect_share(crashes, 0.1, count, "crashes")
    expect_share(#gains / (#gains + #losses), 0.4 * 0.9 ^ improvements, #gains + #losses, "success")
    local mean, sd = moments(gains)
    close(mean, 2, 3 * 2 / math.sqrt(#gains), "gain")
    close(sd, 2, 3 * 2 * math.sqrt(2 / #gains), "an exponential's deviation is its mean; its own error is sd sqrt(2/n)")
    close(moments(losses), 0.5, 3 * 0.5 / math.sqrt(#losses), "loss")
  end
end)

test("proposer: lognormal gains have the mean that is configured, and a deviation by gain_sigma", function()
  local gains = changes("proposer:success=0.5,decay=1,distribution=lognormal,gain=3,gain_sigma=0.5,crash=0",
    { value = 0.0, improvements = 0 })
  local mean, sd = moments(gains)
  local expected = 3 * math.sqrt(math.exp(0.25) - 1)
  close(mean, 3, 3 * expected / math.sqrt(#gains), "mean")
  close(sd, expected, 3 * expected * math.sqrt(2 / #gains), "deviation")
  local logarithms = {}
  for index, gain in ipairs(gains) do logarithms[index] = math.log(gain) end
  mean, sd = moments(logarithms)
  close(mean, math.log(3) - 0.125, 3 * 0.5 / math.sqrt(#gains), "mean of the logarithm")
  close(sd, 0.5, 3 * 0.5 / math.sqrt(2 * #gains), "deviation of the logarithm")
end)

test("proposer: exploration: half the chance, twice the gain; crossover: from the better; migration copies the last",
  function()
  local gains, losses, _, count = changes("proposer:success=0.4,decay=1,gain=1,loss=1,crash=0",
    { value = 0.0, improvements = 3 }, "exploration")
  expect_share(#gains / count, 0.2, count, "chance")
  close(moments(gains), 2, 3 * 2 / math.sqrt(#gains), "gain")
  close(moments(losses), 2, 3 * 2 / math.sqrt(#losses), "loss")
  local module, lab, baseline = instance "proposer:success=0,loss=0,crash=0"
  local low, high = { value = 1.0, improvements = 1 }, { value = 9.0, improvements = 4 }
  equal(module.propose(lab, { operator = "crossover" }, { low, high }), high)
  equal(module.propose(lab, { operator = "migration" }, { high, low }), low)
  equal(module.propose(lab, { operator = "restart" }, { high }), baseline)
  equal({ module.evaluate(lab, { value = 1.0, improvements = 0, crashed = true }) },
    { nil, { reason = "the program crashed" } })
end)

test("cascade: the first stage sees the first bits only, and its threshold would stop the first genome", function()
  local module, lab, baseline = instance "cascade:n=20,quick=4,threshold=3"
  equal({ baseline, lab.thresholds, lab.target }, { ("0"):rep(20), { 3 }, 20 })
  local genome = "0111" .. ("1"):rep(10) .. "000000"
  equal({ module.evaluate(lab, genome, 1), module.evaluate(lab, genome, 2), module.evaluate(lab, baseline, 1) }, { 3, 13, 0 })
end)

-- ---- the suite's own ----

test("blocks: with royal only whole blocks count; with trap others are worth the more, the fewer ones they have",
  function()
  local module, lab = instance "blocks:blocks=3,width=3"
  equal({ lab.target, module.evaluate(lab, "111110000"), module.evaluate(lab, "111111111") }, { 9, 3, 9 })
  module, lab = instance "blocks:kind=trap,blocks=3,width=3"
  equal({ lab.target, module.evaluate(lab, "111110000"), module.evaluate(lab, "000000100"),
    module.evaluate(lab, "111111111") }, { 9, 5, 5, 9 })
end)

test("flags: the target is the least time of all settings; a proposal changes one flag, exploration up to three",
  function()
  for seed = 1, 4 do
    for _, n in ipairs { 9, 10 } do
      local module, lab, baseline = instance(("flags:n=%d,pairs=2"):format(n), seed)
      local least = math.huge
      for setting = 0, (1 << n) - 1 do
        local genome = {}
        for place = 1, n do genome[place] = setting >> place - 1 & 1 == 1 end
        least = math.min(least, module.evaluate(lab, genome))
      end
      equal({ lab.target, module.evaluate(lab, baseline) }, { least, 100.0 }, seed)
      for _, case in ipairs { { "exploitation", 1 }, { "exploration", 3 } } do
        local changed, new = 0, module.propose(lab, { operator = case[1] }, { baseline })
        for place = 1, n do changed = changed + (new[place] and 1 or 0) end
        equal(changed == case[2] or changed == case[2] - 2, true)
      end
    end
  end
end)

test("tour: the target is the shortest of all tours, and a tour is as long from wherever it begins", function()
  local module, lab, baseline = instance "tour:n=6"
  local least, order = math.huge, {}
  local function try(left)
    if #order == lab.options.n then least = math.min(least, module.evaluate(lab, order)) end
    for city = 1, lab.options.n do
      if left & 1 << city ~= 0 then
        order[#order + 1] = city
        try(left & ~(1 << city))
        order[#order] = nil
      end
    end
  end
  try((1 << lab.options.n + 1) - 2)
  equal(lab.target, least)
  local turned = table.move(baseline, 2, 6, 1, { [6] = baseline[1] })
  equal(module.evaluate(lab, turned), module.evaluate(lab, baseline))
  for _, operator in ipairs { "exploitation", "exploration", "crossover", "migration", "restart" } do
    local new = module.propose(lab, { operator = operator }, { baseline, turned })
    table.sort(new)
    equal(new, { 1, 2, 3, 4, 5, 6 }, operator)
  end
end)

test("mixed: the right choices and their numbers are worth 0, and a wrong choice costs", function()
  local module, lab = instance "mixed"
  local genome = { lab.places[1][lab.right[1]], lab.places[2][lab.right[2]], lab.places[3][lab.right[3]],
    table.unpack(lab.right) }
  equal(module.evaluate(lab, genome), 0.0)
  genome[4] = genome[4] % lab.options.options + 1
  equal(module.evaluate(lab, genome) >= 0.2, true)
end)

test("programs: the right one is worth 1 and no other is; as many crash as configured, always the same", function()
  local module, lab, baseline = instance "programs:modules=6,crash=0.3"
  local crashed, count = 0, 2000
  equal({ module.evaluate(lab, lab.right), math.type(module.evaluate(lab, baseline)) }, { 1.0, "float" })
  for _ = 1, count do
    local genome = module.propose(lab, { operator = "restart" }, {})
    local value = module.evaluate(lab, genome)
    equal(value, (module.evaluate(lab, genome)))
    equal(genome == lab.right or not value or value < 1, true)
    if not value then crashed = crashed + 1 end
  end
  close(crashed / count, 0.3, 0.05) -- 4096 programs, of which a share crashes
  module, lab = instance "programs:crash=0,levels=4"
  for _ = 1, 50 do equal(module.evaluate(lab, module.propose(lab, { operator = "restart" }, {})) * 4 % 1, 0.0) end
end)

test("programs: shown the same, the model has the same ideas; shown others, it has other ones", function()
  local module, lab, baseline = instance "programs:modules=4,options=9,ideas=2"
  local function seen_with(inspirations)
    local seen, count = {}, 0
    for _ = 1, 400 do
      local new = module.propose(lab, { operator = "exploitation", inspirations = inspirations }, { baseline })
      if not seen[new] then seen[new], count = true, count + 1 end
    end
    return count, seen
  end
  lab.genomes[7] = "abcd"
  local count, alone = seen_with {}
  local others, beside = seen_with { "c0007" }
  equal({ count, others }, { 8, 8 })
  for genome in pairs(alone) do beside[genome] = nil end
  equal(next(beside) ~= nil, true)
end)

-- ---- all of them ----

test("every shipped world loads, describes itself, and evaluates its baseline and what its operators make", function()
  local shipped = definition.shipped()
  equal(#shipped >= 9, true)
  for _, name in ipairs(shipped) do
    if name ~= "replay" then
      local module, lab, baseline = instance(name)
      equal(type(module.description) .. type(module.metric), "stringstring", name)
      equal(math.type(module.evaluate(lab, baseline)) ~= nil, true, name)
      for _, operator in ipairs { "exploitation", "exploration", "crossover", "migration", "restart", "anything" } do
        local genome = module.propose(lab, { operator = operator }, { baseline, baseline })
        local value, said = module.evaluate(lab, genome)
        equal(value ~= nil or said.reason ~= nil, true, name .. " " .. operator)
      end
    end
  end
end)

tap.done()
