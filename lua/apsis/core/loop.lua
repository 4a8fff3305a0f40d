-- loop: the experiment loop over a world: the engine that folds the journal, holds what is in flight, logs what came of
-- it, and runs until the planner, a crash or the user ends it. Knows no git and no process: every effect is the
-- world's, and what it is handed decides whether this is a live run, a replay or a lab.
local budget = require "apsis.core.budget"
local direction = require "apsis.direction"
local experiment = require "apsis.core.experiment"
local hooks = require "apsis.core.hooks"
local line = require "apsis.core.line"
local history = require "apsis.core.history"
local models = require "apsis.core.models"
local planner = require "apsis.core.planner"
local records = require "apsis.core.record"
local rooms = require "apsis.core.rooms"
local run = require "apsis.core.run"
local slots = require "apsis.core.slot"
local stats = require "apsis.stats"
local tasks = require "apsis.core.tasks"

local loop = {}

local Engine = {}
Engine.__index = Engine

local MAX_UNUSABLE = 20 -- answers without a usable edit, after which the run stops
local MAX_IN_A_ROW = 3 -- strategy errors, in whatever hook, or provider failures, after which the run stops

-- Errors that end the run, with the exit code they mean.
local function fatal(message, code)
  error({ fatal = true, message = message, code = code })
end

