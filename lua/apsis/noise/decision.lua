-- decision: one candidate's acceptance: the screen, then the confirmation, one measurement at a time. It works on the
-- numbers that it is given, a copy of the state's or these, and returns them with its verdict. A part of
-- apsis.acceptance; measures nothing itself.
local confirm = require "apsis.noise.labels"
local screen = require "apsis.noise.screen"
local spread = require "apsis.noise.spread"

local decision = {}

local Decision = {}
Decision.__index = Decision

local LARGEST = 1e300 -- beyond it differences and sums would overflow

-- A measured value, oriented so that larger is better; nil if it is no finite number.
local function oriented(metric, value)
  local gain = metric:gain(value, 0)
  return gain and spread.clip(gain + 0.0, LARGEST)
end

decision.oriented = oriented

local function times(count)
  return count == 1 and "1 measurement" or count .. " measurements"
end

-- settle(data): called once, with the numbers of the next state.
function decision.new(settings, metric, data, rng, settle)
  return setmetatable({
    settings = settings, metric = metric, data = data, rng = rng, settle = settle, next = "candidate",
    measured = 0, promoted = false, candidate_samples = {}, best_samples = {}, last = {}, screen = screen.new(settings),
  }, Decision)
end

local function finish(self, verdict, why)
  self.next, self.verdict, self.why = nil, verdict, why
  self.settle(self.data)
end

-- The result of a confirmation that does not keep: a spent level, and its measurements of the incumbent.
local function leave(self)
  if not self.confirm then return end
  self.data.spent = self.data.spent + 1
  for _, value in ipairs(self.confirm.best) do spread.incumbent(self.data, value, self.settings.memory) end
end

local function reject(self, why)
  leave(self)
  finish(self, "rejected", why)
end

-- Makes the kept candidate the incumbent. Its measurements stopped when they favoured it, by about one spread in total.
local function keep(self)
  local part, data = self.confirm, self.data
  data.ref = spread.location(part.candidate, part.size) - part.size / #part.candidate
  data.n, data.last = #part.candidate, self.last.candidate
  finish(self, "kept", ("kept: capital %.4g of %.4g needed (level %.2g), by %d measurements of it and %d of "
    .. "the best"):format(
    part.capital, 1 / part.level, part.level, #part.candidate, #part.best))
end

local CHECKS = 2 -- how often a better value and the incumbent's must come out the same again, if there is no noise

-- The measurements that a better value must survive; nil if it is not better, and rejected.
local function checks_of(self, value, y)
  local reference = self.metric.sign * self.data.ref
  local shown = ("%.10g against %.10g, without noise"):format(value, reference)
  if self.metric:better(value, reference) then
    return { candidate = y, best = self.data.ref, left = 2 * CHECKS, shown = shown }
  end
  reject(self, "not better: " .. shown)
end

-- A repeated measurement differed, so the metric has noise: starts the decision again, under noise.
local function found_noise(self, arm, y)
  local data, check = self.data, self.check
  spread.found(data, y - check[arm], 2 * CHECKS - check.left)
  if arm == "best" then data.last = y end
  self.check, self.candidate_samples, self.next = nil, {}, "candidate"
end

-- No noise was seen so far. A value that is not better is rejected at once. One that is better may be rare luck, so the
-- candidate and the incumbent are measured again, in turn, and it is kept if all is the same.
local function without_noise(self, arm, value, y)
  if self.check and y ~= self.check[arm] then return found_noise(self, arm, y) end
  local check, data = self.check or checks_of(self, value, y), self.data
  self.check = check
  if not check then return end
  if arm == "candidate" then table.insert(self.candidate_samples, value) end
  if check.left > 0 then
    self.next, check.left = check.left % 2 == 0 and "candidate" or "best", check.left - 1
    return
  end
  data.ref, data.last, data.n = check.candidate, check.candidate, 1
  finish(self, "kept", ("kept: %s; both the same in %d more measurements"):format(check.shown, 2 * CHECKS))
end

local function promote(self)
  self.promoted = true
  self.confirm = confirm.new(self.settings, self.data)
  self.next = confirm.draw(self.rng)
end

local function in_screen(self, y)
  local part, arm = self.screen, self.next
  local next_step = screen.feed(part, self.settings, self.data, arm, arm == "candidate" and y - self.metric.epsilon
    or y)
  if next_step == "promote" then return promote(self) end
  if next_step ~= "reject" then
    self.next = next_step
    return
  end
  local count, limit = #part.values, -self.settings.reject
  if part.evidence <= limit then
    return reject(self, ("rejected after %s: no sign of an improvement (evidence %.2f, limit %.2f)"):format(
      times(count), part.evidence, limit))
  end
  reject(self, ("rejected after %s, the most for a screen: no clear sign of an improvement (evidence %.2f)"):format(
    times(count), part.evidence))
end

local function in_confirmation(self, value, y)
  local part, arm = self.confirm, self.next
  local samples = arm == "candidate" and self.candidate_samples or self.best_samples
  samples[#samples + 1] = value
  local next_step = confirm.feed(part, self.settings, self.rng, arm, y, self.metric.epsilon)
  if next_step == "keep" then return keep(self) end
  if next_step ~= "reject" then
    self.next = next_step
    return
  end
  self.exhausted = part.capital > self.settings.futility -- not hopeless: it ran out of measurements
  local why = self.exhausted and ("no clear sign of an improvement, and no measurements left (capital %.2g of %.4g "
    .. "needed)"):format(part.capital, 1 / part.level)
    or ("no sign of an improvement (capital %.2g, limit %.2g)"):format(part.capital, self.settings.futility)
  reject(self, ("not confirmed by %d measurements of it and %d of the best: %s"):format(#part.candidate, #part.best,
    why))
end

-- Ends it without more measurements: rejected. A confirmation has then spent its level.
function Decision:stop(why)
  if self.next then reject(self, why) end
end

-- What was measured of self.next: a number; nil, or one that is not finite, is a failure, and rejects.
function Decision:feed(value)
  local arm = self.next
  if not arm then error("decision:feed: it is decided already", 2) end
  if value ~= nil and type(value) ~= "number" then error("decision:feed: a number or nil, not a " .. type(value), 2) end
  self.measured = self.measured + 1
  local y = oriented(self.metric, value)
  if not y then
    local who = arm == "candidate" and "the candidate" or "the best"
    return reject(self, ("measurement %d, of %s, gave no finite value"):format(self.measured, who))
  end
  if spread.of(self.data) == 0 then return without_noise(self, arm, value, y) end
  local last = self.last
  if arm == "best" then
    spread.difference(self.data, y, self.data.last)
    self.data.last = y
  else
    spread.difference(self.data, y, last.candidate)
    last.candidate = y
  end
  if self.confirm then return in_confirmation(self, value, y) end
  in_screen(self, y)
end

return decision
