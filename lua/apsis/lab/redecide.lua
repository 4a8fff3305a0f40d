-- redecide: another strategy's decisions on recorded proposals, "proposals held fixed": folds a journal in which
-- accept, halt, learn and (until it differs) plan are the other strategy's, each on what came of its own decisions so
-- far. What was proposed, measured and spent stays as recorded; what was asked to be measured again is answered from
-- the recording or not at all. prompt, select and stage are not asked: nothing is proposed or measured again.
local candidates = require "apsis.core.candidate"
local decide = require "apsis.core.decide"
local hooks = require "apsis.core.hooks"
local histories = require "apsis.core.history"
local json = require "apsis.json"
local lines = require "apsis.core.line"
local past = require "apsis.core.past"
local recordings = require "apsis.core.recording"
local stats = require "apsis.stats"

local redecide = { label = "proposals held fixed" }

local Held = {}
Held.__index = Held

-- The outcomes that accept decided; all others are learnt as they are.
local judged = { kept = true, reverted_worse_metric = true, reverted_rejected = true }

local function copy(map)
  local new = {}
  for key, value in pairs(map or {}) do new[key] = value end
  return new
end

local function note_samples(self, line, at)
  if not judged[line.outcome] then return end
  for _, entry in ipairs(line.trace or {}) do
    if not entry.repaired then -- of the version before, or to judge that one
      self.samples[entry.id] = self.samples[entry.id] or {}
      table.insert(self.samples[entry.id], { at = at, value = entry.value })
    end
  end
end

local function fail(self, number, message)
  self.failed = self.failed or ("experiment %d: %s"):format(number, message)
end

-- ---- accept ----

-- The notes of a line without what the engine adds. What the recorded accept noted cannot be separated from the rest.
local function notes_of(line)
  local notes = copy(line.notes)
  notes.kept_because = nil
  return notes
end

-- The slot of a line's candidate, as it was when accept was first asked.
local function slot_of(engine, line, siblings)
  local samples, proposal = recordings.first_samples(line), copy(line.proposal)
  proposal.experiment = line.experiment
  local slot = { number = line.experiment, seen = line.seen, now = line.planned or 0, proposal = proposal,
    siblings = siblings, view = engine:view(line.experiment, line.planned or 0), change = line,
    extra = { notes = notes_of(line) }, stage = line.stage, items = line.items, reserved = {},
    secondary = copy(line.secondary_metrics), metric_name = engine.metric.name, value = stats.median(samples),
    samples = samples }
  slot.candidate = candidates.new(slot)
  candidates.restore(slot)
  return slot
end

-- The slot of a line; those of a group are made together, so that each sees the others.
local function open_slot(self, line)
  local members = line.group and self.groups[line.group] or {}
  if #members < 2 then return slot_of(self.engine, line) end
  local group = self.group
  if not group or group.number ~= line.group then
    group = { number = line.group, slots = {}, candidates = {} }
    self.group = group
    for _, at in ipairs(members) do
      local slot = slot_of(self.engine, assert(self.source:read(at)), group.candidates)
      group.slots[slot.number] = slot
      table.insert(group.candidates, slot.candidate)
    end
  end
  return group.slots[line.experiment] or slot_of(self.engine, line)
end

local unanswered = setmetatable({}, { __tostring = function() return "the recording has no such measurement" end })

