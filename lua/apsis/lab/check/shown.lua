-- check_shown: `apsis strategies --check` on a terminal and as JSON: the faults, or how many checks passed; what each
-- trial came to, and with --trace its experiments.
local check = require "apsis.lab.check.check"
local common = require "apsis.cli.common"
local json = require "apsis.json"
local show = require "apsis.cli.table"
local wait = require "apsis.wait"

local shown = {}

local WIDTH <const> = 80 -- if there is no terminal
local FIRST, LAST <const> = 15, 5 -- rows of a longer trace

function shown.options(parser)
  parser:flag("--check", "run NAME, a FILE.lua or a shipped one, in short trials and report what its author got wrong, "
    .. "with lines and remedies; exit 2 if anything is")
  parser:flag("--trace", "with --check: what was planned and decided, experiment by experiment")
  parser:option("--set", "with --check: an option of the strategy, for instance patience=50"):count "*"
    :argname "KEY=VALUE"
end

local function plural(count, word)
  return ("%d %s%s"):format(count, word, count == 1 and "" or "s")
end

local function number(value)
  return value and ("%.4g"):format(value) or "-"
end

-- "kept", "no", ...: what became of a line, and why, as cells.
local function answer_of(row)
  local reason = (row.notes or {}).kept_because or row.rollback_reason or ""
  local words = { kept = "kept", reverted_worse_metric = "no", reverted_rejected = "no, but better",
    reverted_stage_failure = "stopped early" }
  local answer = words[row.outcome] or row.outcome
  if row.trace and row.outcome ~= "measured" then answer = ("%s, %d more measured"):format(answer, #row.trace) end
  return answer .. (reason ~= "" and ": " .. show.line(reason:match "^[^\n]*", 200) or "")
end

local function row_cells(row)
  local proposal = row.proposal or {}
  local parents = table.concat(proposal.measure or row.parents or {}, " ")
  return { tostring(row.experiment), row.outcome == "baseline" and "" or show.line(parents, 17),
    show.line(row.operator or "", 14), number(row.primary_metric), number(row.best), answer_of(row) }
end

-- The lines of run.log by experiment.
local function logs_of(trial)
  local logs = {}
  for _, text in ipairs(trial.logged) do
    local experiment, rest = text:match "^experiment (%d+): (.*)$"
    local list = logs[tonumber(experiment)] or {}
    logs[tonumber(experiment)], list[#list + 1] = list, rest
  end
  return logs
end

local function print_trace(trial, width)
  local rows, kept, logs = {}, {}, logs_of(trial)
  local skipped = #trial.rows - FIRST - LAST
  for index, row in ipairs(trial.rows) do
    if skipped <= 1 or index <= FIRST or index > FIRST + skipped then
      rows[#rows + 1], kept[#kept + 1] = row_cells(row), index
    end
  end
  local head = { "exp", "of", "operator", "value", "best", "accept" }
  local lines = show.columns(head, rows, { [1] = true, [4] = true, [5] = true }, width - 2)
  print("  " .. lines[1])
  for place, index in ipairs(kept) do
    if index - (kept[place - 1] or 0) > 1 then print(("  ... %d more (--json has them)"):format(skipped)) end
    print("  " .. lines[place + 1])
    for _, text in ipairs(logs[trial.rows[index].experiment] or {}) do
      print("       log: " .. show.line(text, width - 12))
    end
  end
  print ""
end

local function print_trials(result, args, width)
  for _, trial in ipairs(result.trials) do
    print(show.wrap(("%s, %s is better, %s: %s, %d kept, best %s (baseline %s)%s"):format(trial.world,
      trial.direction, plural(trial.workers, "worker"), plural(trial.experiments, "experiment"), trial.kept,
      number(trial.best), number(trial.baseline), trial.reason and "; ended: " .. trial.reason or "; it failed"), width,
      "  "))
    if args.trace then print_trace(trial, width) end
  end
end

-- "mine.lua:12: what is wrong", then the remedy.
local function print_faults(result, file, width)
  for _, fault in ipairs(result.faults) do
    local place = fault.world and (" (%s, %s)"):format(fault.world, plural(fault.workers, "worker")) or ""
    print(show.wrap(("%s:%s %s%s"):format(file, fault.line and fault.line .. ":" or "", show.escape(fault.text), place),
      width, "    "))
    print(show.wrap("    -> " .. fault.remedy, width, "       "))
  end
end

local function as_json(result, file)
  local data = { strategy = file, checks = json.array {}, faults = json.array {}, trials = json.array {} }
  local failed = {}
  for index, fault in ipairs(result.faults) do
    failed[fault.check] = true
    data.faults[index] = { check = fault.check, file = file, line = fault.line, hook = fault.hook, text = fault.text,
      remedy = fault.remedy, world = fault.world, workers = fault.workers }
  end
  for index, entry in ipairs(check.names) do
    data.checks[index] = { name = entry[1], what = entry[2], passed = not failed[entry[1]] }
  end
  for index, trial in ipairs(result.trials) do
    local copy = {}
    for key, value in pairs(trial) do copy[key] = value end
    copy.rows, copy.logged, copy.trace = nil, json.array(trial.logged), json.array(trial.rows)
    data.trials[index] = copy
  end
  return json.encode(data)
end

local function options_of(texts)
  local options = {}
  for _, text in ipairs(texts) do
    local key, value = text:match "^([%w_]+)=(.*)$"
    if not key then return nil, ("--set: %q is not KEY=VALUE, for instance --set patience=50"):format(text) end
    options[key] = common.value_of(value)
  end
  return options
end

-- What `apsis strategies` does with its options: exit code, message; nil if they are not asked for.
function shown.run(args)
  if not args.check then
    if args.trace or #args.set > 0 then return 2, "--trace and --set go with --check" end
    return nil
  end
  if not args.name then return 2, "--check: which strategy? Give a FILE.lua, or the name of a shipped one" end
  if args.prompt then return 2, "--prompt prints a template and --check checks a strategy: give one of them" end
  local options, message = options_of(args.set)
  if not options then return 2, message end
  wait.trap()
  local result
  result, message = check.run { use = args.name, options = options, dir = "." }
  if not result then return 2, message end
  if result.interrupted then return 130, "interrupted" end
  local count, width = #result.faults, show.width() or WIDTH
  if args.json then
    print(as_json(result, args.name))
  else
    if args.trace or count == 0 then print_trials(result, args, width) end
    print_faults(result, args.name, width)
    print(count == 0 and ("%s: %d checks passed"):format(args.name, #check.names)
      or ("%s: %s"):format(args.name, plural(count, "fault")))
  end
  return count == 0 and 0 or 2
end

return shown
