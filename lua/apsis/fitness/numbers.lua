-- fitness: the numbers of judging by domains: scores from 0 to 1 from tests, counts, benchmarks and rubrics, their
-- combinations, and parsers for the outputs of test runners and linters. Pure: runs nothing and reads no file.
-- direction decides which benchmark value is better. For the fitness domains of live runs and for strategies;
-- lua/meta/fitness.lua names the sources.
local count = require "apsis.fitness.parsers.count"
local csv = require "apsis.fitness.parsers.csv"
local direction = require "apsis.direction"
local parse = require "apsis.fitness.parsers.parse"
local stats = require "apsis.stats"
local suggest = require "apsis.suggest"

local fitness = {
  parse = parse.text, formats = parse.formats, count = count.text, csv_write = csv.write, csv_read = csv.read,
}

local SHARE, LEAST = 0.1, 10 -- of a staged evaluation
local GAME = 100
local NEAR = 1e-9 -- tolerance for weights that sum to 1

local scores = direction.new { name = "score" } -- orders scores: higher is better
local finite, amount = direction.finite, direction.amount

local function check(value, what, least)
  if not finite(value) or value < least then
    error(("%s must be a finite number of at least %s, not %s"):format(what, amount(least), tostring(value)), 3)
  end
end

-- A number of few digits, for people: 1.3, 73, 0.000012.
local function short(number)
  return ("%.6g"):format(number)
end

-- What to write in the manifest so that a value scores 1.
local function line(value)
  return ('"scale: %s"'):format(short(value))
end

-- The same for values that may fall below 0: which are worth 0 and 1.
local function span_line(from, to)
  return ('"span: [%s, %s]"'):format(short(from), short(to))
end

-- ---- one domain's score ----

function fitness.tests(passed, total)
  check(passed, "passed", 0)
  check(total, "total", 0)
  if total == 0 then return nil, "no test ran, so there is no score: zero tests are neither a pass nor a failure" end
  if passed > total then
    return nil, ("%s of %s tests passed, which cannot be"):format(amount(passed), amount(total))
  end
  return passed / total
end

function fitness.reduction(current, baseline, name)
  check(current, "current", 0)
  check(baseline, "baseline", 0)
  if current <= baseline then return baseline == 0 and 1 or 1 - current / baseline end
  return 0, ("%s: %s found, the baseline has %s: worse than the baseline scores 0"):format(name or "count",
    amount(current),
    amount(baseline))
end

-- The warning for a score outside 0 to 1; advice: what to do about it.
local function outside(name, score, advice)
  if not finite(score) or scores:reaches(1, score) and scores:reaches(score, 0) then return nil end
  return ("%s scores %s, %s: kept as measured, but scores should lie from 0 to 1; %s; then measure again (apsis "
    .. "baseline --again), for "
    .. "values of two scales do not compare"):format(name, short(score), scores:better(score, 1) and "above 1"
      or "below 0", advice)
end

function fitness.warning(name, score)
  if not finite(score) then return nil end
  if scores:better(0, score) then
    return outside(name, score,
      ("of a quantity that may fall below 0 set in the manifest which values are worth 0 and 1: %s, or less if "
      .. "less is possible (the worst and the best of the initial generation are a start)"):format(span_line(score, 1)))
  end
  local scale = 10.0 ^ math.ceil(math.log(math.max(1, score), 10) - NEAR)
  return outside(name, score,
    ("set in the manifest what is worth 1: %s, or more if more is possible"):format(line(scale)))
end

function fitness.benchmark(value, baseline, way, name)
  name = name or "benchmark"
  local metric = direction.new { direction = way, name = name }
  if not finite(value) then return nil, ("%s: %s is no measured value"):format(name, tostring(value)) end
  if not finite(baseline) then return nil, ("%s: there is no baseline to divide by"):format(name) end
  local higher = metric.direction == "higher"
  local above, below = value, baseline
  if not higher then above, below = baseline, value end
  if not (above >= 0 and below > 0) then
    return nil, ("%s: %s against the baseline's %s gives no ratio: values must be above 0; set in the manifest which "
      .. "values are worth 0 "
      .. "and 1 instead: \"span: [WORST, BEST]\", for instance of the initial generation"):format(name, short(value),
        short(baseline))
  end
  local score = above / below
  if not finite(score) then
    return nil, ("%s: %s is too far from the baseline's %s"):format(name, short(value), short(baseline))
  end
  return score, outside(name, score,
    ("it is %s; set in the manifest what is worth 1 instead: %s, or %s if that is possible"):format(
    higher and "divided by " .. short(baseline) or short(baseline) .. " divided by the value", line(value), higher
      and "more" or "less"))
end

-- ---- several scores, one number ----

-- The weights, normalised to sum to 1, and a list of warnings if they had to be.
local function shares(list, names)
  local sum, weights = 0, {}
  for index, one in ipairs(list) do
    local weight = one.weight == nil and 1 or one.weight
    if not finite(weight) or weight <= 0 then
      error(("weight of %s must be above 0, not %s"):format(names[index], tostring(weight)), 3)
    end
    weights[index], sum = weight, sum + weight
  end
  if math.abs(sum - 1) <= NEAR then return weights, {} end
  local said = {}
  for index, weight in ipairs(weights) do
    weights[index] = weight / sum
    said[index] = ("%s %s"):format(names[index], short(weights[index]))
  end
  return weights, { ("weights sum to %s, not 1; used are %s"):format(short(sum), table.concat(said, ", ")) }
