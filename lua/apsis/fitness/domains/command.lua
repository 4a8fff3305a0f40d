-- command: the domain that runs a command for each item, with its id as the last argument; the command prints the
-- prediction. The score is the share of predictions that equal the expected answers. A failing command means no
-- answer for its item.
local direction = require "apsis.direction"
local editline = require "apsis.edit.line"
local fitness = require "apsis.fitness"
local reports = require "apsis.fitness.domains.reports"
local rows_of = require "apsis.fitness.domains.rows"

local command = { name = "command" }

local order = direction.new { name = "score" } -- what orders scores: higher is better
local LONGEST = 1048576 -- bytes of a prediction

-- Answers by id, from a CSV file; {} if a report command knows them. nil, message.
local function expected_of(context)
  local path = context.spec.expected
  if not path then return nil end
  local text, message = context.read(path)
  if not text then return nil, message end
  local list, why, columns = fitness.csv_read(text, { whole = true })
  if not list then return nil, ("%s: %s"):format(path, why) end
  local known = {}
  for _, name in ipairs(columns or {}) do known[name] = true end
  if not (known.question_id and known.answer) then
    return nil, path .. " must have the columns question_id and answer"
  end
  local answers = {}
  for _, row in ipairs(list) do answers[row.question_id] = editline.trim(row.answer) end
  return answers
end

local function one(context, rows, answers, id)
  local result, message = context.run { argument = id }
  if not result then return nil, message end
  if result.code == 127 or result.code == 126 then return nil, result.reason end
  local prediction = result.status == "ok" and #result.stdout <= LONGEST and editline.trim(result.stdout) or ""
  local score
  if answers then score = result.status == "ok" and prediction == answers[id] and 1 or 0 end
  return rows:add { question_id = id, prediction = prediction, score = score }
end

function command.harness(context, task_list, _, output_dir, num_samples, num_workers)
  local answers, message = expected_of(context)
  if message then return nil, message end
  local rows
  rows, message = rows_of.open(output_dir)
  if not rows then return nil, message end
  local open = {}
  for index = 1, num_samples do
    local id = task_list[index]
    if answers and not answers[id] then return nil, ("%s has no answer for %s"):format(context.spec.expected, id) end
    if not rows:get(id) then open[#open + 1] = id end
  end
  local ok
  ok, message = context.each(open, num_workers, function(id) return one(context, rows, answers, id) end)
  if not ok then return nil, message end
  return rows:sort(task_list)
end

-- The score of a row: as its own harness wrote it; for a harness command, by the expected answers if there are any.
local function score_of(context, answers, row)
  if not (context.spec.harness and answers) then return tonumber(row.score) end
  return editline.trim(row.prediction or "") == answers[row.question_id] and 1 or 0
end

function command.report(context, output_dir)
  local rows, failure = rows_of.of_all(output_dir, context.count)
  local answers, message
  if rows then answers, failure = expected_of(context) end
  if failure then return nil, failure end
  local right, total = 0, 0
  for _, row in ipairs(rows.list) do
    local score = score_of(context, answers, row)
    if not score then return nil, ("predictions.csv has no score for %s"):format(row.question_id) end
    if not (order:reaches(score, 0) and order:reaches(1, score)) then
      return nil, ("predictions.csv: the score of %s is %s, which is not from 0 to 1"):format(row.question_id,
        row.score)
    end
    right, total = right + score, total + 1
  end
  local score
  score, message = fitness.tests(right, total)
  return reports.write(output_dir, context.name, score, { metrics = { correct = right, total = total },
    reason = message })
end

return command
