-- check: `apsis strategies --check`: runs a strategy in short trials on two worlds with one worker and with four,
-- through the lab's engine, and reports what its author has got wrong, each fault with its line and a remedy. Prints
-- nothing.
local again = require "apsis.lab.again"
local campaign = require "apsis.lab.campaign"
local definition = require "apsis.lab.definition"
local faults = require "apsis.lab.check.faults"
local fs = require "apsis.fs"
local host = require "apsis.host"
local state = require "apsis.lab.check.state"
local trial = require "apsis.lab.trial"
local watch = require "apsis.lab.check.watch"

local check = {}

-- One world where higher is better, one where lower is, with noise.
local WORLDS <const> = { "onemax:n=40", "sphere:d=3,noise=gaussian,noise_sd=0.5" }
local WORKERS <const> = { 1, 4 }
local SEED, EVALUATIONS, RESTARTS <const> = 1, 40, 4
local LIMITS <const> = { measurements = 25 * EVALUATIONS } -- so that what accept measures again does not end a trial
local ENOUGH_BETTER <const> = 3 -- candidates that were better, of which none was kept

-- What is checked, in the order of the report.
check.names = {
  { "loads", "the file loads: syntax, keys, options" },
  { "hooks", "no hook raises or returns what it may not" },
  { "limit", "each hook ends within a second" },
  { "proposes", "plan proposes changes" },
  { "halts", "halt lets a run begin" },
  { "accepts", "accept returns whether to keep" },
  { "direction", "what is better is kept, higher or lower" },
  { "globals", "it writes no globals and reads none that are not set" },
  { "memory", "only init and learn change run.memory; nothing else of the run is changed" },
  { "plan", "plan gives the same after a restart" },
  { "accept", "accept decides the same after a restart" },
  { "halt", "halt stops at the same moment after a restart" },
}

local Check = {}
Check.__index = Check

