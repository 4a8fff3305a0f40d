-- running: experiments run in a session: it is opened, a run that was cut off is continued, with its limits, to its
-- end. Prints nothing but the session's warnings. Called by the commands that measure.
local allowance = require "apsis.live.allowance"
local branch = require "apsis.live.branch"
local checks = require "apsis.live.checks"
local checkpoint = require "apsis.live.checkpoint"
local evaluator = require "apsis.live.evaluator"
local host = require "apsis.host"
local json = require "apsis.json"
local line = require "apsis.core.line"
local moved = require "apsis.live.moved"
local programs = require "apsis.live.programs"
local providers = require "apsis.project.providers"
local rooms = require "apsis.core.rooms"
local seal = require "apsis.live.seal"
local session = require "apsis.live.session"
local tasks = require "apsis.core.tasks"
local wait = require "apsis.wait"

local running = {}

-- Runs body as the one task of a scheduler, so that measurements can run in parallel. Its result; nil if interrupted.
-- tick (optional) is called while it waits; it returns after how many seconds again.
function running.as_task(body, tick)
  local scheduler, result = tasks.new(), nil
  scheduler.before_wait = tick
  scheduler:spawn(function() result = body() end)
  local ok, finished = pcall(scheduler.run, scheduler, function(interrupts) return interrupts > 0 end)
  if not (ok and finished) then scheduler:abandon() end
  if not ok then error(finished, 0) end
  return finished and result or nil
end

-- Asks every room about a session: true, or the first nil, message, code (a room returns false, message, code).
local function agreed(hook, ...)
  local answer, message, code = rooms.first(hook, ...)
  if answer == false then return nil, message, code end
  return true
end

-- Warns of refs and of a branch that somebody moved.
local function note_moved(self)
  local world, history = self.world, self.engine.history
  local ref = moved.ref(world.repo, world, history)
  if ref then self:log("warn", ref) end
  self.altered = self.altered or ref
  local left = not self.manifest.own_branch and moved.ended[self.last.status] and not self.last.branch_left
    and moved.branch(world.repo, world.refs, branch.of(self.manifest, history.best), history.best)
  if left then self:log("warn", ("branch %s: %s"):format(branch.of(self.manifest, history.best), left)) end
end

-- A target that is met at the start does not end a run that the user asks for.
local function go_past(self, spec)
  local engine = self.engine
  local reached = engine.metric:reached(engine.judge and engine.judge:level() or engine.history.best)
  if reached and (spec.past_target or self.past_target) then engine.metric.target = nil end
  return true
end

-- open{ dir, overrides, configured(session) -> true | nil, message, code, progress_line, visit(record) for every line,
-- unchecked (nothing will be measured), past_target (a target that was met does not end it) }: a session ready to run
-- experiments: configured, locked, folded. session | nil, message, code, why ("LOCKED").
function running.open(spec)
  local self, message, code = session.configure(spec.dir, spec.overrides)
  if not self then return nil, message, code end
  local function fail(...)
    self:close()
    return nil, ...
  end
  local ok, why
  ok, message, code = spec.configured(self)
  if not ok then return fail(message, code) end
  self.progress_line = spec.progress_line
  ok, message, code, why = session.steps(self, "load_strategy", function()
    return self:open_world(function(engine, record, led)
      engine.elapsed_s = self.world:elapsed()
      self.progress_line:update(engine, record, led)
      self.checkpoint:note(engine.history)
    end, spec.unchecked)
  end, "lock", "claim", function() return agreed("before_journal", self) end, "open_journal", function()
    self.world:clear_locks()
    self.world:sweep()
    local kept = checkpoint.writer(self.home, self.journal)
    seal.writer(self.home, self.journal)
    local folded, why_not, exit = self:open_engine(spec.visit)
    if not folded then return nil, why_not, exit end
    self.checkpoint = kept
    self:note_altered(self.journal.seal:follow(self.engine.history.count))
    kept:note(self.engine.history)
    kept:write(self.engine.history)
    self.world.display = self.progress_line
    self.progress_line:watch(self.engine, self.manifest.metric.unit)
    return true
  end, function() return agreed("opened", self) end, function() return go_past(self, spec) end)
  if not ok then return fail(message, code, why) end
  self.last = self:last_state()
  if self.engine.history.count == 0 then allowance.forget(self.home) end
  self.allowance = allowance.open(self.home, self.last)
  if self.allowance.problem then self:log("warn", self.allowance.problem) end
  self.altered = self.altered or self.allowance.problem
  note_moved(self)
  return self
end

-- The status left by a run that did not end properly: killed, interrupted, or stopped by an error. Its spending counts.
local unended = { running = true, paused = true, waiting = true, interrupted = true, stopped = true }

-- The number of a run that ended in the middle; nil if there is none.
local function cut_off(self)
  local last = self.last
  return unended[last.status] and last.run ~= nil and last.run >= self.engine.history.run and last.run or nil
end

