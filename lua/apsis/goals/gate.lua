-- gate: the project's own CI as the last word on a candidate that would be kept. On red the provider is asked for a repair of the
-- candidate, which is committed, verified and judged anew and comes here again, until the gate is green or there is no use in going
-- on. Runs no command and judges no measurement itself. Called by experiment, under the locks of accept.
local decide = require "apsis.core.decide"
local line = require "apsis.core.line"
local prompt = require "apsis.prompt"
local slots = require "apsis.core.slot"
local signature = require "apsis.goals.signature"
local wait = require "apsis.wait"

local gate = {}

-- What the journal's line says of the end, in autoloop's words.
local words = { exhausted = "ci-fix-exhausted: %s", short = "ci-fix-exhausted: %s", stuck = "stuck in CI fix loop: %s",
  timeout = "ci-timeout: wall-clock cap reached" }

-- That the gate cannot be made green, and so that no other candidate is likely to pass: the run ends.
local function give_up(self, status, why, short)
  local engine, slot, said = self.engine, self.slot, self.signature
  local reason = words[status]:format(said) .. (short and (" (%s)"):format(short) or "")
  slot.gate = { status = status, signature = said, reason = reason }
  local text = ("the gate cannot be made green: %s; %s"):format(said, why)
  engine.stopping = engine.stopping or short or ("%s; the next candidate would fail in the same way: mend what it says, or the gate, "
    .. "and go on"):format(text)
  return { outcome = "reverted_gate_failure", reason = text }
end

local function times(count, noun)
  return ("%d %s%s"):format(count, noun, count == 1 and "" or "s")
end

local function left_s(self)
  return self.limits.minutes * 60 - (wait.now() - self.began)
end

-- While the gate runs or a repair is made, halt and plan may run; other accepts wait.
local function unlocked(self, body, ...)
  local deciding = self.engine.deciding
  deciding:unlock()
  local result, more = body(self, ...)
  deciding:lock()
  return result, more
end

-- What one more repair may take, as a proposal of one answer takes it; why what is left of the budget does not cover it, or nil.
local function short_of(self)
  local engine, slot = self.engine, self.slot
  local budget = engine.budget
  if engine.world.context then engine.world:context(engine) end -- what the clock says
  local minutes = budget.limits.minutes
  if minutes and budget:spent "minutes" >= minutes then return ("budget: minutes used up (%.10g in this run)"):format(minutes) end
  local short = budget:short_of_measurements(1)
  if short then return short end
  local last = budget.last -- what the next plan is taken to need is not this
  local planned = slot.proposal
  local needs, known = budget:needs(engine.world, { parents = planned.parents, operator = planned.operator, model = planned.model })
  budget.last = last
  if needs and not known and slot.answered then needs = { tokens = slot.tokens / slot.answered, usd = slot.cost / slot.answered } end
  short = budget:short_of({ needs or false, n = 1 }, "a repair")
  if not short and budget.estimates then budget:hold_asking(slot, needs) end
  return short
end

-- Asks for a repair. The answer, or nil and why it is none.
local function ask(self)
  local engine, slot = self.engine, self.slot
  engine:phase(slot, "APPLY_CHANGE")
  local function text() return prompt.repair(slot.view.face, slot.repair) end
  slot.ask_prompt = text
  local answers = engine.world:repair(slot, engine.world.wants_prompt and text() or nil)
  self.steps.take(engine, slot, answers)
  local answer = answers[1] or { error = "the provider gave no answer" }
  if answer.error then return nil, answer.error end
  return answer
end

-- Has the candidate repaired, committed and verified. nil, or how that ended: { outcome, reason }, `wrong` where there is no new candidate.
local function mend(self)
  local slot = self.slot
  local answer, why = ask(self)
  if not answer then return { wrong = why } end
  local before = slot.change
  local ended = self.steps.realise(self.engine, slot, answer)
  if ended and slot.change == before then return { wrong = ended.reason or ended.outcome } end
  return ended
end

-- The slot of a candidate that was repaired: nothing of what was measured of the version before is this one's. What was measured of
-- others meanwhile stays in the trace.
function gate.renew(engine, slot)
  if engine.confirm then engine.confirm:take_back(slot) end
  for _, entry in ipairs(slot.trace or {}) do
    if entry.id == slot.candidate.id then entry.value, entry.was = nil, entry.value end
    entry.repaired = true
  end
  local old = slot.candidate
  slots.forget_measured(slot)
  slot.extra = slot.repair.extra
  return function() -- the siblings see the new one
    for index, sibling in ipairs(slot.siblings or {}) do
      if sibling == old then slot.siblings[index] = slot.candidate end
    end
  end
end

local function repair(self, result)
  local slot, limits = self.slot, self.limits
  if self.attempts >= limits.attempts then
    return give_up(self, "exhausted", limits.attempts == 0 and "no repair is to be tried (gate.attempts: 0)"
      or times(self.attempts, "repair") .. " did not do it")
  end
  local short = short_of(self)
  if short then return give_up(self, "short", short, short) end -- the next run has a budget of its own
  self.attempts = self.attempts + 1
  slot.fix_attempts = self.attempts
  slot.repair = { attempt = self.attempts, attempts = limits.attempts, candidate = slot.candidate, command = limits.run,
    output = result.output, ended = signature.ending(result), extra = self.extra }
  local ended = unlocked(self, mend)
  slot.repair, slot.ask_prompt = nil, nil
  if ended and ended.wrong then
    return give_up(self, "stuck", ("repair %d came to nothing: %s"):format(self.attempts, ended.wrong))
  end
  return ended
end

local function run(self)
  self.engine:phase(self.slot, "GATE")
  return self.engine.world:gate(self.slot, self.slot.candidate, left_s(self))
end

-- One run of the gate, and on red the repair. nil: there is a new version to be judged; else how it ended.
local function pass(self)
  local slot = self.slot
  local function late() return give_up(self, "timeout", ("its %.10g minutes are over"):format(self.limits.minutes)) end
  if left_s(self) <= 0 then return late() end
  local result = unlocked(self, run)
  if result.given then -- a recorded end
    slot.gate, slot.fix_attempts = result.given.gate, result.given.fix_attempts
    return { outcome = result.given.outcome, reason = result.given.reason }
  end
  if result.outcome == "exit" and result.code == 0 then
    slot.gate = { status = "green" }
    return { outcome = "kept" }
  end
  local before = self.signature
  if result.cut and before then return late() end
  self.signature = signature.of(result.whole or result.output, result)
  if result.cut then return late() end
  if self.signature == before then
    return give_up(self, "stuck", ("repair %d left it failing in the same way"):format(self.attempts))
  end
  return repair(self, result)
end

-- DECIDE, with the gate as the last word where there is one: outcome, reason, extra as decide.candidate's. steps = { take, realise } of
-- experiment.
function gate.settle(engine, slot, steps)
  if not engine.gated then
    engine:phase(slot, "DECIDE")
    return decide.candidate(engine, slot, slot.candidate, slot.measurement)
  end
  local self = { engine = engine, slot = slot, steps = steps, limits = engine.gated, began = wait.now(), attempts = 0, extra = slot.extra }
  while true do
    engine:phase(slot, "DECIDE")
    local outcome, reason, extra = decide.candidate(engine, slot, slot.candidate, slot.measurement)
    if outcome ~= "kept" or line.cannot_hold(slot, reason, extra) then return outcome, reason, extra end
    local ended = pass(self)
    if ended then
      if ended.outcome == "kept" then return outcome, reason, extra end
      return ended.outcome, ended.reason, slot.candidate and extra or nil
    end
  end
end

return gate
