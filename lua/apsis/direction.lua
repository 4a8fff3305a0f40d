-- direction: the only place that compares two metric values. A metric is made once from the manifest and knows whether
-- higher or lower is better; strategies, reports and the lab ask it. Values are numbers, or candidates (tables with
-- `value`, and with `retained` if a kept tie inherited a better one). A value that is not finite never wins.
local direction = {}

local Metric = {}
Metric.__index = Metric

local spellings = {
  higher = "higher", maximize = "higher", higher_is_better = "higher",
  lower = "lower", minimize = "lower", lower_is_better = "lower",
}

direction.allowed = { "higher", "lower", "maximize", "minimize", "higher_is_better", "lower_is_better" }

function direction.parse(text)
  if text == nil then return "higher" end
  local parsed = type(text) == "string" and spellings[text:lower()]
  if parsed then return parsed end
  return nil, ("direction %q is not one of %s"):format(tostring(text), table.concat(direction.allowed, ", ")),
    "EDIRECTION"
end

function direction.new(spec)
  local parsed, message = direction.parse(spec.direction)
  if not parsed then error(message, 2) end
  return setmetatable({
    name = spec.name, direction = parsed, sign = parsed == "higher" and 1 or -1, epsilon = spec.epsilon or 0,
    target = spec.target, min_pass = spec.min_pass, max_pass = spec.max_pass, medians = spec.medians,
  }, Metric)
end

local function finite(value)
  return type(value) == "number" and value - value == 0 -- NaN and the infinities give NaN
end

local function number_of(what)
  local kind = type(what)
  if kind == "table" then
    what = what.retained or what.value
    if not what then return nil end
  elseif kind ~= "number" then
    return nil
  end
  if what - what == 0 then return what end -- NaN and the infinities give NaN
end

-- Exactly epsilon apart is a tie: the difference of two doubles may exceed epsilon by their own rounding.
local function margin(self, a, b)
  return self.epsilon + 4 * 2.0 ^ -53 * math.max(math.abs(a), math.abs(b), self.epsilon)
end

-- Oriented difference: positive if `new` is better. nil if either has no finite value.
function Metric:gain(new, old)
  local a, b = number_of(new), number_of(old)
  if a and b then return self.sign * (a - b) end
end

function Metric:better(new, old)
  local a, b = number_of(new), number_of(old)
  if not a then return false end
  return not b or self:beats(a, b)
end

-- The same for two finite numbers, unchecked.
function Metric:beats(a, b)
  if self.epsilon == 0 then return self.sign * (a - b) > 0 end
  return self.sign * (a - b) > margin(self, a, b)
end

function Metric:tied(new, old)
  local a, b = number_of(new), number_of(old)
  if not a or not b then return false end
  return a == b or self.epsilon ~= 0 and math.abs(a - b) <= margin(self, a, b)
end

-- new - old; nil also if the difference of two finite values overflows.
function Metric:delta(new, old)
  local a, b = number_of(new), number_of(old)
  local delta = a and b and a - b
  return finite(delta) and delta or nil
end

-- delta and better of two values known to be finite, or nil.
function Metric:change(new, old)
  if not new or not old then return nil, new ~= nil end
  local delta = new - old
  return finite(delta) and delta or nil, self:beats(new, old)
end

-- The better of two values, whatever epsilon is; nil if neither is finite.
function Metric:better_of(a, b)
  local x, y = number_of(a), number_of(b)
  if not x or not y then return x or y end
  return self.sign * (x - y) > 0 and x or y
end

-- Of the most negative numbers one stands for each stage: below all values, and the later stage above the earlier one.
-- Values in that range count alike.
local LOWEST, STEP, STAGES = -0x1.fffffffffffffp1023, 2.0 ^ 971, 2 ^ 20
local LEAST_VALUE = LOWEST + STAGES * STEP

-- How a candidate stands among others: two numbers, higher is better, the first counts first. One that was stopped at a
-- stage (`stopped`: the stage, and what was measured there), or would have been, stands below all that got further, and
-- among those of its stage by what was measured there. Others stand by their value. nil: there is neither.
function Metric:standing(candidate)
  local stopped = candidate.stopped
  if stopped and finite(stopped.value) then
    return LOWEST + math.min(stopped.stage, STAGES - 1) * STEP, self.sign * stopped.value
  end
  local value = not stopped and candidate.value
  if finite(value) then return math.max(LEAST_VALUE, self.sign * value), 0 end
end

-- Whether a value is at least as good as a threshold; one that is not finite never is.
local function reaches(self, value, threshold)
  local number = number_of(value)
  return number ~= nil and self.sign * (number - threshold) >= 0
end

Metric.reaches = reaches

function Metric:reached(value)
  return self.target ~= nil and reaches(self, value, self.target)
end

-- Whether a value lies within min_pass and max_pass; else false and why.
function Metric:passes(value)
  local number = number_of(value)
  if not number then return false, "no finite value" end
  if self.min_pass and number < self.min_pass then
    return false, ("%.10g is below min_pass %.10g"):format(number, self.min_pass)
  end
  if self.max_pass and number > self.max_pass then
    return false, ("%.10g is above max_pass %.10g"):format(number, self.max_pass)
  end
  return true
end

-- The best element of a list (the first of equals), and its index; nil if none has a finite value.
function Metric:best_of(list)
  local best, at
  for index = 1, #list do
    local value = number_of(list[index])
    if value and (not best or self.sign * (value - number_of(best)) > 0) then best, at = list[index], index end
  end
  return best, at
end

