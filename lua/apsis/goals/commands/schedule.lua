-- schedule: lists every goal of the repository: due or not, next due, best, and why it does not run; and prints what
-- calls `apsis tick` regularly. Read-only; takes no lock.
local clock = require "apsis.core.clock"
local common = require "apsis.cli.common"
local fs = require "apsis.fs"
local json = require "apsis.json"
local programs = require "apsis.goals.survey"
local show = require "apsis.cli.table"
local units = require "apsis.goals.timer"

local schedule = { place = 220, summary = "the standing goals of this repository: due, next due, best",
  example = "apsis schedule --json" }

local HOUR, DAY = 3600, 86400
local WHOLE = 100000 -- warnings are not cut
local ROOMY = 130 -- terminal columns from which dates are shown
local BELOW = "  "

function schedule.options(parser)
  common.project_argument(parser)
  parser:flag("--json", "print JSON: now and programs")
  parser:flag("--systemd", "print a service and a timer that run apsis tick")
  parser:flag("--cron", "print a crontab line that runs apsis tick")
end

-- "2026-11-22 13:00Z"
local function minute_text(seconds)
  return (clock.iso(seconds):gsub("T", " "):gsub(":%d%dZ$", "Z"))
end

-- "3 h", rounded to a suitable unit.
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

local function last_text(verdict, now, brief)
  local last = verdict.last_run
  if not last then return (verdict.state == "unconfigured" or verdict.state == "invalid") and "-" or "never" end
  return brief and last <= now and span_text(now - last) .. " ago" or minute_text(last)
end

