-- planner: the task that plans: does again what was in flight at a crash, then asks halt and plan while a worker is
-- free and the target and the budget allow, and starts a task for each experiment (with one worker, runs it itself).
local best_of = require "apsis.core.best_of"
local conclude = require "apsis.core.conclude"
local experiment = require "apsis.core.experiment"
local hold = require "apsis.core.hold"
local hooks = require "apsis.core.hooks"
local line = require "apsis.core.line"
local proposals = require "apsis.core.proposal"

local planner = {}

local STRETCH = 256 -- experiments of a single worker after which an interrupt is looked for

-- A slot for a planned proposal; group: { size, slots } if several were planned together.
local function open_slot(self, number, plan, group)
  local slot = self:open_slot { number = number, seen = plan.seen, now = plan.now, started = self.world:now(),
    strategy = plan.strategy or self.strategy.name, group = group, tokens = plan.tokens, cost = plan.cost,
    view = number == plan.number and plan.view or self:view(number, plan.now), ended = plan.ended,
    context = plan.context, offered = plan.offered, reserved = { iterations = nil, measurements = nil },
    phase = "PLAN", proposal = nil, answer = nil, answered = nil, change = nil, candidate = nil, metric_name = nil,
    measurement = nil, measurements = nil, value = nil, stage = nil } -- room for what every experiment gets
  plan.proposal.handed = plan.handed
  local barred = self.world.bars and self.world:bars(plan.proposal)
  if barred then slot.ended = { outcome = "skipped_not_selected", reason = barred } end
  self.budget:open(self.world, slot, plan)
  self:set_proposal(slot, plan.proposal)
  if group then
    group[#group + 1] = slot
    slot.siblings = group.candidates
  end
  return slot
end

-- One experiment to its end. A group settles when its last member has been measured; its candidates are then in the
-- order of their numbers, whoever was measured first, so that a replay sees the same.
local function experiment_of(self, slot)
  slot.result = experiment.measured(self, slot)
  local group = slot.group
  if not group then return conclude.settle_one(self, slot) end
  group.measured = (group.measured or 0) + 1
  if group.measured < #group then return end
  for _, member in ipairs(group) do group.candidates[#group.candidates + 1] = member.candidate end
  conclude.settle(self, group)
end

-- Puts an experiment aside until somebody else answers it: its number and its budget are taken, no worker is.
local function put_aside(self, slot)
  self.busy = self.busy - 1
  self:phase(slot, "PLAN")
end

-- With one worker, run inline: nothing else can be planned meanwhile.
local function start(self, slot)
  if self.workers == 1 then return experiment_of(self, slot) end
  self.scheduler:spawn(experiment_of, self, slot)
end

-- Takes up one that was put aside: it was answered, or ended = { outcome, reason }.
local function take_up(self, slot, ended)
  slot.offered, slot.ended = nil, ended or slot.ended
  self.busy = self.busy + 1
  start(self, slot)
end

-- The first of the experiments that are put aside, or nil.
local function put_aside_first(self)
  for _, number in ipairs(self:in_flight()) do
    if self.slots[number].offered then return self.slots[number] end
  end
end

-- A strategy error before there was a proposal: it takes a number and a line.
local function strategy_error(self, plan, message)
  local slot = self:open_slot { number = plan.number, seen = plan.seen, now = plan.now, started = self.world:now(),
    strategy = self.strategy.name, context = plan.context, proposal = { operator = "plan", parents = {} } }
  local fields = line.of(self, slot, "skipped_strategy_error", message)
  fields.operator, fields.proposal = nil, nil -- it planned nothing
  self:log(slot, fields)
end

local function next_number(self)
  local number = math.max(self.numbering, self.history.last_experiment + 1)
  for planned in pairs(self.slots) do number = math.max(number, planned + 1) end
  return number
end

-- That the target is reached, or nil.
function planner.reached(self)
  local metric, best = self.metric, self.history.best
  if not metric:reached(self.judge and self.judge:level() or best) then return nil end
  return ("target reached: %.10g (%s, target %.10g)"):format(best.value, metric:words(), metric.target)
end

-- Why nothing more may start, or nil; false if halt itself failed.
local function halted(self, plan)
  local why = self.stopping or self.budget:used_up() or self.judge and self.judge:short_of_time()
  why = why or planner.reached(self)
  if why then return why end
  local ok, reason = hooks.call(self, plan.view, "halt")
  if not ok then return false, reason end
  if reason ~= nil and reason ~= false and type(reason) ~= "string" then
    return false, ("%s: hook halt returned %s: expected nil, or the reason as text"):format(self.strategy.where,
      tostring(reason))
  end
  return reason or nil
end

-- The checked form of one that plan returned; false and a message if it is wrong.
local function checked(self, given)
  local proposal, wrong = proposals.check(given, self.history)
  if not proposal then return false, ("%s: plan returned a wrong proposal: %s"):format(self.strategy.where, wrong) end
  return proposal
end

-- What plan returned, as a list of checked proposals; nil for nothing now; false and a message if it is wrong.
local function planned(self, plan)
  local ok, given = hooks.call(self, plan.view, "plan")
  if not ok then return false, given end
  if given == nil then return nil end
  if not proposals.is_group(given) then
    local proposal, wrong = checked(self, given)
    if not proposal then return false, wrong end
    return { proposal }
  end
  if #given > 1 and #given > self:may_start() then
    return false, ("%s: plan returned a group of %d with run.free %d"):format(self.strategy.where, #given,
      self:may_start())
  end
  local list = {}
  for index, one in ipairs(given) do
    local proposal, wrong = checked(self, one)
    if not proposal then return false, wrong end
    list[index] = proposal
  end
  return list
end

local function is_change(proposal) return not (proposal.edits or proposal.measure or proposal.ask) end

-- Slots for a checked plan, one or a group.
local function open_plan(self, plan, list)
  local number = plan.number
  local group = #list > 1 and { candidates = {}, size = #list, first = number } or nil
  for index = 1, #list do
    plan.proposal = list[index]
    plan.offered = plan.offer and is_change(plan.proposal) and plan.offer or nil
    plan[index] = open_slot(self, number + index - 1, plan, group)
    self:phase(plan[index], "PLAN")
  end
end

-- What a plan may see beside the journal, for its line: replay gives it the same again.
local function context_of(self)
  local limits = self.budget.limits
  local context = { free = self:may_start(), directions = #self.world:directions(), limits = next(limits) and limits
    or nil, elapsed_s = self.elapsed_s }
  if self.budget.estimates then context.reserved = self.budget:reservations() end
  return context
end

-- What is to be tried of something that was handed in: a list of one proposal. Nobody chooses a model or asks for it.
local function handed_in(self, plan, given)
  plan.handed = given.id
  local proposal, wrong = proposals.check(given.proposal, self.history)
  if proposal then return { proposal } end
  plan.ended = { outcome = "skipped_not_selected", reason = wrong }
  return { { operator = given.proposal.operator, parents = { self.history.best.id } } }
end

-- Starts what was planned; if it was planned for somebody else, what needs an answer is put aside and offered.
local function start_or_offer(self, plan)
  for index = 1, #plan do
    local slot = plan[index]
    if slot.offered and not slot.ended then
      put_aside(self, slot)
      local ended = self.intake:offer(self, slot)
      if ended then take_up(self, slot, ended) end
    else
      start(self, slot)
    end
  end
end

local NOBODY_ASKED <const> = { { edits = {} } } -- what a proposal that was handed in takes of the budget

-- One round of halt and plan; given: what was handed in, tried instead of what plan returns. "halt" | "nothing" |
-- "started" with the slots in plan | "error".
local function plan_round(self, plan, given)
  local number = plan.number
  local reason, message = halted(self, plan)
  local list
  if reason == nil and given and given.proposal then list = handed_in(self, plan, given)
  elseif reason == nil then list, message = planned(self, plan) end
  if reason == false or list == false then
    strategy_error(self, plan, message)
    return "error"
  end
  if not reason and not list then return "nothing" end
  if list then
    local wait
    if not plan.handed then
      self.models:fill(list, self.seed, number, self.slots)
      best_of.limit(self, list)
    end
    reason, wait = self.budget:refuses(self.world, plan.handed and NOBODY_ASKED or list)
    if wait and self.busy > 0 then return "nothing" end
  end
  if reason then
    self.stopping, self.halts = reason, not list and not self.budget:used_up()
    return "halt"
  end
  open_plan(self, plan, list)
  return "started"
end

-- Takes up one that waits and has its answer. "started" | "halt" if one has waited for too long; nil: there is none.
local function take_answer(self)
  local given = self.hold and self.hold:next(self)
  if not given then return nil end
  if given.stop then
    self.stopping = self.stopping or given.stop
    return "halt"
  end
  given.slot.held.answer, self.busy = given.answer, self.busy + 1
  if self.workers == 1 then conclude.answered(self, given.slot)
  else self.scheduler:spawn(conclude.answered, self, given.slot) end
  return "started"
end

-- An answer or a request; else a round of halt and plan under `deciding`. Then it starts. Also returns what was given.
local function plan_once(self)
  local answered = self.hold and take_answer(self)
  if answered then return answered end
  local given = self.intake and self.intake:next(self)
  if given == false then return "nothing" end
  if given and given.slot then
    take_up(self, given.slot, given.ended)
    return "started", given
  end
  self.deciding:lock()
  if self.world.context then self.world:context(self) end
  local number, now = next_number(self), self.world:now()
  local plan = { number = number, seen = self.history.count, now = now, view = self:view(number, now),
    context = context_of(self), offer = given and given.offer, proposal = nil, nil }
  local result = plan_round(self, plan, given)
  self.deciding:unlock()
  start_or_offer(self, plan)
  return result, given
end

-- Waits until a slot is free again (or a pause ends).
local function wait_for_room(self) self.scheduler:park(self.room) end

-- How an outdated plan ends: a new baseline has restarted the search, or a strategy other than this run's made it,
-- so that nobody can judge it. nil for other plans.
local function overtaken(self, plan)
  local name, history = self.strategy.name, self.history
  local reason = plan.number < history.oldest
      and ("planned before %s, from which the search began again"):format(history.baseline.id)
    or not plan.handed and plan.strategy and plan.strategy ~= name
      and ("planned by %s, and this run's strategy is %s"):format(plan.strategy, name)
  return reason and { outcome = "skipped_not_selected", reason = reason }
end

local function resume(self, slot)
  if slot.offered and self.intake and not slot.ended then put_aside(self, slot) else start(self, slot) end
end

-- Starts again, in order, what had a proposal and no line when the last process ended. A group starts when it is whole.
-- plan.tokens, plan.cost: what it had taken until then, which counts from the start.
local function redo(self, unfinished)
  local groups = {}
  for _, plan in ipairs(unfinished) do self.budget:carry(plan.tokens or 0, plan.cost or 0) end
  for _, plan in ipairs(unfinished) do
    plan.handed, plan.proposal.handed, plan.proposal.experiment = plan.proposal.handed, nil, nil
    local k, trajectory = plan.proposal.k, plan.proposal.trajectory
    best_of.undo(plan.proposal)
    local ended, proposal, wrong = overtaken(self, plan), plan.proposal, nil
    if not ended then proposal, wrong = proposals.check(proposal, self.history) end
    if proposal and plan.answered then proposal.k, proposal.trajectory = k, trajectory
    elseif proposal and not plan.handed then best_of.limit(self, { proposal }) end
    plan.ended = ended or not proposal and { outcome = "skipped_strategy_error",
      reason = "the saved proposal cannot be done again: " .. wrong } or nil
    plan.proposal = proposal or { operator = plan.proposal.operator, parents = { self.history.best.id } }
    local shape = plan.group and plan.group.size > 1 and plan.group or nil
    if not shape then
      while not plan.offered and self:free() <= 0 do wait_for_room(self) end
      resume(self, open_slot(self, plan.number, plan))
    else
      local group = groups[shape.first] or { candidates = {}, size = shape.size, first = shape.first }
      groups[shape.first] = group
      open_slot(self, plan.number, plan, group)
    end
  end
  for _, group in pairs(groups) do
    for _, slot in ipairs(group) do resume(self, slot) end
  end
end

-- The last experiment of a run whose keeps were confirmed: what was gained, measured again when nothing else is in
-- flight.
local function final(self)
  while self.busy > 0 do wait_for_room(self) end
  local proposal = self.judge:final()
  if not proposal then return end
  local now = self.world:now()
  if self.world.context then self.world:context(self) end
  local plan = { number = next_number(self), now = now, seen = self.history.count }
  plan.proposal = assert(proposals.check(proposal, self.history))
  experiment_of(self, open_slot(self, plan.number, plan))
end

-- A run that only takes what is handed in, and halts, goes on while an answer to what was put aside may come; what is
-- handed in meanwhile is refused. Whether it does.
local function outlives_halt(self)
  if not (self.intake and self.intake.only and put_aside_first(self)) then return false end
  self.intake:refuse(self.stopping, self)
  self.stopping = nil
  return true
end

-- Nothing can start now: waits until that may change. Whether the run ends.
local function wait_for_more(self, given)
  local only = self.intake and self.intake.only
  if self.busy > 0 then
    if only then self.intake:pause() else wait_for_room(self) end
    return false
  end
  if given and put_aside_first(self) then -- its plan waits for the answers
    self.intake:refuse("the strategy plans nothing before what it gave out is submitted", self)
    return false
  end
  self.waiting = only and not given
  if not only and hold.any(self) then
    self.hold:pause(self)
    return false
  end
  self.stopping = not self.waiting and "the strategy plans nothing more" or nil
  return true
end

-- At the end of a run nobody can answer any more what was put aside.
local function end_aside(self)
  local slot = put_aside_first(self)
  while slot do
    slot.offered, self.busy = nil, self.busy + 1
    slot.ended = { outcome = "skipped_not_selected", reason = "the run ended before it was submitted: "
      .. self.stopping }
    experiment_of(self, slot)
    slot = put_aside_first(self)
  end
end

-- The task that plans until something ends the run.
function planner.run(self, unfinished)
  while self.world:paused() do self.world:wait_paused() end
  redo(self, hold.resume(self, unfinished))
  while true do
    while self:free() <= 0 do wait_for_room(self) end
    if self.world:paused() then
      self.world:wait_paused()
    else
      local result, given = plan_once(self)
      if self.workers == 1 then self.scheduler:breathe(STRETCH) end
      if result == "halt" and not outlives_halt(self) or result == "nothing" and wait_for_more(self, given) then
        break
      end
    end
  end
  if self.waiting then return end
  end_aside(self)
  if self.judge then final(self) end
end

-- The task that only takes the answers that are there to those that wait.
function planner.answers(self, unfinished)
  hold.resume(self, unfinished)
  local workers = self.workers
  self.workers = 1
  while take_answer(self) == "started" do end
  self.workers, self.stopping, self.waiting = workers, nil, true
end

return planner
