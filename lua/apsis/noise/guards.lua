-- guards: metrics that an improvement must not spoil. A candidate that would be kept is compared with the best that
-- it would replace, and with the original, so that small regressions do not add up. Under noise the original is
-- measured again together with the candidate, and all such comparisons share one error. Requests measurements from
-- the engine's judge. room.lua makes it one of the engine's objections.
local direction = require "apsis.direction"
local guard = require "apsis.noise.guard"
local stats = require "apsis.stats"

local guards = {}

local Guards = {}
Guards.__index = Guards

local FIRST = 4 -- measurements of each before the first look at a candidate and the original
local MOST_PAIRS = 10000 -- most pairs of measurements for the guards of one candidate

-- list: the manifest's guards, already checked by the rules.
function guards.new(engine, list)
  local self = setmetatable({ engine = engine, list = {}, looking = {}, rejected = 0 }, Guards)
  for index, given in ipairs(list) do
    local limit = guard.limit(given.max_regression)
    local metric = engine.metrics[given.metric]
    if not limit or not metric then error(("guards[%d] is wrong"):format(index), 2) end
    self.list[index] = { name = given.metric, metric = metric, share = limit.share, amount = limit.amount }
  end
  return self
end

-- Reads from a journal line how many candidates a comparison with the original has rejected.
function Guards:learn(record)
  local noted = record.acceptance
  if noted and noted.guards then self.rejected = noted.guards end
end

