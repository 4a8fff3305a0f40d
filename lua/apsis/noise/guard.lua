-- guard: whether a metric beside the one that is optimised has been spoilt, judged with the same care for noise:
-- nothing counts as held, or as spoilt, that the measurements do not show. Non-inferiority by Welch's t on the
-- difference of two arms, one-sided, looked at a few times that are known before. A part of apsis.acceptance, called by
-- core/guards; measures nothing itself.
local confirm = require "apsis.noise.labels"
local stats = require "apsis.stats"
local student = require "apsis.noise.student"

local guard = {}

-- What a manifest's max_regression means: { share } of a percentage such as 5%, { amount } of a number; nil if it is
-- neither.
function guard.limit(given)
  if type(given) == "number" then return given > 0 and given < math.huge and { amount = given } or nil end
  local percent = type(given) == "string" and tonumber(given:match "^%s*(%d*%.?%d*)%s*%%%s*$")
  return percent and percent > 0 and percent < math.huge and { share = percent / 100 } or nil
end

-- How often is looked until each arm has `most` measurements, from `count` on, when their number doubles from look to
-- look.
function guard.looks(count, most)
  local looks = 1
  while count < most do
    count, looks = guard.next(count, most), looks + 1
  end
  return looks
end

-- The error that a comparison with the original may make: of what a run may spend, 1 - confidence, and one of `count`
-- guards has its part of, what is left after so many candidates that such a comparison rejected. All of them together
-- make no more than that.
function guard.error(confidence, rejected, count)
  return confirm.level({ confidence = confidence }, { spent = rejected }) / count
end

-- At how many measurements the next look is.
function guard.next(count, most)
  return math.min(math.max(2 * count, 2), most)
end

-- Whether values have no spread.
function guard.even(values)
  for index = 2, #values do
    if values[index] ~= values[1] then return false end
  end
  return true
end

-- What is allowed of a reference, and what the reference counts for where the limit is a share of it.
local function allowed(spec, reference)
  local epsilon = spec.metric.epsilon
  if spec.amount then return math.max(spec.amount, epsilon), 1 end
  local size = spec.share * math.abs(reference)
  if epsilon > size then return epsilon, 1 end
  local toward = reference > 0 and 1 or -1
  return size, 1 - spec.share * toward * spec.metric.sign
end

local LEAST = 1e-9 -- no error is smaller: there the quantiles of a t would not be exact

local known = {} -- quantiles are asked for again and again

local function quantile(error, freedom)
  local of_error = known[error] or {}
  known[error] = of_error
  of_error[freedom] = of_error[freedom] or student.two_sided(1 - 2 * error, freedom)
  return of_error[freedom]
end

-- The interval around the excess over the limit: a function that says half its width for a one-sided error, where both
-- arms have `times` as many measurements. Welch's t, whose degrees of freedom (Welch and Satterthwaite's) are rounded
-- down. weight: of the best's mean, which a limit in percent counts too.
local function half_width(spec, weight)
  local own, other = spec.candidate, spec.best
  local of_own, of_other = stats.sd(own) ^ 2 / #own, weight ^ 2 * stats.sd(other) ^ 2 / #other
  local variance = of_own + of_other
  local freedom = variance ^ 2 / (of_own ^ 2 / (#own - 1) + of_other ^ 2 / (#other - 1))
  return function(error, times)
    if error >= 0.5 then return 0.0 end
    local whole = freedom == freedom and math.max(1, math.floor(math.min(times * freedom, 1e4) + 1e-9)) or 1
    return quantile(math.max(error, LEAST), whole) * math.sqrt(variance / times)
  end
end

-- Whether values can be compared as they are: both arms without a spread (of a metric that is known to have one, only
-- when there is no more to measure), or a single measurement each that nothing says is noisy.
local function exact(spec)
  if #spec.candidate == 1 and #spec.best == 1 then return not spec.noisy end
  return (spec.last or not spec.varies) and guard.even(spec.candidate) and guard.even(spec.best)
end

-- What the intervals say. rejects: the error of the lower bound, where it is not that of the upper one; most: how many
-- measurements an arm can have, where it is to be rejected already when even these could hardly show it.
local function by_interval(spec, seen, weight, limit)
  local half = half_width(spec, weight)
  local error = (1 - spec.confidence) / (spec.looks or 1)
  seen.low, seen.high = seen.worse - half(spec.rejects or error, 1), seen.worse + half(error, 1)
  if seen.high <= limit then return "holds" end
  if seen.low > limit then return "spoilt" end
  seen.clear = false
  local times = spec.most and spec.most / math.min(#spec.candidate, #spec.best)
  return times and times > 1 and seen.low + half(error, times) > limit and "spoilt" or nil
end

-- judge{ metric, share | amount, candidate = values, best = values, confidence, looks, noisy, varies, last, rejects,
-- most } -> "holds", "spoilt" or "more", and what was seen: { worse (positive: the candidate is worse), low, high (nil
-- if nothing was estimated), limit, reference, candidate, best (counts), clear }. looks: how often is looked in all;
-- last: no more can be measured, and what is not clear then is spoilt.
function guard.judge(spec)
  local reference, own = stats.mean(spec.best), stats.mean(spec.candidate)
  local limit, weight = allowed(spec, reference)
  local seen = { worse = spec.metric:gain(reference, own), limit = limit, reference = reference,
    candidate = #spec.candidate,
    best = #spec.best, clear = true }
  if not seen.worse then -- beyond what a number holds
    seen.worse = math.huge
    return "spoilt", seen
  end
  local slack = 1e-12 * math.max(math.abs(reference), math.abs(own)) -- the rounding of the difference
  if exact(spec) then return seen.worse <= limit + slack and "holds" or "spoilt", seen end
  seen.clear = false
  if #spec.candidate >= 2 and #spec.best >= 2 and not (spec.varies and guard.even(spec.candidate)
    and guard.even(spec.best)) then
    seen.clear = true
    local verdict = by_interval(spec, seen, weight, limit + slack)
    if verdict then return verdict, seen end
  end
  return spec.last and "spoilt" or "more", seen
end

local function amount(value, seen, share)
  if not share then return ("%.4g"):format(value) end
  return ("%.3g"):format(100 * value / math.abs(seen.reference))
end

-- What was seen, in words: "12 % worse than c0004 [9..15 %], at most 5 % allowed". name: whom the candidate was
-- compared with.
function guard.words(seen, spec, name)
  local share = spec.share and seen.reference ~= 0
  local unit = share and " %" or ""
  local interval = seen.low and (" [%s..%s%s]"):format(amount(seen.low, seen, share), amount(seen.high, seen, share),
    unit) or ""
  local text = ("%s%s %s than %s%s"):format(amount(math.abs(seen.worse), seen, share), unit, seen.worse < 0 and "better"
    or "worse",
    name, interval)
  local limit = spec.share and ("%.3g %%"):format(100 * spec.share) or ("%.4g"):format(spec.amount)
  if seen.clear then
    return ("%s, at most %s allowed%s"):format(text, limit, spec.share and not share and " (of 0: write a number)"
      or "")
  end
  return ("%s, not shown to be at most %s worse by %d + %d measurements"):format(text, limit, seen.candidate, seen.best)
end

return guard
