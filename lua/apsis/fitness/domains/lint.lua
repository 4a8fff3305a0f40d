-- lint: the domain that scores the findings of a linter or a type checker: 1 - count / the baseline's count. Each
-- finding is a row, so that two candidates can be compared; typecheck is the same under its own name. A run that
-- fails without findings is no score: a linter that crashes on a candidate must not make it look clean.
local context_of = require "apsis.fitness.domains.context"
local fitness = require "apsis.fitness"
local fs = require "apsis.fs"
local json = require "apsis.json"
local reports = require "apsis.fitness.domains.reports"
local rows_of = require "apsis.fitness.domains.rows"
local tally = require "apsis.fitness.parsers.tally"

local lint = { name = "lint" }

-- How findings are counted, as apsis.fitness.parsers.count takes it.
local function way_of(spec)
  local format = spec.format or "lines"
  return { format = format == "lines" and "pattern" or format, pattern = spec.pattern,
    json_pointer = spec.json_pointer }
end

local LONGEST = 200 -- most bytes of a finding's text in its name

-- A finding's name: its file, rule and text, but not its line, so that it stays the same when lines above it change.
local function name_of(item)
  local text, parts = item.text, { item.file }
  if text and text == item.message and item.line then
    text = text:gsub("%f[%d]" .. item.line:gsub("%p", "%%%0") .. "%f[%D]", "", 1)
  end
  if item.rule and not (text and text:find(item.rule, 1, true)) then parts[#parts + 1] = item.rule end
  parts[#parts + 1] = text and text:sub(1, LONGEST):gsub("[\192-\255][\128-\191]*$", "")
  return parts[1] and table.concat(parts, ":") or item.id
end

-- The text of its row: its message, with its place if the message lacks it.
local function said_of(item)
  local message = item.message or "found"
  if not item.file or message:find(item.file, 1, true) then return message end
  return ("%s:%s%s"):format(item.file, item.line and item.line .. ":" or "", " " .. message)
end

function lint.harness(context, _, _, output_dir)
  local path = output_dir .. "/summary.json"
  if fs.stat(path) then return true end -- written by this measurement's own harness before a crash
  local rows, message = rows_of.open(output_dir)
  if not rows then return nil, message end
  local spec = context.spec
  local result
  result, message = context.run { file = spec.file }
  if not result then return nil, message end
  local broken = context_of.broken(result)
  if broken then return nil, broken end
  local text = result.text
  if not spec.file and (spec.format or "lines") == "lines" then
    text = text .. (text:find("[^\n]$") and "\n" or "") .. result.stderr
  end
  local count, found = fitness.count(way_of(spec), text)
  if not count then return nil, result.reason and ("%s (%s)"):format(found, result.reason) or found end
  if result.status ~= "ok" and count == 0 then
    return nil, result.reason .. ", although nothing in its output counts as a finding"
  end
  rows:clear()
  local list, names = {}, tally.new()
  for index, item in ipairs(found or {}) do
    list[index] = { question_id = names:unique(context.relative(name_of(item))), score = 0,
      prediction = context.relative(said_of(item)) }
  end
  local ok
  ok, message = rows:add_all(list)
  if not ok then return nil, message end
  return fs.write(path, json.encode { count = count } .. "\n")
end

-- How many findings its own harness counted; for a harness command, the number of rows.
local function count_of(context, output_dir)
  if context.spec.harness then return #rows_of.read(output_dir) end
  local summary = fs.read(output_dir .. "/summary.json")
  return summary and json.decode(summary).count
end

function lint.report(context, output_dir)
  local count = count_of(context, output_dir)
  if not count then return nil, "its run was not finished" end
  local baseline = context.spec.baseline or context.baseline and context.baseline.count or count
  local score, warning = fitness.reduction(count, baseline, context.name)
  return reports.write(output_dir, context.name, score, { metrics = { count = count }, baseline = baseline,
    warnings = json.array { warning } })
end

return lint
