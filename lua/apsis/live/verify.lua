-- verify: measures one commit: the checks, then the commands of a stage, `repeats` times (and once per test case), and
-- reads their output as metrics; what the `warmup` runs before those print does not count. The executor runs the
-- commands; this file decides which ones, and what their results mean. A command that fails, is killed or hangs is a
-- result, not an error. A verification that changes committed files is refused, because it measured something else.
-- Called by world.
local extract = require "apsis.live.extract"
local fs = require "apsis.fs"
local json = require "apsis.json"
local limits = require "apsis.live.cage.limits"
local leftovers = require "apsis.live.leftovers"
local metric = require "apsis.metric"
local near_miss = require "apsis.live.near_miss"
local programs = require "apsis.live.programs"
local random = require "apsis.random"
local reported = require "apsis.live.reported"
local stats = require "apsis.stats"

local verify = {}

-- The line of output that explains a failure best: the message of a Lua traceback, a compiler's first error, else the
-- last line.
local function telling_line(text)
  local first = text:find("\nstack traceback:", 1, true)
  if first then text = text:sub(1, first - 1) end
  local last, error_line
  for line in text:gmatch("[^\r\n]+") do
    if line:find("%S") then last = line end
    if not error_line and line:lower():find("error[: ]") then error_line = line end
  end
  if not first and not text:find("Traceback (most recent call last)", 1, true) then last = error_line or last end
  return last and last:gsub("\t", " "):gsub("[%c\127]", "?"):gsub("^%s+", ""):sub(1, 300)
end

local function last_words(result)
  for _, stream in ipairs { result.stderr, result.stdout } do
    local line = telling_line(stream.tail or stream.head or "") or telling_line(stream.head or "")
    if line then return ": " .. line end
  end
  return ""
end

local function how_it_ended(command, result)
  if result.outcome == "timeout" then
    return "timeout", ("%s: over its limit of %g s"):format(command.name, command.timeout_sec)
  end
  if result.outcome == "signal" then
    return "crash", ("%s: killed by %s%s"):format(command.name, result.signal_name or result.signal, last_words(result))
  end
  if result.excess then
    return "crash", ("%s: ended by apsis: %s"):format(command.name, limits.excess[result.excess])
  end
  if result.outcome == "killed" then return "crash", command.name .. ": ended by apsis" end
  if result.code ~= 0 then return "crash", ("%s: exit %d%s"):format(command.name, result.code, last_words(result)) end
end

local Job = {}
Job.__index = Job

local STDERR_BYTES = 8192 -- the end of the commands' stderr that becomes an artifact

-- Keeps the end of a command's stderr, after that of the earlier commands.
function Job:hear(stderr)
  local said = self.stderr .. stderr.head
  local left_out = stderr.bytes - #stderr.head - #(stderr.tail or "")
  if left_out > 0 then said = said .. ("\n[apsis: %d bytes left out here]\n"):format(left_out) end
  self.stderr = (said .. (stderr.tail or "")):sub(-STDERR_BYTES)
end

-- Runs one command in the place to its result, or nil and a message; case: a text appended as its last argument. more:
-- { scanner, stdout_file, stderr_file, env (its own variables), log (the name of the file in runs/NNNN), write (one
-- more folder that it may write) }.
function Job:process(command, case, more)
  local world, env = self.world, {}
  local stuck = self.ran and leftovers.clear(world, self.place, self.removed)
  if stuck then return nil, stuck end
  self.ran = true
  for _, variables in ipairs { command.env or {}, more.env or {} } do
    for name, value in pairs(variables) do env[name] = value end
  end
  local log = self.slot.dir .. "/" .. (more.log or "verifier.log")
  fs.append(log, ("$ %s%s%s\n"):format(command.name, case and " " .. case or "", self.warming or ""))
  local result, message = self.place:run { name = command.name, run = command.run, argument = case, cwd = command.cwd,
    timeout_s = command.timeout_sec, env = env, log = log, log_limit_bytes = world.log_limit, scanner = more.scanner,
    stdout_file = more.stdout_file, stderr_file = more.stderr_file, write = more.write,
    server = command.server }
  if not result then return nil, ("%s: %s"):format(command.name, message) end
  if result.stderr.bytes > 0 then self:hear(result.stderr) end
  if result.log_error then
    world:fail(("%s cannot be written: %s"):format(more.log or "verifier.log", result.log_error), 3)
  end
  return result
end

