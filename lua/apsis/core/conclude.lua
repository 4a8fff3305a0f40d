-- conclude: how a measured experiment ends, alone or with its group: DECIDE, what its result taught, and LOG. From the
-- first accept to the last learn nothing else decides.
local decide = require "apsis.core.decide"
local experiment = require "apsis.core.experiment"
local hold = require "apsis.core.hold"
local line = require "apsis.core.line"

local conclude = {}

local function add_learned(fields, text)
  if text then fields.learned = fields.learned and fields.learned .. "; " .. text or text end
end

-- Adds to what hooks and provider learned what a kept candidate costs in other metrics.
local function add_trade(engine, slot, fields)
  local compared = #engine.metric_names > 0 and not engine.front -- a front is made of trades
  add_learned(fields, compared and decide.trade(engine, slot.candidate, engine.history.best) or nil)
end

-- Adds what was said of the result; its notes come over those of the hooks.
local function add_afterthought(fields, said)
  add_learned(fields, said.learned)
  fields.next_action_hint = said.next_action_hint or fields.next_action_hint
  for key, value in pairs(said.notes or {}) do
    fields.notes = fields.notes or {}
    fields.notes[key] = value
  end
end

-- DECIDE. What would be kept is put to engine.last_word, if a room or the world has set it (see DETAILS.md).
local function decided(engine, slot)
  local last_word = not slot.held and engine.last_word and engine:last_word(slot, experiment.steps)
  while true do
    engine:phase(slot, "DECIDE")
    local outcome, reason, extra = decide.candidate(engine, slot, slot.candidate, slot.measurement)
    if outcome ~= "kept" or not last_word or line.cannot_hold(slot, reason, extra) then
      return outcome, reason, extra
    end
    local ended = last_word()
    if ended and ended.outcome == "kept" then return outcome, reason, extra end
    if ended then return ended.outcome, ended.reason, slot.candidate and extra or nil end
  end
end

-- The reason of a decision that was made again, as others were kept while the candidate waited for an answer.
local function reason_again(engine, slot, outcome, reason)
  if outcome == "kept" then return hold.because(slot, reason) end
  return ("%s; %s, and it was decided again as %s was kept while it waited"):format(
    reason or decide.reason(engine, outcome, slot.value) or outcome, slot.held.answer.text,
    hold.passed_by(engine, slot))
end

-- DECIDE and LOG of one slot: result nil if the decision is still to be made. One that is to wait for an answer is put
-- aside instead of LOG.
local function conclude_one(engine, slot, result)
  local outcome, reason, extra
  if result then
    outcome, reason, extra = result.outcome, result.reason, result.extra
  else
    outcome, reason, extra = decided(engine, slot)
  end
  if slot.skipped then outcome, reason, extra = "skipped_not_selected", slot.skipped, nil end
  local problem = line.cannot_hold(slot, reason, extra)
  if problem then
    outcome, reason, extra = "skipped_strategy_error", engine.strategy.where .. ": " .. problem, nil
    slot.extra, slot.answer = nil, nil
  elseif outcome == "reverted_rejected" and not result and not reason then -- the line knows only the others
    reason = decide.reason(engine, outcome)
  end
  if outcome == "kept" and engine.hold and hold.put(engine, slot, reason, extra) then return end
  if slot.held then reason = reason_again(engine, slot, outcome, reason) end
  if engine.judge and outcome ~= "kept" then engine.judge:take_back(slot) end
  engine:phase(slot, "LOG", outcome, reason)
  local said = not slot.held and engine.afterthought
    and engine:afterthought(slot, outcome, reason, experiment.steps.take)
  local fields = line.of(engine, slot, outcome, reason, extra)
  if said then add_afterthought(fields, said) end
  if outcome == "kept" then add_trade(engine, slot, fields) end
  engine:log(slot, fields)
end

-- LOG of a slot that has its answer, slot.held.answer = { outcome, reason (if it is not kept), text, noted }. If it is
-- to be kept and others were kept meanwhile, it is decided again.
function conclude.answered(engine, slot)
  engine.accepting:lock()
  engine.deciding:lock()
  local outcome, reason = slot.held.answer.outcome, slot.held.answer.reason
  slot.approval, slot.run = slot.held.answer.noted, slot.held.run
  slot.began = engine:steady() - (slot.held.since - slot.held.started) -- waiting is no work
  local overtaken, old = outcome == "kept" and hold.overtaken(engine.history, slot.held), slot.held.line
  if overtaken then outcome, reason = "skipped_not_selected", overtaken end
  if overtaken or slot.number < engine.history.oldest then
    old.primary_metric, old.secondary_metrics, old.samples = nil, nil, nil
  end
  if outcome == "kept" and hold.passed_by(engine, slot) then conclude_one(engine, slot)
  else
    engine:phase(slot, "LOG", outcome, reason)
    local fields = hold.line(engine, slot, outcome, reason)
    if outcome == "kept" then add_trade(engine, slot, fields) end
    engine:log(slot, fields)
  end
  engine.deciding:unlock()
  engine.accepting:unlock()
end

-- DECIDE and LOG for slots that were measured together, in order. From the first accept to the last learn nothing else
-- decides.
function conclude.settle(engine, slots)
  engine.accepting:lock()
  engine.deciding:lock()
  for index = 1, #slots do conclude_one(engine, slots[index], slots[index].result) end
  engine.deciding:unlock()
  engine.accepting:unlock()
end

-- DECIDE and LOG of a slot without a group. With several workers the judge screens it beside others, before its turn.
function conclude.settle_one(engine, slot)
  local screens = engine.workers > 1 and engine.judge and not slot.result
  if screens and decide.is_asked(engine, slot) then engine.judge:screen(slot) end
  engine.accepting:lock()
  engine.deciding:lock()
  conclude_one(engine, slot, slot.result)
  engine.deciding:unlock()
  engine.accepting:unlock()
end

return conclude
