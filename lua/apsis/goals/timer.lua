-- units: what calls `apsis tick` again and again: a systemd service with its timer, or a crontab line; and how often.
-- Paths are quoted as each of them reads it. Makes text, installs nothing. Called by the command schedule.
local host = require "apsis.host"
local schedule = require "apsis.goals.schedule"

local units = {}

local MINUTE, HOUR = 60, 3600
local UNSCHEDULED_S = 15 * MINUTE
local TICKS_A_PERIOD = 4 -- so that a program which falls due just after a tick loses no more than a quarter of its period

-- How often, with what each of the two calls it; the rarest first.
local steps = {
  { 24 * HOUR, "*-*-* 00:00:00", "0 0 * * *" }, { 12 * HOUR, "*-*-* 00/12:00:00", "0 */12 * * *" },
  { 6 * HOUR, "*-*-* 00/6:00:00", "0 */6 * * *" }, { 3 * HOUR, "*-*-* 00/3:00:00", "0 */3 * * *" },
  { 2 * HOUR, "*-*-* 00/2:00:00", "0 */2 * * *" }, { HOUR, "*-*-* *:00:00", "0 * * * *" },
  { 30 * MINUTE, "*-*-* *:00/30:00", "*/30 * * * *" }, { 15 * MINUTE, "*-*-* *:00/15:00", "*/15 * * * *" },
  { 10 * MINUTE, "*-*-* *:00/10:00", "*/10 * * * *" }, { 5 * MINUTE, "*-*-* *:00/5:00", "*/5 * * * *" },
}

-- Seconds between two ticks, so that every program gets its turns with one experiment a tick: the sum of what they ask
-- for, and finer than that; second, how often systemd says it; third, cron.
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

-- A short name for a directory that no other directory is likely to have.
local function slug(root)
  local sum = 2166136261 -- FNV-1a
  for index = 1, #root do sum = ((sum ~ root:byte(index)) * 16777619) & 0xffffffff end
  local name = root:match("[^/]*$"):gsub("[^%w_-]+", "-"):gsub("^%-+", ""):sub(1, 40)
  return ("apsis-%s%s%04x"):format(name, name ~= "" and "-" or "", sum & 0xffff)
end

-- nil, or why a path can stand in no unit or line. Bytes that are no character: systemd reads UTF-8 alone.
local function unfit(path)
  if path:find "[%c\127]" or not utf8.len(path) then
    return ("%q has control characters or is no UTF-8, which cannot stand there: rename the directory"):format(path)
  end
end

-- Text in systemd's quotes; `$` begins a variable in arguments, but not in the program's path or in Environment=.
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

local FETCH_S = 300 -- a host that never answers is given up, for no tick begins before

-- The words that fetch, for systemd and for a shell; they ask nobody anything.
local FETCH = ("GIT_TERMINAL_PROMPT=0 timeout %d git -C %%s fetch -q origin"):format(FETCH_S)

-- A service and a timer of the user's for the programs of root, and what to do with them; nil and a message where a
-- path has no place in a unit. origin: whether there is one to fetch from before; where that fails, the tick goes on.
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

-- For sh in a crontab, where % ends the command unless a backslash stands before it.
local function shell_quoted(text)
  if not text:find "[^%w_/.,:+@-]" then return text end
  return "'" .. text:gsub("'", [['"'"']]):gsub("%%", "\\%%") .. "'"
end

-- One line of a crontab; nil and a message where a path has no place in it. origin: as for systemd.
function units.cron(root, programs, origin)
  local program = host.executable
  local why = unfit(root) or unfit(program)
  for _, path in ipairs { root, program } do
    if path:find("\\", 1, true) then -- crons differ in what a backslash before another character is
      why = why or ("%q has a backslash, which a crontab cannot say: rename the directory"):format(path)
    end
  end
  if why then return nil, "--cron: " .. why end
  local _, _, fields = units.every(programs)
  local fetch = origin and FETCH:format(shell_quoted(root)) .. "; " or ""
  return ("%s %s%s tick -q %s\n"):format(fields, fetch, shell_quoted(program), shell_quoted(root))
end

return units
