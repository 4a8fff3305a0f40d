-- decide: thresholds, then the strategy's accept, with the measurements it may ask for. From accept to learn nothing
-- else decides; only while it measures may halt and plan run. Returns an outcome with its reason; never touches git.
local hooks = require "apsis.core.hooks"
local line = require "apsis.core.line"
local random = require "apsis.random"
local proposals = require "apsis.core.proposal"

local restore = require("apsis.core.candidate").restore

local decide = {}

-- Why a measured candidate is not kept, for the journal, if the strategy gave no reason.
function decide.reason(engine, outcome, value)
  if outcome == "reverted_rejected" then return "the strategy rejected it although it is better than the best" end
  if outcome ~= "reverted_worse_metric" then return nil end
  return line.not_better(engine.metric, value, engine.history.bar)
end

-- The extra measurements that an accept asked for: each of ids in turn, `repeats` times, interleaved; shuffled: in a
-- new random order each time, so that drift cancels. At the stage asked for, else at that of each one's value.
function decide.measure(engine, slot, request, trace)
  local order = request.shuffled and random.stream(engine.seed, slot.number, "order")
  for _ = 1, request.repeats or 1 do
    local ids = order and order:shuffle(table.move(request.ids, 1, #request.ids, 1, {})) or request.ids
    for _, id in ipairs(ids) do
      local own = slot.candidate and slot.candidate.id == id and slot.candidate
      local record = own or engine.history:get(id)
      if not record then return nil, ("measure: no candidate %s"):format(tostring(id)) end
      local measurement = engine.world:verify(slot, record, { repeats = 1, items = request.items, split = request.split,
        stage = request.stage or (own and slot or record).stage, usual = not request.stage or nil })
      engine.budget:measured(slot)
      trace[#trace + 1] = { id = id, value = measurement.value }
      if own and measurement.value then
        slot.samples = slot.samples or { slot.value }
        table.insert(slot.samples, measurement.value)
        slot.value = engine.median(slot.samples)
        restore(slot)
      end
    end
  end
  return true
end

decide.NOT_AGAIN = "with several metrics nothing is measured again; verification.repeats takes medians"

local function check_request(engine, request)
  if engine.front then return 'accept returned "measure": ' .. decide.NOT_AGAIN end
  if type(request) ~= "table" or type(request.ids) ~= "table" or #request.ids == 0 then
    return 'accept returned "measure" without { ids = {...} }'
  end
  local problem = proposals.request_problem(request)
  return problem and 'accept returned "measure": ' .. problem
end

-- One call of accept, with "measure" answered. true, keep, reason, extra | false, traceback.
local function ask(engine, slot, candidate)
  for _ = 1, 1000 do
    local ok, keep, reason, extra = hooks.call(engine, slot.view, "accept", candidate)
    restore(slot)
    if not ok then return false, keep end
    if keep ~= "measure" then
      if type(keep) ~= "boolean" and keep ~= nil then
        return false, ('%s: hook accept returned %s: expected true or false and a reason, or "measure" and a table')
          :format(engine.strategy.where, tostring(keep))
      end
      return true, keep and true or false, reason, extra
    end
    local problem = check_request(engine, reason)
    if problem then return false, engine.strategy.where .. ": " .. problem end
    local short = engine.budget:short_of_measurements(#reason.ids * (reason.repeats or 1))
    -- What is not covered is not measured, and what is not shown is not kept.
    if short then return true, false, short end
    slot.trace = slot.trace or {}
    engine.deciding:unlock() -- while an accept measures, halt and plan may run
    local measured, message = decide.measure(engine, slot, reason, slot.trace)
    engine.deciding:lock()
    if not measured then return false, engine.strategy.where .. ": " .. message end
  end
  return false, engine.strategy.where .. ': hook accept asked to "measure" 1,000 times'
end

-- nil, or why a candidate that the strategy would keep is not kept.
local function objection_to(engine, slot)
  for _, object in ipairs(engine.objections) do
    local reason = object(slot)
    if reason then return reason end
  end
end

-- Whether to keep a candidate: first the judge measures, or the front places it; then the strategy's accept decides.
-- true, keep, reason, extra, what was shown (nil: nothing) | false, traceback.
local function weigh(engine, slot, candidate)
  local shown, evidence
  if engine.front then
    slot.value, shown, evidence = engine.front:worth(slot) -- other candidates may have been kept since it was measured
    slot.confirmed = shown
    restore(slot)
  elseif engine.judge then
    shown, evidence = engine.judge:judge(slot)
    slot.confirmed = shown
  end
  local ok, keep, why, extra = ask(engine, slot, candidate)
  if not ok then return false, keep end
  if type(why) == "table" and extra == nil then why, extra = nil, why end
  if keep and shown == false then evidence = nil end -- it speaks against the candidate
  return true, keep, why or evidence, extra, shown
end

-- The same outcome with what the strategy notes of a candidate that was stopped, or failed, after a stage that has
-- measured it; it is not asked whether to keep that.
local function noted(engine, slot, candidate, outcome, reason, extra)
  if not slot.stopped or not engine.strategy.own.stopped then return outcome, reason, extra end
  local ok, more = hooks.call(engine, slot.view, "stopped", candidate)
  restore(slot)
  if not ok then return "skipped_strategy_error", more end
  return outcome, reason, more or extra
end

-- Whether judge and strategy are asked about a measured slot.
function decide.is_asked(engine, slot)
  return slot.measurement.status == "ok" and engine.metric:passes(slot.candidate.value)
end

-- outcome, reason, extra ({learned, next_action_hint, notes}) for a candidate whose measurement is complete; reason
-- nil: see decide.reason.
function decide.candidate(engine, slot, candidate, measurement)
  local status = measurement.status
  if status ~= "ok" then
    if status == "strategy" then return "skipped_strategy_error", measurement.reason end
    if status == "unmeasured" then return "skipped_executor_failure", measurement.reason end
    return noted(engine, slot, candidate, status == "stopped" and "reverted_stage_failure"
      or "skipped_verification_crash", measurement.reason, measurement.extra)
  end
  local passes, reason = engine.metric:passes(candidate.value)
  if passes and engine.front then passes, reason = engine.front:passes(slot) end
  if not passes then return "reverted_threshold_failure", reason end
  local ok, keep, why, extra, shown = weigh(engine, slot, candidate)
  if not ok then return "skipped_strategy_error", keep end
  if keep then
    local objection = shown ~= false and objection_to(engine, slot) -- if false, only the strategy wants it
    if objection then return "reverted_threshold_failure", objection, extra end
    return "kept", why, extra
  end
  local bar = engine.history.bar
  local better = shown or shown == nil and (not bar or engine.metric:beats(candidate.value, bar))
  return better and "reverted_rejected" or "reverted_worse_metric", why or measurement.complete and measurement.reason,
    extra
end

-- Secondary metrics with a stated direction that got worse on a kept candidate: the trade, for `learned`.
function decide.trade(engine, candidate, before)
  if not before then return nil end
  local worse = {}
  for _, name in ipairs(engine.metric_names) do
    local metric, new, old = engine.metrics[name], candidate.metrics[name], before.metrics[name]
    if new and old and metric:better(old, new) then
      worse[#worse + 1] = ("%s went from %.6g to %.6g"):format(name, old, new)
    end
  end
  if #worse > 0 then
    return "trade: " .. table.concat(worse, "; ") .. ", worse, for the gain in " .. engine.metric.name
  end
end

return decide
