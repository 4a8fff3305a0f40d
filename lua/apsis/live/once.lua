-- once: measures the project outside any loop, in a folder of its own, so that it works beside a running loop. Writes
-- no journal line and no ref. Called by the commands eval and init, and by versions.
local fs = require "apsis.fs"
local near_miss = require "apsis.live.near_miss"
local rooms = require "apsis.core.rooms"
local running = require "apsis.live.running"
local verify = require "apsis.live.verify"

local once = {}

local QUICK_S, SLOW_S = 1, 60
once.MOST = 5

-- How often to measure by default, after a first measurement that took `seconds`: 3 times, 5 if that is quick, once if
-- it takes long or if a model that costs money judges; and why only once.
function once.times(seconds, manifest)
  for _, asked in rooms.each "endpoints" do
    if #asked(manifest) > 0 then return 1, "a model judges it" end
  end
  if manifest.verification.network then return 1, "its commands use the network" end
  if seconds > SLOW_S then return 1, ("it takes %.0f s"):format(seconds) end
  return seconds < QUICK_S and once.MOST or 3
end

-- Measures all stages, like a baseline. The measurement; later stages' metrics override those of earlier ones.
local function all_stages(world, slot, record)
  local result, items = near_miss.none { metrics = {} }, {}
  local stages = world:stages()
  for _, stage in ipairs(stages) do
    local one = verify.run(world, slot, record, { stage = stage, first = stage == stages[1] })
    for name, value in pairs(one.metrics or {}) do result.metrics[name] = value end
    for id, item in pairs(one.items or {}) do items[id] = item end
    near_miss.add(result, one)
    result.status, result.reason, result.missing, result.keep = one.status, one.reason, one.missing, one.keep
    if one.value then result.value, result.samples = one.value, one.samples end
    if one.status ~= "ok" then break end
  end
  result.items = next(items) and items or nil
  if world.own_value then result.value = result.value or world:own_value(result.metrics) end
  return result
end

-- Measures a record { id, commit, tree } in the slot's folder, which is made. measurement | nil, message, exit code.
function once.of(world, slot, record, tick)
  local ok, message = fs.mkdir(slot.dir)
  if not ok then return nil, message, 3 end
  local done, measurement = pcall(running.as_task, function() return all_stages(world, slot, record) end, tick)
  if done and measurement then return measurement end
  if done then return nil, "interrupted", 130 end
  if type(measurement) == "table" and measurement.fatal then return nil, measurement.message, measurement.code end
  error(measurement, 0)
end

-- Measures a commit (default: HEAD) in `scratch`, an empty folder. spec: { commit, parent (what it is compared with, by
-- default itself), open_tree (see World:measure_in), as_baseline (the reason of a failure says what to keep between
-- commands), tick (see running.as_task) }. measurement, parts of the score | nil, message, exit code.
function once.measure(world, scratch, spec)
  world:measure_in(scratch, spec.open_tree)
  local commit = spec.commit or world.head
  local info, message = world.repo:commit_info(commit)
  if not info then return nil, message, 3 end
  local slot = { number = 0, dir = scratch .. "/run", parent_commit = spec.parent or commit, outside = true,
    baseline = spec.as_baseline }
  local measurement, why, code = once.of(world, slot, { id = "c0000", commit = commit, tree = info.tree }, spec.tick)
  if not measurement then return nil, why, code end
  return measurement, world.measurer and world.measurer:parts(slot) or nil
end

return once
