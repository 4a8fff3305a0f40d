-- repeats: measures a candidate several times in a row: each value in order, the combined metrics, and how much each
-- varies from one measurement to the next. Called by experiment, for a baseline.
local spread = require "apsis.noise.spread"
local stats = require "apsis.stats"

local repeats = {}

local FEW = 5 -- from this many on one may fail, but not the first
local LARGEST = 1e300 -- beyond it differences would overflow

-- The standard deviation of a list by its successive differences, as in acceptance.
local function noise_of(list)
  local data, values = {}, {}
  for index, value in ipairs(list) do values[index] = spread.clip(value, LARGEST) end
  spread.first(data, values)
  return spread.of(data)
end

local function add(lists, metrics)
  for name, value in pairs(metrics or {}) do
    lists[name] = lists[name] or {}
    table.insert(lists[name], value)
  end
end

-- Combines the measurements in the slot: medians, and in notes.noise the noise of the metrics that may be compared.
local function conclude(engine, slot, draws, samples, lists)
  slot.samples, slot.value, slot.secondary = samples, stats.median(draws), {}
  local noise = { [engine.metric.name] = noise_of(draws) }
  for name, list in pairs(lists) do
    slot.secondary[name] = stats.median(list)
    if engine.metrics[name] and list[2] then noise[name] = noise_of(list) end
  end
  slot.extra = { notes = { noise = noise } }
end

-- Measures by measure(first), which writes its result to the slot, until `options.repeats` times are done or
-- options.enough(values so far) is true. The first failure ends it; of many measurements one later may fail. Returns
-- the last measurement, and the value of each.
function repeats.run(engine, slot, options, measure)
  local draws, samples, lists, failures = {}, {}, {}, 0
  local measurement, items, last_good
  for turn = 1, options.repeats do
    slot.value, slot.samples, slot.secondary = nil, nil, nil
    measurement = measure(turn == 1)
    local failed = measurement.status ~= "ok" or not slot.value
    if failed and turn > 1 and failures < options.repeats // FEW then
      failures = failures + 1 -- an evaluator that fails occasionally
      goto next_turn
    end
    if failed then
      local why = measurement.reason or measurement.missing
      local which = turn > 1 and why and ("measurement %d of %d: %s"):format(turn, options.repeats, why)
      if which and measurement.reason then measurement.reason = which elseif which then measurement.missing = which end
      return measurement, draws
    end
    last_good = measurement
    draws[#draws + 1] = slot.value
    items = turn == 1 and slot.items or items -- those of the first measurement, whose files stay in runs/
    slot.items = items
    table.move(slot.samples or { slot.value }, 1, #(slot.samples or { 1 }), #samples + 1, samples)
    add(lists, slot.secondary)
    if options.enough and options.enough(draws) then break end
    ::next_turn::
  end
  if failures > 0 then
    engine.world:log("warn", ("%d of the baseline's %d measurements failed"):format(failures, #draws + failures))
  end
  if draws[2] then conclude(engine, slot, draws, samples, lists) end
  return last_good, draws
end

return repeats
