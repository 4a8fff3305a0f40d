-- review: the fitness domain in which a chat model judges a candidate's change since its parent, or since the baseline.
-- Harness: asks once and writes a row for each dimension; report: their weighted rubric. An empty change (the baseline)
-- is worth the middle of every scale ("as before"), and is not asked about. Keys of its component in the manifest:
--   weights       default {correctness: 0.4, quality: 0.25, safety: 0.2, improvement: 0.15}: a wrong change is worth
--                 little however it is written; measuring components detect improvement more reliably. A dimension
--                 of weight 0 is not asked about.
--   against       "parent" or "baseline": the start of the change. Scores against the parent do not compare
--                 candidates with different parents, so the default is the baseline where the strategy does.
--   instructions  text: what the judge should know about the project
--   max_bytes     most bytes of the patch to show (60,000)
--   base_url, api_key_env, models, choice, timeout_sec, retries   as for a chat provider; default: the provider's
-- Called by fitness/scoring.
local fitness = require "apsis.fitness"
local fs = require "apsis.fs"
local json = require "apsis.json"
local judge = require "apsis.fitness.domains.judge"

local review = { name = "review" }

local SCALE = 10

local known = {
  { name = "correctness", weight = 0.4, what = "does it do what it sets out to do, without breaking what worked "
    .. "(0 it breaks the program, 5 as before, 10 surely right)" },
  { name = "quality", weight = 0.25,
    what = "is it clear, small and well made (0 it makes the code worse, 5 as before, 10 exemplary)" },
  { name = "safety", weight = 0.2,
    what = "does it keep clear of vulnerabilities, data loss, cheating of tests or of the judge "
    .. "(0 dangerous, 5 as before, 10 it removes a danger)" },
  { name = "improvement", weight = 0.15,
    what = "is the program better than it was (0 much worse, 5 as before, 10 much better)" },
}

review.dimensions = {} -- their names, for the manifest's rules
for index, one in ipairs(known) do review.dimensions[index] = one.name end

-- The dimensions that count, each with its weight and scale.
local function dimensions_of(spec)
  local list = {}
  for _, one in ipairs(known) do
    local weight = one.weight
    if spec.weights and next(spec.weights) then weight = spec.weights[one.name] or 0 end
    if weight > 0 then list[#list + 1] = { name = one.name, what = one.what, scale_max = SCALE, weight = weight } end
  end
  return list
end

local TASK = "Below is what one change did to a program, as a patch against the version before it (its parent). Judge "
  .. "the change, not "
  .. "the program."
local TASK_BASELINE = "Below is all that was changed in a program since the version it began with (the baseline), as "
  .. "one patch. Judge the "
  .. "change from that version to this one, not the program."

local function question_of(context, patch, dimensions)
  local wish = context.spec.instructions
  local task = context.spec.against == "baseline" and TASK_BASELINE or TASK
  return { task = wish and ("%s\n\nOf the project: %s"):format(task, wish) or task, dimensions = dimensions,
    materials = { { title = "The patch", text = patch, info = "diff" } }, most_bytes = context.spec.max_bytes }
end

-- The rows in output_dir, by dimension: raw scores.
local function standing(output_dir)
  local text, found = fs.read(output_dir .. "/predictions.csv"), {}
  for _, row in ipairs(text and fitness.csv_read(text) or {}) do found[row.question_id] = tonumber(row.prediction) end
  return found
end

local function complete(scores, dimensions)
  for _, one in ipairs(dimensions) do
    if not scores[one.name] then return false end
  end
  return true
end

-- The questions and answers, for people: judge.json next to the rows.
local function record(output_dir, answer, talk, why)
  local kept = { reason = answer and answer.reason, model = answer and answer.model, error = why, messages = talk
    and json.array(talk) }
  return fs.write(output_dir .. "/judge.json", json.encode(kept, { pretty = true }) .. "\n")
end

-- Asks for the missing scores. true | nil, why there is no score.
function review.harness(context, _, _, output_dir)
  local dimensions = dimensions_of(context.spec)
  if complete(standing(output_dir), dimensions) then return true end
  local patch = context.diff() or ""
  local answer, why, talk
  if patch:find("%S") then
    answer, why, talk = judge.ask(context.chat, question_of(context, patch, dimensions))
  else
    answer = { scores = {}, reason = "nothing was changed: the middle of every scale, without asking" }
    for _, one in ipairs(dimensions) do answer.scores[one.name] = SCALE / 2 end
  end
  local ok, message = record(output_dir, answer, talk, why)
  if not ok then return nil, message end
  if not answer then return nil, why end
  local rows = {}
  for index, one in ipairs(dimensions) do
    local score = answer.scores[one.name]
    rows[index] = { question_id = one.name, prediction = json.encode(score), score = json.encode(score / SCALE) }
  end
  ok, message = fs.write(output_dir .. "/predictions.csv", fitness.csv_write(rows, { "question_id", "prediction",
    "score" }))
  if not ok then return nil, message end
  return true
end

-- Writes report.json: { NAME = score, metrics = { ["NAME.quality"] = raw... }, weights, reason }, NAME the
-- component's. Returns the same table, or nil and why there is no score.
function review.report(context, output_dir)
  local name, dimensions, scores = context.spec.name or review.name, dimensions_of(context.spec), standing(output_dir)
  local judged = json.decode(fs.read(output_dir .. "/judge.json") or "", true) or {}
  if not complete(scores, dimensions) then return nil, judged.error or "the judge has not answered" end
  local report = { metrics = {}, weights = {}, reason = judged.reason, model = judged.model }
  for _, one in ipairs(dimensions) do
    one.score = scores[one.name]
    report.metrics[name .. "." .. one.name], report.weights[one.name] = one.score, one.weight
  end
  local overall, message, warnings = fitness.rubric(dimensions)
  if not overall then return nil, message end
  report[name], report.warnings = overall, json.array(warnings)
  local ok
  ok, message = fs.write(output_dir .. "/report.json", json.encode(report, { pretty = true, sorted = true }) .. "\n")
  if not ok then return nil, message end
  return report
end

return review
