-- experiment: one turn of the loop as a task, up to its decision: APPLY_CHANGE, COMMIT, VERIFY; and the baseline. Asks
-- the world for every effect and the strategy for every choice.
local best_of = require "apsis.core.best_of"
local candidates = require "apsis.core.candidate"
local decide = require "apsis.core.decide"
local hooks = require "apsis.core.hooks"
local line = require "apsis.core.line"
local proposals = require "apsis.core.proposal"
local stats = require "apsis.stats"

local experiment = {}

local finite = require("apsis.direction").finite

local function failed(outcome, reason, extra) return { outcome = outcome, reason = reason, extra = extra } end

-- The best of the answers without an error: what a strategy without a select hook takes.
local function best_answer(slot, answers)
  local index, why, extra = best_of.select(answers)
  slot.extra = extra
  best_of.note(slot, answers, index)
  if index then return index end
  return nil, failed("skipped_provider_failure", why or "the provider gave no answer")
end

-- The strategy's choice among the answers: index, or nil and an ended result, or "resample" and the new proposal.
local function select_answer(engine, slot, answers)
  if not engine.strategy.own.select then return best_answer(slot, answers) end
  local ok, choice, detail, extra = hooks.call(engine, slot.view, "select", slot.proposal, answers)
  if not ok then return nil, failed("skipped_strategy_error", choice) end
  if type(detail) == "table" and choice ~= "resample" and extra == nil then detail, extra = nil, detail end
  slot.extra = extra
  best_of.note(slot, answers, choice)
  if choice == "resample" then return "resample", detail end
  if choice == nil and (extra or {}).duplicate_of then
    return nil, failed("skipped_duplicate", detail or "nearly the same as " .. tostring(extra.duplicate_of))
  end
  if choice == nil then
    local errors = 0
    for _, answer in ipairs(answers) do errors = errors + (answer.error and 1 or 0) end
    local outcome = errors == #answers and "skipped_provider_failure" or "skipped_not_selected"
    return nil, failed(outcome, detail or (answers[1] and answers[1].error) or "the provider gave no answer")
  end
  if not answers[choice] then
    return nil, failed("skipped_strategy_error", ("%s: hook select returned %s, which is no answer's index"):format(
      engine.strategy.where, tostring(choice)))
  end
  return choice
end

-- The prompt for a provider, or nil and an ended result. A world whose provider may do without one calls this on
-- demand.
local function prompt_of(engine, slot)
  local ok, text = hooks.call(engine, slot.view, "prompt", slot.proposal)
  if not ok then return nil, failed("skipped_strategy_error", text) end
  if type(text) == "string" or type(text) == "table" then return best_of.prompt(text, slot.proposal) end
  return nil, failed("skipped_strategy_error", ("%s: hook prompt returned %s, not a string or a list of messages")
    :format(engine.strategy.where, type(text)))
end

-- Adds what answers took to the slot, and notifies the world, so that a crash does not forget what was paid. A sum is
-- nil while no answer has reported it; it has what is `paid` already.
local function take(engine, slot, answers)
  local tokens, cost, unusable = slot.tokens, slot.cost, nil
  for index = 1, #answers do
    local answer = answers[index]
    if answer.tokens then tokens = (tokens or 0) + (answer.paid and 0 or answer.tokens) end
    if answer.cost then cost = (cost or 0) + (answer.paid and 0 or answer.cost) end
    if answer.error and answer.text then unusable = true end
  end
  local more = tokens ~= slot.tokens or cost ~= slot.cost
  slot.tokens, slot.cost, slot.under_way, slot.unusable = tokens, cost, nil, unusable
  slot.answered = (slot.answered or 0) + #answers
  if engine.budget.estimates then engine.budget:hold_asking(slot) end
  if more and engine.world.spent and ((tokens or 0) > 0 or (cost or 0) > 0) then engine.world:spent(slot) end
end

-- Another proposal for a slot that asked to resample; nil and an ended result if it is wrong or the budget does not
-- cover it.
local function resample(engine, slot, given)
  local again, message = proposals.check(given, engine.history)
  if not again then return nil, failed("skipped_strategy_error", engine.strategy.where .. ": resample: " .. message) end
  if engine.models.arms and not again.edits then again.model = again.model or slot.proposal.model end
  best_of.limit(engine, { again })
  local needs = engine.budget:needs(engine.world, again)
  local short = engine.budget:short_of({ needs or false }, "asking again")
  if short then return nil, failed("skipped_not_selected", short) end
  slot.first_proposal = slot.first_proposal or proposals.brief(slot.proposal)
  engine:set_proposal(slot, again)
  engine.budget:hold_asking(slot, needs)
  return again
