-- common: what several commands share: the project argument, overrides from options, and the running of experiments.
local fs = require "apsis.fs"
local host = require "apsis.host"
local json = require "apsis.json"
local progress = require "apsis.cli.progress"
local rooms = require "apsis.core.rooms"
local session = require "apsis.live.session"
local show = require "apsis.cli.table"
local tasks = require "apsis.core.tasks"
local wait = require "apsis.wait"

local common = {}

function common.project_argument(parser)
  parser:argument("dir", "the project, or a directory inside it (default: here)"):args "?"
  parser:option("-C --directory", "the same, as show and diff take it"):argname "DIR"
end

function common.run_options(parser)
  parser:option("--seed",
    "the seed of every random stream (default: the manifest's, else 1)"):convert(math.tointeger):argname "N"
  parser:option("--strategy", "a shipped strategy or a .lua file, instead of the manifest's"):argname "NAME"
  parser:option("--set", "an option of the strategy, for instance patience=50"):count "*":argname "KEY=VALUE"
  parser:flag("-q --quiet", "no progress")
  parser:flag("--json", "the result as one JSON object on stdout")
end

-- Runs body as the one task of a scheduler, so that what it measures may run side by side. Its result; nil where it was
-- interrupted.
function common.as_task(body)
  local scheduler, result = tasks.new(), nil
  scheduler:spawn(function() result = body() end)
  local ok, finished = pcall(scheduler.run, scheduler, function(interrupts) return interrupts > 0 end)
  if not (ok and finished) then scheduler:abandon() end
  if not ok then error(finished, 0) end
  return finished and result or nil
end

-- What a setting on the command line means: JSON, true or false, a number, else the text.
function common.value_of(text)
  if text:find("^[%[{]") then
    local value = json.decode(text)
    if value ~= nil then return value end
  end
  if text == "true" then return true elseif text == "false" then return false end
  return tonumber(text) or text
end

-- The manifest's overrides that options ask for; nil and a message where --set is not KEY=VALUE.
function common.overrides(args)
  local overrides = { ["execution.workers"] = args.workers, seed = args.seed }
  return overrides
end

-- Applies --strategy and --set to a configured session. true | nil, message, 2.
function common.choose_strategy(self, args)
  local spec = self.manifest.strategy
  if args.strategy then
    local use = args.strategy
    if use:find("%.lua$") then -- a path is meant from where the user is; within the project it is named from there
      use = fs.realpath(use) or use
      if use:sub(1, #self.dir + 1) == self.dir .. "/" then use = use:sub(#self.dir + 2) end
    end
    spec, self.strategy_from = { use = use, options = {} }, "--strategy"
  end
  spec = { use = spec.use, options = spec.options or {} }
  for _, setting in ipairs(args.set or {}) do
    local key, value = setting:match("^([%w_]+)=(.*)$")
    if not key then return nil, ("--set: %q is not KEY=VALUE"):format(setting), 2 end
    spec.options[key] = common.value_of(value)
  end
  self.manifest.strategy = spec
  return true
end

-- Asks every room about a session: true, or nil, message, code of the first that returns false, message, code.
local function agreed(hook, ...)
  local answer, message, code = rooms.first(hook, ...)
  if answer == false then return nil, message, code end
  return true
end

-- A target that is met already does not end a run that somebody asks for; one that is met during the run does.
local function go_past(self, args)
  local engine = self.engine
  local reached = engine.metric:reached(engine.judge and engine.judge:level() or engine.history.best)
  if reached and (args.past_target or self.past_target) then engine.metric.target = nil end
  return true
end

-- A session ready to run experiments: configured, locked, folded. args beside a command's own: unchecked (nothing will
-- be measured), past_target (a target that was met does not end it). session | nil, message, code, why ("LOCKED").
function common.open(args, visit)
  local self, message, code = session.configure(args.dir, common.overrides(args))
  if not self then return nil, message, code end
  local function fail(...)
    self:close()
    return nil, ...
  end
  local ok, why
  ok, message, code = common.choose_strategy(self, args)
  if not ok then return fail(message, code) end
  self.progress_line = progress.new { quiet = args.quiet or args.json }
  ok, message, code, why = session.steps(self, "load_strategy", function()
    return self:open_world(function(engine, record, led)
      engine.elapsed_s = self.world.state:elapsed()
      self.progress_line:update(engine, record, led)
    end, args.unchecked)
  end, "lock", function() return agreed("before_journal", self) end, "open_journal", function()
    self.world:clear_locks()
    self.world:sweep()
    return self:open_engine(visit)
  end, function() return agreed("opened", self) end, function() return go_past(self, args) end)
  if not ok then return fail(message, code, why) end
  self.last = self:last_state()
  return self