-- new{ strategy, world, journal, metric = {...}, metrics = {NAME = {...}}, tie_breaker, seed, name, workers, proposals:
--   how many of them may wait for their provider, budget, project, models = { {name, weight}... }, model_choice,
--   thresholds = { [stage] = value }, threshold_of = { [stage] = another metric that must reach it }, trajectory,
--   branch_baselines: whether every baseline is of what a branch has become }, and what a room's `engine` hook reads
function loop.new(spec)
  local engine = setmetatable({
    strategy = spec.strategy, world = spec.world, journal = spec.journal, metric = direction.new(spec.metric),
    metrics = {}, metric_names = {}, tie_breaker = spec.tie_breaker, seed = spec.seed or 1, name = spec.name,
    workers = spec.workers or 1, proposals = spec.proposals or math.huge,
    project = spec.project, slots = {}, busy = 0, median = stats.median, elapsed_s = 0,
    thresholds = spec.thresholds or {}, threshold_of = spec.threshold_of or {}, objections = {},
    streak = { length = 0, outcome = nil },
  }, Engine)
  if not spec.world.phase then engine.phase = function() end end
  for name, given in pairs(spec.metrics or {}) do
    engine.metric_names[#engine.metric_names + 1] = name
    engine.metrics[name] = direction.new { name = name, direction = given.direction, epsilon = given.epsilon }
  end
  table.sort(engine.metric_names)
  engine.history = history.new(engine.metric, spec.journal, spec.branch_baselines)
  engine.budget = budget.new(spec.budget, engine.history, function() return engine.elapsed_s end)
  engine.models = models.new(spec.models, spec.model_choice, engine.metric)
  engine.trajectory, engine.clock = spec.trajectory, spec.world.steady or spec.world.now
  rooms.call("engine", engine, spec)
  engine.slot_methods = slots.methods(engine)
  records.of_world(spec.world)
  return engine
end

function Engine:view(number, now) return run.view(self, number, now) end
function Engine:steady() return self.clock(self.world) end -- of a clock that nobody sets

local function remember(self, name, view, ...)
  local ok, message = hooks.remember(self, view, name, ...)
  if not ok then fatal(message, 2) end
end

local function begin_memory(self)
  for _, part in ipairs { self.strategy, table.unpack(self.strategy.subs) } do part.memory = nil end
  remember(self, "init", self:view(0, 0))
end

-- A strategy that remembers values forgets them with what measured them.
local function learn(self, record, view)
  if self.history.renewed == self.history.count then
    begin_memory(self)
    view = nil
  end
  remember(self, "learn", view or self:view(record.experiment, record.planned or 0), record)
end

local function fold(self, visit)
  begin_memory(self)
  local learns = self.strategy.hooks.learn ~= nil or #self.strategy.subs > 0
  local whole, judge = learns or visit, self.judge
  local folded, message, code = self.history:fold(self.journal, (whole or self.models.learns or judge)
    and function(record)
    if judge then judge:learn(record) end
    self.models:learn(record, self.history)
    if learns then learn(self, record) end
    if visit then visit(record) end
  end, not whole and line.folded(self.models.learns and models.fields) or nil)
  if judge then judge:folded() end
  return folded, message, code
end

-- Folds the journal from its start: init, then learn for every line. true | nil, message, code.
function Engine:fold(visit)
  local ok, folded, message, code = pcall(fold, self, visit)
  if ok then return folded, message, code end
  if type(folded) ~= "table" or not folded.fatal then error(folded, 0) end
  return nil, folded.message, folded.code == 3 and "EJOURNAL" or "ESTRATEGY"
end

function Engine:in_flight()
  local numbers = {}
  for number in pairs(self.slots) do numbers[#numbers + 1] = number end
  table.sort(numbers)
  return numbers
end

-- The proposals in flight, in order.
function Engine:pending()
  local list = {}
  for index, number in ipairs(self:in_flight()) do list[index] = self.slots[number].proposal end
  return list
end

-- A slot in flight, of its first fields.
function Engine:open_slot(slot)
  local methods = self.slot_methods
  slot.afford, slot.took, slot.began = methods.afford, methods.took, self:steady()
  self.slots[slot.number] = slot
  self.busy = self.busy + 1
  return slot
end

local with_provider = { PLAN = true, APPLY_CHANGE = true }

-- How many experiments may start now, whatever the budget: free workers, and as many more as may wait for a provider.
function Engine:free()
  local free, asking = self.workers - self.busy, 0
  if self.proposals >= self.workers then return free end
  for _, slot in pairs(self.slots) do
    if with_provider[slot.phase] and not slot.offered then asking = asking + 1 end
  end
  return math.min(free, self.proposals - asking)
end

-- The same, within what is left of the budget.
function Engine:may_start() return self.budget:room(self:free()) end

-- A slot enters a phase. For LOG also: its outcome and reason.
function Engine:phase(slot, phase, outcome, reason)
  slot.phase = phase
  self.world:phase(slot, outcome, reason)
  if self.proposals < self.workers then self.scheduler:wake(self.room) end -- the provider may be free
end

-- Gives a slot its proposal, and has it saved before anything is done about it.
function Engine:set_proposal(slot, proposal)
  proposal.experiment = slot.number
  slot.proposal = proposal
  self.world:save_proposal(slot)
end

-- Sets the fields of a line that are known only now: the value to beat from here on, the time.
local function complete(self, slot, fields)
  local bar, outcome = self.history.bar, fields.outcome
  local kept = outcome == "kept" or outcome == "baseline"
  if outcome == "baseline" and fields.primary_metric and self.history:begins_anew(fields) then bar = nil end
  fields.best = kept and self.metric:better_of(bar, fields.primary_metric) or bar
  fields.seconds = self:steady() - slot.began
  fields.timestamp = line.timestamp(self.world:now())
  line.complete(fields)
end

local hopeless = {
  skipped_strategy_error = { code = 2, what = "the strategy failed", remedy = "fix it and run `apsis run` to resume" },
  skipped_provider_failure = { code = 4, what = "the provider failed",
    remedy = "when it works again, `apsis run` resumes" },
  unusable = { code = 4, what = "the model answered without a usable edit",
    remedy = "`apsis show ID --prompt` has what it was asked" },
  skipped_executor_failure = { code = 3, what = "nothing could be measured",
    remedy = "fix that, then `apsis run` resumes" },
}

-- Ends the run if the same thing has failed too often in a row since it was started.
local function stop_if_hopeless(self, slot, record)
  local outcome, streak = record.outcome, self.streak
  if outcome == "skipped_provider_failure" and slot.unusable then outcome = "unusable" end
  streak.length = outcome == streak.outcome and streak.length + 1 or 1
  streak.outcome = outcome
  local stop = hopeless[outcome]
  local most = self.world.in_a_row or MAX_IN_A_ROW
  if outcome == "skipped_provider_failure" then -- of several models one may be down
    most = self.world.asks_others and MAX_IN_A_ROW * math.max(1, #self.models.names) or math.huge
  end
  if outcome == "unusable" then most = MAX_UNUSABLE end
  if outcome == "skipped_executor_failure" then most = math.min(most, self.budget.limits.iterations or most) end
  if not stop or streak.length < most then return end
  local times = streak.length > 1 and (" in %d consecutive experiments"):format(streak.length) or ""
  fatal(("stopping: %s%s; %s: %s"):format(stop.what, times, stop.remedy,
    record.rollback_reason:match "^[^\n]*"), stop.code)
end

-- Passes a line on to the models, the world, the strategy's learn and whoever waits for a free worker.
local function pass_on(self, slot, record, led)
  if self.models.learns then self.models:learn(record, self.history) end
  if self.world.publish then self.world:publish(slot, record, led) end
  if self.strategy.hooks.learn or #self.strategy.subs > 0 then learn(self, record, slot.view) end
  if self.world.progress then self.world:progress(self, record, led) end
  self.scheduler:wake(self.room)
  stop_if_hopeless(self, slot, record)
end

-- Appends the line, then lets the world publish what follows from it and the strategy learn it.
function Engine:log(slot, fields)
  local broken = self.world.broken or self.journal.broken
  if broken then error(broken, 0) end
  complete(self, slot, fields)
  local before = self.history.best
  local written, message = self.journal:append(fields, self.metric)
  if not written then
    fatal(("the journal cannot be written, so the run stops: %s"):format(message), 3)
  end
  self.slots[slot.number], self.busy = nil, self.busy - 1
  self.budget:release(slot, next(self.slots) ~= nil)
  local record, led = self.history:add(written)
  if not record then fatal(led, 2) end
  led = led or self.history.best ~= before -- what is best may change by samples alone
  pass_on(self, slot, record, led)
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

-- Runs every task to its end. "done", or "interrupted"; nil, message, exit code if the run cannot go on.
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

-- Runs until the budget, the target or the strategy ends it. { reason, interrupted, ... } | nil, message, exit code.
-- options: run_number, unfinished (plans to do again), numbering (first number that may be used), answers_only (nothing
-- is planned: only those that wait for an answer, and have it, get their lines).
function Engine:run(options)
  self.run_number, self.numbering = options.run_number, options.numbering or 0
  if self.history.run ~= self.run_number then self.history:begin(self.run_number) end
  self.scheduler = new_scheduler(self)
  self.deciding, self.accepting, self.room = self.scheduler:mutex(), self.scheduler:mutex(), {}
  self.last_word = self.world.last_word
  rooms.call("run", self, options)
  if self.judge and not options.answers_only then self.judge:hold_back(self.budget) end
  self.scheduler:spawn(options.answers_only and planner.answers or planner.run, self, options.unfinished or {})
  local ended, message, code = run_tasks(self)
  if not ended then return nil, message, code end
  if ended == "done" then return { reason = self.stopping, waiting = self.waiting } end
  return { reason = "interrupted", interrupted = true, abandoned = self.busy }
end

-- Measures the project as it is: candidate c0000, or under the next number when there is a baseline already. options:
-- how often, and numbering, the first number that may be used.
function Engine:baseline(run_number, options)
  self.run_number = run_number
  self.scheduler = new_scheduler(self)
  self.room = {}
  local outcome
  self.scheduler:spawn(function() outcome = experiment.baseline(self, options) end)
  local ended, message, code = run_tasks(self)
  if ended == "interrupted" then return nil, "interrupted", 130 end
  if not ended then return nil, message, code end
  return outcome
end

return loop