end

experiment.prompt = prompt_of

-- The provider's answers to a slot's proposal. nil and an ended result if the prompt cannot be written.
local function ask_provider(engine, slot)
  local prompt, ended
  if engine.world.wants_prompt then prompt, ended = prompt_of(engine, slot) end
  if ended then return nil, ended end
  local refused
  if engine.strategy.own.prompt then
    slot.ask_prompt = function()
      local text
      text, refused = prompt_of(engine, slot)
      return text, refused
    end
  end
  local answers = engine.world:propose(slot, prompt)
  take(engine, slot, answers)
  if refused then return nil, refused end
  return answers
end

-- Lets the strategy choose among the answers that were handed in, or the provider's; asks the provider at most three
-- more times. An answer, or nil and an ended result.
local function choose(engine, slot)
  for attempt = 0, 3 do
    if slot.proposal.edits then return { edits = slot.proposal.edits, tokens = 0, cost = 0 } end
    local handed = engine.intake and engine.intake:answers(slot)
    local answers, ended = handed, nil
    if not handed then answers, ended = ask_provider(engine, slot) end
    if not answers then return nil, ended end
    local choice, detail = select_answer(engine, slot, answers)
    if choice ~= "resample" then
      if choice and answers[choice].error then return nil, failed("skipped_provider_failure", answers[choice].error) end
      if choice then return answers[choice] end
      return nil, detail
    end
    if handed then
      return nil, failed("skipped_not_selected", "the strategy asked for another answer, and this one was handed in")
    end
    if attempt == 3 then break end
    local again
    again, ended = resample(engine, slot, detail)
    if not again then return nil, ended end
  end
  return nil, failed("skipped_not_selected", "the strategy asked to resample more than 3 times")
end

-- Adds what one verification gave to the slot, and so to its candidate.
local function merge(engine, slot, measurement)
  slot.stage, slot.items = measurement.stage, measurement.items or slot.items
  local metrics, name, value = measurement.metrics, engine.metric.name, measurement.value
  if metrics then
    local secondary = slot.secondary or {}
    for key, number in pairs(metrics) do
      if key ~= name and finite(number) then secondary[key] = number end
    end
    slot.secondary = secondary
  end
  if engine.front then
    local _, why
    value, _, why = engine.front:worth(slot)
    if not value then measurement.missing = why or measurement.missing end
  end
  if value and value - value == 0 then -- NaN and the infinities are no measurements
    slot.value = value
    local samples = not engine.front and measurement.samples
    if samples and (samples[2] or samples[1] ~= value) then
      slot.samples, slot.value = samples, stats.median(samples)
    end
  end
  candidates.restore(slot)
end

local function stage_after(engine, stage)
  local stages = engine.world:stages()
  for index = 1, #stages do
    if stages[index] > stage then return { stage = stages[index] } end
  end
end

-- What the stage hook wants next: a request, nil (complete), or false and a measurement that ends it.
local function next_stage(engine, slot, candidate, stage)
  if not engine.strategy.own.stage then return stage_after(engine, stage) end
  local ok, go_on, why, extra = hooks.call(engine, slot.view, "stage", candidate, stage)
  candidates.restore(slot)
  if not ok then return false, { status = "strategy", reason = go_on } end
  if type(go_on) == "table" then
    local problem = proposals.request_problem(go_on)
    if not problem then return go_on end
    return false, { status = "strategy", reason = ("%s: hook stage: %s"):format(engine.strategy.where, problem) }
  end
  if go_on == false then
    if type(why) == "table" and extra == nil then why, extra = nil, why end
    return false, { status = "stopped", reason = why or ("stopped after stage %d"):format(stage), extra = extra }
  end
  if go_on ~= true and go_on ~= nil then
    return false, { status = "strategy", reason = ("%s: hook stage returned %s"):format(engine.strategy.where,
      tostring(go_on)) }
  end
  return stage_after(engine, stage)
end

