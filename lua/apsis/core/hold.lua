-- hold: a candidate that would be kept waits for an answer from outside the loop (DETAILS.md, "The hold"). It is put
-- aside: its number and its budget are taken, no worker is, and it has no line, so that it is neither parent nor best.
-- What the line will hold is kept by the world, so that a restart goes on waiting and measures nothing again.
local candidates = require "apsis.core.candidate"
local line = require "apsis.core.line"

local hold = {}

-- Puts aside a candidate that would be kept for this reason, if engine.hold (which must be set) wants an answer first.
-- Returns whether it did.
function hold.put(engine, slot, reason, extra)
  local text = not slot.held and engine.hold:asks(slot)
  if not text then return false end
  local shown = slot.acceptance and slot.acceptance.state
  if engine.judge then engine.judge:take_back(slot) end -- the best stays what others are compared with
  if shown then slot.acceptance.state = shown end
  local history, now = engine.history, engine.world:now()
  slot.held = { text = text, since = now, started = now - engine:steady() + slot.began, run = engine.run_number,
    count = history.count, current = history.current.id, line = line.of(engine, slot, "kept", reason, extra) }
  if engine.world.save_held then engine.world:save_held(slot) end
  engine:phase(slot, "HELD")
  engine.busy = engine.busy - 1
  engine.scheduler:wake(engine.room)
  return true
end

-- The notes of a line without what the engine adds.
local function notes_of(fields)
  local notes = {}
  for key, value in pairs(fields.notes or {}) do notes[key] = value end
  notes.kept_because = nil
  return next(notes) and notes
end

local reserves = { "iterations", "measurements", "tokens", "usd" }

-- Reserves what one of this run has taken: its line does not count yet.
local function reserve(engine, slot)
  local taken = { iterations = 1, measurements = slot.measurements, tokens = slot.tokens, usd = slot.cost }
  for _, kind in ipairs(slot.run == engine.run_number and reserves or {}) do
    if engine.budget.limits[kind] and taken[kind] then engine.budget:hold(slot, kind, taken[kind]) end
  end
end

-- The slot of a plan that was put aside by an earlier process: plan.held is what that kept.
local function restore(engine, plan)
  local held, fields = plan.held, plan.held.line
  local slot = engine:open_slot { number = plan.number, seen = plan.seen, now = plan.now, started = held.started,
    strategy = plan.strategy, context = plan.context, proposal = plan.proposal, phase = "HELD", reserved = {},
    view = engine:view(plan.number, plan.now), held = held, run = held.run, change = fields,
    extra = { notes = notes_of(fields) }, answer = fields, answered = fields.answers, tokens = fields.tokens,
    cost = fields.cost, measurement = { status = "ok", complete = true }, measurements = fields.measurements,
    metric_name = engine.metric.name, value = fields.primary_metric, samples = fields.samples,
    secondary = fields.secondary_metrics, stage = fields.stage, items = fields.items, trace = fields.trace,
    acceptance = fields.acceptance, gate = fields.gate, fix_attempts = fields.fix_attempts, machines = fields.machines }
  slot.proposal.experiment = slot.number
  slot.candidate = candidates.new(slot)
  reserve(engine, slot)
  engine.busy = engine.busy - 1
  if engine.world.open_held then engine.world:open_held(slot) end
  engine:phase(slot, "HELD")
end

-- Puts those aside again that waited when the last process ended. The plans of the others.
function hold.resume(engine, unfinished)
  if not engine.hold then return unfinished end
  local others = {}
  for _, plan in ipairs(unfinished) do
    if plan.held then restore(engine, plan) else others[#others + 1] = plan end
  end
  return others
end

-- Whether one waits for an answer.
function hold.any(engine)
  for _, slot in pairs(engine.slots) do
    if slot.held then return true end
  end
  return false
end

-- Why a candidate cannot be compared any more: what is before a new baseline does not count.
function hold.overtaken(history, held)
  if history.began <= held.count then return nil end
  return ("a new baseline (%s) was measured while it waited, and earlier candidates are no longer compared")
    :format(history.baseline.id)
end

-- The id of what was kept while a candidate waited: then it is decided again. nil if nothing was.
function hold.passed_by(engine, slot)
  local current = engine.history.current.id
  return current ~= slot.held.current and current or nil
end

-- Why a candidate is kept: the reason it had, and the answer.
function hold.because(slot, reason)
  local text = slot.held.answer.text
  return reason and ("%s; %s"):format(reason, text) or text
end

-- The line of a candidate that is not decided again: how it ends, and why if it is not kept.
function hold.line(engine, slot, outcome, reason)
  local fields, noted = slot.held.line, slot.acceptance
  local kept = outcome == "kept"
  if noted and noted.state and engine.judge then noted.state = engine.judge:answered(noted.state, kept) end
  fields.acceptance, fields.approval, fields.run, fields.outcome = noted, slot.approval, slot.held.run, outcome
  local because = hold.because(slot, (fields.notes or {}).kept_because)
  fields.notes = notes_of(fields)
  fields.rollback_reason = not kept and reason or nil
  if kept then
    fields.notes = fields.notes or {}
    fields.notes.kept_because = because
  end
  fields.delta, fields.improved = engine.metric:change(fields.primary_metric, engine.history.bar)
  return fields
end

return hold
