-- rubric: the domain that scores dimensions, each on its own raw scale: the sum of score / scale_max x weight. The
-- raw scores come from METRIC lines of a command (with tasks: of each item, then their mean), or else from a chat
-- model that sees the candidate's writable files. A raw score that is missing or outside its scale leaves no score.
local direction = require "apsis.direction"
local fitness = require "apsis.fitness"
local json = require "apsis.json"
local judge = require "apsis.fitness.domains.judge"
local reports = require "apsis.fitness.domains.reports"
local rows_of = require "apsis.fitness.domains.rows"
local stats = require "apsis.stats"

local rubric = { name = "rubric" }

local function with_scores(dimensions, scores)
  local list = {}
  for index, one in ipairs(dimensions) do
    list[index] = { name = one.name, scale_max = one.scale_max, weight = one.weight, score = scores[one.name] }
  end
  return list
end

-- The raw scores that a command prints; nil, message.
local function run_scores(context, id)
  local result, message = context.run { argument = id }
  if not result then return nil, message end
  if result.status ~= "ok" then return nil, result.reason end
  for _, one in ipairs(context.spec.dimensions) do
    if not result.metrics[one.name] then
      return nil, ("no METRIC %s=NUMBER in the output%s"):format(one.name, id and " for " .. id or "")
    end
  end
  return result.metrics
end

-- The raw scores that a judge gives to the writable files.
local function judged_scores(context)
  local materials = {}
  for index, source in ipairs(context.sources()) do
    materials[index] = { title = source.path, text = source.text, info = source.path }
  end
  if #materials == 0 then return nil, "there is no writable file of text to show the judge" end
  local task = "Below are the files of one version of a project. Judge them as they stand."
  local wish = context.spec.instructions
  local answer, why = judge.ask(context.chat, { task = wish and ("%s\n\nOf the project: %s"):format(task, wish) or task,
    materials = materials, dimensions = context.spec.dimensions, most_bytes = context.spec.max_bytes })
  if not answer then return nil, why end
  return answer.scores
end

-- A row for each dimension.
local function at_once(context, rows)
  local dimensions = context.spec.dimensions
  if #rows.list == #dimensions then return true end
  local scores, message
  if context.spec.run then scores, message = run_scores(context) else scores, message = judged_scores(context) end
  if not scores then return nil, message end
  rows:clear()
  local list = {}
  for index, one in ipairs(dimensions) do
    list[index] = { question_id = one.name, prediction = scores[one.name], score = scores[one.name] / one.scale_max }
  end
  return rows:add_all(list)
end

local function texts_of(dimensions, scores)
  local parts = {}
  for index, one in ipairs(dimensions) do
    parts[index] = ("%s=%s"):format(one.name, direction.amount(scores[one.name]))
  end
  return table.concat(parts, " ")
end

-- A row for one item, with a column for each raw score.
local function one_item(context, rows, id)
  local dimensions = context.spec.dimensions
  local scores, message = run_scores(context, id)
  if not scores then return nil, message end
  local overall, refused = fitness.rubric(with_scores(dimensions, scores))
  if not overall then return nil, ("%s: %s"):format(id, refused) end
  local row = { question_id = id, prediction = texts_of(dimensions, scores), score = overall }
  for _, one in ipairs(dimensions) do row["raw_" .. one.name] = scores[one.name] end
  return rows:add(row)
end

local function open_rows(context, output_dir)
  local more = {}
  if context.spec.tasks then
    for index, one in ipairs(context.spec.dimensions) do more[index] = "raw_" .. one.name end
  end
  return rows_of.open(output_dir, more)
end

function rubric.harness(context, task_list, _, output_dir, num_samples, num_workers)
  local rows, message = open_rows(context, output_dir)
  if not rows then return nil, message end
  if not context.spec.tasks then return at_once(context, rows) end
  local open = {}
  for index = 1, num_samples do
    if not rows:get(task_list[index]) then open[#open + 1] = task_list[index] end
  end
  local ok
  ok, message = context.each(open, num_workers, function(id) return one_item(context, rows, id) end)
  if not ok then return nil, message end
  return rows:sort(task_list)
end

-- The raw score of each dimension: over items their mean.
local function raw_scores(context, rows)
  local scores = {}
  for _, one in ipairs(context.spec.dimensions) do
    local values = {}
    if context.spec.tasks then
      for index, row in ipairs(rows.list) do values[index] = tonumber(row["raw_" .. one.name]) end
    elseif rows.by_id[one.name] then values[1] = tonumber(rows.by_id[one.name].prediction) end
    scores[one.name] = #values > 0 and stats.mean(values) or nil
  end
  return scores
end

function rubric.report(context, output_dir)
  local rows, failure = rows_of.of_all(output_dir, context.count)
  if not rows then return nil, failure end
  local scores = raw_scores(context, rows)
  local overall, message, warnings = fitness.rubric(with_scores(context.spec.dimensions, scores))
  return reports.write(output_dir, context.name, overall, { metrics = scores, warnings = json.array(warnings or {}),
    reason = message })
end

return rubric