-- Runs one of the manifest's commands with a scanner: nil, or how it failed and why.
function Job:command(command, case, scanner)
  local kept = self.keep_output
  local result, message = self:process(command, case, { scanner = scanner,
    stdout_file = kept and self.stdout_path or nil, stderr_file = kept and self.stderr_path or nil })
  local lacking = (not result or result.code == 126 or result.code == 127)
    and programs.not_started(self.place.dir, command)
  if lacking then return "crash", ("%s: %s"):format(command.name, lacking) end
  if not result then return "crash", message end
  local status, reason = how_it_ended(command, result)
  if status then
    self.world:advise(command.name, self.place:advice { result = result, run = command.run,
      memory_mb = self.world.manifest.limits.memory_mb })
  end
  return status, reason
end

Job.how_it_ended = function(_, command, result) return how_it_ended(command, result) end

-- Takes a command's METRIC lines: the newest value of a name; with metric.samples all, the median of its values in this
-- pass. A name whose newest line is not finite has no value.
function Job:take(gathered, command, report)
  if self.world.manifest.metric.samples ~= "all" then
    for name, value in pairs(report.metrics) do gathered.metrics[name], gathered.not_finite[name] = value, nil end
  else self:take_samples(gathered, report) end
  for name, line in pairs(report.not_finite) do
    gathered.metrics[name], gathered.samples[name] = nil, nil
    gathered.not_finite[name] = { command = command.name, line = line }
  end
end

