-- line: what the journal says of an experiment: its fields, made of the slot when everything is decided. Called by experiment.
local candidates = require "apsis.core.candidate"
local proposals = require "apsis.core.proposal"

local line = {}

local said_keys = { "hypothesis", "description", "learned", "next_action_hint", "rollback_reason", "model" }

-- The same of one that a hook or a provider returned.
local function wrong_in(source)
  if type(source) ~= "table" then return "what a hook returns last must be a table, not a " .. type(source) end
  local notes = source.notes
  if notes == nil or next(source, next(source)) then -- it says more than notes
    for index = 1, #said_keys do
      local key = said_keys[index]
      if source[key] ~= nil and type(source[key]) ~= "string" then
        return ("%s must be a string, not a %s"):format(key, type(source[key]))
      end
    end
  end
  if notes == nil then return nil end
  if type(notes) ~= "table" then return "notes must be a table" end
  local message = proposals.not_plain(notes)
  if message then return "notes: " .. message end
end

-- Why the journal cannot hold what hooks and provider said beside the decision; nil where it can.
function line.cannot_hold(slot, reason, extra)
  if reason ~= nil and type(reason) ~= "string" then return "a reason must be a string, not a " .. type(reason) end
  return slot.extra and wrong_in(slot.extra) or extra and wrong_in(extra)
    or slot.answer and wrong_in(slot.answer) or nil
end

-- What the journal says of a measurement that stands: what a failed verification said is none.
local function add_measurement(engine, slot, fields)
  local held = engine.history.held
  fields.secondary_metrics, fields.items, fields.stage = slot.secondary or {}, slot.items, slot.stage
  if fields.outcome ~= "skipped_verification_crash" then
    fields.primary_metric, fields.samples = slot.value, slot.value and (slot.samples or { slot.value })
  end
  fields.delta = engine.metric:delta(fields.primary_metric, held)
  fields.improved = engine.metric:better(fields.primary_metric, held)
end

-- The journal fields of a settled slot.
function line.of(engine, slot, outcome, reason, extra)
  local answer, made, proposal = slot.answer or {}, slot.change or {}, slot.proposal
  local notes = candidates.notes(slot, extra)
  local said = function(key) return (extra or {})[key] or (slot.extra or {})[key] or answer[key] end
  local fields = {
    experiment = slot.number, outcome = outcome, run = engine.run_number, seen = slot.seen, strategy = engine.strategy.name,
    operator = proposal.operator, parents = proposal.parents, direction = engine.metric.direction,
    proposal = proposals.brief(proposal), model = answer.model or proposal.model, tokens = slot.tokens,
    cost = slot.cost, notes = notes and next(notes) and notes or nil, trace = slot.trace, measurements = slot.measurements,
    answers = (slot.answered or 0) > 1 and slot.answered or nil,
    planned = slot.now, seed = engine.seed, hypothesis = said "hypothesis" or proposal.title,
    description = said "description" or made.subject,
    learned = said "learned", next_action_hint = said "next_action_hint", rollback_reason = reason or said "rollback_reason",
    group = slot.group and slot.group.first, context = slot.context, acceptance = slot.acceptance,
    gate = slot.gate, fix_attempts = slot.fix_attempts,
    plan = slot.planned, commit = made.commit, tree = made.tree, changed_lines = made.changed_lines,
    candidate = nil, answer = nil, secondary_metrics = nil, items = nil, stage = nil, primary_metric = nil, samples = nil, -- room for
    delta = nil, improved = nil, best = nil, seconds = nil, timestamp = nil, status = nil, metric = nil, -- what comes below
  }
  if not proposal.measure and not proposal.ask then fields.candidate = engine.id(slot.number) end
  if outcome == "asked" then fields.answer = answer.text end
  if outcome == "kept" and reason then fields.notes = fields.notes or {}; fields.notes.kept_because = reason end
  if slot.candidate then add_measurement(engine, slot, fields) end
  return fields
end

return line
