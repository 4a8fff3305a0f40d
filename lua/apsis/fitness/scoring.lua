-- scoring: scores a candidate by domains: runs each component's harness and report on the verification's checkout, in
-- stages if the manifest asks for them, and combines the results into one measurement. domains/ implements the domains;
-- numbers.lua does the arithmetic. Decides only which staged scores stop. Made by room.lua, called by verify.
local composite = require "apsis.fitness.domains.composite"
local context_of = require "apsis.fitness.domains.context"
local domains = require "apsis.fitness.domains.domains"
local fs = require "apsis.fs"
local folder = require "apsis.fitness.domains.folder"
local items = require "apsis.fitness.domains.items"
local near_miss = require "apsis.live.near_miss"
local numbers = require "apsis.fitness"
local random = require "apsis.random"
local reports = require "apsis.fitness.domains.reports"
local rows_of = require "apsis.fitness.domains.rows"
local scaled = require "apsis.fitness.domains.scaled"
local stats = require "apsis.stats"

local fitness = {}

local Fitness = {}
Fitness.__index = Fitness

-- open(world): the manifest's components, ready to use. fitness | nil, message, exit code; only nil if the manifest
-- has none.
function fitness.open(world)
  local spec = world.manifest.fitness
  if not spec then return nil end
  local components, message, code = domains.open(world, spec)
  if not components then return nil, message, code end
  return setmetatable({ world = world, spec = spec, components = components, warned = {},
    composite = spec.domain == "composite" }, Fitness)
end

-- The stages of its measurement.
function Fitness:stages()
  return self.spec.staged and { 1, 2 } or { 1 }
end

-- The parts of the score in a slot: { { name, score, weight, metrics, reason }... }; nil if it was not measured
-- completely.
function Fitness.parts(_, slot)
  return folder.notes(slot).parts
end

-- Whether a path of the project is the file to which a component's command writes its report.
function Fitness:writes(path)
  for _, component in ipairs(self.components) do
    local spec = component.spec
    if spec.file and path == (spec.cwd ~= "." and spec.cwd .. "/" or "") .. spec.file then return true end
  end
  return false
end

-- Reports each warning once.
function Fitness:warn(text)
  if self.warned[text] then return end
  self.warned[text] = true
  self.world:log("warn", "fitness: " .. text)
end