-- A path relative to the root.
local function within(text, root)
  return text:sub(1, #root + 1) == root .. "/" and text:sub(#root + 2) or text
end

-- The recent errors of a goal that still runs.
local function errors_text(program)
  local count = program.fields and program.fields.consecutive_errors or 0
  if count == 0 then return "" end
  return count == 1 and "the last turn was an error" or ("%d errors in a row"):format(count)
end

-- Why it is not due, uncut, without repeating the word in the state column.
local function reason_text(program, verdict, root)
  if verdict.due or verdict.state == "not due" then return errors_text(program) end
  if verdict.state == "invalid" then return "" end -- shown below
  if verdict.detail then return show.line(verdict.detail, WHOLE) end
  local text = (verdict.reason:match "[^\r\n]+" or ""):gsub("^" .. verdict.state .. ": ", "")
  return show.line(within(text, root), WHOLE)
end

local head = { "program", "state", "schedule", "next due", "last run", "best", "direction", "target", "" }
local right = { false, false, false, false, false, true, false, true, false }
local spare = { 3, 5, 6, 8, 7, 4 } -- the order in which a narrow terminal drops columns

local function row_of(program, verdict, now, brief)
  return { show.line(program.name, brief and 28 or 200), verdict.state, show.line(program.schedule_text or "-", brief
    and 20 or 200), due_text(verdict, now, brief), last_text(verdict, now, brief), show.number(program.best),
    program.direction or "-", show.number(program.target), "" }
end

-- The lines below a program's row: each line of an error, and the warnings.
local function remarks_of(program, verdict, root)
  local list = {}
  if verdict.state == "invalid" then
    for line in verdict.reason:gmatch "[^\r\n]+" do list[#list + 1] = show.line(within(line, root), WHOLE) end
  end
  for _, text in ipairs(program.warnings or {}) do list[#list + 1] = "warning: " .. show.line(text, WHOLE) end
  if verdict.warning then
    list[#list + 1] = ("warning: %s: %s"):format(show.line(program.name), show.line(verdict.warning, WHOLE))
  end
  return list
end

-- Appends the reasons that fit beside the rows (lines, the head first); puts the others below their rows.
local function place_reasons(lines, reasons, below, width)
  local wide, beside = 0, false
  for _, line in ipairs(lines) do wide = math.max(wide, utf8.len(line) or #line) end
  local function append(index, text)
    lines[index] = lines[index] .. (" "):rep(wide + 2 - (utf8.len(lines[index]) or #lines[index])) .. text
  end
  for index, text in ipairs(reasons) do
    local fits = not width or wide + 2 + (utf8.len(text) or #text) <= width
    if text ~= "" and fits then
      append(index + 1, text)
      beside = true
    elseif text ~= "" then
      table.insert(below[index], 1, text)
    end
  end
  if beside and (not width or wide + 8 <= width) then append(1, "reason") end
end

local function print_table(place, verdicts, now)
  local rows, reasons, below, width = {}, {}, {}, show.width()
  local brief = width ~= nil and width < ROOMY
  for index, program in ipairs(place.programs) do
    rows[index] = row_of(program, verdicts[index], now, brief)
    reasons[index] = reason_text(program, verdicts[index], place.root)
    below[index] = remarks_of(program, verdicts[index], place.root)
  end
  local lines = show.columns(head, rows, right, width, spare, 0)
  place_reasons(lines, reasons, below, width)
  print(lines[1])
  for index = 1, #rows do
    print(lines[index + 1])
    for _, text in ipairs(below[index]) do print(BELOW .. show.wrap(text, width and width - #BELOW, BELOW)) end
  end
end

local function print_none(place)
  print(show.wrap(("no programs in %s: `apsis init --program NAME` writes .autoloop/programs/NAME.md, with the "
    .. "sections Goal, Target and Evaluation to fill in; a manifest.yaml with `program: NAME` works too. See "
    .. "docs/guide/goals.md of apsis"):format(show.line(place.root, WHOLE)), show.width(), ""))
end

local function time_or_null(seconds)
  return seconds and clock.iso(seconds) or json.null
end

local function facts_of(program, verdict)
  local warnings = table.move(program.warnings or {}, 1, #(program.warnings or {}), 1, {})
  warnings[#warnings + 1] = verdict.warning
  return {
    name = program.name, file = program.file, state = verdict.state, due = verdict.due,
      next_due = time_or_null(verdict.next_due),
    last_run = time_or_null(verdict.last_run), best = program.best or json.null, direction = program.direction
      or json.null,
    target = program.target or json.null, schedule = program.schedule_text or json.null, reason = verdict.reason
      or json.null,
    detail = verdict.detail or json.null, warnings = json.array(warnings),
    errors = program.fields and program.fields.consecutive_errors or 0,
  }
end

local function print_json(place, verdicts, now)
  local list = {}
  for index, program in ipairs(place.programs) do list[index] = facts_of(program, verdicts[index]) end
  print(json.encode { now = clock.iso(now), programs = json.array(list) })
end

local function list(place, now, as_json)
  local verdicts = place:judge(now)
  if as_json then return print_json(place, verdicts, now) end
  if #verdicts == 0 then return print_none(place) end
  print_table(place, verdicts, now)
end

local CRON_HINT = [[
apsis: to add it: (crontab -l; apsis schedule --cron) | crontab -
apsis: cron's PATH is short: set PATH= in the crontab if providers or verifiers need more
]]

local ORIGIN_HINT = [[
apsis: before each tick it fetches from origin: the default branch, edits of state files. Nobody types a password then:
apsis: give git a key without one. If fetching fails, git prints why, and the tick continues with the local branches
]]

-- Whether there is a remote `origin`.
local function has_origin(place)
  if #(place.repo:refs "refs/remotes/origin/" or {}) > 0 then return true end
  return (fs.read(place:common_dir() .. "/config") or ""):find '%[remote "origin"%]' ~= nil
end

-- Prints the units to stdout and hints to stderr. true; nil and a message.
local function print_units(place, args)
  local make = args.systemd and units.systemd or units.cron
  local origin = has_origin(place)
  local text, message = make(place.root, place.programs, origin)
  if not text then return nil, message end
  io.stdout:write(text)
  if args.cron then io.stderr:write(CRON_HINT) end
  if origin then io.stderr:write(ORIGIN_HINT) end
  return true
end

-- A message if the options exclude each other, else nil.
local function clash_of(args)
  local given = {}
  for _, name in ipairs { "json", "systemd", "cron" } do
    if args[name] then given[#given + 1] = "--" .. name end
  end
  return #given > 1 and table.concat(given, " and ") .. " print different things: use only one of them" or nil
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
    list(place, clock.time(), args.json)
  end
  place:close()
  return ok and 0 or 2, message
end

return schedule
