-- timer: the text of a systemd service and timer, or of a crontab line, that calls `apsis tick` often enough. Quotes
-- paths for each format; installs nothing. Called by the command schedule.
local host = require "apsis.host"
local schedule = require "apsis.goals.schedule"
local signature = require "apsis.goals.ci.signature"

local units = {}

local MINUTE, HOUR = 60, 3600
local UNSCHEDULED_S = 15 * MINUTE
-- so that a program which falls due just after a tick loses no more than a quarter of its period
local TICKS_A_PERIOD = 4

-- The possible intervals, in systemd's and cron's form; the rarest first.
local steps = {
  { 24 * HOUR, "*-*-* 00:00:00", "0 0 * * *" }, { 12 * HOUR, "*-*-* 00/12:00:00", "0 */12 * * *" },
  { 6 * HOUR, "*-*-* 00/6:00:00", "0 */6 * * *" }, { 3 * HOUR, "*-*-* 00/3:00:00", "0 */3 * * *" },
  { 2 * HOUR, "*-*-* 00/2:00:00", "0 */2 * * *" }, { HOUR, "*-*-* *:00:00", "0 * * * *" },
  { 30 * MINUTE, "*-*-* *:00/30:00", "*/30 * * * *" }, { 15 * MINUTE, "*-*-* *:00/15:00", "*/15 * * * *" },
  { 10 * MINUTE, "*-*-* *:00/10:00", "*/10 * * * *" }, { 5 * MINUTE, "*-*-* *:00/5:00", "*/5 * * * *" },
}

-- Seconds between two ticks, so that each program gets its turns with one experiment a tick, with a margin; then the
-- interval in systemd's and cron's form.
function units.every(programs)
  local rate, unscheduled = 0, false
  for _, program in ipairs(programs) do
    local completed = program.fields and program.fields.completed
    if program.status == "ready" and not completed then
      if program.schedule then rate = rate + 1 / schedule.period_s(program.schedule) else unscheduled = true end
    end
  end
  local seconds = rate > 0 and 1 / (TICKS_A_PERIOD * rate) or UNSCHEDULED_S
  if unscheduled then seconds = math.min(seconds, UNSCHEDULED_S) end
  for _, step in ipairs(steps) do
    if step[1] <= seconds * (1 + 1e-9) then return table.unpack(step) end
  end
  return table.unpack(steps[#steps])
end

-- A short name for a directory, very likely unique.
local function slug(root)
  local name = root:match("[^/]*$"):gsub("[^%w_-]+", "-"):gsub("^%-+", ""):sub(1, 40)
  return ("apsis-%s%s%s"):format(name, name ~= "" and "-" or "", signature.hash(root):sub(-4))
end

-- nil, or why a path cannot stand in a unit or a crontab. systemd accepts only UTF-8.
local function unfit(path)
  if path:find "[%c\127]" or not utf8.len(path) then
    return ("%q has control characters or is not UTF-8: rename the directory"):format(path)
  end
end

-- Text in systemd's quotes; `$` starts a variable in arguments, but not in the program's path or in Environment=.
local function quoted(text, argument)
  text = text:gsub("[\\\"]", "\\%0"):gsub("%%", "%%%%")
  if argument then text = text:gsub("%$", "$$") end
  return '"' .. text .. '"'
end

local SYSTEMD = [[
# ~/.config/systemd/user/%(name).service
[Unit]
Description=%(description)

[Service]
Type=oneshot
%(fetch)ExecStart=%(program) tick -q %(root)
# what providers and verifiers need: where programs are, names of keys
Environment=%(path)

# ~/.config/systemd/user/%(name).timer
[Unit]
Description=%(description)

[Timer]
OnCalendar=%(calendar)
Persistent=true

[Install]
WantedBy=timers.target

# put the two parts into the files named above them; then:
#   systemctl --user daemon-reload && systemctl --user enable --now %(name).timer
#   loginctl enable-linger    (so that it runs while you are logged out)
]]

local FETCH_S = 300 -- then the tick starts without an answer

-- The fetch command, for systemd and for a shell; it never prompts.
local FETCH = ("GIT_TERMINAL_PROMPT=0 timeout %d git -C %%s fetch -q origin"):format(FETCH_S)

-- A user service and timer for the programs of root, and how to install them; nil and a message if a path cannot stand
-- in a unit. origin: fetch from origin first; if that fails, the tick still runs.
function units.systemd(root, programs, origin)
  local program, path = host.executable, os.getenv "PATH" or "/usr/local/bin:/usr/bin:/bin"
  local why = unfit(root) or unfit(program)
  if why then return nil, "--systemd: " .. why end
  local _, calendar = units.every(programs)
  local values = {
    name = slug(root), calendar = calendar, program = quoted(program), root = quoted(root, true),
    fetch = origin and "ExecStartPre=-/usr/bin/env " .. FETCH:format(quoted(root, true)) .. "\n" or "",
    path = unfit(path) and '"PATH=/usr/local/bin:/usr/bin:/bin"' or quoted("PATH=" .. path),
    description = "apsis: the most overdue program of " .. root:gsub("%%", "%%%%"):gsub("\\", "\\\\"),
  }
  return (SYSTEMD:gsub("%%%((%w+)%)", values))
end

-- For sh in a crontab, which needs a backslash before %.
local function shell_quoted(text)
  if not text:find "[^%w_/.,:+@-]" then return text end
  return "'" .. text:gsub("'", [['"'"']]):gsub("%%", "\\%%") .. "'"
end

-- One crontab line; nil and a message if a path cannot stand in it. origin: as for systemd.
function units.cron(root, programs, origin)
  local program = host.executable
  local why = unfit(root) or unfit(program)
  for _, path in ipairs { root, program } do
    if path:find("\\", 1, true) then -- crons differ in what a backslash before another character is
      why = why or ("%q has a backslash, which a crontab cannot contain: rename the directory"):format(path)
    end
  end
  if why then return nil, "--cron: " .. why end
  local _, _, fields = units.every(programs)
  local fetch = origin and FETCH:format(shell_quoted(root)) .. "; " or ""
  return ("%s %s%s tick -q %s\n"):format(fields, fetch, shell_quoted(program), shell_quoted(root))
end

return units
