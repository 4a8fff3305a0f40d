-- reflection: asks the provider what a result taught. The question shows the hypothesis, the change, the value and the
-- outcome; of the answer only its ASI lines count. Called by the engine after a decision.
local asi = require "apsis.live.provider.shared.asi"
local line = require "apsis.core.line"

local reflection = {}

local LONGEST_DIFF = 20000 -- bytes

local QUESTION <const> = [[
You proposed a change to a project. Now it has been measured. Say what the result teaches.

Hypothesis: %s

Result: %s

The change:

%s

Change no file. Answer with these lines, each at the start of a line; leave out a line that you have nothing to say in:

ASI learned=what the result teaches, in a sentence or two, so that whoever tries next can use it
ASI hypothesis_held=yes, no or unclear
ASI foreclosed=what need not be tried again, and why
ASI next_action_hint=what to try next
]]

-- The outcomes that measured a change.
local measured = { kept = true, reverted_worse_metric = true, reverted_rejected = true,
  reverted_threshold_failure = true, reverted_stage_failure = true, reverted_gate_failure = true,
  skipped_verification_crash = true }

local function number(value)
  return value and ("%.10g"):format(value) or "none"
end

local function result_text(engine, slot, outcome, reason)
  local metric, history = engine.shown_metric or engine.metric, engine.history
  local verdict = outcome == "kept" and "kept" or ("not kept (%s)"):format(outcome)
  local parts = { ("%s: %s = %s (%s); the best before it is %s, and its parent %s."):format(verdict, metric.name,
    number(slot.value), metric:words(), number(history.bar), number(slot.candidate.parents[1]
      and (history:get(slot.candidate.parents[1]) or {}).value)) }
  reason = reason or outcome == "reverted_worse_metric" and line.not_better(metric, slot.value, history.bar)
  if reason then parts[2] = "Why: " .. reason end
  local names = {}
  for name in pairs(slot.secondary or {}) do names[#names + 1] = name end
  table.sort(names)
  for index, name in ipairs(names) do names[index] = ("%s = %s"):format(name, number(slot.secondary[name])) end
  if #names > 0 then parts[#parts + 1] = "Also measured: " .. table.concat(names, ", ") .. "." end
  return table.concat(parts, "\n")
end

local function diff_text(slot)
  local diff = slot.candidate:diff()
  if #diff <= LONGEST_DIFF then return diff end
  return ("%s\n(%d more bytes)"):format(diff:sub(1, LONGEST_DIFF), #diff - LONGEST_DIFF)
end

function reflection.question(engine, slot, outcome, reason)
  local answer = slot.answer or {}
  return QUESTION:format(answer.hypothesis or answer.description or slot.change.subject or "none was given",
    result_text(engine, slot, outcome, reason), diff_text(slot))
end

-- { learned, next_action_hint, notes } of a decided slot, or nil. take(engine, slot, answers) counts what it took.
function reflection.reflect(engine, slot, outcome, reason, take)
  if not measured[outcome] or not slot.candidate then return nil end
  local question = reflection.question(engine, slot, outcome, reason)
  engine.deciding:unlock() -- while the provider thinks, halt and plan may run
  local answer = engine.world:ask(slot, question, "_reflection")
  engine.deciding:lock()
  take(engine, slot, { answer })
  if not answer.text then
    local first = not engine.reflection_failed -- tell the user why, once
    engine.reflection_failed = true
    engine.world:log(first and "warn" or "info", ("experiment %d: no reflection: %s"):format(slot.number,
      answer.error or "no text"))
    return nil
  end
  local said = {}
  asi.read_text(said, answer.text)
  local notes = said.notes or {}
  said.notes = { hypothesis_held = notes.hypothesis_held, foreclosed = notes.foreclosed }
  return said
end

return reflection
