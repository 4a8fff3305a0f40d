-- schedule: times as they are read and written, the forms of a schedule, when each is due, and whose turn it is.
local tap = require "tap"
local clock = require "apsis.core.clock"
local due = require "apsis.goals.due"
local host = require "apsis.host"
local process = require "apsis.process"
local schedule = require "apsis.goals.schedule"

local equal, matches, test = tap.equal, tap.matches, tap.test
local few = os.getenv "APSIS_SANITIZED" ~= nil
local HOUR, DAY = 3600, 86400

local function at(text) return assert(clock.parse(text)) end

-- What a schedule written so says is next after a time.
local function after(text, last) return clock.iso(schedule.next(assert(schedule.parse(text)), at(last))) end

-- The clock

test("times with and without offset are the same instants", function()
  local noon = at "2026-11-22T12:00:00Z"
  for _, text in ipairs { "2026-11-22T12:00:00z", "2026-11-22t12:00:00", "2026-11-22 12:00:00", "2026-11-22T12:00",
    "2026-11-22T14:00:00+02:00", "2026-11-22T14:00:00+0200", "2026-11-22T14:00:00+02", "2026-11-22T06:30:00-05:30",
    "2026-11-23T11:59:00+23:59", " 2026-11-22T12:00:00Z ", "2026-11-22T12:00:00.000Z", "2026-11-22 12:00:00-00:00" } do
    equal(at(text), noon, text)
  end
  equal(at "2026-11-22", noon - 12 * HOUR)
  equal(at "2026-11-22T12:00:00.25+00:00", noon + 0.25)
  equal(at "2026-11-22T12:00:00,5", noon + 0.5)
  equal(math.type(noon), "integer")
end)

