-- The noise that the lab puts on measurements, by itself. What is random is held to three standard errors of the draws
-- there are; seeds are fixed.
local noise = require "apsis.lab.noise"
local random = require "apsis.random"
local tap = require "tap"
local test, equal = tap.test, tap.equal

local sanitized = os.getenv "APSIS_SANITIZED" == "1"

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

local function draws(count, draw)
  local list = {}
  for index = 1, count do list[index] = draw(index) end
  return list
end

local function expect_share(got, expected, count, what)
  close(got, expected, 3 * math.sqrt(expected * (1 - expected) / count), what)
end

local function noisy(kind, sd, count)
  local add = noise.new(kind, sd, random.stream("noise", kind))
  return draws(count, function(index) return add(10.0, index) - 10.0 end)
end

local many <const> = sanitized and 4000 or 40000

test("noise: gaussian, student-t and lognormal have mean 0 and the deviation that is configured", function()
  -- the relative error of a deviation, three times, from the kurtosis of each; that of student-t is infinite: by
  -- experience
  for kind, error_of_sd in pairs { gaussian = 3 / math.sqrt(2 * many), ["student-t"] = 0.2,
    lognormal = 3 * math.sqrt(112 / 4 / many) } do
    local mean, sd = moments(noisy(kind, 2.5, many))
    close(mean, 0, 3 * 2.5 / math.sqrt(many), kind .. ": mean")
    close(sd, 2.5, 2.5 * error_of_sd, kind .. ": deviation")
  end
  equal(noise.new("none", 5, nil)(3.5, 1), 3.5)
end)

test("noise: gaussian is symmetric, lognormal is skewed to the higher side and has a floor", function()
  local skewness = select(3, moments(noisy("gaussian", 1, many)))
  close(skewness, 0, 3 * math.sqrt(6 / many))
  local list = noisy("lognormal", 1, many)
  skewness = select(3, moments(list))
  equal(skewness > 3, true, "skewness " .. skewness)
  for _, value in ipairs(list) do equal(value > -0.763, true) end
end)

-- Beyond 4 of its standard deviations a t with 3 degrees of freedom lies with probability 0.00616, a normal with
-- 0.00006.
test("noise: student-t has heavy tails on both sides", function()
  local above, below = 0, 0
  for _, value in ipairs(noisy("student-t", 2, many)) do
    above, below = above + (value > 8 and 1 or 0), below + (value < -8 and 1 or 0)
  end
  expect_share(above / many, 0.00308, many, "above")
  expect_share(below / many, 0.00308, many, "below")
end)

test("noise: drift wanders by its deviation in 100 measurements, and has it from one to the next", function()
  local count, ends, steps = sanitized and 100 or 1000, {}, {}
  for run = 1, count do
    local add = noise.new("drift", 2, random.stream("drift", run))
    local first, sum = 0.0, 0.0
    for index = 1, 110 do
      local value = add(0.0, index)
      if index <= 10 then first = first + value / 10 end
      if index > 100 then sum = sum + value / 10 end
      if index == 2 then steps[run] = value end
    end
    ends[run] = sum - first
  end
  local mean, sd = moments(ends)
  -- means of ten apart by 100 steps: the walk between, less what lies within each ten, and the noise of both
  close(mean, 0, 3 * sd / math.sqrt(count), "mean")
  close(sd, 2 * math.sqrt(1 - 0.033 + 0.2), 3 * sd / math.sqrt(2 * count), "deviation")
  sd = select(2, moments(steps))
  close(sd, 2 * math.sqrt(1.01), 3 * 2 / math.sqrt(2 * count), "one measurement")
end)

test("noise: quantised, ar1 and spikes have mean 0 and the deviation that is configured, each in its way", function()
  for kind, tolerance in pairs { quantised = 0.1, ar1 = 0.1, spikes = 0.1 } do
    local mean, sd = moments(noisy(kind, 2, many))
    close(mean, 0, 0.15, kind .. ": mean")
    close(sd, 2 * (kind == "quantised" and math.sqrt(1 + 1 / 12) or 1), 2 * tolerance, kind .. ": deviation")
  end
  for _, value in ipairs(noisy("quantised", 2, 100)) do equal(value % 2, 0.0) end
  local list, same, spikes = noisy("ar1", 1, many), 0, 0
  for index = 2, #list do same = same + list[index] * list[index - 1] / (#list - 1) end
  close(same, 0.9, sanitized and 0.3 or 0.1, "what is there again")
  for _, value in ipairs(noisy("spikes", 1, many)) do spikes = spikes + (math.abs(value) > 4 and 1 or 0) end
  expect_share(spikes / many, 0.02, many, "spikes")
end)

test("noise: t2 has heavy tails; bimodal and telegraph have two levels, and telegraph stays on one", function()
  local far, turns = 0, { bimodal = 0, telegraph = 0 }
  for _, value in ipairs(noisy("t2", 2, many)) do far = far + (math.abs(value) > 8 and 1 or 0) end
  expect_share(far / many, 0.0572, many, "t2: beyond 4") -- 1 - 4 / sqrt(4^2 + 2)
  for kind, tolerance in pairs { bimodal = 0.03, telegraph = sanitized and 0.6 or 0.2 } do
    local list = noisy(kind, 2, many)
    local mean, sd = moments(list)
    close(mean, 0, tolerance * 2, kind .. ": mean")
    close(sd, 2, tolerance, kind .. ": deviation")
    for index = 2, #list do turns[kind] = turns[kind] + (list[index] * list[index - 1] < 0 and 1 or 0) end
  end
  expect_share(turns.bimodal / many, 0.5, many, "bimodal: the other level")
  -- 0.07 % of the values lie on the other side of 0 from their level
  expect_share(turns.telegraph / many, 0.05 + 2 * 0.0007, many, "telegraph: the other level")
end)

test("noise: a candidate has its own deviation, and one that is cold is 2 sd higher once", function()
  local add, cold = noise.new("by-candidate", 1, random.stream "own"), noise.new("cold", 1, random.stream "cold")
  local sds, firsts, others = {}, 0, 0
  for candidate = 1, 200 do
    local _, sd = moments(draws(40, function(index) return add(0, index, candidate) end))
    sds[candidate] = sd
    firsts, others = firsts + cold(0, 1, candidate) / 200, others + cold(0, 2, candidate) / 200
  end
  table.sort(sds)
  assert(sds[180] > 2.5 * sds[20], "some vary much more")
  close(firsts, 2, 0.3, "the first measurement")
  close(others, 0, 0.3, "the second")
end)

tap.done()
