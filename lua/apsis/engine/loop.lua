-- loop: the experiment loop over a world. Folds the journal, does again what was in flight at a crash, then plans while a
-- worker is free and the strategy, the target and the budget allow, with one task per experiment. Knows no git and no
-- process: every effect is the world's, and what it is handed decides whether this is a live run, a replay or a lab.
local budget = require "apsis.engine.budget"
local direction = require "apsis.direction"
local experiment = require "apsis.engine.experiment"
local hooks = require "apsis.engine.hooks"
local journal = require "apsis.engine.journal"
local history = require "apsis.engine.history"
local models = require "apsis.engine.models"
local proposals = require "apsis.engine.proposal"
local run = require "apsis.engine.run"
local stats = require "apsis.stats"
local tasks = require "apsis.engine.tasks"

local loop = {}

local Engine = {}
Engine.__index = Engine

local MAX_ERRORS = 3 -- strategy errors in a row, in whatever hook, after which the run stops

-- Errors that end the run, with the exit code they mean.
local function fatal(message, code)
  error({ fatal = true, message = message, code = code }, 0)
end

-- new{ strategy, world, journal, metric = {...}, metrics = {NAME = {...}}, tie_breaker, seed, name, workers, budget, project,
--   models = { {name, weight}... }, model_choice, thresholds = { [stage] = value } }
function loop.new(spec)
  local engine = setmetatable({
    strategy = spec.strategy, world = spec.world, journal = spec.journal, metric = direction.new(spec.metric),
    metrics = {}, metric_names = {}, tie_breaker = spec.tie_breaker, seed = spec.seed or 1, name = spec.name,
    workers = spec.workers or 1, project = spec.project, slots = {}, id = journal.id, median = stats.median, elapsed_s = 0,
    thresholds = spec.thresholds or {},
  }, Engine)
  for name, given in pairs(spec.metrics or {}) do
    engine.metric_names[#engine.metric_names + 1] = name
    engine.metrics[name] = direction.new { name = name, direction = given.direction, epsilon = given.epsilon }
  end
  table.sort(engine.metric_names)
  engine.history = history.new(engine.metric, spec.journal)
  engine.budget = budget.new(spec.budget, engine.history, function() return engine.elapsed_s end)
  engine.models = models.new(spec.models, spec.model_choice, engine.metric)
  history.methods(spec.world)
  return engine
end

function Engine:view(number, now)
  return run.view(self, run.at(number, now))
end

local function remember(self, name, view, ...)
  local ok, message = hooks.remember(self, view, name, ...)
  if not ok then fatal(message, 2) end
end

local function fold(self, visit)
  remember(self, "init", self:view(0, 0))
  local learns = self.strategy.hooks.learn ~= nil or #self.strategy.subs > 0
  local whole = learns or visit
  return self.history:fold(self.journal, (whole or self.models.learns) and function(record)
    self.models:learn(record, self.history)
    if learns then remember(self, "learn", self:view(record.experiment, record.planned or 0), record) end
    if visit then visit(record) end
  end, not whole and self.models.learns and models.fields or nil)
end

-- Folds the journal from its start: init, then learn for every line. true | nil, message, code.
function Engine:fold(visit)
  local ok, folded, message, code = pcall(fold, self, visit)
  if ok then return folded, message, code end
  if type(folded) == "table" and folded.fatal then return nil, folded.message, "ESTRATEGY" end
  error(folded, 0)
end

function Engine:in_flight()
  local numbers = {}
  for number in pairs(self.slots) do numbers[#numbers + 1] = number end
  table.sort(numbers)
  return numbers
end

function Engine:free()
  return self.workers - #self:in_flight()
end

-- How many experiments may start now: free workers, within what is left of the budget.
function Engine:may_start()
  local held = self.budget
  return math.max(0, math.min(self:free(), held:left "iterations", held:left "measurements", held:covers()))
end

function Engine:phase(slot, phase)
  slot.phase = phase
  self.world:phase(slot)
end

-- Gives a slot its proposal, and makes it durable before anything is done about it.
function Engine:set_proposal(slot, proposal)
  proposal.experiment = slot.number
  slot.proposal = proposal
  self.world:save_proposal(slot)
end

-- A candidate as accept sees it: what its journal line will say, with the methods of a record.
function Engine:candidate(slot, made)
  local id = journal.id(slot.number)
  return setmetatable({
    id = id, candidate = id, experiment = slot.number, parents = slot.proposal.parents,
    commit = made.commit, tree = made.tree, changed_lines = made.changed_lines, operator = slot.proposal.operator,
    proposal = slot.proposal, notes = experiment.notes(slot), secondary_metrics = {}, metrics = {}, samples = {},
    siblings = slot.siblings, stage = nil, items = nil, value = nil, primary_metric = nil, kept = nil, -- room for what measuring adds
  }, history.candidate)
end

-- Appends the line, then lets the world publish what follows from it and the strategy learn it.
function Engine:log(slot, fields)
  local before = self.history.best
  local preview = self.metric:better_of(self.history.held,
    (fields.outcome == "kept" or fields.outcome == "baseline") and fields.primary_metric or nil)
  fields.best = preview
  fields.seconds = self.world:now() - slot.started
  fields.timestamp = journal.timestamp(self.world:now())
  local line, message, code = self.journal:append(journal.line(fields))
  if not line then fatal(("the journal cannot be written, so the run stops: %s"):format(message), code == "EJOURNAL" and 2 or 3) end
  self.slots[slot.number] = nil
  self.budget:release(slot, next(self.slots))
  local record, led = self.history:add(line)
  if not record then fatal(led, 2) end
  self.models:learn(record, self.history)
  led = led or self.history.best ~= before -- what is best may change by samples alone
  self.world:publish(slot, record, led)
  if self.strategy.hooks.learn or #self.strategy.subs > 0 then
    remember(self, "learn", slot.view or self:view(record.experiment, record.planned or 0), record)
  end
  self.world:progress(self, record, led)
  self.scheduler:wake(self.room)
  if self.history.errors >= MAX_ERRORS and record.rollback_reason then
    fatal(("%d experiments in a row failed in the strategy, so the run stops; mend it and go on with `apsis run`: %s"):format(
      self.history.errors, record.rollback_reason:match("^[^\n]*")), 2)
  end
end

-- A slot for a planned proposal; group: { size, slots } where several were planned together.
local function open_slot(self, number, plan, group)
  local slot = { number = number, seen = plan.seen, now = plan.now, view = number == plan.number and plan.view or self:view(number,
    plan.now),
    started = self.world:now(), group = group, phase = "PLAN", reserved = {}, tokens = plan.tokens, cost = plan.cost,
    ended = plan.ended, context = plan.context, -- and room for what the experiment adds
    proposal = nil, result = nil, ask_prompt = nil, extra = nil, answer = nil, change = nil, candidate = nil, facts = nil,
    measurements = nil, planned = nil, siblings = nil, prompt = nil }
  self.slots[number] = slot
  self.budget:open(self.world, slot, plan)
  self:set_proposal(slot, plan.proposal)
  if group then
    group[#group + 1] = slot
    slot.siblings = group.candidates
  end
  return slot
end

-- The task of one experiment. A group settles when its last member has been measured.
local function start(self, slot)
  self.scheduler:spawn(function()
    slot.result = experiment.measured(self, slot)
    local group = slot.group
    if not group then return experiment.settle(self, { slot }) end
    group.measured = (group.measured or 0) + 1
    if slot.candidate then table.insert(group.candidates, slot.candidate) end
    if group.measured == #group then experiment.settle(self, group) end
  end)
end

-- A strategy error before there was a proposal: it takes a number and a line.
local function strategy_error(self, plan, message)
  local slot = { number = plan.number, seen = plan.seen, now = plan.now, started = self.world:now(),
    proposal = { operator = "plan", parents = {} }, result = nil }
  self.slots[slot.number] = slot
  self:log(slot, { experiment = slot.number, outcome = "skipped_strategy_error", run = self.run_number, seen = slot.seen,
    strategy = self.strategy.name, candidate = journal.id(slot.number), direction = self.metric.direction,
    rollback_reason = message, planned = slot.now })
end

local function next_number(self)
  local number = self.numbering
  for planned in pairs(self.slots) do number = math.max(number, planned + 1) end
  return math.max(number, self.history:next_experiment())
end

-- Why nothing more may start, or nil; false where halt itself failed.
local function halted(self, plan)
  if self.stopping then return self.stopping end
  local used_up = self.budget:used_up()
  if used_up then return used_up end
  if self.metric:reached(self.history.best) then
    return ("target reached: %.10g (%s, target %.10g)"):format(self.history.best.value, self.metric:words(), self.metric.target)
  end
  local ok, reason = hooks.call(self, plan.view, "halt")
  if not ok then return false, reason end
  if reason ~= nil and reason ~= false and type(reason) ~= "string" then
    return false, ("%s: hook halt returned %s: expected nil, or the reason as text"):format(self.strategy.where, tostring(reason))
  end
  return reason or nil
end

-- What plan returned, as a list of checked proposals; nil for nothing now; false and a message where it is wrong.
local function planned(self, plan)
  local ok, given = hooks.call(self, plan.view, "plan")
  if not ok then return false, given end
  if given == nil then return nil end
  local list = proposals.is_group(given) and given or { given }
  if #list > 1 and #list > self:may_start() then
    return false, ("%s: plan returned a group of %d with run.free %d"):format(self.strategy.where, #list, self:may_start())
  end
  local checked = {}
  for index, one in ipairs(list) do
    local proposal, message = proposals.check(one, self.history)
    if not proposal then return false, ("%s: plan returned a wrong proposal: %s"):format(self.strategy.where, message) end
    checked[index] = proposal
  end
  return checked
end

-- Slots for a checked plan, one or a group, and their tasks.
local function start_plan(self, plan, list)
  local number = plan.number
  local group = #list > 1 and { candidates = {}, size = #list, first = number } or nil
  for index, proposal in ipairs(list) do
    plan.proposal = proposal
    self:phase(open_slot(self, number + index - 1, plan, group), "PLAN")
  end
  for index = 1, #list do start(self, self.slots[number + index - 1]) end
end

-- What a plan may see beside the journal, for its line: replay gives it the same again.
local function context_of(self)
  local limits = self.budget.limits
  return { free = self:may_start(), directions = #self.world:directions(), limits = next(limits) and limits or nil,
    elapsed_s = self.elapsed_s, reserved = (limits.tokens or limits.usd) and self.budget:reservations() or nil }
end

-- One round of halt and plan. "halt" | "nothing" | "started" | "error".
local function plan_round(self)
  self.world:context(self)
  local number, now = next_number(self), self.world:now()
  local plan = { number = number, seen = self.history.count, now = now, view = self:view(number, now), context = context_of(self) }
  local reason, message = halted(self, plan)
  local list
  if reason == nil then list, message = planned(self, plan) end
  if reason == false or list == false then
    strategy_error(self, plan, message)
    return "error"
  end
  if not reason and not list then return "nothing" end
  local wait
  if list then
    self.models:fill(list, self.seed, number, self.slots)
    reason, wait = self.budget:refuses(self.world, list)
    if wait and next(self.slots) then return "nothing" end
  end
  if reason then
    self.stopping = reason
    return "halt"
  end
  start_plan(self, plan, list)
  return "started"
end

-- The same under the decision lock.
local function plan_once(self)
  self.deciding:lock()
  local result = plan_round(self)
  self.deciding:unlock()
  return result
end

-- Waits until a slot is free again (or a pause ends).
local function wait_for_room(self)
  self.scheduler:park(self.room)
end

-- Starts again, in order, what had a proposal and no line when the last process ended. A group starts when it is whole.
-- plan.tokens, plan.cost: what it had taken until then, which counts from the start.
local function redo(self, unfinished)
  local groups = {}
  for _, plan in ipairs(unfinished) do self.budget:carry(plan.tokens or 0, plan.cost or 0) end
  for _, plan in ipairs(unfinished) do
    plan.proposal.experiment = nil
    local checked, wrong = proposals.check(plan.proposal, self.history)
    plan.ended = wrong and { outcome = "skipped_strategy_error", reason = "the saved proposal cannot be done again: " .. wrong }
    plan.proposal = checked or { operator = plan.proposal.operator, parents = { self.history.best.id } }
    local shape = plan.group and plan.group.size > 1 and plan.group or nil
    if not shape then
      while self:free() <= 0 do wait_for_room(self) end
      start(self, open_slot(self, plan.number, plan))
    else
      local group = groups[shape.first] or { candidates = {}, size = shape.size, first = shape.first }
      groups[shape.first] = group
      open_slot(self, plan.number, plan, group)
    end
  end
  for _, group in pairs(groups) do
    for _, slot in ipairs(group) do start(self, slot) end
  end
end

local function planner(self, unfinished)
  while self.world:paused() do self.world:wait_paused(self) end
  redo(self, unfinished)
  while true do
    while self:free() <= 0 do wait_for_room(self) end
    if self.world:paused() then
      self.world:wait_paused(self)
    else
      local result = plan_once(self)
      if result == "halt" then return end
      if result == "nothing" then
        if #self:in_flight() == 0 then
          self.stopping = "the strategy plans nothing more"
          return
        end
        wait_for_room(self)
      end
    end
  end
end

-- What the world put off to write (notes about phases, say) it writes while the loop waits.
local function new_scheduler(self)
  local scheduler = tasks.new()
  if self.world.before_wait then scheduler.before_wait = function() return self.world:before_wait() end end
  if self.world.advance then -- its time is simulated
    self.world.scheduler, scheduler.advance = scheduler, function() return self.world:advance() end
  end
  return scheduler
end

-- Runs every task to its end. "done", or "interrupted"; nil, message, exit code where the run cannot go on.
local function run_tasks(self)
  local ok, finished = pcall(function()
    return self.scheduler:run(function(interrupts) return interrupts > 0 end)
  end)
  if ok and finished then return "done" end
  self.scheduler:abandon()
  if ok then return "interrupted" end
  if type(finished) == "table" and finished.fatal then return nil, finished.message, finished.code end
  error(finished, 0)
end

-- Runs until the budget, the target or the strategy ends it. { reason, interrupted } | nil, message, exit code.
-- options: run_number, unfinished (plans to do again), numbering (first number that may be used).
function Engine:run(options)
  self.run_number, self.numbering = options.run_number, options.numbering or 0
  if self.history.run ~= self.run_number then
    self.history:begin(self.run_number)
  end
  self.scheduler = new_scheduler(self)
  self.deciding, self.accepting, self.room = self.scheduler:mutex(), self.scheduler:mutex(), {}
  self.scheduler:spawn(function() planner(self, options.unfinished or {}) end)
  local ended, message, code = run_tasks(self)
  if not ended then return nil, message, code end
  if ended == "done" then return { reason = self.stopping } end
  return { reason = "interrupted", interrupted = true, abandoned = #self:in_flight() }
end

-- Measures the project as it stands: candidate c0000, or under the next number when there is a baseline already.
function Engine:baseline(run_number)
  self.run_number = run_number
  self.scheduler = new_scheduler(self)
  self.room = {}
  local outcome
  self.scheduler:spawn(function() outcome = experiment.baseline(self) end)
  local ended, message, code = run_tasks(self)
  if ended == "interrupted" then return nil, "interrupted", 130 end
  if not ended then return nil, message, code end
  return outcome
end

return loop