test("what is no time is refused with the form that is one", function()
  for _, text in ipairs { "", "now", "2026", "22.11.2026", "2026-11-22T", "2026-11-22T12", "2026-11-22T12:00:00 UTC",
    "2026-11-22T24:00:00Z", "2026-11-22T12:60Z", "2026-11-22T12:00:60Z", "2026-13-01", "2026-00-01", "2026-01-00",
    "2026-02-29", "2100-02-29", "2026-04-31", "0000-01-01", "2026-1-2", "2026-11-22T12:00.5Z",
    "2026-11-22T12:00:00+24:00", "2026-11-22T12:00:00+2", "2026-11-22T12:00:00+02:60", "2026-11-22T12:00:00+02:0",
    "2026-11-22T12:00:00Z+02", "2026-11-22  12:00:00", "+2026-11-22", "2026-11-22T12:00:00.Z", "1e9", ("9"):rep(9999),
    "2026-11-22T12:00:00Z\0", "\xff" } do
    local seconds, message = clock.parse(text)
    equal(seconds, nil, text)
    matches(message, "is no time; write 2026%-11%-22T10:00:00Z$")
    assert(#message < 120 and not message:find "%c" and utf8.len(message), message)
  end
  local function shown(text) return select(2, clock.parse(text)):match "^'(.-)' is" end
  equal(shown(("9"):rep(60)), ("9"):rep(60))
  equal(shown(("9"):rep(61)), ("9"):rep(57) .. "...")
  assert(clock.parse "2000-02-29" and clock.parse "2028-02-29")
  for month, days in ipairs { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 } do
    local day = ("2026-%02d-%02d"):format(month, days)
    equal(clock.iso(at(day)):sub(1, 10), day)
    equal(clock.parse(("2026-%02d-%02d"):format(month, days + 1)), nil)
  end
end)

test("dates are those of the system's calendar, over thousands of years, and read back", function()
  for seconds = -20000 * DAY + 12345, 1000000 * DAY, few and 99999001 or 9999901 do
    local text = clock.iso(seconds)
    equal(text, os.date("!%Y-%m-%dT%H:%M:%SZ", seconds))
    if seconds < 253402300800 then equal(clock.parse(text), seconds) end
  end
  equal(clock.iso(-1), "1969-12-31T23:59:59Z")
  equal(clock.iso(1795341600.9), "2026-11-22T10:00:00Z")
end)

-- What a program prints of the clock where APSIS_NOW says so.
local function clock_under(now, zone)
  local script = [[
    local clock = require "apsis.core.clock"
    local ok, message = clock.check()
    if not ok then print(message, pcall(clock.time)) else print(clock.time()) end
  ]]
  local result = assert(process.run { argv = { host.executable, "exec", "/dev/stdin" }, stdin_text = script,
    timeout_s = 30, env = { APSIS_NOW = now, TZ = zone } })
  return (result.stdout.head:gsub("\n$", ""))
end

test("APSIS_NOW stands for the time of day, whatever the zone; what is none is named", function()
  equal(clock_under("2026-11-22T10:00:00+02:00", "America/New_York"), "1795334400")
  equal(clock_under("1795334400", false), "1795334400")
  local refused = "APSIS_NOW: '%s' is no time; write 2026-11-22T10:00:00Z"
  for _, text in ipairs { "yesterday", "-5" } do
    equal(clock_under(text, false), refused:format(text) .. "\tfalse\t" .. refused:format(text))
  end
  assert(math.abs(tonumber(clock_under("", false)) - os.time()) < 3600, "an empty one is none")
end)

-- Schedules

test("every N, hourly, daily and weekly count from the last run, whatever case and blanks", function()
  local last = "2026-11-22T10:00:00Z"
  for text, expected in pairs {
    ["every 6h"] = "2026-11-22T16:00:00Z", ["EVERY 6 H"] = "2026-11-22T16:00:00Z", ["every6h"] = "2026-11-22T16:00:00Z",
    ["  Every\t6h\n"] = "2026-11-22T16:00:00Z", ["every 30m"] = "2026-11-22T10:30:00Z",
      ["every 2d"] = "2026-11-24T10:00:00Z",
    ["every 1m"] = "2026-11-22T10:01:00Z", ["every 366d"] = "2027-11-23T10:00:00Z", hourly = "2026-11-22T11:00:00Z",
    [" Daily "] = "2026-11-23T10:00:00Z", WEEKLY = "2026-11-29T10:00:00Z",
  } do equal(after(text, last), expected, text) end
end)

test("monthly is the same day of the next month, or its last", function()
  equal(after("monthly", "2026-11-22T10:00:05Z"), "2026-12-22T10:00:05Z")
  equal(after("Monthly", "2026-12-31T23:59:59Z"), "2027-01-31T23:59:59Z")
  equal(after("monthly", "2026-01-31T10:00:00Z"), "2026-02-28T10:00:00Z")
  equal(after("monthly", "2028-01-31T10:00:00Z"), "2028-02-29T10:00:00Z")
end)

test("a cron expression is due at its first match after the last run", function()
  local cases = {
    { "* * * * *", "2026-11-22T10:00:00Z", "2026-11-22T10:01:00Z" },
      { "0 10 * * *", "2026-11-22T10:00:00Z", "2026-11-23T10:00:00Z" },
    { "0 10 * * *", "2026-11-22T09:59:59.5Z", "2026-11-22T10:00:00Z" },
    { "*/15 9-17 * * mon-fri", "2026-11-20T17:45:00Z", "2026-11-23T09:00:00Z" },
    { "5 0 1 JAN *", "2026-01-01T00:05:00Z", "2027-01-01T00:05:00Z" },
      { "0 0 29 2 *", "2096-02-29T00:00:00Z", "2104-02-29T00:00:00Z" },
    { "0 0 * * 7", "2026-11-22T00:00:00Z", "2026-11-29T00:00:00Z" },
      { "0 0 * * 0", "2026-11-22T00:00:00Z", "2026-11-29T00:00:00Z" },
    { "0 0 * * FRI-SUN", "2026-11-22T00:00:00Z", "2026-11-27T00:00:00Z" },
    { "0 0 * * 5-7", "2026-11-21T00:00:00Z", "2026-11-22T00:00:00Z" },
    { "10-40/15,59 3 * * *", "2026-11-22T03:10:00Z", "2026-11-22T03:25:00Z" },
    { " 0  0\t31 * * ", "2026-01-31T00:00:00Z", "2026-03-31T00:00:00Z" },
    { "0 0 30 feb mon", "2026-02-02T00:00:00Z", "2026-02-09T00:00:00Z" },
  }
  for _, case in ipairs(cases) do equal(after(case[1], case[2]), case[3], case[1]) end
end)

test("of day-of-month and day-of-week either will do, unless one begins with a star, as cron does", function()
  equal(after("0 0 13 * fri", "2026-11-13T00:00:00Z"), "2026-11-20T00:00:00Z")
  equal(after("0 0 13 * fri", "2026-12-11T00:00:00Z"), "2026-12-13T00:00:00Z")
  equal(after("0 0 * * fri", "2026-12-11T00:00:00Z"), "2026-12-18T00:00:00Z")
  equal(after("0 0 */2 * fri", "2026-12-11T00:00:00Z"), "2026-12-25T00:00:00Z")
end)

test("a step may be as large as its field, and is the field's first then; a larger one is refused with the largest",
  function()
  equal(after("*/60 * * * *", "2026-11-22T10:00:00Z"), "2026-11-22T11:00:00Z")
  equal(after("0 */24 * * *", "2026-11-22T10:00:00Z"), "2026-11-23T00:00:00Z")
  equal(after("0 0 * * */7", "2026-11-22T10:00:00Z"), "2026-11-29T00:00:00Z")
  matches(select(2, schedule.parse "*/61 * * * *"), "minute '%*/61': a step of the minute is 60 at most")
  matches(select(2, schedule.parse "0 0 * * */8"), "a step of the day of the week is 7 at most")
end)

test("whatever is no schedule is an error that names the forms, never always due", function()
  for _, text in ipairs { "", " ", "every", "every 0h", "every -1h", "every 400d", "every 99999999999999999999h",
    "every 6", "every h6", "every 6h 30m", "every 6h.", "every 1 0m", "6", "sometimes", "always", "never", "'daily'",
    '"daily"', "daily daily", "every 10 months", "every 5 hours", "* * * *", "* * * * * *", "60 * * * *", "* 24 * * *",
    "* * 0 * *", "* * 32 * *", "* * * 13 *", "* * * * 8", "*/0 * * * *", "*/ * * * *", "/5 * * * *", "5/15 * * * *",
    "1,,2 * * * *", ", * * * *", "9-5 * * * *", "1-2-3 * * * *", "- * * * *", "0 6 ? * *", "0 6 L * *",
    "0 6 * * funday", "0 6 * * mond", "mon * * * *", "0 0 30 2 *", "0 0 31 2,4,6,9,11 *", "0x5 * * * *", "1.5 * * * *",
    "*/61 * * * *", "0-30/61 * * * *", "0 */25 * * *", "0 0 */32 * *", "0 0 1 */13 *", "0 0 * * */8", "every 6h\0",
    "@reboot", "0 6 * * MON#2", ("x"):rep(5000) .. "/5 * * * *", "1" .. ("0"):rep(5000) .. " * * * *",
    ("* "):rep(5000) } do
    local spec, message = schedule.parse(text)
    equal(spec, nil, text)
    assert(message:find(schedule.forms, 1, true), message)
    assert(not message:find "%c" and #message < 500, message)
  end
  for _, what in ipairs { 6, true, {} } do equal(schedule.parse(what), nil) end
  equal(schedule.parse(nil), nil)
end)

test("a near miss is told what was likely meant, and nothing that is no schedule", function()
  for text, meant in pairs { ["every 5 hours"] = "every 5h", ["every 30 mins"] = "every 30m",
    ["every 2 weeks"] = "every 14d", ["every 1.5h"] = "every 90m", ["every 120 seconds"] = "every 2m",
    ["every hour"] = "hourly", ["every day"] = "daily", ["@daily"] = "daily", dayly = "daily", ["6h"] = "every 6h",
    ["every month"] = "monthly", ["every 1 month"] = "monthly" } do
    matches(select(2, schedule.parse(text)), "; did you mean '" .. meant .. "'%?", text)
    assert(schedule.parse(meant))
  end
  for _, text in ipairs { "every 10 months", "every 9999 years", "sometimes", "every 10 seconds",
    "every 5 hours at night" } do
    local message = select(2, schedule.parse(text))
    assert(not message:find "did you mean", message)
  end
end)

-- A field as cron reads it, by another way: whether it has a number.
local function has(text, number, low, high)
  for item in text:gmatch "[^,]+" do
    local range, step = item:match "^(.-)/(%d+)$"
    range = range or item
    local first, last = range:match "^(%d+)%-(%d+)$"
    if range == "*" then first, last = low, high elseif not first then first, last = range, range end
    first, last = tonumber(first), tonumber(last)
    if number >= first and number <= last and (number - first) % tonumber(step or 1) == 0 then return true end
  end
  return false
end

local function matches_minute(words, seconds)
  local date = os.date("!*t", seconds)
  local day = has(words[3], date.day, 1, 31)
  local weekday = has(words[5], date.wday - 1, 0, 7) or date.wday == 1 and has(words[5], 7, 0, 7)
  local days = day and weekday
  if words[3]:sub(1, 1) ~= "*" and words[5]:sub(1, 1) ~= "*" then days = day or weekday end
  return days and has(words[1], date.min, 0, 59) and has(words[2], date.hour, 0, 23)
    and has(words[4], date.month, 1, 12)
end

test("cron's next time is the one found by looking at every minute", function()
  local state = 12345
  local function draw(low, high)
    state = (state * 1103515245 + 12345) % 2147483648
    return low + (state >> 8) % (high - low + 1)
  end
  local function field(low, high, stars)
    local kind = draw(1, 6)
    if kind <= stars then return draw(1, 4) == 1 and "*/" .. draw(1, 3) or "*" end
    local first = draw(low, high)
    if kind == 5 then return ("%d-%d"):format(first, draw(first, high)) end
    if kind == 6 then return ("%d-%d/%d,%d"):format(first, draw(first, high), draw(1, 5), draw(low, high)) end
    return tostring(first)
  end
  for _ = 1, few and 5 or 60 do
    local words = { field(0, 59, 3), field(0, 23, 4), field(1, 28, 4), "*", field(0, 7, 4) }
    local last = at "2026-01-01" + draw(0, 700 * DAY)
    local expected = last - last % 60 + 60
    while not matches_minute(words, expected) do expected = expected + 60 end
    local text = table.concat(words, " ")
    equal(schedule.next(assert(schedule.parse(text)), last), expected, text)
  end
end)

test("a period is what typically lies between two runs", function()
  for text, seconds in pairs { ["every 6h"] = 6 * HOUR, daily = DAY, monthly = 2629746, ["0 * * * *"] = HOUR,
    ["*/10 9-16 * * MON-FRI"] = 600, ["0,10,11 * * * *"] = 600, ["0 9 * * 1-5"] = DAY, ["0 0 * * sun"] = 7 * DAY,
    ["0 0 29 2 *"] = 1461 * DAY } do
    equal(schedule.period_s(schedule.parse(text)), seconds, text)
  end
end)

-- Whose turn it is

local now = at "2026-11-22T12:00:00Z"

local function program(name, fields)
  local made = { name = name, status = "ready", schedule = schedule.parse "every 6h" }
  for key, value in pairs(fields or {}) do made[key] = value end
  return made
end

local function ran(hours_ago, more)
  local said = { last_run = clock.iso(now - hours_ago * HOUR), paused = false, completed = false, recent_statuses = {} }
  for key, value in pairs(more or {}) do said[key] = value end
  return said
end

local function judged(fields) return due.judge(program("p", fields), now) end

local rejected = { "accepted", "rejected", "rejected", "rejected", "rejected", "rejected" }

test("the reasons not to run stand in autoloop's order", function()
  local said = ran(1, { completed = true, completed_reason = "target metric 3 reached with value 3", paused = true,
    pause_reason = "gate", recent_statuses = rejected })
  local fields = { status = "unconfigured", reason = "sentinel", fields = said, held = "paused by `apsis pause`" }
  local function is(state, reason)
    local verdict = judged(fields)
    equal(verdict.state, state)
    equal(verdict.reason, reason)
    equal(verdict.due, false)
  end
  is("unconfigured", "sentinel")
  fields.status, fields.reason = "invalid", "p.md:3: schedule: no"
  is("invalid", "p.md:3: schedule: no")
  fields.status, fields.reason = "ready", nil
  is("completed", "completed: target metric reached")
  said.completed_reason = nil
  is("completed", "completed: no reason given") -- a person's
  said.completed = false
  is("paused", "paused: gate")
  said.paused = false
  is("paused", "paused: by `apsis pause`")
  fields.held = nil
  is("plateau", "plateau: 5 consecutive rejections")
  said.recent_statuses = {}
  is("not due", "not due yet")
  equal(judged(fields).next_due, now + 5 * HOUR)
  said.last_run = clock.iso(now - 6 * HOUR)
  local verdict = judged(fields)
  equal({ verdict.state, verdict.due, verdict.reason, verdict.overdue_s }, { "due", true, nil, 0 })
end)

test("a plateau is the last five, all rejected", function()
  local function state(...) return judged { fields = ran(9, { recent_statuses = { ... } }) }.state end
  equal(state("rejected", "rejected", "rejected", "rejected"), "due")
  equal(state("rejected", "rejected", "rejected", "rejected", "rejected"), "plateau")
  equal(state("rejected", "rejected", "rejected", "rejected", "rejected", "accepted"), "due")
  equal(state("rejected", "rejected", "rejected", "error", "rejected", "rejected"), "due")
end)

test("a person's own reason is kept; a reached target is told in autoloop's words, its numbers beside", function()
  equal(judged { fields = ran(9, { completed = true, completed_reason = "no longer wanted" }) }.reason,
    "completed: no longer wanted")
  local reached = judged { fields = ran(9, { completed = true,
    completed_reason = "target metric 5 reached with value 6 (higher is better)" }) }
  equal(reached.reason, "completed: target metric reached")
  matches(reached.detail, "value 6")
  equal(judged { fields = ran(9, { paused = true }) }.reason, "paused: no reason given")
end)

test("without a schedule a program is due at every tick", function()
  local verdict = due.judge({ name = "p", status = "ready", fields = ran(0) }, now)
  equal({ verdict.state, verdict.overdue_s }, { "due", 0 })
end)

test("an hour written with an offset is compared as the instant it is", function()
  equal(judged { fields = { last_run = "2026-11-22T07:30:00+02:00" } }.state, "due")
  equal(judged { fields = { last_run = "2026-11-22T05:30:00-02:00" } }.state, "not due")
  equal(judged { fields = { last_run = "2026-11-22T07:30:00" } }.state, "not due")
end)

test("a last run that cannot be read is warned of, and the journal's newest line counts, else none", function()
  local verdict = judged { fields = { last_run = "last tuesday" }, last_line = now - HOUR }
  equal({ verdict.state, verdict.last_run }, { "not due", now - HOUR })
  matches(verdict.warning, "^Last Run: 'last tuesday' is no time; write .*journal's newest line counts: "
    .. "2026%-11%-22T11:00:00Z$")
  verdict = judged { fields = { last_run = "last tuesday" } }
  equal({ verdict.state, verdict.last_run }, { "due" })
  matches(verdict.warning, "never run$")
end)

test("where there is no state file yet the journal's newest line counts; where a person emptied the row it does not",
  function()
  equal(judged { last_line = now - HOUR }.state, "not due")
  equal(judged { fields = { recent_statuses = {} }, last_line = now - HOUR }.state, "not due")
  local verdict = judged { fields = { recent_statuses = {}, journal_lines = 7 }, last_line = now - HOUR }
  equal({ verdict.state, verdict.last_run }, { "due" })
end)

test("a last run in the future is a program put off", function()
  local verdict = judged { fields = ran(-24) }
  equal({ verdict.next_due, verdict.warning }, { now + 30 * HOUR })
end)

test("a last run more than a day ahead is warned of, for it is likely mistyped", function()
  local verdict = judged { fields = ran(-25) }
  equal(verdict.state, "not due")
  matches(verdict.warning, "^Last Run: 2026%-11%-23T13:00:00Z is in the future, .*; correct it in the state file, or "
    .. "write \u{2014} for never$")
  matches(judged { last_line = now + 25 * HOUR }.warning, "is in the future")
  verdict = due.judge({ name = "p", status = "ready", fields = ran(-25) }, now)
  equal({ verdict.state, verdict.warning }, { "due" }) -- without a schedule no time counts
end)

local function verdicts_of(list)
  local verdicts = {}
  for index, one in ipairs(list) do verdicts[index] = due.judge(one, now) end
  return verdicts
end

test("never run comes first, by name; then the longest past its time, then the older run, then the name", function()
  local list = {
    program("e", { fields = ran(7) }), program("d", { fields = ran(7) }), program("late", { fields = ran(30) }),
    program("weekly", { schedule = schedule.parse "weekly", fields = ran(169) }), program("zero"), program("new"),
    program("soon", { fields = ran(2) }),
  }
  local chosen = due.select(verdicts_of(list))
  equal(chosen.selected.name, "new")
  equal(chosen.deferred, { "zero", "late", "weekly", "d", "e" })
  equal(chosen.skipped, { { name = "soon", reason = "not due yet", next_due = now + 4 * HOUR } })
end)

test("what is not written yet is listed apart, what is broken is skipped with its error", function()
  local chosen = due.select(verdicts_of { program("u", { status = "unconfigured", reason = "sentinel" }),
    program("bad", { status = "invalid", reason = "bad.md:2: schedule: 'x' is not a schedule" }),
    program("done", { fields = ran(9, { completed = true }) }) })
  equal(chosen.selected, nil)
  equal(chosen.unconfigured, { "u" })
  equal(chosen.skipped, { { name = "bad", reason = "bad.md:2: schedule: 'x' is not a schedule" },
    { name = "done", reason = "completed: no reason given" } })
  equal(chosen.deferred, {})
end)

test("a program asked for by name runs though it is not due, paused, on a plateau or completed", function()
  local list = { program("soon", { fields = ran(2) }), program("held", { held = "paused by `apsis pause`" }),
    program("paused", { fields = ran(9, { paused = true }) }),
    program("flat", { fields = ran(9, { recent_statuses = rejected }) }),
    program("done", { fields = ran(9, { completed = true }) }), program("first") }
  for _, name in ipairs { "soon", "held", "paused", "flat", "done" } do
    local chosen = due.select(verdicts_of(list), name)
    equal(chosen.selected.name, name)
    equal(chosen.deferred, { "first" })
    equal(#chosen.skipped, 4, name)
  end
  equal(due.select(verdicts_of(list), "first").deferred, {})
end)

test("a name that is unknown, unconfigured or broken is an error that says so", function()
  local verdicts = verdicts_of { program("coverage"), program("u", { status = "unconfigured", reason = "sentinel" }),
    program("bad", { status = "invalid", reason = "bad.md:2: no" }) }
  local function refused(name)
    local chosen, message, code = due.select(verdicts, name)
    equal({ chosen, code }, { nil, 2 })
    return message
  end
  equal(refused "coverge", "--program: no program 'coverge'; did you mean 'coverage'? programs: bad, coverage, u")
  equal(refused "zzzzzz", "--program: no program 'zzzzzz'; programs: bad, coverage, u")
  equal(refused "u", "--program: u is unconfigured: sentinel")
  equal(refused "bad", "--program: bad is invalid: bad.md:2: no")
  equal(select(2, due.select({}, "x")), "--program: no program 'x': there are none here")
end)

test("over a hundred ticks every program has its turns, none more than its schedule", function()
  local list, runs = {}, {}
  for name, text in pairs { a = "every 3h", b = "every 6h", c = "0 */4 * * *", d = "daily" } do
    list[#list + 1], runs[name] = program(name, { schedule = schedule.parse(text) }), 0
  end
  for tick = 0, 95 do
    local time, verdicts = now + tick * HOUR, {}
    for index, one in ipairs(list) do verdicts[index] = due.judge(one, time) end
    local selected = due.select(verdicts).selected
    if selected then
      runs[selected.name] = runs[selected.name] + 1
      for _, one in ipairs(list) do
        if one.name == selected.name then one.fields = { last_run = clock.iso(time) } end
      end
    end
  end
  assert(runs.a <= 32 and runs.a >= 24 and runs.b <= 16 and runs.b >= 12 and runs.c <= 25 and runs.c >= 20
    and runs.d == 4, ("%d %d %d %d"):format(runs.a, runs.b, runs.c, runs.d))
end)

-- How often a tick is called

local units = require "apsis.goals.timer"

test("ticks come so often that all schedules get their turns, and four times a period", function()
  local function every(...)
    local list = {}
    for index, text in ipairs { ... } do list[index] = { status = "ready", schedule = schedule.parse(text) } end
    return units.every(list)
  end
  equal(every(), 15 * 60)
  equal(every "every 6h", HOUR)
  equal(every "every 4h", HOUR)
  equal(every("every 6h", "every 6h", "daily"), 30 * 60)
  equal(every "daily", 6 * HOUR)
  equal(every "monthly", DAY)
  equal(every "every 1m", 5 * 60)
  equal(every("daily", "not a schedule"), 15 * 60, "one without a schedule wants every tick")
  equal(units.every { { status = "ready", schedule = schedule.parse "every 30m", fields = { completed = true } } },
    15 * 60)
  equal(units.every { { status = "invalid", schedule = schedule.parse "every 20m" } }, 15 * 60)
end)

test("paths are quoted as systemd and cron read them; what they cannot say is refused", function()
  local root = [[/a b/100%/$HOME/it's "x"]]
  local unit = units.systemd(root, {})
  assert(unit:find([[ tick -q "/a b/100%%/$$HOME/it's \"x\""]] .. "\n", 1, true), unit)
  matches(unit, "\nOnCalendar=%*%-%*%-%* %*:00/15:00\n")
  local line = units.cron(root, {})
  assert(line:find([[ tick -q '/a b/100\%/$HOME/it'"'"'s "x"']] .. "\n", 1, true), line)
  matches(line, "^%*/15 %* %* %* %* /")
  for _, path in ipairs { "/a\nb", "/a\xff" } do
    matches(select(2, units.systemd(path, {})), "^%-%-systemd: .*rename")
    matches(select(2, units.cron(path, {})), "^%-%-cron: .*rename")
  end
  matches(select(2, units.cron([[/a\b]], {})), "backslash")
  assert(units.systemd([[/a\b]], {}):find([["/a\\b"]], 1, true))
end)

test("where there is an origin it is fetched from first, and a failure of that stops nothing", function()
  local root = [[/a b/100%/$HOME/it's "x"]]
  local quiet = "GIT_TERMINAL_PROMPT=0 timeout 300 git -C "
  local unit = units.systemd(root, {}, true)
  local words = "\nExecStartPre=-/usr/bin/env " .. quiet .. [["/a b/100%%/$$HOME/it's \"x\"" fetch -q origin]]
    .. "\nExecStart="
  assert(unit:find(words, 1, true), unit)
  local line = units.cron(root, {}, true)
  assert(line:find("* " .. quiet .. [['/a b/100\%/$HOME/it'"'"'s "x"' fetch -q origin; ]], 1, true), line)
  equal(select(2, line:gsub("\n", "")), 1)
  matches(select(2, units.cron("/a\nb", {}, true)), "^%-%-cron: .*rename")
  for _, text in ipairs { units.systemd(root, {}), (units.cron(root, {})) } do assert(not text:find "fetch", text) end
end)

test("two repositories of one name get units of two names", function()
  local function name(root) return units.systemd(root, {}):match "user/(%S+)%.service" end
  matches(name "/home/a/app", "^apsis%-app%-%x+$")
  assert(name "/home/a/app" ~= name "/home/b/app")
  matches(name "/", "^apsis%-%x+$")
end)

tap.done()
