-- benchmark: the domain that scores one number of a METRIC line: value / baseline, or baseline / value if lower is
-- better; `scale` replaces the baseline, and with `span` the score is the place between two values. A score above 1
-- stays as measured.
local fitness = require "apsis.fitness"
local reports = require "apsis.fitness.domains.reports"
local json = require "apsis.json"
local near_miss = require "apsis.live.near_miss"
local rows_of = require "apsis.fitness.domains.rows"
local scaled = require "apsis.fitness.domains.scaled"

local benchmark = { name = "benchmark" }

local function metric_of(context)
  return context.spec.metric or context.name
end

function benchmark.harness(context, _, _, output_dir)
  local rows, message = rows_of.open(output_dir)
  if not rows then return nil, message end
  local name = metric_of(context)
  if rows:get(name) then return true end
  local result
  result, message = context.run {}
  if not result then return nil, message end
  if result.status ~= "ok" then return nil, result.reason end
  local value = result.metrics[name]
  if not value then
    local near = context.near_misses[1]
    return nil, ("no METRIC %s=NUMBER in the output%s"):format(name,
      near and "; near miss at " .. near_miss.at(near) or "")
  end
  return rows:add_all { { question_id = name, prediction = value } } -- written again: the command may have changed it
end

local function score_of(spec, name, value, baseline)
  if spec.span then return scaled.by_span(spec.span, name, value) end
  return fitness.benchmark(value, spec.scale or baseline, spec.direction or "higher", name)
end

function benchmark.report(context, output_dir)
  local rows, failure = rows_of.finished(output_dir)
  if not rows then return nil, failure end
  local row = rows.by_id[metric_of(context)]
  local value = row and tonumber(row.prediction)
  if not value then return nil, ("predictions.csv has no number for %s"):format(metric_of(context)) end
  local baseline = context.spec.baseline or context.baseline and context.baseline.value or value
  local score, message = score_of(context.spec, context.name, value, baseline)
  return reports.write(output_dir, context.name, score, { metrics = { value = value },
    baseline = not (context.spec.scale or context.spec.span) and baseline or nil,
    warnings = score and json.array { message } or nil, reason = not score and message or nil })
end

return benchmark