-- A recorded sample of a candidate that accept has not been given yet: this line's own first. Of some items, of another
-- split or stage only this line's: what the others are of, the recording does not say.
local function sample_of(self, id, request)
  local own = request.stage and not request.usual or request.items or request.split
  local found
  for _, sample in ipairs(self.samples[id] or {}) do
    local free = not sample.taken and sample.at >= self.from
    if free and sample.at == self.at then
      found = sample
      break
    end
    if free and not own and not found then found = sample end
  end
  if not found then error(unanswered, 0) end
  found.taken = true
  self.given[#self.given + 1] = found
  return found.value
end

local function watch(self, engine)
  self.engine = engine
  past.decide_only(engine, function(id, request) return sample_of(self, id, request) end)
end

-- Under acceptance, gives a slot whether it was shown to be better. That was shown of the recorded best: once a
-- decision has differed the recording cannot say it, and a strategy that asks is not answered (a debugger's gets what
-- was recorded).
local function give_shown(self, slot, line)
  if #self.result.decisions.differing == 0 or self.asks_all then
    slot.confirmed = line.acceptance.verdict == "kept"
    return
  end
  setmetatable(slot, { __index = function(_, key)
    if key == "confirmed" then self.asked_unknown = true end
  end })
end

-- outcome, reason, extra and the slot of a line's candidate, as this strategy decides; nil if it asked for measurements
-- that the recording does not have, or for what it cannot say.
local function judge(self, line)
  local engine = self.engine
  engine.seed, self.given, self.asked_unknown = line.seed or engine.seed, {}, false
  local slot = open_slot(self, line)
  if line.acceptance then give_shown(self, slot, line) end
  local ok, outcome, reason, extra = past.with_flying(engine, self.recording:flying(), function()
    return pcall(decide.candidate, engine, slot, slot.candidate, { status = "ok" })
  end)
  if ok and not self.asked_unknown then return outcome, reason, extra, slot end
  if not ok and outcome ~= unanswered then error(outcome, 0) end
  for _, sample in ipairs(self.given) do sample.taken = nil end
  return nil
end

-- The journal line that a decision would have given.
local function line_of(self, line, outcome, reason, extra, slot)
  local metric, before = self.engine.metric, self.engine.history.bar
  local new, value, kept = copy(line), slot.value, outcome == "kept"
  new.outcome, new.samples, new.primary_metric, new.trace = outcome, slot.samples, value, slot.trace
  new.measurements = (line.measurements or 0) - #(line.trace or {}) + #(slot.trace or {})
  new.rollback_reason = not kept and (reason or decide.reason(self.engine, outcome, value)) or nil
  new.delta, new.improved = metric:delta(value, before), metric:better(value, before)
  new.best = metric:better_of(before, kept and value or nil)
  new.notes = notes_of(line)
  for key, note in pairs(extra.notes or {}) do new.notes[key] = note end
  new.notes.kept_because = kept and reason or nil
  if next(new.notes) == nil then new.notes = nil end
  new.learned, new.next_action_hint = extra.learned or line.learned, extra.next_action_hint or line.next_action_hint
  return new
end

local function count(self, line, outcome, reason)
  local decisions = self.result.decisions
  local was, is = line.outcome == "kept", outcome == "kept"
  decisions.taken = decisions.taken + 1
  decisions[is and "kept" or "rejected"] = decisions[is and "kept" or "rejected"] + 1
  local recorded = was and "recorded_kept" or "recorded_rejected"
  decisions[recorded] = decisions[recorded] + 1
  if was == is then return end
  local halt = self.halted[line.run or 0]
  table.insert(decisions.differing, { candidate = line.candidate, experiment = line.experiment,
    value = line.primary_metric, recorded = line.outcome, recorded_reason = line.rollback_reason
    or (line.notes or {}).kept_because, outcome = outcome, reason = reason, after_halt = halt
    and line.experiment >= halt.experiment or nil })
end

-- A line as this strategy would have had it journalled.
function Held:decided(line, at)
  self.at = at
  local failed = self.asks_all and line.outcome == "skipped_strategy_error" and line.primary_metric
  if at < self.from or not (judged[line.outcome] or failed) or not line.proposal then return line end
  local outcome, reason, extra, slot = judge(self, line)
  if not outcome then
    local decisions = self.result.decisions
    decisions.unanswered = decisions.unanswered + 1
    decisions.first_unanswered = decisions.first_unanswered or line.experiment
    count(self, line, line.outcome)
    return line
  end
  extra = extra or {}
  if outcome == "skipped_strategy_error" then fail(self, line.experiment, reason)
  elseif reason ~= nil and type(reason) ~= "string" or type(extra) ~= "table" then
    fail(self, line.experiment, self.engine.strategy.where
      .. ": hook accept: a reason is a string, and what it returns last a table")
  else
    count(self, line, outcome, reason)
    return line_of(self, line, outcome, reason, extra, slot)
  end
  return line
end

-- ---- halt and plan ----

local function brief(record)
  return record and { candidate = record.id, value = record.retained or record.value } or nil
end

-- Why halt would stop before a plan, or nil; what is wrong with it ends the replay.
local function halt_reason(self, number, view)
  local ok, reason = hooks.call(self.engine, view, "halt")
  if not ok then return fail(self, number, reason) end
  if reason ~= nil and reason ~= false and type(reason) ~= "string" then
    return fail(self, number, ("%s: hook halt returned %s: expected nil, or the reason as text"):format(
      self.engine.strategy.where, tostring(reason)))
  end
  return reason or nil
end

-- Asks halt before a plan, once in each run until it stops.
local function ask_halt(self, plan, view)
  local run = plan.run or 0
  if self.halted[run] then return end
  local reason = halt_reason(self, plan.number, view)
  if not reason then return end
  local halt = { experiment = plan.number, run = plan.run, reason = reason, best = brief(self.engine.history.best),
    saves = { experiments = 0, measurements = 0, seconds = 0, tokens = 0, cost = 0 } }
  self.halted[run] = halt
  table.insert(self.result.halts, halt)
end

-- Adds a recorded line to what a halt saves, if it was planned after it.
local function count_saved(self, line)
  local halt = self.halted[line.run or 0]
  if not halt or (line.group or line.experiment) < halt.experiment or line.outcome == "baseline" then return end
  local saves = halt.saves
  saves.experiments = saves.experiments + 1
  for _, name in ipairs { "measurements", "seconds", "tokens", "cost" } do
    saves[name] = saves[name] + (line[name] or 0)
  end
  local value, missed = line.primary_metric, halt.missed and halt.missed.value or halt.best and halt.best.value
  if value and judged[line.outcome] and self.engine.metric:better(value, missed) then
    halt.missed = { candidate = line.candidate, value = value }
  end
end

-- What line_of and lines.complete set.
local made_anew = { "outcome", "status", "samples", "primary_metric", "trace", "measurements", "rollback_reason",
  "delta", "improved", "best", "notes", "learned", "next_action_hint" }

-- What of a line this strategy made otherwise, json.null for what is gone; nil if nothing.
local function changes_of(line, decided)
  local changes
  for _, key in ipairs(made_anew) do
    local was, is = line[key], decided[key]
    local same = was == is or type(was) == "table" and type(is) == "table" and json.encode(was) == json.encode(is)
    if not same then
      changes = changes or {}
      changes[key] = is == nil and json.null or is
    end
  end
  return changes
end

-- The journal of this strategy: each of its lines is made when the fold asks for it, on what the lines before came to.
-- A line that is asked for again is the recorded one with what this strategy changed.
local function journal_of(self)
  local changed, newest, made = {}, 0, {}
  function made.read(_, index)
    if index > newest then return nil end
    local line = assert(self.source:read(index))
    for key, value in pairs(changed[index] or {}) do
      if value == json.null then line[key] = nil else line[key] = value end
    end
    return lines.complete(line)
  end
  function made.close() end
  function made.each(_, visit)
    local ok, message, code = self.source:each(function(line, at)
      if self.failed then return self.failed end
      count_saved(self, line)
      local decided = lines.complete(self:decided(line, at))
      if self.failed then return self.failed end
      changed[at], newest = decided ~= line and changes_of(line, decided) or nil, at
      return visit(decided, at)
    end)
    if self.failed then return nil, self.failed, "ESTRATEGY" end
    return ok, message, code
  end
  return made
end

-- new(source, from, asks_all): source is the recorded journal; lines before `from` (default 1) are learnt as they are,
-- as by a run that resumes there. asks_all: what failed in the recorded strategy is asked, too, and plan also after it
-- has differed from the recorded. walk | nil, message, code. walk.journal is the journal to make the engine with.
function redecide.new(source, from, asks_all)
  local self = setmetatable({ source = source, from = from or 1, asks_all = asks_all or false, samples = {},
    halted = {}, groups = {}, result = { proposals = redecide.label, decisions = { taken = 0, kept = 0, rejected = 0,
    recorded_kept = 0, recorded_rejected = 0, unanswered = 0, differing = {} }, halts = {}, plans = { compared = 0,
    differ_otherwise = 0, otherwise = {} } } }, Held)
  local message, code
  self.recording, message, code = recordings.read(source, function(line, at)
    note_samples(self, line, at)
    if line.group and line.stage then
      self.groups[line.group] = self.groups[line.group] or {}
      table.insert(self.groups[line.group], at)
    end
  end, asks_all)
  if not self.recording then return nil, message, code end
  self.journal = journal_of(self)
  return self
end

local function shown(proposal)
  return proposal and { operator = proposal.operator, parents = proposal.parents, measure = proposal.measure,
    wrong = proposal.wrong }
end

-- Counts a plan whose proposals ask for the same as recorded and yet differ: in their notes, inspirations or other
-- keys.
local function count_otherwise(plans, list, entries)
  local keys = {}
  for index, entry in ipairs(entries) do
    for _, key in ipairs(entry.failed and {} or recordings.differing(list[index], entry.plan)) do keys[key] = true end
  end
  if next(keys) then plans.differ_otherwise = plans.differ_otherwise + 1 end
  for key in pairs(keys) do plans.otherwise[key] = (plans.otherwise[key] or 0) + 1 end
end

-- Compares a plan with the recorded one, until the first that asks for something else.
local function compare_plan(self, plan, view)
  local plans = self.result.plans
  if plan.handed or self.failed or plans.differs and not self.asks_all then return end
  local list, message = recordings.planned(self.engine, plan, view)
  if not list then return fail(self, plan.number, message) end
  if plans.differs then return end
  plans.compared = plans.compared + 1
  for index = 1, math.max(#list, #plan.entries) do
    local one, entry = list[index], plan.entries[index]
    local same = one and entry and (entry.failed or recordings.same(one, entry.plan))
    if not same then
      plans.differs = { experiment = entry and entry.experiment or plan.number + index - 1, planned = shown(one),
        recorded = shown(entry and entry.plan) }
      return
    end
  end
  count_otherwise(plans, list, plan.entries)
end

-- Called when a line has been folded: the plans that were made then.
local function after_line(self)
  local engine = self.engine
  for _, plan in ipairs(self.recording:folded(engine.history.count)) do
    if self.failed or engine.history.count < self.from - 1 then return end
    self.recording:at_plan(engine, plan, function(view)
      ask_halt(self, plan, view)
      compare_plan(self, plan, view)
    end)
  end
end

-- Whether halt would stop at the end of the recording.
local function ask_at_end(self)
  local engine = self.engine
  local history = engine.history
  if history.count == 0 or self.halted[history.run] then return end
  local number = history:next_experiment()
  self.result.halts_at_end = halt_reason(self, number, engine:view(number, 0))
end

-- run(engine, visit): over walk.journal, with the other strategy; visit(record), if given, is called for each line
-- that was folded. result | nil, message, code. Called in a task. The result: { proposals = redecide.label, lines,
-- decisions = { taken, kept, rejected, recorded_kept, recorded_rejected, unanswered (recorded ones stand in),
-- first_unanswered, differing = { {candidate, experiment, value, recorded, recorded_reason, outcome, reason,
-- after_halt}... } }, halts = { {experiment, run, reason, best, saves = {experiments, measurements, seconds, tokens,
-- cost}, missed}... }, halts_at_end, plans = { compared, differs = {experiment, planned, recorded}, differ_otherwise,
-- otherwise = { [key] = in how many plans } }, best, recorded_best, agrees }. plans.differs: the first that asked for
-- other parents, another operator or other measurements; differ_otherwise: how many before it differ in other keys of
-- a proposal. A reason is what accept itself gave.
function Held:run(engine, visit)
  watch(self, engine)
  local ok, message, code = engine:fold(function(record)
    if visit then visit(record) end
    after_line(self)
  end)
  if ok and not self.failed then ask_at_end(self) end
  if self.failed then return nil, self.failed, "ESTRATEGY" end
  if not ok then return nil, message, code end
  local recorded = histories.new(engine.metric, self.source)
  recorded.trees = nil
  ok, message, code = recorded:fold(self.source)
  if not ok then return nil, message, code end
  local result = self.result
  local decisions = result.decisions
  result.lines, result.best, result.recorded_best = engine.history.count, brief(engine.history.best),
    brief(recorded.best)
  result.agrees = #decisions.differing == 0 and decisions.unanswered == 0 and #result.halts == 0
    and not result.plans.differs
    and result.plans.differ_otherwise == 0
  return result
end

return redecide
