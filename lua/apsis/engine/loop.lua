-- loop: the experiment loop over a world. Folds the journal, does again what was in flight at a crash, then plans while a
-- worker is free and the strategy, the target and the budget allow, with one task per experiment. Knows no git and no
-- process: every effect is the world's, and what it is handed decides whether this is a live run, a replay or a lab.
local budget = require "apsis.engine.budget"
local direction = require "apsis.direction"
local candidates = require "apsis.engine.candidate"
local experiment = require "apsis.engine.experiment"
local hooks = require "apsis.engine.hooks"
local journal = require "apsis.engine.journal"
local lane = require "apsis.engine.lane"
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

local function nothing() end

-- new{ strategy, world, journal, metric = {...}, metrics = {NAME = {...}}, tie_breaker, seed, name, workers, budget, project,
--   models = { {name, weight}... }, model_choice, thresholds = { [stage] = value } }
function loop.new(spec)
  local engine = setmetatable({
    strategy = spec.strategy, world = spec.world, journal = spec.journal, metric = direction.new(spec.metric),
    metrics = {}, metric_names = {}, tie_breaker = spec.tie_breaker, seed = spec.seed or 1, name = spec.name,
    workers = spec.workers or 1, project = spec.project, slots = {}, flying = 0, id = journal.id, median = stats.median, elapsed_s = 0,
    thresholds = spec.thresholds or {}, spare_views = {}, spare_slots = {},
  }, Engine)
  if spec.journal.columnar then engine.plain_line = { plain = true, measurements = 1, tokens = 0, cost = 0 } end
  if not spec.world.phase then engine.phase = nothing end
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
  return run.view(self, number, now)
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

-- The proposals in flight, in order.
function Engine:pending()
  if self.lone then return { candidates.proposal(self.lone) } end
  local list = {}
  for index, number in ipairs(self:in_flight()) do list[index] = self.slots[number].proposal end
  return list
end

-- Slots and views that nothing holds any more are used again where the world says that it holds none either.
local function spare_view(self, number, now)
  local view = table.remove(self.spare_views)
  if view then return run.renew(view, number, now) end
  return run.view(self, number, now)
end

function Engine:take_in(slot)
  self.slots[slot.number] = slot
  self.flying = self.flying + 1
end

local of_one_experiment = { "candidate", "change", "value", "samples", "secondary", "stage", "items", "trace", "extra", "planned", "answer",
  "measurements", "measurement", "result", "tokens", "cost", "prompt", "ask_prompt", "under_way", "siblings", "judged", "selected" }

