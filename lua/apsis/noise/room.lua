-- room: the hooks of acceptance under noise and of guards: the engine's judge and an objection, the repeated
-- baseline, and the gain in words.
local room = {}

-- spec.acceptance and spec.guards are the manifest's.
function room.engine(engine, spec)
  local judge, guards
  if spec.acceptance then judge = require("apsis.noise.judge").new(engine, spec.acceptance) end
  if spec.guards and #spec.guards > 0 then
    guards = require("apsis.noise.guards").new(engine, spec.guards)
    table.insert(engine.objections, function(slot) return guards:objection(slot) end)
  end
  if judge then judge.guards = guards end
  engine.judge = judge
end

function room.options(command, parser)
  if command ~= "baseline" then return end
  parser:option("--repeats",
    "how often to measure: the value is the median, and the noise is shown (default 3; 5 if one takes less than a "
    .. "second, 1 if it takes over a minute or costs money; with acceptance 20, or 5 equal ones)")
    :convert(math.tointeger):argname "N"
end

function room.baseline(args) return require("apsis.noise.baseline").several(args) end

function room.baseline_lacks(manifest, record) return require("apsis.noise.baseline").lacks(manifest, record) end

function room.trust(reader)
  local record = reader.history.baseline
  if not record then return {} end
  local manifest = reader.manifest
  local text, doubt = require("apsis.noise.baseline").in_words(record, reader.metric.name, manifest.acceptance,
    manifest.metric.names)
  return text and { { "noise", text, doubt } } or {}
end

function room.gain_text(gain, best) return require("apsis.noise.gain").text(gain, best) end

function room.keys() return require("apsis.noise.schema").keys end

function room.rules(draft) require("apsis.noise.schema").check(draft) end

function room.guard_target(...) return require "apsis.noise.guard_target"(...) end

return room
