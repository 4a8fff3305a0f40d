-- schedule: every program of the repository: whether it is due, when it is next, its best, and why it is not run; and what would call
-- `apsis tick` regularly. Looks only: takes no lock and writes nothing.
local clock = require "apsis.engine.clock"
local common = require "apsis.cli.common"
local due = require "apsis.project.due"
local json = require "apsis.json"
local programs = require "apsis.cli.programs"
local show = require "apsis.cli.table"
local units = require "apsis.cli.units"

local schedule = { summary = "the standing goals of this repository: due, next due, best", example = "apsis schedule --json" }

local HOUR, DAY = 3600, 86400
local WHOLE = 100000 -- a warning is shown to its end
local ROOMY = 110 -- columns of a terminal that has room for dates

function schedule.options(parser)
  common.project_argument(parser)
  parser:flag("--json", "the same as JSON: now and programs")
  parser:flag("--systemd", "print a service and a timer that run apsis tick")
  parser:flag("--cron", "print a crontab line that runs apsis tick")
end

-- "2026-11-22 13:00Z"
local function minute_text(seconds)
  return (clock.iso(seconds):gsub("T", " "):gsub(":%d%dZ$", "Z"))
end

-- "3 h", to the nearest of a fitting unit.
local function span_text(seconds)
  if seconds < 1.5 * HOUR then return ("%d min"):format(math.max(1, math.floor(seconds / 60 + 0.5))) end
  if seconds < 2 * DAY then return ("%d h"):format(math.floor(seconds / HOUR + 0.5)) end
  return ("%d d"):format(math.floor(seconds / DAY + 0.5))
end

local function due_text(verdict, now, brief)
  if verdict.due then return "now" end
  if not verdict.next_due then return "-" end
  local text = "in " .. span_text(verdict.next_due - now)
  return brief and text or ("%s (%s)"):format(text, minute_text(verdict.next_due))
end

local function last_text(verdict)
  if verdict.last_run then return minute_text(verdict.last_run) end
  return (verdict.state == "unconfigured" or verdict.state == "invalid") and "-" or "never"
end

-- Why it is not due, without the word that the column of states has already; paths are the repository's.
local function reason_text(verdict, root)
  if verdict.due or verdict.state == "not due" then return "" end
  if verdict.state == "invalid" then return "see below" end
  if verdict.detail then return show.line(verdict.detail) end
  local text = (verdict.reason:match "[^\r\n]+" or ""):gsub("^" .. verdict.state .. ": ", "")
  if text:sub(1, #root + 1) == root .. "/" then text = text:sub(#root + 2) end
  return show.line(text, WHOLE)
end

local head = { "program", "state", "next due", "last run", "best", "direction", "target", "reason" }
local right = { false, false, false, false, true, false, true }
local spare = { 4, 6, 7, 5, 3 } -- what a narrow terminal does without, the first one first

local function row_of(place, program, verdict, now, brief)
  return { show.line(program.name, 40), verdict.state, due_text(verdict, now, brief), last_text(verdict), show.number(program.best),
    program.direction or "-", show.number(program.target), reason_text(verdict, place.root) }
end

-- What is wrong with a program's file: every line of an error, and what is only warned of.
local function remarks_of(program, verdict)
  local list = {}
  if verdict.state == "invalid" then
    for line in verdict.reason:gmatch "[^\r\n]+" do list[#list + 1] = show.line(line, WHOLE) end
  end
  for _, text in ipairs(program.warnings or {}) do list[#list + 1] = "warning: " .. show.line(text, WHOLE) end
  if verdict.warning then list[#list + 1] = ("warning: %s: %s"):format(show.line(program.name), show.line(verdict.warning, WHOLE)) end
  return list
end

local function print_table(place, verdicts, now)
  local rows, remarks, width = {}, {}, show.width()
  local brief = width ~= nil and width < ROOMY
  for index, program in ipairs(place.programs) do
    rows[index] = row_of(place, program, verdicts[index], now, brief)
    for _, text in ipairs(remarks_of(program, verdicts[index])) do remarks[#remarks + 1] = text end
  end
  print(table.concat(show.columns(head, rows, right, width, spare), "\n"))
  for _, text in ipairs(remarks) do print(show.wrap(text, width, "  ")) end
end

local function print_none(place)
  print(show.wrap(("no programs in %s: write one to .autoloop/programs/NAME.md, with the sections Goal, Target and Evaluation, or say "
    .. "`program: NAME` in a manifest.yaml; the README of apsis has an example under Programs"):format(show.line(place.root, WHOLE)),
    show.width(), ""))
end

local function time_or_null(seconds)
  return seconds and clock.iso(seconds) or json.null
end

local function facts_of(program, verdict)
  local warnings = table.move(program.warnings or {}, 1, #(program.warnings or {}), 1, {})
  warnings[#warnings + 1] = verdict.warning
  return {
    name = program.name, file = program.file, state = verdict.state, due = verdict.due, next_due = time_or_null(verdict.next_due),
    last_run = time_or_null(verdict.last_run), best = program.best or json.null, direction = program.direction or json.null,
    target = program.target or json.null, schedule = program.schedule_text or json.null, reason = verdict.reason or json.null,
    detail = verdict.detail or json.null, warnings = json.array(warnings),
  }
end

local function print_json(place, verdicts, now)
  local list = {}
  for index, program in ipairs(place.programs) do list[index] = facts_of(program, verdicts[index]) end
  print(json.encode { now = clock.iso(now), programs = json.array(list) })
end

local function tell(place, now, as_json)
  local verdicts = {}
  for index, program in ipairs(place.programs) do verdicts[index] = due.judge(program, now) end
  if as_json then return print_json(place, verdicts, now) end
  if #verdicts == 0 then return print_none(place) end
  print_table(place, verdicts, now)
end

local CRON_HINT = [[
apsis: to add it: (crontab -l; apsis schedule --cron) | crontab -
apsis: cron's PATH is short: where providers and verifiers need more, set PATH= in the crontab
]]

-- What would call tick, on stdout; what to do with it, where that is no part of it, on stderr. true; or nil and a message.
local function print_units(place, args)
  local make = args.systemd and units.systemd or units.cron
  local text, message = make(place.root, place.programs)
  if not text then return nil, message end
  io.stdout:write(text)
  if args.cron then io.stderr:write(CRON_HINT) end
  return true
end

-- nil, or which of the options are not for one call.
local function clash_of(args)
  local given = {}
  for _, name in ipairs { "json", "systemd", "cron" } do
    if args[name] then given[#given + 1] = "--" .. name end
  end
  return #given > 1 and table.concat(given, " and ") .. " are different things to print: leave one out" or nil
end

function schedule.run(args)
  local clash = clash_of(args)
  if clash then return 2, clash end
  local place, message, code = programs.open(args.dir or ".")
  if not place then return code, message end
  local ok = true
  if args.systemd or args.cron then
    ok, message = print_units(place, args)
  else
    tell(place, clock.time(), args.json)
  end
  place:close()
  return ok and 0 or 2, message
end

return schedule