-- Sorts in place, best first; stable; elements without a finite value come last.
function Metric:sort(list)
  local place = {}
  for index = 1, #list do place[index] = { element = list[index], value = number_of(list[index]), index = index } end
  table.sort(place, function(a, b)
    if a.value ~= b.value then
      if not a.value or not b.value then return a.value ~= nil end
      return self.sign * (a.value - b.value) > 0
    end
    return a.index < b.index
  end)
  for index = 1, #list do list[index] = place[index].element end
  return list
end

local Judged = setmetatable({}, { __index = Metric })
Judged.__index = Judged

-- Whether a candidate was judged against the best of a run, and the comparison is with that best; and the result.
local function shown(self, new, old)
  if type(new) ~= "table" or type(old) ~= "table" or old ~= self.leader() then return false end
  return new.confirmed ~= nil, new.confirmed
end

function Judged:better(new, old)
  local judged, better = shown(self, new, old)
  if judged then return better end
  return Metric.better(self, new, old)
end

function Judged:tied(new, old)
  return not shown(self, new, old) and Metric.tied(self, new, old)
end

local for_strategies = { "gain", "better", "tied", "delta", "better_of", "reaches", "reached", "best_of", "sort" }

-- A method that is called with a dot gets a wrong self, and may answer all the same.
local function refuse_dots(class)
  for _, name in ipairs(for_strategies) do
    local body = rawget(class, name)
    class[name] = body and function(self, first, second)
      local own = getmetatable(self)
      if own ~= Metric and own ~= Judged then
        error(("%s was called with a dot: write run.metric:%s(...), with a colon"):format(name, name), 2)
      end
      return body(self, first, second)
    end
  end
end

-- A metric under noise, as strategies see it: a candidate is better than the best (leader()) only if the measurements
-- showed it, and never tied with it; everything else is compared by values.
function direction.judged(metric, leader)
  local made = { leader = leader }
  for key, value in pairs(metric) do made[key] = value end
  return setmetatable(made, Judged)
end

function Metric:words()
  return self.direction == "higher" and "higher is better" or "lower is better"
end

-- "+0.25", "-0.2": a signed difference as people read it.
function direction.delta_text(delta)
  if delta == nil then return "" end
  return (("%+.6g"):format(delta))
end

-- "-88 %", "+0.4 %": how far a value is from a base; nil if the base is not positive, where a share means nothing.
function direction.percent_text(value, base)
  if not (finite(value) and finite(base)) or base <= 0 then return nil end
  local share = 100 * (value - base) / base
  local size = math.abs(share)
  if share <= -99.5 and share > -100 then -- all of it would be 0
    return ("%+.4g %%"):format(math.max(share, -99.99))
  end
  return (size >= 9.95 and "%+.0f %%" or size >= 0.95 and "%+.1f %%" or "%+.2g %%"):format(share)
end

local times = { ns = true, us = true, ["\u{B5}s"] = true, ms = true, s = true, sec = true, seconds = true, min = true,
  h = true }

-- Such units at the end of a metric's name, as in time_us; min may be a minimum, and h a height.
local named_times = { ns = true, us = true, ms = true, s = true, sec = true, seconds = true }

local function is_time(self, unit)
  if unit and unit ~= "" then return times[unit] end
  return named_times[(self.name or ""):match "[^_.]*$"]
end

-- How a value stands against a baseline's, for people: "8.2x faster than the baseline's 150 (-88 %)" for a time that
-- should be lower, else "-88 % against the baseline's 150", else the difference. which: "baseline", "first baseline".
function Metric:against_text(value, base, unit, which)
  local share = direction.percent_text(value, base)
  local change = share or direction.delta_text(self:delta(value, base))
  if not (share and is_time(self, unit) and self.sign < 0 and value > 0) then
    return ("%s against the %s's %.10g"):format(change, which, base)
  end
  local faster = value <= base
  local ratio = ("%.3g"):format(faster and base / value or value / base)
  if ratio == "1" then return ("%s against the %s's %.10g"):format(share, which, base) end
  return ("%sx %s than the %s's %.10g (%s)"):format(ratio, faster and "faster" or "slower", which, base, share)
end

-- Why a gain of a candidate over a baseline may be luck, or nil: the best of many values that were measured once each
-- is a lucky one, unless the baseline's were all equal. Both are records, with `samples`.
function Metric:doubt_text(best, baseline)
  if best.acceptance then return "by the measurements that chose it" end
  if self.medians then return nil end
  local base = baseline.samples or {}
  if best.samples and #best.samples > 1 then return nil end
  local low, high = math.huge, -math.huge
  for _, value in ipairs(base) do low, high = math.min(low, value), math.max(high, value) end
  if #base > 1 and low == high then return nil end
  return low <= best.value and best.value <= high and "measured once, and within the baseline's spread"
    or "measured once"
end

-- against_text of two records, with the doubt.
function Metric:gained_text(best, baseline, unit, which)
  local doubt = self:doubt_text(best, baseline)
  return self:against_text(best.value, baseline.value, unit, which or "baseline") .. (doubt and ", " .. doubt or "")
end

-- A count or a sum for people, without exponent: four decimal places, small ones with four significant digits.
function direction.amount(number)
  local whole = math.tointeger(number)
  if whole then return ("%d"):format(whole) end
  local size = math.abs(number)
  if size == math.huge or number ~= number then return tostring(number) end
  local places = size > 0 and size < 0.1 and math.min(12, 3 - math.floor(math.log(size, 10))) or 4
  return (("%." .. places .. "f"):format(number):gsub("0+$", ""):gsub("%.$", ""))
end

refuse_dots(Metric)
refuse_dots(Judged)
direction.finite = finite
return direction
