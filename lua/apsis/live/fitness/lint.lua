-- lint: the domain that scores what a linter or a type checker finds: 1 - count / the baseline's count. Each finding is a row, so that two
-- candidates can be compared; typecheck is the same under its own name. A run that fails and finds nothing is no score: a linter that
-- stumbles over a candidate must not make it look clean.
local context_of = require "apsis.live.fitness.context"
local fitness = require "apsis.fitness"
local fs = require "apsis.fs"
local json = require "apsis.json"
local reports = require "apsis.live.fitness.reports"
local rows_of = require "apsis.live.fitness.rows"

local lint = { name = "lint" }

-- How findings are counted, as apsis.fitness.count takes it.
local function way_of(spec)
  local format = spec.format or "lines"
  return { format = format == "lines" and "pattern" or format, pattern = spec.pattern, json_pointer = spec.json_pointer }
end

function lint.harness(context, _, _, output_dir)
  local path = output_dir .. "/summary.json"
  if fs.stat(path) then return true end
  local rows, message = rows_of.open(output_dir)
  if not rows then return nil, message end
  local spec = context.spec
  local result
  result, message = context.run { file = spec.file }
  if not result then return nil, message end
  local broken = context_of.broken(result)
  if broken then return nil, broken end
  local text = result.text
  if not spec.file and (spec.format or "lines") == "lines" then text = text .. (text:find("[^\n]$") and "\n" or "") .. result.stderr end
  local count, found = fitness.count(way_of(spec), text)
  if not count then return nil, result.reason and ("%s (%s)"):format(found, result.reason) or found end
  if result.status ~= "ok" and count == 0 then return nil, result.reason .. ", although nothing in its output counts as a finding" end
  rows:clear()
  local list = {}
  for index, item in ipairs(found or {}) do
    list[index] = { question_id = type(item) == "table" and item.id or item,
      prediction = type(item) == "table" and item.message or "found", score = 0 }
  end
  local ok
  ok, message = rows:add_all(list)
  if not ok then return nil, message end
  return fs.write(path, json.encode { count = count } .. "\n")
end

function lint.report(context, output_dir)
  local count = json.decode(fs.read(output_dir .. "/summary.json") or "", true).count
  local baseline = context.spec.baseline or context.baseline and context.baseline.count or count
  local score, warning = fitness.reduction(count, baseline, context.name)
  return reports.write(output_dir, context.name, score, { metrics = { count = count }, baseline = baseline,
    warnings = json.array { warning } })
end

return lint
