-- clock: the time of day for schedules, state files and time stamps, and dates read and written for them.
-- All UTC arithmetic: no time zone, no locale. APSIS_NOW, if set, replaces the time of day. Durations are measured with
-- apsis.wait.
local editline = require "apsis.edit.line"
local wait = require "apsis.wait"

local clock = {}

local MINUTE, HOUR, DAY = 60, 3600, 86400
local DAYS_OF_ERA, YEARS_OF_ERA = 146097, 400 -- the calendar repeats itself after that many
local TO_1970 = 719468 -- days from 1 March of the year 0
local EXAMPLE = "2026-11-22T10:00:00Z"
local lengths = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 }

-- Days from 1970-01-01 to a day of the Gregorian calendar. A year is counted from March, so that the leap day is its
-- last.
function clock.days(year, month, day)
  local from_march = (month + 9) % 12
  year = month <= 2 and year - 1 or year
  local era = year // YEARS_OF_ERA
  local of_era = year - era * YEARS_OF_ERA
  local of_year = (153 * from_march + 2) // 5 + day - 1
  return era * DAYS_OF_ERA + of_era * 365 + of_era // 4 - of_era // 100 + of_year - TO_1970
end

-- The inverse: year, month, day.
function clock.civil(days)
  local since = days + TO_1970
  local era = since // DAYS_OF_ERA
  local of_era = since - era * DAYS_OF_ERA
  local year = (of_era - of_era // 1460 + of_era // 36524 - of_era // 146096) // 365
  local of_year = of_era - (365 * year + year // 4 - year // 100)
  local from_march = (5 * of_year + 2) // 153
  local day = of_year - (153 * from_march + 2) // 5 + 1
  local month = (from_march + 2) % 12 + 1
  return year + era * YEARS_OF_ERA + (month <= 2 and 1 or 0), month, day
end

-- How many days a month has.
function clock.month_length(year, month)
  if month == 2 and year % 4 == 0 and (year % 100 ~= 0 or year % 400 == 0) then return 29 end
  return lengths[month]
end

local function refused(text)
  local shown = text:gsub("[%c\127]", "?")
  if #shown > 60 then shown = shown:sub(1, 57):gsub("[\194-\244][\128-\191]*$", "") .. "..." end
  if not utf8.len(shown) then shown = shown:gsub("[\128-\255]", "?") end
  return nil, ("'%s' is no time; write %s"):format(shown, EXAMPLE)
end

-- Seconds of "+02:00", "+0200", "+02", "Z" or nothing; nil for anything else.
local function offset_of(text)
  if text == "" or text == "Z" or text == "z" then return 0 end
  local sign, hours, minutes = text:match "^([+-])(%d%d):?(%d%d)$"
  if not sign then sign, hours, minutes = text:match "^([+-])(%d%d)$" end
  if not sign then return nil end
  hours, minutes = math.tointeger(hours), math.tointeger(minutes or 0)
  if hours > 23 or minutes > 59 then return nil end
  return (hours * HOUR + minutes * MINUTE) * (sign == "-" and -1 or 1)
end

-- Seconds since midnight in UTC of "10:00", "10:00:00", "10:00:00.25+02:00"; nil for anything else.
local function time_of_day(text)
  local hour, minute, rest = text:match "^(%d%d):(%d%d)(.*)$"
  if not hour then return nil end
  local second, after = rest:match "^:(%d%d)(.*)$"
  local fraction, zone = (after or rest):match "^[.,](%d+)(.*)$"
  if fraction and not second then return nil end
  local offset = offset_of(zone or after or rest)
  hour, minute, second = math.tointeger(hour), math.tointeger(minute), math.tointeger(second or 0)
  if not offset or hour > 23 or minute > 59 or second > 59 then return nil end
  local part = tonumber("0." .. (fraction or "0"))
  return hour * HOUR + minute * MINUTE + second - offset + (part > 0 and part or 0)
end

-- Seconds since 1970 of an ISO 8601 time; without an offset it is UTC. nil and a message for anything else.
function clock.parse(text)
  local trimmed = editline.trim(text)
  local year, month, day, rest = trimmed:match "^(%d%d%d%d)%-(%d%d)%-(%d%d)(.*)$"
  if not year then return refused(text) end
  year, month, day = math.tointeger(year), math.tointeger(month), math.tointeger(day)
  if year < 1 or month < 1 or month > 12 or day < 1 or day > clock.month_length(year, month) then
    return refused(text)
  end
  local of_day = 0
  if rest ~= "" then
    local time = rest:match "^[Tt ](.*)$"
    of_day = time and time_of_day(time)
    if not of_day then return refused(text) end
  end
  return clock.days(year, month, day) * DAY + of_day
end

-- "2026-11-22T10:00:00Z".
function clock.iso(seconds)
  local whole = math.floor(seconds)
  local year, month, day = clock.civil(whole // DAY)
  local of_day = whole % DAY
  return ("%04d-%02d-%02dT%02d:%02d:%02dZ"):format(year, month, day, of_day // HOUR, of_day % HOUR // MINUTE,
    of_day % MINUTE)
end

-- What APSIS_NOW holds: seconds; nil if it is not set; nil and a message if it is no time.
local function simulated()
  local text = os.getenv "APSIS_NOW"
  if not text or text == "" then return nil end
  if text:find "^%d+$" and #text <= 12 then return math.tointeger(text) end
  local seconds, message = clock.parse(text)
  if not seconds then return nil, "APSIS_NOW: " .. message end
  return seconds
end

-- Whether the clock can be asked: true; or nil and a message.
function clock.check()
  local _, message = simulated()
  if message then return nil, message end
  return true
end

-- Seconds since 1970: now, or what APSIS_NOW holds. Raises if APSIS_NOW is no time; check finds that earlier.
function clock.time()
  local seconds, message = simulated()
  if message then error(message, 0) end
  return seconds or wait.time()
end

return clock