-- A component's numbers at the baseline, without its name as prefix; nil at the baseline itself, or without one.
function Fitness:baseline_of(component, job)
  if job.slot.baseline then return nil end
  local history = self.world.history
  local metrics = self.world.baseline_metrics or history and history.baseline and history.baseline.metrics
  local found, prefix = {}, component.name .. "."
  for name, value in pairs(metrics or {}) do
    if name:sub(1, #prefix) == prefix then found[name:sub(#prefix + 1)] = value end
  end
  return next(found) and found or nil
end

-- The ids that a request names for one component, as COMPONENT:ID; nil if it names none at all.
local function wanted_of(component, request)
  if not request.items then return nil end
  local wanted, prefix = {}, component.name .. ":"
  for _, id in ipairs(request.items) do
    if id:sub(1, #prefix) == prefix then wanted[#wanted + 1] = id:sub(#prefix + 1) end
  end
  return wanted
end

-- The tasks of a component, those of the first stage, and their total number. nil if it has none; nil, message.
local function tasks_of(self, component, record, wanted)
  local list, message = items.of(self.world, record, component.spec)
  if not list then return nil, message end
  if wanted then
    local asked, kept = {}, {}
    for _, id in ipairs(wanted) do asked[id] = true end
    for _, id in ipairs(list) do
      if asked[id] then kept[#kept + 1] = id end
    end
    return kept
  end
  local most = self.spec.samples
  return most > 0 and table.move(list, 1, math.min(most, #list), 1, {}) or list
end

local MOST_ITEMS = 2000 -- of one component, in a journal line; predictions.csv has all

-- The scores of a component's rows by item, under its name.
local function add_items(component, output_dir, report, into)
  local rows = rows_of.read(output_dir)
  if #rows > MOST_ITEMS then return end
  for _, row in ipairs(rows) do
    local score = tonumber(row.score)
    if score and score - score == 0 then into[component.name .. ":" .. row.question_id] = score end
  end
  for id, score in pairs(report.items) do into[component.name .. ":" .. id] = score end
end

-- Adds a component's own numbers under its name, whether or not its report has that prefix.
local function add_metrics(component, report, into)
  for key, value in pairs(report.metrics) do
    local bare = key
    for _, name in ipairs { component.name, component.spec.domain } do
      if bare == key and key:sub(1, #name + 1) == name .. "." then bare = key:sub(#name + 2) end
    end
    into[component.name .. "." .. bare] = value
  end
end

-- Runs harness and report of one component on the given tasks. Its report | nil, why there is no score.
local function score(self, job, component, output_dir, tasks, size, gathered)
  local context = context_of.new(job, component, self:baseline_of(component, job), gathered.request.items and tasks)
  context.whole = not tasks or not gathered.staged and not gathered.request.items and not (job.slot.outside
    and self.spec.samples > 0)
  context.count = tasks and size
  folder.restore(job.slot, output_dir)
  local ok, message = component.harness(context, tasks or {}, job.dir, output_dir, tasks and size or -1,
    self.spec.workers)
  folder.keep(job.slot, output_dir)
  if ok and not fs.stat(output_dir .. "/predictions.csv") then
    ok, message = nil, "its harness wrote no predictions.csv"
  end
  if ok == nil or ok == false then message = message or "its harness gave no reason"
  else
    ok, message = component.report(context, output_dir)
    if ok == nil or ok == false then message = message or "its report gave no reason" end
  end
  near_miss.add(gathered, context)
  if not ok then return nil, message end
  local names = { component.spec.score_key or component.name, component.name, component.spec.domain,
    component.own_name }
  local report
  report, message = reports.read(output_dir, names)
  if report then scaled.apply(component, report) end
  return report, message
end

-- One component: adds its report to `gathered`. True, or nil and why it has no score.
local function measure_component(self, job, component, gathered)
  local wanted = wanted_of(component, gathered.request)
  if wanted and #wanted == 0 then return nil, "none of its items was asked for" end
  local tasks, message = tasks_of(self, component, job.record, wanted)
  if message then return nil, message end
  if tasks and #tasks == 0 then return nil, "none of its items was asked for" end
  if gathered.staged and not tasks then return true end
  local size = tasks and (gathered.staged and numbers.staged_size(#tasks) or #tasks)
  local output_dir = self.world:need(folder.of(gathered.dir, component.name))
  local report
  report, message = score(self, job, component, output_dir, tasks, size, gathered)
  if not report then
    reports.write(output_dir, component.name, nil, { reason = message })
    return nil, message
  end
  add_metrics(component, report, gathered.metrics)
  add_items(component, output_dir, report, gathered.items)
  for _, warning in ipairs(report.warnings) do self:warn(("%s (%s)"):format(warning, component.where)) end
  gathered.reports[component.name] = report
  if not report.score then return nil, report.reason or "its report gives none" end
  if gathered.staged then
    table.insert(gathered.staged, { name = component.name, raw = report.score, size = size, full = #tasks })
  else
    gathered.metrics[component.name] = report.score
  end
  return true
end

-- Why a candidate stops after its first items, or nil. Keeps each raw score as NAME.staged; for a stopped one also
-- NAME.adjusted: its score over all items with 0 for the rest, which is then the component's.
local function gate(self, gathered)
  local stopped = gathered.missing
  for _, one in ipairs(gathered.staged) do
    gathered.metrics[one.name .. ".staged"] = one.raw
    if numbers.staged_gate(one.raw, self.spec.staged_threshold) == "stop" then
      stopped = stopped or ("%s scores %.6g on the first %d of its %d items"):format(one.name, one.raw, one.size,
        one.full)
    end
  end
  for _, one in ipairs(stopped and gathered.staged or {}) do
    one.adjusted = numbers.staged(one.raw, one.size, one.full)
    gathered.metrics[one.name .. ".adjusted"] = one.adjusted
  end
  return stopped
end

-- Ends a result after the first items: its value is what the adjusted scores make; nil if a component has none, as one
-- without items.
local function stop(self, job, gathered, result, why)
  result.reason = "stage 1: " .. why
  if #gathered.staged == #self.components then
    for _, one in ipairs(gathered.staged) do
      gathered.reports[one.name].score, gathered.metrics[one.name] = one.adjusted, one.adjusted
    end
    folder.notes(job.slot).parts = composite.finish(self, gathered)
  end
  if not gathered.value then result.status = "stopped" return end
  result.complete, result.value, result.samples = true, gathered.value, { gathered.value }
  result.metrics[self.world.manifest.metric.name] = gathered.value
end

-- One pass over the components of a stage. gathered, with the reason if there is no score.
local function pass(self, job, request, dir, staged)
  local gathered = near_miss.none { request = request, dir = dir, metrics = {}, items = {}, reports = {},
    staged = staged and {} or nil }
  for _, component in ipairs(self.components) do
    local ok, message = measure_component(self, job, component, gathered)
    if not ok then
      gathered.missing = ("%s has no score: %s"):format(component.name, message)
      gathered.failed = component.name
      break
    end
  end
  if not staged then folder.notes(job.slot).parts = composite.finish(self, gathered) end
  return gathered
end

local function result_of(stage, gathered)
  return { status = "ok", stage = stage, metrics = gathered.metrics, samples = {}, missing = gathered.missing,
    items = next(gathered.items) and gathered.items or nil, near_misses = gathered.near_misses,
    near_miss_count = gathered.near_miss_count }
end

-- The first items: no value, if they do not stop it (never the baseline and scoring outside a loop).
local function first_stage(self, job, request, dir)
  local gathered = pass(self, job, request, dir, true)
  local stopped = gate(self, gathered)
  local result = result_of(request.stage, gathered)
  if stopped and (job.slot.baseline or job.slot.outside) then self:warn("this would be stopped early: " .. stopped)
  elseif stopped then stop(self, job, gathered, result, stopped) end
  return result
end

-- All items, `repeats` times after `warmup` times that do not count; the first that counts in the experiment's own
-- folder. Returns the medians.
local function full(self, job, request, dir)
  local name, lists, values, result = self.world.manifest.metric.name, {}, {}, nil
  local of = self.world.manifest.verification
  for repetition = 1 - (of.warmup or 0), request.repeats or of.repeats do
    job.env.APSIS_SEED = tostring(random.stream(self.world.seed, job.slot.number, "verify", repetition):integer(0,
      2 ^ 31 - 1 | 0))
    local into = repetition == 1 and dir or folder.scratch(job, repetition)
    job.warming = repetition < 1 and " (warm-up, does not count)" or nil
    local gathered = pass(self, job, request, into, false)
    if job.warming then goto next_repetition end
    result = result or result_of(request.stage, gathered)
    result.missing = result.missing or gathered.missing
    for metric, value in pairs(gathered.metrics) do
      lists[metric] = lists[metric] or {}
      table.insert(lists[metric], value)
    end
    values[#values + 1] = gathered.value
    if gathered.missing then break end
    ::next_repetition::
  end
  for metric, list in pairs(lists) do result.metrics[metric] = stats.median(list) end
  if not result.missing then
    result.samples, result.value = values, stats.median(values)
    result.metrics[name] = result.value
  end
  return result
end

-- The measurement of a stage, or of all if `whole`, as verify.run gives it.
function Fitness:measure(job, request, whole)
  local staged = self.spec.staged and request.stage == 1 and not whole
  local place = folder.open(self, job, request)
  local result
  if staged and place.again then -- the first stage's decision stays
    result = result_of(request.stage, near_miss.none { metrics = {}, items = {} })
  elseif staged then result = first_stage(self, job, request, place.dir)
  else result = full(self, job, request, place.dir) end
  folder.close(self, job, place, result.status == "ok" and staged and not result.complete or request.items ~= nil)
  return result
end

return fitness
