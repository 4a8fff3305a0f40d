-- walk: a strategy over a recorded journal, step by step: each call of a hook, and each line, is a step. The engine and
-- the decisions are those of `apsis replay --strategy`; the walk only stops it between two steps, as a coroutine.
local contract = require "apsis.core.strategy"
local guard = require "apsis.guard"
local observe = require "apsis.debug.observe"
local steps = require "apsis.debug.step"
local wait = require "apsis.wait"

local walk = {}

local Walk = {}
Walk.__index = Walk

-- Notes text that the strategy printed or logged; before the first step it is that step's.
local function note_printed(self, text)
  local step = self.open
  table.insert(step and step.printed or self.early, text)
end

local function begin(self, owner, name, body, run, ...)
  local step = { hook = name, owner = owner, part = owner ~= self.strategy and owner.name or nil, body = body,
    bodies = self.bodies[owner], run = run, experiment = run.experiment, passed = table.pack(...),
    printed = self.early, outer = self.open }
  self.early, self.open = {}, step
  if self.looks(step) then steps.note_before(step) end
  return step
end

-- Gives the step its number and stops here if whoever goes wants to.
local function finish(self, step, ...)
  step.returned, self.count = table.pack(...), self.count + 1
  step.number, self.open, self.last = self.count, step.outer, step
  self.highest = math.max(self.highest, step.experiment)
  if self.stops(step) or wait.interrupts() > self.interrupts then coroutine.yield(step) end
  return ...
end

-- A hook that a sort or a coroutine of the strategy's own calls is no step: nobody could stop there.
local function around(self, owner, name, hook, run, ...)
  if coroutine.running() ~= self.task or not coroutine.isyieldable() then return hook(run, ...) end
  return finish(self, begin(self, owner, name, hook, run, ...), hook(run, ...))
end

-- The recorded outcome of a line that this strategy decided otherwise.
local function recorded_otherwise(self, record)
  local differing = self.held.result.decisions.differing
  local last = differing[#differing]
  return last and last.experiment == record.experiment and last.recorded or nil
end

-- A line that was folded is a step, too: experiments end there, also those that no hook decided.
local function at_line(self, record)
  local planner = record.outcome ~= "baseline" and record.strategy
  if planner and planner ~= self.strategy.name then self.planner = self.planner or { planner, record.experiment } end
  local run = self.engine:view(record.experiment, 0).face
  local step = begin(self, self.strategy, "line", nil, run, record)
  step.recorded = recorded_otherwise(self, record)
  finish(self, step)
  self.between()
end

-- What `prepare` of contract.load is given.
local function prepare_of(self)
  return observe.printing(function(text) note_printed(self, text) end)
end

local function nothing() end

-- new(held, open): held: redecide's walk; open(prepare) -> engine, or nil, message: with the strategy loaded. A walk |
-- nil, message. Its `between` is called before the first step and after each line; highest: the newest experiment;
-- planner: { name, experiment } of the first experiment that another strategy planned; nil if there was none.
function walk.new(held, open)
  local self = setmetatable({ held = held, count = 0, highest = -1, early = {}, interrupts = wait.interrupts(),
    between = nothing }, Walk)
  local engine, message = open(prepare_of(self))
  if not engine then return nil, message end
  self.engine, self.strategy = engine, engine.strategy
  engine.world.log = function(_, _, text) note_printed(self, text .. "\n") end
  self.bodies = observe.hooks(self.strategy, function(...) return around(self, ...) end)
  self.task = coroutine.create(function()
    self.between()
    return nil, select(2, held:run(engine, function(record) at_line(self, record) end))
  end)
  return self
end

local function never() return false end

-- A hook that raised has no end: it is the step that is still open.
local function failed_step(self, message)
  local step = self.open
  self.ended = true
  if not message then return nil end
  if not step then return nil, message end
  step.failed, step.number, self.open = message:gsub("^experiment %d+: ", ""), self.count + 1, nil
  return step
end

local LOOK <const> = 100000 -- instructions

-- From here on Ctrl-C ends a hook that runs, wherever it is; between two steps the walk stops by itself.
local function end_by_interrupt(self)
  debug.sethook(self.task, function()
    if self.open and self.open.body and wait.interrupts() > self.interrupts then error("ended by Ctrl-C", 2) end
  end, "", LOOK)
end

-- Goes on until stops(step) is true after a step; looks(step), asked before it: whether memory is to be compared.
-- Returns the step, which failed if it has `failed`; nil at the end of the journal, whose last step is self.last; nil
-- and why the walk cannot go on.
function Walk:go(stops, looks)
  if self.ended then return nil end
  self.stops, self.looks, self.interrupts = stops, looks or never, wait.interrupts()
  end_by_interrupt(self)
  local ok, step, message = guard.resume(self.task)
  if not ok then
    if type(step) == "table" then step = step.message end
    step, message = failed_step(self, debug.traceback(self.task, tostring(step)))
  elseif coroutine.status(self.task) == "dead" then
    step, message = failed_step(self, message)
  end
  local shown = step or self.last
  if shown and not shown.texts then
    steps.note_after(shown)
    shown.wrong = steps.problem(shown, self.engine.history)
  end
  return step, message
end

-- In a copy of the process: Ctrl-C of the time before counts no more, and files are read by its own descriptors.
function Walk:woken()
  self.interrupts = wait.interrupts()
  if self.held.source.reopen then self.held.source:reopen() end
end

function Walk:close()
  self.ended = true
  coroutine.close(self.task)
end

-- The hooks that a step may be of, and `line`.
walk.hooks = table.move(contract.hooks, 1, #contract.hooks, 1, {})
walk.hooks[#walk.hooks + 1] = "line"

return walk
