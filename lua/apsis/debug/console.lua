-- console: the commands of `apsis debug`: where to go, where to stop, what to show. Keeps the number of the step it is
-- at; to go back, it walks again from the newest checkpoint before, or from the start. A goal is where a walk stops:
-- { stops(step), looks(step): whether memory is to be compared, compares: what changed is always shown, quiet: nothing
-- is printed, finish(): what follows }.
local breakpoint = require "apsis.debug.breakpoint"
local checkpoints = require "apsis.debug.checkpoints"
local expression = require "apsis.debug.expression"
local json = require "apsis.json"
local lines = require "apsis.core.line"
local shown = require "apsis.debug.shown"
local steps = require "apsis.debug.step"
local tables = require "apsis.cli.table"
local walks = require "apsis.debug.walk"

local console = {}

local Console = {}
Console.__index = Console

local hooks = {}
for _, name in ipairs(walks.hooks) do hooks[name] = true end

-- new(open, options): open() -> walk | nil, message; options.json: each answer is a line of JSON.
function console.new(open, options)
  return setmetatable({ open = open, show = shown.new(options.json), breaks = {}, marks = {}, step = nil, walk = nil,
    points = checkpoints.new(), began = 0, goal = nil, woken = false }, Console)
end

local NESTED <const> = 20 -- steps that may end within another

local function always() return true end
local function never() return false end

local function break_at(self, text)
  local one, message = breakpoint.new(text, hooks, lines.status_of)
  if one then table.insert(self.breaks, one) end
  return one, message
end

-- ---- going ----

local go_to

-- Goes on to a goal; prints where that is. The goal is another one if this process was woken meanwhile.
local function go(self, goal)
  self.goal, self.reached = goal, false
  local step, message = self.walk:go(function(step)
    self.marks[step.number] = step.experiment
    self.reached = self.goal.stops(step)
    return self.reached
  end, function(step) return self.goal.looks(step) end)
  self.step = step or not message and self.walk.last or self.step
  if self.reached and self.goal.compares and not step.before and step.body then return go_to(self, step.number) end
  if step and (self.reached or step.failed) then
    if not self.goal.quiet or step.failed then self.show:step(step) end
  elseif step then self.show:note("interrupted", step)
  elseif message then self.show:wrong(message)
  else
    self.show:note(("the journal ends here, after %d lines and %d steps"):format(self.walk.engine.history.count,
      self.walk.count), self.step)
  end
  local planner = self.walk.planner
  if planner and not self.warned then
    self.warned = true
    self.show:note(("experiment %d was planned by %s, and you look at it with %s: --strategy names another"):format(
      planner[2], tables.line(planner[1]), tables.line(self.walk.strategy.name)))
  end
  if self.reached and self.goal.finish then return self.goal.finish() end
  return self.reached
end

local function ended(self)
  if not self.walk.ended then return false end
  self.show:wrong(self.step.failed and "the strategy failed at this step: r goes back, f loads the file again"
    or "the journal ends here: r goes a step back, g 1 to its beginning")
  return true
end

-- A breakpoint that stops at a step; nil: none does.
local function hit(self, step)
  local found
  for index, one in ipairs(self.breaks) do
    local fine = not one.problem
    if one:matches(step, self.marks[step.number - 1]) then found = found or index end
    if fine and one.problem and not self.goal.quiet then self.show:failing(index, one.problem, step) end
  end
  return found
end

-- Goals that a process that is woken can be given: goals[kind](self, number).
local goals = {}

local open_walk

-- Goes to what is behind: from the newest checkpoint before it, which takes this process's place, or from the start.
local function go_again(self, kind, number, point)
  if point then
    local breaks = json.array {}
    for index, one in ipairs(self.breaks) do breaks[index] = { text = one.text, problem = one.problem } end
    self.points:wake(point, { kind = kind, number = number, again = self.again, breaks = breaks })
  end
  local ok, message = open_walk(self)
  if not ok then return self.show:wrong(message) end
  return go(self, goals[kind](self, number))
end

-- Between two steps: a checkpoint may be left; in the process that is woken there: its goal.
local function pause(self)
  local wish = self.points:leave(self.walk.count, self.walk.highest)
  if not wish then return end
  self.walk:woken()
  self.woken, self.began, self.again, self.breaks = true, self.walk.count, wish.again, {}
  for _, one in ipairs(wish.breaks) do break_at(self, one.text).problem = one.problem end
  self.goal, self.reached = goals[wish.kind](self, wish.number), false
end

-- The walk from its start, with the strategy's file as it is now. true | nil, message.
function open_walk(self)
  local again, message = self.open()
  if not again then return nil, message end
  if self.walk then self.walk:close() end
  self.walk, self.began = again, 0
  function again.between() return pause(self) end
  return true
end

-- Goes to a step by its number.
function go_to(self, number)
  if number < 1 then number = 1 end
  local point = self.points:before("steps", number)
  if self.walk.ended or self.step and number <= self.step.number or point and point.steps > self.walk.count then
    return go_again(self, "step", number, point)
  end
  return go(self, goals.step(self, number))
end

function goals.step(self, number)
  return { stops = function(step) return step.number == number end,
    looks = function() return self.walk.count + NESTED >= number end }
end

function goals.experiment(_, number)
  local function is_it(step) return step.experiment == number end
  return { stops = is_it, looks = is_it }
end