-- The values of a metric in a list of measurements, and the number of measurements without it.
local function values_of(list, name)
  local values, missing = {}, 0
  for _, metrics in ipairs(list) do
    if direction.finite(metrics[name]) then values[#values + 1] = metrics[name] else missing = missing + 1 end
  end
  return values, missing
end

-- Both arms of a guard's metric: from the confirmation, or if that did not measure it (another stage does) the
-- recorded values. nil and why they cannot be compared.
local function arms_of(self, one, slot, arms)
  local best = self.engine.history.best
  local own, missing = values_of(arms.candidate, one.name)
  local other = values_of(arms.best, one.name)
  local recorded = #own == 0 and #other == 0
  if recorded then
    own, other, missing = values_of({ slot.candidate.metrics }, one.name), values_of({ best.metrics }, one.name), 0
  end
  if #own == 0 then return nil, ("guard %s: the candidate has no such metric"):format(one.name) end
  if missing > 0 then
    return nil, ("guard %s: missing in %d of %d measurements of the candidate"):format(one.name, missing,
      #arms.candidate)
  end
  if #other == 0 then return nil, ("guard %s: %s has no such metric to compare with"):format(one.name, best.id) end
  return own, other, recorded
end

-- The noise of a metric in the baseline: 0 if its values were all equal; nil: not known.
local function noise_of(self, name)
  local baseline = self.engine.history.baseline
  local noise = baseline and baseline.notes and baseline.notes.noise
  return noise and noise[name]
end

local function settings_of(self)
  return self.engine.judge and self.engine.judge.settings
end

-- Whether the best is the original, under whatever id.
local function is_original(self)
  local best, original = self.engine.history.best, self.engine.history.baseline
  return original == nil or best.id == original.id or best.tree ~= nil and best.tree == original.tree
end

local function remedy(seen)
  if seen.clear then return "" end
  return "; allow more (max_regression), let a measurement be of more runs (verification.repeats), or raise "
    .. "acceptance.max_repeats"
end

-- The comparison at a look after the given number of measurements: with the best, or (shared: its error level) the
-- original.
local function spec_of(self, one, look, shared)
  local settings, noise = settings_of(self), noise_of(self, one.name)
  local spec = { metric = one.metric, share = one.share, amount = one.amount, confidence = settings
    and settings.confidence or 0.95,
    looks = look.looks, last = look.last, noisy = settings and noise ~= 0, varies = settings and (noise or 0) > 0 }
  if shared then spec.rejects, spec.most, spec.confidence = 1 - spec.confidence, look.most, 1 - shared end
  return spec
end

-- The verdict on two arms of one guard: "holds", "more" or "spoilt", and the evidence in words.
local function by_arms(spec, one, own, other, name)
  spec.candidate, spec.best = own, other
  local verdict, seen = guard.judge(spec)
  return verdict, ("guard %s: %s%s"):format(one.name, guard.words(seen, spec, name), verdict == "spoilt"
    and remedy(seen) or "")
end

-- Compares with the recorded values of the baseline: nil, or the reason for a rejection.
local function against_recorded(self, one, own)
  local baseline = self.engine.history.baseline
  local value = not is_original(self) and baseline.metrics[one.name]
  if not value then return nil end
  local spec = { metric = one.metric, share = one.share, amount = one.amount }
  local verdict, reason = by_arms(spec, one, { stats.median(own) }, { value },
    ("the baseline %s was"):format(baseline.id))
  if verdict ~= "holds" then return reason end
end

-- The schedule of looks: their number, the first one at `first` measurements of each.
local function look_of(self, first)
  local settings = settings_of(self)
  local most = math.max(first, settings and settings.max_repeats or 1)
  return { looks = guard.looks(first, most), most = most, due = first }
end

-- One guard against the best. "holds", "more" or "spoilt", and the evidence in words. Notes in the state whether the
-- original must be measured for it, and whether this already was a comparison with the original.
local function against_best(self, one, slot, state, arms)
  local own, other, recorded = arms_of(self, one, slot, arms)
  if not own then return "spoilt", other end
  local original, varied = is_original(self), not (guard.even(own) and guard.even(other))
  local noisy = settings_of(self) and (varied or noise_of(self, one.name) ~= 0)
  local shared = noisy and original and not recorded
  if shared then state.counted = true end
  local spec = spec_of(self, one, state.look, shared and state.error)
  if recorded then spec.noisy = false end
  local verdict, words = by_arms(spec, one, own, other, self.engine.history.best.id)
  if verdict ~= "holds" then return verdict, words end
  if noisy and not shared then
    state.open[one], state.first, state.recorded = true, state.first or one.name, state.recorded or recorded
    return "holds", words
  end
  local reason = not noisy and against_recorded(self, one, own)
  return reason and "spoilt" or "holds", reason or words
end

-- One guard against the original, measured again together with the candidate.
local function against_original(self, one, _, state, arms)
  local own, missing = values_of(arms.candidate, one.name)
  local other, name = values_of(arms.best, one.name), state.beside.record.id
  if missing > 0 then
    return "spoilt", ("guard %s: missing in %d of %d measurements of the candidate"):format(one.name, missing,
      #arms.candidate)
  end
  if #other == 0 then return "spoilt", ("guard %s: %s, measured again, has no such metric"):format(one.name, name) end
  return by_arms(spec_of(self, one, state.look, state.error), one, own, other, "the original " .. name)
end

-- Checks every guard in `wanted` (nil: all) after the due measurements. true, false and the reason, or "more" and why.
local function look_at(self, slot, state, arms, judge, wanted)
  local look, count = state.look, math.max(#arms.candidate, #arms.best)
  if count < look.due then return "more" end
  look.last = count >= look.most
  local more
  for _, one in ipairs(self.list) do
    local verdict, reason = "holds", nil
    if not wanted or wanted[one] then verdict, reason = judge(self, one, slot, state, arms) end
    if verdict == "spoilt" then return false, reason end
    if verdict == "more" then more = more or reason else state.words[one] = reason or state.words[one] end
  end
  if not more then return true end
  look.due = guard.next(count, look.most)
  return "more", more
end

-- The stages that measure every guard: the confirmation's (nil), or all so far.
local function stages_of(self, slot, state)
  if not state.recorded then return nil end
  local stages = {}
  for _, stage in ipairs(self.engine.world:stages()) do
    if stage <= slot.stage then stages[#stages + 1] = stage end
  end
  return stages
end

-- Against the best; then, if that held, against the original. Returns the same as look_at.
local function judge(self, slot, state, arms)
  if not state.beside.again then
    state.open, state.first, state.recorded = {}, nil, false
    local holds, reason = look_at(self, slot, state, arms, against_best)
    if holds ~= true or not next(state.open) then return holds, reason end
    local record = self.engine.history.baseline
    state.beside = { arms = { candidate = {}, best = {} }, record = record, stages = stages_of(self, slot, state),
      again = true }
    state.look = look_of(self, FIRST)
    state.reason = ("guard %s: not compared with the original %s yet"):format(state.first, record.id)
  end
  if #state.beside.arms.candidate > 0 then state.counted = true end
  return look_at(self, slot, state, state.beside.arms, against_original, state.open)
end

-- Writes the guards into the line: the medians of their metrics over all measurements of the candidate, and of one
-- that passed, the evidence.
local function note(self, slot, state, arms, passed)
  local remeasured, words = state.beside.again and state.beside.arms.candidate or {}, {}
  for _, one in ipairs(self.list) do
    local values = values_of(arms.candidate, one.name)
    local more = values_of(remeasured, one.name)
    table.move(more, 1, #more, #values + 1, values)
    if values[2] and slot.secondary then slot.secondary[one.name] = stats.median(values) end
    words[#words + 1] = values[2] and state.words[one] or nil
  end
  if not passed or not words[1] then return end
  local extra = {}
  for key, value in pairs(slot.extra or {}) do extra[key] = value end
  extra.notes = {}
  for key, value in pairs(slot.extra and slot.extra.notes or {}) do extra.notes[key] = value end
  extra.notes.guards, slot.extra = table.concat(words, "; "), extra
end

-- Records that a candidate is not kept; one that was compared with the original has spent its part of the error.
local function reject(self, slot, reason)
  local state = self.looking[slot.number]
  self.looking[slot.number] = nil
  if state.counted then
    self.rejected = self.rejected + 1
    slot.acceptance = slot.acceptance or {}
    slot.acceptance.guards = self.rejected
  end
  return reason
end

-- judge(slot, arms) -> true; false and the reason; or "more", why, and beside = { arms, record, stages }: add one
-- more measurement of the candidate and of the record to these arms (at these stages; nil: at the slot's), then call
-- again. arms = { candidate = { metrics... }, best = { metrics... } }: of each measurement of the confirmation, or
-- the single one of each. Several looks share the confidence.
function Guards:judge(slot, arms)
  if #arms.candidate == 0 or #arms.best == 0 then -- one measurement decided
    arms.candidate[1] = arms.candidate[1] or slot.candidate.metrics
    arms.best[1] = arms.best[1] or self.engine.history.best.metrics
  end
  local state, settings = self.looking[slot.number], settings_of(self)
  if not state then
    state = { words = {}, look = look_of(self, math.max(#arms.candidate, #arms.best)),
      beside = { arms = arms, record = self.engine.history.best },
      error = settings and guard.error(settings.confidence, self.rejected, #self.list) }
    self.looking[slot.number] = state
  end
  local holds, reason = judge(self, slot, state, arms)
  if holds ~= "more" and settings then note(self, slot, state, arms, holds) end
  if holds == false then return false, reject(self, slot, reason) end
  if holds == true then
    self.looking[slot.number] = nil
    return true
  end
  state.reason = reason or state.reason
  return "more", state.reason, state.beside
end

-- give_up(slot, why): the requested measurement is impossible. The reason why the candidate is not kept.
function Guards:give_up(slot, why)
  return reject(self, slot, why and ("%s; %s"):format(self.looking[slot.number].reason, why)
    or self.looking[slot.number].reason)
end

-- nil, or the guard that a candidate that would be kept has violated.
function Guards:objection(slot)
  local engine, more = self.engine, self.engine.judge
  local arms = more and more.arms or { candidate = { slot.candidate.metrics }, best = { engine.history.best.metrics } }
  for _ = 1, MOST_PAIRS do
    local holds, reason, beside = self:judge(slot, arms)
    if holds == true then return nil end
    if holds == false then return reason end
    local short = more and more:short_of(slot, 2 * (beside.stages and #beside.stages or 1))
    if not more or short then return self:give_up(slot, short) end
    more:pair(slot, beside)
  end
end

return guards