-- Adds a fault, once; place: the trial that shows it.
local function add(self, fault, place)
  local text = fault.text:gsub("0x%x+", "#"):gsub("%d+", "#")
  local key = ("%s|%s|%s"):format(fault.check, fault.line or fault.hook or "", text)
  if self.known[key] then return end
  fault.world, fault.workers = place and place.world, place and place.workers
  self.known[key], self.faults[#self.faults + 1] = true, fault
end

-- A fault of a message; one that ran away ends the trials, because each costs its limit.
local function add_message(self, message, place)
  local fault = faults.of_message(message, self.file, self.source)
  if fault.text:find "stopped: over its limit" then fault.check, self.over = "limit", true end
  fault.line = fault.line or faults.line_of_hook(self.strategy, fault.hook)
  add(self, fault, place)
end

-- ---- a trial ----

-- The lines of a trial, as a trace shows them.
local function trace_of(journal)
  local rows = {}
  for index = 1, #journal.texts do rows[index] = journal:read(index) end
  return rows
end

-- A world as a live one would ask: also for a prompt.
local function open(place, watched, journal, logged)
  local engine = assert(trial.open { loaded = watched.strategy, definition = place.definition, seed = SEED,
    evaluations = EVALUATIONS, workers = place.workers, limits = LIMITS, journal = journal, logged = logged })
  engine.world.wants_prompt = watched.strategy.own.prompt ~= nil
  watched.engine = engine
  return engine
end

-- What ended a trial that failed: the reason of its last line, which has the place, or the message.
local function failure_of(rows, message)
  local last = rows[#rows]
  if last and last.outcome == "skipped_strategy_error" then return last.rollback_reason end
  return message:gsub("^stopping: .-; fix it and run `apsis run` to resume: ", "")
end

local function look_at_start(self, record, rows, place)
  local changes, planned = 0, #rows - 1
  for _, row in ipairs(rows) do
    if row.outcome ~= "baseline" and row.outcome ~= "measured" and row.outcome ~= "asked" then changes = changes + 1 end
  end
  if changes > 0 or record.reason:find "^target reached" then return end
  if planned == 0 and record.reason ~= "the strategy plans nothing more" then
    return add(self, { check = "halts", hook = "halt", line = faults.line_of_hook(self.strategy, "halt"),
      text = ("halt ends the run before its first experiment: %q"):format(record.reason),
      remedy = "return nothing until there is a reason: run.since_kept is 0 at the start" }, place)
  end
  local text = planned == 0
    and "plan returns nothing though a worker is free and nothing is in flight, so the run ends before it begins"
    or ("plan proposes no change: its %d experiments only measure or ask"):format(planned)
  add(self, { check = "proposes", hook = "plan", line = faults.line_of_hook(self.strategy, "plan"), text = text,
    remedy = "return a proposal, { parents = { run.best } }, also when run.free is 1; nil only waits for what is in "
      .. "flight" }, place)
end

-- Adds up what accept answered over the trials of a world.
local function look_at_accepts(self, sums, place)
  local line = faults.line_of_hook(self.strategy, "accept")
  if not line then return end
  if sums.calls > 0 and sums.silent == sums.calls then
    return add(self, { check = "accepts", hook = "accept", line = line,
      text = "accept never returns anything, which rejects every candidate",
      remedy = "return true or false, and perhaps a reason: return run.metric:better(candidate, run.best)" }, place)
  end
  if sums.better_kept > 0 or sums.better_refused < ENOUGH_BETTER then return end
  local kept = sums.worse_kept > 0 and ("%d candidates that are not better than the best and none of the %d that are")
    :format(sums.worse_kept, sums.better_refused)
    or ("none of %d candidates, though %d are better than the best"):format(sums.calls, sums.better_refused)
  add(self, { check = "direction", hook = "accept", line = line,
    text = ("accept keeps %s (%s is better there)"):format(kept, place.direction),
    remedy = "compare with run.metric:better(candidate, run.best), not values with < or >" }, place)
end

-- What of the file's locals is not as it was loaded, for people.
local function kept_state(watched)
  local now = state.of_strategy(watched.strategy)
  local name = state.difference(watched.state, now)
  if name then return name:match "^[%a_][%w_]*" or name, name end
  local opaque = state.opaque(now)
  return opaque[1], opaque[1] and opaque[1] .. ", whose state is not seen"
end

-- Asks the same again after restarts, if nothing is known that would explain why it differs.
local function look_again(self, place, watched, engine)
  local spec = { strategy = self.spec, definition = place.definition, seed = SEED, evaluations = EVALUATIONS,
    workers = place.workers, limits = LIMITS }
  local text, hook = again.compare(spec, engine, watched, RESTARTS)
  if hook == "interrupted" then self.interrupted = true end
  if not text then return end
  local name, path = kept_state(watched)
  local line = name and faults.line_of(self.source, "local[^=]*%f[%w_]" .. name .. "%f[^%w_]")
  add(self, { check = hook or "plan", hook = hook, line = line or faults.line_of_hook(self.strategy, hook),
    text = ("%s decides otherwise after a restart: %s%s"):format(hook or "plan", text,
      path and "; the file keeps state in " .. path or ""),
    remedy = "keep state in run.memory, which init and learn rebuild, and draw chance from run.rng" }, place)
end

-- Runs one trial and looks at it. sums: of what accept answers on that world.
local function try(self, place, sums)
  local watched, message = watch.load(self.spec)
  if not watched then return add_message(self, message) end
  local journal, logged = again.journal(), {}
  local engine = open(place, watched, journal, logged)
  local ran, record
  ran, record, message = pcall(trial.run, { definition = place.definition, seed = SEED, evaluations = EVALUATIONS },
    engine)
  if not ran then record, message = nil, record end
  local rows = trace_of(journal)
  local best = engine.history.best
  self.trials[#self.trials + 1] = { world = place.world, workers = place.workers, direction = place.direction,
    experiments = #rows - 1, kept = engine.history.outcomes.kept or 0, baseline = rows[1] and rows[1].primary_metric,
    best = best and best.value, reason = record and record.reason, rows = rows, logged = logged }
  if not record then add_message(self, failure_of(rows, message), place) end
  for _, noted in ipairs(watched.noted) do add(self, faults.of_noted(noted, watched.strategy), place) end
  for name, count in pairs(watched.accepts) do sums[name] = (sums[name] or 0) + count end
  if not record then return end
  self.interrupted = record.interrupted
  look_at_start(self, record, rows, place)
  if #watched.noted == 0 and not self.interrupted then look_again(self, place, watched, engine) end
end

-- ---- all of them ----

local function read_source(spec)
  if spec.use:find "%.lua$" then
    return fs.read(spec.use:sub(1, 1) == "/" and spec.use or spec.dir .. "/" .. spec.use)
  end
  return host.read("strategies/" .. spec.use .. ".lua")
end

local function order(self)
  local rank = {}
  for index, entry in ipairs(check.names) do rank[entry[1]] = index end
  table.sort(self.faults, function(a, b)
    if a.check ~= b.check then return rank[a.check] < rank[b.check] end
    return (a.line or 0) < (b.line or 0)
  end)
end

-- run{ use, options, dir } -> { faults = { {check, line, hook, text, remedy, world, workers}... }, trials = { {world,
-- workers, direction, experiments, kept, baseline, best, reason, rows (the journal's lines), logged}... }, interrupted
-- } | nil, why there is no such strategy.
function check.run(spec)
  campaign.limit_hooks()
  local self = setmetatable({ spec = spec, file = spec.use:match "[^/]+$", source = read_source(spec), faults = {},
    trials = {}, known = {} }, Check)
  local watched, message, noted = watch.load(spec)
  if not self.source then return nil, message end
  if not watched then
    add_message(self, message)
    for _, one in ipairs(noted) do add(self, faults.of_noted(one)) end
    return self
  end
  self.strategy = watched.strategy
  for _, fault in ipairs(faults.of_shape(self.strategy, self.source)) do add(self, fault) end
  for _, label in ipairs(WORLDS) do
    local world, sums = assert(definition.load(label)), {}
    local place
    for _, workers in ipairs(WORKERS) do
      if self.over or self.interrupted then break end
      place = { world = label, workers = workers, definition = world, direction = world.module.direction or "higher" }
      try(self, place, sums)
    end
    if place and sums.calls then look_at_accepts(self, sums, place) end
  end
  order(self)
  return self
end

return check