-- nil, or why a stage's measurement does not let a candidate go on. One of some items or another split never does that.
local function below_threshold(engine, request, measurement)
  local threshold, name = engine.thresholds[measurement.stage], engine.threshold_of[measurement.stage]
  local other = name and (measurement.metrics or {})[name]
  local value = other or measurement.value
  if not threshold or request.items or request.split or engine.metric:reaches(value, threshold) then return nil end
  if not value then
    return ("stage %d: %s, so that its threshold %.10g is not reached"):format(measurement.stage,
      measurement.missing or "no metric " .. tostring(engine.metric.name), threshold)
  end
  return ("stage %d: %s%.10g does not reach its threshold %.10g (%s)"):format(measurement.stage,
    other and name .. " " or "", value, threshold, engine.metric:words())
end

-- What a candidate has to show of a stage: that, and its value there. nil: it has none.
local function shown_at(slot, measurement)
  return slot.value and { stage = measurement.stage, value = slot.value } or nil
end

-- A candidate that was stopped early keeps what the stage measured, but has no value: it can never be best.
local function stop_early(engine, slot, ended)
  local name = engine.metric.name
  if name and slot.value then
    slot.secondary = slot.secondary or {}
    slot.secondary[name] = slot.value
  end
  slot.value, slot.samples = nil, nil
  candidates.restore(slot)
  return ended
end

-- Every stage in turn, as thresholds and the strategy let it. The measurement that completes or ends it.
local function verify(engine, slot, candidate)
  engine:phase(slot, "VERIFY")
  engine.first_request = engine.first_request or { stage = engine.world:stages()[1], first = true }
  local request = engine.first_request
  local passed
  for _ = 1, 1000 do
    local measurement = engine.world:verify(slot, candidate, request)
    engine.budget:measured(slot)
    merge(engine, slot, measurement)
    if measurement.status ~= "ok" then
      slot.stopped = passed
      return measurement
    end
    local below = below_threshold(engine, request, measurement)
    if below then
      slot.stopped = shown_at(slot, measurement)
      return stop_early(engine, slot, { status = "stopped", reason = below })
    end
    if measurement.complete then return measurement end
    local following, ended = next_stage(engine, slot, candidate, measurement.stage)
    if following == nil then
      if slot.value and not measurement.rejected then return measurement end
      return stop_early(engine, slot, { status = measurement.rejected and "stopped" or "failed",
        reason = measurement.missing or "no metric " .. tostring(engine.metric.name) })
    end
    if following == false then
      if ended.status ~= "stopped" then return ended end
      slot.stopped = shown_at(slot, measurement)
      return stop_early(engine, slot, ended)
    end
    request, passed = following, shown_at(slot, measurement)
  end
  return { status = "strategy", reason = engine.strategy.where .. ": hook stage asked for 1,000 more stages" }
end

-- A candidate of the same tree that another slot is measuring, or has measured and not decided.
local function twin_in_flight(engine, slot, tree)
  local history = engine.history
  for _, number in ipairs(engine:in_flight()) do
    local other = engine.slots[number]
    local counts = number >= history.oldest and (not other.held or other.held.count >= history.began)
    if counts and other ~= slot and other.candidate and other.candidate.tree == tree then return other.candidate end
  end
end

-- COMMIT and VERIFY of an answer. nil if it was measured, or how it ended.
local function realise(engine, slot, answer)
  engine:phase(slot, "COMMIT")
  local made, outcome, reason = engine.world:commit(slot, answer)
  if not made then return failed(outcome, reason) end
  slot.change = made
  local renewed = slot.repair and slot.repair.renew(engine, slot)
  if made.duplicate_of then return failed("skipped_duplicate", "the same tree as " .. made.duplicate_of) end
  local others = made.tree and next(engine.slots, (next(engine.slots))) ~= nil
  local twin = others and twin_in_flight(engine, slot, made.tree)
  if twin then
    return failed("skipped_duplicate", ("the same tree as %s, which %s"):format(twin.id,
      engine.slots[twin.experiment].held and "waited for approval" or "was being measured"))
  end
  slot.metric_name = engine.metric.name
  slot.candidate = candidates.new(slot)
  if renewed then renewed() end
  slot.measurement = verify(engine, slot, slot.candidate)
end

local function change(engine, slot)
  engine:phase(slot, "APPLY_CHANGE")
  local answer, ended = choose(engine, slot)
  if not answer then return ended end
  slot.answer = answer
  return realise(engine, slot, answer)