-- The last breakpoint before a step: from each checkpoint on, the newest first.
function goals.hit(self, before)
  local last
  local goal = { quiet = true, looks = never }
  function goal.stops(step)
    if step.number < before and hit(self, step) then last = step.number end
    return step.number >= before
  end
  function goal.finish()
    if not last and self.began > 0 then
      return go_again(self, "hit", self.began + 1, self.points:before("steps", self.began))
    end
    if not last then self.show:note "no breakpoint before this step: this is the first" end
    return go_to(self, last or 1)
  end
  return goal
end

-- The first step of the stretch of one experiment that a step belongs to.
local function first_of(self, number)
  while self.marks[number - 1] == self.marks[number] and number > 1 do number = number - 1 end
  return number
end

local function may_hit(self)
  return function(step)
    for _, one in ipairs(self.breaks) do
      if one:may_match(step) then return true end
    end
    return false
  end
end

-- ---- the commands ----

local commands = {}

local function count_of(text)
  return text == "" and 1 or math.tointeger(tonumber(text))
end

function commands.s(self, rest)
  local count = count_of(rest)
  if not count or count < 1 then return self.show:wrong "s N: N is a number of steps, from 1 on" end
  if ended(self) then return end
  go(self, { stops = function()
    count = count - 1
    return count == 0
  end, looks = always })
end

function commands.n(self)
  if ended(self) then return end
  local experiment = self.step and self.step.experiment
  go(self, { stops = function(step) return step.experiment ~= experiment end, looks = always })
end

-- That an expression holds is known after the step: then the walk comes there again, to compare memory.
function commands.c(self, rest)
  if rest ~= "" then return self.show:wrong "c takes nothing: it goes to the next breakpoint" end
  if ended(self) then return end
  go(self, { stops = function(step) return hit(self, step) ~= nil end, looks = may_hit(self), compares = true })
end

function commands.r(self, rest)
  local count = count_of(rest)
  if not count or count < 1 then return self.show:wrong "r N: N is a number of steps, from 1 on" end
  if self.step.number == 1 then return self.show:wrong "this is the first step" end
  go_to(self, self.step.number - count)
end

function commands.rn(self)
  local first = first_of(self, self.step.number)
  if first == 1 then return self.show:wrong "this is the first experiment" end
  go_to(self, first_of(self, first - 1))
end

function commands.rc(self)
  go_again(self, "hit", self.step.number, self.points:before("steps", self.step.number - 1))
end

function commands.g(self, rest)
  local wanted = math.tointeger(tonumber(rest))
  if not wanted or wanted < 0 then return self.show:wrong "g N: N is the number of an experiment" end
  for number = 1, #self.marks do
    if self.marks[number] == wanted then return go_to(self, number) end
  end
  local point = self.points:before("highest", wanted)
  if point and point.steps > self.walk.count then return go_again(self, "experiment", wanted, point) end
  if not ended(self) and not go(self, goals.experiment(self, wanted)) and self.walk.ended then
    self.show:wrong(("no experiment %d is in the journal"):format(wanted))
  end
end

function commands.f(self)
  local ok, message = open_walk(self)
  if not ok then return self.show:wrong(message) end
  self.points:clear()
  self.marks = {}
  go(self, goals.experiment(self, self.step.experiment))
end

function commands.b(self, rest)
  if rest == "" then return self.show:breaks(self.breaks) end
  local one, message = break_at(self, rest)
  if not one then return self.show:wrong(message) end
  self.show:breaks { [#self.breaks] = one }
end

function commands.d(self, rest)
  local number = math.tointeger(tonumber(rest))
  if rest ~= "all" and not self.breaks[number] then
    return self.show:wrong "d N: N is the number of a breakpoint; d all deletes all"
  end
  if rest == "all" then self.breaks = {} else table.remove(self.breaks, number) end
  self.show:breaks(self.breaks)
end

function commands.p(self, rest)
  if rest == "" then return self.show:wrong "p EXPRESSION, for instance p run.best.value" end
  local evaluate, message = expression.new(rest)
  if not evaluate then return self.show:wrong(message) end
  local found = table.pack(evaluate(self.step))
  if not found[1] then return self.show:wrong(found[2]) end
  for index = 2, found.n do
    if found[index] == self.step.run then found[index] = steps.run_fields(self.step) end
  end
  self.show:values(table.pack(table.unpack(found, 2, found.n)))
end

function commands.m(self) self.show:memory(self.step) end
function commands.w(self) self.show:step(self.step) end
function commands.l(self) self.show:source(self.step) end
function commands.h(self) self.show:help() end
commands["?"] = commands.h

local words = { step = "s", next = "n", continue = "c", back = "r", ["break"] = "b", delete = "d", print = "p",
  list = "l", file = "f", memory = "m", where = "w", help = "h", quit = "q", go = "g" }

-- ---- the console ----

-- Does a command; false: it was q.
function Console:command(text)
  text = text:match "^%s*(.-)%s*$"
  if text == "" then text = self.again or "s" end
  self.again = text
  local name, rest = text:match "^(%S+)%s*(.*)$"
  name = words[name] or name
  if name == "q" then return false end
  if commands[name] then commands[name](self, rest)
  else self.show:wrong(("no command %q; h lists them"):format(name)) end
  return true
end

-- Opens the walk and goes to its first step, or to the first of an experiment. Whether it came there; nil, message.
function Console:start(experiment)
  local ok, message = open_walk(self)
  if not ok then return nil, message end
  local function is_it(step) return not experiment or step.experiment == experiment end
  return go(self, { stops = is_it, looks = is_it }) or self.woken
end

return console