end

-- What a run that did not come to its end left as its status: killed, interrupted, or stopped by an error. What it had
-- spent counts.
local unended = { running = true, paused = true, interrupted = true, stopped = true }

-- How many of the experiments in flight count as iterations when they are done again.
local function changes_among(unfinished)
  local count = 0
  for _, plan in ipairs(unfinished) do
    if not plan.proposal.measure and not plan.proposal.ask then count = count + 1 end
  end
  return count
end

-- The run's number and limits: a run that ended in the middle is gone on with, under its number and limits. What it had
-- in flight is not of what --iterations asks for; with args.in_all it is.
local function plan_run(self, args, unfinished)
  local history, last = self.engine.history, self.last
  local again = unended[last.status] and last.run ~= nil and last.run >= history.run
  local number = again and last.run or math.max(history.run, last.run or 0) + 1
  local limits = {}
  for kind, value in pairs(self.manifest.budget or {}) do limits[kind] = value end
  for kind, value in pairs(again and last.limits or {}) do limits[kind] = value end
  local note = self.world.state
  note.elapsed_before = again and last.elapsed_s or 0
  local spent = again and history.run == number and history.run_totals or {}
  if args.iterations then
    local before = changes_among(unfinished)
    limits.iterations = (spent.iterations or 0) + (args.in_all and math.max(before, args.iterations)
      or before + args.iterations)
  end
  if args.minutes then limits.minutes = note.elapsed_before / 60 + args.minutes end
  return number, limits, again
end

local function check_ready(self, at)
  local baseline = self.engine.history.newest_baseline
  if not baseline then return nil, ("no baseline: run `apsis baseline%s` first"):format(at), 3 end
  if not baseline.value then
    return nil, ("the newest baseline (%s) has no metric: fix the verification (see %s/verifier.log) and run `apsis "
      .. "baseline --again`")
      :format(baseline.id, self.world.runs:dir(baseline.experiment, true)), 3
  end
  local metric = self.manifest.metric
  if baseline.metric and (baseline.metric ~= metric.name or baseline.direction ~= self.engine.metric.direction) then
    return nil, ("%s: metric: the journal's values are of %s (%s), the manifest has %s (%s): change it back, or measure "
      .. "again with "
      .. "`apsis baseline --again`"):format(self.manifest.where "metric", baseline.metric, baseline.direction,
      metric.name,
      self.engine.metric.direction), 2
  end
  local ok, message, code = agreed("before_run", self, at)
  if not ok then return nil, message, code end
  local lacking = rooms.first("baseline_lacks", self.manifest, baseline)
  if lacking then return nil, lacking, 3 end
  ok, message, code = self:check_prompts()
  if not ok then return nil, message, code end
  return self.world:open_provider()
end

local function result_of(self, outcome, before, outcomes_before)
  local history, outcomes = self.engine.history, {}
  for name, count in pairs(self.engine.history.outcomes) do
    local more = count - (outcomes_before[name] or 0)
    if more > 0 then outcomes[name] = more end
  end
  local best = history.best
  local initial = self.initial or history.baseline and history.baseline.value
  return { run = self.engine.run_number, experiments = history.count - before, outcomes = outcomes,
    reason = outcome.reason,
    interrupted = outcome.interrupted or false, exhausted = self.engine.judge and self.engine.judge.exhausted or nil,
    best = best and { candidate = best.id, value = best.value, commit = best.commit } or json.null,
    gain = history.gain, baseline = initial, delta = self.engine.metric:delta(best, initial) }
end

