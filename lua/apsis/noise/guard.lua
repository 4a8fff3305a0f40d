-- guard: whether a secondary metric regressed too far, judged with the same care for noise: a verdict needs evidence
-- either way. Non-inferiority by Welch's t on the difference of two arms, one-sided, at a few looks fixed in advance.
-- A part of apsis.acceptance, called by core/guards; measures nothing itself.
local confirm = require "apsis.noise.labels"
local stats = require "apsis.stats"
local student = require "apsis.stats.student"

local guard = {}

-- A manifest's max_regression: { share } of a percentage such as 5%, { amount } of a number; nil for anything else.
function guard.limit(given)
  if type(given) == "number" then return given > 0 and given < math.huge and { amount = given } or nil end
  local percent = type(given) == "string" and tonumber(given:match "^%s*(%d*%.?%d*)%s*%%%s*$")
  return percent and percent > 0 and percent < math.huge and { share = percent / 100 } or nil
end

-- The number of looks until each arm has `most` measurements, from `count` on, if their number doubles from look to
-- look.
function guard.looks(count, most)
  local looks = 1
  while count < most do
    count, looks = guard.next(count, most), looks + 1
  end
  return looks
end

-- The error level of a comparison with the original: one of `count` guards gets its part of the run's 1 - confidence
-- that is left after the given number of rejections by such comparisons. All of them together never exceed the total.
function guard.error(confidence, rejected, count)
  return confirm.level({ confidence = confidence }, { spent = rejected }) / count
end

-- The number of measurements at the next look.
function guard.next(count, most)
  return math.min(math.max(2 * count, 2), most)
end

-- Whether values have no spread.
function guard.even(values)
  return stats.min(values) == stats.max(values)
end

-- The allowed regression from a reference, and the weight of the reference's own error if the limit is a share of it.
local function allowed(spec, reference)
  local epsilon = spec.metric.epsilon
  if spec.amount then return math.max(spec.amount, epsilon), 1 end
  local size = spec.share * math.abs(reference)
  if epsilon > size then return epsilon, 1 end
  local toward = reference > 0 and 1 or -1
  return size, 1 - spec.share * toward * spec.metric.sign
end

local LEAST = 1e-9 -- the least error: below it the quantiles of a t would be inexact

local known = {} -- quantiles recur often

local function quantile(error, freedom)
  local of_error = known[error] or {}
  known[error] = of_error
  of_error[freedom] = of_error[freedom] or student.two_sided(1 - 2 * error, freedom)
  return of_error[freedom]
end

-- The interval around the excess over the limit: a function from a one-sided error to half the width, if both arms
-- have `times` as many measurements. Welch's t, with the degrees of freedom (Welch and Satterthwaite's) rounded down.
-- weight: of the best's mean, which a limit in percent includes too.
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

-- Whether values can be compared directly: both arms without a spread (for a metric with a known one, only when
-- nothing more can be measured), or a single measurement each without known noise.
local function exact(spec)
  if #spec.candidate == 1 and #spec.best == 1 then return not spec.noisy end
  return (spec.last or not spec.varies) and guard.even(spec.candidate) and guard.even(spec.best)
end

-- The verdict of the intervals. rejects: the error of the lower bound, if it differs from the upper one's; most: the
-- most measurements of an arm: reject early if even these could hardly show that the guard holds.
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
-- most } -> "holds", "spoilt" or "more", and the evidence: { worse (positive: the candidate is worse), low, high (nil
-- if nothing was estimated), limit, reference, candidate, best (counts), clear }. looks: the number of looks; last:
-- no more measurements are possible, so an unclear result is spoilt.
function guard.judge(spec)
  local reference, own = stats.mean(spec.best), stats.mean(spec.candidate)
  local limit, weight = allowed(spec, reference)
  local seen = { worse = spec.metric:gain(reference, own), limit = limit, reference = reference,
    candidate = #spec.candidate,
    best = #spec.best, clear = true }
  if not seen.worse then -- overflow
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

-- The evidence in words: "12 % worse than c0004 [9..15 %], at most 5 % allowed". name: the other candidate.
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