end

local function names_of(list, kind)
  local names = {}
  for index, one in ipairs(list) do names[index] = one.name and tostring(one.name) or ("%s %d"):format(kind, index) end
  return names
end

function fitness.composite(components)
  local names = names_of(components, "component")
  if #names == 0 then return nil, "no components, so there is no score", {} end
  local weights, warnings = shares(components, names)
  local overall = 0
  for index, component in ipairs(components) do
    if not finite(component.score) then
      return nil, names[index] .. " has no score, so there is none overall", warnings
    end
    overall = overall + component.score * weights[index]
    warnings[#warnings + 1] = fitness.warning(names[index], component.score)
  end
  return overall, nil, warnings
end

function fitness.aggregate(list)
  local number, sum = math.max(list.n or 0, #list), 0
  for index = 1, number do
    if not finite(list[index]) then return nil end
    sum = sum + list[index]
  end
  if number > 0 then return sum / number end
end

function fitness.rubric(dimensions)
  local names = names_of(dimensions, "dimension")
  if #names == 0 then return nil, "no dimensions, so there is no score", {} end
  local weights, warnings = shares(dimensions, names)
  local overall = 0
  for index, one in ipairs(dimensions) do
    local most = one.scale_max
    if not finite(most) or most <= 0 then
      error(("scale_max of %s must be above 0, not %s"):format(names[index], tostring(most)), 2)
    end
    if not finite(one.score) then return nil, names[index] .. " has no score, so there is none overall", warnings end
    if not (scores:reaches(one.score, 0) and scores:reaches(most, one.score)) then
      return nil, ("%s is %s, which is not from 0 to %s"):format(names[index], short(one.score), short(most)), warnings
    end
    overall = overall + one.score / most * weights[index]
  end
  return overall, nil, warnings
end

-- ---- staged evaluation ----

function fitness.staged_size(items, options)
  check(items, "items", 0)
  local share, least = options and options.share or SHARE, options and options.least or LEAST
  local size = math.ceil(items * share - NEAR)
  return math.tointeger(math.min(items, math.max(size, least)))
end

function fitness.staged(raw, staged, full)
  check(staged, "staged", 0)
  check(full, "full", 1)
  if staged > full then error(("staged %s is above full %s"):format(amount(staged), amount(full)), 2) end
  if finite(raw) then return raw * (staged / full) end
end

function fitness.staged_gate(score, threshold)
  return scores:better(score, threshold or 0) and finite(score) and "full" or "stop"
end

-- ---- normalisation ----

local kinds = {}

function kinds.score(spec)
  return spec.value, fitness.warning(spec.name or "score", spec.value)
end

function kinds.game(spec)
  local scale = spec.scale or GAME
  if not finite(scale) or scale <= 0 then error("scale must be above 0, not " .. tostring(scale), 3) end
  local name, score = spec.name or "game", spec.value / scale
  local advice = ('it is divided by %s; set in the manifest what is worth 1: %s, or more'):format(short(scale),
    line(spec.value))
  if scores:better(0, score) then return score, fitness.warning(name, score) end
  return score, outside(name, score, advice)
end

function kinds.error(spec)
  if not finite(spec.baseline) then
    return nil, ("%s: there is no baseline to divide by"):format(spec.name or "error")
  end
  return fitness.reduction(spec.value, spec.baseline, spec.name or "error")
end

function kinds.baseline(spec)
  return fitness.benchmark(spec.value, spec.baseline, spec.direction, spec.name or "value")
end

fitness.kinds = { "score", "game", "error", "baseline" }

function fitness.normalize(spec)
  local kind = kinds[spec.kind]
  if not kind then
    error(("kind %q is not one of %s%s"):format(tostring(spec.kind), table.concat(fitness.kinds, ", "),
      suggest.sentence(tostring(spec.kind), fitness.kinds)), 2)
  end
  if not finite(spec.value) then
    return nil, ("%s: %s is no measured value"):format(spec.name or spec.kind, tostring(spec.value))
  end
  return kind(spec)
end

function fitness.minmax(values, way, source)
  local metric, measured = direction.new { direction = way }, {}
  for index = 1, math.max(values.n or 0, #values) do
    if finite(values[index]) then measured[#measured + 1] = values[index] end
  end
  local low, high = stats.min(measured), stats.max(measured)
  if #measured < 2 or metric:tied(low, high) then
    return nil, "the initial generation has no two different values, so it does not give the scale; set it by hand"
  end
  local best = metric:better_of(low, high)
  local worst = best == high and low or high
  return function(value, name)
    if not finite(value) then return nil, ("%s: %s is no measured value"):format(name or "value", tostring(value)) end
    local score = (value - worst) / (best - worst)
    local from, to = metric:better(worst, value) and value or worst, metric:better_of(value, best)
    return score, outside(name or "value", score,
      ("it is %s, and %s goes from %s to %s; set in the manifest a span that includes it: %s"):format(
      short(value), source or "the initial generation", short(worst), short(best), span_line(from, to)))
  end
end

return fitness
