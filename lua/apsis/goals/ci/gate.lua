-- gate: the project's CI as the last check of a candidate that would be kept. If it fails, the provider repairs the
-- candidate; the repaired version is committed, verified, judged, and checked again, until the gate passes or another
-- repair is pointless. Runs no command and judges no measurement itself. The core calls it through engine.last_word,
-- under the locks of accept.
local prompt = require "apsis.prompt"
local slots = require "apsis.core.slot"
local signature = require "apsis.goals.ci.signature"
local wait = require "apsis.wait"

local gate = {}

-- The reason in the journal's line, in autoloop's words.
local words = { exhausted = "ci-fix-exhausted: %s", short = "ci-fix-exhausted: %s", stuck = "stuck in CI fix loop: %s",
  timeout = "ci-timeout: wall-clock cap reached" }

-- Ends the run: the gate cannot be made green, so other candidates are unlikely to pass.
local function give_up(self, status, why, short)
  local engine, slot, said = self.engine, self.slot, self.signature
  local reason = words[status]:format(said) .. (short and (" (%s)"):format(short) or "")
  slot.gate = { status = status, signature = said, reason = reason }
  local text = ("the gate cannot be made green: %s; %s"):format(said, why)
  engine.stopping = engine.stopping or short or ("%s; the next candidate would fail in the same way: fix the cause or "
    .. "the gate, and run `apsis run` to resume"):format(text)
  return { outcome = "reverted_gate_failure", reason = text }
end

local function times(count, noun)
  return ("%d %s%s"):format(count, noun, count == 1 and "" or "s")
end

local function left_s(self)
  return self.limits.minutes * 60 - (wait.now() - self.began)
end

-- While the gate or a repair runs, halt and plan may run; other accepts wait.
local function unlocked(self, body, ...)
  local deciding = self.engine.deciding
  deciding:unlock()
  local result, more = body(self, ...)
  deciding:lock()
  return result, more
end

-- Estimates one more repair like a one-answer proposal. Returns why the rest of the budget does not cover it, or nil.
local function short_of(self)
  local engine, slot = self.engine, self.slot
  local budget = engine.budget
  if engine.world.context then engine.world:context(engine) end -- updates the time
  local minutes = budget.limits.minutes
  if minutes and budget:spent "minutes" >= minutes then
    return budget:used_up_text "minutes"
  end
  local short = budget:short_of_measurements(1)
  if short then return short end
  local last = budget.last -- keeps the estimate for the next plan
  local planned = slot.proposal
  local needs, known = budget:needs(engine.world, { parents = planned.parents, operator = planned.operator,
    model = planned.model })
  budget.last = last
  if needs and not known and slot.answered then
    needs = { tokens = slot.tokens / slot.answered, usd = slot.cost / slot.answered }
  end
  short = budget:short_of({ needs or false }, "a repair")
  if not short and budget.estimates then budget:hold_asking(slot, needs) end
  return short
end

-- Asks for a repair. The answer, or nil and why there is none.
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

-- Has the candidate repaired, committed and verified. nil, or the end: { outcome, reason }; `wrong` if there is no new
-- candidate.
local function repaired(self)
  local slot = self.slot
  local answer, why = ask(self)
  if not answer then return { wrong = why } end
  local before = slot.change
  local ended = self.steps.realise(self.engine, slot, answer)
  if ended and slot.change == before then return { wrong = ended.reason or ended.outcome } end
  return ended
end

-- Resets the slot for a repaired candidate: nothing measured of the previous version counts. Measurements of others
-- since then stay in the trace.
local function renew(engine, slot)
  if engine.judge then engine.judge:take_back(slot) end
  for _, entry in ipairs(slot.trace or {}) do
    if entry.id == slot.candidate.id then entry.value, entry.was = nil, entry.value end
    entry.repaired = true
  end
  local old = slot.candidate
  slots.forget_measured(slot)
  slot.extra = slot.repair.extra
  return function()
    for index, sibling in ipairs(slot.siblings or {}) do
      if sibling == old then slot.siblings[index] = slot.candidate end
    end
  end
end

local function repair(self, result)
  local slot, limits = self.slot, self.limits
  if self.attempts >= limits.attempts then
    return give_up(self, "exhausted", limits.attempts == 0 and "repairs are off (gate.attempts: 0)"
      or times(self.attempts, "repair") .. " did not fix it")
  end
  local short = short_of(self)
  if short then return give_up(self, "short", short, short) end -- the next run has a new budget
  self.attempts = self.attempts + 1
  slot.fix_attempts = self.attempts
  slot.repair = { attempt = self.attempts, attempts = limits.attempts, candidate = slot.candidate, command = limits.run,
    output = result.output, ended = signature.ending(result), extra = self.extra, renew = renew }
  local ended = unlocked(self, repaired)
  slot.repair, slot.ask_prompt = nil, nil
  if ended and ended.wrong then
    return give_up(self, "stuck", ("repair %d failed: %s"):format(self.attempts, ended.wrong))
  end
  return ended
end

local function run(self)
  self.engine:phase(self.slot, "GATE")
  return self.engine.world:gate(self.slot, self.slot.candidate, left_s(self))
end

-- Runs the gate and, if it fails, a repair. nil: there is a new version to judge; else { outcome, reason }.
local function pass(self)
  local slot = self.slot
  local function late()
    return give_up(self, "timeout", ("its %.10g minutes are used up"):format(self.limits.minutes))
  end
  if left_s(self) <= 0 then return late() end
  local result = unlocked(self, run)
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

-- Installs the gate as the last check, if the world has one.
function gate.install(engine)
  local limits = engine.world:gate_limits()
  if not limits then return end
  function engine.last_word(_, slot, steps)
    local self = { engine = engine, slot = slot, steps = steps, limits = limits, began = wait.now(), attempts = 0,
      extra = slot.extra }
    return function() return pass(self) end
  end
end

return gate