-- Why a run's budget must not be replaced, as an agent drives it; nil if nothing is to be replaced, or nobody drives.
local function is_driven(self, spec)
  local run = (spec.iterations or spec.minutes) and self.last.driven and next(self.last.limits or {}) and cut_off(self)
  return run and ("run %d is driven by `apsis submit`, and would lose the rest of its budget: `apsis run` without "
    .. "--iterations and --minutes spends the rest; or submit until it is over"):format(run)
end

-- How many experiments in flight count as iterations when they are restarted; and how many of a run's wait for an
-- answer: those were made.
local function changes_among(unfinished, number)
  local count, waiting = 0, 0
  for _, plan in ipairs(unfinished) do
    if plan.held then waiting = waiting + (plan.held.run == number and 1 or 0)
    elseif not plan.proposal.measure and not plan.proposal.ask then count = count + 1 end
  end
  return count, waiting
end

-- The plans that are to be done again: not those whose line was there, as the intake knows, and was removed. waits:
-- some may wait for an answer. Their list without those, too.
local function to_redo(plans, intake, waits)
  local list, others = {}, {}
  for _, plan in ipairs(plans) do
    if not (intake and intake:is_closed(plan)) then
      plan.held = waits and plan.held or nil
      list[#list + 1] = plan
      others[#others + 1] = not plan.held and plan or nil
    end
  end
  return list, others
end

-- Tells what is there of experiments without a line: those in flight, which are done again, or go on if they are
-- measured elsewhere; and, if a journal was restored from an older backup, what was done since. from, to: the first
-- number that journal and plans leave free, and that refs do.
local function tell_unlisted(self, again, count, from, to)
  if again then
    local lines, verb = self.engine.history.count, self.world.executor.measure and "go" or "start"
    self:say(("continuing run %d: %d line%s in the journal"):format(again, lines, lines == 1 and "" or "s")
      .. (count == 0 and "" or count == 1 and ("; 1 experiment that was in flight %s"):format(
        verb == "go" and "goes on" or "starts again")
      or ("; %d experiments that were in flight %s"):format(count, verb == "go" and "go on" or "start again")))
  elseif count > 0 then
    self:say(("%d experiment%s a plan in runs/ but no line in the journal: restarted"):format(count,
      count > 1 and "s have" or " has"))
  end
  if to > from then
    local which = line.id(from) .. (to - from > 1 and " to " .. line.id(to - 1) or "")
    self:say(("the journal has no line for %s, but there is a commit: its measurement does not count; if "
      .. "logs/ came from a backup, a newer backup may have the line"):format(which))
  end
end

-- The ids of those that wait for an answer, in order; nil if none does.
local function held_ids(engine)
  local ids = {}
  for _, number in ipairs(engine:in_flight()) do
    ids[#ids + 1] = engine.slots[number].held and line.id(number) or nil
  end
  return ids[1] and ids
end

-- The run's number and limits: a run that ended in the middle is gone on with, under its number and limits. What it had
-- in flight is not of what --iterations asks for; with spec.in_all it is. note.before: what it had before that.
local function plan_run(self, spec, unfinished)
  local history, last = self.engine.history, self.last
  local again = cut_off(self)
  local number = again or math.max(history.run, last.run or 0) + (spec.answers_only and 0 or 1)
  local same, limits = again or spec.answers_only, {}
  for kind, value in pairs(self.manifest.budget or {}) do limits[kind] = value end
  for kind, value in pairs(same and last.limits or {}) do limits[kind] = value end
  local note = self.world.state
  note.elapsed_before, note.before = same and last.elapsed_s or 0, same and last.before or {}
  local spent = again and history.run == number and history.run_totals or {}
  if spec.iterations then
    local flying, waiting = changes_among(unfinished, number)
    local done = (spent.iterations or 0) + waiting
    note.before.iterations = spec.in_all and done or done + flying
    limits.iterations = done + (spec.in_all and math.max(flying, spec.iterations) or flying + spec.iterations)
  end
  if spec.minutes then
    note.before.minutes = note.elapsed_before / 60
    limits.minutes = note.before.minutes + spec.minutes
  end
  return number, limits, again
end

-- The provider that the manifest has, as far as it can be used; or, if a run can do without, what stands in for it.
local function provide(self, baseline, stand_in)
  local manifest, live = self.manifest, self.world
  local lacks = programs.provider_lacks(live, not manifest.own_branch and baseline.commit or nil)
  local ok, message, code = nil, lacks and "provider: " .. lacks, 4
  if not lacks then ok, message, code = live:open_provider() end
  if ok or not stand_in then return ok, message, code end
  live.provider, live.wants_prompt = stand_in, nil
  return true
end

local function check_ready(self, at, stand_in)
  local baseline = self.engine.history.newest_baseline
  if not baseline then return nil, ("no baseline: run `apsis baseline%s` first"):format(at), 3 end
  if not baseline.value then
    return nil, ("the newest baseline (%s) has no metric: fix the verification (see %s/verifier.log) and run `apsis "
      .. "baseline --again`")
      :format(baseline.id, self.world.runs:dir(baseline.experiment, true)), 3
  end
  local metric = self.manifest.metric
  if baseline.metric and (baseline.metric ~= metric.name or baseline.direction ~= self.engine.metric.direction) then
    return nil, ("%s: metric: the journal's values are of %s (%s), the manifest has %s (%s): change it back, or "
      .. "measure again with `apsis baseline --again`"):format(self.manifest.where "metric",
      baseline.metric, baseline.direction, metric.name, self.engine.metric.direction), 2
  end
  local ok, message, code = evaluator.check(self.world, baseline, self.engine.history)
  if not ok then -- a command that has changed may just be misspelt
    local there, missing = checks.verifier(self)
    return nil, there and message or missing .. "\n" .. message, code
  end
  ok, message, code = agreed("before_run", self, at)
  if not ok then return nil, message, code end
  local lacking = rooms.first("baseline_lacks", self.manifest, baseline)
  if lacking then return nil, lacking, 3 end
  ok, message, code = self:check_prompts()
  if not ok then return nil, message, code end
  local uncounted = providers.uncounted(self.manifest)
  if uncounted and not stand_in then self:log("warn", uncounted) end
  return provide(self, baseline, stand_in)
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
    reason = outcome.reason, waiting = outcome.waiting or nil,
    interrupted = outcome.interrupted or false, exhausted = self.engine.judge and self.engine.judge.exhausted or nil,
    best = best and { candidate = best.id, value = best.value, commit = best.commit } or json.null,
    unanswered = history.count > before and outcomes.skipped_provider_failure == history.count - before
      and history.newest.rollback_reason or nil,
    held = held_ids(self.engine), altered = self.altered, gain = history.gain, baseline = initial,
    delta = self.engine.metric:delta(best, initial) }
end

local GARBAGE_PAUSE = 125 -- per cent: what a run holds is little and stays, so that memory stays where it is

-- Runs experiments in an opened session until something ends them. spec: { at = the directory for messages, iterations,
-- minutes, in_all, compare_at_end (false: no final comparison), quiet, stand_in (in place of a provider that is
-- missing), answers_only (those that wait for an answer, and have it, get their lines, and nothing else happens) }.
-- { run, experiments, outcomes, reason, interrupted, exhausted, unanswered (the last reason, if the provider failed in
-- every experiment), held (ids of those that wait for an answer), best, gain, baseline, delta } | nil, message, exit
-- code.
function running.experiments(self, spec)
  local driven = is_driven(self, spec)
  if driven then return nil, driven, 2 end
  local ok, message, code = check_ready(self, spec.at, spec.stand_in)
  if not ok then return nil, message, code end
  wait.trap()
  local engine, note = self.engine, self.world.state
  if spec.compare_at_end == false and engine.judge then engine.judge:leave_out_final() end
  local unfinished, numbering = self.world:unfinished()
  local redone
  unfinished, redone = to_redo(unfinished, engine.intake, engine.hold ~= nil)
  local planned, after = numbering, self.world:after_refs()
  numbering = math.max(planned, after)
  local number, limits, again = plan_run(self, spec, unfinished)
  engine.budget:limit(limits, note.before)
  note.limits, note.pid, note.budget, note.driven = limits, host.pid, engine.budget, self.driven
  note:carry(self.last, redone, spec.answers_only)
  self.world.run_number, engine.elapsed_s = number, note.elapsed_before
  if not spec.answers_only then self.allowance:begin() end
  if not spec.quiet then tell_unlisted(self, again and number, #redone, planned, after) end
  if not spec.stand_in then self.world:note_head(engine.history.baseline) end
  self.world:repair_branch()
  self.world.repo:renew() -- what it read of packs and refs until here is not needed while the run lasts
  collectgarbage("setpause", GARBAGE_PAUSE)
  local before, outcomes_before = engine.history.count, {}
  for name, count in pairs(engine.history.outcomes) do outcomes_before[name] = count end
  local noted = pcall(note.write, note) -- else the run ends soon
  if noted and not spec.answers_only then self.allowance:note(number, limits, note.driven, "goes_on") end
  local outcome
  outcome, message, code = engine:run { run_number = number, unfinished = unfinished, numbering = numbering,
    answers_only = spec.answers_only }
  rooms.call("after_run", self)
  local there, lost = self.journal.file:check()
  local gone = not (there and outcome) and (self.world:gone() or lost) -- whatever failed first
  if gone then return nil, gone, 3 end
  if not outcome then
    pcall(note.save, note, "stopped", message)
    return nil, message, code
  end
  if spec.answers_only then
    note:save(self.last.status or "finished", self.last.reason)
    return result_of(self, outcome, before, outcomes_before)
  end
  note:save(outcome.interrupted and "interrupted" or outcome.waiting and "waiting" or "finished",
    outcome.reason)
  if not outcome.interrupted and not outcome.waiting then self.allowance:note(number, limits, note.driven, "ended") end
  return result_of(self, outcome, before, outcomes_before)
end

return running
