-- tests: the domain that scores tests: passed / total. Without tasks one command runs them all and its output is
-- parsed; with tasks it runs once for each, and its exit code (or output) is the result. An output that is cut off or
-- contradicts itself is no score.
local context_of = require "apsis.fitness.domains.context"
local fitness = require "apsis.fitness"
local fs = require "apsis.fs"
local json = require "apsis.json"
local direction = require "apsis.direction"
local regex = require "apsis.regex"
local reports = require "apsis.fitness.domains.reports"
local rows_of = require "apsis.fitness.domains.rows"
local tally = require "apsis.fitness.parsers.tally"

local tests = { name = "tests" }

-- The last match of a pattern with groups passed and total (or failed), as a parser gives it.
local function by_pattern(pattern, text)
  local compiled, message = regex.compile(pattern, "m")
  if not compiled then return nil, message end
  local names, found = compiled:names(), nil
  local at = 1
  while at <= #text + 1 do
    local captured = table.pack(compiled:find(text, at))
    if not captured[1] then break end
    found = captured
    at = math.max(captured[2], captured[1]) + 1
  end
  if not found then return nil, ("nothing matches %q in the output"):format(pattern) end
  local passed = tonumber(found[2 + names.passed] or nil)
  local total, failed = tonumber(names.total and found[2 + names.total] or nil),
    tonumber(names.failed and found[2 + names.failed] or nil)
  total = total or passed and failed and passed + failed
  if not passed or not total then return nil, ("what matches %q are no numbers"):format(pattern) end
  return { passed = passed, failed = total - passed, skipped = 0, total = total, items = {} }
end

-- The result of a run of tests: a parser's table | nil, message.
local function read(context, format, result)
  if format == "command" and not context.spec.pattern then
    local passed = result.status == "ok" and 1 or 0
    return { passed = passed, failed = 1 - passed, skipped = 0, total = 1, items = {} }
  end
  local parsed, message, absent
  if format == "command" then parsed, message = by_pattern(context.spec.pattern, result.text)
  else parsed, message, absent = fitness.parse(format, result.text) end
  if absent and not context.spec.file then -- Jest and unittest report on standard error
    local other, why, neither = fitness.parse(format, result.stderr)
    if not neither then parsed, message = other, why end
  end
  if not parsed then return nil, result.reason and ("%s (%s)"):format(message, result.reason) or message end
  if result.status ~= "ok" and parsed.failed == 0 then
    return nil, ("%s, although none of its %d tests failed"):format(result.reason, parsed.total)
  end
  return parsed
end

-- One test of a run as a row.
local function row_of(id, item)
  return { question_id = id, prediction = item.passed and "passed" or "failed", score = item.passed and 1 or 0,
    passed = item.passed and 1 or 0, total = 1 }
end

-- All tests in one run.
local function at_once(context, output_dir, rows)
  local path = output_dir .. "/summary.json"
  if fs.stat(path) then return true end -- written by this measurement's own harness before a crash
  local result, message = context.run { file = context.spec.file }
  if not result then return nil, message end
  local broken = context_of.broken(result)
  if broken then return nil, broken end
  local parsed
  parsed, message = read(context, context.spec.format or "auto", result)
  if not parsed then return nil, message end
  rows:clear()
  local list, names = {}, tally.new()
  for index, item in ipairs(parsed.items) do list[index] = row_of(names:unique(context.relative(item.id)), item) end
  local ok
  ok, message = rows:add_all(list)
  if not ok then return nil, message end
  return fs.write(path, json.encode({ passed = parsed.passed, failed = parsed.failed, skipped = parsed.skipped,
    total = parsed.total },
    { sorted = true }) .. "\n")
end

-- One task: one run. A run with unreadable output has failed; one that cannot be started ends everything.
local function one(context, rows, id)
  local result, message = context.run { argument = id, file = context.spec.file }
  if not result then return nil, message end
  local parsed = not context_of.broken(result) and read(context, context.spec.format or "command", result)
  if result.code == 127 or result.code == 126 then return nil, result.reason end
  if not parsed or parsed.total == 0 then parsed = { passed = 0, total = 1 } end
  return rows:add { question_id = id, prediction = parsed.total == 1 and (parsed.passed == 1 and "passed" or "failed")
    or ("%d of %d"):format(parsed.passed, parsed.total), score = parsed.passed / parsed.total, passed = parsed.passed,
    total = parsed.total }
end

function tests.harness(context, task_list, _, output_dir, num_samples, num_workers)
  local rows, message = rows_of.open(output_dir, { "passed", "total" })
  if not rows then return nil, message end
  if not context.spec.tasks then return at_once(context, output_dir, rows) end
  local open = {}
  for index = 1, num_samples do
    if not rows:get(task_list[index]) then open[#open + 1] = task_list[index] end
  end
  local ok
  ok, message = context.each(open, context.spec.file and 1 or num_workers, function(id)
    return one(context, rows, id)
  end)
  if not ok then return nil, message end
  return rows:sort(task_list)
end

-- The counts of its rows: of tasks, or of a harness command, whose rows may lack passed and total.
local function sums_of(context, output_dir)
  local rows, message = rows_of.of_all(output_dir, context.count)
  if not rows then return nil, message end
  local sums = { passed = 0, total = 0 }
  for _, row in ipairs(rows.list) do
    local passed, total = tonumber(row.passed) or tonumber(row.score), tonumber(row.total) or 1
    if not (direction.finite(passed) and direction.finite(total)) or passed < 0 or passed > total then
      return nil, ("predictions.csv: %s of %s passed for %s"):format(row.passed or row.score, row.total or 1,
        row.question_id)
    end
    sums.passed, sums.total = sums.passed + passed, sums.total + total
  end
  sums.failed = sums.total - sums.passed
  return sums
end

-- The number of tests to divide by: never fewer than the baseline's, because a candidate that removes tests (deletes
-- them, or causes them to be skipped) has not passed them. The number, and a warning.
local function judged_over(context, total)
  local before = context.whole and context.baseline and context.baseline.total
  if not before or total == before or total == 0 then return total end
  if total < before then
    return before, ("%s: %g tests ran, and the baseline's were %g: the score is divided by the baseline's, so missing "
      .. "tests count as failed; "
      .. "if they were removed on purpose, measure a new baseline (apsis baseline --again)"):format(context.name,
        total, before)
  end
  return total, ("%s: %g tests ran, and the baseline's were %g: easy tests that a candidate adds raise its score; "
    .. "to prevent that, give "
    .. "them mode: read_only or hidden"):format(context.name, total, before)
end

function tests.report(context, output_dir)
  local sums, message, over, warning
  if context.spec.tasks or context.spec.harness then sums, message = sums_of(context, output_dir)
  else sums, message = json.decode(fs.read(output_dir .. "/summary.json") or "null"), "its run was not finished" end
  if not sums or sums == json.null then return nil, message end
  over, warning = judged_over(context, sums.total)
  local score
  score, message = fitness.tests(sums.passed, over)
  return reports.write(output_dir, context.name, score, { metrics = sums, reason = message,
    warnings = json.array { warning } })
end

return tests
