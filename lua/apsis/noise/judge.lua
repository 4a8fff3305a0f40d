-- judge: acceptance under noise within the loop, the engine's judge (core/DETAILS.md): requests measurements of the
-- candidate and the best as apsis.acceptance asks, records the noise in each line that it judged, so that a fold
-- restores it, and has the gain measured again at the end of a run. Decides nothing itself. Installed by room.lua.
local acceptance = require "apsis.acceptance"
local candidates = require "apsis.core.candidate"
local direction = require "apsis.direction"
local random = require "apsis.random"
local repeats = require "apsis.noise.repeats"
local stats = require "apsis.stats"

local judge = {}

local Judge = {}
Judge.__index = Judge

local SHARE = 5 -- of a run's measurements or minutes, the share reserved for the final comparison: at most one in SHARE

-- new(engine, the manifest's acceptance); raises if that is invalid, which the manifest's rules have reported before.
function judge.new(engine, given)
  local settings = assert(acceptance.settings(given))
  engine.shown_metric = direction.judged(engine.metric, function() return engine.history.best end)
  return setmetatable({ engine = engine, settings = settings, state = acceptance.new(settings, engine.metric),
    exhausted = 0, in_full = given.baseline ~= nil, screened = setmetatable({}, { __mode = "k" }) }, Judge)
end

-- Reads the noise from a journal line.
function Judge:learn(record)
  local noted = record.acceptance
  if record.outcome == "baseline" and record.primary_metric then self.saved = nil end
  if noted and noted.state then self.saved = noted.state end
  if self.guards then self.guards:learn(record) end
end

-- After a fold: restores the state of the last such line.
function Judge:folded()
  self.state = self.saved and acceptance.restore(self.settings, self.engine.metric, self.saved)
    or acceptance.new(self.settings, self.engine.metric)
end

-- The number of baseline measurements: as in the manifest, else until five equal values show that there is no noise.
function Judge:repeats()
  return { run = repeats.run, repeats = self.settings.baseline, enough = not self.in_full and judge.without_spread
    or nil }
end

-- Takes the measured baseline of a slot: values in order. What its line contains. A repeated baseline keeps the spent
-- error; if another candidate is the best, its level is needed instead, and is measured when one is judged.
function Judge:baseline(slot, values)
  local history = self.engine.history
  local again = history.baseline and history.baseline.tree == slot.change.tree
  if not again then self.state = acceptance.new(self.settings, self.engine.metric) end
  self.state:baseline(again and history.best.id ~= history.baseline.id and {} or values)
  return { state = self.state:save() }
end

local EQUAL = 5 -- after this many equal measurements the metric counts as free of noise

-- Whether the values so far show no noise.
function judge.without_spread(values)
  return #values >= EQUAL and stats.min(values) == stats.max(values)
end

-- Whether the metric has shown no noise.
local function is_exact(self)
  return self.state.ready and self.state.spread == 0
end

-- The level of the best, as far as it is known; nil if its recorded value is its level.
function Judge:level()
  if self.state.ready and not is_exact(self) then return self.state.ref end
end

-- One more measurement in a slot, of its candidate or the best; halt and plan may run meanwhile. Its value, or nil.
local function measure(self, slot, record, stage)
  local engine = self.engine
  if engine.budget.limits.measurements then -- so that what is measured meanwhile does not count on it
    engine.budget:hold(slot, "measurements", math.max(slot.reserved.measurements or 0, (slot.measurements or 0) + 1))
  end
  engine.deciding:unlock()
  local measurement = engine.world:verify(slot, record, { stage = stage or slot.stage })
  engine.deciding:lock()
  engine.budget:measured(slot)
  local value = measurement.status == "ok" and measurement.value or nil
  table.insert(slot.trace, { id = record.id, value = value })
  return value, measurement.metrics
end

-- Why no more is measured for a slot's decision, or nil: then what is there decides. For what a person approves the run
-- may be over. usd: what that costs on other machines.
function Judge:short_of(slot, count)
  local engine, budget = self.engine, self.engine.budget
  local minutes, machines = budget.limits.minutes, slot.machines or {}
  if engine.world.elapsed then engine.elapsed_s = engine.world:elapsed() end
  if minutes and not slot.held and budget:spent "minutes" >= minutes then return budget:used_up_text "minutes" end
  local cost = machines.usd or 0
  local usd = count * cost / math.max(1, slot.measurements or 0)
  local others = (budget.reserved.usd or 0) - (slot.reserved.usd or 0)
  local left = (budget.limits.usd or math.huge) - budget:spent "usd" - others - (slot.cost or 0) - cost
  if usd > left and not slot.held then
    return ("budget: %.6g usd left, measuring again may take %.6g"):format(math.max(0, left), usd)
  end
  return budget:short_of_measurements(count)
end

-- Measures the level of the best like a baseline, if it is unknown. true, or nil and why not.
local function get_ready(self, slot)
  if self.state.ready then return true end
  local best, values, wanted = self.engine.history.best, {}, self:repeats()
  while #values < wanted.repeats and not (wanted.enough and wanted.enough(values)) do
    local short = self:short_of(slot, 1)
    if short then return nil, short end
    values[#values + 1] = measure(self, slot, best)
    if #slot.trace > 2 * self.settings.baseline then return nil, best.id .. " could not be measured again" end
  end
  self.state:baseline(values)
  return true
end

-- A decision about a slot's candidate, which has had its first value.
local function begin(self, slot)
  local rng = random.stream(self.engine.seed, slot.number, "acceptance")
  local decision = self.state:judge(rng, self.engine.workers > 1)
  decision:feed(slot.value)
  return decision
end

-- Whether the best is another now, or about to be.
local function is_passed(self, best)
  local history, before = self.engine.history, self.before
  return history.best ~= best or before and self.engine.slots[before.number] ~= nil
end

-- With several workers: screens a slot's candidate before its turn to be decided, beside others. Who passes is
-- confirmed in its turn. If another candidate becomes the best meanwhile, all begins again then; and if there is no
-- noise, a measurement may be enough, and nothing is done yet.
function Judge:screen(slot)
  local engine, best = self.engine, self.engine.history.best
  engine.deciding:lock()
  if self.state.ready and not is_exact(self) and not is_passed(self, best) then
    slot.trace = slot.trace or {}
    local decision = begin(self, slot)
    self.screened[slot] = { decision = decision, best = best }
    while decision.next and not decision.promoted and not self:short_of(slot, 1) do
      local value = measure(self, slot, decision.next == "candidate" and slot.candidate or best)
      if is_passed(self, best) then
        self.screened[slot] = nil
        break
      end
      decision:feed(value)
    end
  end
  engine.deciding:unlock()
end

-- The decision that a screen has begun, if it is still about the best.
local function begun(self, slot)
  local screened = self.screened[slot]
  self.screened[slot] = nil -- a repaired version is measured from the start
  return screened and screened.best == self.engine.history.best and screened.decision or nil
end

-- Requests measurements until there is a verdict. Returns the decision, or nil and why there is none; arms: the
-- metrics of every measurement of the confirmation.
local function decide(self, slot, arms)
  local decision = begun(self, slot) or begin(self, slot)
  while decision.next do
    local short = self:short_of(slot, 1)
    if short and not decision.promoted then return nil, short end
    if short then
      decision:stop(short) -- it has spent its level
      break
    end
    local own, promoted = decision.next == "candidate", decision.promoted
    local value, metrics = measure(self, slot, own and slot.candidate or self.engine.history.best)
    if promoted then table.insert(own and arms.candidate or arms.best, metrics or {}) end
    decision:feed(value)
  end
  return decision
end

-- The values of the slot's own candidate in the trace.
local function own_values(slot)
  local values, id = { slot.value }, slot.candidate.id
  for _, entry in ipairs(slot.trace) do
    if entry.id == id then values[#values + 1] = entry.value end
  end
  return values
end

-- Whether one measurement decides: there is no noise, and the candidate is not better than the best.
local function is_decided(self, slot)
  return is_exact(self) and not self.engine.metric:better(slot.value, self.engine.history.best.value)
end

-- Whether a slot's candidate is shown to be better than the best: true or false, and why. nil if that is not asked, as
-- one measurement decides.
function Judge:judge(slot)
  self.arms = nil
  if is_decided(self, slot) then return nil end
  slot.trace = slot.trace or {}
  local arms, decision = { candidate = {}, best = {} }, nil
  local ready, why = get_ready(self, slot)
  if is_decided(self, slot) then return nil end
  self.state:level(self.engine.history.best.value)
  local before = self.state:save()
  if ready then decision, why = decide(self, slot, arms) end
  local kept = decision and decision.verdict == "kept" or false
  if decision then why = decision.why:gsub("^kept: ", "") end
  slot.samples = kept and decision.candidate_samples or own_values(slot)
  slot.value = stats.median(slot.samples)
  slot.acceptance = { verdict = kept and "kept" or "rejected", why = why, state = self.state:save() }
  if decision and decision.exhausted then self.exhausted = self.exhausted + 1 end
  self.before = kept and { number = slot.number, state = before } or nil
  self.arms = arms
  candidates.restore(slot)
  return kept, why
end

-- A candidate that was shown to be better but is not kept (a guard, the strategy) does not become the incumbent.
function Judge:take_back(slot)
  local before = self.before
  if not before or before.number ~= slot.number then return end
  self.state:take_back(before.state)
  slot.acceptance.state = before.state
  self.before = nil
end

-- What a candidate's line contains that was shown to be better and then waited, taken back, for an answer; shown: the
-- state after it was shown. If it is kept it becomes the incumbent after all; what was learned of the noise meanwhile,
-- and what error is spent, stays.
function Judge:answered(shown, kept)
  local state = self.state:save()
  if kept then
    state.ref, state.n, state.last = shown.ref, shown.n, shown.last
    self.state:take_back(state)
  end
  return state
end

-- Measures all wanted stages of a record once. Their metrics together; an earlier stage's value is not a sample of
-- the record.
local function measure_stages(self, slot, record, stages)
  if not stages then return select(2, measure(self, slot, record)) end
  local together = {}
  for _, stage in ipairs(stages) do
    local value, metrics = measure(self, slot, record, stage)
    if stage ~= slot.stage then slot.trace[#slot.trace] = { id = record.id, stage = stage } end
    for name, number in pairs(metrics or {}) do together[name] = number end
    if not value then break end
  end
  return together
end

-- One more measurement of the candidate and of the record that a guard compares it with, in random order; beside: the
-- guard's request.
function Judge:pair(slot, beside)
  self.coin = self.coin and self.coin.slot == slot and self.coin
    or { slot = slot, rng = random.stream(self.engine.seed, slot.number, "guard") }
  local first = self.coin.rng:integer(0, 1)
  slot.trace = slot.trace or {}
  for turn = 0, 1 do
    local own = turn == first
    local metrics = measure_stages(self, slot, own and slot.candidate or beside.record, beside.stages)
    table.insert(own and beside.arms.candidate or beside.arms.best, metrics or {})
  end
end

-- The number of pairs in the final comparison within a limit of measurements; nil: no limit.
local function pairs_within(self, limit)
  return limit and math.min(self.settings.final, limit // (2 * SHARE)) or self.settings.final
end

-- Reserves the final comparison in the run's budget.
function Judge:hold_back(budget)
  local limit = budget.limits.measurements
  self.held_back = limit and 2 * pairs_within(self, limit) or 0
  if limit then budget:reserve("measurements", self.held_back) end
end

local function due(self)
  local history = self.engine.history
  local best, original = history.best, history.baseline
  if not best or best == original or best.tree == original.tree and best.tree or best.id == original.id
    or self.settings.final == 0 then
    return false
  end
  return not (history.gain and history.gain.candidate == best.id and history.gain.original == original.id)
end

-- Why planning must end now so that the final comparison fits into the run's minutes; nil if it need not.
function Judge:short_of_time()
  local engine = self.engine
  local limit = engine.budget.limits.minutes
  local measured = engine.history.run_totals.measurements
  if not limit or measured == 0 or not due(self) then return nil end
  local needed = math.min(2 * self.settings.final * engine.elapsed_s / measured, limit * 60 / SHARE)
  if engine.elapsed_s + needed < limit * 60 then return nil end
  return ("budget: minutes used up (%.10g in this run, with what the final comparison takes)"):format(limit)
end

-- Whether the best has not been compared with the original yet.
function Judge:unproven() return due(self) end

function Judge:leave_out_final() self.settings.final = 0 end

-- A notice for the user at the end of a run, or nil: confirmations that ran out of measurements may have missed an
-- improvement.
function Judge:hint()
  if self.exhausted == 0 then return nil end
  return ("%d candidate%s looked better and could not be confirmed within max_repeats (%d): `acceptance: sensitive` "
    .. "finds smaller "
    .. "improvements, and a quieter metric finds more of them than either"):format(self.exhausted, self.exhausted == 1
      and "" or "s",
    self.settings.max_repeats)
end

-- The proposal of the final comparison, the best against the original in random order; nil if there is nothing to
-- compare.
function Judge:final()
  local engine = self.engine
  local limits = engine.budget.limits
  if self.held_back > 0 then engine.budget:reserve("measurements", -self.held_back) end
  if not due(self) then return nil end
  local count = pairs_within(self, limits.measurements)
  if limits.measurements then count = math.min(count, engine.budget:left "measurements" // 2) end
  if is_exact(self) then count = math.min(count, 1) end -- checks that the value is unchanged
  if count < 1 then return nil end
  local best, original = engine.history.best.id, engine.history.baseline.id
  return { parents = { best }, operator = "final", measure = { best, original }, repeats = count }
end

-- Whether a proposal is that comparison.
function Judge.is_final(_, proposal)
  return proposal.operator == "final" and proposal.measure ~= nil and #proposal.measure == 2
end

-- For a metric without known noise: the gain, if both values are unchanged; else it is noisy after all, and its level
-- must be measured before the next decision.
local function exact_gain(self, best, original, values)
  local history = self.engine.history
  local was_best, was_original = history:get(best), history:get(original)
  if values[best][1] ~= was_best.value or values[original][1] ~= was_original.value then
    self.state:baseline {}
    self.engine.world:log("warn",
      ("%s is not the same when it is measured again, though its baseline did not vary: what was kept may be "
      .. "luck. Its noise is measured before the next decision; acceptance: {baseline: 100} looks longer "
        .. "beforehand"):format(self.engine.metric.name))
    return nil
  end
  local found = acceptance.gain({ was_best.value }, { was_original.value }, self.engine.metric)
  found.low, found.high, found.exact = found.gain, found.gain, true
  return found
end

-- The line of the final comparison.
function Judge:gain(slot)
  local ids, values = slot.proposal.measure, {}
  for _, id in ipairs(ids) do values[id] = {} end
  for index = 1, #slot.trace, 2 do -- a pair counts where both were measured
    local one, other = slot.trace[index], slot.trace[index + 1]
    if other and one.value and other.value then
      table.insert(values[one.id], one.value)
      table.insert(values[other.id], other.value)
    end
  end
  local gain
  if is_exact(self) then gain = exact_gain(self, ids[1], ids[2], values)
  else gain = acceptance.gain(values[ids[1]], values[ids[2]], self.engine.metric, self.settings.confidence) end
  if gain then gain.candidate, gain.original = ids[1], ids[2] end
  return { final = true, gain = gain and gain.low and gain or nil, state = self.state:save() }
end

return judge
