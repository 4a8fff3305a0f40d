-- schedule: parses how often a program runs, and computes when it is due next. Times are UTC seconds since 1970. Reads
-- no clock, and never takes a text that it does not understand for "always".
local clock = require "apsis.core.clock"
local cron = require "apsis.goals.cron"
local editline = require "apsis.edit.line"
local nearest = require "apsis.project.nearest"
local suggest = require "apsis.suggest"

local schedule = {}

local DAY = 86400
local LONGEST_DAYS = 366
local MONTH = 2629746 -- a twelfth of the calendar's mean year
local GAPS = 60 -- of a cron expression that are looked at for a typical one
local A_MONDAY = 1704067200 -- 2024-01-01T00:00:00Z

local units = { m = 60, h = 3600, d = DAY }
local words = { "hourly", "daily", "weekly", "monthly" }
local of_word = { hourly = 3600, daily = DAY, weekly = 7 * DAY }
local word_of = { minute = "every 1m", hour = "hourly", day = "daily", week = "weekly", month = "monthly" }

schedule.forms = "every 30m, every 6h, every 2d, hourly, daily, weekly, monthly, or five cron fields such as 0 6 * * "
  .. "MON-FRI (UTC)"

local function refuse(text, why)
  local link = why:find "?$" and " Write one of" or "; write one of"
  return nil, ("%s is not a schedule%s%s: %s"):format(nearest.show(text), why, link, schedule.forms)
end

-- The suggestion for a count and a unit written differently, e.g. 'every 5h'; nil if nothing is near.
local function counted(count, unit)
  local number = tonumber(count)
  if number == nil or number <= 0 or number > 1e6 then return nil end
  local seconds = unit:find "^mi" and 60 or unit:find "^h" and 3600 or unit:find "^d" and DAY or unit:find "^w"
    and 7 * DAY or unit == "m" and 60 or nil
  if unit:find "^mo" and number == 1 then return "monthly" end
  if unit:find "^s" and number % 60 == 0 then seconds = 1 end
  local minutes = seconds and math.tointeger(number * seconds / 60)
  if not minutes or minutes < 1 or minutes > LONGEST_DAYS * 1440 then return nil end
  if minutes % 1440 == 0 then return ("every %dd"):format(minutes // 1440) end
  return minutes % 60 == 0 and ("every %dh"):format(minutes // 60) or ("every %dm"):format(minutes)
end

-- The likely meaning, as the end of a clause.
local function hint(text)
  local bare = text:gsub("^@", "")
  local meant = word_of[bare:match "^every%s*(%a+)$" or bare]
  if not meant then
    local count, unit = bare:match "^every%s*([%d.]+)%s*(%a+)$"
    if not count then count, unit = bare:match "^([%d.]+)%s*(%a+)$" end
    meant = count and counted(count, unit)
  end
  if not meant and #bare <= 20 and not bare:find "%d" then
    meant = suggest.nearest(bare, words)
  end
  return meant and ("; did you mean '%s'?"):format(meant) or ""
end

local function interval(text, count, unit)
  local number = math.tointeger(tonumber(count))
  if not number or number < 1 or number * units[unit] > LONGEST_DAYS * DAY then
    return refuse(text, (" (the range is every 1m to every %dd)"):format(LONGEST_DAYS))
  end
  return { kind = "every", seconds = number * units[unit] }
end

-- The words of a cron expression; nil if the text is not one.
local function fields_of(text)
  local list = {}
  for word in text:gmatch "%S+" do list[#list + 1] = word end
  if #list < 2 or not list[1]:find "^[%d*,/-]+$" then return nil end -- else no cron expression was meant
  return list
end

-- Parses a person's text; nil and a message that lists the forms.
function schedule.parse(text)
  if type(text) ~= "string" then return refuse(text, "") end
  local plain = editline.trim(text:lower())
  local count, unit = plain:match "^every%s*(%d+)%s*([mhd])$"
  if count then return interval(text, count, unit) end
  if of_word[plain] then return { kind = "every", seconds = of_word[plain] } end
  if plain == "monthly" then return { kind = "monthly" } end
  local fields = fields_of(plain)
  local meant = hint(plain)
  if not fields or meant ~= "" then return refuse(text, meant) end
  if #fields ~= 5 then return refuse(text, (" (a cron expression has five fields, not %d)"):format(#fields)) end
  local spec, why = cron.parse(fields)
  if not spec then return refuse(text, (" (%s)"):format(why)) end
  return spec
end

-- The same day of the next month, or its last day if it is shorter, at the same time of day.
local function month_after(last)
  local days, of_day = last // DAY, last % DAY
  local year, month, day = clock.civil(math.tointeger(days))
  year, month = year + month // 12, month % 12 + 1
  return clock.days(year, month, math.min(day, clock.month_length(year, month))) * DAY + of_day
end

-- When the program is due after a run at `last`.
function schedule.next(spec, last)
  if spec.kind == "every" then return last + spec.seconds end
  if spec.kind == "monthly" then return month_after(last) end
  return cron.next(spec, last)
end

-- Typical seconds between two runs; for a cron expression the median, so that nights and weekends do not count.
function schedule.period_s(spec)
  if spec.kind == "every" then return spec.seconds end
  if spec.kind == "monthly" then return MONTH end
  local gaps, at = {}, cron.next(spec, A_MONDAY - 1)
  for index = 1, GAPS do
    local following = cron.next(spec, at)
    gaps[index], at = following - at, following
  end
  table.sort(gaps)
  return gaps[GAPS // 2]
end

return schedule
