-- campaign: strategies x worlds x seeds, each one trial. The trials stand in one order, seed by seed, so that what is
-- done at an interruption or a failure is the first this many seeds, whole. Trials run in worker processes, a single
-- one too: so what never ends can be named, and interrupted. Knows no terminal and no files. Called by the command.
local definition = require "apsis.lab.definition"
local guard = require "apsis.guard"
local jobs = require "apsis.lab.jobs"
local json = require "apsis.json"
local trial = require "apsis.lab.trial"

local campaign = {}

-- Which strategy, world and seed the trial at an index from 1 is.
local function place_of(spec, index)
  local place = index - 1
  local strategies, worlds = #spec.strategies, #spec.worlds
  return place % strategies + 1, place // strategies % worlds + 1, spec.first_seed + place // (strategies * worlds)
end

local function plain(message)
  return (tostring(message):gsub("\nstack traceback:.*", ""):gsub("^stopping: ", "")
    :gsub("; fix it and run `apsis run` to resume", ""))
end

local LAST_LOGGED <const> = 5 -- lines of run.log that are shown when a trial fails

-- What went wrong, as its author should read it, and what run.log wrote last.
local function failure_text(message, logged)
  local text = plain(message)
  if not logged or #logged == 0 then return text end
  return text .. "\nrun.log's last lines:\n" .. table.concat(logged, "\n", math.max(1, #logged - LAST_LOGGED + 1))
end

-- One trial's record as a line of JSON; nil and what went wrong.
local function text_of(spec, index)
  local strategy, world, seed = place_of(spec, index)
  local chosen, logged = spec.strategies[strategy], seed == spec.first_seed and {} or nil
  local ok, record, message = pcall(trial.run, { strategy = { use = chosen.use, options = chosen.options,
    dir = chosen.dir }, definition = spec.definitions[world], seed = seed, evaluations = spec.evaluations,
    workers = spec.workers, limits = spec.limits, history = spec.history, acceptance = chosen.acceptance,
    trajectory = chosen.trajectory, logged = logged })
  if not ok then return nil, failure_text(record, logged) end
  if not record then return nil, failure_text(message, logged) end
  record.logged = logged and #logged > 0 and logged or nil
  local encoded, text = pcall(json.encode, record)
  if encoded then return text end
  return nil, "its record is no JSON: " .. plain(text)
end

local HOOK_CPU_S, HOOK_MB <const> = 1, 512 -- a hook in the lab has nothing to wait for

-- From here on hooks, and files that load, are stopped at the lab's limits.
function campaign.limit_hooks() guard.limits { cpu_s = HOOK_CPU_S, memory_mb = HOOK_MB } end

-- While trials run, what a world or a strategy prints goes to stderr: stdout is for results.
local function with_quiet_stdout(body)
  campaign.limit_hooks()
  local printed, output = print, io.output()
  _G.print = function(...)
    local words = table.pack(...)
    for index = 1, words.n do words[index] = tostring(words[index]) end
    io.stderr:write(table.concat(words, "\t"), "\n")
  end
  io.output(io.stderr)
  local ok, result = pcall(body)
  _G.print = printed
  io.output(output)
  if not ok then error(result, 0) end
  return result
end

-- What a worker process does: the trials from..to of a request, a line each, until one fails.
function campaign.serve(text)
  local spec = assert(json.decode(text))
  spec.definitions = {}
  for index, label in ipairs(spec.worlds) do spec.definitions[index] = assert(definition.load(label)) end
  return with_quiet_stdout(function()
    for index = spec.from, spec.to do
      local record, message = text_of(spec, index)
      io.stdout:write(jobs.line(index, record, message))
      io.stdout:flush()
      if not record then break end
    end
    return 0
  end)
end

-- The request that a worker process gets, without from and to.
local function request_of(spec)
  local strategies, worlds = {}, {}
  for index, strategy in ipairs(spec.strategies) do
    strategies[index] = { use = strategy.use, options = strategy.options, dir = strategy.dir,
      acceptance = strategy.acceptance, trajectory = strategy.trajectory }
  end
  for index, world in ipairs(spec.worlds) do worlds[index] = world.label end
  return { strategies = strategies, worlds = worlds, first_seed = spec.first_seed, evaluations = spec.evaluations,
    workers = spec.workers, limits = spec.limits, history = spec.history }
end

-- { strategy, world, records = the first `seeds` of it } for every world and strategy.
local function matrix_of(spec, records, seeds)
  local matrix, strategies, each = {}, #spec.strategies, #spec.strategies * #spec.worlds
  for world = 1, #spec.worlds do
    for strategy = 1, strategies do
      local entry = { strategy = spec.strategies[strategy].label, world = spec.worlds[world].label, records = {} }
      for seed = 1, seeds do entry.records[seed] = records[(seed - 1) * each + (world - 1) * strategies + strategy] end
      matrix[#matrix + 1] = entry
    end
  end
  return matrix
end

-- "hillclimb on nk, seed 3": the trial at an index.
local function name_of(spec, index)
  local strategy, world, seed = place_of(spec, index)
  return ("%s on %s, seed %d"):format(spec.strategies[strategy].label, spec.worlds[world].label, seed)
end

-- What the workers are at, in words.
local function busy_text(spec, running)
  local list = {}
  for index, job in ipairs(running) do
    list[index] = name_of(spec, job.from)
    if job.to > job.from then list[index] = ("%s (or one of %d after it)"):format(list[index], job.to - job.from) end
  end
  return table.concat(list, "; ")
end

-- run{ strategies = { {label, use, options, dir, acceptance, trajectory}... }, worlds = { definition... }, first_seed,
-- seeds, evaluations, workers, limits, history, jobs, progress(done, total, busy) } -> { matrix = { {strategy, world,
-- records}... } of the seeds that are whole, seeds = how many these are, done = trials that ran, total, interrupted,
-- running = the names of the trials that this cut off, failure = { strategy, world, seed, message } }. busy() is a text
-- of what is running.
function campaign.run(spec)
  local total, records, count, running = spec.seeds * #spec.strategies * #spec.worlds, {}, 0, {}
  local function tell()
    if spec.progress then spec.progress(count, total, function() return busy_text(spec, running) end) end
  end
  local function done(index, text)
    records[index] = assert(json.decode(text))
    count = count + 1
    tell()
  end
  local function idle(at)
    running = at
    tell()
  end
  local ended = jobs.run { server = "apsis.lab.campaign", request = request_of(spec), total = total,
    jobs = math.min(spec.jobs, total), done = done, idle = idle }
  local first = 1 -- the first trial that has no record
  while records[first] do first = first + 1 end
  local seeds = (first - 1) // (#spec.strategies * #spec.worlds)
  local result = { matrix = matrix_of(spec, records, seeds), seeds = seeds, done = count, total = total,
    interrupted = ended.interrupted ~= nil, running = {} }
  for place, index in ipairs(ended.interrupted or {}) do result.running[place] = name_of(spec, index) end
  if ended.failure then
    local strategy, world, seed = place_of(spec, ended.failure.index)
    result.failure = { strategy = spec.strategies[strategy].label, world = spec.worlds[world].label, seed = seed,
      message = ended.failure.message }
  end
  return result
end

return campaign
