-- scaled: divides a score reported by a command or a custom domain by the component's `scale` or `span`. The reported
-- number stays in its metrics, as raw. Called by fitness/scoring; benchmark uses its span.
local fitness = require "apsis.fitness"

local scaled = {}

-- The place of a value between the two of `span`: score, warning; nil, message if there is none.
function scaled.by_span(span, name, value)
  local worst, best = span[1], span[2] -- the ends of an interval, not two measurements
  local place, message = fitness.minmax({ worst, best }, best > worst and "higher" or "lower", "the manifest's span")
  if not place then return nil, message end
  return place(value, name)
end

-- Divides the score of a report, in place.
function scaled.apply(component, report)
  if not component.raw or not report.score then return end
  local spec, raw = component.spec, report.score
  local score, message
  if spec.span then score, message = scaled.by_span(spec.span, component.name, raw)
  else score, message = fitness.normalize { kind = "game", value = raw, scale = spec.scale, name = component.name } end
  report.score, report.metrics.raw = score, report.metrics.raw or raw
  if score then report.warnings[#report.warnings + 1] = message else report.reason = message end
end

return scaled