end

-- What the last word and an afterthought need: take(engine, slot, answers) counts what answers took,
-- realise(engine, slot, answer) commits and measures one.
experiment.steps = { take = take, realise = realise }

local function remeasure(engine, slot)
  if engine.front then return failed("skipped_strategy_error", "measure: " .. decide.NOT_AGAIN) end
  engine:phase(slot, "VERIFY")
  slot.trace = {}
  local final = engine.judge ~= nil and engine.judge:is_final(slot.proposal)
  local request = { ids = slot.proposal.measure, repeats = slot.proposal.repeats, stage = slot.proposal.stage,
    items = slot.proposal.items, split = slot.proposal.split, shuffled = final }
  local ok, message = decide.measure(engine, slot, request, slot.trace)
  if not ok then return failed("skipped_strategy_error", message) end
  if final then slot.acceptance = engine.judge:gain(slot) end
  return { outcome = "measured" }
end

local function ask(engine, slot)
  engine:phase(slot, "APPLY_CHANGE")
  local answer = engine.world:ask(slot, slot.proposal.ask)
  slot.answer = answer
  take(engine, slot, { answer })
  if answer.error then return failed("skipped_provider_failure", answer.error) end
  return { outcome = "asked", text = answer.text }
end

-- Runs a slot up to its decision. nil if only that is missing (it is made from slot.measurement), else how the slot
-- ended.
function experiment.measured(engine, slot)
  if slot.ended then return slot.ended end
  if slot.proposal.measure then return remeasure(engine, slot) end
  if slot.proposal.ask then return ask(engine, slot) end
  return change(engine, slot)
end

-- All stages of the baseline, once. The measurement that ends or completes it.
local function measure_baseline(engine, slot, first)
  local measurement
  slot.stopped = nil
  for _, stage in ipairs(engine.world:stages()) do
    local request = { stage = stage, first = first and stage == engine.world:stages()[1] }
    measurement = engine.world:verify(slot, slot.candidate, request)
    slot.measurements = (slot.measurements or 0) + 1
    merge(engine, slot, measurement)
    if measurement.status ~= "ok" then break end
    local below = below_threshold(engine, {}, measurement)
    if below then slot.stopped = slot.stopped or shown_at(slot, measurement) end
    if below and first then engine.world:log("warn", "the baseline itself would be stopped early: " .. below) end
  end
  return measurement
end

-- The baseline's measurement as options have it, or once. Its last measurement, and the value of each that has one.
local function measured_baseline(engine, slot, options)
  local function measure(first) return measure_baseline(engine, slot, first) end
  if options and options.run then return options.run(engine, slot, options, measure) end
  local measurement = measure(true)
  return measurement, measurement.status == "ok" and { slot.value } or {}
end

-- The baseline: the project as it is, measured and journalled. options: { numbering; run(engine, slot, options,
-- measure), which calls measure(whether it is the first time) as often as it likes }; without `run` it is the judge's,
-- or once. Returns its record, its last measurement, and the value of each.
function experiment.baseline(engine, options)
  local number, now = math.max(engine.history:next_experiment(), options and options.numbering or 0), engine.world:now()
  local slot = engine:open_slot { number = number, baseline = true, seen = engine.history.count, now = now,
    started = now, view = engine:view(number, now), proposal = { operator = "baseline", parents = {} },
    strategy = engine.strategy.name, metric_name = engine.metric.name, reserved = {} }
  slot.change = engine.world:commit_baseline(slot)
  slot.candidate = candidates.new(slot)
  engine:phase(slot, "VERIFY")
  local judge = engine.judge
  local measurement, draws = measured_baseline(engine, slot, options or judge and judge:repeats())
  if engine.front and slot.value then slot.value, slot.samples = engine.front:worth(slot), nil end
  candidates.restore(slot)
  engine:phase(slot, "LOG")
  if measurement.status ~= "ok" then slot.value, slot.samples = nil, nil end
  if judge and slot.value then slot.acceptance = judge:baseline(slot, draws) end
  local fields = line.of(engine, slot, "baseline")
  if not slot.value then fields.rollback_reason = measurement.reason or measurement.missing end
  engine:log(slot, fields)
  return { record = engine.history.newest, measurement = measurement, values = draws }
end

return experiment