local function recycle(self, slot)
  if not self.world.recycles or slot.group or not slot.view then return end
  for index = 1, #of_one_experiment do slot[of_one_experiment[index]] = nil end
  self.spare_slots[#self.spare_slots + 1], self.spare_views[#self.spare_views + 1] = slot, slot.view
  slot.view = nil
end

function Engine:free()
  return self.workers - self.flying - (self.lone and 1 or 0)
end

-- How many experiments may start now: free workers, within what is left of the budget.
function Engine:may_start()
  local held = self.budget
  if self.short then
    lane.count(self)
    held.alone = self.lone and 1 or 0
  end
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

-- What the line says that is known only now: what the best counts for from here on, and when it is.
local function complete(self, slot, fields)
  local history, outcome, now = self.history, fields.outcome, self.world:now()
  local kept = outcome == "kept" or outcome == "baseline"
  fields.best = kept and self.metric:better_of(history.held, fields.primary_metric) or history.held
  fields.seconds = now - slot.started
  if fields.plain then return end
  fields.timestamp = journal.timestamp(now)
  journal.line(fields)
end

-- The strategy, the models and whoever waits for room hear of a line.
local function tell(self, slot, record, led)
  if self.models.learns then self.models:learn(record, self.history) end
  if self.world.publish then self.world:publish(slot, record, led) end
  if self.strategy.hooks.learn or #self.strategy.subs > 0 then
    remember(self, "learn", slot.view or self:view(record.experiment, record.planned or 0), record)
  end
  if self.world.progress then self.world:progress(self, record, led) end
  self.scheduler:wake(self.room)
  if self.history.errors >= MAX_ERRORS and record.rollback_reason then
    fatal(("%d experiments in a row failed in the strategy, so the run stops; mend it and go on with `apsis run`: %s"):format(
      self.history.errors, record.rollback_reason:match("^[^\n]*")), 2)
  end
end

-- Appends the line, then lets the world publish what follows from it and the strategy learn it.
function Engine:log(slot, fields)
  complete(self, slot, fields)
  local before, columnar = self.history.best, self.plain_line
  local line, message, code = self.journal:append(fields, slot.candidate)
  if not line then fatal(("the journal cannot be written, so the run stops: %s"):format(message), code == "EJOURNAL" and 2 or 3) end
  self.slots[slot.number], self.flying = nil, self.flying - 1
  self.budget:release(slot, self.flying > 0)
  local record, led = self.history:add(columnar and fields or line, columnar and line)
  if not record then fatal(led, 2) end
  led = led or self.history.best ~= before -- what is best may change by samples alone
  tell(self, slot, record, led)
  recycle(self, slot)
end

-- A slot for a planned proposal; group: { size, slots } where several were planned together.
local function open_slot(self, number, plan, group)
  local slot = table.remove(self.spare_slots) or { number = number, proposal = nil, result = nil, ask_prompt = nil, extra = nil,
    answer = nil, change = nil, candidate = nil, measurement = nil, measurements = nil, planned = nil, siblings = nil, prompt = nil,
    value = nil, samples = nil, secondary = nil, stage = nil, items = nil, trace = nil, reserved = {} } -- room for what it adds
  slot.number, slot.seen, slot.now, slot.started, slot.group, slot.phase = number, plan.seen, plan.now, plan.started or self.world:now(),
    group, "PLAN"
  slot.view = number == plan.number and plan.view or self:view(number, plan.now)
  slot.tokens, slot.cost, slot.ended, slot.context, slot.baseline = plan.tokens, plan.cost, plan.ended, plan.context, nil
  self:take_in(slot)
  self.budget:open(self.world, slot, plan)
  self:set_proposal(slot, plan.proposal)
  slot.plain = plan.plain
  if group then
    group[#group + 1] = slot
    slot.siblings = group.candidates
  end
  return slot
end

-- One experiment to its end. A group settles when its last member has been measured.
local function experiment_of(self, slot)
  slot.result = experiment.measured(self, slot)
  local group = slot.group
  if not group then return experiment.settle_one(self, slot) end
  group.measured = (group.measured or 0) + 1
  if slot.candidate then table.insert(group.candidates, slot.candidate) end
  if group.measured == #group then experiment.settle(self, group) end
end

-- One alone needs no task of its own: nothing is planned until it ends.
local function start(self, slot)
  if self.workers == 1 then return experiment_of(self, slot) end
  self.scheduler:spawn(experiment_of, self, slot)
end

-- A strategy error before there was a proposal: it takes a number and a line.
local function strategy_error(self, plan, message)
  local slot = { number = plan.number, seen = plan.seen, now = plan.now, started = self.world:now(),
    proposal = { operator = "plan", parents = {} }, result = nil }
  self:take_in(slot)
  self:log(slot, { experiment = slot.number, outcome = "skipped_strategy_error", run = self.run_number, seen = slot.seen,
    strategy = self.strategy.name, candidate = journal.id(slot.number), direction = self.metric.direction,
    rollback_reason = message, planned = slot.now })
end

local function next_number(self)
  local number = math.max(self.numbering, self.history.last_experiment + 1)
  if self.flying > 0 then
    for planned in pairs(self.slots) do number = math.max(number, planned + 1) end
  end
  return number
end

-- What a hook says; in the lane it was asked already.
local function hook(self, plan, name)
  local from = plan.from
  if not from then return hooks.call(self, plan.view, name) end
  if from ~= name then return true end -- it said nothing there
  plan.from = nil
  return hooks.told(self, name, plan.ok, plan.said)
end

-- Why nothing more may start, or nil; false where halt itself failed.
local function halted(self, plan)
  if self.stopping then return self.stopping end
  local used_up = self.budget:used_up()
  if used_up then return used_up end
  if self.metric:reached(self.history.best) then
    return ("target reached: %.10g (%s, target %.10g)"):format(self.history.best.value, self.metric:words(), self.metric.target)
  end
  local ok, reason = hook(self, plan, "halt")
  if not ok then return false, reason end
  if reason ~= nil and reason ~= false and type(reason) ~= "string" then
    return false, ("%s: hook halt returned %s: expected nil, or the reason as text"):format(self.strategy.where, tostring(reason))
  end
  return reason or nil
end

-- The checked form of one that plan returned; false and a message where it is wrong.
local function checked(self, plan, given)
  local proposal, more = proposals.check(given, self.history)
  if not proposal then return false, ("%s: plan returned a wrong proposal: %s"):format(self.strategy.where, more) end
  plan.plain = more
  return proposal
end

-- What plan returned, as a list of checked proposals; nil for nothing now; false and a message where it is wrong.
local function planned(self, plan)
  local ok, given = hook(self, plan, "plan")
  if not ok then return false, given end
  if given == nil then return nil end
  local list, message = {}, nil
  if not proposals.is_group(given) then
    list[1], message = checked(self, plan, given)
    if not list[1] then return false, message end
    return list
  end
  if #given > 1 and #given > self:may_start() then
    return false, ("%s: plan returned a group of %d with run.free %d"):format(self.strategy.where, #given, self:may_start())
  end
  for index, one in ipairs(given) do
    list[index], message = checked(self, plan, one)
    if not list[index] then return false, message end
  end
  return list
end

-- Slots for a checked plan, one or a group.
local function open_plan(self, plan, list)
  local number = plan.number
  local group = #list > 1 and { candidates = {}, size = #list, first = number } or nil
  for index = 1, #list do
    plan.proposal = list[index]
    plan[index] = open_slot(self, number + index - 1, plan, group)
    self:phase(plan[index], "PLAN")
  end
end

-- What a plan may see beside the journal, for its line: replay gives it the same again.
local function context_of(self)
  local limits = self.budget.limits
  return { free = self:may_start(), directions = #self.world:directions(), limits = next(limits) and limits or nil,
    elapsed_s = self.elapsed_s, reserved = (limits.tokens or limits.usd) and self.budget:reservations() or nil }
end

-- One round of halt and plan. "halt" | "nothing" | "started" with the slots in plan | "error".
local function plan_round(self, plan)
  if self.world.context then self.world:context(self) end
  local number, now = next_number(self), self.world:now()
  plan.number, plan.seen, plan.now, plan.view = number, self.history.count, plan.now or now, plan.view or spare_view(self, number, now)
  if not self.plain_line then plan.context = context_of(self) end
  local reason, message = halted(self, plan)
  local list
  if reason == nil then list, message = planned(self, plan) end
  if reason == false or list == false then
    strategy_error(self, plan, message)
    return "error"
  end
  if not reason and not list then return "nothing" end
  if list then
    local wait
    self.models:fill(list, self.seed, number, self.slots)
    reason, wait = self.budget:refuses(self.world, list)
    if wait and self.flying > 0 then return "nothing" end
  end
  if reason then
    self.stopping = reason
    return "halt"
  end
  open_plan(self, plan, list)
  return "started"
end

local STRETCH = 256 -- experiments in the lane before the loop looks up

-- Experiments the short way, as far as it goes. Returns what the loop goes on with, a plan; nil where all are done.
local function short_way(self)
  local view = spare_view(self, 0, 0)
  local plan = lane.run(self, view, lane.stretch(self, STRETCH))
  if not plan then self.spare_views[#self.spare_views + 1] = view end
  return plan
end

-- The same under the decision lock; what was planned then starts.
local function plan_once(self)
  local plan = {}
  if self.short and not self.stopping and not self.budget:used_up() and not self.metric:reached(self.history.best) then
    plan = short_way(self)
    if not plan then return "started" end
  end
  self.deciding:lock()
  local result = plan_round(self, plan)
  self.deciding:unlock()
  for index = 1, #plan do
    plan[index].judged, plan[index].selected = plan.judged or nil, plan.selected or nil
    start(self, plan[index])
  end
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
    plan.ended = not checked and { outcome = "skipped_strategy_error", reason = "the saved proposal cannot be done again: " .. wrong }
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
      if self.workers == 1 then self.scheduler:breathe() end
      if result == "halt" then return end
      if result == "nothing" then
        if self.flying == 0 then
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
  self.short, self.lane_slot = lane.open_to(self), lane.new(self)
  self.scheduler:spawn(function() planner(self, options.unfinished or {}) end)
  local ended, message, code = run_tasks(self)
  if not ended then return nil, message, code end
  if ended == "done" then return { reason = self.stopping } end
  return { reason = "interrupted", interrupted = true, abandoned = self.flying }
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
