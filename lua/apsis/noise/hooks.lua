-- hooks: acceptance for a strategy's own init, learn and accept. The state is plain numbers in run.memory, folded
-- from the notes of journal lines. Each call rebuilds the decision from them and from the measurements of this
-- accept, so nothing else needs to persist. A part of apsis.acceptance.
local random = require "apsis.random"
local rules = require "apsis.noise.settings"
local state = require "apsis.noise.state"

local hooks = {}

function hooks.init(run, given)
  local settings, message = rules.of(given)
  if not settings then error("acceptance: " .. message, 3) end
  run.memory.acceptance = { settings = settings, saved = state.new(settings, run.metric):save() }
end

local function restored(run, what)
  local memory = run.memory.acceptance
  if not memory then error(("acceptance.%s: init(run) comes first, in the strategy's init"):format(what), 3) end
  return state.restore(memory.settings, run.metric, memory.saved), memory
end

function hooks.learn(run, line)
  local now, memory = restored(run, "learn")
  memory.learned = true
  local saved = line.notes and line.notes.acceptance
  if saved then
    memory.saved = state.restore(memory.settings, run.metric, saved):save()
  elseif line.outcome == "baseline" and line.samples then
    -- of the best, one per measurement
    local draws = line.measurements == #line.samples and run.best and run.best.id == line.id
    now:baseline(draws and line.samples or {})
    memory.saved = now:save()
  end
end

-- If the baseline gives no noise, first measures the best: the first entries of the trace. The values, or nil and how
-- many are needed.
local function baseline_from(trace, wanted)
  if #trace < wanted then return nil, wanted - #trace end
  local values = {}
  for index = 1, wanted do values[index] = trace[index].value or false end
  return values
end

-- The result of an accept hook.
function hooks.accept(run, candidate)
  local now, memory = restored(run, "accept")
  if not memory.learned then
    error("acceptance.accept: the strategy's learn must be acceptance.learn, or call it, for what it knows", 2)
  end
  if candidate.confirmed ~= nil then
    error("acceptance.accept: the manifest has acceptance too; leave one of the two out", 2)
  end
  local trace, first = candidate.trace or {}, 1
  if not now.ready then
    local values, missing = baseline_from(trace, now.settings.baseline)
    if not values then return "measure", { ids = { run.best.id }, repeats = missing } end
    if not now:baseline(values) then return false, "the best could not be measured often enough to know the noise" end
    first = now.settings.baseline + 1
  end
  local decision = now:judge(random.stream(run.seed, candidate.experiment, "acceptance"))
  local samples = candidate.samples
  decision:feed(samples and samples[1] or candidate.value)
  for index = first, #trace do
    if not decision.next then break end
    decision:feed(trace[index].value)
  end
  if decision.next then return "measure", { ids = { decision.next == "candidate" and candidate.id or run.best.id } } end
  return decision.verdict == "kept", decision.why, { notes = { acceptance = now:save() } }
end

return hooks
