-- guards: metrics that an improvement may not spoil. A candidate that would be kept is compared with the best that it would replace,
-- and by what is recorded with the baseline, so that small regressions do not add up. Judges what it is shown and measures nothing;
-- called by decide, which measures more where that is asked for.
local direction = require "apsis.direction"
local guard = require "apsis.acceptance.guard"
local stats = require "apsis.stats"

local guards = {}

local Guards = {}
Guards.__index = Guards

-- list: what the manifest says under guards; the rules have checked it.
function guards.new(engine, list)
  local self = setmetatable({ engine = engine, list = {}, looking = {} }, Guards)
  for index, given in ipairs(list) do
    local limit = guard.limit(given.max_regression)
    local metric = engine.metrics[given.metric]
    if not limit or not metric then error(("guards[%d] is wrong"):format(index), 2) end
    self.list[index] = { name = given.metric, metric = metric, share = limit.share, amount = limit.amount }
  end
  return self
end

-- The values of a metric in a list of measurements, and how many measurements have none.
local function values_of(list, name)
  local values, missing = {}, 0
  for _, metrics in ipairs(list) do
    if direction.finite(metrics[name]) then values[#values + 1] = metrics[name] else missing = missing + 1 end
  end
  return values, missing
end

-- Both arms of a guard's metric: of the confirmation, or where that measured no such thing (it is of another stage) what is recorded.
-- nil and why they cannot be compared.
local function arms_of(self, one, slot, arms)
  local best = self.engine.history.best
  local own, missing = values_of(arms.candidate, one.name)
  local other = values_of(arms.best, one.name)
  local recorded = #own == 0 and #other == 0
  if recorded then own, other, missing = values_of({ slot.candidate.metrics }, one.name), values_of({ best.metrics }, one.name), 0 end
  if #own == 0 then return nil, ("guard %s: the candidate has no such metric"):format(one.name) end
  if missing > 0 then
    return nil, ("guard %s: missing in %d of %d measurements of the candidate"):format(one.name, missing, #arms.candidate)
  end
  if #other == 0 then return nil, ("guard %s: %s has no such metric to compare with"):format(one.name, best.id) end
  return own, other, recorded
end

-- Whether a single measurement of a metric may be luck: not where nothing is measured twice, or where the baseline's were all equal.
local function may_be_noisy(self, name)
  if not self.engine.confirm then return false end
  local baseline = self.engine.history.baseline
  local noise = baseline and baseline.notes and baseline.notes.noise
  return not (noise and noise[name] == 0)
end

local function remedy(seen)
  if seen.clear then return "" end
  return "; allow more (max_regression), let a measurement be of more runs (verification.repeats), or raise acceptance.max_repeats"
end

-- Against the best. "holds"; "more"; or "spoilt"; and the reason.
local function against_best(self, one, look, own, other)
  local settings = self.engine.confirm and self.engine.confirm.settings
  local verdict, seen = guard.judge { metric = one.metric, share = one.share, amount = one.amount, candidate = own, best = other,
    confidence = settings and settings.confidence or 0.95, looks = look.looks, noisy = look.noisy, last = look.last }
  local words = guard.words(seen, one, self.engine.history.best.id)
  return verdict, ("guard %s: %s%s"):format(one.name, words, verdict == "spoilt" and remedy(seen) or "")
end

-- Against the baseline, by what its line says: nil, or the reason why not.
local function against_baseline(self, one, own)
  local history = self.engine.history
  local baseline = history.baseline
  local value = baseline and baseline.id ~= history.best.id and baseline.metrics[one.name]
  if not value then return nil end
  local verdict, seen = guard.judge { metric = one.metric, share = one.share, amount = one.amount, candidate = { stats.median(own) },
    best = { value } }
  if verdict == "holds" then return nil end
  return ("guard %s: %s"):format(one.name, guard.words(seen, one, ("the baseline %s was"):format(baseline.id)))
end

-- One guard. "holds", "more" or "spoilt", and the reason of the latter two.
local function judge(self, one, slot, arms, look)
  local own, other, recorded = arms_of(self, one, slot, arms)
  if not own then return "spoilt", other end
  look.noisy = not recorded and may_be_noisy(self, one.name)
  local verdict, reason = against_best(self, one, look, own, other)
  if verdict ~= "holds" then return verdict, reason end
  reason = against_baseline(self, one, own)
  return reason and "spoilt" or "holds", reason
end

-- How a slot's arms are looked at: so many times in all, and again when there are `due` measurements of an arm.
local function look_of(self, slot, count)
  local settings = self.engine.confirm and self.engine.confirm.settings
  local look = self.looking[slot.number]
  if not look then
    local most = math.max(count, settings and settings.max_repeats or 1)
    look = { looks = guard.looks(count, most), most = most, due = count }
    self.looking[slot.number] = look
  end
  look.last = count >= look.most
  return look
end

-- judge(slot, arms) -> true; false and the reason; or "more" and why: then one more measurement of each is wanted, and it is asked again.
-- arms = { candidate = { metrics... }, best = { metrics... } }: of each measurement while the candidate was confirmed, or of the one
-- measurement that each has. Where several looks are needed, each has its part of the confidence.
function Guards:judge(slot, arms)
  if #arms.candidate == 0 or #arms.best == 0 then -- one measurement decided
    arms.candidate[1] = arms.candidate[1] or slot.candidate.metrics
    arms.best[1] = arms.best[1] or self.engine.history.best.metrics
  end
  local count = math.max(#arms.candidate, #arms.best)
  local look = look_of(self, slot, count)
  if count < look.due then return "more", look.reason end
  local more
  for _, one in ipairs(self.list) do
    local verdict, reason = judge(self, one, slot, arms, look)
    if verdict == "spoilt" then
      self.looking[slot.number] = nil
      return false, reason
    end
    if verdict == "more" then more = more or reason end
  end
  if not more then
    self.looking[slot.number] = nil
    return true
  end
  look.due, look.reason = guard.next(count, look.most), more
  return "more", more
end

return guards