function Job:take_samples(gathered, report)
  for name, value in pairs(report.metrics) do
    local own = report.samples[name]
    local list = gathered.samples[name] or {}
    gathered.samples[name] = table.move(#own > 0 and own or { value }, 1, math.max(1, #own), #list + 1, list)
    gathered.metrics[name], gathered.not_finite[name] = stats.median(list), nil
  end
  if report.dropped.samples == 0 or self.world.said_dropped then return end
  self.world.said_dropped = true
  self.world:log("warn",
    ("a command printed more METRIC lines than are kept as samples: %d left out"):format(report.dropped.samples))
end

-- Why a file that commands write may not be read, or nil: a link in its path leads out of the workspace.
function Job:leads_out(path, name)
  while path and not fs.stat(path, { follow = false }) do path = path:match "^(.+)/[^/]*$" end
  local target, own = path and fs.realpath(path), fs.realpath(self.place.root)
  if target and own and (target .. "/"):sub(1, #own + 1) == own .. "/" then return nil end
  return name .. " leads out of the workspace, by a link that a command has put there"
end

function Job:result_leads_out(path) return self:leads_out(path, self.world.manifest.metric.extractor.path) end

-- The metrics of one pass: all commands of a stage, for one case or none.
function Job:pass(stage, case)
  local gathered = near_miss.none { metrics = {}, samples = {}, not_finite = {}, stdout_path = self.stdout_path,
    stderr_path = self.stderr_path, json_path = self.json_path, commands = {}, written = {}, named = {} }
  if self.used then -- a check or an earlier pass may have left files there; the scratch folder was empty
    for _, path in ipairs { self.stdout_path, self.stderr_path } do fs.remove_tree(path) end
  end
  self.used = true
  if self.json_path then -- a stale file never counts; its folder must exist, like goalseek's runs/latest
    local astray = self:result_leads_out(self.json_path:match("^(.*)/"))
    if astray then return nil, "crash", astray, gathered end
    fs.remove(self.json_path)
    fs.mkdir((self.json_path:match("^(.*)/")))
  end
  for _, command in ipairs(self.world.manifest.verification.commands) do
    if command.stage == stage then
      table.insert(gathered.commands, command.name)
      local scanner = metric.scanner()
      reported.begin(self)
      local status, reason = self:command(command, case, scanner)
      local report, why = reported.of(self, command, gathered, scanner:finish())
      scanner:close()
      if why and not status then status, reason = "crash", why end
      if report then
        self:take(gathered, command, report)
        near_miss.add(gathered, report)
      end
      if status then return nil, status, reason, gathered end
    end
  end
  local astray = self.json_path and self:result_leads_out(self.json_path)
  if astray then return nil, "crash", astray, gathered end
  local value, missing, lacking = extract.primary(self.world.manifest.metric, gathered)
  gathered.metrics[self.world.manifest.metric.name], gathered.lacking = value, lacking
  return gathered, missing
end

-- The test cases of a request: the manifest's globs in the checkout, or request.items.
function Job:cases(request)
  local patterns = self.world.manifest.verification.cases
  if not patterns or #patterns == 0 then return nil end
  local wanted
  if request.items then
    wanted = {}
    for _, id in ipairs(request.items) do wanted[id] = true end
  end
  local found, sealed = {}, {}
  for _, path in ipairs(self.place.without or {}) do sealed[self.world:project_path(path)] = true end
  for _, path in ipairs(self.world:files_of(self.record)) do
    for _, pattern in ipairs(patterns) do
      if fs.glob_match(pattern, path) and (not wanted or wanted[path]) and not sealed[path] then
        found[#found + 1] = path
        break
      end
    end
  end
  return found
end

local aggregates = { mean = stats.mean, median = stats.median, min = stats.min, max = stats.max, sum = stats.sum }

-- One pass per case; metrics are aggregated over the cases, and the values by case become items.
function Job:all_cases(stage, cases)
  local items, lists, all, missing = {}, {}, near_miss.none { metrics = {}, lacking = {} }, nil
  for _, case in ipairs(cases) do
    local gathered, status, reason, partial = self:pass(stage, case)
    if not gathered then return nil, status, ("%s (case %s)"):format(reason, case), partial end
    if status then missing = ("%s (case %s)"):format(status, case) end
    all.rejected = all.rejected or gathered.rejected
    table.move(gathered.lacking, 1, #gathered.lacking, #all.lacking + 1, all.lacking)
    items[case] = gathered.metrics
    for name, value in pairs(gathered.metrics) do
      lists[name] = lists[name] or {}
      table.insert(lists[name], value)
    end
    near_miss.add(all, gathered)
  end
  local ways = self.world.manifest.verification.aggregate or {}
  for name, list in pairs(lists) do
    all.metrics[name] = aggregates[ways[name] or ways["*"] or "mean"](list)
  end
  for _, name in ipairs(all.lacking) do all.metrics[name] = nil end
  all.items = items
  return all, missing
end

function Job:checks()
  for _, command in ipairs(self.world.manifest.verification.checks or {}) do
    self.used = true
    local status, reason = self:command(command)
    if status then return status == "crash" and "crash" or status, "check " .. reason end
  end
end

-- One pass over the commands or, if there are test cases, over all of these; repetition: 1 for the first that counts, 0
-- and below for a warm-up. As `pass` returns it.
function Job:repetition(stage, cases, repetition)
  self.env.APSIS_SEED = tostring(random.stream(self.world.seed, self.slot.number, "verify", repetition):integer(0,
    2 ^ 31 - 1 | 0))
  self.warming = repetition < 1 and " (warm-up, does not count)" or nil
  if cases then return self:all_cases(stage, cases) end
  return self:pass(stage)
end

-- The measurement of a stage: `warmup` passes that do not count, unless they fail, then `repeats` that do.
function Job:measure(request)
  local name, of = self.world.manifest.metric.name, self.world.manifest.verification
  local cases = self:cases(request)
  local result = near_miss.none { status = "ok", stage = request.stage, samples = {}, metrics = {} }
  if cases and #cases == 0 then
    result.status, result.reason = "failed", "no test case matches verification.cases"
    return result
  end
  local lists, lacking, heard = {}, {}, self.stderr
  for repetition = 1 - (of.warmup or 0), request.repeats or of.repeats do
    local gathered, status, reason, partial = self:repetition(request.stage, cases, repetition)
    if not gathered then
      near_miss.add(result, partial)
      result.status, result.reason = status, self.warming and "warm-up: " .. reason or reason
      break
    end
    if self.warming then
      self.stderr = heard
      goto next_repetition
    end
    near_miss.add(result, gathered)
    result.missing = result.missing or status -- why there is no primary metric: of one pass is enough
    result.rejected = result.rejected or gathered.rejected
    table.move(gathered.lacking, 1, #gathered.lacking, #lacking + 1, lacking)
    result.items = gathered.items or result.items
    for metric_name, value in pairs(gathered.metrics) do
      local list, samples = lists[metric_name] or {}, gathered.samples and gathered.samples[metric_name] or { value }
      lists[metric_name] = table.move(samples, 1, #samples, #list + 1, list)
    end
    ::next_repetition::
  end
  for _, absent in ipairs(lacking) do lists[absent] = nil end
  for metric_name, list in pairs(lists) do result.metrics[metric_name] = stats.median(list) end
  result.samples = lists[name] or {}
  result.value = result.metrics[name]
  return result
end

-- What earlier stages measured of a candidate, as JSON; "" if nothing.
local function measured_before(slot, record, name)
  if record ~= slot.candidate or not (slot.secondary or slot.value) then return "" end
  local measured = {}
  for key, value in pairs(slot.secondary or {}) do measured[key] = value end
  measured[name] = slot.value
  return json.encode(measured, { sorted = true })
end

-- Runs commands in a place that holds record's commit. own: the commands' part of the manifest { allow, network,
-- pass_env }, key: its name; watch: notice moved folders.
function verify.job(world, slot, record, request, own, key, watch)
  local place = world.executor:prepare { commit = record.commit, number = slot.number, parent = slot.parent_commit,
    own = own, key = key, watch = watch, without = world.withheld and world:withheld(record) or nil }
  local scratch, env, extractor = place.scratch, place.env, world.manifest.metric.extractor
  env.APSIS_CANDIDATE, env.GOALSEEK_RUN_DIR, env.GOALSEEK_PROJECT_ROOT = record.id, scratch, place.dir
  env.APSIS_METRICS, env.APSIS_ARTIFACTS = place.metrics, place.artifacts
  env.APSIS_STAGE, env.APSIS_SPLIT = tostring(request.stage), request.split or ""
  env.APSIS_MEASURED = measured_before(slot, record, world.manifest.metric.name)
  env.APSIS_ITEMS = request.items and scratch .. "/items.txt" or ""
  if request.items then fs.write(env.APSIS_ITEMS, table.concat(request.items, "\n") .. "\n") end
  return setmetatable({
    world = world, slot = slot, record = record, place = place, dir = place.dir, env = env, scratch = scratch,
    keep_output = extractor.json ~= nil or extractor.type:find("^std") ~= nil, stdout_path = scratch .. "-stdout.txt",
    removed = {}, stderr = "", stderr_path = scratch .. "-stderr.txt",
    json_path = extractor.type == "json_file" and place.dir .. "/" .. extractor.path or nil,
  }, Job)
end

-- Names of apsis's own: in the scratch folder input for commands; in runs/NNNN files that no command may write.
local apsis_own = {}
for _, name in ipairs { "items.txt", "metrics.txt", "prompt.md", "prompt.json", "plan.md", "proposal.json",
  "provider_output.md",
  "provider_stderr.log", "change.patch", "verifier.log", "gate.log", "metrics.json", "result.json", "env.json",
    "history.json", "fitness" } do
  apsis_own[name] = true
end

-- Adds the end of stderr to the artifacts, unless the evaluator left a file of that name in this stage or an earlier
-- one.
local function keep_stderr(job, into)
  local slot, name = job.slot, "/artifacts/stderr.txt"
  if fs.stat(job.scratch .. name, { follow = false }) or not slot.stderr and fs.stat(into .. name) then return end
  slot.stderr = ((slot.stderr or "") .. job.stderr):sub(-STDERR_BYTES):gsub("^[\128-\191]+", ""):gsub("%z", "?")
  fs.mkdir(into .. "/artifacts")
  fs.write(into .. name, slot.stderr)
end

local function is_own(name)
  return apsis_own[name] or name:find "^fix_%d+$" or name:find "^provider[_%d]*$" or name:find "^prompt_"
    or name:find "^c%d%d%d%d+$"
end

-- Keeps the file that the value was read from, which lies in the checkout.
local function keep_result(job, into)
  local name = job.json_path and job.json_path:match "[^/]*$"
  if not name or is_own(name) or job:result_leads_out(job.json_path) then return end
  local text, cut = fs.read(job.json_path, math.floor(job.world.artifacts_kept.max_mb * 1048576))
  if text and not cut and fs.mkdir(into) then fs.write(into .. "/" .. name, text) end
end

-- Moves the commands' files from their scratch folder to runs/NNNN (except apsis's own); those of another candidate
-- that was measured again go to a folder of its name there.
local function collect(job)
  local into = job.slot.dir
  if not fs.stat(into) then return end -- a node's: its job was given up, and its folder removed
  -- beside the scratch folder, where no command writes
  for _, path in ipairs { job.stdout_path, job.stderr_path } do fs.remove(path) end
  local another = job.record.id ~= ("c%04d"):format(job.slot.number)
  if another then into = into .. "/" .. job.record.id
  elseif job.stderr ~= "" then keep_stderr(job, into) end
  job.place:collect(into, is_own)
  keep_result(job, into)
end

-- Measures record's commit: { status = ok|failed|timeout|crash, value, samples, metrics, items, stage, reason, missing,
-- rejected (its metric is null), near_misses, near_miss_count }. given = { stage, first (run the checks), repeats,
-- items, split }.
function verify.run(world, slot, record, given)
  local whole, request = given.stage == nil, {}
  for key, value in pairs(given) do request[key] = value end -- a copy: the caller may ask again
  request.stage = request.stage or world:stages()[1]
  if world.executor.measure then return world.executor:measure(slot, record, request) end
  local job = verify.job(world, slot, record, request, world.manifest.verification, "verification", true)
  local measurement
  if request.first then
    local status, reason = job:checks()
    if status then measurement = near_miss.none { status = status, reason = reason, stage = request.stage } end
  end
  measurement = measurement or world.measurer and world.measurer:measure(job, request, whole) or job:measure(request)
  local reason = leftovers.tampered(world, job.place)
  leftovers.name(job, measurement)
  if reason and measurement.status == "ok" then measurement.status, measurement.reason = "crash", reason end
  collect(job)
  job.place:close()
  return measurement
end

return verify