-- ": 3 kept, 15 reverted_worse_metric", most first.
local function outcomes_text(outcomes)
  local names, parts = {}, {}
  for name in pairs(outcomes) do names[#names + 1] = name end
  table.sort(names, function(a, b)
    if outcomes[a] ~= outcomes[b] then return outcomes[a] > outcomes[b] end
    return a < b
  end)
  for index, name in ipairs(names) do parts[index] = outcomes[name] .. " " .. name end
  return #parts > 0 and ": " .. table.concat(parts, ", ") or ""
end

local function tell(self, args, result)
  self.progress_line:clear()
  if args.json then
    for key, value in pairs(args.chosen or {}) do result[key] = value end
    return print(json.encode(result))
  end
  local direction = require "apsis.direction"
  print(show.wrap(("%d experiment%s%s; ended: %s"):format(result.experiments, result.experiments == 1 and "" or "s",
    outcomes_text(result.outcomes), result.reason), show.width(), ""))
  if result.best ~= json.null then
    local gained = show.gain(result.gain, result.best.candidate)
    local unproven = self.engine.judge and result.baseline ~= result.best.value
      and ", by the measurements that chose it" or ""
    local first = self.initial and "first " or "" -- later baselines follow what others merge
    local against = gained and ""
      or (", %s against the %sbaseline's %.10g%s"):format(direction.delta_text(result.delta), first,
      result.baseline, unproven)
    print(show.wrap(("best %s: %.10g (%s)%s; branch %s"):format(result.best.candidate, result.best.value,
      self.engine.metric:words(),
      against, self.world.branch.short), show.width(), ""))
    if gained then print(show.wrap("gained: " .. gained, show.width(), "")) end
    if self.engine.judge and args.compare_at_end ~= false and self.engine.judge:unproven() then
      print(("what was gained is not measured yet: `apsis run%s` goes on, and does it at its end"):format(show.at(args.dir)))
    end
    local hint = self.engine.judge and self.engine.judge:hint()
    if hint then print(show.wrap(hint, show.width(), "")) end
    local here = show.at(args.dir)
    local at = here ~= "" and " -C" .. here or ""
    if args.in_all then return print(("look further: apsis log%s"):format(here)) end
    print(("look further: apsis log%s | apsis show %s%s | apsis diff %s%s | git log --graph --oneline --glob='%s*'"):format(
      here, result.best.candidate, at, result.best.candidate, at, self.world.refs))
  end
end

local GARBAGE_PAUSE = 125 -- per cent: what a run holds is little and stays, so that memory stays where it is

-- Runs experiments until something ends them; the exit code, a message, and why ("LOCKED").
function common.experiments(args)
  local self, message, code, why = common.open(args)
  if not self then return code, message, why end
  local ok
  ok, message, code = check_ready(self, show.at(args.dir))
  if not ok then
    self:close()
    return code, message
  end
  wait.trap()
  local engine, note = self.engine, self.world.state
  if args.compare_at_end == false and engine.judge then engine.judge:leave_out_final() end
  local unfinished, numbering = self.world.runs:unfinished(engine.history)
  local number, limits, again = plan_run(self, args, unfinished)
  engine.budget:limit(limits)
  note.limits, note.pid, note.budget = limits, host.pid, engine.budget
  note:carry(self.last, unfinished)
  self.world.run_number, engine.elapsed_s = number, note.elapsed_before
  if again and not args.json and not args.quiet then
    self:say(("going on with run %d: %d lines journalled, %d experiments in flight done again"):format(number,
      engine.history.count, #unfinished))
  end
  self.world:note_head(engine.history.baseline)
  self.world:repair_branch()
  self.world.repo:renew() -- what it read of packs and refs until here is not needed while the run lasts
  collectgarbage("setpause", GARBAGE_PAUSE)
  local before, outcomes_before = engine.history.count, {}
  for name, count in pairs(engine.history.outcomes) do outcomes_before[name] = count end
  local outcome
  outcome, message, code = engine:run { run_number = number, unfinished = unfinished, numbering = numbering }
  rooms.call("after_run", self)
  if not outcome then
    self.progress_line:clear()
    pcall(note.save, note, engine, "stopped", message)
    self:close()
    return code, message
  end
  note:save(engine, outcome.interrupted and "interrupted" or "finished", outcome.reason)
  self.world:write_history()
  tell(self, args, result_of(self, outcome, before, outcomes_before))
  self:close()
  return outcome.interrupted and 130 or 0
end

return common
